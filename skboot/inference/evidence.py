"""Evidence: an estimate, its replicates, and facts about the data, of which intervals are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..resampling.design import SamplingDesign
from ..resampling.task_designs import DESIGNS

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimate, replicates and facts about the data that intervals for one score are made of.

    Attributes
    ----------
    estimate : float
        The metric on the data. A batch of differences that are defined on all resamples has an
        array (n_differences,), for the intervals that `skboot.inference.p_values.TAILS` names.
    replicates : ndarray of shape (n_resamples,)
        The metric on each resample; NaN where undefined. Of a batch (n_differences, n_resamples).
    kind : {"rows", "groups", "crossed", "one population"}
        What was resampled.
    n_units : tuple of int
        How many units, one number a factor.
    n_strata : int
        Number of strata, 1 without.
    bounds : tuple of float
        Range of the metric.
    additive : bool
        Whether the metric is a function of weighted sums.
    row_mean : bool
        Whether it is a mean of one value per row.
    weighted : bool
        Whether rows carry weights.
    standard_error : float or None
        Infinitesimal-jackknife standard error of the estimate.
    replicate_standard_errors : ndarray of shape (n_resamples,) or None
        The same on each resample.
    acceleration : float or None
        Of BCa, by leaving out units; NaN where a value without a unit is undefined; None if not
        computed.
    proportion : tuple (hits, n, exact, scale, sign) or None
        See `skboot.metrics.statistic.Proportion`.
    delong : tuple (standard error, size of the smaller class) or None
        For the area under the ROC curve of independent rows.
    largest_share : float or None
        Share of the sum of the row values that one row carries.
    smaller_class : int or None
        Rows of the smaller of two classes, for other metrics whose intervals hang on it.
    class_sizes : ndarray of shape (n_classes,) or None
        Rows of each true class, for averages over classes of rows.
    jackknife : tuple (standard error, number of values, number of lines) or None
        Of a metric that need not be smooth, on rows that nearly all differ; see
        `skboot.inference.distribution.Jackknife`.
    max_t : tuple (standard error, ndarray of shape (n_resamples,)) or None
        For one of several differences: the standard error it is studentized by, and the largest
        studentized deviation over all of them in each resample, as a normal quantile.
    gap : tuple or None
        For the difference of the two subgroups that are furthest apart: a
        `skboot.inference.subgroup_gap.SubgroupGap`, or its values as plain tuples.
    group_influence : ndarray of shape (n_groups,) or None
        For functions of sums on groups: influence of each group on the estimate.
    group_weight : ndarray of shape (n_groups,) or None
        Summed weight of each group's rows, where ``group_influence`` is known.
    deciding_groups : tuple (groups with a wrong decision, groups with a right one) or None
        For decisions in groups.
    n_effective_rows : float or None
        Rows of equal weight that are worth the rows (Kish 1965): (sum w)^2 / sum w^2.
    freedom : tuple (degrees of freedom, inflation) or None
        Of strata that weigh otherwise than by their units; see `SamplingDesign.freedom`.
    robust_variance : float or None
        Of crossed factors; see `skboot.inference.crossed.robust_variance`.
    bins : ndarray of shape (4, n_bins) or None
        Of a sum of distances over bins: weight of each, its share of positives, what that should
        be, and how many independent rows it is a share of.
    of_distances : bool
        Whether the metric, or what it averages, is a sum of distances.
    optimized : bool
        Whether the metric is the best over a choice that was made on the same rows.
    """

    estimate: Any
    replicates: Floats
    kind: str
    n_units: tuple[int, ...]
    n_strata: int = 1
    bounds: tuple[float, float] = (-np.inf, np.inf)
    additive: bool = False
    row_mean: bool = False
    weighted: bool = False
    standard_error: float | None = None
    replicate_standard_errors: Floats | None = None
    acceleration: float | None = None
    proportion: tuple[int, int, bool, str, float] | None = None
    delong: tuple[float, int] | None = None
    largest_share: float | None = None
    smaller_class: int | None = None
    class_sizes: NDArray[np.int64] | None = None
    jackknife: tuple[float, int, int] | None = None
    max_t: tuple[Any, Floats] | None = None
    gap: tuple[Any, ...] | None = None
    group_influence: Floats | None = None
    group_weight: Floats | None = None
    deciding_groups: tuple[int, int] | None = None
    n_effective_rows: float | None = None
    freedom: tuple[float, float] | None = None
    robust_variance: float | None = None
    bins: Floats | None = None
    of_distances: bool = False
    optimized: bool = False

    def of_other_values(self, estimate: Any, replicates: Floats, **others: Any) -> Evidence:
        """Return the evidence of other values on the same resamples; ``others`` are its fields."""
        drawn: dict[str, Any] = {"n_strata": self.n_strata, "freedom": self.freedom}
        return Evidence(estimate, replicates, self.kind, self.n_units, **drawn, **others)

    @cached_property
    def sorted_replicates(self) -> Floats:
        """Defined replicates in rising order, (n_defined,); all, of each of several differences."""
        if self.replicates.ndim > 1:
            return np.sort(self.replicates, axis=-1)
        return np.sort(self.replicates[~np.isnan(self.replicates)])

    @property
    def degrees_of_freedom(self) -> float:
        """Units less strata, of the factor with the fewest units, at least 1; or `freedom`."""
        if self.freedom is not None:
            return self.freedom[0]
        return max(min(self.n_units) - self.n_strata, 1)

    @property
    def inflation(self) -> float:
        """Factor from the variance of resamples to that of samples."""
        if self.freedom is not None:
            return self.freedom[1]
        return (self.degrees_of_freedom + self.n_strata) / self.degrees_of_freedom

    @cached_property
    def independent_rows(self) -> bool:
        """Whether rows were drawn one by one, without strata or weights."""
        return self.design.units_are_rows and self.n_strata == 1 and not self.weighted

    @cached_property
    def design(self) -> type[SamplingDesign]:
        """Words and rules of what was resampled."""
        return DESIGNS[self.kind]
