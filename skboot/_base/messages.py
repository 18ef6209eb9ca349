"""The error of a bad argument: which argument of which function, must, got, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple


class BadArgument(NamedTuple):
    """Parts of the message about a bad argument; see `fail`.

    Attributes
    ----------
    name : str
        The argument; empty where `must` is the whole sentence.
    must, got, advice : str
    of : str
        The public function, which a door names (`skboot._base.doors`); empty before.
    about : {"", "systems"}
        "systems" where columns are hardly those of classes, but may be of several systems.
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
        got = f" Got {self.got}." if self.got else ""
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


def refuse(text: str) -> ValueError:
    """Make the error of a call that no single argument spoils; doors name the function."""
    return BadArgument("", text).error()


def as_type_error(error: ValueError) -> TypeError:
    """Return an error of `fail` as one that says that the type is wrong."""
    other = TypeError(str(error))
    vars(other).update(vars(error))
    return other


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
        The public function; empty for the one that is named, or will be.
    """
    bad = parts_of(error)
    if bad is None or (bad.name not in names and of in ("", bad.of)):
        return
    bad = bad._replace(name=names.get(bad.name, bad.name), of=of or bad.of)
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
