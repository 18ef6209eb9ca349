"""`PairedDifference`: the difference of two systems, which knows the comparison it is from.

A pair is a value by itself: a verdict or a plan needs its direction, its units and its degrees of
freedom. What all pairs of a comparison share is one `ComparisonFacts`, to which each pair refers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from .._base.doors import door
from .._base.values import same_values
from .._base.wayfinding import Hinting
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Drawn
from ..inference.intervals import MIRRORED
from ..inference.outperformance import Outperformance
from ..inference.proportions import Discordant
from ..inference.two_areas import TwoAreas
from ..inference.verdicts import Verdict
from . import decisions, rendering
from .comparison_tables import p_number, scale_of, short_text


@dataclass(frozen=True)
class ComparisonFacts:
    """What all pairs of a comparison share.

    Attributes
    ----------
    metric : str
        Name of the metric.
    greater_is_better : bool or None
        Direction of the metric; None if unknown.
    estimand : {"system", "method"}
        What the differences are of.
    unit : str
        What was resampled, in the singular: "row", "group", ...
    n_units : int or tuple of int
        How many units there were to draw from; a number per factor if there are two.
    digits : int
        Decimals that the differences and their limits have at least, in tables and sentences: as
        many as the difference that needs most.
    rounding : float
        What scores of this size differ by through rounding alone.
    drawn : Drawn
        What was drawn, for plans.
    varied : str or None
        What the runs of methods on a test set differ in; None without runs.
    paired_runs : bool
        Whether the runs of two methods belong together, pair by pair.
    paired : bool
        Whether the systems were compared on the same rows.
    bounds : tuple of float
        Range of the metric.
    n_samples : int or None
        Number of test rows; None in pairs that were pickled before it was held.
    """

    metric: str
    greater_is_better: bool | None
    estimand: str
    unit: str
    n_units: int | tuple[int, ...]
    digits: int
    drawn: Drawn = field(compare=False)
    varied: str | None = None
    paired_runs: bool = False
    paired: bool = True
    bounds: tuple[float, float] = (-math.inf, math.inf)
    n_samples: int | None = None
    rounding: float = field(default=0.0, compare=False)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairedDifference(Hinting):
    """One pair of systems, or of methods.

    As text a pair is its difference and the limits of its own interval; a format, as in
    ``f"{pair:.3f}"``, applies to all three numbers, and ``float(pair)`` is the difference. Two
    pairs are equal if all they hold is equal (NaN equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    first, second : str
        Names.
    difference : float
        First minus second.
    confidence_interval : ConfidenceInterval
        For this difference by itself.
    simultaneous_interval : ConfidenceInterval or None
        For all differences of the comparison at once; None with ``adjust=None``.
    p_value : float
        Smallest 1 - level whose ``confidence_interval`` excludes 0; NaN for intervals that hold at
        every look.
    p_value_adjusted : float
        Adjusted for the number of differences; NaN with ``adjust=None``.
    bootstrap_support : float
        Probability of superiority of the first, estimated by the bootstrap: share of resamples on
        which it scores better (higher, where the direction of the metric is unknown), ties half.
        Resamples are of the test rows, or of the training rows where methods are scored on the rows
        left out. Of several runs on test rows it is that of Student's t, which the interval is of.
    standard_error : float
        Standard deviation of the difference over the resamples, or in closed form beside an
        interval that uses none, such as Tango's.
    degrees_of_freedom : float or None
        Of the t interval of methods; of systems, units less strata. None where the interval uses
        no resamples.
    components : mapping of str to float, or None
        Parts of the squared standard error of methods on a test set: "runs", which more runs would
        reduce, and "test", which more test units would reduce.
    n_runs : tuple of int, or None
        Runs of the first and of the second method on a test set.
    mcnemar_p_value : float or None
        Exact, where both are right or wrong on independent rows.
    discordant : tuple of int (first_only, second_only, n), or None
        The same rows: how many count for the first alone, for the second alone, and all. None, as
        are ``areas``, with intervals that hold at every look, by which verdicts are made then.
    areas : TwoAreas or None
        Where both are areas under ROC curves on the same independent rows: the areas, their
        standard errors and correlation after DeLong et al. (1988).
    error_freedom : float or None
        Degrees of freedom of ``standard_error``, by the kurtosis of what single units bring to the
        difference: few where few rows decide. Of systems on the same rows whose scores are
        functions of sums, other than shares; None of others and of very many rows.
    n_deciding : float or None
        Units that decide the difference: as many, of equal influence on it, would make it vary as
        much. Of right and wrong rows about as many as tell two systems apart. Known for systems
        on the same rows whose scores are functions of sums or areas under ROC curves, unless rows
        are very many. Of other scores of rows at most the rows whose predictions differ.
    outperformance : Outperformance or None
        P(A > B): how often a run of the first beats the run of the second that belongs to it, with
        its interval; of `skboot.compare_methods`, and `skboot.compare_runs` with paired runs.
    reason : str
        Why there is no interval; empty where there is one, or where the systems say why.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values; one-sided intervals have one infinite
        limit.
    simultaneous_quantile : float or None
        Quantile of the normal distribution that ``simultaneous_interval`` reaches out to.
    step_down_sign : int or None
        1 where the first scores significantly higher, -1 lower, 0 neither, by the simultaneous
        tests over all pairs of `ComparisonResult.ranks`; None where there are no ranks.
    comparison : ComparisonFacts or None
        What all pairs of the comparison share. The `ComparisonResult` that takes up the pair
        fills it in.
    """

    first: str
    second: str
    difference: float
    confidence_interval: ConfidenceInterval
    simultaneous_interval: ConfidenceInterval | None
    p_value: float
    p_value_adjusted: float
    bootstrap_support: float
    standard_error: float
    degrees_of_freedom: float | None = None
    components: Mapping[str, float] | None = None
    n_runs: tuple[int, int] | None = None
    mcnemar_p_value: float | None = None
    discordant: Discordant | None = None
    outperformance: Outperformance | None = None
    reason: str = ""
    alternative: str = "two-sided"
    simultaneous_quantile: float | None = None
    step_down_sign: int | None = None
    comparison: ComparisonFacts | None = None
    areas: TwoAreas | None = None
    error_freedom: float | None = None
    n_deciding: float | None = None

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, PairedDifference) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        metric = "" if self.comparison is None else f"{self.comparison.metric} "
        return f"<{type(self).__name__}: {metric}{short_text(self)}>"

    def __str__(self) -> str:
        scale = scale_of(self)
        limits = rendering.limits(self.confidence_interval, scale)
        return f"{rendering.number(self.difference, scale)} ({limits})"

    def __float__(self) -> float:
        return self.difference

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return f"{self.difference:{spec}} ({self.confidence_interval:{spec}})"

    # -------------------------------------------------------------- what the comparison knows

    @property
    def _facts(self) -> ComparisonFacts:
        if self.comparison is None:
            raise ValueError("This pair is not from a ComparisonResult: its metric is unknown.")
        return self.comparison

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self._facts.metric

    @property
    def greater_is_better(self) -> bool | None:
        """Direction of the metric; None if unknown."""
        return self._facts.greater_is_better

    @property
    def estimand(self) -> str:
        """What the difference is of: "system" or "method"."""
        return self._facts.estimand

    @property
    def unit(self) -> str:
        """What was resampled, in the singular: "row", "group", ..."""
        return self._facts.unit

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """How many units there were to draw from; a number per factor if there are two."""
        return self._facts.n_units

    # -------------------------------------------------------------- intervals

    @property
    def widest_interval(self) -> ConfidenceInterval:
        """The simultaneous interval, or the interval of the pair where there is none."""
        return self.simultaneous_interval or self.confidence_interval

    @property
    def excludes_zero(self) -> bool:
        """Whether the systems can be told apart: the widest interval lies on one side of 0."""
        low, high = self.widest_interval
        return bool(low > 0 or high < 0)

    def _scale(self, *intervals: ConfidenceInterval, rounding: float = 0.0) -> rendering.Scale:
        """Return the decimals that its own intervals, and others beside them, support."""
        low, high = self.confidence_interval
        if math.isinf(low) != math.isinf(high):
            # A one-sided interval is as wide as its limit is far from the estimate, twice.
            limit = high if math.isinf(low) else low
            low, high = sorted((limit, 2 * self.difference - limit))
        width = high - low
        if not (math.isfinite(width) and width > rounding and rendering.differ(low, high)):
            size = abs(self.difference)
            width = size / 10 if math.isfinite(size) and size > rounding else 0.1
        shown = (self.widest_interval, self.confidence_interval, *intervals)
        return rendering.Scale.of([self.difference], shown, width=width)

    # -------------------------------------------------------------- decisions

    @door("PairedDifference.verdict")
    def verdict(self, margin: float = 0.0) -> Verdict:
        """Say whether the first is not worse than the second by more than a margin.

        Parameters
        ----------
        margin : float
            By how much the first may be worse, in units of the metric (0.01 is one point of an
            accuracy in percent), at least 0. With 0 it passes only if it is better.

        Returns
        -------
        Verdict
            "pass", "fail" or "inconclusive", with the smallest margin that would have passed and
            the one that this comparison could have shown. By the simultaneous interval where there
            is one.

        Raises
        ------
        ValueError
            If the margin is negative or at least the range of the metric, the direction of the
            metric is unknown, or the intervals are one-sided.

        Notes
        -----
        Right and wrong on independent rows are judged by Tango's score interval (1998), whatever
        interval is shown, unless that holds at every look. A system that is worse by exactly the
        margin passes in at most 2.6 % of the data sets at 95 % (computed exactly for 50 to 2000
        rows), by a Wald interval in up to 9 % of 100 rows and 4.6 % of 200. Areas under ROC curves
        on independent rows are judged by DeLong's interval, widened by limits of both areas on the
        logit scale.

        Examples
        --------
        >>> from skboot import compare_systems
        >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
        >>> systems = {"new": y_true, "old": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
        >>> [pair] = compare_systems(y_true, systems, random_state=0).pairs
        >>> verdict = pair.verdict(margin=0.02)
        >>> verdict.outcome, verdict.smallest_margin
        ('pass', 0.0)
        """
        return decisions.verdict_of(self, margin)

    @property
    @door("PairedDifference.equivalence_margin")
    def equivalence_margin(self) -> float:
        """Smallest margin within which both are equivalent: the largest absolute limit.

        By the interval that `verdict` uses. Two systems are equivalent within any larger margin, at
        a level of 2.5 % of each of two one-sided tests (for 95 % intervals).
        """
        return decisions.equivalence_margin_of(self)

    def mirrored(self) -> Self:
        """Return the same pair with the systems exchanged."""
        simultaneous = self.simultaneous_interval
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,
            confidence_interval=self.confidence_interval.mirrored(),
            simultaneous_interval=None if simultaneous is None else simultaneous.mirrored(),
            bootstrap_support=1.0 - self.bootstrap_support,
            n_runs=self.n_runs and self.n_runs[::-1],
            discordant=self.discordant and self.discordant.mirrored(),
            areas=self.areas and self.areas.mirrored(),
            outperformance=self.outperformance and self.outperformance.mirrored(),
            alternative=MIRRORED[self.alternative],
            step_down_sign=None if self.step_down_sign is None else -self.step_down_sign,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the pair by name, without what all pairs of the comparison share.

        Returns
        -------
        dict
            Intervals are dicts too.
        """
        record = {name: value for name, value in vars(self).items() if name != "comparison"}
        simultaneous, outperformance = self.simultaneous_interval, self.outperformance
        record["confidence_interval"] = self.confidence_interval.to_dict()
        record["simultaneous_interval"] = simultaneous and simultaneous.to_dict()
        record["outperformance"] = outperformance and outperformance._asdict()
        record["discordant"] = self.discordant and self.discordant._asdict()
        record["areas"] = self.areas and self.areas._asdict()
        return record

    def _further_cells(self, options: rendering.TableOptions) -> dict[str, str]:
        """Return what a table shows of it in columns of their own, by their titles."""
        exact = self.mcnemar_p_value if options.p_values else None
        return {} if exact is None else {"McNemar p": p_number(exact)}

    def _row(self, is_distinguishable: bool) -> dict[str, Any]:
        """Return the row of a data frame."""
        wide, share = self.simultaneous_interval, self.outperformance
        shares = (np.nan, np.nan, np.nan) if share is None else share[:3]
        return {
            "metric": self.metric,
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            **self.confidence_interval._row(),
            "simultaneous_low": np.nan if wide is None else wide.low,
            "simultaneous_high": np.nan if wide is None else wide.high,
            "p_value": self.p_value,
            "p_value_adjusted": self.p_value_adjusted,
            "bootstrap_support": self.bootstrap_support,
            "standard_error": self.standard_error,
            "mcnemar_p_value": np.nan if self.mcnemar_p_value is None else self.mcnemar_p_value,
            "outperformance": shares[0],
            "outperformance_low": shares[1],
            "outperformance_high": shares[2],
            "is_distinguishable": is_distinguishable,
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Self:
        """Make a pair of what `to_dict` returned.

        Parameters
        ----------
        parts : mapping
            Fields by name.

        Returns
        -------
        PairedDifference
            Equal to the first one, once its comparison is filled in.
        """
        simultaneous, outperformance = parts["simultaneous_interval"], parts["outperformance"]
        # Files of earlier versions have no areas.
        discordant, areas = parts["discordant"], parts.get("areas")
        return cls(
            **{
                **parts,
                "confidence_interval": ConfidenceInterval(**parts["confidence_interval"]),
                "simultaneous_interval": simultaneous and ConfidenceInterval(**simultaneous),
                "outperformance": outperformance and Outperformance(**outperformance),
                "discordant": discordant and Discordant(**discordant),
                "areas": areas and TwoAreas(**areas),
            }
        )


def taken_up(pair: PairedDifference, comparison: ComparisonFacts) -> PairedDifference:
    """Return the pair as one of a comparison; `dataclasses.replace` takes ten times as long."""
    copy = object.__new__(type(pair))
    copy.__dict__.update(pair.__dict__, comparison=comparison)
    return copy
