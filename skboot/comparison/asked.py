"""What is asked of a comparison, and the result that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .._warnings import Note, tell, texts_of
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult
from ..results.pairs import PairedDifference

Compared = TypeVar("Compared", bound=ComparisonResult)


@dataclass(frozen=True)
class Asked:
    """What is asked of all differences of a comparison.

    Attributes
    ----------
    interval : str
        "auto" or the name of a method.
    adjust : {"max-t", "holm", None}
        How to adjust for the number of pairs.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        Of the first minus the second.
    reference : str or None
        The system that all others are compared with; None: all pairs.
    """

    interval: str
    adjust: str | None
    confidence_level: float
    alternative: str = "two-sided"
    reference: str | None = None

    @property
    def with_ranks(self) -> bool:
        """Whether the pairs are all there are, so that the systems can be ranked by them."""
        all_pairs = self.reference is None and self.alternative == "two-sided"
        return self.adjust == "max-t" and all_pairs

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        return dict(vars(self))


def answered(
    asked: Asked,
    systems: Mapping[str, EvaluationResult],
    pairs: Sequence[PairedDifference],
    notes: Sequence[Note],
    kind: type[Compared],
    *,
    warned: Iterable[Note] | None = None,
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
    **fields
        Other attributes of the comparison.
    """
    tell(*(notes if warned is None else warned))
    return kind(
        systems=systems,
        pairs=tuple(pairs),
        reference=asked.reference,
        adjust=asked.adjust,
        automatic=asked.interval == "auto",
        notes=texts_of(notes),
        **fields,
    )
