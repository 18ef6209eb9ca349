"""Read the counts of a block once for all statistics that are computed together.

* `SharedSums`: the terms of functions of sums, and products of their terms, are summed in one
  product with the counts, which is wide enough to be quick: 16 means of 100,000 rows with their
  variances take a third of the time;
* `CountedCodes`: the units of the codes of many statistics of few codes are counted in one product.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._tuning import ATOMS_PER_CODE, CODES_OF_ATOMS, SHARED_TERMS
from .block import UnitBlock, weighted_sums
from .coding import UnitsOfCodes
from .draws import AtomCounts

Floats = NDArray[np.float64]


class ReadTerms(NamedTuple):
    """What a statistic of sums asks its blocks for.

    Attributes
    ----------
    terms : ndarray or sparse matrix of shape (n_codes, n_terms)
        Terms of its sums.
    with_variance : bool
        Whether it asks for a variance, which is made of sums of products of its terms.
    """

    terms: Any
    with_variance: bool


class SharedSums(NamedTuple):
    """The columns that several statistics of the same atoms sum, each of them once.

    So statistics with equal terms have equal sums to the last bit.

    Attributes
    ----------
    columns : ndarray or SideBySide of shape (n_atoms, n_columns)
        Distinct columns of terms, and of products of each two of them, of atoms.
    terms : list of ndarray
        The terms of each statistic.
    of_terms, of_products : list of ndarray
        Which columns are those of a statistic's terms, and of its products, which may be none.
    """

    columns: Floats | SideBySide
    terms: list[Floats]
    of_terms: list[NDArray[np.intp]]
    of_products: list[NDArray[np.intp]]

    @classmethod
    def of(cls, blocks: Sequence[UnitBlock], read: Sequence[ReadTerms]) -> SharedSums:
        """Find them for the statistics of these blocks.

        Parameters
        ----------
        blocks : sequence of UnitBlock
            One per statistic, of the same atoms.
        read : sequence of ReadTerms
            What each will ask for.
        """
        totals, products = [], []
        for block, (terms, with_variance) in zip(blocks, read, strict=True):
            own = block.units_of_codes.totals(terms)
            multiplied = with_variance and block.reads_products(own)
            totals.append(own)
            products.append(block.units_of_codes.products(terms) if multiplied else own[:, :0])
        distinct, numbers = distinct_columns([*totals, *products])
        few = len(distinct) * len(distinct[0]) <= SHARED_TERMS
        columns = np.column_stack(distinct) if few else SideBySide(distinct)
        n = len(blocks)
        return cls(columns, [each.terms for each in read], numbers[:n], numbers[n:])

    def hand_out(self, blocks: Sequence[UnitBlock]) -> None:
        """Sum them in the resamples of these blocks, and let each know what it will be asked."""
        sums = blocks[0].sums_of_atoms(self.columns)
        for block, terms, own, products in zip(blocks, *self[1:], strict=True):
            block.known_sums = terms, sums[:, own]
            if len(products):
                block.known_products = terms, sums[:, products]


class SideBySide:
    """Columns that are put side by side for some atoms at a time: all take much memory.

    Parameters
    ----------
    columns : list of ndarray of shape (n_atoms,)
    """

    def __init__(self, columns: list[Floats]) -> None:
        self.columns = columns
        self.shape = len(columns[0]), len(columns)

    def __getitem__(self, atoms: Any) -> Floats:
        return np.stack([column[atoms] for column in self.columns]).T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or np.float64, copy=False)


def distinct_columns(
    matrices: Sequence[NDArray[Any]],
) -> tuple[list[NDArray[Any]], list[NDArray[np.intp]]]:
    """Return the distinct columns of some matrices, and the numbers of those in each matrix."""
    distinct: list[NDArray[Any]] = []
    numbers_by_key: dict[bytes, list[int]] = {}
    columns = []
    for matrix in matrices:
        of_matrix = []
        for column in matrix.T:
            # Columns whose keys differ are different; only the others are compared as a whole.
            key = hashlib.blake2b((column + 0.0).tobytes(), digest_size=16).digest()
            numbers = numbers_by_key.setdefault(key, [])
            equal = [k for k in numbers if np.array_equal(distinct[k], column)]
            if not equal:
                equal = [len(distinct)]
                numbers.append(len(distinct))
                distinct.append(column)
            of_matrix.append(equal[0])
        columns.append(np.array(of_matrix, dtype=np.intp))
    return distinct, columns


# ------------------------------------------------------------------ few codes among many atoms


@dataclass(frozen=True, eq=False)
class CountedCodes(UnitsOfCodes):
    """A statistic of few codes among many atoms: its own atoms are its codes.

    Many statistics together have many atoms, of which each tells a few sets apart: the recall of
    one of 500 classes two of some thousand cells. Once the units of these sets are counted, in one
    product, a statistic costs what its codes cost, and no pass over the atoms.

    Attributes
    ----------
    counting : sparse matrix of shape (n_atoms, n_counted)
        Of all such statistics: a one where the units of an atom are counted for a code.
    first_counted : int
        Column of the statistic's first code in it.
    largest : int
        The code of most atoms, or one past the last for those without a code: its units are not
        counted, since they are those that the other codes leave.
    """

    counting: Any = None
    first_counted: int = 0
    largest: int = 0
    counts_own_codes: ClassVar[bool] = True

    def own(self, drawn: AtomCounts) -> AtomCounts:
        """See `UnitsOfCodes.own`."""
        found: AtomCounts = drawn.kept(id(self), lambda: AtomCounts(self._counts(drawn)))
        return found

    def _counts(self, drawn: AtomCounts) -> Floats:
        of_all = drawn.kept(id(self.counting), lambda: weighted_sums(drawn.counts, self.counting))
        others = of_all[:, self.first_counted : self.first_counted + self.n_codes]
        counts = np.empty((len(others), self.n_codes + 1), order="F")
        counts[:, : self.largest] = others[:, : self.largest]
        counts[:, self.largest + 1 :] = others[:, self.largest :]
        counts[:, self.largest] = drawn.n_units - others.sum(axis=1)
        return counts[:, :-1]


def with_few_codes_counted(units_of_codes: Sequence[UnitsOfCodes]) -> list[UnitsOfCodes]:
    """Return the units of some statistics of one factor, with `CountedCodes` where these are quick.

    They are where several statistics have few codes among many atoms.
    """
    found, n_atoms = list(units_of_codes), units_of_codes[0].n_atoms[0]
    few = [
        k
        for k, each in enumerate(units_of_codes)
        if each.reads == "sums" and each.atoms is None and each.n_codes * ATOMS_PER_CODE <= n_atoms
    ]
    n_codes = [units_of_codes[k].n_codes for k in few]
    if len(few) < 2 or sum(n_codes) * n_atoms <= CODES_OF_ATOMS:
        return found
    largest, atoms, columns = [], [], []
    starts = np.concatenate(([0], np.cumsum(n_codes)))
    for k, start in zip(few, starts, strict=False):
        code = units_of_codes[k].code_of_atom
        # An atom of rows has one code at most.
        assert code is not None
        own = int(np.argmax(np.bincount(code, minlength=units_of_codes[k].n_codes + 1)))
        others = np.flatnonzero(code != own)
        largest.append(own)
        atoms.append(others)
        columns.append(start + code[others] - (code[others] > own))
    at = np.concatenate(atoms), np.concatenate(columns)
    counting = sparse.csr_matrix((np.ones(len(at[0])), at), shape=(n_atoms, int(starts[-1])))
    for k, own, start in zip(few, largest, starts.tolist(), strict=False):
        n = units_of_codes[k].n_codes
        found[k] = CountedCodes(
            n, (n,), reads="sums", counting=counting, first_counted=start, largest=own
        )
    return found
