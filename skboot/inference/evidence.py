"""Evidence: an estimate, its replicates, and facts about the data, of which intervals are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note
from .._base.hints import Hinting
from .._base.values import LazySequence
from ..metrics.statistic import NOTHING_KNOWN, Facts, Proportion
from ..resampling.design import DESIGNS, DesignWords, SamplingDesign, freedom_of_classes
from ._tuning import FEW_MOVING

if TYPE_CHECKING:
    from .dependence import OverTime
    from .gap import SubgroupGap

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DrawnUnits:
    """What was drawn in each resample.

    Attributes
    ----------
    kind : str
        Sort of design; a key of `skboot.resampling.design.DESIGNS`.
    n_units : tuple of int
        How many units, one number a factor.
    n_strata : int
        Number of strata, 1 without.
    freedom : tuple (degrees of freedom, inflation) or None
        Of groups of unequal size, and of strata that weigh otherwise than by their units; see
        `SamplingDesign.freedom`.
    varies : bool
        Whether there are two units that can take each other's place; else no interval is made.
    named : str
        Name of the user's column of groups; see `DesignWords`.
    """

    kind: str
    n_units: tuple[int, ...]
    n_strata: int = 1
    freedom: tuple[float, float] | None = None
    varies: bool = True
    named: str = ""

    @classmethod
    def of(
        cls,
        design: SamplingDesign,
        rows: NDArray[np.intp] | None = None,
        weights: Floats | None = None,
    ) -> Self:
        """Return what a design draws, among some of its rows, which may have weights.

        Units and strata without any weight are drawn, but say nothing: they do not count.
        """
        count_all = weights is None or weights.all() or not weights.any()
        if weights is not None and not (count_all or design.units_are_blocks):
            weighs = weights > 0
            rows = np.flatnonzero(weighs) if rows is None else rows[weighs]
            weights = weights[weighs]
        n_units, freedom = design.among(rows, weights)
        varies = design.varies_among(rows, weights)
        n_strata = design.n_strata
        if rows is not None and design.strata is not None and not design.units_are_blocks:
            units = rows if design.members is None else design.members[rows, 0]
            n_strata = len(np.unique(design.strata[units]))
        return cls(design.kind, n_units, n_strata, freedom, varies, design.named)

    @property
    def why_none(self) -> str:
        """The sentence that says why there is no interval where nothing `varies`."""
        unit, where = self.design.unit, " in each stratum" if self.n_strata > 1 else ""
        return f"One {unit}{where} does not show how {unit}s vary: there is no interval."

    @property
    def degrees_of_freedom(self) -> float:
        """Units less strata, of the factor with the fewest units, or `freedom`; at least 1."""
        if self.freedom is not None:
            return max(self.freedom[0], 1.0)
        return max(min(self.n_units) - self.n_strata, 1)

    def with_few_moving(self, n_moving: int) -> DrawnUnits:
        """Return what was drawn for a value that so few of the units move: few have their freedom.

        As few degrees of freedom as a mean of so many units has, but the inflation of all.
        """
        if not 0 < n_moving < min(FEW_MOVING, self.degrees_of_freedom + 1):
            return self
        return replace(self, freedom=(n_moving - 1, self.inflation))

    @property
    def are_few(self) -> bool:
        """Whether quantiles of resamples of so few units cannot reach as far as Student's t."""
        return self.design.n_factors == 1 and self.degrees_of_freedom < FEW_MOVING - 1

    def with_classes(
        self, classes: NDArray[np.intp], sizes: NDArray[Any], influence: Floats | None = None
    ) -> DrawnUnits:
        """Return what was drawn where groups are of one class each: `freedom_of_classes`."""
        unequal = freedom_of_classes(classes, sizes, influence)
        if unequal is None:
            return self
        freedom = (
            min(unequal[0], self.degrees_of_freedom),
            max(unequal[1], self.inflation),
        )
        return replace(self, freedom=freedom)

    @property
    def inflation(self) -> float:
        """Factor from the variance of resamples to that of samples."""
        if self.freedom is not None:
            return self.freedom[1]
        return (self.degrees_of_freedom + self.n_strata) / self.degrees_of_freedom

    @property
    def n_equal(self) -> float:
        """Units of equal size that are worth these, of the factor with the fewest units."""
        return min(self.n_units) if self.freedom is None else self.freedom[0] + self.n_strata

    @property
    def unequal(self) -> float:
        """Inflation over that of as many units of equal size; 1 of these."""
        return self.inflation / replace(self, freedom=None).inflation

    @cached_property
    def design(self) -> DesignWords:
        """Words and rules of what was drawn."""
        return DESIGNS[self.kind].named_as(self.named)


class Premises(ABC):
    """What was drawn, and what the metric knew of the rows before: methods are planned by it."""

    drawn: DrawnUnits
    facts: Facts
    first_look: int | None

    @property
    @abstractmethod
    def has_pairs_left_out(self) -> bool:
        """Whether the metric without each pair of members of two factors is, or can be, known."""

    @property
    @abstractmethod
    def has_tables(self) -> bool:
        """Whether smoothed tables of truth and decision are, or can be, drawn."""

    @cached_property
    def independent_rows(self) -> bool:
        """Whether rows were drawn one by one, without strata or weights."""
        units = self.drawn
        return units.design.units_are_rows and units.n_strata == 1 and not self.facts.weighted

    @property
    def share(self) -> Proportion | None:
        """The proportion that the metric is, of 0/1 values of independent rows; else None."""
        proportion = self.facts.proportion
        if proportion is not None and proportion.is_mean and self.independent_rows:
            return proportion
        return None


@dataclass(frozen=True, eq=False)
class BeforeResampling(Premises):
    """What is known of a score before it is resampled.

    Attributes
    ----------
    drawn, facts, first_look, group_weight, n_effective_rows
        As of `Evidence`.
    has_pairs_left_out, has_tables : bool
        As of `Premises`.
    """

    drawn: DrawnUnits
    facts: Facts
    first_look: int | None = None
    group_weight: Floats | None = None
    n_effective_rows: float | None = None
    has_pairs_left_out: bool = False
    has_tables: bool = False


class JackknifeBias(NamedTuple):
    """Bias and standard error of an estimate, by leaving out units."""

    bias: float
    standard_error: float


class JackknifeJumps(NamedTuple):
    """Standard error by leaving out units, and how many different values it is made of.

    Attributes
    ----------
    standard_error : float
    n_values : int
        Different values of the metric without one unit.
    n_left_out : int
        Values in all.
    """

    standard_error: float
    n_values: int
    n_left_out: int


class LargestDeviations(NamedTuple):
    """What one of several differences is studentized by, and the largest deviation of all.

    Attributes
    ----------
    standard_error : float, or ndarray of a batch of differences
    deviations : ndarray of shape (n_resamples,)
        The largest studentized deviation in each resample, as a normal quantile.
    """

    standard_error: Any
    deviations: Floats


@dataclass(frozen=True, eq=False)
class Evidence(Premises):
    """Estimate, replicates and facts about the data that intervals for one score are made of.

    Attributes
    ----------
    estimate : float
        The metric on the data. A batch of differences that are defined on all resamples has an
        array (n_differences,), for the intervals that `skboot.inference.differences.TAILS` names.
    replicates : ndarray of shape (n_resamples,)
        The metric on each resample; NaN where undefined. Of a batch (n_differences, n_resamples).
    drawn : DrawnUnits
        What was resampled.
    facts : Facts
        What the metric knew of the rows before.
    standard_error : float or None
        Infinitesimal-jackknife standard error of the estimate.
    replicate_standard_errors : ndarray of shape (n_resamples,) or None
        The same on each resample.
    acceleration : float or None
        Of BCa, by leaving out units; NaN where a value without a unit is undefined; None if not
        computed.
    jackknife_jumps : JackknifeJumps or None
        Of a metric that need not be smooth, on rows that nearly all differ; see
        `skboot.inference.distribution.Jackknife`.
    jackknife_bias : JackknifeBias or None
        Of a metric that is smooth; None where a value is undefined.
    error_freedom : float or None
        Degrees of freedom of that standard error, by the kurtosis of what units bring.
    max_t : LargestDeviations or None
        For one of several differences.
    gap : SubgroupGap or None
        For the difference of the two subgroups that are furthest apart.
    group_influence : ndarray of shape (n_groups,) or None
        For functions of sums on groups: influence of each group on the estimate.
    group_weight : ndarray of shape (n_groups,) or None
        Summed weight of each group's rows, where ``group_influence`` is known.
    n_effective_rows : float or None
        Rows of equal weight that are worth the rows (Kish 1965): (sum w)^2 / sum w^2.
    robust_variance : float or None
        Of crossed factors; see `skboot.inference.dependence.robust_variance`.
    over_time : OverTime or None
        Of blocks of rows in time.
    first_look : int or None
        Units at the first of the looks that an interval shall hold at.
    smoothed : ndarray of shape (2, n_draws) or None
        For functions of a table of truth and decision, where few rows decide: the values on drawn
        tables with less and with more beyond the data; see `skboot.inference.tables`.
    """

    estimate: Any
    replicates: Floats
    drawn: DrawnUnits
    facts: Facts = NOTHING_KNOWN
    standard_error: float | None = None
    replicate_standard_errors: Floats | None = None
    acceleration: float | None = None
    jackknife_jumps: JackknifeJumps | None = None
    jackknife_bias: JackknifeBias | None = None
    error_freedom: float | None = None
    max_t: LargestDeviations | None = None
    gap: SubgroupGap | None = None
    group_influence: Floats | None = None
    group_weight: Floats | None = None
    n_effective_rows: float | None = None
    robust_variance: float | None = None
    over_time: OverTime | None = None
    first_look: int | None = None
    smoothed: Floats | None = None

    def of_other_values(
        self, estimate: Any, replicates: Floats, facts: Facts = NOTHING_KNOWN, **parts: Any
    ) -> Evidence:
        """Return the evidence of other values on the same resamples; ``others`` are its fields."""
        return Evidence(estimate, replicates, self.drawn, facts, **parts)

    @property
    def has_pairs_left_out(self) -> bool:
        """See `Premises`."""
        return self.robust_variance is not None

    @property
    def has_tables(self) -> bool:
        """See `Premises`."""
        return self.smoothed is not None

    @cached_property
    def sorted_replicates(self) -> Floats:
        """Defined replicates in rising order, (n_defined,); all, of each of several differences.

        Those of several differences are in that order as they are given.
        """
        if self.replicates.ndim > 1:
            return self.replicates
        return np.sort(self.replicates[~np.isnan(self.replicates)])

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the defined replicates (divisor n); 0 of one, or none."""
        return float(self.sorted_replicates.std()) if len(self.sorted_replicates) > 1 else 0.0

    @cached_property
    def sorted_smoothed(self) -> Floats:
        """Values on drawn tables in rising order, (2, n_draws)."""
        assert self.smoothed is not None
        return np.sort(self.smoothed, axis=1)

    @property
    def n_deciding(self) -> float | None:
        """Units that carry the variation of the estimate; None if nothing tells.

        Those that the influences of all units show (`deciding_units`), but at most as many as the
        metric knows to decide (`Facts.deciding`), whatever the rows happen to show.
        """
        if (share := self.share) is not None:
            return share.n_deciding
        numbers = [self.facts.deciding]
        if self.facts.proxy_weight is not None:
            # The influences of a judged score have those of rows that are counted for safety.
            return self.facts.deciding
        if (freedom := self.error_freedom) is not None:
            n = min(self.drawn.n_units)
            # Where no unit moves the estimate, none is seen that decides it.
            numbers.append(0.0 if np.isnan(freedom) else n * freedom / (2 * n + freedom))
        elif self.facts.largest_share is not None and self.drawn.design.units_are_rows:
            # Of a stream the largest row is known, but not the others.
            numbers.append(1 / self.facts.largest_share)
        return min((number for number in numbers if number is not None), default=None)

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, side by side, as values that a file can hold."""
        values = {
            _STORED_NAMES.get(f.name, f.name): getattr(self, f.name)
            for f in fields(self)
            if f.name not in _NESTED
        }
        units = {f.name: getattr(self.drawn, f.name) for f in fields(self.drawn)}
        return values | units | self.facts.to_parts()

    @classmethod
    def of(
        cls, estimate: Any, replicates: Floats, kind: str, n_units: tuple[int, ...], **by_name: Any
    ) -> Self:
        """Return the evidence of fields that stand side by side, as in `to_parts`."""
        # Imported here, because these modules import this one.
        from .dependence import OverTime
        from .gap import SubgroupGap

        units, facts = (
            {f.name: by_name.pop(f.name) for f in fields(held) if f.name in by_name}
            for held in (DrawnUnits, Facts)
        )
        what = DrawnUnits(kind, n_units, **units)
        # Of files of before.
        by_name.pop("deciding_groups", None)
        # Files hold parts as plain sequences.
        parts: dict[str, Callable[..., Any]] = {
            "jackknife": JackknifeJumps,
            "left_out": JackknifeBias,
            "max_t": LargestDeviations,
            "over_time": OverTime,
            "gap": lambda *values: SubgroupGap.of_stored(values),
        }
        for name, part in parts.items():
            if by_name.get(name) is not None:
                by_name[name] = part(*by_name[name])
        for name, stored in _STORED_NAMES.items():
            if stored in by_name:
                by_name[name] = by_name.pop(stored)
        return cls(estimate, replicates, what, Facts.from_parts(facts), **by_name)


def joint_bounds(evidence: Iterable[Evidence]) -> tuple[float, float]:
    """Return the range of a metric that may hang on the rows, over several systems."""
    lowest, highest = zip(*(system.facts.bounds for system in evidence), strict=True)
    return min(lowest), max(highest)


_NESTED = ("drawn", "facts")
# Fields that files have under the names of before.
_STORED_NAMES = {"jackknife_jumps": "jackknife", "jackknife_bias": "left_out"}


def deciding_units(influence: Floats, times: Any = 1) -> float:
    """Units of equal influence that would make a value vary as much as these do.

    Parameters
    ----------
    influence : ndarray of shape (n,)
        Influences v, which sum to 0.
    times : ndarray of shape (n,), optional
        Units of each influence.

    Returns
    -------
    float
        (sum v^2)^2 / sum v^4, at least 1: of p wrong rows of n about as many as are wrong; 0 where
        no unit moves the value.
    """
    largest = np.abs(influence).max(initial=0.0, where=np.broadcast_to(times, influence.shape) > 0)
    if largest == 0:
        return 0.0
    squares = (influence / largest) ** 2
    return float(np.sum(times * squares) ** 2 / np.sum(times * squares**2))


# `ConfidenceInterval`: a pair of limits that knows its level and its method.
#
# No limit lies beyond the range of what it is of: `within_range` cuts it there, every function that
# makes limits ends with it, and results have the note of `notes_of_cut`.


_CUT = Note("choice", "A limit beyond the range of the metric was cut at the range.")

# Share of the size of limits by which rounding may put them in the wrong order.
_LIMIT_ROUNDING = 1e-9


class ConfidenceInterval(Hinting, tuple[float, float]):
    """A pair of limits, ``low, high``, with its confidence level and its method.

    Two intervals are equal if their limits, levels and methods are; an interval and a plain tuple
    are equal if the limits are. A format, as in ``f"{interval:.3f}"``, applies to both limits.

    Parameters
    ----------
    low : float
        Lower limit, on the metric's scale.
    high : float
        Upper limit.
    confidence_level : float
        Share of data sets whose interval contains the true value, if the method attains its nominal
        coverage.
    method : str
        Name of the method.
    uncut : tuple of float, optional
        Both limits by the formula of the method, where they were cut at the range of the metric.

    Examples
    --------
    >>> from skboot.inference import proportion_interval
    >>> interval = proportion_interval(18, 20)
    >>> interval.method, interval.confidence_level
    ('wilson', 0.95)
    >>> low, high = interval
    >>> round(low, 3), round(interval.high, 3)
    (0.699, 0.972)
    >>> print(f"{interval:.3f}")
    0.699 to 0.972
    """

    confidence_level: float
    method: str

    def __new__(
        cls,
        low: Any,
        high: Any = None,
        confidence_level: Any = None,
        method: str = "",
        uncut: tuple[float, float] | None = None,
    ) -> Self:
        """Return the pair with its level and its method."""
        if high is None:
            # `dataclasses.asdict` copies tuples of any sort from an iterable: that is a plain one.
            return tuple(low)  # type: ignore[return-value]
        low, high = float(low), float(high)
        if 0 < low - high <= _LIMIT_ROUNDING * max(abs(low), abs(high)):
            low, high = high, low
        self = super().__new__(cls, (low, high))
        # Attributes cannot be set, so that the pair is as constant as its limits.
        self.__dict__.update(confidence_level=float(confidence_level), method=method)
        if uncut is not None:
            self.__dict__["_uncut"] = float(uncut[0]), float(uncut[1])
        return self

    @property
    def low(self) -> float:
        """Lower limit."""
        return self[0]

    @property
    def high(self) -> float:
        """Upper limit."""
        return self[1]

    @property
    def uncut(self) -> tuple[float, float]:
        """Both limits by the formula of the method, before they were cut at the metric's range."""
        return self.__dict__.get("_uncut", (self.low, self.high))

    @property
    def is_cut(self) -> bool:
        """Whether a limit was cut at the range of the metric."""
        return "_uncut" in self.__dict__

    def _with_limits(self, low: float, high: float) -> Self:
        """Return an interval with other limits and the same level and method.

        Parameters
        ----------
        low, high : float
            Its limits.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        return type(self)(low, high, self.confidence_level, self.method)

    def _within(self, least: float, greatest: float) -> Self:
        """Return the interval cut at the ends of a range.

        Parameters
        ----------
        least, greatest : float
            The range of the metric. Limits beyond the same end are both this end.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        low, high = (min(max(limit, least), greatest) for limit in self)
        if (low, high) == tuple(self):
            return self
        return type(self)(low, high, self.confidence_level, self.method, self.uncut)

    def _mirrored(self) -> Self:
        """Return the interval of the value with the other sign; 0 has none.

        Mirrored twice it is the same interval, with 0.0 for a limit of -0.0.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        low, high = 0.0 - self.high, 0.0 - self.low
        uncut = (0.0 - self.uncut[1], 0.0 - self.uncut[0]) if self.is_cut else None
        return type(self)(low, high, self.confidence_level, self.method, uncut)

    def _at_level(self, confidence_level: float) -> Self:
        """Return the same limits for another level, as of one interval of several at once.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        uncut = self.__dict__.get("_uncut")
        return type(self)(self.low, self.high, confidence_level, self.method, uncut)

    def to_dict(self) -> dict[str, Any]:
        """Return limits, level and method by name.

        Returns
        -------
        dict
            With keys low, high, confidence_level and method, and uncut where a limit was cut.
        """
        return self._row() | ({"uncut": self.uncut} if self.is_cut else {})

    def _row(self) -> dict[str, Any]:
        """Return what a data frame has of it."""
        named = {"confidence_level": self.confidence_level, "method": self.method}
        return {"low": self.low, "high": self.high, **named}

    def __eq__(self, other: object) -> bool:
        same = tuple.__eq__(self, other)
        if same is True and isinstance(other, ConfidenceInterval):
            terms = self.confidence_level, self.method
            return terms == (other.confidence_level, other.method)
        return same

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    # An interval equals the plain tuple of its limits, so their hashes agree.
    __hash__ = tuple.__hash__

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A ConfidenceInterval cannot be changed: {name!r} was to be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        uncut = self.__dict__.get("_uncut")
        return type(self), (*self, self.confidence_level, self.method, uncut)

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec}} to {self.high:{spec}}" if spec else str(self)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({fields})"


def within_range(
    interval: ConfidenceInterval, bounds: tuple[float, float], alternative: str = "two-sided"
) -> ConfidenceInterval:
    """Return the interval cut at the range of the metric.

    The other limit of a one-sided interval stays infinite.
    """
    least = -np.inf if alternative == "less" else bounds[0]
    greatest = np.inf if alternative == "greater" else bounds[1]
    is_within = least <= interval[0] and interval[1] <= greatest
    return interval if is_within else interval._within(least, greatest)


class LazyIntervals(LazySequence[ConfidenceInterval]):
    """Intervals of several values, cut at a range; each is made when it is asked for.

    Parameters
    ----------
    low_uncut, high_uncut : ndarray of shape (n_values,)
        As the formula has them.
    methods : ndarray of str, of shape (n_values,)
    confidence_level : float
    bounds : tuple of float
        The range.
    alternative : {"two-sided", "greater", "less"}
        The infinite limits of one-sided intervals are not cut.
    """

    def __init__(
        self,
        low_uncut: Floats,
        high_uncut: Floats,
        methods: NDArray[Any],
        confidence_level: float,
        bounds: tuple[float, float],
        alternative: str,
    ) -> None:
        self.methods = methods
        low, high, names = low_uncut.tolist(), high_uncut.tolist(), methods.tolist()
        least = -np.inf if alternative == "less" else bounds[0]
        greatest = np.inf if alternative == "greater" else bounds[1]
        smaller, larger = np.fmin(low_uncut, high_uncut), np.fmax(low_uncut, high_uncut)
        are_cut = (smaller < least) | (larger > greatest)
        # Whether a limit of some interval was cut.
        self.is_cut = bool(are_cut.any())
        # Intervals that have a width, and were not cut.
        self.are_plain = (low_uncut < high_uncut) & ~are_cut

        def make(k: int) -> ConfidenceInterval:
            interval = ConfidenceInterval(low[k], high[k], confidence_level, names[k])
            return within_range(interval, bounds, alternative)

        super().__init__(make, len(low))


def notes_of_cut(*intervals: ConfidenceInterval | LazyIntervals | None) -> tuple[Note, ...]:
    """Return the note that a limit was cut, if one of the intervals has such a limit."""
    return (
        (_CUT,) if any(interval is not None and interval.is_cut for interval in intervals) else ()
    )


def range_of_difference(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the range of a difference of two values that have a range."""
    return bounds[0] - bounds[1], bounds[1] - bounds[0]
