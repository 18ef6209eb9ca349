"""Values so large or small that their squares or cubes leave the range of double precision.

A coefficient such as R2 does not depend on the unit, so its values are scaled into range. A loss
depends on it: no double holds the squared error of values of 1e200, so that they are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.messages import fail
from .statistic import Floats, Statistic

# Range of the sum of squares of a column; within it losses are not looked at, because neither they
# nor sums of their cubes leave the range of double precision.
_ORDINARY_SQUARES = (1e-40, 1e80)
# Range of the largest loss of a row; within it sums of cubes of 1e12 losses are in range.
_LOSSES = (1e-90, 1e90)


def check_losses(statistic: Statistic, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> None:
    """Refuse losses of rows that are too large or too small to be added up.

    Parameters
    ----------
    statistic : Statistic
        The metric; only the losses of a mean over rows are checked.
    y_true : ndarray of shape (n_samples,) or None
        Truth.
    y_pred : ndarray of shape (n_samples,)
        Predictions, or the losses themselves.

    Raises
    ------
    ValueError
        Says how large the losses are.
    """
    columns = [y_pred] if y_true is None else [y_true, y_pred]
    if not statistic.of_row_values or all(map(_is_ordinary, columns)):
        return
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        largest = float(np.abs(statistic.row_values_of(y_true, y_pred)).max())
    # A largest loss of 0 is true only if no prediction differs: squares may have underflowed.
    none = largest == 0 and (y_true is None or np.array_equal(y_true, y_pred))
    if none or _LOSSES[0] <= largest <= _LOSSES[1]:
        return
    low, high = _LOSSES
    raise fail(
        "y_pred",
        f"give losses between {low:g} and {high:g} in size for the metric {statistic.name!r}",
        f"losses up to {largest:g}",
        "Measure in another unit: multiply the values by the same number.",
    )


def in_ordinary_range(*columns: Floats) -> tuple[Floats, ...]:
    """The columns, (n_samples,), all times one power of two if their squares leave the range."""
    if all(map(_is_ordinary, columns)):
        return columns
    exponent = int(np.frexp(max(float(np.abs(column).max()) for column in columns))[1])
    return tuple(np.ldexp(column, -exponent) for column in columns)


def _is_ordinary(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return True
    values = values.ravel()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = float(np.dot(values, values))
    return _ORDINARY_SQUARES[0] < squares < _ORDINARY_SQUARES[1]
