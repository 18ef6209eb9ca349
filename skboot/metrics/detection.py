"""Metrics of detectors at one operating point, to call or to give as ``metric=``.

* `sensitivity_at`, `specificity_at`: what is left of one at a bound on the other;
* `cllr`: how good log-likelihood ratios are at all thresholds;
* `actual_detection_cost`, `minimum_detection_cost`: what decisions cost at the threshold that
  log-likelihood ratios imply, and at the best one.

How they are resampled is in `crossing`, `cost_statistics` and `detection_statistics`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.doors import door
from .cost_metrics import check_costs, check_priors, detected, error_rates, relative_cost

__all__ = [
    "actual_detection_cost",
    "cllr",
    "minimum_detection_cost",
    "sensitivity_at",
    "specificity_at",
]

Floats = NDArray[np.float64]
# Largest difference of a share from the bound that is taken as rounding.
_ROUNDING = 1e-12


@door("sensitivity_at")
def sensitivity_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    specificity: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest sensitivity of a detector with at least the given specificity.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    specificity : float
        Smallest share of the negatives that must be rejected, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Share of the positives above an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import sensitivity_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> sensitivity_at(y_true, y_score, specificity=0.9)
    0.5
    >>> sensitivity_at(y_true, y_score, specificity=0.6)
    1.0
    """
    check_share("specificity", specificity)
    given = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*given)
    return float(1 - false_negatives[reaches(1 - false_positives, specificity)].min())


@door("specificity_at")
def specificity_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitivity: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest specificity of a detector with at least the given sensitivity.

    One less `skboot.metrics.false_positive_rate_at` with the other bound.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    sensitivity : float
        Smallest share of the positives that must be found, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Share of the negatives below an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import specificity_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> specificity_at(y_true, y_score, sensitivity=0.5)
    1.0
    >>> specificity_at(y_true, y_score, sensitivity=0.9)
    0.666...
    """
    check_share("sensitivity", sensitivity)
    given = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*given)
    return float(1 - false_positives[reaches(1 - false_negatives, sensitivity)].min())


@door("cllr")
def cllr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Cost of log-likelihood ratios, averaged over all thresholds, in bits.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Natural logarithms of likelihood ratios, of the positive class over the other.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better; 1 for ratios that are always 1, which are uninformative.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Notes
    -----
    Half of the mean of log2(1 + exp(-s)) over the positives plus half of that of log2(1 + exp(s))
    over the negatives, whatever the shares of the two.

    References
    ----------
    Brummer & du Preez (2006), Computer Speech and Language 20, 230-275, equation 10.

    Examples
    --------
    >>> from skboot.metrics import cllr
    >>> round(cllr([0, 0, 0, 1, 1], [-3.0, -2.0, 0.5, 1.0, 4.0]), 3)
    0.396
    >>> cllr([0, 0, 0, 1, 1], [0, 0, 0, 0, 0])
    1.0
    """
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    loss = llr_losses(positive.astype(np.intp), score)
    means = (np.average(loss[side], weights=weights[side]) for side in (~positive, positive))
    return float(sum(means)) / 2


@door("actual_detection_cost")
def actual_detection_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of the decisions that log-likelihood ratios imply.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Natural logarithms of likelihood ratios, of the positive class over the other.
    priors : array-like of shape (2,)
        Probability of the negatives and of the positives where the detector will be used.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i, negatives first; 1 for each
        error by default.
    relative : bool, default=False
        Divide by the cost of the best decision that ignores the input; 1 is then useless.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better. The excess over `minimum_detection_cost` is the cost of miscalibration.

    Raises
    ------
    ValueError
        If there are not exactly two classes, or priors and costs do not fit.

    References
    ----------
    Brummer & du Preez (2006), Computer Speech and Language 20, 230-275, section 3.

    Examples
    --------
    >>> from skboot.metrics import actual_detection_cost
    >>> y_true, llr = [0, 0, 0, 1, 1], [-3.0, -2.0, 0.5, 1.0, 4.0]
    >>> actual_detection_cost(y_true, llr, priors=[0.9, 0.1], relative=True)
    0.5
    """
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    matrix, shares = check_application(costs, priors)
    cost = application_costs(positive.astype(np.intp), score, costs=matrix, priors=shares)
    means = [np.average(cost[side], weights=weights[side]) for side in (~positive, positive)]
    return relative_cost(float(shares @ means), relative, float((shares @ matrix).min()))


@door("minimum_detection_cost")
def minimum_detection_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of decisions at the threshold that is best on these rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    priors : array-like of shape (2,)
        Probability of the negatives and of the positives where the detector will be used.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i, negatives first; 1 for each
        error by default.
    relative : bool, default=False
        Divide by the cost of the best decision that ignores the input; 1 is then useless.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better. It is optimistic, because the threshold was chosen on these rows; the
        interval of `skboot.bootstrap_score` corrects for a part of that, as its warning says.

    Raises
    ------
    ValueError
        If there are not exactly two classes, or priors and costs do not fit.

    Examples
    --------
    >>> from skboot.metrics import minimum_detection_cost
    >>> y_true, score = [0, 0, 0, 1, 1], [-3.0, -2.0, 2.5, 1.0, 4.0]
    >>> round(minimum_detection_cost(y_true, score, priors=[0.5, 0.5]), 4)
    0.1667
    """
    given = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*given)
    matrix, shares = check_application(costs, priors)
    of_negatives = matrix[0, 0] + (matrix[0, 1] - matrix[0, 0]) * false_positives
    of_positives = matrix[1, 1] + (matrix[1, 0] - matrix[1, 1]) * false_negatives
    least = float((shares[0] * of_negatives + shares[1] * of_positives).min())
    return relative_cost(least, relative, float((shares @ matrix).min()))


# The statistics share what follows.


def check_share(name: str, share: Any) -> float:
    """A bound in [0, 1], as a float."""
    if not (isinstance(share, Real) and 0 <= float(share) <= 1):
        raise fail(name, "be in [0, 1]", repr(share))
    return float(share)


def reaches(shares: Floats, bound: float) -> NDArray[np.bool_]:
    """Whether shares are at least the bound, but for rounding."""
    return np.asarray(shares >= bound - _ROUNDING)


def check_application(costs: ArrayLike | None, priors: ArrayLike) -> tuple[Floats, Floats]:
    """Costs (2, 2) and priors (2,) under which right decisions are cheaper than wrong ones."""
    shares = check_priors(priors, 2)
    if shares is None:
        advice = "They are those where the detector is used: priors=[0.99, 0.01]."
        raise fail("priors", "be given", "None", advice)
    matrix = check_costs(costs, 2)
    if not (matrix[0, 1] > matrix[0, 0] and matrix[1, 0] > matrix[1, 1]):
        must = "make each error cost more than the right decision"
        raise fail("costs", must, f"{matrix.tolist()}")
    return matrix, shares


def bayes_threshold(costs: Floats, priors: Floats) -> float:
    """Log-likelihood ratio from which on a positive decision costs less."""
    with np.errstate(divide="ignore"):
        of_error = np.log(priors) + np.log([costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]])
    return float(of_error[0] - of_error[1])


def llr_losses(classes: NDArray[np.intp], score: NDArray[Any]) -> Floats:
    """Logarithmic loss of log-likelihood ratios at even priors, in bits, (n_samples,)."""
    sign = np.where(classes == 1, -1.0, 1.0)
    return np.asarray(np.logaddexp(0.0, sign * score) / np.log(2.0))


def application_costs(
    classes: NDArray[np.intp], score: NDArray[Any], *, costs: Floats, priors: Floats
) -> Floats:
    """Cost of the decision that each log-likelihood ratio implies, (n_samples,)."""
    accepted = score >= bayes_threshold(costs, priors)
    return np.asarray(costs[classes, accepted.astype(np.intp)])
