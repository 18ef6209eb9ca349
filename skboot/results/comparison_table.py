"""`ComparisonTable`: a dict of comparisons that can be shown as one table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from . import comparison_tables, rendering
from .comparison import ComparisonResult
from .pairs import row_of_frame
from .result import EvaluationResult, frame_of, page_of
from .table import ResultTable


class ComparisonTable(dict[Any, Any]):
    """A dict of comparisons that can be shown as one table.

    `skboot.compare_systems` returns one for several metrics, and for subgroups; of both, a table
    of tables. It is made as a dict is; its values are `ComparisonResult`, dicts of them, or under
    "gap" a `ResultTable`.

    Examples
    --------
    >>> from skboot import compare_systems
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> predictions = {"A": y_true, "B": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> results = compare_systems(y_true, predictions, metric=["accuracy", "f1"], random_state=0)
    >>> round(results["accuracy"].pairs[0].difference, 3)
    0.1
    """

    def summary(self) -> str:
        """Describe the comparisons in tables of plain text.

        Returns
        -------
        str
            The summary of each, one below the other.
        """
        parts = []
        for path, result in _entries(self):
            name = ", ".join(path)
            parts.append(f"{name}\n{'-' * len(name)}\n{result.summary()}")
        return "\n\n".join(parts) if parts else "no results"

    __str__ = summary

    def __repr__(self) -> str:
        return f"ComparisonTable({super().__repr__()})"

    def to_dict(self) -> dict[str, Any]:
        """Return dicts ready for JSON, nested as the comparisons are.

        Returns
        -------
        dict
            As of `ComparisonResult.to_dict`.
        """
        return {
            str(name): (value if hasattr(value, "to_dict") else ComparisonTable(value)).to_dict()
            for name, value in self.items()
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row per pair.

        Returns
        -------
        pandas.DataFrame
            Its first column, ``name``, holds the keys. Gaps are in the frame of ``["gap"]``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        records = [
            {"name": ", ".join(path)} | row_of_frame(pair, result.is_distinguishable(pair))
            for path, result in _entries(self)
            if isinstance(result, ComparisonResult)
            for pair in result.pairs
        ]
        return frame_of(records, "ComparisonTable.to_frame")

    def to_markdown(self) -> str:
        """Return a table of all pairs in Markdown.

        Returns
        -------
        str
            One pipe table per comparison, each below its name.
        """
        return "\n\n".join(
            f"{rendering.markdown(', '.join(path))}\n\n{result.to_markdown()}"
            for path, result in _entries(self)
        )

    def to_latex(self) -> str:
        """Return tables of all pairs in LaTeX.

        Returns
        -------
        str
            One tabular per comparison, each after a comment with its name.
        """
        return "\n\n".join(
            f"% {' '.join(', '.join(path).split())}\n{result.to_latex()}"
            for path, result in _entries(self)
        )

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Make a web page of the comparisons.

        Parameters
        ----------
        path : path-like, optional
            File to write.

        Returns
        -------
        str or None
            The page, if no path is given.
        """
        return page_of(f"{sum(1 for _ in _entries(self))} comparisons", self._repr_html_(), path)

    def _repr_html_(self) -> str:
        return "".join(
            f"<h3>{comparison_tables.plain_html(', '.join(path))}</h3>{result._repr_html_()}"
            for path, result in _entries(self)
        )


def _entries(
    results: Mapping[Any, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Comparisons and tables of gaps, with their keys."""
    for key, value in results.items():
        own = (*path, str(key))
        if isinstance(value, ComparisonResult | ResultTable | EvaluationResult):
            yield own, value
        elif isinstance(value, Mapping):
            yield from _entries(value, own)
        else:
            raise TypeError(
                f"The values of a ComparisonTable must be comparisons, or dicts of them. Got "
                f"{type(value).__name__} for {key!r}."
            )
