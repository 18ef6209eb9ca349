"""The options of each verb, and their help."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from .._base.calls import arguments_meant, level_meant
from .._base.reading import BadCall
from ..results.curve import CURVE_NAMES, curve_named

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
    "--new": ("--candidate",),
    "--old": ("--reference",),
    "--systems": (_PAIR, "--y-pred COLUMN"),
    "--y-pred": (_PAIR, "--systems COLUMN COLUMN"),
}


class _VerbParser(_Parser):
    """The parser of a verb, which knows those of all verbs by their names."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}  # set by `parser_of`

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
                self.error(f"{option} is given twice. {self._once(option)}")
            seen.add(option)
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"{others[0]!r} belongs to no option{self._of_one_file()}")
        return found, others

    def _instead_of(self, option: str, value: str) -> str:
        """Name the options that are meant by an unknown one, or the verbs that have it."""
        known = self._option_string_actions
        names = {own[2:].replace("-", "_"): own for own in known}
        name = option[2:].replace("-", "_")
        meant = [own for own in _MEANT.get(option, ()) if own.partition(" ")[0] in known]
        meant = meant or [names[own] for own in arguments_meant(name, list(names))]
        if meant == ["--confidence-level"]:
            _, equals, level = level_meant(name, value).partition("=")
            meant = [f"{meant[0]} {level}" if equals else meant[0]]
        if meant:
            return f". Did you mean {' or '.join(meant)}?"
        of = [
            f"skboot {verb}"
            for verb, own in self.verbs.items()
            if option in own._option_string_actions
        ]
        return f". It is an option of {' and '.join(of)}" if of else ""

    def _once(self, option: str) -> str:
        if option == "--y-pred" and "--systems" in self._option_string_actions:
            return "For several systems give --systems COLUMN COLUMN"
        is_list = self._option_string_actions[option].nargs == "+"
        return f"Give all its values behind one {option}" if is_list else "Give it once"

    def _of_one_file(self) -> str:
        if "--y-true" not in self._option_string_actions:
            return ""
        return (
            ", and one FILE is read. Join several first: one line per test row, with a column for "
            "each system"
        )


def parser_of(version: str) -> argparse.ArgumentParser:
    """Make the parser of the command line.

    Parameters
    ----------
    version : str
        What ``--version`` says.

    Returns
    -------
    ArgumentParser
        Whose errors are `BadCall`.
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
    for name, (line, add) in _VERBS.items():
        verb = verbs.add_parser(name, help=line, description=line, allow_abbrev=False)
        add(verb)
        _add_output(verb)
        verb.verbs = verbs.choices
    line = "every verb on predictions of three systems for images of digits"
    demo = verbs.add_parser("demo", help=line, description=line, allow_abbrev=False)
    text = "where the predictions and a report are written; without it nothing is kept"
    demo.add_argument("folder", metavar="FOLDER", nargs="?", help=text)
    return parser


def parsed(words: Sequence[str], version: str) -> argparse.Namespace:
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
    return parser_of(version).parse_args(list(map(_with_hyphens, words)))


def _with_hyphens(word: str) -> str:
    option, equals, value = word.partition("=")
    return option.replace("_", "-") + equals + value if word.startswith("--") else word


# ------------------------------------------------------------------ one function per verb


def _score(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    which = verb.add_mutually_exclusive_group(required=True)
    _add_predictions(which)
    _add_systems(which)
    _add_metric(verb, "+")
    _add_labels(verb)
    _add_units(verb)
    _add_by(verb)
    _add_resampling(verb)


def _compare(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    _add_systems(verb, required=True)
    verb.add_argument("--reference", metavar="SYSTEM", help="compare all others with this one")
    _add_metric(verb, "+")
    _add_labels(verb)
    _add_units(verb)
    _add_by(verb)
    _add_resampling(verb)


def _gate(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    _add_pair(verb, required=True)
    text = "how much worse the candidate may be, in units of the metric; 0: it must be better"
    verb.add_argument("--margin", type=_finite, required=True, help=text)
    text = "what an inconclusive outcome counts as; exit code 3 if this is not given"
    verb.add_argument("--inconclusive", choices=["fail", "warn", "pass"], help=text)
    _add_metric(verb, None)
    _add_labels(verb)
    _add_units(verb)
    _add_resampling(verb)


def _rank(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    _add_systems(verb, required=True)
    _add_metric(verb, None)
    _add_labels(verb)
    _add_units(verb)
    _add_resampling(verb)


def _curve(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    which = verb.add_mutually_exclusive_group(required=True)
    _add_predictions(which)
    _add_systems(which)
    known = [name for name in CURVE_NAMES if name != "learning"]
    verb.add_argument(
        "--curve", type=curve_named, choices=known, default="roc", help="default: roc"
    )
    _add_positive(verb)
    _add_groups(verb)
    _add_level(verb)


def _plan(verb: argparse.ArgumentParser) -> None:
    _add_rows(verb)
    _add_predictions(verb)
    _add_pair(verb, required=False)
    for name, text in (
        ("half-width", "desired half of the width of the interval"),
        ("difference", "true difference of the pair that shall be significant"),
        ("margin", "margin with which the gate shall pass if both are equal"),
        ("proportion", "expected share, such as an accuracy, instead of a file"),
    ):
        verb.add_argument(f"--{name}", type=_finite, metavar="X", help=text)
    verb.add_argument("--power", type=_finite, default=0.8, metavar="P", help="default: 0.8")
    _add_metric(verb, None)
    _add_labels(verb)
    _add_units(verb)
    _add_resampling(verb)


def _check(verb: argparse.ArgumentParser) -> None:
    text = "columns system, score, and perhaps n and decimals: .csv, .tsv, .jsonl, ..."
    verb.add_argument("file", metavar="TABLE", help=text)
    for name, text in (("n", "test rows"), ("decimals", "decimals of each printed score")):
        more = f"{text}, where the table has no such column"
        verb.add_argument(f"--{name}", type=int, metavar="N", help=more)
    _add_confidence(verb)


_VERBS: dict[str, tuple[str, Any]] = {
    "score": ("the score of each system, with its interval", _score),
    "compare": ("differences of systems on the same rows", _compare),
    "gate": ("is a candidate not worse than a reference by more than a margin?", _gate),
    "rank": ("ranks of systems, with intervals of the true ranks", _rank),
    "curve": ("a curve with its band: ROC, precision-recall, calibration, ...", _curve),
    "plan": ("how many rows are enough, from a pilot or an expected share", _plan),
    "check": ("which scores and differences of a printed table are possible", _check),
}


# ------------------------------------------------------------------ options that verbs share


def _add_rows(verb: argparse.ArgumentParser) -> None:
    text = "predictions: .csv, .tsv, .parquet, .npz or .jsonl"
    verb.add_argument("file", metavar="FILE", nargs="?", help=text)
    verb.add_argument("--y-true", metavar="COLUMN", help="the truth (none for --metric mean)")
    verb.add_argument("--weights", metavar="COLUMN", help="weight of each row")


def _add_predictions(verb: Any) -> None:
    text = "predictions: a column, or one of probabilities for each class"
    verb.add_argument("--y-pred", nargs="+", metavar="COLUMN", help=text)


def _add_systems(verb: Any, *, required: bool = False) -> None:
    text = "columns with the predictions of one system each"
    more = {"required": True} if required else {}
    verb.add_argument("--systems", nargs="+", metavar="COLUMN", help=text, **more)


def _add_pair(verb: argparse.ArgumentParser, *, required: bool) -> None:
    for name, text in (("candidate", "the new system"), ("reference", "the system in use")):
        verb.add_argument(f"--{name}", metavar="COLUMN", help=text, required=required)


def _add_metric(verb: argparse.ArgumentParser, nargs: str | None) -> None:
    text = (
        "default: accuracy; names of scikit-learn, auc, mae, ..., or mean of the values in a column"
    )
    verb.add_argument("--metric", nargs=nargs, metavar="NAME", help=text)
    better = verb.add_mutually_exclusive_group()
    for name, value in (("greater", True), ("smaller", False)):
        better.add_argument(
            f"--{name}-is-better",
            dest="greater_is_better",
            action="store_const",
            const=value,
            help="direction of --metric mean" if value else argparse.SUPPRESS,
        )


def _add_labels(verb: argparse.ArgumentParser) -> None:
    text = "labels of the columns of probabilities; or all labels, where some look like numbers"
    verb.add_argument("--labels", nargs="+", metavar="LABEL", help=text)
    text = "predict the positive label where the column of scores is at least X"
    verb.add_argument("--threshold", type=_finite, metavar="X", help=text)
    _add_positive(verb)


def _add_positive(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--pos-label", metavar="LABEL", help="the positive one of two labels")


def _add_units(verb: argparse.ArgumentParser) -> None:
    _add_groups(verb)
    text = "tasks, over which the metric is averaged equally"
    verb.add_argument("--average-over", metavar="COLUMN", help=text)


def _add_groups(verb: argparse.ArgumentParser) -> None:
    text = "rows of one group are resampled together; two columns are crossed factors"
    verb.add_argument("--groups", nargs="+", metavar="COLUMN", help=text)
    text = "both columns of --groups name members of one population"
    verb.add_argument("--same-population", action="store_true", help=text)
    verb.add_argument("--strata", metavar="COLUMN", help="units are resampled within strata")
    text = "rows in time order: rows of a block, or 'auto'"
    verb.add_argument("--block-length", type=_block_length, metavar="N", help=text)


def _add_by(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--by", metavar="COLUMN", help="subgroups, and their largest disparity")


def _add_resampling(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--interval", default="auto", metavar="NAME", help="default: auto")
    text = "rows or groups at the first look of several; with --interval anytime"
    verb.add_argument("--first-look", type=int, metavar="N", help=text)
    _add_level(verb)


def _add_confidence(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--confidence-level", type=_finite, default=0.95, metavar="P", help="default: 0.95"
    )


def _add_level(verb: argparse.ArgumentParser) -> None:
    _add_confidence(verb)
    verb.add_argument("--n-resamples", type=int, default=1999, metavar="N", help="default: 1999")
    text = "of random numbers; default: 0, so that a file gives the same numbers again"
    verb.add_argument("--seed", type=int, default=0, metavar="N", help=text)


def _add_output(verb: argparse.ArgumentParser) -> None:
    output = verb.add_argument_group("output")
    written = output.add_mutually_exclusive_group()
    for name, text in (
        ("json", "all numbers as JSON"),
        ("latex", "a table in LaTeX"),
        ("markdown", "a table in Markdown"),
    ):
        written.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, help=text
        )
    text = "a picture, in the format of the file extension; needs matplotlib"
    output.add_argument("--plot", metavar="FILE", help=text)
    text = "a page of HTML, or of Markdown (.md), with tables, claims, settings and versions"
    output.add_argument("--report", metavar="FILE", help=text)


def _block_length(text: str) -> int | str:
    return text if text == "auto" else int(text)


_block_length.__name__ = "block length"
