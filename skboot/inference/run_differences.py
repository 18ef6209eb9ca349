"""Differences of methods from several runs of each on one test set.

The runs of two methods are independent draws (other seeds, other training samples), the test units
are the same: the variances of the runs add, the test variance is that of the difference. With
runs that belong together pair by pair, such as the same training sample for both, the differences
per pair are the runs of one method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ._tuning import LEAST_DF
from .variance import Moments, satterthwaite

Floats = NDArray[np.float64]

# Sources of variance, in words.
SOURCES = {
    "runs": "runs",
    "training": "training samples",
    "seed": "seeds",
    "test": "test units",
    "interaction": "interaction of runs and test units",
}
# Narrowing of an interval that is not worth advice.
_WORTH = 0.01


class RunsDifference(NamedTuple):
    """Difference of two methods, with its standard error and degrees of freedom.

    Attributes
    ----------
    difference : float
        Mean score of the first less that of the second.
    standard_error : float
        Of the difference.
    degrees_of_freedom : float
        Of the t interval.
    of_runs : float
        Part of the squared standard error that more runs would lessen; NaN if not identified.
    of_test : float
        Part that more test units would lessen; NaN if not identified.
    of_both : float
        Part of ``of_test`` that more runs would lessen as well: their interaction.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    of_runs: float = np.nan
    of_test: float = np.nan
    of_both: float = 0.0

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Limits of the t interval."""
        half = float(special.stdtrit(self.degrees_of_freedom, 0.5 + confidence_level / 2))
        half *= self.standard_error
        return self.difference - half, self.difference + half

    @property
    def statistic(self) -> float:
        """The difference by its standard error; NaN without any spread."""
        return self.difference / self.standard_error if self.standard_error > 0 else np.nan

    @property
    def p_value(self) -> float:
        """Two-sided; 1 for a difference of 0 without any spread."""
        if self.standard_error == 0:
            return 1.0 if self.difference == 0 else 0.0
        t = abs(self.difference) / self.standard_error
        return float(2 * special.stdtr(self.degrees_of_freedom, -t))


def components_difference(
    first: Moments,
    second: Moments | None,
    of_mean: float,
    test_df: float,
    *,
    divided: bool = True,
    seeds: Sequence[tuple[float, float]] = (),
) -> RunsDifference:
    """Difference by variance components: runs and test units vary.

    Parameters
    ----------
    first : Moments
        Of the runs of the first method, or of the differences of paired runs.
    second : Moments or None
        Of the second; None for paired runs.
    of_mean : float
        Variance over test units of the difference of the means.
    test_df : float
        Degrees of freedom of the test units.
    divided : bool
        Whether more runs lessen the variance between them; not so where the runs are bootstrap
        samples of one training set.
    seeds : sequence of tuple (variance, degrees of freedom)
        What the seeds of the runs on the whole training set add, for each method.

    Returns
    -------
    RunsDifference

    Notes
    -----
    With A the variance between the runs of a method, c the part of it that is test noise and S
    their number, V = sum of max(A - c, 0) / S over both methods + max(te, sum of c / S). Where the
    runs are bootstrap samples of one training set, V = sum of max(A - c, 0) + te + the part of the
    seeds. The degrees of freedom are Satterthwaite's over the mean squares, as for one method
    (`skboot.inference.variance.crossed_runs` and `trained_runs`).
    """
    sides = [first] if second is None else [first, second]
    centre = first.centre - (0.0 if second is None else second.centre)
    of_runs, noise, terms = 0.0, 0.0, []
    for side in sides:
        weight = 1 / side.n if divided else 1.0
        of_runs += max(side.between - side.interaction, 0.0) * weight
        terms.append((weight * side.between, side.n - 1.0))
        if divided:
            noise += side.interaction / side.n
            terms.append((side.interaction / side.n, (side.n - 1) * test_df))
    of_runs += sum(variance for variance, _ in seeds)
    test = max(of_mean, noise)
    total = of_runs + test
    terms += [*seeds, (test, test_df)]
    df = satterthwaite(total, terms, otherwise=test_df)
    # The test noise within A, which V lacks, can leave next to no degrees of freedom.
    least = 1.0 if divided else LEAST_DF
    return RunsDifference(centre, float(np.sqrt(total)), max(df, least), of_runs, test, noise)


def welch_difference(first: Floats, second: Floats | None) -> RunsDifference:
    """Difference over the runs alone, the test units held fixed.

    Parameters
    ----------
    first : ndarray of shape (n_first,)
        Scores of the runs of the first method, or differences of paired runs.
    second : ndarray of shape (n_second,) or None
        Scores of the second; None for paired runs.

    Returns
    -------
    RunsDifference

    References
    ----------
    Welch (1947), Biometrika 34, 28-35; paired runs: Student's t.
    """
    sides = [scores for scores in (first, second) if scores is not None]
    variances = [float(np.var(scores, ddof=1)) / len(scores) for scores in sides]
    centre = float(sides[0].mean() - (sides[1].mean() if len(sides) > 1 else 0.0))
    freedom = [len(scores) - 1.0 for scores in sides]
    total = sum(variances)
    df = satterthwaite(total, list(zip(variances, freedom, strict=True)), otherwise=min(freedom))
    return RunsDifference(centre, float(np.sqrt(total)), df, total, 0.0)


def advice_on(what: str, sources: Mapping[str, float], savings: Mapping[str, float]) -> str:
    """Say where a variance comes from, and how much twice as many of each would narrow an interval.

    Parameters
    ----------
    what : str
        What varies.
    sources : mapping of str to float
        Parts of the variance, by the names in `SOURCES`.
    savings : mapping of str to float
        What twice as many would save of it, by what there would be more of.

    Returns
    -------
    str
        Without a full stop. What would hardly narrow the interval is named as such.
    """
    variance = sum(sources.values())
    shares = {SOURCES[name]: part / variance for name, part in sources.items() if part > 0}
    largest_first = sorted(shares.items(), key=lambda share: -share[1])
    parts = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in largest_first)
    gains = {
        lever: 1 - np.sqrt(max(1 - saving / variance, 0.0)) for lever, saving in savings.items()
    }
    helpful = sorted((lever for lever in gains if gains[lever] >= _WORTH), key=lambda k: -gains[k])
    idle = [lever for lever in gains if gains[lever] < _WORTH]
    sentences = [f"the variance of the {what} comes from {parts}"]
    if helpful:
        first, *others = (f"by about {100 * gains[lever]:.0f} %" for lever in helpful)
        told = [f"{helpful[0]} would narrow the interval {first}"]
        told += [f"{lever} {gain}" for lever, gain in zip(helpful[1:], others, strict=True)]
        sentences.append(f"twice as many {', '.join(told)}")
    if idle:
        sentences.append(f"more {' or '.join(idle)} would hardly narrow it")
    return "; ".join(sentences)
