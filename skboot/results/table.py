"""`ResultTable`: a dict of results that can be shown as one table."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import drawing, rendering, wording
from .result import EvaluationResult, frame_of, page_of, record_of


class ResultTable(dict[Any, Any]):
    """A dict of results that can be shown as one table.

    `skboot.bootstrap_score` returns one for several metrics, and for subgroups; of both, a table
    of tables: ``results["accuracy"]["women"]``. It is made as a dict is; its values are
    `EvaluationResult`, or dicts of them.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> results = bootstrap_score(y_true, y_pred, metric=["accuracy", "f1"], random_state=0)
    >>> results["accuracy"].estimate
    0.9
    >>> list(results.to_dict())
    ['accuracy', 'f1']
    """

    def summary(self) -> str:
        """Describe the results in a table of plain text, with their notes.

        Returns
        -------
        str
            One line per result; a note that several share is said once.
        """
        entries = entries_of(self)
        if not entries:
            return "no results"
        parts = [rendering.text_table(_table_of(entries))]
        if notes := _shared_notes(entries):
            parts.append(rendering.text_list(notes))
        return "\n\n".join(parts)

    __str__ = summary

    def __repr__(self) -> str:
        return f"ResultTable({super().__repr__()})"

    def to_dict(self) -> dict[str, Any]:
        """Return dicts ready for JSON, nested as the results are.

        Returns
        -------
        dict
            As of `EvaluationResult.to_dict`.
        """
        return {
            str(name): (value if hasattr(value, "to_dict") else ResultTable(value)).to_dict()
            for name, value in self.items()
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row per result.

        Returns
        -------
        pandas.DataFrame
            Its first column, ``name``, holds the keys; ``subgroup`` the inner keys, if any.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        entries = entries_of(self)
        titles = _level_titles(entries)
        records = [
            dict(zip(titles, entry.path + ("",) * len(titles), strict=False))
            | record_of(entry.result)
            for entry in entries
        ]
        return frame_of(records, "ResultTable.to_frame")

    def to_markdown(self) -> str:
        """Return a table in Markdown.

        Returns
        -------
        str
            A pipe table of one row per result.
        """
        return rendering.markdown_table(_table_of(entries_of(self)))

    def to_latex(self) -> str:
        """Return a table in LaTeX.

        Returns
        -------
        str
            A tabular of one row per result, with the rules of the booktabs package.
        """
        return rendering.latex_table(_table_of(entries_of(self)))

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Make a web page of the results.

        Parameters
        ----------
        path : path-like, optional
            File to write.

        Returns
        -------
        str or None
            The page, if no path is given.
        """
        return page_of(f"{len(entries_of(self))} results", self._repr_html_(), path)

    def _repr_html_(self) -> str:
        entries = entries_of(self)
        table = rendering.html_table(_table_of(entries), _drawings(entries))
        notes = rendering.html_list(_shared_notes(entries))
        return f'<div style="color:inherit">{table}{notes}</div>'

    def plot(self, **kwargs: Any) -> Any:
        """Draw the intervals of all results, one below the other.

        Parameters
        ----------
        **kwargs : dict
            Passed to `skboot.IntervalDisplay.from_results`.

        Returns
        -------
        IntervalDisplay
            The picture, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from ..plots import IntervalDisplay

        return IntervalDisplay.from_results(self, **kwargs)


# ------------------------------------------------------------------ steps


class Entry(NamedTuple):
    """A result and where it stands.

    Attributes
    ----------
    path : tuple of str
        Its keys, from the outermost.
    result : EvaluationResult
        The result.
    """

    path: tuple[str, ...]
    result: EvaluationResult

    @property
    def base_metric(self) -> str:
        """Name of the metric without the name of the subgroup."""
        key = self.path[-1] if self.path else ""
        return self.result.metric.removesuffix(f" ({key})")

    @property
    def is_gap(self) -> bool:
        """Whether it is the difference of two subgroups."""
        return self.path[-1:] == ("gap",) and " gap (" in self.result.metric

    @property
    def is_named_by_metric(self) -> bool:
        """Whether the name of the metric says all that the keys say."""
        *outer, key = self.path or ("",)
        own = self.is_gap or self.result.metric in (key, f"{self.base_metric} ({key})")
        return own and all(self.result.metric.startswith(name) for name in outer)


def entries_of(results: Mapping[Any, Any], path: tuple[str, ...] = ()) -> list[Entry]:
    """All results of a dict of results, or of dicts of them, in their order.

    Parameters
    ----------
    results : mapping
        Values are `EvaluationResult` or mappings.
    path : tuple of str
        Keys above.

    Returns
    -------
    list of Entry

    Raises
    ------
    TypeError
        If a value is something else.
    """
    found: list[Entry] = []
    for key, value in results.items():
        if isinstance(value, EvaluationResult):
            found.append(Entry((*path, str(key)), value))
        elif isinstance(value, Mapping):
            found.extend(entries_of(value, (*path, str(key))))
        else:
            raise TypeError(
                f"The values of a ResultTable must be results, or dicts of them. Got "
                f"{type(value).__name__} for {key!r}."
            )
    return found


def _level_titles(entries: Sequence[Entry]) -> list[str]:
    depth = max((len(entry.path) for entry in entries), default=1)
    return ["name", "subgroup", *(f"level {k}" for k in range(3, depth + 1))][:depth]


def _table_of(entries: Sequence[Entry]) -> rendering.Table:
    """One row per result; its keys come first, unless the metric's name holds them already."""
    results = [entry.result for entry in entries]
    if all(entry.is_named_by_metric for entry in entries):
        return wording.table_of(results)
    titles = _level_titles(entries)
    names = [(entry.path + ("",) * len(titles))[: len(titles)] for entry in entries]
    return wording.table_of(results, names, titles)


def _shared_notes(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """What must be said of the results, each sentence once, with those it holds for."""
    order = ["estimand", "held fixed", "undefined", "note"]
    holders: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        name = entry.result.metric if entry.is_named_by_metric else ", ".join(entry.path)
        for label, text in wording.facts(entry.result, cheap=True):
            reason = text.startswith("undefined:") and label not in ("standard error", "bias")
            if label in order or reason:
                holders.setdefault((label, text), []).append(name)
    lines = []
    for (label, text), names in holders.items():
        everywhere = len(names) == len(entries)
        lines.append((label, text if everywhere else f"{'; '.join(names)}: {text}"))
    return sorted(lines, key=lambda line: order.index(line[0]) if line[0] in order else 1.5)


def _drawings(entries: Sequence[Entry]) -> list[str]:
    """A small drawing per result; those of one metric have one scale."""
    strips = [wording.strip_of(entry.result) for entry in entries]
    scales: dict[str, tuple[float, float]] = {}
    for entry, strip in zip(entries, strips, strict=True):
        if not math.isnan(strip.estimate):
            low, high = strip.extent
            start, stop = scales.get(entry.base_metric, (low, high))
            scales[entry.base_metric] = (min(start, low), max(stop, high))
    return [
        drawing.draw(strip, scales.get(entry.base_metric), wide=False)
        for entry, strip in zip(entries, strips, strict=True)
    ]
