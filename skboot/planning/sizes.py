"""The engine of `plan_evaluation`: the size that is enough, and what other sizes reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._base.errors import fail
from ..inference.planning import AreasSpread, DiscordantSpread, ShareSpread, Spread, smallest
from ..results.plan import EvaluationPlan, PlanRow
from ..results.result import Provenance
from .pilots import FEW, AnySpread, Pilot

_RUNS_SHOWN = (2, 3, 5, 10, 20, 50, 100)
_SIZES_SHOWN = (0.25, 0.5, 1, 2, 4)
_LINES_DRAWN = 4
_POINTS_DRAWN = 60


@dataclass(frozen=True)
class PlanCall:
    """Checked arguments of `plan_evaluation`; ``target`` is one of half_width, difference, margin.

    The power is None for a half-width, ``n_runs`` where it was not asked for; ``settings`` are the
    arguments as a result holds them.
    """

    pilot: Pilot
    target: str
    target_value: float
    power: float | None
    n_runs: int | None
    settings: dict[str, Any]

    def value(self, spread: AnySpread, n_units: float, n_runs: int | None) -> float:
        """Half-width, or power, of another size."""
        level = self.pilot.confidence_level
        if isinstance(spread, ShareSpread) or (
            self.power is None and not isinstance(spread, DiscordantSpread | AreasSpread)
        ):
            return spread.half_width(level, n_units, n_runs)
        one_sided = self.pilot.one_sided
        return spread.power(self.target_value, level, n_units, n_runs, one_sided=one_sided)

    def needed(self, spread: AnySpread, n_runs: int | None) -> int | None:
        """Fewest units that reach the target; None where no number does."""

        def is_enough(n_units: int) -> bool:
            value = self.value(spread, n_units, n_runs)
            if self.power is None:
                return value <= self.target_value * (1 + 1e-12)
            return value >= self.power

        return smallest(is_enough, self.pilot.least_units)


def plan_of(call: PlanCall) -> EvaluationPlan:
    """Find the size that reaches the target, and sizes beside it.

    Raises
    ------
    ValueError
        If no size does.
    """
    pilot = call.pilot
    n_runs, n_units = _size(call)
    bounds = None
    if pilot.extremes is not None:
        extremes = pilot.extremes(n_units, n_runs)
        ends = [call.needed(extreme, n_runs) for extreme in extremes]
        low, high = (math.inf if end is None else float(end) for end in ends)
        bounds = low, high
    notes = pilot.notes
    if n_units < FEW:
        plural = pilot.unit if n_units == 1 else f"{pilot.unit}s"
        notes += (
            f"{n_units} {plural} are fewer than {FEW}: intervals from so few cover less often "
            "than stated, whatever their width.",
        )
    return EvaluationPlan(
        n_units=n_units,
        unit=pilot.unit,
        n_runs=n_runs,
        table=_table(call, n_units, n_runs),
        target=call.target,
        target_value=call.target_value,
        power=call.power,
        confidence_level=pilot.confidence_level,
        value=call.value(pilot.spread, n_units, n_runs),
        n_units_range=bounds,
        pilot_n_units=pilot.n_units,
        pilot_n_runs=pilot.n_runs,
        metric=pilot.metric,
        rows_per_unit=pilot.rows_per_unit,
        curves=_curves(call, n_units, n_runs),
        provenance=Provenance(notes, settings=call.settings),
    )


def _size(call: PlanCall) -> tuple[int | None, int]:
    """Return runs and units: with the pilot's number of runs, or more where these cannot do."""
    pilot = call.pilot
    runs: list[int | None] = [call.n_runs or pilot.n_runs]
    if call.n_runs is None and pilot.n_runs is not None and pilot.runs_matter:
        runs += [n for n in _RUNS_SHOWN if n > pilot.n_runs]
    for n_runs in runs:
        n_units = call.needed(pilot.spread, n_runs)
        if n_units is not None:
            return n_runs, n_units
    best = _best(call, runs[-1])
    what = "half-width" if call.power is None else "power"
    must = "be within reach of more test units"
    got = f"{call.target_value:g}; the {what} comes to {best:.3g} at best, with {runs[-1]} runs"
    spread = pilot.spread
    if isinstance(spread, Spread) and spread.fixed > 0:
        advice = "Only more training sets would reduce the variance between training samples."
    else:
        advice = "Use more runs (n_runs=), or an easier target."
    raise fail(call.target, must, got, advice)


def _best(call: PlanCall, n_runs: int | None) -> float:
    """Return the smallest half-width, or the largest power, that any number of units reaches.

    More units need not narrow the interval: where few runs are all that is left to vary, their few
    degrees of freedom widen it.
    """
    sizes = [call.pilot.least_units * 2.0**k for k in range(40)] + [math.inf]
    values = [call.value(call.pilot.spread, size, n_runs) for size in sizes]
    return min(values) if call.power is None else max(values)


def _runs_beside(call: PlanCall, n_runs: int | None) -> list[int | None]:
    """Return numbers of runs that a table shows."""
    pilot = call.pilot
    if not pilot.runs_matter or n_runs is None:
        return [n_runs]
    most = 5 * max(n_runs, pilot.n_runs or 1)
    shown = {n for n in _RUNS_SHOWN if pilot.least_runs <= n <= most}
    return [*sorted({*shown, n_runs, pilot.n_runs or n_runs})]


def _table(call: PlanCall, n_units: int, n_runs: int | None) -> tuple[PlanRow, ...]:
    """Return for each number of runs how many units do; without runs, what other sizes reach."""
    spread, pilot = call.pilot.spread, call.pilot
    if pilot.runs_matter:
        rows = []
        for runs in _runs_beside(call, n_runs):
            needed = call.needed(spread, runs)
            value = _best(call, runs) if needed is None else call.value(spread, needed, runs)
            rows.append(PlanRow(runs, needed, value))
        return tuple(rows)
    sizes = {max(round(share * n_units), pilot.least_units) for share in _SIZES_SHOWN}
    sizes.add(pilot.n_units or n_units)
    return tuple(PlanRow(n_runs, size, call.value(spread, size, n_runs)) for size in sorted(sizes))


def _curves(
    call: PlanCall, n_units: int, n_runs: int | None
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return what a picture shows: by number of runs, sizes and what they reach."""
    spread, least = call.pilot.spread, call.pilot.least_units
    beside = _runs_beside(call, n_runs)
    at = beside.index(n_runs)
    start = max(0, min(at - 1, len(beside) - _LINES_DRAWN))
    first, last = max(n_units / 16, least), max(8.0 * n_units, 2.0 * least)
    sizes = [first * (last / first) ** (k / (_POINTS_DRAWN - 1)) for k in range(_POINTS_DRAWN)]
    return {
        "" if runs is None else str(runs): tuple(
            (size, call.value(spread, size, runs)) for size in sizes
        )
        for runs in beside[start : start + _LINES_DRAWN]
    }
