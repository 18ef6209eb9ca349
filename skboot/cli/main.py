"""The command: parse, carry out, print; every error of a call is one line and exit code 2."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence

from .._base.messages import parts_of
from .._base.reading import BadCall
from .arguments import parsed
from .demo import demonstrate
from .printing import check_files, put, tables_of, text_of, write_files
from .verbs import answer_of

_BAD_CALL, _INTERRUPTED = 2, 130
# What the arguments of public functions are called here; others have their own name.
_OPTIONS = {
    "y_pred": "--y-pred",
    "y_score": "--y-pred",
    "y_preds": "--systems",
    "sample_weight": "--weights",
    "random_state": "--seed",
    "pilot": "the pilot",
    "table": "column",
}
# What a warning starts with: the function behind a verb.
_FUNCTION = re.compile(
    r"^(bootstrap_score|compare_systems|bootstrap_curve|plan_evaluation|check_table): "
)
# An argument in a sentence, such as confidence_level=0.95 or labels=, of those that are options.
_ARGUMENT = re.compile(
    r"\b(labels|groups|strata|by|average_over|block_length|metric|interval|confidence_level|"
    r"n_resamples|random_state|sample_weight|pos_label|greater_is_better|half_width|difference|"
    r"margin|power|proportion|n|decimals|same_population)="
    r"(?:(\w[\w.-]*\w|\w|'\w+')|(?=[\s,.;]|$))"
)
# A sentence that says what to write in Python: a call, a function, a dict or a function's name.
_SENTENCE_END = re.compile(r"(?<=[.?]) (?=[A-Z])")
_PYTHON = re.compile(r"\w\(|\blambda\b|\{'|\b(bootstrap|compare)_\w+")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after the command; those of the process when None.

    Returns
    -------
    int
        0 done or passed, 1 failed, 2 a call that cannot be carried out, 3 inconclusive; 130 where
        it was interrupted.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    # A public function refuses a call by ValueError, and a metric that fails by RuntimeError.
    refused = (BadCall, ValueError, RuntimeError, ImportError, MemoryError, OSError)
    try:
        return _carried_out(words)
    except Exception as error:
        # Python itself would leave with 1, which says that a gate failed.
        verb = words[0] if words and not words[0].startswith("-") else ""
        said = _said(error)
        if not isinstance(error, refused):
            _say(traceback.format_exc())
            said = f"{type(error).__name__}: {said}. This is an error of skboot: please report it"
        _say(f"{' '.join(['skboot', verb]).rstrip()}: {said}")
        return _BAD_CALL
    except KeyboardInterrupt:
        return _INTERRUPTED


def _carried_out(words: Sequence[str]) -> int:
    """Parse and carry out a call, and return its exit code."""
    asked = parsed(words, sys.modules["skboot"].__version__)
    if asked.verb == "demo":
        return demonstrate(asked.folder, _carried_out, _print)
    check_files(asked)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        with tables_of(sys.stdout):
            answer = answer_of(asked)
        shown = text_of(answer, asked.format)
        write_files(answer, asked, shlex.join(["skboot", *words]))
    _print(shown)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            _say(f"skboot: warning: {_of_a_call(str(warning.message))}")
    if answer.warns:
        _say("skboot: warning: the gate is inconclusive, and does not fail: --inconclusive warn")
    return answer.code


def _said(error: BaseException) -> str:
    """Say an error in one line, with options in the place of the arguments of a function."""
    bad = parts_of(error)
    if bad is None:
        return _in_one_line(str(error) or type(error).__name__)
    name, bracket, system = bad.name.partition("[")
    option = _OPTIONS.get(name, "--" + name.replace("_", "-"))
    of_system = f" {system.rstrip(']')}" if bracket else ""
    # No callable can be typed.
    must = bad.must.replace(" or a callable", "")
    advice = " ".join(
        sentence
        for sentence in _SENTENCE_END.split(_in_one_line(bad.advice))
        if not _PYTHON.search(sentence)
    )
    return _of_a_call(f"{option}{of_system} must {must}. Got {bad.got}. {advice}")


def _of_a_call(text: str) -> str:
    """Name options in the place of arguments, in one line, and leave out the function's name."""
    return _ARGUMENT.sub(_option_of, _FUNCTION.sub("", _in_one_line(text)))


def _option_of(found: re.Match[str]) -> str:
    name, value = found.groups()
    option = _OPTIONS.get(name, "--" + name.replace("_", "-"))
    return f"{option} {value}" if value not in (None, "True") else option


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _print(text: str) -> None:
    """Print a text, as far as somebody reads it."""
    try:
        put(text, sys.stdout)
    except BrokenPipeError:
        # Who reads the output has read enough, as in `skboot ... | head`.
        _forget_output()
    except OSError as error:
        _forget_output()
        raise BadCall(f"the output cannot be written: {error.strerror or error}") from error


def _forget_output() -> None:
    """Let Python have nothing left to write when it ends: that it cannot would be exit code 120."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        put(line, sys.stderr)
