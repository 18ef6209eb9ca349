"""Every registered interval, and what "auto" chooses, keeps its contract on every kind of evidence.

An interval that is added to the registry is tested by itself; without a case here that it can be
made of, or a word in the documentation of the public functions, a test fails.

The cases are made by the library's own reductions where a door leads to them, else by hand. Where a
metric follows its data, moved or mirrored evidence is that of moved or mirrored data.
"""

import inspect
import math
import re
import warnings
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import f1_score, make_scorer, zero_one_loss

from skboot import Anytime, Trials, bootstrap_score, compare_systems
from skboot._base.errors import texts_of
from skboot.inference import ConfidenceInterval
from skboot.inference.automatic import automatic_interval, degeneracy, estimate_outside_sentence
from skboot.inference.differences import DIFFERENCE_METHODS
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import (
    FOR_ONE_LOOK,
    FOR_ONE_SCORE,
    INTERVALS,
    confidence_interval,
    problem_with,
)
from skboot.inference.multiplicity import joint_deviations
from skboot.metrics import expected_calibration_error
from skboot.results import EvaluationResult
from skboot.results.basis import SystemBasis

LEVELS = (0.8, 0.95, 0.99)
N = 48
B = 499
# Limits of moved and of mirrored data: 2.5 x + 7, and c - x.
SCALE, SHIFT = 2.5, 7.0


class Case(NamedTuple):
    """Evidence, and the same of moved and of mirrored data; None where there are no such data."""

    evidence: Evidence
    moved: Evidence | None = None
    mirrored: Evidence | None = None
    mirror: float = 0.0


# ------------------------------------------------------------------ evidence


def evidence_of(*arguments, **options):
    """What `bootstrap_score` knows of a score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_resamples": B, "random_state": 0} | options
        result = bootstrap_score(*arguments, **options)
    return (result["gap"] if "by" in options else result)._evidence


def of_means(values, **design):
    """Mean of values, whose moved and mirrored data are resampled alike."""
    own = partial(evidence_of, None, metric="mean", **design)
    if "groups" in design or "block_length" in design:
        return Case(own(values), moved_from(own, values), own(-values))
    # Draws of rows follow the order of their values.
    alike = partial(own, resamples=np.random.default_rng(1).integers(N, size=(B, N)))
    if "strata" in design:
        return Case(own(values), moved_from(own, values), transformed(own(values), -1.0, 0.0))
    return Case(alike(values), moved_from(alike, values), alike(-values))


def moved_from(own, values):
    """Evidence of moved values, of the kind they had: of one sign they would be losses."""
    moved = own(SCALE * values + SHIFT)
    return replace(moved, facts=replace(moved.facts, both_signs=own(values).facts.both_signs))


def transformed(evidence, scale, shift):
    """Evidence of ``scale * x + shift``, for cases that no data lead to."""
    size, (low, high) = abs(scale), evidence.facts.bounds
    changes = {
        "estimate": scale * evidence.estimate + shift,
        "replicates": scale * evidence.replicates + shift,
        "bounds": tuple(sorted((scale * low + shift, scale * high + shift))),
    }
    for name, factor in {
        "standard_error": size,
        "replicate_standard_errors": size,
        "acceleration": np.sign(scale),
        "group_influence": scale,
        "robust_variance": scale**2,
    }.items():
        if (value := getattr(evidence, name)) is not None:
            changes[name] = factor * value
    if evidence.jackknife_bias is not None:
        bias, error = evidence.jackknife_bias
        changes["left_out"] = (scale * bias, size * error)
    if evidence.smoothed is not None:
        changes["smoothed"] = scale * evidence.smoothed + shift
    if evidence.over_time is not None:
        changes["over_time"] = (size * evidence.over_time[0], *evidence.over_time[1:])
    if evidence.max_t is not None:
        changes["max_t"] = (size * evidence.max_t[0], evidence.max_t[1])
    if evidence.facts.delong is not None:
        changes["delong"] = (size * evidence.facts.delong[0], evidence.facts.delong[1])
    if evidence.facts.proportion is not None:
        *counts, sign = evidence.to_parts()["proportion"]
        changes["proportion"] = (*counts, -sign)
    if evidence.gap is not None and evidence.gap.sides:
        first, second = evidence.gap.sides
        own = evidence.gap.replicates
        own = None if own is None else own - evidence.replicates
        changes["gap"] = evidence.gap._replace(sides=(second, first), replicates=own)
    return Evidence.of(**evidence.to_parts() | changes)


def mirrored(evidence):
    return Case(evidence, None, transformed(evidence, -1.0, 0.0))


def by_hand(replicates, estimate=0.5, **changes):
    """Evidence with all that methods of any replicates can use."""
    replicates = np.asarray(replicates, dtype=float)
    errors = 0.1 + 0.02 * np.sin(np.arange(len(replicates)))
    facts = {
        "kind": "rows",
        "n_units": (40,),
        "additive": True,
        "standard_error": 0.1,
        "replicate_standard_errors": errors,
        "acceleration": 0.05,
        "left_out": (0.02, 0.11),
    }
    evidence = Evidence.of(estimate, replicates, **(facts | changes))
    moved = None if "bounds" in changes else transformed(evidence, SCALE, SHIFT)
    return Case(evidence, moved, transformed(evidence, -1.0, 0.0))


def joint(replicates, **changes):
    """The first of three differences, with what max-t needs."""
    known = Evidence.of(0.3, replicates[0], "groups", (15,), **changes)
    estimates, errors = np.array([0.3, 0.0, 0.1]), replicates.std(axis=1, ddof=1)
    found = joint_deviations(
        estimates, errors, [replicates.T.copy()], known.drawn.degrees_of_freedom
    )
    known = replace(known, max_t=(float(errors[0]), found.largest))
    return Case(known, transformed(known, SCALE, SHIFT), transformed(known, -1.0, 0.0))


SHAPES = {
    "symmetric": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "heavy": lambda rng, n: rng.lognormal(sigma=2.0, size=n),
    "carried by few": lambda rng, n: np.r_[[4.0, 3.0, 1.2], np.zeros(n - 3)],
    "constant": lambda rng, n: np.full(n, 0.3),
}
DESIGNS = {
    "rows": lambda n: {},
    "weighted rows": lambda n: {"sample_weight": 0.5 + np.arange(n) % 3 + np.arange(n) / n},
    "strata": lambda n: {"strata": np.arange(n) % 3},
    "groups": lambda n: {"groups": np.arange(n) // 2},
    "few groups": lambda n: {"groups": np.arange(n) % 5},
    "two groups": lambda n: {"groups": np.arange(n) % 2},
    "groups in strata": lambda n: {"groups": np.arange(n) // 2, "strata": np.arange(n) // 2 % 2},
    "series": lambda n: {"block_length": max(1, n // 12)},
    "two series": lambda n: {"block_length": max(1, n // 16), "strata": np.arange(n) % 2},
    "crossed": lambda n: {"groups": np.column_stack([np.arange(n) // 8, np.arange(n) % 8])},
    "one population": lambda n: {"groups": Trials(np.arange(n) // 8, np.arange(n) % 8)},
}
SERIES = ("series", "two series")


@cache
def cases():
    """All cases by name."""
    rng = np.random.default_rng(0)
    found = {
        f"{shape} mean of {design}": of_means(make(rng, N), **options(N))
        for shape, make in SHAPES.items()
        for design, options in DESIGNS.items()
    }
    draw = partial(rng.normal, 0.5, 0.1)
    skewed = 0.4 + 0.1 * rng.gamma(2, size=B)
    holed = np.where(np.arange(B) % 7 == 0, np.nan, skewed)
    found |= {
        **label_cases(rng),
        **gap_cases(rng),
        **look_cases(rng),
        "symmetric by hand": by_hand(draw(B)),
        "skewed by hand": by_hand(skewed),
        "undefined on some": by_hand(holed),
        "undefined on all but one": by_hand([0.5, np.nan, np.nan]),
        "undefined on all": by_hand([np.nan] * 3),
        "undefined on the data": by_hand(draw(B), estimate=np.nan),
        "resampled twice": by_hand([0.4, 0.7]),
        "in bounds": by_hand(np.clip(draw(B), 0, 0.55), bounds=(0.0, 0.55)),
        "at a bound": by_hand(np.clip(draw(B), 0, 0.5), bounds=(0.0, 0.5)),
        "biased": by_hand(draw(B) - 0.2),
        "all but one below": by_hand(np.r_[draw(B - 1) - 0.6, 0.7], acceleration=0.16),
        "all but one above": by_hand(np.r_[draw(B - 1) + 0.6, 0.3], acceleration=0.16),
        "beyond the estimate": by_hand(draw(B) + 1.0),
        "without jackknife": by_hand(draw(B), acceleration=np.nan),
        "quantile": by_hand(draw(B), additive=False, jackknife=(0.5, 2, 40)),
        "two rows": Case(evidence_of(None, np.array([1.0, 3.0]), metric="mean")),
        "groups that do not vary": by_hand(
            draw(B), kind="groups", replicate_standard_errors=np.arange(B) % 9 * 0.02
        ),
        "one of several": joint(rng.normal([[0.3], [0.0], [0.1]], 0.1, size=(3, B))),
        "one of several, in strata": joint(
            rng.normal([[0.3], [0.0], [0.1]], 0.1, size=(3, B)), n_strata=2
        ),
        "one of several that do not vary": joint(np.full((3, B), [[0.3], [0.0], [0.1]])),
    }
    return found


def label_cases(rng):
    """Of metrics of labels and of scores; errors mirror hits."""
    y_true = np.arange(N) % 3 % 2
    y_pred = np.where(rng.random(N) < 0.25, 1 - y_true, y_true)
    score = y_true + rng.normal(size=N)
    lines = np.random.default_rng(1).integers(N, size=(B, N))
    rare = np.r_[np.ones(3), np.zeros(N - 3)].astype(int)
    many, few = rng.integers(12, size=(2, 4 * N)), np.repeat([1, 0], [N - 1, 1])
    groups = np.arange(N) // 4
    macro = partial(f1_score, average="macro", zero_division=0)

    def hits_and_errors(truth, answer, **options):
        hits, errors = (
            evidence_of(truth, answer, metric=metric, **options)
            for metric in ("accuracy", zero_one_loss)
        )
        return Case(hits, None, errors, 1.0)

    def error_and_its_negative(truth, prob, **options):
        own = partial(evidence_of, truth, prob, **options)
        negated = make_scorer(expected_calibration_error, greater_is_better=False)
        error = own(metric=expected_calibration_error)
        return Case(error, None, own(metric=negated), 0.0)

    def auc(truth, values):
        own = partial(evidence_of, truth, metric="roc_auc", resamples=lines)
        return Case(own(values), None, own(-values), 1.0)

    return {
        "accuracy": hits_and_errors(y_true, y_pred),
        "accuracy, one error": hits_and_errors(few, np.ones(N, dtype=int)),
        "accuracy, no error": hits_and_errors(y_true, y_true),
        "accuracy, no hit": hits_and_errors(y_true, 1 - y_true),
        "accuracy of strata": mirrored(evidence_of(y_true, y_pred, strata=y_true)),
        "accuracy of groups": hits_and_errors(y_true, y_pred, groups=groups),
        "accuracy of groups, one error": hits_and_errors(few, np.ones(N, dtype=int), groups=groups),
        "accuracy of groups, no error": hits_and_errors(y_true, y_true, groups=groups),
        "accuracy of a series": hits_and_errors(y_true, y_pred, block_length=4),
        "accuracy of a series, one error": hits_and_errors(
            few, np.ones(N, dtype=int), block_length=4
        ),
        "AUC of a series": mirrored(
            evidence_of(y_true, score, metric="roc_auc", block_length=4, n_resamples=199)
        ),
        "F1": mirrored(evidence_of(y_true, y_pred, metric="f1")),
        "F1 of few": mirrored(evidence_of(rare, np.roll(rare, 1), metric="f1")),
        "F1 of groups": mirrored(evidence_of(y_true, y_pred, metric="f1", groups=groups)),
        "macro F1": mirrored(evidence_of(many[0], many[1], metric="f1_macro")),
        "macro F1 of groups": mirrored(
            evidence_of(y_true, y_pred, metric=lambda y, p: macro(y, p), groups=groups)
        ),
        "AUC": auc(y_true, score),
        "AUC of few positives": auc(rare, score),
        "AUC, separated": auc(y_true, y_true + 0.1 * np.arange(N) / N),
        "AUC, drawn": mirrored(evidence_of(y_true, score, metric="roc_auc")),
        "average precision": mirrored(
            evidence_of(rare, score, metric="average_precision", n_resamples=199)
        ),
        "calibration error": error_and_its_negative(y_true, expit(score - 0.5)),
        "calibration error of groups": error_and_its_negative(
            y_true, expit(score - 0.5), groups=groups
        ),
        "median": mirrored(
            evidence_of(y_true, score, metric=lambda y, p: np.median(p), n_resamples=199)
        ),
        "losses that vanish": mirrored(
            evidence_of(y_true, y_true * 1.0, metric="neg_mean_squared_error", groups=groups)
        ),
    }


def gap_cases(rng):
    """Of the largest gap between three subgroups."""
    n = 180
    by, groups = np.arange(n) % 3, np.arange(n) // 6
    hits = (rng.random(n) < 0.7 + 0.1 * by).astype(int)
    ones = np.ones(n, dtype=int)
    right = np.where(by == 0, 1, hits)
    loss = rng.exponential(size=n) + by
    return {
        "gap of accuracies": mirrored(evidence_of(ones, hits, by=by)),
        "gap beside no error": mirrored(evidence_of(ones, right, by=by)),
        "gap of groups": mirrored(evidence_of(ones, hits, by=by, groups=groups)),
        "gap of F1": mirrored(evidence_of(np.arange(n) // 3 % 2, hits, by=by, metric="f1")),
        "gap of means": mirrored(evidence_of(None, loss, metric="mean", by=by)),
        "no gap": Case(evidence_of(ones, hits, by=np.arange(n) // 179)),
    }


def look_cases(rng, n=120):
    """At the second look at growing data."""
    look = {"interval": Anytime(100)}
    y_true = np.arange(n) % 2
    y_pred = np.where(rng.random(n) < 0.2, 1 - y_true, y_true)
    score, loss = y_true + rng.normal(size=n), rng.gamma(2, size=n)
    hits, errors = (
        evidence_of(y_true, y_pred, metric=metric, **look) for metric in ("accuracy", zero_one_loss)
    )
    means = partial(
        evidence_of,
        None,
        metric="mean",
        resamples=np.random.default_rng(1).integers(n, size=(B, n)),
        **look,
    )
    return {
        "accuracy at a look": Case(hits, None, errors, 1.0),
        "accuracy of groups at a look": mirrored(
            evidence_of(y_true, y_pred, groups=np.arange(n) // 4, interval=Anytime(20))
        ),
        "F1 at a look": mirrored(evidence_of(y_true, y_pred, metric="f1", **look)),
        "AUC at a look": mirrored(evidence_of(y_true, score, metric="roc_auc", **look)),
        "losses at a look": Case(means(loss), moved_from(means, loss), means(-loss)),
        "macro F1 at a look": mirrored(evidence_of(y_true, y_pred, metric="f1_macro", **look)),
    }


def supported(method):
    """Name and case of all that the method can be made of."""
    return [
        (name, case)
        for name, case in cases().items()
        if method == "auto" or not problem_with(method, case.evidence)
    ]


def interval_of(evidence, method, level=0.95):
    """The interval, and what is said of it."""
    with warnings.catch_warnings():
        # That the resamples are too few for a level is tested elsewhere.
        warnings.filterwarnings("ignore", message=".*too few for a quantile")
        if method == "auto":
            found, notes = automatic_interval(evidence, level)
            notes = texts_of(notes)
        else:
            found, notes = confidence_interval(evidence, method, level), ()
    said = (degeneracy(found, evidence), estimate_outside_sentence(found, evidence))
    return found, " ".join([*notes, *filter(None, said)])


# ------------------------------------------------------------------ the contract


def agree(found, low, high):
    size = max((abs(limit) for limit in (low, high) if math.isfinite(limit)), default=1.0)
    np.testing.assert_allclose(found[:2], (low, high), rtol=1e-7, atol=1e-9 * size)


def holds_the_level_below(evidence, method):
    """Intervals of higher levels hold those of lower ones."""
    found = [interval_of(evidence, method, level)[0] for level in LEVELS]
    for inner, outer in pairwise(found):
        rounding = 1e-9 * abs(evidence.estimate)
        # An undefined limit is as far away as can be.
        if not math.isnan(inner.low):
            assert not outer.low > inner.low + rounding
        if not math.isnan(inner.high):
            assert not outer.high < inner.high - rounding


def moves_with(evidence, moved, method):
    """Limits of scaled and shifted data are the scaled and shifted limits."""
    low, high = (SCALE * limit + SHIFT for limit in interval_of(evidence, method)[0][:2])
    agree(interval_of(moved, method)[0], low, high)


def mirrors(evidence, other, mirror, method):
    """Limits of mirrored data are the mirrored limits."""
    low, high = interval_of(evidence, method)[0]
    agree(interval_of(other, method)[0], mirror - high, mirror - low)


def says_what_it_lacks(evidence, method):
    """No limit is missing, no width is zero, and no estimate left out, without a true reason."""
    found, said = interval_of(evidence, method)
    low, high, estimate = found.low, found.high, evidence.estimate
    defined = evidence.sorted_replicates
    assert not low > high
    if math.isnan(low) or math.isnan(high):
        assert "undefined" in said
        assert ("undefined on these data" in said) == math.isnan(estimate)
        few = len(defined) < 2 and not math.isnan(estimate)
        assert ("fewer than two resamples" in said) == few
        return
    assert ("zero width" in said) == (low == high)
    # One value up to rounding.
    same = len(defined) < 2 or np.ptp(defined) <= 1e-12 * np.abs(defined).max()
    assert ("every resample gave the same" in said) == (low == high and same)
    beyond = not low <= estimate <= high
    assert ("does not contain the estimate" in said) == beyond
    if method == "auto":
        assert evidence.facts.bounds[0] <= low
        assert high <= evidence.facts.bounds[1]


# ------------------------------------------------------------------ over the registry


def without_contract(intervals):
    """Registered intervals that no case supports."""
    evidence = [case.evidence for case in cases().values()]
    return {
        name
        for name, interval in intervals.items()
        if all(interval.needs_before(held) or interval.needs(held) for held in evidence)
    }


def test_every_registered_interval_has_evidence_here():
    assert without_contract(INTERVALS) == set()


def test_an_interval_without_evidence_is_found():
    class Lacking(type(INTERVALS["percentile"])):
        def needs(self, evidence):
            return "needs more."

    assert without_contract({**INTERVALS, "new": Lacking()}) == {"new"}


def test_an_interval_is_asked_for_for_one_score_or_made_of_several_differences():
    others = set(INTERVALS) - set(FOR_ONE_SCORE)
    assert others == {"max-t", "simultaneous"}


def names_in_docstring(function):
    """Names of intervals that the parameter ``interval`` of a public function offers."""
    doc = inspect.getdoc(function)
    text = re.search(r"^interval : .*\n((?:    .*\n)+)", doc, re.M)[1]
    listed = re.sub(r"\([^()]*\)", "", text).replace("\n", " ").rpartition(":")[2]
    return [name.strip(" .") for name in listed.split(",") if '"' not in name]


def test_the_documentation_lists_the_registered_intervals():
    assert sorted(names_in_docstring(bootstrap_score)) == sorted(FOR_ONE_LOOK)
    assert sorted(names_in_docstring(compare_systems)) == sorted(
        {*DIFFERENCE_METHODS} - {"anytime"}
    )


def test_the_documentation_lists_the_intervals_that_need_no_resamples():
    doc = inspect.getdoc(bootstrap_score)
    listed = re.search(r"Intervals\s+without resamples \(([^)]*)\)", doc)[1]
    closed = {name for name in FOR_ONE_SCORE if not INTERVALS[name].uses_resamples}
    assert set(re.split(r",\s+", listed)) == closed


all_methods = pytest.mark.parametrize("method", [*INTERVALS, "auto"])


@all_methods
def test_levels_are_nested(method):
    for name, case in supported(method):
        with naming(name):
            holds_the_level_below(case.evidence, method)


@all_methods
def test_limits_move_with_the_data(method):
    for name, case in supported(method):
        if case.moved is not None:
            with naming(name):
                moves_with(case.evidence, case.moved, method)


@all_methods
def test_limits_of_mirrored_data_are_mirrored(method):
    for name, case in supported(method):
        if case.mirrored is not None:
            with naming(name):
                mirrors(case.evidence, case.mirrored, case.mirror, method)


@all_methods
def test_what_an_interval_lacks_is_said(method):
    for name, case in supported(method):
        with naming(name):
            says_what_it_lacks(case.evidence, method)


def test_a_file_gives_the_same_limits_at_every_level(tmp_path):
    path = tmp_path / "result.npz"
    for name, case in cases().items():
        with naming(name):
            result = EvaluationResult(
                metric="score",
                estimand="system",
                _basis=SystemBasis(case.evidence),
                confidence_interval=ConfidenceInterval(0.0, 1.0, 0.5, "percentile"),
                _automatic=False,
                n_samples=N,
                unit="row",
                greater_is_better=None,
                naive_estimate=None,
            )
            result.save(path)
            loaded = EvaluationResult.load(path)
            for method in [*INTERVALS, "auto"]:
                if method != "auto" and (problem := problem_with(method, case.evidence)):
                    assert problem_with(method, loaded._evidence) == problem
                    continue
                for level in LEVELS:
                    own = interval_of(case.evidence, method, level)
                    again = interval_of(loaded._evidence, method, level)
                    np.testing.assert_array_equal(again[0][:2], own[0][:2])
                    assert again[1] == own[1]
                    assert again[0].method == own[0].method


class naming:
    """Add the name of the case to a failure."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            error.add_note(f"case: {self.name}")


# ------------------------------------------------------------------ over the choices of "auto"


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from(sorted(SHAPES)),
    design=st.sampled_from(sorted(set(DESIGNS) - {"crossed", "one population"})),
    n=st.integers(6, 60),
    digits=st.sampled_from([0, 1, 15]),
)
def test_automatic_intervals_of_any_means_keep_the_contract(seed, shape, design, n, digits):
    values = np.round(SHAPES[shape](np.random.default_rng(seed), n), digits)
    own = partial(evidence_of, None, metric="mean", n_resamples=199, **DESIGNS[design](n))
    evidence, moved = own(values), moved_from(own, values)
    holds_the_level_below(evidence, "auto")
    says_what_it_lacks(evidence, "auto")
    # Zeros and ones are hits, and zeros are losses without an end; moved ones are neither.
    if not set(values) <= {0.0, 1.0}:
        moves_with(evidence, moved, "auto")
        if "groups" in design:
            mirrors(evidence, own(-values), 0.0, "auto")


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(["accuracy", "f1", "balanced_accuracy", "roc_auc", "neg_brier_score"]),
    # Of series a studentized interval that reaches the end of the range at one level alone gives
    # way to a score interval there, which need not hold that of a lower level.
    design=st.sampled_from(sorted(set(DESIGNS) - {"crossed", "one population", *SERIES})),
    n=st.integers(12, 60),
    accuracy=st.sampled_from([0.0, 0.5, 0.9, 0.98, 1.0]),
)
def test_automatic_intervals_of_any_answers_keep_the_contract(seed, metric, design, n, accuracy):
    rng = np.random.default_rng(seed)
    y_true = np.arange(n) // 2 % 2
    y_pred = np.where(rng.random(n) < accuracy, y_true, 1 - y_true)
    if metric in ("roc_auc", "neg_brier_score"):
        y_pred = np.round(0.8 * y_pred + 0.2 * rng.random(n), 1)
    evidence = evidence_of(y_true, y_pred, metric=metric, n_resamples=199, **DESIGNS[design](n))
    holds_the_level_below(evidence, "auto")
    says_what_it_lacks(evidence, "auto")
    mirrors(evidence, transformed(evidence, -1.0, 0.0), 0.0, "auto")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["rows", "groups"]),
    st.sampled_from([1e-9, 0.5, 0.95, 0.999]),
)
@pytest.mark.filterwarnings("ignore")
def test_limits_of_any_evidence_are_in_order_and_within_the_range(seed, kind, level):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-12, 12)
    low, high = (0.0, rng.choice([scale, np.inf])) if rng.random() < 0.5 else (-scale, 0.0)
    estimate = rng.choice([low, 0.0, 1e-16 * scale, 0.3 * (low if low else scale)])
    spread = scale * 10.0 ** rng.integers(-17, 1)
    bias = spread * rng.choice([0.0, 1.0, 30.0])
    evidence = Evidence.of(
        estimate=float(estimate),
        replicates=estimate + bias + spread * rng.normal(size=99),
        kind=kind,
        n_units=(int(rng.integers(2, 50)),),
        bounds=(low, float(high)),
        additive=True,
        standard_error=spread,
        replicate_standard_errors=spread * rng.random(99),
        acceleration=float(rng.normal() / 5),
        optimized=bool(rng.random() < 0.3),
    )
    found = [automatic_interval(evidence, level).interval]
    for method in FOR_ONE_SCORE:
        if not problem_with(method, evidence):
            made = confidence_interval(evidence, method, level)
            assert not made.low > made.high, method
            found.append(made._within(low, high))
    for interval in found:
        assert not interval.low > interval.high, interval
        assert not interval.low < low
        assert not interval.high > high
