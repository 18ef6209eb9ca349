"""Methods compared across several data sets."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy
from scipy import stats

import skboot
from skboot import compare_across, compare_runs, compare_systems
from skboot.results import DatasetsComparison

SETS = [f"set {k}" for k in range(12)]
METHODS = ["A", "B", "C", "D"]
RNG = np.random.default_rng(5)
BASE = RNG.uniform(0.6, 0.9, size=(12, 1))
SCORES = np.round(BASE + RNG.normal(0, 0.03, size=(12, 4)) + [0, 0.01, 0.02, 0.06], 3)


def across(scores=SCORES, **options):
    """The comparison, whose warning of few data sets is another test's."""
    if not hasattr(scores, "keys"):
        options = {"datasets": SETS[: len(scores)], "methods": METHODS[: np.shape(scores)[1]]} | (
            options
        )
        options = {"greater_is_better": True} | options
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="compare_across: Only")
        return compare_across(scores, **{"random_state": 0} | options)


def as_dicts(scores=SCORES):
    return {
        name: dict(zip(METHODS, row, strict=False))
        for name, row in zip(SETS, scores.tolist(), strict=False)
    }


@pytest.fixture(scope="module")
def four():
    return across(margin=0.02)


def results_by_data_set(n=6, n_rows=150, **options):
    rng = np.random.default_rng(1)
    found = {}
    for k in range(n):
        y = rng.integers(0, 2, n_rows)
        rates = {"A": 0.2, "B": 0.25, "C": 0.3}
        systems = {name: y ^ (rng.random(n_rows) < rate) for name, rate in rates.items()}
        found[f"set {k}"] = compare_systems(y, systems, random_state=k, **options)
    return found


RESULTS = results_by_data_set()


# ------------------------------------------------------------------ what it is given


def test_an_array_dicts_and_a_frame_give_the_same_comparison():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES, index=SETS, columns=METHODS)
    first = across()
    assert first.datasets == tuple(SETS)
    assert tuple(first.systems) == tuple(METHODS)
    for scores in (as_dicts(), frame, frame.astype(object)):
        assert across(scores, greater_is_better=True, datasets=None, methods=None) == first


def test_results_bring_their_metric_direction_and_errors():
    result = across(RESULTS)
    assert isinstance(result, DatasetsComparison)
    assert result.metric == "accuracy"
    assert result.greater_is_better is True
    expected = [[each.systems[name].estimate for name in "ABC"] for each in RESULTS.values()]
    assert np.array_equal(result.scores, expected)
    assert all(pair.between_deviation is not None for pair in result.pairs)


def test_methods_are_told_by_name_whatever_their_order_on_each_data_set():
    shuffled = {k: dict(sorted(row.items(), reverse=k == "set 3")) for k, row in as_dicts().items()}
    assert across(shuffled, greater_is_better=True) == across()


BAD = {
    "a data set lacks a method": (
        {"x": {"A": 1.0, "B": 2.0}, "y": {"A": 1.0}},
        {"greater_is_better": True},
        "'scores'.*every method on every data set.*none of B on 'y'",
    ),
    "a list in a cell": (
        {"x": {"A": [1.0, 2.0], "B": 2.0}, "y": {"A": 1.0, "B": 1.0}},
        {"greater_is_better": True},
        "2 numbers of method 'A' on data set 'x'.*compare the runs of each data set with "
        "compare_runs and pass the results",
    ),
    "runs in a third dimension": (
        np.zeros((3, 2, 5)),
        {"greater_is_better": True, "datasets": "xyz", "methods": ["A", "B"]},
        "'datasets'",
    ),
    "a missing score": (
        {"x": {"A": np.nan, "B": 2.0}, "y": {"A": 1.0, "B": 1.0}},
        {"greater_is_better": True},
        "none of method 'A' on data set 'x'",
    ),
    "text": (
        {"x": {"A": "high", "B": 2.0}, "y": {"A": 1.0, "B": 1.0}},
        {"greater_is_better": True},
        "finite numbers.*'high' of method 'A'",
    ),
    "bare numbers without a direction": (
        {"x": {"A": 1.0, "B": 2.0}, "y": {"A": 1.0, "B": 1.0}},
        {},
        "'greater_is_better'.*True or False for bare numbers.*None",
    ),
    "one data set": ({"x": {"A": 1.0, "B": 2.0}}, {"greater_is_better": True}, "two data sets"),
    "one method": (
        {"x": {"A": 1.0}, "y": {"A": 2.0}},
        {"greater_is_better": True},
        "at least two methods",
    ),
    "no names": (
        SCORES,
        {"greater_is_better": True},
        "'datasets'.*name each data set of the array, 12 in all",
    ),
    "too few names": (
        SCORES,
        {"greater_is_better": True, "datasets": SETS, "methods": ["A", "B"]},
        "'methods'.*name each method of the array, 4 in all.*2 names",
    ),
    "a name twice": (
        SCORES,
        {"greater_is_better": True, "datasets": SETS, "methods": ["A", "B", "A", "D"]},
        "'methods'.*name each method once",
    ),
    "names beside a dict": (
        as_dicts(),
        {"greater_is_better": True, "methods": METHODS},
        "'methods'.*None where the scores name",
    ),
    "ragged rows": (
        [[1.0, 2.0], [1.0]],
        {"greater_is_better": True, "datasets": ["x", "y"], "methods": ["A", "B"]},
        "rows of \\[1, 2\\] numbers",
    ),
    "a number": (1.0, {"greater_is_better": True}, "table of shape \\(n_datasets, n_methods\\)"),
    "one dimension": ([1.0, 2.0], {"greater_is_better": True}, "an array of shape \\(2,\\)"),
    "these, of bare numbers": (
        as_dicts(),
        {"greater_is_better": True, "estimand": "these"},
        "'estimand'.*'new' for bare numbers.*ComparisonResult",
    ),
    "an unknown estimand": (as_dicts(), {"estimand": "all"}, "'estimand'"),
    "a negative margin": (
        as_dicts(),
        {"greater_is_better": True, "margin": -0.1},
        "'margin'.*at least 0",
    ),
    "an unknown reference": (
        as_dicts(),
        {"greater_is_better": True, "reference": "E"},
        "'reference'.*\\['A', 'B', 'C', 'D'\\]",
    ),
    "an unknown alternative": (
        as_dicts(),
        {"greater_is_better": True, "alternative": "larger"},
        "'alternative'",
    ),
    "one resample": (
        as_dicts(),
        {"greater_is_better": True, "n_resamples": 1},
        "'n_resamples'",
    ),
    "a result beside numbers": (
        {"x": RESULTS["set 0"], "y": {"A": 1.0, "B": 1.0, "C": 0.0}},
        {},
        "for every data set, or for none",
    ),
    "the other direction": (RESULTS, {"greater_is_better": False}, "'greater_is_better'.*be True"),
    "a comparison across data sets": (
        {"x": across(RESULTS), "y": RESULTS["set 0"]},
        {},
        "comparison on one data set",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_what_to_do(case):
    scores, options, message = BAD[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        compare_across(scores, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "A"}, "all pairs.*reference='A'"),
        ({"metric": "f1"}, "same metric"),
    ],
)
def test_results_that_do_not_fit_together_are_refused(options, message):
    other = results_by_data_set(2, **options)
    with pytest.raises(ValueError, match=message):
        compare_across({"x": RESULTS["set 0"], "y": other["set 1"]})


def test_results_that_lack_a_method_are_refused_by_name():
    y = np.tile([0, 1], 50)
    two = compare_systems(y, {"A": y, "B": 1 - y}, random_state=0)
    with pytest.raises(ValueError, match="none of C on 'y'"):
        compare_across({"x": RESULTS["set 0"], "y": two})


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize("n", [5, 7, 8, 12])
def test_t_of_scipy_but_farther_on_the_side_of_the_long_tail(n):
    """Johnson's (1978) term of the sample's skewness, outwards; record 0088."""
    result = across(SCORES[:n, :2])
    [pair] = result.pairs
    d = SCORES[:n, 0] - SCORES[:n, 1]
    test = stats.ttest_rel(SCORES[:n, 0], SCORES[:n, 1])
    low, high = test.confidence_interval(0.95)
    q, skewness = stats.t.ppf(0.975, n - 1), stats.skew(d)
    more = abs(skewness) * (2 * q**2 + 1) / (6 * np.sqrt(n)) * stats.sem(d)
    expected = (low - more, high) if skewness < 0 else (low, high + more)
    assert np.allclose(pair.confidence_interval, expected)
    assert pair.p_value >= test.pvalue
    assert pair.confidence_interval.method == "skewed-t"


@pytest.mark.parametrize("n", [2, 5, 8])
def test_differences_that_are_not_skewed_get_the_t_test_of_scipy(n):
    d = np.arange(n) - (n - 1) / 2 + 2
    [pair] = across(np.column_stack([d, 0 * d])).pairs
    test = stats.ttest_1samp(d, 0)
    assert pair.p_value == pytest.approx(test.pvalue)
    assert np.allclose(pair.confidence_interval, test.confidence_interval(0.95))


@pytest.mark.parametrize("n", [7, 12])
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_values_and_intervals_agree(n, level, alternative):
    for adjust in ("max-t", "holm"):
        result = across(SCORES[:n], alternative=alternative, confidence_level=level, adjust=adjust)
        rest = round(1 - level, 12)
        for pair in result.pairs:
            low, high = pair.confidence_interval
            assert (pair.p_value <= rest) == (low > 0 or high < 0)
            wide = pair.simultaneous_interval
            assert wide.low <= low <= high <= wide.high
            if adjust == "max-t":
                assert (pair.p_value_adjusted <= rest) == (wide.low > 0 or wide.high < 0)
            assert pair.p_value_adjusted >= pair.p_value


def test_one_side_is_against_the_raw_difference():
    two, more, less = (
        across(SCORES[:, [0, 3]], alternative=alternative).pairs[0]
        for alternative in ("two-sided", "greater", "less")
    )
    assert two.difference < 0
    assert less.p_value < two.p_value < more.p_value
    assert less.confidence_interval.low == -np.inf
    assert less.confidence_interval.high < two.confidence_interval.high < 0
    assert more.confidence_interval.high == np.inf


def test_a_direction_changes_who_is_better_and_no_difference():
    up, down = across(), across(greater_is_better=False)
    assert up.best == "D"
    assert down.best == "A"
    assert up.pairs[0].difference == down.pairs[0].difference
    assert up.pairs[0].bootstrap_support == pytest.approx(1 - down.pairs[0].bootstrap_support)
    ranks = [result.mean_ranks()["D"].mean_rank for result in (up, down)]
    assert sum(ranks) == pytest.approx(len(METHODS) + 1)


def test_on_these_data_sets_the_errors_of_each_count():
    """Sum of squared errors by K squared, with Satterthwaite's degrees of freedom."""
    result = across(RESULTS, estimand="these")
    for pair in result.pairs:
        on_each = [each.pair(pair.first, pair.second) for each in RESULTS.values()]
        # The spread of resamples of n rows is too small by (n - 1) / n.
        squares = np.array([each.standard_error**2 * 150 / 149 for each in on_each])
        error = np.sqrt(squares.sum()) / len(on_each)
        df = squares.sum() ** 2 / (squares**2 / 149).sum()
        assert pair.standard_error == pytest.approx(error)
        mean = np.mean([each.difference for each in on_each])
        expected = mean + error * stats.t.ppf([0.025, 0.975], df)
        assert np.allclose(pair.confidence_interval, expected)


def test_on_these_data_sets_simultaneous_intervals_know_what_differences_share():
    """With equal errors the largest of three is Tukey's range; 1% Monte Carlo error."""
    result = across(RESULTS, estimand="these")
    tukey = stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2)
    for pair in result.pairs:
        low, high = pair.simultaneous_interval
        assert (high - low) / 2 / pair.standard_error == pytest.approx(tukey, rel=0.04)


def test_draws_of_the_errors_have_the_errors_they_are_of():
    """1999 draws: the standard deviation of one is known to 1.6%; five of those are allowed."""
    result = across(RESULTS, estimand="these")
    for pair in result.pairs:
        spread = result.replicates(pair.first, pair.second).std()
        assert spread == pytest.approx(pair.standard_error, rel=0.08)


def test_the_error_on_each_data_set_is_taken_off_the_spread_and_not_added():
    result = across(RESULTS)
    bare = across(
        {k: {n: s.estimate for n, s in each.systems.items()} for k, each in RESULTS.items()},
        greater_is_better=True,
    )
    for pair, other in zip(result.pairs, bare.pairs, strict=True):
        assert pair.confidence_interval == other.confidence_interval
        squares = [
            each.pair(pair.first, pair.second).standard_error ** 2 * 150 / 149
            for each in RESULTS.values()
        ]
        left = pair.standard_deviation**2 - np.mean(squares)
        assert pair.between_deviation == pytest.approx(np.sqrt(max(left, 0)))
        assert other.between_deviation is None


def test_results_of_runs_are_compared_across_data_sets():
    rng = np.random.default_rng(0)
    results = {}
    for k in range(3):
        y = rng.integers(0, 2, 100)
        rates = {"A": 0.2, "B": 0.3}
        runs = {n: [y ^ (rng.random(100) < e) for _ in range(4)] for n, e in rates.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results[k] = compare_runs(y, runs, random_state=0)
    [pair] = across(results, estimand="these").pairs
    squares = [each.pairs[0].standard_error ** 2 for each in results.values()]
    assert pair.standard_error == pytest.approx(np.sqrt(sum(squares)) / 3)
    assert pair.degrees_of_freedom >= min(e.pairs[0].degrees_of_freedom for e in results.values())


def test_a_difference_that_is_the_same_everywhere_tells_nothing():
    for n in (5, 12):
        scores = np.stack([BASE[:n, 0], BASE[:n, 0] - 0.25, BASE[:n, 0]], axis=1)
        result = across(np.round(scores * 64) / 64)
        apart, same = result.pair("A", "B"), result.pair("A", "C")
        assert apart.difference == 0.25
        assert tuple(apart.confidence_interval) == (-np.inf, np.inf)
        assert apart.p_value == apart.p_value_adjusted == 1
        assert tuple(same.confidence_interval) == (0, 0)
        assert same.p_value == 1
        assert any("the same on all data sets" in note for note in result.notes)


def test_shares_by_the_margin_count_data_sets(four):
    for pair in four.pairs:
        d = SCORES[:, METHODS.index(pair.first)] - SCORES[:, METHODS.index(pair.second)]
        # Scores have three digits, and a difference of .02 is within a margin of .02.
        thousandths = np.round(1000 * d).astype(int)
        assert pair.share_within_margin == np.mean(np.abs(thousandths) <= 20)
        assert pair.share_better == np.mean(thousandths > 20)
        assert pair.share_worse == np.mean(thousandths < -20)
        assert pair._mirrored().share_better == pair.share_worse
    assert across().pairs[0].share_within_margin is None


def test_a_seed_gives_the_same_numbers_again():
    assert across() == across()
    assert across(random_state=1) != across()


# ------------------------------------------------------------------ tests of ranks


def test_friedmans_test_is_that_of_scipy():
    for scores in (SCORES, np.round(SCORES, 1)):
        result = across(scores)
        expected = stats.friedmanchisquare(*scores.T)
        assert result.friedman == pytest.approx(tuple(expected))


def test_a_p_value_below_what_is_shown_is_written_as_an_inequality():
    scores = np.arange(4) + SCORES / 100
    assert across(scores).friedman.p_value < 1e-4
    assert ", p < 0.0001" in across(scores).summary()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_wilcoxons_test_is_that_of_scipy_with_holm_beside_it(alternative):
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 13):
        pytest.skip("scipy took a normal approximation where differences are 0")
    # scipy tries all signs of differences with ties, one by one: of eight in no time.
    scores = SCORES[:8]
    result = across(scores, alternative=alternative)
    expected = [
        stats.wilcoxon(scores[:, a], scores[:, b], alternative=alternative).pvalue
        for a, b in combinations(range(4), 2)
    ]
    assert [pair.wilcoxon_p_value for pair in result.pairs] == pytest.approx(expected)
    adjusted, order = np.empty(6), np.argsort(expected)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.sort(expected) * [6, 5, 4, 3, 2, 1]), 1)
    assert [pair.wilcoxon_p_value_adjusted for pair in result.pairs] == pytest.approx(adjusted)


@pytest.mark.parametrize("n", [5, 9, 13, 14])
def test_wilcoxons_test_of_ties_and_zeros_is_that_of_scipy(n):
    """Of scipy 1.15 and later, which tries all signs; earlier ones take the normal law."""
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15):
        pytest.skip("this scipy has no exact test with ties")
    rng = np.random.default_rng(n)
    # scipy tries the signs of 13 differences one by one.
    for _ in range(1 if n == 13 else 3):
        d = rng.integers(-2, 5, size=n) / 4
        for alternative in ("greater",) if n == 13 else ("two-sided", "greater", "less"):
            expected = stats.wilcoxon(d, alternative=alternative).pvalue
            scores = np.column_stack((d, np.zeros(n)))
            [pair] = across(scores, datasets=range(n), alternative=alternative).pairs
            assert pair.wilcoxon_p_value == pytest.approx(expected)


def test_mean_ranks_are_those_of_scipy_with_limits_around_them(four):
    expected = stats.rankdata(-SCORES, axis=1).mean(axis=0)
    table = four.mean_ranks()
    assert list(table) == [METHODS[k] for k in np.argsort(expected)]
    for name, rank in zip(METHODS, expected, strict=True):
        row = table[name]
        assert row.mean_rank == pytest.approx(rank)
        assert 1 <= row.low < rank < row.high <= 4
    assert table.critical_difference == pytest.approx(2.569032 * np.sqrt(4 * 5 / (6 * 12)))


def test_a_method_that_is_first_everywhere_is_not_first_for_sure():
    for n in (5, 8, 12):
        scores = np.add(SCORES[:n], [0, 0, 0, 1])
        row = across(scores).mean_ranks()["D"]
        assert (row.mean_rank, row.low) == (1, 1)
        assert row.high > 1.2
        two = across(scores[:, [0, 3]]).mean_ranks()
        assert two["B"].high > 1.1
        assert two["A"].low < 1.9


def test_only_comparisons_across_data_sets_have_mean_ranks():
    other = RESULTS["set 0"]
    assert not hasattr(other, "mean_ranks")
    assert not hasattr(other, "friedman")
    assert not hasattr(other.pairs[0], "wilcoxon_p_value")


# ------------------------------------------------------------------ what is said


def test_fewer_than_ten_data_sets_are_warned_of():
    with pytest.warns(UserWarning, match="Only 9 data sets"):
        compare_across(
            SCORES[:9], datasets=SETS[:9], methods=METHODS, greater_is_better=True, random_state=0
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        across(SCORES[:10])


def test_a_table_with_more_methods_than_data_sets_is_asked_whether_it_is_transposed():
    table = {"datasets": METHODS, "methods": SETS, "greater_is_better": True}
    asked = r"^compare_across: More methods \(12\) than data sets \(4\): is the table transposed"
    with pytest.warns(UserWarning, match=asked):
        across(SCORES.T, **table)
    # As many methods as data sets, and results of comparisons, cannot tell.
    across(SCORES[:4])


def test_ranks_and_verdicts_work_as_of_any_comparison(four):
    pair = four.pairs[0]
    assert (pair.unit, pair.n_units, pair.estimand) == ("data set", 12, "new")
    assert set(four.ranks()) == set(METHODS)
    assert "D" in four.top(1)
    assert pair.verdict(margin=1.0).passed
    assert pair.equivalence_margin == max(map(abs, pair.simultaneous_interval))


@pytest.mark.parametrize("estimand", ["new", "these"])
def test_texts_say_the_estimand_and_call_no_errors_resampled(estimand):
    result = across(RESULTS, estimand=estimand)
    words = {"new": "on a new data set like these", "these": "on these very data sets"}[estimand]
    assert words in result.summary()
    assert "methods" in result.claim()
    two = across(
        {k: {n: s.estimate for n, s in each.systems.items()} for k, each in RESULTS.items()}
        if estimand == "new"
        else {k: results_by_data_set(6)[k] for k in RESULTS},
        estimand=estimand,
        **({"greater_is_better": True} if estimand == "new" else {}),
    )
    assert "6 data sets" in two.claim()
    if estimand == "these":
        assert "data sets resampled" not in result.summary() + result.claim()
        assert "the data sets" in result.held_fixed


def test_summary_table_and_frame_hold_what_only_data_sets_have(four):
    text = four.summary()
    for word in ("Wilcoxon p", "with Holm", "within 0.02", "mean rank", "Friedman", "critical"):
        assert word in text
    record = four.to_dict()
    assert record["friedman"]["p_value"] == four.friedman.p_value
    assert record["mean_ranks"]["D"]["mean_rank"] == four.mean_ranks()["D"].mean_rank
    assert np.array_equal(record["scores"], SCORES)
    pytest.importorskip("pandas")
    frame = four.to_frame()
    assert list(frame["wilcoxon_p_value"]) == [pair.wilcoxon_p_value for pair in four.pairs]
    assert list(frame["share_within_margin"]) == [p.share_within_margin for p in four.pairs]
    assert list(four.mean_ranks().to_frame().columns) == ["system", "mean_rank", "low", "high"]


def test_a_file_and_a_pickle_give_the_comparison_back(tmp_path, four):
    four.save(tmp_path / "across.npz")
    assert DatasetsComparison.load(tmp_path / "across.npz") == four
    assert pickle.loads(pickle.dumps(four)) == four
    table = skboot.results.ResultTable({"accuracy": four})
    table.save(tmp_path / "table.npz")
    assert skboot.results.ResultTable.load(tmp_path / "table.npz")["accuracy"] == four


def test_scores_cannot_be_changed(four):
    with pytest.raises(ValueError, match="read-only"):
        four.scores[0, 0] = 0.0


def nearly_perfect(n=3, n_rows=30, **options):
    """Comparisons of a method that is hardly ever wrong with one whose accuracy varies a lot."""
    rng = np.random.default_rng(2)
    found = {}
    for k in range(n):
        y_true = rng.integers(0, 2, n_rows)
        wrong = {"A": rng.random(n_rows) < 0.02, "B": rng.random(n_rows) < rng.uniform(0, 1)}
        systems = {name: np.where(those, 1 - y_true, y_true) for name, those in wrong.items()}
        found[f"set {k}"] = compare_systems(y_true, systems, n_resamples=99, random_state=0)
    return found


@pytest.mark.parametrize("estimand", ["new", "these"])
def test_limits_are_cut_at_the_range_of_the_metric_where_results_tell_it(estimand):
    results = nearly_perfect()
    result = across(results, estimand=estimand)
    scores = [[one.systems[name].estimate for name in "AB"] for one in results.values()]
    uncut = stats.ttest_1samp(scores, 0).confidence_interval(0.95)
    high = result.systems["A"].interval(method="t").uncut[1]
    assert high > 1
    if estimand == "new":
        assert high == pytest.approx(uncut.high[0], rel=1e-12)
    for name, system in result.systems.items():
        low, high = system.interval(method="t").uncut
        assert system.confidence_interval == (max(low, 0), min(high, 1)), name
        assert system.interval() == system.confidence_interval
    assert "A limit beyond the range of the metric was cut at the range." in result.notes


def test_differences_are_cut_at_their_range_and_one_side_stays_open():
    # Two data sets that differ by 0 and 1: the t interval of the mean reaches out to 6.9.
    y_true, other = np.zeros(20, int), np.ones(20, int)
    results = {
        "set 0": compare_systems(y_true, {"A": y_true, "B": y_true}, random_state=0),
        "set 1": compare_systems(y_true, {"A": y_true, "B": other}, random_state=0),
    }
    limits = {"two-sided": (-1, 1), "greater": (-1, np.inf), "less": (-np.inf, 1)}
    for alternative, expected in limits.items():
        [pair] = across(results, alternative=alternative).pairs
        assert pair.confidence_interval == pair.simultaneous_interval == expected
        assert pair.p_value > 0.2
    numbers = {name: {"A": 1.0, "B": 1.0 - k} for k, name in enumerate(results)}
    [pair] = across(numbers, greater_is_better=True).pairs
    assert pair.confidence_interval.high > 6


@pytest.mark.parametrize("estimand", ["new", "these"])
def test_tables_for_papers_have_tests_of_data_sets_on_request_alone(estimand):
    result = across(RESULTS, estimand=estimand)
    for write in (result.to_markdown, result.to_latex):
        for column in ("adjusted p", "Wilcoxon p", "with Holm"):
            assert column in write(p_values=True)
            assert column in result.summary()
            assert column not in write()
