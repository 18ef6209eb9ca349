"""A study: what is evaluated on which resamples, and the results that are made of it.

Every function of frozen predictions makes a study of what it was given (`study_of`; one system in
memory: `study_of_system`). A `Source` has its draws: rows in memory, which are reduced to a `Score`
of each metric and drawn here, or the sums that a stream has kept. The draws of scores have the
evidence of each, from which `results_of` makes the results of one system; comparisons of systems,
runs and streams use the same steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arguments import Trials, TwoColumns
from .._base.checks import fail
from .._base.errors import Note, collected, tell, texts_of
from .._base.typing import ArrayLike
from .._base.values import equal_units
from .._base.work import DEFAULT_WORKERS, Workers, single_threaded_blas
from ..inference._tuning import FEW_IN_TABLE
from ..inference.automatic import (
    IntervalWithNotes,
    automatic_interval,
    caution_of_distances,
    degeneracy,
    estimate_outside_sentence,
    planned_method,
)
from ..inference.dependence import (
    OverTime,
    RobustVariance,
    crossed_covariances,
    has_influence,
    leave_out_blocks,
    over_time,
    robust_variance,
)
from ..inference.distribution import (
    BootstrapDistribution,
    BoundStatistic,
    Jackknife,
    JackknifeValues,
    bootstrap,
    check_replicates_fit,
    jackknife,
    leave_out,
)
from ..inference.evidence import (
    BeforeResampling,
    ConfidenceInterval,
    DrawnUnits,
    Evidence,
    JackknifeBias,
    JackknifeJumps,
    notes_of_cut,
)
from ..inference.intervals import (
    LEAVING_OUT,
    OF_STANDARD_ERRORS,
    WITHOUT_RESAMPLES,
    confidence_interval,
    first_look_of,
    method_of,
    problem_before,
    problem_with,
)
from ..inference.tables import ConfusionTable, MetricOfTable
from ..metrics.responses import notes_on_reversed_scores
from ..metrics.statistic import Columns, Floats, ReducedData, Statistic
from ..resampling._tuning import EQUAL_CELLS, JACKKNIFE_UNITS
from ..resampling.block import distinct_columns
from ..resampling.coding import CodedRows
from ..resampling.design import (
    CrossedDesign,
    GroupDesign,
    OnePopulationDesign,
    RowDesign,
    SamplingDesign,
    words_of_groups,
)
from ..resampling.plan import Binding, ResamplingPlan
from ..results import EvaluationResult, ResultTable
from ..results.basis import Basis, SystemBasis
from ..results.result import NOTHING_ASKED, CallFacts, Provenance, evaluation_result
from ..results.table import laid_out
from ..results.wording import is_worse
from .rows import (
    HAS_DATES,
    WHOLE,
    CallScores,
    IntervalOptions,
    Measured,
    Part,
    Places,
    Rows,
    Sampling,
    Scores,
    Scoring,
    check_row_each,
    checked_rows,
    dates_of_each,
    labelled,
    measured_by,
    name_all_missing,
    note_on_order,
    subgroups,
    warn_of_orders,
)

if TYPE_CHECKING:
    from ..metrics.tasks import Tasks
    from ..resampling.row_cells import RowCells
    from ..results.basis import GapBasis


# Maximum cost (operations per resample) of standard errors that no interval of the call needs: kept
# below it, because `EvaluationResult.interval` may ask for them.
_CHEAP_VARIANCE = 1 << 15
# Minimum rows for cells of nearly equal rows to be drawn in their place (record 0083).
_ROWS_FOR_CELLS = 20_000
# Maximum codes of a statistic that are drawn as they are; of more, cells of nearly equal rows are.
_CODES_AS_CELLS = 1 << 13
# Maximum codes that are drawn as they are of a statistic that has fewer cells of its own.
_CODES_BESIDE_CELLS = 1 << 11
# Maximum statistics of a call that cells are looked for together, which differ in more directions.
_MOST_IN_CELLS = 5
# What statistics read that single rows move by little, and not in jumps.
_SMOOTH = ("sums", "pairs", "thresholds")
# What is known of a metric without single units of the design.
LeftOut = Jackknife | RobustVariance


@dataclass(frozen=True, eq=False)
class Score:
    """A metric of a system on a part of its rows, before resampling.

    Attributes
    ----------
    metric : str
        Its name.
    rows : Rows
        All rows of the system.
    part : Part
    statistic : Statistic
        The metric, of all rows.
    subject : BoundStatistic
        The metric on the rows of the part, reduced.
    premises : BeforeResampling
    interval : str
        Method that will be wanted, which decides what else is computed.
    classes : ndarray of shape (n_groups,) or None
        Class of each group where all its rows are of one, -1 of groups without rows.
    table : MetricOfTable or None
        Of functions of a table of truth and decision, on rows that are not in groups, if few rows
        may decide or tables are asked for.
    """

    metric: str
    rows: Rows
    part: Part
    statistic: Statistic
    subject: BoundStatistic[Statistic]
    premises: BeforeResampling
    interval: str
    classes: NDArray[np.intp] | None = field(default=None, kw_only=True)
    table: MetricOfTable | None = field(default=None, kw_only=True)

    @property
    def columns(self) -> Columns:
        """Truth, predictions and weights of the rows of the part."""
        return self.rows.of(self.statistic, self.part.at, self.part.order)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on how the metric reads these predictions, for readers of its result."""
        return self.rows.notes_for(self.statistic)

    @property
    def answers(self) -> NDArray[Any]:
        """The predictions, which distinguish a system from others on the same rows."""
        return self.columns[1]

    @property
    def numbers(self) -> list[Any]:
        """Reduced rows of the score, by which systems are sorted, and not by their names."""
        code, terms = self.subject.reduced.code, self.subject.reduced.terms
        if isinstance(terms, np.ndarray) and terms.dtype == bool:
            # Flags have the place of the numbers they stand for.
            terms = terms.astype(np.float64)
        arrays = [code, terms]
        return [self.columns[1]] if all(array is None for array in arrays) else arrays

    def right(self, evidence: Evidence) -> NDArray[np.bool_] | None:
        """Whether each row counts as 1, in the metric's direction, for independent 0/1 rows."""
        share, statistic = evidence.share, self.subject.statistic
        if share is None or not statistic.of_row_values:
            return None
        values = statistic.values_of(self.subject.reduced) > 0.5
        return values if share.sign > 0 else ~values

    def ranking(self, evidence: Evidence) -> tuple[NDArray[np.bool_], NDArray[Any]] | None:
        """Positive rows and scores, for DeLong's covariance of areas of two classes.

        None for other metrics, and for rows that are not independent.
        """
        statistic: Any = self.subject.statistic
        statistic = statistic.unsigned or statistic
        if statistic.reads != "pairs" or evidence.facts.delong is None:
            return None
        y_true, y_pred = self.columns[:2]
        if y_true is None or not evidence.independent_rows:
            return None
        # Imported here, because few metrics are of rankings.
        from ..metrics.ranking import positive_rows, positive_scores

        positive = positive_rows(y_true, statistic.pos_label)
        return positive, positive_scores(y_pred, statistic.labels, statistic.pos_label)


class Source(ABC):
    """Where the draws of a study come from."""

    @abstractmethod
    def prepare(
        self, study: Study, metric: str, measured: Measured, part: Part = WHOLE[0]
    ) -> Score:
        """Return a metric on a part of the rows, with what is known of it before resampling."""

    @abstractmethod
    def draw(self, study: Study, scores: Sequence[Score]) -> Draws:
        """Return scores on the data and on resamples that they share, with their evidence."""


class RowsInMemory(Source):
    """Rows, of which any number of resamples can be drawn."""

    def prepare(
        self, study: Study, metric: str, measured: Measured, part: Part = WHOLE[0]
    ) -> Score:
        """Reduce the rows of the part, and gather what is known before resampling."""
        plan, design, statistic = study.plan, study.plan.design, measured.statistic
        rows = measured.rows.of(statistic, part.at, part.order)
        if part.rows is None:
            reduced = measured.reduced
        else:
            statistic = statistic.on_rows(part.rows)
            reduced = statistic.reduce(*rows)
        # What is known of these rows: facts of the metric, and the units that are drawn.
        members = None
        if design.members is not None and not design.units_are_rows:
            members = design.members if part.rows is None else design.members[part.rows]
        facts = statistic.facts(reduced, rows, members)
        units = DrawnUnits.of(design, part.rows, rows[2])
        # Of groups: what they weigh, and their classes. Rows that the user gave as resamples may
        # split groups; groups then have no influence.
        holds_rows = design.n_factors == 1 and not design.units_are_rows
        by_group = holds_rows and facts.additive and plan.resamples is None
        group_weight, n_effective, classes = None, None, None
        if holds_rows:
            assert members is not None
            groups = members[:, 0]
            if by_group:
                group_weight = np.bincount(groups, rows[2], design.n_units[0]).astype(np.float64)
                n_effective = float(len(groups))
                if rows[2] is not None and rows[2].any():
                    n_effective = equal_units(rows[2])
            # A mean over all rows asks no class how many groups it has.
            if not statistic.is_row_mean and not design.units_are_blocks:
                classes = _classes_of_groups(statistic, groups, design.n_units[0], rows[0])
            if classes is not None and not by_group:
                sizes = np.bincount(groups, rows[2], design.n_units[0])
                units = units.with_classes(classes, sizes)
                facts = replace(facts, of_kind=float(np.bincount(classes[classes >= 0]).min()))
        table = None
        are_drawn = plan.resamples is None and plan.unit_counts is None and study.first_look is None
        if design.units_are_rows and are_drawn and (form := statistic.as_table(rows)):
            strata = design.strata
            if part.rows is not None and strata is not None:
                # Those without a row of the part are none of it.
                strata = np.unique(strata[part.rows], return_inverse=True)[1]
            table = MetricOfTable(*form, strata)
        premises = BeforeResampling(
            units,
            facts,
            study.first_look,
            group_weight,
            n_effective,
            has_pairs_left_out=design.n_factors > 1 and has_influence(statistic),
            has_tables=table is not None,
        )
        # The method of the interval; one that this metric or design cannot have is refused.
        method = planned_method(premises) if study.interval == "auto" else study.interval
        asks_for_method = study.interval != "auto" or facts.bins is not None
        problem = problem_before(method, premises) if asks_for_method else None
        if problem:
            asked_for = repr(study.interval)
            named = asked_for if method == study.interval else f"{asked_for}, here {method!r}"
            got = f"{named}, which {problem.removesuffix('.')}"
            raise fail("interval", "be one that these data allow", got)
        # What else is computed for it: standard errors of resamples, and tables to draw from.
        cost = statistic.variance_cost(reduced) * min(reduced.n_codes, design.n_units[0])
        possible = not design.no_jackknife and (by_group or not holds_rows) and np.isfinite(cost)
        with_variance = possible and (method in OF_STANDARD_ERRORS or cost <= _CHEAP_VARIANCE)
        if method != "smoothed" and premises.share is not None:
            table = None
        reads = statistic.reading(reduced)
        coding = CodedRows(reduced.coded, reduced.n_codes, reads, reduced.counts, part.rows)
        return Score(
            metric,
            measured.rows,
            part,
            measured.statistic,
            BoundStatistic(statistic, reduced, coding, bool(with_variance), by_group),
            premises,
            method,
            classes=classes,
            table=table,
        )

    def draw(self, study: Study, scores: Sequence[Score]) -> Draws:
        """See `Source.draw`."""
        subjects = [score.subject for score in scores]
        return draw(study.plan, subjects, study.workers, dict(enumerate(scores)))


IN_MEMORY = RowsInMemory()


def _classes_of_groups(
    statistic: Statistic, groups: NDArray[np.intp], n_groups: int, y_true: NDArray[Any] | None
) -> NDArray[np.intp] | None:
    """Return the class of each group if all rows of every group are of one; else None.

    Groups of one row each are rows, and not groups of a class.
    """
    has_classes = statistic.response in ("labels", "scores", "probabilities")
    if not has_classes or y_true is None or y_true.ndim > 1:
        return None
    last_row = np.full(n_groups, -1)
    last_row[groups] = np.arange(len(groups))
    has_rows = last_row >= 0
    if has_rows.sum() == len(groups) or not np.array_equal(y_true[last_row[groups]], y_true):
        return None
    labels, code = np.unique(y_true[last_row[has_rows]], return_inverse=True)
    classes = np.full(len(last_row), -1)
    classes[has_rows] = code
    return classes if len(labels) > 1 else None


# ------------------------------------------------------------------ draws


@dataclass(frozen=True, eq=False)
class Draws:
    """Statistics on the data and on common resamples.

    Attributes
    ----------
    plan : ResamplingPlan
    binding : Binding or None
        The plan, bound to the statistics; None of sums that were kept.
    subjects : sequence of BoundStatistic
    distributions : sequence of BootstrapDistribution
        One for each of them.
    scores : mapping of int to Score
        Scores that evidence is wanted of, by their numbers.
    """

    plan: ResamplingPlan
    binding: Binding | None
    subjects: Sequence[BoundStatistic]
    distributions: Sequence[BootstrapDistribution]
    scores: Mapping[int, Score]

    @cached_property
    def evidence(self) -> dict[int, Evidence]:
        """Evidence that intervals are made of, by the number of the score."""
        design = self.plan.design
        left_out: Sequence[LeftOut | None] = [self.distributions[k].jackknife for k in self.scores]
        if self.binding is not None and None in left_out:
            left_out = self._left_out()
        over_rows: dict[int, OverTime] = {}
        if design.units_are_blocks and not design.averages_tasks:
            over_rows = self._variations_over_time()
        smoothed: dict[int, Floats] = {}
        if any(score.table is not None for score in self.scores.values()):
            smoothed = self._smoothed()
        evidence = {}
        for (k, score), without in zip(self.scores.items(), left_out, strict=True):
            premises, distribution = score.premises, self.distributions[k]
            # Of values without single units: the skewness, and jumps or bias of the metric.
            acceleration, freedom, variance = None, None, None
            jumps: JackknifeJumps | None = None
            bias: JackknifeBias | None = None
            if isinstance(without, RobustVariance):
                variance = without.value
            elif without is not None:
                n_units = min(premises.drawn.n_units)
                if n_units < without.n_units:
                    without = without.among(n_units)
                acceleration, freedom = without.acceleration, without.error_freedom
                error = without.standard_error
                if without.n_values is not None:
                    jumps = JackknifeJumps(error, without.n_values, without.n_left_out)
                elif not np.isnan(acceleration):
                    bias = JackknifeBias(without.bias, error)
            units, influence = premises.drawn, distribution.influence
            if score.classes is not None and influence is not None:
                assert premises.group_weight is not None
                units = units.with_classes(score.classes, premises.group_weight, influence)
            evidence[k] = Evidence(
                distribution.estimate,
                distribution.replicates,
                units,
                premises.facts,
                standard_error=distribution.standard_error,
                replicate_standard_errors=distribution.replicate_standard_errors,
                acceleration=acceleration,
                jackknife_jumps=jumps,
                jackknife_bias=bias,
                error_freedom=freedom,
                group_influence=influence,
                group_weight=premises.group_weight,
                n_effective_rows=premises.n_effective_rows,
                robust_variance=variance,
                over_time=over_rows.get(k),
                first_look=premises.first_look,
                smoothed=smoothed.get(k),
            )
        return evidence

    def values_left_out(self) -> JackknifeValues:
        """Values of all statistics without single units, for BCa of differences."""
        assert self.binding is not None
        with single_threaded_blas():
            return leave_out(self.binding, self.subjects)

    @cached_property
    def covariances(self) -> NDArray[np.float64]:
        """Covariances of the scores by cells and members of crossed factors, NaN if unknown.

        See `crossed_covariances`; NaN for scores without influences.
        """
        design = self.plan.design
        assert isinstance(design, CrossedDesign)
        numbers, n = list(self.scores), len(self.scores)
        with_influence = [
            k for k in range(n) if has_influence(self.scores[numbers[k]].subject.statistic)
        ]
        covariances = np.full((3 - design.same_population, n, n), np.nan)
        if with_influence:
            subjects = [self.scores[numbers[k]].subject for k in with_influence]
            estimates = [self.distributions[numbers[k]].estimate for k in with_influence]
            covariances[:, np.array(with_influence)[:, None], with_influence] = crossed_covariances(
                design, subjects, estimates
            )
        return covariances

    def _left_out(self) -> Sequence[LeftOut | None]:
        """Return the jackknife of each score whose acceleration is wanted or cheap, else None.

        Of crossed factors, which have no jackknife, it is the cluster-robust variance.
        """
        if self.plan.design.n_factors > 1:
            variances = [
                float(robust_variance(self.covariances[:, k, k], score.premises.drawn.n_units))
                for k, score in enumerate(self.scores.values())
            ]
            return [None if np.isnan(value) else RobustVariance(value) for value in variances]
        assert self.binding is not None
        subjects = {
            k: self.subjects[k]
            for k, score in self.scores.items()
            if score.interval in LEAVING_OUT or score.subject.coding.reads in ("sums", "pairs")
        }
        if not subjects:
            return [None] * len(self.scores)
        estimates = [self.distributions[k].estimate for k in subjects]
        self.binding.forget()
        jackknives = jackknife(
            self.binding.only(list(subjects)), list(subjects.values()), estimates
        )
        by_number = dict(zip(subjects, jackknives, strict=True))
        return [by_number.get(k) for k in self.scores]

    def _smoothed(self) -> dict[int, Floats]:
        """Return the values on drawn tables of scores that ask for them or rest on few rows."""
        smoothed: dict[int, Floats] = {}
        seen: list[tuple[MetricOfTable, ConfusionTable | None, list[Floats]]] = []
        for k, score in self.scores.items():
            tabled, is_asked_for = score.table, score.interval == "smoothed"
            if tabled is None:
                continue
            if score.subject.reduced.data.get("fewest", 0) >= FEW_IN_TABLE and not is_asked_for:
                # No fewer rows than are in a cell decide.
                continue
            alike = (entry for entry in seen if all(map(is_, entry[0].columns, tabled.columns)))
            shared = next(alike, None)
            if shared is None:
                seen.append(shared := (tabled, tabled.table(), []))
            _, table, masses = shared
            if table is None:
                continue
            if is_asked_for or table.is_decided_by_few(tabled):
                if not masses:
                    masses.append(table.draw_masses(self.plan.n_resamples, self.plan.seed))
                smoothed[k] = table.values(tabled, masses[0])
        return smoothed

    def _variations_over_time(self) -> dict[int, OverTime]:
        """Return how smooth scores vary over single rows in time, unless that takes too long."""
        # Imported here, because few calls have rows in time.
        from ..resampling.series import SeriesDesign

        design = self.plan.design
        assert isinstance(design, SeriesDesign)
        plan, circles, variations = replace(self.plan, design=design.row_by_row), design.circles, {}
        for k, score in self.scores.items():
            if score.subject.coding.reads not in _SMOOTH:
                continue
            left_out = leave_out_blocks(plan, [score.subject], JACKKNIFE_UNITS)
            if left_out is not None and not np.isnan(left_out.values).any():
                variations[k] = over_time(-left_out.values[0], circles.sizes, circles.length)
        return variations


def draw(
    plan: ResamplingPlan,
    subjects: Sequence[BoundStatistic],
    workers: Workers,
    scores: Mapping[int, Score] | None = None,
) -> Draws:
    """Evaluate statistics on the data and on the resamples of a plan.

    Parameters
    ----------
    plan : ResamplingPlan
    subjects : sequence of BoundStatistic
    workers : Workers
    scores : mapping of int to Score, optional
        Scores that evidence is wanted of, by their numbers; none by default.
    """
    # Intervals are those of the plan that was asked for: cells only replace what is drawn.
    plan_of_cells = plan
    if plan.design.n_samples >= _ROWS_FOR_CELLS:
        plan_of_cells, subjects = _put_in_cells(plan, subjects)
    binding = plan_of_cells.bind([subject.coding for subject in subjects])
    for score in (scores or {}).values():
        if score.part.order is not None:
            # Columns in the order of the subgroups have been read.
            score.rows.forget()
    return Draws(plan, binding, subjects, bootstrap(binding, subjects, workers), scores or {})


def _put_in_cells(
    plan: ResamplingPlan, subjects: Sequence[BoundStatistic]
) -> tuple[ResamplingPlan, Sequence[BoundStatistic]]:
    """Return plan and statistics of cells of nearly equal rows, where these serve (record 0083)."""
    design, has_rows = plan.design, plan.resamples is not None or plan.unit_counts is not None
    if has_rows or not design.units_are_rows:
        return plan, subjects
    # The statistics of each part of the rows; no two parts share rows.
    by_part: dict[int, list[int]] = {}
    for k, subject in enumerate(subjects):
        by_part.setdefault(id(subject.coding.rows), []).append(k)
    parts = list(by_part.values())
    n_codes = sum(max(subjects[k].reduced.n_codes for k in numbers) for numbers in parts)
    most = max(map(len, parts))
    if n_codes > _CODES_AS_CELLS and most <= _MOST_IN_CELLS:
        in_cells = _put_in_cells_of_sums(plan, subjects, parts)
        if in_cells is not None:
            return in_cells
    if most != 1:
        # Cells of several systems would distinguish the systems less than rows do.
        return plan, subjects
    in_codes = [_coded_by_cells(subject, design.strata) for subject in subjects]
    return plan, [numbers or subject for numbers, subject in zip(in_codes, subjects, strict=True)]


def _put_in_cells_of_sums(
    plan: ResamplingPlan, subjects: Sequence[BoundStatistic], parts: Sequence[Sequence[int]]
) -> tuple[ResamplingPlan, Sequence[BoundStatistic]] | None:
    """Return plan and statistics of cells of rows that add nearly the same to sums, if all do."""
    # Imported here, because few calls have so many rows.
    from ..resampling.row_cells import CellsDesign

    design = plan.design
    # A small part has as many cells as rows; of many such parts nothing would be saved.
    rows_of_parts = [subjects[numbers[0]].coding.rows for numbers in parts]
    fewest = 0
    for rows in rows_of_parts:
        n = design.n_samples if rows is None else len(rows)
        fewest += n if n < 2 * EQUAL_CELLS else EQUAL_CELLS
    if fewest > design.n_samples // 2:
        return None
    # The order of rows is free where nothing else is known of them.
    in_order = max(map(len, parts)) > 1 or design.strata is not None
    functions = [_function_of_sums(subject, design.n_samples, in_order) for subject in subjects]
    sums = [function for function in functions if function is not None]
    if len(sums) < len(subjects):
        return None
    cells, in_cells = [], list(subjects)
    with single_threaded_blas():
        for numbers in parts:
            cells_and_terms = _cells_of([sums[k] for k in numbers], design.strata)
            if cells_and_terms is None:
                return None
            cells.append(cells_and_terms[0])
            for k, reduced in zip(numbers, cells_and_terms[1], strict=True):
                in_cells[k] = replace(sums[k], reduced=reduced)
    cells_design = CellsDesign.by(design, cells, rows_of_parts)
    if cells_design.n_atoms > design.n_samples // 2:
        return None
    for numbers, of_part in zip(parts, cells_design.atoms_of_parts(), strict=True):
        for k in numbers:
            reduced = in_cells[k].reduced
            coding = CodedRows(None, reduced.n_codes, "sums", reduced.counts, of_part)
            in_cells[k] = replace(in_cells[k], coding=coding)
    return replace(plan, design=cells_design), in_cells


def _cells_of(
    sums: Sequence[BoundStatistic], strata: NDArray[np.intp] | None
) -> tuple[RowCells, list[ReducedData]] | None:
    """Put the rows of statistics of the same rows into cells; None where cells do not serve.

    Return the cells, and the terms of each statistic on them.
    """
    from ..resampling.row_cells import row_cells

    # A statistic by itself has few equal columns, which directions find as fast.
    columns: list[Any] = [
        partial(sums[0].reduced.column, k) for k in range(sums[0].reduced.n_terms)
    ]
    numbers = [np.arange(len(columns))]
    if len(sums) > 1:
        columns, numbers = distinct_columns([statistic.reduced.terms for statistic in sums])
    rows = sums[0].coding.rows
    cells = row_cells(columns, strata if rows is None or strata is None else strata[rows])
    if cells is None:
        return None
    counts = cells.multiplicity
    reduced = [
        replace(
            statistic.reduced,
            coded=None,
            n_codes=len(counts),
            summands=np.ascontiguousarray(cells.columns[of_statistic].T),
            counts=counts,
        )
        for statistic, of_statistic in zip(sums, numbers, strict=True)
    ]
    return cells, reduced


def _coded_by_cells(
    subject: BoundStatistic, strata: NDArray[np.integer] | None
) -> BoundStatistic | None:
    """Return a statistic on the codes of cells that are its own, if it has them.

    Strata may be the classes, but must not divide cells.
    """
    if subject.reduced.n_codes <= _CODES_BESIDE_CELLS:
        return None
    reduced = subject.statistic.in_cells(subject.reduced)
    if strata is not None and subject.coding.rows is not None:
        strata = strata[subject.coding.rows]
    if reduced is None:
        return None
    if strata is not None:
        # The rows of each code must be of one stratum.
        stratum = np.zeros(reduced.n_codes, strata.dtype)
        stratum[reduced.code] = strata
        if not np.array_equal(stratum[reduced.code], strata):
            return None
    coding = subject.coding._replace(
        coded=reduced.coded, n_codes=reduced.n_codes, counts=reduced.counts
    )
    return replace(subject, reduced=reduced, coding=coding)


def _function_of_sums(
    subject: BoundStatistic, n_samples: int, in_order: bool
) -> BoundStatistic | None:
    """Return a statistic as a function of sums, if it is one and reads its rows one by one.

    Its terms are those of rows, in their order if asked.
    """
    code, n_codes = subject.reduced.code, subject.reduced.n_codes
    if subject.coding.rows is not None:
        n_samples = len(subject.coding.rows)
    if n_samples != (n_codes if code is None else len(code)):
        return None
    as_sums = subject.statistic.as_sums(subject.reduced)
    if as_sums is None:
        return None
    statistic, reduced = as_sums
    if code is not None and (in_order or n_codes < n_samples):
        of_rows = reduced.terms[code.astype(np.intp, copy=False)]
        reduced = replace(reduced, coded=None, n_codes=n_samples, summands=of_rows)
    return replace(subject, statistic=statistic, reduced=reduced)


# ------------------------------------------------------------------ study

# A single metric, which needs no name, and nothing else.
ALONE = Places(True, {}, True)


@dataclass(frozen=True, eq=False)
class Study:
    """The scores of a call, and the plan of the resamples that they are evaluated on.

    Attributes
    ----------
    scores : Scores
        Scores by metric, and by system or method.
    plan : ResamplingPlan
        Without the tasks; see `of_tasks`.
    interval : str
        Interval of each score by itself: "auto" or the name of a method.
    confidence_level : float
    settings : dict
        Arguments as a result holds them.
    facts : CallFacts
        What of the call decides words of its results.
    parts : sequence of Part
        One of all rows, or the subgroups.
    tasks : Tasks or None
        That metrics are averaged over.
    of_tasks : sequence of Study
        Of the averages over them: one, or two where some metrics are drawn within classes.
    places : Places
        Where the results of the metrics belong.
    workers : Workers
    notes : tuple of Note
        About every result.
    adjust : "max-t" or None
        Whether the intervals of all scores hold at once.
    source : Source
        Where the draws come from.
    first_look : int or None
        Units at the first of the looks that the intervals shall hold at.
    """

    scores: Scores
    plan: ResamplingPlan
    interval: str
    confidence_level: float
    settings: dict[str, Any]
    facts: CallFacts = NOTHING_ASKED
    parts: Sequence[Part] = WHOLE
    tasks: Tasks | None = None
    of_tasks: Sequence[Study] = ()
    places: Places = ALONE
    workers: Workers = DEFAULT_WORKERS
    notes: tuple[Note, ...] = ()
    adjust: str | None = None
    source: Source = IN_MEMORY
    first_look: int | None = None

    @classmethod
    def of_rows(
        cls, sampling: Sampling, n_samples: int, n_series: int, score_options: IntervalOptions
    ) -> Study:
        """Return the study of rows with checked weights, in which nothing is evaluated yet."""
        weights = sampling.sample_weight
        plan = resampling_plan(sampling, n_samples, n_series, weights)
        return cls(
            {},
            plan,
            method_of(score_options.interval),
            score_options.confidence_level,
            score_options.settings | sampling.settings(plan.n_resamples),
            facts=CallFacts(weighted=weights is not None),
            workers=score_options.workers,
            adjust=score_options.adjust,
            first_look=first_look_of(score_options.interval),
        )

    def laid_out(self, results: Mapping[str, Any]) -> Any:
        """Return one result alone, or those of all metrics where they belong."""
        if self.places.alone:
            return next(iter(results.values()))
        return laid_out({name: results[name] for name in self.scores}, *self.places)


def study_of(
    scored: CallScores,
    sampling: Sampling,
    answers: dict[str, Any],
    score_options: IntervalOptions,
    settings: dict[str, Any],
    n_series: int = 0,
) -> Study:
    """Return the study of checked scores.

    Parameters
    ----------
    scored : CallScores
    sampling : Sampling
    answers : mapping of str to array-like
        Truth and predictions as they were given, by argument.
    score_options : IntervalOptions
    settings : dict
        Other arguments as a result holds them.
    n_series : int
        How many statistics there are, where that is known, for the memory of their replicates.
    """
    scores, places = scored
    # All systems and runs have the same truth and weights: any of them says what is drawn.
    by_system = next(iter(scores.values()))
    any_runs = next(iter(by_system.values()))
    rows = any_runs[0].rows
    plan = resampling_plan(sampling, len(rows.y_pred), n_series, rows.sample_weight)
    tasks, length = None, 0
    parts: Sequence[Part] = WHOLE
    # Few calls have tasks or rows in time order: their modules are imported for those.
    if sampling.average_over is not None:
        from .tasks import checked_tasks, over_tasks

        tasks = checked_tasks(sampling.average_over, rows)
    if sampling.by is not None:
        parts = subgroups(sampling.by, rows)
        if sampling.groups is not None:
            _check_groups_in_parts(plan.design, parts)
    dates: list[NDArray[np.int64]] = []
    columns = answers | sampling.columns
    if next(labelled(columns), None) is not None:
        warn_of_orders(columns)
        dates = dates_of_each(answers)
    design = plan.design
    if sampling.block_length is not None:
        from .series import in_time

        plan, length = in_time(plan, sampling, dates, scores, tasks)
    # Groups of one row each are rows.
    elif design.n_units == (design.n_samples,) and plan.resamples is None:
        note: Note | None = HAS_DATES
        if not dates:
            strata = design.strata
            if strata is not None and design.members is not None:
                strata = strata[design.members[:, 0]]
            note = note_on_order(scores, strata, parts, tasks)
        if note is not None:
            plan = replace(plan, design=replace(design, remarks=(*design.remarks, note)))
    all_settings = score_options.settings | settings | sampling.settings(plan.n_resamples)
    if length:
        all_settings["block_length"] = length
    averages: Sequence[tuple[ResamplingPlan, Scores]] = ()
    n_tasks: tuple[int, ...] = ()
    if tasks is not None:
        averages, n_tasks = over_tasks(plan, tasks, scores, parts), (len(tasks.names),)
        all_settings["average_over"] = len(tasks.names)
    study = Study(
        scores,
        plan,
        method_of(score_options.interval),
        score_options.confidence_level,
        all_settings,
        facts=CallFacts(
            block_length=length,
            weighted=sampling.sample_weight is not None,
            by_subgroup=sampling.by is not None,
            n_tasks=n_tasks,
        ),
        parts=parts,
        places=places,
        workers=score_options.workers,
        adjust=score_options.adjust,
        first_look=first_look_of(score_options.interval),
    )
    if tasks is None:
        return study
    of_tasks = [
        replace(study, plan=plan_of_averages, scores=averaged)
        for plan_of_averages, averaged in averages
    ]
    return replace(study, tasks=tasks, of_tasks=of_tasks)


def study_of_system(
    y_true: Any, y_pred: Any, sampling: Sampling, scoring: Scoring, score_options: IntervalOptions
) -> Study:
    """Return the study of one system whose rows are in memory: rows, statistics, plan."""
    answers = {"y_true": y_true, "y_pred": y_pred}
    try:
        rows = checked_rows(y_true, y_pred, sampling.sample_weight, scoring.labels)
        scored = measured_by(scoring, {"": [rows]})
        return study_of(scored, sampling, answers, score_options, scoring.settings)
    except ValueError as error:
        name_all_missing(error, answers | sampling.columns)
        raise


def _check_groups_in_parts(design: SamplingDesign, parts: Sequence[Part]) -> None:
    """Refuse subgroups of a single group each, which do not show how groups vary."""
    n_units = [design.among(part.rows)[0] for part in parts]
    single = np.all(np.array(n_units) == 1, axis=0)
    if single.any():
        must = "hold several groups for a subgroup of by, to have intervals by groups"
        advice = "Rows of a single group are its sample: leave groups out, or by."
        if len(single) > 1:
            column = int(np.argmin(single))
            advice = f"Leave by out, or give groups[:, {column}] alone."
        raise check.fail("groups", must, "one group for every subgroup", advice)


# ------------------------------------------------------------------ what is drawn


def resampling_plan(
    sampling: Sampling,
    n_samples: int,
    n_series: int = 0,
    weights: NDArray[np.float64] | None = None,
) -> ResamplingPlan:
    """Return the plan of a call; refuse one whose replicates memory does not hold.

    They are counted ``n_series`` times where it is known how many statistics there are. A group is
    as large as the checked ``weights`` of its rows. Tasks, blocks and subgroups are not looked at.
    """
    seed = check.check_seed(sampling.random_state)
    advice = "1999 is enough for a 95% interval."
    n_resamples = check.check_count("n_resamples", sampling.n_resamples, 2, advice)
    if n_series:
        check_replicates_fit(n_resamples, n_series)
    design: SamplingDesign
    if sampling.groups is None and sampling.strata is None:
        design = RowDesign.of(n_samples)
    else:
        design = _design(sampling.groups, sampling.strata, n_samples, weights)
    if sampling.resamples is None:
        return ResamplingPlan(design, n_resamples, seed)
    if design.no_given_rows:
        must = f"not be combined with {design.groups_in_messages}"
        raise check.fail("resamples", must, "", design.no_given_rows)
    indices = check.check_resamples(sampling.resamples, n_samples)
    units = design.units_drawn(indices)
    if units is not None:
        return ResamplingPlan(design, len(indices), seed, unit_counts=units)
    return ResamplingPlan(design, len(indices), seed, indices)


def check_units_vary(plan: ResamplingPlan, weights: NDArray[np.float64] | None) -> None:
    """Refuse units of which none can take another's place, where a result has no place for NaN."""
    design = plan.design
    if design.varies_among(None, weights):
        return
    unit = design.unit
    if design.strata is not None:
        advice = f"One {unit} in each stratum does not show how {unit}s vary: leave strata out."
        raise check.fail("strata", f"hold two {unit}s in some stratum", "one in each", advice)
    advice = f"One {unit} does not show how {unit}s vary."
    must = f"be more than 0 for two {unit}s or more"
    raise check.fail("sample_weight", must, f"a single {unit} with weight", advice)


def _design(
    groups: ArrayLike | TwoColumns | None,
    strata: ArrayLike | None,
    n_samples: int,
    weights: NDArray[np.float64] | None,
) -> SamplingDesign:
    if groups is None:
        if strata is None:
            return RowDesign.of(n_samples)
        codes = check.check_strata(strata, None)
        check_row_each("strata", codes, n_samples)
        codes, remarks = _collapse_strata(codes, codes, "row")
        return replace(RowDesign.of(n_samples, codes), remarks=remarks)
    pair: Any = groups if isinstance(groups, list | tuple) and len(groups) == 2 else None
    if pair and n_samples != 2 and all(np.shape(column) == (n_samples,) for column in pair):
        must = "be of shape (n_samples,), or (n_samples, 2) for crossed groups"
        advice = (
            "Give groups=skboot.Crossed(first, second), or of one population "
            "groups=skboot.Trials(first, second)."
        )
        raise check.fail("groups", must, "two sequences", advice)
    if isinstance(groups, TwoColumns):
        check_row_each("groups", groups, n_samples)
        are_trials = isinstance(groups, Trials)
        pairs = check.check_pairs((groups.a, groups.b), of_one_population=are_trials)
        check.check_strata(strata, pairs)
        return (OnePopulationDesign if are_trials else CrossedDesign).of(pairs)
    columns = check.check_rows("groups", groups)
    check_row_each("groups", columns, n_samples)
    if columns.ndim == 2:
        pairs = check.check_pairs(list(columns.T))
        _tell_of_shared_members(columns)
        check.check_strata(strata, pairs)
        return CrossedDesign.of(pairs)
    units = check.check_groups(columns)
    within = check.check_strata(strata, units)
    check_row_each("strata", within, n_samples)
    of_units = None if within is None else within[np.unique(units, return_index=True)[1]]
    words = words_of_groups(groups)
    within, remarks = _collapse_strata(within, of_units, words.unit)
    return replace(GroupDesign.of(units, within, weights).named_as(words.named), remarks=remarks)


def _collapse_strata(
    strata: NDArray[np.intp] | None, of_units: NDArray[np.intp] | None, unit: str
) -> tuple[NDArray[np.intp] | None, tuple[Note, ...]]:
    """Return the strata of rows, those of one unit each as one stratum, and a note of it.

    One unit shows no variance within (collapsed strata: Cochran 1977, section 5A.12). If only one
    stratum has a single unit it joins the smallest of the others.
    """
    if strata is None or of_units is None:
        return strata, ()
    sizes = np.bincount(of_units)
    single = np.flatnonzero(sizes == 1)
    if not len(single) or len(sizes) == 1:
        return strata, ()
    text = f"{len(single)} strata have one {unit} each, and were resampled as one stratum."
    if len(single) == 1:
        single = np.argsort(sizes, kind="stable")[:2]
        text = f"A stratum with one {unit} was resampled as one with the smallest of the others."
    of_rows = np.where(np.isin(strata, single), single[0], strata)
    return np.unique(of_rows, return_inverse=True)[1], (Note("choice", text),)


def _tell_of_shared_members(columns: NDArray[Any]) -> None:
    """Warn where both columns name the same members, which text shows and numbers need not."""
    if columns.dtype.kind not in "UO":
        return
    members_a, right = (set(column.tolist()) for column in columns.T)
    if 2 * len(members_a & right) > min(len(members_a), len(right)):
        text = (
            "Both columns of groups name the same members, and are taken for two factors. If they "
            "are pairs of one population, such as speakers, give groups=skboot.Trials(a, b)."
        )
        tell(Note("caution", text))


# ------------------------------------------------------------------ results of one system

# Maximum number of resamples where no limit is made of them: a picture needs no more.
_MOST_UNNEEDED = 100_000


def results_of(study: Study) -> Any:
    """Draw for the one system of a study, and make a result of each metric on each part.

    Metrics are evaluated on the same resamples, unless averages over tasks need other ones.

    Returns
    -------
    EvaluationResult or ResultTable
        Of each metric where it belongs; a table by subgroup within where there are subgroups.
    """
    results: dict[str, Any] = {}
    for study_of_plan in study.of_tasks or [study]:
        results |= evaluate(study_of_plan)
        tell(*study_of_plan.plan.design.remarks)
    return study.laid_out(results)


def evaluate(study: Study) -> dict[str, Any]:
    """Return the results of the one system of a study of one plan, all on the same resamples.

    By metric name; a table by subgroup within where there are subgroups.
    """
    parts = study.parts
    scores = [
        study.source.prepare(study, metric, measured, part)
        for metric, by_system in study.scores.items()
        for [measured] in by_system.values()
        for part in parts
    ]
    are_many = study.plan.n_resamples > _MOST_UNNEEDED and study.plan.resamples is None
    if are_many and len(parts) == 1 and all(s.interval in WITHOUT_RESAMPLES for s in scores):
        text = (
            f"The interval needs no resamples: {_MOST_UNNEEDED:,} of the requested "
            f"{study.plan.n_resamples:,} were drawn, for the distribution alone."
        )
        study = replace(
            study,
            plan=replace(study.plan, n_resamples=_MOST_UNNEEDED),
            settings={**study.settings, "n_resamples": _MOST_UNNEEDED},
            notes=(Note("choice", text),),
        )
    draws = study.source.draw(study, scores)
    evidence = list(draws.evidence.values())
    bases: Sequence[SystemBasis] = [
        SystemBasis(evidence_of_score) for evidence_of_score in evidence
    ]
    are_together = study.adjust is not None and len(evidence) > 1
    if are_together:
        # Imported here, because few calls ask for intervals that hold at once.
        from ..results.basis import bases_together

        bases = bases_together(evidence)
    results: dict[str, Any] = {}
    for k, metric in enumerate(study.scores):
        of_metric = slice(k * len(parts), (k + 1) * len(parts))
        table = {}
        for score, basis in zip(scores[of_metric], bases[of_metric], strict=True):
            if are_together:
                chosen = _chosen_together(study, basis)
            else:
                chosen = chosen_interval(study, basis.evidence)
            table[score.part.name] = score_result(study, score, basis, chosen)
        if len(parts) > 1:
            table["gap"] = _gap(study, scores[of_metric], evidence[of_metric])
        results[metric] = ResultTable(table) if len(parts) > 1 else table[None]
    return results


def chosen_interval(study: Study, evidence: Evidence) -> IntervalWithNotes:
    """Return the interval that the study asks for."""
    if study.interval == "auto" or not evidence.drawn.varies:
        return automatic_interval(evidence, study.confidence_level)
    problem = problem_with(study.interval, evidence)
    if problem:
        got = f"{study.interval!r}, which {problem.removesuffix('.')}"
        raise fail("interval", "be one that these data allow", got)
    with collected() as notes_told:
        interval = confidence_interval(evidence, study.interval, study.confidence_level)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in notes_told if note.kind == "resamples"))
    notes = (note for note in notes_told if note.kind != "resamples")
    return IntervalWithNotes(interval, (*notes, *notes_of_cut(interval)))


def _chosen_together(study: Study, basis: SystemBasis) -> IntervalWithNotes:
    """Return an interval of several that hold at once, if the score of the basis varies."""
    from ..results.basis import SimultaneousBasis

    if not isinstance(basis, SimultaneousBasis):
        return chosen_interval(study, basis.evidence)
    level = study.confidence_level
    alone = replace(study, confidence_level=basis.level_of_own(level))
    interval, notes = chosen_interval(alone, basis.evidence)
    return IntervalWithNotes(interval._at_level(level), (*notes, basis.note))


def score_result(
    study: Study, score: Score, basis: Basis, chosen: IntervalWithNotes
) -> EvaluationResult:
    """Return the result of a score, with the interval that was chosen."""
    statistic, rows, evidence = score.subject.statistic, score.columns, basis.evidence
    tell(*chosen.notes)
    naive = statistic.naive(score.subject.reduced, rows)
    reversed_scores: tuple[Note, ...] = ()
    if statistic.response in ("scores", "probabilities"):
        reversed_scores = notes_on_reversed_scores(statistic, rows, naive, chosen.interval)
        tell(*reversed_scores)
    texts = texts_of((*chosen.notes, *score.notes, *study.notes, *reversed_scores))
    better = statistic.greater_is_better
    best = evidence.facts.bounds[0 if better is False else 1]
    if not reversed_scores and naive != best and is_worse(evidence.estimate, naive, better):
        texts += (
            f"Worse than the baseline: a system that ignores its inputs scores {naive:.4g} here.",
        )
    name, design = score.metric, study.plan.design
    if score.part.name is not None:
        name = f"{name} ({score.part.name})"
    notes = notes_on_limits(texts, name, evidence, chosen.interval)
    # How rows are read and drawn is no reason for a number that is undefined.
    beside = texts_of((*score.notes, *study.notes))
    return make_result(
        study,
        name,
        basis,
        chosen.interval,
        notes,
        reasons=[note for note in notes if note not in beside],
        n_samples=design.n_samples if score.part.rows is None else len(score.part.rows),
        greater_is_better=better,
        naive_estimate=naive,
    )


def _gap(study: Study, scores: Sequence[Score], evidence: Sequence[Evidence]) -> EvaluationResult:
    """The pair of subgroups that differ most, with its simultaneous interval."""
    # Imported here, because few calls have subgroups.
    from ..results.basis import GapBasis
    from .gaps import NO_PAIR, counted_subgroups, gap_of, no_gap, side_of, varying_subgroups

    name = scores[0].metric
    subgroups = counted_subgroups(scores[0].statistic, scores[0].rows, study.parts, evidence)
    numbers, cautions = varying_subgroups(subgroups, evidence, name)
    n_pairs = len(numbers) * (len(numbers) - 1) // 2
    evidence_of_gap, pair = no_gap(evidence[0], n_families=1), NO_PAIR
    if numbers:
        varying = [evidence[k] for k in numbers]
        sides = [side_of(subgroups[k], evidence[k]) for k in numbers]
        (a, b), evidence_of_gap = gap_of(sides, varying, n_families=1)
        pair = f"{subgroups[numbers[a]].name} - {subgroups[numbers[b]].name}"
    notes = []
    if n_pairs == 1:
        notes = ["The difference between the two subgroups."]
    elif n_pairs:
        notes = [
            f"The largest of {n_pairs} differences between subgroups, with its simultaneous "
            "interval over all of them; the replicates are those of this pair."
        ]
    basis = GapBasis(evidence_of_gap, metric=name, pair=pair, of_systems=False)
    return make_gap_result(study, basis, notes, [*cautions, *caution_of_distances(evidence[0])])


def make_gap_result(
    study: Study,
    basis: GapBasis,
    notes: Sequence[str],
    cautions: Sequence[Note],
) -> EvaluationResult:
    """Return the result of a gap, with warnings such as of the subgroups it leaves out."""
    units = replace(basis.evidence.drawn, n_units=study.plan.design.n_units)
    evidence = replace(basis.evidence, drawn=units)
    tell(*cautions)
    interval = confidence_interval(evidence, "simultaneous", study.confidence_level)
    notes = [*texts_of((*cautions, *notes_of_cut(interval))), *notes]
    return make_result(
        study,
        basis.name,
        replace(basis, evidence=evidence),
        interval,
        notes_on_limits(notes, basis.name, evidence, interval),
        n_samples=study.plan.design.n_samples,
        automatic=False,
    )


def notes_on_limits(
    notes: Sequence[str],
    name: str,
    evidence: Evidence,
    interval: ConfidenceInterval,
) -> tuple[str, ...]:
    """Return the notes with those on limits that hold nothing; warn of undefined resamples."""
    low, high = interval
    about_limits: list[str | None] = []
    if not low < high:
        about_limits.append(degeneracy(interval, evidence))
    if evidence.estimate < low or evidence.estimate > high:
        about_limits.append(estimate_outside_sentence(interval, evidence))
    n_undefined = int(np.count_nonzero(np.isnan(evidence.replicates)))
    if evidence.gap is not None and np.isnan(evidence.estimate):
        # The caution about the subgroups that are left out says why.
        return tuple(notes)
    if n_undefined:
        tell(_undefined(name, n_undefined, len(evidence.replicates)))
    elif np.isnan(evidence.estimate):
        tell(_undefined(name, len(evidence.replicates), len(evidence.replicates)))
    return (*notes, *(text for text in about_limits if text and text not in notes))


def _undefined(metric: str, count: int, total: int) -> Note:
    about, item = (
        "undefined on some resamples, which are left out",
        f"{metric} on {count} of {total}",
    )
    return Note("undefined", f"{about}: {item}.", about, item)


def make_result(
    study: Study,
    name: str,
    basis: Basis,
    interval: ConfidenceInterval,
    notes: Sequence[str],
    *,
    automatic: bool | None = None,
    held_fixed: Sequence[str] = ("the trained system",),
    reasons: Sequence[str] | None = None,
    **fields: Any,
) -> EvaluationResult:
    """Return the result of a system, or of what ``fields`` say, with the study's settings.

    ``reasons`` are the notes on a number that is undefined: all of ``notes`` when None, and never
    the remarks of the design.
    """
    design = study.plan.design
    is_defined = not np.isnan(basis.evidence.estimate + sum(interval))
    provenance = Provenance(
        (*notes, *texts_of(design.remarks)),
        (*held_fixed, *design.held_fixed),
        study.plan.seed,
        study.settings,
        facts=study.facts,
        reasons=() if is_defined else tuple(notes if reasons is None else reasons),
    )
    return evaluation_result(
        provenance,
        metric=name,
        basis=basis,
        confidence_interval=interval,
        automatic=study.interval == "auto" if automatic is None else automatic,
        unit=design.unit,
        **fields,
    )
