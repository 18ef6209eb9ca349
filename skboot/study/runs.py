"""From a user's arguments to the checked rows of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.checks import is_column
from .._base.errors import Note, Notes, tell, texts_of
from ..inference.automatic import degeneracy
from ..inference.distribution import BootstrapDistribution, BoundStatistic, bootstrap_each
from ..inference.evidence import Evidence
from ..inference.runs import RunsEvidence, runs_interval
from ..inference.variance import (
    Components,
    ResampleNoise,
    RowNoise,
    RunVariance,
    UnitNoise,
    crossed_runs,
    least_test_variance,
    moments,
    over_runs_alone,
    trained_runs,
    within_samples,
)
from ..metrics.means import mean_of_values
from ..metrics.responses import of_reversed_scores
from ..metrics.statistic import Facts, Statistic
from ..results import EvaluationResult
from ..results.method_basis import RunsBasis, SystemOfRunsBasis
from .draws import Score, draw
from .measured import Measured, Scores
from .rows import Rows, check_truth, labels_of_columns
from .scores import chosen_interval, make_result, result_of
from .study import Study


@dataclass(frozen=True, eq=False)
class Runs:
    """The rows of every run; those on the full training set last."""

    rows: list[Rows]
    n_runs: int

    def named(self, method: str = "") -> list[tuple[str, Rows]]:
        """Return the rows of each run after the argument that its predictions came in."""
        names = _names(self.n_runs, len(self.rows) - self.n_runs, method)
        return list(zip(names, self.rows, strict=True))


@dataclass(frozen=True, eq=False)
class Columns:
    """What the runs of a call share: the truth, the weights and the labels of probabilities."""

    truth: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    labels: NDArray[Any] | None


def checked_columns(
    y_true: ArrayLike | None,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
) -> Columns:
    """Check what all runs share."""
    truth = check_truth(y_true)
    weights = check.check_weights(sample_weight)
    return Columns(truth, weights, check.check_labels(labels, truth))


def checked_runs(
    columns: Columns, y_preds: Any, full_runs: Any, varied: str, method: str = ""
) -> Runs:
    """Check the predictions of every run and pair them with the truth by row order.

    ``method`` is its key in messages, such as "['MLP']", where there are several methods.
    """
    predicted = _predictions(f"y_preds{method}", y_preds)
    if len(predicted) < 2:
        raise check.fail(
            f"y_preds{method}",
            "hold the predictions of at least two runs",
            f"{len(predicted)}",
            "For one trained system use bootstrap_score.",
        )
    if len(predicted[0]) < 2:
        must = "hold the predictions for at least two test rows"
        advice = "One row does not show how much test rows vary."
        raise check.fail(f"y_preds{method}", must, "one row", advice)
    full: list[NDArray[Any]] = []
    if full_runs is not None:
        if varied not in ("training", "both"):
            raise check.fail(
                "full_runs",
                f"be None with varied={varied!r}",
                "predictions",
                "These runs used whole training sets already: add them to y_preds.",
            )
        full = _predictions(f"full_runs{method}", full_runs, predicted[0].ndim)
    _check_axes(columns, predicted, f"y_preds{method}")
    return paired_runs(columns, predicted, full, method)


def paired_runs(
    columns: Columns,
    predicted: list[NDArray[Any]],
    full: list[NDArray[Any]],
    method: str = "",
) -> Runs:
    """Pair checked predictions with the truth by row order; see `checked_runs`."""
    truth, weights = columns.truth, columns.weights
    labels, of_column = columns.labels, is_column(truth)
    if labels is None and truth is not None and of_column and predicted[0].ndim == 2:
        labels = labels_of_columns(truth, predicted[0].shape[1])
    names = _names(len(predicted), len(full), method)
    paired = []
    for name, values in zip(names, predicted + full, strict=True):
        # The truth comes first, because messages name the column that disagrees with it.
        columns_of_call = {"y_true": truth, name: values, "sample_weight": weights}
        check.check_same_length(**columns_of_call)
        if values.shape != predicted[0].shape:
            raise check.fail(
                name,
                f"have the shape of {names[0]}, {predicted[0].shape}",
                f"shape {values.shape}",
                "Runs come first: (n_runs, n_samples[, n_classes]).",
            )
        of_run = truth
        if truth is not None and of_column and values.ndim == 1:
            of_run, values = check.check_integers(name, truth, values)
        paired.append(Rows(of_run, values, check.unequal(weights), labels))
    return Runs(paired, len(predicted))


def _check_axes(columns: Columns, predicted: list[NDArray[Any]], name: str) -> None:
    """Refuse predictions whose first axis are rows; warn where only their numbers speak for it."""
    truth, shape = columns.truth, (len(predicted), *predicted[0].shape)
    if truth is None:
        if shape[0] > shape[1]:
            text = (
                f"More runs ({shape[0]}) than rows ({shape[1]}): is {name} transposed? Runs come "
                "first."
            )
            tell(Note("caution", text, about="more runs than rows"))
        return
    if len(truth) == shape[1] or len(truth) != shape[0]:
        return
    if truth.shape == shape:
        must, advice = "hold the truth of each row once", "The runs share it: give one of them."
        raise check.fail("y_true", must, f"shape {shape}", advice)
    rest = ", n_classes" if shape[2:] else ""
    must = f"have the shape (n_runs, n_samples{rest}), here (n_runs, {len(truth)}{rest})"
    turned = f"np.swapaxes({name}, 0, 1)" if rest else f"{name}.T"
    raise check.fail(name, must, f"shape {shape}", f"Runs come first: give {turned}.")


def _names(n_runs: int, n_full: int, method: str) -> list[str]:
    """Return the argument and number of each run, those on the full training set last."""
    names = [f"y_preds{method}[{k}]" for k in range(n_runs)]
    return names + [f"full_runs{method}[{k}]" for k in range(n_full)]


def _predictions(name: str, values: Any, ndim: int | None = None) -> list[NDArray[Any]]:
    """Return a checked array per run; a single run counts as a list of one where that is clear."""
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
                "For one trained system use bootstrap_score.",
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


# Scores of several runs of one method: reduced before resampling, and on the resamples.
#
# `bound_runs` reduces the rows of every run of a method for one metric. `bootstrapped_runs` draws
# one method, and `drawn_together` for several: all metrics and methods of a call on the same
# resamples. One of the runs is the system: it has the evidence that `bootstrap_score` would have.


Floats = NDArray[np.float64]

# Maximum number of values of the rows of a run; above it all runs are drawn together, since counts
# of so many values are drawn no faster than rows.
_FEW_CODES = 1000


@dataclass(frozen=True, eq=False)
class RunsCall:
    """Checked arguments of an evaluation of one method by several runs.

    Attributes
    ----------
    study : Study
        Of all methods of the call.
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

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call as a result holds them."""
        return {
            **self.study.settings,
            "varied": self.varied,
            "estimand": self.estimand,
            "n_runs": self.runs.n_runs,
            "n_full_runs": len(self.runs.rows) - self.runs.n_runs,
            "y_true": self.runs.rows[0].y_true is not None,
        }

    @cached_property
    def has_full(self) -> bool:
        """Whether there are runs on the full training set beside those on samples of it."""
        return len(self.runs.rows) > self.runs.n_runs

    @cached_property
    def on_samples(self) -> bool:
        """Whether the runs are on bootstrap samples of one training set."""
        return self.varied in ("training", "both")

    @cached_property
    def centre(self) -> list[int]:
        """Runs that the centre comes from."""
        first = self.runs.n_runs if self.has_full else 0
        return list(range(first, len(self.runs.rows)))

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
    def of_system(self) -> Study:
        """Study of the system alone."""
        interval = self.study.interval if self.estimand == "system" else "auto"
        of_values = self.runs.rows[0].y_true is None
        facts = replace(self.study.facts, varied=self.varied, runs_of_values=of_values)
        return replace(self.study, interval=interval, settings=self.settings, facts=facts)


@dataclass(frozen=True, eq=False)
class BoundRuns:
    """The rows of every run, reduced for one metric, and what is known before resampling.

    Attributes
    ----------
    call : RunsCall
    subjects : list of BoundStatistic
        One per run.
    system : Score
        The system.
    row_values : list of ndarray of shape (n_samples,), or None
        Value of each row in each run, before the metric's sign, where scores are plain means of
        independent rows.
    """

    call: RunsCall
    subjects: list[BoundStatistic[Statistic]]
    system: Score
    row_values: list[NDArray[Any]] | None


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Scores of every run of a method by one metric, those on the full training set last.

    Attributes
    ----------
    bound : BoundRuns
    scores : ndarray of shape (n_runs,)
    replicates : ndarray of shape (n_runs, n_resamples)
    centre_replicates : ndarray of shape (n_resamples,)
        Mean over the runs that the centre comes from.
    system : Evidence
        Of the system, with replicates.
    """

    bound: BoundRuns
    scores: Floats
    replicates: Floats
    centre_replicates: Floats
    system: Evidence


def bound_runs(call: RunsCall, metric: str, runs: Sequence[Measured]) -> BoundRuns:
    """Return the reduced rows of every run.

    Parameters
    ----------
    call : RunsCall
    metric : str
        Its name.
    runs : sequence of Measured
        The metric on the rows of each run.

    Returns
    -------
    BoundRuns
    """
    keeps_values = _is_mean_of_independent_rows(call, runs[0].statistic)
    study, own = call.of_system, runs[call.system_run]
    system = study.source.prepare(study.plan, study.interval, metric, own)
    subjects = []
    for run, one in enumerate(runs):
        if run == call.system_run:
            subjects.append(system.subject)
        else:
            reduced = one.statistic.reduce(*one.rows.of(one.statistic, None))
            subjects.append(BoundStatistic.of(one.statistic, reduced))
    values = None
    if keeps_values:
        values = [subject.statistic.values_of(subject.reduced) for subject in subjects]
    return BoundRuns(call, subjects, system, values)


def _is_mean_of_independent_rows(call: RunsCall, statistic: Statistic) -> bool:
    """Return whether scores are plain means of independent rows."""
    design = call.study.plan.design
    return (
        design.draws_independent_rows
        and statistic.of_row_values
        and statistic.is_row_mean
        and call.runs.rows[0].sample_weight is None
    )


def bootstrapped_runs(metrics: Sequence[BoundRuns]) -> list[ScoredRuns]:
    """Return the scores of every run of one method, with replicates.

    Parameters
    ----------
    metrics : sequence of BoundRuns
        The runs, reduced for each metric; their calls have the same plan.

    Returns
    -------
    list of ScoredRuns
        By each metric, all on the same resamples. A single mean of rows that take few values is
        drawn by counts of these, run by run.
    """
    if len(metrics) == 1 and metrics[0].row_values is not None:
        [bound] = metrics
        if all(subject.coding.n_codes <= _FEW_CODES for subject in bound.subjects):
            return [_drawn_by_counts(bound)]
    return drawn_together(metrics)


def drawn_together(bound: Sequence[BoundRuns]) -> list[ScoredRuns]:
    """Return the scores of every run of several methods, or by several metrics.

    Parameters
    ----------
    bound : sequence of BoundRuns
        The runs of each method, reduced for each metric; their calls have the same plan.

    Returns
    -------
    list of ScoredRuns
        All on the same resamples.
    """
    call = bound[0].call
    subjects = [subject for own in bound for subject in own.subjects]
    stops = np.cumsum([len(own.subjects) for own in bound]).tolist()
    starts = [0, *stops[:-1]]
    systems = {
        start + own.call.system_run: own.system for start, own in zip(starts, bound, strict=True)
    }
    draws = draw(call.study.plan, subjects, call.study.workers, systems)
    return [
        _scored_runs(own, draws.distributions[start:stop], system)
        for own, start, stop, system in zip(
            bound, starts, stops, draws.evidence.values(), strict=True
        )
    ]


def _scored_runs(
    bound: BoundRuns, drawn: Sequence[BootstrapDistribution], system: Evidence
) -> ScoredRuns:
    """Return the scores of the runs of a method from the distribution of each."""
    replicates = np.array([each.replicates for each in drawn])
    scores = np.array([each.estimate for each in drawn])
    centre = replicates[bound.call.centre].mean(axis=0)
    return ScoredRuns(bound, scores, replicates, centre, system)


def _drawn_by_counts(bound: BoundRuns) -> ScoredRuns:
    """Return the scores of runs whose rows take few values, each drawn by counts of its values.

    Drawn together, every row would have to be drawn. The test variances need no common resamples,
    since they come from the rows; the mean of the runs is drawn as a run of its own.
    """
    assert bound.row_values is not None
    call, subjects, run = bound.call, bound.subjects, bound.call.system_run
    study = call.study
    system = study.source.draw(study.plan, [bound.system], study.workers)
    [drawn] = system.distributions
    mean = mean_of_values()
    of_centre = mean.reduce(None, RowNoise(bound.row_values).average(call.centre), None)
    last: BoundStatistic[Any] = BoundStatistic.of(mean, of_centre)
    others = [*subjects[:run], *subjects[run + 1 :], last]
    *pairs, (_, centre) = bootstrap_each(call.study.plan, others)
    pairs.insert(run, (drawn.estimate, drawn.replicates))
    return ScoredRuns(
        bound,
        np.array([score for score, _ in pairs]),
        np.array([replicates for _, replicates in pairs]),
        subjects[0].statistic.sign * centre,
        system.evidence[0],
    )


# The engine of `bootstrap_runs`: from checked runs and a plan to results.
#
# `evaluate_runs` scores every run on the same test resamples, splits the variance of the scores by
# what it comes from, and makes the result of what was asked for.


# Number of runs, or of training samples, below which a note says that the variance between them is
# poorly known.
_FEW_RUNS = 10
# Share of runs that fail, and the chance from which a note says that none may be seen: under 29.
_RARE_FAILURE, _UNSEEN = 0.1, 0.05


def evaluate_runs(calls: Mapping[str, RunsCall], scores: Scores) -> dict[str, EvaluationResult]:
    """Evaluate all runs of one method by each metric, on the same test resamples.

    Parameters
    ----------
    calls : mapping of str to RunsCall
        By metric name: metrics may read other answers of the runs, to the same plan.
    scores : Scores
        Of one method.

    Returns
    -------
    dict of str to EvaluationResult
        By metric name.
    """
    bound = [
        bound_runs(calls[metric], metric, runs)
        for metric, by_method in scores.items()
        for runs in by_method.values()
    ]
    scored = zip(scores, bootstrapped_runs(bound), strict=True)
    return {metric: result_of_runs(calls[metric], metric, one) for metric, one in scored}


def refusal(estimand: str, varied: str, runs: Runs) -> str | None:
    """Return why the runs cannot answer for an estimand; None if they can."""
    if varied not in ("training", "both") or len(runs.rows) > runs.n_runs:
        return None
    return (
        f"The estimand {estimand!r} needs full_runs with varied={varied!r}: a bootstrap sample "
        "holds 63.2 % of the rows of the training set, so these runs are worse on average. Give "
        "full_runs=, the predictions of one or more runs on the whole training set, or use "
        "estimand='pooled', the spread of single runs. If each run had its own fresh training "
        "set, use varied='independent'."
    )


# ------------------------------------------------------------------ variance


def result_of_runs(call: RunsCall, name: str, scored: ScoredRuns) -> EvaluationResult:
    """Return the result of one method by one metric.

    Parameters
    ----------
    call : RunsCall
    name : str
        Of the metric.
    scored : ScoredRuns

    Returns
    -------
    EvaluationResult
    """
    scores, replicates, n_runs = scored.scores, scored.replicates, call.runs.n_runs
    sign = _zero_one_sign(scored.bound.subjects)
    refused = _refused(call, scores, replicates)
    noise: UnitNoise
    if scored.bound.row_values is not None:
        noise = RowNoise(scored.bound.row_values)
    else:
        defined = ~np.isnan(replicates).any(axis=0)
        noise = ResampleNoise(replicates[:, defined], call.study.plan.design.inflation)
    split = None if "components" in refused else _split(call, scores, noise, sign != 0)
    is_known = "method" not in refused and split is not None
    evidence = RunsEvidence(
        varied=call.varied,
        scores=scores[:n_runs],
        full_scores=scores[n_runs:],
        replicates=replicates[:n_runs],
        components=split.components if split else Components(*[np.nan] * 4),
        method=split.method if is_known and split else None,
        next_run=split.next_run if is_known and split else None,
        seeds=None if "t" in refused else over_runs_alone(scores[call.centre]),
        refused=refused,
        system=scored.system,
        n_test_units=call.study.plan.design.smallest_side,
        n_rows=call.study.plan.design.n_samples,
        bounds=scored.system.facts.bounds,
        zero_one_sign=sign,
        exact=scored.bound.row_values is not None,
    )
    if call.estimand == "system":
        return _result_of_system(call, scored, evidence)
    notes = _notes(call, evidence, split)
    return _result_over_runs(call, name, scored, evidence, notes)


def _zero_one_sign(subjects: list[BoundStatistic[Statistic]]) -> float:
    """Return 1 or -1 where every run's score is the mean of 0/1 values, or its negative; else 0."""
    proportions = [subject.statistic.proportion(subject.reduced) for subject in subjects]
    whole = all(p is not None and p.exact and p.scale == "identity" for p in proportions)
    return float(proportions[0].sign) if whole and proportions[0] is not None else 0.0


def _refused(
    call: RunsCall, scores: NDArray[np.float64], replicates: NDArray[np.float64]
) -> dict[str, str]:
    """Return why an estimand, the interval "t" or the components cannot be had."""
    refused = {}
    undefined = np.isnan(scores)
    if undefined.any() or np.count_nonzero(~np.isnan(replicates).any(axis=0)) < 2:
        reason = (
            f"The metric is undefined for {int(undefined.sum())} of {len(scores)} runs."
            if undefined.any()
            else "Fewer than two resamples gave a value for every run."
        )
        refused = dict.fromkeys(("components", "method", "next_run", "t"), reason)
    for estimand in ("method", "next_run"):
        if unanswered := refusal(estimand, call.varied, call.runs):
            refused[estimand] = unanswered
    if call.on_samples and (len(call.centre) < 2 or not call.has_full):
        refused["t"] = (
            "The interval 't' needs at least two runs on the whole training set that differ in "
            "their seed. Give them as full_runs=, or use 'components'."
        )
    return refused


def _split(
    call: RunsCall, scores: NDArray[np.float64], noise: UnitNoise, zero_one: bool
) -> RunVariance:
    """Return variance components, and what follows for the method and the next run."""
    test_df = call.study.plan.design.degrees_of_freedom
    options: dict[str, Any] = {"n_units": call.study.plan.design.smallest_side}
    if zero_one:
        options["floor"] = least_test_variance(call.study.plan.design.n_samples)
    if call.varied in ("seed", "independent"):
        source = "seed" if call.varied == "seed" else "training"
        runs = moments(scores, noise, call.samples)
        return crossed_runs(runs, test_df, source=source, **options)
    within = within_samples(scores, noise, call.samples)
    samples = moments(scores, noise, call.samples)
    # Without runs on the full list only the components are shown.
    full = moments(scores, noise, [[run] for run in call.centre])
    return trained_runs(samples, within, full, test_df, **options)


# ------------------------------------------------------------------ results


def _notes(call: RunsCall, evidence: RunsEvidence, split: RunVariance | None) -> Notes:
    """Return what a reader must know of the runs."""
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
        share = "a bootstrap sample holds 63.2 % of the training set"
        low = f", and is centred low, since {share}" if call.on_samples else ""
        notes.add(
            "advice",
            f"The pool shows the spread of single runs{low}. It is neither a confidence "
            "interval for the method nor a prediction interval for the next run.",
        )
    elif call.study.interval == "t":
        one_list = call.keeps_training_list or call.on_samples
        fixed = "the test rows and the training set" if one_list else "the test rows"
        notes.add(
            "advice",
            f"The t interval over the runs alone is conditional on {fixed}: over seeds it "
            "covered the mean of the method in 0 to 62 % of simulations.",
        )
    elif split is not None:
        _add_notes_of_components(notes, call, evidence, split)
    return notes


def _add_notes_of_components(
    notes: Notes, call: RunsCall, evidence: RunsEvidence, split: RunVariance
) -> None:
    """Add what a reader must know of the variance components."""
    same = call.varied == "seed" and np.all(evidence.scores == evidence.scores[0])
    no_seeds = call.varied == "both" and "seed" not in split.clipped
    if evidence.components.seed == 0 and (same or no_seeds):
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


def _result_of_system(
    call: RunsCall, scored: ScoredRuns, evidence: RunsEvidence
) -> EvaluationResult:
    """Return the result of the system, which holds the evidence of all runs too."""
    basis = SystemOfRunsBasis(scored.system, evidence)
    chosen = chosen_interval(call.of_system, scored.system)
    result = result_of(call.of_system, scored.bound.system, basis, chosen)
    return replace(result, runs=_table_of_runs(call, evidence))


def _result_over_runs(
    call: RunsCall,
    name: str,
    scored: ScoredRuns,
    evidence: RunsEvidence,
    notes: Notes,
) -> EvaluationResult:
    """Return the result of an estimand that is about more runs than one."""
    if "components" in evidence.refused and call.estimand in evidence.refused:
        must = "have a value for every run, and on two resamples or more"
        advice = "Leave such runs out, or take a metric that has a value on these rows."
        got = f"{name!r}. {evidence.refused['components'].rstrip('.')}"
        raise check.fail("metric", must, got, advice)
    chosen = runs_interval(
        evidence, call.estimand, call.study.interval, call.study.confidence_level
    )
    shown = _evidence_for(call, scored, evidence)
    table = _table_of_runs(call, evidence)
    tell(*(*notes, *chosen.notes))
    degenerate = degeneracy(chosen.interval)
    held_fixed = ["the training set" if call.keeps_training_list else "the settings of the method"]
    if call.study.interval == "t":
        held_fixed.append("the test rows")
    subject, rows = scored.bound.subjects[0], call.runs.rows[0]
    reading, columns = rows.notes_for(subject.statistic), rows.of(subject.statistic, None)
    naive = subject.statistic.naive(subject.reduced, columns)
    reading += of_reversed_scores(subject.statistic, columns, naive, chosen.interval)
    tell(*reading)
    return make_result(
        call.of_system,
        name,
        RunsBasis(shown, evidence),
        chosen.interval,
        (*texts_of((*chosen.notes, *notes, *reading)), *([degenerate] if degenerate else [])),
        n_samples=call.study.plan.design.n_samples,
        greater_is_better=subject.statistic.greater_is_better,
        naive_estimate=naive,
        estimand=call.estimand,
        automatic=call.study.interval == "auto",
        held_fixed=held_fixed,
        is_confidence_interval=call.estimand == "method",
        runs=table,
    )


def _table_of_runs(call: RunsCall, evidence: RunsEvidence) -> dict[str, Any]:
    """Properties of all runs, those on the full list last with training sample -1."""
    n_full = len(evidence.full_scores)
    return {
        "score": np.concatenate([evidence.scores, evidence.full_scores]),
        "training": np.concatenate([call.sample, np.full(n_full, -1, np.intp)]),
        "full_list": np.arange(len(evidence.scores) + n_full) >= len(evidence.scores)
        if call.on_samples
        else np.ones(len(evidence.scores), bool),
    }


def _evidence_for(call: RunsCall, scored: ScoredRuns, evidence: RunsEvidence) -> Evidence:
    """Return the estimate, replicates and standard error that the result of the estimand shows."""
    system = scored.system
    if call.estimand == "pooled":
        estimate, replicates = float(evidence.scores.mean()), evidence.replicates.ravel()
        standard_error = None
    else:
        spread = evidence.next_run if call.estimand == "next_run" else evidence.method
        if call.study.interval == "t":
            spread = evidence.seeds
        assert spread is not None
        estimate, standard_error = spread.centre, spread.standard_error
        replicates = scored.centre_replicates
    facts = Facts(system.facts.bounds)
    return system.of_other_values(estimate, replicates, facts, standard_error=standard_error)
