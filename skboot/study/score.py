"""One score of a study: a metric of a system on some rows, before resampling.

`prepare` reduces the rows and says which interval will be wanted, so that nothing is computed that
it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import fail
from ..inference.automatic import planned_method
from ..inference.crossed import RobustVariance, has_influence
from ..inference.distribution import BootstrapDistribution, BoundStatistic, Jackknife
from ..inference.evidence import Drawn, Evidence
from ..inference.intervals import problem_with
from ..metrics.statistic import Columns, Statistic
from ..resampling.coding import CodedRows
from ..resampling.design import SamplingDesign
from .measured import Measured
from .rows import WHOLE, Part, Rows
from .study import Study

# Maximum cost (operations per resample) of standard errors that no interval of the call needs: kept
# below it, because `EvaluationResult.interval` may ask for them.
_CHEAP_VARIANCE = 1 << 15
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
    """

    metric: str
    rows: Rows
    part: Part
    statistic: Statistic
    subject: BoundStatistic[Statistic]
    known: Evidence
    interval: str

    @property
    def name(self) -> str:
        """Of the metric, and of the subgroup if it is of one."""
        return self.metric if self.part.name is None else f"{self.metric} ({self.part.name})"

    @property
    def columns(self) -> Columns:
        """Truth, predictions and weights of the rows of the part."""
        return self.rows.of(self.statistic, self.part.rows)

    def evidence(self, distribution: BootstrapDistribution, left_out: LeftOut | None) -> Evidence:
        """Return the evidence with estimate and replicates, and what is known without units."""
        acceleration, shape, variance = distribution.acceleration, None, None
        if isinstance(left_out, RobustVariance):
            variance = left_out.value
        elif left_out is not None:
            acceleration = left_out.acceleration
            if left_out.n_values is not None:
                # Without a unit of another subgroup the value is that on the data.
                n_left_out = min(left_out.n_left_out, *self.known.drawn.n_units)
                shape = (left_out.standard_error, left_out.n_values, n_left_out)
        return replace(
            self.known,
            estimate=distribution.estimate,
            replicates=distribution.replicates,
            standard_error=distribution.standard_error,
            replicate_standard_errors=distribution.replicate_standard_errors,
            acceleration=acceleration,
            jackknife=shape,
            group_influence=distribution.influence,
            robust_variance=variance,
        )


def prepare(study: Study, metric: str, measured: Measured, part: Part = WHOLE[0]) -> Score:
    """Reduce the rows of a part, and gather what is known before resampling."""
    design = study.plan.design
    members, rows = _members(design, part), measured.rows.of(measured.statistic, part.rows)
    statistic = measured.statistic
    statistic = statistic if part.rows is None else statistic.on_rows(part.rows)
    reduced = statistic.reduce(*rows)
    variance_cost = statistic.variance_cost(reduced)
    facts = statistic.facts(reduced, rows, members)
    reads = statistic.reading(reduced)
    known = Evidence(np.nan, np.empty(0), Drawn.of(design, part.rows), facts)
    # Rows that the user gave as resamples may split groups; groups then have no influence.
    holds_rows = design.n_factors == 1 and not design.units_are_rows
    by_group = holds_rows and known.facts.additive and study.plan.resamples is None
    if by_group:
        known = _with_groups(known, statistic, design, part, rows)
    coding = CodedRows(
        _whole_code(reduced, part, design.n_samples),
        reduced.n_codes,
        reads,
        reduced.counts if part.rows is None else None,
    )
    interval = planned_method(known) if study.interval == "auto" else study.interval
    if study.interval != "auto" or known.facts.bins is not None:
        _refuse_impossible(interval, known, statistic)
    cost = variance_cost * min(reduced.n_codes, design.n_units[0])
    possible = not design.no_jackknife and (by_group or not holds_rows) and np.isfinite(cost)
    with_variance = possible and (interval == "studentized" or cost <= _CHEAP_VARIANCE)
    subject = BoundStatistic(statistic, reduced, coding, bool(with_variance), by_group)
    return Score(metric, measured.rows, part, measured.statistic, subject, known, interval)


def _with_groups(
    known: Evidence, statistic: Statistic, design: SamplingDesign, part: Part, rows: Columns
) -> Evidence:
    """Return the evidence with what each group has of the rows, and how many decide the score."""
    assert design.members is not None
    y_true, y_pred, weights = rows
    groups = design.members[:, 0] if part.rows is None else design.members[part.rows, 0]
    of_groups = np.bincount(groups, weights, design.n_units[0]).astype(np.float64)
    n_effective = float(len(y_pred))
    if weights is not None and weights.any():
        # Relative weights: the squares of very large or very small ones leave the range.
        relative = weights / weights.max()
        n_effective = float(relative.sum() ** 2 / np.sum(relative**2))
    deciding = None
    if statistic.response in ("labels", "indicators") and y_true is not None:
        wrong = (y_true != y_pred).reshape(len(y_true), -1).any(axis=1)
        deciding = len(np.unique(groups[wrong])), len(np.unique(groups[~wrong]))
    return replace(
        known,
        group_weight=of_groups,
        n_effective_rows=n_effective,
        deciding_groups=deciding,
    )


def _members(design: SamplingDesign, part: Part) -> NDArray[Any] | None:
    """Return which members of each factor the rows of a part are of; None of single rows."""
    if design.units_are_rows or design.members is None:
        return None
    return design.members if part.rows is None else design.members[part.rows]


def _whole_code(reduced: Any, part: Part, n_samples: int) -> NDArray[Any] | None:
    if part.rows is None:
        return reduced.code
    code = np.full(n_samples, -1, dtype=np.intp)
    code[part.rows] = np.arange(len(part.rows)) if reduced.code is None else reduced.code
    return code


def _refuse_impossible(method: str, known: Evidence, statistic: Statistic) -> None:
    """Refuse an interval that this metric or design cannot have, before any work."""
    crossed = known.drawn.design.n_factors > 1 and has_influence(statistic)
    hoped = replace(
        known,
        acceleration=0.0,
        robust_variance=0.0 if crossed else None,
        standard_error=0.0,
        replicate_standard_errors=np.zeros(2),
    )
    problem = problem_with(method, hoped)
    if problem:
        got = f"{method!r}, which {problem.removesuffix('.')}"
        raise fail("interval", "be one that these data allow", got)
