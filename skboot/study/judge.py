"""Scores of few human labels and of a judge's labels on all rows: the engine of ``proxy=``.

A call becomes three (`LabelledTwice`): of human labels alone, of all rows with the judge's labels,
and of all rows with human ones where there are any. `WithJudge` draws its rows once, and combines
the terms of each score; everything above reads that as any other score. Where the judge is of no
use, the result is that of human labels alone (`with_judge`).

A score has three terms: l f(judge, rows without a human label) + f(human) - l f(judge, rows with
one). What the judge gets wrong on labelled rows is taken out (Angelopoulos et al. 2023), with a
weight l that makes the variance smallest (PPI++: Angelopoulos, Duchi & Zrnic 2023), for any metric
on resamples that its terms share (Zrnic 2024, arXiv:2405.18379).

Labelled rows on which a good judge is wrong are few, and may be missing by chance: the variance
counts further ones, as Bonett & Price (2012) count one more in each direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arguments import Anytime, Judge, TwoColumns
from .._base.checks import fail, is_missing
from .._base.errors import Note, parts_of, tell
from .._base.work import Workers, child_seed
from ..inference.automatic import planned_method
from ..inference.distribution import BootstrapDistribution, BoundStatistic, Jackknife
from ..inference.evidence import BeforeResampling, DrawnUnits, deciding_units
from ..inference.intervals import value_range
from ..metrics.statistic import Facts
from ..resampling.design import RowDesign, SamplingDesign, words_of_groups
from ..resampling.plan import ResamplingPlan
from ..results import ComparisonResult, EvaluationResult
from .rows import WHOLE, Arguments, IntervalOptions, Measured, Part, Rows, Sampling
from .study import ALONE, IN_MEMORY, Draws, Score, Source, Study, draw

Floats = NDArray[np.float64]

# Further labelled rows on which the judge is wrong, where it is right on all others.
_FURTHER_ROWS = 2.0
# Maximum further rows whose effect is computed, and rows that are read for it.
_MOST_FURTHER, _MOST_READ = 60, 5_000_000
# Number of the stream of further rows, which no block of resamples has.
_STREAM = 1 << 31


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """Labels of humans and of the judge for each row: its truth, or the values of each system.

    Attributes
    ----------
    human : mapping of str or None to ndarray of shape (n_samples,)
        Those of the judge where no human labelled. None is the truth.
    judge : mapping of str or None to ndarray of shape (n_samples,)
    labelled : ndarray of shape (n_samples,)
        Whether a human labelled a row.
    of_truth : bool
        Whether they are truths.
    called : mapping of str
        From the argument of human labels to that of the judge's.
    """

    human: Mapping[Any, NDArray[Any]]
    judge: Mapping[Any, NDArray[Any]]
    labelled: NDArray[np.bool_]
    of_truth: bool
    called: Mapping[str, str]

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """The labelled rows."""
        return np.flatnonzero(self.labelled)

    @cached_property
    def parts(self) -> tuple[Part, Part]:
        """Rows with a human label, and those without."""
        order, n = np.argsort(~self.labelled, kind="stable"), len(self.at)
        return Part(None, order, slice(0, n)), Part(None, order, slice(n, None))

    @cached_property
    def agree(self) -> NDArray[np.bool_]:
        """Whether the judge is right on each labelled row."""
        pairs = zip(self.human.values(), self.judge.values(), strict=True)
        right = [human[self.at] == judge[self.at] for human, judge in pairs]
        return np.logical_and.reduce(right)

    @cached_property
    def further(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows whose answers, and rows whose human labels, make rows on which the judge is wrong.

        Both are labelled rows: those of one label by the judge meet others half of all rows on.
        """
        human, judge = next(iter(self.human.values())), next(iter(self.judge.values()))
        codes = np.unique(np.concatenate((human, judge)), return_inverse=True)[1]
        by_human, by_judge = codes[: len(human)][self.at], codes[len(human) :][self.at]
        order = np.lexsort((by_human, by_judge))
        partner = np.roll(order, len(order) // 2)
        wrong = np.flatnonzero(by_human[partner] != by_judge[order])
        most = min(len(wrong), _MOST_FURTHER, max(_MOST_READ // len(order), 2))
        if not self.agree.any() or not most:
            return self.at[:0], self.at[:0]
        pairs_read = wrong[np.linspace(0, len(wrong) - 1, most).astype(np.intp)]
        return self.at[order[pairs_read]], self.at[partner[pairs_read]]


@dataclass(frozen=True, eq=False)
class MeasuredTwice(Measured):
    """A statistic of human labels, and that of the judge's."""

    judge: Measured


@dataclass(frozen=True, eq=False)
class ScoreWithJudge(Score):
    """A score of three terms: of the judge without and with human labels, and of these."""

    terms: tuple[BoundStatistic, ...]
    measured: MeasuredTwice


@dataclass(frozen=True, eq=False)
class WithJudge(Source):
    """Rows in memory, of which the judge labelled all and humans some.

    Attributes
    ----------
    columns : LabelColumns
    design : SamplingDesign
        Design of the labelled rows by themselves, which say how much is known.
    weight : float or "auto"
    seed : SeedSequence
    """

    columns: LabelColumns
    design: SamplingDesign
    weight: Any
    seed: np.random.SeedSequence

    def prepare(
        self, study: Study, metric: str, measured: Measured, part: Part = WHOLE[0]
    ) -> Score:
        """See `Source.prepare`; looks that may be repeated are refused before."""
        assert isinstance(measured, MeasuredTwice)
        with_label, without = self.columns.parts
        judge = measured.judge
        terms = [
            IN_MEMORY.prepare(replace(study, interval="percentile"), metric, of_labels, of_part)
            for of_labels, of_part in (
                (judge, without),
                (judge, with_label),
                (measured, with_label),
            )
        ]
        human = terms[-1]
        facts_of_labels = human.premises.facts
        if facts_of_labels.optimized or facts_of_labels.bins is not None:
            must = "not be the best over thresholds, nor a sum of distances, with proxy"
            raise fail("metric", must, repr(metric), "Their bias depends on the rows.")
        facts = Facts(
            value_range(human.premises),
            additive=facts_of_labels.additive,
            weighted=facts_of_labels.weighted,
            proxy_weight=1.0,
        )
        premises = BeforeResampling(DrawnUnits.of(self.design), facts)
        return ScoreWithJudge(
            metric,
            human.rows,
            human.part,
            human.statistic,
            human.subject,
            premises,
            planned_method(premises) if study.interval == "auto" else study.interval,
            tuple(term.subject for term in terms),
            measured,
            classes=human.classes,
        )

    def draw(self, study: Study, scores: Sequence[Any]) -> Draws:
        """See `Source.draw`; all scores are by one metric."""
        terms = self._terms(study, scores)
        weight = terms.weight() if self.weight == "auto" else float(self.weight)
        estimates, replicates = terms.combined(weight)
        distributions, combined = [], []
        for k, score in enumerate(scores):
            facts = replace(score.premises.facts, proxy_weight=weight)
            combined.append(replace(score, premises=replace(score.premises, facts=facts)))
            estimate = float(np.clip(estimates[k], *facts.bounds))
            moved = np.array([weight, -weight, 1.0]) @ terms.deviations[k]
            error = float(np.sqrt(moved @ moved))
            distributions.append(
                BootstrapDistribution(estimate, replicates[k], error, None, _shape(moved, error))
            )
        subjects = [score.subject for score in scores]
        return Draws(study.plan, None, subjects, distributions, dict(enumerate(combined)))

    def _terms(self, study: Study, scores: Sequence[Any]) -> Terms:
        """Return the terms of all scores, on the rows and on resamples that they share."""
        subjects = [term for score in scores for term in score.terms]
        draws = draw(study.plan, subjects, study.workers)
        shape = (len(scores), 3, -1)
        values = np.array([distribution.estimate for distribution in draws.distributions]).reshape(
            shape[:2]
        )
        replicates = np.array(
            [distribution.replicates for distribution in draws.distributions]
        ).reshape(shape)
        with_label, without = (
            study.plan.design.among(part.rows)[0][0] for part in self.columns.parts
        )
        left_out = draws.values_left_out()
        # Deviations without each unit, so that squares add to the variance of the jackknife of the
        # units that a term rests on.
        n_units = np.array([without, with_label, with_label], dtype=np.float64)
        deviations = left_out.values.reshape(shape) - values[..., None]
        deviations = deviations * np.sqrt((1 - 1 / n_units)[..., None] * left_out.times)
        if not np.isfinite(deviations).all():
            # Undefined without some unit: resamples say the same less exactly.
            defined = replicates[..., np.isfinite(replicates).all(axis=(0, 1))]
            centred = defined - defined.mean(axis=-1, keepdims=True)
            deviations = centred / np.sqrt(max(defined.shape[-1], 1))
        terms = Terms(values, replicates, deviations)
        effects = self._effects(scores, values, study.workers)
        return terms.with_further(effects, self._n_further, child_seed(self.seed, _STREAM))

    @property
    def _n_further(self) -> float:
        """Further rows that are counted: more where the judge's errors come in groups."""
        right = self.columns.agree.astype(np.float64)
        share, likeness = float(right.mean()), 1.0
        if self.design.members is not None and 0 < share < 1:
            of_groups = np.bincount(self.design.members[:, 0], right - share)
            # The variance of groups over that of as many independent rows.
            likeness = max(float(of_groups @ of_groups) / (len(right) * share * (1 - share)), 1.0)
        return _FURTHER_ROWS * share * likeness

    def _effects(self, scores: Sequence[Any], values: Floats, workers: Workers) -> Floats:
        """Return what further rows that the judge gets wrong change, (n_scores, 3, n_rows)."""
        answered, labelled = self.columns.further
        n, n_further = len(self.columns.at), len(answered)
        effects = np.zeros((len(scores), 3, n_further))
        if not n_further:
            return effects
        by_judge, by_human = (
            np.concatenate((self.columns.at, rows)) for rows in (answered, labelled)
        )
        subjects = []
        for score in scores:
            human, judge, of_truth = score.measured, score.measured.judge, self.columns.of_truth
            subjects.append(_bound(judge, by_judge, by_judge, of_truth))
            subjects.append(_bound(human, by_human, by_judge, of_truth))
        added = [np.append(np.arange(n), n + k) for k in range(n_further)]
        plan = ResamplingPlan(RowDesign.of(n + n_further), n_further, self.seed, added)
        distributions = draw(plan, subjects, workers).distributions
        with_row = np.array([distribution.replicates for distribution in distributions]).reshape(
            len(scores), 2, n_further
        )
        effects[:, 1:] = np.nan_to_num(with_row - values[:, 1:, None])
        return effects


def _bound(
    measured: Measured, labels: NDArray[np.intp], answers: NDArray[np.intp], of_truth: bool
) -> BoundStatistic:
    """Return a statistic of rows whose labels and answers are those of different rows."""
    rows, statistic = measured.rows, measured.statistic
    truth = None if rows.y_true is None else rows.y_true[labels]
    weights = None if rows.sample_weight is None else rows.sample_weight[answers]
    predicted = rows.y_pred[answers if of_truth else labels]
    rows_of_labels = Rows(truth, predicted, weights, rows.labels)
    return BoundStatistic.of(statistic, statistic.reduce(*rows_of_labels.of(statistic, None)))


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True, eq=False)
class Terms:
    """Three terms of the score of each system: f(judge) without and with labels, f(human).

    Attributes
    ----------
    values : ndarray of shape (n_systems, 3)
    replicates : ndarray of shape (n_systems, 3, n_resamples)
        On the same resamples.
    deviations : ndarray of shape (n_systems, 3, n_deviations)
        Of which the sums of products are the covariances.
    """

    values: Floats
    replicates: Floats
    deviations: Floats

    def with_further(
        self, effects: Floats, n_expected: float, seed: np.random.SeedSequence
    ) -> Terms:
        """Return the terms as they vary where further rows may be labelled.

        Parameters
        ----------
        effects : ndarray of shape (n_systems, 3, n_rows)
            What a further row that the judge gets wrong changes, for several such rows.
        n_expected : float
            How many there are expected to be.
        seed : SeedSequence
            Each resample has a Poisson number of them.
        """
        n_rows = effects.shape[-1]
        if not n_rows or not n_expected:
            return self
        rate = n_expected / n_rows
        counts = np.random.default_rng(seed).poisson(rate, (n_rows, self.replicates.shape[-1]))
        return Terms(
            self.values,
            self.replicates + effects @ (counts - rate),
            np.concatenate((self.deviations, effects * np.sqrt(rate)), axis=-1),
        )

    def weight(self) -> float:
        """Return the weight of the judge, in [0, 1], with the smallest sum of variances.

        Of several systems the variances are those of their differences, pair by pair.
        """
        deviations = self.deviations
        if len(deviations) > 1:
            # Squares of the differences of all pairs are those from the mean, times systems.
            deviations = deviations - deviations.mean(axis=0)
        judge, human = deviations[:, 0] - deviations[:, 1], deviations[:, 2]
        square = float(np.sum(judge**2))
        return float(np.clip(-np.sum(judge * human) / square, 0, 1)) if square > 0 else 0.0

    def combined(self, weight: float) -> tuple[Floats, Floats]:
        """Return the scores (n_systems,) and their replicates (n_systems, n_resamples)."""
        signs = np.array([weight, -weight, 1.0])
        return self.values @ signs, np.einsum("t,stb->sb", signs, self.replicates)


def _shape(moved: Floats, error: float) -> Jackknife:
    """Return skewness and freedom of a score that deviates so without units; see `Jackknife`."""
    n, skewness, freedom = len(moved), 0.0, np.nan
    if error > 0:
        skewness = -float(np.sum((moved / error) ** 3)) / 6
        freedom = 2 * n / max(n / deciding_units(moved) - 1, 1e-12)
    return Jackknife(skewness, error, 0.0, freedom, None, n, n)


# ------------------------------------------------------------------ a call with a judge

# Minimum units with a human label, and rows of each class for metrics of classes.
FEWEST_UNITS, FEWEST_OF_CLASS = 30, 10
# Units with a human label below which differences were not held as often as stated (record 0099).
FEW_FOR_DIFFERENCE = 100
_OF_NO_USE = "The judge does not make the interval shorter: human labels alone are used."
_ONE_COLUMN = "Give the column whose members differ most."
_NOT_WITH = ("by", "average_over", "block_length", "resamples")


@dataclass(frozen=True, eq=False)
class LabelledTwice:
    """Rows of a call with labels of humans and of a judge, checked: three calls in its place.

    Attributes
    ----------
    weight : float or "auto"
        Weight of the judge.
    columns : LabelColumns
    seed : int
        That the three share.
    alone, by_human, by_judge : Arguments
        Rows with a human label; all rows, with human labels where there are any; all rows with the
        judge's labels.
    """

    weight: Any
    columns: LabelColumns
    seed: Any
    alone: Arguments
    by_human: Arguments
    by_judge: Arguments

    @classmethod
    def checked(
        cls,
        proxy: Any,
        y_true: Any,
        y_preds: Any,
        sampling: Sampling,
        score_options: IntervalOptions,
        *,
        by_argument: Mapping[Any, tuple[str, Any]],
        interval: str,
        intervals: Sequence[str],
    ) -> LabelledTwice:
        """Check what a judge can be given beside, and the labels.

        Parameters
        ----------
        proxy : array-like, mapping of str to array-like, or Judge
            Labels by the judge.
        y_true : array-like or None
            With missing values where no human labelled; or so are the predictions, without a truth.
        y_preds : array-like, or mapping of str to array-like
            Predictions of one system, or by system.
        sampling : Sampling
        score_options : IntervalOptions
            Options of each system by itself.
        by_argument : mapping of str or None to tuple (str, array-like)
            As of `skboot.streams.columns.streamed`; read where there is no truth.
        interval : str
            What is asked for, also of differences.
        intervals : sequence of str
            Those that a score with a judge can have.
        """
        judge = proxy
        if not isinstance(judge, Judge):
            with check.arguments_named({"labels": "proxy"}):
                judge = Judge(proxy)
        for name in _NOT_WITH:
            if getattr(sampling, name) is not None:
                raise check.fail(name, "not be combined with proxy", "")
        if isinstance(score_options.interval, Anytime):
            got = repr(score_options.interval)
            raise check.fail("interval", "be one that holds at one look with proxy", got)
        if isinstance(sampling.groups, TwoColumns):
            raise check.fail("groups", "have one column with proxy", "two", _ONE_COLUMN)
        if score_options.adjust is not None:
            raise check.fail("adjust", "be None with proxy", repr(score_options.adjust))
        check.check_choice("interval", interval, intervals)
        if check.is_lazy(y_true, *_columns_by_system(y_preds).values(), *judge.by_system.values()):
            advice = "A judge's labels need arrays: .compute(), or .collect()."
            must = "not be combined with columns that are not in memory"
            raise check.fail("proxy", must, "", advice)
        seed = check.check_seed(sampling.random_state)
        sampling = sampling._replace(random_state=seed)
        of_truth = y_true is not None
        columns = _columns({None: ("y_true", y_true)} if of_truth else by_argument, judge)
        arguments: list[Arguments] = []
        for labels in (columns.human, columns.judge):
            if of_truth:
                arguments.append(Arguments(labels[None], y_preds, sampling))
            else:
                values = labels[None] if None in labels else dict(labels)
                arguments.append(Arguments(None, values, sampling))
        by_human, by_judge = arguments
        groups = sampling.groups
        if groups is not None and np.shape(groups) == columns.labelled.shape:
            n_labelled = len(np.unique(check.check_groups(groups)[columns.labelled]))
            if n_labelled < FEWEST_UNITS:
                unit = words_of_groups(groups).unit
                raise _too_few(next(iter(columns.called)), unit, n_labelled)
        alone = _rows_at(columns.at, *by_human)
        return cls(judge.weight, columns, seed, alone, by_human, by_judge)

    @contextmanager
    def naming_the_judge(self) -> Iterator[None]:
        """Name the judge's labels in errors: what human labels have passed, those do not."""
        try:
            yield
        except ValueError as error:
            bad = parts_of(error)
            if bad is None or bad.name not in self.columns.called:
                raise
            raise bad._replace(name=self.columns.called[bad.name]).error() from None

    def studies(
        self, study_alone: Study, study_by_human: Study, study_by_judge: Study
    ) -> dict[str, tuple[Study, Study]]:
        """Return the studies of each metric: of human labels alone, and with the judge's.

        They are made of the studies of the three calls, and one that does not serve is refused.
        """
        if study_by_human.plan.design.n_factors > 1:
            raise check.fail("groups", "have one column with proxy", "two", _ONE_COLUMN)
        _check_enough(study_by_human, study_alone, self.columns)
        source = WithJudge(self.columns, study_alone.plan.design, self.weight, self.seed)
        studies = {}
        for metric, by_system in study_by_human.scores.items():
            pairs = {
                name: [
                    MeasuredTwice(
                        measured.rows, measured.statistic, study_by_judge.scores[metric][name][0]
                    )
                ]
                for name, [measured] in by_system.items()
            }
            of_labels = replace(
                study_alone, scores={metric: study_alone.scores[metric]}, places=ALONE
            )
            with_judge = replace(
                study_by_human, scores={metric: pairs}, places=ALONE, source=source
            )
            studies[metric] = (of_labels, with_judge)
        return studies


def with_judge(
    labels: LabelledTwice,
    of_labels: Study,
    result_alone: EvaluationResult | ComparisonResult,
    notes_alone: list[Note],
    result_corrected: EvaluationResult | ComparisonResult | None,
    notes_corrected: list[Note],
) -> EvaluationResult | ComparisonResult:
    """Return the result of one metric: by the judge, unless human labels alone say more.

    Parameters
    ----------
    labels : LabelledTwice
    of_labels : Study
        Study of human labels alone, by this metric.
    result_alone : EvaluationResult or ComparisonResult
        Its result.
    notes_alone : list of Note
        Notes that are given with it.
    result_corrected : EvaluationResult, ComparisonResult or None
        The result with the judge's labels; None where the judge has no weight.
    notes_corrected : list of Note
    """
    result, notes_told = result_alone, notes_alone
    notes: tuple[str, ...] = ()
    if result_corrected is not None:
        is_shorter = _weight_of(result_corrected) > 0 and _length(result_corrected) < _length(
            result_alone
        )
        if labels.weight != "auto" or is_shorter:
            result, notes_told = result_corrected, notes_corrected
    if result is not result_alone:
        n_units = min(of_labels.plan.design.n_units)
        if isinstance(result, ComparisonResult) and n_units < FEW_FOR_DIFFERENCE:
            unit = of_labels.plan.design.unit
            text = (
                f"{n_units} {unit}s with a human label are few for a difference: "
                "with 50 its 95% intervals covered 89 to 99% in simulations, with "
                f"{FEW_FOR_DIFFERENCE} 93% or more."
            )
            notes_told.append(Note("caution", text))
            notes = (text,)
    elif labels.weight == "auto":
        notes = (_OF_NO_USE,)
    tell(*notes_told)
    completed: EvaluationResult | ComparisonResult
    completed = _complete_result(result, result_alone, labels, notes)
    return completed


def _weight_of(result: EvaluationResult | ComparisonResult) -> float:
    """Return the weight of the judge, which is that of each system."""
    system = result if isinstance(result, EvaluationResult) else result._any_system
    return system._evidence.facts.proxy_weight or 0.0


def _length(result: EvaluationResult | ComparisonResult) -> float:
    """Return how far finite limits are from what they are limits of, over all intervals."""
    shown: Any = [result] if isinstance(result, EvaluationResult) else result.pairs
    return sum(
        abs(limit - getattr(item, "difference", getattr(item, "estimate", np.nan)))
        for item in shown
        for limit in item.confidence_interval
        if not np.isinf(limit)
    )


def _complete_result(
    result: Any, result_alone: Any, labels: LabelledTwice, notes: Sequence[str] = ()
) -> Any:
    """Return a result with what is known of labels and judge, and notes on that."""
    fields: dict[str, Any] = {}
    if isinstance(result, EvaluationResult):
        fields["n_samples"] = len(labels.columns.labelled)
        n_labelled, text = result_alone.n_samples, str(result_alone)
    else:
        n_labelled = result_alone._any_system.n_samples
        text = "; ".join(
            f"{pair.first} - {pair.second} {pair}" for pair in result_alone._shown_pairs
        )
        fields["systems"] = {
            name: _complete_result(system, result_alone.systems[name], labels)
            for name, system in result.systems.items()
        }
    provenance = result._provenance
    label_facts = {
        "n_labelled": n_labelled,
        "proxy_weight": _weight_of(result),
        "labels_alone": text,
    }
    facts = replace(provenance.facts, **label_facts)
    settings = provenance.settings | {"proxy": True, "proxy_weight": labels.weight}
    notes = (*provenance.notes, *notes)
    provenance = replace(provenance, facts=facts, settings=settings, notes=notes)
    return replace(result, _provenance=provenance, **fields)


# ------------------------------------------------------------------ what was given


def _columns_by_system(values: Any) -> Mapping[Any, Any]:
    return values if isinstance(values, Mapping) else {None: values}


def _columns(arguments: Mapping[Any, tuple[str, Any]], judge: Judge) -> LabelColumns:
    """Return the checked columns of humans and judge, by the argument that they came in."""
    of_truth = [argument for argument, _ in arguments.values()] == ["y_true"]
    proxies = judge.by_system
    if set(proxies) != set(arguments):
        must = (
            "be a column for y_true"
            if of_truth or None in arguments
            else "have the names of y_preds"
        )
        raise check.fail("proxy", must, f"a {type(judge.labels).__name__}")
    human, by_judge, called, labelled = {}, {}, {}, None
    for name, (argument, column) in arguments.items():
        called[argument] = "proxy" if name is None else f"proxy[{name!r}]"
        human[name], by_judge[name], has_label = _fill_labels(
            argument, column, called[argument], proxies[name]
        )
        if labelled is not None and not np.array_equal(has_label, labelled):
            must = "be missing on the same rows for all systems"
            raise check.fail(argument, must, "labels on other rows")
        labelled = has_label
    assert labelled is not None
    if labelled.all():
        advice = "Leave proxy out: where all rows have a human label a judge adds nothing."
        raise check.fail(argument, "be missing (NaN or None) on some row", "none missing", advice)
    if (n_labelled := int(labelled.sum())) < FEWEST_UNITS:
        raise _too_few(argument, "row", n_labelled)
    return LabelColumns(human, by_judge, labelled, of_truth, called)


def _too_few(name: str, unit: str, n_labelled: int) -> ValueError:
    must = f"have a human label in at least {FEWEST_UNITS} {unit}s"
    return check.fail(
        name, must, f"{n_labelled}", "Fewer do not show how often the judge is wrong."
    )


def _fill_labels(
    name: str, labels: Any, judge_name: str, proxy: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return human labels, filled with the judge's, these, and which rows a human labelled."""
    human, judge = check.converted(name, labels), check.check_column(judge_name, proxy)
    check.check_same_length(**{name: human, judge_name: judge})
    if human.ndim != 1:
        raise check.fail(name, "have one value a row with proxy", f"an array of {human.shape}")
    if human.dtype.kind == "f":
        labelled = ~np.isnan(human)
    else:
        labelled = ~np.array([human.dtype.kind == "O" and is_missing(x) for x in human], bool)
    human_labels = human[labelled]
    if (
        human.dtype.kind == "f"
        and judge.dtype.kind in "iu"
        and np.all(human_labels == np.round(human_labels))
    ):
        # Missing values make floats of integers.
        human_labels = human_labels.astype(judge.dtype)
    filled = judge.astype(object)
    filled[labelled] = human_labels.astype(object)
    return check.converted(name, filled), judge, labelled


def _rows_at(at: NDArray[np.intp], y_true: Any, y_preds: Any, sampling: Sampling) -> Arguments:
    """Return some rows of what was given."""
    columns: dict[str, Any] = {
        name: check.check_rows(name, column)[at]
        for name, column in sampling.columns.items()
        if column is not None
    }
    predicted = {
        name: check.check_answers("y_pred", column)[at]
        for name, column in _columns_by_system(y_preds).items()
    }
    y_preds = predicted.get(None, predicted)
    truth = None if y_true is None else y_true[at]
    return Arguments(truth, y_preds, sampling._replace(**columns))


def _check_enough(study: Study, study_alone: Study, columns: LabelColumns) -> None:
    """Refuse too few labelled units, or rows of a class for a metric of classes."""
    name, design = "y_true" if columns.of_truth else "y_pred", study_alone.plan.design
    if min(design.n_units) < FEWEST_UNITS:
        raise _too_few(name, study.plan.design.unit, min(design.n_units))
    for by_system in study.scores.values():
        [measured, *_] = next(iter(by_system.values()))
        statistic = measured.statistic
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
