"""How an interval narrows, and a test gains power, with more test units and more runs.

A `Spread` is the squared standard error of one evaluation by what lessens it. It answers for any
other size: `half_width` of the interval and `power` of a test. `ShareSpread` does the same for the
closed intervals of a proportion, `DiscordantSpread` for Tango's interval of two of them, and
`AreasSpread` for that of two areas. `smallest` finds the size that is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ._tuning import LEAST_DF
from .proportions import Discordant, TwoAreas, tango_limits

# Degrees of freedom below which the power is that of the noncentral t.
_FEW_DEGREES = 20.0
# Noncentralities beyond which the power is 1, and scipy's noncentral distribution loses its digits.
_SURE = 30.0
# Most units that a plan can ask for; what is not reached with these is out of reach.
MOST_UNITS = 10**12


@dataclass(frozen=True)
class Spread:
    """Squared standard error of one evaluation, by what lessens it.

    Attributes
    ----------
    n_units : int
        Test units of the evaluation.
    units : float
        Part that more test units lessen.
    both : float
        Part that more test units and more runs lessen: their interaction.
    runs : float
        Part that more runs lessen.
    fixed : float
        Part that neither lessens: of one list that all runs were trained on samples of.
    n_runs : float or None
        Runs; None where there is one system.
    n_strata : int
        Test units of equal size less this are their degrees of freedom.
    student : bool
        Whether the interval uses quantiles of Student's t, else those of the normal.
    noise : float
        Test noise within the mean square between runs.
    df_runs : float
        Degrees of freedom of that mean square.
    of_one_list : bool
        Whether that mean square is between training samples of one list, whose number stays.
    worth : float
        Test units of equal size that one of these counts like; 1 of equal ones.
    error_freedom : float
        Degrees of freedom of ``units`` by what single units bring; those of normal values if
        infinite.
    """

    n_units: int
    units: float
    both: float = 0.0
    runs: float = 0.0
    fixed: float = 0.0
    n_runs: float | None = None
    n_strata: int = 1
    student: bool = True
    noise: float = 0.0
    df_runs: float = np.inf
    of_one_list: bool = False
    worth: float = 1.0
    error_freedom: float = np.inf

    def with_degrees_of_freedom(self, degrees_of_freedom: float) -> Spread:
        """Return the spread whose ``noise`` gives these degrees of freedom at its own size.

        Satterthwaite's rule over the mean squares (`skboot.inference.runs`) is solved for the
        mean square between runs, which an interval does not keep.
        """
        test = (self.units + self.both) ** 2 / self._df_of_units(self.n_units)
        squares = max(self.variance(self.n_units) ** 2 / degrees_of_freedom - test, 0.0)
        between = math.sqrt(squares * self.df_runs) if math.isfinite(self.df_runs) else 0.0
        return replace(self, noise=max(between - self.runs - self.fixed, 0.0))

    def scaled(self, factor: float) -> Spread:
        """Return the spread whose variances all are larger by a factor."""
        names = ("units", "both", "runs", "fixed", "noise")
        return replace(self, **{name: factor * getattr(self, name) for name in names})

    def variance(self, n_units: float, n_runs: float | None = None) -> float:
        """Squared standard error of another evaluation.

        Parameters
        ----------
        n_units : float
            Its test units; may be infinite.
        n_runs : float, optional
            Its runs; as many as here when None.

        Returns
        -------
        float
            ``fixed + runs S / S' + (units + both S / S') m / m'`` for m units and S runs here.
        """
        more_units, more_runs = self._ratios(n_units, n_runs)
        return (
            self.fixed + self.runs * more_runs + (self.units + self.both * more_runs) * more_units
        )

    def degrees_of_freedom(self, n_units: float, n_runs: float | None = None) -> float:
        """Degrees of freedom of that variance, infinite where the normal distribution is used."""
        if not self.student:
            return np.inf
        df_units = self._df_of_units(n_units)
        if self.n_runs is None:
            return df_units
        more_units, more_runs = self._ratios(n_units, n_runs)
        test = (self.units + self.both * more_runs) * more_units
        if self.of_one_list:
            between = self.fixed + self.runs * more_runs + self.noise * more_units
            df_runs = self.df_runs
        else:
            between = self.fixed + (self.runs + self.noise * more_units) * more_runs
            n = self.n_runs / more_runs
            df_runs = self.df_runs * (n - 1) / (self.n_runs - 1)
        squares = test**2 / df_units + between**2 / df_runs
        if squares == 0:
            return df_units
        least = LEAST_DF if self.of_one_list else 1.0
        return max(self.variance(n_units, n_runs) ** 2 / squares, least)

    def known_with(self, n_units: float, n_runs: float | None) -> float:
        """Degrees of freedom with which this evaluation knows the variance of another one.

        Satterthwaite's rule over the mean squares of this evaluation, with the weights that they
        have in the variance of the other.
        """
        more_units, more_runs = self._ratios(n_units, n_runs)
        noise = self.noise if self.of_one_list else self.noise * more_runs
        between = self.fixed + self.runs * more_runs + noise
        test = (self.units + self.both) * more_units
        squares = test**2 / self._df_of_units(self.n_units) + between**2 / self.df_runs
        return self.variance(n_units, n_runs) ** 2 / squares

    def half_width(self, confidence_level: float, n_units: float, n_runs: float | None) -> float:
        """Half of the width of the interval of another evaluation."""
        df = self.degrees_of_freedom(n_units, n_runs)
        error = math.sqrt(self.variance(n_units, n_runs))
        return float(special.stdtrit(df, 0.5 + confidence_level / 2)) * error

    def power(
        self,
        effect: float,
        confidence_level: float,
        n_units: float,
        n_runs: float | None,
        *,
        one_sided: bool = False,
    ) -> float:
        """Probability that the interval of another evaluation lies above 0.

        Parameters
        ----------
        effect : float
            True value, above 0.
        confidence_level : float
            In (0, 1).
        n_units, n_runs : float
            Size of that evaluation.
        one_sided : bool
            Whether the interval has one limit alone.

        Returns
        -------
        float
            By the noncentral t distribution under 20 degrees of freedom, else Phi(effect / se - q).
        """
        df = self.degrees_of_freedom(n_units, n_runs)
        error = math.sqrt(self.variance(n_units, n_runs))
        level = confidence_level if one_sided else 0.5 + confidence_level / 2
        quantile = float(special.stdtrit(df, level))
        shift = effect / error if error > 0 else math.inf
        if df >= _FEW_DEGREES:
            return float(special.ndtr(shift - quantile))
        if shift > quantile + _SURE:
            return 1.0
        return 1.0 - float(special.nctdtr(df, shift, quantile))

    def _ratios(self, n_units: float, n_runs: float | None) -> tuple[float, float]:
        """Return m / m' and S / S'."""
        more_runs = 1.0 if n_runs is None or self.n_runs is None else self.n_runs / n_runs
        return self.n_units / n_units, more_runs

    def _df_of_units(self, n_units: float) -> float:
        by_units = n_units * self.worth - self.n_strata
        if math.isinf(self.error_freedom):
            return max(by_units, 1.0)
        return max(min(by_units, self.error_freedom * n_units / self.n_units), 1.0)


@dataclass(frozen=True)
class ShareSpread:
    """A proportion, whose interval has a closed form.

    Attributes
    ----------
    share : float
        Share of hits, in [0, 1].
    limits : callable
        From hits, rows and the level to the limits.
    """

    share: float
    limits: Callable[[float, float, float], tuple[float, float]]

    def half_width(self, confidence_level: float, n_units: float, n_runs: float | None) -> float:
        """Half of the width of the interval of so many rows with the same share of hits."""
        low, high = self.limits(self.share * n_units, n_units, confidence_level)
        return (high - low) / 2


@dataclass(frozen=True)
class DiscordantSpread:
    """Right and wrong of two systems on independent rows, which Tango's interval compares.

    Attributes
    ----------
    share : float
        Share of rows on which one is right and the other wrong.
    """

    share: float

    def power(
        self,
        effect: float,
        confidence_level: float,
        n_units: float,
        n_runs: float | None,
        *,
        one_sided: bool = False,
    ) -> float:
        """Probability that a margin passes if both are right equally often."""
        if math.isinf(n_units):
            return 1.0
        half = self.share * n_units / 2
        quantile = float(special.ndtri(0.5 + confidence_level / 2))
        low, _ = tango_limits(Discordant(half, half, n_units), quantile)  # type: ignore[arg-type]
        return float(special.ndtr((effect + low) / math.sqrt(self.share / n_units)))


@dataclass(frozen=True)
class AreasSpread:
    """Areas under ROC curves of two systems on the same independent rows.

    Attributes
    ----------
    areas : TwoAreas
        On some rows.
    n_units : int
        How many these are.
    """

    areas: TwoAreas
    n_units: int

    def power(
        self,
        effect: float,
        confidence_level: float,
        n_units: float,
        n_runs: float | None,
        *,
        one_sided: bool = False,
    ) -> float:
        """Probability that a margin passes if both areas are equal."""
        if math.isinf(n_units):
            return 1.0
        equal = self.areas.on_rows(n_units / self.n_units).as_if_equal()
        low, _ = equal.limits(float(special.ndtri(0.5 + confidence_level / 2)))
        return float(special.stdtr(equal.smaller_class - 1, (effect + low) / equal.error))


def smallest(is_enough: Callable[[int], bool], least: int = 1) -> int | None:
    """Smallest number that is enough, where every larger one is too.

    Parameters
    ----------
    is_enough : callable
        Predicate of a number.
    least : int
        Numbers below it are not asked for.

    Returns
    -------
    int or None
        None where 10^12 are not enough.
    """
    if is_enough(least):
        return least
    below, above = least, 2 * least
    while not is_enough(above):
        if above >= MOST_UNITS:
            return None
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if is_enough(middle) else (middle, above)
    return above


def variance_factors(degrees_of_freedom: float, confidence_level: float) -> tuple[float, float]:
    """Factors from an estimated variance to the limits of the true one, by chi-square quantiles.

    Parameters
    ----------
    degrees_of_freedom : float
        Degrees of freedom of the variance.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    tuple of float
        Below and above 1.
    """
    tail = (1 - confidence_level) / 2
    df = degrees_of_freedom
    return df / float(special.chdtri(df, tail)), df / float(special.chdtri(df, 1 - tail))
