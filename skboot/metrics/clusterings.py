"""How far two labellings group the rows alike, whatever the labels are called.

Rand and Fowlkes-Mallows indices count pairs of rows; mutual information and what is made of it
(homogeneity, completeness, V-measure) compare entropies. All are functions of the rows of each pair
of labels, so that a resample is a few counts. Pairs and the correction for chance depend on the
number of rows, too, and not on shares alone: there are no influence values, and the intervals are
those of functions of repeated rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from ._tuning import PAIRS_OF_LABELS_AT_ONCE
from .cells import Cells, encode, label_counts
from .statistic import (
    Floats,
    MetricRequest,
    ReadableBlock,
    Reading,
    ReducedData,
    Response,
    Statistic,
    fast_path,
)

# Weight of a term, relative to the largest, below which the rest of a sum is rounding.
_NEGLIGIBLE = 1e-25
# Distance of the expected from the greatest information that is rounding (nats).
_INFORMATION_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class ContingencyTables:
    """Contingency tables of two labellings, one for each resample.

    Attributes
    ----------
    cells : ndarray of shape (n_resamples, n_cells)
        Rows of each pair of labels.
    truth : ndarray of shape (n_resamples, n_classes)
        Rows of each true label.
    decision : ndarray of shape (n_resamples, n_clusters)
        Rows of each predicted label.
    """

    cells: Floats
    truth: Floats
    decision: Floats

    @property
    def rows(self) -> Floats:
        """Number of rows, (n_resamples,)."""
        return self.cells.sum(axis=1)

    def squares(self) -> tuple[Floats, Floats, Floats]:
        """Sums of squares of cells, of true and of predicted labels, (n_resamples,) each."""
        cells, truth, decision = (
            np.einsum("ij,ij->i", counts, counts)
            for counts in (self.cells, self.truth, self.decision)
        )
        return cells, truth, decision

    def entropies(self) -> tuple[Floats, Floats]:
        """Entropies of both labellings in nats, (n_resamples,); exactly 0 of a single label."""
        truth_entropy, decision_entropy = (
            np.where(_several(margin), np.log(self.rows) - _logs(margin) / self.rows, 0.0)
            for margin in (self.truth, self.decision)
        )
        return truth_entropy, decision_entropy

    def information(self) -> Floats:
        """Mutual information in nats, (n_resamples,); exactly 0 if a labelling has one label."""
        sums = _logs(self.cells) - _logs(self.truth) - _logs(self.decision)
        are_several = _several(self.truth) & _several(self.decision)
        return np.where(are_several, np.maximum(np.log(self.rows) + sums / self.rows, 0.0), 0.0)

    def rand(self) -> Floats:
        """Share of pairs of rows that both labellings treat alike (Rand 1971)."""
        cells, truth, decision = self.squares()
        pairs = self.rows * (self.rows - 1)
        return np.where(pairs > 0, 1 - (truth + decision - 2 * cells) / pairs, 1.0)

    def adjusted_rand(self) -> Floats:
        """Rand index, 0 at its expectation and 1 at most (Hubert & Arabie 1985, equation 5)."""
        n, (cells, truth, decision) = self.rows, self.squares()
        together, apart = cells - n, n**2 - truth - decision + cells
        only_true, only_decided = truth - cells, decision - cells
        disagree = (together + only_true) * (only_true + apart)
        disagree += (together + only_decided) * (only_decided + apart)
        value = 2 * (together * apart - only_true * only_decided) / disagree
        return np.where(only_true + only_decided == 0, 1.0, value)

    def fowlkes_mallows(self) -> Floats:
        """Geometric mean of the precision and recall of pairs (Fowlkes & Mallows 1983)."""
        together, truth, decision = (squares - self.rows for squares in self.squares())
        return np.where(together > 0, together / np.sqrt(truth * decision), 0.0)

    def explained_shares(self) -> list[Floats]:
        """Homogeneity and completeness.

        They are the shares of the entropy of the truth, and of the clusters, that the other
        labelling explains.
        """
        information = self.information()
        return [np.where(entropy > 0, information / entropy, 1.0) for entropy in self.entropies()]

    def homogeneity(self) -> Floats:
        """Share of the entropy of the truth that the clusters explain."""
        return self.explained_shares()[0]

    def completeness(self) -> Floats:
        """Share of the entropy of the clusters that the truth explains."""
        return self.explained_shares()[1]

    def v_measure(self, beta: float) -> Floats:
        """Weighted harmonic mean of the two (Rosenberg & Hirschberg 2007)."""
        homogeneity, completeness = self.explained_shares()
        value = (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)
        return np.where(homogeneity + completeness == 0, 0.0, value)

    def average_entropy(self, average: str) -> Floats:
        return _AVERAGES[average](*self.entropies())

    def normalized_information(self, average: str) -> Floats:
        """Mutual information by an average of the entropies."""
        information = self.information()
        value = np.where(information > 0, information / self.average_entropy(average), 0.0)
        return np.where(_several(self.truth) | _several(self.decision), value, 1.0)

    def adjusted_information(self, average: str) -> Floats:
        """Mutual information, 0 at its expectation and 1 at most (Vinh et al. 2010, equation 6)."""
        above_chance = (_logs(self.cells) - _expected_logs(self)) / self.rows
        are_several = _several(self.truth) & _several(self.decision)
        greatest = self.average_entropy(average) - (self.information() - above_chance)
        # Where no table with these margins has less information than the greatest, nor has this.
        value = np.where(np.abs(greatest) > _INFORMATION_ROUNDING, above_chance / greatest, 1.0)
        neither = ~_several(self.truth) & ~_several(self.decision)
        return np.where(are_several, value, np.where(neither, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class ClusteringScore(Statistic):
    """A function of the contingency table of two labellings; the labels need not be the same.

    Parameters
    ----------
    name : str
        How results call it.
    formula : callable
        From `ContingencyTables` to values, (n_resamples,).
    bounds : tuple of float
        Smallest and largest possible value.
    """

    name: str
    formula: Callable[[ContingencyTables], Floats]
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool | None = True
    response: Response = "labels"
    takes_weights: bool = False

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by their pair of labels."""
        assert y_true is not None
        # Numbered by themselves, because the two labellings may have labels of different kinds.
        cells = Cells.of(*(encode(side, label_counts(side)[0]) for side in (y_true, y_pred)))
        n_cells = len(cells.counts)
        margins = [
            sparse.csr_matrix((np.ones(n_cells), (np.arange(n_cells), side)))
            for side in (cells.truth, cells.decision)
        ]
        code = cells.rows(np.arange(n_cells, dtype=np.min_scalar_type(n_cells)))
        data = MappingProxyType({"margins": margins})
        return ReducedData(code, n_cells, data=data, counts=cells.counts)

    names_classes = False

    def reading(self, reduced: ReducedData) -> Reading:
        """Counts of the cells, which are fewer than the rows."""
        return "sums"

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Value on each resample of the block; a resample without rows has none."""
        cells = np.asarray(block.sums(), dtype=np.float64)
        tables = ContingencyTables(cells, *(cells @ margin for margin in reduced.data["margins"]))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(tables.rows > 0, self.formula(tables), np.nan)


# ------------------------------------------------------------------ entropies


_AVERAGES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "arithmetic": lambda truth, clusters: (truth + clusters) / 2,
    "geometric": lambda truth, clusters: np.sqrt(truth * clusters),
    "max": np.maximum,
    "min": np.minimum,
}


def _several(margin: Floats) -> NDArray[np.bool_]:
    """Whether a labelling has several labels in each resample, (n_resamples,)."""
    return np.count_nonzero(margin, axis=1) > 1


def _logs(counts: Floats) -> Floats:
    """Sum of k log k over the counts k of each resample, (n_resamples,)."""
    return xlogy(counts, counts).sum(axis=1)


def _expected_logs(tables: ContingencyTables) -> Floats:
    """Expectation of the sum of k log k over cells, if rows were paired at random."""
    n, sums = tables.rows, np.empty(len(tables.cells))
    sizes, numbers = zip(
        *(np.unique(side, return_inverse=True) for side in (tables.truth, tables.decision)),
        strict=True,
    )
    n_pairs = tables.truth.shape[1] * tables.decision.shape[1]
    by_size = None
    if np.all(n == n[0]) and len(sizes[0]) * len(sizes[1]) < n_pairs * len(sums):
        # Of many small clusters the sizes are few.
        by_size = _expected_log(n[0], sizes[0][:, None], sizes[1])
    truth, decision = (
        number.reshape(side.shape)
        for number, side in zip(numbers, (tables.truth, tables.decision), strict=True)
    )
    step = max(1, PAIRS_OF_LABELS_AT_ONCE // n_pairs)
    for start in range(0, len(sums), step):
        part = slice(start, start + step)
        pair = truth[part, :, None], decision[part, None, :]
        if by_size is not None:
            expected = by_size[pair]
        else:
            expected = _expected_log(n[part, None, None], sizes[0][pair[0]], sizes[1][pair[1]])
        sums[part] = expected.sum(axis=(1, 2))
    return sums


def _expected_log(n: Floats, truth: Floats, decision: Floats) -> Floats:
    """Expectation of k log k, k hypergeometric: rows in common of sets of these sizes.

    Probabilities are multiplied up by the ratios of neighbours, from the most likely k outwards.
    """
    n, truth, decision = (a.astype(np.float64) for a in np.broadcast_arrays(n, truth, decision))
    outside, mode = n - truth - decision, (truth + 1) * (decision + 1) // (n + 2)
    counts = np.arange(np.minimum(truth, decision).max() + 1)
    logs, at_mode = xlogy(counts, counts), mode.astype(np.intp)
    total, expected = np.ones_like(n), logs[at_mode]
    for step in (1, -1):
        k, at, weight = mode, at_mode, np.ones_like(n)
        while weight.max() > _NEGLIGIBLE:
            # At an end of the range a factor of the numerator is 0, and so are all weights beyond.
            if step > 0:
                weight = weight * ((truth - k) * (decision - k) / ((k + 1) * (outside + k + 1)))
            else:
                weight = weight * (k * (outside + k) / ((truth - k + 1) * (decision - k + 1)))
            k, at = k + step, at + step
            total += weight
            expected += weight * logs.take(at, mode="clip")
    return expected / total


# ------------------------------------------------------------------ by function of scikit-learn


fast_path("rand_score", response="labels")(
    lambda request: ClusteringScore(request.name, ContingencyTables.rand)
)
fast_path("adjusted_rand_score", response="labels")(
    lambda request: ClusteringScore(
        request.name, ContingencyTables.adjusted_rand, bounds=(-0.5, 1.0)
    )
)
fast_path("fowlkes_mallows_score", response="labels")(
    lambda request: ClusteringScore(request.name, ContingencyTables.fowlkes_mallows)
)
fast_path("mutual_info_score", response="labels")(
    lambda request: ClusteringScore(
        request.name, ContingencyTables.information, bounds=(0.0, np.inf)
    )
)
fast_path("homogeneity_score", response="labels")(
    lambda request: ClusteringScore(request.name, ContingencyTables.homogeneity)
)
fast_path("completeness_score", response="labels")(
    lambda request: ClusteringScore(request.name, ContingencyTables.completeness)
)
fast_path("v_measure_score", response="labels")(
    lambda request, *, beta=1.0: ClusteringScore(
        request.name, partial(ContingencyTables.v_measure, beta=beta)
    )
)


def _averaged(
    request: MetricRequest,
    *,
    formula: Callable[..., Floats],
    bounds: tuple[float, float],
    average_method: str = "arithmetic",
) -> ClusteringScore | None:
    if average_method not in _AVERAGES:
        return None
    return ClusteringScore(request.name, partial(formula, average=average_method), bounds=bounds)


fast_path("normalized_mutual_info_score", response="labels")(
    partial(_averaged, formula=ContingencyTables.normalized_information, bounds=(0.0, 1.0))
)
fast_path("adjusted_mutual_info_score", response="labels")(
    partial(_averaged, formula=ContingencyTables.adjusted_information, bounds=(-np.inf, 1.0))
)
