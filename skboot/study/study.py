"""A study: what is evaluated on which resamples, all checked.

Every function of frozen predictions makes one of what it was given: scores, systems and runs by
`study_of`; curves, whose points are no metrics, take the same `planned`. What is drawn may go by
metric where tasks are averaged over: `Study.answered` evaluates what belongs to each plan, and puts
the results where they belong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.errors import Note, tell
from .._base.work import DEFAULT_WORKERS, Workers
from ..inference.distribution import check_replicates_fit
from ..resampling.design import (
    CrossedDesign,
    GroupDesign,
    OnePopulationDesign,
    RowDesign,
    SamplingDesign,
)
from ..resampling.plan import ResamplingPlan
from ..results.result import NOTHING_ASKED, CallFacts
from ..results.table import laid_out
from .draws import IN_MEMORY, Source
from .measured import Measured, Places, Scores, Scoring, measured_by
from .row_order import dates_of_each, warn_of_orders, with_caution
from .rows import WHOLE, Part, Sampling, Wanted, check_row_each, checked_rows, subgroups

if TYPE_CHECKING:
    from ..metrics.tasks import Tasks

# One metric that has no name to be told apart by, and nothing else.
ALONE = Places(True, {}, True)


@dataclass(frozen=True, eq=False)
class Study:
    """What is evaluated on which resamples.

    Attributes
    ----------
    scores : Scores
        By metric, and by system or method.
    plan : ResamplingPlan
        Without the tasks; see `by_plan`.
    interval : str
        Of each score by itself: "auto" or the name of a method.
    confidence_level : float
    settings : dict
        Arguments as a result holds them.
    facts : CallFacts
        What of the call decides words of its results.
    parts : sequence of Part
        One of all rows, or the subgroups.
    tasks : Tasks or None
        That metrics are averaged over.
    of_tasks : sequence of tuple (ResamplingPlan, Scores)
        What is drawn for them, and the averages that are evaluated by it.
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
    of_tasks: Sequence[tuple[ResamplingPlan, Scores]] = ()
    places: Places = ALONE
    workers: Workers = DEFAULT_WORKERS
    notes: tuple[Note, ...] = ()
    adjust: str | None = None
    source: Source = IN_MEMORY
    first_look: int | None = None

    @classmethod
    def of_rows(cls, sampling: Sampling, n_samples: int, n_series: int, wanted: Wanted) -> Study:
        """Return the study of rows with checked weights, in which nothing is evaluated yet."""
        weights = sampling.sample_weight
        plan = resampling_plan(sampling, n_samples, n_series, weights)
        settings = wanted.settings | sampling.settings(plan.n_resamples)
        facts = CallFacts(weighted=weights is not None)
        return cls({}, plan, settings=settings, facts=facts, **wanted._asdict())

    def by_plan(self) -> list[Study]:
        """Return the study of each plan, none of which has tasks beside it."""
        if self.tasks is None:
            return [self]
        return [
            replace(self, plan=plan, scores=scores, tasks=None, of_tasks=())
            for plan, scores in self.of_tasks
        ]

    def answered(self, evaluate: Callable[[Study], Mapping[str, Any]]) -> Any:
        """Return what an engine makes of each plan, laid out."""
        results: dict[str, Any] = {}
        for own in self.by_plan():
            results |= evaluate(own)
            tell(*own.plan.design.remarks)
        return self.laid_out(results)

    def laid_out(self, results: Mapping[str, Any]) -> Any:
        """Return one result alone, or those of all metrics where they belong."""
        if self.places.alone:
            return next(iter(results.values()))
        return laid_out({name: results[name] for name in self.scores}, *self.places)


def study_of(
    scored: tuple[Scores, Places],
    sampling: Sampling,
    answers: dict[str, Any],
    wanted: Wanted,
    settings: dict[str, Any],
    n_series: int = 0,
) -> Study:
    """Return the study of checked scores.

    Parameters
    ----------
    scored : tuple of (Scores, Places)
    sampling : Sampling
    answers : mapping of str to array-like
        Truth and predictions as they were given, by argument.
    wanted : Wanted
    settings : dict
        Other arguments as a result holds them.
    n_series : int
        How many statistics there are, where that is known, for the memory of their replicates.
    """
    scores, places = scored
    drawn = planned(sampling, answers, scores, n_series)
    of_rows = sampling.settings(drawn.plan.n_resamples) | drawn.settings
    return Study(
        scores,
        drawn.plan,
        settings=wanted.settings | settings | of_rows,
        facts=drawn.facts,
        parts=drawn.parts,
        tasks=drawn.tasks,
        of_tasks=drawn.of_tasks,
        places=places,
        **wanted._asdict(),
    )


def study_of_system(
    y_true: Any, y_pred: Any, sampling: Sampling, scoring: Scoring, wanted: Wanted
) -> Study:
    """Return the study of one system whose rows are in memory: rows, statistics, plan."""
    rows = checked_rows(y_true, y_pred, sampling.sample_weight, scoring.labels)
    scored = measured_by(scoring, {"": [("y_pred", rows)]})
    answers = {"y_true": y_true, "y_pred": y_pred}
    return study_of(scored, sampling, answers, wanted, scoring.settings)


class Planned(NamedTuple):
    """What is drawn, as attributes of a study, and what settings and facts hold of it."""

    plan: ResamplingPlan
    parts: Sequence[Part]
    tasks: Tasks | None
    of_tasks: Sequence[tuple[ResamplingPlan, Scores]]
    settings: dict[str, Any]
    facts: CallFacts


def planned(
    sampling: Sampling, answers: dict[str, Any], scores: Scores, n_series: int = 0
) -> Planned:
    """Return what is drawn for scores; see `study_of`."""
    rows = _any_of(scores).rows
    plan = resampling_plan(sampling, rows.n_samples, n_series, rows.sample_weight)
    tasks = None
    # Few calls have tasks or rows in time order: their modules are imported for those.
    if sampling.average_over is not None:
        from .tasks import checked_tasks, over_tasks

        tasks = checked_tasks(sampling.average_over, rows)
    parts = subgroups(sampling.by, rows)
    if sampling.by is not None and sampling.groups is not None:
        n_units = [plan.design.among(part.rows)[0] for part in parts]
        single = np.all(np.array(n_units) == 1, axis=0)
        if single.any():
            must = "hold several groups for a subgroup of by, to have intervals by groups"
            advice = "Rows of a single group are its sample: leave groups out, or by."
            if len(single) > 1:
                column = int(np.argmin(single))
                advice = f"Leave by out, or give groups[:, {column}] alone."
            raise check.fail("groups", must, "one group for every subgroup", advice)
    warn_of_orders(answers | sampling.columns)
    dates, length = dates_of_each(answers), 0
    if sampling.block_length is None:
        plan = with_caution(plan, bool(dates), scores, parts, tasks)
    else:
        from .series import in_time

        plan, length = in_time(plan, sampling, dates, scores, tasks)
    settings = {"block_length": length} if length else {}
    facts = CallFacts(
        block_length=length,
        weighted=sampling.sample_weight is not None,
        by_subgroup=sampling.by is not None,
    )
    if tasks is None:
        return Planned(plan, parts, None, (), settings, facts)
    of_tasks, n_tasks = over_tasks(plan, tasks, scores, parts), len(tasks.names)
    settings["average_over"] = n_tasks
    facts = replace(facts, n_tasks=(n_tasks,))
    return Planned(plan, parts, tasks, of_tasks, settings, facts)


def _any_of(scores: Scores) -> Measured:
    """Return the first of all scores, for what they share."""
    return next(iter(next(iter(scores.values())).values()))[0]


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
    same_population = check.check_flag("same_population", sampling.same_population)
    advice = "1999 is enough for a 95% interval."
    n_resamples = check.check_count("n_resamples", sampling.n_resamples, 2, advice)
    if n_series:
        check_replicates_fit(n_resamples, n_series)
    design = _design(sampling.groups, sampling.strata, same_population, n_samples, weights)
    if sampling.resamples is None:
        return ResamplingPlan(design, n_resamples, seed)
    if design.no_given_rows:
        must = f"not be combined with {design.groups_in_messages}"
        raise check.fail("resamples", must, "", design.no_given_rows)
    indices = check.check_resamples(sampling.resamples, n_samples)
    drawn = design.units_drawn(indices)
    if drawn is not None:
        return ResamplingPlan(design, len(indices), seed, drawn=drawn)
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
    groups: ArrayLike | None,
    strata: ArrayLike | None,
    same_population: bool,
    n_samples: int,
    weights: NDArray[np.float64] | None,
) -> SamplingDesign:
    if groups is None:
        if same_population:
            raise check.fail(
                "same_population",
                "be False without crossed groups",
                "True",
                "Give groups of shape (n_samples, 2).",
            )
        codes = check.check_strata(strata, None)
        check_row_each("strata", codes, n_samples)
        codes, remarks = _collapsed(codes, codes, "row")
        return replace(RowDesign.of(n_samples, codes), remarks=remarks)
    pair: Any = groups if isinstance(groups, list | tuple) and len(groups) == 2 else None
    if pair and n_samples != 2 and all(np.shape(column) == (n_samples,) for column in pair):
        must = "be of shape (n_samples,), or (n_samples, 2) for crossed groups"
        advice = "Give two columns: groups=np.column_stack((first, second))."
        raise check.fail("groups", must, "two sequences", advice)
    columns = check.check_rows("groups", groups)
    check_row_each("groups", columns, n_samples)
    if columns.ndim == 2:
        pairs = check.check_pairs(columns, same_population)
        if not same_population:
            _tell_of_shared_members(columns)
        check.check_strata(strata, pairs)
        design = OnePopulationDesign if same_population else CrossedDesign
        return design.of(pairs)
    if same_population:
        raise check.fail(
            "same_population",
            "be False unless groups has two columns",
            "True",
            "Give groups of shape (n_samples, 2).",
        )
    units = check.check_groups(columns)
    within = check.check_strata(strata, units)
    check_row_each("strata", within, n_samples)
    of_units = None if within is None else within[np.unique(units, return_index=True)[1]]
    within, remarks = _collapsed(within, of_units, "group")
    return replace(GroupDesign.of(units, within, weights), remarks=remarks)


def _collapsed(
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
    first, second = (set(column.tolist()) for column in columns.T)
    if 2 * len(first & second) > min(len(first), len(second)):
        text = (
            "Both columns of groups name the same members, and are taken for two factors. If they "
            "are pairs of one population, such as speakers, give same_population=True."
        )
        tell(Note("caution", text))
