"""Doors: the public functions, as the messages of all that they call know them.

`door` gives a function, method or generator the name under which users know it. Nothing below a
door knows who called: it raises `skboot._base.errors.fail`, to which the door adds its name, and
it tells notes, of which the door warns. An unknown keyword gets the argument that is meant, under
whatever name other libraries have for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import GeneratorType
from typing import Any, TypeVar

import numpy as np

from .errors import CALLED, COLLECTED, Call, Notes, parts_of, rename, warn_of
from .hints import advice_on, keywords_of

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
            full_name = name
            if name.startswith(".") and arguments:
                owner = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
                full_name = owner.__name__ + name.rstrip(".")
            is_inner = CALLED.get() is not None
            call = Call(name, full_name, function, arguments, options, set(), is_inner)
            answer = _passed(call, function, arguments, options)
            return _steps(call, answer) if isinstance(answer, GeneratorType) else answer

        return through  # type: ignore[return-value]

    return decorate


_AT_END = object()


def _steps(call: Call, generator: Iterator[Any]) -> Iterator[Any]:
    """Pass the door again for each step: what the user does between two of them does not."""
    while (step := _passed(call, next, (generator, _AT_END), {})) is not _AT_END:
        yield step


def _passed(
    call: Call,
    work: Callable[..., Any],
    arguments: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    """Work, and raise errors and warnings under the name of a call."""
    __tracebackhide__ = True
    try:
        if COLLECTED.get() is not None:
            # A door within another one leaves it the notes; what users call has its own.
            return work(*arguments, **options)
        notes = Notes()
        of_notes, of_call = COLLECTED.set(notes), CALLED.set(call)
        try:
            # What is too small is 0, whatever numpy is told to raise outside.
            with np.errstate(under="ignore"):
                return work(*arguments, **options)
        finally:
            COLLECTED.reset(of_notes)
            CALLED.reset(of_call)
            if notes:
                # Warnings name the function, or the class of the method.
                warn_of(notes, call.of.partition(".")[0])
    except (TypeError, ValueError) as error:
        bad = parts_of(error)
        if bad is not None:
            if not bad.of:
                rename(error, {}, _taker(call, bad.name.partition("[")[0]))
            raise
        # A call that bound has a frame of the function.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is _passed.__code__:
            trace = trace.tb_next
        if trace is not None:
            raise
        said = advice_on(call, str(error)) or str(error)
    raise TypeError(said)


def _taker(call: Call, argument: str) -> str:
    """Name a method, or its class where that was given the argument, and the method was not."""
    if "." not in call.of or argument in keywords_of(call.function):
        return call.of
    initializer = getattr(type(call.arguments[0]), "__init__", None)
    is_of_class = initializer is not None and argument in keywords_of(initializer)
    return call.of.partition(".")[0] if is_of_class else call.of
