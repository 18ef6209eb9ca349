"""Scores of few human labels, corrected by those that a judge gave to all rows.

The score is l f(judge, rows without a human label) + f(human) - l f(judge, rows with one): what the
judge gets wrong on labelled rows is taken out (Angelopoulos et al. 2023), with a weight l that
makes the variance smallest (PPI++: Angelopoulos, Duchi & Zrnic 2023), for any metric on resamples
that its three terms share (Zrnic 2024, arXiv:2405.18379).

Labelled rows on which a good judge is wrong are few, and may be missing by chance: the variance
counts further ones, as Bonett & Price (2012) count one more in each direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Further labelled rows on which the judge is wrong, where it is right on all others.
FURTHER_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class Terms:
    """Three terms of the score of each system: f(judge) without and with labels, f(human).

    Attributes
    ----------
    values : ndarray of shape (n_systems, 3)
    replicates : ndarray of shape (n_systems, 3, n_resamples)
        On the same resamples.
    deviations : ndarray of shape (n_systems, 3, n_deviations)
        Of which the sums of products are the covariances.
    """

    values: Floats
    replicates: Floats
    deviations: Floats

    def with_further(
        self, effects: Floats, n_expected: float, seed: np.random.SeedSequence
    ) -> Terms:
        """Return the terms as they vary where further rows may be labelled.

        Parameters
        ----------
        effects : ndarray of shape (n_systems, 3, n_rows)
            What a further row that the judge gets wrong changes, for several such rows.
        n_expected : float
            How many there are expected to be.
        seed : SeedSequence
            Each resample has a Poisson number of them.
        """
        n_rows = effects.shape[-1]
        if not n_rows or not n_expected:
            return self
        rate = n_expected / n_rows
        counts = np.random.default_rng(seed).poisson(rate, (n_rows, self.replicates.shape[-1]))
        return Terms(
            self.values,
            self.replicates + effects @ (counts - rate),
            np.concatenate((self.deviations, effects * np.sqrt(rate)), axis=-1),
        )

    def weight(self) -> float:
        """Return the weight of the judge, in [0, 1], with the smallest sum of variances.

        Of several systems the variances are those of their differences, pair by pair.
        """
        own = self.deviations
        if len(own) > 1:
            # Squares of the differences of all pairs are those from the mean, times systems.
            own = own - own.mean(axis=0)
        judge, human = own[:, 0] - own[:, 1], own[:, 2]
        square = float(np.sum(judge**2))
        return float(np.clip(-np.sum(judge * human) / square, 0, 1)) if square > 0 else 0.0

    def combined(self, weight: float) -> tuple[Floats, Floats]:
        """Return the scores (n_systems,) and their replicates (n_systems, n_resamples)."""
        signs = np.array([weight, -weight, 1.0])
        return self.values @ signs, np.einsum("t,stb->sb", signs, self.replicates)


def deviations_without(
    values: Floats, estimates: Floats, times: NDArray[np.int64], n_units: Floats
) -> Floats:
    """Return how terms deviate without each unit, so that squares add to the jackknife's variance.

    Parameters
    ----------
    values : ndarray of shape (..., n_lines)
        Without a unit of each line.
    estimates : ndarray of shape (...)
    times : ndarray of shape (n_lines,)
        Units of each line.
    n_units : ndarray of shape (...)
        Units that a term rests on.
    """
    return (values - estimates[..., None]) * np.sqrt((1 - 1 / n_units)[..., None] * times)
