"""The engine of `compare_systems`: systems of one study, or each of a study of its own.

Systems on the same rows share their resamples, and all that is known of pairs of rows; systems on
test sets of their own are independent. A comparison takes them from wherever they come, streams
among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.errors import tell
from .._base.values import in_order_of_content
from ..inference.dependence import has_influence
from ..inference.distribution import JackknifeValues
from ..inference.evidence import Evidence
from ..inference.intervals import LEAVING_OUT, OF_STANDARD_ERRORS
from ..inference.proportions import AreasOfSystems
from ..metrics.callables import without_sign
from ..metrics.ranking import delong_covariance
from ..results import ResultTable
from ..results.basis import SystemBasis
from ..results.comparison import ComparisonResult
from ..study.study import Draws, Score, Study, chosen_interval, result_of
from .arguments import constant_answers, copy_of_truth
from .asked import Asked, answered
from .contestants import Contestant, pairs_of
from .system_pairs import compare_pairs, largest_gaps

# Maximum units times scores that are left out one by one for plans: a millisecond. Of more
# units an error is known well.
_MOST_LEFT_OUT = 1 << 15


def compare_systems_of(asked: Asked, names: Sequence[str], studies: Mapping[str, Study]) -> Any:
    """Compare systems by each metric: the engine of `skboot.compare_systems`.

    Parameters
    ----------
    asked : Asked
    names : sequence of str
        Of the systems, in the order of the call.
    studies : mapping of str to Study
        Of each system that has rows of its own, in an order that does not depend on the call; or
        one study of all systems.

    Returns
    -------
    ComparisonResult or ResultTable
        As of `skboot.compare_systems`.
    """
    by_plan = [own for study in studies.values() for own in study.by_plan()]
    found: dict[str, dict[Any, dict[str, Contestant]]] = {}
    rank = 0
    for study in by_plan:
        for name, score, contestant in _contestants(asked, study, rank):
            family = found.setdefault(score.metric, {}).setdefault(score.part.name, {})
            family[name] = contestant
            rank += 1
    ordered = {name: studies[name] for name in names} if len(studies) > 1 else studies
    settings, whole = _shared_settings(ordered), next(iter(studies.values()))
    results: dict[str, Any] = {}
    for metric in whole.scores:
        families = {
            part.name: {name: found[metric][part.name][name] for name in names}
            for part in whole.parts
        }
        table: dict[Any, Any] = {
            part: compared_systems(asked, of_part, settings) for part, of_part in families.items()
        }
        if len(families) > 1:
            [study] = [own for own in by_plan if metric in own.scores]
            gaps = largest_gaps(study, metric, families, pairs_of(names, asked.reference))
            results[metric] = ResultTable(table | {"gap": ResultTable(gaps)})
        else:
            results[metric] = table[None]
    tell(*chain.from_iterable(study.plan.design.remarks for study in by_plan))
    return whole.laid_out(results)


def compared_systems(
    asked: Asked,
    contestants: Mapping[str, Contestant],
    settings: dict[str, Any],
) -> ComparisonResult:
    """Return the comparison by one metric, and tell what its pairs lack.

    Parameters
    ----------
    asked : Asked
    contestants : mapping of str to Contestant
        The systems, in the order of the call.
    settings : dict
        Arguments as a result holds them.
    """
    pairs, found = compare_pairs(contestants, pairs_of(contestants, asked.reference), asked)
    too_few = [note for note in found if note.kind == "resamples"][:1]
    every = contestants.values()
    of_answers = [note for one in every for note in one.answer_notes]
    shared = dict.fromkeys(note for one in every for note in one.shared_notes)
    fixed = dict.fromkeys(text for one in every for text in one.result.provenance.held_fixed[1:])
    return answered(
        asked,
        {name: one.result for name, one in contestants.items()},
        pairs,
        [*found, *of_answers, *shared],
        ComparisonResult,
        warned=[*too_few, *(note for note in found if note.kind == "caution")],
        metric=next(iter(every)).result.metric,
        estimand="system",
        held_fixed=("the trained systems", *fixed),
        settings=settings,
        paired=next(iter(every)).is_paired,
    )


def _shared_settings(studies: Mapping[str, Study]) -> dict[str, Any]:
    """Return the settings of all studies, by system where they differ."""
    of_each = {name: study.settings for name, study in studies.items()}
    shared: dict[str, Any] = {}
    for key in dict.fromkeys(key for own in of_each.values() for key in own):
        values = {name: own[key] for name, own in of_each.items() if key in own}
        first, *others = values.values()
        shared[key] = values if any(other != first for other in others) else first
    return shared


# ------------------------------------------------------------------ systems of a study


def _contestants(
    asked: Asked, study: Study, first_rank: int
) -> Iterator[tuple[str, Score, Contestant]]:
    """Yield the systems of a study by name, in an order that does not depend on the call."""
    systems = _sorted_systems(study)
    every = [(name, score) for name, own in systems.items() for score in own]
    draws = study.source.draw(study.plan, [score for _, score in every], study.workers)
    for k, (_, score) in enumerate(every):
        _check_delong(asked, score, draws.evidence[k])
    of_pairs = _of_pairs(asked, draws) if len(systems) > 1 else {}
    remarks = study.plan.design.remarks
    for k, (name, score) in enumerate(every):
        evidence = draws.evidence[k]
        chosen = chosen_interval(study, evidence)
        few = (note for note in chosen.notes if note.kind == "few")
        yield (
            name,
            score,
            Contestant(
                name=name,
                rank=first_rank + k,
                evidence=evidence,
                result=result_of(study, score, SystemBasis(evidence), chosen),
                shared_notes=(*few, *score.notes, *study.notes, *remarks),
                answer_notes=(
                    *copy_of_truth(name, score.rows, "advice"),
                    *constant_answers(name, [score.rows]),
                ),
                is_paired=len(systems) > 1,
                **{kind: of_each[k] for kind, of_each in of_pairs.items()},
            ),
        )


def _sorted_systems(study: Study) -> dict[str, list[Score]]:
    """Return the reduced rows of every system, in an order that does not depend on the call."""
    systems: dict[str, list[Score]] = {}
    for name in next(iter(study.scores.values())):
        for metric, by_system in study.scores.items():
            for part in study.parts:
                one = by_system[name][0]
                score = study.source.prepare(
                    study.plan, study.interval, metric, one, part, study.first_look
                )
                systems.setdefault(name, []).append(score)
    if len(systems) == 1:
        return systems
    # Differences do without standard errors on every resample.
    systems = {name: [_without_variance(score) for score in own] for name, own in systems.items()}
    order = in_order_of_content(
        {name: [each for one in own for each in one.numbers] for name, own in systems.items()}
    )
    return {name: systems[name] for name in order}


def _without_variance(score: Score) -> Score:
    with_variance = score.interval in OF_STANDARD_ERRORS
    return replace(score, subject=replace(score.subject, with_variance=with_variance))


def _of_pairs(asked: Asked, draws: Draws) -> dict[str, Sequence[Any]]:
    """Return what is known of systems on the same rows, by the attribute of each that holds it."""
    scores = list(draws.scores.values())
    known: dict[str, Sequence[Any]] = {
        "predicted": [None if asked.first_look else score.answers for score in scores],
        "right": [one.right(draws.evidence[k]) for k, one in draws.scores.items()],
    }
    # Shares of right rows have closed forms; of others units tell how sure an error is.
    for_plans = all(one.subject.coding.reads in ("sums", "pairs") for one in scores)
    for_plans &= any(right is None for right in known["right"])
    for_plans &= min(draws.plan.design.n_units) * len(scores) <= _MOST_LEFT_OUT
    for_plans &= not draws.plan.design.no_jackknife and draws.binding is not None
    # Rows that tell two shares apart are all that looks need.
    by_counts = asked.first_look is not None and all(
        each.share is not None for each in draws.evidence.values()
    )
    if (asked.interval in LEAVING_OUT and not by_counts) or for_plans:
        left_out = _left_out(asked, draws)
        known["left_out"] = [(left_out, values) for values in left_out.values]
    if asked.interval == "two-way":
        covariances = _crossed_covariances(draws)
        known["crossed"] = [(covariances, k) for k in range(len(scores))]
    # Of shares of right rows few that differ have a closed form.
    how = (draws.plan.n_resamples, draws.plan.seed, asked.interval == "smoothed")
    known["table"] = [
        None
        if one.table is None or (right is not None and asked.interval == "auto")
        else (one.table, *how)
        for one, right in zip(scores, known["right"], strict=True)
    ]
    if any(one.facts.delong is not None for one in draws.evidence.values()):
        known["areas"] = _areas(draws)
    return known


def _left_out(asked: Asked, draws: Draws) -> JackknifeValues:
    """Return the values of the systems without single units; refuse where there are none."""
    design = draws.plan.design
    if design.no_jackknife:
        must = f"not be {asked.interval!r} with {design.groups_in_messages}"
        advice = f"{design.no_jackknife.capitalize()}. Use interval='expanded'."
        raise check.fail("interval", must, repr(asked.interval), advice)
    return draws.values_left_out()


def _crossed_covariances(draws: Draws) -> NDArray[np.float64]:
    """Return the covariances of the systems by cells and members; refuse where there are none."""
    known = draws.plan.design.n_factors > 1 and all(
        has_influence(score.subject.statistic) for score in draws.scores.values()
    )
    if not known:
        must = (
            "not be 'two-way' unless groups are crossed, of shape (n_samples, 2), and the metrics "
            "functions of sums or areas under ROC curves"
        )
        advice = "Use interval='expanded'."
        raise check.fail("interval", must, "'two-way'", advice)
    return draws.covariances


def _check_delong(asked: Asked, score: Score, evidence: Evidence) -> None:
    """Refuse intervals of two areas of what has none."""
    has_delong = (
        without_sign(score.subject.statistic).reads == "pairs"
        and evidence.facts.delong is not None
        and evidence.independent_rows
    )
    if asked.interval in ("delong", "logit-delong") and not has_delong:
        raise check.fail(
            "interval",
            f"not be {asked.interval!r} unless the metric is the area under the ROC curve of two "
            "classes, on independent, unweighted rows",
            repr(asked.interval),
            "Use interval='expanded'.",
        )


def _areas(draws: Draws) -> list[tuple[AreasOfSystems, int] | None]:
    """Return for each score the areas under ROC curves on its rows, and its number in them."""
    families: dict[str, list[int]] = {}
    for k, score in draws.scores.items():
        if score.ranking(draws.evidence[k]) is not None:
            families.setdefault(score.name, []).append(k)
    found: dict[int, tuple[AreasOfSystems, int]] = {}
    for family in families.values():
        by_number = {str(k): draws.scores[k].numbers for k in family}
        ordered = [int(k) for k in in_order_of_content(by_number)]
        rankings = [draws.scores[k].ranking(draws.evidence[k]) for k in ordered]
        positive = rankings[0][0]  # type: ignore[index]
        scores = np.array([each[1] for each in rankings if each is not None])
        small = int(min(positive.sum(), (~positive).sum()))
        areas = AreasOfSystems(*delong_covariance(positive, scores), small)
        found |= {k: (areas, number) for number, k in enumerate(ordered)}
    return [found.get(k) for k in draws.scores]
