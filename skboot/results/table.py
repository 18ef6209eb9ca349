"""`ResultTable`: results, or comparisons, by name, that can be shown as one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, overload

from .._base import checks as check
from .._base.doors import door
from .._base.errors import as_type_error
from . import rendering, wording
from .result import (
    ROWS,
    SECTIONS,
    EvaluationResult,
    Number,
    Several,
    Shown,
    ShownDifferences,
    ShownNumbers,
    names_meant,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..plots import ComparisonDisplay, CurveBandDisplay, IntervalDisplay

    ValueT = TypeVar("ValueT", default=Any)
else:
    from typing import TypeVar

    ValueT = TypeVar("ValueT")


Path = tuple[str, ...]


# ------------------------------------------------------------------ where results stand


def leaves(results: Mapping[Any, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the results and comparisons of nested dicts in their order, each with its keys.

    Parameters
    ----------
    results : mapping
        Values are `EvaluationResult`, `ComparisonResult` or mappings.
    path : tuple of str
        Keys above.

    Yields
    ------
    tuple (tuple of str, EvaluationResult or ComparisonResult)
        Keys from the outermost, and the result.

    Raises
    ------
    TypeError
        If a value is something else.
    """
    for key, value in results.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, str(key)))
        elif isinstance(value, Shown):
            yield (*path, str(key)), value
        else:
            raise TypeError(
                "The values of a ResultTable must be results, comparisons, or dicts of them. Got "
                f"{type(value).__name__} for {key!r}."
            )


class Entry(NamedTuple):
    """A score and where it stands.

    Attributes
    ----------
    path : tuple of str
        Its keys, from the outermost.
    result : EvaluationResult
        The result.
    """

    path: Path
    result: EvaluationResult

    @property
    def base_metric(self) -> str:
        """Name of the metric without the name of the subgroup."""
        key = self.path[-1] if self.path else ""
        return self.result.metric.removesuffix(f" ({key})")

    @property
    def is_gap(self) -> bool:
        """Whether it is the difference of two subgroups."""
        return self.path[-1:] == ("gap",) and self.result._basis.is_gap

    def is_metric(self, key: str) -> bool:
        """Whether a key is the name of the metric."""
        return self.base_metric == key or (
            self.is_gap and self.base_metric.startswith(f"{key} gap")
        )

    @property
    def is_named_by_metric(self) -> bool:
        """Whether the name of the metric says all that the keys say."""
        *outer, key = self.path or ("",)
        names = (key, f"{self.base_metric} ({key})")
        is_own = self.is_gap or self.result.metric in names
        return is_own and all(self.result.metric.startswith(name) for name in outer)

    @property
    def name(self) -> str:
        """The metric, if it says all; else the keys."""
        return self.result.metric if self.is_named_by_metric else ", ".join(self.path)


def entries_of(results: Mapping[Any, Any]) -> list[Entry]:
    """Return the scores of a dict of results, or of dicts of them, in their order."""
    return [Entry(path, value) for path, value in leaves(results) if value._several is ROWS]


def comparisons_of(results: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """Return the comparisons of a dict of them, or of dicts of them, each with its name."""
    return [
        (", ".join(path), value) for path, value in leaves(results) if value._several is not ROWS
    ]


# ------------------------------------------------------------------ a table of scores


def scores_table(entries: Sequence[Entry], options: rendering.TableOptions) -> rendering.Table:
    """Return one row per score; its keys come first, unless the metric's name holds them all."""
    results = [entry.result for entry in entries]
    if all(entry.is_named_by_metric for entry in entries):
        return wording.table_of(results, options)
    # Each level of keys is a column, but one whose keys all name the metric of their row: of
    # {"accuracy": {"women": ..., "men": ...}} the column of the subgroups stands alone.
    depth = max((len(entry.path) for entry in entries), default=1)
    paths = [entry.path + ("",) * (depth - len(entry.path)) for entry in entries]
    levels = []
    for level in range(depth):
        keys = [path[level] for path in paths]
        if not all(entry.is_metric(key) for entry, key in zip(entries, keys, strict=True)):
            levels.append(level)
    names = [tuple(path[level] for level in levels) for path in paths]
    metrics = [entry.base_metric for entry in entries]
    return wording.table_of(results, options, names, _level_titles(entries, levels), metrics)


def _level_titles(entries: Sequence[Entry], levels: Sequence[int] | None = None) -> list[str]:
    """Return the titles of the columns of keys, of all levels or of some."""
    depth = max((len(entry.path) for entry in entries), default=1)
    levels = list(range(depth)) if levels is None else levels
    titles = ["name", "entry", *(f"level {k}" for k in range(3, depth + 1))][: len(levels)]
    if depth > 1 and levels[-1:] == [depth - 1]:
        # The last key is a subgroup, or stands for the largest gap between subgroups. A number of a
        # metric of several is named in the same way, on all rows.
        innermost = [entry for entry in entries if len(entry.path) == depth]
        are_named_so = all(
            entry.is_gap or entry.base_metric != entry.result.metric for entry in innermost
        )
        are_asked_for = all(
            entry.is_gap or entry.result._provenance.facts.by_subgroup for entry in innermost
        )
        titles[-1] = "subgroup" if are_named_so and are_asked_for else titles[-1]
    return titles


# Where the remarks on a score stand among those of all scores.
_PLACES = {"estimand": 0, "conditional on": 1, "undefined": 3, "note": 4}


def shared_notes(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the notes of all scores, each sentence once, with the scores that it holds for."""
    everyone = [entry.name for entry in entries]
    holders: dict[tuple[int, str, str], list[str]] = {}
    for entry, name in zip(entries, everyone, strict=True):
        for label, text in entry.result._basis.remarks(entry.result):
            # The reasons why numbers are undefined come third.
            note = _PLACES.get(label, 2), label, text
            holders.setdefault(note, []).append(name)
    # Sorted by the place of the note alone: notes of one place stay in the order of the scores.
    lines = []
    for (_, label, text), names in sorted(holders.items(), key=lambda item: item[0][0]):
        lines.append((label, f"{wording.holders_of_note(names, everyone)}{text}"))
    return lines


def drawings(entries: Sequence[Entry]) -> list[str]:
    """Return a small drawing per score; those of one metric have one scale."""
    strips = [wording.strip_of(entry.result) for entry in entries]
    scales: dict[str, tuple[float, float]] = {}
    for entry, strip in zip(entries, strips, strict=True):
        if not math.isnan(strip.estimate):
            low, high = strip.extent
            start, stop = scales.get(entry.base_metric, (low, high))
            scales[entry.base_metric] = (min(start, low), max(stop, high))
    return [
        rendering.draw(strip, scales.get(entry.base_metric), wide=False)
        for entry, strip in zip(entries, strips, strict=True)
    ]


# ------------------------------------------------------------------ the table


def decimals_by_metric(results: Mapping[Any, Any]) -> dict[str, rendering.Decimals]:
    """Return the decimals of each metric of results by name, the same in all panels and pictures.

    Dicts may be nested.
    """
    panels: dict[str, list[tuple[str, Any]]] = {}
    metric = ""
    for path, shown in leaves(results):
        name = shown._metric_name
        # The metric of a subgroup is named with it; a gap stands behind the subgroups.
        if not (metric and shown._several is ROWS and shown._basis.is_gap):
            metric = name.removesuffix(f" ({path[-1]})")
        panels.setdefault(metric, []).append((name, shown))
    shared: dict[str, rendering.Decimals] = {}
    for panel in panels.values():
        decimals = wording.decimals_of([shown for _, shown in panel])
        shared |= {name: decimals for name, _ in panel}
    return shared


class ResultTable(ShownDifferences, Mapping[Any, ValueT]):
    """Results, or comparisons, by name, that can be shown as one table.

    `skboot.bootstrap_score` and `skboot.compare_systems` return one for several metrics, and for
    subgroups; of both, a table of tables: ``results["accuracy"]["women"]``. It is read as a dict
    is, and cannot be changed: ``ResultTable({**results, "another": result})`` is a longer one.

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
        If a list holds something without a metric, or a dict something that is no result.
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
        by_name = results if isinstance(results, Mapping) else _named_by_metric(results)
        results = {**by_name, **named}
        # What is no result is refused here, and not where the table is shown.
        for _ in leaves(results):
            pass
        self._results = {name: _dict_as_table(value) for name, value in results.items()}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._results)

    def __contains__(self, key: object) -> bool:
        return key in self._results or bool(self._names_meant(key))

    def __getitem__(self, key: Any) -> ValueT:
        """Return the result of the metric that a call has under this name; a KeyError lists all."""
        if key in self._results:
            return self._results[key]
        names = self._names_meant(key)
        if not names:
            raise KeyError(f"{key!r} is none of {list(self)}")
        return self._results[names[0]]

    def _names_meant(self, key: Any) -> list[Any]:
        """Return the name that is meant by another one; nothing if none or several are."""
        # Names of metrics alone have others; a metric on subgroups is named with each.
        of_metrics = (
            name
            for name, value in self._results.items()
            if any(
                shown._metric_name.removesuffix(f" ({path[-1]})") == name
                for path, shown in leaves({name: value})
            )
        )
        return names_meant(key, of_metrics)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        advice = f"Make another: ResultTable({{**table, {key!r}: ...}})."
        raise TypeError(f"A ResultTable cannot be changed. {advice}")

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError("A ResultTable cannot be changed. Make another of what you keep.")

    def summary(self) -> str:
        """Describe the results in a table of plain text, with their notes.

        Returns
        -------
        str
            One line per result; a note that several share is said once. For comparisons the summary
            of each, one below the other.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        if not self:
            return "no results"
        if self._sort is ROWS:
            entries = entries_of(self)
            shared = self._with_shared_decimals(options)
            table = rendering.text_table(scores_table(entries, shared))
            notes = shared_notes(entries)
            return f"{table}\n\n{rendering.text_list(notes)}" if notes else table
        blocks, options = [], self._with_shared_decimals(options)
        for name, shown in self._sections():
            heading = f"{name}\n{'-' * len(name)}\n" if self._sort.are_named else ""
            blocks.append(heading + shown._summary(options))
        return "\n\n".join(blocks)

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
        for path, result in leaves(self):
            # A score is called by what says all its keys.
            name = Entry(path, result).name if result._several is ROWS else ", ".join(path)
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
        return {str(name): _dict_as_table(value).to_dict() for name, value in self.items()}

    # -------------------------------------------------------------- what `Shown` asks for

    @property
    def _sort(self) -> Several:
        """Sort that the results share; sections where they are of several sorts, or nested."""
        sorts = {
            shown._several if len(path) == 1 or shown._several is ROWS else SECTIONS
            for path, shown in leaves(self)
        }
        return sorts.pop() if len(sorts) == 1 else SECTIONS if sorts else ROWS

    def _sections(self) -> list[tuple[str, Any]]:
        """Return what stands below the other, each with its name."""
        if self._sort.are_named:
            return list(_name_parts(self))
        return [(shown._title, shown) for _, shown in leaves(self)]

    @property
    def _display(self) -> str:
        return self._sort.display

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> IntervalDisplay | ComparisonDisplay | CurveBandDisplay: ...

    def _heading(self) -> str:
        parts = entries_of(self) if self._sort is ROWS else self._sections()
        return f"{len(parts)} {self._sort.noun}"

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        if self._sort is ROWS:
            return [("", scores_table(entries_of(self), self._with_shared_decimals(options)))]
        options = self._with_shared_decimals(options)
        return [
            (name, table) for name, shown in self._sections() for _, table in shown._tables(options)
        ]

    def _systems(self, options: rendering.TableOptions) -> rendering.Table:
        if lacks := self._sort.lacks_systems:
            must = f"be 'differences' for a table {lacks}"
            raise check.fail("layout", must, "another layout")
        # Imported where there are comparisons: a score needs nothing of them.
        from .comparison_texts import scores_table

        return scores_table(comparisons_of(self), self._with_shared_decimals(options))

    def _with_shared_decimals(self, options: rendering.TableOptions) -> rendering.TableOptions:
        """Return the options with the decimals of each metric, the same in all panels."""
        # A table in a table has the decimals of the outer one.
        return options._replace(
            shared_decimals={**decimals_by_metric(self), **options.shared_decimals}
        )

    def _records(self) -> list[dict[str, Any]]:
        if self._sort is ROWS:
            entries = entries_of(self)
            titles = _level_titles(entries)
            padding = ("",) * len(titles)
            return [
                dict(zip(titles, entry.path + padding, strict=False)) | record
                for entry in entries
                for record in entry.result._records()
            ]
        return [
            {"name": name, **record}
            for name, result in comparisons_of(self)
            for record in result._records()
        ]

    def _numbers(self) -> Iterator[Number]:
        for path, result in leaves(self):
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
        sort = self._sort
        if sort is ROWS:
            entries = entries_of(self)
            has_baseline = any(wording.baseline(entry.result) is not None for entry in entries)
            legend = rendering.LEGEND
            legend += "; dashed: baseline, where it is near" if has_baseline else ""
            table = scores_table(entries, self._with_shared_decimals(options))
            table_and_notes = [
                rendering.html_table(table, drawings(entries), legend),
                rendering.html_list(shared_notes(entries)),
            ]
            return f'<div style="color:inherit">{"".join(table_and_notes)}</div>'
        parts = [] if sort.lacks_systems else [rendering.html_table(self._systems(options))]
        options = self._with_shared_decimals(options)
        for name, shown in self._sections():
            parts += [f"<h3>{rendering.html(name)}</h3>"] if sort.are_named else []
            parts.append(shown._html(options))
        return "".join(parts)

    def _to_parts(self) -> dict[str, Any]:
        shown = [(name, _dict_as_table(value)) for name, value in self.items()]
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
        return cls(
            {name: kinds[kind]._from_parts(record) for name, kind, record in parts["entries"]}
        )


def laid_out(
    results: Mapping[str, Any], single: bool, paths: Mapping[str, Sequence[Any]], alone: bool
) -> Any:
    """Return results by metric, and by entry of metrics that return several numbers.

    Parameters
    ----------
    results : mapping of str to result
        Results by the name of their statistic.
    single, paths, alone
        As of `skboot.study.rows.Places`.

    Returns
    -------
    EvaluationResult, ComparisonResult or ResultTable
    """
    if alone:
        return next(iter(results.values()))
    by_metric: dict[Any, Any] = {}
    for flat, (metric, *entry) in paths.items():
        if entry:
            by_metric.setdefault(metric, {})[entry[0]] = results[flat]
        else:
            by_metric[metric] = results[flat]
    result_table = ResultTable({name: _dict_as_table(held) for name, held in by_metric.items()})
    return next(iter(result_table.values())) if single else result_table


# ------------------------------------------------------------------ steps


def _name_parts(
    results: Mapping[Any, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield comparisons, and whole what holds scores alone, each with its name."""
    for key, value in results.items():
        below = (*path, str(key))
        if isinstance(value, Mapping) and comparisons_of(value):
            yield from _name_parts(value, below)
        else:
            yield ", ".join(below), _dict_as_table(value)


def _named_by_metric(results: Iterable[Any]) -> dict[Any, Any]:
    """Return results by the names of their metrics; pairs of name and result as they are."""
    named: dict[Any, Any] = {}
    is_list = isinstance(results, Iterable)
    for result in results if is_list else [None]:
        if isinstance(result, tuple) and len(result) == 2:
            name, result = result
        else:
            name = getattr(result, "metric", None)
        if not isinstance(result, Shown | Mapping) or name is None:
            must = (
                "be a dict of results by name, or a list of results, which are named by their "
                "metrics"
            )
            got = f"a list with {type(result).__name__}" if is_list else type(results).__name__
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


def _dict_as_table(value: Any) -> Any:
    """Return a dict as a table; all else as it is."""
    return value if isinstance(value, Shown) else ResultTable(value)
