"""The engine of every study: scores before resampling, and on the resamples that they share.

A `Source` has the draws: rows in memory, from which they are drawn here, or the sums that a stream
has kept. `RowsInMemory` reduces the rows and says which interval will be wanted, so that nothing is
computed that it does not need. `draw` binds statistics to a plan and runs over its resamples; what
else an interval needs, such as the values without single units, is computed for the scores that ask
for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.errors import Note
from .._base.work import Workers, single_threaded_blas
from ..inference._tuning import FEW_IN_TABLE
from ..inference.automatic import planned_method
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
    jackknife,
    leave_out,
)
from ..inference.evidence import Drawn, Evidence
from ..inference.intervals import LEAVING_OUT, OF_STANDARD_ERRORS, problem_with
from ..inference.tables import Table, Tabled, has_table
from ..metrics.callables import without_sign
from ..metrics.ranking import positive_rows, positive_scores
from ..metrics.statistic import Columns, Floats, ReducedData, Statistic
from ..resampling._tuning import JACKKNIFE_UNITS
from ..resampling.block import distinct_columns
from ..resampling.coding import CodedRows
from ..resampling.design import CrossedDesign, SamplingDesign, equal_units
from ..resampling.plan import Binding, ResamplingPlan
from .measured import Measured
from .rows import WHOLE, Part, Rows

if TYPE_CHECKING:
    from ..resampling.row_cells import RowCells

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
    known : Evidence
        With estimate NaN and no replicates, which are not known yet.
    interval : str
        Method that will be wanted, which decides what else is computed.
    classes : ndarray of shape (n_groups,) or None
        Class of each group where all its rows are of one, -1 of groups without rows.
    table : Tabled or None
        Of functions of a table of truth and decision, on rows that are not in groups.
    """

    metric: str
    rows: Rows
    part: Part
    statistic: Statistic
    subject: BoundStatistic[Statistic]
    known: Evidence
    interval: str
    classes: NDArray[np.intp] | None = field(default=None, kw_only=True)
    table: Tabled | None = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        """Of the metric, and of the subgroup if it is of one."""
        return self.metric if self.part.name is None else f"{self.metric} ({self.part.name})"

    @property
    def columns(self) -> Columns:
        """Truth, predictions and weights of the rows of the part."""
        return self.rows.of(self.statistic, self.part.at, self.part.order)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know of how the metric reads these predictions."""
        return self.rows.notes_for(self.statistic)

    @property
    def answers(self) -> NDArray[Any]:
        """What tells predictions from others on the same rows."""
        return self.columns[1]

    @property
    def numbers(self) -> list[Any]:
        """Its reduced rows, by which systems are sorted, and not by their names."""
        code, terms = self.subject.coding.code, self.subject.reduced.terms
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
        """Positive rows and scores, for the area of two classes on independent rows."""
        statistic = without_sign(self.subject.statistic)
        if statistic.reads != "pairs" or evidence.facts.delong is None:
            return None
        y_true, y_pred = self.columns[:2]
        if y_true is None or not evidence.independent_rows:
            return None
        positive = positive_rows(y_true, statistic.pos_label)
        return positive, positive_scores(y_pred, statistic.labels, statistic.pos_label)

    def evidence(
        self,
        distribution: BootstrapDistribution,
        left_out: LeftOut | None,
        in_time: OverTime | None = None,
        smoothed: Floats | None = None,
    ) -> Evidence:
        """Return the evidence with estimate and replicates, and what is known without units."""
        acceleration = shape = bias_and_error = freedom = variance = None
        if isinstance(left_out, RobustVariance):
            variance = left_out.value
        elif left_out is not None:
            n_own = min(self.known.drawn.n_units)
            if n_own < left_out.n_units:
                left_out = left_out.among(n_own)
            acceleration, freedom = left_out.acceleration, left_out.error_freedom
            if left_out.n_values is not None:
                shape = (left_out.standard_error, left_out.n_values, left_out.n_left_out)
            elif not np.isnan(acceleration):
                bias_and_error = left_out.bias, left_out.standard_error
        drawn, influence = self.known.drawn, distribution.influence
        if self.classes is not None and influence is not None:
            assert self.known.group_weight is not None
            drawn = drawn.of_classes(self.classes, self.known.group_weight, influence)
        return replace(
            self.known,
            drawn=drawn,
            estimate=distribution.estimate,
            replicates=distribution.replicates,
            standard_error=distribution.standard_error,
            replicate_standard_errors=distribution.replicate_standard_errors,
            acceleration=acceleration,
            jackknife=shape,
            left_out=bias_and_error,
            error_freedom=freedom,
            group_influence=influence,
            robust_variance=variance,
            over_time=in_time,
            smoothed=smoothed,
        )


class Source(ABC):
    """Where the draws of a study come from."""

    @abstractmethod
    def prepare(
        self,
        plan: ResamplingPlan,
        interval: str,
        metric: str,
        measured: Measured,
        part: Part = WHOLE[0],
        first_look: int | None = None,
    ) -> Score:
        """Return a metric on a part of the rows, with what is known of it before resampling."""

    @abstractmethod
    def draw(self, plan: ResamplingPlan, scores: Sequence[Score], workers: Workers) -> Draws:
        """Return scores on the data and on resamples that they share, with their evidence."""


class RowsInMemory(Source):
    """Rows, of which any number of resamples can be drawn."""

    def prepare(
        self,
        plan: ResamplingPlan,
        interval: str,
        metric: str,
        measured: Measured,
        part: Part = WHOLE[0],
        first_look: int | None = None,
    ) -> Score:
        """Reduce the rows of the part, and gather what is known before resampling."""
        design = plan.design
        rows, members = measured.rows.of(measured.statistic, part.at, part.order), None
        if design.members is not None and not design.units_are_rows:
            members = design.members if part.rows is None else design.members[part.rows]
        statistic = measured.statistic
        statistic = statistic if part.rows is None else statistic.on_rows(part.rows)
        reduced = statistic.reduce(*rows)
        variance_cost = statistic.variance_cost(reduced)
        facts = statistic.facts(reduced, rows, members)
        reads = statistic.reading(reduced)
        drawn = Drawn.of(design, part.rows, rows[2])
        known = Evidence(np.nan, np.empty(0), drawn, facts, first_look=first_look)
        # Rows that the user gave as resamples may split groups; groups then have no influence.
        holds_rows = design.n_factors == 1 and not design.units_are_rows
        by_group = holds_rows and known.facts.additive and plan.resamples is None
        if by_group:
            known = _with_groups(known, statistic, design, part, rows)
        # A mean over all rows asks no class how many groups it has.
        by_class = holds_rows and not statistic.is_row_mean
        classes = _classes_of_groups(statistic, design, part, rows) if by_class else None
        if classes is not None and not by_group:
            sizes = np.bincount(_groups_of(design, part), rows[2], design.n_units[0])
            drawn = drawn.of_classes(classes, sizes)
            facts = replace(facts, of_kind=float(np.bincount(classes[classes >= 0]).min()))
            known = replace(known, drawn=drawn, facts=facts)
        coding = CodedRows(reduced.code, reduced.n_codes, reads, reduced.counts, part.rows)
        planned = planned_method(known) if interval == "auto" else interval
        tabled = design.units_are_rows and not design.averages_tasks and has_table(statistic)
        tabled &= plan.resamples is None and plan.drawn is None and first_look is None
        if interval != "auto" or known.facts.bins is not None:
            _refuse_impossible(interval, planned, known, statistic, tabled=tabled)
        cost = variance_cost * min(reduced.n_codes, design.n_units[0])
        possible = not design.no_jackknife and (by_group or not holds_rows) and np.isfinite(cost)
        with_variance = possible and (planned in OF_STANDARD_ERRORS or cost <= _CHEAP_VARIANCE)
        subject = BoundStatistic(statistic, reduced, coding, bool(with_variance), by_group)
        strata = design.strata if tabled else None
        if part.rows is not None and strata is not None:
            # Those without a row of the part are none of it.
            strata = np.unique(strata[part.rows], return_inverse=True)[1]
        return Score(
            metric,
            measured.rows,
            part,
            measured.statistic,
            subject,
            known,
            planned,
            classes=classes,
            table=Tabled(statistic, rows, strata) if tabled else None,
        )

    def draw(self, plan: ResamplingPlan, scores: Sequence[Score], workers: Workers) -> Draws:
        """See `Source.draw`."""
        return draw(plan, [one.subject for one in scores], workers, dict(enumerate(scores)))


IN_MEMORY = RowsInMemory()


def _groups_of(design: SamplingDesign, part: Part) -> NDArray[np.intp]:
    """Return the group of each row of a part."""
    assert design.members is not None
    return design.members[:, 0] if part.rows is None else design.members[part.rows, 0]


def _classes_of_groups(
    statistic: Statistic, design: SamplingDesign, part: Part, rows: Columns
) -> NDArray[np.intp] | None:
    """Return the class of each group if all rows of every group are of one; else None.

    Groups of one row each are rows, and not groups of a class.
    """
    y_true, given = rows[0], statistic.response in ("labels", "scores", "probabilities")
    if not given or y_true is None or y_true.ndim > 1 or design.units_are_blocks:
        return None
    groups, last_row = _groups_of(design, part), np.full(design.n_units[0], -1)
    last_row[groups] = np.arange(len(groups))
    has_rows = last_row >= 0
    if has_rows.sum() == len(groups) or not np.array_equal(y_true[last_row[groups]], y_true):
        return None
    labels, code = np.unique(y_true[last_row[has_rows]], return_inverse=True)
    classes = np.full(len(last_row), -1)
    classes[has_rows] = code
    return classes if len(labels) > 1 else None


def _with_groups(
    known: Evidence, statistic: Statistic, design: SamplingDesign, part: Part, rows: Columns
) -> Evidence:
    """Return the evidence with what each group has of the rows, and how many decide the score."""
    (_, y_pred, weights), groups = rows, _groups_of(design, part)
    of_groups = np.bincount(groups, weights, design.n_units[0]).astype(np.float64)
    n_effective = float(len(y_pred))
    if weights is not None and weights.any():
        n_effective = equal_units(weights)
    return replace(known, group_weight=of_groups, n_effective_rows=n_effective)


def _refuse_impossible(
    asked: str, method: str, known: Evidence, statistic: Statistic, *, tabled: bool
) -> None:
    """Refuse an interval that this metric or design cannot have, before any work."""
    crossed = known.drawn.design.n_factors > 1 and has_influence(statistic)
    hoped = replace(
        known,
        acceleration=0.0,
        left_out=(0.0, 0.0),
        robust_variance=0.0 if crossed else None,
        standard_error=0.0,
        replicate_standard_errors=np.zeros(2),
        over_time=(0.0, 1.0, 0.0),
        smoothed=np.zeros((2, 2)) if tabled else None,
    )
    problem = problem_with(method, hoped)
    if problem:
        named = repr(method) if asked == method else f"{asked!r}, here {method!r}"
        got = f"{named}, which {problem.removesuffix('.')}"
        raise fail("interval", "be one that these data allow", got)


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
        Those of which evidence is wanted, by their numbers.
    """

    plan: ResamplingPlan
    binding: Binding | None
    subjects: Sequence[BoundStatistic]
    distributions: Sequence[BootstrapDistribution]
    scores: Mapping[int, Score]

    @cached_property
    def evidence(self) -> dict[int, Evidence]:
        """What intervals of the scores are made of, by their numbers."""
        left_out, design = self._left_out(), self.plan.design
        in_series = design.units_are_blocks and not design.averages_tasks
        in_time = self._over_time() if in_series else {}
        smoothed = self._smoothed()
        return {
            k: one.evidence(self.distributions[k], own, in_time.get(k), smoothed.get(k))
            for (k, one), own in zip(self.scores.items(), left_out, strict=True)
        }

    def values_left_out(self) -> JackknifeValues:
        """Values of all statistics without single units, for BCa of differences."""
        assert self.binding is not None
        return leave_out(self.binding, self.subjects)

    @cached_property
    def covariances(self) -> NDArray[np.float64]:
        """Covariances of the scores by cells and members of crossed factors, NaN if unknown.

        See `crossed_covariances`; NaN for scores without influences.
        """
        design = self.plan.design
        assert isinstance(design, CrossedDesign)
        numbers, n = list(self.scores), len(self.scores)
        known = [k for k in range(n) if has_influence(self.scores[numbers[k]].subject.statistic)]
        found = np.full((3 - design.same_population, n, n), np.nan)
        if known:
            subjects = [self.scores[numbers[k]].subject for k in known]
            estimates = [self.distributions[numbers[k]].estimate for k in known]
            found[:, np.array(known)[:, None], known] = crossed_covariances(
                design, subjects, estimates
            )
        return found

    def _left_out(self) -> Sequence[LeftOut | None]:
        """Return the jackknife of each score whose acceleration is wanted or cheap, else None.

        Of crossed factors, which have no jackknife, it is the cluster-robust variance.
        """
        found = [self.distributions[k].jackknife for k in self.scores]
        if self.binding is None or None not in found:
            return found
        if self.plan.design.n_factors > 1:
            return self._robust_variances()
        subjects = {
            k: self.subjects[k]
            for k, one in self.scores.items()
            if one.interval in LEAVING_OUT or one.subject.coding.reads in ("sums", "pairs")
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
        found: dict[int, Floats] = {}
        seen: list[tuple[Tabled, Table | None, list[Floats]]] = []
        for k, one in self.scores.items():
            own, asked = one.table, one.interval == "smoothed"
            if own is None or (one.known.share is not None and not asked):
                continue
            if one.subject.reduced.data.get("fewest", 0) >= FEW_IN_TABLE and not asked:
                # No fewer rows than are in a cell decide.
                continue
            alike = (each for each in seen if all(map(is_, each[0].columns, own.columns)))
            shared = next(alike, None)
            if shared is None:
                seen.append(shared := (own, own.table(), []))
            _, table, masses = shared
            if table is None:
                continue
            if asked or table.is_decided_by_few(own):
                if not masses:
                    masses.append(table.drawn(self.plan.n_resamples, self.plan.seed))
                found[k] = table.values(own, masses[0])
        return found

    def _over_time(self) -> dict[int, OverTime]:
        """Return how smooth scores vary over single rows in time, unless that takes too long."""
        # Imported here, because few calls have rows in time.
        from ..resampling.series import SeriesDesign

        design = self.plan.design
        assert isinstance(design, SeriesDesign)
        plan, circles, found = replace(self.plan, design=design.row_by_row), design.circles, {}
        for k, one in self.scores.items():
            if one.subject.coding.reads not in _SMOOTH:
                continue
            left_out = leave_out_blocks(plan, [one.subject], JACKKNIFE_UNITS)
            if left_out is not None and not np.isnan(left_out.values).any():
                found[k] = over_time(-left_out.values[0], circles.sizes, circles.length)
        return found

    def _robust_variances(self) -> list[RobustVariance | None]:
        """Return the cluster-robust variance of each score, None for one without influences."""
        variances = [
            float(robust_variance(self.covariances[:, k, k], one.known.drawn.n_units))
            for k, one in enumerate(self.scores.values())
        ]
        return [None if np.isnan(value) else RobustVariance(value) for value in variances]


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
        Of which of them evidence is wanted, by number.
    """
    drawn = plan
    if plan.design.n_samples >= _ROWS_FOR_CELLS:
        drawn, subjects = _in_cells(plan, subjects)
    binding = drawn.bind([subject.coding for subject in subjects])
    for one in (scores or {}).values():
        if one.part.order is not None:
            one.rows.forget()
    return Draws(plan, binding, subjects, bootstrap(binding, subjects, workers), scores or {})


def _in_cells(
    plan: ResamplingPlan, subjects: Sequence[BoundStatistic]
) -> tuple[ResamplingPlan, Sequence[BoundStatistic]]:
    """Return plan and statistics of cells of nearly equal rows, where these serve (record 0083)."""
    design, given = plan.design, plan.resamples is not None or plan.drawn is not None
    if given or not design.units_are_rows:
        return plan, subjects
    parts = _parts_of(subjects)
    n_codes = sum(max(subjects[k].reduced.n_codes for k in own) for own in parts)
    most = max(map(len, parts))
    if n_codes > _CODES_AS_CELLS and most <= _MOST_IN_CELLS:
        in_cells = _by_sums(plan, subjects, parts)
        if in_cells is not None:
            return in_cells
    if most != 1:
        # Cells of several systems would tell the systems apart less than rows do.
        return plan, subjects
    in_codes = [_in_codes(subject, design.strata) for subject in subjects]
    return plan, [own or subject for own, subject in zip(in_codes, subjects, strict=True)]


def _by_sums(
    plan: ResamplingPlan, subjects: Sequence[BoundStatistic], parts: Sequence[Sequence[int]]
) -> tuple[ResamplingPlan, Sequence[BoundStatistic]] | None:
    """Return plan and statistics of cells of rows that add nearly the same to sums, if all do."""
    # Imported here, because few calls have so many rows.
    from ..resampling.row_cells import CellsDesign

    design = plan.design
    # The order of rows is free where nothing else is known of them.
    in_order = max(map(len, parts)) > 1 or design.strata is not None
    of_sums = [_of_sums(subject, design.n_samples, in_order) for subject in subjects]
    known = [one for one in of_sums if one is not None]
    if len(known) < len(subjects):
        return None
    cells, in_cells = [], list(subjects)
    with single_threaded_blas():
        for own in parts:
            found = _cells_of([known[k] for k in own], design.strata)
            if found is None:
                return None
            cells.append(found.cells)
            for k, reduced in zip(own, found.reduced, strict=True):
                in_cells[k] = replace(known[k], reduced=reduced)
    drawn = CellsDesign.by(design, cells, [subjects[own[0]].coding.rows for own in parts])
    if drawn.n_atoms > design.n_samples // 2:
        return None
    for own, of_part in zip(parts, drawn.atoms_of_parts(), strict=True):
        for k in own:
            reduced = in_cells[k].reduced
            coding = CodedRows(None, reduced.n_codes, "sums", reduced.counts, of_part)
            in_cells[k] = replace(in_cells[k], coding=coding)
    return replace(plan, design=drawn), in_cells


def _parts_of(subjects: Sequence[BoundStatistic]) -> list[list[int]]:
    """Return the statistics of each part of the rows; no two parts share rows."""
    of_part: dict[int, list[int]] = {}
    for k, subject in enumerate(subjects):
        of_part.setdefault(id(subject.coding.rows), []).append(k)
    return list(of_part.values())


class _CellsOfPart(NamedTuple):
    """Cells of a part of the rows, and the terms of its statistics on them."""

    cells: RowCells
    reduced: list[ReducedData]


def _cells_of(
    known: Sequence[BoundStatistic], strata: NDArray[np.intp] | None
) -> _CellsOfPart | None:
    """Put the rows of statistics of the same rows into cells; None where cells do not serve."""
    from ..resampling.row_cells import row_cells

    # A statistic by itself has few equal columns, which directions tell as fast.
    columns, numbers = list(known[0].reduced.terms.T), [np.arange(known[0].reduced.terms.shape[1])]
    if len(known) > 1:
        columns, numbers = distinct_columns([one.reduced.terms for one in known])
    rows = known[0].coding.rows
    cells = row_cells(columns, strata if rows is None or strata is None else strata[rows])
    if cells is None:
        return None
    counts = cells.multiplicity
    reduced = [
        replace(
            one.reduced,
            code=None,
            n_codes=len(counts),
            terms=np.ascontiguousarray(cells.columns[own].T),
            counts=counts,
        )
        for one, own in zip(known, numbers, strict=True)
    ]
    return _CellsOfPart(cells, reduced)


def _in_codes(subject: BoundStatistic, strata: NDArray[np.integer] | None) -> BoundStatistic | None:
    """Return a statistic on the codes of cells that are its own, if it has them.

    Strata may be the classes, but must not divide cells.
    """
    if subject.reduced.n_codes <= _CODES_BESIDE_CELLS:
        return None
    reduced = subject.statistic.in_cells(subject.reduced)
    if strata is not None and subject.coding.rows is not None:
        strata = strata[subject.coding.rows]
    if reduced is None or (strata is not None and not _are_within(reduced, strata)):
        return None
    own = subject.coding._replace(code=reduced.code, n_codes=reduced.n_codes, counts=reduced.counts)
    return replace(subject, reduced=reduced, coding=own)


def _are_within(reduced: ReducedData, strata: NDArray[np.integer]) -> bool:
    """Whether the rows of each code are of one stratum."""
    stratum = np.zeros(reduced.n_codes, strata.dtype)
    stratum[reduced.code] = strata
    return np.array_equal(stratum[reduced.code], strata)


def _of_sums(subject: BoundStatistic, n_samples: int, in_order: bool) -> BoundStatistic | None:
    """Return a statistic as a function of sums, if it is one and reads its rows one by one.

    Its terms are those of rows, in their order if asked.
    """
    code, n_codes = subject.reduced.code, subject.reduced.n_codes
    if subject.coding.rows is not None:
        n_samples = len(subject.coding.rows)
    if n_samples != (n_codes if code is None else len(code)):
        return None
    found = subject.statistic.as_sums(subject.reduced)
    if found is None:
        return None
    statistic, reduced = found
    if code is not None and (in_order or n_codes < n_samples):
        of_rows = reduced.terms[code.astype(np.intp, copy=False)]
        reduced = replace(reduced, code=None, n_codes=n_samples, terms=of_rows)
    return replace(subject, statistic=statistic, reduced=reduced)
