"""Curves of systems on the same rows: on their grid, on shared resamples, and with their bands.

`evaluate_curves` is the procedure: rows of two classes, curves on their grids, a plan, draws, and
`results_of_curves`, which takes the draws of a stream as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.checks import category_order
from .._base.errors import Note, collected, tell, texts_of
from .._base.typing import ArrayLike
from .._base.values import equal_units
from .._base.work import Workers, single_threaded_blas
from ..inference.automatic import tell_of_groups
from ..inference.bands import CurveEvidence
from ..inference.distribution import BoundStatistic
from ..inference.evidence import DrawnUnits
from ..metrics.cells import check_two_columns
from ..metrics.curves import (
    CalibrationBins,
    ClassSizes,
    Curve,
    CurveOfCallable,
    DecisionCurve,
    Det,
    PrecisionRecall,
    Roc,
    SmoothCalibration,
    TwoClassRows,
)
from ..metrics.lookup import resolve_metrics
from ..metrics.responses import advice_on_range, note_on_decisions, refuse_exchanged
from ..resampling.plan import ResamplingPlan
from ..results.curve import CurveResult, with_band
from ..results.result import CallFacts, Provenance
from .rows import OF_MISSING, CallScores, IntervalOptions, Measured, Rows, Sampling
from .study import ALONE, check_units_vary, draw, study_of

Floats = NDArray[np.float64]

DIFFERENCE = "difference"
_HARD = "hold scores or probabilities, larger for the positive class"
_SOFT = "Give what predict_proba or decision_function returns: labels have one threshold."
CURVES = ("roc", "precision_recall", "det", "calibration", "calibration_smooth", "decision")
_OF_RANKS = ("roc", "precision_recall", "det")
BANDS = ("simultaneous", "pointwise")
_OF_PROBABILITIES = ("calibration", "calibration_smooth", "decision")
OVER_THRESHOLDS: Mapping[str, type[Roc | PrecisionRecall | DecisionCurve]] = {
    "roc": Roc,
    "det": Det,
    "precision_recall": PrecisionRecall,
    "decision": DecisionCurve,
}
# Range of a given grid, and whether its ends belong to it.
_RANGES = {
    "roc": ("[0, 1]", True, True),
    "det": ("[0, 1]", True, True),
    "precision_recall": ("(0, 1]", False, True),
    "calibration_smooth": ("[0, 1]", True, True),
    "decision": ("(0, 1)", False, False),
}


class CurveAsked(NamedTuple):
    """Which curve is asked for, as of `skboot.bootstrap_curve`; not checked.

    ``curve`` has its first name.
    """

    curve: Any
    band: Any
    grid: Any
    pos_label: Any
    n_bins: Any = 10


@dataclass(frozen=True, eq=False)
class CurveCall:
    """The plan, the options and the facts that the curves of all systems of a call share.

    Attributes
    ----------
    plan : ResamplingPlan
    band : {"simultaneous", "pointwise"}
    confidence_level : float
    settings : dict
        Arguments as a result holds them.
    facts : CallFacts
        What of the call decides words of its results.
    """

    plan: ResamplingPlan
    band: str
    confidence_level: float
    settings: dict[str, Any]
    facts: CallFacts


def evaluate_curves(
    y_true: Any,
    y_score: Any,
    curve_options: CurveAsked,
    sampling: Sampling,
    score_options: IntervalOptions,
) -> dict[str, CurveResult]:
    """Evaluate the curve of each system on rows in memory, and the difference of exactly two.

    Parameters
    ----------
    y_true : array-like
    y_score : array-like, or mapping of str to array-like
    curve_options : CurveAsked
    sampling : Sampling
    score_options : IntervalOptions
        Its confidence level and workers.

    Returns
    -------
    dict of str to CurveResult
        By system; the one system of a call that names none is "".
    """
    band, curve = check.check_choice("band", curve_options.band, BANDS), curve_options.curve
    if not callable(curve):
        check.check_choice("curve", curve, CURVES)
    n_bins = check.check_count("n_bins", curve_options.n_bins, 2)
    rows = _two_class_rows(y_true, y_score, sampling.sample_weight, curve_options)
    grid = checked_grid(curve_options.grid, curve, rows)
    curves = _curves_on(curve, grid, n_bins, rows)
    # The number whose dependence in time stands for that of the curve.
    metric = "mean_squared_error" if curve in _OF_PROBABILITIES else "roc_auc"
    [(metric, statistic)] = resolve_metrics(metric)[0].items()
    scores = {}
    for system, two_class in rows.items():
        columns = Rows(
            two_class.positive.astype(np.int64), two_class.score, two_class.sample_weight, None
        )
        scores[system] = [Measured(columns, statistic)]
    n_points = sum(len(on_grid.grid) for on_grid in curves.values())
    answers = {"y_true": y_true, "y_score": y_score}
    scored = CallScores({metric: scores}, ALONE)
    study = study_of(scored, sampling, answers, score_options, {}, 2 * n_points)
    for two_class in rows.values():
        check_units_vary(study.plan, two_class.sample_weight)
    settings = {
        "curve": curve if isinstance(curve, str) else next(iter(curves.values())).name,
        "band": band,
        "confidence_level": score_options.confidence_level,
        "n_bins": n_bins if curve == "calibration" else None,
        "grid": grid is not None,
        "pos_label": curve_options.pos_label,
        **sampling.settings(study.plan.n_resamples),
    }
    if study.facts.block_length:
        settings["block_length"] = study.facts.block_length
    call = CurveCall(study.plan, band, score_options.confidence_level, settings, study.facts)
    return results_of_curves(call, _draw_curves(curves, rows, study.plan, score_options.workers))


# ------------------------------------------------------------------ rows


def _two_class_rows(
    y_true: ArrayLike,
    y_score: Any,
    sample_weight: ArrayLike | None,
    curve_options: CurveAsked,
) -> dict[str, TwoClassRows]:
    """Return the rows of each system by its name, "" for the one that has none."""
    curve = curve_options.curve
    advice = "Draw a curve for each label: y_true[:, k], y_score[:, k]."
    truth = check.check_column("y_true", y_true, advice)
    by_name = named_scores(y_score)
    if truth.dtype.kind == "f":
        name, scores = next(iter(by_name.items()))
        argument = argument_of(name)
        column = check.converted(argument, scores)
        refuse_exchanged(truth, column, "a curve", argument)
    positive = positive_class(truth, curve_options.pos_label)
    weights = None if sample_weight is None else check.check_weights(sample_weight)
    if weights is not None and callable(curve):
        try:
            takes_weights = "sample_weight" in inspect.signature(curve).parameters
        except (TypeError, ValueError):
            takes_weights = False
        if not takes_weights:
            advice = "Give the function an argument sample_weight, or leave weights out."
            must = "be None for a function without sample_weight"
            raise check.fail("sample_weight", must, "weights", advice)
    rows = {}
    for name, scores in by_name.items():
        argument = argument_of(name)
        column = _checked_scores(argument, scores, truth, curve)
        columns = {argument: column, "y_true": truth, "sample_weight": weights}
        check.check_same_length(**columns)
        rows[name] = TwoClassRows(truth, positive, column, check.unequal(weights))
        looked_at = column if curve in _OF_RANKS else column[:0]
        is_then = "the curve is then one point"
        note = note_on_decisions(looked_at, argument, is_then, len(looked_at))
        if note is not None:
            tell(note)
    check_both_weigh(positive, weights)
    return rows


def named_scores(y_score: Any) -> dict[str, Any]:
    """Return the scores of each system by its name, "" for the one that has none."""
    if not isinstance(y_score, Mapping):
        return {"": y_score}
    if not y_score or not all(isinstance(name, str) and name for name in y_score):
        advice = "Name each system: {'new': scores, 'old': other_scores}."
        raise check.fail("y_score", "have a text as each key", f"{list(y_score)}", advice)
    if DIFFERENCE in y_score:
        must = f"name no system {DIFFERENCE!r}, which is that of two curves"
        raise check.fail("y_score", must, f"{list(y_score)}", "Choose another name.")
    return dict(y_score)


def argument_of(name: str, argument: str = "y_score") -> str:
    """Return how a message calls the scores of a system."""
    return f"{argument}[{name!r}]" if name else argument


def positive_class(truth: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    """Find the rows of the positive class, as `sklearn.metrics.roc_curve` does."""
    labels = check.numbered_labels("y_true", truth)[0].tolist()
    if len(labels) > 2:
        advice = "Draw one class against the others: y_true == label, and its scores."
        got = f"{len(labels)} labels, {labels[:5]}"
        raise check.fail("y_true", "hold two classes", got, advice)
    if len(labels) == 1:
        advice = "Rows of one class do not show how well classes are separated: add the other."
        raise check.fail("y_true", "hold two classes", f"{labels[0]!r} alone", advice)
    order = category_order(truth)
    if pos_label is None and order is not None:
        pos_label = order.tolist()[1]
    if pos_label is None:
        if set(labels) not in ({0, 1}, {-1, 1}):
            advice = f"Name the positive class: pos_label={labels[-1]!r}."
            must = "be given for labels other than 0 and 1, or -1 and 1"
            raise check.fail("pos_label", must, f"None, with labels {labels}", advice)
        pos_label = 1
    if not check.is_among(pos_label, labels):
        raise check.fail("pos_label", f"be one of {labels}", repr(pos_label))
    return np.asarray(truth == pos_label)


def check_both_weigh(positive: NDArray[np.bool_], weights: Floats | None) -> None:
    """Refuse weights that leave a class without weight."""
    if weights is None:
        return
    for side, noun in ((positive, "positive"), (~positive, "negative")):
        if not weights[side].any():
            must = "be more than 0 for some row of each class"
            raise check.fail("sample_weight", must, f"0 for each {noun} row")


def _checked_scores(argument: str, scores: Any, truth: NDArray[Any], curve: Any) -> NDArray[Any]:
    """Return one score per row: of two columns the second, as floats."""
    is_function = callable(curve)
    if is_function:
        column = check.check_answers(argument, scores)
    else:
        column = check.check_rows(argument, scores, check.OF_MISSING_PREDICTIONS)
    if column.ndim >= 2:
        if column.ndim > 2 or column.shape[1] > 2:
            must = "hold a score per row, or probabilities of two classes"
            advice = "Give the column of the positive class."
            if len(column) != len(truth):
                advice = "For several systems give a dict: {'new': scores, 'old': other_scores}."
            raise check.fail(argument, must, f"shape {column.shape}", advice)
        must = "be one score per row, or probabilities of two classes that sum to 1"
        check_two_columns(argument, column, must)
        column = column[:, 1]
    if column.dtype.kind not in "biuf":
        kind = "text" if column.dtype.kind in "US" else f"values of type {column.dtype}"
        raise check.fail(argument, _HARD, kind, _SOFT)
    check_no_labels(argument, column, truth)
    column = column.astype(np.float64)
    check_range(argument, column, curve)
    return column


def check_no_labels(argument: str, column: NDArray[Any], truth: NDArray[Any]) -> None:
    """Refuse labels in the place of scores."""
    # All scores may be one of two whole numbers, or one number alone.
    different = column[column != column[0]]
    are_labels = column.dtype.kind == "b"
    if not are_labels and not (len(different) and (different != different[0]).any()):
        values = np.unique(column)
        are_labels = bool(np.isin(values, (-1, 0, 1)).all())
        if truth.dtype.kind in "biuf":
            are_labels |= bool(np.isin(values, np.unique(truth)).all())
    if are_labels:
        got = f"the labels {np.unique(column).tolist()}"
        raise check.fail(argument, _HARD, got, _SOFT)


def check_range(argument: str, column: Floats, curve: Any) -> None:
    """Refuse scores that are no probabilities where the curve needs these."""
    if curve not in _OF_PROBABILITIES:
        return
    low, high = float(column.min()), float(column.max())
    if low < 0 or high > 1:
        must = f"hold probabilities of the positive class for the curve {curve!r}"
        advice = advice_on_range(low, high, "expit")
        got = f"values from {low:g} to {high:g}"
        raise check.fail(argument, must, got, advice)


# ------------------------------------------------------------------ the grid


def checked_grid(grid: Any, curve: Any, systems: Mapping[str, TwoClassRows]) -> Floats | None:
    """Return a grid that is given as rising finite numbers in the range of the curve."""
    if grid is None:
        if callable(curve):
            advice = "Say where the function has values: grid=np.linspace(0, 1, 101)."
            raise check.fail("grid", "be given for a function", "None", advice)
        return None
    points = check.converted("grid", grid)
    if points.ndim != 1 or not points.size or points.dtype.kind not in "iuf":
        numbers = points.dtype.kind in "iuf"
        got = f"shape {points.shape}" if numbers else f"values of type {points.dtype}"
        must = "be a list of numbers, of shape (n_grid,)"
        raise check.fail("grid", must, got, "A single point is grid=[0.1].")
    points = points.astype(np.float64)
    if not np.isfinite(points).all():
        k = int(np.argmin(np.isfinite(points)))
        raise check.fail("grid", "hold finite numbers", f"{points[k]} at position {k}")
    if np.any(np.diff(points) <= 0):
        k = int(np.argmax(np.diff(points) <= 0))
        got = f"{points[k]:g} before {points[k + 1]:g}"
        advice = "Sort it, each point once: np.unique(grid)."
        raise check.fail("grid", "rise from point to point", got, advice)
    if curve == "calibration":
        scores = [system.that_weigh.score for system in systems.values()]
        low = min(float(of_system.min()) for of_system in scores)
        high = max(float(of_system.max()) for of_system in scores)
        if len(points) < 2 or points[0] > low or points[-1] < high:
            must = (
                "hold the edges of bins, from the smallest score or below to the largest or above"
            )
            ends = f"{points[0]:g} to {points[-1]:g}"
            got = f"{len(points)} edges from {ends}, with scores {low:g} to {high:g}"
            advice = "Bins of equal width are grid=np.linspace(0, 1, 11)."
            raise check.fail("grid", must, got, advice)
    elif isinstance(curve, str):
        words, with_low, with_high = _RANGES[curve]
        low, high = points[0], points[-1]
        below = low < 0 or (low == 0 and not with_low)
        if below or high > 1 or (high == 1 and not with_high):
            must = f"lie in {words} for the curve {curve!r}"
            raise check.fail("grid", must, f"points from {low:g} to {high:g}")
    return points


def _curves_on(
    curve: Any, grid: Floats | None, n_bins: int, systems: Mapping[str, TwoClassRows]
) -> dict[str, Any]:
    """Return the curve of each system: on the grid given, in the same bins, or on its own grid.

    That is within the predictions of the system; of two systems each has the points of the other
    that lie there, so that their difference has all points that both predict.
    """
    if callable(curve):
        assert grid is not None
        of_user = CurveOfCallable(
            grid, curve, str(getattr(curve, "__name__", type(curve).__name__))
        )
        for system, two_class in systems.items():
            # Scores may be missing unless the function then has a value nowhere.
            try:
                check.check_no_missing(argument_of(system), two_class.score, OF_MISSING)
            except ValueError:
                weights = (
                    {}
                    if two_class.sample_weight is None
                    else {"sample_weight": two_class.sample_weight}
                )
                values = of_user.function(two_class.y_true, two_class.score, grid, **weights)
                if not np.isfinite(np.asarray(values, dtype=np.float64)).any():
                    raise
        return dict.fromkeys(systems, of_user)
    systems = {system: two_class.that_weigh for system, two_class in systems.items()}
    if curve == "calibration":
        if grid is None:
            # One value that many rows share would be the edge of several bins.
            scores = np.concatenate([two_class.score for two_class in systems.values()])
            grid = np.unique(np.quantile(scores, np.linspace(0, 1, n_bins + 1)))
        edges = grid.copy() if len(grid) > 1 else np.repeat(grid, 2)
        while len(edges) > 2:
            # Each system has rows in each bin.
            number = [
                np.searchsorted(edges[1:-1], two_class.score) for two_class in systems.values()
            ]
            counts = np.array([np.bincount(bins, minlength=len(edges) - 1) for bins in number])
            empty = np.flatnonzero((counts == 0).any(axis=0))
            if not len(empty):
                break
            # A bin joins the one above it, the last one the one below.
            edges = np.delete(edges, min(int(empty[0]) + 1, len(edges) - 2))
        return {
            system: CalibrationBins.between(edges, two_class)
            for system, two_class in systems.items()
        }
    if curve == "calibration_smooth":
        scores = np.concatenate([two_class.score for two_class in systems.values()])
        if len(np.unique(scores)) < 3:
            must = "hold at least three different probabilities for a smoothed curve"
            raise check.fail("y_score", must, "fewer", "Use curve='calibration'.")
        grids = [
            SmoothCalibration.own_grid(two_class.score) if grid is None else grid
            for two_class in systems.values()
        ]
        if grid is None and len(grids) == 2:
            union = np.union1d(*grids)
            grids = [union[(union >= points[0]) & (union <= points[-1])] for points in grids]
        return {
            system: SmoothCalibration.at(points, two_class)
            for points, (system, two_class) in zip(grids, systems.items(), strict=True)
        }
    kind = OVER_THRESHOLDS[curve]
    return {
        system: kind(own_grid(curve, two_class.sizes, two_class.score) if grid is None else grid)
        for system, two_class in systems.items()
    }


def own_grid(curve: str, sizes: ClassSizes, scores: Floats, n_rows: Floats | None = None) -> Floats:
    """Return the points of a curve over thresholds, if none are given.

    Rates depend on the labels alone, which all systems share, and thresholds on the scores of the
    system, which ``n_rows`` rows have each.
    """
    if curve == "decision":
        return DecisionCurve.on_own_grid(scores, n_rows).grid
    kind: Any = OVER_THRESHOLDS[curve]
    grid: Floats = kind.on_own_grid(sizes).grid
    return grid


# ------------------------------------------------------------------ draws


# Shares between which the replicates say how much less the rows of a group say than others.
_INNER = (0.05, 0.95)


class CurveDraws(NamedTuple):
    """A curve on the data and on the resamples.

    Attributes
    ----------
    curve : Curve
    sizes : ClassSizes
    estimate : ndarray of shape (n_grid,)
    replicates : ndarray of shape (n_resamples, n_grid)
    behind : ndarray of shape (n_grid,) or None
        Rows of equal weight that each point is a share of.
    floor : ndarray of shape (n_grid,) or None
        Smallest standard error that is believed, where no share says it.
    bin_error : ndarray of shape (n_grid,) or None
        How far each point may be from the curve of all scores, where these were counted in
        intervals.
    notes : tuple of Note
        What a reader must know of the curve on these rows.
    area : float or None
        Of rows in memory: the area under the ROC curve, or the average precision.
    """

    curve: Curve
    sizes: ClassSizes
    estimate: Floats
    replicates: Floats
    behind: Floats | None
    floor: Floats | None
    bin_error: Floats | None = None
    notes: tuple[Note, ...] = ()
    area: float | None = None


def results_of_curves(
    call: CurveCall, draws: dict[str, CurveDraws], remarks: Sequence[Note] = ()
) -> dict[str, CurveResult]:
    """Return the curve of each system with its band, and the difference of exactly two.

    Parameters
    ----------
    call : CurveCall
    draws : dict of str to CurveDraws
        Draws by system. The variance of shares is that of independent rows, or a larger one that
        the replicates of groups have.
    remarks : sequence of Note
        Of how the rows were kept.

    Returns
    -------
    dict of str to CurveResult
        By system.
    """
    if not call.plan.design.units_are_rows:
        draws = {name: _with_design_effect(evaluated) for name, evaluated in draws.items()}
    notes = [*remarks, *_notes_of(call, list(draws.values()))]
    difference = _difference(*draws.values()) if len(draws) == 2 else None
    if len(draws) == 2 and difference is None:
        names = " and ".join(draws)
        notes.append(Note("undefined", f"no difference: {names} have no predictions in common."))
    tell(*notes)
    results = {name: _result(call, name, evaluated, notes) for name, evaluated in draws.items()}
    if difference is not None:
        names = " - ".join(draws)
        results[DIFFERENCE] = _result(call, names, difference, notes, is_difference=True)
    return results


def _draw_curves(
    curves: Mapping[str, Any],
    systems: Mapping[str, TwoClassRows],
    plan: ResamplingPlan,
    workers: Workers,
) -> dict[str, CurveDraws]:
    """Evaluate all curves on the data and on the resamples of the plan."""
    subjects = [
        BoundStatistic.of(curves[name], curves[name].reduce(systems[name])) for name in systems
    ]
    score_draws = draw(plan, subjects, workers)
    assert score_draws.binding is not None
    every = (systems.items(), subjects, score_draws.binding.observed(), score_draws.distributions)
    evaluated = {}
    with single_threaded_blas():
        for (name, two_class), subject, block, values in zip(*every, strict=True):
            curve, rows_per_weight = curves[name], 1.0
            if (weights := two_class.sample_weight) is not None:
                rows_per_weight = equal_units(weights) / float(weights.sum())
            behind = curve.behind(block, subject.reduced, rows_per_weight)
            floor = curve.least_standard_error(block, subject.reduced, rows_per_weight)
            estimate, replicates = values.estimate, values.replicates
            if (beyond := curve.beyond(two_class.that_weigh.score)).any():
                estimate = np.where(beyond, np.nan, estimate)
                replicates = np.where(beyond, np.nan, replicates)
            evaluated[name] = CurveDraws(
                curve,
                two_class.sizes,
                estimate,
                replicates,
                behind,
                floor,
                notes=curve.notes(subject.reduced),
                area=curve.area(subject.reduced),
            )
    return evaluated


def _with_design_effect(draws: CurveDraws) -> CurveDraws:
    """Return a curve of groups with fewer rows behind its points, by the design effect.

    That is how much larger the variance of shares is than that of independent rows, at least 1.
    """
    estimate, behind = draws.estimate, draws.behind
    if behind is None or not draws.curve.is_proportion:
        return draws
    inner = (estimate > _INNER[0]) & (estimate < _INNER[1]) & (behind > 0)
    if not inner.any():
        return draws
    share = estimate[inner]
    ratios = np.nanvar(draws.replicates[:, inner], axis=0) / (share * (1 - share) / behind[inner])
    return draws._replace(behind=behind / max(1.0, float(np.median(ratios))))


def _difference(draws: CurveDraws, draws_b: CurveDraws) -> CurveDraws | None:
    """Return first minus second on the same resamples, at the points of both; None without any.

    Where two systems always agree, the floor is the standard error of a difference of paired
    shares with half a row added to each of four cells (Agresti & Min 2005).
    """
    if not draws.curve.of_bins:
        _, *places = np.intersect1d(draws.curve.grid, draws_b.curve.grid, return_indices=True)
        draws, draws_b = (_at(side, at) for side, at in zip((draws, draws_b), places, strict=True))
        if not len(draws.estimate):
            return None
    floor = None
    if draws.behind is not None and draws_b.behind is not None:
        floor = 1 / (np.minimum(draws.behind, draws_b.behind) + 2)
        if isinstance(odds := getattr(draws.curve, "odds", None), np.ndarray):
            floor = floor * np.maximum(odds, 1.0)
    replicates = draws.replicates - draws_b.replicates
    replicates.flags.writeable = False
    estimate = draws.estimate - draws_b.estimate
    errors = [side.bin_error for side in (draws, draws_b) if side.bin_error is not None]
    bin_error = np.sum(errors, axis=0) if errors else None
    return CurveDraws(draws.curve, draws_b.sizes, estimate, replicates, None, floor, bin_error)


def _at(draws: CurveDraws, places: NDArray[np.intp]) -> CurveDraws:
    """Return some points of a curve."""
    n = len(draws.estimate)
    if len(places) == n:
        return draws
    curve: Any = draws.curve
    of_curve = {
        field.name: getattr(curve, field.name)[places]
        for field in fields(curve)
        if isinstance(getattr(curve, field.name), np.ndarray)
    }
    of_each: dict[str, Any] = {
        name: None if (values := getattr(draws, name)) is None else values[..., places]
        for name in ("estimate", "replicates", "behind", "floor", "bin_error")
    }
    return draws._replace(curve=replace(curve, **of_curve), **of_each)


# ------------------------------------------------------------------ results


def _notes_of(call: CurveCall, draws: Sequence[CurveDraws]) -> list[Note]:
    """Return notes on every curve of the call, for readers of the result."""
    notes = list(call.plan.design.remarks)
    notes += dict.fromkeys(note for side in draws for note in side.notes)
    # Of resamples at the points where the data have a value.
    missing = [np.isnan(side.replicates) & ~np.isnan(side.estimate) for side in draws]
    undefined = max(int(side.any(axis=1).sum()) for side in missing)
    if undefined:
        text = (
            f"undefined on {undefined} of {call.plan.n_resamples} resamples at some point, which "
            "are left out there."
        )
        notes.append(Note("undefined", text))
    lacking = [int(np.isnan(side.estimate).sum()) for side in draws]
    if any(lacking):
        k = int(np.argmax(lacking))
        text = f"no value at {lacking[k]} of {len(draws[k].estimate)} points of the grid."
        notes.append(Note("undefined", text))
    design = call.plan.design
    if design.units_are_groups:
        units = DrawnUnits.of(design)
        with collected() as cautions:
            tell_of_groups(units)
        notes += cautions
    if caution := design.coverage_caution(design.n_units):
        notes.append(Note("caution", caution))
    return notes


def _evidence_of(call: CurveCall, draws: CurveDraws, is_difference: bool) -> CurveEvidence:
    """Return the evidence that the band is made of."""
    curve, design = draws.curve, call.plan.design
    df, inflation = design.degrees_of_freedom, design.inflation
    low, high = curve.bounds
    free_below, free_above = curve.free(draws.sizes)
    if is_difference:
        # Of one curve a side may be known, of the difference none where the other is unknown.
        unknown = free_below & free_above
        return CurveEvidence(
            draws.estimate,
            draws.replicates,
            df,
            inflation,
            floor=draws.floor,
            bin_error=draws.bin_error,
            bounds=(low - high, high - low),
            free_below=unknown,
            free_above=unknown,
        )
    return CurveEvidence(
        draws.estimate,
        draws.replicates,
        df,
        inflation,
        behind=draws.behind if curve.is_proportion else None,
        floor=draws.floor,
        bin_error=draws.bin_error,
        bounds=curve.bounds,
        free_below=free_below,
        free_above=free_above,
        rises=curve.rises,
        of_bins=curve.of_bins,
        nearby=curve.nearby(draws.sizes),
    )


def _result(
    call: CurveCall,
    name: str,
    draws: CurveDraws,
    notes: Sequence[Note],
    *,
    is_difference: bool = False,
) -> CurveResult:
    """Return a curve with the band that the call asks for."""
    evidence = _evidence_of(call, draws, is_difference)
    curve, design = draws.curve, call.plan.design
    x = curve.grid
    reference = np.zeros(len(x)) if is_difference else curve.reference(draws.sizes)
    fixed = (f"the trained system{'s' if is_difference else ''}", *design.held_fixed)
    fields: dict[str, Any] = {
        "curve": curve.name,
        "name": name,
        "x": x,
        "estimate": draws.estimate,
        "band": call.band,
        "confidence_level": call.confidence_level,
        "reference": reference,
        "bootstrap_distribution": draws.replicates,
        "_axes": curve.axes,
        "_behind": evidence.behind,
        "_bounds": evidence.bounds,
        "_free_below": evidence.free_below,
        "_free_above": evidence.free_above,
        "_floor": evidence.floor,
        "bin_error": evidence.bin_error,
        "_kind": design.kind,
        "unit": design.unit,
        "_named": design.named,
        "_units_of_factors": design.n_units,
        "_n_strata": design.n_strata,
        "_freedom": design.freedom,
        "n_samples": design.n_samples,
        "_weighted": call.facts.weighted,
        "_is_difference": is_difference,
        "area": draws.area,
        "_provenance": Provenance(
            texts_of(notes), fixed, call.plan.seed, call.settings, facts=call.facts
        ),
    }
    return with_band(fields, evidence)
