"""What `compare_across` is given: scores of several methods on several data sets, in any form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._base import checks as check
from ..results.comparison import ComparisonResult
from ..results.decisions import check_below_range, freedom_of, standard_error_of
from .contestants import Floats

_RUNS = (
    "A comparison across data sets takes one number, the mean, of each: compare the runs of each "
    "data set with compare_runs and pass the results, by data set."
)


@dataclass(frozen=True, eq=False)
class ErrorsOnEach:
    """How uncertain scores and differences are on each data set.

    Attributes
    ----------
    of_scores : ndarray of shape (n_datasets, n_methods)
        Standard errors.
    of_differences : ndarray of shape (n_datasets, n_methods, n_methods)
        Of the difference of each two, 0 on the diagonal.
    degrees_of_freedom : ndarray of shape (n_datasets, n_methods, n_methods)
        Of these; infinite on the diagonal.
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
        Of the data sets and of the methods.
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
    """Bring the scores into one form, and refuse what is no score of every method everywhere."""
    direction = check.check_direction(greater_is_better)
    is_table = isinstance(scores, Mapping) or hasattr(scores, "columns")
    if is_table:
        for name, given in (("datasets", datasets), ("methods", methods)):
            if given is not None:
                must = "be None where the scores name their data sets and methods"
                advice = f"Leave {name}= out: it names those of an array."
                raise check.fail(name, must, repr(given), advice)
    if isinstance(scores, Mapping):
        comparisons = [isinstance(value, ComparisonResult) for value in scores.values()]
        if any(comparisons):
            _check_names("scores", scores, "data set")
            if not all(comparisons):
                must = "hold a ComparisonResult for every data set, or for none"
                raise check.fail("scores", must, _kinds(scores))
            return _of_results({str(k): each for k, each in scores.items()}, direction)
    if direction is None:
        raise _unknown_direction("for bare numbers")
    if isinstance(scores, Mapping):
        return _of_dicts(scores, direction)
    if is_table:
        _refuse_long(scores)
        datasets, methods = _labels_of_frame(scores)
        values = scores.to_numpy()
    else:
        values = scores
    return _of_array(values, datasets, methods, direction)


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


def _of_dicts(scores: Mapping[Any, Any], direction: bool) -> DataSets:
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
    return _checked(values, list(table), methods, direction)


def _of_array(values: Any, datasets: Any, methods: Any, direction: bool) -> DataSets:
    """Scores from rows of numbers, with names beside them."""
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
    names = _given_names("datasets", datasets, len(rows), "data set")
    methods = _given_names("methods", methods, n_methods, "method")
    return _checked(rows, names, methods, direction)


def _given_names(name: str, given: Any, n: int, noun: str) -> list[str]:
    """Names beside an array, one per row or column."""
    must = f"name each of the {n} {noun}s of the array"
    if given is None or isinstance(given, str | bytes):
        raise check.fail(name, must, repr(given), f"Use {name}=['A', 'B', ...].")
    names = [str(each) for each in given]
    if len(names) != n:
        raise check.fail(name, must, f"{len(names)} names")
    _check_names(name, names, noun)
    return names


def _refuse_long(frame: Any) -> None:
    """Refuse a frame with a row for each score, which names data sets and methods in columns."""
    if not hasattr(frame, "select_dtypes"):
        return
    # Columns of objects may hold numbers.
    frame = frame.infer_objects() if hasattr(frame, "infer_objects") else frame
    words = [*frame.select_dtypes(exclude=["number", "bool"]).columns]
    numbers = [name for name in frame.columns if name not in words]
    if words:
        example = "index='dataset', columns='method', values='score'"
        if len(words) == 2 and len(numbers) == 1:
            most, fewest = sorted(words, key=lambda name: -frame[name].nunique())
            example = f"index={most!r}, columns={fewest!r}, values={numbers[0]!r}"
        must = "have a row for each data set and a column of numbers for each method"
        advice = f"Of a long table give scores.pivot({example})."
        raise check.fail("scores", must, f"text in the column {words[0]!r}", advice)


def _labels_of_frame(frame: Any) -> tuple[list[str], list[str]]:
    """Names of the rows and columns of a data frame."""
    if not hasattr(frame, "index"):
        must = "be a frame whose index names the data sets, an array or a dict"
        advice = "Use {row['dataset']: {...} for row in frame.to_dicts()}, or datasets= beside an "
        raise check.fail("scores", must, type(frame).__name__, advice + "array.")
    return [*frame.index], [*frame.columns]


def _checked(
    rows: Sequence[Sequence[Any]],
    names: Sequence[str],
    methods: Sequence[str],
    direction: bool,
) -> DataSets:
    """Return scores that are one finite number each, of at least two data sets and methods."""
    _check_enough(names, methods)
    numbers = [
        [_number(value, name, method) for method, value in zip(methods, row, strict=True)]
        for name, row in zip(names, rows, strict=True)
    ]
    return DataSets(tuple(names), tuple(methods), np.array(numbers), "score", direction)


def _number(value: Any, name: str, method: str) -> float:
    """Return one score as a float."""
    where = f"of method {method!r} on data set {name!r}"
    if isinstance(value, list | tuple | np.ndarray):
        must = "hold one number for each method and data set"
        raise check.fail("scores", must, f"{len(value)} numbers {where}", _RUNS)
    if value is None or (isinstance(value, Real) and np.isnan(float(value))):
        must = "have a score of every method on every data set"
        advice = "Leave out the data set, or the method."
        raise check.fail("scores", must, f"none {where}", advice)
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if is_number and np.isfinite(float(value)):
        return float(value)
    raise check.fail("scores", "hold finite numbers", f"{value!r} {where}")


# ------------------------------------------------------------------ results


def _of_results(results: Mapping[str, ComparisonResult], direction: bool | None) -> DataSets:
    """Scores and their errors from a comparison on each data set."""
    first = next(iter(results.values()))
    methods = list(dict.fromkeys(name for each in results.values() for name in each.systems))
    _check_enough(list(results), methods)
    _check_all_there({name: list(each.systems) for name, each in results.items()}, methods)
    for name, each in results.items():
        _check_like(first, each, f"scores[{name!r}]")
    known = first.greater_is_better
    if known is None and direction is None:
        raise _unknown_direction("where the results do not know it")
    if known is not None and direction not in (None, known):
        must = f"be {known}, the direction of {first.metric!r}, or None"
        raise check.fail("greater_is_better", must, repr(direction))
    scores = [[each.systems[method].estimate for method in methods] for each in results.values()]
    for name, row in zip(results, scores, strict=True):
        for method, value in zip(methods, row, strict=True):
            _number(value, name, method)
    return DataSets(
        tuple(results),
        tuple(methods),
        np.array(scores),
        first.metric,
        bool(known if direction is None else direction),
        _errors(results, methods),
        first.held_fixed,
        _bounds(results),
    )


def _bounds(results: Mapping[str, ComparisonResult]) -> tuple[float, float]:
    """Range of the metric; the widest, where it depends on the data set."""
    bounds = [
        system.evidence.facts.bounds
        for each in results.values()
        for system in each.systems.values()
    ]
    low, high = zip(*bounds, strict=True)
    return min(low), max(high)


def _check_like(first: ComparisonResult, each: ComparisonResult, argument: str) -> None:
    """Refuse a comparison that cannot stand beside the first one."""
    if each.estimand not in ("system", "method"):
        got = f"one across data sets (estimand {each.estimand!r})"
        raise check.fail(argument, "be a comparison on one data set", got)
    for name, what in (
        ("metric", "metric"),
        ("estimand", "estimand"),
        ("greater_is_better", "direction"),
    ):
        one, other = getattr(first, name), getattr(each, name)
        if one != other:
            must = f"have the same {what} as the first data set, {one!r}"
            raise check.fail(argument, must, repr(other))
    if each.reference is not None:
        must = "hold the differences of all pairs"
        advice = "Compare with reference=None; give reference= here."
        raise check.fail(argument, must, f"reference={each.reference!r}", advice)


def _errors(results: Mapping[str, ComparisonResult], methods: Sequence[str]) -> ErrorsOnEach:
    """Standard errors of scores and differences on each data set."""
    k, m = len(results), len(methods)
    number = {method: j for j, method in enumerate(methods)}
    of_differences, freedom = np.zeros((k, m, m)), np.full((k, m, m), np.inf)
    for at, (name, result) in enumerate(results.items()):
        for pair in result.pairs:
            one, other = number[pair.first], number[pair.second]
            error = standard_error_of(pair)
            if not np.isfinite(error):
                must = "have a standard error for every difference"
                got = f"none of {pair.first} - {pair.second}"
                raise check.fail(f"scores[{name!r}]", must, got)
            of_differences[at, [one, other], [other, one]] = error
            freedom[at, [one, other], [other, one]] = freedom_of(pair)
    systems = [[each.systems[method] for method in methods] for each in results.values()]
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
    for found, noun, advice in ((names, "data set", for_one), (methods, "method", "")):
        if len(found) < 2:
            must = f"hold at least two {noun}s"
            raise check.fail("scores", must, str(len(found)), advice)


def _check_all_there(found: Mapping[str, Sequence[Hashable]], methods: Sequence[str]) -> None:
    """Refuse data sets that lack a method, and say which."""
    missing = {
        name: [method for method in methods if method not in there] for name, there in found.items()
    }
    lacking = [
        f"none of {', '.join(which)} on {name!r}" for name, which in missing.items() if which
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
