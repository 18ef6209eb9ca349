"""What is asked of a comparison, and the result that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .._base.errors import Note, tell, texts_of
from ..inference.evidence import notes_of_cut
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult, PairedDifference
from ..results.result import Provenance

Compared = TypeVar("Compared", bound=ComparisonResult)


@dataclass(frozen=True)
class Asked:
    """What is asked of all differences of a comparison.

    Attributes
    ----------
    interval : str
        "auto" or the name of a method.
    adjust : {"max-t", "holm", "bonferroni", None}
        How to adjust for the number of pairs.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        Of the first minus the second.
    reference : str or None
        The system that all others are compared with; None: all pairs.
    first_look : int or None
        Units at the first of the looks that the intervals shall hold at.
    of_systems : str
        Interval of each system: beside differences that hold at every look stand systems that do.
    """

    interval: str
    adjust: str | None
    confidence_level: float
    alternative: str = "two-sided"
    reference: str | None = None
    first_look: int | None = None
    of_systems: str = "auto"

    @property
    def with_ranks(self) -> bool:
        """Whether the pairs are all there are, so that the systems can be ranked by them."""
        all_pairs = self.reference is None and self.alternative == "two-sided"
        return self.adjust in ("max-t", "bonferroni") and all_pairs

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        given = {name: own for name, own in vars(self).items() if name != "of_systems"}
        return {name: own for name, own in given.items() if name != "first_look" or own}


def answered(
    asked: Asked,
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
    asked : Asked
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
    cut = notes_of_cut(*(each for both in intervals for each in both))
    notes = [*notes, *(note for note in cut if note not in notes)]
    every = [each.provenance for each in systems.values()]
    # The seed of the first is that of all, unless each has rows of its own.
    first, n_tasks = every[0], every[0].facts.n_tasks
    if any(own.facts.n_tasks != n_tasks for own in every):
        n_tasks = tuple(n for own in every for n in own.facts.n_tasks)
    facts = replace(
        first.facts,
        n_tasks=n_tasks,
        weighted=any(own.facts.weighted for own in every),
        paired=paired,
        paired_runs=paired_runs,
    )
    return kind(
        systems=systems,
        pairs=tuple(pairs),
        reference=asked.reference,
        adjust=asked.adjust,
        automatic=asked.interval == "auto",
        provenance=Provenance(
            texts_of(notes), tuple(held_fixed), first.seed, settings, first.versions, facts
        ),
        **fields,
    )
