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

A design is data under the words of its kind. `DesignWords` are what is said of a kind and decided
by it alone. They stand in `DESIGNS`, where results look them up, since they keep the name of the
kind alone. A `SamplingDesign` has them as its own attributes, beside its units, its strata and
what whoever makes it knows: remarks, what is held fixed, degrees of freedom. `of_kind` gives it the
words of another kind. A class of designs is a way to bind codes to units and to make blocks; the
methods of `SamplingDesign` are those for one factor.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, Notes
from ._tuning import FEW_TASKS, FEW_UNITS, KEYS_PER_ROW, ROUNDING_OF_SIZES, UNSURE_MEMBERS
from .block import Block, UnitBlock
from .coding import (
    Bound,
    CodedRows,
    UnitsOfCodes,
    bind_groups,
    bind_pairs,
    bind_rows,
    count_keys,
)
from .draws import Strata, multinomial_counts
from .jackknife import JackknifeResamples, ObservedBlock, leave_one_out

Floats = NDArray[np.float64]
_Design = TypeVar("_Design", bound="SamplingDesign")


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignWords:
    """Words for a kind of design, and what its kind alone decides.

    Attributes
    ----------
    kind : str
        Name of the kind, for results and files.
    unit : str
        What a unit is called.
    groups_in_messages : str
        What the user's groups are called where something is refused because of them.
    n_factors : int
        Number of units that a row belongs to.
    units_are_rows : bool
        Whether each row is a unit of its own.
    units_are_groups : bool
        Whether a unit is a set of rows that belong to no other.
    units_are_blocks : bool
        Whether units are blocks of rows in time, of which strata are the series.
    same_population : bool
        Whether the units of both factors are members of one population.
    automatic : str
        Interval that "auto" tries first for a metric that is no proportion, a key of
        `skboot.inference.intervals.INTERVALS`; see `automatic_interval`.
    studentized : {"", "row means", "sums"}
        For which metrics it tries the studentized interval in place of that.
    covered_by_few : str
        Percentages of 95% intervals that covered where units were few; empty where this is no
        matter of the design. From 15 members on one side;
        `benchmarks/coverage/studies/at_the_bounds.py`.
    no_given_rows : str
        Why resamples cannot be given as lists of rows; empty where they can.
    no_jackknife : str
        Why no single unit can be left out, and no unit has an influence; empty where it can.
    averages_tasks : {"", "fixed", "drawn"}
        Whether metrics are averages over tasks, and whether the tasks are drawn.
    remarks : tuple of Note
        What a reader of every result of the kind must know.
    named : str
        Name of the user's column of groups; empty without one, or where it says nothing.
    """

    kind: str
    unit: str
    groups_in_messages: str = "groups"
    n_factors: int = 1
    units_are_rows: bool = False
    units_are_groups: bool = False
    units_are_blocks: bool = False
    same_population: bool = False
    automatic: str = "expanded"
    studentized: str = ""
    covered_by_few: str = ""
    no_given_rows: str = ""
    no_jackknife: str = ""
    averages_tasks: str = ""
    remarks: tuple[Note, ...] = ()
    named: str = ""

    def named_as(self, name: str) -> Self:
        """Return the words of groups that the user has a name for, such as "patient_id".

        Other units are not the groups that have the name, also where these are all tasks.
        """
        if not name or not self.units_are_groups or self.unit != "group":
            return self
        return replace(self, named=name, unit=noun_of(name) or self.unit)

    def automatic_interval(self, *, row_mean: bool, additive: bool) -> str:
        """Interval that "auto" tries first for a metric that is no proportion.

        Parameters
        ----------
        row_mean : bool
            Whether the metric is a mean of one value per row, and these are many.
        additive : bool
            Whether it is a function of weighted sums.

        Returns
        -------
        str
            A key of `skboot.inference.intervals.INTERVALS`.
        """
        is_one = {"": False, "row means": row_mean, "sums": additive}[self.studentized]
        return "studentized" if is_one else self.automatic

    def coverage_caution(self, n_units: tuple[int, ...]) -> str:
        """Why intervals on so many units cover less often than stated; empty where they do not."""
        if not self.covered_by_few or min(n_units) >= UNSURE_MEMBERS:
            return ""
        side = " of one population" if self.same_population else " on one side"
        return (
            f"With fewer than {UNSURE_MEMBERS} members{side}, 95% intervals covered "
            f"{self.covered_by_few}% in simulations, least where members have half of the "
            "variance: this one may be slightly too short."
        )


# Names of a column of groups that say nothing about them; nouns whose plural is not the noun and an
# s; and words whose s at the end is none of a plural, or has a vowel before it.
_SAY_NOTHING = re.compile(
    "[a-z]{1,2}|[a-z]id|clusters?|code|groups?|grp|guid|ids|idx|index|keys?|label|level|name|"
    "number|rows?|units?|uuid|value"
)
_IRREGULAR = re.compile(
    ".*([sxzf]|ch|sh|fe|[^aeiou][yo]|man|men)|child|children|criteria|data|feet|foot|media|mice|"
    "mouse|people|phenomena|series|sheep|teeth|tooth"
)
_NO_PLURAL = re.compile(".*(ss|as|us|is|ses|xes|zes|ches|shes|ies|oes)|lens|news")


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A column of a file or a stream, with its name, as one of pandas has it."""

    values: NDArray[Any]
    name: str

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)


def words_of_groups(groups: Any) -> DesignWords:
    """Return the words of groups, under the name of their column if that says something.

    Every text about groups is made of these words, whatever the function that was given them. A
    column of a table has a name; an array has none, and arrays of dask have that of a task.
    """
    is_of_table = hasattr(groups, "to_frame") or isinstance(groups, NamedColumn)
    is_of_table |= getattr(groups, "is_scanned", False) is True
    name = getattr(groups, "name", None) if is_of_table else None
    if not isinstance(name, str):
        return GROUPS
    name = " ".join(name.split())
    plain = name.lower().removesuffix("_id")
    return GROUPS if not plain or _SAY_NOTHING.fullmatch(plain) else GROUPS.named_as(name)


def noun_of(name: str) -> str:
    """Return the noun of one unit by the name of its column: "patient" of "patient_id".

    Only a word in small letters whose plural ends in an s of its own, and such a plural, is a
    noun; "" of any other.
    """
    word = name.removesuffix("_ids").removesuffix("_id")
    if word.endswith("s") and not _NO_PLURAL.fullmatch(word):
        word = word[:-1]
    is_word = re.fullmatch("[a-z]{3,20}", word) and re.search("[aeiou]", word)
    return "" if not is_word or _IRREGULAR.fullmatch(word) or _SAY_NOTHING.fullmatch(word) else word


# ------------------------------------------------------------------ kinds

# Words by the name of their kind, which results and files keep.
DESIGNS: dict[str, DesignWords] = {}


def registered(words: DesignWords) -> DesignWords:
    """Enter the words of a kind of design in `DESIGNS`, and return them."""
    DESIGNS[words.kind] = words
    return words


ROWS = registered(
    DesignWords(
        kind="rows",
        unit="row",
        units_are_rows=True,
        automatic="bca",
        studentized="row means",
    )
)
GROUPS = registered(
    DesignWords(kind="groups", unit="group", units_are_groups=True, studentized="sums")
)
CROSSED = registered(
    DesignWords(
        kind="crossed",
        unit="member of each factor",
        groups_in_messages="crossed groups",
        n_factors=2,
        automatic="percentile",
        covered_by_few="91 to 99",
        no_given_rows="A row's weight is a product of two there, which no list of rows can "
        "express.",
        no_jackknife="no single unit can be left out of both factors",
    )
)
ONE_POPULATION = registered(
    replace(
        CROSSED,
        kind="one population",
        unit="member",
        same_population=True,
        automatic="expanded",
        covered_by_few="90 to 97",
    )
)
SERIES = registered(
    DesignWords(
        kind="series",
        unit="block",
        units_are_blocks=True,
        studentized="sums",
    )
)
# Rows in time that do not depend on each other.
registered(
    replace(
        ROWS,
        kind="blocks of one row",
        unit="block",
        remarks=(Note("choice", "Blocks of one row were resampled, which are single rows."),),
    )
)
# Poisson weights, see `skboot.resampling.streamed`.
for _kind, _words in (("streamed rows", ROWS), ("streamed groups", GROUPS)):
    _text = (
        f"Where resamples are used, they are Poisson resamples: each {_words.unit} is resampled "
        "independently, a Poisson number of times with mean 1, so the size of resamples varies."
    )
    registered(
        replace(
            _words,
            kind=_kind,
            groups_in_messages="streams of rows or groups",
            automatic="expanded",
            studentized="",
            no_given_rows="A stream keeps no rows that could be resampled.",
            no_jackknife="a stream keeps no rows that could be left out",
            remarks=(Note("choice", _text),),
        )
    )
# Averages over tasks, see `skboot.resampling.design`.
for _kind, _words in (
    ("rows within tasks", ROWS),
    ("groups within tasks", GROUPS),
    ("series within tasks", SERIES),
    ("groups across tasks", GROUPS),
):
    registered(
        replace(_words, kind=_kind, averages_tasks="fixed", automatic="expanded", studentized="")
    )
for _kind, _unit in (("tasks", "task"), ("groups of tasks", "group")):
    registered(
        replace(
            GROUPS,
            kind=_kind,
            unit=_unit,
            averages_tasks="drawn",
            automatic="t",
            studentized="",
        )
    )


# ------------------------------------------------------------------ groups of unequal size


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
        # Strata without any group do not count either.
        stratum = np.unique(strata[has_rows], return_inverse=True)[1]
        n_strata = int(stratum.max(initial=0)) + 1
    n_groups = np.bincount(stratum, minlength=n_strata)
    means = np.bincount(stratum, sizes, n_strata) / np.maximum(n_groups, 1)
    relative = sizes / means[stratum]
    if np.all(np.abs(relative - 1) <= ROUNDING_OF_SIZES):
        if has_rows.all() or not has_rows.any():
            return None
        relative[:] = 1
    n_of_stratum = n_groups[stratum]
    squares = np.bincount(stratum, relative**2, n_strata)
    worth = float(np.sum(n_groups[n_groups > 0] ** 2 / squares[n_groups > 0]))
    # A group that is alone in its stratum shows no variance, which no factor makes larger.
    remaining = np.where(
        n_of_stratum > 1, (n_of_stratum - relative) / np.maximum(n_of_stratum - 1, 1), 1.0
    )
    importance = (sizes / sizes.max()) ** 2
    too_little = (
        np.sum(importance / np.maximum(remaining, ROUNDING_OF_SIZES) ** 2) / importance.sum()
    )
    df = max(len(sizes) - n_strata, 1)
    return worth - n_strata, (df + n_strata) / df * float(too_little)


def freedom_of_classes(
    classes: NDArray[np.intp], sizes: NDArray[Any], influence: NDArray[np.float64] | None = None
) -> tuple[float, float] | None:
    """Degrees of freedom and inflation of groups of which all rows are of one class.

    Only the groups of a class inform about it: the variance is a sum over classes, each with the
    inflation and the degrees of freedom of its groups (Satterthwaite 1946).

    Parameters
    ----------
    classes : ndarray of shape (n_groups,)
        Class of each group, from 0; -1 for groups without rows.
    sizes : ndarray of shape (n_groups,)
        Rows of each group, or their weight.
    influence : ndarray of shape (n_groups,), optional
        Influence of each group; without it classes bring variances of one by their groups.

    Returns
    -------
    tuple (degrees of freedom, inflation) or None
        None where nothing varies.
    """
    variance = inflated = squares = 0.0
    for in_class in (classes == k for k in range(classes.max() + 1)):
        n = int(in_class.sum())
        df, inflation = freedom_of_groups(sizes[in_class]) or (n - 1, n / max(n - 1, 1))
        part = 1 / n if influence is None else float(np.sum(influence[in_class] ** 2))
        variance += part
        inflated += inflation * part
        squares += (inflation * part) ** 2 / max(df, 1)
    return (inflated**2 / squares, inflated / variance) if squares > 0 else None


# ------------------------------------------------------------------ designs


@dataclass(frozen=True, eq=False)
class SamplingDesign(DesignWords, ABC):
    """The units of a data set and how they are drawn, under the words of their kind.

    Build one with the ``of`` of its class.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    n_units : tuple of int
        Number of units; two numbers, one a factor, for a crossed design.
    members : ndarray of shape (n_samples, n_factors) or None
        Unit of each row in each factor; None when each row is its own unit.
    strata : ndarray of shape (n_units,) or None
        Stratum of each unit.
    held_fixed : tuple of str
        What every resample has in common with the data, in words.
    freedom : tuple of float or None
        Degrees of freedom and inflation where units weigh differently, or strata otherwise than by
        their units.
    remarks : tuple of Note
        What a reader of every result must know: of the kind, and of these data.
    """

    n_samples: int
    n_units: tuple[int, ...]
    members: NDArray[np.signedinteger] | None = None
    strata: NDArray[np.intp] | None = None
    held_fixed: tuple[str, ...] = ()
    freedom: tuple[float, float] | None = None

    def of_kind(self, kind: str, *remarks: Note, **data: Any) -> Self:
        """Return the design in the words of another kind.

        Parameters
        ----------
        kind : str
            A key of `DESIGNS`.
        *remarks : Note
            What is to be said beside what the design says already, and any of its new kind.
        **data
            Attributes of the design that differ.
        """
        words = DESIGNS[kind].named_as(self.named)
        all_remarks = (*self.remarks, *words.remarks, *remarks)
        return replace(self, **(vars(words) | data | {"remarks": all_remarks}))

    # ------------------------------------------------------------------ numbers of units

    @cached_property
    def n_strata(self) -> int:
        """Number of strata, 1 without."""
        return 1 if self.strata is None else int(self.strata.max()) + 1

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Units less strata, of the factor with the fewest units, or `freedom`; at least 1."""
        if self.freedom is not None:
            return max(self.freedom[0], 1.0)
        return max(min(self.n_units) - self.n_strata, 1)

    @property
    def inflation(self) -> float:
        """Factor from the variance of resamples to that of samples, for a mean of units.

        Resamples of n units in k strata have (n - k) / n of it, unless `freedom` says so.
        """
        if self.freedom is not None:
            return self.freedom[1]
        return min(self.n_units) / self.degrees_of_freedom

    @cached_property
    def draws_independent_rows(self) -> bool:
        """Whether rows are drawn one by one, without strata."""
        return self.units_are_rows and self.strata is None

    def among(
        self, rows: NDArray[np.intp] | None, weights: NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, ...], tuple[float, float] | None]:
        """Return the units that own any of ``rows`` (all when None), and their `freedom`.

        Rows may have weights, by which units of unequal size count.
        """
        if rows is None:
            return self.n_units, self.freedom
        if self.members is None:
            return (len(rows),), self.freedom
        n_units = tuple(len(np.unique(column)) for column in self.members[rows].T)
        return n_units, self.freedom

    def varies_among(
        self, rows: NDArray[np.intp] | None, weights: NDArray[np.float64] | None = None
    ) -> bool:
        """Return whether some units of these rows (all when None) can take each other's place.

        Not so of one unit, one in each stratum, or one that has all the weight.
        """
        if rows is None and (weights is None or weights.all()):
            return min(self.n_units) > (1 if self.units_are_blocks else self.n_strata)
        rows = np.arange(self.n_samples) if rows is None else rows
        rows = rows if weights is None else rows[weights > 0]
        # Rows that are units are different ones.
        units = [rows]
        if self.members is not None:
            units = [np.unique(column) for column in self.members[rows].T]
        if self.strata is None or self.units_are_blocks:
            return min(map(len, units)) > 1
        return len(units[0]) > len(np.unique(self.strata[units[0]]))

    # ------------------------------------------------------------------ resamples

    @abstractmethod
    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """Find the units that make up the codes of some statistics.

        Parameters
        ----------
        codings : sequence of CodedRows
            One per statistic.
        as_rows : bool
            Whether atoms must be single rows even where rows are interchangeable.

        Returns
        -------
        Bound
        """

    def units_drawn(self, indices: Sequence[NDArray[np.integer]]) -> NDArray[np.int64] | None:
        """Count how often each unit occurs in given rows, (n_resamples, n_units).

        None if a resample splits units, or if units are rows, which are read as they are.
        """
        return None

    def draw(
        self,
        rng: np.random.Generator,
        n_resamples: int,
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: Strata | None,
    ) -> tuple[NDArray[np.integer], ...]:
        """Draw how often the atoms of each factor occur, (n_resamples, n_atoms) each."""
        return tuple(multinomial_counts(rng, n_resamples, m, strata) for m in multiplicity)

    def blocks(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        counts: tuple[NDArray[np.integer], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """Blocks of these counts, one per statistic."""
        return list[Block](UnitBlock.of_each(units_of_codes, counts[0], strata))

    def observed(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """Blocks of one resample, the data as they are, one per statistic."""
        return list[Block](ObservedBlock.of_each(units_of_codes, multiplicity[0][None], strata))

    def jackknife_resamples(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
        n_sets: int,
    ) -> Iterator[JackknifeResamples]:
        """Yield the data without each unit, or without each of many sets of units.

        There are about ``n_sets`` of these sets, where units are many and have no closed form.

        Raises
        ------
        TypeError
            If no single unit can be left out.
        """
        if self.no_jackknife:
            raise TypeError(f"The design {self.kind!r} has no jackknife: {self.no_jackknife}.")
        return leave_one_out(units_of_codes, multiplicity[0], strata, n_sets)


_STRATA_HELD = ("the number of units in each stratum",)


class RowDesign(SamplingDesign):
    """Independent rows, each of them a unit."""

    @classmethod
    def of(cls, n_samples: int, strata: NDArray[np.intp] | None = None) -> RowDesign:
        """Independent rows; ``strata`` (n_samples,) holds stratum numbers from 0."""
        held_fixed = () if strata is None else _STRATA_HELD
        return cls(n_samples, (n_samples,), None, strata, held_fixed, **vars(ROWS))

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """See `SamplingDesign.bind`; atoms are rows, or sets of interchangeable rows."""
        return bind_rows(codings, self.n_samples, self.strata, as_rows)


class GroupDesign(SamplingDesign):
    """Whole groups of rows."""

    @classmethod
    def of(
        cls,
        groups: NDArray[np.intp],
        strata: NDArray[np.intp] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> GroupDesign:
        """Whole groups; ``groups`` (n_samples,) numbers them from 0, the others are per row."""
        n_groups = int(groups.max()) + 1
        group_strata, held_fixed = None, tuple[str, ...]()
        if strata is not None:
            held_fixed = _STRATA_HELD
            group_strata = np.empty(n_groups, dtype=np.intp)
            group_strata[groups] = strata
        members = groups[:, None]
        freedom = freedom_of_groups(np.bincount(groups, weights), group_strata)
        units = (n_groups,)
        return cls(len(groups), units, members, group_strata, held_fixed, freedom, **vars(GROUPS))

    def among(
        self, rows: NDArray[np.intp] | None, weights: NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, ...], tuple[float, float] | None]:
        """See `SamplingDesign.among`; averages over tasks go by those."""
        if rows is None:
            return self.n_units, self.freedom
        assert self.members is not None
        groups = self.members[rows, 0]
        n_units = (len(np.unique(groups)),)
        if self.averages_tasks:
            return n_units, self.freedom
        sizes = np.bincount(groups, weights, self.n_units[0])
        return n_units, freedom_of_groups(sizes, self.strata)

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """See `SamplingDesign.bind`; atoms are groups."""
        assert self.members is not None
        return bind_groups(codings, self.members[:, 0], self.n_units[0], self.strata)

    def units_drawn(self, indices: Sequence[NDArray[np.integer]]) -> NDArray[np.int64] | None:
        """See `SamplingDesign.units_drawn`."""
        assert self.members is not None
        group = self.members[:, 0]
        first_row = np.unique(group, return_index=True)[1]
        counts = np.empty((len(indices), self.n_units[0]), dtype=np.int64)
        for resample, rows in enumerate(indices):
            row_counts = np.bincount(rows, minlength=self.n_samples)
            counts[resample] = row_counts[first_row]
            if np.any(row_counts != counts[resample][group]):
                return None
        return counts


class CrossedDesign(SamplingDesign):
    """Two crossed factors; every row pairs a member of one with a member of the other."""

    @classmethod
    def of(cls, pairs: NDArray[np.signedinteger]) -> CrossedDesign:
        """Two factors; ``pairs`` (n_samples, 2) numbers the members of each column from 0."""
        n_units = (int(pairs[:, 0].max()) + 1, int(pairs[:, 1].max()) + 1)
        return cls(len(pairs), n_units, pairs, **vars(CROSSED))

    @property
    def inflation(self) -> float:
        """1: the variance of resamples is a sum of several, without a common factor."""
        return 1.0

    @property
    def n_members(self) -> tuple[int, ...]:
        """Number of members that may stand in each column of a pair."""
        return self.n_units

    @cached_property
    def cells(self) -> NDArray[np.intp]:
        """Number of each row's pair of members, in either order in one population, (n_samples,)."""
        assert self.members is not None
        pairs = self.members.astype(np.intp)
        if self.same_population:
            pairs.sort(axis=1)
        numbers = pairs[:, 0] * self.n_members[1] + pairs[:, 1]
        if math.prod(self.n_members) <= KEYS_PER_ROW * self.n_samples:
            return numbers
        return np.unique(numbers, return_inverse=True)[1]

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """See `SamplingDesign.bind`; atoms are the members of each factor."""
        assert self.members is not None
        return bind_pairs(codings, self.members, self.n_members, self.n_units)

    def blocks(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        counts: tuple[NDArray[np.integer], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """See `SamplingDesign.blocks`."""
        # Imported here, because few calls have a crossed design.
        from .crossed import CrossedBlock

        sides = (counts[0], counts[-1])
        return [CrossedBlock(units, sides) for units in units_of_codes]

    def observed(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """See `SamplingDesign.observed`."""
        return self.blocks(units_of_codes, tuple(m[None] for m in multiplicity), strata)


class OnePopulationDesign(CrossedDesign):
    """Pairs of members of one population, which stands on both sides."""

    @classmethod
    def of(cls, pairs: NDArray[np.signedinteger]) -> OnePopulationDesign:
        """One population; ``pairs`` (n_samples, 2) numbers its members from 0 in both columns."""
        return cls(len(pairs), (int(pairs.max()) + 1,), pairs, **vars(ONE_POPULATION))

    @property
    def n_members(self) -> tuple[int, ...]:
        """Number of members that may stand in each column of a pair."""
        return self.n_units * 2

    def among(
        self, rows: NDArray[np.intp] | None, weights: NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, ...], tuple[float, float] | None]:
        """See `SamplingDesign.among`; a member counts once, on either side."""
        if rows is None or self.members is None:
            return self.n_units, self.freedom
        return (len(np.unique(self.members[rows])),), self.freedom


# ------------------------------------------------------------------ averages over tasks
#
# What is drawn for averages over tasks: rows, or whole groups, within tasks, or the tasks.
#
# * fixed tasks: the claim is for these tasks. Rows are drawn `within_tasks`, or groups that each
#   lie in one task, or blocks of rows in time; groups that cross tasks are drawn whole,
#   `across_tasks`;
# * `drawn_tasks`: the claim is for new tasks like these. Each task is a unit, or lies in one.
#
# Each function takes the design of a call without tasks, and returns it with other words, strata,
# remarks, and what is held fixed.


def drawn_tasks(design: _Design, group_of_task: NDArray[np.intp]) -> _Design:
    """Return the design of groups as one that draws tasks, each of which lies in a group."""
    n_units = design.n_units[0]
    kind = "tasks" if n_units == len(group_of_task) else "groups of tasks"
    freedom = freedom_of_groups(np.bincount(group_of_task, minlength=n_units), design.strata)
    if n_units >= FEW_TASKS:
        return design.of_kind(kind, freedom=freedom)
    unit = DESIGNS[kind].named_as(design.named).unit
    units = kind if unit in ("task", "group") else f"{unit}s"
    text = (
        f"Only {n_units} {units} were resampled (fewer than {FEW_TASKS}): expect less "
        "coverage than stated."
    )
    return design.of_kind(kind, Note("few", text), freedom=freedom)


def across_tasks(design: _Design, n_tasks: int) -> _Design:
    """Return the design of groups as one of groups with rows in several of the fixed tasks."""
    held_fixed = ("the tasks", *design.held_fixed)
    notes = _few(n_tasks)
    return design.of_kind("groups across tasks", *notes, held_fixed=held_fixed, freedom=None)


def within_tasks(
    design: _Design, task: NDArray[np.intp], classes: NDArray[np.intp] | None = None
) -> _Design:
    """Return the design that draws units within fixed tasks, strata and classes of these.

    Parameters
    ----------
    design : SamplingDesign
        Design of rows, groups, or blocks of rows in time, whose series each lie in one task.
    task : ndarray of shape (n_units,)
        Task of each unit, from 0.
    classes : ndarray of shape (n_units,), optional
        Class of each unit, from 0, each of which counts by itself in its task.

    Notes
    -----
    The average has the variance sum_h a_h, a_h = (m_h / m)^2 / m_h for stratum h with m_h of the m
    units of its task, if all units vary alike; that of resamples is less, sum_h a_h (m_h - 1) / m_h
    (Davison & Hinkley 1997, section 3.2). For metrics of two classes m is the number of units of
    the class. Degrees of freedom are those of Satterthwaite (1946).
    """
    strata, within = design.strata, "task" if classes is None else "class of each task"
    if strata is not None and not design.units_are_blocks:
        within = f"stratum and {within}"
    if classes is not None:
        strata = classes if strata is None else strata * (int(classes.max()) + 1) + classes
    strata = strata_of_tasks(task, strata)
    sizes, task_sizes = np.bincount(strata).astype(np.float64), np.bincount(task)
    totals = sizes
    if classes is None:
        task_of_stratum = np.empty(len(sizes), dtype=np.intp)
        task_of_stratum[strata] = task
        totals = task_sizes[task_of_stratum].astype(np.float64)
    variance = sizes / totals**2
    seen_variance = variance * (sizes - 1) / sizes
    varies, freedom = sizes > 1, (1.0, 1.0)
    if varies.any():
        df = seen_variance.sum() ** 2 / np.sum(seen_variance[varies] ** 2 / (sizes[varies] - 1))
        freedom = float(df), float(variance.sum() / seen_variance.sum())
    notes, unit, by_class = _few(len(task_sizes)), design.unit, classes is not None
    if by_class:
        text = "Rows were resampled within task and class, because the metric needs both classes."
        notes.add("choice", text)
    n_small = int(np.count_nonzero(task_sizes < FEW_UNITS))
    if n_small:
        text = (
            f"{n_small} of {len(task_sizes)} tasks have fewer than {FEW_UNITS} {unit}s: the "
            f"standard error of a task of m {unit}s is multiplied by sqrt(m / (m - 1)) to allow "
            "for this."
        )
        notes.add("choice", text)
    n_single = int(np.count_nonzero(sizes == 1))
    if n_single:
        noun = "classes" if by_class else "strata"
        text = (
            f"{n_single} of {len(sizes)} {noun} within tasks have one {unit}, whose variation "
            "resamples do not show: expect less coverage than stated."
        )
        notes.add("caution", text)
    return design.of_kind(
        f"{design.kind} within tasks",
        *notes,
        strata=strata,
        held_fixed=("the tasks", f"the number of {unit}s in each {within}"),
        freedom=freedom,
    )


def strata_of_tasks(task: NDArray[np.intp], strata: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return the number of each unit's stratum within its task, (n_units,); tasks come in order."""
    if strata is None:
        return task
    n_strata = int(strata.max()) + 1
    return count_keys(task * n_strata + strata, (int(task.max()) + 1) * n_strata)[2]


# ------------------------------------------------------------------ remarks


def _few(n_tasks: int) -> Notes:
    """Return a note on few fixed tasks, whose average is easily read as one of tasks at large."""
    notes = Notes()
    if n_tasks < FEW_TASKS:
        text = (
            f"Only {n_tasks} tasks (fewer than {FEW_TASKS}) are averaged, and the interval is "
            "conditional on them: it does not hold for other tasks."
        )
        notes.add("few", text)
    return notes
