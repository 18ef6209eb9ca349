"""The contract of a metric on weighted rows.

A `Statistic` first reduces the data: it numbers rows that are interchangeable for it by *codes*
and keeps what it needs per code. It then evaluates itself on a block of resamples, by the reading
it declares in ``reads`` (see `skboot.resampling.block`). `Facts` are what it knows of rows before
any resampling. `CallableStatistic` works for any function, on repeated rows; the other modules hold
faster ones, which `fast_path` registers, held to the same contract test.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from inspect import Parameter
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.errors import call_foreign
from .._base.values import content_of, repeated
from .cells import CellCodes, SharedCells, label_counts

# ------------------------------------------------------------------ facts of rows


@dataclass(frozen=True)
class Proportion:
    """A metric that is, on these rows, a function of one proportion of equal-weight rows.

    Attributes
    ----------
    hits, n : int
        The proportion is hits / n.
    exact : bool
        Whether n is fixed by the design, so that the interval of the proportion is the natural
        one at any count; otherwise it guards the metric's interval where hits or errors are few.
    scale : {"identity", "f1"}
        The metric is the proportion p itself, or F1 = 2 p / (1 + p) with p the Jaccard index.
    sign : float
        1.0, or -1.0 where the metric is the negated value.
    """

    hits: int
    n: int
    exact: bool
    scale: Literal["identity", "f1"] = "identity"
    sign: float = 1.0

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean, or negated mean, of 0/1 values of a fixed number of rows."""
        return self.exact and self.scale == "identity"

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the metric."""
        return (0.0, 1.0) if self.sign > 0 else (-1.0, 0.0)

    @property
    def standard_error(self) -> float:
        """Standard error of the metric: of a binomial share, sqrt(p (1 - p) / n), times a slope."""
        p = self.hits / self.n
        slope = 2 / (1 + p) ** 2 if self.scale == "f1" else 1.0
        return slope * math.sqrt(p * (1 - p) / self.n)

    @property
    def n_deciding(self) -> float:
        """Units of equal influence that would vary as much as these zeros and ones."""
        spread = self.hits * (self.n - self.hits) / self.n
        return spread / (1 - 3 * spread / self.n)

    @property
    def with_one_of_each(self) -> Proportion:
        """Return the proportion with one more hit, and one more row that is none."""
        return replace(self, hits=self.hits + 1, n=self.n + 2)

    def to_metric(self, share: float) -> float:
        """Map a proportion to the metric's scale."""
        value = 2 * share / (1 + share) if self.scale == "f1" else share
        return self.sign * value


class DeLong(NamedTuple):
    """Standard error of an area under the ROC curve, after DeLong et al. (1988).

    Attributes
    ----------
    standard_error : float
        Standard error of independent rows without weights.
    smaller_class : int
        Rows of the smaller of the two classes.
    """

    standard_error: float
    smaller_class: int


class SumsOfRows(NamedTuple):
    """Sums of many rows, and what facts a metric needs of them.

    Attributes
    ----------
    sums : ndarray of shape (1 + n_sums,)
        Sums of the weights of the rows, then of what rows add to each sum.
    n_rows : int
    largest_share : float or None
        Share of the sizes of all that was added that one row carries.
    zero_one : bool
        Whether each row added 0 or 1.
    weighted : bool
        Whether rows carry weights.
    """

    sums: NDArray[np.float64]
    n_rows: int
    largest_share: float | None
    zero_one: bool
    weighted: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts of a metric on given rows, known before any resampling.

    Attributes
    ----------
    bounds : tuple of float
        Smallest and largest possible value on these rows.
    additive : bool
        Whether the metric is a function of weighted sums.
    row_mean : bool
        Whether it is a mean of one value per row, of which many differ.
    both_signs : bool
        Whether it is a mean of values of which some are below 0 and some above, as differences are.
    weighted : bool
        Whether rows carry weights.
    proportion : Proportion or None
        Proportion of equally weighted rows, where the metric is a function of one.
    delong : DeLong or None
        For the area under the ROC curve.
    largest_share : float or None
        Share of the sum of the row values that one row carries.
    smaller_class : int or None
        Rows of the smaller of two classes, for other metrics whose intervals hang on it.
    class_sizes : ndarray of shape (n_classes,) or None
        Rows of each true class, for averages that weigh classes evenly, and of one that is never
        true the rows that are decided for it, where these are few.
    bins : ndarray of shape (4, n_bins) or None
        Of a sum of distances over bins: weight of each, its share of positives, what that should
        be, and how many independent rows it is a share of.
    of_distances : bool
        Whether the metric, or what it averages, is a sum of distances.
    optimized : bool
        Whether the metric is the best over a choice that was made on the same rows.
    proxy_weight : float or None
        Of a score that the labels of a judge were added to: their weight.
    of_kind : float or None
        Rows of the kind that decides the value, as many as are to be expected: those beyond a
        forecast, or those that carry the variance of the truth.
    few_of_kind : float or None
        How many of these are too few.
    """

    bounds: tuple[float, float] = (-np.inf, np.inf)
    additive: bool = False
    row_mean: bool = False
    both_signs: bool = False
    weighted: bool = False
    proportion: Proportion | None = None
    delong: DeLong | None = None
    largest_share: float | None = None
    smaller_class: int | None = None
    class_sizes: NDArray[np.int64] | None = None
    bins: NDArray[np.float64] | None = None
    of_distances: bool = False
    optimized: bool = False
    proxy_weight: float | None = None
    of_kind: float | None = None
    few_of_kind: float | None = None

    @property
    def deciding(self) -> float | None:
        """Rows that are known to decide the value, whatever they show; None if nothing is known."""
        counts = (self.of_kind, self.of_class)
        return min((float(n) for n in counts if n is not None), default=None)

    @property
    def of_class(self) -> float | None:
        """Rows of the smaller of two classes, or of each of several equal ones; else None.

        Classes bring variances of about 1 / n with n - 1 degrees of freedom.
        """
        if self.class_sizes is not None:
            # A class that nobody has is worth one row at most.
            parts = 1 / np.maximum(self.class_sizes, 1)
            freedom = np.maximum(self.class_sizes - 1, 1)
            df = float(parts.sum() ** 2 / np.sum(parts**2 / freedom))
            return min(float(1 / parts.mean()), 1 + df)
        return self.delong.smaller_class if self.delong is not None else self.smaller_class

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, as values that a file can hold."""
        parts = dict(vars(self))
        if self.proportion is not None:
            parts["proportion"] = tuple(vars(self.proportion).values())
        return parts

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the facts whose `to_parts` are given."""
        types = {"proportion": Proportion, "delong": DeLong}
        values = {
            name: made_of(*parts[name])
            for name, made_of in types.items()
            if parts.get(name) is not None
        }
        return cls(**(parts | values))


NOTHING_KNOWN = Facts()


# ------------------------------------------------------------------ the contract


Floats = NDArray[np.float64]
# Truth, predictions and weights of rows: the arguments of `Statistic.reduce`.
Columns = tuple[NDArray[Any] | None, NDArray[Any], Floats | None]
Response = Literal[
    "labels",
    "scores",
    "probabilities",
    "values",
    "indicators",
    "label_scores",
    "relevances",
    "outputs",
    "any",
]
Reading = Literal["sums", "pairs", "crossing", "thresholds", "running", "rows"]
Sketch = Literal["", "sums", "cells", "scores", "columns", "pairs of columns"]
MatrixRule = Literal["", "sets", "recalls", "adjusted recalls", "matthews", "kappa"]


class ReadableBlock(Protocol):
    """The readings a statistic may ask for; see `skboot.resampling.block.Block`."""

    @property
    def n_resamples(self) -> int: ...
    @property
    def n_codes(self) -> int: ...
    def sums(self, terms: Any = None) -> Floats: ...
    def sum_over_thresholds(
        self, terms: Floats, added: Any, ends: Any = None, order: Any = None
    ) -> tuple[Floats, Floats]: ...
    def running(
        self, terms: Floats, ends: Any = None, order: Any = None
    ) -> Iterator[tuple[slice, Floats]]: ...
    def pairs(
        self, upper: NDArray[Any], lower: NDArray[Any], level: Any = None, order: Any = None
    ) -> tuple[Floats, Floats]: ...
    def crossing(self, terms: Floats, *gaps: Any, ends: Any = None) -> tuple[Any, ...]: ...
    def reached(self, terms: Floats, shares: Floats, ends: Any) -> Iterator[Any]: ...
    def rows(self) -> Iterator[NDArray[np.intp]]: ...
    def variance(self, terms: Any, gradient: Floats) -> Floats: ...
    def influence(self, terms: Any, gradient: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class TermColumns:
    """Terms of rows that are made when they are read, because all at once are larger than the rows.

    Attributes
    ----------
    n_rows : int
    columns : tuple of (callable or float)
        What makes each column, (n_rows,), or the one value in it.
    """

    n_rows: int
    columns: tuple[Callable[[], Floats] | float, ...]

    def column(self, k: int) -> Floats:
        """Column k, (n_rows,), as an array that the reader may overwrite if its values differ."""
        column = self.columns[k]
        return column() if callable(column) else np.broadcast_to(column, self.n_rows)

    def array(self) -> Floats:
        """All columns, (n_rows, n_columns)."""
        # Written in place: there may be as many rows as memory holds a few times.
        terms = np.empty((self.n_rows, len(self.columns)))
        for k, column in enumerate(self.columns):
            terms[:, k] = column() if callable(column) else column
        return terms


@dataclass(frozen=True, eq=False)
class ReducedData:
    """The data as a statistic reads them: a code for each row, and what each code adds.

    Attributes
    ----------
    coded : ndarray of shape (n_samples,), CellCodes or None
        Code of each row, integers from 0 or booleans, or of each cell that rows are of; every code
        occurs. Rows of equal code are interchangeable. None: every row has its own code.
    n_codes : int
        Number of codes.
    summands : ndarray, sparse matrix or TermColumns of shape (n_codes, n_terms), or None
        The terms: what a row of each code adds to each sum; None where the weights of the codes
        themselves are the sums.
    data : mapping
        What else the formula needs.
    counts : ndarray of shape (n_codes,) or None
        Rows of each code, if they were counted.
    """

    coded: NDArray[Any] | CellCodes | None
    n_codes: int
    summands: Any = None
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    counts: NDArray[np.int64] | None = None

    @property
    def terms(self) -> Any:
        """The terms as an array or a sparse matrix, (n_codes, n_terms), or None."""
        if isinstance(self.summands, TermColumns):
            # In place of the columns, which are then needed no more.
            object.__setattr__(self, "summands", self.summands.array())
        return self.summands

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        if isinstance(self.summands, TermColumns):
            return len(self.summands.columns)
        return self.n_codes if self.summands is None else int(self.summands.shape[1])

    def column(self, k: int) -> Floats:
        """Term k of each code, (n_codes,), for the reader to overwrite if its values differ."""
        if isinstance(self.summands, TermColumns):
            return self.summands.column(k)
        return np.array(self.terms[:, k], dtype=np.float64)

    @property
    def code(self) -> NDArray[Any] | None:
        """Code of each row, (n_samples,); None: every row has its own."""
        return self.coded.of_rows if isinstance(self.coded, CellCodes) else self.coded

    @property
    def rows_of_codes(self) -> NDArray[np.int64]:
        """Rows of each code, (n_codes,): those that were counted, else counted here."""
        if self.counts is not None:
            return self.counts
        if self.code is None or self.n_codes == len(self.code):
            # One number that is read for each code.
            return repeated(1, self.n_codes)
        return np.bincount(self.code, minlength=self.n_codes)


class Evaluated(ABC):
    """Anything that has a value, or one for each point of a grid, at any weights of the rows.

    Attributes
    ----------
    noun : {"metric", "curve"}
        The argument by which it was asked for, as messages name it.
    name : str
        How results call it.
    reads : {"sums", "pairs", "crossing", "thresholds", "running", "rows"}
        How it reads a block: by weighted sums; ordered pairs; the running sums where a gap changes
        sign; a sum over thresholds of running sums, which has a closed form without one unit
        ("thresholds") or has none ("running"); or repeated rows.
    unsigned : Statistic or None
        The statistic of which it is the negative, if it is a negated one.
    is_curve : bool
        Whether it has a value for each point of a grid, and not one number.
    n_values : int
        Number of values on one resample.
    parts : {"", "fixed", "drawn"}
        Whether it averages over parts, such as tasks: all in each resample, or those drawn.
    """

    noun: ClassVar[Literal["metric", "curve"]] = "metric"
    name: str
    reads: Reading = "rows"
    unsigned: Statistic | None = None
    is_curve: ClassVar[bool] = False
    n_values: int = 1
    parts: ClassVar[Literal["", "fixed", "drawn"]] = ""

    @abstractmethod
    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Value on each resample of the block, (n_resamples,); NaN where undefined."""

    def reading(self, reduced: ReducedData) -> Reading:
        """How it reads a block of these rows: `reads`, or a form of it with a shorter way."""
        return self.reads

    def adds_without_rounding(self, reduced: ReducedData) -> bool:
        """Whether it adds whole numbers alone, whose sums are the same in any order.

        Its value on a resample is then the same to the last bit with any others beside it.
        """
        return False

    def variance(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """Infinitesimal-jackknife variance, (n_resamples,); None without a formula."""
        return None

    def influence(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """Influence of each unit on the value of the only resample, if there is a formula."""
        return None

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats | None:
        """Values from sums (n_resamples, n_terms), of a function of these alone; else None."""
        return None

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """A smooth function of sums of what rows add, which varies as it does; None without one.

        Resamples of many rows may be drawn by cells of nearly equal rows then (record 0083).
        """
        return None

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Reduce the rows to few codes, by which the value varies as by rows; None without them.

        Resamples of many rows are drawn by these codes then (record 0083).
        """
        return None

    def check_parts(
        self,
        reduced: ReducedData,
        estimate: float,
        observed: Callable[[], Sequence[Any]],
        undefined: tuple[int, int],
        blocks: Iterable[Any],
    ) -> None:
        """Refuse parts of it, such as tasks, that have no value; see `parts`.

        Parameters
        ----------
        reduced : ReducedData
        estimate : float
            Value on the data.
        observed : callable
            Returns the block of the data.
        undefined : tuple of int
            Resamples without a value, and all.
        blocks : iterable of Block
            All resamples, read where many are without a value.
        """
        raise TypeError(f"{self.name} has no parts.")


class Statistic(Evaluated):
    r"""A metric that can be evaluated on many weightings of the same rows.

    Attributes
    ----------
    greater_is_better : bool or None
        Direction; None if unknown.
    bounds : tuple of float
        Smallest and largest possible value, infinite where there is none.
    response : {"labels", "scores", "probabilities", "values", "indicators", "label_scores", \
            "relevances", "outputs", "any"}
        What predictions it takes: class labels; real scores, larger for the positive class;
        probabilities of all classes, (n_samples, n_classes); real predictions; or anything. Of a
        truth of several columns: 0 or 1 for each label; a score for each label; a score for each
        item, whose truth is its relevance; or real predictions.
    takes_weights : bool
        Whether rows may carry weights.
    sign : float
        1.0, or -1.0 where the value is that of its formula, negated.
    labels : sequence or None
        Labels that columns or rows stand for, where it knows them.
    pos_label : label or None
        The positive class, where the metric knows it before the rows.

    Notes
    -----
    A metric gives `reduce` and `evaluate`. Everything else is optional, in three groups.

    *Value*: `reading`, `adds_without_rounding`, `variance`, `influence`, `combine`, `gradient`,
    `as_sums` and `in_cells` are other ways to the value on resamples; `check`, `check_all`,
    `of_all_rows` and `on_rows` fit it to rows. Of means over rows (``of_row_values``)
    `row_values_of`, `values_of` and
    `signed_values` give the values, and `under_root` the mean of a root.

    - ``is_row_mean``: whether the value is a mean of one value per row.
    - ``of_row_values``: whether it is a function of such a mean.
    - ``of_given_values``: whether the predictions are these values, beside which there is no truth.
    - ``adds_by_row``: whether it is a function of sums to which each row adds what it adds in any
      sample.
    - ``calls_function``: whether it calls a function on rows, of which nothing else is known;
      ``calls_library``: one of scikit-learn, which takes no rows but these.

    *Facts*: `facts`, `proportion` and `naive` say what is known of rows before any resampling,
    by which intervals are chosen and results are worded; `least_in_intervals` what an order that
    is not known may hide.

    - ``adds_distances``: whether it, or what it averages, is a sum of distances, which resamples
      only raise.
    - ``without_skill``: value of the best system that ignores its inputs, before the sign, if it is
      the same on all rows.
    - ``greater_is_positive``: whether the greater of two labels is the positive one where none is
      named; ``positive_by_default``: the function of scikit-learn by which the label 1 is, or "".
    - ``columns_suffice``: whether two columns of scores give the same value whichever class is
      called positive.
    - ``of_order``: whether it reads nothing of scores but their order, so that reversed ones show.
    - ``takes_ratios``: whether its scores are log-likelihood ratios.
    - ``reads_decisions``: whether it reads labels in the predictions, one of which is positive.
    - ``names_classes``: whether truth and predictions name the same classes; clusters have names of
      their own.
    - ``orders_labels``: whether it reads the order of labels, also of more than two, where none is
      named.
    - ``of_one_class``: whether one column of probabilities says enough of rows that are all of one
      of two classes.
    - ``averages_columns``: whether it averages more than two classes, each with a column of scores;
      ``advice_on_several``: what to use for these where it takes two.
    - ``ranks_columns``: whether it reads which columns of a row score highest; one column it
      compares with a threshold that all rows together set.
    - ``pools_classes``: whether every row has the same weight in it, whatever its class.
    - ``matrix_rule``: which formula of the confusion matrix it is ("sets", "recalls", "adjusted
      recalls", "matthews", "kappa"), for rules that know what few errors leave open; "" for any
      other.

    *Sketch*: `added_by_rows`, `of_sums`, `facts_of_sums` and `reduce_about` are for rows that are
    added up and not kept.

    - ``sketch``: what of many rows suffices for it: the "sums" of what each row adds; the "cells"
      of pairs of labels; the "scores" of each class; the same for each of the "columns" of scores,
      against the rest, or for each of the "pairs of columns"; or "", nothing less than the rows.
    - ``n_sums``: number of sums of a sketch of sums, beside that of the weights.
    - ``lacks_labels``: whether it reads a column for each class, without known labels.
    """

    greater_is_better: bool | None = True
    bounds: tuple[float, float] = (-np.inf, np.inf)
    response: Response = "any"
    takes_weights: bool = True
    sign: float = 1.0
    labels: Any = None
    pos_label: Any = None
    # Value.
    is_row_mean: bool = False
    of_row_values: ClassVar[bool] = False
    of_given_values: bool = False
    adds_by_row: ClassVar[bool] = False
    reads_cells: ClassVar[bool] = False
    shared_cells: SharedCells | None = None
    calls_function: ClassVar[bool] = False
    calls_library: ClassVar[bool] = False
    # Facts.
    adds_distances: bool = False
    without_skill: ClassVar[float | None] = None
    greater_is_positive: bool = False
    positive_by_default: str = ""
    columns_suffice: bool = True
    of_order: ClassVar[bool] = False
    takes_ratios: ClassVar[bool] = False
    reads_decisions: bool = False
    names_classes: ClassVar[bool] = True
    orders_labels: ClassVar[bool] = False
    of_one_class: bool = False
    averages_columns: bool = False
    advice_on_several: ClassVar[str] = ""
    ranks_columns: ClassVar[bool] = False
    pools_classes: bool = False
    matrix_rule: MatrixRule = ""
    # Sketch.
    sketch: Sketch = ""
    n_sums: int = 0
    lacks_labels: bool = False

    # ---------------------------------------------------------------- other forms of it

    def as_table(
        self, columns: Columns
    ) -> tuple[Statistic, Columns, NDArray[np.intp] | None] | None:
        """Return the metric as a function of tables of truth and decision; None where it is none.

        Parameters
        ----------
        columns : tuple
            Truth, predictions and weights of the rows.

        Returns
        -------
        tuple or None
            The metric of one table; truth, labels and weights; and the task of each row, where the
            values of the tables of tasks are averaged.
        """
        plain = self.unsigned or self
        is_of_table = plain.response == "labels" and plain.adds_by_row and plain.names_classes
        return (self, columns, None) if is_of_table else None

    def as_share(self, columns: Columns) -> tuple[Statistic, Columns] | None:
        """Return the metric of the table of right and wrong rows of one class; None if it is none.

        With it the columns of this table.
        """
        return None

    def set_facts(self, **facts: Any) -> None:
        """Set attributes that follow from the fields, while it is made."""
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    # ---------------------------------------------------------------- value

    @abstractmethod
    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number the interchangeable rows and keep what the formula needs of them.

        Parameters
        ----------
        y_true : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
            Truth, checked.
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Predictions, checked.
        sample_weight : ndarray of shape (n_samples,) or None
            Weight of each row, not negative.

        Returns
        -------
        ReducedData
        """

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse rows that others of its response take, and it does not.

        Parameters
        ----------
        y_true : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Truth of the whole test set, of the kind that the response needs.
        y_pred : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_outputs)
            Predictions, likewise.
        """
        return None

    def check_all(self, y_true: NDArray[Any]) -> None:
        """Refuse a truth of all rows that lacks what it needs, as a batch or a subgroup may."""
        return None

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """Return the statistic with the labels of these rows, of which a subgroup may lack some."""
        if self.labels is not None or "labels" not in getattr(self, "__dataclass_fields__", ()):
            return self
        labels = self.labels_in(y_true, y_pred if self.response == "labels" else None)
        of_rows = replace(self, labels=labels)  # type: ignore[type-var]
        of_rows.set_facts(shared_cells=self.shared_cells)
        return of_rows

    def labels_in(self, y_true: NDArray[Any], y_pred: NDArray[Any] | None = None) -> NDArray[Any]:
        """Labels of the truth, or of decisions as well; counted once for all metrics of a call."""
        if self.shared_cells is not None and y_pred is not None:
            return self.shared_cells.labels(y_true, y_pred)
        counts_of = label_counts if self.shared_cells is None else self.shared_cells.label_counts
        labels = counts_of(y_true)[0]
        return labels if y_pred is None else np.union1d(labels, counts_of(y_pred)[0])

    def on_rows(self, rows: NDArray[np.intp]) -> Statistic:
        """Return the statistic of some of the rows, for one that knows which rows it is of."""
        return self

    def variance_cost(self, reduced: ReducedData) -> float:
        """Rough flops of `variance` per resample and atom; inf without a formula."""
        return np.inf

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Value of each row before its sign, (n_samples,), where `of_row_values`."""
        raise TypeError(f"{self.name} is no function of a mean of row values.")

    def values_of(self, reduced: ReducedData) -> NDArray[Any]:
        """Value of each row before its sign, (n_samples,); see `of_row_values`."""
        raise TypeError(f"{self.name} is no function of a mean of row values.")

    def signed_values(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
        """Value of each row with its sign, (n_samples,), where `of_row_values`.

        Of a loss of probabilities ``y_true`` holds the number of each row's class.
        """
        raise TypeError(f"{self.name} is no function of a mean of row values.")

    @property
    def under_root(self) -> Statistic | None:
        """The mean of which it is the root; None if it is none."""
        return None

    def value_on_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> float | None:
        """Value on rows of equal weight by one sort, which takes a tenth of the time of a block.

        None for metrics that have no such way, and NaN where the metric is undefined.
        """
        return None

    def without_each_row(
        self, y_true: NDArray[Any], y_pred: NDArray[Any]
    ) -> tuple[float, Floats] | None:
        """Value on rows of equal weight, and without each of them, by one sort; None likewise."""
        return None

    # ---------------------------------------------------------------- facts

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts known of these rows before any resampling; a metric adds what it alone knows.

        Parameters
        ----------
        reduced : ReducedData
            The rows, reduced.
        rows : tuple of arrays
            Truth, predictions and weights, as `reduce` takes them.
        members : ndarray of shape (n_samples, n_factors), optional
            Which rows come together.
        """
        return Facts(
            bounds=self.bounds,
            additive=self.reads == "sums",
            weighted=rows[2] is not None,
            proportion=self.proportion(reduced),
            of_distances=self.adds_distances,
        )

    def proportion(self, reduced: ReducedData) -> Proportion | None:
        """The proportion this metric is a function of on these rows, if it is one."""
        return None

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value of the best system that ignores its inputs, on these rows; None if unknown.

        Parameters
        ----------
        reduced : ReducedData or None
            Reduction of the same rows, if they have been reduced: it may hold counts of labels.
        rows : tuple of arrays
            Truth, predictions and weights, as `reduce` takes them.
        """
        return None if self.without_skill is None else self.sign * self.without_skill

    def least_in_intervals(
        self,
        positive: NDArray[np.bool_],
        interval: NDArray[Any],
        weights: Floats,
        movable: NDArray[np.bool_],
    ) -> float | None:
        """Smallest value if positives and negatives of an interval of scores come in any order.

        Each argument has one entry for the positives or the negatives of an interval, numbered
        upwards; ``movable`` says whether its scores differ. None: the value where each interval has
        its negatives above its positives.
        """
        return None

    # ---------------------------------------------------------------- sketch

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Terms that each row adds to each sum of a sketch, in any sample, (n_sums, n_rows)."""
        raise TypeError(f"{self.name} is no function of sums of any rows.")

    def of_sums(self, sums: Floats) -> Floats:
        """Value from sums of weights and of what rows add, (1 + n_sums, n), each (n,)."""
        raise TypeError(f"{self.name} is no function of sums of any rows.")

    def facts_of_sums(self, rows: SumsOfRows) -> Facts:
        """Facts known of rows of which there are sums alone."""
        return Facts(self.bounds, additive=self.reads == "sums", weighted=rows.weighted)

    def reduce_about(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], origin: NDArray[Any]
    ) -> ReducedData:
        """Reduce rows that are their own codes, about a point that other rows share; see `reduce`.

        So sums of several reductions may be added, and the data of any serve them all.
        """
        return self.reduce(y_true, y_pred, np.ones(len(y_true)))


@dataclass(frozen=True, eq=False)
class CallableStatistic(Statistic):
    """Any function of true and predicted values, evaluated on repeated rows.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred) -> float``, or ``function(y_pred)`` when there is no truth; with
        weights it is called with ``sample_weight=``.
    name : str
        How results call it.
    greater_is_better : bool or None
        Direction, if known.
    sign : float
        1.0, or -1.0 where the score is the negated function.
    response : {"labels", "scores", "probabilities", "values", "any"}
        What predictions it takes.
    takes_weights : bool
        Whether ``function`` has a ``sample_weight`` argument.
    undefined : tuple of exception types
        Exceptions that mean "undefined on these rows" (scikit-learn's metrics raise ValueError);
        any other exception of the function is reported with the resample's number.
    entry : callable, optional
        From a call of ``function`` to the number that is meant, if it returns several; see
        `skboot.metrics.outputs`.
    pos_label : label, optional
        The positive class that ``function`` was given.
    """

    calls_function = True

    function: Callable[..., Any]
    name: str = "metric"
    greater_is_better: bool | None = None
    sign: float = 1.0
    response: Response = "any"
    takes_weights: bool = False
    undefined: tuple[type[Exception], ...] = ()
    bounds: tuple[float, float] = (-np.inf, np.inf)
    reads: Reading = "rows"
    entry: Callable[[partial[Any]], float] | None = None
    pos_label: Any = None

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Keep the rows themselves; every row has its own code."""
        data: dict[str, Any] = {"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight}
        if self.entry is not None:
            data["content"] = content_of((y_true, y_pred, sample_weight))
        return ReducedData(None, len(y_pred), data=MappingProxyType(data))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Call the function once per resample on its repeated rows."""
        values = np.empty(block.n_resamples)
        for resample, call in enumerate(self._calls(block, reduced)):
            try:
                values[resample] = self._number(call)
            except self.undefined:
                values[resample] = np.nan
            except Exception as error:
                raise MetricError(resample, error, self.name) from error
        return self.sign * values

    def returned(self, reduced: ReducedData) -> tuple[partial[Any], Any]:
        """A call of the function on the data, and what it returns; None if it raises."""
        call = partial(self._call_on_rows, reduced.data, np.arange(len(reduced.data["y_pred"])))
        try:
            return call, call()
        except Exception:
            # The evaluation raises it again, with what must be said of it.
            return call, None

    def _number(self, call: partial[Any]) -> float:
        """The number that a call of the function returns, or the one that is meant."""
        return as_number(call()) if self.entry is None else self.entry(call)

    def _calls(self, block: ReadableBlock, reduced: ReducedData) -> Iterator[partial[Any]]:
        """One call of the function for each resample."""
        for rows in block.rows():
            yield partial(self._call_on_rows, reduced.data, rows)

    def _call_on_rows(self, data: Mapping[str, Any], rows: NDArray[np.intp]) -> Any:
        if len(rows) == 0:
            return np.nan
        arguments = [data["y_pred"][rows]]
        if data["y_true"] is not None:
            arguments.insert(0, data["y_true"][rows])
        if data["sample_weight"] is not None:
            weights = data["sample_weight"][rows]
            return call_foreign(self.function, *arguments, sample_weight=weights)
        return call_foreign(self.function, *arguments)


class NotANumber(TypeError):
    """A metric returned something else than one real number; `returned` is how that prints."""

    def __init__(self, returned: str) -> None:
        super().__init__(returned)
        self.returned = returned

    def __str__(self) -> str:
        return f"it returned {self.returned}, not one real number"


def as_number(value: Any) -> float:
    """The value that a metric returned as a float, if it is one real number."""
    if isinstance(value, Real | Decimal):
        return float(value)
    # An array or tensor without dimensions is one number, too.
    if getattr(value, "shape", None) == () and not np.iscomplexobj(value):
        return float(value)
    shown_value = " ".join(repr(value).split())
    raise NotANumber(shown_value if len(shown_value) <= 80 else f"{shown_value[:80]}...")


# Functions of scikit-learn that return several numbers, each of which has a name.
_WITH_NAMES = {
    "class_likelihood_ratios": "['positive_likelihood_ratio', 'negative_likelihood_ratio']"
}


class MetricError(RuntimeError):
    """A metric raised on a resample.

    Attributes
    ----------
    resample : int
        Number of the resample within the block.
    error : Exception
        What the metric raised.
    metric : str
        Its name.
    noun : {"metric", "curve"}
        The argument by which it was asked for.
    """

    def __init__(self, resample: int, error: Exception, metric: str, noun: str = "metric") -> None:
        super().__init__(resample, error, metric, noun)
        self.resample = resample
        self.error = error
        self.metric = metric
        self.noun = noun

    def __str__(self) -> str:
        return f"The {self.noun} {self.metric!r} raised {type(self.error).__name__}: {self.error}"

    def error_on_rows(self, rows: str, *, resampled: bool = True) -> RuntimeError:
        """The error to be raised if the metric fails on other rows than the data of the user.

        ``rows`` follows what it raised, such as "on resample 37"; ``resampled`` says whether strata
        would have kept these rows from lacking a class.
        """
        strata = (
            ", or resample within strata= if it fails where a class is absent" if resampled else ""
        )
        return RuntimeError(
            f"The {self.noun} {self.metric!r} raised {type(self.error).__name__} {rows}: "
            f"{str(self.error).rstrip('.')}. Return np.nan where it is undefined{strata}."
        )

    def error_on_data(self, argument: str | None = None) -> ValueError:
        """The error to be raised if the metric fails on the data of the user, not on a resample."""
        argument = argument or self.noun
        must = "return one real number for the data"
        if isinstance(self.error, NotANumber):
            advice = (
                "Take one of the numbers: metric=lambda y_true, y_pred: f(y_true, y_pred)[0]; "
                "functions that evaluate and compare take several in a 1-d array or a dict, with "
                "a result for each."
            )
            if self.metric in _WITH_NAMES:
                advice = f"Its numbers have names: metric={_WITH_NAMES[self.metric]}."
            got = f"{self.error.returned} from {self.metric!r}"
            return fail(argument, must, got, advice)
        got = f"{type(self.error).__name__} ({self.error}) from {self.metric!r}"
        advice = "Call it with y_true and y_pred to see where."
        return fail(argument, must, got, advice)


# ------------------------------------------------------------------ the registry
#
# A *factory* makes the statistic of a metric function of scikit-learn or of `skboot.metrics`. It
# takes the `MetricRequest` and, as keywords, the options it knows; for an option it does not take,
# or where it returns None, the function is called on repeated rows.
#
# A factory stands beside its statistic and is registered there by `fast_path`, the one place that a
# new metric needs: the contract tests run over `FAST_PATHS` and, for a truth of several columns,
# over `OUTPUT_PATHS`. `lookup` names the module of each function; one that it does not name may be
# in any module of this folder.


Factory = Callable[..., Statistic | None]
_F = TypeVar("_F", bound=Factory)

# Factory by the name of the metric function.
FAST_PATHS: dict[str, Factory] = {}

# What predictions a function takes, by its name: for calls on repeated rows. The functions listed
# here have no fast path; `fast_path` adds the others.
RESPONSES: dict[str, Response] = {
    "det_curve": "scores",
    "d2_absolute_error_score": "values",
    "d2_pinball_score": "values",
    "d2_tweedie_score": "values",
    "max_error": "values",
}

# Functions without a fast path and without an argument for the positive class, for which the
# greater of two labels is positive, and what predictions they take.
GREATER_IS_POSITIVE: dict[str, Response] = {"class_likelihood_ratios": "labels"}

# Range of functions on repeated rows, before their sign; those that are not here have no bounds.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("roc_auc_score", "average_precision_score"), (0.0, 1.0)),
    **dict.fromkeys(("d2_absolute_error_score", "d2_pinball_score"), (-np.inf, 1.0)),
    "d2_tweedie_score": (-np.inf, 1.0),
    # Counts of rows; shares have a fast path.
    **dict.fromkeys(("accuracy_score", "top_k_accuracy_score", "zero_one_loss"), (0.0, np.inf)),
    # With options that their fast paths do not take.
    "cohen_kappa_score": (-1.0, 1.0),
    **dict.fromkeys(("f1_score", "fbeta_score", "jaccard_score"), (0.0, 1.0)),
    **dict.fromkeys(("precision_score", "recall_score"), (0.0, 1.0)),
    "log_loss": (0.0, np.inf),
    **dict.fromkeys(("max_error", "median_absolute_error"), (0.0, np.inf)),
}

# Factory and predictions where the truth has several columns: labels that a row has or lacks, or
# outputs.
OUTPUT_PATHS: dict[str, Factory] = {}
OUTPUT_RESPONSES: dict[str, Response] = {
    "d2_absolute_error_score": "outputs",
    "d2_pinball_score": "outputs",
    "median_absolute_error": "outputs",
}
# Factories and predictions, for a truth of several columns (True) or of one.
PATHS = {False: (FAST_PATHS, RESPONSES), True: (OUTPUT_PATHS, OUTPUT_RESPONSES)}


class MetricRequest(NamedTuple):
    """A metric, taken apart.

    Attributes
    ----------
    name : str
        Name in results.
    function : callable
        The metric function.
    function_name : str
        Its own name.
    is_library : bool
        Whether it is one of scikit-learn or of skboot.
    parameters : mapping
        What it takes.
    options : mapping
        Its keyword arguments, without those that are its defaults.
    sign : float
        1.0, or -1.0 where the score is the negated function.
    scorer_response : str or None
        For scorers: "labels" if it calls ``predict``, else "scores".
    labels : array-like or None
        Labels of the columns of probabilities.
    several_outputs : bool
        Whether the truth has several columns.
    pos_label : label or None
        The positive class, for a function that has no argument for it.
    order : array-like or None
        Labels of the rows in the order of their categories; None: they are sorted.
    """

    name: str
    function: Callable[..., Any]
    function_name: str
    is_library: bool
    parameters: Mapping[str, Parameter]
    options: Mapping[str, Any]
    sign: float = 1.0
    scorer_response: str | None = None
    labels: ArrayLike | None = None
    several_outputs: bool = False
    pos_label: Any = None
    order: ArrayLike | None = None

    def option(self, name: str) -> Any:
        """Value of an option of the function: the one that was bound, or else its default."""
        parameter = self.parameters.get(name)
        return self.options.get(name, None if parameter is None else parameter.default)

    def columns(self, labels: ArrayLike | None) -> NDArray[Any] | None:
        """Labels of the columns; scikit-learn sorts those that its functions are given."""
        if labels is not None:
            return np.unique(np.asarray(labels))
        return None if self.labels is None else np.asarray(self.labels)


def fast_path(
    *functions: str, response: Response, several_outputs: bool = False
) -> Callable[[_F], _F]:
    """Register a factory for metric functions of these names, which take these predictions."""
    factories, responses = PATHS[several_outputs]

    def register(factory: _F) -> _F:
        for function in functions:
            factories[function] = factory
            responses[function] = response
        return factory

    return register
