"""Studies of comparisons: who is asked, what others' tests say, and what is put in the tables."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from benchmarks.coverage import acceptance, pair_tools, pairs
from benchmarks.coverage.runner import RESULTS, decision
from benchmarks.coverage.samples import PairSample
from benchmarks.coverage.scores import SCORES
from benchmarks.coverage.studies import methods_compared, several_systems, subgroups

# ------------------------------------------------------------------ two systems


def told(tool, sample):
    """Whether a test tells the two systems of a sample apart."""
    found = pair_tools.TOOLS[tool].call(sample, 0)
    return {
        name: not low <= 0 <= high
        for name, (low, high) in ((name, limits["zero"]) for name, limits in found.items())
    }


def test_scipys_permutations_are_those_of_the_signs():
    pytest.importorskip("scipy", minversion="1.15")  # the first that takes rng=
    sample = pairs.absolute_errors(12, 1.6, 1.0)(np.random.default_rng(3))
    gaps = np.subtract(*np.abs(sample.y_preds))
    signs = 1 - 2 * (np.arange(2**12)[:, None] >> np.arange(12) & 1)
    # All 4096 changes of signs; the sampled p-value is far enough from 5 %.
    exact = np.mean(np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-12)
    assert abs(exact - 0.05) > 0.03
    assert told("scipy permutation", sample) == {"": exact <= 0.05}


def test_mcnemars_test_is_the_binomial_one_of_the_rows_that_differ():
    pytest.importorskip("statsmodels")
    for seed in range(4):
        sample = pairs.accuracies(60, 0.95, 0.75)(np.random.default_rng(seed))
        first, second = (p == sample.y_true for p in sample.y_preds)
        won, lost = int(np.sum(first & ~second)), int(np.sum(second & ~first))
        exact = stats.binomtest(won, won + lost).pvalue
        found = pair_tools.TOOLS["statsmodels"].call(sample, 0)["McNemar exact"]
        assert (found["zero"][0] > 0) == (exact <= 0.05 and won > lost)


def test_delongs_test_and_its_interval_agree():
    pytest.importorskip("MLstatkit")
    for seed in range(4):
        sample = pairs.ranked("AUC", 200, 0.4, 0.9, 0.8)(np.random.default_rng(seed))
        [found] = pair_tools.TOOLS["MLstatkit"].call(sample, 0).values()
        low, high = found["difference"]
        gap = [metrics.roc_auc_score(sample.y_true, p) for p in sample.y_preds]
        assert (low + high) / 2 == pytest.approx(gap[0] - gap[1])
        assert (low <= 0 <= high) == (found["zero"][0] <= 0 <= found["zero"][1])


# ------------------------------------------------------------------ several systems


def three(values, is_loss=False):
    score = SCORES["MAE" if is_loss else "accuracy"]
    p = [np.zeros(4)] * 3
    return PairSample(np.zeros(4), p, score, {"all pairs": 0.0, "best": 0.0}, values)


def leaves_out_zero(limits):
    return not limits[0] <= 0 <= limits[1]


def test_a_family_errs_where_any_pair_misses_its_true_difference():
    sample = three((0.9, 0.8, 0.8))
    right = [(0, 1, 0.05, 0.2), (0, 2, 0.01, 0.2), (1, 2, -0.1, 0.1)]
    for k, miss in enumerate([(0.11, 0.2), (-0.2, 0.09), (0.01, 0.1)]):
        wrong = [(*pair[:2], *(miss if k == at else pair[2:])) for at, pair in enumerate(right)]
        assert not leaves_out_zero(several_systems._answer(sample, right)["all pairs"])
        assert leaves_out_zero(several_systems._answer(sample, wrong)["all pairs"])


@pytest.mark.parametrize("is_loss", [False, True])
def test_the_better_system_is_told_from_all_others_or_not_at_all(is_loss):
    values = (0.2, 0.1, 0.2) if is_loss else (0.8, 0.9, 0.8)
    sign = 1 if is_loss else -1

    def told(first, last):
        ends = [sorted((sign * 0.02, sign * 0.1)), sorted((-sign * last, -sign * 0.1))]
        pairs_of = [(0, 1, *ends[0]), (0, 2, -0.1, 0.1), (1, 2, *ends[1])]
        return leaves_out_zero(several_systems._answer(sample, pairs_of)["best"])

    sample = three(values, is_loss)
    assert told(0.02, 0.01)
    assert not told(0.02, -0.01)


def test_holms_rule_stops_at_the_first_that_is_not_told_apart():
    pytest.importorskip("statsmodels")
    found = several_systems._holm([(0, 1), (0, 2), (1, 2)], [0.02, 0.01, 0.04], [1.0, -1.0, 1.0])
    # Bounds .05 / 3, .05 / 2 and .05, by rising p-value.
    assert [decision(True, 1.0), decision(True, -1.0), decision(True, 1.0)] == [
        limits[2:] for limits in found
    ]
    found = several_systems._holm([(0, 1), (0, 2), (1, 2)], [0.03, 0.01, 0.04], [1.0, -1.0, 1.0])
    assert [low == -np.inf and high == np.inf for _, _, low, high in found] == [True, False, True]


# ------------------------------------------------------------------ subgroups


@pytest.mark.parametrize(
    ("draw", "function"),
    [
        (subgroups.accuracy(20_000, 20_000, right=(0.8, 0.9)), metrics.accuracy_score),
        (subgroups.f1(20_000, 20_000, prevalence=0.3, rate=(0.8, 0.9)), metrics.f1_score),
        (subgroups.balanced(20_004, 20_004), metrics.balanced_accuracy_score),
        (subgroups.auc(20_000, 20_000, apart=(1.2, 2.0)), metrics.roc_auc_score),
        (subgroups.losses("squared t5", 20_000, 20_000, times=(1.0, 1.6)), None),
        (subgroups.in_groups("accuracy", False, 4000), metrics.accuracy_score),
        (subgroups.in_groups("AUC", True, 4000), metrics.roc_auc_score),
    ],
)
def test_true_scores_of_subgroups_are_those_of_large_ones(draw, function):
    # 20 data sets within 4.5 standard errors (t with 19 degrees of freedom): 16 values, once in 250
    # seeds.
    samples = [draw(np.random.default_rng(seed)) for seed in range(20)]
    for k, true in enumerate(samples[0].values):
        values = []
        for sample in samples:
            rows = sample.by == k
            p = sample.y_preds[0][rows]
            values.append(np.mean(p) if function is None else function(sample.y_true[rows], p))
        error = np.std(values, ddof=1) / np.sqrt(20)
        assert abs(np.mean(values) - true) < 4.5 * error, k


def test_a_gap_is_judged_by_the_difference_of_its_own_two_subgroups():
    draw = subgroups.accuracy(400, 400, 30, right=(0.95, 0.6, 0.8))
    sample = draw(np.random.default_rng(0))
    [found] = subgroups._ours(sample, 0).values()
    assert np.subtract(found["zero"], found["gap"]) == pytest.approx([0.35, 0.35])
    assert leaves_out_zero(found["zero"])
    assert not leaves_out_zero(found["gap"])


def test_percentiles_of_the_largest_less_the_smallest_are_never_below_zero():
    sample = subgroups.accuracy(60, 60, 60)(np.random.default_rng(0))
    [found] = subgroups._max_min(sample, 0).values()
    assert found["zero"][0] > 0


# ------------------------------------------------------------------ methods


def test_the_corrected_t_is_wider_than_the_naive_one_by_what_it_corrects():
    sample = methods_compared.STUDY.cells[0].draw(np.random.default_rng(0))
    found = methods_compared._corrected(sample, 1)
    widths = [np.diff(found[name])[0] for name in ("", "naive")]
    # Nadeau and Bengio (2003): 1 / J + 1 / 9 against 1 / J, with 50 folds of 6 of 60 rows.
    assert widths[0] / widths[1] == pytest.approx(np.sqrt((1 / 50 + 1 / 9) / (1 / 50)))


# ------------------------------------------------------------------ what came of them


def rows_of_study(name, target):
    rows = acceptance.measured(RESULTS / f"{name}.csv")
    return [row for row in rows if (row.tool, row.target) == (acceptance.DEFAULT, target)]


def test_any_two_of_equal_systems_are_told_apart_as_rarely_as_promised():
    found = rows_of_study("several_systems", "all pairs")
    assert [row.cell for row in found if row.tells_too_often and not row.is_excepted] == []


def test_equal_subgroups_are_told_apart_as_rarely_as_promised():
    found = [row for row in rows_of_study("subgroups", "zero") if row.kind == "equal"]
    assert [row.cell for row in found if row.tells_too_often] == []


# Cells whose subgroups are too small for a gap.
WITHOUT_GAP = ("F1, 290/10 rows", "AUC, 200/16 rows", "AUC, 25 subgroups of 300 rows")


def test_only_subgroups_that_are_too_small_have_no_gap():
    for row in rows_of_study("subgroups", "gap"):
        share = row.without / row.repetitions
        assert share > 0.99 if row.cell in WITHOUT_GAP else share < 0.02, row.cell
