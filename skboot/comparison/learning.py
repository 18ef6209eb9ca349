"""Learning curves: the score of methods by the number of training rows, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Note, arguments_named, collected, tell, texts_of
from .._base.sklearn_compat import n_rows_of
from .._base.typing import ArrayLike, Band, LearningOptions, Metric
from ..inference.automatic import tell_of_groups
from ..inference.bands import CurveEvidence
from ..inference.evidence import DrawnUnits
from ..inference.multiplicity import symmetric_root
from ..refit.differences import ScoresBySize, scores_by_size, training_scores
from ..refit.run_metrics import RunMetric
from ..refit.samples import nested_samples, stream
from ..results import ResultTable
from ..results.curve import CurveResult, with_band
from ..results.result import Provenance
from ..results.wording import plural, spoken
from ..scorer.call import FitCall, FitData, check_estimator, notes_on_copies, warn_of_order_of_fit
from ..study.curves import DIFFERENCE, named_scores
from .arguments import checked_params
from .methods import checked_seed, runs_of_methods

Floats = NDArray[np.float64]

# Largest share of the units to train on: of more, the rest is tested too seldom.
_MOST = 0.9
# Draws from the distribution of the curve, for quantiles, and the key of their stream.
_N_DRAWS, _DRAWS = 9999, 0x1EA2


@overload
def learning_curve(
    estimator: Mapping[str, Any],
    X: Any,
    y: Any = ...,
    **options: Unpack[LearningOptions],
) -> ResultTable[CurveResult]: ...
@overload
def learning_curve(
    estimator: Any, X: Any, y: Any = ..., **options: Unpack[LearningOptions]
) -> CurveResult: ...
@door("learning_curve")
def learning_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    scoring: Metric | None = None,
    train_sizes: ArrayLike = (0.2, 0.33, 0.5, 0.7, 0.9),
    n_repeats: int = 20,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    band: Band = "simultaneous",
    return_train_score: bool = False,
    confidence_level: float = 0.95,
    error_score: Any = np.nan,
    n_jobs: int | None = None,
    random_state: Any = None,
    memory: Any = None,
    verbose: bool | int | None = None,
) -> CurveResult | ResultTable[CurveResult]:
    """Learning curve of a method, with a confidence band.

    How well does this estimator do when it is trained on more or fewer rows? The band is for the
    expected score over training sets of each size and new test rows, not for one trained model.

    Parameters
    ----------
    estimator : estimator or dict of str to estimator
        All of a dict are trained on the same rows; with exactly two the table also holds
        ``"difference"``, first minus second.
    X : array-like of shape (n_samples, n_features)
        Rows to train and to test on.
    y : array-like of shape (n_samples,), default=None
        Targets.
    scoring : str, callable or None
        One metric, as in `BootstrapScorer`.
    train_sizes : array-like of shape (n_sizes,)
        Rows to train on, rising: shares of all rows (floats), or numbers of rows (integers); with
        groups of whole groups. At most 90%.
    n_repeats : int
        Trainings at each size, at least 2. The variance between training sets is estimated from
        them; 20 were measured, and fewer make the band less reliable.
    groups : array-like of shape (n_samples,), optional
        Rows of one group (speaker, patient) are trained on, and tested, together.
    params : dict, optional
        Parameters of the fits, as in `sklearn.model_selection.cross_validate`. With metadata
        routing on each estimator and scorer gets what it has requested.
    band : {"simultaneous", "pointwise"}
        Whether the limits hold for all sizes at once, or for each by itself.
    return_train_score : bool
        Whether the models are scored on their training rows too: ``result.train_scores``, in the
        table and in the picture.
    confidence_level : float
        In (0, 1).
    error_score : float or "raise"
        What becomes of a training that fails, or answers NaN or infinity: NaN leaves it out.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    memory : path-like, optional
        Folder for finished trainings, as in `BootstrapScorer`. Needs a ``random_state``.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    CurveResult or ResultTable
        Over numbers of training rows (with groups, their mean). A table for a dict of estimators.

    Raises
    ------
    ValueError
        For arguments that cannot be right, or if all trainings failed.

    Warns
    -----
    sklearn.exceptions.FitFailedWarning
        If some trainings failed; they are left out and counted.
    UserWarning
        If the band is known to be unreliable in the case at hand.

    See Also
    --------
    sklearn.model_selection.learning_curve : Scores of folds, without a band.
    compare_methods : Methods at the size of the data.

    Notes
    -----
    Each of ``n_repeats`` random orders of the rows is cut at all sizes, so larger training sets
    contain the smaller ones. Each model is scored on all rows outside of its training set. Every
    training set has a row of each class. One more training, on all rows, shows what the metric
    reads.

    With f the share trained on, R training sets and s^2 the variance between them beyond that of
    their test rows, the variance of the mean score is V1 + s^2 (f / (1 - f) + 1 / R) + 2 rho
    sqrt(V1 s^2 f / (1 - f)): V1 is the variance of the mean over test rows, the second term that of
    training sets drawn without replacement from the same rows (Nadeau & Bengio 2003 for one split),
    and rho the correlation of both, because rows that are hard to predict may mislead in training
    (Hoeffding 1948). Beyond half of the rows the second term stays at the largest up to there,
    unless s^2 is larger. Limits are those of t, on the scale of `bootstrap_curve` for shares of
    right or wrong rows; a simultaneous band reaches out to the quantile of the largest of normal
    deviations with this covariance. Scores at different sizes are highly correlated, so do not
    judge differences between sizes by the band.

    Between two sizes ``result.at`` is on the straight line between their scores.
    ``result.extrapolate`` continues a curve to at most twice the rows, by an inverse power law.

    References
    ----------
    Hoeffding (1948), Annals of Mathematical Statistics 19, 293-325; Nadeau & Bengio (2003), Machine
    Learning 52, 239-281.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = learning_curve(GaussianNB(), X, y, random_state=0)
    >>> result.x
    array([114., 188., 285., 398., 512.])
    >>> print(result.at(285))
    0.939 (0.924 to 0.954)
    """
    parameters = {
        "scoring": scoring,
        "strategy": "oob",
        "n_train_resamples": 2,
        "n_cv_repeats": 1,
        "n_seeds": 1,
        "n_test_resamples": 2,
        "estimand": "method",
        "interval": "auto",
        "confidence_level": confidence_level,
        "stratify": False,
        "inner_cv": "as-is",
        "error_score": error_score,
        "n_jobs": n_jobs,
        "random_state": checked_seed(memory, random_state),
        "memory": memory,
        "verbose": verbose,
    }
    check.check_choice("band", band, ("simultaneous", "pointwise"))
    n_repeats = check.check_count("n_repeats", n_repeats, 2)
    several: Any = scoring
    if isinstance(several, Mapping | list | tuple | set | frozenset):
        advice = "Call once for each metric."
        raise check.fail("scoring", "be one metric", repr(several), advice)
    with arguments_named({"y_score": "estimator"}):
        estimators = named_scores(estimator)
    for name, method in estimators.items():
        check_estimator(f"estimator[{name!r}]" if name else "estimator", method)
    groups, fit_parameters = checked_params(params, groups)
    fit = FitCall.of(parameters, has_test=False)
    fit = replace(fit, scores_training=check.check_flag("return_train_score", return_train_score))
    data = FitData.of(X, y, groups=groups)
    warn_of_order_of_fit(X, y, groups)
    train_samples, sizes = _training_sets(estimators, data, train_sizes, n_repeats, fit.seed)
    fit = replace(fit, train_samples=train_samples, n_train_resamples=len(train_samples))
    with collected() as notes:
        tell(*notes_on_copies(fit, data))
        runs = runs_of_methods(fit, estimators, data, "learning_curve", fit_parameters)
        run_records = [method_runs.run_records for method_runs in runs.values()]
        metrics = [method_runs.metrics[0] for method_runs in runs.values()]
        words = data.words
        units = DrawnUnits(words.kind, (run_records[0].n_units,), named=words.named)
        if words.units_are_groups:
            tell_of_groups(units)
        size_scores = scores_by_size(metrics, run_records, len(sizes))
        tell(*_notes_on_sizes(metrics, size_scores, n_repeats))
    tell(*notes)
    on_training: list[Floats] = []
    if fit.scores_training:
        on_training = [
            training_scores(metric, records, len(sizes))
            for metric, records in zip(metrics, run_records, strict=True)
        ]
    settings = {
        "estimator": {name: repr(method) for name, method in estimators.items()},
        "train_sizes": sizes,
        "n_repeats": n_repeats,
        "band": band,
        "return_train_score": fit.scores_training,
        "confidence_level": fit.confidence_level,
    }
    # What all curves of the call have in common.
    fields = {
        "curve": "learning",
        "_axes": ("training rows", spoken(metrics[0].name)),
        "x": sizes,
        "band": band,
        "confidence_level": fit.confidence_level,
        "_kind": units.kind,
        "_units_of_factors": units.n_units,
        "unit": words.unit,
        "_named": words.named,
        "n_samples": run_records[0].n_rows,
        "_n_strata": 1,
        "_weighted": False,
        "n_trainings": n_repeats,
        "_provenance": Provenance(texts_of(notes), (), fit.seed, settings),
    }
    curves = _curves(list(runs), size_scores, on_training, fields, fit.seed)
    return ResultTable(curves) if isinstance(estimator, Mapping) else curves[""]


def _training_sets(
    estimators: Mapping[str, Any],
    data: FitData,
    train_sizes: Any,
    n_repeats: int,
    seed: np.random.SeedSequence,
) -> tuple[NDArray[Any], Floats]:
    """Check the sizes of training sets and draw them, those of one size after another.

    Returns
    -------
    counts : ndarray of shape (n_sizes * n_repeats, n_units)
        How often each holds each unit.
    sizes : ndarray of shape (n_sizes,)
        Rows in the training sets of each size, on average.
    """
    unit = np.arange(n_rows_of(data.X)) if data.unit is None else data.unit
    codes = None
    if data.unit is None and all(map(is_classifier, estimators.values())):
        labels = np.asarray(data.y)
        codes = np.unique(labels, return_inverse=True)[1] if labels.ndim == 1 else None
    n_units, n_classes = int(unit.max()) + 1, 1 if codes is None else int(codes.max()) + 1
    units_noun = plural(data.words.unit)
    # Units in the training sets of each size, from shares or numbers of them.
    sizes = np.asarray(train_sizes)
    if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iuf":
        must = "be a list of shares of the rows, or of numbers of rows"
        raise check.fail("train_sizes", must, repr(train_sizes), "Use train_sizes=(0.2, 0.5, 0.9).")
    units = sizes
    if sizes.dtype.kind == "f":
        if not ((sizes > 0) & (sizes <= _MOST)).all():
            advice = "Whole numbers are numbers of rows. Above 90% too few rows are left out."
            raise check.fail("train_sizes", f"be shares in (0, {_MOST}]", repr(train_sizes), advice)
        units = np.floor(sizes * n_units + 0.5)
    most = int(_MOST * n_units + 0.5)
    least = max(n_classes, 2)
    if units.min() < least or units.max() > most:
        must = f"be training sets of {least} to {most} of the {n_units} {units_noun}"
        raise check.fail("train_sizes", must, f"{units.astype(int).tolist()}")
    if (np.diff(units) <= 0).any():
        raise check.fail(
            "train_sizes", f"rise in numbers of {units_noun}", f"{units.astype(int).tolist()}"
        )
    counts = nested_samples([int(size) for size in units], n_repeats, codes, n_units, seed)
    n_rows = counts.astype(np.int64) @ np.bincount(unit)
    return counts, n_rows.reshape(-1, n_repeats).mean(axis=1).round()


def _curves(
    names: Sequence[str],
    size_scores: Sequence[ScoresBySize],
    on_training: Sequence[Floats],
    fields: Mapping[str, Any],
    seed: np.random.SeedSequence,
) -> dict[str, CurveResult]:
    """Return the curve of each method, and of exactly two that of their difference.

    Parameters
    ----------
    names : sequence of str
        Names of the methods.
    size_scores : sequence of ScoresBySize
        Scores of each method, and of the difference.
    on_training : sequence of ndarray
        Scores of each method on the rows that it was trained on; empty if they were not asked for.
    fields : mapping
        What results have in common.
    seed : numpy.random.SeedSequence
        Seed of the draws from the distribution of a curve.
    """
    curves: dict[str, CurveResult] = {}
    for k, curve_scores in enumerate(size_scores):
        is_difference = k == len(names)
        train_scores = None
        if on_training:
            train_scores = on_training[0] - on_training[1] if is_difference else on_training[k]
        # Normal draws about the score at each size that has one.
        rng = np.random.default_rng(stream(seed, _DRAWS))
        estimate = curve_scores.estimate
        has_value = ~np.isnan(estimate)
        draws = np.full((_N_DRAWS, len(has_value)), np.nan)
        root = symmetric_root(curve_scores.covariance[np.ix_(has_value, has_value)])
        draws[:, has_value] = (
            estimate[has_value] + rng.standard_normal((_N_DRAWS, len(root))) @ root
        )
        # The variance is that of new data: quantiles are of t, and nothing is inflated.
        df, inflation = float(max(curve_scores.n_effective - 1, 1)), 1.0
        evidence = CurveEvidence(
            estimate,
            draws,
            df,
            inflation,
            # Shares have limits by the rows behind them, differences of shares a least error.
            behind=curve_scores.behind,
            floor=curve_scores.floor,
            bounds=curve_scores.bounds,
            of_bins=True,
        )
        curve_fields = {
            **fields,
            "name": " - ".join(names) if is_difference else names[k],
            "_is_difference": is_difference,
            "train_scores": train_scores,
            "estimate": estimate,
            "reference": np.zeros(len(has_value)) if is_difference else None,
            "bootstrap_distribution": draws,
            "_behind": evidence.behind,
            "_floor": evidence.floor,
            "_bounds": evidence.bounds,
            "_freedom": (df, inflation),
        }
        curves[DIFFERENCE if is_difference else names[k]] = with_band(curve_fields, evidence)
    return curves


def _notes_on_sizes(
    metrics: Sequence[RunMetric], size_scores: Sequence[ScoresBySize], n_repeats: int
) -> list[Note]:
    """Return notes on the scores, for readers of the result."""
    notes = [
        Note("choice", note) for metric in metrics if (note := metric.positive_note) is not None
    ]
    if lacking := int(np.isnan(size_scores[0].estimate).sum()):
        text = f"no score at {lacking} of {len(size_scores[0].estimate)} sizes, where under two "
        notes.append(Note("undefined", f"{text}of {n_repeats} trainings gave one."))
    if any(
        curve.behind is None and curve.floor is None and curve.is_constant.any()
        for curve in size_scores
    ):
        text = "at some size all trainings gave the same score: the band has no width there, "
        notes.append(Note("caution", f"{text}which does not show that the score is known exactly."))
    return notes
