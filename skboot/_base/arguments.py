"""Arguments that are one value: what means nothing by itself stands together, checked when made."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks as check
from .doors import door
from .values import read_only, same_values

# Minimum number of units at a look (rows, groups); below them no interval was measured to hold at
# every look (record 0100).
FEWEST_ROWS_AT_LOOK = 100
FEWEST_GROUPS_AT_LOOK = 20


@dataclass(frozen=True, init=False)
class Anytime:
    """An interval that holds at every look at growing data, for ``interval=``.

    All intervals from the first look on hold the true score simultaneously with the confidence
    level, however often you look and whenever you stop. For means, functions of sums and areas
    under ROC curves, of independent rows or groups.

    Parameters
    ----------
    first_look : int
        The number of rows, or groups, at the first look: at least 100 rows or 20 groups, fixed
        before the data were seen. The interval is narrowest there, and does not hold before it.

    See Also
    --------
    bootstrap_score, compare_systems, skboot.testing.assert_not_worse, BootstrapAccumulator

    References
    ----------
    Robbins & Siegmund (1970), Boundary crossing probabilities for the Wiener process and sample
    sums, Annals of Mathematical Statistics 41, 1410-1429.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import Anytime, bootstrap_score
    >>> y_true = np.tile([0, 1], 200)
    >>> y_pred = np.where(np.arange(400) % 10 == 0, 1 - y_true, y_true)
    >>> look = Anytime(first_look=100)
    >>> print(bootstrap_score(y_true, y_pred, interval=look, random_state=0))
    0.900 (0.845 to 0.937)
    """

    first_look: int

    @door(".")
    def __init__(self, first_look: int) -> None:
        advice = f"Use {FEWEST_ROWS_AT_LOOK} rows or more, or {FEWEST_GROUPS_AT_LOOK} groups."
        units = check.check_count("first_look", first_look, FEWEST_GROUPS_AT_LOOK, advice)
        object.__setattr__(self, "first_look", units)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TwoColumns:
    """Two columns that each row has a member of: the units of `Crossed` and `Trials`.

    Attributes
    ----------
    a, b : ndarray of shape (n_samples,)
    columns : tuple
        Both as they were given, with the names and labels of their rows.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    columns: tuple[Any, Any] = field(init=False, compare=False)

    @door(".")
    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        object.__setattr__(self, "columns", (a, b))
        for name, column in zip("ab", self.columns, strict=True):
            if check.is_lazy(column):
                advice = "Use .compute(), or .collect()."
                raise check.fail(name, "be in memory", type(column).__name__, advice)
            advice = "Give each column by itself: table['speaker_1'], table['speaker_2']."
            object.__setattr__(self, name, read_only(check.check_column(name, column, advice)))
        check.check_same_length(a=self.a, b=self.b)

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{check.counted(len(self), 'row')}>)"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, by which scikit-learn routes the value with the rows."""
        return len(self), 2

    def __len__(self) -> int:
        return len(self.a)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        columns = [self.a, self.b]
        if self.a.dtype.kind != self.b.dtype.kind:
            columns = [column.astype(object) for column in columns]
        return np.column_stack(columns)

    def __getitem__(self, rows: Any) -> Any:
        """Return some rows as a value of the class, or the two members of one row."""
        # scikit-learn asks for rows and an ellipsis.
        at = rows[0] if isinstance(rows, tuple) else rows
        members = self.a[at], self.b[at]
        return type(self)(*members) if np.ndim(members[0]) else members


class Crossed(TwoColumns):
    """Two crossed factors, for ``groups=``: both are resampled, as readers and cases.

    The weight of a row is the product of the weights of its two members. A plain array or frame of
    two columns means the same.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        The member of each factor that a row belongs to.

    Attributes
    ----------
    columns : tuple
        Both columns as they were given.

    See Also
    --------
    Trials : Two members of one population.
    bootstrap_score : Takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import Crossed, bootstrap_score
    >>> rng = np.random.default_rng(0)
    >>> reader, case = np.repeat(np.arange(40), 50), np.tile(np.arange(50), 40)
    >>> y_true = case % 2
    >>> y_pred = np.where(rng.random(2000) < 0.2, 1 - y_true, y_true)
    >>> result = bootstrap_score(y_true, y_pred, groups=Crossed(reader, case), random_state=0)
    >>> result.n_units
    (40, 50)
    """


class Trials(TwoColumns):
    """Trials of two members of one population, for ``groups=``: members are resampled.

    As in the verification of speakers, where each trial has two. The weight of a row is the product
    of the weights of its two members, whichever column these stand in.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        The two members of each trial. The same member has the same name in both columns.

    Attributes
    ----------
    columns : tuple
        Both columns as they were given.

    See Also
    --------
    Crossed : Members of two populations.
    bootstrap_score : Takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import Trials, bootstrap_score
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.integers(0, 40, size=(2, 1000))
    >>> same = (first == second).astype(int)
    >>> score = 2.0 * same + rng.normal(size=1000)
    >>> trials = Trials(first, second)
    >>> trials
    Trials(<1000 rows>)
    >>> result = bootstrap_score(same, score, metric="roc_auc", groups=trials, random_state=0)
    """

    @door(".")
    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        super().__init__(a, b)
        numbers = [column.dtype.kind in "biuf" for column in (self.a, self.b)]
        if self.a.dtype.kind != self.b.dtype.kind and numbers[0] != numbers[1]:
            must = "name members as a does, all by numbers or all by text"
            raise check.fail("b", must, f"{self.b.dtype} beside {self.a.dtype}")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Judge:
    """Labels by a judge, such as a language model, and its weight, for ``proxy=``.

    Humans label a random part of the rows, a judge all of them: the judge's error is estimated on
    the rows that both labelled, and corrected for. Plain labels as ``proxy=`` mean
    ``Judge(labels)``.

    Parameters
    ----------
    labels : array-like of shape (n_samples,), or dict of str to array-like, or frame
        The judge's labels; its values by system where a comparison has ``metric="mean"``.
    weight : "auto" or float
        Weight of the judge in [0, 1]; 0 uses human labels alone, and 1 takes the judge's as they
        are where no human labelled. "auto": the weight of the smallest variance, or 0 where the
        interval is not shorter than that of human labels alone.

    See Also
    --------
    bootstrap_score, compare_systems

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv:2311.01453.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import Judge, bootstrap_score
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, size=1000)
    >>> y_pred, labels = (np.where(rng.random(1000) < 0.1, 1 - truth, truth) for _ in range(2))
    >>> y_true = np.where(np.arange(1000) < 200, truth, np.nan)  # humans labelled 200 rows
    >>> judge = Judge(labels, weight=0.5)
    >>> judge
    Judge(<1000 rows>, weight=0.5)
    >>> bootstrap_score(y_true, y_pred, proxy=judge, random_state=0).n_labelled
    200
    """

    labels: ArrayLike | Mapping[str, ArrayLike]
    weight: float | Literal["auto"]

    @door(".")
    def __init__(
        self,
        labels: ArrayLike | Mapping[str, ArrayLike],
        weight: float | Literal["auto"] = "auto",
    ) -> None:
        columns = labels.values() if isinstance(labels, Mapping) else [labels]
        # Columns that are not in memory are refused with those beside them.
        have_rows = all(check.is_lazy(column) or np.ndim(column) for column in columns)
        if isinstance(labels, Judge) or not have_rows:
            must = "be the judge's labels, one for each row"
            raise check.fail("labels", must, repr(labels))
        object.__setattr__(self, "labels", _copy_labels(labels))
        object.__setattr__(self, "weight", weight)
        if check.is_among(weight, ["auto"]):
            return
        share: Any = weight
        is_number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
        if not (is_number and 0 <= share <= 1):
            advice = (
                "0 is human labels alone, 1 takes the judge's as they are where no human labelled."
            )
            raise check.fail("weight", "be 'auto' or a number in [0, 1]", repr(weight), advice)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Judge):
            return NotImplemented
        by_system, other_by_system = self.by_system, other.by_system
        return (
            self.weight == other.weight
            and by_system.keys() == other_by_system.keys()
            and all(
                same_values(np.asarray(by_system[name]), np.asarray(other_by_system[name]))
                for name in by_system
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        columns = self.by_system
        if None not in columns:
            shown = f"<{check.counted(len(columns), 'system')}>"
        elif check.is_lazy(columns[None]):
            shown = f"<{type(columns[None]).__name__}>"
        else:
            shown = f"<{check.counted(len(columns[None]), 'row')}>"
        return f"Judge({shown}, weight={self.weight!r})"

    @property
    def by_system(self) -> Mapping[Any, Any]:
        """The labels by system, under None where they are those of the truth."""
        labels: Any = self.labels
        if isinstance(labels, Mapping):
            return labels
        # A frame of one column is a column.
        is_table = hasattr(labels, "columns") and len(labels.columns) > 1
        return {name: labels[name] for name in labels.columns} if is_table else {None: labels}


def _copy_labels(labels: Any) -> Any:
    """Copy labels that are in memory, of whatever type: what is changed later is not the value."""
    if isinstance(labels, Mapping):
        return {name: _copy_labels(column) for name, column in labels.items()}
    if isinstance(labels, np.ndarray):
        return read_only(labels)
    # Items of a list are numbers or texts, which nobody can change.
    return labels if check.is_lazy(labels) else (copy if type(labels) is list else deepcopy)(labels)
