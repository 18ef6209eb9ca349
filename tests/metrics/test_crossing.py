"""Thresholds and quantiles against plain code on scikit-learn's ROC curve of repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import median_absolute_error, roc_curve

from skboot.metrics import equal_error_rate, false_positive_rate_at
from skboot.metrics.callables import Negated
from skboot.metrics.crossing import EqualErrorRate, FalsePositiveRateAt, MedianAbsoluteError
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

N = 72
N_LINES = 8
GROUPS = np.random.default_rng(3).permutation(np.arange(N) % 10)
# As in test_contract.py: readings of other blocks are claimed in tests/resampling/test_block.py.
DESIGNS = {"rows": RowDesign.of(N), "groups in strata": GroupDesign.of(GROUPS, GROUPS % 2)}


def operating_points(y, score, weight):
    """False-positive and false-negative rates of all thresholds, from the highest down."""
    fpr, tpr, _ = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    return fpr, 1.0 - tpr


def plain_equal_error_rate(y, score, weight):
    fpr, fnr = operating_points(y, score, weight)
    for k in range(1, len(fpr)):
        if fnr[k] <= fpr[k]:
            gap = fnr[k - 1] - fpr[k - 1]
            share = gap / (gap - (fnr[k] - fpr[k]))
            return fpr[k - 1] + share * (fpr[k] - fpr[k - 1])
    raise AssertionError


def plain_false_positive_rate_at(bound):
    def rate(y, score, weight):
        fpr, fnr = operating_points(y, score, weight)
        return fpr[fnr <= bound + 1e-9].min()

    return rate


def binary(kind):
    rng = np.random.default_rng(5)
    y = np.arange(N) % 2
    score = rng.normal(size=N) + y
    if kind == "many ties":
        return y, score.round(0)
    if kind == "few ties":
        score[[3, 10, 20]] = score[[8, 31, 40]]
    if kind == "all tied":
        return y, np.zeros(N)
    if kind == "separated":
        return y, score + 9 * y
    if kind == "inverted":
        return y, score - 9 * y
    if kind == "two positives":
        y = (np.arange(N) > N - 3).astype(int)
    return y, score


KINDS = "no ties", "few ties", "many ties", "all tied", "separated", "inverted", "two positives"


def on_resamples(statistic, design, y_true, y_pred, sample_weight=None):
    """Values of the statistic, and the rows of the same resamples."""
    reduced = statistic.reduce(y_true, y_pred, sample_weight)
    plan = ResamplingPlan(design, N_LINES, np.random.SeedSequence(7))
    own = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
    block, rows = plan.bind([own, CodedRows(None, len(y_true), "rows")]).block(0)
    return statistic.evaluate(block, reduced)[:N_LINES], list(rows.rows())[:N_LINES]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", DESIGNS)
def test_error_rates_equal_those_of_the_roc_curve_of_repeated_rows(design, kind, weighted):
    y, score = binary(kind)
    weight = np.random.default_rng(6).integers(0, 4, N) / 2 if weighted else None
    functions = [
        (EqualErrorRate(), plain_equal_error_rate),
        *(
            (FalsePositiveRateAt(bound), plain_false_positive_rate_at(bound))
            for bound in (0.0, 0.1, 0.25, 1.0)
        ),
    ]
    for statistic, plain in functions:
        values, rows = on_resamples(statistic, DESIGNS[design], y, score, weight)
        for value, of in zip(values, rows, strict=True):
            of_weight = None if weight is None else weight[of]
            counts = np.bincount(y[of], of_weight, 2)
            expected = plain(y[of], score[of], of_weight) if counts.all() else np.nan
            assert_allclose(value, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_error_rates_equal_the_metric_functions(kind):
    y, score = binary(kind)
    labels = np.where(y == 1, "speech", "noise")
    cases = [
        (EqualErrorRate(), equal_error_rate, {}),
        (FalsePositiveRateAt(0.1), false_positive_rate_at, {"false_negative_rate": 0.1}),
    ]
    for statistic, function, options in cases:
        values, rows = on_resamples(statistic, DESIGNS["rows"], labels, score)
        for value, of in zip(values, rows, strict=True):
            if len(np.unique(y[of])) == 2:
                expected = function(labels[of], score[of], **options)
                assert_allclose(value, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_median_error_equals_scikit_learn_on_repeated_rows(design, decimals):
    rng = np.random.default_rng(8)
    y_true, y_pred = rng.normal(size=(2, N))
    if decimals is not None:
        y_true, y_pred = y_true.round(decimals), y_pred.round(decimals)
    values, rows = on_resamples(MedianAbsoluteError(), DESIGNS[design], y_true, y_pred)
    expected = [median_absolute_error(y_true[of], y_pred[of]) for of in rows]
    assert_allclose(values, expected, rtol=0, atol=1e-12)


def plain_weighted_median(values, weights):
    """Mean of the smallest and the largest value with half the weight on either side."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    upto = np.cumsum(weights)
    lower = values[upto >= upto[-1] / 2][0]
    upper = values[upto > upto[-1] / 2][0]
    return (lower + upper) / 2


@pytest.mark.parametrize("design", DESIGNS)
def test_the_weighted_median_error_has_half_the_weight_on_either_side(design):
    rng = np.random.default_rng(8)
    y_true, y_pred = rng.normal(size=(2, N))
    weight = rng.integers(0, 3, N) / 2
    values, rows = on_resamples(MedianAbsoluteError(), DESIGNS[design], y_true, y_pred, weight)
    expected = [plain_weighted_median(np.abs(y_true - y_pred)[of], weight[of]) for of in rows]
    assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_the_sign_turns_a_loss_into_a_score():
    y, score = binary("no ties")
    for loss, negated in (
        (EqualErrorRate(), Negated(EqualErrorRate())),
        (FalsePositiveRateAt(0.2), Negated(FalsePositiveRateAt(0.2))),
        (MedianAbsoluteError(), Negated(MedianAbsoluteError())),
    ):
        assert not loss.greater_is_better
        assert negated.greater_is_better
        assert loss.bounds[0] == -negated.bounds[1] == 0.0
        assert loss.bounds[1] == -negated.bounds[0]
        values, _ = on_resamples(loss, DESIGNS["rows"], y, score)
        of_negated, _ = on_resamples(negated, DESIGNS["rows"], y, score)
        assert_allclose(values, -of_negated)
        assert loss.naive(None, (y, score, None)) == -negated.naive(None, (y, score, None))


def test_naive_values_are_of_systems_that_ignore_the_input():
    y, score = binary("no ties")
    assert EqualErrorRate().naive(None, (y, score, None)) == 0.5
    assert FalsePositiveRateAt(0.2).naive(None, (y, score, None)) == 0.8
    # No constant does better: a grid of them.
    y_true = np.random.default_rng(1).exponential(size=41)
    constants = np.linspace(0, 3, 3001)
    best = min(np.median(np.abs(y_true - c)) for c in constants)
    for weight in (None, np.ones(41)):
        naive = MedianAbsoluteError().naive(None, (y_true, y_true, weight))
        assert best - 1e-3 < naive <= best + 1e-12


@pytest.mark.parametrize("statistic", [EqualErrorRate(), FalsePositiveRateAt(0.1)])
def test_an_absent_class_leaves_error_rates_undefined(statistic):
    values, _ = on_resamples(statistic, DESIGNS["rows"], np.zeros(N, dtype=int), np.arange(N))
    assert np.isnan(values).all()


def test_weights_of_zero_leave_the_median_undefined():
    values, _ = on_resamples(
        MedianAbsoluteError(), DESIGNS["rows"], np.zeros(N), np.arange(N), np.zeros(N)
    )
    assert np.isnan(values).all()


STATISTICS = [EqualErrorRate(), FalsePositiveRateAt(0.1), MedianAbsoluteError()]


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.name)
@pytest.mark.parametrize("decimals", [None, 1])
def test_values_without_one_row_equal_those_of_the_other_rows(statistic, decimals):
    y, score = binary("no ties")
    score = score if decimals is None else score.round(decimals)
    reduced = statistic.reduce(y, score, None)
    plan = ResamplingPlan(RowDesign.of(N), 1, np.random.SeedSequence(0))
    (left_out,) = plan.bind(
        [CodedRows(reduced.code, reduced.n_codes, "crossing")]
    ).jackknife_resamples()
    values = statistic.evaluate(left_out.blocks[0], reduced)
    for row in range(N):
        one_less = [np.delete(array, row) for array in (y, score)]
        alone = statistic.reduce(*one_less, None)
        plan = ResamplingPlan(RowDesign.of(N - 1), 1, np.random.SeedSequence(0))
        observed = plan.bind([CodedRows(alone.code, alone.n_codes, "crossing")]).observed()[0]
        expected = statistic.evaluate(observed, alone)[0]
        assert_allclose(values[reduced.code[row]], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.name)
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_drawing_only_what_the_crossing_needs_has_the_law_of_drawing_rows(statistic, decimals):
    # Kolmogorov-Smirnov at 1e-4 a case, 9 cases: a false alarm in 1100 seeds.
    rng = np.random.default_rng(9)
    n, n_resamples = 400, 4000
    y = (rng.random(n) < 0.4).astype(int)
    score = rng.normal(size=n) + y
    score = score if decimals is None else score.round(decimals)
    reduced = statistic.reduce(y, score, None)
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
    design = RowDesign.of(n)
    picks = rng.integers(0, n, (n_resamples, n))
    values = []
    for resamples in (None, picks):
        plan = ResamplingPlan(design, n_resamples, np.random.SeedSequence(0), resamples)
        binding = plan.bind([coding])
        blocks = [binding.block(k)[0] for k in range(binding.n_blocks)]
        values.append(np.concatenate([statistic.evaluate(b, reduced) for b in blocks]))
    # Values are discrete, so the test is conservative.
    assert stats.ks_2samp(*(v[:n_resamples] for v in values)).pvalue > 1e-4
