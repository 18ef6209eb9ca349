"""Intervals that hold at every look at growing data."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm, t
from sklearn.metrics import median_absolute_error

from skboot import Anytime, BootstrapAccumulator, bootstrap_runs, bootstrap_score, compare_systems
from skboot.inference import proportion_interval, tango_interval
from skboot.results import ComparisonResult, EvaluationResult
from skboot.testing import assert_not_worse

N = 400
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.4).astype(int)
SCORES = {name: Y + width * RNG.normal(size=N) for name, width in (("a", 0.8), ("b", 0.9))}
LABELS = {name: (score > 0.5).astype(int) for name, score in SCORES.items()}
PROBABILITIES = {name: 1 / (1 + np.exp(2 - 4 * score)) for name, score in SCORES.items()}
GROUPS = np.arange(N) // 10
# The level of one look that an interval of 95% at the first of many looks has.
AT_FIRST = 1 - 2 * norm.sf(2.795483)

score = partial(bootstrap_score, Y, random_state=0, n_resamples=99)
compare = partial(compare_systems, Y, random_state=0, n_resamples=99)


def limits(result):
    return tuple(result.confidence_interval)


# ------------------------------------------------------------------ the boundary


def boundary(level):
    """The quantile at the first look, by quadrature of what a walk leaves; see Robbins (1970)."""

    def density(x):
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def left(a):
        return 2 * (quad(density, a, math.inf)[0] + a * density(a)) - (1 - level)

    return brentq(left, 0, 10)


def wilson(hits, n, quantile):
    return proportion_interval(hits, n, confidence_level=1 - 2 * norm.sf(quantile))[:2]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.975, 0.999])
def test_the_first_look_is_at_the_boundary_of_robbins_and_siegmund(level):
    found = score(LABELS["a"], confidence_level=level, interval=Anytime(N))
    hits = int((LABELS["a"] == Y).sum())
    assert limits(found) == pytest.approx(wilson(hits, N, boundary(level)), abs=1e-8)


def test_the_boundary_at_95_percent_is_the_published_one():
    assert boundary(0.95) == pytest.approx(2.7955, abs=5e-5)


def test_later_looks_reach_farther():
    hits = int((LABELS["a"] == Y).sum())
    widths = []
    for look in (N, N // 2, 100):
        found = limits(score(LABELS["a"], interval=Anytime(look)))
        quantile = math.sqrt(boundary(0.95) ** 2 + math.log(N / look))
        assert found == pytest.approx(wilson(hits, N, quantile), abs=1e-8)
        widths.append(found[1] - found[0])
    assert widths == sorted(widths)


def test_paths_of_shares_ever_leave_the_truth_out_in_at_most_5_percent():
    # 1000 paths of accuracy .97 with 20 looks. Were 5% left out, more than 75 would be with a
    # probability of 2e-4; by the same intervals at 95% each it is 3 paths of 10.
    rng, units = np.random.default_rng(1), np.arange(100, 2001, 100)
    hits = np.cumsum(rng.binomial(100, 0.97, (1000, len(units))), axis=1)
    ever, of_one_look = np.zeros((2, 1000), dtype=bool)
    for n, column in zip(units.tolist(), hits.T, strict=True):
        for k in np.unique(column).tolist():
            right = rng.permutation(np.arange(n) < k).astype(float)
            found = bootstrap_score(
                None, right, metric="mean", n_resamples=2, random_state=0, interval=Anytime(100)
            )
            low, high = limits(found)
            ever[column == k] |= not low <= 0.97 <= high
            low, high = proportion_interval(k, n)
            of_one_look[column == k] |= not low <= 0.97 <= high
    assert ever.sum() <= 75
    assert of_one_look.sum() > 200


# ------------------------------------------------------------------ forms at the first look


def test_right_and_wrong_rows_have_wilson_s_interval_at_the_level_of_the_boundary():
    found = score(LABELS["a"], interval=Anytime(N))
    hits = int((LABELS["a"] == Y).sum())
    assert limits(found) == pytest.approx(
        proportion_interval(hits, N, confidence_level=AT_FIRST)[:2], abs=1e-6
    )
    assert found.confidence_interval.method == "anytime"
    assert found.confidence_interval.confidence_level == 0.95


def test_ratios_of_rows_have_wilson_s_interval_of_the_rows_that_they_are_of():
    found = score(LABELS["a"], metric="f1", interval=Anytime(N))
    hits = int(((LABELS["a"] == 1) & (Y == 1)).sum())
    share = proportion_interval(
        hits, int(((LABELS["a"] == 1) | (Y == 1)).sum()), confidence_level=AT_FIRST
    )
    assert limits(found) == pytest.approx([2 * x / (1 + x) for x in share[:2]], abs=1e-6)


def test_two_systems_on_the_same_rows_have_tango_s_interval():
    [pair] = compare(LABELS, interval=Anytime(N)).pairs
    right = [LABELS[name] == Y for name in ("a", "b")]
    counts = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()), N
    expected = tango_interval(*counts, confidence_level=AT_FIRST)
    assert limits(pair) == pytest.approx(expected[:2], abs=1e-6)


def test_two_areas_have_their_own_interval():
    [pair] = compare(SCORES, metric="roc_auc", interval=Anytime(N)).pairs
    options = {"interval": "logit-delong", "confidence_level": AT_FIRST, "n_resamples": 1999}
    [fixed] = compare(SCORES, metric="roc_auc", **options).pairs
    assert limits(pair) == pytest.approx(limits(fixed), abs=1e-6)


def test_an_area_is_held_on_the_logit_scale():
    found = score(SCORES["a"], metric="roc_auc", interval=Anytime(N))
    area, small = found.estimate, int(min(Y.sum(), N - Y.sum()))
    error = found._evidence.facts.delong.standard_error
    reach = t(small - 1).isf(norm.sf(2.795483)) * error / (area * (1 - area))
    expected = [1 / (1 + math.exp(-math.log(area / (1 - area)) - side * reach)) for side in (-1, 1)]
    assert limits(found) == pytest.approx(expected, abs=1e-5)


def test_an_area_of_1_has_a_lower_limit():
    found = score(Y + 0.1 * SCORES["a"], metric="roc_auc", interval=Anytime(N))
    assert found.estimate == 1
    low, high = limits(found)
    assert 0.8 < low < 1 == high


def test_losses_have_student_s_t_with_the_tail_of_their_influence():
    found = score(PROBABILITIES["a"], metric="log_loss", interval=Anytime(N))
    fixed = score(
        PROBABILITIES["a"], metric="log_loss", interval="skewed-t", confidence_level=AT_FIRST
    )
    # The degrees of freedom are fewer, by the kurtosis of the losses.
    assert limits(found)[0] < limits(fixed)[0]
    assert limits(found)[1] > limits(fixed)[1]
    assert limits(found) == pytest.approx(limits(fixed), rel=0.15)


@pytest.mark.parametrize("metric", ["log_loss", "f1", "f1_macro"])
def test_groups_of_one_row_are_rows(metric):
    given = PROBABILITIES if metric == "log_loss" else LABELS
    rows, groups = (
        compare(given, metric=metric, groups=groups, interval=Anytime(200)).pairs[0]
        for groups in (None, np.arange(N))
    )
    assert limits(rows) == pytest.approx(limits(groups), rel=1e-9)


def test_groups_are_fewer_units_than_rows():
    found = {
        name: score(LABELS["a"], groups=groups, interval=Anytime(40))
        for name, groups in (("groups", GROUPS),)
    }
    rows = score(LABELS["a"], interval=Anytime(N))
    low, high = limits(found["groups"])
    assert low < limits(rows)[0]
    assert high > limits(rows)[1]


# ------------------------------------------------------------------ where little is known


def test_systems_that_no_row_tells_apart_so_far_are_not_known_to_be_equal():
    same = {"a": LABELS["a"], "b": LABELS["a"].copy()}
    [pair] = compare(same, interval=Anytime(100)).pairs
    low, high = limits(pair)
    assert low == -high < 0
    assert pair.verdict(0.001).outcome == "inconclusive"


def test_few_rows_that_carry_a_difference_leave_the_whole_range():
    other = LABELS["a"].copy()
    other[:3] = 1 - other[:3]
    with pytest.warns(UserWarning, match="Too few rows carry the variation at this look"):
        found = compare({"a": LABELS["a"], "b": other}, metric="f1", interval=Anytime(100))
    assert limits(found.pairs[0]) == (-1.0, 1.0)
    assert any("Too few rows carry" in note for note in found.notes)


def test_a_perfect_macro_average_is_not_known_to_be_perfect():
    with pytest.warns(UserWarning, match="Too few rows carry the variation at this look"):
        found = score(Y, metric="f1_macro", interval=Anytime(100))
    assert limits(found) == (0.0, 1.0)
    assert any("Too few rows carry" in note for note in found.notes)


# ------------------------------------------------------------------ decisions


def test_there_is_no_p_value_of_one_look():
    for metric, given in (("accuracy", LABELS), ("f1", LABELS), ("roc_auc", SCORES)):
        result = compare(given, metric=metric, interval=Anytime(100))
        [pair] = result.pairs
        assert math.isnan(pair.p_value)
        assert math.isnan(pair.p_value_adjusted)
        assert pair.mcnemar_p_value is None
        header = [line for line in result.summary().splitlines() if line.startswith("difference")]
        assert " p " not in header[0]
        assert "undefined" not in result.summary()


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1"])
def test_a_verdict_is_that_of_the_limits(metric):
    given = SCORES if metric == "roc_auc" else LABELS
    [pair] = compare(given, metric=metric, interval=Anytime(100)).pairs
    low, high = limits(pair)
    assert tuple(pair.verdict(0.05).interval) == (low, high)
    assert pair.verdict(-low + 1e-9 if low < 0 else 0.0).outcome == "pass"
    assert pair.verdict(max(-low - 1e-6, 0.0)).outcome != "pass"
    assert pair.equivalence_margin == max(-low, high)


def test_one_side_has_the_same_boundary():
    [two] = compare(LABELS, interval=Anytime(100)).pairs
    for metric, given in (("accuracy", LABELS), ("f1", LABELS), ("roc_auc", SCORES)):
        own = partial(compare, given, metric=metric, interval=Anytime(100))
        [two] = own().pairs
        [lower] = own(alternative="greater", confidence_level=0.975).pairs
        [upper] = own(alternative="less", confidence_level=0.975).pairs
        assert (limits(lower)[0], limits(upper)[1]) == pytest.approx(limits(two), rel=1e-9)
        assert (limits(lower)[1], limits(upper)[0]) == (math.inf, -math.inf)


def test_the_gate_judges_by_the_same_limits():
    [pair] = compare(LABELS, interval=Anytime(100)).pairs
    low = limits(pair)[0]
    verdict = assert_not_worse(
        Y, LABELS["a"], LABELS["b"], margin=0.001 - low, interval=Anytime(100)
    )
    assert verdict.interval.low == low
    with pytest.raises(AssertionError, match="anytime"):
        assert_not_worse(
            Y, LABELS["a"], LABELS["b"], margin=max(-low - 0.001, 0), interval=Anytime(100)
        )


def test_several_pairs_hold_at_once_by_bonferroni():
    given = LABELS | {"c": np.where(RNG.random(N) < 0.4, 1 - Y, Y)}
    found = compare(given, interval=Anytime(100))
    alone = compare(given, confidence_level=1 - 0.05 / 3, interval=Anytime(100))
    for pair, one in zip(found.pairs, alone.pairs, strict=True):
        assert tuple(pair.simultaneous_interval) == pytest.approx(limits(one), rel=1e-9)
    assert found.adjust == "bonferroni"
    low = {row.system: row.low for row in found.ranks().rows}
    assert low["c"] > 1
    assert low["a"] == low["b"] == 1
    assert "Bonferroni" in found.summary()


def test_exchanged_systems_change_the_signs_alone():
    for metric, given in (("accuracy", LABELS), ("f1", LABELS), ("roc_auc", SCORES)):
        own = partial(compare, metric=metric, interval=Anytime(100))
        [one], [other] = own(given).pairs, own(dict(reversed(given.items()))).pairs
        low, high = limits(other)
        assert limits(one) == (-high, -low)


# ------------------------------------------------------------------ results and streams


def test_another_level_is_that_of_all_looks():
    found = score(LABELS["a"], interval=Anytime(100))
    own = score(LABELS["a"], confidence_level=0.9, interval=Anytime(100))
    assert tuple(found.interval(confidence_level=0.9)) == limits(own)
    assert limits(found)[0] < limits(own)[0] < limits(own)[1] < limits(found)[1]


def test_saved_results_know_their_first_look(tmp_path):
    found = score(PROBABILITIES["a"], metric="log_loss", interval=Anytime(100))
    found.save(tmp_path / "score")
    again = EvaluationResult.load(tmp_path / "score")
    assert again == found
    assert again.interval(confidence_level=0.8) == found.interval(confidence_level=0.8)
    assert again.settings["first_look"] == 100
    assert "Intervals hold at all looks at once, from 100 rows on" in again.summary()
    pair = compare(LABELS, interval=Anytime(100))
    pair.save(tmp_path / "pair")
    assert ComparisonResult.load(tmp_path / "pair") == pair
    assert pair.settings["first_look"] == 100
    assert "Intervals hold at all looks at once, from 100 rows on" in pair.summary()


def test_batches_are_the_rows_that_they_hold():
    for metric in ("accuracy", "f1"):
        whole = score(LABELS["a"], metric=metric, interval=Anytime(100))
        accumulator = BootstrapAccumulator(
            metric, random_state=0, n_resamples=99, interval=Anytime(100)
        )
        for start in range(0, N, 80):
            batch = slice(start, start + 80)
            accumulator.update(Y[batch], LABELS["a"][batch], start=start)
            accumulator = BootstrapAccumulator.from_bytes(accumulator.to_bytes())
        assert limits(accumulator.result()) == limits(whole)
        assert accumulator.result().settings["first_look"] == 100


def test_streams_that_keep_no_rows_are_refused():
    accumulator = BootstrapAccumulator(
        "neg_log_loss", random_state=0, n_resamples=99, labels=[0, 1], interval=Anytime(100)
    )
    accumulator.update(Y, PROBABILITIES["a"], start=0)
    with pytest.raises(ValueError, match="needs the metric without each unit"):
        accumulator.result()
    systems = BootstrapAccumulator(
        "f1", random_state=0, n_resamples=99, systems=["a", "b"], interval=Anytime(100)
    )
    systems.update(Y, LABELS, start=0)
    with pytest.raises(ValueError, match="'anytime' with streams of rows or groups"):
        systems.result()


def test_two_accuracies_of_a_stream_are_nearly_those_of_its_rows():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 4000)
    given = {name: np.where(rng.random(4000) < 0.1, 1 - truth, truth) for name in ("a", "b")}
    look = {"interval": Anytime(500)}
    [rows] = compare_systems(truth, given, random_state=0, n_resamples=99, **look).pairs
    accumulator = BootstrapAccumulator(random_state=0, n_resamples=999, systems=list(given), **look)
    for start in range(0, 4000, 1000):
        batch = slice(start, start + 1000)
        accumulator.update(truth[batch], {k: v[batch] for k, v in given.items()}, start=start)
    found = accumulator.result()
    assert found.adjust == "bonferroni"
    [pair] = found.pairs
    assert pair.difference == rows.difference
    assert math.isnan(pair.p_value)
    width = rows.confidence_interval.high - rows.confidence_interval.low
    assert limits(pair) == pytest.approx(limits(rows), abs=0.06 * width)
    own = {name: limits(one) for name, one in found.systems.items()}
    known = compare_systems(truth, given, random_state=0, n_resamples=99, **look).systems
    assert own == {name: limits(one) for name, one in known.items()}


# ------------------------------------------------------------------ what is refused


def _median(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


REFUSED = {
    "no first look": ("anytime", {}, r"Use interval=skboot.Anytime\(first_look=100\)"),
    "few rows at the first look": (50, {}, "at least 100 rows, and has 50"),
    "a look before the first": (500, {}, "holds from 500 rows on, and there are 400"),
    "few groups": (20, {"groups": GROUPS // 4}, "20 groups on, and there are 10"),
    "crossed groups": (20, {"groups": np.c_[GROUPS, GROUPS[::-1]]}, "rows and for groups"),
    "rows in time": (100, {"block_length": 5}, "independent rows and for groups"),
    "strata": (100, {"strata": Y}, "without strata"),
    "tasks": (100, {"average_over": Y}, "independent rows and for groups"),
    "subgroups": (100, {"by": Y}, "'by' .* must not be given"),
    "several metrics at once": (
        100,
        {"metric": ["accuracy", "f1"], "adjust": "max-t"},
        "'adjust' .* must not be given",
    ),
    "a median": (100, {"metric": median_absolute_error}, "needs influence values"),
    "a callable": (100, {"metric": _median}, "needs influence values"),
    "few rows of a ratio": (
        100,
        {"metric": "precision", "pos_label": 1, "_some": 20},
        "holds from 30 rows of the rarer class on, and there are 20",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_interval_is_known_of_is_refused(name):
    units, options, message = REFUSED[name]
    options = {"interval": units if units == "anytime" else Anytime(units), **options}
    predicted = LABELS["a"].copy()
    if (some := options.pop("_some", None)) is not None:
        predicted[np.flatnonzero(predicted)[some:]] = 0
    with pytest.raises(ValueError, match=message):
        score(predicted, **options)


def test_a_rare_class_is_waited_for():
    rare = np.zeros(N, dtype=int)
    rare[:29] = 1
    with pytest.raises(ValueError, match="30 rows of the rarer class on, and there are 29"):
        bootstrap_score(rare, SCORES["a"], metric="roc_auc", interval=Anytime(100))


@pytest.mark.parametrize("units", [0.5, 19, None, "many", True])
def test_a_first_look_is_a_number_of_units(units):
    with pytest.raises(ValueError, match="'first_look' parameter of Anytime must be an integer of"):
        Anytime(units)


def test_what_makes_no_interval_of_looks_says_where_there_is_one():
    for interval in ("anytime", Anytime(100)):
        with pytest.raises(ValueError, match=r"one look\..*repeated in bootstrap_score"):
            bootstrap_runs(Y, [LABELS["a"], LABELS["b"]], metric="accuracy", interval=interval)


def test_what_compares_otherwise_is_refused():
    with pytest.raises(ValueError, match="'holm'"):
        compare(LABELS, adjust="holm", interval=Anytime(100))
    truths = dict.fromkeys(LABELS, Y)
    with pytest.raises(ValueError, match="needs both systems on the same rows"):
        compare_systems(truths, LABELS, paired=False, interval=Anytime(100))
    with pytest.raises(ValueError, match="'by'"):
        compare(LABELS, by=Y, interval=Anytime(100))


def test_automatic_intervals_are_of_one_look():
    assert score(LABELS["a"]).confidence_interval.method != "anytime"
    assert compare(LABELS).pairs[0].confidence_interval.method != "anytime"
