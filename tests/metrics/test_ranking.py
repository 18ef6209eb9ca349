"""Areas under curves equal scikit-learn's on repeated rows; DeLong's variance equals pROC's."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import average_precision_score, mean_absolute_error, roc_auc_score

from skboot import bootstrap_score
from skboot._base.values import equal_units
from skboot.metrics.ranking import (
    AveragePrecision,
    RocAuc,
    delong_covariance,
    smaller_class,
)
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

REFERENCES = Path(__file__).parents[1] / "references" / "delong"
N = 72
N_LINES = 8


GROUPS = np.random.default_rng(3).permutation(np.arange(N) % 10)
# As in test_contract.py: readings of other blocks are claimed in tests/resampling/test_block.py.
DESIGNS = {"rows": RowDesign.of(N), "groups in strata": GroupDesign.of(GROUPS, GROUPS % 2)}


def binary(kind):
    """Labels and scores of one situation."""
    rng = np.random.default_rng(5)
    y = np.arange(N) % 2
    score = rng.normal(size=N) + y
    if kind == "no ties":
        return y, score
    if kind == "many ties":
        return y, score.round(0)
    if kind == "few ties":
        score[[3, 10, 20]] = score[[8, 31, 40]]
        return y, score
    if kind == "all tied":
        return y, np.zeros(N)
    if kind == "separated":
        return y, score + 9 * y
    if kind == "two positives":
        rare = (np.arange(N) > N - 3).astype(int)
        return rare, rng.normal(size=N) + rare
    if kind == "two positives, ties":
        rare = (np.arange(N) > N - 3).astype(int)
        return rare, (rng.normal(size=N) + rare).round(1)
    if kind == "strings":
        return np.where(y == 1, "speech", "noise"), score.astype(np.float32)
    if kind == "booleans, whole scores":
        return y == 1, score.round(0).astype(int)
    raise KeyError(kind)


KINDS = (
    "no ties",
    "many ties",
    "few ties",
    "all tied",
    "separated",
    "two positives",
    "two positives, ties",
    "strings",
    "booleans, whole scores",
)


def on_resamples(statistic, design, y, score, sample_weight=None):
    """Values of the statistic, and the rows of the same resamples."""
    reduced = statistic.reduce(y, score, sample_weight)
    plan = ResamplingPlan(design, N_LINES, np.random.SeedSequence(7))
    own = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
    block, rows = plan.bind([own, CodedRows(None, len(y), "rows")]).block(0)
    rows = list(rows.rows())[:N_LINES]
    return statistic.evaluate(block, reduced)[:N_LINES], rows


def scikit(function, y, score, weight, **options):
    """scikit-learn's number, NaN where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(y, score, sample_weight=weight, **options)
        except ValueError:
            return np.nan


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", DESIGNS)
def test_binary_metrics_equal_scikit_learn_on_repeated_rows(design, kind, weighted):
    y, score = binary(kind)
    weight = np.random.default_rng(6).integers(0, 4, N) / 2 if weighted else None
    positive = y == {"i": 1, "b": True, "U": "speech"}[y.dtype.kind]
    for statistic, function in (
        (RocAuc(), roc_auc_score),
        (AveragePrecision(), average_precision_score),
    ):
        values, rows = on_resamples(statistic, DESIGNS[design], y, score, weight)
        for value, of in zip(values, rows, strict=True):
            of_weight = None if weight is None else weight[of]
            expected = scikit(function, positive[of], score[of], of_weight)
            if np.average(positive[of], weights=of_weight) == 0:
                expected = np.nan
            assert_allclose(value, expected, rtol=0, atol=1e-12)


def three_classes(ties):
    rng = np.random.default_rng(8)
    y = np.array(["ant", "bee", "cat"])[np.repeat([0, 1, 2], [40, 29, 3])]
    logits = rng.normal(size=(N, 3)) + 1.5 * (y[:, None] == np.unique(y))
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if ties:
        # Sums stay 1: two columns in tenths, the third what is left.
        probability = (10 * probability[:, :2]).round(0).clip(0, 5) / 10
        probability = np.column_stack((probability, 1 - probability.sum(axis=1)))
    return y, probability


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("design", DESIGNS)
def test_metrics_of_several_classes_equal_scikit_learn_on_repeated_rows(design, average, ties):
    y, probability = three_classes(ties)
    weight = np.random.default_rng(6).integers(1, 4, N) / 2
    labels = np.unique(y)
    cases = [
        (RocAuc(multi_class="ovr", average=average), None),
        (RocAuc(multi_class="ovr", average=average, labels=labels), weight),
        (RocAuc(multi_class="ovo", average=average), None),
        (AveragePrecision(average=average), None),
        (AveragePrecision(average=average, labels=labels), weight),
    ]
    for statistic, weights in cases:
        values, rows = on_resamples(statistic, DESIGNS[design], y, probability, weights)
        for value, of in zip(values, rows, strict=True):
            of_weight = None if weights is None else weights[of]
            if isinstance(statistic, AveragePrecision):
                options, function = {}, average_precision_score
            else:
                options = {"multi_class": statistic.multi_class, "labels": labels}
                function = roc_auc_score
            expected = scikit(
                function, y[of], probability[of], of_weight, average=average, **options
            )
            assert_allclose(value, expected, rtol=0, atol=1e-12)


def test_an_absent_class_leaves_the_area_undefined():
    score = np.random.default_rng(0).normal(size=N)
    for y in (np.zeros(N, dtype=int), np.ones(N, dtype=int), np.full(N, "speech")):
        values, _ = on_resamples(RocAuc(), DESIGNS["rows"], y, score)
        assert np.isnan(values).all()
    values, _ = on_resamples(AveragePrecision(), DESIGNS["rows"], np.zeros(N, dtype=int), score)
    assert np.isnan(values).all()
    values, _ = on_resamples(AveragePrecision(), DESIGNS["rows"], np.ones(N, dtype=int), score)
    assert_array_equal(values, 1.0)


def test_two_columns_are_the_scores_of_the_second():
    y, score = binary("no ties")
    columns = np.column_stack((-score, score))
    for one, other in (
        (RocAuc(), RocAuc(multi_class="ovr", average="weighted")),
        (AveragePrecision(), AveragePrecision(average="weighted")),
    ):
        assert_array_equal(
            on_resamples(one, DESIGNS["rows"], y, score)[0],
            on_resamples(other, DESIGNS["rows"], y, columns)[0],
        )


def test_the_positive_class_can_be_chosen():
    y, score = binary("strings")
    values, _ = on_resamples(RocAuc(), DESIGNS["rows"], y, score)
    reversed_, _ = on_resamples(RocAuc(pos_label="noise"), DESIGNS["rows"], y, score)
    assert_allclose(values + reversed_, 1.0)
    with pytest.raises(ValueError, match="two classes"):
        RocAuc().reduce(np.arange(3), np.arange(3.0), None)
    with pytest.raises(ValueError, match="multi_class"):
        RocAuc().reduce(np.arange(2), np.ones((2, 3)), None)
    with pytest.raises(ValueError, match="average"):
        RocAuc(average="micro")


def test_naive_values_are_those_of_one_score_for_all():
    y, score = binary("two positives")
    assert RocAuc().naive(None, (y, score, None)) == 0.5
    expected = average_precision_score(y, np.zeros(N))
    assert_allclose(AveragePrecision().naive(None, (y, score, None)), expected)
    y, probability = three_classes(ties=False)
    for average in ("macro", "weighted"):
        expected = average_precision_score(y, np.ones((N, 3)) / 3, average=average)
        naive = AveragePrecision(average=average).naive(None, (y, probability, None))
        assert_allclose(naive, expected)


# --- drawn alone: codes are what is drawn


def alone(statistic, y, score, n_resamples=2000, seed=11):
    reduced = statistic.reduce(y, score, None)
    design = RowDesign.of(len(y))
    plan = ResamplingPlan(design, n_resamples, np.random.SeedSequence(seed))
    binding = plan.bind([CodedRows(reduced.code, reduced.n_codes, statistic.reads)])
    values = [statistic.evaluate(binding.block(k)[0], reduced) for k in range(binding.n_blocks)]
    return reduced, np.concatenate(values)[:n_resamples]


def by_rows(statistic, y, score, n_resamples=2000, seed=12):
    """The same law from row indices, weight by weight."""
    rng = np.random.default_rng(seed)
    reduced = statistic.reduce(y, score, None)
    n = len(y)
    picks = rng.integers(0, n, (n_resamples, n))
    plan = ResamplingPlan(RowDesign.of(n), n_resamples, np.random.SeedSequence(0), resamples=picks)
    binding = plan.bind([CodedRows(reduced.code, reduced.n_codes, statistic.reads)])
    values = [statistic.evaluate(binding.block(k)[0], reduced) for k in range(binding.n_blocks)]
    return np.concatenate(values)[:n_resamples]


@pytest.mark.parametrize("statistic", [RocAuc(), AveragePrecision()], ids=lambda s: s.name)
@pytest.mark.parametrize("case", ["merged", "tied and merged", "single rows", "single, tied"])
def test_drawing_codes_has_the_law_of_drawing_rows(statistic, case):
    # Kolmogorov-Smirnov at 1e-4 a case, 8 cases: a false alarm in 1250 seeds.
    rng = np.random.default_rng(9)
    n = 400
    share = 0.02 if case == "merged" else 0.5
    y = (rng.random(n) < share).astype(int)
    score = rng.normal(size=n) + y
    score = {"tied and merged": score.round(0), "single, tied": score.round(1)}.get(case, score)
    reduced, values = alone(statistic, y, score)
    assert (reduced.n_codes < n / 12) == ("merged" in case)
    # Undefined resamples are an outcome too; values are discrete, so the test is conservative.
    expected = by_rows(statistic, y, score)
    assert stats.ks_2samp(np.nan_to_num(values), np.nan_to_num(expected)).pvalue > 1e-4


@pytest.mark.parametrize("statistic", [RocAuc(), AveragePrecision()], ids=lambda s: s.name)
@pytest.mark.parametrize("decimals", [None, 1])
def test_merged_codes_give_the_observed_value(statistic, decimals):
    rng = np.random.default_rng(10)
    y = (rng.random(1000) < 0.01).astype(int)
    score = rng.normal(size=1000) + y
    score = score if decimals is None else score.round(decimals)
    reduced = statistic.reduce(y, score, None)
    assert reduced.n_codes < 100
    plan = ResamplingPlan(RowDesign.of(1000), 1, np.random.SeedSequence(0))
    block = plan.bind([CodedRows(reduced.code, reduced.n_codes, statistic.reads)]).observed()[0]
    function = roc_auc_score if isinstance(statistic, RocAuc) else average_precision_score
    assert_allclose(statistic.evaluate(block, reduced), function(y, score), atol=1e-12)


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("share", [0.5, 0.03])
def test_areas_without_one_row_equal_scikit_learn(share, decimals):
    rng = np.random.default_rng(13)
    n = 150
    y = (rng.random(n) < share).astype(int)
    score = rng.normal(size=n) + y
    score = score if decimals is None else score.round(decimals)
    statistic = RocAuc()
    reduced = statistic.reduce(y, score, None)
    plan = ResamplingPlan(RowDesign.of(n), 1, np.random.SeedSequence(0))
    (left_out,) = plan.bind(
        [CodedRows(reduced.code, reduced.n_codes, "pairs")]
    ).jackknife_resamples()
    values = np.repeat(statistic.evaluate(left_out.blocks[0], reduced), left_out.times)
    expected = [roc_auc_score(np.delete(y, i), np.delete(score, i)) for i in range(n)]
    assert_allclose(np.sort(values), np.sort(expected), atol=1e-12)


# --- DeLong


def test_leaving_out_a_heavy_row_overflows_nowhere():
    # Where a unit is left out, the ends before it have negative sums, which are never used.
    rng = np.random.default_rng(0)
    truth, score = np.arange(15) % 2, rng.normal(size=15)
    weights = rng.integers(0, 4, 15).astype(float)
    weights[0] = 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        found = bootstrap_score(
            truth,
            score,
            metric="average_precision",
            sample_weight=weights,
            interval="bca",
            n_resamples=99,
            random_state=0,
        )
    assert found.estimate == pytest.approx(
        average_precision_score(truth, score, sample_weight=weights)
    )


def test_delong_equals_proc():
    columns = np.genfromtxt(REFERENCES / "delong_aSAH.csv", delimiter=",", names=True)
    expected = json.loads((REFERENCES / "delong_expected.json").read_text())
    positive = columns["y"] == 1
    for single in expected["single"]:
        auc, covariance = delong_covariance(positive, columns[single["var"]][None])
        assert_allclose(
            [auc[0], covariance[0, 0]], [single["auc"], single["delong_var"]], rtol=1e-9
        )
    for names, pair in expected["paired"].items():
        scores = np.stack([columns[name] for name in names.split("_")])
        auc, covariance = delong_covariance(positive, scores)
        assert_allclose(covariance[0, 1], pair["cov"], rtol=1e-9)
        assert_allclose(covariance[1, 0], pair["cov"], rtol=1e-9)
        z = (auc[0] - auc[1]) / np.sqrt(np.trace(covariance) - 2 * covariance[0, 1])
        assert_allclose(z, pair["z"], rtol=1e-9)


def test_delong_equals_its_definition_by_pairs():
    y, score = binary("many ties")
    other = binary("no ties")[1]
    positive = y == 1
    difference = [s[positive][:, None] - s[~positive] for s in (score, other)]
    won = np.array([(d > 0) + 0.5 * (d == 0) for d in difference])
    auc, covariance = delong_covariance(positive, np.stack((score, other)))
    assert_allclose(auc, won.mean(axis=(1, 2)), atol=1e-14)
    expected = (
        np.cov(won.mean(axis=2)) / positive.sum() + np.cov(won.mean(axis=1)) / (~positive).sum()
    )
    assert_allclose(covariance, expected, rtol=1e-10)


def test_delong_is_undefined_without_two_rows_of_a_class():
    auc, covariance = delong_covariance(np.array([False, False, True]), np.array([[0.1, 0.4, 0.3]]))
    assert auc == 0.5
    assert np.isnan(covariance).all()
    auc, covariance = delong_covariance(np.array([True, True]), np.array([[0.1, 0.4]]))
    assert np.isnan([auc[0], covariance[0, 0]]).all()


@pytest.mark.parametrize("several", [False, True])
def test_areas_of_the_first_resamples_do_not_depend_on_how_many_follow(several):
    """The last block is cut, not evaluated whole, where nothing is rounded."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3 if several else 2, 300)
    score = (truth + rng.normal(size=300)).round(1)
    if several:
        score = rng.dirichlet(np.ones(3), 300)
    few, many = (
        bootstrap_score(
            truth,
            score,
            metric="roc_auc_ovr" if several else "roc_auc",
            n_resamples=n_resamples,
            random_state=0,
        )
        for n_resamples in (100, 1500)
    )
    assert_array_equal(few.bootstrap_distribution, many.bootstrap_distribution[:100])


@pytest.mark.parametrize("metric", ["roc_auc", "mean_absolute_error"])
def test_subgroups_of_many_rows_are_scikit_learn_on_repeated_rows(metric):
    """Small ones, which are read on the resamples of several streams, out of order."""
    n, n_resamples, seed = 20_000, 299, np.random.SeedSequence(5)
    rng = np.random.default_rng(0)
    part, truth = rng.permutation(n) % 80, rng.integers(0, 2, n)
    score = truth + rng.normal(size=n)
    results = bootstrap_score(
        truth, score, metric=metric, by=part, n_resamples=n_resamples, random_state=seed.entropy
    )
    binding = ResamplingPlan(RowDesign.of(n), n_resamples, seed).bind(
        [CodedRows(None, n, "running")]
    )
    function = roc_auc_score if metric == "roc_auc" else mean_absolute_error
    for resample in (0, 40, 298):
        number, row = divmod(resample, binding.block_size)
        counts = binding.block(number)[0].sums()[row].astype(int)
        for k in (0, 33, 79):
            rows = np.repeat(np.arange(n), counts * (part == k))
            expected = function(truth[rows], score[rows])
            assert_allclose(results[k].bootstrap_distribution[resample], expected, rtol=1e-12)


@pytest.mark.parametrize("positive", [True, False])
def test_delong_is_undefined_without_one_of_the_classes(positive):
    auc, covariance = delong_covariance(np.full(5, positive), np.arange(10.0).reshape(2, 5))
    assert np.isnan(auc).all()
    assert np.isnan(covariance).all()


# ------------------------------------------------------------------ the smaller class


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_weighted_rows_are_worth_as_many_as_kish_says(scale):
    weights = np.random.default_rng(3).gamma(2.0, size=30)
    expected = weights.sum() ** 2 / np.sum(weights**2)
    assert_allclose(equal_units(scale * weights), expected)
    assert equal_units(0 * weights) == 0


def test_the_smaller_class_has_fewer_rows_or_less_worth():
    y = np.repeat([0, 1], [7, 4])
    # Weights that are all equal are no weights, also where their sums are rounded.
    for weights in (None, np.full(11, 0.1)):
        assert smaller_class((y, None, weights), 1) == 4
    # One row of great weight makes the larger class worth little more than one row.
    heavy = np.where(np.arange(11) == 0, 100.0, 1.0)
    assert smaller_class((y, None, heavy), 1) == 1
    assert smaller_class((0 * y, None, None), 1) is None
    assert smaller_class((0 * y, None, heavy), 1) is None
