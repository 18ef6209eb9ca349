"""The command line: it parses a call, carries it out, prints what came of it.

Every error of a call is one line and exit code 2. `skboot.cli.verbs` has a function for each verb;
here are their options, what is printed or written of an answer, and the demonstration of all verbs.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import csv
import io
import json
import math
import os
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from .._base.errors import parts_of
from .._base.hints import arguments_meant, level_meant
from .._base.reading import BadCall
from .._base.values import is_same_file, takes_bytes, write_atomically
from .._base.work import start_watch
from ..results import rendering
from ..results.curve import CURVE_NAMES, curve_named
from ..results.result import write_text
from .verbs import VERBS, Answer

# ------------------------------------------------------------------ the options of each verb


_DESCRIPTION = """\
Scores of machine-learning systems with their confidence intervals, from a file of predictions:
CSV, TSV, Parquet, npz or JSON lines, one row per test row."""

_EPILOG = """\
exit codes: 0 done, or the gate passed; 1 the gate failed; 2 the call cannot be carried out;
3 the gate is inconclusive. The same file gives the same numbers (--seed 0)."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are exceptions, to be said in one line."""

    def error(self, message: str) -> NoReturn:
        raise BadCall(f"{message} (see {self.prog} --help)")


def _finite(text: str) -> float:
    """Read an option that is a number; argparse names it."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a finite number. Got {text}")
    return value


# What people type in the place of options, and what is meant, of which a verb has some.
_PAIR = "--candidate COLUMN --reference COLUMN"
_MEANT = {
    "--format": ("--json", "--markdown", "--latex"),
    "--html": ("--report report.html",),
    "--label": ("--y-true",),
    "--md": ("--markdown",),
    "--cost": ("--costs",),
    "--new": ("--candidate",),
    "--old": ("--reference",),
    "--prior": ("--priors",),
    "--p-target": ("--priors",),
    "--systems": (_PAIR, "--y-pred COLUMN"),
    "--y-pred": (_PAIR, "--systems COLUMN COLUMN"),
}


class _VerbParser(_Parser):
    """The parser of a verb, which knows those of all verbs by their names."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}  # set by `parse_call`

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Say which word is unknown, or is there twice, before what else the call lacks."""
        words, seen = [*(args or []), ""], set()
        for word, behind in pairwise(words):
            option, _, value = word.partition("=")
            if not option.startswith("--") or len(option) == 2:
                continue
            if option not in self._option_string_actions:
                self.error(f"unknown option {option}{self._instead_of(option, value or behind)}")
            if option in seen:
                once = "Give it once"
                if option == "--y-pred" and "--systems" in self._option_string_actions:
                    once = "For several systems give --systems COLUMN COLUMN"
                elif self._option_string_actions[option].nargs == "+":
                    once = f"Give all its values behind one {option}"
                self.error(f"{option} is given twice. {once}")
            seen.add(option)
        values, unread = super().parse_known_args(args, namespace)
        if unread:
            advice = ""
            if "--y-true" in self._option_string_actions:
                advice = (
                    ", and one FILE is read. Join several first: one line per test row, with a "
                    "column for each system"
                )
            self.error(f"{unread[0]!r} belongs to no option{advice}")
        return values, unread

    def _instead_of(self, option: str, value: str) -> str:
        """Name the options that are meant by an unknown one, or the verbs that have it."""
        options = self._option_string_actions
        names = {choice[2:].replace("-", "_"): choice for choice in options}
        name = option[2:].replace("-", "_")
        choices_meant = [
            choice for choice in _MEANT.get(option, ()) if choice.partition(" ")[0] in options
        ]
        choices_meant = choices_meant or [
            names[choice] for choice in arguments_meant(name, list(names))
        ]
        if choices_meant == ["--confidence-level"]:
            _, equals, level = level_meant(name, value).partition("=")
            choices_meant = [f"{choices_meant[0]} {level}" if equals else choices_meant[0]]
        if choices_meant:
            return f". Did you mean {' or '.join(choices_meant)}?"
        verbs_with_option = [
            f"skboot {verb}"
            for verb, choice in self.verbs.items()
            if option in choice._option_string_actions
        ]
        return (
            f". It is an option of {' and '.join(verbs_with_option)}" if verbs_with_option else ""
        )


@dataclass(frozen=True)
class _Either:
    """Options of which a call has one at most, or exactly one where it is required."""

    options: tuple[str, ...]
    required: bool = False


def _block_length(text: str) -> int | str:
    return text if text == "auto" else int(text)


_block_length.__name__ = "block length"


_SEVERAL = {"nargs": "+", "metavar": "COLUMN"}
_OPTIONS: dict[str, dict[str, Any]] = {
    "FILE": {
        "nargs": "?",
        "help": "predictions: .csv, .tsv, .parquet, .npz or .jsonl, or a folder of Parquet files",
    },
    "TABLE": {"help": "columns system, score, and perhaps n and decimals: .csv, .tsv, .jsonl, ..."},
    "--y-true": {"metavar": "COLUMN", "help": "the truth (none for --metric mean)"},
    "--weights": {"metavar": "COLUMN", "help": "weight of each row"},
    "--y-pred": _SEVERAL
    | {"help": "predictions: a column, or one of probabilities for each class"},
    "--systems": _SEVERAL | {"help": "columns with the predictions of one system each"},
    "--candidate": {"metavar": "COLUMN", "help": "the new system"},
    "--reference": {"metavar": "COLUMN", "help": "the system in use"},
    "--metric": {
        "metavar": "NAME",
        "help": "default: accuracy; names of scikit-learn, auc, mae, ..., or mean of the values in "
        "a column",
    },
    "--greater-is-better": {
        "dest": "greater_is_better",
        "action": "store_const",
        "const": True,
        "help": "direction of --metric mean",
    },
    "--smaller-is-better": {
        "dest": "greater_is_better",
        "action": "store_const",
        "const": False,
        "help": argparse.SUPPRESS,
    },
    "--curve": {
        "type": curve_named,
        "choices": [name for name in CURVE_NAMES if name != "learning"],
        "default": "roc",
        "help": "default: roc",
    },
    "--labels": {
        "nargs": "+",
        "metavar": "LABEL",
        "help": "labels of the columns of probabilities; or all labels, where some look like "
        "numbers",
    },
    "--threshold": {
        "type": _finite,
        "metavar": "X",
        "help": "predict the positive label where the column of scores is at least X",
    },
    "--priors": {
        "nargs": "+",
        "type": _finite,
        "metavar": "P",
        "help": "of a metric of costs: the share of positives where the system will be used, or "
        "that of each class",
    },
    "--costs": {
        "nargs": "+",
        "type": _finite,
        "metavar": "X",
        "help": "of a metric of costs: of a false positive and of a false negative; of more "
        "classes of each decision, one true class after the other",
    },
    "--relative": {
        "action": "store_true",
        "help": "divide a metric of costs by the cost of the best guess without predictions",
    },
    "--pos-label": {"metavar": "LABEL", "help": "the positive one of two labels"},
    "--margin": {
        "type": _finite,
        "help": "how much worse the candidate may be, in units of the metric; 0: it must be better",
    },
    "--inconclusive": {
        "choices": ["fail", "warn", "pass"],
        "help": "what an inconclusive outcome counts as; exit code 3 if this is not given",
    },
    "--half-width": {
        "type": _finite,
        "metavar": "X",
        "help": "desired half of the width of the interval",
    },
    "--difference": {
        "type": _finite,
        "metavar": "X",
        "help": "true difference of the pair that shall be significant",
    },
    "--proportion": {
        "type": _finite,
        "metavar": "X",
        "help": "expected share, such as an accuracy, instead of a file",
    },
    "--power": {"type": _finite, "default": 0.8, "metavar": "P", "help": "default: 0.8"},
    "--n": {"type": int, "metavar": "N", "help": "test rows, where the table has no such column"},
    "--decimals": {
        "type": int,
        "metavar": "N",
        "help": "decimals of each printed score, where the table has no such column",
    },
    "--groups": _SEVERAL
    | {"help": "rows of one group are resampled together; two columns are crossed factors"},
    "--same-population": {
        "action": "store_true",
        "help": "both columns of --groups name members of one population",
    },
    "--strata": {"metavar": "COLUMN", "help": "units are resampled within strata"},
    "--block-length": {
        "type": _block_length,
        "metavar": "N",
        "help": "rows in time order: rows of a block, or 'auto'",
    },
    "--average-over": {
        "metavar": "COLUMN",
        "help": "tasks, over which the metric is averaged equally",
    },
    "--by": {"metavar": "COLUMN", "help": "subgroups, and their largest disparity"},
    "--interval": {"default": "auto", "metavar": "NAME", "help": "default: auto"},
    "--first-look": {
        "type": int,
        "metavar": "N",
        "help": "rows or groups at the first look of several; with --interval anytime",
    },
    "--confidence-level": {
        "type": _finite,
        "default": 0.95,
        "metavar": "P",
        "help": "default: 0.95",
    },
    "--n-resamples": {"type": int, "default": 1999, "metavar": "N", "help": "default: 1999"},
    "--seed": {
        "type": int,
        "default": 0,
        "metavar": "N",
        "help": "of random numbers; default: 0, so that a file gives the same numbers again",
    },
    "--json": {
        "dest": "format",
        "action": "store_const",
        "const": "json",
        "help": "all numbers as JSON",
    },
    "--latex": {
        "dest": "format",
        "action": "store_const",
        "const": "latex",
        "help": "a table in LaTeX",
    },
    "--markdown": {
        "dest": "format",
        "action": "store_const",
        "const": "markdown",
        "help": "a table in Markdown",
    },
    "--plot": {
        "metavar": "FILE",
        "help": "a picture, in the format of the file extension; needs matplotlib",
    },
    "--report": {
        "metavar": "FILE",
        "help": "a page of HTML, or of Markdown (.md), with tables, claims, settings and versions",
    },
}
# What verbs share. An option may have other settings than in the table, as a dict behind its name.
_ROWS = ("FILE", "--y-true", "--weights")
_PREDICTIONS = _Either(("--y-pred", "--systems"), required=True)
_DIRECTION = _Either(("--greater-is-better", "--smaller-is-better"))
_LABELS = ("--labels", "--threshold", "--pos-label")
_GROUPS = ("--groups", "--same-population", "--strata", "--block-length")
_LEVEL = ("--confidence-level", "--n-resamples", "--seed")
_RESAMPLING = ("--interval", "--first-look", *_LEVEL)
_COSTS = ("--priors", "--costs", "--relative")
_ONE_METRIC = ("--metric", *_COSTS, _DIRECTION, *_LABELS, *_GROUPS, "--average-over", *_RESAMPLING)
_METRICS = (
    ("--metric", {"nargs": "+"}),
    *_COSTS,
    _DIRECTION,
    *_LABELS,
    *_GROUPS,
    "--average-over",
    "--by",
    *_RESAMPLING,
)
_REQUIRED = {"required": True}
_OUTPUT = (_Either(("--json", "--latex", "--markdown")), "--plot", "--report")
# Each verb with a line of help, and its options in the order of the help.
_VERB_OPTIONS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "score": (
        "the score of each system, with its interval",
        (*_ROWS, _PREDICTIONS, *_METRICS),
    ),
    "compare": (
        "differences of systems on the same rows",
        (
            *_ROWS,
            ("--systems", _REQUIRED),
            ("--reference", {"metavar": "SYSTEM", "help": "compare all others with this one"}),
            *_METRICS,
        ),
    ),
    "gate": (
        "is a candidate not worse than a reference by more than a margin?",
        (
            *_ROWS,
            ("--candidate", _REQUIRED),
            ("--reference", _REQUIRED),
            ("--margin", _REQUIRED),
            "--inconclusive",
            *_ONE_METRIC,
        ),
    ),
    "rank": (
        "ranks of systems, with intervals of the true ranks",
        (*_ROWS, ("--systems", _REQUIRED), *_ONE_METRIC),
    ),
    "curve": (
        "a curve with its band: ROC, precision-recall, calibration, ...",
        (*_ROWS, _PREDICTIONS, "--curve", "--pos-label", *_GROUPS, *_LEVEL),
    ),
    "plan": (
        "how many rows are enough, from a pilot or an expected share",
        (
            *_ROWS,
            "--y-pred",
            "--candidate",
            "--reference",
            "--half-width",
            "--difference",
            (
                "--margin",
                {"metavar": "X", "help": "margin that the gate is to pass if both are equal"},
            ),
            "--proportion",
            "--power",
            *_ONE_METRIC,
        ),
    ),
    "check": (
        "which scores and differences of a printed table are possible",
        ("TABLE", "--n", "--decimals", "--confidence-level"),
    ),
}


def _add(parser: Any, options: Sequence[Any]) -> None:
    """Add options of the table to a parser, or to a group of one."""
    for option in options:
        if isinstance(option, _Either):
            _add(parser.add_mutually_exclusive_group(required=option.required), option.options)
            continue
        name, more = (option, {}) if isinstance(option, str) else option
        settings = _OPTIONS[name] | more
        if name.startswith("--"):
            parser.add_argument(name, **settings)
        else:
            parser.add_argument("file", metavar=name, **settings)


def parse_call(words: Sequence[str], version: str) -> argparse.Namespace:
    """Return the call that words make; an option may have underscores in the place of hyphens.

    Parameters
    ----------
    words : sequence of str
        Behind ``skboot``.
    version : str
        What ``--version`` says.

    Returns
    -------
    Namespace

    Raises
    ------
    BadCall
        If they make none; an unknown option gets the one that is meant.
    """
    parser = _Parser(
        prog="skboot",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skboot {version}")
    verbs = parser.add_subparsers(
        dest="verb", metavar="VERB", required=True, parser_class=_VerbParser
    )
    for name, (line, options) in _VERB_OPTIONS.items():
        verb = verbs.add_parser(name, help=line, description=line, allow_abbrev=False)
        _add(verb, options)
        _add(verb.add_argument_group("output"), _OUTPUT)
        verb.verbs = verbs.choices
    line = "every verb on predictions of three systems for images of digits"
    demo = verbs.add_parser("demo", help=line, description=line, allow_abbrev=False)
    text = "where the predictions and a report are written; without it nothing is kept"
    demo.add_argument("folder", metavar="FOLDER", nargs="?", help=text)
    hyphened = []
    for word in words:
        option, equals, value = word.partition("=")
        is_option = word.startswith("--")
        hyphened.append(option.replace("_", "-") + equals + value if is_option else word)
    return parser.parse_args(hyphened)


# ------------------------------------------------------------------ the demonstration


_FILE, _TABLE = "digits.csv", "table.csv"
_ALL = "--systems logistic bayes tree"
# Each with the question that it answers.
_CALLS = {
    "How good is each system, and how sure is that?": (
        f"score {_FILE} --y-true digit {_ALL} --report report.html"
    ),
    "Which differences are more than chance?": f"compare {_FILE} --y-true digit {_ALL}",
    "Is the tree not worse than Bayes by more than five points?": (
        f"gate {_FILE} --y-true digit --candidate tree --reference bayes --margin 0.05"
    ),
    "Which is best, and which may be?": f"rank {_FILE} --y-true digit {_ALL}",
    "How many eights are found at how many false alarms?": (
        f"curve {_FILE} --y-true is_eight --y-pred p_eight --pos-label yes"
    ),
    "How many images would tell the accuracy to within one point?": (
        f"plan {_FILE} --y-true digit --y-pred logistic --half-width 0.01"
    ),
    "What do the accuracies alone say, as a paper prints them?": f"check {_TABLE}",
}


def demonstrate(folder: str | None) -> None:
    """Carry out every verb on predictions of three systems, made from data of scikit-learn.

    Parameters
    ----------
    folder : str or None
        Where the file and a report are written; nothing stays when None.
    """
    if folder is not None and not Path(folder).is_dir():
        raise BadCall(f"there is no folder {folder!r}")
    with contextlib.ExitStack() as stack:
        place = folder or stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(contextlib.chdir(place))
        _write_predictions()
        for question, call in _CALLS.items():
            _print(f"# {question}\n$ skboot {call}\n")
            _carry_out(shlex.split(call))
            _print("")
    if folder is None:
        _print(f"Nothing was kept. For {_FILE}, {_TABLE} and report.html: skboot demo FOLDER")
    else:
        report = Path(folder, "report.html")
        _print(f"Wrote {Path(folder, _FILE)}, {Path(folder, _TABLE)} and {report}.")


def _write_predictions() -> None:
    """Train three systems on half of the digits; write their answers on the rest, and scores."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    models: dict[str, Any] = {
        # Another solver stops elsewhere on another processor.
        "logistic": LogisticRegression(solver="newton-cholesky", tol=1e-6),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    columns = {"digit": y_test.tolist()}
    for name, model in models.items():
        columns[name] = model.fit(X_train, y_train).predict(X_test).tolist()
    columns["is_eight"] = ["yes" if digit == 8 else "no" for digit in columns["digit"]]
    columns["p_eight"] = models["logistic"].predict_proba(X_test)[:, 8].round(4).tolist()
    shares = [accuracy_score(y_test, columns[name]) for name in models]
    table: dict[str, list[Any]] = {
        "system": list(models),
        "score": [f"{share:.1%}" for share in shares],
        "n": [len(y_test)] * len(models),
    }
    for file, content in ((_FILE, columns), (_TABLE, table)):
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(content)
        writer.writerows(zip(*content.values(), strict=True))
        write_text(file, text.getvalue())


# ------------------------------------------------------------------ what is printed or written

# A page of HTML needs nothing else: it holds claims, tables and pictures as results write them for
# notebooks, the call, its settings and the versions of all that its numbers depend on.

# Of the JSON: it rises when a name in it changes its meaning.
_SCHEMA = 1
# Ends of the names of pages.
_PAGES = (".html", ".htm", ".md")
# Columns of a terminal that no table fills.
_ENDLESS = 10_000
# What rich makes bold by stands here until all that is printed is cleaned; no file can hold it.
_ESCAPE = f"<{uuid4().hex}>"

_STYLE = """\
<style>
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
pre{padding:.6rem .8rem;border:1px solid rgba(127,127,127,.4);border-radius:4px}
pre span{display:inline-block;max-width:100%}
figure{margin:1.5rem 0;overflow-x:auto}
figure img{max-width:100%;min-width:min(100%,42rem);height:auto;background:#fff;border-radius:4px}
@media (max-width:42rem){figure img{max-width:none;width:42rem}}
.verdict{font-size:1.05rem;padding:.6rem .8rem;border-left:4px solid #2f7fd6;margin:1rem 0}
</style>"""


def check_files(call: Namespace) -> None:
    """Refuse files that cannot be written, before any work.

    Parameters
    ----------
    call : Namespace
        The call.

    Raises
    ------
    BadCall
        If a folder is not there, or pictures of this kind cannot be made.
    """
    for option in ("plot", "report"):
        path = getattr(call, option)
        if path is None:
            continue
        # A link is followed, so that the folder of the file that it points to counts.
        folder = Path(path if takes_bytes(path) else os.path.realpath(path)).parent
        if not folder.is_dir():
            raise BadCall(f"--{option} {path!r}: there is no folder {str(Path(path).parent)!r}")
        if Path(path).is_dir() or not os.access(path if takes_bytes(path) else folder, os.W_OK):
            raise BadCall(f"--{option} {path!r} cannot be written")
        if call.file is not None and is_same_file(path, call.file):
            raise BadCall(f"--{option} {path!r} would take the place of the file that is read")
    if None not in (call.plot, call.report) and is_same_file(call.plot, call.report):
        raise BadCall(f"--plot and --report are the same file, {call.plot!r}")
    if call.plot is not None:
        if not _has_matplotlib():
            raise BadCall("--plot needs matplotlib. Install it with: pip install 'skboot[plot]'")
        from matplotlib.backend_bases import FigureCanvasBase

        kinds = FigureCanvasBase.get_supported_filetypes()
        if Path(call.plot).suffix.lstrip(".").lower() not in kinds:
            listed = ", ".join(sorted(f".{kind}" for kind in kinds))
            raise BadCall(
                f"--plot {call.plot!r}: the end of the name tells the kind; known: {listed}"
            )
    if call.report is None or takes_bytes(call.report):
        return
    if Path(call.report).suffix.lower() not in _PAGES:
        advice = "For JSON use --json, for a picture --plot"
        raise BadCall(f"--report {call.report!r}: its name must end in .html or .md. {advice}")


def tables_of(stream: Any) -> contextlib.AbstractContextManager[None]:
    """Return a context in which tables are laid out by rich, for somebody who looks at a terminal.

    Parameters
    ----------
    stream : file
        Where the text goes.

    Returns
    -------
    context manager
        That changes nothing where rich is not installed or the stream is no terminal.
    """
    try:
        from rich.console import Console
    except ImportError:
        return contextlib.nullcontext()
    console = Console(file=stream)
    if not console.is_terminal:
        return contextlib.nullcontext()
    return rendering.tables_by(lambda table: _rich_table(table, console))


def text_of(answer: Answer, format_name: str | None) -> str:
    """Return what is printed.

    Parameters
    ----------
    answer : Answer
        What came out.
    format_name : {"json", "latex", "markdown", None}
        How; plain text when None.

    Returns
    -------
    str
        Without a line break at the end.
    """
    if format_name == "json":
        if "schema" in answer.record:
            raise BadCall("a system or subgroup named 'schema' stands in the way of --json")
        return json.dumps({"schema": _SCHEMA, **answer.record}, indent=2, allow_nan=False)
    if format_name == "latex":
        statement = f"% {rendering.one_line(answer.statement)}\n" if answer.statement else ""
        tables = [("", table) for table in answer.tables]
        shown = rendering.latex_tables(tables) if tables else str(answer.shown[0].to_latex())
        return statement + shown
    if format_name == "markdown":
        return _markdown(answer)
    return f"{answer.text}\n\n{rendering.text_list(answer.facts)}" if answer.facts else answer.text


def put(text: str, stream: Any) -> None:
    """Print a text without escape sequences, in characters that a stream can show.

    Parameters
    ----------
    text : str
        What is said; names in it come from files.
    stream : file or None
        Where to; None where it is closed.
    """
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = rendering.shown_characters(text).replace(_ESCAPE, "\x1b")
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream)
    stream.flush()


def write_files(answer: Answer, call: Namespace, command: str) -> None:
    """Write the picture and the page that a call asks for.

    Parameters
    ----------
    answer : Answer
        What came out.
    call : Namespace
        The call.
    command : str
        The call as it was typed.
    """
    if call.plot is not None:
        kind = Path(call.plot).suffix.lstrip(".").lower()
        picture = _picture_bytes(answer, kind)
        with _naming_the_file("plot", call.plot):
            write_atomically(call.plot, lambda file: file.write(picture))
    if call.report is not None and Path(call.report).suffix.lower() == ".md":
        with _naming_the_file("report", call.report):
            write_text(call.report, _markdown_page(answer, command))
    elif call.report is not None:
        pictures = []
        if _has_matplotlib():
            encoded = base64.b64encode(_picture_bytes(answer, "png")).decode("ascii")
            pictures.append(f"data:image/png;base64,{encoded}")
        with _naming_the_file("report", call.report):
            write_text(call.report, _page_of(answer, command, pictures))


@contextlib.contextmanager
def _naming_the_file(option: str, path: str) -> Iterator[None]:
    """Say which file cannot be written."""
    try:
        yield
    except OSError as error:
        raise BadCall(f"--{option} {path!r} cannot be written: {error.strerror}") from error


def _markdown(answer: Answer) -> str:
    """Return the verdict and the tables in Markdown."""
    statement = f"{rendering.markdown(answer.statement)}\n\n" if answer.statement else ""
    tables = [("", table) for table in answer.tables]
    return statement + (
        rendering.markdown_tables(tables) if tables else str(answer.shown[0].to_markdown())
    )


def _markdown_page(answer: Answer, command: str) -> str:
    """Return a page in Markdown: tables, claims, the call, its settings and the versions."""
    claims = answer.sentences or tuple(
        shown.claim() for shown in answer.shown if hasattr(shown, "claim")
    )
    parts = [f"# {rendering.markdown(answer.title)}", _markdown(answer)]
    parts += [rendering.markdown(claim) for claim in claims]
    parts += ["## The call", f"```text\n{command}\n```"]
    lists = [("", answer.facts)]
    lists += [
        (f"## {title.capitalize()}", _labelled_texts(getattr(answer.settings, title, {})))
        for title in ("settings", "versions")
    ]
    for heading, items in lists:
        lines = [f"* {label}: {rendering.markdown(text)}" for label, text in items]
        parts += [heading] * bool(heading and lines) + ["\n".join(lines)] * bool(lines)
    return "\n\n".join(parts) + "\n"


def _rich_table(table: rendering.Table, console: Any) -> str:
    """Return a table as rich lays it out; plain where it would have to break a number."""
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for k, title in enumerate(table.header):
        shown.add_column(
            Text(rendering.one_line(title)), justify="left" if k < table.n_left else "right"
        )
    for row in table.rows:
        # Names are no markup of rich.
        styles = ("bold" if isinstance(cell, rendering.Best) else "" for cell in row)
        shown.add_row(*map(Text, map(rendering.one_line, row), styles))
    # Asked for a page without an edge, rich gives the width below which words are broken.
    endless = console.options.update(max_width=_ENDLESS)
    if Measurement.get(console, endless, shown).minimum > console.width:
        return rendering.plain_table(table)
    with console.capture() as captured:
        console.print(shown)
    return str(captured.get()).rstrip("\n").replace("\x1b", _ESCAPE)


def _has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def _picture_bytes(answer: Answer, kind: str) -> bytes:
    """Return the picture as the bytes of a file."""
    from matplotlib import pyplot

    display: Any = answer.picture()
    file = io.BytesIO()
    display.figure_.savefig(file, format=kind, dpi=150, bbox_inches="tight")
    pyplot.close(display.figure_)
    return file.getvalue()


def _page_of(answer: Answer, command: str, pictures: Sequence[str]) -> str:
    """Return a page: claims, tables and pictures, the call, its settings and the versions."""
    parts = [_STYLE, f"<h1>{rendering.html(answer.title)}</h1>"]
    if answer.statement:
        parts.append(f'<p class="verdict">{rendering.html(answer.statement)}</p>')
    elements = [shown._repr_html_() for shown in answer.shown]
    parts += elements
    if not any("<img" in element for element in elements):
        # A curve is a picture already.
        alt = escape(f"Picture: {answer.title}")
        parts += [f'<figure><img src="{address}" alt="{alt}"></figure>' for address in pictures]
    if answer.sentences:
        parts += [
            "<h2>In words</h2>",
            *(f"<p>{escape(sentence)}</p>" for sentence in answer.sentences),
        ]
    parts += [
        "<h2>The call</h2>",
        # A line does not end within an option, behind one of its hyphens.
        f"<pre>{' '.join(f'<span>{escape(word)}</span>' for word in command.split(' '))}</pre>",
        rendering.html_list(answer.facts),
    ]
    settings = getattr(answer.settings, "settings", {})
    if settings:
        parts += ["<h2>Settings</h2>", rendering.html_list(_labelled_texts(settings))]
    versions = getattr(answer.settings, "versions", {})
    if versions:
        parts += ["<h2>Versions</h2>", rendering.html_list(_labelled_texts(versions))]
    return rendering.page(answer.title, "\n".join(parts))


def _labelled_texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return settings as label and text."""
    lines = []
    for name, value in values.items():
        text = "none" if value is None else str(value)
        if isinstance(value, bool):
            text = "yes" if value else "no"
        lines.append((str(name), text))
    return lines


# ------------------------------------------------------------------ the command

_BAD_CALL, _INTERRUPTED = 2, 130
# What the arguments of public functions are called here; others have their own name.
_ARGUMENTS = {
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
_ARGUMENT = (
    r"\b(labels|groups|strata|by|average_over|block_length|metric|interval|confidence_level|"
    r"n_resamples|random_state|sample_weight|pos_label|greater_is_better|half_width|difference|"
    r"costs|priors|margin|power|proportion|n|decimals)="
    r"(?:(\w[\w.-]*\w|\w|'\w+')|(?=[\s,.;]|$))"
)
# What is no sentence: a quoted name or value, and the name of a metric with its options.
_NAMED = r"(?<!\w)'[^']*'(?!\w)|\w \(\w+=[^()]*\)"
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
        return _carry_out(words)
    except Exception as error:
        # Python itself would leave with 1, which says that a gate failed.
        verb = words[0] if words and not words[0].startswith("-") else ""
        text = _error_line(error)
        if not isinstance(error, refused):
            _say(traceback.format_exc())
            text = f"{type(error).__name__}: {text}. This is an error of skboot: please report it"
        _say(f"{' '.join(['skboot', verb]).rstrip()}: {text}")
        return _BAD_CALL
    except KeyboardInterrupt:
        return _INTERRUPTED


def _carry_out(words: Sequence[str]) -> int:
    """Parse and carry out a call, and return its exit code."""
    call = parse_call(words, sys.modules["skboot"].__version__)
    if call.verb == "demo":
        demonstrate(call.folder)
        return 0
    check_files(call)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        # The file is read, and pictures are drawn, outside of public functions.
        watch = start_watch(f"skboot {call.verb}")
        try:
            with tables_of(sys.stdout):
                answer = VERBS[call.verb](call)
            shown = text_of(answer, call.format)
            write_files(answer, call, shlex.join(["skboot", *words]))
        finally:
            if watch is not None:
                watch.end()
    _print(shown)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            _say(f"skboot: warning: {_with_options(str(warning.message))}")
    if answer.warns:
        _say("skboot: warning: the gate is inconclusive, and does not fail: --inconclusive warn")
    return answer.code


def _error_line(error: BaseException) -> str:
    """Say an error in one line, with options in the place of the arguments of a function."""
    bad = parts_of(error)
    if bad is None:
        return _joined_lines(str(error) or type(error).__name__)
    name, bracket, system = bad.name.partition("[")
    option = _option_name(name)
    system_text = f" {system.rstrip(']')}" if bracket else ""
    # No callable can be typed.
    must = bad.must.replace(" or a callable", "")
    advice = " ".join(
        sentence
        for sentence in _SENTENCE_END.split(_joined_lines(bad.advice))
        if not _PYTHON.search(sentence)
    )
    return _with_options(f"{option}{system_text} must {must}. Got {bad.got}. {advice}")


def _option_name(argument: str) -> str:
    """Return the option of the command line for an argument of a function, such as ``--y-true``."""
    return _ARGUMENTS.get(argument, "--" + argument.replace("_", "-"))


def _with_options(text: str) -> str:
    """Name options in the place of arguments, in one line, and leave out the function's name."""

    def option_of(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name is None:
            return match[0]
        option = _option_name(name)
        return f"{option} {value}" if value not in (None, "True") else option

    text = _joined_lines(text).replace("groups=skboot.Trials(a, b)", "--same-population")
    return re.sub(f"{_ARGUMENT}|{_NAMED}", option_of, _FUNCTION.sub("", text))


def _joined_lines(text: str) -> str:
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
