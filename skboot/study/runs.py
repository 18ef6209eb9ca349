"""Several runs of one method on one test set: their rows, their scores and what these vary with.

Checked predictions become `Runs`. `scored_runs` scores every run of all methods and metrics on the
same test resamples; `result_of_runs` splits the variance of the scores by what it comes from, and
makes the result of what was asked for. One of the runs is the system: it has the evidence that
`bootstrap_score` would have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.checks import is_column
from .._base.errors import Note, Notes, tell, texts_of
from .._base.typing import ArrayLike
from ..inference.automatic import degeneracy
from ..inference.distribution import BoundStatistic, bootstrap_each
from ..inference.evidence import Evidence
from ..inference.runs import (
    Components,
    ResampleNoise,
    RowNoise,
    RunsEvidence,
    RunVariance,
    UnitNoise,
    crossed_runs,
    least_test_variance,
    moments,
    over_runs_alone,
    runs_interval,
    trained_runs,
    within_samples,
)
from ..metrics.means import mean_of_values
from ..metrics.responses import notes_on_reversed_scores
from ..metrics.statistic import Facts, Statistic
from ..results import EvaluationResult
from ..results.method_basis import RunsBasis, SystemOfRunsBasis
from .rows import Rows, Scores, check_truth, labels_of_columns
from .study import Score, Study, chosen_interval, draw, make_result, score_result

Floats = NDArray[np.float64]

# Arguments that hold several runs.
OF_RUNS = ("y_preds", "full_runs")
# In what the runs of a method may differ.
VARIED = ("seed", "training", "both", "independent")
# Maximum number of values of the rows of a run; above it all runs are drawn together, since counts
# of so many values are drawn no faster than rows.
_FEW_CODES = 1000
# Number of runs, or of training samples, below which a note says that the variance between them is
# poorly known.
_FEW_RUNS = 10
# Share of runs that fail, and the chance from which a note says that none may be seen: under 29.
_RARE_FAILURE, _UNSEEN = 0.1, 0.05

# Where predictions of one system go that were given as runs, by whether there are several methods.
_FOR_ONE_RUN = {
    False: "For one trained system use bootstrap_score.",
    True: "For one trained system of each method use compare_systems.",
}


# ------------------------------------------------------------------ rows of the runs


@dataclass(frozen=True, eq=False)
class SharedColumns:
    """Columns that the runs of a call share: truth, weights and the labels of probabilities."""

    truth: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    labels: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Runs:
    """The rows of every run; those of full runs, beside ``n_runs`` others, last."""

    rows: list[Rows]
    n_runs: int

    @property
    def n_full_runs(self) -> int:
        """Number of runs on the full training set, beside those on samples of it."""
        return len(self.rows) - self.n_runs


def checked_columns(
    y_true: ArrayLike | None,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
) -> SharedColumns:
    """Check what all runs share."""
    truth = check_truth(y_true)
    weights = None if sample_weight is None else check.check_weights(sample_weight)
    class_labels = None if labels is None else check.check_labels(labels, truth)
    return SharedColumns(truth, weights, class_labels)


def checked_runs(
    columns: SharedColumns, y_preds: Any, full_runs: Any, varied: str, method: str = ""
) -> Runs:
    """Check the predictions of every run and pair them with the truth by row order.

    ``method`` is its key in messages, such as "['MLP']", where there are several methods.
    """
    name = f"y_preds{method}"
    predicted = _predictions("y_preds", method, y_preds)
    if len(predicted) < 2:
        raise check.fail(
            name,
            "hold the predictions of at least two runs",
            f"{len(predicted)}",
            _FOR_ONE_RUN[bool(method)],
        )
    if len(predicted[0]) < 2:
        must = "hold the predictions for at least two test rows"
        advice = "One row does not show how much test rows vary."
        raise check.fail(name, must, "one row", advice)
    full: list[NDArray[Any]] = []
    if full_runs is not None:
        if varied not in ("training", "both"):
            raise check.fail(
                "full_runs",
                f"be None with varied={varied!r}",
                "predictions",
                "These runs used whole training sets already: add them to y_preds.",
            )
        full = _predictions("full_runs", method, full_runs, predicted[0].ndim)
    # The first axis are runs: where it may be rows, only its length can show it.
    truth, shape = columns.truth, (len(predicted), *predicted[0].shape)
    if truth is None and shape[0] > shape[1]:
        text = (
            f"More runs ({shape[0]}) than rows ({shape[1]}): is {name} transposed? Runs come first."
        )
        tell(Note("caution", text, about="more runs than rows"))
    elif truth is not None and len(truth) == shape[0] != shape[1]:
        if truth.shape == shape:
            must, advice = "hold the truth of each row once", "The runs share it: give one of them."
            raise check.fail("y_true", must, f"shape {shape}", advice)
        classes = ", n_classes" if shape[2:] else ""
        must = f"have the shape (n_runs, n_samples{classes}), here (n_runs, {len(truth)}{classes})"
        turned = f"np.swapaxes({name}, 0, 1)" if classes else f"{name}.T"
        raise check.fail(name, must, f"shape {shape}", f"Runs come first: give {turned}.")
    return paired_runs(columns, predicted, full, method)


def paired_runs(
    columns: SharedColumns,
    predicted: list[NDArray[Any]],
    full: list[NDArray[Any]],
    method: str = "",
) -> Runs:
    """Pair checked predictions with the truth by row order; see `checked_runs`."""
    truth, weights = columns.truth, columns.weights
    labels, in_one_column = columns.labels, is_column(truth)
    if labels is None and truth is not None and in_one_column and predicted[0].ndim == 2:
        labels = labels_of_columns(truth, predicted[0].shape[1])
    names = [f"y_preds{method}[{k}]" for k in range(len(predicted))]
    names += [f"full_runs{method}[{k}]" for k in range(len(full))]
    rows = []
    for name, y_pred in zip(names, predicted + full, strict=True):
        # The truth comes first, because messages name the column that disagrees with it.
        check.check_same_length(**{"y_true": truth, name: y_pred, "sample_weight": weights})
        if y_pred.shape != predicted[0].shape:
            raise check.fail(
                name,
                f"have the shape of {names[0]}, {predicted[0].shape}",
                f"shape {y_pred.shape}",
                "Runs come first: (n_runs, n_samples[, n_classes]).",
            )
        y_true = truth
        if truth is not None and in_one_column and y_pred.ndim == 1 and truth.dtype != y_pred.dtype:
            y_true, y_pred = check.check_integers(name, truth, y_pred)
        rows.append(Rows(y_true, y_pred, check.unequal(weights), labels, name))
    return Runs(rows, len(predicted))


def _predictions(
    argument: str, method: str, values: Any, ndim: int | None = None
) -> list[NDArray[Any]]:
    """Return a checked array per run; a single run counts as a list of one where that is clear."""
    name = f"{argument}{method}"
    if isinstance(values, Mapping):
        values = list(values.values())
    elif hasattr(values, "__array__"):
        values = check.converted(name, values)
        if ndim is not None and values.ndim == ndim:
            values = values[None]
        if values.ndim not in (2, 3):
            raise check.fail(
                name,
                "have the shape (n_runs, n_samples) or (n_runs, n_samples, n_classes)",
                f"shape {values.shape}",
                _FOR_ONE_RUN[bool(method)],
            )
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise check.fail(
            name,
            "be an array or a list with the predictions of each run",
            type(values).__name__,
        )
    return check.check_rows_of_each(name, values)


def training_samples(training: ArrayLike | None, varied: str, n_runs: int) -> NDArray[np.intp]:
    """Return the number of the training sample of each run, (n_runs,)."""
    if varied != "both":
        if training is not None:
            raise check.fail(
                "training",
                f"be None with varied={varied!r}",
                "training samples",
                "Use varied='both' when several seeds were run on each training sample.",
            )
        return np.zeros(n_runs, np.intp) if varied == "seed" else np.arange(n_runs)
    advice = "Name the training sample of each run: training=[0, 0, 1, 1, ...]."
    if training is None:
        raise check.fail("training", "be given with varied='both'", "None", advice)
    names = check.check_rows("training", training)
    if names.shape != (n_runs,):
        raise check.fail(
            "training",
            f"be of shape (n_runs,), here ({n_runs},)",
            f"shape {names.shape}",
            advice,
        )
    _, sample = check.numbered_labels("training", names, "training sample")
    if sample.max() == 0:
        raise check.fail(
            "training",
            "name at least two training samples",
            "one",
            "With one training set use varied='seed'.",
        )
    return sample.astype(np.intp)


# ------------------------------------------------------------------ scores on the resamples


@dataclass(frozen=True, eq=False)
class RunsCall:
    """Checked arguments of an evaluation of one method by several runs.

    Attributes
    ----------
    study : Study
        Study of all methods of the call.
    runs : Runs
    sample : ndarray of shape (n_runs,)
        Number of the training sample of each run.
    varied, estimand : str
        As of `skboot.bootstrap_runs`.
    system_run : int
        Number of the run that the estimand "system" is about.
    """

    study: Study
    runs: Runs
    sample: NDArray[np.intp]
    varied: str
    estimand: str = "method"
    system_run: int = 0

    @cached_property
    def on_samples(self) -> bool:
        """Whether the runs are on bootstrap samples of one training set."""
        return self.varied in ("training", "both")

    @cached_property
    def centre(self) -> list[int]:
        """Runs that the centre comes from: those on the full training set, where there are any."""
        n = len(self.runs.rows)
        return list(range(self.runs.n_runs, n)) or list(range(n))

    @cached_property
    def samples(self) -> list[NDArray[np.intp]]:
        """Runs of each training sample with varied="both"; else each run by itself."""
        if self.varied != "both":
            return [np.array([run]) for run in range(self.runs.n_runs)]
        return [np.flatnonzero(self.sample == k) for k in range(int(self.sample.max()) + 1)]

    @cached_property
    def keeps_training_list(self) -> bool:
        """Whether the runs share a training set; values that are given need not have any."""
        return self.varied == "seed" and self.runs.rows[0].y_true is not None

    @cached_property
    def study_of_system(self) -> Study:
        """Study of the system alone, with the arguments of the call as a result holds them."""
        has_truth = self.runs.rows[0].y_true is not None
        settings = {
            **self.study.settings,
            "varied": self.varied,
            "estimand": self.estimand,
            "n_runs": self.runs.n_runs,
            "n_full_runs": self.runs.n_full_runs,
            "y_true": has_truth,
        }
        facts = replace(self.study.facts, varied=self.varied, runs_of_values=not has_truth)
        interval = self.study.interval if self.estimand == "system" else "auto"
        return replace(self.study, interval=interval, settings=settings, facts=facts)


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Scores of every run of a method by one metric, those on the full training set last.

    Attributes
    ----------
    call : RunsCall
    subjects : list of BoundStatistic
        One per run.
    score : Score
        Score of the system, before resampling.
    row_values : list of ndarray of shape (n_samples,), or None
        Value of each row in each run, before the metric's sign, where scores are plain means of
        independent rows.
    scores : ndarray of shape (n_runs,)
    replicates : ndarray of shape (n_runs, n_resamples)
    centre_replicates : ndarray of shape (n_resamples,)
        Mean over the runs that the centre comes from.
    system : Evidence
        Evidence of the system, with replicates.
    """

    call: RunsCall
    subjects: list[BoundStatistic[Statistic]]
    score: Score
    row_values: list[NDArray[Any]] | None
    scores: Floats
    replicates: Floats
    centre_replicates: Floats
    system: Evidence


def scored_runs(
    calls: Mapping[str, Mapping[str, RunsCall]], scores: Scores
) -> dict[str, dict[str, ScoredRuns]]:
    """Return the scores of every run on the same test resamples, by metric and method.

    Parameters
    ----------
    calls : mapping of mapping of RunsCall
        Calls by metric and method: metrics may read other answers of the runs, to the same plan.
    scores : Scores
        Scores of all methods.
    """
    # Of each method by each metric: its runs, the system among them, and plain values of rows.
    subjects: dict[tuple[str, str], list[BoundStatistic[Any]]] = {}
    systems: dict[tuple[str, str], Score] = {}
    row_values: dict[tuple[str, str], list[NDArray[Any]] | None] = {}
    for metric, by_method in scores.items():
        for method, runs in by_method.items():
            key, call, statistic = (metric, method), calls[metric][method], runs[0].statistic
            study = call.study_of_system
            systems[key] = study.source.prepare(study, metric, runs[call.system_run])
            subjects[key] = []
            for run, measured in enumerate(runs):
                if run == call.system_run:
                    subjects[key].append(systems[key].subject)
                    continue
                reduced = measured.statistic.reduce(*measured.rows.of(measured.statistic, None))
                subjects[key].append(BoundStatistic.of(measured.statistic, reduced))
            row_values[key] = None
            # Plain means of independent rows have exact test variances.
            if (
                study.plan.design.draws_independent_rows
                and statistic.of_row_values
                and statistic.is_row_mean
                and call.runs.rows[0].sample_weight is None
            ):
                row_values[key] = [
                    subject.statistic.values_of(subject.reduced) for subject in subjects[key]
                ]
    every = [subject for runs_of_key in subjects.values() for subject in runs_of_key]
    values = next(iter(row_values.values()))
    takes_few = all(subject.coding.n_codes <= _FEW_CODES for subject in every)
    if len(subjects) == 1 and values is not None and takes_few:
        [((metric, method), system)] = systems.items()
        return {metric: {method: _drawn_by_counts(call, every, system, values)}}
    numbered_systems, n_before = {}, 0
    for (metric, method), subjects_of_runs in subjects.items():
        number = n_before + calls[metric][method].system_run
        numbered_systems[number] = systems[metric, method]
        n_before += len(subjects_of_runs)
    draws = draw(call.study.plan, every, call.study.workers, numbered_systems)
    results: dict[str, dict[str, ScoredRuns]] = {metric: {} for metric in scores}
    distributions = iter(draws.distributions)
    for key, evidence in zip(subjects, draws.evidence.values(), strict=True):
        metric, method = key
        of_runs = [next(distributions) for _ in subjects[key]]
        replicates = np.array([distribution.replicates for distribution in of_runs])
        results[metric][method] = ScoredRuns(
            calls[metric][method],
            subjects[key],
            systems[key],
            row_values[key],
            np.array([distribution.estimate for distribution in of_runs]),
            replicates,
            replicates[calls[metric][method].centre].mean(axis=0),
            evidence,
        )
    return results


def _drawn_by_counts(
    call: RunsCall,
    subjects: list[BoundStatistic[Any]],
    system_score: Score,
    row_values: list[NDArray[Any]],
) -> ScoredRuns:
    """Return the scores of runs whose rows take few values, each drawn by counts of its values.

    Drawn together, every row would have to be drawn. The test variances need no common resamples,
    since they come from the rows; the mean of the runs is drawn as a run of its own.
    """
    study, run = call.study, call.system_run
    draws = study.source.draw(study, [system_score])
    [distribution] = draws.distributions
    mean = mean_of_values()
    reduced = mean.reduce(None, RowNoise(row_values).average(call.centre), None)
    centre_of_runs: BoundStatistic[Any] = BoundStatistic.of(mean, reduced)
    remaining = [*subjects[:run], *subjects[run + 1 :], centre_of_runs]
    *pairs, (_, centre) = bootstrap_each(study.plan, remaining)
    pairs.insert(run, (distribution.estimate, distribution.replicates))
    return ScoredRuns(
        call,
        subjects,
        system_score,
        row_values,
        np.array([score for score, _ in pairs]),
        np.array([replicates for _, replicates in pairs]),
        subjects[0].statistic.sign * centre,
        draws.evidence[0],
    )


# ------------------------------------------------------------------ results


def evaluate_runs(
    calls_by_metric: Mapping[str, RunsCall], scores: Scores
) -> dict[str, EvaluationResult]:
    """Evaluate all runs of one method by each metric, on the same test resamples.

    Parameters
    ----------
    calls_by_metric : mapping of str to RunsCall
        Calls by metric name: metrics may read other answers of the runs, to the same plan.
    scores : Scores
        Scores of one method.

    Returns
    -------
    dict of str to EvaluationResult
        By metric name.
    """
    by_method = {
        metric: dict.fromkeys(scores[metric], calls_by_metric[metric]) for metric in scores
    }
    results = {}
    for metric, scored in scored_runs(by_method, scores).items():
        [runs] = scored.values()
        results[metric] = result_of_runs(metric, runs)
    return results


def refusal(estimand: str, varied: str, runs: Runs) -> str | None:
    """Return why the runs cannot answer for an estimand; None if they can."""
    if varied not in ("training", "both") or runs.n_full_runs:
        return None
    return (
        f"The estimand {estimand!r} needs full_runs with varied={varied!r}: a bootstrap sample "
        "holds 63.2% of the rows of the training set, so these runs are worse on average. Give "
        "full_runs=, the predictions of one or more runs on the whole training set, or use "
        "estimand='pooled', the spread of single runs. If each run had its own fresh training "
        "set, use varied='independent'."
    )


def result_of_runs(name: str, scored: ScoredRuns) -> EvaluationResult:
    """Return the result of one method by one metric, whose name is given."""
    call, n_runs = scored.call, scored.call.runs.n_runs
    design, study = call.study.plan.design, call.study_of_system
    runs_evidence, split = _evidence_of(scored)
    # Properties of all runs, those on the full list last with training sample -1.
    n_full = len(runs_evidence.full_scores)
    table = {
        "score": np.concatenate([runs_evidence.scores, runs_evidence.full_scores]),
        "training": np.concatenate([call.sample, np.full(n_full, -1, np.intp)]),
        "full_list": np.arange(n_runs + n_full) >= n_runs
        if call.on_samples
        else np.ones(n_runs, bool),
    }
    if call.estimand == "system":
        chosen = chosen_interval(study, scored.system)
        basis = SystemOfRunsBasis(scored.system, runs_evidence)
        return replace(score_result(study, scored.score, basis, chosen), runs=table)
    notes = _notes(call, runs_evidence, split)
    if "components" in runs_evidence.refused and call.estimand in runs_evidence.refused:
        must = "have a value for every run, and on two resamples or more"
        advice = "Leave such runs out, or take a metric that has a value on these rows."
        got = f"{name!r}. {runs_evidence.refused['components'].rstrip('.')}"
        raise check.fail("metric", must, got, advice)
    interval = call.study.interval
    chosen = runs_interval(runs_evidence, call.estimand, interval, call.study.confidence_level)
    if call.estimand == "pooled":
        estimate, replicates = float(runs_evidence.scores.mean()), runs_evidence.replicates.ravel()
        standard_error = None
    else:
        spread = runs_evidence.next_run if call.estimand == "next_run" else runs_evidence.method
        if interval == "t":
            spread = runs_evidence.seeds
        assert spread is not None
        estimate, standard_error = spread.centre, spread.standard_error
        replicates = scored.centre_replicates
    facts = Facts(scored.system.facts.bounds)
    shown = scored.system.of_other_values(
        estimate, replicates, facts, standard_error=standard_error
    )
    tell(*(*notes, *chosen.notes))
    degenerate = degeneracy(chosen.interval)
    held_fixed = ["the training set" if call.keeps_training_list else "the settings of the method"]
    if interval == "t":
        held_fixed.append("the test rows")
    subject, rows = scored.subjects[0], call.runs.rows[0]
    statistic, columns = subject.statistic, rows.of(subject.statistic, None)
    naive = statistic.naive(subject.reduced, columns)
    reading = rows.notes_for(statistic)
    reading += notes_on_reversed_scores(statistic, columns, naive, chosen.interval)
    tell(*reading)
    return make_result(
        study,
        name,
        RunsBasis(shown, runs_evidence),
        chosen.interval,
        (*texts_of((*chosen.notes, *notes, *reading)), *([degenerate] if degenerate else [])),
        n_samples=design.n_samples,
        greater_is_better=statistic.greater_is_better,
        naive_estimate=naive,
        estimand=call.estimand,
        automatic=interval == "auto",
        held_fixed=held_fixed,
        is_confidence_interval=call.estimand == "method",
        runs=table,
    )


def _evidence_of(scored: ScoredRuns) -> tuple[RunsEvidence, RunVariance | None]:
    """Return what all runs say, with why an estimand cannot be had, and their variance by source.

    The variance is None where some run has no value.
    """
    call, scores, replicates = scored.call, scored.scores, scored.replicates
    design, n_runs = call.study.plan.design, call.runs.n_runs
    proportions = [subject.statistic.proportion(subject.reduced) for subject in scored.subjects]
    # Whether every score is a mean of 0/1 values, 1, or its negative, -1.
    of_zero_one = all(p is not None and p.exact and p.scale == "identity" for p in proportions)
    share = proportions[0] if of_zero_one else None
    sign = float(share.sign) if share is not None else 0.0
    undefined, defined = np.isnan(scores), ~np.isnan(replicates).any(axis=0)
    refused = {}
    if undefined.any() or np.count_nonzero(defined) < 2:
        reason = "Fewer than two resamples gave a value for every run."
        if undefined.any():
            reason = f"The metric is undefined for {int(undefined.sum())} of {len(scores)} runs."
        refused = dict.fromkeys(("components", "method", "next_run", "t"), reason)
    for estimand in ("method", "next_run"):
        if unanswered := refusal(estimand, call.varied, call.runs):
            refused[estimand] = unanswered
    if call.on_samples and call.runs.n_full_runs < 2:
        refused["t"] = (
            "The interval 't' needs at least two runs on the whole training set that differ in "
            "their seed. Give them as full_runs=, or use 'components'."
        )
    noise: UnitNoise
    if scored.row_values is not None:
        noise = RowNoise(scored.row_values)
    else:
        noise = ResampleNoise(replicates[:, defined], design.inflation)
    split = None
    if "components" not in refused:
        options: dict[str, Any] = {"n_units": min(design.n_units)}
        if sign:
            options["floor"] = least_test_variance(design.n_samples)
        test_df, of_samples = design.degrees_of_freedom, moments(scores, noise, call.samples)
        if call.on_samples:
            within = within_samples(scores, noise, call.samples)
            # Without runs on the full list only the components are shown.
            full = moments(scores, noise, [[run] for run in call.centre])
            split = trained_runs(of_samples, within, full, test_df, **options)
        else:
            source = "seed" if call.varied == "seed" else "training"
            split = crossed_runs(of_samples, test_df, source=source, **options)
    answered = split if "method" not in refused else None
    runs_evidence = RunsEvidence(
        varied=call.varied,
        scores=scores[:n_runs],
        full_scores=scores[n_runs:],
        replicates=replicates[:n_runs],
        components=split.components if split else Components(*[np.nan] * 4),
        method=answered.method if answered else None,
        next_run=answered.next_run if answered else None,
        seeds=None if "t" in refused else over_runs_alone(scores[call.centre]),
        refused=refused,
        system=scored.system,
        n_test_units=min(design.n_units),
        n_rows=design.n_samples,
        bounds=scored.system.facts.bounds,
        zero_one_sign=sign,
        exact=scored.row_values is not None,
    )
    return runs_evidence, split


def _notes(call: RunsCall, runs_evidence: RunsEvidence, split: RunVariance | None) -> Notes:
    """Return notes on the runs, for readers of the result."""
    notes = Notes()
    n_samples = len(call.samples)
    if n_samples < _FEW_RUNS:
        what = "training samples" if call.on_samples else "runs"
        notes.add(
            "few",
            f"Only {n_samples} {what} (fewer than {_FEW_RUNS}): the variance between them is "
            "poorly estimated, and the interval is wide.",
        )
    unseen = (1 - _RARE_FAILURE) ** n_samples
    if unseen > _UNSEEN and call.estimand in ("method", "next_run"):
        notes.add(
            "advice",
            f"If one run in {1 / _RARE_FAILURE:.0f} failed, none of {n_samples} would in "
            f"{unseen:.0%} of such studies: no interval tells of failures that it has not seen.",
        )
    if call.estimand == "pooled":
        share = "a bootstrap sample holds 63.2% of the training set"
        low = f", and is centred low, since {share}" if call.on_samples else ""
        notes.add(
            "advice",
            f"The pool shows the spread of single runs{low}. It is neither a confidence "
            "interval for the method nor a prediction interval for the next run.",
        )
        return notes
    if call.study.interval == "t":
        one_list = call.keeps_training_list or call.on_samples
        fixed = "the test rows and the training set" if one_list else "the test rows"
        notes.add(
            "advice",
            f"The t interval over the runs alone is conditional on {fixed}: over seeds it "
            "covered the mean of the method in 0 to 62% of simulations.",
        )
        return notes
    if split is None:
        return notes
    same = call.varied == "seed" and np.all(runs_evidence.scores == runs_evidence.scores[0])
    no_seeds = call.varied == "both" and "seed" not in split.clipped
    if runs_evidence.components.seed == 0 and (same or no_seeds):
        notes.add(
            "advice",
            "The seed component is 0: runs that differ only in their seed gave the same scores, "
            "as a method without randomness does. More seeds would add nothing.",
        )
    names = {"test": "test-unit", "seed": "seed", "training": "training"}
    for source in split.clipped:
        text = f"The {names[source]} component was estimated below 0 and is set to 0."
        notes.add("advice", text)
    if call.varied in ("training", "independent"):
        notes.add(
            "advice",
            "The training component includes the seed variance: no training sample was run with "
            "several seeds.",
        )
    if call.on_samples:
        notes.add(
            "advice",
            "The training component comes from bootstrap samples of one training set: measured "
            "slightly too large for most learners, too small for unsmooth ones such as "
            "1-nearest-neighbour.",
        )
    return notes
