"""The sums of a stream as a source of draws: what functions of rows in memory ask of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from .._base.checks import fail
from .._base.errors import Note, refuse, tell, thousands
from ..inference.distribution import BootstrapDistribution, BoundStatistic
from ..inference.evidence import BeforeResampling, DrawnUnits, Evidence
from ..inference.intervals import first_look_of, method_of
from ..metrics.lookup import unnamed_positives
from ..metrics.responses import (
    note_on_scores,
    note_on_unused_positive,
    positive_note,
    positive_of_call,
)
from ..resampling.coding import CodedRows
from ..resampling.design import NamedColumn
from ..resampling.plan import ResamplingPlan
from ..resampling.streamed import StreamedDesign
from ..results.result import CallFacts
from ..study.rows import WHOLE, Arguments, IntervalOptions, Measured, Part, Places, Sampling, Scores
from ..study.study import Draws, Score, Source, Study
from .state import (
    FEWEST_UNITS,
    GROUPS_KEPT,
    MOST_VALUES,
    PREDICTED,
    TRUTH,
    UNIT,
    WEIGHT,
    StreamSettings,
    StreamState,
)
from .sums import FINE_SCORES, StreamedMetric

# Share of honest streams whose sizes of resamples may vary as if rows had been added twice.
_FALSE_ALARMS = 1e-6
# How far the order of rows in the intervals of resamples may move a value before a warning says so:
# .002 with 1024 intervals of scores that are spread out, .2 where most lie in one.
_MOST_HIDDEN = 0.05
# Number of rows times resamples from which a note says what drawing them one by one costs.
_MANY_DRAWS = 1 << 31


@dataclass(frozen=True, eq=False)
class ScoreOfSums(Score):
    """A metric of a system, known on all resamples of a stream.

    Attributes
    ----------
    streamed : StreamedMetric
    reading_notes : tuple of Note
        What a reader must know of how the metric reads what was kept.
    """

    streamed: StreamedMetric
    reading_notes: tuple[Note, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """See `Score.notes`."""
        return self.reading_notes

    @property
    def answers(self) -> NDArray[Any]:
        """Predictions are not kept; those that are equal have equal scores on all resamples."""
        return self.streamed.values

    @property
    def numbers(self) -> list[Any]:
        """See `Score.numbers`."""
        return [self.streamed.values]

    def right(self, evidence: Evidence) -> None:
        """Rows are not known."""
        return None

    def ranking(self, evidence: Evidence) -> None:
        """See `right`."""
        return None


@dataclass(frozen=True, eq=False)
class SumsOfStream(Source):
    """Sums that a stream has kept, on the data and on each resample."""

    settings: StreamSettings
    state: StreamState

    def prepare(
        self, study: Study, metric: str, measured: Measured, part: Part = WHOLE[0]
    ) -> Score:
        """See `Source.prepare`."""
        assert isinstance(measured, StreamedMetric)
        streamed, reduced = measured, measured.reduced
        coding = CodedRows(None, reduced.n_codes, streamed.statistic.reads)
        # What a reader must know of how the scores were kept.
        reading_notes: list[Note] = []
        if streamed.intervals:
            changed = f"changes the estimate by at most {rounded_up(streamed.error)}"
            changed = changed if streamed.error else "leaves the estimate as it is"
            finer = streamed.intervals == "finer"
            reading_notes = [note_on_intervals(self.settings, changed, finer=finer)]
            reading_notes += note_on_hidden(streamed)
        positive = self.positive(streamed, "advice")
        reading_notes += [] if positive is None else [positive]
        return ScoreOfSums(
            metric,
            streamed.rows,
            part,
            streamed.statistic,
            BoundStatistic(streamed.statistic, reduced, coding),
            BeforeResampling(DrawnUnits.of(study.plan.design), streamed.facts, study.first_look),
            study.interval,
            streamed,
            tuple(reading_notes),
        )

    def draw(self, study: Study, scores: Any) -> Draws:
        """See `Source.draw`."""
        distributions = []
        for score in scores:
            values = score.streamed.values[: 1 + study.plan.n_resamples]
            # A metric that divides by zero on a resample is undefined there.
            values = np.where(np.isinf(values), np.nan, values)
            distributions.append(BootstrapDistribution(float(values[0]), values[1:], None, None))
        subjects = [score.subject for score in scores]
        return Draws(study.plan, None, subjects, distributions, dict(enumerate(scores)))

    def positive(self, streamed: StreamedMetric, kind: Any) -> Note | None:
        """Say which of two labels in text is the positive one, where the user did not name it."""
        truth = self.settings.labels if streamed.rows.y_true is None else streamed.rows.y_true
        empty_predictions = np.empty((0, 2) if self.state.in_columns else 0)
        return positive_note(streamed.statistic, truth, empty_predictions, kind)


def stream_plan(settings: StreamSettings, state: StreamState) -> ResamplingPlan:
    """Return who was drawn, and how often."""
    kind = "streamed groups" if state.unit == "groups" else "streamed rows"
    design = StreamedDesign.of(state.n_rows, state.n_units, kind).named_as(state.named)
    return ResamplingPlan(design, settings.n_resamples, settings.seed)


# ------------------------------------------------------------------ warnings and notes


def _tell_doubts(source: SumsOfStream, scores: Scores) -> list[Note]:
    """Tell what is doubtful; return what a reader must know of the units, and of drawing them.

    Warned of are also decisions as scores, and a class that is positive because nobody named it.
    """
    settings, state = source.settings, source.state
    notes = []
    if state.n_rows * settings.n_drawn > _MANY_DRAWS:
        text = (
            f"{thousands(state.n_rows)} rows were resampled one by one, {settings.n_drawn} times "
            "each. Fewer resamples take less time; so do labels of one system in columns that are "
            "read once, without groups and weights, which are counted first."
        )
        notes.append(Note("choice", text))
    if state.unit == "groups" and len(state.groups) == GROUPS_KEPT:
        units = f"{stream_plan(settings, state).design.unit}s"
        text = f"The number of {units} is an estimate, with a standard error of 0.4%."
        notes.append(Note("choice", text))
    if state.unit != "groups" and not state.weighted:
        # Were each row a unit of its own, the sizes of resamples would be Poisson numbers.
        sizes = state.terms.values(slice(2, None))[0]
        excess = float(np.var(sizes, ddof=1)) / state.n_rows
        freedom = len(sizes) - 1
        if excess > chdtri(freedom, _FALSE_ALARMS) / freedom:
            n_like = thousands(round(state.n_rows / excess))
            text = (
                f"{thousands(state.n_rows)} rows vary like about {n_like} independent ones: some "
                "ids seem to have been added twice. The standard error is right; Wilson's "
                f"interval, of counts, is {excess**0.5:.2f} times too short."
            )
            notes.append(Note("caution", text))
    tell(*notes, *state.doubts)
    named_metrics = [
        (name, streamed)
        for metrics_by_system in scores.values()
        for name, [streamed] in metrics_by_system.items()
    ]
    text_notes, columns = [], []
    for name, streamed in named_metrics:
        assert isinstance(streamed, StreamedMetric)
        argument = "y_pred" if settings.systems == (None,) else f"y_pred of {name!r}"
        if streamed.rows.y_true is not None:
            unsigned = streamed.statistic.unsigned or streamed.statistic
            note = note_on_scores(unsigned, streamed.rows.y_pred, argument, state.n_rows)
            tell(*[] if note is None else [note])
        text_notes.append(source.positive(streamed, "caution"))
        tell(*note_on_hidden(streamed))
        truth = settings.labels if streamed.rows.y_true is None else streamed.rows.y_true
        columns.append((truth, streamed.rows.y_pred, None))
    statistics = {name: reading.statistic for name, reading in settings.readings.items()}
    positive = None
    if settings.pos_label is None:
        # Where scikit-learn takes the lesser label for the positive one.
        positive = positive_of_call(unnamed_positives(settings.metric, statistics), columns)
        if positive is not None and positive.are_both:
            must = "be given where metrics of a stream take different classes as positive"
            advice = f"Give pos_label=1 (scikit-learn's default) or pos_label={positive.label!r}."
            raise fail("pos_label", must, f"None, with the labels [1, {positive.label!r}]", advice)
    tell(*[note for note in text_notes if note is not None][:1])
    tell(*[] if positive is None else [positive.note()])
    first_statistics = [
        next(iter(metrics_by_system.values()))[0].statistic for metrics_by_system in scores.values()
    ]
    unused = note_on_unused_positive(first_statistics, settings.pos_label)
    tell(*[] if unused is None else [unused])
    return notes


def rounded_up(error: float) -> str:
    """Return a bound with six decimals, or as many as show it, not below what it is."""
    n_decimals = max(6, 1 - math.floor(math.log10(error))) if error > 0 else 6
    return f"{math.ceil(error * 10**n_decimals) / 10**n_decimals:.{n_decimals}f}"


def note_on_intervals(settings: StreamSettings, changed: str, *, finer: bool) -> Note:
    """Return notes on scores that were counted in intervals."""
    n, coarser_bins = settings.n_bins, ""
    if finer:
        n, coarser_bins = settings.bins_of(FINE_SCORES), f" ({settings.n_bins} for resamples)"
    counted = f"Scores were counted in at most {n} intervals{coarser_bins}"
    text = f"{counted}, which {changed}; a larger n_bins of BootstrapAccumulator makes them finer."
    return Note("choice", text)


def note_on_hidden(streamed: StreamedMetric) -> list[Note]:
    """Return notes on an order of rows that resamples do not see, if it matters.

    Pairs of an interval count as tied in each resample, so that what they add to the spread of the
    value is lost.
    """
    if streamed.hidden <= _MOST_HIDDEN:
        return []
    text = (
        "Resamples do not see the order of rows of nearly equal scores, which could move the value "
        f"by {streamed.hidden:.2g}: expect less coverage than stated. Raise n_bins, or give "
        "log-odds."
    )
    return [Note("caution", text)]


# ------------------------------------------------------------------ few rows


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream whose rows have all been read.

    Attributes
    ----------
    settings : StreamSettings
    state : StreamState
    arguments : Arguments or None
        The rows, of too few units for Poisson resamples.
    """

    settings: StreamSettings
    state: StreamState
    arguments: Arguments | None

    @classmethod
    def of(cls, settings: StreamSettings, state: StreamState) -> Stream:
        """Return the stream; refuse one of no rows, or of few units whose rows were not kept."""
        unit = f"{stream_plan(settings, state).design.unit}s"
        if not state.n_rows:
            raise refuse("there are no rows yet. Call update(y_true, y_pred) first.")
        if state.n_units < FEWEST_UNITS and not state.has_few:
            raise refuse(
                f"{state.n_units} {unit} are too few: fewer than {FEWEST_UNITS} need the rows "
                f"themselves, which were not kept, because they hold more than {MOST_VALUES:,} "
                "values, or batches of different shapes or types. Give all rows to "
                "skboot.bootstrap_score."
            )
        if state.weighted and state.terms.values(slice(1, 2))[0, 0] == 0:
            raise fail("sample_weight", "be more than 0 for some row", "0 for all rows")
        if state.n_units >= FEWEST_UNITS:
            return cls(settings, state, None)
        assert state.few_rows is not None
        assert state.few_rows.columns is not None
        columns = state.few_rows.columns
        sampling = Sampling(
            groups=NamedColumn(columns[UNIT], state.named) if state.unit == "groups" else None,
            sample_weight=columns.get(WEIGHT),
            n_resamples=settings.n_resamples,
            random_state=settings.seed,
        )
        y_preds: Any = {name: columns[f"{PREDICTED}{k}"] for k, name in enumerate(settings.systems)}
        if settings.systems in ((None,), ("",)):
            [y_preds] = y_preds.values()
        return cls(settings, state, Arguments(columns.get(TRUTH), y_preds, sampling))

    def study(self, score_options: IntervalOptions, call_settings: Mapping[str, Any]) -> Study:
        """Return the study of its sums, and warn of what is doubtful in its rows.

        Parameters
        ----------
        score_options : IntervalOptions
            Options of each system.
        call_settings : mapping of str
            Other arguments as a result holds them.
        """
        settings, state = self.settings, self.state
        names = list(map(str, settings.systems))
        scores: Scores = {
            metric: {name: [streamed] for name, streamed in zip(names, values, strict=True)}
            for metric, values in state.read(settings).items()
        }
        source = SumsOfStream(settings, state)
        notes = tuple(_tell_doubts(source, scores))
        return Study(
            scores,
            stream_plan(settings, state),
            method_of(score_options.interval),
            score_options.confidence_level,
            {
                "confidence_level": settings.confidence_level,
                "n_resamples": settings.n_resamples,
                "groups": state.unit == "groups",
                "sample_weight": state.weighted,
                "n_bins": settings.n_bins,
                **settings.scoring.settings,
                **score_options.settings,
                **call_settings,
            },
            facts=CallFacts(weighted=state.weighted),
            places=Places(
                settings.is_single, {name: (name,) for name in scores}, alone=settings.is_single
            ),
            notes=notes,
            workers=score_options.workers,
            adjust=score_options.adjust,
            source=source,
            first_look=first_look_of(score_options.interval),
        )
