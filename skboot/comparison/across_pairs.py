"""Methods compared across data sets: each by itself, each pair, and all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._streams import child_seed
from .._warnings import Notes, collected
from ..inference._tuning import DATA_SETS_FOR_PIVOTS, FEW_DATA_SETS
from ..inference.automatic import within_range
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.data_set_ranks import mean_rank_limits, ranks_of_rows, wilcoxon_p_value
from ..inference.data_sets import (
    Intervals,
    MeansOfDrawn,
    between_deviation,
    covariance_of_differences,
    mean_of_these,
    pivot_intervals,
    simultaneous,
)
from ..inference.differences import share_won
from ..inference.evidence import Drawn, Evidence
from ..inference.multiplicity import holm
from ..inference.normal_law import symmetric_root
from ..inference.run_differences import RunsDifference
from ..metrics.facts import Facts
from ..resampling.draws import multinomial_counts
from ..results import EvaluationResult
from ..results.data_sets import DatasetsComparison, DatasetsPair
from ..results.data_sets_basis import DrawnDataSetsBasis, GivenDataSetsBasis
from ..results.pairs import PairedDifference
from ..results.provenance import Provenance
from ..results.result import evaluation_result
from .asked import Asked, answered
from .contestants import Floats, estimated_differences, pairs_of
from .data_sets import DataSets
from .t_pairs import adjusted, t_pair

# Keys of the streams below the seed of a call: resamples of the data sets, draws of the errors.
_RESAMPLES, _ERRORS = 0, 1
# Share of the largest score by which a difference may exceed the margin and be rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class AcrossCall:
    """Checked arguments of `skboot.compare_across`."""

    data: DataSets
    estimand: str
    margin: float | None
    asked: Asked
    n_resamples: int
    seed: np.random.SeedSequence

    @property
    def uses_pivots(self) -> bool:
        """Whether intervals come from the studentized bootstrap."""
        return self.estimand == "new" and len(self.data.names) >= DATA_SETS_FOR_PIVOTS

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the methods of each pair."""
        number = {name: k for k, name in enumerate(self.data.methods)}
        return [
            (number[one], number[other])
            for one, other in pairs_of(self.data.methods, self.asked.reference)
        ]

    @cached_property
    def differences(self) -> Floats:
        """First minus second on each data set, (n_datasets, n_pairs)."""
        first, second = np.array(self.pairs).T
        return estimated_differences(self.data.scores[:, first], self.data.scores[:, second])

    @cached_property
    def counts(self) -> NDArray[np.integer]:
        """How often each resample holds each data set, (n_resamples, n_datasets)."""
        rng = np.random.default_rng(child_seed(self.seed, _RESAMPLES))
        of_one = np.ones(len(self.data.names), dtype=np.int64)
        return multinomial_counts(rng, self.n_resamples, of_one).astype(np.int64)

    @cached_property
    def drawn(self) -> MeansOfDrawn:
        """Mean differences over resamples of the data sets."""
        return MeansOfDrawn(self.differences, self.counts)

    @cached_property
    def variances_on_these(self) -> Floats:
        """Of the mean difference of each two methods, (n_methods, n_methods)."""
        assert self.data.errors is not None
        return np.asarray((self.data.errors.of_differences**2).sum(axis=0)) / (
            len(self.data.names) ** 2
        )


def compared_across(call: AcrossCall) -> DatasetsComparison:
    """Return the comparison, and tell what must be known of it."""
    with collected() as told:
        systems = _systems(call)
        pairs = _records_by_pivots(call) if call.uses_pivots else _records_by_t(call, systems)
    with collected() as of_limits:
        records = _with_data_sets(call, [_within_range(call, pair) for pair in pairs])
    cut = [note for note in (*told, *of_limits) if note.kind == "choice"]
    others = dict.fromkeys(note for note in told if note.kind != "choice")
    notes = [*_notes(call, records), *cut[:1], *list(others)[:1]]
    data = call.data
    ranks = ranks_of_rows(data.scores, greater_is_better=data.greater_is_better)
    return answered(
        call.asked,
        systems,
        records,
        notes,
        DatasetsComparison,
        metric=data.metric,
        estimand=call.estimand,
        held_fixed=_held_fixed(call),
        settings=_settings(call),
        datasets=data.names,
        scores=data.scores,
        mean_rank_limits=mean_rank_limits(ranks, call.counts, call.asked.confidence_level),
        margin=call.margin,
    )


def _held_fixed(call: AcrossCall) -> tuple[str, ...]:
    return ("the data sets", *call.data.held_fixed) if call.estimand == "these" else ()


def _settings(call: AcrossCall) -> dict[str, Any]:
    own = {name: getattr(call, name) for name in ("estimand", "margin", "n_resamples")}
    return own | call.asked.settings


# ------------------------------------------------------------------ each method by itself


def _systems(call: AcrossCall) -> dict[str, EvaluationResult]:
    """Mean score of each method, with its interval."""
    data = call.data
    bases = _drawn_bases(call) if call.estimand == "new" else _given_bases(call)
    method = "studentized" if call.uses_pivots else "t"
    known: dict[str, Any] = {
        "metric": data.metric,
        "estimand": call.estimand,
        "automatic": True,
        "n_samples": len(data.names),
        "unit": "data set",
        "greater_is_better": data.greater_is_better,
    }
    provenance = Provenance((), _held_fixed(call), call.seed, _settings(call))
    intervals = [basis.automatic(method, call.asked.confidence_level) for basis in bases]
    return {
        name: evaluation_result(provenance, basis=basis, confidence_interval=interval, **known)
        for name, basis, interval in zip(data.methods, bases, intervals, strict=True)
    }


def _evidence(
    data: DataSets, estimate: float, replicates: Floats, *, additive: bool = False, **known: Any
) -> Evidence:
    replicates, drawn = np.ascontiguousarray(replicates), Drawn("groups", (len(data.names),))
    return Evidence(estimate, replicates, drawn, Facts(data.bounds, additive), **known)


def _drawn_bases(call: AcrossCall) -> list[DrawnDataSetsBasis]:
    """Means over resamples of the data sets."""
    means, n = MeansOfDrawn(call.data.scores, call.counts), len(call.data.names)
    return [
        DrawnDataSetsBasis(
            _evidence(
                call.data,
                float(means.means[k]),
                means.replicates[:, k],
                additive=True,
                standard_error=float(means.standard_errors[k]),
                replicate_standard_errors=np.ascontiguousarray(
                    means.replicate_standard_errors[:, k]
                ),
            ),
            n - 1.0,
        )
        for k in range(len(call.data.methods))
    ]


def _given_bases(call: AcrossCall) -> list[GivenDataSetsBasis]:
    """Means over these data sets, with draws from the normal law of their errors."""
    data, errors = call.data, call.data.errors
    assert errors is not None
    # A score is as well known as the least known of its differences.
    freedom = errors.degrees_of_freedom.min(axis=2)
    standard_errors, df = mean_of_these(errors.of_scores, freedom)
    of_scores = standard_errors**2
    covariance = (of_scores[:, None] + of_scores - call.variances_on_these) / 2
    rng = np.random.default_rng(child_seed(call.seed, _ERRORS))
    means = data.scores.mean(axis=0)
    draws = means + rng.standard_normal((call.n_resamples, len(means))) @ symmetric_root(covariance)
    return [
        GivenDataSetsBasis(
            _evidence(data, float(means[k]), draws[:, k], standard_error=float(standard_errors[k])),
            float(df[k]),
        )
        for k in range(len(means))
    ]


# ------------------------------------------------------------------ each pair, and all at once


def _records_by_pivots(call: AcrossCall) -> list[PairedDifference]:
    """Records from the studentized bootstrap of the mean differences."""
    level, alternative, drawn = call.asked.confidence_level, call.asked.alternative, call.drawn
    alone = pivot_intervals(drawn, level, alternative)
    n_pairs = len(call.pairs)
    wide, name = alone, "studentized"
    signs = (alone.low > 0).astype(np.int8) - (alone.high < 0).astype(np.int8)
    if n_pairs > 1 and call.asked.adjust == "max-t":
        wide, signs = simultaneous(drawn, alone, level, alternative)
        name = "max-t"
    elif n_pairs > 1 and call.asked.adjust == "holm":
        strict = pivot_intervals(drawn, 1 - (1 - level) / n_pairs, alternative)
        wide, name = Intervals(strict.low, strict.high, holm(alone.p_values)), "bonferroni"
    records = []
    for k, (one, other) in enumerate(call.pairs):
        joint = call.asked.adjust is not None
        wide_interval = ConfidenceInterval(float(wide.low[k]), float(wide.high[k]), level, name)
        records.append(
            PairedDifference(
                first=call.data.methods[one],
                second=call.data.methods[other],
                difference=float(drawn.means[k]),
                confidence_interval=ConfidenceInterval(
                    float(alone.low[k]), float(alone.high[k]), level, "studentized"
                ),
                simultaneous_interval=wide_interval if joint else None,
                p_value=float(alone.p_values[k]),
                p_value_adjusted=float(wide.p_values[k]) if joint else np.nan,
                bootstrap_support=share_won(drawn.replicates[:, k], call.data.greater_is_better),
                standard_error=float(drawn.standard_errors[k]),
                degrees_of_freedom=len(call.data.names) - 1.0,
                alternative=alternative,
                step_down_sign=int(signs[k]) if call.asked.with_ranks else None,
            )
        )
    return records


def _records_by_t(call: AcrossCall, systems: dict[str, EvaluationResult]) -> list[PairedDifference]:
    """Records from Student's t."""
    if call.estimand == "new":
        errors = call.drawn.standard_errors
        freedom = np.full(len(errors), len(call.data.names) - 1.0)
        covariance_of = partial(_covariance_of_drawn, call)
    else:
        assert call.data.errors is not None
        first, second = np.array(call.pairs).T
        errors, freedom = mean_of_these(
            call.data.errors.of_differences[:, first, second],
            call.data.errors.degrees_of_freedom[:, first, second],
        )
        covariance_of = partial(_covariance_on_these, call)
    differences = [
        RunsDifference(float(mean), float(error), float(df))
        for mean, error, df in zip(call.drawn.means, errors, freedom, strict=True)
    ]
    names = [tuple(call.data.methods[k] for k in pair) for pair in call.pairs]
    replicates = {name: system.bootstrap_distribution for name, system in systems.items()}
    records = [
        t_pair(
            (one, other),
            difference,
            "t",
            call.asked,
            bootstrap_support=share_won(
                replicates[one] - replicates[other], call.data.greater_is_better
            ),
        )
        for (one, other), difference in zip(names, differences, strict=True)
    ]
    records = adjusted(
        records,
        differences,
        call.asked,
        lambda those: _correlation(covariance_of(those)),
        call.seed,
    )
    return [_undetermined(record) if _is_flat(record) else record for record in records]


def _covariance_of_drawn(call: AcrossCall, those: Sequence[int]) -> Floats:
    return np.atleast_2d(np.cov(call.differences[:, list(those)], rowvar=False))


def _covariance_on_these(call: AcrossCall, those: Sequence[int]) -> Floats:
    return covariance_of_differences(call.variances_on_these, [call.pairs[k] for k in those])


def _correlation(covariance: Floats) -> Floats:
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    return np.asarray(covariance / np.outer(scale, scale))


def _is_flat(record: PairedDifference) -> bool:
    """Whether a difference that is not 0 has no error."""
    return record.standard_error == 0 and record.difference != 0


def _undetermined(record: PairedDifference) -> PairedDifference:
    """Return a record that tells nothing: equal values do not show how much others would differ."""
    wide = record.simultaneous_interval
    return replace(
        record,
        confidence_interval=record.confidence_interval.with_limits(-np.inf, np.inf),
        simultaneous_interval=None if wide is None else wide.with_limits(-np.inf, np.inf),
        p_value=1.0,
        p_value_adjusted=record.p_value_adjusted if wide is None else 1.0,
        step_down_sign=None if record.step_down_sign is None else 0,
    )


def _within_range(call: AcrossCall, record: PairedDifference) -> PairedDifference:
    """Return a record whose limits are cut at the range of differences, where that is known."""
    least, greatest = call.data.bounds
    # The other limit of one side stays infinite.
    low = -np.inf if call.asked.alternative == "less" else least - greatest
    high = np.inf if call.asked.alternative == "greater" else greatest - least
    wide = record.simultaneous_interval
    return replace(
        record,
        confidence_interval=within_range(record.confidence_interval, (low, high)),
        simultaneous_interval=None if wide is None else within_range(wide, (low, high)),
    )


# ------------------------------------------------------------------ what data sets say besides


def _with_data_sets(call: AcrossCall, records: Sequence[PairedDifference]) -> list[DatasetsPair]:
    """Add Wilcoxon's test, the spread over the data sets, and the shares by the margin."""
    differences = call.differences
    wilcoxon = [wilcoxon_p_value(column, call.asked.alternative) for column in differences.T]
    spread = call.drawn.deviations
    between: list[float | None] = [None] * len(records)
    if call.data.errors is not None:
        first, second = np.array(call.pairs).T
        errors = call.data.errors.of_differences[:, first, second]
        between = between_deviation(spread, errors).tolist()
    return [
        DatasetsPair.of(
            record,
            wilcoxon_p_value=wilcoxon[k],
            wilcoxon_p_value_adjusted=float(adjusted_p),
            standard_deviation=float(spread[k]),
            between_deviation=between[k],
            **_shares(call, differences[:, k]),
        )
        for k, (record, adjusted_p) in enumerate(zip(records, holm(wilcoxon), strict=True))
    ]


def _shares(call: AcrossCall, differences: Floats) -> dict[str, float]:
    """Shares of the data sets on which a difference is within the margin, and beyond it."""
    if call.margin is None:
        return {}
    rounding = _ROUNDING * float(np.abs(call.data.scores).max())
    advantage = differences if call.data.greater_is_better else -differences
    better, worse = advantage > call.margin + rounding, advantage < -call.margin - rounding
    return {
        "margin": call.margin,
        "share_within_margin": float(np.mean(~(better | worse))),
        "share_better": float(np.mean(better)),
        "share_worse": float(np.mean(worse)),
    }


# ------------------------------------------------------------------ what must be said


def _notes(call: AcrossCall, records: Sequence[DatasetsPair]) -> Notes:
    """Return what must be known of the comparison."""
    notes, n = Notes(), len(call.data.names)
    if n < FEW_DATA_SETS:
        only = f"Only {n} data sets (fewer than {FEW_DATA_SETS}): "
        new = (
            "how much the differences vary is poorly known, skewed ones are told from 0 too often, "
            "and tests of ranks say little."
        )
        these = "mean ranks, Friedman's and Wilcoxon's tests, which take them as drawn, say little."
        notes.add("few", only + (new if call.estimand == "new" else these))
    if call.data.errors is None and len(call.data.methods) > n:
        notes.add(
            "caution",
            f"More methods ({len(call.data.methods)}) than data sets ({n}): is the table "
            "transposed? A row is a data set, and a column is a method.",
        )
    if call.estimand == "new" and not call.uses_pivots:
        notes.add(
            "choice",
            f"With fewer than {DATA_SETS_FOR_PIVOTS} data sets the intervals are Student's t: "
            "resamples of so few are nearly all alike.",
        )
    flat = [f"{pair.first} and {pair.second}" for pair in records if pair.standard_error == 0]
    if flat:
        shown = "; ".join(flat[:3]) + (f"; and {len(flat) - 3} more" if len(flat) > 3 else "")
        where = "on all data sets" if call.estimand == "new" else "on all resamples of each one"
        notes.add(
            "degenerate",
            f"The difference is the same {where}: {shown}. This does not show how much it would "
            "vary on others.",
        )
    notes += _advice(call, records)
    return notes


def _advice(call: AcrossCall, records: Sequence[DatasetsPair]) -> Notes:
    """Say what would narrow the intervals, where the error on each data set is known."""
    notes = Notes()
    for pair in records[:3]:
        if call.estimand == "these" or pair.between_deviation is None or pair.standard_error == 0:
            continue
        share = 1 - pair.between_deviation**2 / pair.standard_deviation**2
        notes.add(
            "advice",
            f"{pair.first} - {pair.second}: {100 * share:.0f} % of the squared standard error "
            "comes from the error on each data set, which more test rows or runs would lessen; the "
            "rest from how the data sets differ, which more data sets alone would lessen.",
        )
    return notes
