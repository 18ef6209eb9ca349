"""Scores of few human labels and of a judge's labels on all rows: the engine of ``proxy=``.

A call becomes three: of human labels alone, of all rows with the judge's labels, and of all rows
with human ones where there are any. `WithJudge` draws its rows once, and combines the terms of each
score (`skboot.study.judge_source`); everything above reads that as any other score. Where the
judge is of no use, the result is that of human labels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.checks import is_missing
from .._base.errors import Note, collected, parts_of, tell
from ..results import ComparisonResult, EvaluationResult
from .judge_source import Columns, MeasuredTwice, WithJudge
from .measured import Measured
from .rows import Judge, Sampling, Wanted, is_lazy
from .study import ALONE, Study

# Minimum units with a human label, and rows of each class for metrics of classes.
FEWEST_UNITS, FEWEST_OF_CLASS = 30, 10
# Units with a human label below which differences were not held as often as stated (record 0099).
FEW_FOR_DIFFERENCE = 100
_OF_NO_USE = "The judge does not make the interval shorter: human labels alone are used."
_NOT_WITH = ("by", "average_over", "block_length", "resamples")


def with_judge(
    judge: Judge,
    y_true: Any,
    y_preds: Any,
    sampling: Sampling,
    wanted: Wanted,
    study_of: Callable[[Any, Any, Sampling], Study],
    results_of: Callable[[Study], Any],
    *,
    by_argument: Mapping[Any, tuple[str, Any]],
    interval: str,
    intervals: Sequence[str],
) -> Any:
    """Return the results of human labels, and of a judge's labels on all rows.

    Parameters
    ----------
    judge : Judge
    y_true : array-like or None
        With missing values where no human labelled; or so are the predictions, without a truth.
    y_preds : array-like, or mapping of str to array-like
        Of one system, or by system.
    sampling : Sampling
    wanted : Wanted
        Of each system by itself.
    study_of : callable
        From a truth, predictions and a sampling, as given here, to their study.
    results_of : callable
        From a study of one metric to its result.
    by_argument : mapping of str or None to tuple (str, array-like)
        As of `skboot.streams.columns.streamed`; read where there is no truth.
    interval : str
        What is asked for, also of differences.
    intervals : sequence of str
        Those that a score with a judge can have.
    """
    _check_weight(judge)
    for name in _NOT_WITH:
        if getattr(sampling, name) is not None:
            raise check.fail(name, "not be combined with proxy", "")
    if wanted.first_look is not None:
        raise check.fail("first_look", "not be combined with proxy", "")
    if wanted.adjust is not None:
        raise check.fail("adjust", "be None with proxy", repr(wanted.adjust))
    check.check_choice("interval", interval, intervals)
    if is_lazy(y_true, *_by_system(y_preds).values(), *_by_system(judge.proxy).values()):
        advice = "A judge's labels need arrays: .compute(), or .collect()."
        raise check.fail("proxy", "not be combined with columns that are not in memory", "", advice)
    # All studies share a seed.
    seed = check.check_seed(sampling.random_state)
    sampling = sampling._replace(random_state=seed)
    of_truth = y_true is not None
    columns = _columns({None: ("y_true", y_true)} if of_truth else by_argument, judge.proxy)
    if columns.of_truth:
        whole_given, judged_given = (
            (labels[None], y_preds, sampling) for labels in (columns.human, columns.judge)
        )
    else:
        whole_given, judged_given = (
            (None, labels[None] if None in labels else dict(labels), sampling)
            for labels in (columns.human, columns.judge)
        )
    groups = sampling.groups
    if groups is not None and np.shape(groups) == columns.labelled.shape:
        n_labelled = len(np.unique(check.check_groups(groups)[columns.labelled]))
        if n_labelled < FEWEST_UNITS:
            raise _too_few(next(iter(columns.called)), "group", n_labelled)
    with collected():
        alone = study_of(*_rows_at(columns.at, *whole_given))
    try:
        whole = study_of(*whole_given)
        with collected():
            judged = study_of(*judged_given)
    except ValueError as error:
        # What human labels have passed, those of the judge do not.
        bad = parts_of(error)
        if bad is None or bad.name not in columns.called:
            raise
        raise bad._replace(name=columns.called[bad.name]).error() from None
    if whole.plan.design.n_factors > 1:
        advice = "Give the column whose members differ most."
        raise check.fail("groups", "have one column with proxy", "two", advice)
    _check_enough(whole, alone, columns)
    source = WithJudge(columns, alone.plan.design, judge.weight, seed)
    results = {}
    for metric, by_system in whole.scores.items():
        pairs = {
            name: [MeasuredTwice(own.rows, own.statistic, judged.scores[metric][name][0])]
            for name, [own] in by_system.items()
        }
        study = replace(_of_one(whole, metric, pairs), source=source)
        labels = _of_one(alone, metric, alone.scores[metric])
        results[metric] = _of_metric(study, labels, judge, results_of)
    return whole.laid_out(results)


def _of_one(study: Study, metric: str, scores: Mapping[str, Sequence[Measured]]) -> Study:
    return replace(study, scores={metric: scores}, places=ALONE)


def _of_metric(
    study: Study, labels: Study, judge: Judge, answer: Callable[[Study], Any]
) -> EvaluationResult | ComparisonResult:
    """Return the result of one metric: by the judge, unless human labels alone say more."""
    with collected() as told:
        alone = result = answer(labels)
    if judge.weight != 0:
        with collected() as of_judge:
            corrected = answer(study)
        is_shorter = _weight_of(corrected) > 0 and _length(corrected) < _length(alone)
        if judge.weight != "auto" or is_shorter:
            result, told = corrected, of_judge
    notes: tuple[str, ...] = ()
    if result is not alone:
        n_units = labels.plan.design.smallest_side
        if isinstance(result, ComparisonResult) and n_units < FEW_FOR_DIFFERENCE:
            few = Note("caution", _few_for_difference(n_units, labels.plan.design.unit))
            told.append(few)
            notes = (few.text,)
    elif judge.weight == "auto":
        notes = (_OF_NO_USE,)
    tell(*told)
    return _completed(result, alone, study.plan.design.n_samples, judge, notes)


def _few_for_difference(n_units: int, unit: str) -> str:
    return (
        f"{n_units} {unit}s with a human label are few for a difference: with 50 its 95 % "
        f"intervals covered 89 to 99 % in simulations, with {FEW_FOR_DIFFERENCE} 93 % or more."
    )


def _weight_of(result: EvaluationResult | ComparisonResult) -> float:
    """Return the weight of the judge, which is that of each system."""
    one = result if isinstance(result, EvaluationResult) else result._any_system
    return one.evidence.facts.proxy_weight or 0.0


def _length(result: EvaluationResult | ComparisonResult) -> float:
    """Return how far finite limits are from what they are limits of, over all intervals."""
    shown: Any = [result] if isinstance(result, EvaluationResult) else result.pairs
    return sum(
        abs(limit - getattr(one, "difference", getattr(one, "estimate", np.nan)))
        for one in shown
        for limit in one.confidence_interval
        if not np.isinf(limit)
    )


def _completed(
    result: Any, alone: Any, n_samples: int, judge: Judge, notes: Sequence[str] = ()
) -> Any:
    """Return a result with what is known of labels and judge, and notes on that."""
    fields: dict[str, Any] = {}
    if isinstance(result, EvaluationResult):
        fields["n_samples"], n_labelled, text = n_samples, alone.n_samples, str(alone)
    else:
        n_labelled = alone._any_system.n_samples
        text = "; ".join(f"{one.first} - {one.second} {one}" for one in alone._shown_pairs)
        fields["systems"] = {
            name: _completed(own, alone.systems[name], n_samples, judge)
            for name, own in result.systems.items()
        }
    provenance = result.provenance
    known = {"n_labelled": n_labelled, "proxy_weight": _weight_of(result), "labels_alone": text}
    facts = replace(provenance.facts, **known)
    settings = provenance.settings | judge.settings
    notes = (*provenance.notes, *notes)
    provenance = replace(provenance, facts=facts, settings=settings, notes=notes)
    return replace(result, provenance=provenance, **fields)


# ------------------------------------------------------------------ what was given


def _check_weight(judge: Judge) -> None:
    """Accept "auto", or beside a judge's labels a number in [0, 1]."""
    weight = judge.weight
    if check.is_among(weight, ["auto"]):
        return
    if judge.proxy is None:
        raise check.fail("proxy_weight", "be 'auto' without proxy", repr(weight))
    is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    if not (is_number and 0 <= weight <= 1):
        advice = "0 is human labels alone, 1 takes the judge's as they are where no human labelled."
        raise check.fail("proxy_weight", "be 'auto' or a number in [0, 1]", repr(weight), advice)


def _by_system(values: Any) -> Mapping[Any, Any]:
    return values if isinstance(values, Mapping) else {None: values}


def _columns(given: Mapping[Any, tuple[str, Any]], proxy: Any) -> Columns:
    """Return the checked columns of humans and judge, by the argument that they came in."""
    of_truth = [argument for argument, _ in given.values()] == ["y_true"]
    proxies = _by_system(proxy)
    if set(proxies) != set(given):
        must = (
            "be a column for y_true" if of_truth or None in given else "have the names of y_preds"
        )
        raise check.fail("proxy", must, f"a {type(proxy).__name__}")
    human, judge, called, labelled = {}, {}, {}, None
    for name, (argument, column) in given.items():
        called[argument] = "proxy" if name is None else f"proxy[{name!r}]"
        human[name], judge[name], own = _filled(argument, column, called[argument], proxies[name])
        if labelled is not None and not np.array_equal(own, labelled):
            must = "be missing on the same rows for all systems"
            raise check.fail(argument, must, "labels on other rows")
        labelled = own
    assert labelled is not None
    if labelled.all():
        advice = "Leave proxy out: where all rows have a human label a judge adds nothing."
        raise check.fail(argument, "be missing (NaN or None) on some row", "none missing", advice)
    if (n_labelled := int(labelled.sum())) < FEWEST_UNITS:
        raise _too_few(argument, "row", n_labelled)
    return Columns(human, judge, labelled, of_truth, called)


def _too_few(name: str, unit: str, n_labelled: int) -> ValueError:
    must = f"have a human label in at least {FEWEST_UNITS} {unit}s"
    return check.fail(
        name, must, f"{n_labelled}", "Fewer do not show how often the judge is wrong."
    )


def _filled(
    name: str, given: Any, judge_name: str, proxy: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return human labels, filled with the judge's, these, and which rows a human labelled."""
    human, judge = check.converted(name, given), check.check_column(judge_name, proxy)
    check.check_same_length(**{name: human, judge_name: judge})
    if human.ndim != 1:
        raise check.fail(name, "have one value a row with proxy", f"an array of {human.shape}")
    if human.dtype.kind == "f":
        labelled = ~np.isnan(human)
    else:
        labelled = ~np.array([human.dtype.kind == "O" and is_missing(x) for x in human], bool)
    known = human[labelled]
    if human.dtype.kind == "f" and judge.dtype.kind in "iu" and np.all(known == np.round(known)):
        # Missing values make floats of integers.
        known = known.astype(judge.dtype)
    filled = judge.astype(object)
    filled[labelled] = known.astype(object)
    return check.converted(name, filled), judge, labelled


def _rows_at(
    at: NDArray[np.intp], y_true: Any, y_preds: Any, sampling: Sampling
) -> tuple[Any, Any, Sampling]:
    """Return some rows of what was given."""
    columns = {
        name: check.check_rows(name, column)[at]
        for name, column in sampling.columns.items()
        if column is not None
    }
    predicted = {
        name: check.check_answers("y_pred", column)[at]
        for name, column in _by_system(y_preds).items()
    }
    y_preds = predicted.get(None, predicted)
    return None if y_true is None else y_true[at], y_preds, sampling._replace(**columns)


def _check_enough(whole: Study, alone: Study, columns: Columns) -> None:
    """Refuse too few labelled units, or rows of a class for a metric of classes."""
    name, design = "y_true" if columns.of_truth else "y_pred", alone.plan.design
    if design.smallest_side < FEWEST_UNITS:
        raise _too_few(name, design.unit, design.smallest_side)
    for by_system in whole.scores.values():
        [first, *_] = next(iter(by_system.values()))
        statistic = first.statistic
        of_classes = statistic.response in ("labels", "scores", "probabilities")
        if not of_classes or statistic.of_row_values or not columns.of_truth:
            continue
        classes, codes = np.unique(columns.human[None], return_inverse=True)
        counts = np.bincount(codes[columns.at], minlength=len(classes))
        if counts.min() < FEWEST_OF_CLASS:
            must = (
                f"have at least {FEWEST_OF_CLASS} human labels of each class for {statistic.name!r}"
            )
            got = f"{counts.min()} of {classes[counts.argmin()]!s}"
            raise check.fail(name, must, got, "Label more rows of this class, chosen at random.")
