"""The error of a bad argument: which argument of which function, must, got, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple


class BadArgument(NamedTuple):
    """Parts of the message about a bad argument; see `fail`."""

    caller: str
    name: str
    must: str
    got: str
    advice: str

    def error(self) -> ValueError:
        """The error to be raised, which carries the parts."""
        message = f"The {self.name!r} parameter of {self.caller} must {self.must}. Got {self.got}."
        # Advice may begin with a line break, before what need not be read at once.
        between = "" if self.advice.startswith("\n") else " "
        error = ValueError(f"{message}{between}{self.advice}".rstrip())
        vars(error)["bad_argument"] = self
        return error


def fail(caller: str, name: str, must: str, got: str, advice: str = "") -> ValueError:
    """Make the error of a bad argument.

    Parameters
    ----------
    caller, name : str
        Function and argument.
    must : str
        What the argument must be, without a full stop.
    got : str
        What was given, without a full stop.
    advice : str
        What to do, a sentence.

    Returns
    -------
    ValueError
        To be raised.
    """
    return BadArgument(caller, name, must, got, advice).error()


def renamed(error: ValueError, names: Mapping[str, str], caller: str = "") -> ValueError:
    """Return an error of `fail` under the names that a caller knows; any other one as it is.

    Parameters
    ----------
    error : ValueError
    names : mapping of str to str
        Arguments as they are checked, and as the caller gave them.
    caller : str
        Function that was called; empty for the one that the error names.

    Returns
    -------
    ValueError
    """
    bad = vars(error).get("bad_argument")
    if bad is None or (bad.name not in names and caller in ("", bad.caller)):
        return error
    named = bad._replace(name=names.get(bad.name, bad.name), caller=caller or bad.caller)
    known: ValueError = named.error()
    for note in getattr(error, "__notes__", ()):
        known.add_note(note)
    return known


@contextmanager
def arguments_named(names: Mapping[str, str], caller: str = "") -> Iterator[None]:
    """Raise errors of `fail` under the names that a caller knows, as `renamed` does."""
    try:
        yield
    except ValueError as error:
        known = renamed(error, names, caller)
        if known is error:
            raise
        raise known from error.__cause__
