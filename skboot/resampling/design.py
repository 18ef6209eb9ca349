"""Say what is drawn: rows, whole groups, units within strata, or the members of crossed factors.

* rows: independent samples; each row is a unit;
* groups: rows of one group (speaker, patient, document) belong together and are drawn together;
* strata: the number of units in each stratum was fixed when the data were collected;
* crossed: every row pairs a member of one factor with a member of another (rater x item), and
  both factors are samples;
* one population: as crossed, but both columns name members of the same population (trials of
  two speakers).

A row weighs the product of the weights of its units (Owen & Eckles 2012). In one population a
row that pairs a member with itself weighs that member's weight once, not squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["rows", "groups", "crossed", "one population"]


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """The units of a data set and how they are drawn.

    Build one with `SamplingDesign.of_rows`, `of_groups` or `of_pairs`.

    Attributes
    ----------
    kind : {"rows", "groups", "crossed", "one population"}
        What a unit is.
    n_samples : int
        Number of rows.
    n_units : tuple of int
        Number of units; two numbers, one a factor, for a crossed design.
    members : ndarray of shape (n_samples, n_factors) or None
        Unit of each row in each factor; None when each row is its own unit.
    strata : ndarray of shape (n_units,) or None
        Stratum of each unit.
    """

    kind: Kind
    n_samples: int
    n_units: tuple[int, ...]
    members: NDArray[np.signedinteger] | None = None
    strata: NDArray[np.intp] | None = None

    @classmethod
    def of_rows(cls, n_samples: int, strata: NDArray[np.intp] | None = None) -> SamplingDesign:
        """Independent rows; ``strata`` (n_samples,) holds stratum numbers from 0."""
        return cls("rows", n_samples, (n_samples,), strata=strata)

    @classmethod
    def of_groups(
        cls, groups: NDArray[np.intp], strata: NDArray[np.intp] | None = None
    ) -> SamplingDesign:
        """Whole groups; ``groups`` (n_samples,) numbers them from 0, ``strata`` is per row."""
        n_groups = int(groups.max()) + 1
        of_unit = None
        if strata is not None:
            of_unit = np.empty(n_groups, dtype=np.intp)
            of_unit[groups] = strata
        return cls("groups", len(groups), (n_groups,), groups[:, None], of_unit)

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.signedinteger], *, same_population: bool) -> SamplingDesign:
        """Two factors; ``pairs`` (n_samples, 2) numbers the members of each column from 0.

        With ``same_population`` both columns share one numbering.
        """
        if same_population:
            return cls("one population", len(pairs), (int(pairs.max()) + 1,), pairs)
        n_units = (int(pairs[:, 0].max()) + 1, int(pairs[:, 1].max()) + 1)
        return cls("crossed", len(pairs), n_units, pairs)

    @property
    def is_crossed(self) -> bool:
        """Whether a row's weight is a product of two."""
        return self.kind in ("crossed", "one population")

    @property
    def smallest_side(self) -> int:
        """Number of units of the factor that has the fewest."""
        return min(self.n_units)

    @property
    def n_strata(self) -> int:
        """Number of strata, 1 without."""
        return 1 if self.strata is None else int(self.strata.max()) + 1

    @property
    def degrees_of_freedom(self) -> int:
        """Units less strata, of the factor with the fewest units; at least 1."""
        return max(self.smallest_side - self.n_strata, 1)

    @property
    def inflation(self) -> float:
        """Factor from the variance of resamples to that of samples, for a mean of units.

        Resamples of n units in k strata have (n - k) / n of it; a crossed design has no such
        factor, since its variance is a sum of several.
        """
        return 1.0 if self.is_crossed else self.smallest_side / self.degrees_of_freedom

    def n_units_among(self, rows: NDArray[np.intp] | None) -> tuple[int, ...]:
        """Count the units that own at least one of ``rows`` (all rows when None)."""
        if rows is None:
            return self.n_units
        if self.members is None:
            return (len(rows),)
        of_rows = self.members[rows]
        if self.kind == "one population":
            return (len(np.unique(of_rows)),)
        return tuple(len(np.unique(column)) for column in of_rows.T)
