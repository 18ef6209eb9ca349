"""The comparison of systems by one metric, from wherever their resamples come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._warnings import Note, tell, texts_of
from ..results.comparison import ComparisonResult
from .contestants import Contestant, pairs_of
from .families import Asked
from .system_pairs import compare_pairs


def compared_systems(
    metric: str,
    contestants: Mapping[str, Contestant],
    asked: Asked,
    reference: str | None,
    settings: dict[str, Any],
    *,
    held_fixed: Iterable[str] = (),
    notes: Iterable[Note] = (),
    remarks: Iterable[Note] = (),
) -> ComparisonResult:
    """Return the comparison, and tell what its pairs lack.

    Parameters
    ----------
    metric : str
        Name of the metric, and of the subgroup if it is of one.
    contestants : mapping of str to Contestant
        The systems, in the order of the call.
    asked : Asked
        Of all differences.
    reference : str or None
        Which system the others are compared with; None: all pairs.
    settings : dict
        Arguments as a result holds them.
    held_fixed : iterable of str
        What the intervals do not vary, beside the trained systems.
    notes, remarks : iterable of Note
        About the systems, and about what was drawn.
    """
    pairs, found = compare_pairs(contestants, pairs_of(contestants, reference), asked)
    tell(*[note for note in found if note.kind == "resamples"][:1])
    tell(*(note for note in found if note.kind == "caution"))
    shared = dict.fromkeys(note for one in contestants.values() for note in one.shared_notes)
    return ComparisonResult(
        metric=metric,
        estimand="system",
        systems={name: one.result for name, one in contestants.items()},
        pairs=tuple(pairs),
        reference=reference,
        adjust=asked.adjust,
        automatic=asked.interval == "auto",
        notes=texts_of((*found, *notes, *shared, *remarks)),
        held_fixed=("the trained systems", *held_fixed),
        settings=settings,
    )
