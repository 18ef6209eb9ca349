"""The engine of `compare_systems`: systems on the same rows, from one plan of resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks as check
from .._values import in_order_of_content
from ..inference.crossed import has_influence
from ..inference.distribution import (
    BootstrapDistribution,
    BoundStatistic,
    JackknifeValues,
    bootstrap,
    leave_out,
)
from ..inference.evidence import Evidence
from ..metrics.adapters import without_sign
from ..metrics.ranking import delong_covariance
from ..metrics.score_order import positive_rows, positive_scores
from ..metrics.statistic import Statistic
from ..resampling.design import CrossedDesign
from ..resampling.plan import Binding
from ..results import ResultTable
from ..results.comparison import ComparisonResult
from ..study.prepared import Prepared, ScoreCall, covariances_of, jackknives_of, prepare
from ..study.rows import Part, Rows
from ..study.scores import chosen_interval, result_of
from .arguments import copy_of_truth
from .compared_systems import compared_systems
from .contestants import Contestant, pairs_of
from .families import Asked
from .system_pairs import largest_gaps


@dataclass(frozen=True, eq=False)
class CompareSystemsCall:
    """Checked arguments of a comparison; ``alone`` is the call of each system by itself."""

    alone: ScoreCall
    rows: dict[str, Rows]
    asked: Asked
    reference: str | None


@dataclass(frozen=True, eq=False)
class _Unit:
    """One system, by one metric, in one subgroup."""

    name: str
    metric: str
    part: Part
    call: ScoreCall
    prepared: Prepared
    evidence: Evidence

    @property
    def columns(self) -> tuple[Any, Any, Any]:
        """Truth, predictions and weights of the rows of the subgroup."""
        return self.call.rows.of(self.subject.statistic, self.part.rows)

    @property
    def subject(self) -> BoundStatistic[Statistic]:
        """The metric and the reduced rows."""
        return self.prepared.subject


def compare_systems_of(
    call: CompareSystemsCall,
    statistics: Mapping[str, Mapping[str, Statistic]],
    parts: Sequence[Part],
) -> dict[str, Any]:
    """Compare systems by each metric: the engine of `skboot.compare_systems`.

    Parameters
    ----------
    call : CompareSystemsCall
    statistics : mapping of str to mapping of str to Statistic
        By metric and system.
    parts : sequence of Part
        Subgroups.

    Returns
    -------
    dict of str to ComparisonResult or ResultTable
        By metric, a table with subgroups.
    """
    units = _units(call, statistics, parts)
    binding = call.alone.plan.bind([unit.subject.coding for unit in units])
    units, left_out, crossed = _bootstrapped(call, units, binding)
    results: dict[str, Any] = {}
    for metric in statistics:
        table = {}
        families = {}
        for part in parts:
            of_part = {
                unit.name: (k, unit)
                for k, unit in enumerate(units)
                if unit.metric == metric and unit.part is part
            }
            contestants = _contestants(call, of_part, left_out, crossed)
            families[part.name] = contestants
            table[part.name] = _comparison(call, metric, part, contestants)
        if len(parts) > 1:
            statistic = statistics[metric][next(iter(call.rows))]
            pairs = pairs_of(call.rows, call.reference)
            gaps = largest_gaps(call.alone, metric, statistic, parts, families, pairs)
            results[metric] = ResultTable(table | {"gap": ResultTable(gaps)})
        else:
            results[metric] = table[None]
    return results


def _units(
    call: CompareSystemsCall,
    statistics: Mapping[str, Mapping[str, Statistic]],
    parts: Sequence[Part],
) -> list[_Unit]:
    """Return the reduced rows of every system, in an order that does not depend on the call."""
    by_system_name: dict[str, list[_Unit]] = {}
    for name, rows in call.rows.items():
        alone = replace(call.alone, rows=rows)
        for metric, by_system in statistics.items():
            for part in parts:
                prepared = prepare(alone, by_system[name], part)
                # The differences do without standard errors on every resample.
                with_variance = prepared.interval == "studentized"
                subject = replace(prepared.subject, with_variance=with_variance)
                prepared = replace(prepared, subject=subject)
                unit = _Unit(name, metric, part, alone, prepared, prepared.known)
                by_system_name.setdefault(name, []).append(unit)
    order = in_order_of_content({name: _columns(own) for name, own in by_system_name.items()})
    return [unit for name in order for unit in by_system_name[name]]


def _columns(units: Sequence[_Unit]) -> list[Any]:
    """Return the numbers of a system; systems are sorted by them, not by their names."""
    columns: list[Any] = []
    for unit in units:
        code, terms = unit.subject.coding.code, unit.subject.reduced.terms
        if isinstance(terms, np.ndarray) and terms.dtype == bool:
            # Flags have the place of the numbers they stand for.
            terms = terms.astype(np.float64)
        arrays = [code, terms]
        if all(array is None for array in arrays):
            arrays = [unit.columns[1]]
        columns += arrays
    return columns


def _bootstrapped(
    call: CompareSystemsCall, units: list[_Unit], binding: Binding
) -> tuple[list[_Unit], JackknifeValues | None, NDArray[np.float64] | None]:
    """Return the systems with replicates, their values without single units, and covariances.

    Values without single units are for BCa, covariances by cells and members for crossed factors.
    """
    subjects = [unit.subject for unit in units]
    alone = call.alone
    distributions = bootstrap(binding, subjects, alone.workers)
    left_out = None
    if call.asked.interval == "bca":
        design = call.alone.plan.design
        if design.no_jackknife:
            must = f"not be 'bca' with {design.groups_in_messages}"
            advice = f"{design.no_jackknife.capitalize()}. Use interval='expanded'."
            raise check.fail("interval", must, "'bca'", advice)
        left_out = leave_out(binding, subjects)
    prepared = {k: unit.prepared for k, unit in enumerate(units)}
    crossed = None
    if call.asked.interval == "two-way":
        crossed = _crossed_covariances(call, prepared, distributions)
    jackknives = jackknives_of(call.alone, binding, prepared, distributions)
    done = [
        replace(unit, evidence=unit.prepared.evidence(distribution, jackknife))
        for unit, distribution, jackknife in zip(units, distributions, jackknives, strict=True)
    ]
    return done, left_out, crossed


def _crossed_covariances(
    call: CompareSystemsCall,
    prepared: Mapping[int, Prepared],
    distributions: Sequence[BootstrapDistribution],
) -> NDArray[np.float64]:
    """Return the covariances of the systems by cells and members; refuse where there are none."""
    design = call.alone.plan.design
    known = isinstance(design, CrossedDesign) and all(
        has_influence(one.subject.statistic) for one in prepared.values()
    )
    if not isinstance(design, CrossedDesign) or not known:
        must = (
            "not be 'two-way' unless groups are crossed, of shape (n_samples, 2), and the metrics "
            "functions of sums or areas under ROC curves"
        )
        advice = "Use interval='expanded'."
        raise check.fail("interval", must, "'two-way'", advice)
    return covariances_of(design, prepared, distributions)


def _contestants(
    call: CompareSystemsCall,
    units: Mapping[str, tuple[int, _Unit]],
    left_out: JackknifeValues | None,
    crossed: NDArray[np.float64] | None,
) -> dict[str, Contestant]:
    """Systems of one metric and subgroup, in the order of the call."""
    errors = _delong_covariance(call, {name: units[name][1] for name in call.rows})
    contestants = {}
    for name in call.rows:
        rank, unit = units[name]
        chosen = chosen_interval(unit.call, unit.evidence)
        result = result_of(
            unit.call, unit.metric, unit.subject.statistic, unit.part, unit.evidence, chosen
        )
        contestants[name] = Contestant(
            name=name,
            rank=rank,
            evidence=unit.evidence,
            result=result,
            shared_notes=(
                *(note for note in chosen.notes if note.kind == "few"),
                *unit.call.rows.notes_for(unit.subject.statistic),
            ),
            predicted=unit.columns[1],
            right=_right_rows(unit),
            left_out=None if left_out is None else (left_out, left_out.values[rank]),
            delong=None if errors is None else errors[name],
            crossed=None if crossed is None else (crossed, rank),
        )
    return contestants


def _right_rows(unit: _Unit) -> NDArray[np.bool_] | None:
    """Whether each row counts as 1, in the metric's direction, for independent 0/1 rows."""
    share, statistic = unit.evidence.share, unit.subject.statistic
    if share is None or not statistic.of_row_values:
        return None
    values = statistic.values_of(unit.subject.reduced) > 0.5
    return values if share.sign > 0 else ~values


def _delong_covariance(
    call: CompareSystemsCall, units: Mapping[str, _Unit]
) -> dict[str, tuple[NDArray[np.float64], int, int]] | None:
    """Return the covariance of the areas, the number of each system in it and the smaller class."""
    if call.asked.interval != "delong":
        return None
    statistics = {name: without_sign(unit.subject.statistic) for name, unit in units.items()}
    has_delong = all(
        statistics[name].reads == "pairs"
        and unit.evidence.facts.delong is not None
        and unit.evidence.independent_rows
        for name, unit in units.items()
    )
    if not has_delong:
        raise check.fail(
            "interval",
            "not be 'delong' unless the metric is the area under the ROC curve of two classes, on "
            "independent, unweighted rows",
            "'delong'",
            "Use interval='expanded'.",
        )
    ordered = in_order_of_content({name: _columns([units[name]]) for name in units})
    y_true, pos_label = units[ordered[0]].columns[0], statistics[ordered[0]].pos_label
    positive = positive_rows(y_true, pos_label)
    scores = [
        positive_scores(units[name].columns[1], statistics[name].labels, pos_label)
        for name in ordered
    ]
    _, covariance = delong_covariance(positive, np.array(scores))
    small = int(min(positive.sum(), (~positive).sum()))
    return {name: (covariance, k, small) for k, name in enumerate(ordered)}


# ------------------------------------------------------------------ results


def _comparison(
    call: CompareSystemsCall,
    metric: str,
    part: Part,
    contestants: Mapping[str, Contestant],
) -> ComparisonResult:
    """Return the comparison by one metric on one subgroup."""
    design = call.alone.plan.design
    copies = [copy_of_truth(name, rows, "advice") for name, rows in call.rows.items()]
    return compared_systems(
        metric if part.name is None else f"{metric} ({part.name})",
        contestants,
        call.asked,
        call.reference,
        call.alone.settings,
        held_fixed=design.held_fixed,
        notes=chain.from_iterable(copies),
        remarks=design.remarks,
    )
