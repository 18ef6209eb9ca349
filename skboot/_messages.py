"""The error of a bad argument: which argument of which function, must, got, and what to do."""

from __future__ import annotations

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


def renamed(error: ValueError, name: str, of: str = "y_pred") -> ValueError:
    """Return an error of `fail` under the name of the argument that a ``y_pred`` came from."""
    bad = vars(error).get("bad_argument")
    if bad is None or bad.name != of:
        return error
    return bad._replace(name=name).error()
