"""The error of a bad argument: which argument of which function, must, got, and what to do."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from sklearn.exceptions import EfficiencyWarning, FitFailedWarning, UndefinedMetricWarning


class BadArgument(NamedTuple):
    """Parts of the message about a bad argument; see `fail`.

    Attributes
    ----------
    name : str
        The argument; empty where `must` is the whole sentence.
    must, got, advice : str
    of : str
        The public function, which a door names (`skboot._base.doors`); empty before.
    about : {"", "systems", "missing"}
        "systems" where columns are hardly those of classes, but may be of several systems;
        "missing" where values are.
    """

    name: str
    must: str
    got: str = ""
    advice: str = ""
    of: str = ""
    about: str = ""

    @property
    def message(self) -> str:
        """The sentences that a user reads."""
        if not self.name:
            return f"{self.of}: {self.must}" if self.of else self.must
        of = f" of {self.of}" if self.of else ""
        # What takes several lines, such as an array, is told by the first.
        shown, *below = self.got.splitlines() or [""]
        got = f" Got {shown}{' ...' if below else ''}." if shown else ""
        message = f"The {self.name!r} parameter{of} must {self.must}.{got}"
        # Advice may begin with a line break, before what need not be read at once.
        between = "" if self.advice.startswith("\n") else " "
        return f"{message}{between}{self.advice}".rstrip()

    def error(self) -> ValueError:
        """The error to be raised, which carries the parts."""
        error = ValueError(self.message)
        vars(error)["bad_argument"] = self
        return error


def fail(name: str, must: str, got: str, advice: str = "", *, about: str = "") -> ValueError:
    """Make the error of a bad argument; the door of the public function adds its name.

    Parameters
    ----------
    name : str
        The argument.
    must : str
        What the argument must be, without a full stop.
    got : str
        What was given, without a full stop; empty where ``must`` names it.
    advice : str
        What to do, a sentence.
    about : str
        See `BadArgument`.

    Returns
    -------
    ValueError
        To be raised.
    """
    return BadArgument(name, must, got, advice, about=about).error()


def thousands(n: int) -> str:
    """Return a number, with commas from ten thousand."""
    return f"{n:,}" if n >= 10_000 else str(n)


def counted(n: int, noun: str) -> str:
    """Return a number of things, as in "3 rows" and "1 row"."""
    return f"{thousands(n)} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun, as in "members of each factor"."""
    head, *ending = noun.split(" of ", 1)
    return " of ".join([f"{head}s", *ending])


def refuse(text: str) -> ValueError:
    """Make the error of a call that no single argument spoils; doors name the function."""
    return BadArgument("", text).error()


def as_type_error(error: ValueError) -> TypeError:
    """Return an error of `fail` as one that says that the type is wrong."""
    type_error = TypeError(str(error))
    vars(type_error).update(vars(error))
    return type_error


def parts_of(error: BaseException) -> BadArgument | None:
    """Return the parts of an error of `fail` or `refuse`; None of any other."""
    parts: BadArgument | None = getattr(error, "bad_argument", None)
    return parts


def rename(error: BaseException, names: Mapping[str, str], of: str = "") -> None:
    """Put an error of `fail` under the names that users know; any other stays as it is.

    Parameters
    ----------
    error : BaseException
        Changed in place, so that it keeps its traceback, cause and notes.
    names : mapping of str to str
        Arguments as they are checked, and as the user gave them.
    of : str
        The public function; empty for the one that is named, or will be. An argument that gets
        another name is one of the function around, which will be.
    """
    bad = parts_of(error)
    if bad is None or (bad.name not in names and of in ("", bad.of)):
        return
    name = names.get(bad.name, bad.name)
    amend(error, bad._replace(name=name, of=of or ("" if name != bad.name else bad.of)))


def amend(error: BaseException, bad: BadArgument) -> None:
    """Give an error of `fail` other parts, in place."""
    error.args = (bad.message,)
    vars(error)["bad_argument"] = bad


@contextmanager
def arguments_named(names: Mapping[str, str], of: str = "") -> Iterator[None]:
    """Raise errors of `fail` under the names that users know, as `rename` does."""
    try:
        yield
    except (ValueError, TypeError) as error:
        rename(error, names, of)
        raise


# What a reader must know of a result, and warnings at the line of the user's that caused them.
#
# Steps `tell` notes, and engines put them into results. Whether a note becomes a warning follows
# from its kind, never from its text; the door of the public function that the user called raises
# one warning of each kind, under its own name (`skboot._base.doors`).


NoteKind = Literal[
    "few",
    "caution",
    "resamples",
    "undefined",
    "failed",
    "slow",
    "degenerate",
    "choice",
    "advice",
]

# Notes of the other kinds are read in a summary and raise no warning.
_CATEGORIES: dict[NoteKind, type[Warning]] = {
    "few": UserWarning,
    "caution": UserWarning,
    "resamples": UserWarning,
    "undefined": UndefinedMetricWarning,
    "failed": FitFailedWarning,
    "slow": EfficiencyWarning,
}

# What sentences of one kind may differ in.
_NUMBERS_AND_NAMES = re.compile(r"'[^']*'|\d[\d.,]*")

# A context manager of the package ends inside a frame of contextlib.
_SKIPPED = (f"{Path(__file__).parents[1]}{os.sep}", str(contextlib.__file__))


_Advice = TypeVar("_Advice", bound=Callable[..., Any])
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Note:
    """A sentence about a result.

    Attributes
    ----------
    kind : str
        "few": too few rows, groups or runs were drawn; "caution": the interval is unreliable for
        another reason; "resamples": they are too few for a level; "undefined": the metric has no
        value on some resamples; "failed": some runs are left out; "slow": the call could be much
        shorter; "degenerate": an interval without width or limits; "choice": why this interval was
        made; "advice": how to read the result, or what would narrow it.
    text : str
        The sentence.
    about : str
        What it warns of, which a call warns of once although texts differ; empty: the text, but for
        its numbers and quoted names.
    item : str
        What differs: the items of all such notes are listed after ``about``.
    within : str
        A module of another package: the warning is shown at its line, and only where that called.
    """

    kind: NoteKind
    text: str
    about: str = ""
    item: str = ""
    within: str = ""

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


# Where notes go: to the engine that collects them, or to the public function that the user called.
# Each thread has its own; workers return their notes.
COLLECTED: ContextVar[Notes | None] = ContextVar("collected", default=None)


class Call(NamedTuple):
    """A call of a public function, as its door knows it.

    Attributes
    ----------
    door : str
        Name of the door, as `skboot._base.doors.door` has it.
    of : str
        Name of the function for users.
    function : callable
    arguments : sequence
        With the object, of a method.
    options : mapping
    warned : set of str
        What it has warned of before its end.
    is_inner : bool
        Whether a function of the user's made it, within another call.
    """

    door: str
    of: str
    function: Callable[..., Any]
    arguments: Sequence[Any]
    options: Mapping[str, Any]
    warned: set[str]
    is_inner: bool


CALLED: ContextVar[Call | None] = ContextVar("called", default=None)


@contextlib.contextmanager
def collected(notes: Notes | None = None) -> Iterator[Notes]:
    """Collect the notes that the steps below give by `tell`."""
    notes = Notes() if notes is None else notes
    before = COLLECTED.set(notes)
    try:
        yield notes
    finally:
        COLLECTED.reset(before)


def call_foreign(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function of the user's: public functions that it calls warn by themselves.

    So they do in workers, which no public function was called in.
    """
    before = COLLECTED.set(None)
    try:
        return function(*arguments, **options)
    finally:
        COLLECTED.reset(before)


def tell(*notes: Note) -> None:
    """Hand notes to whoever collects them; where nobody does, warn of them."""
    collected_notes = COLLECTED.get()
    if collected_notes is None:
        warn_of(notes)
    else:
        collected_notes.extend(notes)


def say(kind: NoteKind, text: str) -> None:
    """Tell a note of one sentence."""
    tell(Note(kind, text))


def warn_before(note: Note) -> None:
    """Warn of long work before it is done, once a call; other warnings are raised at its end."""
    call = CALLED.get()
    if call is None:
        warn_of([note])
    elif note.about not in call.warned:
        call.warned.add(note.about)
        warn_of([note], call.of.partition(".")[0])


def only_advises(otherwise: Any = ()) -> Callable[[_Advice], _Advice]:
    """Mark a function that decides nothing but what is said of rows, or in an error about them.

    Rows may be anything that a metric takes: arrays, objects without an order, of mixed types.
    Where such a function cannot read them nothing is said, and the call goes on.

    Parameters
    ----------
    otherwise : object
        What it returns where it raises: no note, no text.

    Returns
    -------
    callable
        A decorator.
    """

    def decorate(function: _Advice) -> _Advice:
        @wraps(function)
        def advice(*arguments: Any, **options: Any) -> Any:
            try:
                return function(*arguments, **options)
            except Exception:
                # For those who develop the package.
                _LOGGER.debug("%s gives no advice", function.__qualname__, exc_info=True)
                return otherwise

        return advice  # type: ignore[return-value]

    return decorate


def first_of(items: Sequence[str], separator: str = ", ", most: int = 5) -> str:
    """Join items; of many the first, and the number of the others."""
    if len(items) <= most:
        return separator.join(items)
    return f"{separator.join(items[:most])} and {len(items) - most} others"


def warn_of(notes: Iterable[Note], of: str = "") -> None:
    """Raise the warnings among some notes under the name of a public function or class.

    Items of one list are one warning, and so are sentences that differ in numbers and names alone:
    the first, and how many more the result holds.
    """
    alike: dict[tuple[NoteKind, str], dict[Note, None]] = {}
    for note in notes:
        if note.kind in _CATEGORIES:
            key = (note.kind, note.about or _NUMBERS_AND_NAMES.sub("#", note.text))
            alike.setdefault(key, {})[note] = None
    for (kind, about), similar in alike.items():
        sentence, *more = dict.fromkeys(note.text for note in similar)
        text = f"{sentence} ({len(more)} more: see the summary.)" if more else sentence
        if items := [note.item for note in similar if note.item]:
            text = f"{about}: {first_of(items, '; ')}."
        within = next(iter(similar)).within
        warn_user(f"{of}: {text}" if of else text, _CATEGORIES[kind], within)


def warn_user(text: str, category: type[Warning] = UserWarning, within: str = "") -> None:
    """Warn at the nearest caller outside the package, however deep inside it the call stands.

    A filter of Python shows a warning once a place: were it a place inside the package, all such
    warnings of a session would share it. The place is that of the nearest caller in the module
    ``within``, where one is given: where that did not call, nothing is shown.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    while within and frame.f_globals.get("__name__") != within:
        if frame.f_back is None:
            return
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
