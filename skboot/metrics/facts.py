"""What a metric knows of given rows before any resampling, by which intervals are chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Proportion:
    """A metric that is, on these rows, a function of one proportion of equal-weight rows.

    Attributes
    ----------
    hits, n : int
        The proportion is hits / n.
    exact : bool
        Whether n is fixed by the design, so that the interval of the proportion is the natural
        one at any count; otherwise it guards the metric's interval where hits or errors are few.
    scale : {"identity", "f1"}
        The metric is the proportion p itself, or F1 = 2 p / (1 + p) with p the Jaccard index.
    sign : float
        1.0, or -1.0 where the metric is the negated value.
    """

    hits: int
    n: int
    exact: bool
    scale: Literal["identity", "f1"] = "identity"
    sign: float = 1.0

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean, or negated mean, of 0/1 values of a fixed number of rows."""
        return self.exact and self.scale == "identity"

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the metric."""
        return (0.0, 1.0) if self.sign > 0 else (-1.0, 0.0)

    @property
    def standard_error(self) -> float:
        """Of the metric, from that of a binomial share, sqrt(p (1 - p) / n), by its slope."""
        p = self.hits / self.n
        slope = 2 / (1 + p) ** 2 if self.scale == "f1" else 1.0
        return slope * math.sqrt(p * (1 - p) / self.n)

    @property
    def n_deciding(self) -> float:
        """Units of equal influence that would vary as much as these zeros and ones."""
        spread = self.hits * (self.n - self.hits) / self.n
        return spread / (1 - 3 * spread / self.n)

    @property
    def with_one_of_each(self) -> Proportion:
        """The same with one more hit, and one more row that is none."""
        return replace(self, hits=self.hits + 1, n=self.n + 2)

    def to_metric(self, proportion: float) -> float:
        """Map a proportion to the metric's scale."""
        value = 2 * proportion / (1 + proportion) if self.scale == "f1" else proportion
        return self.sign * value


class DeLong(NamedTuple):
    """Standard error of an area under the ROC curve, after DeLong et al. (1988).

    Attributes
    ----------
    standard_error : float
        Of independent rows without weights.
    smaller_class : int
        Rows of the smaller of the two classes.
    """

    standard_error: float
    smaller_class: int


class SumsOfRows(NamedTuple):
    """What is known of many rows that were added up.

    Attributes
    ----------
    sums : ndarray of shape (1 + n_sums,)
        Of their weights and of what they add.
    n_rows : int
    largest_share : float or None
        Share of the sizes of all that was added that one row carries.
    zero_one : bool
        Whether each row added 0 or 1.
    weighted : bool
        Whether rows carry weights.
    """

    sums: NDArray[np.float64]
    n_rows: int
    largest_share: float | None
    zero_one: bool
    weighted: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """What a metric knows of given rows before any resampling.

    Attributes
    ----------
    bounds : tuple of float
        Smallest and largest possible value on these rows.
    additive : bool
        Whether the metric is a function of weighted sums.
    row_mean : bool
        Whether it is a mean of one value per row, of which many differ.
    both_signs : bool
        Whether it is a mean of values of which some are below 0 and some above, as differences are.
    weighted : bool
        Whether rows carry weights.
    proportion : Proportion or None
        Of equally weighted rows, where the metric is a function of one.
    delong : DeLong or None
        For the area under the ROC curve.
    largest_share : float or None
        Share of the sum of the row values that one row carries.
    smaller_class : int or None
        Rows of the smaller of two classes, for other metrics whose intervals hang on it.
    class_sizes : ndarray of shape (n_classes,) or None
        Rows of each true class, for averages that weigh classes evenly.
    bins : ndarray of shape (4, n_bins) or None
        Of a sum of distances over bins: weight of each, its share of positives, what that should
        be, and how many independent rows it is a share of.
    of_distances : bool
        Whether the metric, or what it averages, is a sum of distances.
    optimized : bool
        Whether the metric is the best over a choice that was made on the same rows.
    proxy_weight : float or None
        Of a score that the labels of a judge were added to: their weight.
    of_kind : float or None
        Rows of the kind that decides the value, as many as are to be expected: those beyond a
        forecast, or those that carry the variance of the truth.
    few_of_kind : float or None
        How many of these are too few.
    """

    bounds: tuple[float, float] = (-np.inf, np.inf)
    additive: bool = False
    row_mean: bool = False
    both_signs: bool = False
    weighted: bool = False
    proportion: Proportion | None = None
    delong: DeLong | None = None
    largest_share: float | None = None
    smaller_class: int | None = None
    class_sizes: NDArray[np.int64] | None = None
    bins: NDArray[np.float64] | None = None
    of_distances: bool = False
    optimized: bool = False
    proxy_weight: float | None = None
    of_kind: float | None = None
    few_of_kind: float | None = None

    @property
    def deciding(self) -> float | None:
        """Rows that are known to decide the value, whatever they show; None if nothing is known."""
        known = (self.of_kind, self.of_class)
        return min((float(n) for n in known if n is not None), default=None)

    @property
    def of_class(self) -> float | None:
        """Rows of the smaller of two classes, or of each of several equal ones; else None.

        Classes bring variances of about 1 / n with n - 1 degrees of freedom.
        """
        if self.class_sizes is not None:
            parts = 1 / self.class_sizes
            rest = np.maximum(self.class_sizes - 1, 1)
            df = float(parts.sum() ** 2 / np.sum(parts**2 / rest))
            return min(float(1 / parts.mean()), 1 + df)
        return self.delong.smaller_class if self.delong is not None else self.smaller_class

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, as values that a file can hold."""
        parts = dict(vars(self))
        if self.proportion is not None:
            parts["proportion"] = tuple(vars(self.proportion).values())
        return parts

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the facts whose `to_parts` are given."""
        of_type = {"proportion": Proportion, "delong": DeLong}
        made = {
            name: made_of(*parts[name])
            for name, made_of in of_type.items()
            if parts.get(name) is not None
        }
        return cls(**(parts | made))


NOTHING_KNOWN = Facts()
