"""What a reader must know of a result, and warnings at the line of the user's that caused them.

Engines return `Note`s. Whether a note becomes a warning follows from its kind, never from its text,
and the public function that the user called raises it, once and under its own name.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning

NoteKind = Literal[
    "few", "caution", "resamples", "undefined", "failed", "degenerate", "choice", "advice"
]

# Notes of the other kinds are read in a summary and raise no warning.
_CATEGORIES: dict[NoteKind, type[Warning]] = {
    "few": UserWarning,
    "caution": UserWarning,
    "resamples": UserWarning,
    "undefined": UndefinedMetricWarning,
    "failed": FitFailedWarning,
}

# A context manager of the package ends inside a frame of contextlib.
_SKIPPED = (f"{Path(__file__).parent}{os.sep}", str(contextlib.__file__))


@dataclass(frozen=True)
class Note:
    """A sentence about a result.

    Attributes
    ----------
    kind : str
        "few": too few rows, groups or runs were drawn; "caution": the interval is unreliable for
        another reason; "resamples": they are too few for a level; "undefined": the metric has no
        value on some resamples; "failed": some runs are left out; "degenerate": an interval
        without width or limits; "choice": why this interval was made; "advice": how to read the
        result, or what would narrow it.
    text : str
        The sentence.
    about : str
        What it warns of, which a call warns of once although texts differ, as by the system's name;
        empty: each text is warned of.
    """

    kind: NoteKind
    text: str
    about: str = ""

    @property
    def is_warning(self) -> bool:
        """Whether the public function warns of it."""
        return self.kind in _CATEGORIES


class Notes(list[Note]):
    """Notes in the order in which they were found."""

    def add(self, kind: NoteKind, text: str) -> None:
        """Append a note."""
        self.append(Note(kind, text))


def texts_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the text of each note, as a result holds it."""
    return tuple(note.text for note in notes)


# Where the notes of steps below an engine go; each thread has its own.
_COLLECTED: ContextVar[Notes | None] = ContextVar("collected", default=None)


@contextlib.contextmanager
def collected(notes: Notes | None = None) -> Iterator[Notes]:
    """Collect what the steps below `tell`, for an engine that returns it or has no use for it."""
    notes = Notes() if notes is None else notes
    before = _COLLECTED.set(notes)
    try:
        yield notes
    finally:
        _COLLECTED.reset(before)


def tell(note: Note) -> None:
    """Hand a note to the engine that collects them, or warn the user where none does."""
    notes = _COLLECTED.get()
    if notes is not None:
        notes.append(note)
    elif note.is_warning:
        warn_user(note.text, _CATEGORIES[note.kind])


def warn_of(notes: Iterable[Note], caller: str) -> None:
    """Raise the warnings among some notes, each once, with the name of the public function."""
    first: dict[tuple[str, str], Note] = {}
    for note in notes:
        first.setdefault((note.kind, note.about or note.text), note)
    for note in first.values():
        if note.is_warning:
            warn_user(f"{caller}: {note.text}", _CATEGORIES[note.kind])


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller outside the package, however deep inside it the call stands.

    A filter of Python shows a warning once a place: were it a place inside the package, all such
    warnings of a session would share it.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
