"""Doors: the public functions, as the messages of all that they call know them.

`door` gives a function, method or generator the name under which users know it. Nothing below a
door knows who called: it raises `skboot._base.messages.fail`, to which the door adds its name, and
it tells notes, of which the door warns. An unknown keyword gets the argument that is meant, under
whatever name other libraries have for it.
"""

from __future__ import annotations

import difflib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from types import GeneratorType
from typing import Any, TypeVar

from .messages import parts_of, rename
from .warnings import COLLECTED, Notes, warn_of
from .wayfinding import call_for

_HERE = f"{Path(__file__).parents[1]}{os.sep}"

# Name, function and arguments of a call.
_Known = tuple[str, Callable[..., Any], Sequence[Any]]
Door = TypeVar("Door", bound=Callable[..., Any])

# Names of one argument, here and in other libraries. Of those in a row, the ones that a function
# has are offered.
_NAMES_OF_ONE = (
    ("confidence_level", "alpha", "ci", "conf", "conf_level", "confidence", "level"),
    ("random_state", "seed", "random_seed", "rng", "generator", "key"),
    (
        *("n_resamples", "n_train_resamples", "n_bootstraps", "n_bootstrap", "n_boot", "nboot"),
        *("n_bootstrap_samples", "bootstraps", "n_iterations", "n_iter", "n_replicates", "reps"),
        *("num_resamples", "B", "R"),
    ),
    ("metric", "scoring", "metrics", "scorer", "scorers", "score_func", "statistic"),
    (
        *("groups", "group", "cluster", "clusters", "cluster_ids", "units", "patient_ids"),
        *("patients", "patient", "speakers", "speaker", "users", "user", "subjects", "subject"),
    ),
    ("sample_weight", "weights", "weight", "sample_weights", "w"),
    ("y_true", "y", "target", "targets", "truth", "labels_true", "ground_truth", "y_test"),
    (
        *("y_pred", "y_preds", "y_score", "y_prob", "y_proba", "y_hat", "yhat", "pred", "preds"),
        *("predictions", "prediction", "scores", "probas", "y_pred_proba", "y_scores", "predicted"),
    ),
    ("strata", "stratify", "stratum", "stratified"),
    ("by", "subgroups", "subgroup", "sensitive_features", "slices", "subjects", "subject"),
    ("average_over", "tasks", "task", "average", "subjects"),
    ("curve", "kind", "metric", "which"),
    ("interval", "method", "ci_method", "interval_method", "bootstrap_type", "test"),
    ("adjust", "correction", "multiple_testing", "p_adjust", "adjustment"),
    ("greater_is_better", "higher_is_better", "larger_is_better", "maximize"),
    ("block_length", "block_size", "block_len", "block", "blocks", "time_series"),
    ("margin", "tolerance", "delta", "epsilon"),
    ("y_reference", "reference", "baseline", "control"),
    ("report", "output", "out"),
    ("n_splits", "n_folds", "folds"),
    ("n_jobs", "n_workers", "workers", "num_workers", "n_cpus"),
    ("estimator", "model", "clf", "classifier", "regressor"),
    ("estimators", "models", "classifiers", "methods"),
    ("y_preds", "systems", "runs"),
    ("memory", "cache", "cache_dir"),
)
_LEAST_LIKENESS = 0.75


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
        notes = Notes()
        before = COLLECTED.set(notes)
        try:
            return work(*arguments, **options)
        finally:
            COLLECTED.reset(before)
            if notes:
                warn_of(notes, _owner(_full_name(*known)))
    except (TypeError, ValueError) as error:
        bad = parts_of(error)
        if bad is not None and not bad.of:
            rename(error, {}, _taker(bad.name.partition("[")[0], *known))
        if bad is not None or not _did_not_bind(error):
            raise
        said = _other_call(str(error), known, options)
    raise TypeError(said)


def _full_name(name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    if not name.startswith("."):
        return name
    owner = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
    return owner.__name__ + name.rstrip(".")


def _taker(argument: str, name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """Name a method, or its class where that was given the argument, and the method was not."""
    full = _full_name(name, function, arguments)
    if "." not in full or argument in _keywords_of(function):
        return full
    made = getattr(type(arguments[0]), "__init__", None)
    return _owner(full) if made is not None and argument in _keywords_of(made) else full


def _owner(full_name: str) -> str:
    return full_name.partition(".")[0]


def _did_not_bind(error: BaseException) -> bool:
    """Whether an error is that a function does not take these arguments."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is _passed.__code__:
        trace = trace.tb_next
    # A call that bound has a frame of the function.
    return trace is None


def _other_call(said: str, known: _Known, options: Mapping[str, Any]) -> str:
    """What Python says, and the argument that is meant, or the function that takes what is given.

    ``said`` is what Python says of a call without an unknown keyword.
    """
    full, function, arguments = _full_name(*known), known[1], known[2]
    given = arguments[1:] if "." in function.__qualname__ else arguments
    # What lacks a keyword alone has its data in the right place.
    advice = "" if _lacks_keywords_alone(function, arguments, options) else call_for(given)
    unknown = [name for name in options if name not in _keywords_of(function)]
    if unknown:
        return _unknown_keyword(full, unknown[0], options[unknown[0]], function, advice)
    return f"{said}. {advice}" if advice else said


@cache
def _keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(one.name for one in parameters if one.name not in ("self", "cls"))


def _lacks_keywords_alone(
    function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
) -> bool:
    """Whether a call has all that stands without a keyword, and nothing that is unknown."""
    signature = inspect.signature(function)
    try:
        given = signature.bind_partial(*arguments, **options).arguments
    except TypeError:
        return False
    needed = (one for one in signature.parameters.values() if one.default is one.empty)
    return all(one.kind is one.KEYWORD_ONLY or one.name in given for one in needed)


def _unknown_keyword(
    of: str, name: str, value: Any, function: Callable[..., Any], advice: str
) -> str:
    """What Python says, and the argument that is meant: by another name, misspelt, or any."""
    known = _keywords_of(function)
    said = f"{of}() got an unexpected keyword argument {name!r}."
    meant = arguments_meant(name, known)
    if meant == ["confidence_level"]:
        return f"{said} Did you mean {level_meant(name, value)}?"
    if meant:
        return f"{said} Did you mean {' or '.join(map(repr, meant))}?"
    listed = ", ".join(known)
    return f"{said} {advice or f'It takes {listed}.'}"


def arguments_meant(name: str, known: Sequence[str]) -> list[str]:
    """Those of the known arguments that are meant by another name, or by a misspelt one."""
    rows = [row for row in _NAMES_OF_ONE if name in row]
    meant = list(dict.fromkeys(own for row in rows for own in known if own in row))
    return meant or difflib.get_close_matches(name, known, 1, _LEAST_LIKENESS)


def level_meant(name: str, value: Any) -> str:
    """The confidence level of a share of errors, a percentage or a share."""
    try:
        share = float(value) / 100 if 1 < float(value) < 100 else float(value)
    except (TypeError, ValueError):
        return "'confidence_level'"
    if not 0 < share < 1:
        return "'confidence_level'"
    if name == "alpha":
        return f"confidence_level={1 - share:g}, which is 1 - alpha"
    return f"confidence_level={share:g}"
