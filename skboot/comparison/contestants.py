"""Systems that are compared, and the difference of two of them.

A pair is always computed with the same one of its systems first, so that exchanging two systems
changes the signs and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note
from ..inference.dependence import robust_variance
from ..inference.differences import Difference
from ..inference.distribution import JackknifeValues
from ..inference.evidence import Drawn, Evidence
from ..inference.proportions import AreasOfSystems, Discordant, TwoAreas, TwoProportions
from ..inference.tables import Tabled
from ..metrics.statistic import DeLong, Facts
from ..results import EvaluationResult

Floats = NDArray[np.float64]

# Differences of scores below this share of the scores are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Contestant:
    """A system that is compared, on one metric and subgroup.

    Attributes
    ----------
    name : str
        Its name.
    rank : int
        Where it comes in an order that does not depend on the order of the call.
    evidence : Evidence
        With replicates that are common to the family.
    result : EvaluationResult
        The system by itself.
    shared_notes : tuple of Note
        Notes that hold for every pair, such as of too few rows or groups.
    answer_notes : tuple of Note
        That its predictions equal the truth, or are the same on every row.
    predicted : ndarray of shape (n_samples, ...) or None
        Predictions, to see who predicts the same.
    right : ndarray of shape (n_samples,) or None
        Whether each row counts as 1, for 0/1 values of independent rows.
    left_out : tuple (JackknifeValues, ndarray of shape (n_lines,)) or None
        Values without single units, for BCa.
    areas : tuple (AreasOfSystems, number) or None
        For areas under ROC curves on the same independent rows.
    crossed : tuple (covariances, number) or None
        By cells and members of crossed factors; see `skboot.inference.dependence`.
    is_paired : bool
        Whether all systems were scored on the same rows; else each has resamples of its own.
    table : tuple (Tabled, number of draws, seed, whether they are asked for) or None
        For functions of a table of truth and decision, on rows.
    """

    name: str
    rank: int
    evidence: Evidence
    result: EvaluationResult
    shared_notes: tuple[Note, ...] = ()
    answer_notes: tuple[Note, ...] = ()
    predicted: NDArray[Any] | None = None
    right: NDArray[np.bool_] | None = None
    left_out: tuple[JackknifeValues, Floats] | None = None
    areas: tuple[AreasOfSystems, int] | None = None
    crossed: tuple[Floats, int] | None = None
    is_paired: bool = True
    table: tuple[Tabled, int, Any, bool] | None = None


def pairs_of(names: Iterable[str], reference: str | None) -> list[tuple[str, str]]:
    """All pairs in the order of the call, or each other system with the reference."""
    names = list(names)
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]


def difference_of(first: Contestant, second: Contestant) -> Difference:
    """Return first minus second, with rounding taken out."""
    one, other = first.evidence, second.evidence
    estimate = estimated_differences(np.array([one.estimate]), np.array([other.estimate]))
    replicates = replicated_differences(estimate, one.replicates[None], other.replicates[None])
    acceleration = bias_and_error = freedom = None
    like = fewest_units([first, second])
    if first.left_out is not None and second.left_out is not None:
        values, left_out = first.left_out[1] - second.left_out[1], first.left_out[0]
        acceleration, error, bias, freedom = left_out.moments(values, float(estimate[0]))
        bias_and_error = bias, error
        like = replace(like, drawn=drawn_of_moving(like.drawn, first, second))
    delong = None
    if first.areas is not None and second.areas is not None:
        family = first.areas[0]
        delong = DeLong(family.error(first.areas[1], second.areas[1]), family.smaller_class)
    elif not first.is_paired and one.facts.delong is not None and other.facts.delong is not None:
        areas = (one.facts.delong, other.facts.delong)
        error = float(np.hypot(areas[0].standard_error, areas[1].standard_error))
        delong = DeLong(error, min(area.smaller_class for area in areas))
    evidence = like.of_other_values(
        float(estimate[0]),
        replicates[0],
        Facts(bounds_of_difference(one, other), weighted=one.facts.weighted, delong=delong),
        acceleration=acceleration,
        left_out=bias_and_error,
        error_freedom=freedom,
        robust_variance=_robust_variance(first, second),
        first_look=one.first_look,
        smoothed=smoothed_difference(first, second),
    )
    return Difference(
        evidence,
        _discordant(first, second, replicates[0]),
        are_identical(first, second),
        proportions_of(first, second),
        areas_of(first, second),
    )


def smoothed_difference(first: Contestant, second: Contestant) -> Floats | None:
    """Return the values on drawn tables of two systems; None where many rows decide."""
    if first.table is None or second.table is None:
        return None
    own, *how, asked = first.table
    return own.difference(second.table[0], *how, asked=asked)


def _robust_variance(first: Contestant, second: Contestant) -> float | None:
    """Return the cluster-robust variance of a difference on crossed factors, None if unknown."""
    one, other = first.evidence, second.evidence
    if not first.is_paired and None not in (one.robust_variance, other.robust_variance):
        return one.robust_variance + other.robust_variance  # type: ignore[operator]
    if first.crossed is None or second.crossed is None:
        return None
    covariances, a = first.crossed
    b = second.crossed[1]
    of_difference = covariances[:, a, a] + covariances[:, b, b] - 2 * covariances[:, a, b]
    variance = float(robust_variance(np.maximum(of_difference, 0.0), one.drawn.n_units))
    return None if np.isnan(variance) else variance


def fewest_units(contestants: Sequence[Contestant]) -> Evidence:
    """Return the evidence of a system with the fewest degrees of freedom, for what was drawn.

    On the same rows all have as many. On rows of their own a difference varies at most as if both
    had as few as the one with fewer.
    """
    if contestants[0].is_paired:
        return contestants[0].evidence
    return min(
        (each.evidence for each in contestants), key=lambda one: one.drawn.degrees_of_freedom
    )


def proportions_of(first: Contestant, second: Contestant) -> TwoProportions | None:
    """Return the hits of two systems on independent rows of their own."""
    if first.is_paired:
        return None
    one, other = first.evidence.share, second.evidence.share
    if one is None or other is None:
        return None
    return TwoProportions(one.hits, one.n, other.hits, other.n, one.sign)


def areas_of(first: Contestant, second: Contestant) -> TwoAreas | None:
    """Return the areas of two systems on the same independent rows, as the metric signs them."""
    if first.areas is None or second.areas is None:
        return None
    areas = first.areas[0].pair(first.areas[1], second.areas[1])
    is_negated = first.evidence.facts.bounds[1] <= 0
    return areas.mirrored() if areas is not None and is_negated else areas


def bounds_of_difference(first: Evidence, second: Evidence) -> tuple[float, float]:
    """Range of the first minus the second."""
    (least, greatest), (low, high) = first.facts.bounds, second.facts.bounds
    return least - high, greatest - low


def estimated_differences(first: Floats, second: Floats) -> Floats:
    """Return differences of scores, 0 where they differ by rounding alone."""
    differences = first - second
    scale = _ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(differences) <= scale, 0.0, differences)


def replicated_differences(differences: Floats, first: Floats, second: Floats) -> Floats:
    """Return differences on the resamples, (n_differences, n_resamples), without rounding."""
    replicates = first - second
    with np.errstate(invalid="ignore"):
        sizes = np.abs(first)
        other = np.abs(second)
        np.maximum(sizes, other, out=sizes)
        sizes *= _ROUNDING
        _round_to(replicates, 0.0, np.abs(replicates, out=other), sizes)
        # A difference that never changes must not look as if it did.
        estimates = differences[:, None]
        np.abs(np.subtract(replicates, estimates, out=other), out=other)
        _round_to(replicates, estimates, other, sizes)
    return replicates


def _round_to(values: Floats, to: Any, distances: Floats, most: Floats) -> None:
    """Replace values that are not further off than some sizes, but for those that are there."""
    near = distances <= most
    if near.any():
        np.copyto(values, to, where=np.logical_and(near, distances, out=near))


def _discordant(first: Contestant, second: Contestant, replicates: Floats) -> Discordant | None:
    """Return the rows that tell two systems apart; replicates are those of the difference."""
    if first.right is None or second.right is None:
        share, other = first.evidence.share, second.evidence.share
        if first.evidence.first_look is None or share is None or other is None:
            return None
        # A stream knows how far they are apart on each resample, but not on each row.
        difference = first.evidence.estimate - second.evidence.estimate
        return Discordant.of_spread(difference, float(replicates.var(ddof=1)), share.n)
    first_only = int(np.count_nonzero(first.right & ~second.right))
    second_only = int(np.count_nonzero(second.right & ~first.right))
    return Discordant(first_only, second_only, len(first.right))


def are_identical(first: Contestant, second: Contestant) -> bool:
    """Whether two systems predict the same on every row."""
    one, other = first.predicted, second.predicted
    if one is None or other is None or first.evidence.estimate != second.evidence.estimate:
        return False
    if not (one.dtype.hasobject and other.dtype.hasobject):
        return np.array_equal(one, other)
    # Rows that are arrays have no single answer to whether they are equal.
    rows = zip(one.ravel(), other.ravel(), strict=True)
    return one.shape == other.shape and all(a is b or np.array_equal(a, b) for a, b in rows)


def drawn_of_moving(drawn: Drawn, first: Contestant, second: Contestant) -> Drawn:
    """Return what was drawn for a difference that few units may move.

    Where predictions differ on most rows all move it: those far from a heavy tail seem still.
    """
    if first.left_out is None or second.left_out is None:
        return drawn
    jackknife, values = first.left_out
    n_apart = rows_apart(first, second) if drawn.design.units_are_rows else None
    if n_apart is not None and 2 * n_apart >= len(first.predicted):  # type: ignore[arg-type]
        return drawn
    return drawn.of_moving(jackknife.n_moving(values - second.left_out[1]))


def rows_apart(first: Contestant, second: Contestant) -> int | None:
    """Return on how many rows two systems predict otherwise; None of objects, and if unknown."""
    one, other = first.predicted, second.predicted
    if one is None or other is None or one.dtype.kind != other.dtype.kind or one.dtype.hasobject:
        return None
    if one.shape != other.shape:
        return None
    return int(np.count_nonzero(np.any((one != other).reshape(len(one), -1), axis=1)))
