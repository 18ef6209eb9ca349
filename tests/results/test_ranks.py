"""Ranks: by brute force from the differences, in tables, and refused where they have no meaning."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import zero_one_loss

from skboot import compare_runs, compare_systems
from skboot.results import ComparisonResult

N = 120


def scores(n_systems, steps=0.4, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=N)
    return {f"s{k}": common + steps * k + rng.normal(size=N) for k in range(n_systems)}


def compared(systems, **options):
    known = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    return compare_systems(None, systems, **known | options)


@pytest.fixture(scope="module")
def result():
    return compared(scores(6))


def step_down_by_hand(result):
    """Ordered pairs one by one, from the replicates: units are many, so no chi variables."""
    names = list(result.systems)
    boot = {name: result.systems[name].bootstrap_distribution for name in names}
    estimate = {name: result.systems[name].estimate for name in names}
    left = {(j, k) for j in names for k in names if j != k}
    deviation, t = {}, {}
    for j, k in left:
        replicates = boot[j] - boot[k]
        error = replicates.std(ddof=1)
        t[j, k] = (estimate[j] - estimate[k]) / error
        deviation[j, k] = (replicates - (estimate[j] - estimate[k])) / error
    told = set()
    while True:
        largest = np.sort(np.max([deviation[pair] for pair in left], axis=0))
        critical = largest[int(np.ceil(0.95 * (len(largest) + 1))) - 1]
        critical = min(critical, stats.norm.ppf(1 - 0.05 / len(left)))
        rejected = {pair for pair in left if t[pair] > critical}
        if not rejected:
            return told
        told |= rejected
        left -= rejected


@pytest.mark.parametrize("steps", [0.0, 0.1, 0.25, 0.6])
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_ranks_count_who_is_told_to_be_better_and_worse(steps, greater_is_better):
    rng = np.random.default_rng(int(100 * steps))
    n = 20_000  # so that Student's law is the normal one
    systems = {f"s{k}": steps * k / 6 + rng.normal(size=n) for k in range(7)}
    result = compared(systems, greater_is_better=greater_is_better)
    told = step_down_by_hand(result)
    ranks = result.ranks()
    for name in systems:
        above = {j for j, k in told if k == name}
        below = {k for j, k in told if j == name}
        better, worse = (above, below) if greater_is_better else (below, above)
        assert ranks[name].low == 1 + len(better)
        assert ranks[name].high == 7 - len(worse)
        assert ranks[name].low <= ranks[name].rank <= ranks[name].high


def told_by_t_tests(rows):
    """Ordered pairs by scipy's paired t tests and Bonferroni's rule in steps."""
    n = len(next(iter(rows.values())))
    t = {
        (j, k): stats.ttest_rel(rows[j], rows[k]).statistic
        for j in rows
        for k in rows
        if (rows[j] != rows[k]).any()
    }
    left, told = set(t), set()
    while rejected := {pair for pair in left if t[pair] > stats.t.isf(0.05 / len(left), n - 1)}:
        told |= rejected
        left -= rejected
    return told


@pytest.mark.filterwarnings("ignore:.*Few rows decide these differences")
@pytest.mark.parametrize(("n", "metric"), [(41, "accuracy"), (41, zero_one_loss), (150, "mean")])
def test_right_and_wrong_rows_are_ranked_by_t_tests_in_steps_whatever_the_seed(n, metric):
    rng = np.random.default_rng(n)
    common = rng.random(n)
    rows = {
        f"s{k}": (0.3 * common + 0.7 * rng.random(n) < share).astype(float)
        for k, share in enumerate(np.linspace(0.1, 0.95, 12))
    }
    rows["again"] = rows["s0"]
    told, better = told_by_t_tests(rows), metric is not zero_one_loss
    truth = None if metric == "mean" else np.ones(n)
    options = {"metric": metric} | ({"greater_is_better": True} if metric == "mean" else {})
    for seed in (0, 1):
        result = compare_systems(truth, rows, random_state=seed, n_resamples=99, **options)
        for row in result.ranks().rows:
            assert row.low == 1 + sum(k == row.system for _, k in told)
            assert row.high == 13 - sum(j == row.system for j, _ in told)
    assert told
    assert result.greater_is_better is better


def test_a_system_that_is_always_right_ranks_above_one_that_is_always_wrong():
    truth = np.tile([0, 1], 20)
    half = np.where(np.arange(40) < 20, truth, 1 - truth)
    systems = {"right": truth, "half": half, "wrong": 1 - truth}
    ranks = compare_systems(truth, systems, random_state=0).ranks()
    assert [(row.system, row.low, row.high) for row in ranks.rows] == [
        ("right", 1, 1),
        ("half", 2, 2),
        ("wrong", 3, 3),
    ]
    # Five rows do not show it: one time in 32 equal systems are that far apart.
    few = {name: values[18:23] for name, values in systems.items()}
    ranks = compare_systems(truth[18:23], few, random_state=0).ranks()
    assert all((row.low, row.high) == (1, 3) for row in ranks.rows)
    assert "Only 5 rows were compared (fewer than 10)" in str(ranks)


def test_the_best_estimate_comes_first_and_equal_ones_share_the_better_rank():
    base, late = np.tile([0.0, 1.0], 20), np.repeat([0.0, 1.0], 20)
    systems = {"low": late - 1, "one": base, "other": base[::-1], "high": 2 - late}
    ranks = compared(systems).ranks()
    assert list(ranks) == ["high", "one", "other", "low"]
    assert [ranks[name].rank for name in ranks] == [1, 2, 2, 4]


def test_top_holds_all_that_may_be_among_the_best(result):
    ranks = result.ranks()
    assert result.top() == tuple(name for name in ranks if ranks[name].low == 1)
    assert result.top(6) == tuple(ranks)
    assert "s5" in result.top()
    assert "s0" not in result.top(2)


@pytest.mark.parametrize("k", [0, 7, 1.0, True, "1"])
def test_top_of_how_many_is_checked(result, k):
    with pytest.raises(ValueError, match="integer from 1 to 6"):
        result.top(k)


def test_the_order_of_the_systems_does_not_matter():
    systems = scores(6, 0.1)
    ranks = compared(systems).ranks().to_dict()
    turned = compared(dict(reversed(systems.items()))).ranks().to_dict()
    assert ranks == {name: turned[name] for name in ranks}


def test_tables_of_ranks(result):
    ranks = result.ranks()
    frame = pytest.importorskip("pandas") and ranks.to_frame()
    assert list(frame.columns) == ["system", "estimate", "rank", "low", "high"]
    assert list(frame["system"]) == list(ranks)
    assert ranks.to_latex().count(r"\\") == 7
    assert ranks.to_markdown().count("\n") == 7
    assert "s5" in str(ranks)
    assert "<table" in ranks._repr_html_()
    assert json.loads(json.dumps(ranks.to_dict()))["s5"]["rank"] == 1
    with pytest.raises(KeyError, match="No system is called 'x'"):
        ranks["x"]


def test_ranks_survive_a_file(result, tmp_path):
    result.save(tmp_path / "comparison.npz")
    assert ComparisonResult.load(tmp_path / "comparison.npz").ranks() == result.ranks()


def test_two_systems_are_ranked_as_their_difference_tells():
    values = np.random.default_rng(0).permutation(np.arange(40.0))
    clear = compared({"A": values, "B": values + np.tile([1.0, 2.0], 20)})
    assert clear.ranks().to_dict()["A"]["low"] == 2
    open_ = compared({"A": values, "B": values[::-1].copy()})
    assert [row.high for row in open_.ranks().rows] == [2, 2]


def test_methods_are_ranked_by_their_joint_law():
    rng = np.random.default_rng(0)
    row = rng.normal(size=(1, 200))
    runs = {
        f"m{k}": row + level + 0.05 * rng.normal(size=(6, 1)) + 0.3 * rng.normal(size=(6, 200))
        for k, level in enumerate([0.0, 0.02, 1.0, 2.0])
    }
    options = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    result = compare_runs(None, runs, **options)
    ranks = result.ranks()
    assert [(row.system, row.low, row.high) for row in ranks.rows[:2]] == [
        ("m3", 1, 1),
        ("m2", 2, 2),
    ]
    assert ranks["m0"].low == ranks["m1"].low == 3
    for pair in result.pairs:
        if pair.excludes_zero:
            assert pair._step_down_sign == np.sign(pair.difference)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "s0"}, "reference="),
        ({"adjust": "holm"}, "adjust='max-t'"),
        ({"adjust": None}, "adjust='max-t'"),
        ({"greater_is_better": None}, "greater_is_better="),
    ],
)
def test_ranks_are_refused_where_they_have_no_meaning(options, message):
    result = compared(scores(3), n_resamples=199, **options)
    for call in (result.ranks, result.top):
        with pytest.raises(ValueError, match=message):
            call()


def test_right_and_wrong_are_ranked_by_bonferronis_rule_in_steps():
    rng = np.random.default_rng(1)
    rates = [1, 0.85, 0.8, 0.75, 0.7, 0.6]
    systems = {str(k): (rng.random(30) < rate).astype(int) for k, rate in enumerate(rates)}
    pairs = compare_systems(np.ones(30, int), systems, n_resamples=499, random_state=0).pairs
    differences = {
        (one.first, one.second): systems[one.first] - systems[one.second] for one in pairs
    }
    p = {
        names if d.mean() > 0 else names[::-1]: stats.ttest_1samp(d, 0).pvalue / 2
        for names, d in differences.items()
    }
    # Holm (1979) over the ordered pairs: the reverse of a pair that is told is never told.
    told, n_left = set(), 2 * len(p)
    while new := {names for names, own in p.items() if own < 0.05 / n_left} - told:
        told |= new
        n_left -= len(new)
    found = {
        (one.first, one.second)[:: one._step_down_sign] for one in pairs if one._step_down_sign
    }
    assert 0 < len(told) < len(p)
    assert found == told
