"""Groups of unequal size: how many of equal size they count like, and what resamples lack.

The mean of groups of very unequal size rests on the large ones. Its variance is known with fewer
degrees of freedom than there are groups, and resamples of groups, which count a large one in its
own centre, have too little of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the mean size below which sizes differ by rounding.
_ROUNDING = 1e-12


def equal_units(weights: Floats) -> float:
    """Return the number of units of equal weight that are worth these (Kish 1965).

    Parameters
    ----------
    weights : ndarray of shape (n_units,)
        Not negative, not all 0.

    Returns
    -------
    float
        (sum w)^2 / sum w^2.
    """
    # Relative weights: the squares of very large or very small ones leave the range.
    relative = weights / weights.max()
    return float(relative.sum() ** 2 / np.sum(relative**2))


def freedom_of_groups(
    sizes: NDArray[Any], strata: NDArray[np.intp] | None = None
) -> tuple[float, float] | None:
    """Degrees of freedom and inflation of groups, by their sizes.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Number of rows of each group, or their weight. Groups without any do not count.
    strata : ndarray of shape (n_groups,), optional
        Stratum of each group, from 0.

    Returns
    -------
    tuple (degrees of freedom, inflation) or None
        None where all groups have rows, and as many as all others of their stratum.

    Notes
    -----
    Degrees of freedom are groups of equal size that are worth those of each stratum (Kish 1965),
    less strata. The inflation is that of as many groups of equal size times the mean of ((1 - 1/G)
    / (1 - n_g/N))^2 over the G groups of a stratum, with weights n_g^2: what leaving out one group
    at a time (CV3; MacKinnon, Nielsen & Webb 2023, section 3) adds where means of groups vary
    alike, whatever their size.
    """
    has_rows = sizes > 0
    sizes, n_strata = sizes[has_rows], 1
    stratum = np.zeros(len(sizes), dtype=np.intp)
    if strata is not None:
        stratum, n_strata = strata[has_rows], int(strata.max()) + 1
    n_groups = np.bincount(stratum, minlength=n_strata)
    means = np.bincount(stratum, sizes, n_strata) / np.maximum(n_groups, 1)
    relative = sizes / means[stratum]
    if np.all(np.abs(relative - 1) <= _ROUNDING):
        if has_rows.all() or not has_rows.any():
            return None
        relative[:] = 1
    of_stratum = n_groups[stratum]
    squares = np.bincount(stratum, relative**2, n_strata)
    worth = float(np.sum(n_groups[n_groups > 0] ** 2 / squares[n_groups > 0]))
    # A group that is alone in its stratum shows no variance, which no factor makes larger.
    rest = np.where(of_stratum > 1, (of_stratum - relative) / np.maximum(of_stratum - 1, 1), 1.0)
    importance = (sizes / sizes.max()) ** 2
    too_little = np.sum(importance / np.maximum(rest, _ROUNDING) ** 2) / importance.sum()
    df = max(len(sizes) - n_strata, 1)
    return worth - n_strata, (df + n_strata) / df * float(too_little)
