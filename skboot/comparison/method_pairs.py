"""Differences between methods that `compare_methods` trained on the same samples: its engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import Note, Notes
from .._base.workers import Workers
from ..inference.differences import share_won
from ..inference.normal_law import LowRankRoot
from ..inference.outperformance import Outperformance, outperformance, too_few_pairs
from ..method_error.method_differences import MethodsDifference
from ..method_error.out_of_bag import OutOfBagError
from ..refit.differences import (
    OutOfBagLosses,
    cross_validated_by_all,
    cross_validated_difference,
    difference_error,
    out_of_bag_difference,
    out_of_bag_losses,
)
from ..refit.samples import TrainingSamples
from ..results import ComparisonResult, EvaluationResult, ResultTable
from ..results.pairs import PairedDifference
from ..scorer import packing
from ..scorer.fit_call import FitCall
from ..scorer.tested_runs import runs_on_test, study_of_test, usable_runs
from ..scorer.training_runs import OutOfBagRuns, TestSetRuns
from ..study.rows import Wanted
from .asked import Asked, answered
from .contestants import pairs_of
from .families import records_of
from .run_pairs import CompareRunsCall, compare_runs_of
from .student import Student, root_of

Array = NDArray[Any]


# Share of the distinct units that a bootstrap sample holds, where there are many: 1 - 1 / e.
_SHARE_OF_BOOTSTRAP = 0.632

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2 % of the distinct rows: the differences are those of methods "
    "trained on that much less data. strategy='cv-bootstrap' compares them at about full size."
)


@dataclass(frozen=True, eq=False)
class MethodsCall:
    """Checked arguments of `skboot.compare_methods`: its trainings are those of `fit`."""

    estimators: Mapping[str, Any]
    fit: FitCall
    asked: Asked

    @property
    def is_cross_validated(self) -> bool:
        """Whether differences are those of cross-validation, without a test set."""
        return self.fit.strategy == "cv-bootstrap"

    @property
    def interval_name(self) -> str:
        """Of the differences, without a test set."""
        if self.asked.interval != "auto":
            return self.asked.interval
        return "cv-bootstrap" if self.is_cross_validated else "adjusted"

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call that a result keeps."""
        names = (
            "strategy",
            "n_train_resamples",
            "n_cv_repeats",
            "n_seeds",
            "n_test_resamples",
            "stratify",
            "inner_cv",
        )
        return {
            "estimators": {name: repr(one) for name, one in self.estimators.items()},
            **{name: getattr(self.fit, name) for name in names},
            **self.asked.settings,
        }

    def outperformance(self, first: Array, second: Array, samples: Array | None) -> Outperformance:
        """P(A > B) over runs; larger scores are better."""
        return outperformance(
            first,
            second,
            samples=samples,
            n_resamples=self.fit.n_test_resamples,
            confidence_level=self.asked.confidence_level,
            seed=self.fit.seed,
        )


# ------------------------------------------------------------------ on the rows left out


def compare_left_out(call: MethodsCall, runs: Mapping[str, OutOfBagRuns]) -> Any:
    """Compare methods by their answers for the rows that their runs left out.

    Parameters
    ----------
    call : MethodsCall
    runs : mapping of str to OutOfBagRuns

    Returns
    -------
    ComparisonResult or ResultTable
        A table with several metrics.
    """
    systems: dict[str, list[EvaluationResult]] = {}
    for name, own in runs.items():
        results_of_method = packing.results_of(
            call.fit, call.estimators[name], own.kept, own.errors
        )
        systems[name] = [result for result, _ in results_of_method]
    first = next(iter(runs.values()))
    results = {}
    for k, error in enumerate(first.errors):
        alone = {name: of_method[k] for name, of_method in systems.items()}
        results[error.metric.name] = _left_out(call, runs, k, alone)
    return next(iter(results.values())) if first.single else ResultTable(results)


def _left_out(
    call: MethodsCall,
    runs: Mapping[str, OutOfBagRuns],
    k: int,
    alone: dict[str, EvaluationResult],
) -> ComparisonResult:
    """Return the comparison by one metric, and tell its notes."""
    metrics = [own.errors[k].metric for own in runs.values()]
    losses = out_of_bag_losses(metrics, [own.kept for own in runs.values()])
    samples = losses[0].kept.samples
    pairs = pairs_of(runs, call.asked.reference)
    resubstitution = {name: own.errors[k].full_errors.mean() for name, own in runs.items()}
    differences = _differences(call, dict(zip(runs, losses, strict=True)), pairs, resubstitution)
    # An error is better the smaller it is; the score may have either direction.
    scores = {name: -own.errors[k].run_errors for name, own in runs.items()}
    law = _MethodsLaw(call, differences, metrics[0].bounds)
    records = _records(law, call, scores, pairs, samples)
    notes = _notes(call, records, differences, losses[0])
    by_folds = call.is_cross_validated
    return answered(
        call.asked,
        alone,
        records,
        notes,
        ComparisonResult,
        metric=metrics[0].name,
        estimand="method",
        held_fixed=("the number of training rows of each class",) if call.fit.stratify else (),
        settings=call.settings,
        training_share=1 - 1 / samples.n_folds if by_folds else _SHARE_OF_BOOTSTRAP,
    )


class _Difference(NamedTuple):
    """Difference of a pair of methods.

    Attributes
    ----------
    out_of_bag : OutOfBagError or None
        Of the errors on the rows left out; None where too few samples served all methods.
    asked : MethodsDifference
        The one that the interval is for.
    reason : str
        Why it has no interval.
    """

    out_of_bag: OutOfBagError | None
    asked: MethodsDifference
    reason: str = ""


def _differences(
    call: MethodsCall,
    losses: Mapping[str, OutOfBagLosses],
    pairs: Sequence[tuple[str, str]],
    resubstitution: Mapping[str, float],
) -> list[_Difference]:
    """Return the difference of each pair, NaN where too few samples or folds served all methods."""
    unknown = MethodsDifference(np.nan, np.nan, np.nan)
    if len(next(iter(losses.values())).used) < 2:
        reason = "fewer than two training samples gave a score for all methods"
        return [_Difference(None, unknown, reason) for _ in pairs]
    folds = cross_validated_by_all(losses) if call.is_cross_validated else None
    differences = []
    for one, other in pairs:
        out_of_bag = difference_error(losses[one], losses[other])
        asked, reason = unknown, ""
        if folds is not None:
            asked = cross_validated_difference(
                folds[one], folds[other], out_of_bag, (resubstitution[one], resubstitution[other])
            )
            if call.asked.interval == "adjusted" and asked.standard_error != 0:
                asked = asked._replace(standard_error=out_of_bag.standard_error)
        elif not call.is_cross_validated:
            asked = out_of_bag_difference(losses[one], losses[other], out_of_bag)
        else:
            reason = "no repeat of cross-validation is whole for all methods"
        differences.append(_Difference(out_of_bag, asked, reason or asked.reason))
    return differences


class _MethodsLaw(Student):
    """The law of the differences of methods that are scored on the rows left out."""

    def __init__(
        self,
        call: MethodsCall,
        differences: Sequence[_Difference],
        bounds: tuple[float, float],
    ) -> None:
        self.out_of_bag = [each.out_of_bag for each in differences]
        self.reasons = [each.reason for each in differences]
        asked = [each.asked for each in differences]
        super().__init__(call.asked, asked, call.interval_name, call.fit.seed, bounds)

    def root_of_correlation(self, those: Sequence[int]) -> LowRankRoot:
        """See `Student.root_of_correlation`: by the influence of units on the differences."""
        errors = [self.out_of_bag[k] for k in those]
        influence = np.array([error.influence for error in errors if error is not None])
        # A difference that no unit influences varies by itself.
        alone = np.eye(len(influence))[:, ~influence.any(axis=1)]
        return root_of(np.hstack([influence, alone]), np.eye(influence.shape[1] + alone.shape[1]))


def _records(
    law: _MethodsLaw,
    call: MethodsCall,
    scores: Mapping[str, Array],
    pairs: Sequence[tuple[str, str]],
    samples: TrainingSamples,
) -> list[PairedDifference]:
    """Return the record of each pair, from differences and the scores of runs, (n_runs,)."""
    of_sample = None
    if samples.n_seeds > 1:
        of_sample = np.arange(samples.n_bootstrap_runs) // samples.n_seeds
    return records_of(
        law,
        pairs,
        PairedDifference,
        bootstrap_support=[
            np.nan if error is None else share_won(error.replicates, greater_is_better=False)
            for error in law.out_of_bag
        ],
        outperformance=[
            call.outperformance(scores[one], scores[other], of_sample) for one, other in pairs
        ],
        reason=law.reasons,
    )


def _notes(
    call: MethodsCall,
    records: Sequence[PairedDifference],
    differences: Sequence[_Difference],
    losses: OutOfBagLosses,
) -> Notes:
    """Return what must be known of the differences."""
    notes = Notes()
    if call.fit.strategy not in ("oob", "cv-bootstrap"):
        notes.add(
            "advice",
            f"The methods' own scores are by the strategy {call.fit.strategy!r}, their differences "
            "are of out-of-bag scores: these can deviate from the differences of the scores shown.",
        )
    if not call.is_cross_validated:
        notes.add("advice", _SMALLER_SAMPLES)
    n_samples = len(losses.kept.samples.counts)
    if len(losses.used) < n_samples:
        notes.add(
            "advice",
            f"{n_samples - len(losses.used)} of {n_samples} training samples gave no score for "
            "some method and are left out of all differences.",
        )
    pairs: dict[Note, list[str]] = {}
    for record, difference in zip(records, differences, strict=True):
        for note in _notes_on(call, difference):
            pairs.setdefault(note, []).append(f"{record.first} - {record.second}")
    for note, names in pairs.items():
        more = f" and {len(names) - 3} others" if len(names) > 3 else ""
        of = "" if len(names) == len(records) else f"{', '.join(names[:3])}{more}: "
        notes.add(note.kind, f"{of}{note.text}")
    few_pairs = too_few_pairs(record.outperformance for record in records)
    notes += [Note("advice", text) for text in few_pairs]
    return notes


def _notes_on(call: MethodsCall, difference: _Difference) -> list[Note]:
    """Return what must be known of one difference."""
    out_of_bag, asked, reason = difference
    if reason:
        return [Note("degenerate", f"{reason[0].upper()}{reason[1:]}.")]
    if asked.standard_error == 0:
        text = (
            "The two methods decide every row alike, or every row differently: the limits are "
            f"those of Tango's score interval for {asked.n_units} independent units."
        )
        return [Note("choice", text)]
    assert out_of_bag is not None
    cautions = out_of_bag.cautions
    texts = cautions if call.is_cross_validated else out_of_bag.notes
    return [Note("caution" if text in cautions else "advice", text) for text in texts]


# ------------------------------------------------------------------ on test sets


def compare_on_tests(call: MethodsCall, runs: Mapping[str, TestSetRuns]) -> Any:
    """Compare methods by the answers of all their runs for test sets.

    Parameters
    ----------
    call : MethodsCall
    runs : mapping of str to TestSetRuns

    Returns
    -------
    ComparisonResult or ResultTable
        A table with several metrics, or by test set; of both, a table of tables.
    """
    first = next(iter(runs.values()))
    by_set = {}
    for k, name in enumerate(first.tests.names):
        results = _on_test(call, runs, k)
        by_set[name] = next(iter(results.values())) if first.single else ResultTable(results)
    return by_set[None] if list(by_set) == [None] else ResultTable(by_set)


def _on_test(
    call: MethodsCall, runs: Mapping[str, TestSetRuns], k: int
) -> dict[str, ComparisonResult]:
    """Return the comparison by each metric on one test set."""
    first = next(iter(runs.values()))
    usable = usable_runs(first.samples, [own.records for own in runs.values()])
    wanted = Wanted("auto", call.asked.confidence_level, Workers(call.fit.n_jobs))
    study = study_of_test(runs, k, usable, call.fit.n_test_resamples, wanted)
    calls, scores = runs_on_test(runs, k, usable, study)
    results = compare_runs_of(
        {metric: CompareRunsCall(own, True, call.asked) for metric, own in calls.items()}, scores
    )
    strata = ("the number of training rows of each class",) if call.fit.stratify else ()
    return {
        metric: result._with_provenance(
            held_fixed=(*result.provenance.held_fixed, *strata),
            settings={**result.provenance.settings, **call.settings},
        )
        for metric, result in results.items()
    }
