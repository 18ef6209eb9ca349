"""`ComparisonResult`: paired differences of several systems, which show who differs from the best.

A `PairedDifference` gives verdicts, the pairs of a comparison together its `Ranks`. Words and
tables are in `skboot.results.comparison_texts`; several comparisons are a
`skboot.results.ResultTable`.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._base.checks import is_among
from .._base.doors import door
from .._base.errors import fail, refuse, thousands
from .._base.hints import Hinting
from .._base.values import LazySequence, ReadOnlyDict, same_values
from ..inference._tuning import FEW_CARRIERS, FEW_COMPARED
from ..inference.differences import (
    FEW_DEGREES,
    HOLDS_FOR_FEW,
    detectable_margin,
    outcome_of,
)
from ..inference.evidence import ConfidenceInterval, DrawnUnits, joint_bounds, range_of_difference
from ..inference.intervals import MIRRORED, title_of
from ..inference.proportions import Discordant, TwoAreas, tango_limits
from ..inference.runs import Outperformance
from . import comparison_texts, rendering, result, wording
from .comparison_texts import method_name, p_number, scale_of, short_text
from .result import (
    EvaluationResult,
    FromACall,
    Number,
    Provenance,
    Shown,
    ShownDifferences,
    frame_of,
    gathered,
    names_in_files,
    names_meant,
    plain,
    written_page,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..plots import ComparisonDisplay

# A pair is a value by itself: a verdict or a plan needs its direction, its units and its degrees of
# freedom. What all pairs of a comparison share is one `ComparisonFacts`, to which each pair refers.


@dataclass(frozen=True)
class ComparisonFacts:
    """Facts that all pairs of a comparison share.

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
    rounding : float
        What scores of this size differ by through rounding alone.
    drawn : DrawnUnits
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
    drawn: DrawnUnits = field(compare=False)
    varied: str | None = None
    paired_runs: bool = False
    paired: bool = True
    bounds: tuple[float, float] = (-math.inf, math.inf)
    n_samples: int | None = None
    rounding: float = field(default=0.0, compare=False)
    # Columns that `digits` is made of: difference, interval and simultaneous interval of each pair.
    _shown: Sequence[Sequence[Any]] = field(default=(), compare=False, repr=False)

    @cached_property
    def digits(self) -> int:
        """Decimals that the differences and their limits have at least, in tables and sentences.

        As many as the difference that needs most: they are counted when the first is written.
        """
        return max(
            _scale_of_numbers(value, interval, wide or interval, rounding=self.rounding).digits
            for value, interval, wide in zip(*self._shown, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        # A pair that is pickled by itself does not take the numbers of all others along.
        return vars(self) | {"digits": self.digits, "_shown": ()}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairedDifference(Hinting):
    """One pair of systems, or of methods.

    As text a pair is its difference and the limits of its own interval; a format, as in
    ``f"{pair:.3f}"``, applies to all three numbers, and ``float(pair)`` is the difference. Two
    pairs are equal if all they hold is equal (NaN equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    difference : float
        The estimate: the score of the first minus that of the second.
    confidence_interval : ConfidenceInterval
        For this difference by itself.
    first, second : str
        Names.
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
        Degrees of freedom of the t interval of methods; of systems, units less strata. None where
        the interval uses no resamples.
    components : mapping of str to float, or None
        Parts of the squared standard error of methods on a test set: "runs", which more runs would
        reduce, and "test", which more test units would reduce.
    n_runs : tuple of int, or None
        Runs of the first and of the second method on a test set.
    mcnemar_p_value : float or None
        Exact, where both are right or wrong on independent rows.
    n_deciding : float or None
        Units that decide the difference: as many, of equal influence on it, would make it vary as
        much. Of right and wrong rows about as many as differ between two systems. Known for systems
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

    See Also
    --------
    ComparisonResult : All pairs of a comparison, in ``pairs``.

    Examples
    --------
    >>> from skboot import compare_systems
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> systems = {"new": y_true, "old": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> [pair] = compare_systems(y_true, systems, random_state=0).pairs
    >>> print(pair)
    0.100 (0.060 to 0.145)
    >>> pair.excludes_zero, round(pair.n_deciding)
    (True, 25)
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
    # Right and wrong rows that count for the first alone, for the second alone, and all. None, as
    # are areas, with intervals that hold at every look, by which verdicts are made then.
    _discordant: Discordant | None = None
    outperformance: Outperformance | None = None
    reason: str = ""
    alternative: str = "two-sided"
    # Quantile of the normal distribution that the simultaneous interval reaches out to.
    _simultaneous_quantile: float | None = None
    # 1 where the first scores significantly higher, -1 lower, 0 neither, by the simultaneous tests
    # over all pairs of `ComparisonResult.ranks`; None where there are no ranks.
    _step_down_sign: int | None = None
    # What all pairs share; the `ComparisonResult` that takes up the pair fills it in.
    _comparison: ComparisonFacts | None = None
    # Where both are areas under ROC curves on the same independent rows (DeLong et al. 1988).
    _areas: TwoAreas | None = None
    # Degrees of freedom of the standard error, by the kurtosis of what single units bring to the
    # difference: few where few rows decide. Of systems on the same rows whose scores are functions
    # of sums, other than shares; None of others and of very many rows.
    _error_freedom: float | None = None
    n_deciding: float | None = None

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, PairedDifference) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        metric = "" if self._comparison is None else f"{self._comparison.metric} "
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
        if self._comparison is None:
            raise ValueError("This pair is not from a ComparisonResult: its metric is unknown.")
        return self._comparison

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
        """Kind of what is compared: "system" or "method"."""
        return self._facts.estimand

    @property
    def unit(self) -> str:
        """Unit that was resampled, in the singular: "row", "group", ..."""
        return self._facts.unit

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """How many units there were to draw from; a number per factor if there are two."""
        return self._facts.n_units

    # -------------------------------------------------------------- intervals

    @property
    def _widest_interval(self) -> ConfidenceInterval:
        """The simultaneous interval, or the interval of the pair where there is none."""
        return self.simultaneous_interval or self.confidence_interval

    @property
    def excludes_zero(self) -> bool:
        """Whether the systems can be distinguished: the widest interval lies on one side of 0."""
        low, high = self._widest_interval
        return bool(low > 0 or high < 0)

    @property
    def _width(self) -> float:
        """Width of the interval, or what its decimals are made of instead."""
        return _width_of(self.difference, self.confidence_interval, self._facts.rounding)

    def _scale(self, *intervals: ConfidenceInterval, rounding: float = 0.0) -> rendering.Scale:
        """Return the decimals that its own intervals, and others beside them, support."""
        numbers = (self.difference, self.confidence_interval, self._widest_interval)
        return _scale_of_numbers(*numbers, *intervals, rounding=rounding)

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
        margin passes in at most 2.6% of the data sets at 95% (computed exactly for 50 to 2000
        rows), by a Wald interval in up to 9% of 100 rows and 4.6% of 200. Areas under ROC curves
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
        return verdict_of(self, margin)

    @property
    @door("PairedDifference.equivalence_margin")
    def equivalence_margin(self) -> float:
        """Smallest margin within which both are equivalent: the largest absolute limit.

        By the interval that `verdict` uses. Two systems are equivalent within any larger margin, at
        a level of 2.5% of each of two one-sided tests (for 95% intervals).
        """
        low, high = _deciding_interval(self)
        return float(np.maximum(abs(low), abs(high)))

    def _mirrored(self) -> Self:
        """Return the same pair with the systems exchanged."""
        simultaneous = self.simultaneous_interval
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,
            confidence_interval=self.confidence_interval._mirrored(),
            simultaneous_interval=None if simultaneous is None else simultaneous._mirrored(),
            bootstrap_support=1.0 - self.bootstrap_support,
            n_runs=self.n_runs and self.n_runs[::-1],
            _discordant=self._discordant and self._discordant.mirrored(),
            _areas=self._areas and self._areas.mirrored(),
            outperformance=self.outperformance and self.outperformance._mirrored(),
            alternative=MIRRORED[self.alternative],
            _step_down_sign=None if self._step_down_sign is None else -self._step_down_sign,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the pair by name, without what all pairs of the comparison share.

        Returns
        -------
        dict
            Intervals are dicts too.
        """
        record = {name.removeprefix("_"): value for name, value in vars(self).items()}
        del record["comparison"]
        simultaneous, outperformance = self.simultaneous_interval, self.outperformance
        record["confidence_interval"] = self.confidence_interval.to_dict()
        record["simultaneous_interval"] = simultaneous and simultaneous.to_dict()
        record["outperformance"] = outperformance and outperformance._asdict()
        record["discordant"] = self._discordant and self._discordant._asdict()
        record["areas"] = self._areas and self._areas._asdict()
        return record

    def _further_cells(self, options: rendering.TableOptions) -> dict[str, str]:
        """Return further cells of the pair's row of a table, by the titles of their columns."""
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
    def _from_dict(cls, parts: Mapping[str, Any]) -> Self:
        """Return the equal of the pair of a `to_dict`, once its comparison is filled in."""
        names = names_in_files(cls)
        fields = {names.get(name, name): value for name, value in parts.items()}
        kinds: dict[str, Any] = {
            "confidence_interval": ConfidenceInterval,
            "simultaneous_interval": ConfidenceInterval,
            "outperformance": Outperformance,
            "_discordant": Discordant,
            "_areas": TwoAreas,  # which files of earlier versions lack
        }
        for name, kind in kinds.items():
            if fields.get(name):
                fields[name] = kind(**fields[name])
        return cls(**fields)


Pair = TypeVar("Pair", bound=PairedDifference)


class PairRecords(LazySequence[Pair]):
    """Pairs of a comparison: columns of what is known of all, and records of those asked for.

    A hundred systems have 4,950 pairs, of which a reader looks at few.

    Parameters
    ----------
    kind : type
        Class of the records.
    columns : mapping of str to sequence of length n_pairs
        By the attribute of a record.
    facts : ComparisonFacts, optional
        What all pairs share.
    """

    def __init__(
        self,
        kind: type[Pair],
        columns: Mapping[str, Sequence[Any]],
        facts: ComparisonFacts | None = None,
    ) -> None:
        self.kind, self.columns = kind, columns

        def make(k: int) -> Pair:
            values = {name: column[k] for name, column in columns.items()}
            return kind(**values, _comparison=facts)

        super().__init__(make, len(columns["difference"]))


def _scale_of_numbers(
    difference: float,
    interval: ConfidenceInterval,
    widest: ConfidenceInterval,
    *intervals: ConfidenceInterval,
    rounding: float,
) -> rendering.Scale:
    """Return the decimals that a difference, both its intervals and others beside them support."""
    width = _width_of(difference, interval, rounding)
    return rendering.Scale.of([difference], (widest, interval, *intervals), width=width)


def _width_of(difference: float, interval: ConfidenceInterval, rounding: float) -> float:
    """Return the width of an interval; without one, what its decimals are made of instead."""
    low, high = interval
    if math.isinf(low) != math.isinf(high):
        # A one-sided interval is as wide as its limit is far from the estimate, twice.
        limit = high if math.isinf(low) else low
        low, high = sorted((limit, 2 * difference - limit))
    width = high - low
    if math.isfinite(width) and width > rounding and rendering.differ(low, high):
        return width
    size = abs(difference)
    return size / 10 if math.isfinite(size) and size > rounding else 0.1


# ------------------------------------------------------------------ what a pair decides


@dataclass(frozen=True)
class Verdict(Hinting):
    """Whether the first of a pair is not inferior to the second, within a margin.

    `skboot.testing.assert_not_worse` and ``pair.verdict(margin)`` of a comparison make them. There
    are three outcomes, so a verdict has no truth value: use ``passed``, ``failed`` or ``outcome``.

    Attributes
    ----------
    outcome : {"pass", "fail", "inconclusive"}
        "pass": the whole interval lies above minus the margin. "fail": it lies below.
    margin : float
        Non-inferiority margin: how much worse the first may be, in units of the metric; 0 asks
        whether it is better.
    smallest_margin : float
        Margins above this one pass; 0 where the first is better.
    detectable_margin : float
        Margin that would pass with a probability of 80% if both were equal, estimated from this
        comparison.
    interval : ConfidenceInterval
        Interval of the advantage of the first, positive where it is better: of a loss that of the
        difference with the other sign. Simultaneous over all pairs of the comparison if they were
        adjusted.
    statement : str
        The verdict in words.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=2000)
    >>> systems = {name: y_true ^ (rng.random(2000) < 0.1) for name in ("new", "old")}
    >>> [pair] = compare_systems(y_true, systems, random_state=0).pairs
    >>> verdict = pair.verdict(margin=0.03)
    >>> verdict.outcome, verdict.passed
    ('pass', True)
    """

    outcome: str
    margin: float
    smallest_margin: float
    detectable_margin: float
    interval: ConfidenceInterval
    statement: str

    @property
    def passed(self) -> bool:
        """Whether the first is shown not to be worse by more than the margin."""
        return self.outcome == "pass"

    @property
    def failed(self) -> bool:
        """Whether the first is shown to be worse by more than the margin."""
        return self.outcome == "fail"

    def __bool__(self) -> NoReturn:
        raise TypeError("A verdict has three outcomes: ask .passed or .outcome.")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            raise TypeError(f"A verdict is not a string: compare .outcome == {other!r}.")
        return same_values(self, other) if isinstance(other, Verdict) else NotImplemented

    def __str__(self) -> str:
        return self.statement

    def _repr_html_(self) -> str:
        interval, low = self.interval, self.interval.low
        level = rendering.percent(interval.confidence_level)
        scale = _scale_of_numbers(low, interval, interval, rounding=0.0)
        title = title_of(interval.method, method_name(interval.method))
        limits = f"{rendering.limits(interval, scale)} ({title})"
        facts = [
            ("verdict", self.outcome),
            ("margin", f"{self.margin:g}"),
            (f"{level} CI of the advantage of the first", limits),
        ]
        if not math.isnan(self.smallest_margin):
            least = rendering.number(self.smallest_margin, scale.decimals(low))
            facts.append(("margins that pass", f"above {least if self.smallest_margin else 0}"))
        if not math.isnan(self.detectable_margin):
            shown = rendering.number(self.detectable_margin, scale)
            passes = f"{shown}: it would pass in 80% of cases if both were equally good"
            facts.append(("detectable margin", passes))
        return rendering.html_of(self.statement, rendering.html_list(facts))

    @overload
    def to_html(self, path: None = ...) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    @door("Verdict.to_html")
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Make a web page.

        Parameters
        ----------
        path : path-like, optional
            File to write.

        Returns
        -------
        str or None
            The page, if no path is given.
        """
        return written_page(path, f"Verdict: {self.outcome}", self._repr_html_())


def verdict_of(pair: PairedDifference, margin: Any) -> Verdict:
    """Return the verdict on a pair; see `PairedDifference.verdict`."""
    margin = check_margin(margin)
    check_below_range("margin", margin, pair.metric, pair._comparison.bounds)  # type: ignore[union-attr]
    interval = _deciding_interval(pair)
    if pair.greater_is_better is None:
        raise unknown_direction("verdict")
    advantage = interval if pair.greater_is_better else interval._mirrored()
    low, high = advantage
    outcome = outcome_of(low, high, margin)
    smallest = math.nan if math.isnan(low) else max(0.0, -low)
    verdict = Verdict(outcome, margin, smallest, _detectable(pair, interval), advantage, "")
    return replace(verdict, statement=_statement(pair, interval, verdict))


def check_margin(margin: Any) -> float:
    """Accept a finite number of at least 0."""
    is_number = isinstance(margin, Real) and not isinstance(margin, bool | np.bool_)
    if is_number and 0 <= float(margin) < math.inf:
        return float(margin)
    advice = "It is how much worse the first may be, whatever the direction of the metric."
    raise fail("margin", "be a finite number of at least 0", repr(margin), advice)


def check_below_range(name: str, value: float, metric: str, bounds: tuple[float, float]) -> None:
    """Refuse a margin, or a difference, as large as the range of the metric."""
    low, high = bounds
    if value < high - low:
        return
    must = f"be below {high - low:g}, the range of {metric} ({low:g} to {high:g})"
    advice = (
        "No two systems can be further apart. It is in units of the metric: a hundredth of its "
        f"range is {name}={(high - low) / 100:g}."
    )
    raise fail(name, must, f"{value:g}", advice)


def unknown_direction(noun: str) -> ValueError:
    """Make the error of a decision where it is not known which direction is better."""
    return refuse(
        f"a {noun} needs to know whether larger values of the metric are better. Give "
        "greater_is_better=True or False to the comparison."
    )


def one_sided(noun: str, alternative: str) -> ValueError:
    """Make the error of a decision that intervals of one side cannot give."""
    return refuse(
        f"{noun} needs two-sided intervals, and these were made with "
        f"alternative={alternative!r}. Compare with alternative='two-sided'."
    )


def few_compared(unit: str, n_units: int | tuple[int, ...]) -> str:
    """Return the caution for a comparison of few units; empty where there are enough."""
    fewest = int(np.min(n_units))
    if fewest >= FEW_COMPARED:
        return ""
    units = wording.counted(fewest, unit)
    verb = "was" if fewest == 1 else "were"
    return f"Only {units} {verb} compared (fewer than {FEW_COMPARED}): such a result is rough."


def few_decide(pair: PairedDifference) -> str:
    """Return the caution for a difference that few units decide; empty where enough do.

    Closed forms of shares and smoothed tables hold for any number of them.
    """
    number, method = pair.n_deciding, pair.confidence_interval.method
    if number is None or not number < FEW_CARRIERS or method in HOLDS_FOR_FEW:
        return few_compared(pair.unit, pair.n_units)
    about = min(round(number), FEW_CARRIERS - 1)
    decide = f"{wording.counted(about, pair.unit)} {'decides' if about == 1 else 'decide'}"
    return f"About {decide} this difference (fewer than {FEW_CARRIERS}): such a result is rough."


def verdict_table(result: ComparisonResult, verdict: Verdict) -> rendering.Table:
    """Return a row with what was compared, both scores, the interval that decides and the verdict.

    Parameters
    ----------
    result : ComparisonResult
        Comparison of two systems.
    verdict : Verdict
        On its pair.
    """
    [pair] = result.pairs
    interval, names = _deciding_interval(pair), (pair.first, pair.second)
    decimals, asked = wording.decimals_of([result]), rendering.NOTHING_ASKED
    column = rendering.Fixed(decimals.at(pair._width), rounding=pair._facts.rounding)
    level = rendering.percent(interval.confidence_level)
    title = title_of(interval.method, method_name(interval.method))
    header = ["metric", "verdict", "n", pair.first, pair.second, "difference"]
    cells = [
        wording.spoken(result.metric),
        verdict.outcome,
        thousands(wording.n_scored(result)),
        *(
            rendering.number(score.estimate, wording.column_of(score, decimals, asked))
            for score in map(result.systems.__getitem__, names)
        ),
        rendering.number(pair.difference, column),
        rendering.limits(interval, column),
        f"{verdict.margin:g}",
    ]
    return rendering.Table([*header, f"{level} CI ({title})", "margin"], [cells], 2)


def _deciding_interval(pair: PairedDifference) -> ConfidenceInterval:
    """Return the interval that decides: closed for right and wrong and for areas, or the widest."""
    if pair.alternative != "two-sided":
        raise one_sided("a verdict", pair.alternative)
    level, quantile = pair.confidence_interval.confidence_level, _score_quantile(pair)
    if pair._areas is not None:
        interval = ConfidenceInterval(*pair._areas.limits(quantile), level, "logit-delong")
    elif pair._discordant is not None:
        limits = tango_limits(Discordant(*pair._discordant), quantile)
        interval = ConfidenceInterval(*limits, level, "tango")
    else:
        return pair._widest_interval
    return interval._within(*range_of_difference(pair._comparison.bounds))  # type: ignore[union-attr]


def _score_quantile(pair: PairedDifference) -> float:
    """Quantile of the normal distribution that the widest interval reaches out to."""
    quantile = float(ndtri(0.5 + pair.confidence_interval.confidence_level / 2))
    if pair.simultaneous_interval is not None and pair._simultaneous_quantile is not None:
        # Of resamples that hardly vary the joint quantile can be smaller.
        return max(quantile, pair._simultaneous_quantile)
    return quantile


def _detectable(pair: PairedDifference, interval: ConfidenceInterval) -> float:
    """Return the margin that would pass with 80% probability if both were equal."""
    if pair._discordant is not None:
        # As if the rows on which they differ were split evenly.
        half = sum(pair._discordant[:2]) / 2
        n = pair._discordant[2]
        low, _ = tango_limits(Discordant(half, half, n), _score_quantile(pair))  # type: ignore[arg-type]
        return detectable_margin(-low, math.sqrt(2 * half) / n, math.inf)
    if pair._areas is not None:
        low, _ = pair._areas.as_if_equal().limits(_score_quantile(pair))
        return detectable_margin(-low, pair._areas.error, pair._areas.smaller_class - 1)
    low, high = interval
    greater = pair.greater_is_better is not False
    half_width = pair.difference - low if greater else high - pair.difference
    freedom = math.inf if pair.degrees_of_freedom is None else float(pair.degrees_of_freedom)
    return detectable_margin(half_width, standard_error_of(pair), freedom)


def standard_error_of(pair: PairedDifference) -> float:
    """Return the standard error; that of resamples is too small by sqrt(df / n) for few units."""
    if pair.estimand != "system":
        return pair.standard_error
    return pair.standard_error * math.sqrt(int(np.min(pair.n_units)) / freedom_of(pair))


def freedom_of(pair: PairedDifference) -> float:
    """Degrees of freedom of the standard error; without resamples, one less than the units."""
    if pair.degrees_of_freedom is not None:
        return float(pair.degrees_of_freedom)
    return max(int(np.min(pair.n_units)) - 1.0, 1.0)


def _statement(pair: PairedDifference, interval: ConfidenceInterval, verdict: Verdict) -> str:
    """Return the verdict in words."""
    outcome, margin, scale = verdict.outcome, verdict.margin, scale_of(pair, interval)
    metric = wording.spoken(pair.metric)
    name_a, name_b = map(rendering.one_line, (pair.first, pair.second))
    names = f"{name_a} and {name_b}"
    by_margin = f"than {name_b} in {metric} by more than {margin:g}"
    is_better = verdict.interval.low > 0
    also = ", and significantly better" if is_better else ""
    said = {
        ("pass", True): f"{name_a} is significantly better than {name_b} in {metric}",
        ("fail", True): f"{name_a} is significantly worse than {name_b} in {metric}",
        ("inconclusive", True): f"it is not shown which of {names} is better in {metric}",
        ("pass", False): f"{name_a} is not worse {by_margin}{also}",
        ("fail", False): f"{name_a} is worse {by_margin}",
        ("inconclusive", False): f"it is not shown whether {name_a} is worse {by_margin}",
    }[outcome, margin == 0]
    if math.isnan(interval.low) or math.isnan(interval.high):
        return f"{outcome}: {said} (the difference has no interval)."
    limit = interval.high if pair.greater_is_better is False else interval.low
    # The smallest margin is a limit, but for its sign.
    least = rendering.number(verdict.smallest_margin, scale.decimals(limit))
    least = least if verdict.smallest_margin else "0"
    could_show = ""
    if not verdict.passed and not math.isnan(verdict.detectable_margin):
        could_show = (
            "; if both were equally good, a comparison of this size would pass a margin of "
            f"{rendering.number(verdict.detectable_margin, scale_of(pair))} in 80% of cases"
        )
        freedom = pair.degrees_of_freedom
        if freedom is not None and freedom < FEW_DEGREES and pair._discordant is None:
            could_show += f" (roughly: {freedom:.3g} degrees of freedom tell little of it)"
    parts = [] if is_better else [f"Margins above {least} pass{could_show}."]
    parts += filter(None, [few_decide(pair)])
    return " ".join([f"{outcome}: {said} ({_numbers(pair, interval)}).", *parts])


def _numbers(pair: PairedDifference, interval: ConfidenceInterval) -> str:
    """Write the difference, its sign if that misleads, and the interval that decides."""
    scale, shown = scale_of(pair, interval), pair._widest_interval
    sign = ", where smaller is better" if pair.greater_is_better is False else ""
    # The widest interval allows for other pairs.
    wide = pair.simultaneous_interval
    is_joint = wide is not None and wide.method != pair.confidence_interval.method
    joint = "simultaneous " if is_joint else ""
    level = rendering.percent(interval.confidence_level)
    title, shown_title = (
        title_of(interval_used.method, method_name(interval_used.method))
        for interval_used in (interval, shown)
    )
    name = f", {title}"
    if interval.method != shown.method:
        name = f" by {title}'s method, which decides instead of the {shown_title} interval"
    return (
        f"difference {rendering.number(pair.difference, scale)}{sign}, {joint}{level} CI "
        f"{rendering.limits(interval, scale)}{name}"
    )


# ------------------------------------------------------------------ ranks

# A system has rank 1 + the number of systems that are strictly better. With simultaneous statements
# on all differences, its rank is at least 1 + the number of systems that are shown to be better,
# and at most the number of systems less those shown to be worse (Mogstad, Romano, Shaikh & Wilhelm
# 2024).


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

    Examples
    --------
    >>> from skboot import compare_systems
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> systems = {"new": y_true, "old": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> rank = compare_systems(y_true, systems, random_state=0).ranks()["old"]
    >>> rank.rank, rank.low, rank.high
    (2, 2, 2)
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
    _noun: str
    metric: str
    caution: str

    def __getitem__(self, name: str) -> Any:
        for row in self.rows:
            if row.system == name:
                return row
        raise KeyError(f"No {self._noun} is called {name!r}: {list(self)}.")

    def __iter__(self) -> Iterator[str]:
        return (row.system for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        table = rendering.text_table(self._table())
        return f"{table}\n{self.caution}" if self.caution else table

    def __repr__(self) -> str:
        heading = f"{len(self)} {self._noun}s by {wording.spoken(self.metric)}"
        return f"<{type(self).__name__} of {heading}>\n{self}"

    def _repr_html_(self) -> str:
        caution = f"<p>{escape(self.caution)}</p>" if self.caution else ""
        return rendering.html_table(self._table()) + caution

    @abstractmethod
    def _table(self) -> rendering.Table:
        """Return the table that is shown."""

    def to_frame(self) -> DataFrame:
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
        return frame_of([asdict(row) for row in self.rows], type(self).__name__)

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
            The best system first.
        """
        return rendering.markdown_table(self._table())

    def to_latex(self) -> str:
        """Return a tabular in LaTeX with the rules of the booktabs package, a row per system.

        Returns
        -------
        str
            The best system first.
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
        Confidence level of all intervals of ranks together.
    rows : tuple of Rank
        The ranks.
    caution : str
        Said below the table where fewer than ten units were compared; else empty.

    See Also
    --------
    skboot.plots.RankDisplay : Picture of them.

    Examples
    --------
    >>> from skboot import compare_systems
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> systems = {"A": y_true, "B": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> ranks = compare_systems(y_true, systems, random_state=0).ranks()
    >>> ranks["B"].rank, ranks["B"].low, ranks["B"].high
    (2, 2, 2)
    """

    metric: str
    confidence_level: float
    rows: tuple[Rank, ...]
    _texts: tuple[str, ...]  # the estimates as they are shown
    _noun: str  # what is ranked: "system" or "method"
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
            for row, text in zip(self.rows, self._texts, strict=True)
        ]
        return rendering.Table(
            [self._noun, wording.spoken(self.metric), "rank", f"{level} simultaneous"], rows
        )


def ranks_of(result: ComparisonResult) -> Ranks:
    """Return the ranks of the systems of a comparison; see `ComparisonResult.ranks`."""
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
    if any(pair._step_down_sign is None for pair in result.pairs):
        raise refuse(
            "ranks need the joint distribution of all differences, and these were adjusted with "
            f"adjust={result.adjust!r}. Compare with adjust='max-t'."
        )
    names = list(result.systems)
    number = {name: k for k, name in enumerate(names)}
    n_better, n_surely_better, n_surely_worse = np.zeros((3, len(names)), dtype=np.intp)
    sign = 1 if result.greater_is_better else -1
    for pair in result.pairs:
        a, b = number[pair.first], number[pair.second]
        advantage = sign * pair.difference
        if advantage > 0:
            n_better[b] += 1
        elif advantage < 0:
            n_better[a] += 1
        if pair._step_down_sign:
            ahead, behind = (a, b) if pair._step_down_sign == sign else (b, a)
            n_surely_better[behind] += 1
            n_surely_worse[ahead] += 1
    rows = []
    n_scored = sum(not math.isnan(score.estimate) for score in result.systems.values())
    for name in result.ranking:
        k, estimate = number[name], result.systems[name].estimate
        # A system without a score stands behind all that have one.
        rank = 1 + (n_scored if math.isnan(estimate) else int(n_better[k]))
        low, high = 1 + int(n_surely_better[k]), len(names) - int(n_surely_worse[k])
        rows.append(Rank(name, float(estimate), rank, low, high))
    decimals, asked = wording.decimals_of([result]), rendering.NOTHING_ASKED
    texts = tuple(
        rendering.number(
            row.estimate, wording.column_of(result.systems[row.system], decimals, asked)
        )
        for row in rows
    )
    level, pair = result.confidence_level, result.pairs[0]
    caution = few_compared(pair.unit, pair.n_units)
    return Ranks(result.metric, level, tuple(rows), texts, result._compared, caution)


# ------------------------------------------------------------------ the comparison


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonResult(FromACall, ShownDifferences):
    """Differences of systems on the same rows, with intervals and p-values.

    `skboot.compare_systems`, `skboot.compare_runs` and `skboot.compare_methods` make them. For two
    systems ``float(result)`` is the difference, and a format, as in ``f"{result:.3f}"``, applies to
    it and its limits; for more, use ``result.pair("A", "B")`` and ``result.systems["A"]``. Two
    results are equal if all they hold is equal; they cannot be hashed or changed.

    Attributes
    ----------
    metric : str
        Name of the metric.
    estimand : {"system", "method"}
        What the differences are of.
    systems : mapping of str to EvaluationResult
        Each system by itself.
    pairs : tuple of PairedDifference
        One record per pair.
    reference : str or None
        System that all others are compared with; None: all pairs.
    adjust : {"max-t", "holm", "bonferroni", None}
        How intervals and p-values are adjusted for the number of pairs; "bonferroni" where
        intervals hold at every look.
    training_share : float or None
        For methods scored on rows left out: share of the rows (groups) that they were trained on,
        .9 by 10-fold cross-validation and .632 on bootstrap samples. None on a test set.
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

    See Also
    --------
    EvaluationResult : One system.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=400)
    >>> good = y_true ^ (rng.random(400) < 0.10)
    >>> poor = y_true ^ (rng.random(400) < 0.25)
    >>> result = compare_systems(y_true, {"good": good, "poor": poor}, random_state=0)
    >>> [pair] = result.pairs
    >>> pair.excludes_zero
    True
    >>> result.best
    'good'
    """

    metric: str
    estimand: str
    systems: Mapping[str, EvaluationResult]
    pairs: tuple[PairedDifference, ...]
    reference: str | None
    adjust: str | None
    _automatic: bool  # whether the interval was chosen by ``interval="auto"``
    training_share: float | None = None
    _provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", ReadOnlyDict(self.systems))
        evidence = [system._evidence for system in self.systems.values()]
        # On test sets of their own the smallest one decides how much is known.
        sizes = [np.min(score.drawn.n_units) for score in evidence]
        k = int(np.argmin(sizes))
        system, facts = list(self.systems.values())[k], self._provenance.facts
        scores = [abs(float(score.estimate)) for score in evidence]
        rounding = 1e-12 * max((score for score in scores if math.isfinite(score)), default=0.0)
        names = ("difference", "confidence_interval", "simultaneous_interval")
        pairs: Any = self.pairs
        if isinstance(pairs, PairRecords):
            shown = [pairs.columns[name] for name in names]
        else:
            shown = [[getattr(pair, name) for pair in pairs] for name in names]
        shared = ComparisonFacts(
            metric=self.metric,
            greater_is_better=system.greater_is_better,
            estimand=self.estimand,
            unit=system.unit,
            n_units=system.n_units,
            drawn=evidence[k].drawn,
            varied=facts.varied,
            paired_runs=facts.paired_runs,
            paired=facts.paired,
            bounds=joint_bounds(evidence),
            n_samples=system.n_samples,
            rounding=rounding,
            _shown=shown,
        )
        if isinstance(pairs, PairRecords):
            # The tuple of all is made when it is asked for.
            vars(self)["_pair_records"] = PairRecords(pairs.kind, pairs.columns, shared)
            del vars(self)["pairs"]
            return
        held = pairs[0]._comparison
        if held is not None and held == shared and list(held._shown) == shown:
            shared = held
        records = []
        for pair in pairs:
            if pair._comparison is not shared:
                # `dataclasses.replace` takes ten times as long.
                copy = object.__new__(type(pair))
                copy.__dict__.update(pair.__dict__, _comparison=shared)
                pair = copy
            records.append(pair)
        object.__setattr__(self, "pairs", tuple(records))

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self) | {"pairs": self.pairs}
        state.pop("_pair_records", None)
        return state

    @cached_property
    def _pair_records(self) -> Sequence[PairedDifference]:
        """The pairs, of which those are made that are asked for."""
        return self.pairs

    _format = "skboot.ComparisonResult", 2
    _noun = "comparison"
    _display = "ComparisonDisplay.from_result"
    # Class of its pairs.
    _pair_type: ClassVar[type[PairedDifference]] = PairedDifference

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> ComparisonDisplay: ...

    # -------------------------------------------------------------- numbers

    @property
    def _compared(self) -> str:
        """Noun of what is compared, in the singular: "system" or "method"."""
        return self.estimand

    def _method_name(self, method: str) -> str:
        """Return the name of an interval of a difference, in words."""
        return comparison_texts.method_name(method, paired=self._is_paired)

    @property
    def _any_system(self) -> EvaluationResult:
        """The first system, for what all systems share."""
        return next(iter(self.systems.values()))

    @property
    def confidence_level(self) -> float:
        """Level of the intervals."""
        return float(self._pair_records[0].confidence_interval.confidence_level)

    @property
    def greater_is_better(self) -> bool | None:
        """Direction of the metric; None if unknown."""
        return self._any_system.greater_is_better

    @property
    def n_samples(self) -> int:
        """Number of test rows."""
        return int(self._any_system.n_samples)

    @property
    def n_resamples(self) -> int:
        """Number of resamples, which all systems share."""
        return int(self._any_system.n_resamples)

    @property
    @door("ComparisonResult.ranking")
    def ranking(self) -> tuple[str, ...]:
        """Names from the best estimate to the worst; a ValueError if the direction is unknown."""
        if self.greater_is_better is None:
            raise unknown_direction("ranking")
        return self._ordered_names

    @cached_property
    def _ordered_names(self) -> tuple[str, ...]:
        """Names from the best estimate to the worst; the order of the call if that is unknown."""
        sign = {True: -1.0, False: 1.0, None: 0.0}[self.greater_is_better]
        scores = {name: system.estimate for name, system in self.systems.items()}
        # Systems whose score is undefined come last.
        return tuple(sorted(scores, key=lambda k: (np.isnan(scores[k]), sign * scores[k])))

    @cached_property
    def _shown_pairs(self) -> Sequence[PairedDifference]:
        """Pairs that a summary or a picture shows: all, or of many those with the best system.

        A reader compares with the best; all of 20 systems would fill 190 rows.
        """
        if len(self._pair_records) <= comparison_texts.MAX_SHOWN or self.reference is not None:
            return self.pairs
        best, *names = self._ordered_names
        return tuple(self.pair(best, name) for name in names)

    @property
    def best(self) -> str | None:
        """Name of the system with the best estimate; None if the direction is unknown."""
        return None if self.greater_is_better is None else self._ordered_names[0]

    @property
    @door("ComparisonResult.difference")
    def difference(self) -> float:
        """Difference of the two systems, first minus second; AttributeError with more pairs."""
        return self._only_pair(".difference", AttributeError).difference

    @property
    @door("ComparisonResult.confidence_interval")
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval of the difference of the two systems; AttributeError with more pairs."""
        return self._only_pair(".confidence_interval", AttributeError).confidence_interval

    @property
    @door("ComparisonResult.p_value")
    def p_value(self) -> float:
        """P-value of the difference of the two systems; AttributeError with more pairs."""
        return self._only_pair(".p_value", AttributeError).p_value

    @door("ComparisonResult.verdict")
    def verdict(self, margin: float = 0.0) -> Verdict:
        """Say whether the first of two systems is not worse than the second by more than a margin.

        Parameters
        ----------
        margin : float
            As of `PairedDifference.verdict`.

        Returns
        -------
        Verdict
            Of the one pair.

        Raises
        ------
        ValueError
            As of `PairedDifference.verdict`, or if there are more systems than two: ask a pair.
        """
        return self._only_pair(".verdict", ValueError).verdict(margin)

    @property
    def alternative(self) -> str:
        """Alternative hypothesis of intervals and p-values: "two-sided", "greater" or "less"."""
        return self._pair_records[0].alternative

    @property
    def _is_paired(self) -> bool:
        """Whether all systems were scored on the same rows."""
        return self._provenance.facts.paired

    @property
    @door("ComparisonResult.indistinguishable_from_best")
    def indistinguishable_from_best(self) -> tuple[str, ...] | None:
        """Systems that are not significantly different from the best, by the simultaneous interval.

        None where they were not compared with it: the direction is unknown, or all were compared
        with a reference that is not the best. A ValueError where the intervals are one-sided.
        """
        return self._with_best("indistinguishable_from_best", excluding=False)

    @property
    @door("ComparisonResult.distinguishable_from_best")
    def distinguishable_from_best(self) -> tuple[str, ...] | None:
        """Systems that are significantly worse than the best; None as above."""
        return self._with_best("distinguishable_from_best", excluding=True)

    def _with_best(self, name: str, *, excluding: bool) -> tuple[str, ...] | None:
        """Return the systems whose difference from the best excludes 0, or those that hold it."""
        if self.alternative != "two-sided":
            raise one_sided("it", self.alternative)
        best = self.best
        if best is None or self.reference not in (None, best):
            return None
        names = [name for name in self._ordered_names if name != best]
        differs = {name: self.is_distinguishable(self.pair(best, name)) for name in names}
        return tuple(name for name in names if differs[name] == excluding)

    @door("ComparisonResult.is_distinguishable")
    def is_distinguishable(self, pair: PairedDifference) -> bool:
        """Whether the systems of a pair differ: by its widest interval, and Holm's p-value if used.

        Parameters
        ----------
        pair : PairedDifference
            One of ``pairs``, or its mirror image.

        Returns
        -------
        bool
            Never true where the simultaneous interval holds 0.
        """
        record: Any = pair
        if not isinstance(record, PairedDifference):
            raise fail("pair", "be one of result.pairs", repr(record))
        if self.adjust == "holm" and not pair.p_value_adjusted <= round(
            1 - self.confidence_level, 12
        ):
            return False
        return pair.excludes_zero

    @door("ComparisonResult.ranks")
    def ranks(self) -> Ranks:
        """Rank the systems, with intervals of ranks that hold for all of them at once.

        Returns
        -------
        Ranks
            By name: the estimate, its rank, and the best and worst rank (``low``, ``high``) that
            the true score may have; `to_frame`, `to_latex`, `to_markdown`. Rank 1 is the best, and
            equal estimates share the better rank. `skboot.plots.RankDisplay` draws them.

        Raises
        ------
        ValueError
            If not all pairs were compared, with ``adjust="max-t"`` and two-sided, or the direction
            of the metric is unknown.

        Notes
        -----
        The rank of a system is limited by those that are significantly better or worse, by
        one-sided step-down tests of all ordered pairs from the joint bootstrap: significant pairs
        leave, and the quantile of the others is smaller. The quantile is never larger than
        Bonferroni's of Student's t, which alone decides where rows are right or wrong. So ranks can
        be certain where the simultaneous interval of a pair, which has no steps, contains 0.

        References
        ----------
        Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies 91:476; Romano & Wolf
        (2005), Econometrica 73:1237.

        Examples
        --------
        >>> import numpy as np
        >>> from skboot import compare_systems
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.integers(0, 2, size=500)
        >>> systems = {name: y_true ^ (rng.random(500) < rate)
        ...            for name, rate in [("A", 0.10), ("B", 0.12), ("C", 0.30)]}
        >>> print(compare_systems(y_true, systems, random_state=0).ranks())
        system  accuracy  rank  95% simultaneous
        A          0.924     1             1 to 1
        B          0.872     2             2 to 2
        C          0.692     3             3 to 3
        """
        return ranks_of(self)

    @door("ComparisonResult.top")
    def top(self, k: int = 1) -> tuple[str, ...]:
        """Return the systems that cannot be excluded from the best ``k``.

        Parameters
        ----------
        k : int
            From 1 to the number of systems.

        Returns
        -------
        tuple of str
            All whose best possible rank is at most ``k``, the best estimate first: they hold the
            true best with the confidence of the intervals.

        Raises
        ------
        ValueError
            As `ranks`, or if ``k`` is out of range.
        """
        n = len(self.systems)
        number: Any = k
        is_number = isinstance(number, Integral) and not isinstance(number, bool | np.bool_)
        if not is_number or not 1 <= int(k) <= n:
            raise fail("k", f"be an integer from 1 to {n}, the number of systems", repr(k))
        return tuple(row.system for row in ranks_of(self).rows if row.low <= k)

    @cached_property
    def _place_of(self) -> dict[tuple[str, str], int]:
        """Where the pair of two names stands: 180 systems have 16,110, too many to search all."""
        records = self._pair_records
        if isinstance(records, PairRecords):
            names = zip(records.columns["first"], records.columns["second"], strict=True)
            return {pair: k for k, pair in enumerate(names)}
        return {(pair.first, pair.second): k for k, pair in enumerate(records)}

    @door("ComparisonResult.pair")
    def pair(self, first: str, second: str) -> PairedDifference:
        """Return the record of two systems, in this order.

        Parameters
        ----------
        first, second : str
            Names; exchanging them gives the mirror image.

        Returns
        -------
        PairedDifference
            First minus second.

        Raises
        ------
        KeyError
            If they were not compared.
        """
        self._check_systems(first, second, as_pair=True)
        if (first, second) in self._place_of:
            return self._pair_records[self._place_of[first, second]]
        return self._pair_records[self._place_of[second, first]]._mirrored()

    def _check_systems(self, name_a: str, name_b: str, *, as_pair: bool = False) -> None:
        """Refuse names of systems that are not known, or are no pair of the comparison."""
        names, pairs = list(self.systems), self._place_of
        are_known = is_among(name_a, names) and is_among(name_b, names)
        if are_known and not (as_pair and {(name_a, name_b), (name_b, name_a)}.isdisjoint(pairs)):
            return
        raise KeyError(
            f"{name_a!r} and {name_b!r} were not compared. Systems: {names}"
            + (f"; all with {self.reference!r}." if self.reference else ".")
        )

    def replicates(self, first: str, second: str) -> NDArray[np.float64]:
        """Return the difference on each resample.

        Parameters
        ----------
        first, second : str
            Names.

        Returns
        -------
        ndarray of shape (n_resamples,)
            First minus second; NaN where undefined.

        Raises
        ------
        KeyError
            If they were not compared.
        """
        self._check_systems(first, second)
        minuend, subtrahend = self.systems[first], self.systems[second]
        return minuend.bootstrap_distribution - subtrahend.bootstrap_distribution

    # -------------------------------------------------------------- text and tables

    def summary(self) -> str:
        """Describe the comparison in tables of plain text, with all notes.

        Returns
        -------
        str
            The systems from the best, the differences, what was resampled, the notes. Of more
            than fifteen differences those with the best system.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        return comparison_texts.summary(self, options)

    @door("ComparisonResult.claim")
    def claim(self) -> str:
        """Say the result in a sentence for a paper.

        Returns
        -------
        str
            No superiority is claimed where the simultaneous interval holds 0.
        """
        return comparison_texts.claim(self)

    def __str__(self) -> str:
        return comparison_texts.short(self)

    def __float__(self) -> float:
        return float(self._only_pair("float(...)"))

    def __format__(self, spec: str) -> str:
        return format(self._only_pair(f"The format {spec!r}"), spec) if spec else str(self)

    def _only_pair(self, asker: str, error: type[Exception] = TypeError) -> PairedDifference:
        """Return the difference of two systems; of more, no number is the one that is meant."""
        if len(self._pair_records) == 1:
            return self._pair_records[0]
        name_a, name_b = self._pair_records[0].first, self._pair_records[0].second
        of_pairs_alone = asker[0] == "." and not hasattr(self._any_system, asker[1:])
        of_one = "" if of_pairs_alone else f" or .systems[{name_a!r}]"
        raise error(
            f"{asker} needs one number, and a comparison of {len(self.systems)} {self.estimand}s "
            f"has many. Use .pair({name_a!r}, {name_b!r}){of_one} of it."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        is_one_sided = self.alternative != "two-sided"
        record = {
            "metric": self.metric,
            "estimand": self.estimand,
            "reference": self.reference,
            "adjust": self.adjust,
            "training_share": self.training_share,
            "best": self.best,
            "indistinguishable_from_best": None
            if is_one_sided
            else self.indistinguishable_from_best,
            "alternative": self.alternative,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
            "n_samples": self.n_samples,
            "n_resamples": self.n_resamples,
            **self._judge_record,
            "held_fixed": self.held_fixed,
            "notes": self.notes,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
        }
        return dict(result.plain(record, for_json=True))

    def _heading(self) -> str:
        return comparison_texts.title(self)

    @property
    def _metric_name(self) -> str:
        return self.metric

    def _widths(self) -> list[float]:
        scores = [wording.width_of(system) for system in self.systems.values()]
        return scores + [pair._width for pair in self._shown_pairs]

    def _tells_apart(self, decimals: rendering.Decimals) -> bool:
        return comparison_texts.tells_apart(self, decimals)

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [("", comparison_texts.pairs_table(self, options, self.pairs))]

    def _systems(self, options: rendering.TableOptions) -> rendering.Table:
        return comparison_texts.scores_table([(self.metric, self)], options)

    def _records(self) -> list[dict[str, Any]]:
        return [pair._row(self.is_distinguishable(pair)) for pair in self.pairs]

    def _numbers(self) -> Iterator[Number]:
        for name, system in self.systems.items():
            for number in system._numbers():
                yield number._replace(path=(name,), metric=self.metric)
        for pair in self.pairs:
            limits = {"ci": pair.confidence_interval}
            if pair.simultaneous_interval is not None:
                limits["simultaneous"] = pair.simultaneous_interval
            yield Number((f"{pair.first} - {pair.second}",), self.metric, pair.difference, limits)

    def _html(self, options: rendering.TableOptions) -> str:
        shown = self._shown_pairs
        strips = [comparison_texts.strip_of(self, pair) for pair in shown]
        ends = [strip.extent for strip in strips if np.isfinite(strip.estimate)]
        extent = (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else None
        drawings = [rendering.draw(strip, extent, wide=False) for strip in strips]
        table = comparison_texts.pairs_table(self, options, shown)
        pairs = rendering.html_table(table, drawings, f"{rendering.LEGEND}; dashed: no difference")
        systems = rendering.html_table(comparison_texts.systems_table(self, options))
        facts = rendering.html_list(comparison_texts.facts(self, options))
        return rendering.html_of(self.claim(), pairs, systems, facts, is_narrow=False)

    # -------------------------------------------------------------- files

    def _to_parts(self) -> dict[str, Any]:
        return super()._to_parts() | {
            "systems": [(name, system._to_parts()) for name, system in self.systems.items()],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        systems = {name: EvaluationResult._from_parts(score) for name, score in parts["systems"]}
        pairs = tuple(cls._pair_type._from_dict(pair) for pair in parts["pairs"])
        # Files of before hold seed and versions with each system alone.
        system = next(iter(systems.values()))
        record = gathered(cls, {"seed": system.seed, "versions": system.versions} | parts)
        return cls(**record | {"systems": systems, "pairs": pairs})


def _all_pairs(result: ComparisonResult) -> tuple[PairedDifference, ...]:
    """One record per pair."""
    if "_pair_records" not in vars(result):
        # Of an object that is being made.
        raise AttributeError(f"{type(result).__name__!r} object has no attribute 'pairs'")
    return tuple(result._pair_records)


# A field that is made when it is asked for: a dataclass would take it for a default in its body.
_PAIRS = cached_property(_all_pairs)
_PAIRS.__set_name__(ComparisonResult, "pairs")
ComparisonResult.pairs = _PAIRS  # type: ignore[assignment]


# ------------------------------------------------------------------ scores of folds

_FACTS_OF_CORRECTED = (
    (
        "estimand",
        "expected score of the method, or difference first minus second, at the training-set size "
        "of the splits",
    ),
    (
        "interval",
        "Student's t over splits, with the variance corrected for training sets that overlap "
        "(Nadeau & Bengio 2003)",
    ),
)


class CorrectedT(NamedTuple):
    """Mean of scores over splits, or mean difference, with Nadeau and Bengio's correction.

    `skboot.model_selection.corrected_t` makes them.

    Attributes
    ----------
    estimate : float
        Mean score, or mean difference first minus second.
    confidence_interval : ConfidenceInterval
        Student's t interval.
    standard_error : float
        As sd sqrt(1 / J + n_test / n_train); of unequal splits with the mean of n_test / n_train.
    p_value : float
        Two-sided, that the mean is 0.

    Examples
    --------
    >>> from skboot.model_selection import corrected_t
    >>> scores = [0.84, 0.88, 0.80, 0.86, 0.82, 0.85, 0.83, 0.87, 0.81, 0.84]
    >>> mean = corrected_t(scores, n_train=900, n_test=100)
    >>> f"{mean.estimate:.2f} ({mean.confidence_interval:.2f})"
    '0.84 (0.81 to 0.87)'
    """

    estimate: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    p_value: float


class CorrectedTable(dict[str, CorrectedT]):
    """`CorrectedT` of each metric of a cross-validation, by its name or another that it has.

    `skboot.model_selection.corrected_t` makes them of what `cross_validate` returned.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot.model_selection import corrected_t
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_validate(GaussianNB(), X, y, cv=10, scoring=["accuracy", "roc_auc"],
    ...                         return_indices=True)
    >>> f"{corrected_t(scores)['roc_auc'].estimate:.3f}"
    '0.988'
    """

    def __missing__(self, key: Any) -> CorrectedT:
        """Return the interval of the metric that a call has under this name."""
        names = names_meant(key, self)
        if not names:
            raise KeyError(f"{key!r} is none of {list(self)}")
        return self[names[0]]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or bool(names_meant(key, self))

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the interval of a metric by any of its names, as ``table[key]`` does.

        Parameters
        ----------
        key : str
            Name of a metric.
        default : object
            What is returned for a metric that the table does not hold.

        Returns
        -------
        CorrectedT or object
            The interval, or the default.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def summary(self) -> str:
        """Describe the means in a table of plain text, and say what the intervals are.

        Returns
        -------
        str
            A line for each metric, and below it how the intervals are made.
        """
        return f"{self}\n\n{rendering.text_list(_FACTS_OF_CORRECTED)}" if self else str(self)

    def __str__(self) -> str:
        """Return a line of text for each metric."""
        return rendering.text_table(self._table()) if self else "no results"

    def _repr_html_(self) -> str:
        table = rendering.html_table(self._table())
        return table + rendering.html_list(_FACTS_OF_CORRECTED)

    def _table(self) -> rendering.Table:
        """Return a row for each metric, which has decimals of its own."""
        rows, title = [], "interval (t)"
        for name, row in self.items():
            interval = row.confidence_interval
            title = f"{rendering.percent(interval.confidence_level)} CI (t)"
            width = _width_of(row.estimate, interval, 0.0)
            column = rendering.Fixed(rendering.Decimals.of([width]).at(width))
            estimate = rendering.number(row.estimate, column)
            error = rendering.number(row.standard_error, column + 1)
            rows.append([wording.spoken(name), estimate, rendering.limits(interval, column), error])
        return rendering.Table(["metric", "estimate", title, "standard error"], rows)

    def _records(self) -> list[dict[str, Any]]:
        """Rows of a data frame."""
        return [
            {
                "metric": name,
                "estimate": row.estimate,
                "low": row.confidence_interval.low,
                "high": row.confidence_interval.high,
                "standard_error": row.standard_error,
                "p_value": row.p_value,
            }
            for name, row in self.items()
        ]

    to_frame = Shown.to_frame
