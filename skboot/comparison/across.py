"""`compare_across`: which method is better across several data sets?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Notes, collected
from .._base.typing import ArrayLike
from .._base.work import check_fits, child_seed
from ..inference._tuning import FEW_DATA_SETS, JOINT_DRAWS, JOINT_DRAWS_TIMES_PAIRS
from ..inference.data_sets import (
    MeansOfDrawn,
    between_deviation,
    mean_of_these,
    mean_rank_limits,
    ranks_of_rows,
    wilcoxon_p_values,
)
from ..inference.differences import share_won
from ..inference.evidence import DrawnUnits, Evidence, joint_bounds, notes_of_cut
from ..inference.intervals import ALTERNATIVES, SkewedT
from ..inference.multiplicity import LowRankRoot, holm, symmetric_root
from ..inference.runs import RunsDifference
from ..metrics.statistic import Facts
from ..resampling.draws import multinomial_counts
from ..results import EvaluationResult
from ..results.comparison import (
    ComparisonResult,
    PairRecords,
    check_below_range,
    freedom_of,
    standard_error_of,
)
from ..results.data_sets import DatasetsComparison, DatasetsPair
from ..results.method_basis import DrawnDataSetsBasis, GivenDataSetsBasis
from ..results.result import Provenance, evaluation_result
from .arguments import ComparisonOptions, check_adjust, check_reference, pairs_of
from .families import DifferenceLimits, Floats, comparison_of, estimated_differences, records_of
from .runs import StudentDistribution, contrasts, root_of

if TYPE_CHECKING:
    import pandas as pd

    from ..results import ComparisonResult

_ESTIMANDS = ("new", "these")
_RUNS = (
    "A comparison across data sets takes one number, the mean, of each: compare the runs of each "
    "data set with compare_runs and pass the results, by data set."
)
# Keys of the streams below the seed of a call: resamples of the data sets, draws of the errors.
_RESAMPLES, _ERRORS = 0, 1
# Share of the largest score by which a difference may exceed the margin and be rounding.
_MARGIN_ROUNDING = 1e-12


@door("compare_across")
def compare_across(
    scores: pd.DataFrame
    | Mapping[Any, Mapping[Any, float]]
    | Mapping[Any, ComparisonResult]
    | ArrayLike,
    *,
    datasets: ArrayLike | None = None,
    methods: ArrayLike | None = None,
    estimand: Literal["new", "these"] = "new",
    margin: float | None = None,
    adjust: Literal["max-t", "holm"] | None = "max-t",
    reference: str | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    random_state: Any = None,
) -> DatasetsComparison:
    """Compare methods across several data sets.

    There are two questions. How will the methods differ on a new data set like these? Then the data
    sets are a sample, and differences vary between them. How do they differ on average on exactly
    these data sets? Then only the error on each of them counts.

    Parameters
    ----------
    scores : DataFrame, dict, or array-like of shape (n_datasets, n_methods)
        A pandas DataFrame with a row per data set and a column per method; a dict data set ->
        method -> number; an array with ``datasets`` and ``methods``; or a dict data set ->
        `ComparisonResult`, from `compare_systems`, `compare_runs` or `compare_methods`, of the same
        methods by the same metric, all pairs. At least two data sets and two methods.
    datasets : array-like of shape (n_datasets,), optional
        Names of the rows of an array.
    methods : array-like of shape (n_methods,), optional
        Names of the columns of an array.
    estimand : {"new", "these"}
        "new": the expected difference on a new data set like these. "these": the mean difference on
        these, for which ``scores`` must be results, because bare numbers have no error.
    margin : float, optional
        Largest difference that does not matter in practice, in units of the metric. Each pair then
        holds the share of data sets with a difference within it.
    adjust : {"max-t", "holm", None}
        For several pairs at once. "max-t": simultaneous intervals and p-values from the joint
        distribution of all differences. "holm": Holm's p-values with Bonferroni intervals. None:
        neither.
    reference : str, optional
        Name of the method that all others are compared with; all pairs when None.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values, as in `compare_systems`: "greater" is
        against first minus second being at most 0, whatever the direction of the metric.
    n_resamples : int
        Number of resamples of the data sets, at least 2, for the probability of superiority, mean
        ranks and distributions.
    confidence_level : float
        In (0, 1).
    greater_is_better : bool, optional
        Direction of the scores; must be given for bare numbers.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.

    Returns
    -------
    DatasetsComparison
        ``pairs``, ``systems`` and ``ranks()`` as for any comparison; also ``mean_ranks()``,
        ``friedman``, and the ``wilcoxon_p_value`` of each pair.

    Raises
    ------
    ValueError
        If a data set lacks a method, a cell holds several numbers, the direction is not known,
        comparisons do not fit together, or an argument cannot be right; the message says what to
        do.

    Warns
    -----
    UserWarning
        With fewer than 10 data sets, or if a table has more methods than data sets and may be
        transposed.

    See Also
    --------
    compare_runs : Several runs of methods on one data set.
    CriticalDifferenceDisplay : Picture of the mean ranks.

    Notes
    -----
    All data sets have the same weight. For a new data set: Student's t of the mean difference,
    whose limit on the side of the long tail reaches out by q + g (2 q^2 + 1) / (6 sqrt(K)) standard
    errors, q being the quantile of t and g the absolute skewness over the K data sets (Johnson
    1978; Hall 1992). Simultaneous limits have the q of the largest t of all pairs, and at most that
    of Bonferroni's rule. The spread over data sets includes the error on each of them, so the error
    of a score is not added again; ``between_deviation`` is the rest, where the error is known. For
    these data sets: with the standard error se_k on each of K, the variance is sum se_k^2 / K^2,
    with Satterthwaite's degrees of freedom.

    In simulations of two equal methods a difference was significant in 1 to 5% of cases with
    symmetric differences, of light or heavy tails. With lognormal (.5) or exponential ones it was 6
    to 8% with 8 to 10 data sets and 5% with 30.

    References
    ----------
    Johnson (1978), Journal of the American Statistical Association 73:536; Hall (1992), Journal of
    the Royal Statistical Society B 54:221; Demsar (2006), Journal of Machine Learning Research 7:1;
    Benavoli, Corani & Mangili (2016), Journal of Machine Learning Research 17:5.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> scores = {}
    >>> for k in range(12):
    ...     difficulty = rng.uniform(0.6, 0.9)
    ...     scores[f"set {k}"] = {"forest": difficulty + rng.normal(0.03, 0.02),
    ...                           "tree": difficulty}
    >>> result = compare_across(scores, greater_is_better=True, margin=0.01, random_state=0)
    >>> [pair] = result.pairs
    >>> print(f"{pair:.3f}, within the margin on {pair.share_within_margin:.0%} of the sets")
    0.033 (0.023 to 0.042), within the margin on 8% of the sets
    """
    check.check_choice("estimand", estimand, _ESTIMANDS)
    check_adjust(adjust)
    check.check_choice("alternative", alternative, ALTERNATIVES)
    level = check.check_confidence_level(confidence_level)
    data = checked_data_sets(scores, datasets, methods, greater_is_better)
    if reference is not None:
        check_reference(reference, dict.fromkeys(data.methods))
    if estimand == "these" and data.errors is None:
        must = "be 'new' for bare numbers"
        advice = (
            "Bare numbers do not show how exact they are: pass a dict of the ComparisonResult of "
            "each data set."
        )
        raise check.fail("estimand", must, repr(estimand), advice)
    margin = check_margin(margin, data)
    n_resamples = check.check_count("n_resamples", n_resamples, 2)
    bytes_each = 8 * (len(data.names) + len(data.methods) ** 2)
    check_fits("n_resamples", n_resamples, bytes_each)
    call = _AcrossCall(
        data=data,
        estimand=estimand,
        margin=margin,
        options=ComparisonOptions("auto", adjust, level, alternative, reference),
        n_resamples=n_resamples,
        seed=check.check_seed(random_state),
    )
    with collected() as all_notes:
        results = _method_results(call)
        records = _records(call, results)
    cut = notes_of_cut(*(result.confidence_interval for result in results.values()))
    ranks = ranks_of_rows(data.scores, greater_is_better=data.greater_is_better)
    return comparison_of(
        call.options,
        results,
        records,
        [*_notes_on_data_sets(call, records), *cut, *list(dict.fromkeys(all_notes))[:1]],
        DatasetsComparison,
        metric=data.metric,
        estimand=estimand,
        held_fixed=call.held_fixed,
        settings=call.settings,
        datasets=data.names,
        scores=data.scores,
        _mean_rank_limits=mean_rank_limits(ranks, call.counts, level),
        margin=margin,
    )


# ------------------------------------------------------------------ scores in any form


@dataclass(frozen=True, eq=False)
class ErrorsOnEach:
    """How uncertain scores and differences are on each data set.

    Attributes
    ----------
    of_scores : ndarray of shape (n_datasets, n_methods)
        Standard errors.
    of_differences : ndarray of shape (n_datasets, n_methods, n_methods)
        Standard errors of the difference of each two, 0 on the diagonal.
    degrees_of_freedom : ndarray of shape (n_datasets, n_methods, n_methods)
        Degrees of freedom of these; infinite on the diagonal.
    """

    of_scores: Floats
    of_differences: Floats
    degrees_of_freedom: Floats


@dataclass(frozen=True, eq=False)
class DataSets:
    """Scores by data set and method.

    Attributes
    ----------
    names, methods : tuple of str
        Names of the data sets and of the methods.
    scores : ndarray of shape (n_datasets, n_methods)
        One number each.
    metric : str
        Name of the metric; "score" for bare numbers.
    greater_is_better : bool
        Direction of the scores.
    errors : ErrorsOnEach or None
        None for bare numbers.
    held_fixed : tuple of str
        What the errors do not vary.
    bounds : tuple of float
        Range of the scores; unknown of bare numbers.
    """

    names: tuple[str, ...]
    methods: tuple[str, ...]
    scores: Floats
    metric: str
    greater_is_better: bool
    errors: ErrorsOnEach | None = None
    held_fixed: tuple[str, ...] = ()
    bounds: tuple[float, float] = (-np.inf, np.inf)


def checked_data_sets(scores: Any, datasets: Any, methods: Any, greater_is_better: Any) -> DataSets:
    """Bring the scores into one form, and refuse what is no score of every method everywhere.

    They come as a comparison on each data set, or as bare numbers: in a dict of dicts, in a frame,
    or in an array with names beside it.
    """
    direction = check.check_direction(greater_is_better)
    is_dict, is_frame = isinstance(scores, Mapping), hasattr(scores, "columns")
    if is_dict or is_frame:
        for name, labels in (("datasets", datasets), ("methods", methods)):
            if labels is not None:
                must = "be None where the scores name their data sets and methods"
                advice = f"Leave {name}= out: it names those of an array."
                raise check.fail(name, must, repr(labels), advice)
    if is_dict and any(isinstance(value, ComparisonResult) for value in scores.values()):
        return _scores_in_results(scores, direction)
    if direction is None:
        raise _unknown_direction("for bare numbers")
    if is_dict:
        return _scores_in_dicts(scores, direction)
    if is_frame:
        return _scores_in_frame(scores, direction)
    return _scores_in_array(scores, datasets, methods, direction)


def check_margin(margin: Any, data: DataSets) -> float | None:
    """Accept None or a finite number of at least 0, below the range of the metric."""
    if margin is None:
        return None
    is_number = isinstance(margin, Real) and not isinstance(margin, bool | np.bool_)
    if is_number and 0 <= float(margin) < np.inf:
        check_below_range("margin", float(margin), data.metric, data.bounds)
        return float(margin)
    advice = "It is the largest difference of scores that does not matter in practice."
    raise check.fail("margin", "be None or a finite number of at least 0", repr(margin), advice)


# ------------------------------------------------------------------ bare numbers


def _scores_in_dicts(scores: Mapping[Any, Any], greater_is_better: bool) -> DataSets:
    """Scores from a dict of dicts."""
    _check_names("scores", scores, "data set")
    if not all(isinstance(value, Mapping) for value in scores.values()):
        must = "map each data set to a dict of scores by method, or to a ComparisonResult"
        advice = "Use {'data set 1': {'A': 0.8, 'B': 0.7}, ...}."
        raise check.fail("scores", must, _kinds(scores), advice)
    for name, row in scores.items():
        _check_names(f"scores[{name!r}]", row, "method")
    methods = list(dict.fromkeys(str(method) for row in scores.values() for method in row))
    table = {str(name): {str(k): v for k, v in row.items()} for name, row in scores.items()}
    _check_all_there({name: list(row) for name, row in table.items()}, methods)
    values = [[row[method] for method in methods] for row in table.values()]
    return _scores_in_array(values, list(table), methods, greater_is_better)


def _scores_in_frame(frame: Any, greater_is_better: bool) -> DataSets:
    """Scores from a frame with a row for each data set, and none with a row for each score."""
    if hasattr(frame, "select_dtypes"):
        # Columns of objects may hold numbers.
        columns = frame.infer_objects() if hasattr(frame, "infer_objects") else frame
        words = [*columns.select_dtypes(exclude=["number", "bool"]).columns]
        if words:
            must = "have a row for each data set and a column of numbers for each method"
            advice = check.pivot_of(columns) or (
                "A long table gets a column for each system by "
                "table.pivot(index='dataset', columns='method', values='score')."
            )
            raise check.fail("scores", must, f"text in the column {words[0]!r}", advice)
    if not hasattr(frame, "index"):
        must = "be a frame whose index names the data sets, an array or a dict"
        advice = "Use {row['dataset']: {...} for row in frame.to_dicts()}, or datasets= beside an "
        raise check.fail("scores", must, type(frame).__name__, advice + "array.")
    return _scores_in_array(frame.to_numpy(), [*frame.index], [*frame.columns], greater_is_better)


def _scores_in_array(values: Any, datasets: Any, methods: Any, greater_is_better: bool) -> DataSets:
    """Scores from rows of numbers with names beside them; one finite number each."""
    rows = values.tolist() if isinstance(values, np.ndarray) else values
    is_sequence = isinstance(rows, Sequence) and not isinstance(rows, str)
    if not is_sequence or not all(isinstance(row, Sequence | np.ndarray) for row in rows):
        must = "be a table of shape (n_datasets, n_methods), or a dict"
        got = f"an array of shape {np.shape(rows)}" if is_sequence else type(values).__name__
        raise check.fail("scores", must, got)
    rows = [list(row) for row in rows]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        got = f"rows of {sorted(lengths)} numbers"
        raise check.fail("scores", "have a score of every method on every data set", got)
    n_methods = lengths.pop() if lengths else 0
    names = _checked_labels("datasets", datasets, len(rows), "data set")
    methods = _checked_labels("methods", methods, n_methods, "method")
    _check_enough(names, methods)
    numbers = [
        [_number(value, name, method) for method, value in zip(methods, row, strict=True)]
        for name, row in zip(names, rows, strict=True)
    ]
    return DataSets(tuple(names), tuple(methods), np.array(numbers), "score", greater_is_better)


def _checked_labels(name: str, values: Any, n: int, noun: str) -> list[str]:
    """Names beside an array, one per row or column."""
    must = f"name each {noun} of the array, {n} in all"
    if values is None or isinstance(values, str | bytes):
        raise check.fail(name, must, repr(values), f"Use {name}=['A', 'B', ...].")
    names = [str(label) for label in values]
    if len(names) != n:
        raise check.fail(name, must, check.counted(len(names), "name"))
    _check_names(name, names, noun)
    return names


def _number(value: Any, name: str, method: str) -> float:
    """Return one score as a float."""
    where = f"of method {method!r} on data set {name!r}"
    if isinstance(value, list | tuple | np.ndarray):
        must = "hold one number for each method and data set"
        raise check.fail("scores", must, f"{check.counted(len(value), 'number')} {where}", _RUNS)
    if value is None or (isinstance(value, Real) and np.isnan(float(value))):
        must = "have a score of every method on every data set"
        advice = "Leave out the data set, or the method."
        raise check.fail("scores", must, f"none {where}", advice)
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if is_number and np.isfinite(float(value)):
        return float(value)
    raise check.fail("scores", "hold finite numbers", f"{value!r} {where}")


# ------------------------------------------------------------------ results


def _scores_in_results(scores: Mapping[Any, Any], direction: bool | None) -> DataSets:
    """Scores and their errors from a comparison on each data set."""
    _check_names("scores", scores, "data set")
    if not all(isinstance(value, ComparisonResult) for value in scores.values()):
        must = "hold a ComparisonResult for every data set, or for none"
        raise check.fail("scores", must, _kinds(scores))
    comparisons: dict[str, ComparisonResult] = {str(name): value for name, value in scores.items()}
    any_result = next(iter(comparisons.values()))
    methods_by_name = {name: list(result.systems) for name, result in comparisons.items()}
    methods = list(dict.fromkeys(method for names in methods_by_name.values() for method in names))
    _check_enough(list(comparisons), methods)
    _check_all_there(methods_by_name, methods)
    for name, result in comparisons.items():
        _check_like(any_result, result, f"scores[{name!r}]")
    known_direction = any_result.greater_is_better
    if known_direction is None and direction is None:
        raise _unknown_direction("where the results do not know it")
    if known_direction is not None and direction not in (None, known_direction):
        must = f"be {known_direction}, the direction of {any_result.metric!r}, or None"
        raise check.fail("greater_is_better", must, repr(direction))
    numbers = [
        [_number(result.systems[method].estimate, name, method) for method in methods]
        for name, result in comparisons.items()
    ]
    return DataSets(
        tuple(comparisons),
        tuple(methods),
        np.array(numbers),
        any_result.metric,
        bool(known_direction if direction is None else direction),
        _errors(comparisons, methods),
        any_result.held_fixed,
        # Of a metric whose range depends on the data set the widest.
        joint_bounds(
            system._evidence
            for result in comparisons.values()
            for system in result.systems.values()
        ),
    )


def _check_like(reference: ComparisonResult, result: ComparisonResult, argument: str) -> None:
    """Refuse a comparison that cannot stand beside the first one."""
    if result.estimand not in ("system", "method"):
        got = f"one across data sets (estimand {result.estimand!r})"
        raise check.fail(argument, "be a comparison on one data set", got)
    for name, word in (
        ("metric", "metric"),
        ("estimand", "estimand"),
        ("greater_is_better", "direction"),
    ):
        expected, value = getattr(reference, name), getattr(result, name)
        if expected != value:
            must = f"have the same {word} as the first data set, {expected!r}"
            raise check.fail(argument, must, repr(value))
    if result.reference is not None:
        must = "hold the differences of all pairs"
        advice = "Compare with reference=None; give reference= here."
        raise check.fail(argument, must, f"reference={result.reference!r}", advice)


def _errors(comparisons: Mapping[str, ComparisonResult], methods: Sequence[str]) -> ErrorsOnEach:
    """Standard errors of scores and differences on each data set."""
    k, m = len(comparisons), len(methods)
    number = {method: j for j, method in enumerate(methods)}
    of_differences, freedom = np.zeros((k, m, m)), np.full((k, m, m), np.inf)
    for at, (name, result) in enumerate(comparisons.items()):
        for pair in result.pairs:
            a, b = number[pair.first], number[pair.second]
            error = standard_error_of(pair)
            if not np.isfinite(error):
                must = "have a standard error for every difference"
                got = f"none of {pair.first} - {pair.second}"
                raise check.fail(f"scores[{name!r}]", must, got)
            of_differences[at, [a, b], [b, a]] = error
            freedom[at, [a, b], [b, a]] = freedom_of(pair)
    systems = [
        [comparison.systems[method] for method in methods] for comparison in comparisons.values()
    ]
    of_scores = np.array([[system.standard_error for system in row] for row in systems])
    return ErrorsOnEach(np.nan_to_num(of_scores), of_differences, freedom)


# ------------------------------------------------------------------ messages


def _check_names(argument: str, names: Any, noun: str) -> None:
    """Refuse names of which two are the same as text."""
    if len({str(name) for name in names}) != len(list(names)):
        must = f"name each {noun} once"
        raise check.fail(argument, must, repr(list(names)))


def _check_enough(names: Sequence[str], methods: Sequence[str]) -> None:
    """Refuse fewer than two data sets or methods."""
    for_one = "For one data set use compare_systems, compare_runs or compare_methods."
    for items, noun, advice in ((names, "data set", for_one), (methods, "method", "")):
        if len(items) < 2:
            must = f"hold at least two {noun}s"
            raise check.fail("scores", must, str(len(items)), advice)


def _check_all_there(
    methods_by_name: Mapping[str, Sequence[Hashable]], methods: Sequence[str]
) -> None:
    """Refuse data sets that lack a method, and say which."""
    missing = {
        name: [method for method in methods if method not in there]
        for name, there in methods_by_name.items()
    }
    lacking = [
        f"none of {', '.join(absent)} on {name!r}" for name, absent in missing.items() if absent
    ]
    if lacking:
        shown = "; ".join(lacking[:3]) + (f"; and {len(lacking) - 3} more" * (len(lacking) > 3))
        must = "have a score of every method on every data set"
        advice = "Leave out these data sets, or these methods."
        raise check.fail("scores", must, shown, advice)


def _kinds(scores: Mapping[Any, Any]) -> str:
    return f"values of type {', '.join(sorted({type(v).__name__ for v in scores.values()}))}"


def _unknown_direction(where: str) -> ValueError:
    advice = "Use greater_is_better=True for scores such as accuracy, False for errors and losses."
    return check.fail("greater_is_better", f"be True or False {where}", "None", advice)


# ------------------------------------------------------------------ the call


@dataclass(frozen=True, eq=False)
class _AcrossCall:
    """Checked arguments of `skboot.compare_across`."""

    data: DataSets
    estimand: str
    margin: float | None
    options: ComparisonOptions
    n_resamples: int
    seed: np.random.SeedSequence

    @property
    def interval(self) -> str:
        """Name of the interval."""
        return "skewed-t" if self.estimand == "new" else "t"

    @cached_property
    def pair_numbers(self) -> list[tuple[int, int]]:
        """Numbers of the methods of each pair."""
        number = {name: k for k, name in enumerate(self.data.methods)}
        return [
            (number[a], number[b]) for a, b in pairs_of(self.data.methods, self.options.reference)
        ]

    @cached_property
    def differences(self) -> Floats:
        """First minus second on each data set, (n_datasets, n_pairs)."""
        a, b = np.array(self.pair_numbers).T
        return estimated_differences(self.data.scores[:, a], self.data.scores[:, b])

    @cached_property
    def counts(self) -> NDArray[np.integer]:
        """How often each resample holds each data set, (n_resamples, n_datasets)."""
        rng = np.random.default_rng(child_seed(self.seed, _RESAMPLES))
        one_of_each = np.ones(len(self.data.names), dtype=np.int64)
        return multinomial_counts(rng, self.n_resamples, one_of_each).astype(np.int64)

    @cached_property
    def resampled_means(self) -> MeansOfDrawn:
        """Mean differences over resamples of the data sets."""
        return MeansOfDrawn(self.differences, self.counts)

    @cached_property
    def variances_on_these(self) -> Floats:
        """Variances of the mean difference of each two methods, (n_methods, n_methods)."""
        assert self.data.errors is not None
        return np.asarray((self.data.errors.of_differences**2).sum(axis=0)) / (
            len(self.data.names) ** 2
        )

    @property
    def held_fixed(self) -> tuple[str, ...]:
        """What the intervals do not vary, in words."""
        return ("the data sets", *self.data.held_fixed) if self.estimand == "these" else ()

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call as results hold them."""
        arguments = {name: getattr(self, name) for name in ("estimand", "margin", "n_resamples")}
        return arguments | self.options.settings


# ------------------------------------------------------------------ each method by itself


def _method_results(call: _AcrossCall) -> dict[str, EvaluationResult]:
    """Mean score of each method, with its interval."""
    data = call.data
    bases = _bases_on_new(call) if call.estimand == "new" else _bases_on_these(call)
    provenance = Provenance((), call.held_fixed, call.seed, call.settings)
    return {
        name: evaluation_result(
            provenance,
            basis=basis,
            confidence_interval=basis.interval_by(call.interval, call.options.confidence_level),
            metric=data.metric,
            estimand=call.estimand,
            automatic=True,
            n_samples=len(data.names),
            unit="data set",
            greater_is_better=data.greater_is_better,
        )
        for name, basis in zip(data.methods, bases, strict=True)
    }


def _bases_on_new(call: _AcrossCall) -> list[DrawnDataSetsBasis]:
    """Means over resamples of the data sets."""
    data, n = call.data, len(call.data.names)
    means = MeansOfDrawn(data.scores, call.counts)
    bases = []
    for k in range(len(data.methods)):
        evidence = Evidence(
            float(means.means[k]),
            np.ascontiguousarray(means.replicates[:, k]),
            DrawnUnits("groups", (n,)),
            Facts(data.bounds, additive=True),
            standard_error=float(means.standard_errors[k]),
            acceleration=float(means.accelerations[k]),
            replicate_standard_errors=np.ascontiguousarray(means.replicate_standard_errors[:, k]),
        )
        bases.append(DrawnDataSetsBasis(evidence, n - 1.0))
    return bases


def _bases_on_these(call: _AcrossCall) -> list[GivenDataSetsBasis]:
    """Means over these data sets, with draws from the normal distribution of their errors."""
    data, errors = call.data, call.data.errors
    assert errors is not None
    # A score is as well known as the least known of its differences.
    freedom = errors.degrees_of_freedom.min(axis=2)
    standard_errors, df = mean_of_these(errors.of_scores, freedom)
    of_scores = standard_errors**2
    covariance = (of_scores[:, None] + of_scores - call.variances_on_these) / 2
    rng = np.random.default_rng(child_seed(call.seed, _ERRORS))
    means = data.scores.mean(axis=0)
    draws = means + rng.standard_normal((call.n_resamples, len(means))) @ symmetric_root(covariance)
    bases = []
    for k, mean in enumerate(means):
        evidence = Evidence(
            float(mean),
            np.ascontiguousarray(draws[:, k]),
            DrawnUnits("groups", (len(data.names),)),
            Facts(data.bounds),
            standard_error=float(standard_errors[k]),
        )
        bases.append(GivenDataSetsBasis(evidence, float(df[k])))
    return bases


# ------------------------------------------------------------------ each pair, and all at once


class _DataSetsDistribution(StudentDistribution):
    """Distribution of mean differences over data sets: Student's t, farther where skewed."""

    def __init__(self, call: _AcrossCall) -> None:
        self.call, data, means = call, call.data, call.resampled_means
        t_differences: list[SkewedT] | list[RunsDifference]
        if call.estimand == "new":
            df = len(data.names) - 1.0
            columns = means.means, means.standard_errors, means.accelerations
            rows = zip(*(column.tolist() for column in columns), strict=True)
            t_differences = [SkewedT(mean, error, df, skewness) for mean, error, skewness in rows]
        else:
            assert data.errors is not None
            a, b = np.array(call.pair_numbers).T
            errors, freedom = mean_of_these(
                data.errors.of_differences[:, a, b], data.errors.degrees_of_freedom[:, a, b]
            )
            triples = zip(means.means.tolist(), errors.tolist(), freedom.tolist(), strict=True)
            t_differences = [RunsDifference(mean, error, df) for mean, error, df in triples]
        self._statistics = np.array([difference.statistic for difference in t_differences])
        super().__init__(call.options, t_differences, call.interval, call.seed, data.bounds)
        self.n_draws = min(JOINT_DRAWS, JOINT_DRAWS_TIMES_PAIRS // len(t_differences))

    @property
    def statistics(self) -> Floats:
        """See `StudentDistribution.statistics`; those of which t would have the same p-values."""
        return self._statistics

    def max_t_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.max_t_limits`.

        Never wider than by Bonferroni's rule, which draws are about.
        """
        limits, strict = super().max_t_limits(), self.bonferroni_limits()
        p_values = np.minimum(len(limits.low_uncut) * strict.p_values, 1.0)
        return replace(
            limits,
            low_uncut=np.maximum(limits.low_uncut, strict.low_uncut),
            high_uncut=np.minimum(limits.high_uncut, strict.high_uncut),
            p_values=np.minimum(limits.p_values, p_values),
        )

    def root_of_correlation(self, numbers: Sequence[int]) -> LowRankRoot:
        """See `StudentDistribution.root_of_correlation`."""
        call = self.call
        if call.estimand == "new":
            differences = call.differences[:, list(numbers)]
            return root_of((differences - differences.mean(axis=0)).T, np.eye(len(differences)))
        pairs = contrasts([call.pair_numbers[k] for k in numbers], len(call.data.methods))
        # Cov(a - b, c - d) = (V_ad + V_bc - V_ac - V_bd) / 2, from variances of differences.
        return root_of(pairs, -call.variances_on_these / 2)

    def _limits_at(self, *args: Any) -> DifferenceLimits:
        """Equal values do not show how much others would differ."""
        limits = super()._limits_at(*args)
        flat = (self.standard_errors == 0) & (self.differences != 0)
        return replace(
            limits,
            low_uncut=np.where(flat, -np.inf, limits.low_uncut),
            high_uncut=np.where(flat, np.inf, limits.high_uncut),
            p_values=np.where(flat, 1.0, limits.p_values),
        )


def _records(
    call: _AcrossCall, results: Mapping[str, EvaluationResult]
) -> PairRecords[DatasetsPair]:
    """Return the record of each pair, with what the data sets say besides.

    That is Wilcoxon's test, the spread over the data sets, and by a margin the shares of the data
    sets on which a difference is within it, and beyond.
    """
    data, differences, spread = call.data, call.differences, call.resampled_means.deviations
    if call.estimand == "new":
        replicates = list(call.resampled_means.replicates.T)
    else:
        distributions = [results[name].bootstrap_distribution for name in data.methods]
        replicates = [distributions[j] - distributions[k] for j, k in call.pair_numbers]
    wilcoxon = wilcoxon_p_values(differences, call.options.alternative).tolist()
    between: list[float | None] = [None] * len(call.pair_numbers)
    if data.errors is not None:
        a, b = np.array(call.pair_numbers).T
        errors = data.errors.of_differences[:, a, b]
        between = between_deviation(spread, errors).tolist()
    shares: dict[str, Sequence[Any]] = {}
    if call.margin is not None:
        rounding = _MARGIN_ROUNDING * float(np.abs(data.scores).max())
        advantage = differences if data.greater_is_better else -differences
        better, worse = advantage > call.margin + rounding, advantage < -call.margin - rounding
        shares = {
            "margin": [call.margin] * len(call.pair_numbers),
            "share_within_margin": np.mean(~(better | worse), axis=0).tolist(),
            "share_better": np.mean(better, axis=0).tolist(),
            "share_worse": np.mean(worse, axis=0).tolist(),
        }
    return records_of(
        _DataSetsDistribution(call),
        [(data.methods[j], data.methods[k]) for j, k in call.pair_numbers],
        DatasetsPair,
        bootstrap_support=[share_won(values, data.greater_is_better) for values in replicates],
        wilcoxon_p_value=wilcoxon,
        wilcoxon_p_value_adjusted=holm(wilcoxon).tolist(),
        standard_deviation=spread.tolist(),
        between_deviation=between,
        **shares,
    )


# ------------------------------------------------------------------ what must be said


def _notes_on_data_sets(call: _AcrossCall, records: Sequence[DatasetsPair]) -> Notes:
    """Return notes on the comparison, for readers of the result."""
    notes, n = Notes(), len(call.data.names)
    if n < FEW_DATA_SETS:
        only = f"Only {n} data sets (fewer than {FEW_DATA_SETS}): "
        new = (
            "the spread of the differences is poorly estimated, skewed differences come out "
            "significant too often, and tests of ranks say little."
        )
        on_ranks = "mean ranks and rank tests, which treat them as a random sample, say little."
        notes.add("few", only + (new if call.estimand == "new" else on_ranks))
    if call.data.errors is None and len(call.data.methods) > n:
        notes.add(
            "caution",
            f"More methods ({len(call.data.methods)}) than data sets ({n}): is the table "
            "transposed? A row is a data set, and a column is a method.",
        )
    flat = [f"{pair.first} and {pair.second}" for pair in records if pair.standard_error == 0]
    if flat:
        shown = "; ".join(flat[:3]) + (f"; and {len(flat) - 3} more" if len(flat) > 3 else "")
        where = "on all data sets" if call.estimand == "new" else "on all resamples of each one"
        notes.add(
            "degenerate",
            f"The difference is the same {where}: {shown}. This does not show how much it would "
            "vary on others.",
        )
    # What would narrow the intervals, where the error on each data set is known.
    for pair in records[:3]:
        if call.estimand == "these" or pair.between_deviation is None or pair.standard_error == 0:
            continue
        share = 1 - pair.between_deviation**2 / pair.standard_deviation**2
        notes.add(
            "advice",
            f"{pair.first} - {pair.second}: {100 * share:.0f}% of the squared standard error "
            "comes from the error on each data set, which more test rows or runs would reduce, the "
            "rest from differences between data sets, which only more data sets would reduce.",
        )
    return notes
