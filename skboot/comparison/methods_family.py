"""A family of differences between methods whose runs were made here, on the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._warnings import warn_user
from ..inference.intervals import ConfidenceInterval
from ..inference.out_of_bag import OutOfBagError
from ..inference.outperformance import Outperformance, outperformance, too_few_pairs
from ..inference.paired import share_won
from ..inference.paired_runs import RunsDifference
from ..refit.differences import LeftOut, difference_error, left_out_by_all
from ..refit.samples import Samples
from ..refit.training import Record, key_on_test
from ..results import ComparisonResult, EvaluationResult
from ..results.comparison import PairedDifference
from ..results.comparison_table import ComparisonTable
from ..scorer import packing
from ..scorer.evaluating import Judged, JudgedOnTests
from ..scorer.on_test_set import narrow
from .family import pairs_of
from .runs import compare_runs
from .simultaneous import adjusted

Array = NDArray[Any]

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2 % of the distinct rows: the differences are those of methods "
    "trained on that much less data."
)


@dataclass(frozen=True, eq=False)
class MethodsCall:
    """What the steps of one call share."""

    scorers: Mapping[str, Any]
    reference: str | None
    adjust: str | None
    interval: str
    confidence_level: float
    n_resamples: int
    seed: np.random.SeedSequence

    @property
    def strategy(self) -> str:
        """Of each method's own score, without a test set."""
        return str(next(iter(self.scorers.values())).strategy)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call, for the result."""
        any_scorer = next(iter(self.scorers.values()))
        names = (
            "strategy",
            "n_train_resamples",
            "n_cv_repeats",
            "n_seeds",
            "n_test_resamples",
            "stratify",
            "inner_cv",
        )
        own = ("reference", "adjust", "interval", "confidence_level")
        return {
            "estimators": {name: repr(one.estimator) for name, one in self.scorers.items()},
            **{name: getattr(any_scorer, name) for name in names},
            **{name: getattr(self, name) for name in own},
        }

    def outperformance(self, first: Array, second: Array, samples: Array | None) -> Outperformance:
        """P(A > B) over runs; larger scores are better."""
        return outperformance(
            first,
            second,
            samples=samples,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            seed=self.seed,
        )


# ------------------------------------------------------------------ on the rows left out


def compared_left_out(call: MethodsCall, judged: Mapping[str, Judged]) -> Any:
    """Compare methods by what they say of the rows left out.

    Parameters
    ----------
    call : MethodsCall
    judged : mapping of str to Judged

    Returns
    -------
    ComparisonResult or ComparisonTable
        A table with several metrics.
    """
    systems: dict[str, list[EvaluationResult]] = {}
    for name, one in judged.items():
        packed = packing.results_of(one.kept, one.errors, packing.settings_of(call.scorers[name]))
        systems[name] = [result for result, _ in packed]
    first = next(iter(judged.values()))
    results = {}
    for k, error in enumerate(first.errors):
        alone = {name: own[k] for name, own in systems.items()}
        results[error.measure.name] = _left_out(call, judged, k, alone)
    _warn(results)
    return next(iter(results.values())) if first.single else ComparisonTable(results)


def _warn(results: Mapping[str, ComparisonResult]) -> None:
    """Warn of few training samples, once."""
    notes = dict.fromkeys(note for one in results.values() for note in one.notes)
    for note in notes:
        if "too few" in note:
            warn_user(note)


def _left_out(
    call: MethodsCall, judged: Mapping[str, Judged], k: int, alone: dict[str, EvaluationResult]
) -> ComparisonResult:
    """Compare by one metric."""
    measures = [one.errors[k].measure for one in judged.values()]
    kept = [one.kept for one in judged.values()]
    every = left_out_by_all(measures, kept)
    parts = dict(zip(judged, every, strict=True))
    n_used, samples = len(every[0].used), kept[0].samples
    pairs = pairs_of(judged, call.reference)
    errors = [
        difference_error(parts[one], parts[other]) if n_used > 1 else None for one, other in pairs
    ]
    differences = [
        _difference(parts[one], parts[other], error)
        for (one, other), error in zip(pairs, errors, strict=True)
    ]
    of_sample = None
    if samples.n_seeds > 1:
        of_sample = np.arange(samples.n_bootstrap_runs) // samples.n_seeds
    records = []
    for pair, error, difference in zip(pairs, errors, differences, strict=True):
        # An error is better the smaller it is; the score may have either direction.
        runs = [-judged[name].errors[k].run_errors for name in pair]
        probability = call.outperformance(runs[0], runs[1], of_sample)
        support = np.nan if error is None else share_won(error.replicates, greater_is_better=False)
        records.append(_record(call, pair, difference, probability, support))
    records = adjusted(
        records,
        differences,
        call.adjust,
        confidence_level=call.confidence_level,
        correlation_of=lambda some: _correlation([errors[j] for j in some]),
        seed=call.seed,
    )
    n_left = len(samples.counts) - n_used
    fixed = ("the number of training rows of each class",) if _stratified(call) else ()
    return ComparisonResult(
        metric=measures[0].name,
        estimand="method",
        systems=alone,
        pairs=tuple(records),
        reference=call.reference,
        adjust=call.adjust,
        automatic=call.interval == "auto",
        notes=tuple(_notes(call.strategy, records, errors, n_left, len(samples.counts))),
        held_fixed=fixed,
        settings=call.settings,
    )


def _stratified(call: MethodsCall) -> bool:
    """Whether training samples are drawn within classes."""
    return bool(next(iter(call.scorers.values())).stratify)


def _difference(first: LeftOut, second: LeftOut, error: OutOfBagError | None) -> RunsDifference:
    """Difference of scores; NaN where fewer than two training samples served both methods."""
    if error is None:
        return RunsDifference(np.nan, np.nan, np.nan)
    change = 0.0 - first.measure.sign * error.error
    # Those of an average over classes depend on the answers, and must not on the order of the two.
    df = min(first.degrees_of_freedom, second.degrees_of_freedom)
    return RunsDifference(change, error.standard_error, df)


def _record(
    call: MethodsCall,
    pair: tuple[str, str],
    difference: RunsDifference,
    probability: Outperformance,
    support: float,
) -> PairedDifference:
    low, high = difference.interval(call.confidence_level)
    return PairedDifference(
        first=pair[0],
        second=pair[1],
        difference=difference.difference,
        confidence_interval=ConfidenceInterval(low, high, call.confidence_level, "adjusted"),
        simultaneous_interval=None,
        p_value=difference.p_value,
        p_value_adjusted=np.nan,
        bootstrap_support=support,
        standard_error=difference.standard_error,
        outperformance=probability,
    )


def _correlation(errors: Sequence[Any]) -> Array:
    """Of the differences, by the influence of the units on them."""
    influence = np.array([error.influence for error in errors])
    size = np.sqrt((influence**2).sum(axis=1))
    return np.asarray(influence @ influence.T / np.outer(size, size))


def _notes(
    strategy: str,
    records: Sequence[PairedDifference],
    errors: Sequence[Any],
    n_left: int,
    n_samples: int,
) -> list[str]:
    notes = [_SMALLER_SAMPLES]
    if strategy != "oob":
        notes.insert(
            0,
            f"The methods' own scores are by the strategy {strategy!r}; their differences are of "
            "out-of-bag scores, so that they can be other than those of the scores.",
        )
    if n_left:
        notes.append(
            f"{n_left} of {n_samples} training samples gave no score for some method and are left "
            "out of all differences."
        )
    said: dict[str, list[str]] = {}
    for record, error in zip(records, errors, strict=True):
        for note in _notes_on(record, error):
            said.setdefault(note, []).append(f"{record.first} - {record.second}")
    for note, names in said.items():
        more = f" and {len(names) - 3} others" if len(names) > 3 else ""
        of = "" if len(names) == len(records) else f"{', '.join(names[:3])}{more}: "
        notes.append(f"{of}{note}")
    return [*notes, *too_few_pairs(record.outperformance for record in records)]


def _notes_on(record: PairedDifference, error: OutOfBagError | None) -> tuple[str, ...]:
    """What must be known of one difference."""
    if error is None:
        return ("Fewer than two training samples gave a score for all methods.",)
    if record.standard_error > 0:
        return error.notes
    return (
        "No loss differs, so the interval is degenerate; it does not say that the difference is "
        "known exactly.",
    )


# ------------------------------------------------------------------ on test sets


def compared_on_tests(call: MethodsCall, judged: Mapping[str, JudgedOnTests]) -> Any:
    """Compare methods by what all their runs answer for test sets.

    Parameters
    ----------
    call : MethodsCall
    judged : mapping of str to JudgedOnTests

    Returns
    -------
    ComparisonResult or ComparisonTable
        A table with several metrics, or by test set; of both, a table of tables.
    """
    first = next(iter(judged.values()))
    by_set = {}
    for k, name in enumerate(first.tests.names):
        found = {metric: _on_test(call, judged, k, metric) for metric in first.scorers}
        by_set[name] = next(iter(found.values())) if first.single else ComparisonTable(found)
    return by_set[None] if list(by_set) == [None] else ComparisonTable(by_set)


def _on_test(
    call: MethodsCall, judged: Mapping[str, JudgedOnTests], k: int, metric: str
) -> ComparisonResult:
    """Compare by one metric on one test set: `compare_runs` of paired runs."""
    any_one = next(iter(judged.values()))
    samples = any_one.samples
    sampled, full = _good_runs(judged, samples)
    answers = {
        name: [record.get(key_on_test(k, one.responses[metric].key)) for record in one.records]
        for name, one in judged.items()
    }
    runs = sampled or full
    options: dict[str, Any] = {"varied": "seed"}
    if sampled:
        options["varied"] = "both" if samples.n_seeds > 1 else "training"
        options["full_runs"] = {name: [own[run] for run in full] for name, own in answers.items()}
        if samples.n_seeds > 1:
            of_sample = (np.array(sampled) - 1) // samples.n_seeds
            options["training"] = dict.fromkeys(judged, of_sample)
    columns = np.ndim(np.asarray(next(iter(answers.values()))[0])) == 2
    result: ComparisonResult = compare_runs(
        narrow(any_one.tests.rows[k].y),
        {name: [own[run] for run in runs] for name, own in answers.items()},
        metric={metric: any_one.scorers[metric]},
        paired_runs=True,
        reference=call.reference,
        adjust=call.adjust,
        groups=any_one.tests.groups[k],
        labels=any_one.classes if columns else None,
        n_resamples=call.n_resamples,
        confidence_level=call.confidence_level,
        interval=call.interval,
        random_state=samples.test_resamples(),
        n_jobs=next(iter(call.scorers.values())).n_jobs,
        **options,
    )[metric]
    held_fixed = result.held_fixed
    if _stratified(call):
        held_fixed = (*held_fixed, "the number of training rows of each class")
    return replace(result, held_fixed=held_fixed, settings={**result.settings, **call.settings})


def _good_runs(
    judged: Mapping[str, JudgedOnTests], samples: Samples
) -> tuple[list[int], list[int]]:
    """Runs on bootstrap samples, and on all rows, that failed for no method."""

    def good(records: Sequence[Record]) -> set[int]:
        return {run for run, one in enumerate(records) if one["error"] is None}

    every = sorted(set.intersection(*(good(one.records) for one in judged.values())))
    n_boot = samples.n_bootstrap_runs
    sampled = [run for run in every if 1 <= run <= n_boot]
    full = [run for run in every if run == 0 or run > n_boot]
    used = {(run - 1) // samples.n_seeds for run in sampled} if n_boot else full
    if len(used) < 2:
        what = "training samples" if n_boot else "runs"
        errors = (record["error"] for one in judged.values() for record in one.records)
        first = next(error for error in errors if error is not None)
        raise ValueError(
            f"compare_methods: fewer than two {what} failed for no estimator. The first said: "
            f"{first}"
        )
    return sampled, full
