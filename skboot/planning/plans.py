"""`plan_evaluation`: how many test rows, groups and runs an evaluation needs.

Private but for what `skboot` shows.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from .._base.checks import check_confidence_level, check_count, fail
from .._base.doors import door
from ..results import EvaluationResult
from ..results.comparison import PairedDifference
from ..results.plan import EvaluationPlan
from .pilots import Pilot, pilot_of_pair, pilot_of_result, pilot_of_share
from .sizes import PlanCall, plan_of


@door("plan_evaluation")
def plan_evaluation(
    pilot: EvaluationResult | PairedDifference | None = None,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    margin: float | None = None,
    power: float = 0.8,
    confidence_level: float | None = None,
    proportion: float | None = None,
    n_runs: int | None = None,
) -> EvaluationPlan:
    """Say how many test rows, groups and runs an evaluation needs.

    Give exactly one target: ``half_width``, ``difference`` or ``margin``.

    Parameters
    ----------
    pilot : EvaluationResult or PairedDifference, optional
        A small evaluation of the same kind. For a half-width: a result of `skboot.bootstrap_score`,
        `skboot.bootstrap_runs` or a method with a test set. For a difference or a margin: one of
        the ``pairs`` of a comparison. Without a pilot give ``proportion``.
    half_width : float, optional
        Desired half of the width of the interval, in units of the metric.
    difference : float, optional
        True difference that shall be significant: the interval of the pair by itself excludes 0.
    margin : float, optional
        Non-inferiority margin: ``pair.verdict(margin)`` shall pass if both are equal.
    power : float, optional
        Probability that the difference is significant, or the margin passes, in (0, 1).
    confidence_level : float, optional
        Of the interval; the pilot's when None, 0.95 without a pilot.
    proportion : float, optional
        Expected proportion, such as an accuracy, in [0, 1]: the plan is for Wilson's interval of
        independent rows.
    n_runs : int, optional
        Number of runs (of each method where there are two) for a pilot that has several. None: the
        pilot's own, or more where no number of test units reaches the target with these.

    Returns
    -------
    EvaluationPlan
        ``n_units`` of ``unit`` and ``n_runs``, a ``table`` of other sizes, and the range of sizes
        by the error of the pilot.

    Raises
    ------
    ValueError
        If not exactly one target is given, it does not suit the pilot or is out of reach; if the
        pilot has crossed groups, no test set, or an estimand other than "system" and "method".

    See Also
    --------
    bootstrap_score : Makes pilots of one system.
    compare_systems : Makes pairs of systems.
    bootstrap_runs : Makes pilots of several runs.

    Notes
    -----
    Units are those of the pilot, and strata keep their shares. With n units and standard error s in
    the pilot, n' units have s sqrt(n / n'), and the quantile is that of Student's t at n'. The
    interval of a proportion is solved exactly. With m units and S runs in the pilot,
    ``Var(m', S') = training + seed / S' + (test + interaction / S') m / m'``, by the components of
    the pilot, with Satterthwaite's degrees of freedom at that size. For two methods the part of the
    test units is assumed not to shrink with more runs, so the plan is rather too large for another
    ``n_runs``. The power is that of the normal law, or of the noncentral t under 20 degrees of
    freedom. The range scales the pilot's variance by the limits of its chi-square law at the same
    level; where a score has two bounds, also by how the variance of a proportion would change
    within the pilot's interval at that level. For a proportion it comes from Wilson's limits. With
    heavy tails variances are less certain than that, unless ``pair.error_freedom`` is known: then
    it limits the degrees of freedom, in proportion to the units. A margin for right and wrong on
    independent rows is planned by Tango's interval, one for areas under ROC curves by logit-delong,
    like verdicts.

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.

    Examples
    --------
    >>> from skboot import plan_evaluation
    >>> plan_evaluation(proportion=0.9, half_width=0.02).n_units
    868
    """
    targets = {"half_width": half_width, "difference": difference, "margin": margin}
    target, value = _checked_target(targets)
    power = _checked_share("power", power, "For 80 % use power=0.8.")
    if confidence_level is not None:
        confidence_level = check_confidence_level(confidence_level)
    found = _checked_pilot(pilot, proportion, target, value, confidence_level)
    if target == "half_width" and proportion is not None and value >= 0.5:
        must, got = "be below 0.5 for a proportion", repr(half_width)
        raise fail("half_width", must, got, "For two points of accuracy use 0.02.")
    if n_runs is not None:
        n_runs = _checked_runs(n_runs, found)
    chance = None if target == "half_width" else power
    settings = {
        target: value,
        "power": chance,
        "confidence_level": found.confidence_level,
        "proportion": proportion,
        "n_runs": n_runs,
    }
    return plan_of(PlanCall(found, target, value, chance, n_runs, settings))


# ------------------------------------------------------------------ checks


def _checked_target(targets: dict[str, Any]) -> tuple[str, float]:
    """Return the name and the value of the one target."""
    given = {name: value for name, value in targets.items() if value is not None}
    if len(given) != 1:
        got = " and ".join(f"{name}={value!r}" for name, value in given.items()) or "none"
        must = "be the one target, or difference=, or margin="
        raise fail("half_width", must, got, "Give exactly one of the three.")
    [(name, value)] = given.items()
    number = _number(value)
    if not 0 < number < math.inf:
        advice = "It is a size in units of the metric, without a sign."
        raise fail(name, "be a finite number above 0", repr(value), advice)
    return name, number


def _checked_share(name: str, value: Any, advice: str, *, ends: bool = False) -> float:
    """Return a number between 0 and 1."""
    number = _number(value)
    if 0 < number < 1 or (ends and number in (0, 1)):
        return number
    range_ = "[0, 1]" if ends else "(0, 1)"
    raise fail(name, f"be a number in {range_}", repr(value), advice)


def _number(value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return float(value) if is_number else math.nan


def _checked_pilot(
    pilot: Any, proportion: Any, target: str, value: float, confidence_level: float | None
) -> Pilot:
    """Return what is known of other sizes, by a pilot or a proportion."""
    if (pilot is None) == (proportion is None):
        got = "neither" if pilot is None else "both"
        must = "be given, or proportion= instead of it"
        raise fail("pilot", must, got, "A published accuracy is proportion=0.9.")
    if pilot is None:
        share = _checked_share("proportion", proportion, "For 90 % use 0.9.", ends=True)
        if target != "half_width":
            advice = "A difference depends on how often two systems disagree: give a pair as pilot."
            raise fail(target, "have a pilot", "proportion=", advice)
        return pilot_of_share(share, confidence_level or 0.95)
    if isinstance(pilot, EvaluationResult):
        if target != "half_width":
            advice = "Compare two systems, and give one of the pairs of the comparison."
            raise fail("pilot", f"be a pair for {target}=", "an EvaluationResult", advice)
        return pilot_of_result(pilot, confidence_level).with_rows(pilot.n_samples)
    if isinstance(pilot, PairedDifference):
        if target == "half_width":
            advice = "Give difference= or margin=, or the result of one system."
            must = "be an EvaluationResult for half_width="
            raise fail("pilot", must, "a pair", advice)
        found = pilot_of_pair(pilot, target, value, confidence_level)
        return found.with_rows(pilot.comparison.n_samples if pilot.comparison else None)
    advice = "Of a comparison give one of its .pairs, of a table one of its results."
    must = "be an EvaluationResult or a pair of a comparison"
    raise fail("pilot", must, type(pilot).__name__, advice)


def _checked_runs(n_runs: Any, pilot: Pilot) -> int:
    """Return the number of runs that is asked for."""
    number = check_count("n_runs", n_runs, pilot.least_runs)
    if pilot.n_runs is None:
        advice = "Runs come from bootstrap_runs, compare_runs, or methods with a test set."
        raise fail("n_runs", "be None for a pilot without runs", repr(n_runs), advice)
    if not pilot.runs_matter and number != pilot.n_runs:
        advice = "With this pilot, more runs would not narrow the interval."
        raise fail("n_runs", "be None for this pilot", repr(n_runs), advice)
    return number
