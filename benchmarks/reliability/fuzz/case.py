"""One call, what must come of it, and the judgement of what came.

A call is *answered* or *refused*; anything else is a fault: another number than that of
scikit-learn, an answer where a refusal is due or a refusal where an answer is, an error that does
not name the argument, a warning of a library, an input that was changed, or a result that is
unsound (limits in the wrong order, NaN or no width without a word of it, a text that fails).
"""

import re
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

# What a call may be expected to do beside answering with a number.
REFUSAL, SOUND = "a refusal", "a refusal or a sound answer"
# The own error of an entry that is given by `options`.
UNCOMPARABLE = "not to be compared"
LONGEST = 20.0  # seconds of a call; most take milliseconds
NAMED = re.compile(
    r"""The ['"](?P<name>\w+)[^'"]*(['"][^'"]*['"][^'"]*)*['"] parameter of [\w.]+ """
    r"""must .*\. Got .*""",
    re.DOTALL,
)


class Fault(Exception):
    """What came of a call is neither a right answer nor a refusal that names the argument."""


class Case(NamedTuple):
    """A call and what is expected.

    Attributes
    ----------
    text : str
        What is called, with what.
    call : callable
        Takes nothing; gives numbers, or a result.
    expected : Any
        A number or array, `REFUSAL`, or `SOUND`.
    names : tuple of str
        Arguments of which one must be named by a refusal; empty for any.
    inputs : tuple
        Arguments that must be the same afterwards.
    may_refuse : bool
        Whether a refusal is right, too, although a number is expected: too few rows for a metric,
        entries that a type of 64 bits cannot hold.
    own_words : str
        Pattern of refusals in the words of scikit-learn or of the user's own function.
    tolerance : float
        Relative difference up to which a number is the one expected.
    rounding : float
        Absolute difference.
    """

    text: str
    call: Callable[[], Any]
    expected: Any
    names: tuple[str, ...] = ()
    inputs: tuple[Any, ...] = ()
    may_refuse: bool = False
    own_words: str = ""
    tolerance: float = 1e-6
    rounding: float = 1e-9


def judged(case: Case) -> str:
    """Return "answered" or "refused"; raise `Fault` for all else."""
    before = [fingerprint(value) for value in case.inputs]
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome, found = "answered", case.call()
        except (ValueError, TypeError, RuntimeError, AttributeError) as error:
            outcome, found = "refused", error
        except Exception as error:
            raise Fault(f"{type(error).__name__}: {error}") from error
    if time.perf_counter() - start > LONGEST:
        raise Fault(f"took more than {LONGEST:g} s")
    if not case.own_words:
        _judge_warnings(caught)
    if [fingerprint(value) for value in case.inputs] != before:
        raise Fault("changed an input")
    (_judge_answer if outcome == "answered" else _judge_refusal)(case, found)
    return outcome


def _judge_warnings(caught):
    for one in caught:
        if not issubclass(one.category, UserWarning):
            raise Fault(f"{one.category.__name__}: {one.message}")


def _judge_refusal(case, error):
    said = str(error)
    if isinstance(error, RuntimeError) and said == UNCOMPARABLE:
        return
    if case.own_words and re.search(case.own_words, said, re.DOTALL):
        return
    named = NAMED.match(said)
    if named is None or not isinstance(error, ValueError | TypeError):
        raise Fault(f"{type(error).__name__}: {said}") from error
    if case.names and named["name"] not in case.names:
        raise Fault(f"blamed {named['name']}: {said}") from error
    if not isinstance(case.expected, str) and not case.may_refuse:
        raise Fault(f"refused: {said}") from error


def _judge_answer(case, found):
    if isinstance(case.expected, str):
        if case.expected == REFUSAL:
            raise Fault(f"answered {str(found)[:200]}")
        unsound = list(what_is_unsound(found))
        if unsound:
            raise Fault("; ".join(unsound))
        return
    found = np.asarray(found)
    if not np.allclose(
        found, case.expected, rtol=case.tolerance, atol=case.rounding, equal_nan=True
    ):
        raise Fault(f"answered {found.tolist()}, expected {np.asarray(case.expected).tolist()}")


def fingerprint(value: Any) -> Any:
    """What changes if somebody writes into a value."""
    if sparse.issparse(value):
        entries = value.tocoo()
        return value.shape, *(own.tolist() for own in (entries.row, entries.col, entries.data))
    if isinstance(value, Mapping):
        return [(key, fingerprint(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [fingerprint(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist()), value.flags.writeable
    if hasattr(value, "equals") and hasattr(value, "to_numpy"):
        index = list(value.index) if hasattr(value, "index") else None
        return type(value).__name__, repr(value.to_numpy().tolist()), repr(index)
    return repr(value)


def what_is_unsound(found: Any):
    """Yield what is wrong with a result, a table of results, a comparison or a curve."""
    if found is None or isinstance(found, bool | int | float | str | np.generic | np.ndarray):
        return
    if isinstance(found, Mapping):
        for value in found.values():
            yield from what_is_unsound(value)
        return
    if hasattr(found, "confidence_interval") and hasattr(found, "notes"):
        yield from _of_interval(found.confidence_interval, found)
    for pair in getattr(found, "pairs", ()):
        yield from _of_interval(pair.confidence_interval, found)
    for name in ("summary", "claim", "to_dict"):
        method = getattr(found, name, None)
        if method is not None:
            try:
                method()
            except Exception as error:
                yield f"{name}() raises {type(error).__name__}: {error}"


def _of_interval(interval, result):
    low, high = interval
    if low > high:
        yield f"limits {low} and {high} are in the wrong order"
    is_missing, has_none = np.isnan(low) or np.isnan(high), low == high
    if (is_missing or has_none) and not result.notes:
        yield f"limits {low} and {high} without a word"
