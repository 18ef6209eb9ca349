"""`ComparisonResult`: paired differences of several systems, and who can be told from the best.

The words are in `skboot.results.comparison_wording`, the tables in
`skboot.results.comparison_tables`; several comparisons are a `skboot.results.ResultTable`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail, is_among
from .._base.doors import door
from .._base.values import ReadOnlyDict, same_values
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import joint_bounds
from ..inference.verdicts import Verdict
from . import comparison_tables, drawing, rendering, storage
from . import comparison_wording as wording
from .decisions import one_sided, unknown_direction
from .pairs import ComparisonFacts, PairedDifference, taken_up
from .provenance import FromACall, Provenance, gathered
from .ranks import Ranks, ranks_of, top_of
from .result import EvaluationResult
from .shown import Number, ShownDifferences


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
    automatic : bool
        Whether the interval was chosen by ``interval="auto"``.
    training_share : float or None
        For methods scored on rows left out: share of the rows (groups) that they were trained on,
        .9 by 10-fold cross-validation and .632 on bootstrap samples. None on a test set.
    provenance : skboot.results.provenance.Provenance
        Where the comparison comes from, in one value; its parts are the attributes below.
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
    automatic: bool
    training_share: float | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", ReadOnlyDict(self.systems))
        object.__setattr__(self, "pairs", self._with_facts())

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, ComparisonResult) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    _format = "skboot.ComparisonResult", 2
    _noun = "comparison"
    _display = "ComparisonDisplay.from_result"
    # Class of its pairs.
    _pair_type: ClassVar[type[PairedDifference]] = PairedDifference

    def _with_facts(self) -> tuple[PairedDifference, ...]:
        """Return the pairs, each of which refers to one record of what they share."""
        # On test sets of their own the smallest one decides how much is known.
        evidence = [each.evidence for each in self.systems.values()]
        system, known = min(
            zip(self.systems.values(), evidence, strict=True),
            key=lambda each: np.min(each[0].n_units),
        )
        of_call = self.provenance.facts
        sizes = [abs(each.estimate) for each in self.systems.values()]
        rounding = 1e-12 * max((size for size in sizes if math.isfinite(size)), default=0.0)
        facts = ComparisonFacts(
            metric=self.metric,
            greater_is_better=system.greater_is_better,
            estimand=self.estimand,
            unit=system.unit,
            n_units=system.n_units,
            digits=max(pair._scale(rounding=rounding).digits for pair in self.pairs),
            drawn=known.drawn,
            varied=of_call.varied,
            paired_runs=of_call.paired_runs,
            paired=of_call.paired,
            bounds=joint_bounds(evidence),
            n_samples=system.n_samples,
            rounding=rounding,
        )
        return tuple(
            pair if pair.comparison == facts else taken_up(pair, facts) for pair in self.pairs
        )

    # -------------------------------------------------------------- numbers

    @property
    def _compared(self) -> str:
        """What is compared, in the singular: "system" or "method"."""
        return self.estimand

    def _method_name(self, method: str) -> str:
        """Return the name of an interval of a difference, in words."""
        return comparison_tables.method_name(method, paired=self.is_paired)

    @property
    def _any_system(self) -> EvaluationResult:
        """The first system, for what all systems share."""
        return next(iter(self.systems.values()))

    @property
    def confidence_level(self) -> float:
        """Level of the intervals."""
        return float(self.pairs[0].confidence_interval.confidence_level)

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
        return self._in_order

    @cached_property
    def _in_order(self) -> tuple[str, ...]:
        """Names from the best estimate to the worst; the order of the call if that is unknown."""
        sign = {True: -1.0, False: 1.0, None: 0.0}[self.greater_is_better]
        scores = {name: system.estimate for name, system in self.systems.items()}
        # Systems whose score is undefined come last.
        return tuple(sorted(scores, key=lambda k: (np.isnan(scores[k]), sign * scores[k])))

    @cached_property
    def _shown_pairs(self) -> tuple[PairedDifference, ...]:
        """Those that a summary or a picture shows."""
        return comparison_tables.shown_pairs(self)

    @property
    def best(self) -> str | None:
        """Name of the system with the best estimate; None if the direction is unknown."""
        return None if self.greater_is_better is None else self._in_order[0]

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
        return self.pairs[0].alternative

    @property
    def is_paired(self) -> bool:
        """Whether all systems were scored on the same rows."""
        return self.provenance.facts.paired

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
        others = [name for name in self._in_order if name != best]
        differs = {name: self.is_distinguishable(self.pair(best, name)) for name in others}
        return tuple(name for name in others if differs[name] == excluding)

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
        given: Any = pair
        if not isinstance(given, PairedDifference):
            raise fail("pair", "be one of result.pairs", repr(given))
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
        system  accuracy  rank  95 % simultaneous
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
        return top_of(self, k)

    @cached_property
    def _pair_of(self) -> dict[tuple[str, str], PairedDifference]:
        """The pairs by their names: 180 systems have 16,110, too many to search for each."""
        return {(pair.first, pair.second): pair for pair in self.pairs}

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
        self._check_systems(first, second)
        if (first, second) in self._pair_of:
            return self._pair_of[first, second]
        if (second, first) in self._pair_of:
            return self._pair_of[second, first].mirrored()
        raise self._not_compared(first, second)

    def _check_systems(self, first: str, second: str) -> None:
        """Refuse names of systems that are not known."""
        known = list(self.systems)
        if not (is_among(first, known) and is_among(second, known)):
            raise self._not_compared(first, second)

    def _not_compared(self, first: str, second: str) -> KeyError:
        return KeyError(
            f"{first!r} and {second!r} were not compared. Systems: {list(self.systems)}"
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
        blocks = [
            wording.title(self),
            rendering.text_table(comparison_tables.systems_table(self)),
            rendering.text_table(
                comparison_tables.pairs_table(self, comparison_tables.IN_A_SUMMARY)
            ),
            rendering.text_list(wording.facts(self)),
        ]
        return "\n\n".join(blocks)

    @door("ComparisonResult.claim")
    def claim(self) -> str:
        """Say the result in a sentence for a paper.

        Returns
        -------
        str
            No superiority is claimed where the simultaneous interval holds 0.
        """
        return wording.claim(self)

    def __str__(self) -> str:
        return wording.short(self)

    def __float__(self) -> float:
        return float(self._only_pair("float(...)"))

    def __format__(self, spec: str) -> str:
        return format(self._only_pair(f"The format {spec!r}"), spec) if spec else str(self)

    def _only_pair(self, what: str, error: type[Exception] = TypeError) -> PairedDifference:
        """Return the difference of two systems; of more, no number is the one that is meant."""
        if len(self.pairs) == 1:
            return self.pairs[0]
        first, second = self.pairs[0].first, self.pairs[0].second
        of_pairs_alone = what[0] == "." and not hasattr(self._any_system, what[1:])
        of_one = "" if of_pairs_alone else f" or .systems[{first!r}]"
        raise error(
            f"{what} needs one number, and a comparison of {len(self.systems)} {self.estimand}s "
            f"has many. Use .pair({first!r}, {second!r}){of_one} of it."
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
            **self._of_judge,
            "held_fixed": self.held_fixed,
            "notes": self.notes,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
        }
        return dict(storage.plain(record, for_json=True))

    def _heading(self) -> str:
        return wording.title(self)

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [("", comparison_tables.pairs_table(self, options, self.pairs))]

    def _systems(self, options: rendering.TableOptions) -> rendering.Table:
        return comparison_tables.scores_table([(self.metric, self)], options)

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
        claim = f'<p style="margin:.3em 0">{escape(self.claim())}</p>'
        shown = self._shown_pairs
        strips = [comparison_tables.strip_of(self, pair) for pair in shown]
        ends = [strip.extent for strip in strips if np.isfinite(strip.estimate)]
        extent = (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else None
        drawings = [drawing.draw(strip, extent, wide=False) for strip in strips]
        table = comparison_tables.pairs_table(self, options, shown)
        pairs = rendering.html_table(table, drawings, f"{drawing.LEGEND}; dashed: no difference")
        systems = rendering.html_table(comparison_tables.systems_table(self))
        facts = rendering.html_list(wording.facts(self))
        return f'<div style="color:inherit">{claim}{pairs}{systems}{facts}</div>'

    # -------------------------------------------------------------- files

    def _to_parts(self) -> dict[str, Any]:
        return super()._to_parts() | {
            "systems": [(name, system._to_parts()) for name, system in self.systems.items()],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        systems = {name: EvaluationResult._from_parts(each) for name, each in parts["systems"]}
        pairs = tuple(cls._pair_type.from_dict(pair) for pair in parts["pairs"])
        # Files of before hold seed and versions with each system alone.
        first = next(iter(systems.values()))
        own = gathered({"seed": first.seed, "versions": first.versions} | parts)
        return cls(**own | {"systems": systems, "pairs": pairs})
