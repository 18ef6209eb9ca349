"""`ResultTable`: a dict of results, or of comparisons, that can be shown as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

from .. import _checks as check
from .._doors import door
from .._messages import as_type_error
from . import drawing, entries, rendering, wording
from .result import EvaluationResult
from .shown import Number, Shown, ShownDifferences, ShownNumbers

if TYPE_CHECKING:
    # Python has defaults of type variables from 3.13 on, type checkers before.
    from typing_extensions import TypeVar

    ValueT = TypeVar("ValueT", default=Any)
else:
    from typing import TypeVar

    ValueT = TypeVar("ValueT")


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
    >>> from skboot import ResultTable, bootstrap_score
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

    def summary(self) -> str:
        """Describe the results in a table of plain text, with their notes.

        Returns
        -------
        str
            One line per result; a note that several share is said once. Of comparisons the summary
            of each, one below the other.
        """
        return self._contents.summary() if self else "no results"

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
            name = ", ".join(path)
            if isinstance(result, EvaluationResult):
                name = entries.Entry(path, result).name
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
            As of `EvaluationResult.to_dict` and `ComparisonResult.to_dict`.
        """
        return {str(name): _shown(value).to_dict() for name, value in self.items()}

    # -------------------------------------------------------------- what `Shown` asks for

    @property
    def _contents(self) -> _Scores | _Sections | _Curves:
        """The results, laid out as scores alone, as curves alone or as comparisons."""
        if self and all(getattr(value, "_noun", "") == "curve" for value in self.values()):
            return _Curves(self)
        return _Sections(self) if entries.holds_comparisons(self) else _Scores(self)

    @property
    def _display(self) -> str:
        return self._contents.display

    def _heading(self) -> str:
        return self._contents.heading

    def _tables(self) -> list[tuple[str, rendering.Table]]:
        return self._contents.tables()

    def _systems(self) -> rendering.Table:
        return self._contents.systems()

    def _records(self) -> list[dict[str, Any]]:
        return self._contents.records()

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

    def _repr_html_(self) -> str:
        return self._contents.html()

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


# ------------------------------------------------------------------ three layouts


class _Scores:
    """Scores alone: one table, a row for each."""

    display = "IntervalDisplay.from_results"

    def __init__(self, results: Mapping[Any, Any]) -> None:
        self._entries = entries.entries_of(results)

    @property
    def heading(self) -> str:
        return f"{len(self._entries)} results"

    def summary(self) -> str:
        table = rendering.text_table(entries.scores_table(self._entries))
        notes = entries.shared_notes(self._entries)
        return f"{table}\n\n{rendering.text_list(notes)}" if notes else table

    def tables(self) -> list[tuple[str, rendering.Table]]:
        return [("", entries.scores_table(self._entries))]

    def systems(self) -> rendering.Table:
        must = "be 'differences' for a table that holds no comparison"
        raise check.fail("layout", must, "another layout")

    def records(self) -> list[dict[str, Any]]:
        return entries.records(self._entries)

    def html(self) -> str:
        drawings = entries.drawings(self._entries)
        naive = any(wording.baseline(entry.result) is not None for entry in self._entries)
        near = "; dashed: naive reference, where it is near" if naive else ""
        table = rendering.html_table(
            entries.scores_table(self._entries), drawings, drawing.LEGEND + near
        )
        notes = rendering.html_list(entries.shared_notes(self._entries))
        return f'<div style="color:inherit">{table}{notes}</div>'


class _Sections:
    """Comparisons, and tables of scores beside them: a section each, below its name."""

    display = "ComparisonDisplay.from_results"

    def __init__(self, results: Mapping[Any, Any]) -> None:
        self._sections = list(_sections_of(results))
        self._comparisons = entries.comparisons_of(results)

    @property
    def heading(self) -> str:
        return f"{len(self._sections)} comparisons"

    def summary(self) -> str:
        return "\n\n".join(
            f"{name}\n{'-' * len(name)}\n{section.summary()}" for name, section in self._sections
        )

    def tables(self) -> list[tuple[str, rendering.Table]]:
        return [(name, table) for name, section in self._sections for _, table in section._tables()]

    def systems(self) -> rendering.Table:
        # Imported where there are comparisons: a score needs nothing of them.
        from .comparison_tables import scores_table

        return scores_table(self._comparisons)

    def records(self) -> list[dict[str, Any]]:
        return [
            {"name": name, **record}
            for name, result in self._comparisons
            for record in result._records()
        ]

    def html(self) -> str:
        sections = [
            f"<h3>{rendering.html(name)}</h3>{section._repr_html_()}"
            for name, section in self._sections
        ]
        return "".join([rendering.html_table(self.systems()), *sections])


class _Curves:
    """Curves alone: a section each."""

    display = "CurveBandDisplay.from_result"

    def __init__(self, results: Mapping[Any, Any]) -> None:
        self._curves = dict(results)

    @property
    def heading(self) -> str:
        return f"{len(self._curves)} curves"

    def summary(self) -> str:
        return "\n\n".join(curve.summary() for curve in self._curves.values())

    def tables(self) -> list[tuple[str, rendering.Table]]:
        return [(curve.title, curve._table()) for curve in self._curves.values()]

    def systems(self) -> rendering.Table:
        must = "be 'differences' for a table of curves"
        raise check.fail("layout", must, "another layout")

    def records(self) -> list[dict[str, Any]]:
        return [
            {"name": name, **record}
            for name, curve in self._curves.items()
            for record in curve._records()
        ]

    def html(self) -> str:
        return "".join(curve._repr_html_() for curve in self._curves.values())


def _sections_of(
    results: Mapping[Any, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield comparisons, and whole what holds none, each with its name."""
    for key, value in results.items():
        below = (*path, str(key))
        if isinstance(value, Mapping) and entries.holds_comparisons(value):
            yield from _sections_of(value, below)
        else:
            yield ", ".join(below), _shown(value)


# ------------------------------------------------------------------ steps


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
