"""`ResultTable`: a dict of results, or of comparisons, that can be shown as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

from .._base import checks as check
from .._base.doors import door
from .._base.messages import as_type_error
from . import entries, rendering
from .result import EvaluationResult
from .shown import ROWS, SECTIONS, Number, Several, Shown, ShownDifferences, ShownNumbers

if TYPE_CHECKING:
    # Python has defaults of type variables from 3.13 on, type checkers before.
    from typing_extensions import TypeVar

    ValueT = TypeVar("ValueT", default=Any)
else:
    from typing import TypeVar

    ValueT = TypeVar("ValueT")


class Section(NamedTuple):
    """A part of a table, below its name where it has one.

    Attributes
    ----------
    name : str
        What it stands below; empty where it says its name itself.
    caption : str
        Of its tables.
    shown : Shown or ScoreRows
        What it shows.
    """

    name: str
    caption: str
    shown: Any

    @property
    def text(self) -> str:
        """The part as plain text."""
        heading = f"{self.name}\n{'-' * len(self.name)}\n" if self.name else ""
        return heading + str(self.shown.summary())

    def html(self, options: rendering.TableOptions) -> str:
        """Return the part of a page."""
        heading = f"<h3>{rendering.html(self.name)}</h3>" if self.name else ""
        return heading + str(self.shown._html(options))


class ResultTable(ShownDifferences, dict[Any, ValueT]):
    """A dict of results, or of comparisons, that can be shown as one table.

    `skboot.bootstrap_score` and `skboot.compare_systems` return one for several metrics, and for
    subgroups; of both, a table of tables: ``results["accuracy"]["women"]``.

    Parameters
    ----------
    results : mapping or iterable, optional
        `EvaluationResult`, `ComparisonResult`, or dicts of them, by name; or a list of results
        and comparisons, which are then named by their metrics.
    **named : dict
        More of them, by name.

    Raises
    ------
    TypeError
        If a list holds something without a metric.
    ValueError
        If two of a list have one metric.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> from skboot.results import ResultTable
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> results = bootstrap_score(y_true, y_pred, metric=["accuracy", "f1"], random_state=0)
    >>> results["accuracy"].estimate
    0.9
    >>> list(results.to_dict())
    ['accuracy', 'f1']
    >>> table = ResultTable([results["f1"], results["accuracy"]])
    >>> list(table)
    ['f1', 'accuracy']
    """

    _format = "skboot.ResultTable", 1
    _noun = "table"

    @overload
    def __init__(self, results: Mapping[Any, ValueT], /, **named: ValueT) -> None: ...
    @overload
    def __init__(self, results: Iterable[tuple[Any, ValueT]], /, **named: ValueT) -> None: ...
    @overload
    def __init__(self, results: Iterable[ValueT] = ..., /, **named: ValueT) -> None: ...
    @door("ResultTable")
    def __init__(self, results: Mapping[Any, Any] | Iterable[Any] = (), /, **named: Any) -> None:
        super().__init__(results if isinstance(results, Mapping) else _by_metric(results), **named)

    def __missing__(self, key: Any) -> ValueT:
        """Return the result of the metric that a call has under this name; a KeyError lists all."""
        # Imported where a name is not that of a result.
        from ..metrics.names import meant_by

        plain = str(key).replace("_", " ")
        found = [
            name
            for name, value in self.items()
            if getattr(value, "metric", None) == name
            and (name == meant_by(str(key)) or name.replace("_", " ").startswith(f"{plain} "))
        ]
        if len(found) == 1:
            return self[found[0]]
        raise KeyError(f"{key!r} is none of {list(self)}")

    def summary(self) -> str:
        """Describe the results in a table of plain text, with their notes.

        Returns
        -------
        str
            One line per result; a note that several share is said once. For comparisons the summary
            of each, one below the other.
        """
        return "\n\n".join(section.text for section in self._sections) if self else "no results"

    __str__ = summary

    @door("ResultTable.claim")
    def claim(self) -> str:
        """Say each result in a sentence for a paper.

        Returns
        -------
        str
            One line per result or comparison, after its name where the metric does not say it.
        """
        lines = []
        for path, result in entries.leaves(self):
            name = entries.name_of(path, result)
            metric = getattr(result, "metric", "")
            lines.append(result.claim() if name == metric else f"{name}: {result.claim()}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        # One result a line: a table holds many.
        items = [f"{name!r}: {value!r}".replace("\n", "\n  ") for name, value in self.items()]
        inner = "".join(f"\n  {item}," for item in items)
        return f"ResultTable({{{inner}\n}})" if items else "ResultTable({})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        name = next(iter(self), "accuracy")
        raise TypeError(
            f"The format {spec!r} applies to one result, and a table holds {len(self)}. Take one "
            f"by its name, as in table[{name!r}]."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return dicts ready for JSON, nested as the results are.

        Returns
        -------
        dict
            As from `EvaluationResult.to_dict` and `ComparisonResult.to_dict`.
        """
        return {str(name): _shown(value).to_dict() for name, value in self.items()}

    # -------------------------------------------------------------- what `Shown` asks for

    @property
    def _sort(self) -> Several:
        """What the results are together; sections where they are of several sorts, or nested."""
        found = {
            each._several if len(path) == 1 or each._several is ROWS else SECTIONS
            for path, each in entries.leaves(self)
        }
        return found.pop() if len(found) == 1 else SECTIONS if found else ROWS

    @property
    def _sections(self) -> list[Section]:
        sort = self._sort
        if sort is ROWS:
            return [Section("", "", entries.ScoreRows(self))]
        if sort.are_named:
            return [Section(name, name, each) for name, each in _named(self)]
        return [Section("", each.title, each) for _, each in entries.leaves(self)]

    @property
    def _display(self) -> str:
        return self._sort.display

    def _heading(self) -> str:
        parts = entries.entries_of(self) if self._sort is ROWS else self._sections
        return f"{len(parts)} {self._sort.noun}"

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [
            (section.caption, table)
            for section in self._sections
            for _, table in section.shown._tables(options)
        ]

    def _systems(self, options: rendering.TableOptions) -> rendering.Table:
        if lacks := self._sort.lacks_systems:
            must = f"be 'differences' for a table {lacks}"
            raise check.fail("layout", must, "another layout")
        # Imported where there are comparisons: a score needs nothing of them.
        from .comparison_tables import scores_table

        return scores_table(entries.comparisons_of(self), options)

    def _records(self) -> list[dict[str, Any]]:
        if self._sort is ROWS:
            return entries.records(entries.entries_of(self))
        return [
            {"name": name, **record}
            for name, result in entries.comparisons_of(self)
            for record in result._records()
        ]

    def _numbers(self) -> Iterator[Number]:
        for path, result in entries.leaves(self):
            if not isinstance(result, ShownNumbers):
                name = path[-1]
                raise TypeError(
                    f"ResultTable.as_metrics: {name!r} is a {result._noun}, which is no number. "
                    f"Take a point of it, as in table[{name!r}].at(0.1).as_metrics()."
                )
            for number in result._numbers():
                # Of a subgroup the metric is named with it.
                metric = number.metric.removesuffix(f" ({path[-1]})")
                yield number._replace(path=path + number.path, metric=metric)

    def _html(self, options: rendering.TableOptions) -> str:
        lacks = self._sort.lacks_systems
        systems = "" if lacks else rendering.html_table(self._systems(options))
        return systems + "".join(section.html(options) for section in self._sections)

    def _to_parts(self) -> dict[str, Any]:
        shown = [(name, _shown(value)) for name, value in self.items()]
        return {"entries": [(name, value._format[0], value._to_parts()) for name, value in shown]}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        # Imported where a file is read: a score needs nothing of comparisons.
        from .comparison import ComparisonResult
        from .curve import CurveResult
        from .data_sets import DatasetsComparison

        classes: tuple[Any, ...] = (EvaluationResult, ComparisonResult, DatasetsComparison)
        classes += (CurveResult, ResultTable)
        kinds = {kind._format[0]: kind for kind in classes}
        return cls({name: kinds[kind]._from_parts(each) for name, kind, each in parts["entries"]})


def laid_out(
    results: Mapping[str, Any], single: bool, paths: Mapping[str, Sequence[Any]], alone: bool
) -> Any:
    """Return results by metric, and by entry of metrics that return several numbers.

    Parameters
    ----------
    results : mapping of str to result
        By the name of their statistic.
    single, paths, alone
        As of `skboot.study.measured.Places`.

    Returns
    -------
    EvaluationResult, ComparisonResult or ResultTable
    """
    if alone:
        return next(iter(results.values()))
    table: ResultTable[Any] = ResultTable()
    for flat, (metric, *entry) in paths.items():
        if entry:
            table.setdefault(metric, ResultTable())[entry[0]] = results[flat]
        else:
            table[metric] = results[flat]
    return next(iter(table.values())) if single else table


# ------------------------------------------------------------------ steps


def _named(results: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield comparisons, and whole what holds scores alone, each with its name."""
    for key, value in results.items():
        below = (*path, str(key))
        if isinstance(value, Mapping) and entries.comparisons_of(value):
            yield from _named(value, below)
        else:
            yield ", ".join(below), _shown(value)


def _by_metric(results: Iterable[Any]) -> dict[Any, Any]:
    """Return results by the names of their metrics; pairs of name and result as they are."""
    named: dict[Any, Any] = {}
    for result in results:
        if isinstance(result, tuple) and len(result) == 2:
            name, result = result
        else:
            name = getattr(result, "metric", None)
        if not isinstance(result, Shown | Mapping) or name is None:
            must = (
                "be a dict of results by name, or a list of results, which are named by their "
                "metrics"
            )
            got = f"a list with {type(result).__name__}"
            raise as_type_error(check.fail("results", must, got, "Give a dict."))
        if name in named:
            raise check.fail(
                "results",
                "be a list of results with different metrics, by which they are named",
                f"{name!r} twice",
                "Give a dict with a name of your own for each: "
                "ResultTable({'first': ..., 'second': ...}).",
            )
        named[name] = result
    return named


def _shown(value: Any) -> Any:
    """Return a dict as a table; all else as it is."""
    return value if isinstance(value, Shown) else ResultTable(value)
