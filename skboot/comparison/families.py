"""A family of differences: each by itself, all of them at once, and the records that say both.

Systems, runs, methods and data sets differ in the *distribution* of their differences about the
true ones: replicates on common resamples, Student's t, or t that is skewed. A distribution gives
limits; the options of the comparison decide which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, tell, texts_of
from ..inference.evidence import LazyIntervals, notes_of_cut, range_of_difference
from ..inference.multiplicity import holm
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult, PairedDifference, PairRecords
from ..results.result import Provenance
from .arguments import ComparisonOptions

Floats = NDArray[np.float64]
# Differences of scores below this share of the scores are rounding.
SCORE_ROUNDING = 1e-12
Pair = TypeVar("Pair", bound=PairedDifference)
Compared = TypeVar("Compared", bound=ComparisonResult)


def estimated_differences(scores_a: Floats, scores_b: Floats) -> Floats:
    """Return differences of scores, 0 where they differ by rounding alone."""
    differences = scores_a - scores_b
    scale = SCORE_ROUNDING * np.maximum(np.abs(scores_a), np.abs(scores_b))
    return np.where(np.abs(differences) <= scale, 0.0, differences)


@dataclass(frozen=True, eq=False)
class DifferenceLimits:
    """Limits and p-values of several differences, arrays of shape (n_pairs,).

    Attributes
    ----------
    low_uncut, high_uncut : ndarray
        As the formula has them; intervals are cut at the range of differences.
    p_values : ndarray
    method : ndarray of str
        Names of the intervals.
    quantiles : ndarray or None
        Quantiles of the normal distribution that limits of replicates reach out to.
    signs : ndarray or None
        1 where a difference is shown to be above 0, -1 below, 0 neither, all at once; None where
        the limits say it.
    """

    low_uncut: Floats
    high_uncut: Floats
    p_values: Floats
    method: NDArray[Any]
    quantiles: Floats | None = None
    signs: NDArray[np.int8] | None = None

    def named(self, method: str) -> DifferenceLimits:
        """Return the limits under the name of another method."""
        return replace(self, method=np.full(len(self.low_uncut), method, dtype=object))


class DifferenceDistribution(ABC):
    """Distribution of the differences of a family about the true ones.

    Attributes
    ----------
    options : ComparisonOptions
    differences, standard_errors : ndarray of shape (n_pairs,)
    degrees_of_freedom : sequence of length n_pairs
        None where an interval uses no resamples.
    bounds : tuple of float
        Range of the metric.
    """

    options: ComparisonOptions
    bounds: tuple[float, float]
    differences: Floats
    standard_errors: Floats
    degrees_of_freedom: Sequence[float | None]

    @property
    @abstractmethod
    def separate_limits(self) -> DifferenceLimits:
        """Limits of each difference by itself."""

    @abstractmethod
    def bonferroni_limits(self) -> DifferenceLimits:
        """Limits of each at Bonferroni's level."""

    @abstractmethod
    def max_t_limits(self) -> DifferenceLimits:
        """Limits of all at once, by the largest deviation among them."""


def records_of(
    distribution: DifferenceDistribution,
    pairs: Sequence[tuple[str, str]],
    kind: type[Pair],
    **further: Sequence[Any],
) -> PairRecords[Pair]:
    """Return the records of the pairs, each of which is made when it is asked for.

    Parameters
    ----------
    distribution : DifferenceDistribution
    pairs : sequence of tuple of str
        Names.
    kind : type
        Kind of the records.
    **further : sequence of length n_pairs
        Other attributes of the records.

    Returns
    -------
    PairRecords
        In the order of ``pairs``.
    """
    options, n, limits = distribution.options, len(pairs), distribution.separate_limits
    level, alternative = options.confidence_level, options.alternative
    bounds = range_of_difference(distribution.bounds)
    # Of all differences at once, by the adjustment; None without one.
    joint_limits: DifferenceLimits | None = None
    if options.adjust is not None and n == 1:
        joint_limits = limits
    elif options.adjust == "bonferroni":
        joint_limits = distribution.bonferroni_limits()
    elif options.adjust == "holm":
        joint_limits = replace(distribution.bonferroni_limits(), p_values=holm(limits.p_values))
    elif options.adjust is not None:
        joint_limits = distribution.max_t_limits()
    how = (level, bounds, alternative)
    intervals = LazyIntervals(limits.low_uncut, limits.high_uncut, limits.method, *how)
    joint_intervals: LazyIntervals | None = intervals if joint_limits is limits else None
    if joint_limits is not None and joint_intervals is None:
        low, high, method = joint_limits.low_uncut, joint_limits.high_uncut, joint_limits.method
        joint_intervals = LazyIntervals(low, high, method, *how)
    quantiles = None if joint_limits is None else joint_limits.quantiles
    signs = None
    if joint_limits is not None and options.with_ranks:
        signs = joint_limits.signs
        if signs is None:
            signs = (joint_limits.low_uncut > 0).astype(np.int8) - (joint_limits.high_uncut < 0)
    columns: dict[str, Sequence[Any]] = {
        "first": [name_a for name_a, _ in pairs],
        "second": [name_b for _, name_b in pairs],
        "difference": distribution.differences.tolist(),
        "confidence_interval": intervals,
        "simultaneous_interval": [None] * n if joint_intervals is None else joint_intervals,
        "p_value": limits.p_values.tolist(),
        "p_value_adjusted": [np.nan] * n
        if joint_limits is None
        else joint_limits.p_values.tolist(),
        "standard_error": distribution.standard_errors.tolist(),
        "degrees_of_freedom": distribution.degrees_of_freedom,
        "alternative": [alternative] * n,
        "_simultaneous_quantile": [None] * n if quantiles is None else quantiles.tolist(),
        "_step_down_sign": [None] * n if signs is None else signs.astype(int).tolist(),
        **further,
    }
    return PairRecords(kind, columns)


def comparison_of(
    options: ComparisonOptions,
    results: Mapping[str, EvaluationResult],
    records: PairRecords[Any],
    notes: Sequence[Note],
    kind: type[Compared],
    *,
    warned: Iterable[Note] | None = None,
    settings: dict[str, Any],
    held_fixed: Iterable[str],
    paired: bool = True,
    paired_runs: bool = False,
    **fields: Any,
) -> Compared:
    """Return the comparison of systems or methods by one metric, and give its notes to the call.

    Parameters
    ----------
    options : ComparisonOptions
    results : mapping of str to EvaluationResult
        Each by itself.
    records : PairRecords
    notes : sequence of Note
        What a reader must know.
    kind : type
        Kind of the comparison.
    warned : iterable of Note, optional
        Notes that the user is warned of; all where they are not given.
    settings : dict
        Arguments as a result holds them.
    held_fixed : iterable of str
        What the intervals do not vary.
    paired, paired_runs : bool
        Whether the systems were scored on the same rows, and whether runs belong together.
    **fields
        Other attributes of the comparison.
    """
    tell(*(notes if warned is None else warned))
    intervals = (records.columns[name] for name in ("confidence_interval", "simultaneous_interval"))
    cut = notes_of_cut(*(column for column in intervals if isinstance(column, LazyIntervals)))
    notes = [*notes, *(note for note in cut if note not in notes)]
    provenances = [result._provenance for result in results.values()]
    # The seed of the first is that of all, unless each has rows of its own.
    leading, n_tasks = provenances[0], provenances[0].facts.n_tasks
    if any(provenance.facts.n_tasks != n_tasks for provenance in provenances):
        n_tasks = tuple(n for provenance in provenances for n in provenance.facts.n_tasks)
    facts = replace(
        leading.facts,
        n_tasks=n_tasks,
        weighted=any(provenance.facts.weighted for provenance in provenances),
        paired=paired,
        paired_runs=paired_runs,
    )
    pairs: Any = records
    return kind(
        systems=results,
        pairs=pairs,
        reference=options.reference,
        adjust=options.adjust,
        _automatic=options.interval == "auto",
        _provenance=Provenance(
            texts_of(notes), tuple(held_fixed), leading.seed, settings, leading.versions, facts
        ),
        **fields,
    )
