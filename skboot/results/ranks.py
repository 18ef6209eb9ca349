"""`Ranks`: where each system of a comparison stands, with intervals that hold for all at once.

A system has rank 1 + the number of systems that are strictly better. With simultaneous statements
on all differences, its rank is at least 1 + the number of systems that are told to be better, and
at most the number of systems less those told to be worse (Mogstad, Romano, Shaikh & Wilhelm 2024).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.messages import fail, refuse
from . import rendering, wording
from .comparison_tables import scales_of_scores
from .decisions import few_compared, one_sided, unknown_direction
from .storage import plain

if TYPE_CHECKING:
    from .comparison import ComparisonResult


@dataclass(frozen=True)
class Rank:
    """The rank of one system.

    Attributes
    ----------
    system : str
        Its name.
    estimate : float
        Its score.
    rank : int
        Among the estimates: 1 is the best, equal estimates share the better rank.
    low, high : int
        The best and the worst rank that its true score may have among all true scores.
    """

    system: str
    estimate: float
    rank: int
    low: int
    high: int


class RankTable(Mapping[str, Any]):
    """Rows by the name of the system, the best first, as text, frame and table.

    A subclass holds ``rows`` with a ``system`` each, and says what a table shows.
    """

    rows: tuple[Any, ...]
    noun: str
    metric: str
    caution: str

    def __getitem__(self, name: str) -> Any:
        for row in self.rows:
            if row.system == name:
                return row
        raise KeyError(f"No {self.noun} is called {name!r}: {list(self)}.")

    def __iter__(self) -> Iterator[str]:
        return (row.system for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        table = rendering.text_table(self._table())
        return f"{table}\n{self.caution}" if self.caution else table

    def __repr__(self) -> str:
        what = f"{len(self)} {self.noun}s by {wording.spoken(self.metric)}"
        return f"<{type(self).__name__} of {what}>\n{self}"

    def _repr_html_(self) -> str:
        caution = f"<p>{escape(self.caution)}</p>" if self.caution else ""
        return rendering.html_table(self._table()) + caution

    @abstractmethod
    def _table(self) -> rendering.Table:
        """Return the table that is shown."""

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per system, the best first.

        Returns
        -------
        pandas.DataFrame
            With a column per field of the rows: system, rank or mean rank, low, high.

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
        return pd.DataFrame.from_records([asdict(row) for row in self.rows])

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the rows by name, ready for JSON.

        Returns
        -------
        dict
            Of each system a dict of the numbers of its row; an undefined one is None.
        """
        records = [asdict(row) for row in self.rows]
        return {record.pop("system"): plain(record, for_json=True) for record in records}

    def to_markdown(self) -> str:
        """Return a pipe table in Markdown, a row per system.

        Returns
        -------
        str
        """
        return rendering.markdown_table(self._table())

    def to_latex(self) -> str:
        """Return a tabular in LaTeX with the rules of the booktabs package, a row per system.

        Returns
        -------
        str
        """
        return rendering.latex_table(self._table())


@dataclass(frozen=True, repr=False)
class Ranks(RankTable):
    """Ranks of all systems of a comparison, by name, the best estimate first.

    Attributes
    ----------
    metric : str
        Name of the metric.
    confidence_level : float
        Of all intervals of ranks together.
    rows : tuple of Rank
        The ranks.
    texts : tuple of str
        The estimates as they are shown.
    noun : {"system", "method"}
        What is ranked.
    caution : str
        Said below the table where fewer than ten units were compared; else empty.
    """

    metric: str
    confidence_level: float
    rows: tuple[Rank, ...]
    texts: tuple[str, ...]
    noun: str
    caution: str = ""

    def _table(self) -> rendering.Table:
        level = rendering.percent(self.confidence_level)
        rows = [
            [
                row.system,
                text,
                str(row.rank),
                f"{row.low} to {row.high}",
            ]
            for row, text in zip(self.rows, self.texts, strict=True)
        ]
        return rendering.Table(
            [self.noun, wording.spoken(self.metric), "rank", f"{level} simultaneous"], rows
        )


def ranks_of(result: ComparisonResult) -> Ranks:
    """Return the ranks of the systems of a comparison; see `ComparisonResult.ranks`."""
    _check_all_pairs(result)
    names = list(result.systems)
    number = {name: k for k, name in enumerate(names)}
    n_better, n_surely_better, n_surely_worse = np.zeros((3, len(names)), dtype=np.intp)
    sign = 1 if result.greater_is_better else -1
    for pair in result.pairs:
        first, second = number[pair.first], number[pair.second]
        advantage = sign * pair.difference
        if advantage > 0:
            n_better[second] += 1
        elif advantage < 0:
            n_better[first] += 1
        if pair.step_down_sign:
            ahead, behind = (first, second) if pair.step_down_sign == sign else (second, first)
            n_surely_better[behind] += 1
            n_surely_worse[ahead] += 1
    rows = []
    n_scored = sum(not math.isnan(each.estimate) for each in result.systems.values())
    for name in result.ranking:
        k, estimate = number[name], result.systems[name].estimate
        # A system without a score stands behind all that have one.
        rank = 1 + (n_scored if math.isnan(estimate) else int(n_better[k]))
        low, high = 1 + int(n_surely_better[k]), len(names) - int(n_surely_worse[k])
        rows.append(Rank(name, float(estimate), rank, low, high))
    scales = scales_of_scores(result)
    texts = tuple(rendering.number(row.estimate, scales[row.system]) for row in rows)
    level, pair = result.confidence_level, result.pairs[0]
    caution = few_compared(pair.unit, pair.n_units)
    return Ranks(result.metric, level, tuple(rows), texts, result._compared, caution)


def top_of(result: ComparisonResult, k: Any) -> tuple[str, ...]:
    """Return who may be among the best k; see `ComparisonResult.top`."""
    n = len(result.systems)
    is_number = isinstance(k, Integral) and not isinstance(k, bool | np.bool_)
    if not is_number or not 1 <= int(k) <= n:
        raise fail("k", f"be an integer from 1 to {n}, the number of systems", repr(k))
    return tuple(row.system for row in ranks_of(result).rows if row.low <= k)


def _check_all_pairs(result: ComparisonResult) -> None:
    """Refuse comparisons that do not rank the systems."""
    alternative = result.pairs[0].alternative
    if alternative != "two-sided":
        raise one_sided("ranking", alternative)
    if result.greater_is_better is None:
        raise unknown_direction("rank")
    if result.reference is not None:
        raise refuse(
            "ranks need the differences of all pairs, and these are all with "
            f"reference={result.reference!r}. Compare with reference=None."
        )
    if any(pair.step_down_sign is None for pair in result.pairs):
        raise refuse(
            "ranks need the joint law of all differences, and these were adjusted with "
            f"adjust={result.adjust!r}. Compare with adjust='max-t'."
        )
