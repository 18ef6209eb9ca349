"""Methods compared across data sets: each by itself, each pair, and all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.streams import child_seed
from .._base.warnings import Notes, collected
from ..inference._tuning import FEW_DATA_SETS, JOINT_DRAWS, JOINT_DRAWS_TIMES_PAIRS
from ..inference.confidence_interval import notes_of_cut
from ..inference.data_sets import (
    MeansOfDrawn,
    between_deviation,
    mean_of_these,
    mean_rank_limits,
    ranks_of_rows,
    wilcoxon_p_values,
)
from ..inference.differences import share_won
from ..inference.evidence import Drawn, Evidence
from ..inference.multiplicity import holm
from ..inference.normal_law import LowRankRoot, symmetric_root
from ..inference.run_differences import RunsDifference
from ..inference.skewed_t import SkewedT
from ..metrics.facts import Facts
from ..resampling.draws import multinomial_counts
from ..results import EvaluationResult
from ..results.data_sets import DatasetsComparison, DatasetsPair
from ..results.data_sets_basis import DrawnDataSetsBasis, GivenDataSetsBasis
from ..results.provenance import Provenance
from ..results.result import evaluation_result
from .asked import Asked, answered
from .contestants import Floats, estimated_differences, pairs_of
from .data_sets import DataSets
from .families import Limits, records_of
from .student import Student, contrasts, root_of

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
    def interval(self) -> str:
        """Name of the interval."""
        return "skewed-t" if self.estimand == "new" else "t"

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
        records = _records(call, systems)
    cut = notes_of_cut(*(system.confidence_interval for system in systems.values()))
    notes = [*_notes(call, records), *cut, *list(dict.fromkeys(told))[:1]]
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
    known: dict[str, Any] = {
        "metric": data.metric,
        "estimand": call.estimand,
        "automatic": True,
        "n_samples": len(data.names),
        "unit": "data set",
        "greater_is_better": data.greater_is_better,
    }
    provenance = Provenance((), _held_fixed(call), call.seed, _settings(call))
    intervals = [basis.interval_by(call.interval, call.asked.confidence_level) for basis in bases]
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
                acceleration=float(means.accelerations[k]),
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


class _StudentAcross(Student):
    """The law of mean differences over data sets by Student's t, farther where they are skewed."""

    def __init__(self, call: AcrossCall) -> None:
        self.call, self.own = call, _differences(call)
        super().__init__(call.asked, self.own, call.interval, call.seed, call.data.bounds)
        self.n_draws = min(JOINT_DRAWS, JOINT_DRAWS_TIMES_PAIRS // len(self.own))

    @property
    def statistics(self) -> Floats:
        """See `Student.statistics`; those of which t would have the same p-values."""
        return np.array([one.statistic for one in self.own])

    def largest(self) -> Limits:
        """See `Law.largest`; never wider than by Bonferroni's rule, which draws are about."""
        found, strict = super().largest(), self.stricter()
        p_values = np.minimum(len(found.low) * strict.p_values, 1.0)
        return replace(
            found,
            low=np.maximum(found.low, strict.low),
            high=np.minimum(found.high, strict.high),
            p_values=np.minimum(found.p_values, p_values),
        )

    def root_of_correlation(self, those: Sequence[int]) -> LowRankRoot:
        """See `Student.root_of_correlation`."""
        call = self.call
        if call.estimand == "new":
            differences = call.differences[:, list(those)]
            return root_of((differences - differences.mean(axis=0)).T, np.eye(len(differences)))
        pairs = contrasts([call.pairs[k] for k in those], len(call.data.methods))
        # Cov(a - b, c - d) = (V_ad + V_bc - V_ac - V_bd) / 2, from variances of differences.
        return root_of(pairs, -call.variances_on_these / 2)

    def _at(self, *args: Any) -> Limits:
        """Equal values do not show how much others would differ."""
        found = super()._at(*args)
        flat = (self.standard_errors == 0) & (self.differences != 0)
        return replace(
            found,
            low=np.where(flat, -np.inf, found.low),
            high=np.where(flat, np.inf, found.high),
            p_values=np.where(flat, 1.0, found.p_values),
        )


def _differences(call: AcrossCall) -> list[SkewedT] | list[RunsDifference]:
    """Return the mean difference of each pair, with what it is judged by."""
    means = call.drawn.means.tolist()
    if call.estimand == "new":
        df, drawn = len(call.data.names) - 1.0, call.drawn
        own = zip(means, drawn.standard_errors.tolist(), drawn.accelerations.tolist(), strict=True)
        return [SkewedT(mean, error, df, skewness) for mean, error, skewness in own]
    assert call.data.errors is not None
    first, second = np.array(call.pairs).T
    errors, freedom = mean_of_these(
        call.data.errors.of_differences[:, first, second],
        call.data.errors.degrees_of_freedom[:, first, second],
    )
    given = zip(means, errors.tolist(), freedom.tolist(), strict=True)
    return [RunsDifference(mean, error, df) for mean, error, df in given]


def _records(call: AcrossCall, systems: dict[str, EvaluationResult]) -> list[DatasetsPair]:
    """Return the record of each pair, with what the data sets say besides."""
    if call.estimand == "new":
        replicates = list(call.drawn.replicates.T)
    else:
        own = [systems[name].bootstrap_distribution for name in call.data.methods]
        replicates = [own[one] - own[other] for one, other in call.pairs]
    names = [(call.data.methods[one], call.data.methods[other]) for one, other in call.pairs]
    return records_of(
        _StudentAcross(call),
        names,
        DatasetsPair,
        bootstrap_support=[share_won(each, call.data.greater_is_better) for each in replicates],
        **_of_data_sets(call),
    )


# ------------------------------------------------------------------ what data sets say besides


def _of_data_sets(call: AcrossCall) -> dict[str, Sequence[Any]]:
    """Return Wilcoxon's test, the spread over the data sets, and the shares by the margin."""
    differences, spread = call.differences, call.drawn.deviations
    wilcoxon = wilcoxon_p_values(differences, call.asked.alternative).tolist()
    between: list[float | None] = [None] * len(call.pairs)
    if call.data.errors is not None:
        first, second = np.array(call.pairs).T
        errors = call.data.errors.of_differences[:, first, second]
        between = between_deviation(spread, errors).tolist()
    return {
        "wilcoxon_p_value": wilcoxon,
        "wilcoxon_p_value_adjusted": holm(wilcoxon).tolist(),
        "standard_deviation": spread.tolist(),
        "between_deviation": between,
        **_shares(call),
    }


def _shares(call: AcrossCall) -> dict[str, Sequence[Any]]:
    """Shares of the data sets on which a difference is within the margin, and beyond it."""
    if call.margin is None:
        return {}
    rounding = _ROUNDING * float(np.abs(call.data.scores).max())
    advantage = call.differences if call.data.greater_is_better else -call.differences
    better, worse = advantage > call.margin + rounding, advantage < -call.margin - rounding
    return {
        "margin": [call.margin] * len(call.pairs),
        "share_within_margin": np.mean(~(better | worse), axis=0).tolist(),
        "share_better": np.mean(better, axis=0).tolist(),
        "share_worse": np.mean(worse, axis=0).tolist(),
    }


# ------------------------------------------------------------------ what must be said


def _notes(call: AcrossCall, records: Sequence[DatasetsPair]) -> Notes:
    """Return what must be known of the comparison."""
    notes, n = Notes(), len(call.data.names)
    if n < FEW_DATA_SETS:
        only = f"Only {n} data sets (fewer than {FEW_DATA_SETS}): "
        new = (
            "the spread of the differences is poorly estimated, skewed differences come out "
            "significant too often, and tests of ranks say little."
        )
        these = "mean ranks and rank tests, which treat them as a random sample, say little."
        notes.add("few", only + (new if call.estimand == "new" else these))
    if call.data.errors is None and len(call.data.methods) > n:
        notes.add(
            "caution",
            f"More methods ({len(call.data.methods)}) than data sets ({n}): is the table "
            "transposed? A row is a data set, and a column is a method.",
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
            "comes from the error on each data set, which more test rows or runs would reduce, the "
            "rest from differences between data sets, which only more data sets would reduce.",
        )
    return notes
