"""The law of differences of systems: their replicates on common resamples."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .._base.errors import collected
from ..inference.differences import CLOSED_FORM, difference_interval
from ..inference.evidence import joint_bounds
from ..inference.intervals import INTERVALS, snapped
from ..inference.multiplicity import (
    JointDeviations,
    joint_deviations,
    max_t_adjusted,
    max_t_quantile,
    step_down,
    t_quantile_of_normal,
)
from ..inference.proportions import discordant_t
from .families import Law, Limits
from .pairs_alone import each_alone
from .ranked_pairs import RankedPairs

Floats = NDArray[np.float64]


class Replicated(Law):
    """The law of pairs of systems, in the order and direction of the call.

    Attributes
    ----------
    family : RankedPairs
    found : Alone
        What is known of each pair without regard to the others, by rank.
    """

    def __init__(self, family: RankedPairs) -> None:
        self.asked, self.family, self.found = family.asked, family, each_alone(family)
        self.bounds = joint_bounds(each.evidence for each in family.contestants)

    @cached_property
    def differences(self) -> Floats:
        """See `Law.differences`."""
        by_rank = self.family.differences
        return np.where(self.family.swapped, 0.0 - by_rank, by_rank)[self.family.order]

    @cached_property
    def standard_errors(self) -> Floats:
        """See `Law.standard_errors`."""
        closed, error = self.found.closed_error, self.found.error
        return np.where(np.isnan(closed), error, closed)[self.family.order]

    @property
    def degrees_of_freedom(self) -> list[float | None]:
        """See `Law.degrees_of_freedom`."""
        drawn = [self.family.drawn(k) for k in self.family.order.tolist()]
        return [
            None if method in CLOSED_FORM else own.degrees_of_freedom
            for method, own in zip(self.alone.method, drawn, strict=True)
        ]

    @cached_property
    def alone(self) -> Limits:
        """See `Law.alone`."""
        return self._as_called(self._alone)

    def stricter(self) -> Limits:
        """See `Law.stricter`."""
        n = len(self.family)
        limits = [self._bonferroni(k) for k in range(n)]
        low, high, p = np.array([(*own, p) for own, p in limits]).T
        found = Limits(low, high, p, self._alone.method, self._quantiles(n))
        return self._as_called(self._holding_alone(found).named("bonferroni"))

    def largest(self) -> Limits:
        """See `Law.largest`: simultaneous intervals and p-values from the joint bootstrap."""
        family, alone = self.family, self._alone
        joint, errors, towards = self._deviations, self._errors, self._towards
        evidence = family.like.of_other_values(
            family.differences, np.empty(0), max_t=(errors, joint.largest)
        )
        low, high = INTERVALS["max-t"].limits(evidence, self.asked.confidence_level)
        if towards is not None:
            low, high = np.where(towards > 0, low, -np.inf), np.where(towards > 0, np.inf, high)
        drawn = family.like.drawn
        deviations = t_quantile_of_normal(joint.largest, drawn.degrees_of_freedom, drawn.inflation)
        p = max_t_adjusted(alone.p_values, family.differences, errors, deviations, towards)
        quantile = max_t_quantile(joint.largest, self.asked.confidence_level)
        quantiles = np.full(len(family), quantile)
        low, high = snapped(low, high)
        for k in np.flatnonzero(~(errors > 0)).tolist():
            # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
            (low[k], high[k]), p[k] = self._bonferroni(k)
            quantiles[k] = self._quantiles(len(family))[k]
        signs = self._signs() if self.asked.with_ranks else None
        found = Limits(low, high, p, alone.method, quantiles, signs).named("max-t")
        return self._as_called(self._holding_alone(found))

    # -------------------------------------------------------------- by rank

    @cached_property
    def _alone(self) -> Limits:
        found = self.found
        return Limits(found.low, found.high, found.p, found.method, self._quantiles(1))

    def _quantiles(self, n_pairs: int) -> Floats:
        """Quantile of the normal distribution at Bonferroni's level, for each pair."""
        rest = (1 - self.asked.confidence_level) / n_pairs
        tail = rest / 2 if self.asked.alternative == "two-sided" else rest
        return np.full(len(self.family), -ndtri(tail))

    @cached_property
    def _errors(self) -> Floats:
        return np.where(self.found.varies, self.found.error, 0.0)

    @cached_property
    def _towards(self) -> Floats | None:
        """1 or -1 by the side that each pair is tested on; None for two."""
        if self.asked.alternative == "two-sided":
            return None
        return np.where(self.family.swapped, -1.0, 1.0) * (
            1 if self.asked.alternative == "greater" else -1
        )

    @cached_property
    def _deviations(self) -> JointDeviations:
        family = self.family
        return joint_deviations(
            family.differences,
            self._errors,
            family.blocks_of_resamples(),
            family.like.drawn.degrees_of_freedom,
            signs=self._towards,
            with_signs=self.asked.with_ranks and family.counts is None,
        )

    def _signs(self) -> NDArray[np.int8]:
        """Return 1 where the first is told to score higher, -1 lower, by step-down tests."""
        like, counts, errors = self.family.like, self.family.counts, self._errors
        df, rest = like.drawn.degrees_of_freedom, 1 - self.asked.confidence_level
        if counts is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                t = self.family.differences / np.where(errors > 0, errors, np.nan)
            # The standard error of resamples is too small by sqrt(df / n).
            t /= np.sqrt(like.drawn.inflation)
        else:
            n = len(self.family.contestants[0].right)  # type: ignore[arg-type]
            t = np.sign(self.family.differences) * discordant_t(counts[:, 0], counts[:, 1], n)
        # Differences of right and wrong rows are skewed where few rows tell two systems apart. Many
        # pairs together get that far out, and resamples about the estimates do not show it.
        known = self._deviations if counts is None else None
        return step_down(t, known, 1 - rest, lambda m: -float(stdtrit(df, rest / m)))

    def _holding_alone(self, found: Limits) -> Limits:
        """Widen simultaneous intervals to hold the one of the pair by itself."""
        alone = self._alone
        return replace(
            found,
            low=np.minimum(found.low, alone.low),
            high=np.maximum(found.high, alone.high),
        )

    def _bonferroni(self, k: int) -> tuple[tuple[float, float], float]:
        """Interval at level 1 - (1 - level) / m, and m times the p-value.

        From the bootstrap standard error: quantiles so far out would need many more resamples.
        """
        family, alone = self.family, self.found
        own, method = (float(alone.low[k]), float(alone.high[k])), str(alone.method[k])
        if np.isnan(own[0] + own[1]):
            return own, np.nan
        n_pairs, level = len(family), self.asked.confidence_level
        p = float(np.minimum(1.0, n_pairs * alone.p[k]))
        still = not alone.varies[k] and family.differences[k] == 0 and not np.isnan(p)
        if family.identical[k] or still:
            return own, p
        difference = family.difference(k)
        if not difference.varies and method not in CLOSED_FORM:
            # Equal differences on all resamples do not show how sure the difference is.
            return difference.evidence.facts.bounds, 1.0
        stricter = 1 - (1 - level) / n_pairs
        method = method if method in CLOSED_FORM else "t"
        alternative = family.alternative(family.swapped[k])
        # The interval of the pair by itself has told that resamples are too few.
        with collected():
            return difference_interval(difference, method, stricter, alternative).uncut, p

    def _as_called(self, limits: Limits) -> Limits:
        """Return limits by rank in the order and direction of the call."""
        at, swapped, signs = self.family.order, self.family.swapped, limits.signs
        assert limits.quantiles is not None
        return Limits(
            np.where(swapped, 0.0 - limits.high, limits.low)[at],
            np.where(swapped, 0.0 - limits.low, limits.high)[at],
            limits.p_values[at],
            limits.method[at],
            limits.quantiles[at],
            None if signs is None else np.where(swapped, -signs, signs)[at],
        )
