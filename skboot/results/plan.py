"""`EvaluationPlan`: how many test units and runs an evaluation needs, as far as a pilot tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .._base.doors import door
from .._base.errors import thousands
from . import rendering, result, wording
from .result import FromACall, Provenance, Shown, gathered

if TYPE_CHECKING:
    from ..plots import PlanDisplay

_NO_SIZE = "out of reach"


class PlanRow(NamedTuple):
    """A size, and what it reaches.

    Attributes
    ----------
    n_runs : int or None
        Runs, of each method where there are two; None for trained systems.
    n_units : int or None
        Test units; None where no number of them reaches the target with so many runs.
    value : float
        Expected half-width, or power; the best of any number of units where ``n_units`` is None.

    Examples
    --------
    >>> from skboot import plan_evaluation
    >>> for row in plan_evaluation(proportion=0.9, half_width=0.02).table:
    ...     print(row.n_units, round(row.value, 3))
    217 0.04
    434 0.028
    868 0.02
    1736 0.014
    3472 0.01
    """

    n_runs: int | None
    n_units: int | None
    value: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationPlan(FromACall, Shown):
    """How much test data, and how many runs, an evaluation needs.

    `skboot.plan_evaluation` makes them. Two plans are equal if all they hold is equal; they cannot
    be hashed or changed.

    Attributes
    ----------
    n_units : int
        Test units that are needed: rows, or whole groups.
    unit : str
        What a unit is, in the singular: "row", "group", ...
    n_runs : int or None
        Runs that go with them, of each method where there are two; None for trained systems.
    table : tuple of PlanRow
        Sizes with what they reach. Of several runs: for so many runs, how many units are needed.
    target : {"half_width", "difference", "margin"}
        What was asked for.
    target_value : float
        Its value, in units of the metric.
    power : float or None
        Probability with which a difference or margin is to be shown; None for a half-width.
    confidence_level : float
        Confidence level of the intervals.
    value : float
        Half-width, or power, that is expected of ``n_units`` and ``n_runs``.
    n_units_range : tuple of float or None
        The fewest and the most units that may be needed, given the error of the pilot's own
        variance; infinite where no number may suffice. None without a pilot.
    pilot_n_units, pilot_n_runs : int or None
        Size of the pilot.
    metric : str
        What is planned for, in words.
    notes : tuple of str
        What the plan assumes, and cautions.
    held_fixed : tuple of str
        Empty.
    seed : None
        Plans use no random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.

    Examples
    --------
    >>> from skboot import bootstrap_score, plan_evaluation
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> pilot = bootstrap_score(y_true, y_pred, random_state=0)
    >>> plan = plan_evaluation(pilot, half_width=0.02)
    >>> plan.n_units, plan.unit, plan.n_units_range
    (882, 'row', (611.0, 1234.0))
    >>> print(plan.claim())
    882 rows are expected to give a 95% interval of half-width 0.02 to accuracy (611 to 1234,
    allowing for the uncertainty of the pilot).
    """

    n_units: int
    unit: str
    n_runs: int | None
    table: tuple[PlanRow, ...]
    target: str
    target_value: float
    power: float | None
    confidence_level: float
    value: float
    n_units_range: tuple[float, float] | None
    pilot_n_units: int | None
    pilot_n_runs: int | None
    metric: str
    # What `plot` draws: by number of runs, sizes with their half-width or power.
    _curves: Mapping[str, tuple[tuple[float, float], ...]]
    # Rows of a group of the pilot, on average; None where the units are rows.
    _rows_per_unit: float | None = None
    _provenance: Provenance = field(default_factory=Provenance)

    _format = "skboot.EvaluationPlan", 1
    _noun = "plan"
    _display = "PlanDisplay.from_result"

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> PlanDisplay: ...

    # -------------------------------------------------------------- text

    def __str__(self) -> str:
        return f"{self._size} for {self._aim}"

    @property
    def _size(self) -> str:
        """Units and runs in words."""
        return self._sized(self.n_units, self.n_runs)

    def _sized(self, n_units: int, n_runs: int | None) -> str:
        """Say units, with about how many rows, and runs."""
        units = wording.counted(n_units, self.unit)
        if self._rows_per_unit is not None:
            units += f" (about {thousands(round(n_units * self._rows_per_unit))} rows)"
        return units if n_runs is None else f"{units} and {wording.counted(n_runs, 'run')}"

    @property
    def _aim(self) -> str:
        """Aim of the plan, in words."""
        level, target = rendering.percent(self.confidence_level), f"{self.target_value:g}"
        if self.power is None:
            return f"a half-width of {target} of the {level} interval"
        chance = f"with a probability of {rendering.percent(self.power)}"
        if self.target == "margin":
            return f"passing a margin of {target} {chance} if both are equal ({level} interval)"
        return f"showing a difference of {target} {chance} ({level} interval)"

    @door("EvaluationPlan.claim")
    def claim(self) -> str:
        """Say the plan in a sentence.

        Returns
        -------
        str
            What is needed, for what, and how surely.
        """
        level, target = rendering.percent(self.confidence_level), f"{self.target_value:g}"
        metric = wording.spoken(self.metric)
        purpose = f"a {level} interval of half-width {target} to {metric}"
        if self.power is not None:
            shown = {
                "difference": f"show a true difference of {target} in {metric}",
                "margin": f"pass a margin of {target} in {metric} if both are equal",
            }[self.target]
            chance = rendering.percent(self.power)
            purpose = f"{chance} power to {shown}, by a {level} interval"
        text = f"{self._size} are expected to give {purpose}"
        if self.n_units_range is not None:
            text += f" ({self._range()}, allowing for the uncertainty of the pilot)"
        return f"{text}."

    def to_dict(self) -> dict[str, Any]:
        """Return all that is held, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        record = self._held()
        record["table"] = [row._asdict() for row in self.table]
        return dict(result.plain(record, for_json=True))

    def _heading(self) -> str:
        return f"Plan: {self}"

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a reader should know, as label and text."""
        reached = rendering.significant(self.value)
        facts = [
            ("needed", self._size),
            ("for", f"{wording.spoken(self.metric)}: {self._aim}"),
            ("expected", f"{'half-width' if self.power is None else 'power'} {reached}"),
        ]
        if self.n_units_range is not None and self.pilot_n_units is not None:
            pilot = self._sized(self.pilot_n_units, self.pilot_n_runs)
            facts.append(("pilot", pilot))
            level = rendering.percent(self.confidence_level)
            text = f"{self._range()}, from the uncertainty of the pilot ({level})"
            facts.append((f"range of {wording.plural(self.unit)}", text))
        return facts + [("note", note) for note in self.notes]

    def _range(self) -> str:
        assert self.n_units_range is not None
        low, high = self.n_units_range
        fewest = thousands(int(low))
        if math.isinf(high):
            return f"{fewest} or more, without a largest number"
        return f"{fewest} to {thousands(int(high))}"

    # -------------------------------------------------------------- what `Shown` asks for

    def _tables(self, options: rendering.TableOptions) -> Sequence[tuple[str, rendering.Table]]:
        """Return sizes and what they reach."""
        noun = "half-width" if self.power is None else "power"
        rows = []
        for row in self.table:
            units = _NO_SIZE if row.n_units is None else thousands(row.n_units)
            value = rendering.significant(row.value)
            if options.digits is not None:
                value = rendering.number(row.value, options.digits)
            cells = [units, value if row.n_units is not None else f"{value} at best"]
            rows.append(cells if row.n_runs is None else [str(row.n_runs), *cells])
        titles = [wording.plural(self.unit), noun]
        titles = titles if self.n_runs is None else ["runs", *titles]
        return [("", rendering.Table(titles, rows))]

    def _records(self) -> Sequence[Mapping[str, Any]]:
        value = "half_width" if self.power is None else "power"
        return [
            ({} if row.n_runs is None else {"n_runs": row.n_runs})
            | {"n_units": math.nan if row.n_units is None else row.n_units, value: row.value}
            for row in self.table
        ]

    def _to_parts(self) -> dict[str, Any]:
        return super()._to_parts() | {"curves": dict(self._curves)}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(
            **gathered(cls, parts) | {"table": tuple(PlanRow(*row) for row in parts["table"])}
        )
