"""Doors: the public functions, as the messages of all that they call know them.

`door` gives a function, method or generator the name under which users know it. Nothing below a
door knows who called: it raises `skboot._base.errors.fail`, to which the door adds its name, and
it tells notes, of which the door warns. An unknown keyword gets the argument that is meant, under
whatever name other libraries have for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from types import GeneratorType
from typing import Any, TypeVar

import numpy as np

from .errors import CALLED, COLLECTED, Notes, parts_of, rename, warn_of
from .hints import FailedCall, advice_on, keywords_of

_HERE = f"{Path(__file__).parents[1]}{os.sep}"

# Name, function and arguments of a call.
_Known = tuple[str, Callable[..., Any], Sequence[Any]]
Door = TypeVar("Door", bound=Callable[..., Any])


def door(name: str) -> Callable[[Door], Door]:
    """Make a public function known as ``name``; its signature, name and pickles stay.

    Parameters
    ----------
    name : str
        As messages give it: ``"bootstrap_score"``, ``"BootstrapAccumulator.update"``; with a
        leading full stop, as ``".plot"``, after the class of the object; ``"."`` is the class.
        Warnings of a method, and errors of what was given to the class, name the class alone.

    Returns
    -------
    callable
        A decorator. What is told below becomes warnings at the user's line, one a kind; where one
        public function calls another, of the outer one. An unknown keyword raises TypeError, with
        what is meant.
    """

    def decorate(function: Door) -> Door:
        @wraps(function)
        def through(*arguments: Any, **options: Any) -> Any:
            __tracebackhide__ = True  # pytest shows the line that calls
            known = (name, function, arguments)
            answer = _passed(known, function, arguments, options)
            return _steps(known, answer) if isinstance(answer, GeneratorType) else answer

        return through  # type: ignore[return-value]

    return decorate


_AT_END = object()


def _steps(known: _Known, generator: Iterator[Any]) -> Iterator[Any]:
    """Pass the door again for each step: what the user does between two of them does not."""
    while (step := _passed(known, next, (generator, _AT_END), {})) is not _AT_END:
        yield step


def _passed(
    known: _Known,
    work: Callable[..., Any],
    arguments: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    """Work, and raise errors and warnings under a door: its name, function and arguments."""
    __tracebackhide__ = True
    try:
        # A door that another one passes leaves it the notes; a user's function has its own.
        is_inner = sys._getframe(2).f_code.co_filename.startswith(_HERE)
        if is_inner and COLLECTED.get() is not None:
            return work(*arguments, **options)
        notes, owner = Notes(), _owner(_full_name(*known))
        before, outer = COLLECTED.set(notes), CALLED.set((owner, set()))
        try:
            # What is too small is 0, whatever numpy is told to raise outside.
            with np.errstate(under="ignore"):
                return work(*arguments, **options)
        finally:
            COLLECTED.reset(before)
            CALLED.reset(outer)
            if notes:
                warn_of(notes, owner)
    except (TypeError, ValueError) as error:
        bad = parts_of(error)
        if bad is not None and not bad.of:
            rename(error, {}, _taker(bad.name.partition("[")[0], *known))
        if bad is not None or not _did_not_bind(error):
            raise
        call = FailedCall(known[0], _full_name(*known), *known[1:], options)
        said = advice_on(call, str(error)) or str(error)
    raise TypeError(said)


def _full_name(name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    if not name.startswith("."):
        return name
    owner = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
    return owner.__name__ + name.rstrip(".")


def _taker(argument: str, name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """Name a method, or its class where that was given the argument, and the method was not."""
    full = _full_name(name, function, arguments)
    if "." not in full or argument in keywords_of(function):
        return full
    made = getattr(type(arguments[0]), "__init__", None)
    return _owner(full) if made is not None and argument in keywords_of(made) else full


def _owner(full_name: str) -> str:
    return full_name.partition(".")[0]


def _did_not_bind(error: BaseException) -> bool:
    """Whether an error is that a function does not take these arguments."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is _passed.__code__:
        trace = trace.tb_next
    # A call that bound has a frame of the function.
    return trace is None
