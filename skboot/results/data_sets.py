"""`DatasetsComparison`: methods compared across several data sets.

It is a comparison whose units are data sets, and which knows besides how the methods rank on each
of them. Its basis is in `skboot.results.basis`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._base.values import read_only
from ..inference.data_sets import (
    FriedmanTest,
    critical_difference,
    friedman_test,
    ranks_of_rows,
)
from . import comparison_texts, rendering, result
from .comparison import ComparisonResult, PairedDifference, RankTable, few_compared
from .comparison_texts import p_number, p_text

# How mean ranks, and statistics of them, are written.
_OF_RANKS = rendering.Scale(2)
_METHODS = {
    "new": {
        "skewed-t": "t interval over the data sets, longer on the side of the tail",
        # Of comparisons that were saved before record 0088.
        "t": "t interval over the data sets",
        "studentized": "bootstrap-t interval",
    },
    "these": {"t": "t interval from the standard error on each data set"},
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DatasetsPair(PairedDifference):
    """One pair of methods across several data sets.

    Attributes
    ----------
    wilcoxon_p_value : float
        P-value of Wilcoxon's signed-rank test over the data sets, by itself.
    wilcoxon_p_value_adjusted : float
        The same, adjusted by Holm's procedure over all pairs of the comparison.
    standard_deviation : float
        Standard deviation of the difference over the data sets.
    between_deviation : float or None
        Standard deviation of the true difference over the data sets, without the error of each;
        None where the error is not known.
    margin : float or None
        Difference that does not matter in practice.
    share_within_margin : float or None
        Share of the data sets on which the difference is at most the margin.
    share_better, share_worse : float or None
        Share on which the first is better, or worse, by more than the margin.

    See Also
    --------
    PairedDifference : What else a pair holds.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=15)
    >>> scores = np.column_stack([base, base + 0.02 + 0.02 * rng.normal(size=15)])
    >>> result = compare_across(scores, datasets=[f"set {k}" for k in range(15)],
    ...                         methods=["old", "new"], margin=0.01, greater_is_better=True,
    ...                         random_state=0)
    >>> [pair] = result.pairs
    >>> f"{pair.share_worse:.2f}", f"{pair.share_within_margin:.2f}"
    ('0.67', '0.33')
    """

    wilcoxon_p_value: float
    wilcoxon_p_value_adjusted: float
    standard_deviation: float
    between_deviation: float | None = None
    margin: float | None = None
    share_within_margin: float | None = None
    share_better: float | None = None
    share_worse: float | None = None

    def _mirrored(self) -> Self:
        """Return the same pair with the methods exchanged."""
        pair = super()._mirrored()
        return replace(pair, share_better=self.share_worse, share_worse=self.share_better)

    def _further_cells(self, options: rendering.TableOptions) -> dict[str, str]:
        cells = {}
        if options.p_values:
            cells["Wilcoxon p"] = p_number(self.wilcoxon_p_value)
            cells["with Holm"] = p_number(self.wilcoxon_p_value_adjusted)
        if self.share_within_margin is not None:
            cells[f"within {self.margin:g}"] = rendering.share(self.share_within_margin)
        return cells

    def _row(self, is_distinguishable: bool) -> dict[str, Any]:
        further = fields(DatasetsPair)[len(fields(PairedDifference)) :]
        return super()._row(is_distinguishable) | {f.name: getattr(self, f.name) for f in further}


@dataclass(frozen=True)
class MeanRank:
    """The mean rank of one method.

    Attributes
    ----------
    system : str
        Its name.
    mean_rank : float
        Over the data sets; 1 is the best, ties share their mean.
    low, high : float
        Limits of its expected rank on a new data set.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=15)
    >>> scores = np.column_stack([base, base + 0.02 + 0.02 * rng.normal(size=15)])
    >>> result = compare_across(scores, datasets=[f"set {k}" for k in range(15)],
    ...                         methods=["old", "new"], greater_is_better=True, random_state=0)
    >>> rank = result.mean_ranks()["new"]
    >>> rank.mean_rank, rank.low, round(rank.high, 2)
    (1.0, 1.0, 1.17)
    """

    system: str
    mean_rank: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class MeanRanks(RankTable):
    """Mean ranks of methods over data sets, by name, the best first.

    Attributes
    ----------
    metric : str
        Metric by which they are ranked.
    confidence_level : float
        Confidence level of all intervals together.
    rows : tuple of MeanRank
        The mean ranks.
    n_datasets : int
        Number of data sets.
    critical_difference : float
        Nemenyi's: mean ranks that are further apart differ, at 1 - the confidence level over all
        pairs.
    caution : str
        Said below the table where there are fewer than ten data sets; else empty.

    See Also
    --------
    skboot.plots.CriticalDifferenceDisplay : Picture of them.

    Examples
    --------
    >>> from skboot import compare_across
    >>> table = {f"set {k}": {"A": 0.8 + 0.01 * k, "B": 0.745 + 0.02 * k} for k in range(10)}
    >>> ranks = compare_across(table, greater_is_better=True, random_state=0).mean_ranks()
    >>> list(ranks), ranks["A"].mean_rank, round(ranks.critical_difference, 2)
    (['A', 'B'], 1.4, 0.62)
    """

    metric: str
    confidence_level: float
    rows: tuple[MeanRank, ...]
    n_datasets: int
    critical_difference: float
    _noun: str = "method"
    caution: str = ""

    def _table(self) -> rendering.Table:
        level = rendering.percent(self.confidence_level)
        rows = [
            [
                row.system,
                rendering.number(row.mean_rank, _OF_RANKS),
                rendering.limits((row.low, row.high), _OF_RANKS, marked=False),
            ]
            for row in self.rows
        ]
        return rendering.Table([self._noun, "mean rank", f"{level} simultaneous"], rows)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DatasetsComparison(ComparisonResult):
    """Methods compared across several data sets.

    `skboot.compare_across` makes them. It is a `ComparisonResult` whose units are data sets, so
    that `ranks`, `top`, `pair`, verdicts and files work as there.

    Attributes
    ----------
    metric : str
        Name of the metric; "score" for bare numbers.
    estimand : {"new", "these"}
        What the differences are of: the expected one on a new data set like these, or the mean one
        on these very data sets.
    systems : mapping of str to EvaluationResult
        Mean score of each method by itself.
    pairs : tuple of DatasetsPair
        One record per pair; besides all that a `ComparisonResult` has, ``wilcoxon_p_value``,
        ``wilcoxon_p_value_adjusted`` (Holm), ``standard_deviation`` over the data sets,
        ``between_deviation`` (without the error of each; None for bare numbers), and with a margin
        ``share_within_margin``, ``share_better`` and ``share_worse``, shares of the data sets.
    reference : str or None
        Method that all others are compared with; None: all pairs.
    adjust : {"max-t", "holm", None}
        How intervals and p-values are adjusted for the number of pairs.
    training_share : None
        Unused.
    notes : tuple of str
        What a reader must know.
    held_fixed : tuple of str
        What the intervals are conditional on.
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.
    datasets : tuple of str
        Names of the data sets.
    scores : ndarray of shape (n_datasets, n_methods)
        Score of each method, in the order of ``systems``, on each data set; read-only.
    margin : float or None
        Difference that does not matter in practice.

    See Also
    --------
    CriticalDifferenceDisplay : Picture of the mean ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=15)
    >>> scores = np.column_stack([base, base + 0.02 + 0.02 * rng.normal(size=15)])
    >>> result = compare_across(scores, datasets=[f"set {k}" for k in range(15)],
    ...                         methods=["old", "new"], greater_is_better=True, random_state=0)
    >>> print(result.mean_ranks())
    method  mean rank  95% simultaneous
    new          1.00       1.00 to 1.17
    old          2.00       1.83 to 2.00
    """

    datasets: tuple[str, ...]
    scores: NDArray[np.float64]
    _mean_rank_limits: NDArray[np.float64]  # (n_methods, 2), simultaneous
    margin: float | None = None

    if TYPE_CHECKING:
        pairs: tuple[DatasetsPair, ...]

        def pair(self, first: str, second: str) -> DatasetsPair: ...

    _format = "skboot.DatasetsComparison", 1
    _pair_type = DatasetsPair

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "datasets", tuple(self.datasets))
        for name in ("scores", "_mean_rank_limits"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def _compared(self) -> str:
        return "method"

    def _method_name(self, method: str) -> str:
        return _METHODS[self.estimand].get(method) or super()._method_name(method)

    # -------------------------------------------------------------- numbers

    @cached_property
    def _ranks_on_each(self) -> NDArray[np.float64]:
        """Rank of each method on each data set, (n_datasets, n_methods)."""
        return ranks_of_rows(self.scores, greater_is_better=bool(self.greater_is_better))

    @property
    def friedman(self) -> FriedmanTest:
        """Friedman's test that all methods have the same expected rank: statistic, p_value.

        Corrected for ties; NaN where all methods tie on every data set (Friedman 1937, Journal of
        the American Statistical Association 32:675).
        """
        return friedman_test(self._ranks_on_each)

    def mean_ranks(self) -> MeanRanks:
        """Rank the methods on each data set, and average.

        Returns
        -------
        MeanRanks
            By name: the mean rank with limits that hold for all methods at once, and Nemenyi's
            ``critical_difference``; `to_frame`, `to_latex`, `to_markdown`.

        Notes
        -----
        The limits are for the expected rank on a new data set like these, whatever the estimand:
        standard errors of scores do not give the error of ranks on given data sets. They come from
        the largest studentized deviation over resamples of the data sets, with a variance to which
        two data sets at either end are added (below 8 data sets Student's t with Bonferroni's
        rule).

        The mean rank of a method depends on which others are ranked with it: adding a method can
        reverse two others (Benavoli, Corani & Mangili 2016, Journal of Machine Learning Research
        17:5). Judge pairs by the difference of their scores, or by ``wilcoxon_p_value``.

        References
        ----------
        Demsar (2006), Journal of Machine Learning Research 7:1.

        Examples
        --------
        >>> import numpy as np
        >>> from skboot import compare_across
        >>> table = {f"set {k}": {"A": 0.8 + 0.01 * k, "B": 0.745 + 0.02 * k} for k in range(10)}
        >>> result = compare_across(table, greater_is_better=True, random_state=0)
        >>> result.mean_ranks()["A"].mean_rank
        1.4
        """
        mean = self._ranks_on_each.mean(axis=0)
        rows = [
            MeanRank(name, float(rank), *limits)
            for name, rank, limits in zip(
                self.systems, mean, self._mean_rank_limits.tolist(), strict=True
            )
        ]
        return MeanRanks(
            metric=self.metric,
            confidence_level=self.confidence_level,
            rows=tuple(sorted(rows, key=lambda row: row.mean_rank)),
            n_datasets=len(self.datasets),
            critical_difference=critical_difference(
                len(self.datasets), len(mean), self.confidence_level
            ),
            caution=few_compared("data set", len(self.datasets)),
        )

    # -------------------------------------------------------------- text and tables

    def summary(self) -> str:
        """Describe the comparison in tables of plain text, with all notes.

        Returns
        -------
        str
            The methods from the best, the differences, the mean ranks, what was resampled, the
            notes.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        statistic, p = self.friedman
        ranks = self.mean_ranks()
        tied = "undefined: all methods tie on every data set"
        test = f"{rendering.number(statistic, _OF_RANKS)}, {p_text(p_number(p))}"
        distance = rendering.number(ranks.critical_difference, _OF_RANKS)
        apart = "mean ranks further apart differ (Nemenyi); they depend on all methods in the pool"
        facts = [
            ("Friedman", test if p == p else tied),
            ("critical difference", f"{distance}: {apart}"),
        ]
        if self.margin is not None:
            facts.append((f"within {self.margin:g}", "share of the data sets"))
        return comparison_texts.summary(self, options, str(ranks), facts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the resamples, ready for JSON.

        Returns
        -------
        dict
            As from `ComparisonResult`, with the data sets, the scores and the tests of ranks.
        """
        statistic, p = self.friedman
        record = {
            "datasets": self.datasets,
            "scores": self.scores,
            "margin": self.margin,
            "mean_ranks": self.mean_ranks().to_dict(),
            "critical_difference": self.mean_ranks().critical_difference,
            "friedman": {"statistic": statistic, "p_value": p},
        }
        return super().to_dict() | dict(result.plain(record, for_json=True))
