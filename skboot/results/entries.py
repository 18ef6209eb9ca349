"""Where results stand in a dict of them, and how a table of scores is laid out.

A dict of results may hold dicts: metrics, subgroups, test sets, systems. `leaves` walks it down to
results and comparisons; the other functions lay out those that are scores, one row each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import rendering, wording
from .result import EvaluationResult, record_of
from .shown import ROWS, Shown

Path = tuple[str, ...]


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
    def is_subgroup(self) -> bool:
        """Whether its key is a subgroup, or stands for the largest gap between subgroups."""
        # A number of a metric of several is named in the same way, on all rows.
        is_named_so = self.base_metric != self.result.metric
        return self.is_gap or (is_named_so and self.result.provenance.facts.by_subgroup)

    @property
    def is_gap(self) -> bool:
        """Whether it is the difference of two subgroups."""
        return self.path[-1:] == ("gap",) and self.result.basis.is_gap

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


def name_of(path: Path, result: Any) -> str:
    """Return how a line of text calls a result: by its keys, or a score by what says them all."""
    return Entry(path, result).name if result._several is ROWS else ", ".join(path)


# ------------------------------------------------------------------ a table of scores


class ScoreRows:
    """The scores of a dict of results, shown as one table with the notes that they share."""

    def __init__(self, results: Mapping[Any, Any]) -> None:
        self._entries = entries_of(results)

    def summary(self) -> str:
        """Return the table as text, and the notes."""
        table = rendering.text_table(scores_table(self._entries, rendering.NOTHING_ASKED))
        notes = shared_notes(self._entries)
        return f"{table}\n\n{rendering.text_list(notes)}" if notes else table

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [("", scores_table(self._entries, options))]

    def _html(self, options: rendering.TableOptions) -> str:
        from .drawing import LEGEND

        naive = any(wording.baseline(entry.result) is not None for entry in self._entries)
        near = "; dashed: baseline, where it is near" if naive else ""
        table = rendering.html_table(
            scores_table(self._entries, options), drawings(self._entries), LEGEND + near
        )
        notes = rendering.html_list(shared_notes(self._entries))
        return f'<div style="color:inherit">{table}{notes}</div>'


def scores_table(entries: Sequence[Entry], options: rendering.TableOptions) -> rendering.Table:
    """Return one row per score; its keys come first, unless the metric's name holds them all."""
    results = [entry.result for entry in entries]
    if all(entry.is_named_by_metric for entry in entries):
        return wording.table_of(results, options)
    titles, names = _keys_beside_metrics(entries)
    metrics = [entry.base_metric for entry in entries]
    return wording.table_of(results, options, names, titles, metrics)


def records(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the rows of a data frame of scores."""
    titles = _level_titles(entries)
    padding = ("",) * len(titles)
    return [
        dict(zip(titles, entry.path + padding, strict=False)) | record_of(entry.result)
        for entry in entries
    ]


def _level_titles(entries: Sequence[Entry], levels: Sequence[int] | None = None) -> list[str]:
    """Return the titles of the columns of keys, of all levels or of some."""
    depth = max((len(entry.path) for entry in entries), default=1)
    levels = list(range(depth)) if levels is None else levels
    titles = ["name", "entry", *(f"level {k}" for k in range(3, depth + 1))][: len(levels)]
    innermost = [entry for entry in entries if len(entry.path) == depth]
    if depth > 1 and levels[-1:] == [depth - 1] and all(own.is_subgroup for own in innermost):
        titles[-1] = "subgroup"
    return titles


def _keys_beside_metrics(entries: Sequence[Entry]) -> tuple[list[str], list[Path]]:
    """Return the titles of the columns of keys, and the keys, without those that name metrics."""
    depth = max((len(entry.path) for entry in entries), default=1)
    paths = [entry.path + ("",) * (depth - len(entry.path)) for entry in entries]
    known = [
        k
        for k in range(depth)
        if not all(entry.is_metric(path[k]) for entry, path in zip(entries, paths, strict=True))
    ]
    return _level_titles(entries, known), [tuple(path[k] for k in known) for path in paths]


# Where the remarks on a score stand among those of all scores.
_PLACES = {"estimand": 0, "conditional on": 1, "undefined": 3, "note": 4}


def shared_notes(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the notes of all scores, each sentence once, with the scores that it holds for."""
    everyone = [entry.name for entry in entries]
    holders: dict[tuple[int, str, str], list[str]] = {}
    for entry, name in zip(entries, everyone, strict=True):
        for label, text in entry.result.basis.remarks(entry.result):
            # The reasons why numbers are undefined come third.
            note = _PLACES.get(label, 2), label, text
            holders.setdefault(note, []).append(name)
    lines = []
    # Sorted by the place of the note alone: notes of one place stay in the order of the scores.
    for (_, label, text), names in sorted(holders.items(), key=lambda item: item[0][0]):
        where = _holders(everyone, names)
        lines.append((label, f"{where}: {text}" if where else text))
    return lines


def _holders(everyone: Sequence[str], names: Sequence[str], most: int = 6) -> str:
    """Name the scores for which a note holds; nothing if for all, "all but" a few if for most."""
    others = [name for name in everyone if name not in set(names)]
    if not others:
        return ""
    if len(names) > most and len(others) <= 2:
        return f"all but {'; '.join(others)}"
    if len(names) > most:
        return f"{'; '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return "; ".join(names)


def drawings(entries: Sequence[Entry]) -> list[str]:
    """Return a small drawing per score; those of one metric have one scale."""
    from .drawing import draw

    strips = [wording.strip_of(entry.result) for entry in entries]
    scales: dict[str, tuple[float, float]] = {}
    for entry, strip in zip(entries, strips, strict=True):
        if not math.isnan(strip.estimate):
            low, high = strip.extent
            start, stop = scales.get(entry.base_metric, (low, high))
            scales[entry.base_metric] = (min(start, low), max(stop, high))
    return [
        draw(strip, scales.get(entry.base_metric), wide=False)
        for entry, strip in zip(entries, strips, strict=True)
    ]
