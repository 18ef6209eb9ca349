"""The error of a bad argument: which argument of which function, must, got, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


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
    message = f"The {name!r} parameter of {caller} must {must}. Got {got}."
    return ValueError(f"{message} {advice}".rstrip())


@contextmanager
def speaking_as(caller: str) -> Iterator[None]:
    """Let errors made by `fail` name the function that the user called."""
    try:
        yield
    except ValueError as error:
        said = re.sub(r"^(The '.*?' parameter of )\w+( must )", rf"\1{caller}\2", str(error))
        raise ValueError(said) from error.__cause__


@contextmanager
def speaking_of(name: str) -> Iterator[None]:
    """Let errors name the argument that a ``y_pred`` came from."""
    try:
        yield
    except ValueError as error:
        said = str(error).replace("The 'y_pred' parameter", f"The '{name}' parameter")
        raise ValueError(said) from error.__cause__
