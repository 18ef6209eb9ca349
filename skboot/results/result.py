"""`EvaluationResult`: one score with its interval, what it is made of, how it is shown.

Its basis (`skboot.results.basis`) answers for other intervals and knows the words, from what it
stores. What every result shares stands before it: files, the forms in which a result is shown
(`Shown`), and where it comes from (`Provenance`).
"""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from .._base.arguments import Anytime
from .._base.checks import check_choice, check_confidence_level, check_count, check_flag, fail
from .._base.doors import door
from .._base.errors import as_type_error, collected, refuse, tell
from .._base.hints import Hinting, level_meant
from .._base.typing import Estimand, Layout, MethodInterval, RunsInterval
from .._base.values import load, read_only, same_values, save, write_atomically
from .._base.versions import versions_used
from .._base.work import stored_seed
from ..inference.evidence import ConfidenceInterval, Evidence
from . import rendering, wording
from .basis import Basis, MonteCarloError, basis_of_parts

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..plots import BootstrapDistributionDisplay

# ------------------------------------------------------------------ texts and plain values

# Types of values that every file has as they are.
_PLAIN = frozenset((str, bool, int, type(None)))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    write_atomically(path, lambda file: file.write(text.encode()))


def plain(value: Any, *, for_json: bool = False) -> Any:
    """Turn a value into lists, dicts with string keys, numbers, strings and None.

    Parameters
    ----------
    value : object
        What is of no known type becomes its string.
    for_json : bool
        Replace numbers that JSON lacks: NaN by None, infinities by "inf" and "-inf".

    Returns
    -------
    object
        A copy.
    """
    # Most values are plain; the checks that follow take a microsecond each.
    kind = type(value)
    if kind in _PLAIN or (kind is float and (not for_json or math.isfinite(value))):
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item, for_json=for_json) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, for_json=for_json) for item in value]
    if isinstance(value, float) and for_json and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def names_meant(key: Any, metrics: Iterable[Any]) -> list[Any]:
    """Return the metric that is meant by another name; nothing if none or several are."""
    if not isinstance(key, str):
        return []
    # Imported where a name is not that of a result.
    from ..metrics.lookup import meant_by

    plain = key.replace("_", " ")
    names = [
        name
        for name in metrics
        if name == meant_by(key) or str(name).replace("_", " ").startswith(f"{plain} ")
    ]
    return names if len(names) == 1 else []


# ------------------------------------------------------------------ what is shown

# A class that is shown says its words (`summary`, `claim`), its tables, its rows of a data frame,
# its HTML, the display that draws it and what a file of it holds. `Shown` writes them in every
# form, and `ShownNumbers` those that are numbers with limits as a flat dict.

# Decimals that double precision has for numbers below 10.
_MOST_DIGITS = 15
_LAYOUTS = ("differences", "systems", "both")
# What names of metrics may hold in every tracker of experiments: others are refused by MLflow.
_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]+")
# Suffixes of files that save() does not write, and what writes such a file.
_OF_OTHERS = {
    ".png .jpg .jpeg .svg .pdf .eps .tif .tiff .webp": ".plot().figure_.savefig(path)",
    ".csv .tsv .xlsx .parquet .feather": ".to_frame(), and to_csv(path) or the like of that",
    ".json": "json.dump(result.to_dict(), file)",
    ".md": ".to_markdown()",
    ".tex": ".to_latex()",
    ".htm .html": ".to_html(path)",
    ".txt": ".summary()",
    ".pkl .pickle .joblib": "pickle.dump(result, file)",
}


class Number(NamedTuple):
    """A value with its limits, and where it stands.

    Attributes
    ----------
    path : tuple of str
        Names of what it is of, from the outermost: a subgroup, a system, both of a difference.
    metric : str
        Name of the metric.
    value : float
        The estimate.
    limits : mapping of str to ConfidenceInterval
        By what is written between the name and "low" or "high".
    """

    path: tuple[str, ...]
    metric: str
    value: float
    limits: Mapping[str, ConfidenceInterval]


class Several(NamedTuple):
    """Words and ways for several results of one sort, in a `skboot.results.ResultTable`.

    Attributes
    ----------
    noun : str
        What they are called.
    display : str
        Name of the class and of its maker in `skboot.plots`.
    lacks_systems : str
        Why there is no table of systems; empty where there is one.
    are_named : bool
        Whether each stands below its name; else it says its name itself.
    """

    noun: str
    display: str
    lacks_systems: str = ""
    are_named: bool = True


ROWS = Several("results", "IntervalDisplay.from_results", "that holds no comparison")
"""One table, of which each is a row."""
SECTIONS = Several("comparisons", "ComparisonDisplay.from_results")
"""A section for each, and one table of all systems."""


class Shown(Hinting, ABC):
    """Tables, pages, pictures and files of what an evaluation found."""

    # What several of them are together.
    _several: ClassVar[Several] = SECTIONS
    # The kind of its files, and their newest version.
    _format: ClassVar[tuple[str, int]]
    # What it is called in a message about a file.
    _noun: ClassVar[str]
    # Name of the class and of its maker in `skboot.plots`.
    _display: Any

    # -------------------------------------------------------------- what each class says

    def summary(self) -> str:
        """Describe the result in several short lines of plain text.

        Returns
        -------
        str
            What was asked and found, a table of it, and all notes.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        """Return the summary with tables that are made by these options."""
        facts = rendering.text_list(self._facts())
        tables = [rendering.text_table(table) for _, table in self._tables(options)]
        return "\n\n".join([f"{self._heading()}\n{facts}", *tables])

    @abstractmethod
    def claim(self) -> str:
        """Say the result for a paper."""

    @abstractmethod
    def _heading(self) -> str:
        """Return the title of a page."""

    @abstractmethod
    def _tables(self, options: rendering.TableOptions) -> Sequence[tuple[str, rendering.Table]]:
        """Return tables, each after its name, which may be empty."""

    @abstractmethod
    def _records(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a data frame."""

    @abstractmethod
    def _to_parts(self) -> dict[str, Any]:
        """Return values that `skboot.results.result` can write."""

    @classmethod
    @abstractmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the object whose ``_to_parts`` are given."""

    @property
    def _metric_name(self) -> str:
        """Name of the metric, whose numbers have the same decimals in all tables; empty if none."""
        return ""

    def _widths(self) -> list[float]:
        """Return the widths of the intervals in its tables, which decimals are made of."""
        return []

    def _tells_apart(self, decimals: rendering.Decimals) -> bool:
        """Whether tables with these decimals show which numbers differ significantly."""
        return True

    # -------------------------------------------------------------- tables and pages

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return self._html(rendering.NOTHING_ASKED)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a page says between the claim and the tables, as label and text."""
        return []

    def _html(self, options: rendering.TableOptions) -> str:
        """Return what a page of HTML shows: claim, facts and tables."""
        tables = [rendering.html_table(table) for _, table in self._tables(options)]
        return rendering.html_of(self.claim(), rendering.html_list(self._facts()), *tables)

    @door(".to_frame")
    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame of one row per result, or per pair of a comparison.

        Returns
        -------
        pandas.DataFrame
            Of a result with the columns metric, estimate, low, high and more; of a comparison
            with first, second, difference, low, high, p_value and more. A table begins with the
            column ``name``, which holds its keys; a nested one of results also holds the inner
            keys, in ``subgroup``. A table with comparisons has rows of pairs alone.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of(self._records(), type(self).__name__)

    @door(".to_markdown")
    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return a table in Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals of estimates and limits; standard errors have one more. Without it, all numbers
            of a metric have as many as the widest interval supports.

        Returns
        -------
        str
            A pipe table of one row per result.

        Raises
        ------
        ValueError
            If ``digits`` is no integer from 0 to 15.
        """
        return rendering.markdown_tables(self._tables(_options(digits)))

    @door(".to_latex")
    def to_latex(
        self, *, digits: int | None = None, caption: str | None = None, label: str | None = None
    ) -> str:
        r"""Return a table in LaTeX.

        Parameters
        ----------
        digits : int, optional
            As of `to_markdown`.
        caption : str, optional
            Caption of a ``table`` environment; characters that LaTeX would misread are escaped.
        label : str, optional
            Its label, as it stands, for ``\ref``.

        Returns
        -------
        str
            A tabular of one row per result, with the rules of the booktabs package, inside a
            ``table`` environment if there is a caption or a label.

        Raises
        ------
        ValueError
            If ``digits`` is no integer from 0 to 15.
        """
        return _latex_of(self._tables(_options(digits)), caption, label)

    @overload
    def to_html(self, path: None = ..., *, digits: int | None = ...) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str], *, digits: int | None = ...) -> None: ...
    @door(".to_html")
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, digits: int | None = None
    ) -> str | None:
        """Make a web page.

        Parameters
        ----------
        path : path-like, optional
            File to write.
        digits : int, optional
            As of `to_markdown`, for the tables of the page.

        Returns
        -------
        str or None
            The page, if no path is given.

        Raises
        ------
        ValueError
            If ``digits`` is no integer from 0 to 15.
        """
        return self._written(path, _options(digits))

    def _written(
        self, path: str | os.PathLike[str] | None, options: rendering.TableOptions
    ) -> str | None:
        """Return a page, or write it to a file."""
        return written_page(path, self._heading(), self._html(options))

    @door(".plot")
    def plot(self, **kwargs: Any) -> Any:
        """Draw the picture that suits: a distribution, intervals, or differences.

        Parameters
        ----------
        **kwargs : dict
            Passed to `skboot.plots.BootstrapDistributionDisplay.from_result` for a result, to
            `skboot.plots.ComparisonDisplay.from_result` for a comparison, and for a table to
            `skboot.plots.IntervalDisplay.from_results`, or to
            `skboot.plots.ComparisonDisplay.from_results` if it holds comparisons.

        Returns
        -------
        BootstrapDistributionDisplay, IntervalDisplay or ComparisonDisplay
            The picture, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return self._drawn(**kwargs)

    def _drawn(self, **kwargs: Any) -> Any:
        """Return the display that suits."""
        # The one import that goes up: results are drawn by what stands on them.
        from .. import plots

        return attrgetter(self._display)(plots)(self, **kwargs)

    # -------------------------------------------------------------- files

    @door(".save")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is held to a file, whole or not at all.

        Parameters
        ----------
        path : path-like
            File to write, conventionally ``*.npz``; replaced if it exists.

        Raises
        ------
        ValueError
            If the suffix is that of another format, such as a picture or a table.
        TypeError
            If something is held that can only be pickled.
        """
        _check_path(path)
        suffix = os.path.splitext(os.fsdecode(path))[1].lower()
        for suffixes, writer in _OF_OTHERS.items():
            if suffix in suffixes.split():
                advice = (
                    f"save() keeps all numbers for load(). A file {suffix} is made by {writer}."
                )
                raise fail("path", "be the path of an .npz file", repr(os.fspath(path)), advice)
        format_name, version = self._format
        save(path, self._to_parts(), format_name=format_name, version=version)

    @classmethod
    @door(".load")
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; nothing in the file is executed.

        Parameters
        ----------
        path : path-like
            File to read.

        Returns
        -------
        EvaluationResult, ComparisonResult or ResultTable
            Equal to what was saved; of the class that is asked.

        Raises
        ------
        ValueError
            If the file is something else, damaged, or of another version.
        """
        _check_path(path)
        format_name, version = cls._format
        parts = load(path, format_name=format_name, version=version)
        try:
            return cls._from_parts(parts)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{os.fspath(path)!r} does not hold a whole {cls._noun}: {error}"
            ) from error


class ShownNumbers(Shown):
    """Results that are numbers with limits, which can be logged as a flat dict."""

    @abstractmethod
    def _numbers(self) -> Iterator[Number]:
        """Yield each value with its limits."""

    @door(".as_metrics")
    def as_metrics(self, prefix: str = "") -> dict[str, float]:
        """Return a flat dict of numbers, for trackers of experiments such as MLflow and W&B.

        Parameters
        ----------
        prefix : str
            Put before each name, such as "test/".

        Returns
        -------
        dict of str to float
            Each estimate under the name of its metric, with its limits under the same name and
            ``_ci_low`` and ``_ci_high``. Names of subgroups, systems and differences stand before
            that of the metric, as in "large - small/accuracy_ci_low"; a difference that was
            adjusted for others also has ``_simultaneous_low`` and ``_simultaneous_high``. What is
            undefined is NaN. Other characters than letters, digits and ``_-. :/`` are left out of
            names, because trackers refuse them.

        Raises
        ------
        TypeError
            If the prefix is no string, or a table holds curves, which are no numbers.
        ValueError
            If two names are alike without these characters.
        """
        _check_text("prefix", prefix, "Use prefix='test/'.")
        metrics: dict[str, float] = {}
        for path, metric, value, limits in self._numbers():
            shown = "/".join([*(name for name in path if name != metric), metric])
            name = prefix + _NOT_IN_NAMES.sub("", shown)
            if name in metrics:
                raise refuse(f"two numbers would be named {name!r}. Rename a system.")
            metrics[name] = float(value)
            for kind, (low, high) in limits.items():
                metrics |= {f"{name}_{kind}_low": float(low), f"{name}_{kind}_high": float(high)}
        return metrics


def written_page(path: str | os.PathLike[str] | None, heading: str, body: str) -> str | None:
    """Return a page of HTML, or write it to a file."""
    if path is not None:
        _check_path(path)
    text = rendering.page(heading, body)
    if path is None:
        return text
    write_text(path, text)
    return None


def frame_of(records: Sequence[Mapping[str, Any]], kind: str) -> DataFrame:
    """Return rows as a data frame; ``kind`` is the class whose they are."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{kind}.to_frame needs pandas. Install it with: pip install 'skboot[dataframe]'"
        ) from error
    return pd.DataFrame.from_records(list(records))


def _options(digits: Any, p_values: bool = False) -> rendering.TableOptions:
    """Return what is asked of the tables that are taken into a text."""
    if digits is not None and check_count("digits", digits, 0) > _MOST_DIGITS:
        raise fail("digits", f"be at most {_MOST_DIGITS}", repr(digits))
    return rendering.TableOptions(digits, check_flag("p_values", p_values), scores=True)


def _latex_of(tables: Sequence[tuple[str, rendering.Table]], caption: Any, label: Any) -> str:
    """Return tables in LaTeX, with the caption and the label that were asked for."""
    for name, text in (("caption", caption), ("label", label)):
        if text is not None:
            _check_text(name, text)
    return rendering.latex_tables(tables, caption, label)


def _check_path(path: Any) -> None:
    """Accept what may be the name of a file."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not name or "\0" in str(name):
        raise fail("path", "be the path of a file", repr(path))


def _check_text(name: str, text: Any, advice: str = "") -> None:
    """Accept a string."""
    if not isinstance(text, str):
        raise as_type_error(fail(name, "be a string", repr(text), advice))


class ShownDifferences(ShownNumbers):
    """Comparisons and tables of them, which can show scores beside differences."""

    @abstractmethod
    def _systems(self, options: rendering.TableOptions) -> rendering.Table:
        """Return the table of one row per system and one column per comparison."""

    @door(".to_markdown")
    def to_markdown(
        self,
        *,
        layout: Layout = "differences",
        digits: int | None = None,
        p_values: bool = False,
    ) -> str:
        """Return tables in Markdown.

        Parameters
        ----------
        layout : {"differences", "systems", "both"}
            One row per difference, with the scores of both systems beside it (per result, if there
            are no comparisons); one row per system and one column per metric, with the best of
            each column in bold; or both tables.
        digits : int, optional
            Decimals of estimates and limits. Without it, all scores and differences of a metric
            have as many as the widest interval supports, in all tables.
        p_values : bool
            Whether there are columns of p-values. An interval says as much, and how large the
            difference may be.

        Returns
        -------
        str
            Pipe tables. Several comparisons have a table of differences each, below its name.

        Raises
        ------
        ValueError
            If the layout is none of these, or there are no comparisons for it, or ``digits`` is no
            integer from 0 to 15.

        Notes
        -----
        The best estimate of a column need not be better than the others: the differences show it.
        Where the direction of a metric is unknown nothing is bold; estimates that are written
        alike are bold alike.
        """
        return rendering.markdown_tables(self._laid_out(layout, _options(digits, p_values)))

    @door(".to_latex")
    def to_latex(
        self,
        *,
        layout: Layout = "differences",
        digits: int | None = None,
        p_values: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return tables in LaTeX.

        Parameters
        ----------
        layout : {"differences", "systems", "both"}
            As of `to_markdown`.
        digits : int, optional
            As of `to_markdown`.
        p_values : bool
            As of `to_markdown`.
        caption : str, optional
            Caption of a ``table`` environment; characters that LaTeX would misread are escaped.
        label : str, optional
            Its label, as it stands, for ``\ref``.

        Returns
        -------
        str
            Tabulars with the rules of the booktabs package, inside a ``table`` environment if
            there is a caption or a label. Several comparisons have one of differences each, after
            a comment with its name.

        Raises
        ------
        ValueError
            As of `to_markdown`.
        """
        tables = self._laid_out(layout, _options(digits, p_values))
        return _latex_of(tables, caption, label)

    @overload
    def to_html(
        self, path: None = ..., *, digits: int | None = ..., p_values: bool = ...
    ) -> str: ...
    @overload
    def to_html(
        self, path: str | os.PathLike[str], *, digits: int | None = ..., p_values: bool = ...
    ) -> None: ...
    @door(".to_html")
    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        digits: int | None = None,
        p_values: bool = False,
    ) -> str | None:
        """Make a web page.

        Parameters
        ----------
        path : path-like, optional
            File to write.
        digits : int, optional
            As of `to_markdown`, for the tables of the page.
        p_values : bool
            As of `to_markdown`.

        Returns
        -------
        str or None
            The page, if no path is given.

        Raises
        ------
        ValueError
            If ``digits`` is no integer from 0 to 15.
        """
        return self._written(path, _options(digits, p_values)._replace(scores=False))

    def _laid_out(
        self, layout: str, options: rendering.TableOptions
    ) -> list[tuple[str, rendering.Table]]:
        """Return the tables that a layout asks for, with their captions."""
        check_choice("layout", layout, _LAYOUTS)
        systems = [] if layout == "differences" else [("", self._systems(options))]
        return systems + ([] if layout == "systems" else list(self._tables(options)))


# ------------------------------------------------------------------ where a result comes from

# ``settings`` are for readers: nothing in the package asks them. What words and numbers hang on is
# in `CallFacts`, which those who make a result give; `gathered` alone derives it, for files of
# before.


@dataclass(frozen=True)
class CallFacts:
    """Facts of a call that words and numbers of its results depend on.

    Attributes
    ----------
    n_tasks : tuple of int
        Tasks that the metric is averaged over: one number, or one for each system where they
        differ; empty without tasks.
    block_length : int
        Rows in a block of rows in time order; 0 where none are drawn.
    weighted : bool
        Whether rows carry weights.
    by_subgroup : bool
        Whether the call asked for each subgroup.
    varied : {"seed", "training", "both", "independent"} or None
        In what runs differ; None without runs.
    runs_of_values : bool
        Whether runs are values that were given, without a truth: they need not have been trained.
    paired : bool
        Of a comparison: whether all systems were scored on the same rows.
    paired_runs : bool
        Of a comparison: whether the runs of two methods belong together, pair by pair.
    n_labelled : int
        Rows with a human label, where a judge labelled all; 0 without a judge.
    proxy_weight : float or None
        Weight of the judge's labels; None without a judge.
    labels_alone : str
        Estimate and limits of human labels alone, where there is a judge.
    """

    n_tasks: tuple[int, ...] = ()
    block_length: int = 0
    weighted: bool = False
    by_subgroup: bool = False
    varied: str | None = None
    runs_of_values: bool = False
    paired: bool = True
    paired_runs: bool = False
    n_labelled: int = 0
    proxy_weight: float | None = None
    labels_alone: str = ""


NOTHING_ASKED = CallFacts()
"""Facts of a call that asks for nothing of all that."""


@dataclass(frozen=True)
class Provenance:
    """Notes, settings, seed and versions of the call that made a result.

    Attributes
    ----------
    notes : tuple of str
        What a reader must know.
    held_fixed : tuple of str
        What the interval does not vary.
    seed : int, list, dict or None
        Entropy of the random numbers; of a `numpy.random.SeedSequence` what makes it again.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter; those in use unless given.
    facts : CallFacts
        What of the call decides words and numbers.
    reasons : tuple of str
        The notes that say why a number is undefined; empty where all do, or none is.
    """

    notes: tuple[str, ...] = ()
    held_fixed: tuple[str, ...] = ()
    seed: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions_used)
    facts: CallFacts = NOTHING_ASKED
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seed = self.seed
        values = {
            "notes": tuple(self.notes),
            "reasons": tuple(self.reasons),
            "held_fixed": tuple(self.held_fixed),
            "seed": plain(stored_seed(seed) if isinstance(seed, np.random.SeedSequence) else seed),
            "settings": plain(self.settings),
            "versions": plain(self.versions),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)


class FromACall:
    """Base of results that hold a `Provenance`, whose values are read as their own.

    Two results are equal if all they hold is equal; they cannot be hashed.
    """

    _provenance: Provenance

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, FromACall) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the result must know."""
        return self._provenance.notes

    @property
    def held_fixed(self) -> tuple[str, ...]:
        """Sources of variation that the interval holds fixed, in words."""
        return self._provenance.held_fixed

    @property
    def seed(self) -> Any:
        """Entropy of the random numbers."""
        return self._provenance.seed

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call."""
        return self._provenance.settings

    @property
    def n_labelled(self) -> int | None:
        """Rows with a human label, where a judge labelled all; None without a judge."""
        return self._provenance.facts.n_labelled or None

    @property
    def proxy_weight(self) -> float | None:
        """Weight of the judge's labels, 0 where they were not used; None without a judge."""
        return self._provenance.facts.proxy_weight

    @property
    def versions(self) -> dict[str, str]:
        """Versions of skboot, Python and the packages that matter."""
        return self._provenance.versions

    @property
    def _judge_record(self) -> dict[str, Any]:
        """Entries of tables and records for the labels of a judge; none without a judge."""
        if self.proxy_weight is None:
            return {}
        return {"n_labelled": self.n_labelled, "proxy_weight": self.proxy_weight}

    def _with_provenance(self, **changes: Any) -> Self:
        """Return the result with other values of its provenance."""
        result: Any = self
        changed: Self = replace(result, _provenance=replace(self._provenance, **changes))
        return changed

    def _held(self) -> dict[str, Any]:
        """Return all fields as in files, those of the provenance, without its facts, last."""
        result: Any = self
        held_fields = {
            name: getattr(result, field) for name, field in names_in_files(type(self)).items()
        }
        del held_fields["provenance"]
        return held_fields | {name: getattr(self._provenance, name) for name in _FOR_READERS}

    def _to_parts(self) -> dict[str, Any]:
        """Return all fields as a file holds them."""
        return self._held() | {"facts": asdict(self._provenance.facts)}


_FOR_READERS = tuple(f.name for f in fields(Provenance) if f.name != "facts")


def names_in_files(kind: type) -> dict[str, str]:
    """Return the fields of a class by their names in files and dicts, without underscores."""
    return {f.name.removeprefix("_"): f.name for f in fields(kind)}


def gathered(kind: type, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result that a file holds, with its provenance as one value."""
    if "facts" in parts:
        facts = CallFacts(**parts["facts"])
    else:
        # Files of before hold them in their settings alone.
        settings = parts.get("settings", {})
        tasks = settings.get("average_over") or {}
        facts = CallFacts(
            n_tasks=tuple(tasks.values()) if isinstance(tasks, Mapping) else (tasks,),
            block_length=settings.get("block_length") or 0,
            weighted=bool(settings.get("sample_weight")),
            by_subgroup=bool(settings.get("by")),
            varied=settings.get("varied"),
            runs_of_values=not settings.get("y_true", True),
            paired=bool(settings.get("paired", True)),
            paired_runs=bool(settings.get("paired_runs")),
        )
    read_fields = {"versions": {}} | {name: parts[name] for name in _FOR_READERS if name in parts}
    fields_held = {
        names_in_files(kind).get(name, name): value
        for name, value in parts.items()
        if name not in (*_FOR_READERS, "facts")
    }
    return fields_held | {"_provenance": Provenance(**read_fields, facts=facts)}


# ------------------------------------------------------------------ one score


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationResult(FromACall, ShownNumbers):
    """A score with its confidence interval, and all that is needed to judge it.

    `skboot.bootstrap_score` makes them. As text a result is its estimate and limits, with as many
    digits as the interval supports; a format, as in ``f"{result:.2f}"``, applies to all three
    numbers, and ``float(result)`` is the estimate. Two results are equal if all they hold is equal
    (NaN equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    estimate : float
        The metric on the data.
    confidence_interval : ConfidenceInterval
        The pair (low, high), with `confidence_level` and `method`.
    metric : str
        Name of the metric.
    estimand : {"system", "method", "next_run", "pooled"}
        What the interval is for.
    n_samples : int
        Number of test rows.
    unit : str
        What was resampled, in the singular: "row", "group", ...
    greater_is_better : bool or None
        Direction of the metric; None if unknown.
    naive_estimate : float or None
        Baseline: the metric of the best system that ignores its inputs, on the same rows; None if
        unknown.
    is_confidence_interval : bool
        False for prediction intervals and for spreads.
    runs : dict or None
        One array of shape (n_runs,) per property of the runs, where there were several.
    notes : tuple of str
        What a reader must know: guards that applied, cautions, why a number is undefined.
    held_fixed : tuple of str
        What the interval is conditional on.
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.

    See Also
    --------
    ResultTable : Several results as one table.

    Notes
    -----
    ``monte_carlo_error`` is the standard deviation of each limit over 200 bootstrap resamples of
    the replicates: given the data, these are independent draws from the ideal bootstrap
    distribution, so their own bootstrap estimates the error of any function of them (compare
    Efron & Tibshirani 1993, chapter 19). It is 0 for intervals that use no resamples.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, random_state=0)
    >>> print(result)
    0.900 (0.851 to 0.935)
    >>> print(f"{result:.2f}")
    0.90 (0.85 to 0.94)
    >>> float(result)
    0.9
    >>> print(result.claim())
    Accuracy on new data from the same source is estimated at 0.900 from 200 test rows
    (95% CI 0.851 to 0.935, interval from Beta distributions).
    >>> result.interval("percentile", confidence_level=0.9).method
    'percentile'
    """

    metric: str
    estimand: str
    # One system, a disparity between subgroups, several runs, or trainings on samples: it holds
    # what intervals are computed from.
    _basis: Basis
    confidence_interval: ConfidenceInterval
    _automatic: bool  # whether the method was chosen by ``interval="auto"``
    n_samples: int
    unit: str
    greater_is_better: bool | None
    naive_estimate: float | None
    is_confidence_interval: bool = True
    runs: dict[str, Any] | None = None
    _provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", read_only(self.runs))

    _format = "skboot.EvaluationResult", 2
    _noun = "result"
    _several = ROWS
    _display = "BootstrapDistributionDisplay.from_result"

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> BootstrapDistributionDisplay: ...

    # -------------------------------------------------------------- numbers

    @property
    def _evidence(self) -> Evidence:
        """Evidence that intervals are computed from."""
        return self._basis.evidence

    @property
    def estimate(self) -> float:
        """The metric on the data."""
        return float(self._evidence.estimate)

    @property
    def bootstrap_distribution(self) -> NDArray[np.float64]:
        """The metric on each resample, (n_resamples,), read-only; NaN where undefined."""
        return self._evidence.replicates

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate; NaN where it is unknown.

        The standard deviation of the defined replicates, unless the interval uses none and the
        error is known in closed form, such as ``sqrt(p (1 - p) / n)``, or replicates are those of
        single runs: their spread is one component of several.
        """
        return self._basis.standard_error(self.confidence_interval.method)

    @property
    def bias(self) -> float:
        """Mean of the defined replicates minus the estimate."""
        defined = self._evidence.sorted_replicates
        return float(defined.mean()) - self.estimate if len(defined) else math.nan

    @property
    def variance_components(self) -> dict[str, float] | None:
        """Variance of one value by source: training, seed, test, interaction; None for one run.

        Test and interaction are per test unit: their part of the score of one run is smaller by the
        number of units. NaN where the runs do not identify it.
        """
        return self._basis.variance_components()

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """Number of units to resample from; one number per factor if there are two."""
        units = tuple(int(n) for n in self._evidence.drawn.n_units)
        return units[0] if len(units) == 1 else units

    @property
    def n_resamples(self) -> int:
        """Number of resamples, undefined ones included."""
        return len(self._evidence.replicates)

    @property
    def n_undefined(self) -> int:
        """Number of resamples on which the metric is undefined."""
        return self.n_resamples - len(self._evidence.sorted_replicates)

    @property
    def n_deciding(self) -> float | None:
        """Units that decide the score; None where they are not known.

        (sum v^2)^2 / sum v^4 over the influences v of the units: as many of equal influence would
        make the score vary as much. Of p wrong rows about p. At most as many as the metric knows to
        decide, such as the rows of the smaller class, or those that a forecast is expected to leave
        beyond it.
        """
        return self._evidence.n_deciding

    @cached_property
    def monte_carlo_error(self) -> MonteCarloError:
        """Standard error of each limit due to the finite number of resamples; NaN if unknown."""
        return self._basis.monte_carlo_error(self)

    @door("EvaluationResult.interval")
    def interval(
        self,
        method: MethodInterval | RunsInterval | None = None,
        confidence_level: float | None = None,
        estimand: Estimand | None = None,
    ) -> ConfidenceInterval:
        """Compute another interval from what is stored; nothing is resampled again.

        Parameters
        ----------
        method : str, optional
            Name of the method, or "auto"; that of the call when None.
        confidence_level : float, optional
            In (0, 1); that of the call when None.
        estimand : str, optional
            What the interval is for. That of the result, unless it stands on several runs.

        Returns
        -------
        ConfidenceInterval
            The pair (low, high), with `confidence_level` and `method`. Limits are cut at the range
            of the metric; ``uncut`` has them as published.

        Raises
        ------
        ValueError
            If the method is unknown or needs what was not computed, the level is out of range,
            or the estimand is another one.

        Warns
        -----
        UserWarning
            If the interval has no width, or the resamples are too few for the level.
        """
        names: list[tuple[str, Any]] = [("method", method), ("estimand", estimand)]
        for name, value in names:
            if value is not None and not isinstance(value, str):
                advice = ""
                if isinstance(value, Anytime):
                    advice = (
                        f"Give it to the call: bootstrap_score(..., interval=skboot.{value!r})."
                    )
                elif name == "method" and "=" in (level := level_meant(name, value)):
                    advice = f"Use {level}."
                raise fail(name, "be None or a name", repr(value), advice)
        if confidence_level is not None:
            confidence_level = check_confidence_level(confidence_level)
        with collected() as notes:
            interval = self._basis.interval(self, method, confidence_level, estimand)
        tell(*dict.fromkeys(notes))
        return interval

    # -------------------------------------------------------------- text and tables

    def summary(self) -> str:
        """Describe the result in several short lines of plain text.

        Returns
        -------
        str
            What was estimated, its uncertainty and its basis, with all notes.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        return f"{self._basis.title(self)}\n{rendering.text_list(self._basis.facts(self))}"

    @door("EvaluationResult.claim")
    def claim(self) -> str:
        """Say the result in a sentence for a paper.

        Returns
        -------
        str
            Estimate, interval and what they are for, with as many digits as the interval's width
            supports.
        """
        return self._basis.claim(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {wording.short(self)}>"

    def __str__(self) -> str:
        return f"{wording.estimates(self)} ({wording.limits(self)})"

    def __float__(self) -> float:
        return self.estimate

    def __format__(self, spec: str) -> str:
        return f"{self.estimate:{spec}} ({self.confidence_interval:{spec}})" if spec else str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        record = {
            "metric": self.metric,
            "estimand": self.estimand,
            "estimate": self.estimate,
            "confidence_interval": self.confidence_interval.to_dict(),
            "is_confidence_interval": self.is_confidence_interval,
            "standard_error": self.standard_error,
            "bias": self.bias,
            "monte_carlo_error": self.monte_carlo_error._asdict(),
            "naive_estimate": self.naive_estimate,
            "greater_is_better": self.greater_is_better,
            "n_samples": self.n_samples,
            "unit": self.unit,
            "n_units": self.n_units,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
            "n_deciding": self.n_deciding,
            **self._judge_record,
            "held_fixed": self.held_fixed,
            "variance_components": self.variance_components,
            "notes": self.notes,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
        }
        return dict(plain(record, for_json=True))

    def _heading(self) -> str:
        return self._basis.title(self)

    @property
    def _metric_name(self) -> str:
        return self.metric

    def _widths(self) -> list[float]:
        return [wording.width_of(self)]

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [("", wording.table_of([self], options))]

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "estimand": self.estimand,
                "estimate": self.estimate,
                **self.confidence_interval._row(),
                "standard_error": self.standard_error,
                "bias": self.bias,
                "naive_estimate": math.nan if self.naive_estimate is None else self.naive_estimate,
                "n_samples": self.n_samples,
                "unit": self.unit,
                "n_units": self.n_units,
                "n_resamples": self.n_resamples,
                "n_undefined": self.n_undefined,
                **self._judge_record,
            }
        ]

    def _numbers(self) -> Iterator[Number]:
        yield Number((), self.metric, self.estimate, {"ci": self.confidence_interval})

    def _html(self, options: rendering.TableOptions) -> str:
        picture = rendering.draw(wording.strip_of(self))
        picture += rendering.html_legend(rendering.LEGEND) if picture else ""
        facts = rendering.html_list(self._basis.facts(self))
        return rendering.html_of(self.claim(), picture, facts)

    # -------------------------------------------------------------- files

    def _to_parts(self) -> dict[str, Any]:
        return super()._to_parts() | {"basis": self._basis.to_parts()}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        read_fields = gathered(cls, parts)
        read_fields["_basis"] = basis_of_parts(read_fields["_basis"])
        read_fields["confidence_interval"] = ConfidenceInterval(*read_fields["confidence_interval"])
        return cls(**read_fields)


def evaluation_result(
    provenance: Provenance,
    *,
    basis: Basis,
    estimand: str = "system",
    automatic: bool = False,
    greater_is_better: bool | None = None,
    naive_estimate: float | None = None,
    **fields: Any,
) -> EvaluationResult:
    """Return the result of a call; ``fields`` are its other attributes."""
    return EvaluationResult(
        estimand=estimand,
        _basis=basis,
        _automatic=automatic,
        greater_is_better=greater_is_better,
        naive_estimate=naive_estimate,
        _provenance=provenance,
        **fields,
    )
