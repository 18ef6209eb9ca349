"""Scores of few human labels and of a judge's labels on all rows: the engine of ``proxy=``.

A call becomes three: of human labels alone, of all rows with the judge's labels, and of all rows
with human ones where there are any. `WithJudge` draws its rows once, and combines the terms of each
score (`skboot.inference.judged`); everything above reads that as any other score. Where the
judge is of no use, the result is that of human labels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arrays import is_missing
from .._base.streams import child_seed
from .._base.warnings import collected, tell
from .._base.workers import Workers
from ..inference.automatic import planned_method
from ..inference.distribution import BootstrapDistribution, BoundStatistic
from ..inference.evidence import Drawn, Evidence
from ..inference.few_groups import value_range
from ..inference.judged import FURTHER_ROWS, Terms, deviations_without
from ..metrics.facts import Facts
from ..resampling.design import RowDesign, SamplingDesign
from ..resampling.plan import ResamplingPlan
from ..results import ComparisonResult, EvaluationResult
from .draws import IN_MEMORY, Draws, Score, Source, draw
from .measured import Measured
from .rows import WHOLE, Part, Rows, is_lazy
from .study import ALONE, Study

Floats = NDArray[np.float64]

# Minimum units with a human label, and rows of each class for metrics of classes.
FEWEST_UNITS, FEWEST_OF_CLASS = 30, 10
# Maximum further rows whose effect is computed, and rows that are read for it.
_MOST_FURTHER, _MOST_READ = 60, 5_000_000
# Number of the stream of further rows, which no block of resamples has.
_STREAM = 1 << 31
_NOT_WITH = ("by", "average_over", "block_length", "resamples")


class Judge(NamedTuple):
    """What a call was given of a judge.

    Attributes
    ----------
    proxy : array-like, or mapping of str to array-like
    weight : float or "auto"
    """

    proxy: Any
    weight: Any

    @property
    def is_given(self) -> bool:
        """Whether anything was given."""
        return self.proxy is not None or not check.is_among(self.weight, ["auto"])

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        return {"proxy": True, "proxy_weight": self.weight}


def with_judge(request: Any, judge: Judge, answer: Callable[[Study], Any]) -> Any:
    """Return what a request for human labels becomes by those of a judge.

    Parameters
    ----------
    request : skboot.streams.columns.Request
        With missing values where no human labelled.
    judge : Judge
    answer : callable
        From a study of one metric to its result.
    """
    _check_weight(judge)
    _check_allowed(request, judge)
    request, seed = _seeded(request)
    columns = _columns(request, judge.proxy)
    whole = _study(request, columns.human)
    with collected():
        judged, alone = _study(request, columns.judge), _study(request, columns.human, columns.at)
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
        results[metric] = _of_metric(study, labels, judge, answer)
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
    tell(*told)
    return _completed(result, alone, study.plan.design.n_samples, judge)


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


def _completed(result: Any, alone: Any, n_samples: int, judge: Judge) -> Any:
    """Return a result with what is known of labels and judge."""
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
    provenance = replace(provenance, facts=facts, settings=settings)
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


def _check_allowed(request: Any, judge: Judge) -> None:
    """Refuse what has no joint form with a judge."""
    for name in _NOT_WITH:
        if getattr(request.sampling, name) is not None:
            raise check.fail(name, "be None with proxy", "both")
    if request.wanted.adjust is not None:
        raise check.fail("adjust", "be None with proxy", repr(request.wanted.adjust))
    if np.ndim(request.sampling.groups) == 2:
        advice = "Give the column whose members differ most, once in each group."
        raise check.fail("groups", "have one column with proxy", "two", advice)
    check.check_choice("interval", request.interval, request.intervals)
    given = [request.y_true, *_by_system(request.y_preds).values()]
    if is_lazy(*given, *_by_system(judge.proxy).values()):
        advice = "A judge's labels need arrays: .compute(), or .collect()."
        raise check.fail("proxy", "be None with columns that are not in memory", "both", advice)


def _by_system(values: Any) -> Mapping[Any, Any]:
    return values if isinstance(values, Mapping) else {None: values}


def _seeded(request: Any) -> tuple[Any, np.random.SeedSequence]:
    """Return the request with a seed that all of its studies share."""
    seed = check.check_seed(request.sampling.random_state)
    sampling = request.sampling._replace(random_state=seed)
    return replace(request, sampling=sampling), seed


@dataclass(frozen=True, eq=False)
class Columns:
    """What humans and the judge say of each row: of its truth, or of the values of each system.

    Attributes
    ----------
    human : mapping of str or None to ndarray of shape (n_samples,)
        Those of the judge where no human labelled. None is the truth.
    judge : mapping of str or None to ndarray of shape (n_samples,)
    labelled : ndarray of shape (n_samples,)
        Whether a human labelled a row.
    of_truth : bool
        Whether they are truths.
    """

    human: Mapping[Any, NDArray[Any]]
    judge: Mapping[Any, NDArray[Any]]
    labelled: NDArray[np.bool_]
    of_truth: bool

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
        kept = wrong[np.linspace(0, len(wrong) - 1, most).astype(np.intp)]
        return self.at[order[kept]], self.at[partner[kept]]


def _columns(request: Any, proxy: Any) -> Columns:
    """Return the checked columns of humans and judge."""
    of_truth = request.y_true is not None
    given = {None: ("y_true", request.y_true)} if of_truth else dict(request.by_argument)
    proxies = _by_system(proxy)
    if set(proxies) != set(given):
        must = (
            "be a column for y_true" if of_truth or None in given else "have the names of y_preds"
        )
        raise check.fail("proxy", must, f"a {type(proxy).__name__}")
    human, judge, labelled = {}, {}, None
    for name, (argument, column) in given.items():
        called = "proxy" if name is None else f"proxy[{name!r}]"
        human[name], judge[name], own = _filled(argument, column, called, proxies[name])
        if labelled is not None and not np.array_equal(own, labelled):
            must = "be missing on the same rows for all systems"
            raise check.fail(argument, must, "labels on other rows")
        labelled = own
    assert labelled is not None
    if labelled.all():
        advice = "Leave proxy out: where all rows have a human label a judge adds nothing."
        raise check.fail(argument, "be missing (NaN or None) on some row", "none missing", advice)
    return Columns(human, judge, labelled, of_truth)


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


def _study(
    request: Any, labels: Mapping[Any, NDArray[Any]], at: NDArray[np.intp] | None = None
) -> Study:
    """Return the study of some rows (all when None), with these labels."""
    y_true, y_preds, sampling = request.y_true, request.y_preds, request.sampling
    if y_true is not None:
        y_true = labels[None]
    else:
        y_preds = labels[None] if None in labels else dict(labels)
    if at is not None:
        own = {
            name: check.check_rows(name, column)[at]
            for name, column in sampling.columns.items()
            if column is not None
        }
        sampling = sampling._replace(**own)
        y_true = None if y_true is None else y_true[at]
        cut = {
            name: check.check_answers("y_pred", one)[at]
            for name, one in _by_system(y_preds).items()
        }
        y_preds = cut.get(None, cut)
    return replace(request, y_true=y_true, y_preds=y_preds, sampling=sampling).in_memory()


def _check_enough(whole: Study, alone: Study, columns: Columns) -> None:
    """Refuse too few labelled units, or rows of a class for a metric of classes."""
    name, design = "y_true" if columns.of_truth else "y_pred", alone.plan.design
    if design.smallest_side < FEWEST_UNITS:
        must = f"have a human label in at least {FEWEST_UNITS} {design.unit}s"
        advice = "Fewer do not show how often the judge is wrong."
        raise check.fail(name, must, f"{design.smallest_side}", advice)
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
            raise check.fail(name, must, got, "Label more rows of this class, drawn at random.")


# ------------------------------------------------------------------ what is drawn


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
    columns : Columns
    design : SamplingDesign
        Of the labelled rows by themselves, which say how much is known.
    weight : float or "auto"
    seed : SeedSequence
    """

    columns: Columns
    design: SamplingDesign
    weight: Any
    seed: np.random.SeedSequence

    def prepare(
        self,
        plan: ResamplingPlan,
        interval: str,
        metric: str,
        measured: Measured,
        part: Part = WHOLE[0],
    ) -> Score:
        """See `Source.prepare`."""
        assert isinstance(measured, MeasuredTwice)
        with_label, without = self.columns.parts
        judge = measured.judge
        terms = [
            IN_MEMORY.prepare(plan, "percentile", metric, own, of_part)
            for own, of_part in ((judge, without), (judge, with_label), (measured, with_label))
        ]
        human = terms[-1]
        if human.known.facts.optimized or human.known.facts.bins is not None:
            must = "not be the best over thresholds, nor a sum of distances, with proxy"
            raise check.fail("metric", must, repr(metric), "Their bias hangs on the rows.")
        facts = Facts(
            value_range(human.known), weighted=human.known.facts.weighted, proxy_weight=1.0
        )
        known = Evidence(np.nan, np.empty(0), Drawn.of(self.design), facts)
        planned = planned_method(known) if interval == "auto" else interval
        return ScoreWithJudge(
            **(vars(human) | {"known": known, "interval": planned}),
            terms=tuple(one.subject for one in terms),
            measured=measured,
        )

    def draw(self, plan: ResamplingPlan, scores: Sequence[Any], workers: Workers) -> Draws:
        """See `Source.draw`; all scores are by one metric."""
        terms = self._terms(plan, scores, workers)
        weight = terms.weight() if self.weight == "auto" else float(self.weight)
        estimates, replicates = terms.combined(weight)
        distributions, combined = [], []
        for k, one in enumerate(scores):
            facts = replace(one.known.facts, proxy_weight=weight)
            combined.append(replace(one, known=replace(one.known, facts=facts)))
            estimate = float(np.clip(estimates[k], *facts.bounds))
            distributions.append(BootstrapDistribution(estimate, replicates[k], None, None))
        subjects = [one.subject for one in scores]
        return Draws(plan, None, subjects, distributions, dict(enumerate(combined)))

    def _terms(self, plan: ResamplingPlan, scores: Sequence[Any], workers: Workers) -> Terms:
        """Return the terms of all scores, on the rows and on resamples that they share."""
        drawn = draw(plan, [term for one in scores for term in one.terms], workers)
        shape = (len(scores), 3, -1)
        values = np.array([own.estimate for own in drawn.distributions]).reshape(shape[:2])
        replicates = np.array([own.replicates for own in drawn.distributions]).reshape(shape)
        with_label, without = (plan.design.among(part.rows)[0][0] for part in self.columns.parts)
        left_out = drawn.values_left_out()
        deviations = deviations_without(
            left_out.values.reshape(shape),
            values,
            left_out.times,
            np.array([without, with_label, with_label], dtype=np.float64),
        )
        if not np.isfinite(deviations).all():
            # Undefined without some unit: resamples tell the same less exactly.
            defined = replicates[..., np.isfinite(replicates).all(axis=(0, 1))]
            centred = defined - defined.mean(axis=-1, keepdims=True)
            deviations = centred / np.sqrt(max(defined.shape[-1], 1))
        terms = Terms(values, replicates, deviations)
        effects = self._effects(scores, values, workers)
        return terms.with_further(effects, self._n_further, child_seed(self.seed, _STREAM))

    @property
    def _n_further(self) -> float:
        """Further rows that are counted: more where the judge's errors come in groups."""
        right = self.columns.agree.astype(np.float64)
        share, likeness = float(right.mean()), 1.0
        if self.design.members is not None and share < 1:
            of_groups = np.bincount(self.design.members[:, 0], right - share)
            # The variance of groups over that of as many independent rows.
            likeness = max(float(of_groups @ of_groups) / (len(right) * share * (1 - share)), 1.0)
        return FURTHER_ROWS * share * likeness

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
        for one in scores:
            human, judge, of_truth = one.measured, one.measured.judge, self.columns.of_truth
            subjects.append(_bound(judge, by_judge, by_judge, of_truth))
            subjects.append(_bound(human, by_human, by_judge, of_truth))
        added = [np.append(np.arange(n), n + k) for k in range(n_further)]
        plan = ResamplingPlan(RowDesign.of(n + n_further), n_further, self.seed, added)
        found = draw(plan, subjects, workers).distributions
        with_row = np.array([own.replicates for own in found]).reshape(len(scores), 2, n_further)
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
    own = Rows(truth, predicted, weights, rows.labels)
    return BoundStatistic.of(statistic, statistic.reduce(*own.of(statistic, None)))
