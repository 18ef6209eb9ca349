"""Doors: the public functions, as the messages of all that they call know them.

`door` gives a function, method or generator the name under which users know it. Nothing below a
door knows who called: it raises `skboot._base.errors.fail`, to which the door adds its name, and
it gives notes by `tell`, of which the door warns. An unknown keyword gets the argument that is
meant, under whatever name other libraries have for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import GeneratorType
from typing import Any, TypeVar

import numpy as np

from .errors import CALLED, COLLECTED, Call, Notes, parts_of, rename, warn_of
from .hints import advice_on, keywords_of
from .work import start_watch

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
        A decorator. Notes that the function gives by `tell` become warnings at the user's line, one
        for each kind of note. Where one public function calls another, the warnings name the outer
        one. An unknown keyword raises TypeError, which names the keyword that is meant.
    """

    def decorate(function: Door) -> Door:
        @wraps(function)
        def public_function(*arguments: Any, **options: Any) -> Any:
            __tracebackhide__ = True  # pytest shows the line that calls
            name_for_users = name
            if name.startswith(".") and arguments:
                owner = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
                name_for_users = owner.__name__ + name.rstrip(".")
            call = Call(
                door=name,
                of=name_for_users,
                function=function,
                arguments=arguments,
                options=options,
                warned=set(),
                is_inner=CALLED.get() is not None,
            )
            answer = _work_off(call, function, arguments, options)
            # The body of a generator has not begun: each of its steps is worked off like a call.
            return _steps(call, answer) if isinstance(answer, GeneratorType) else answer

        return public_function  # type: ignore[return-value]

    return decorate


_AT_END = object()


def _steps(call: Call, generator: Iterator[Any]) -> Iterator[Any]:
    """Yield from a generator; what the user does between two steps is no part of the call."""
    while (step := _work_off(call, next, (generator, _AT_END), {})) is not _AT_END:
        yield step


def _work_off(
    call: Call, work: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Return what the work of a call returns; warn of its notes, and name its errors.

    The work is the public function, or the next step of a generator that it returned.
    """
    __tracebackhide__ = True
    try:
        if COLLECTED.get() is not None:
            # Another public function is at work: it will warn of the notes given here.
            return work(*arguments, **options)
        notes = Notes()
        notes_before, call_before = COLLECTED.set(notes), CALLED.set(call)
        # An estimator whose method is called has its verbosity as an attribute.
        attributes = getattr(arguments[0], "__dict__", {}) if "." in call.of and arguments else {}
        verbose = options.get("verbose", attributes.get("verbose"))
        watch = start_watch(call.of, verbose)
        try:
            # What is too small is 0, whatever numpy is set to raise outside.
            with np.errstate(under="ignore"):
                return work(*arguments, **options)
        finally:
            if watch is not None:
                watch.end()
            COLLECTED.reset(notes_before)
            CALLED.reset(call_before)
            if notes:
                # Warnings name the function, or the class of the method.
                warn_of(notes, call.of.partition(".")[0])
    except (TypeError, ValueError) as error:
        bad = parts_of(error)
        if bad is not None:
            # An error of `fail`, which the innermost public function puts its name to.
            if not bad.of:
                rename(error, {}, _owner_of(call, bad.name.partition("[")[0]))
            raise
        # If the work had begun, one of its frames is below those of this function.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is _work_off.__code__:
            trace = trace.tb_next
        if trace is not None:
            raise
        # Python refused the arguments: say which ones are meant.
        text = advice_on(call, str(error)) or str(error)
    raise TypeError(text)


def _owner_of(call: Call, argument: str) -> str:
    """Return the name of a method, or that of its class where only this takes the argument."""
    if "." not in call.of or argument in keywords_of(call.function):
        return call.of
    initializer = getattr(type(call.arguments[0]), "__init__", None)
    is_of_class = initializer is not None and argument in keywords_of(initializer)
    return call.of.partition(".")[0] if is_of_class else call.of
