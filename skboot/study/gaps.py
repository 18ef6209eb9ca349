"""Which subgroups a gap is taken over, and how each of them varies.

A subgroup of a handful of rows has the largest of many differences by chance, and its interval is
too wide to be of use. It is left out of the gap and named, as are subgroups whose metric is
undefined or never changes over the resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.errors import Note, counted, first_of
from .._base.values import equal_units
from ..inference.evidence import Evidence
from ..inference.gap import SubgroupEstimate, SubgroupGap
from ..inference.proportions import Discordant
from ..metrics.cells import label_counts
from ..metrics.labels import averages_classes, class_weights
from ..metrics.statistic import Facts, Statistic
from .rows import Part, Rows

# Minimum number of rows of a subgroup (right or wrong, or of each class), and of rows with a value
# each; below them intervals of equal subgroups exclude 0 too often, or are too wide to be of use
# (record 0032).
FEWEST_ROWS = 10
FEWEST_VALUES = 20

# Shown in the place of the names of a pair where there is no pair.
NO_PAIR = "fewer than two subgroups"


@dataclass(frozen=True)
class Subgroup:
    """The number of rows of a subgroup, and the range of the metric on it.

    Attributes
    ----------
    name : object
        Its name.
    n_rows : int
        Its rows.
    n_class : int or None
        Rows of the class that has the fewest; None where classes do not matter.
    n_classes : int
        Classes that count evenly in the metric, at least two.
    size : float
        Effective number of rows, of that class if there is one (Kish 1965).
    needed : int
        Minimum number of rows, of that class if there is one.
    is_share : bool
        Whether the metric varies as a proportion does, most in the middle of its range.
    bounds : tuple of float
        Range of the metric.
    """

    name: Any
    n_rows: int
    n_class: int | None
    n_classes: int
    size: float
    needed: int
    is_share: bool
    bounds: tuple[float, float]


# ------------------------------------------------------------------ which subgroups


def counted_subgroups(
    statistic: Statistic, rows: Rows, parts: Sequence[Part], evidence: Sequence[Evidence]
) -> list[Subgroup]:
    """Count the rows, and those of the smallest class, of every subgroup.

    Parameters
    ----------
    statistic : Statistic
        The metric.
    rows : Rows
        Rows of the call.
    parts : sequence of Part
        The subgroups.
    evidence : sequence of Evidence
        Evidence of each subgroup in turn, of one system or of as many as there are.

    Returns
    -------
    list of Subgroup
    """
    shares = [score_evidence.facts.proportion for score_evidence in evidence]
    hits = all(share is not None and share.exact for share in shares)
    by_label = statistic.is_row_mean and statistic.response == "labels"
    classes = None if hits else _classes(statistic, rows)
    bounds = statistic.bounds
    if hits and shares[0] is not None and np.isinf(bounds).any():
        # The values of a mean without bounds happen to be 0 or 1.
        bounds = shares[0].bounds
    is_share = bool(np.isfinite(bounds).all()) and (hits or by_label or not statistic.is_row_mean)
    needed = FEWEST_ROWS if hits or by_label or classes is not None else FEWEST_VALUES
    # Classes in an even average over them; 2 for other metrics.
    n_classes, inner = 2, statistic.unsigned or statistic
    if classes is not None and averages_classes(inner):
        weights = class_weights(inner, classes, np.ones(len(classes)))
        n_classes = max(int(np.count_nonzero(weights)), 2)
    subgroups = []
    # The range of a metric is that of the truth, whatever the system.
    of_one = evidence[:: len(evidence) // len(parts)]
    for part, score_evidence in zip(parts, of_one, strict=True):
        n_rows, n_class, size = _count_rows(rows.of(statistic, part.at, part.order), classes)
        range_of_subgroup = bounds if bounds != statistic.bounds else score_evidence.facts.bounds
        subgroups.append(
            Subgroup(
                part.name, n_rows, n_class, n_classes, size, needed, is_share, range_of_subgroup
            )
        )
    return subgroups


def _classes(statistic: Statistic, rows: Rows) -> Any:
    """Return the labels whose rarest one decides how the metric varies; None if all rows do."""
    truth = rows.truth_column
    if truth is None or statistic.is_row_mean or statistic.response == "values":
        return None
    of_labels = statistic.response != "any"
    if not of_labels and truth.dtype.hasobject:
        # The rows of a callable may be texts or lists, which need not have an order.
        return None
    labels = label_counts(truth)[0]
    pools = (statistic.unsigned or statistic).pools_classes
    return labels if len(labels) == 2 or (of_labels and not pools) else None


def _count_rows(columns: tuple[Any, Any, Any], classes: Any) -> tuple[int, int | None, float]:
    """Return the rows of a subgroup, those of its smallest class, and their effective number."""
    y_true, y_pred, weights = columns
    if weights is not None and not weights.all():
        # Rows without weight say nothing of a subgroup.
        y_true, y_pred, weights = (
            None if column is None else column[weights > 0] for column in columns
        )
    n_rows, n_class = len(y_pred), None
    if classes is not None:
        present, counts = label_counts(y_true)
        if len(present) < len(classes):
            return n_rows, 0, 0.0
        rarest = int(counts.argmin())
        n_class = int(counts[rarest])
        weights = None if weights is None else weights[y_true == present[rarest]]
    if weights is not None:
        return n_rows, n_class, equal_units(weights)
    return n_rows, n_class, float(n_rows if n_class is None else n_class)


def varying_subgroups(
    subgroups: Sequence[Subgroup], evidence: Sequence[Evidence], what: str
) -> tuple[list[int], list[Note]]:
    """Leave out the subgroups that have too few rows, or a metric that does not vary.

    Parameters
    ----------
    subgroups : sequence of Subgroup
        All of them.
    evidence : sequence of Evidence
        Evidence of what the gap is taken of, on each of them.
    what : str
        Name of the metric.

    Returns
    -------
    numbers : list of int
        Numbers of the subgroups that a gap is taken over; none where fewer than two are left.
    cautions : list of Note
        Which were left out, and why, in one note.
    """
    reasons: dict[str, list[str]] = {}
    numbers = []
    for k, (subgroup, score_evidence) in enumerate(zip(subgroups, evidence, strict=True)):
        cause = _reason(subgroup, score_evidence)
        if cause is None:
            numbers.append(k)
            continue
        reason, detail = cause
        reasons.setdefault(reason, []).append(f"{subgroup.name} ({detail})")
    if not reasons:
        return numbers, []
    left_out = "; ".join(f"for {why}: {first_of(names)}" for why, names in reasons.items())
    if len(numbers) < 2:
        text = f"There is no disparity of {what} between subgroups: fewer than two are left."
        return [], [Note("caution", f"{text} Left out {left_out}.", about="subgroups")]
    text = f"Left out of the disparity of {what} {left_out}."
    return numbers, [Note("caution", text, about="subgroups")]


def _reason(subgroup: Subgroup, evidence: Evidence) -> tuple[str, str] | None:
    """Return why a subgroup is left out, with the number that shows it; None if it is not."""
    replicates = evidence.replicates
    n = subgroup.n_rows if subgroup.n_class is None else subgroup.n_class
    if n < subgroup.needed:
        of_class = "" if subgroup.n_class is None else " of a class"
        return f"fewer than {subgroup.needed} rows{of_class}", f"{n}"
    if np.isnan(evidence.estimate):
        return "being undefined", counted(subgroup.n_rows, "row")
    undefined = int(np.isnan(replicates).sum())
    if undefined:
        return "being undefined on some resamples", f"{undefined} of {len(replicates)}"
    if not subgroup.is_share and np.ptp(replicates) == 0:
        # The number of rows says how uncertain a share is, also where its replicates do not vary.
        return "having the same value on every resample", counted(subgroup.n_rows, "row")
    return None


# ------------------------------------------------------------------ limits of a subgroup


def side_of(subgroup: Subgroup, evidence: Evidence) -> SubgroupEstimate:
    """Return the side of a gap that a metric on a subgroup is.

    Parameters
    ----------
    subgroup : Subgroup
        Its rows.
    evidence : Evidence
        Evidence of the metric on them.

    Returns
    -------
    SubgroupEstimate
    """
    shape, df = "spread", _degrees_of_freedom(evidence, subgroup)
    counts: tuple[float, ...] = (np.inf, 1)
    if subgroup.is_share:
        shape, counts = "effective", (min(subgroup.size, *evidence.drawn.n_units), subgroup.n_rows)
        share, of_rows = evidence.facts.proportion, evidence.drawn.design.units_are_rows
        if share is not None and of_rows and not evidence.facts.weighted:
            is_f1, is_negated = int(share.scale == "f1"), int(share.sign < 0)
            shape, counts, df = "wilson", (share.hits, share.n, is_f1, is_negated), np.inf
    return SubgroupEstimate(evidence.estimate, subgroup.bounds, shape, counts, df)


def side_of_difference(
    statistic: Statistic, subgroup: Subgroup, evidence: Evidence, discordant: Discordant | None
) -> SubgroupEstimate:
    """Return the side of a gap that a difference of two systems on a subgroup is.

    Parameters
    ----------
    statistic : Statistic
        The metric.
    subgroup : Subgroup
        Its rows.
    evidence : Evidence
        Evidence of the difference on them.
    discordant : Discordant or None
        For right or wrong answers on independent rows.

    Returns
    -------
    SubgroupEstimate
    """
    low, high = subgroup.bounds
    bounds = (low - high, high - low)
    if discordant is not None:
        return SubgroupEstimate(evidence.estimate, bounds, "tango", tuple(discordant), np.inf)
    n = np.inf
    fewest = min(subgroup.size, *evidence.drawn.n_units)
    if (
        subgroup.is_share
        and statistic.response == "labels"
        and evidence.drawn.design.units_are_rows
    ):
        # Labels differ on few rows, as right and wrong do; a row of the smallest class counts as it
        # would if every class had as few.
        n = subgroup.n_rows if subgroup.n_class is None else subgroup.n_classes * fewest
    elif subgroup.is_share and np.ptp(evidence.replicates) == 0:
        n = fewest
    df = _degrees_of_freedom(evidence, subgroup)
    # Shares differ by little that is skewed, and skewness from resamples has an error of its own.
    return SubgroupEstimate(
        evidence.estimate, bounds, "spread", (float(n), int(not subgroup.is_share)), df
    )


def _degrees_of_freedom(evidence: Evidence, subgroup: Subgroup) -> float:
    return float(max(min(evidence.drawn.degrees_of_freedom, subgroup.size - 1), 1.0))


def gap_of(
    sides: Sequence[SubgroupEstimate], evidence: Sequence[Evidence], n_families: int
) -> tuple[tuple[int, int], Evidence]:
    """Return the two subgroups that are furthest apart, and the evidence of their difference.

    Parameters
    ----------
    sides : sequence of SubgroupEstimate
        Sides of the subgroups that are kept, at least two.
    evidence : sequence of Evidence
        Evidence of each.
    n_families : int
        Number of gaps that the interval is simultaneous over.

    Returns
    -------
    pair : tuple of int
        Numbers of the larger and of the smaller.
    known : Evidence
        Of their difference; the design is that of the larger.
    """
    values = np.array([side_evidence.estimate for side_evidence in evidence])
    a, b = int(values.argmax()), int(values.argmin())
    if a == b:
        a, b = 0, 1
    evidence_a, evidence_b = evidence[a], evidence[b]
    pair = (sides[a], sides[b])
    closed = all(side.shape in ("wilson", "tango") for side in pair)
    replicates_a = None if closed else evidence_a.replicates
    gap = SubgroupGap(
        pair, len(sides), n_families, evidence_a.drawn.design.units_are_rows, replicates_a
    )
    low, high = sides[a].bounds
    estimate, replicates = (
        float(values[a] - values[b]),
        evidence_a.replicates - evidence_b.replicates,
    )
    facts = Facts((low - high, high - low))
    return (a, b), evidence_a.of_other_values(estimate, replicates, facts, gap=gap)


def no_gap(like: Evidence, n_families: int) -> Evidence:
    """Return the evidence of a gap that is undefined."""
    gap = SubgroupGap((), 0, n_families, True, None)
    return like.of_other_values(np.nan, np.full(len(like.replicates), np.nan), gap=gap)
