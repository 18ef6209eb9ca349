"""`Shown`: what results, comparisons and tables of them can all do.

A class that is shown says its words (`summary`, `claim`), its tables, its rows of a data frame, its
HTML, the display that draws it and what a file of it holds. This base writes them in every form,
and `ShownNumbers` those that are numbers with limits as a flat dict.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self

from .._base.checks import check_choice, check_count, check_flag, fail
from .._base.doors import door
from .._base.messages import as_type_error, refuse
from .._base.typing import Layout
from .._base.wayfinding import Hinting
from ..inference.confidence_interval import ConfidenceInterval
from . import rendering, storage

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
    """What several results of one sort are together, in a `skboot.results.ResultTable`.

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

    # -------------------------------------------------------------- what each class says

    @abstractmethod
    def summary(self) -> str:
        """Describe the result in plain text."""

    @abstractmethod
    def claim(self) -> str:
        """Say the result for a paper."""

    @abstractmethod
    def _html(self, options: rendering.TableOptions) -> str:
        """Return what a page of HTML shows."""

    @abstractmethod
    def _heading(self) -> str:
        """Return the title of a page."""

    @abstractmethod
    def _tables(self, options: rendering.TableOptions) -> Sequence[tuple[str, rendering.Table]]:
        """Return tables, each after its name, which may be empty."""

    @abstractmethod
    def _records(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a data frame."""

    @property
    @abstractmethod
    def _display(self) -> str:
        """Name of the class and of its maker in `skboot.plots`."""

    @abstractmethod
    def _to_parts(self) -> dict[str, Any]:
        """Return values that `skboot.results.storage` can write."""

    @classmethod
    @abstractmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the object whose ``_to_parts`` are given."""

    # -------------------------------------------------------------- tables and pages

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return self._html(rendering.NOTHING_ASKED)

    @door(".to_frame")
    def to_frame(self) -> Any:
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
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__}.to_frame needs pandas. Install it with: "
                "pip install 'skboot[dataframe]'"
            ) from error
        return pd.DataFrame.from_records(list(self._records()))

    @door(".to_markdown")
    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return a table in Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals of estimates and limits, the same in each row; standard errors have one more.
            Without it, as many as the widths of the intervals support.

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
        return _in_latex(self._tables(_options(digits)), caption, label)

    @door(".to_html")
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Make a web page.

        Parameters
        ----------
        path : path-like, optional
            File to write.

        Returns
        -------
        str or None
            The page, if no path is given.
        """
        return self._written(path, rendering.NOTHING_ASKED)

    def _written(
        self, path: str | os.PathLike[str] | None, options: rendering.TableOptions
    ) -> str | None:
        """Return a page, or write it to a file."""
        if path is not None:
            _check_path(path)
        text = rendering.page(self._heading(), self._html(options))
        if path is None:
            return text
        storage.write_text(path, text)
        return None

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
        _check_own_format(path)
        format_name, version = self._format
        storage.save(path, self._to_parts(), format_name=format_name, version=version)

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
        parts = storage.load(path, format_name=format_name, version=version)
        try:
            return cls._from_parts(parts)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{os.fspath(path)!r} does not hold a whole {cls._noun}: {error}"
            ) from error


class ShownNumbers(Shown):
    """What results that are numbers with limits can do besides: be logged as a flat dict."""

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


def _options(digits: Any, p_values: bool = False) -> rendering.TableOptions:
    """Return what is asked of the tables that are taken into a text."""
    if digits is not None and check_count("digits", digits, 0) > _MOST_DIGITS:
        raise fail("digits", f"be at most {_MOST_DIGITS}", repr(digits))
    return rendering.TableOptions(digits, check_flag("p_values", p_values), scores=True)


def _in_latex(tables: Sequence[tuple[str, rendering.Table]], caption: Any, label: Any) -> str:
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


def _check_own_format(path: str | os.PathLike[str]) -> None:
    """Refuse a suffix that names the format of another writer."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    for suffixes, writer in _OF_OTHERS.items():
        if suffix in suffixes.split():
            advice = f"save() keeps all numbers for load(). A file {suffix} is made by {writer}."
            raise fail("path", "be the path of an .npz file", repr(os.fspath(path)), advice)


def _check_text(name: str, text: Any, advice: str = "") -> None:
    """Accept a string."""
    if not isinstance(text, str):
        raise as_type_error(fail(name, "be a string", repr(text), advice))


class ShownDifferences(ShownNumbers):
    """What comparisons and tables of them can do besides: show scores beside differences."""

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
            Decimals of estimates and limits, the same in each row. Without it, as many as the
            widths of the intervals support.
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
        The best estimate of a column need not be better than the others: the differences tell.
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
        return _in_latex(tables, caption, label)

    @door(".to_html")
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, p_values: bool = False
    ) -> str | None:
        """Make a web page.

        Parameters
        ----------
        path : path-like, optional
            File to write.
        p_values : bool
            Whether there are columns of p-values.

        Returns
        -------
        str or None
            The page, if no path is given.
        """
        return self._written(path, _options(None, p_values))

    def _laid_out(
        self, layout: str, options: rendering.TableOptions
    ) -> list[tuple[str, rendering.Table]]:
        """Return the tables that a layout asks for, with their captions."""
        check_choice("layout", layout, _LAYOUTS)
        systems = [] if layout == "differences" else [("", self._systems(options))]
        return systems + ([] if layout == "systems" else list(self._tables(options)))
