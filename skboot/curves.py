"""Curves of frozen systems with bands: `bootstrap_curve`.

Use it for the curve that `skboot.bootstrap_score` sums up in one number: ROC, precision-recall,
DET, calibration, net benefit, or any function that returns a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack, overload

from ._base import checks as check
from ._base.arguments import Crossed, Trials
from ._base.doors import door
from ._base.typing import ArrayLike, Band, BlockLength, CurveName, CurveOptions
from .results import ResultTable
from .results.curve import CurveResult, curve_named
from .study.curves import CurveAsked, evaluate_curves
from .study.rows import IntervalOptions, Sampling, name_all_missing


@overload
def bootstrap_curve(
    y_true: ArrayLike,
    y_score: Mapping[str, ArrayLike],
    **options: Unpack[CurveOptions],
) -> ResultTable[CurveResult]: ...
@overload
def bootstrap_curve(
    y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[CurveOptions]
) -> CurveResult: ...
@door("bootstrap_curve")
def bootstrap_curve(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    curve: CurveName | Callable[..., Any] = "roc",
    band: Band = "simultaneous",
    grid: ArrayLike | None = None,
    n_bins: int = 10,
    pos_label: Any = None,
    groups: ArrayLike | Crossed | Trials | None = None,
    strata: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> CurveResult | ResultTable[CurveResult]:
    """Curve of a trained model on a test set, with a confidence band.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_score : array-like of shape (n_samples,) or (n_samples, 2), or dict of them
        Scores or probabilities, larger for the positive class; of two columns the second counts.
        All systems of a dict have the same resamples, and with exactly two the table also holds
        ``"difference"``, first minus second. Columns of dask, or of `skboot.scan_dataset`, are read
        in parts and give curves over thresholds, of Poisson resamples (see Notes).
    curve : str or callable
        ``"roc"`` (true positive rate at false positive rates), ``"det"`` (false negative rate at
        these), ``"precision_recall"`` (precision at recalls), ``"calibration"`` (share of positives
        in bins of the predicted probability), ``"calibration_smooth"`` (the same by local lines),
        ``"decision"`` (net benefit at threshold probabilities), or a function
        ``f(y_true, y_score, grid)`` that returns an array of shape (n_grid,). Other names:
        ``"pr"``; ``"calibration_curve"``, ``"reliability"``; ``"decision_curve"``, ``"dca"``.
    band : {"simultaneous", "pointwise"}
        Whether the limits hold for the whole curve at once, or for each point by itself.
    grid : array-like of shape (n_grid,), optional
        Where the curve has values, rising; the edges of the bins for ``"calibration"``. Default:
        multiples of 1 / 200 between 1 / n and 1 - 1 / n for rates (n negatives) and recalls (n
        positives), hundredths with at least 30 rows above them for thresholds, and 50 points for
        ``"calibration_smooth"``. A function needs it.
    n_bins : int
        Number of bins for ``"calibration"``, with equally many rows; resamples keep the edges of
        the data (of all systems together).
    pos_label : label, optional
        The positive class; 1 when None, if the labels are 0 and 1, or -1 and 1.
    groups : array-like of shape (n_samples,) or (n_samples, 2), Crossed or Trials, optional
        Rows of one group (speaker, patient) are resampled together. Two columns are crossed
        factors, as in `bootstrap_score`.
    strata : array-like of shape (n_samples,), optional
        Units are resampled within strata. Give it where the design fixed their numbers.
    block_length : int or "auto", optional
        For rows in time order: resample blocks of so many consecutive rows, on a circle, within
        ``strata``, as in `bootstrap_score`. ``"auto"`` finds the length from the influence of rows
        on the area under the ROC curve, or from squared errors of probabilities; ``settings`` keep
        it.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1).
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    CurveResult or ResultTable
        A table for a dict of systems.

    Raises
    ------
    ValueError
        For arguments that cannot be right, such as labels in place of scores; the message says
        what to do.
    RuntimeError
        If a function raises on a resample; the message gives its number.

    Warns
    -----
    sklearn.exceptions.UndefinedMetricWarning
        If the curve is undefined at a point on some resamples, which are left out there.
    UserWarning
        If the band is known to be unreliable in the case at hand.

    See Also
    --------
    bootstrap_score : One number with its interval, such as the area under the curve.
    BootstrapAccumulator.curve : The curve of rows that arrive in batches.
    CurveBandDisplay : The picture.

    Notes
    -----
    A simultaneous band is estimate -+ c s: s is the standard deviation over the resamples, and c
    the quantile of the largest deviation by s over the grid in each resample, as a quantile of
    Student's t. For ROC, DET and precision-recall curves s^2 is averaged over neighbouring points,
    and c is that of a normal process with the covariance of the resamples, because curves of
    resamples jump and deviate more than those of the data. Shares are taken on the scale arcsin
    sqrt((n p + 3/8) / (n + 3/4)) of Anscombe (1948), n being the rows behind the point. There s is
    at least 1 / (2 sqrt(n + 1/2)), because resamples vary too little near 0 and 1. Net benefit
    stays on its own scale, with a floor of s by two more true and two more false positives. Where
    all rows behind a point are of one label, its limit is exact (Clopper & Pearson 1934). Limits
    stay inside the range, and those of a ROC curve rise as it does; at rates below 2 / n one side
    has no limit but the range. A pointwise band has the intervals of ``CurveResult.at``: of the
    same form for curves over thresholds, Wilson's for bins, else expanded percentiles.

    Columns that are not in memory are counted in intervals of scores: 1024 for resamples, 65,536
    for the data. ``bin_error`` of the result says how far each point may be from the curve of all
    scores, and the band is wider by this. Strata, blocks, crossed groups and other curves need all
    rows, and are refused.

    Curves at a point x: ROC and DET interpolate linearly between neighbouring thresholds; precision
    is that of the highest threshold with a recall of at least x, without interpolation; net
    benefit is TP / n - FP / n x / (1 - x) for the rows from the threshold x up (Vickers & Elkin
    2006). Smoothed calibration is a local line with an Epanechnikov kernel, whose bandwidth is
    chosen once, on the data, by the rule of thumb of Fan & Gijbels (1996, section 4.2); its band is
    of the smoothed curve.

    References
    ----------
    Anscombe (1948), Biometrika 35, 246-254; Clopper & Pearson (1934), Biometrika 26, 404-413;
    Vickers & Elkin (2006), Medical Decision Making 26, 565-574; Fan & Gijbels (1996), Local
    Polynomial Modelling and Its Applications.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_curve
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, 300)
    >>> y_score = y_true + rng.normal(size=300)
    >>> result = bootstrap_curve(y_true, y_score, curve="roc", random_state=0)
    >>> low, high = result.low, result.high
    >>> print(result.at(0.1))
    0.46 (0.30 to 0.63)
    """
    curve_options = CurveAsked(curve_named(curve), band, grid, pos_label, n_bins)
    sampling = Sampling(
        groups=groups,
        strata=strata,
        block_length=block_length,
        sample_weight=sample_weight,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    level = check.check_confidence_level(confidence_level)
    workers = check.check_workers(n_jobs, verbose)
    score_options = IntervalOptions(interval="percentile", confidence_level=level, workers=workers)
    scores = list(y_score.values()) if isinstance(y_score, Mapping) else [y_score]
    if check.is_lazy(y_true, *scores):
        # Imported here, because few columns are read in parts.
        from .streams.curves import streamed_curves

        results = streamed_curves(y_true, y_score, curve_options, sampling, score_options)
    else:
        try:
            results = evaluate_curves(y_true, y_score, curve_options, sampling, score_options)
        except ValueError as error:
            name_all_missing(error, {"y_true": y_true, "y_score": y_score, **sampling.columns})
            raise
    return ResultTable(results) if isinstance(y_score, Mapping) else results[""]


# The same without its door, for a picture, which makes the results that it draws: warnings, and
# options that there are not, are then those of the picture.
curves_of: Any = bootstrap_curve.__wrapped__  # type: ignore[attr-defined]
