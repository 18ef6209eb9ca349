"""Weights of rows: their unit changes nothing, and whole numbers are rows that come so often.

For every metric that takes weights, in every design, in runs, pairs and curves. Exact: a power of
two scales without rounding. A label all of whose rows weigh nothing is one as for scikit-learn.
"""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from identity_cases import (
    FAST,
    OPTIONS,
    any_seed,
    call_of,
    close,
    of_each_kind,
    plain_value,
    quiet,
    rows_of,
    same_interval,
    scored,
)
from sklearn import metrics as sk

import skboot
from skboot import metrics as own
from skboot.inference.intervals import FOR_ONE_SCORE

pytestmark = pytest.mark.identity

WEIGHED = [name for name in FAST if call_of(name).score.weighs]
# Intervals that any metric has.
COMMON = ("percentile", "expanded", "basic", "normal", "t", "bias-corrected", "jackknife", "bca")


def same(one, other):
    close([one.estimate, one.standard_error], [other.estimate, other.standard_error], 1e-12)
    close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-12)
    same_interval(one.confidence_interval, other.confidence_interval, 1e-10)
    assert one.confidence_interval.method == other.confidence_interval.method
    assert one.notes == other.notes
    known = [float(r.naive_estimate) for r in (one, other) if r.naive_estimate is not None]
    close(known[:1], known[1:], 1e-12)


@pytest.mark.parametrize("name", WEIGHED)
@any_seed
def test_the_unit_of_weights_changes_no_score(name, seed):
    for design in ("rows", "groups"):
        call = call_of(name, design, True, seed)
        heavy = {**call.options, "sample_weight": 64 * call.columns["sample_weight"]}
        plain = scored(call.y_true, call.y_pred, **call.options)
        same(scored(call.y_true, call.y_pred, **heavy), plain)


@pytest.mark.parametrize("name", WEIGHED)
@any_seed
def test_equal_weights_are_no_weights_by_any_interval(name, seed):
    designs, first = ("rows", "groups", "strata"), WEIGHED.index(name)
    for k, design in enumerate(designs):
        call = call_of(name, design, False, seed)
        equal = {**call.options, "sample_weight": np.full(call.n, 0.3)}
        # Each interval in each design for a third of the metrics, common ones for a sixth, and
        # "auto" for all.
        intervals = FOR_ONE_SCORE[(first + k) % 3 :: 3]
        if first % 2:
            intervals = [interval for interval in intervals if interval not in COMMON]
        for interval in ("auto", *intervals):
            try:
                plain = scored(call.y_true, call.y_pred, interval=interval, **call.options)
            except ValueError:
                with pytest.raises(ValueError, match="interval"):
                    scored(call.y_true, call.y_pred, interval=interval, **equal)
                continue
            own = scored(call.y_true, call.y_pred, interval=interval, **equal)
            assert tuple(own.confidence_interval) == tuple(plain.confidence_interval), interval
            assert (own.estimate, own.notes) == (plain.estimate, plain.notes)


@pytest.mark.parametrize("name", of_each_kind(WEIGHED, 1))
@any_seed
def test_equal_weights_are_no_weights_in_pairs_and_runs(name, seed):
    call = call_of(name, "rows", False, seed)
    equal = {**call.options, "sample_weight": np.full(call.n, 0.3)}
    systems = {"A": call.y_pred, "B": call.other()}
    for function, given in (
        (skboot.compare_systems, systems),
        (skboot.bootstrap_runs, list(systems.values())),
    ):
        one, other = (
            quiet(function, call.y_true, given, **{**options, **OPTIONS})
            for options in (call.options, equal)
        )
        numbers = [
            [r.difference, r.p_value, *r.confidence_interval]
            if function is skboot.compare_systems
            else [r.estimate, *r.confidence_interval]
            for r in (getattr(found, "pairs", [found])[0] for found in (one, other))
        ]
        np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize("name", of_each_kind(WEIGHED, 1))
@any_seed
def test_the_unit_of_weights_changes_no_pair_and_no_runs(name, seed):
    call = call_of(name, "groups", True, seed)
    heavy = {**call.options, "sample_weight": 64 * call.columns["sample_weight"]}
    systems = {"A": call.y_pred, "B": call.other()}
    pairs = [
        quiet(skboot.compare_systems, call.y_true, systems, **{**o, **OPTIONS}).pairs[0]
        for o in (call.options, heavy)
    ]
    close(*([p.difference, p.p_value, *p.confidence_interval] for p in pairs), 1e-9)
    runs = [
        quiet(skboot.bootstrap_runs, call.y_true, list(systems.values()), **{**o, **OPTIONS})
        for o in (call.options, heavy)
    ]
    close(*([r.estimate, r.standard_error, *r.confidence_interval] for r in runs), 1e-9)


@pytest.mark.parametrize("kind", ["roc", "det", "precision_recall", "calibration", "decision"])
@pytest.mark.parametrize("grouped", [False, True])
@any_seed
def test_the_unit_of_weights_changes_no_curve(kind, grouped, seed):
    rng = np.random.default_rng(seed)
    y, score = rows_of("probability", rng, 60)
    weights = rng.integers(1, 9, 60) / 4
    options = {"curve": kind, "groups": np.arange(60) // 3 if grouped else None, **OPTIONS}
    systems = {"A": score, "B": np.clip(score + 0.1 * rng.normal(size=60), 0.01, 0.99)}
    for given in (score, systems):
        one, other = (
            quiet(skboot.bootstrap_curve, y, given, sample_weight=unit * weights, **options)
            for unit in (1, 32)
        )
        tables = [[t] if given is score else list(t.values()) for t in (one, other)]
        for first, second in zip(*tables, strict=True):
            close(first.estimate, second.estimate, 1e-12)
            close(first.low, second.low, 1e-9)
            close(first.high, second.high, 1e-9)


@pytest.mark.parametrize("name", WEIGHED)
@any_seed
def test_whole_weights_are_rows_that_come_so_often(name, seed):
    """Estimate and naive reference, which read no design; each repeated row with its copies."""
    call = call_of(name, "rows", True, seed)
    times = (4 * call.columns["sample_weight"]).astype(int)
    at = np.repeat(np.arange(call.n), times)
    options = {"metric": call.score.metric, "sample_weight": times.astype(float)}
    weighed = scored(call.y_true, call.y_pred, **options)
    options = {"metric": call.score.metric, "groups": at}
    copied = scored(call.y_true[at], call.y_pred[at], **options)
    if name != "ece":  # bins hold equally many rows
        close(weighed.estimate, copied.estimate, 1e-9)
    if copied.naive_estimate is not None:
        close(weighed.naive_estimate, copied.naive_estimate, 1e-9, 1e-12)


# Not derivatives of a smooth function, or of other rows than these (bins hold equally many).
OF_JUMPS = ("eer", "neg eer", "fpr_at", "sensitivity_at", "specificity_at", "min dcf", "median")


@pytest.mark.parametrize("name", [n for n in WEIGHED if n not in (*OF_JUMPS, "ece")])
@any_seed
def test_standard_errors_are_derivatives_by_weights_of_groups(name, seed):
    """Groups of unequal sizes, with weights; their strata by turn."""
    design = ("groups", "groups in strata")[(seed + len(name)) % 2]
    call = call_of(name, design, True, seed)
    result = scored(call.y_true, call.y_pred, **call.options)
    if result._evidence.standard_error is None:
        return
    _, first, unit = np.unique(call.columns["groups"], return_index=True, return_inverse=True)
    strata = call.columns.get("strata", np.zeros(call.n, dtype=int))
    stratum = np.unique(strata[first], return_inverse=True)[1]

    def at(k, more):
        heavier = call.columns["sample_weight"] * np.where(unit == k, 1 + more, 1.0)
        return plain_value(call.score, call.y_true, call.y_pred, heavier)

    influence = np.array([at(k, 1e-3) - at(k, -1e-3) for k in range(len(stratum))]) / 2e-3
    influence -= (np.bincount(stratum, influence) / np.bincount(stratum))[stratum]
    close(result._evidence.standard_error, np.sqrt(np.sum(influence**2)), 1e-4, 1e-8)


OF_THREE = [name for name in WEIGHED if call_of(name).score.data in ("three", "words", "columns")]


@pytest.mark.parametrize("name", OF_THREE)
def test_a_label_whose_rows_weigh_nothing_counts_as_in_the_plain_function(name):
    call = call_of(name, "rows", True, n=40)
    label = np.unique(call.y_true)[1]
    said = call.y_pred if call.y_pred.ndim == 1 else np.full(call.n, -1)
    none = (call.y_true == label) | (said == label)
    weights = np.where(none, 0.0, call.columns["sample_weight"])
    expected = plain_value(call.score, call.y_true, call.y_pred, weights)
    result = scored(call.y_true, call.y_pred, metric=call.score.metric, sample_weight=weights,
                    n_resamples=2, interval="percentile")  # fmt: skip
    close(result.estimate, expected, 1e-7, 1e-9)


@pytest.mark.parametrize("distance", ["linear", "quadratic", None])
def test_a_label_whose_rows_weigh_nothing_keeps_its_place_among_four(distance):
    rng = np.random.default_rng(0)
    truth, other = rng.integers(0, 4, (2, 60))
    said = np.where(rng.random(60) < 0.5, truth, other)
    weights = np.where((truth == 1) | (said == 1), 0.0, 1.0)
    kappa = partial(sk.cohen_kappa_score, weights=distance)
    result = scored(truth, said, metric=kappa, sample_weight=weights, n_resamples=2,
                    interval="percentile")  # fmt: skip
    close(result.estimate, kappa(truth, said, sample_weight=weights))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("least", [0.0, 2.0])
@any_seed
def test_one_row_that_decides_is_told_of_few_values_as_of_many(sign, least, seed):
    rng = np.random.default_rng(seed)
    values = least + rng.integers(0, 3, 60).astype(float)
    values[7] = 400.0
    v = values - values.mean()
    number = np.sum(v**2) ** 2 / np.sum(v**4)
    assert round(number) == 1
    for jitter in (0.0, 1e-9):
        given = sign * (values + jitter * rng.random(60))
        result = quiet(skboot.bootstrap_score, None, given, metric="mean", **OPTIONS)
        close(result.n_deciding, number, 1e-6)
        assert [note for note in result.notes if "About 1 of the 60 rows decides" in note]


NEEDED = {
    "false_positive_rate_at": {"false_negative_rate": 0.2},
    "sensitivity_at": {"specificity": 0.7},
    "specificity_at": {"sensitivity": 0.7},
    "net_benefit": {"threshold": 0.3},
    "actual_detection_cost": {"priors": [0.9, 0.1]},
    "minimum_detection_cost": {"priors": [0.3, 0.7], "costs": [[0, 2], [1, 0]]},
    "expected_cost": {"costs": [[0, 3], [1, 0]], "priors": [0.3, 0.7]},
}
FUNCTIONS = {
    name: function
    for name, function in vars(own).items()
    if inspect.isfunction(function) and "sample_weight" in inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", FUNCTIONS)
@any_seed
def test_whole_weights_are_rows_that_come_so_often_for_each_function(name, seed):
    """Rows of equal scores too; of bins with equally many rows alone this need not be so."""
    rng = np.random.default_rng(seed)
    function = FUNCTIONS[name]
    y = rng.permutation(np.arange(40) % 2)
    answer = np.clip(0.3 * y + 0.7 * rng.random(40), 0.02, 0.98).round(int(rng.integers(1, 4)))
    if "y_pred" in inspect.signature(function).parameters:
        answer = (answer > 0.5).astype(int)
    weight = rng.integers(0, 5, 40)
    at, options = np.repeat(np.arange(40), weight), NEEDED.get(name, {})
    weighed = quiet(function, y, answer, sample_weight=weight, **options)
    close(weighed, quiet(function, y[at], answer[at], **options), 1e-7)


# ------------------------------------------------------------------ rows without weight


@pytest.mark.parametrize("design", ["rows", "strata", "groups", "groups in strata", "by"])
@pytest.mark.parametrize("metric", ["accuracy", "f1", "mean_absolute_error", "roc_auc"])
def test_rows_without_weight_decide_neither_method_nor_counts(metric, design):
    """A group, a stratum and most of a subgroup have no weight: they are no units."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 120)
    answers = np.where(rng.random(120) < 0.2, 1 - truth, truth)
    if metric == "roc_auc":
        answers = truth + rng.normal(size=120)
    groups = rng.permutation(np.arange(120) % 24)
    columns = {
        "rows": {},
        "strata": {"strata": groups % 3},
        "groups": {"groups": groups},
        "groups in strata": {"groups": groups, "strata": groups % 3},
        "by": {"by": (groups % 3).astype(str)},
    }[design]
    weighs = (groups % 3 > 0) | (rng.random(120) < 0.3 if design == "by" else False)
    weights = np.where(weighs, rng.integers(1, 4, 120), 0.0)
    found = []
    for rows in (np.arange(120), np.flatnonzero(weighs)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = skboot.bootstrap_score(
                truth[rows], answers[rows], metric=metric, sample_weight=weights[rows],
                n_resamples=999, random_state=0, **{k: c[rows] for k, c in columns.items()},
            )  # fmt: skip
        parts = list(result.values())[:3] if design == "by" else [result]
        texts = [str(warning.message) for warning in told if "resamples" not in str(warning)]
        facts = [(vars(part._evidence.drawn), part.confidence_interval.method) for part in parts]
        found.append(([part.estimate for part in parts], facts, texts))
    close(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]
