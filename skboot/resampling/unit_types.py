"""Data whose units are of a few types: what running sums give without one unit.

Two units of one type, a distinct row of terms, change the sums alike, so that all of them need one
pass for each type: a sum over thresholds without a unit hangs on its type and the end from which it
counts, and so does where a gap changes sign.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._tuning import TILE_ELEMENTS
from .block import AddedAtEnds, Floats
from .coding import narrow_type
from .prefix_sums import Gap, SignChange, joined, search


class Types(NamedTuple):
    """Running counts of the units of each type, a distinct row of terms.

    Attributes
    ----------
    number : ndarray of shape (n_positions,), uint8
        Type of each code, in reading order.
    values : ndarray of shape (n_types, n_terms)
        The distinct rows of terms.
    upto : ndarray of shape (n_ends + 1, n_types)
        Units of each type before the first end, and up to each; of a narrow type.
    """

    number: NDArray[np.uint8]
    values: Floats
    upto: NDArray[np.signedinteger]

    def running_at(self, end: NDArray[np.intp]) -> Floats:
        """Return running sums of the data at some ends, (len(end), n_terms)."""
        return self.upto[end + 1] @ self.values


class SumsWithoutUnits(NamedTuple):
    """Sums over thresholds without a unit, by its type and its end.

    Attributes
    ----------
    sums : ndarray of shape (n_types * n_ends + 1,)
        What all ends add without a unit of each type and end, and with all units.
    last : ndarray of shape (n_terms, n_types + 1)
        Running sums at the last end without a unit of each type, and with all units.
    place : ndarray of shape (n_atoms,)
        Where the sum without a unit of each atom is.
    unit_type : ndarray of shape (n_atoms,), uint8
        Type of a unit of each atom; one past the last for one that counts nowhere.
    """

    sums: Floats
    last: Floats
    place: NDArray[np.signedinteger]
    unit_type: NDArray[np.uint8]

    def of(self, units: slice) -> tuple[Floats, Floats]:
        """Return the sums without some units, (n_units,), and the last ones, (n_terms, n_units)."""
        return self.sums[self.place[units]], self.last.take(self.unit_type[units], axis=1)


def sums_without_units(
    types: Types,
    added: AddedAtEnds,
    unit_end: NDArray[np.signedinteger],
    unit_type: NDArray[np.uint8],
) -> SumsWithoutUnits:
    """Sum over the ends before a unit, its own end, and those after it, for each type.

    Parameters
    ----------
    types : Types
        Running counts of the data.
    added : callable
        As for `Block.sum_over_thresholds`.
    unit_end : ndarray of shape (n_atoms,)
        The end from which a unit of each atom counts; past all for none.
    unit_type : ndarray of shape (n_atoms,)
        Its type.

    Returns
    -------
    SumsWithoutUnits
    """
    n_types, n_ends = len(types.values), len(types.upto) - 1
    none = np.zeros((types.values.shape[1], 1))
    up_to = np.append(0.0, np.cumsum(_added_along(added, types, none, none)))
    sums = np.empty(n_types * n_ends + 1)
    sums[-1] = up_to[-1]
    for of_type, value in zip(sums[:-1].reshape(n_types, n_ends), types.values, strict=True):
        less = value[:, None]
        # Some ends that no unit of the type has are undefined; see `_added_along`.
        with np.errstate(invalid="ignore"):
            np.add(up_to[:-1], _added_along(added, types, none, less), out=of_type)
            after = _added_along(added, types, less, less)
            of_type[:-1] += np.cumsum(after[:0:-1])[::-1]
    # A unit past the last end is in no sum, as one of no type is.
    unit_type = np.where(unit_end < n_ends, unit_type, np.uint8(n_types))
    place: NDArray[Any] = unit_type.astype(narrow_type(len(sums)))
    place *= n_ends
    place += unit_end
    place[unit_type == n_types] = n_types * n_ends
    total = types.running_at(np.array([n_ends - 1]))
    last = (total - np.vstack((types.values, np.zeros(len(none))))).T
    return SumsWithoutUnits(sums, last, place, unit_type)


def _added_along(added: AddedAtEnds, types: Types, less_before: Floats, less_at: Floats) -> Floats:
    """Return what each end adds where the sums before it, and at it, are less by these, (n_ends,).

    Ends before the unit are computed as well, but never used; there the running sums less the unit
    may be 0, or negative, and what is added undefined.
    """
    values = np.empty(len(types.upto) - 1)
    with np.errstate(all="ignore"):
        for start in range(0, len(values), TILE_ELEMENTS):
            stop = min(start + TILE_ELEMENTS, len(values))
            running = (types.upto[start : stop + 1] @ types.values).T
            at = (running[:, 1:] - less_at)[:, :, None]
            values[start:stop] = added(running[:, :-1] - less_before, at)
    return values


def change_without_units(
    types: Types, gap: Gap, unit_end: NDArray[np.intp], unit_type: NDArray[np.uint8]
) -> SignChange:
    """Return the sign changes without each unit, which have a few outcomes for each type.

    A unit is missing from its own end on. If the sums with it change sign before that end, they do
    so without it; otherwise the sign changes where the sums without it do, or at its own end if
    that comes later.
    """
    n_ends = len(types.upto) - 1
    values = np.vstack((types.values, np.zeros(types.values.shape[1])))
    totals = types.running_at(np.array([n_ends - 1])) - values
    # The sums with the unit and those without it are searched together.
    less = np.vstack((np.zeros_like(values), values))
    both = search(partial(_less, types, less), np.vstack((totals, totals)), n_ends, gap)
    lasts, firsts = np.split(both.end, 2)
    # The outcomes of a type: before the unit, after it, and each of the ends that a unit may have
    # where the sign changes at its own end.
    n_own = np.maximum(lasts - firsts, 0) + 1
    of_type = np.repeat(np.arange(len(values)), n_own)
    at = np.arange(n_own.sum()) - np.repeat(np.cumsum(n_own) - n_own - firsts, n_own)
    before = np.where((at > 0)[:, None], types.running_at(np.maximum(at - 1, 0)), 0.0)
    at_own = SignChange(at, before, types.running_at(at) - values[of_type], totals[of_type])
    (change,) = joined([[both], [at_own]])
    n_types = len(values)
    first_own = 2 * n_types + np.cumsum(n_own) - n_own
    number = unit_end + (first_own - firsts)[unit_type]
    after = unit_end < firsts[unit_type]
    number[after] = n_types + unit_type[after]
    crossed = unit_end > lasts[unit_type]
    number[crossed] = unit_type[crossed]
    return change._replace(outcome=number)


def _less(types: Types, values: Floats, end: NDArray[np.intp]) -> Floats:
    """Return running sums of the data less the terms of a unit, (len(end), n_terms)."""
    return types.running_at(end) - values
