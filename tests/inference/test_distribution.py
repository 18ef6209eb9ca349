"""Filling distributions: accelerations by leaving out units, streams, and progress."""

import gc
import re
import tracemalloc
import warnings
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import EfficiencyWarning
from sklearn.metrics import average_precision_score, f1_score, log_loss, max_error, roc_auc_score

from skboot import (
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_runs,
    compare_systems,
    search_score,
)
from skboot.inference import distribution
from skboot.inference.distribution import (
    BoundStatistic,
    bootstrap,
    bootstrap_each,
    jackknife,
    leave_out,
)
from skboot.metrics.crossing import EqualErrorRate
from skboot.metrics.lookup import resolve_metrics
from skboot.metrics.means import RowMean, accuracy
from skboot.metrics.ranking import AveragePrecision, RocAuc
from skboot.metrics.statistic import CallableStatistic
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

MEAN = RowMean("mean", lambda y_true, y_pred: y_pred)


def subject_of(statistic, y_true, y_pred, with_variance=False):
    reduced = statistic.reduce(y_true, y_pred, None)
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced))
    return BoundStatistic(statistic, reduced, coding, with_variance)


def acceleration_of(statistic, design, y_true, y_pred):
    subject = subject_of(statistic, y_true, y_pred)
    plan = ResamplingPlan(design, 10, np.random.SeedSequence(0))
    binding = plan.bind([subject.coding])
    estimate = statistic.evaluate(binding.observed()[0], subject.reduced)[0]
    return jackknife(binding, [subject], [estimate])[0].acceleration


def test_acceleration_of_a_mean_is_a_sixth_of_its_skewness_over_root_n():
    """Efron (1987), equation 6.6, with L_i = x_i - mean."""
    x = np.random.default_rng(0).exponential(size=500)
    found = acceleration_of(MEAN, RowDesign.of(500), None, x)
    d = x - x.mean()
    assert found == pytest.approx((d**3).sum() / (6 * (d**2).sum() ** 1.5), rel=1e-9)


def test_acceleration_of_groups_leaves_out_whole_groups():
    rng = np.random.default_rng(1)
    groups = np.sort(np.r_[np.arange(20), rng.integers(0, 20, 180)])
    x = rng.exponential(size=200)
    found = acceleration_of(MEAN, GroupDesign.of(groups), None, x)
    d = x.mean() - np.array([x[groups != g].mean() for g in range(20)])
    assert found == pytest.approx((d**3).sum() / (6 * (d**2).sum() ** 1.5), rel=1e-9)


def test_acceleration_within_strata_is_the_multi_sample_form():
    rng = np.random.default_rng(2)
    strata = np.repeat([0, 1], [30, 70])
    x = rng.exponential(size=100) * (1 + strata)
    found = acceleration_of(MEAN, RowDesign.of(100, strata), None, x)
    cubes, squares = 0.0, 0.0
    for h, n in enumerate((30, 70)):
        rows = np.flatnonzero(strata == h)
        without = np.array([np.delete(x, i).mean() for i in rows])
        u = (n - 1) * (without.mean() - without)
        cubes += (u**3).sum() / n**3
        squares += (u**2).sum() / n**2
    assert found == pytest.approx(cubes / (6 * squares**1.5), rel=1e-9)


def test_leaving_out_groups_estimates_the_same_acceleration():
    """4000 skewed rows: closed form against 1000 random groups; noise 6e-4 (decision 0004)."""
    x = np.random.default_rng(3).exponential(size=4000)
    exact = acceleration_of(MEAN, RowDesign.of(4000), None, x)
    generic = CallableStatistic(lambda rows: float(rows.mean()))
    grouped = acceleration_of(generic, RowDesign.of(4000), None, x)
    assert exact > 0.004
    assert grouped == pytest.approx(exact, abs=2.5e-3)


def test_a_metric_that_is_undefined_without_a_unit_has_no_acceleration():
    y_true = np.array([1] + [0] * 9)
    statistic = CallableStatistic(lambda t, p: average_precision_score(t, p) if t.any() else np.nan)
    assert np.isnan(acceleration_of(statistic, RowDesign.of(10), y_true, np.arange(10.0)))


@pytest.mark.parametrize(("with_strata", "decimals"), [(False, None), (False, 2), (True, None)])
def test_areas_without_one_of_many_rows_are_those_of_scikit_learn(with_strata, decimals):
    """Rows of each of the parts in which they are left out; the scores rounded or not."""
    rng, n = np.random.default_rng(4), 40_000
    y_true = rng.integers(0, 2, n)
    score = rng.normal(size=n) + y_true
    score = score if decimals is None else score.round(decimals)
    design = RowDesign.of(n, np.arange(n) % 3 if with_strata else None)
    for statistic, function in (
        (AveragePrecision(), average_precision_score),
        (RocAuc(), roc_auc_score),
    ):
        subject = subject_of(statistic, y_true, score)
        binding = ResamplingPlan(design, 10, np.random.SeedSequence(0)).bind([subject.coding])
        left_out = leave_out(binding, [subject])
        assert int(left_out.times.sum()) == n
        # Interchangeable rows are one atom, and single rows may be in the order of their codes.
        atom = np.arange(n) if binding.units_of_codes[0].units is not None else subject.coding.code
        if with_strata:
            # Rows of a stratum are atoms side by side.
            atom = np.argsort(np.argsort(np.arange(n) % 3, kind="stable"))
        assert len(left_out.times) > 30_000 or decimals is not None
        for row in (0, 1, 17_000, 20_000, n - 1, int(np.argmax(score)), int(np.argmin(score))):
            expected = function(np.delete(y_true, row), np.delete(score, row))
            assert left_out.values[0, atom[row]] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("statistic", [MEAN, RocAuc(), AveragePrecision(), EqualErrorRate()])
def test_what_was_made_of_the_rows_is_freed_without_the_garbage_collector(statistic):
    """At ten million rows it is several times the input, and a collection may be far away."""
    rng = np.random.default_rng(5)
    y_true, score = rng.integers(0, 2, 500), rng.normal(size=500)
    subject = subject_of(statistic, y_true, score, with_variance=statistic is MEAN)
    binding = ResamplingPlan(RowDesign.of(500), 10, np.random.SeedSequence(0)).bind(
        [subject.coding]
    )
    kept = weakref.ref(binding.units_of_codes[0])
    gc.disable()
    try:
        (drawn,) = bootstrap(binding, [subject])
        jackknife(binding, [subject], [drawn.estimate])
        del binding
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("strata", [None, np.repeat([0, 1], [40, 80])])
def test_standard_error_of_a_mean_is_the_plug_in_one(strata):
    x = np.random.default_rng(4).normal(size=120)
    subject = subject_of(MEAN, None, x, with_variance=True)
    plan = ResamplingPlan(RowDesign.of(120, strata), 50, np.random.SeedSequence(0))
    (found,) = bootstrap(plan.bind([subject.coding]), [subject])
    parts = [x] if strata is None else [x[strata == 0], x[strata == 1]]
    variance = sum(part.var() * len(part) for part in parts) / 120**2
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert found.replicate_standard_errors.shape == (50,)


def test_standard_error_on_groups_is_that_of_a_ratio_of_group_sums():
    """sum_g (S_g - t N_g)^2 / N^2, on the data and on a resample written out by hand."""
    rng = np.random.default_rng(5)
    groups = np.sort(np.r_[np.arange(12), rng.integers(0, 12, 100)])
    x = rng.normal(size=112)
    design = GroupDesign.of(groups)
    drawn = np.array([rng.multinomial(12, np.full(12, 1 / 12)) for _ in range(4)])
    plan = ResamplingPlan(design, 4, np.random.SeedSequence(0), unit_counts=drawn)
    subject = subject_of(MEAN, None, x, with_variance=True)
    (found,) = bootstrap(plan.bind([subject.coding]), [subject])
    sums, sizes = np.bincount(groups, x), np.bincount(groups)
    for weight, value, error in zip(
        drawn, found.replicates, found.replicate_standard_errors, strict=True
    ):
        mean = (weight * sums).sum() / (weight * sizes).sum()
        variance = (weight * (sums - mean * sizes) ** 2).sum() / (weight * sizes).sum() ** 2
        assert value == pytest.approx(mean, rel=1e-12)
        assert error == pytest.approx(np.sqrt(variance), rel=1e-9)


# ------------------------------------------------------------------ what comes along with a block


def test_acceleration_of_an_accuracy_comes_along():
    """Influences are 1 - p for a hit and -p for an error: (1 - 2p) / (6 sqrt(n p (1 - p)))."""
    y_true = np.zeros(500, dtype=int)
    y_pred = (np.arange(500) < 35).astype(int)
    (found,) = bootstrapped(accuracy(), RowDesign.of(500), y_true, y_pred)
    p = 465 / 500
    assert found.estimate == p
    assert found.jackknife.acceleration == pytest.approx(
        (1 - 2 * p) / (6 * np.sqrt(500 * p * (1 - p)))
    )


@pytest.mark.parametrize("n_strata", [1, 3])
def test_acceleration_of_a_macro_f1_that_comes_along_is_that_of_leaving_out_rows(n_strata):
    rng = np.random.default_rng(4)
    y_true = rng.integers(0, 3, 120)
    y_pred = np.where(rng.random(120) < 0.7, y_true, rng.integers(0, 3, 120))
    strata = np.arange(120) % n_strata
    design = RowDesign.of(120, strata if n_strata > 1 else None)
    macro = partial(f1_score, average="macro")
    (statistic,) = resolve_metrics(macro)[0].values()
    (found,) = bootstrapped(statistic, design, y_true, y_pred)
    assert found.estimate == pytest.approx(macro(y_true, y_pred), rel=1e-12)
    without = np.array([macro(np.delete(y_true, i), np.delete(y_pred, i)) for i in range(120)])
    cubes = squares = 0.0
    for h in range(n_strata):
        own = without[strata == h]
        centre = found.estimate if n_strata == 1 else own.mean()
        u = (len(own) - 1) * (centre - own) / len(own)
        cubes += (u**3).sum()
        squares += (u**2).sum()
    jackknife = found.jackknife
    assert jackknife.acceleration == pytest.approx(cubes / (6 * squares**1.5), rel=1e-9)
    assert jackknife.standard_error == pytest.approx(np.sqrt(squares), rel=1e-9)
    bias = (120 - n_strata) * (without.mean() - found.estimate)
    assert jackknife.bias == pytest.approx(bias, rel=1e-9)


def bootstrapped(statistic, design, y_true, y_pred):
    subject = subject_of(statistic, y_true, y_pred)
    plan = ResamplingPlan(design, 10, np.random.SeedSequence(0))
    return bootstrap(plan.bind([subject.coding]), [subject])


def test_many_statistics_are_drawn_as_each_alone():
    rng = np.random.default_rng(5)
    y_true = rng.integers(0, 2, 300)
    runs = [np.where(rng.random(300) < share, y_true, 1 - y_true) for share in (0.7, 0.9, 1.0)]
    subjects = [subject_of(accuracy(), y_true, y_pred) for y_pred in runs]
    plan = ResamplingPlan(RowDesign.of(300), 50, np.random.SeedSequence(6))
    for subject, (estimate, values) in zip(subjects, bootstrap_each(plan, subjects), strict=True):
        (alone,) = bootstrap(plan.bind([subject.coding]), [subject])
        assert estimate == alone.estimate
        np.testing.assert_array_equal(values, alone.replicates)


# ------------------------------------------------------------------ advice on slow metrics


@pytest.fixture
def slow(monkeypatch):
    """Return a function that makes metrics of 0.1 s a call, on a clock that they move."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(distribution, "time", SimpleNamespace(perf_counter=lambda: clock.now))

    def metric_of(seconds=0.1, name="own"):
        def metric(truth, predicted):
            clock.now += seconds
            return float(np.mean(truth == predicted))

        metric.__name__ = name
        return metric

    return metric_of


LABELS = np.array([0, 1] * 20)
OPTIONS = {"n_resamples": 320, "random_state": 0, "interval": "percentile"}


def told_of(call):
    """What a call warns of, but for few resamples."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if one.category is EfficiencyWarning]


def test_a_slow_function_of_labels_is_told_that_weights_make_it_fast(slow):
    [text] = told_of(lambda: bootstrap_score(LABELS, LABELS, metric=slow(), **OPTIONS))
    assert "about 32 s in one process: 'own' is called 320 times, on 40 rows." in text
    assert "With an argument sample_weight it is called on 2 pairs of labels." in text


RUNS = {"a": [LABELS * 1.5] * 2, "b": [LABELS * 0.5] * 2}
SLOW_CALLS = {
    "bootstrap_score": lambda o: bootstrap_score(LABELS, LABELS * 1.5, **o),
    "several": lambda o: bootstrap_score(
        LABELS, LABELS * 1.5, **o | {"metric": [max_error, o["metric"]]}
    ),
    "by": lambda o: bootstrap_score(LABELS, LABELS * 1.5, by=LABELS, **o),
    "compare_systems": lambda o: compare_systems(
        LABELS, {"a": LABELS * 1.5, "b": LABELS * 2.5}, **o
    ),
    "unpaired": lambda o: compare_systems(
        dict.fromkeys("ab", LABELS), {"a": LABELS * 1.5, "b": LABELS * 2.5}, paired=False, **o
    ),
    "bootstrap_runs": lambda o: bootstrap_runs(LABELS, RUNS["a"], **o),
    "compare_runs": lambda o: compare_runs(LABELS, RUNS, **o),
    "search_score": lambda o: search_score(
        LABELS, {"a": LABELS * 1.5, "b": LABELS * 2.5}, greater_is_better=True, **o
    ),
    "bootstrap_curve": lambda o: bootstrap_curve(
        LABELS,
        np.arange(40.0),
        curve=lambda y, s, grid: grid * o["metric"](y, s),
        grid=[0.2, 0.5],
        n_resamples=320,
        random_state=0,
    ),
}


@pytest.mark.parametrize("name", SLOW_CALLS)
def test_every_function_tells_once_that_resamples_take_long_and_a_terminal_shows_it(
    name, slow, monkeypatch
):
    """What it says is what the clock says, but for the data, which are evaluated too."""
    options = {**OPTIONS, "interval": "auto", "metric": slow()}
    if name in ("compare_runs", "search_score", "bootstrap_runs"):
        del options["interval"]
    [text] = told_of(lambda: SLOW_CALLS[name](options))
    seconds, n_calls = (
        float(x) for x in re.findall(r"about (\d+) s.* called (\d+) times", text)[0]
    )
    assert seconds == pytest.approx(0.1 * n_calls, abs=0.5)
    assert n_calls >= 320
    assert "n_jobs=" in text
    monkeypatch.setattr(distribution, "is_watched", lambda: True)
    assert told_of(lambda: SLOW_CALLS[name](options)) == []
    options["metric"] = slow(0.001)
    monkeypatch.setattr(distribution, "is_watched", lambda: False)
    assert told_of(lambda: SLOW_CALLS[name](options)) == []


def test_a_busy_machine_is_not_taken_for_a_slow_function(slow):
    """Warnings are errors here: else a call would fail at random where they are."""
    ordinary, waiting = slow(0.001), slow(0.1)
    calls = []

    def metric(truth, predicted):
        calls.append(len(truth))
        return (waiting if len(calls) <= 30 else ordinary)(truth, predicted)

    bootstrap_score(LABELS, LABELS, metric=metric, **OPTIONS)
    assert len(calls) > OPTIONS["n_resamples"]


def test_the_jackknife_of_a_function_keeps_values_and_no_counts():
    # The counts of its thousand sets of rows would take 160 MB.
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    predicted = truth + rng.normal(size=20_000)
    tracemalloc.start()
    try:
        bootstrap_score(truth, predicted, metric=lambda y, p: np.abs(y - p).mean(), n_resamples=99)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3e7


@pytest.mark.parametrize("metric", ["accuracy", "zero_one_loss"])
def test_subgroups_of_one_formula_have_the_numbers_of_each_by_itself(metric, monkeypatch):
    """Their rows are read as further resamples of the first; some have no wrong row."""
    rng = np.random.default_rng(6)
    by, y = rng.integers(0, 30, 6000), rng.integers(0, 2, 6000)
    p = np.where((rng.random(6000) < 0.7) | (by < 3), y, 1 - y)
    call = {"metric": metric, "by": by, "n_resamples": 199, "random_state": 0}
    together = bootstrap_score(y, p, **call)
    each = lambda blocks, statistics: [[k] for k in range(len(blocks))]  # noqa: E731
    monkeypatch.setattr(distribution, "_same_formulas", each)
    monkeypatch.setattr(distribution, "TILE_ELEMENTS", 1 << 10)
    for name, alone in bootstrap_score(y, p, **call).items():
        np.testing.assert_array_equal(
            together[name].bootstrap_distribution, alone.bootstrap_distribution
        )
        assert together[name] == alone
        if name != "gap":
            evidence = together[name]._basis.evidence, alone._basis.evidence
            assert evidence[0].acceleration == evidence[1].acceleration
            np.testing.assert_array_equal(
                *(of_one.replicate_standard_errors for of_one in evidence)
            )


NAMED = {
    "roc_auc": lambda y, score: roc_auc_score(y, score),
    "f1_macro": lambda y, score: f1_score(y, score > 0.5, average="macro"),
    "log_loss": lambda y, score: log_loss(y, score),
    None: lambda y, score: roc_auc_score(y, score) ** 2,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_slow_callable_that_is_a_named_metric_is_told_its_name(name, monkeypatch):
    monkeypatch.setattr(distribution, "_WORTH_A_NAME", 0.0)
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 40)
    score = np.clip(0.3 * y + 0.7 * rng.random(80), 0.01, 0.99)
    score = (score > 0.5).astype(int) if name == "f1_macro" else score
    metric = NAMED[name]
    texts = told_of(lambda: bootstrap_score(y, score, metric=metric, **OPTIONS))
    assert len(texts) == (name is not None)
    if name is None:
        return
    assert f"The metric {name!r} has the same value" in texts[0]
    named = bootstrap_score(y, score, metric=name, **OPTIONS)
    assert named.estimate == pytest.approx(metric(y, score), rel=1e-12)
