"""Systems on test sets of their own: independent resamples, against scipy and by simulation."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from sklearn.metrics import roc_auc_score

from skboot import compare_systems


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    truths = {"A": rng.integers(0, 2, size=300), "B": rng.integers(0, 2, size=180)}
    rates = {"A": 0.15, "B": 0.25}
    wrong = {name: rng.random(len(y)) < rates[name] for name, y in truths.items()}
    return truths, {name: y ^ wrong[name] for name, y in truths.items()}


def losses(seed=0):
    rng = np.random.default_rng(seed)
    return {"A": rng.normal(0.4, 1.0, size=90), "B": rng.normal(0.0, 1.5, size=70)}


def test_replicates_are_independent_and_each_has_its_own_variance(data):
    truths, systems = data
    result = compare_systems(truths, systems, paired=False, n_resamples=9999, random_state=0)
    one, other = (result.systems[name].bootstrap_distribution for name in "AB")
    # 9999 independent pairs: the correlation has a standard error of 1%; four of them.
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.04
    [pair] = result.pairs
    shares = {name: np.mean(systems[name] == truths[name]) for name in "AB"}
    variance = sum(p * (1 - p) / len(truths[name]) for name, p in shares.items())
    # The standard deviation of 9999 draws has an error of .7%; four of them.
    assert_allclose(pair.standard_error, np.sqrt(variance), rtol=0.03)
    assert_allclose(pair.difference, shares["A"] - shares["B"])
    assert pair._discordant is None
    assert pair.mcnemar_p_value is None


def test_the_t_interval_is_close_to_welchs():
    systems = losses()
    options = {"metric": "mean", "interval": "t", "n_resamples": 9999, "random_state": 0}
    [pair] = compare_systems(None, systems, paired=False, **options).pairs
    test = stats.ttest_ind(systems["A"], systems["B"], equal_var=False)
    low, high = test.confidence_interval(0.95)
    # Degrees of freedom are those of the smaller set: wider by less than 2%.
    width = (pair.confidence_interval.high - pair.confidence_interval.low) / (high - low)
    assert 0.97 < width < 1.04
    assert_allclose(pair.p_value, test.pvalue, rtol=0.15)


def test_the_area_by_delong_adds_the_variances(data):
    rng = np.random.default_rng(1)
    truths, _ = data
    scores = {name: y + rng.normal(size=len(y)) for name, y in truths.items()}
    known = {"metric": "roc_auc", "interval": "delong", "n_resamples": 199, "random_state": 0}
    [pair] = compare_systems(truths, scores, paired=False, **known).pairs
    areas = {name: roc_auc_score(truths[name], scores[name]) for name in "AB"}
    variance = 0.0
    for name, y in truths.items():
        positive, negative = scores[name][y == 1], scores[name][y == 0]
        wins = (positive[:, None] > negative).astype(float)
        variance += wins.mean(axis=1).var(ddof=1) / len(positive)
        variance += wins.mean(axis=0).var(ddof=1) / len(negative)
    half = stats.norm.ppf(0.975) * np.sqrt(variance)
    difference = areas["A"] - areas["B"]
    assert_allclose(pair.confidence_interval, (difference - half, difference + half))


def wilson(hits, n, z):
    share, centre = hits / n, (hits + z**2 / 2) / (n + z**2)
    half = z * np.sqrt(n * share * (1 - share) + z**2 / 4) / (n + z**2)
    return centre - half, centre + half


def newcombes_lower_limit(one, other, z):
    """Newcombe (1998), method 10, of hits and rows of both."""
    (first, _), (_, second) = wilson(*one, z), wilson(*other, z)
    shares = one[0] / one[1], other[0] / other[1]
    return shares[0] - shares[1] - np.hypot(shares[0] - first, second - shares[1])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_few_errors_get_newcombes_interval_and_the_p_value_that_agrees(data, alternative):
    truths, systems = data
    good = {"A": truths["A"].copy(), "B": systems["B"]}
    good["A"][:4] ^= 1
    options = {"alternative": alternative, "n_resamples": 99, "random_state": 0}
    [pair] = compare_systems(truths, good, paired=False, **options).pairs
    assert pair.confidence_interval.method == "newcombe"
    hits = int((good["B"] == truths["B"]).sum())
    z = optimize.brentq(lambda z: newcombes_lower_limit((296, 300), (hits, 180), z), 0, 20)
    tail = {"two-sided": 2 * stats.norm.sf(z), "greater": stats.norm.sf(z)}
    assert_allclose(pair.p_value, tail.get(alternative, stats.norm.cdf(z)))


def test_exchanging_the_systems_mirrors_everything(data):
    truths, systems = data
    options = {"paired": False, "random_state": 0, "n_resamples": 499}
    [pair] = compare_systems(truths, systems, **options).pairs
    turned = dict(reversed(systems.items()))
    [mirrored] = compare_systems(truths, turned, **options).pairs
    assert mirrored._mirrored().confidence_interval == pair.confidence_interval
    assert mirrored.p_value == pair.p_value


def test_groups_strata_and_weights_are_those_of_each_system():
    systems = losses()
    groups = {"A": np.arange(90) // 3, "B": None}
    weights = {"A": np.ones(90), "B": np.r_[np.ones(35), np.zeros(35)]}
    known = {"metric": "mean", "n_resamples": 199, "random_state": 0}
    result = compare_systems(
        None, systems, paired=False, groups=groups, sample_weight=weights, **known
    )
    assert result.systems["A"].unit == "group"
    assert result.systems["B"].unit == "row"
    assert_allclose(result.systems["B"].estimate, systems["B"][:35].mean())
    strata = {name: np.arange(len(each)) % 2 for name, each in systems.items()}
    stratified = compare_systems(None, systems, paired=False, strata=strata, **known)
    assert stratified.pairs[0].degrees_of_freedom == 68


def test_several_systems_have_simultaneous_intervals_ranks_and_verdicts():
    rng = np.random.default_rng(5)
    systems = {f"s{k}": rng.normal(0.8 * k, 1.0, size=60 + 10 * k) for k in range(4)}
    known = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    result = compare_systems(None, systems, paired=False, **known)
    assert [row.rank for row in result.ranks().rows] == [1, 2, 3, 4]
    assert result.pair("s3", "s0").verdict(0.0).passed
    for pair in result.pairs:
        low, high = pair.simultaneous_interval
        assert low <= pair.confidence_interval.low
        assert high >= pair.confidence_interval.high


def test_words_say_that_the_resamples_are_independent(data):
    truths, systems = data
    result = compare_systems(truths, systems, paired=False, n_resamples=199, random_state=0)
    assert "test sets of their own (300 and 180 rows)" in result.claim()
    assert "independent resamples of each test set" in result.claim()
    assert "paired" not in result.claim()
    assert "each test set by itself" in result.summary()
    assert not result._is_paired


def test_equal_systems_on_their_own_rows_are_told_apart_as_often_as_stated():
    # 400 data sets: standard error 1.1% at 5%; a rate of 5% leaves 1.5 to 9% once in 500 seeds.
    told = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        truths = {"A": np.zeros(80, int), "B": np.zeros(50, int)}
        wrong = {name: (rng.random(len(y)) < 0.2).astype(int) for name, y in truths.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"paired": False, "n_resamples": 499, "random_state": seed}
            [pair] = compare_systems(truths, wrong, **options).pairs
        told += pair.excludes_zero
    assert 0.015 <= told / 400 <= 0.09


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": np.zeros(300)}, "'by' parameter"),
        ({"interval": "tango"}, "'interval' parameter"),
        ({"interval": "bca"}, "'interval' parameter"),
        ({"interval": "newcombe"}, "'interval' parameter"),
        ({"interval": "delong"}, "area under the ROC curve"),
        ({"groups": np.zeros(300)}, "'groups' parameter"),
        ({"strata": {"A": np.zeros(300)}}, "'strata' parameter"),
        ({"sample_weight": [1.0]}, "'sample_weight' parameter"),
        ({"paired": None}, "'paired' parameter"),
    ],
)
def test_what_needs_the_same_rows_is_refused(data, options, message):
    truths, systems = data
    with pytest.raises(ValueError, match=message):
        compare_systems(truths, systems, **{"paired": False} | options)


def test_truths_of_other_names_or_none_are_refused(data):
    truths, systems = data
    for y_true in ({"A": truths["A"]}, truths["A"]):
        with pytest.raises(ValueError, match="dict with the names of y_preds"):
            compare_systems(y_true, systems, paired=False)


def test_unequal_lengths_are_refused_with_the_way_out(data):
    truths, systems = data
    with pytest.raises(ValueError, match="paired=False, with y_true by system"):
        compare_systems(truths["A"], systems)
    with pytest.raises(ValueError, match="use paired=False"):
        compare_systems(truths, systems)
