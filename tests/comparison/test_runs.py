"""compare_runs: differences of methods over runs and test rows."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import f1_score

from skboot import bootstrap_runs, compare_runs

pytestmark = pytest.mark.filterwarnings("ignore:compare_runs. Only")
N = 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=N)
    hard = rng.random(N) < 0.4
    rates = {"A": (8, 0.3), "B": (5, 0.32), "C": (6, 0.7)}
    runs = {
        name: np.array([y ^ (hard & (rng.random(N) < rate)) for _ in range(n_runs)])
        for name, (n_runs, rate) in rates.items()
    }
    return y, runs


def two(runs, first="A", second="C"):
    return {first: runs[first], second: runs[second]}


def components_by_hand(first, second):
    """V = sum of (A - c)+ / S + max(te, sum of c / S), from two-way tables of 0/1 values."""
    n = first.shape[1]
    own, noise, parts = 0.0, 0.0, []
    for table in (first, second):
        runs, rows = table.mean(axis=1, keepdims=True), table.mean(axis=0)
        residual = table - runs - rows + table.mean()
        s = len(table)
        c = (residual**2).sum() / ((s - 1) * (n - 1)) / n
        between = runs.var(ddof=1)
        own += max(between - c, 0) / s
        noise += c / s
        parts += [(between / s, s - 1), (c / s, (s - 1) * (n - 1))]
    te = (first.mean(axis=0) - second.mean(axis=0)).var(ddof=1) / n
    total = own + max(te, noise)
    parts.append((max(te, noise), n - 1))
    return total, total**2 / sum(v**2 / df for v, df in parts if v > 0)


@pytest.mark.filterwarnings("ignore:bootstrap_runs. Only")
@pytest.mark.parametrize("of_run", [0.0, 0.02, 0.5])
def test_the_advice_is_that_of_one_method_where_the_other_does_not_vary(of_run):
    # The interaction of runs and rows shrinks with more runs and with more rows.
    rng = np.random.default_rng(1)
    values = 0.1 * rng.normal(size=N) + of_run * rng.normal(size=(6, 1)) + rng.normal(size=(6, N))
    options = {"metric": "mean", "random_state": 0}
    alone = " ".join(bootstrap_runs(None, values, **options).summary().split())
    both = compare_runs(None, {"A": values, "nothing": np.zeros((6, N))}, **options)
    [advice] = [note for note in both.notes if "variance of the difference" in note]
    shares = r"(\w+ units|seeds|runs(?: of each method)?) (?:by|would narrow.*? by) about (\d+) %"
    one, other = (dict(re.findall(shares, text)) for text in (alone, advice))
    assert one.pop("seeds", "0") == other.pop("runs of each method", "0")
    assert one == other


def test_the_interval_is_that_of_the_analysis_of_variance(data):
    y, runs = data
    [pair] = compare_runs(y, two(runs), random_state=0).pairs
    tables = [(runs[name] == y).astype(float) for name in "AC"]
    variance, df = components_by_hand(*tables)
    assert_allclose(pair.difference, tables[0].mean() - tables[1].mean())
    assert_allclose(pair.standard_error**2, variance, rtol=1e-9)
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert_allclose(
        pair.confidence_interval[:2], [pair.difference - half, pair.difference + half], rtol=1e-9
    )
    assert_allclose(pair.p_value, 2 * stats.t.sf(abs(pair.difference) / np.sqrt(variance), df))


def test_other_metrics_get_nearly_the_same_from_resamples(data):
    # Accuracy as a callable takes the path over resamples; 2% Monte Carlo error of an sd.
    y, runs = data
    fast = compare_runs(y, two(runs), random_state=0).pairs[0]
    slow = compare_runs(
        y, two(runs), metric=lambda a, b: np.mean(a == b), n_resamples=1500, random_state=0
    ).pairs[0]
    assert_allclose(slow.difference, fast.difference)
    assert_allclose(slow.standard_error, fast.standard_error, rtol=0.06)
    f1 = compare_runs(y, two(runs), metric="f1", n_resamples=199, random_state=0).pairs[0]
    expected = [np.mean([f1_score(y, run) for run in runs[name]]) for name in "AC"]
    assert_allclose(f1.difference, expected[0] - expected[1])


def test_welch_is_welchs_test_over_the_scores(data):
    y, runs = data
    result = compare_runs(y, two(runs), interval="welch", random_state=0)
    [pair] = result.pairs
    scores = [(runs[name] == y).mean(axis=1) for name in "AC"]
    expected = stats.ttest_ind(*scores, equal_var=False)
    assert_allclose(pair.p_value, expected.pvalue)
    assert_allclose(pair.confidence_interval[:2], expected.confidence_interval(0.95))
    assert "the test rows" in result.held_fixed
    assert any("Welch" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore:bootstrap_runs. Only 6 runs")
def test_paired_runs_vary_by_their_differences(data):
    y, runs = data
    paired = {"A": runs["A"][:6], "C": runs["C"]}
    welch = compare_runs(y, paired, interval="welch", paired_runs=True, random_state=0).pairs[0]
    scores = [(paired[name] == y).mean(axis=1) for name in "AC"]
    assert_allclose(welch.p_value, stats.ttest_rel(*scores).pvalue)
    # The differences are the runs of one method: the one-method interval of their mean.
    table = np.subtract(*[(paired[name] == y).astype(float) for name in "AC"])
    expected = bootstrap_runs(None, table, metric="mean", estimand="method", random_state=0)
    pair = compare_runs(y, paired, paired_runs=True, random_state=0).pairs[0]
    assert_allclose(pair.standard_error, expected.standard_error, rtol=1e-9)


def test_runs_on_bootstrap_samples_are_centred_at_the_full_list(data):
    y, runs = data
    full = {"A": runs["A"][:2], "C": runs["C"][:2]}
    result = compare_runs(
        y, two(runs), varied="training", full_runs=full, n_resamples=199, random_state=0
    )
    expected = (full["A"] == y).mean() - (full["C"] == y).mean()
    assert_allclose(result.pairs[0].difference, expected)
    with pytest.raises(ValueError, match=r"63\.2%"):
        compare_runs(y, two(runs), varied="training", random_state=0)


@pytest.fixture(scope="module")
def trained():
    """Losses of runs on bootstrap samples (5 x 3 and 5 x 2 seeds) and on the full list."""
    rng = np.random.default_rng(1)
    row = rng.normal(size=N)

    def losses(n_samples, n_seeds):
        sample = 0.1 * rng.normal(size=(n_samples, 1, 1)) + 0.5 * rng.normal(size=(n_samples, 1, N))
        seed = (n_samples, n_seeds)
        return row + sample + 0.1 * rng.normal(size=(*seed, 1)) + 0.5 * rng.normal(size=(*seed, N))

    runs = {"A": losses(5, 3), "B": losses(5, 2)}
    return runs, {"A": losses(1, 2)[0], "B": losses(1, 2)[0]}


def as_runs(trained):
    """Arguments of compare_runs, the runs of a training sample not side by side."""
    runs, full = trained
    names = np.array(["e", "b", "c", "a", "d"])
    return {
        "y_true": None,
        "y_preds": {name: own.swapaxes(0, 1).reshape(-1, N) for name, own in runs.items()},
        "training": {name: np.tile(names, own.shape[1]) for name, own in runs.items()},
        "full_runs": full,
        "metric": "mean",
        "varied": "both",
        "random_state": 0,
    }


def mean_squares(table):
    """Variance between the runs of a table and the part of it that is test noise."""
    residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    n_runs, n = table.shape
    return table.mean(axis=1).var(ddof=1), (residual**2).sum() / ((n_runs - 1) * (n - 1)) / n


@pytest.mark.parametrize("paired", [False, True])
def test_seeds_on_training_samples_have_the_variance_of_both(trained, paired):
    # V = sum of (A - c)+ + what fewer seeds on the full list add + te, from two-way tables.
    runs, full = trained
    means = [runs[name].mean(axis=1) for name in "AB"]
    own, parts = 0.0, []
    for table in [means[0] - means[1]] if paired else means:
        between, c = mean_squares(table)
        own += max(between - c, 0)
        parts.append((between, 4))
    # A has three seeds on each sample, two on the full list; B as many on both.
    within = [mean_squares(table) for table in runs["A"]]
    seed = max(np.mean([between for between, _ in within]) - np.mean([c for _, c in within]), 0)
    assert seed > 0
    parts.append((seed * (1 / 2 - 1 / 3), 10))
    te = (full["A"].mean(axis=0) - full["B"].mean(axis=0)).var(ddof=1) / N
    variance = own + parts[-1][0] + te
    parts.append((te, N - 1))
    df = variance**2 / sum(v**2 / f for v, f in parts)
    [pair] = compare_runs(**as_runs(trained), paired_runs=paired).pairs
    assert_allclose(pair.difference, full["A"].mean() - full["B"].mean())
    assert_allclose(pair.standard_error**2, variance, rtol=1e-9)
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert_allclose(
        pair.confidence_interval[:2], [pair.difference - half, pair.difference + half], rtol=1e-9
    )


def test_a_sample_with_one_seed_is_a_run_on_its_own_sample(trained):
    runs, full = trained
    one = {name: own[:, 0] for name, own in runs.items()}
    options = {"metric": "mean", "full_runs": full, "n_resamples": 99, "random_state": 0}
    plain = compare_runs(None, one, varied="training", **options)
    names = {name: np.arange(5) for name in "AB"}
    both = compare_runs(None, one, varied="both", training=names, **options)
    assert both.pairs[0]._comparison.varied == "both"
    numbers = [[replace(pair, _comparison=None) for pair in own.pairs] for own in (both, plain)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("paired", [False, True])
def test_resamples_give_nearly_the_same_for_seeds_on_training_samples(trained, paired):
    # A callable takes the path over resamples; 2% Monte Carlo error of an sd.
    options = as_runs(trained) | {"paired_runs": paired}
    fast = compare_runs(**options).pairs[0]
    slow = compare_runs(**options | {"metric": np.mean, "n_resamples": 1500}).pairs[0]
    assert_allclose(slow.difference, fast.difference)
    assert_allclose(slow.standard_error, fast.standard_error, rtol=0.06)


@pytest.mark.filterwarnings("ignore:bootstrap_runs. Only")
def test_methods_by_themselves_are_those_of_bootstrap_runs(trained):
    options = as_runs(trained)
    result = compare_runs(**options)
    assert result.held_fixed == ("the settings of the methods",)
    assert "more runs" not in result.summary()
    alone = bootstrap_runs(
        None,
        options["y_preds"]["A"],
        training=options["training"]["A"],
        full_runs=options["full_runs"]["A"],
        metric="mean",
        varied="both",
        random_state=0,
    )
    # Drawn with the other method or without it, sums of the same rows differ by rounding.
    assert result.systems["A"].confidence_interval[:2] == pytest.approx(
        alone.confidence_interval[:2], rel=1e-12
    )


def test_training_samples_are_named_for_every_method(trained):
    options = as_runs(trained)
    names = options["training"]
    for training, message in (
        (None, "training sample of each run of every method"),
        ({"A": names["A"]}, "training sample of each run of every method"),
        ({"A": names["A"], "B": names["A"]}, r"shape \(n_runs,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_runs(**options | {"training": training})
    other = {"A": names["A"], "B": np.char.add(names["B"], "x")}
    compare_runs(**options | {"training": other})
    with pytest.raises(ValueError, match="'paired_runs' parameter"):
        compare_runs(**options | {"training": other}, paired_runs=True)
    with pytest.raises(ValueError, match="'full_runs' parameter"):
        compare_runs(**options | {"full_runs": None})


def test_exchanging_methods_mirrors_and_identical_runs_differ_by_zero(data):
    y, runs = data
    [pair] = compare_runs(y, {"A": runs["A"], "C": runs["C"]}, random_state=0).pairs
    [back] = compare_runs(y, {"C": runs["C"], "A": runs["A"]}, random_state=0).pairs
    assert_allclose(back.confidence_interval[:2], pair._mirrored().confidence_interval[:2])
    one = np.tile(runs["A"][:1], (3, 1))
    result = compare_runs(y, {"A": one, "B": one}, random_state=0)
    assert result.pairs[0].confidence_interval[:2] == (0.0, 0.0)
    assert result.pairs[0].p_value == 1.0
    assert any("degenerate" in note for note in result.notes)


@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
def test_several_methods_get_wider_intervals_that_agree_with_p(data, adjust):
    y, runs = data
    result = compare_runs(y, runs, adjust=adjust, random_state=0)
    assert result.best == "A"
    assert result.indistinguishable_from_best == ("B",)
    for pair in result.pairs:
        if adjust is None:
            continue
        low, high = pair.confidence_interval
        assert pair.simultaneous_interval.low < low < high < pair.simultaneous_interval.high
        assert (pair.p_value_adjusted <= 0.05) == result.is_distinguishable(pair)


def test_the_summary_says_what_would_narrow_the_interval(data):
    y, runs = data
    text = " ".join(compare_runs(y, two(runs), random_state=0).summary().split())
    assert "twice as many test units would narrow the interval by" in text
    assert "runs of each method by" in text


def test_a_claim_over_methods_names_what_it_is_conditional_on(data):
    y, runs = data
    claim = compare_runs(y, two(runs), random_state=0).claim()
    assert ", conditional on the training set (95% CI" in claim
    assert "A is significantly better than C" in claim


def test_groups_and_several_metrics_are_taken(data, tmp_path):
    y, runs = data
    found = compare_runs(
        y,
        two(runs),
        metric=["accuracy", "f1"],
        groups=np.arange(N) // 3,
        n_resamples=199,
        random_state=0,
    )
    assert list(found) == ["accuracy", "f1"]
    found["f1"].save(tmp_path / "f1.npz")
    assert type(found["f1"]).load(tmp_path / "f1.npz") == found["f1"]


def test_few_runs_are_warned_of(data):
    y, runs = data
    with pytest.warns(UserWarning, match="Only 3 runs"):
        compare_runs(y, {"A": runs["A"][:3], "C": runs["C"]}, random_state=0)


BAD = {
    "single run": (lambda runs: {"A": runs["A"][:1], "C": runs["C"]}, {}, "at least two runs"),
    "pairing": (two, {"paired_runs": True}, "different numbers of runs"),
    "interval": (two, {"interval": "expanded"}, "'interval' parameter"),
    "varied": (two, {"varied": "neither"}, "'varied' parameter"),
    "training without both": (two, {"training": {"A": [0] * 8}}, "'training' parameter"),
    "rows": (lambda runs: {"A": runs["A"][:, :50], "C": runs["C"]}, {}, "rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_refused(data, case):
    y, runs = data
    make, options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        compare_runs(y, make(runs), **options)


@pytest.mark.parametrize("interval", ["components", "welch"])
def test_differences_that_move_together_over_paired_runs_cost_little_width(interval):
    # The runs of A and its copy go up and down as one. Each t has a denominator of its own, which
    # costs 12%; were the runs independent it would be 17%, and 19% by Bonferroni's rule.
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=N)
    wrong = [rng.random(N) < rate for rate in np.linspace(0.1, 0.5, 10)]
    runs = {"A": np.array([y ^ own for own in wrong])}
    runs["copy"] = runs["A"].copy()
    runs["copy"][:, 0] = 1 - y[0]
    runs["B"] = np.array([y ^ (rng.random(N) < 0.3) for _ in range(10)])
    result = compare_runs(
        y, runs, paired_runs=True, reference="B", interval=interval, random_state=0
    )
    for pair in result.pairs:
        wide, own = (
            high - low for low, high in (pair.simultaneous_interval, pair.confidence_interval)
        )
        assert own <= wide < 1.14 * own


def test_paired_runs_say_how_often_one_beats_the_other(data):
    y, runs = data
    runs = {name: runs[name][:5] for name in "AB"}
    with_pairs = compare_runs(y, runs, paired_runs=True, random_state=0)
    scores = [(runs[name] == y).mean(axis=1) for name in "AB"]
    won = np.mean(scores[0] > scores[1]) + np.mean(scores[0] == scores[1]) / 2
    found = with_pairs.pairs[0].outperformance
    assert found.probability == won
    assert found.n_pairs == 5
    losses = {name: (each != y).astype(float) for name, each in runs.items()}
    of_losses = compare_runs(
        None, losses, metric="mean", greater_is_better=False, paired_runs=True, random_state=0
    )
    assert of_losses.pairs[0].outperformance.probability == won
    assert compare_runs(y, runs, random_state=0).pairs[0].outperformance is None
    fresh = compare_runs(y, runs, varied="independent", paired_runs=True, random_state=0)
    assert "conditional on this test set" in " ".join(fresh.summary().split())


def test_each_run_is_drawn_once_for_the_differences_and_for_its_method():
    y, calls = np.arange(24) % 2, []
    runs = {name: np.random.default_rng(k).integers(0, 2, (3, 24)) for k, name in enumerate("AB")}

    def share_right(y_true, y_pred):
        calls.append(1)
        return float(np.mean(y_true == y_pred))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_runs(
            y, runs, metric=share_right, groups=np.arange(24) // 2, n_resamples=32, random_state=0
        )
    # Six runs, each on the data and on every resample.
    assert len(calls) == 6 * (1 + 32)


@pytest.mark.parametrize("interval", ["auto", "welch"])
def test_one_sided_comparisons_of_runs_are_halves_of_two_sided_ones(interval):
    rng = np.random.default_rng(3)
    row = rng.normal(size=(1, 150))
    runs = {
        name: row + level + 0.3 * rng.normal(size=(6, 150))
        for name, level in [("A", 0.0), ("B", 0.03), ("C", 0.1)]
    }
    options = {"metric": "mean", "interval": interval, "random_state": 0, "n_resamples": 99}
    both = compare_runs(None, runs, confidence_level=0.9, **options)
    above = compare_runs(None, runs, alternative="greater", **options)
    below = compare_runs(None, runs, alternative="less", **options)
    for two, one, other in zip(both.pairs, above.pairs, below.pairs, strict=True):
        assert_allclose(one.confidence_interval, (two.confidence_interval.low, np.inf))
        assert_allclose(other.confidence_interval, (-np.inf, two.confidence_interval.high))
        assert_allclose(min(one.p_value, other.p_value), two.p_value / 2)
        assert_allclose(one.p_value + other.p_value, 1.0)
        for pair in (one, other):
            assert pair.p_value_adjusted >= pair.p_value
            low, high = pair.simultaneous_interval
            assert (pair.p_value_adjusted <= 0.05) == (low > 0 or high < 0)


def test_one_sided_welch_is_scipys():
    rng = np.random.default_rng(4)
    runs = {"A": rng.normal(0.1, 1.0, size=(5, 40)), "B": rng.normal(size=(7, 40))}
    options = {"metric": "mean", "interval": "welch", "n_resamples": 99, "random_state": 0}
    for alternative in ("greater", "less"):
        [pair] = compare_runs(None, runs, alternative=alternative, **options).pairs
        sides = (runs[name].mean(axis=1) for name in "AB")
        test = stats.ttest_ind(*sides, equal_var=False, alternative=alternative)
        assert_allclose(pair.p_value, test.pvalue)
        assert_allclose(pair.confidence_interval, test.confidence_interval(0.95))


def scored_in(case):
    """Truth, ten runs and options of a case that intervals do badly on."""
    rng = np.random.default_rng(3)
    y_true, runs, options = np.arange(300) < 150, None, {"metric": "accuracy"}
    if case == "crossed":
        options["groups"] = np.column_stack([np.arange(300) % 6, np.arange(300) // 6])
    elif case == "groups":
        options["groups"] = np.arange(300) // 30
    elif case == "erring groups":
        runs = [y_true ^ (rng.permutation(300) < 5) & (np.arange(300) < 20) for _ in range(10)]
        options["groups"] = np.arange(300) // 10
    elif case in ("average precision", "roc_auc", "roc_auc near 1"):
        n_positive = 15 if case == "average precision" else 40 if case == "roc_auc" else 150
        y_true, apart = np.arange(300) < n_positive, 5.0 if "near" in case else 1.0
        runs = [apart * y_true + rng.normal(size=300) for _ in range(10)]
        options["metric"] = case.removesuffix(" near 1").replace(" ", "_")
    elif case == "balanced_accuracy":
        y_true = np.repeat(np.arange(10), [*[37] * 8, 2, 2])
        runs = [np.where(rng.random(300) < 0.2, rng.permutation(y_true), y_true) for _ in range(10)]
        options["metric"] = case
    elif case == "mean":
        runs = [np.where(np.arange(300) == 0, 900, rng.random(300)) for _ in range(10)]
        options = {"metric": case, "greater_is_better": True}
    elif case == "time":
        stretches = np.convolve(rng.normal(size=320), np.ones(21), "valid") > 3
        runs = [y_true ^ (stretches & (rng.random(300) < 0.8)) for _ in range(10)]
    if runs is None:
        runs = [y_true ^ (rng.random(300) < 0.2) for _ in range(10)]
    return None if case == "mean" else y_true, runs, options


@pytest.mark.parametrize(
    "case",
    [
        "average precision",
        "roc_auc",
        "roc_auc near 1",
        "balanced_accuracy",
        "mean",
        "groups",
        "erring groups",
        "crossed",
        "time",
    ],
)
def test_what_one_method_is_warned_of_is_said_of_methods_compared(case):
    y_true, runs, options = scored_in(case)
    with pytest.warns(UserWarning, match="bootstrap_runs: ") as alone:
        bootstrap_runs(y_true, runs, n_resamples=99, random_state=0, **options)
    both = {"A": runs, "B": runs[::-1]}
    with pytest.warns(UserWarning, match="compare_runs: ") as compared:
        result = compare_runs(y_true, both, n_resamples=99, random_state=0, **options)
    texts = [str(one.message).removeprefix("bootstrap_runs: ") for one in alone]
    said = [str(one.message).removeprefix("compare_runs: ") for one in compared]
    assert all(any(one.startswith(text) for one in said) for text in texts)
    assert set(texts) <= set(result.notes)


def test_welch_over_the_runs_alone_says_nothing_of_few_groups():
    y_true, runs, options = scored_in("groups")
    result = compare_runs(
        y_true, {"A": runs, "B": runs[::-1]}, interval="welch", random_state=0, **options
    )
    assert not any("groups were resampled" in note for note in result.notes)


def test_all_metrics_of_a_call_are_computed_on_the_same_resamples(data):
    y, runs = data
    metrics = {"f1": "f1", "of repeated rows": lambda t, p: f1_score(t, p)}
    tables = compare_runs(y, two(runs), metric=metrics, n_resamples=29, random_state=0)
    found = [one.systems["A"].bootstrap_distribution for one in tables.values()]
    assert_allclose(*found, rtol=0, atol=1e-12)
