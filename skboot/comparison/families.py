"""A family of differences: each by itself, all of them at once, and the records that say both.

Systems, runs, methods and data sets differ in the *law* of their differences, which tells how far
these may be from the true ones: replicates on common resamples, Student's t, or pivots. A law gives
limits; what is asked of the family decides which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, tell, texts_of
from ..inference.evidence import ConfidenceInterval, notes_of_cut, range_of_difference, within_range
from ..inference.multiplicity import holm
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult, PairedDifference
from ..results.result import Provenance
from .asked import Asked

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
class Limits:
    """Limits and p-values of several differences, arrays of shape (n_pairs,).

    Attributes
    ----------
    low, high, p_values : ndarray
    method : ndarray of str
        Names of the intervals.
    quantiles : ndarray or None
        Quantiles of the normal distribution that limits of replicates reach out to.
    signs : ndarray or None
        1 where a difference is told to be above 0, -1 below, 0 neither, all at once.
    """

    low: Floats
    high: Floats
    p_values: Floats
    method: NDArray[Any]
    quantiles: Floats | None = None
    signs: NDArray[np.int8] | None = None

    def named(self, method: str) -> Limits:
        """Return the same limits under another name."""
        return replace(self, method=np.full(len(self.low), method, dtype=object))

    def intervals(
        self, confidence_level: float, bounds: tuple[float, float], alternative: str
    ) -> list[ConfidenceInterval]:
        """Return the interval of each difference, cut at the range of differences."""
        columns = (self.low.tolist(), self.high.tolist(), self.method.tolist())
        return [
            within_range(
                ConfidenceInterval(low, high, confidence_level, method), bounds, alternative
            )
            for low, high, method in zip(*columns, strict=True)
        ]


class Law(ABC):
    """How far the differences of a family may be from the true ones.

    Attributes
    ----------
    asked : Asked
    differences, standard_errors : ndarray of shape (n_pairs,)
    degrees_of_freedom : sequence of length n_pairs
        None where an interval uses no resamples.
    bounds : tuple of float
        Range of the metric.
    """

    asked: Asked
    bounds: tuple[float, float]
    differences: Floats
    standard_errors: Floats
    degrees_of_freedom: Sequence[float | None]

    @property
    @abstractmethod
    def alone(self) -> Limits:
        """Each difference by itself."""

    @abstractmethod
    def stricter(self) -> Limits:
        """Each at Bonferroni's level."""

    @abstractmethod
    def largest(self) -> Limits:
        """All at once, by the largest deviation among them: "max-t"."""


def records_of(
    law: Law,
    pairs: Sequence[tuple[str, str]],
    kind: type[Pair],
    **further: Sequence[Any],
) -> list[Pair]:
    """Return the record of each pair.

    Parameters
    ----------
    law : Law
    pairs : sequence of tuple of str
        Names.
    kind : type
        Of the records.
    **further : sequence of length n_pairs
        Other attributes of the records.

    Returns
    -------
    list
        In the order of ``pairs``.
    """
    options, n = law.asked, len(pairs)
    of_range = options.confidence_level, range_of_difference(law.bounds), options.alternative
    # All differences at once, as it is asked for; None where it is not.
    wide: Limits | None = None
    if options.adjust is not None and n == 1:
        wide = replace(law.alone, signs=(law.alone.low > 0).astype(np.int8) - (law.alone.high < 0))
    elif options.adjust == "bonferroni":
        wide = law.stricter()
        wide = replace(wide, signs=(wide.low > 0).astype(np.int8) - (wide.high < 0))
    elif options.adjust == "holm":
        wide = replace(law.stricter(), p_values=holm(law.alone.p_values))
    elif options.adjust is not None:
        wide = law.largest()
    quantiles = None if wide is None else wide.quantiles
    signs = wide.signs if wide is not None and options.with_ranks else None
    columns: dict[str, Sequence[Any]] = {
        "first": [name_a for name_a, _ in pairs],
        "second": [name_b for _, name_b in pairs],
        "difference": law.differences.tolist(),
        "confidence_interval": law.alone.intervals(*of_range),
        "simultaneous_interval": [None] * n if wide is None else wide.intervals(*of_range),
        "p_value": law.alone.p_values.tolist(),
        "p_value_adjusted": [np.nan] * n if wide is None else wide.p_values.tolist(),
        "standard_error": law.standard_errors.tolist(),
        "degrees_of_freedom": law.degrees_of_freedom,
        "alternative": [options.alternative] * n,
        "_simultaneous_quantile": [None] * n if quantiles is None else quantiles.tolist(),
        "_step_down_sign": [None] * n if signs is None else signs.astype(int).tolist(),
        **further,
    }
    return [
        kind(**dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    ]


def answered(
    options: Asked,
    systems: Mapping[str, EvaluationResult],
    pairs: Sequence[PairedDifference],
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
    """Return the comparison of systems or methods by one metric, and tell its notes.

    Parameters
    ----------
    options : Asked
    systems : mapping of str to EvaluationResult
        Each by itself.
    pairs : sequence of PairedDifference
    notes : sequence of Note
        What a reader must know.
    kind : type
        Of the comparison.
    warned : iterable of Note, optional
        Those of them that are told; all where they are not given.
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
    intervals = [(pair.confidence_interval, pair.simultaneous_interval) for pair in pairs]
    cut = notes_of_cut(*(interval for pair_intervals in intervals for interval in pair_intervals))
    notes = [*notes, *(note for note in cut if note not in notes)]
    every = [result._provenance for result in systems.values()]
    # The seed of the first is that of all, unless each has rows of its own.
    leading, n_tasks = every[0], every[0].facts.n_tasks
    if any(provenance.facts.n_tasks != n_tasks for provenance in every):
        n_tasks = tuple(n for provenance in every for n in provenance.facts.n_tasks)
    facts = replace(
        leading.facts,
        n_tasks=n_tasks,
        weighted=any(provenance.facts.weighted for provenance in every),
        paired=paired,
        paired_runs=paired_runs,
    )
    return kind(
        systems=systems,
        pairs=tuple(pairs),
        reference=options.reference,
        adjust=options.adjust,
        _automatic=options.interval == "auto",
        _provenance=Provenance(
            texts_of(notes), tuple(held_fixed), leading.seed, settings, leading.versions, facts
        ),
        **fields,
    )
