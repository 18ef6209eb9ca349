"""compare_methods: differences of estimators trained on the same samples."""

import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics import f1_score, make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from training_jobs import drawn

from skboot import BootstrapScorer, compare_methods
from skboot.results import ComparisonResult, ResultTable

N, B = 120, 60
X, Y = load_breast_cancer(return_X_y=True)
X_TEST, Y_TEST = X[200:400], Y[200:400]
X, Y = X[:N], Y[:N]
GROUPS = np.arange(N) // 4

# One column each: fits in closed form, so that the order of rows changes nothing.
BAYES = {"worst area": 23, "texture": 1}


class OneColumn(ClassifierMixin, BaseEstimator):
    """Naive Bayes on one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = GaussianNB().fit(X[:, [self.column]], y)
        return self

    def predict(self, X):
        return self.model_.predict(X[:, [self.column]])

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, [self.column]])


METHODS = {name: OneColumn(column) for name, column in BAYES.items()}
FIRST, SECOND = METHODS
OUT_OF_BAG = {"strategy": "oob", "n_train_resamples": B, "random_state": 0}


def roc_auc_of_labels(estimator, X, y):
    """A callable whose value is no sum over rows."""
    return roc_auc_score(y, estimator.predict(X))


def samples_of(unit=None, n_resamples=B, n_repeats=0):
    return drawn(N, unit=unit, codes=Y, n_resamples=n_resamples, n_repeats=n_repeats)


def counts_of(unit=None, n_resamples=B):
    return samples_of(unit, n_resamples).counts.astype(int)


def answers_of(column, row_counts, method="predict", X_new=X):
    """Of the models trained on rows repeated as often as each sample has them."""
    found = []
    for counts in row_counts:
        rows = np.repeat(np.arange(N), counts)
        model = GaussianNB().fit(X[rows][:, [column]], Y[rows])
        found.append(getattr(model, method)(X_new[:, [column]]))
    return np.array(found)


def wrong(row_counts):
    return [(answers_of(column, row_counts) != Y).astype(float) for column in BAYES.values()]


def by_hand(losses, counts, unit):
    """Err(1) and its standard error, unit by unit: e_n, D_i and d_ib as loops."""
    row_counts = counts[:, unit]
    outside = (row_counts == 0).astype(float)
    by_row = (losses * outside).sum(axis=0) / outside.sum(axis=0)
    error = by_row.mean()
    q = (outside * (losses - by_row)).sum(axis=1) / N
    n_units = counts.shape[1]
    e = (1 - 1 / n_units) ** -n_units
    values = np.array(
        [
            (by_row[unit == g] - error).sum() / N
            + e * np.mean((counts[:, g] - counts[:, g].mean()) * (q - q.mean()))
            for g in range(n_units)
        ]
    )
    return error, values


# ------------------------------------------------------------------ on the rows left out


def test_the_difference_is_that_of_the_out_of_bag_errors_with_its_standard_error():
    # The Monte Carlo term is checked by repetition below.
    counts = counts_of()
    first, second = wrong(counts)
    error, values = by_hand(first - second, counts, np.arange(N))
    [pair] = compare_methods(METHODS, X, Y, **OUT_OF_BAG).pairs
    assert_allclose(pair.difference, -error, atol=1e-12)
    assert pair.standard_error < np.sqrt(np.sum(values**2))
    half = stats.t.ppf(0.975, N - 1) * pair.standard_error
    assert_allclose(
        pair.confidence_interval[:2], [pair.difference - half, pair.difference + half], rtol=1e-9
    )
    expected = 2 * stats.t.sf(abs(pair.difference) / pair.standard_error, N - 1)
    assert_allclose(pair.p_value, expected, rtol=1e-9)


@pytest.mark.slow
def test_many_training_samples_leave_the_standard_error_without_monte_carlo_noise():
    # Both are estimates of the same; their noise at 2000 samples is a few percent.
    counts = counts_of(n_resamples=2000)
    first, second = wrong(counts)
    _, values = by_hand(first - second, counts, np.arange(N))
    options = {"strategy": "oob", "n_train_resamples": 200, "random_state": 1}
    [few] = compare_methods(METHODS, X, Y, **options).pairs
    assert_allclose(few.standard_error, np.sqrt(np.sum(values**2)), rtol=0.1)


def test_groups_are_drawn_and_left_out_together():
    counts = counts_of(GROUPS)
    row_counts = counts[:, GROUPS]
    first, second = wrong(row_counts)
    error, values = by_hand(first - second, counts, GROUPS)
    [pair] = compare_methods(METHODS, X, Y, groups=GROUPS, **OUT_OF_BAG).pairs
    assert_allclose(pair.difference, -error, atol=1e-12)
    assert pair.standard_error < np.sqrt(np.sum(values**2))
    half = stats.t.ppf(0.975, len(np.unique(GROUPS)) - 1) * pair.standard_error
    assert_allclose(pair.confidence_interval.high, pair.difference + half)


def test_ranks_are_compared_resample_by_resample():
    counts = counts_of()
    scores = [answers_of(column, counts, "predict_proba")[:, :, 1] for column in BAYES.values()]
    change = [
        roc_auc_score(Y[c == 0], a[c == 0]) - roc_auc_score(Y[c == 0], b[c == 0])
        for c, a, b in zip(counts, *scores, strict=True)
    ]
    [pair] = compare_methods(METHODS, X, Y, scoring="roc_auc", **OUT_OF_BAG).pairs
    assert_allclose(pair.difference, np.mean(change))
    assert_allclose(pair.bootstrap_support, np.mean(np.greater(change, 0)))
    # Degrees of freedom of the rarer class.
    half = stats.t.ppf(0.975, np.bincount(Y).min() - 1) * pair.standard_error
    assert_allclose(pair.confidence_interval.high, pair.difference + half)


def test_a_function_of_means_is_that_of_the_averaged_terms():
    # F1 of the weighted rows of all samples together, each row once.
    counts = counts_of()
    outside = counts == 0
    weight = outside / outside.sum(axis=0)
    expected = [
        f1_score(np.tile(Y, B), answers_of(c, counts).ravel(), sample_weight=weight.ravel())
        for c in BAYES.values()
    ]
    [pair] = compare_methods(METHODS, X, Y, scoring="f1", **OUT_OF_BAG).pairs
    assert_allclose(pair.difference, expected[0] - expected[1])
    assert 0 < pair.standard_error < 0.1


@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_each_estimator_is_run_as_by_a_bootstrap_scorer():
    trees = {"deep": ExtraTreesClassifier(5), "flat": ExtraTreesClassifier(5, max_depth=1)}
    options = {"n_train_resamples": 10, "n_cv_repeats": 1, "n_seeds": 2, "random_state": 3}
    result = compare_methods(trees, X, Y, **options)
    for name, tree in trees.items():
        scorer = BootstrapScorer(tree, **options).fit(X, Y)
        assert_array_equal(
            result.systems[name].bootstrap_distribution, scorer.result_.bootstrap_distribution
        )
        assert result.systems[name].estimate == scorer.score_
    change = np.subtract(*(result.systems[name].estimate for name in trees))
    assert_allclose(result.pairs[0].difference, change)


def test_a_632_rule_changes_the_scores_of_the_methods_and_not_their_out_of_bag_differences():
    options = {"n_train_resamples": B, "random_state": 0}
    plain = compare_methods(METHODS, X, Y, strategy="oob", **options)
    result = compare_methods(METHODS, X, Y, strategy=".632+", **options)
    assert result.pairs == plain.pairs
    scorer = BootstrapScorer(METHODS[FIRST], strategy=".632+", **options).fit(X, Y)
    assert result.systems[FIRST].confidence_interval == scorer.confidence_interval_
    assert "by the .632+ rule" in result.claim()
    assert any("differences are of out-of-bag scores" in note for note in result.notes)
    for one in (plain, result):
        assert one.training_share == 0.632
        assert "when trained on 63.2% of these rows" in one.claim()


def test_a_memory_folder_serves_both(tmp_path):
    parameters = {"n_train_resamples": 50, "n_cv_repeats": 1, "random_state": 0}
    parameters["memory"] = tmp_path
    BootstrapScorer(METHODS[FIRST], **parameters).fit(X, Y)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*") if path.is_file()}
    compare_methods(METHODS, X, Y, **parameters)
    assert before
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    after = [path for path in tmp_path.rglob("*.*") if path.is_file()]
    assert len(after) == 2 * len(before)


# ------------------------------------------------------------------ by cross-validation


def folds_of(samples):
    """Training rows of each fold, (n_repeats x n_folds, n_samples), as 0 and 1."""
    return np.array(
        [fold_of != k for fold_of in samples.folds for k in range(samples.n_folds)]
    ).astype(int)


def pooled(samples, answers):
    """Out-of-fold answers of each repeat, (n_repeats, n_samples)."""
    left_out = folds_of(samples) == 0
    return np.where(left_out, answers, 0).reshape(-1, samples.n_folds, N).sum(axis=1)


def by_loops(samples, influence, scores, of_scores, left_out_error, share):
    """Variance of the cross-validated difference: unit by unit and sample by sample."""
    counts = samples.counts.astype(float)
    n_samples, n_units = counts.shape
    sampling = np.var(influence, ddof=1) / n_units
    outside = counts == 0
    mean = [of_scores[outside[:, i], i].mean() for i in range(n_units)]
    rest = [
        scores[b] - np.mean([mean[i] for i in range(n_units) if outside[b, i]])
        for b in range(n_samples)
    ]
    rest = np.array(rest) - np.mean(rest)
    jackknife = 0.0
    for i in range(n_units):
        products = (counts[:, i] - counts[:, i].mean()) * rest
        jackknife += (influence[i] / n_units + products.mean()) ** 2
        jackknife -= products.var(ddof=1) / n_samples
    left_out = left_out_error**2
    return max(sampling, left_out + share * max(jackknife - left_out, 0))


def share_of(wrong_on_all, wrong_cv, wrong_left_out, outside):
    """The larger of both methods: how much of the bootstrap's spread holds at this size."""
    shares = []
    for on_all, cv, boot in zip(wrong_on_all, wrong_cv, wrong_left_out, strict=True):
        centre = cv.mean()
        middle = (on_all.mean() + centre) / 2
        median = np.median((boot * outside).sum(axis=1) / outside.sum(axis=1))
        assert centre > on_all.mean()
        shares.append(1.0 if median <= centre else ((centre - middle) / (median - middle)) ** 2)
    return max(shares)


def test_by_default_the_difference_is_that_of_repeated_cross_validation_at_nine_tenths():
    samples = samples_of(n_repeats=5)
    wrong_cv = [pooled(samples, w) for w in wrong(folds_of(samples))]
    gaps = wrong_cv[0] - wrong_cv[1]
    result = compare_methods(METHODS, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
    [pair] = result.pairs
    assert_allclose(pair.difference, -gaps.mean(), atol=1e-12)
    assert result.training_share == 0.9
    first, second = wrong(samples.counts)
    change, outside = first - second, samples.counts == 0
    scores = (change * outside).sum(axis=1) / outside.sum(axis=1)
    [left_out] = compare_methods(METHODS, X, Y, **OUT_OF_BAG).pairs
    influence = (gaps - gaps.mean(axis=1, keepdims=True)).mean(axis=0)
    share = share_of(wrong(np.ones((1, N), int)), wrong_cv, (first, second), outside)
    variance = by_loops(
        samples, influence, scores, change - scores[:, None], left_out.standard_error, share
    )
    assert_allclose(pair.standard_error, np.sqrt(variance))
    half = stats.t.ppf(0.975, N - 1) * pair.standard_error
    assert pair.confidence_interval.method == "cv-bootstrap"
    assert_allclose(
        pair.confidence_interval[:2], [pair.difference - half, pair.difference + half], rtol=1e-9
    )
    t = abs(pair.difference) / pair.standard_error
    assert_allclose(pair.p_value, 2 * stats.t.sf(t, N - 1))


def test_with_groups_folds_and_influence_are_those_of_whole_groups():
    samples = samples_of(GROUPS, n_repeats=5)
    n_groups = samples.counts.shape[1]
    assert all(len(np.unique(own[g == GROUPS])) == 1 for own in samples.folds for g in range(30))
    wrong_cv = [pooled(samples, w) for w in wrong(folds_of(samples))]
    gaps = wrong_cv[0] - wrong_cv[1]
    [pair] = compare_methods(
        METHODS, X, Y, groups=GROUPS, n_train_resamples=B, n_cv_repeats=5, random_state=0
    ).pairs
    assert_allclose(pair.difference, -gaps.mean(), atol=1e-12)
    first, second = wrong(samples.counts[:, GROUPS])
    change = first - second

    def of_groups(values, rows):
        own = np.bincount(GROUPS[rows], values[rows] - values[rows].mean(), n_groups)
        return own * len(np.unique(GROUPS[rows])) / rows.sum()

    every = np.ones(N, dtype=bool)
    influence = np.mean([of_groups(own, every) for own in gaps], axis=0)
    outside = samples.counts[:, GROUPS] == 0
    of_scores = np.array([of_groups(*both) for both in zip(change, outside, strict=True)])
    scores = (change * outside).sum(axis=1) / outside.sum(axis=1)
    [left_out] = compare_methods(METHODS, X, Y, groups=GROUPS, **OUT_OF_BAG).pairs
    share = share_of(wrong(np.ones((1, N), int)), wrong_cv, (first, second), outside)
    variance = by_loops(samples, influence, scores, of_scores, left_out.standard_error, share)
    assert variance > left_out.standard_error**2
    assert_allclose(pair.standard_error, np.sqrt(variance))
    half = stats.t.ppf(0.975, n_groups - 1) * pair.standard_error
    assert_allclose(pair.confidence_interval.high, pair.difference + half)


def test_ranks_are_compared_fold_by_fold():
    samples = samples_of(n_repeats=5)
    folds = folds_of(samples)
    scores = [answers_of(column, folds, "predict_proba")[:, :, 1] for column in BAYES.values()]
    change = [
        roc_auc_score(Y[f == 0], a[f == 0]) - roc_auc_score(Y[f == 0], b[f == 0])
        for f, a, b in zip(folds, *scores, strict=True)
    ]
    options = {"scoring": "roc_auc", "n_train_resamples": B, "n_cv_repeats": 5, "random_state": 0}
    [pair] = compare_methods(METHODS, X, Y, **options).pairs
    assert_allclose(pair.difference, np.mean(change))
    [left_out] = compare_methods(METHODS, X, Y, strategy="oob", **options).pairs
    assert left_out.standard_error <= pair.standard_error < 1.5 * left_out.standard_error
    half = stats.t.ppf(0.975, np.bincount(Y).min() - 1) * pair.standard_error
    assert_allclose(pair.confidence_interval.high, pair.difference + half)


@pytest.mark.parametrize(
    "scoring", ["f1", "balanced_accuracy", "neg_log_loss", "average_precision", roc_auc_of_labels]
)
@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_whatever_the_metric_the_difference_is_that_of_the_scores(scoring):
    options = {"scoring": scoring, "n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
    rows = np.concatenate([np.flatnonzero(k == Y)[:20] for k in (0, 1)])
    result = compare_methods(METHODS, X[rows], Y[rows], **options)
    [pair] = result.pairs
    change = np.subtract(*(result.systems[name].estimate for name in METHODS))
    assert_allclose(pair.difference, change)
    assert 0 < pair.standard_error < abs(change) + 0.5
    low, high = pair.confidence_interval[:2]
    assert low < change < high


class FailsWithoutBoth(OneColumn):
    """Fails where neither the first row nor another is in its sample."""

    def __init__(self, column=0, other=1):
        self.column, self.other = column, other

    def fit(self, X, y):
        if not any((X_ALL[row] == X).all(axis=1).any() for row in (0, self.other)):
            raise ValueError("both rows are missing")
        return super().fit(X, y)


X_ALL = X


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_repeats_in_which_a_fold_of_one_failed_are_left_out_for_all(scoring):
    samples = samples_of(n_repeats=5)
    together = (samples.folds == samples.folds[:, :1]).sum(axis=0)
    other = int(np.flatnonzero((together > 0) & (together < 5))[0])
    methods = {"whole": OneColumn(23), "fragile": FailsWithoutBoth(1, other)}
    with pytest.warns(FitFailedWarning, match="fragile"):
        result = compare_methods(
            methods, X, Y, scoring=scoring, n_train_resamples=B, n_cv_repeats=5, random_state=0
        )
    folds = folds_of(samples)
    whole = folds[:, 0] + folds[:, other] > 0
    answers = [answers_of(c, folds, "predict_proba")[:, :, 1] for c in (23, 1)]
    if scoring == "roc_auc":
        # Scored fold by fold: only the folds that failed are left out.
        change = [
            roc_auc_score(Y[f == 0], a[f == 0]) - roc_auc_score(Y[f == 0], b[f == 0])
            for f, a, b in zip(folds[whole], *(own[whole] for own in answers), strict=True)
        ]
    else:
        right = [pooled(samples, (own > 0.5) == Y) for own in answers]
        change = (right[0] - right[1])[whole.reshape(5, -1).all(axis=1)]
    [pair] = result.pairs
    assert_allclose(pair.difference, np.mean(change), atol=1e-12)


def test_without_a_whole_repeat_the_difference_is_undefined_and_it_is_said():
    methods = {"whole": OneColumn(23), "fragile": FailsWithoutFirstRow(1)}
    with pytest.warns(FitFailedWarning, match="fragile"):
        result = compare_methods(methods, X, Y, n_train_resamples=4 * B, random_state=0)
    [pair] = result.pairs
    assert np.isnan([pair.difference, pair.p_value, *pair.confidence_interval[:2]]).all()
    assert pair.reason == "no repeat of cross-validation is whole for all methods"
    assert pair.reason in result.claim()
    assert pair.outperformance.n_pairs > B


@pytest.mark.parametrize(("groups", "n"), [(None, N), (GROUPS, 30)])
@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_the_same_estimator_twice_has_the_limits_of_no_discordant_pair(groups, n):
    same = {"one": DecisionTreeClassifier(), "other": DecisionTreeClassifier()}
    options = {"n_train_resamples": 10, "n_cv_repeats": 1, "random_state": 0, "groups": groups}
    for strategy in ("cv-bootstrap", "oob"):
        result = compare_methods(same, X, Y, strategy=strategy, **options)
        [pair] = result.pairs
        square = stats.norm.ppf(0.975) ** 2
        assert_allclose(
            pair.confidence_interval[:2], [-square / (n + square), square / (n + square)]
        )
        assert pair.difference == 0
        assert pair.p_value == 1
        assert pair.outperformance[:3] == (0.5, 0.5, 0.5)
        assert any("decide every row alike" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_where_nothing_varies_and_losses_are_numbers_the_difference_cannot_be_told(tmp_path):
    x, y = (part[:60] for part in load_diabetes(return_X_y=True))
    same = {"one": LinearRegression(), "other": LinearRegression(), "third": DummyRegressor()}
    result = compare_methods(same, x, y, n_train_resamples=20, n_cv_repeats=1, random_state=0)
    pair = result.pair("one", "other")
    assert np.isnan(pair.confidence_interval[:2]).all()
    assert np.isnan(pair.simultaneous_interval[:2]).all()
    assert (pair.difference, pair.p_value) == (0, 1)
    assert not pair.excludes_zero
    assert "do not show how far" in pair.reason
    assert "do not show how far" in result.summary()
    assert np.isfinite(result.pair("one", "third").confidence_interval.low)
    alone = {name: same[name] for name in ("one", "other")}
    alone = compare_methods(alone, x, y, n_train_resamples=20, n_cv_repeats=1, random_state=0)
    assert "no 95% CI: the difference varies neither over rows" in alone.claim()
    alone.save(tmp_path / "same.npz")
    assert ComparisonResult.load(tmp_path / "same.npz") == alone


def test_by_name_the_spread_is_that_of_the_out_of_bag_difference():
    options = {"n_train_resamples": B, "n_cv_repeats": 2, "random_state": 0}
    [left_out] = compare_methods(METHODS, X, Y, **OUT_OF_BAG).pairs
    [plain] = compare_methods(METHODS, X, Y, **options).pairs
    [pair] = compare_methods(METHODS, X, Y, interval="adjusted", **options).pairs
    assert pair.difference == plain.difference
    assert pair.standard_error == left_out.standard_error
    assert pair.confidence_interval.method == "adjusted"


@pytest.mark.parametrize(
    ("y", "groups", "words"),
    [
        (Y, None, "when trained on 90% of these rows"),
        (Y, GROUPS, "when trained on 90% of these groups"),
        (np.arange(N) < 5, None, "when trained on 80% of these rows"),
        (Y, np.arange(N) // 20, "when trained on 83.3% of these groups"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_text_says_at_which_size_the_methods_are_compared(y, groups, words):
    methods = METHODS | {"third": OneColumn(9)}
    options = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0, "groups": groups}
    for names in ((FIRST, SECOND), methods):
        result = compare_methods({name: methods[name] for name in names}, X, y, **options)
        assert words in " ".join(result.summary().split())
        assert words in result.claim()
    assert result.to_dict()["training_share"] == result.training_share


def test_exchanging_two_estimators_mirrors_everything():
    swapped = {name: METHODS[name] for name in (SECOND, FIRST)}
    one, other = (
        compare_methods(both, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
        for both in (METHODS, swapped)
    )
    assert_allclose(one.pairs[0].difference, -other.pairs[0].difference, atol=1e-15)
    assert one.pairs[0].confidence_interval.low == -other.pairs[0].confidence_interval.high
    assert one.pairs[0].p_value == other.pairs[0].p_value
    assert_allclose(one.pairs[0].outperformance[0], 1 - other.pairs[0].outperformance[0])


def test_several_differences_get_simultaneous_intervals():
    methods = METHODS | {"third": OneColumn(9), "chance": DummyClassifier()}
    result = compare_methods(methods, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
    assert len(result.pairs) == 6
    for pair in result.pairs:
        assert pair.simultaneous_interval.low < pair.confidence_interval.low
        assert pair.simultaneous_interval.high > pair.confidence_interval.high
        assert pair.p_value <= pair.p_value_adjusted
        assert (pair.p_value_adjusted <= 0.05) == pair.excludes_zero
    # Narrower than Bonferroni's, since the differences go together.
    holm = compare_methods(methods, X, Y, n_train_resamples=B, adjust="holm", random_state=0)
    for pair, wide in zip(result.pairs, holm.pairs, strict=True):
        assert pair.simultaneous_interval.low > wide.simultaneous_interval.low
    with_one = compare_methods(
        methods, X, Y, n_train_resamples=B, reference="chance", random_state=0
    )
    assert {pair.second for pair in with_one.pairs} | {
        pair.first for pair in with_one.pairs
    } == set(methods)
    assert len(with_one.pairs) == 3


def test_losses_of_regression_have_the_sign_of_the_score():
    x, y = (part[:100] for part in load_diabetes(return_X_y=True))
    methods = {"linear": LinearRegression(), "tree": DecisionTreeRegressor()}
    table = compare_methods(
        methods,
        x,
        y,
        scoring=["neg_mean_squared_error", "r2"],
        n_train_resamples=B,
        random_state=0,
    )
    assert isinstance(table, ResultTable)
    for result in table.values():
        [pair] = result.pairs
        assert pair.difference > 0
        assert pair.outperformance.probability > 0.5
        assert result.best == "linear"


class FailsWithoutFirstRow(OneColumn):
    def fit(self, X, y):
        if not (X == FIRST_ROW).all(axis=1).any():
            raise ValueError("the first row is missing")
        return super().fit(X, y)


class FailsWithFirstRow(OneColumn):
    def fit(self, X, y):
        if len(np.unique(X, axis=0)) < N and (X == FIRST_ROW).all(axis=1).any():
            raise ValueError("the first row is there")
        return super().fit(X, y)


FIRST_ROW = X[0]


@pytest.mark.filterwarnings("ignore:compare_methods. 4. resamples are too few")
def test_samples_on_which_one_failed_are_left_out_for_all():
    methods = {"whole": OneColumn(23), "fragile": FailsWithoutFirstRow(1)}
    with pytest.warns(FitFailedWarning, match="fragile: .* failed"):
        result = compare_methods(methods, X, Y, **OUT_OF_BAG)
    counts = counts_of()
    held = counts[counts[:, 0] > 0]
    first = (answers_of(23, held) != Y).astype(float)
    second = (answers_of(1, held) != Y).astype(float)
    outside = held == 0
    # The first row was never left out of these.
    times = outside.sum(axis=0)
    expected = np.nanmean(((second - first) * outside).sum(axis=0)[1:] / times[1:])
    [pair] = result.pairs
    assert_allclose(pair.difference, expected)
    assert pair.outperformance.n_pairs == len(held)
    assert any(f"{B - len(held)} of {B} training samples" in note for note in result.notes)


class NeedsFirstRow(BaseEstimator):
    """Linear regression that fails with, or without, the first row in its sample."""

    def __init__(self, needed=True):
        self.needed = needed

    def fit(self, X, y):
        is_all = len(np.unique(X, axis=0)) == N
        if not is_all and (X == FIRST_ROW).all(axis=1).any() != self.needed:
            raise ValueError("the first row")
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "accuracy"])
def test_without_a_common_sample_the_difference_is_undefined_and_it_is_said(scoring):
    methods = {"with": NeedsFirstRow(True), "without": NeedsFirstRow(False)}
    if scoring == "accuracy":
        methods = {"with": FailsWithoutFirstRow(1), "without": FailsWithFirstRow(1)}
    result = compare_methods(
        methods, X, Y, scoring=scoring, n_train_resamples=4 * B, random_state=0
    )
    [pair] = result.pairs
    assert np.isnan([pair.difference, pair.p_value, *pair.confidence_interval[:2]]).all()
    assert pair.outperformance.n_pairs == 0
    assert any("Fewer than two training samples" in note for note in result.notes)
    assert "undefined" in result.claim()
    assert "undefined" in result.summary()


def test_workers_change_nothing():
    one, two = (
        compare_methods(METHODS, X, Y, n_train_resamples=B, n_jobs=n_jobs, random_state=0)
        for n_jobs in (1, 2)
    )
    assert one.pairs == two.pairs


# ------------------------------------------------------------------ on a test set


def test_on_a_test_set_the_differences_vary_over_training_samples_and_test_rows():
    # STATISTICS of crossed runs: A, c and te of the differences, by sums.
    counts = counts_of()
    right = [answers_of(c, counts, X_new=X_TEST) == Y_TEST for c in BAYES.values()]
    full = [answers_of(c, [np.ones(N, int)], X_new=X_TEST)[0] == Y_TEST for c in BAYES.values()]
    change = right[0].astype(float) - right[1]
    of_full = full[0].astype(float) - full[1]
    m = len(Y_TEST)
    between = change.mean(axis=1).var(ddof=1)
    residual = change - change.mean(axis=1)[:, None] - change.mean(axis=0) + change.mean()
    noise = (residual**2).sum() / ((B - 1) * (m - 1)) / m
    test = of_full.var(ddof=1) / m
    variance = max(between - noise, 0) + test
    df = variance**2 / (between**2 / (B - 1) + test**2 / (m - 1))
    [pair] = compare_methods(
        METHODS,
        X,
        Y,
        X_test=X_TEST,
        y_test=Y_TEST,
        n_train_resamples=B,
        n_cv_repeats=5,
        random_state=0,
    ).pairs
    assert_allclose(pair.difference, of_full.mean())
    assert_allclose(pair.standard_error, np.sqrt(variance))
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert_allclose(pair.confidence_interval.high, pair.difference + half)
    scores = [each.mean(axis=1) for each in right]
    won = np.mean(scores[0] > scores[1]) + np.mean(scores[0] == scores[1]) / 2
    assert_allclose(pair.outperformance.probability, won)


def test_seeds_of_a_training_sample_are_averaged_first():
    # With the formula above on means over seeds, for an estimator that has no use for a seed.
    options = {"X_test": X_TEST, "y_test": Y_TEST, "n_train_resamples": 20, "random_state": 0}
    [once] = compare_methods(METHODS, X, Y, **options).pairs
    [twice] = compare_methods(METHODS, X, Y, n_seeds=2, **options).pairs
    assert_allclose(twice.difference, once.difference)
    assert_allclose(twice.standard_error, once.standard_error)
    assert_allclose(twice.confidence_interval[:2], once.confidence_interval[:2])
    assert twice.outperformance.n_pairs == 40
    # Copies of a pair know no more than the pair.
    assert_allclose(twice.outperformance[:3], once.outperformance[:3], atol=0.06)


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
def test_all_metrics_are_computed_on_the_same_resamples_of_the_test_set():
    share = make_scorer(lambda y, p: np.mean((p > 0.5) == y), response_method="predict_proba")
    found = compare_methods(
        {"A": GaussianNB(), "B": GaussianNB(priors=[0.3, 0.7])},
        X,
        Y,
        X_test=X_TEST,
        y_test=Y_TEST,
        scoring={"labels": "accuracy", "probabilities": share, "f1": "f1"},
        n_train_resamples=10,
        n_test_resamples=99,
        random_state=0,
    )
    drawn = [found[name].systems["B"] for name in ("labels", "probabilities")]
    assert drawn[0].estimate == drawn[1].estimate
    assert_allclose(*(one.bootstrap_distribution for one in drawn), rtol=0, atol=1e-12)


def test_with_the_training_set_fixed_only_seeds_vary():
    trees = {"deep": ExtraTreesClassifier(5), "flat": ExtraTreesClassifier(5, max_depth=1)}
    result = compare_methods(
        trees,
        X,
        Y,
        X_test=X_TEST,
        y_test=Y_TEST,
        n_train_resamples=0,
        n_seeds=6,
        random_state=0,
    )
    assert "the training set" in result.held_fixed
    assert result.pairs[0].outperformance.n_pairs == 6
    assert any("29 are needed" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_without_two_common_samples_on_a_test_set_the_first_error_is_raised():
    methods = {"with": FailsWithoutFirstRow(1), "without": FailsWithFirstRow(1)}
    message = (
        "compare_methods: fewer than two training samples were usable by every estimator. "
        "First error: ValueError: the first row is missing"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        compare_methods(
            methods, X, Y, X_test=X_TEST, y_test=Y_TEST, n_train_resamples=20, random_state=0
        )


@pytest.mark.filterwarnings("ignore:.*smaller class decide")
def test_a_dict_of_test_sets_gives_a_table_of_results():
    tests = {"near": slice(0, 100), "far": slice(100, 200)}
    table = compare_methods(
        METHODS,
        X,
        Y,
        X_test={name: X_TEST[rows] for name, rows in tests.items()},
        y_test={name: Y_TEST[rows] for name, rows in tests.items()},
        scoring=["accuracy", "roc_auc"],
        n_train_resamples=10,
        n_test_resamples=99,
        random_state=0,
    )
    assert list(table) == ["near", "far"]
    assert list(table["near"]) == ["accuracy", "roc_auc"]
    alone = compare_methods(
        METHODS,
        X,
        Y,
        X_test=X_TEST[:100],
        y_test=Y_TEST[:100],
        n_train_resamples=10,
        n_test_resamples=99,
        random_state=0,
    )
    assert table["near"]["accuracy"].pairs == alone.pairs


# ------------------------------------------------------------------ what is said


def test_the_text_says_what_is_meant():
    result = compare_methods(METHODS, X, Y, **OUT_OF_BAG)
    text = " ".join(result.summary().split())
    assert "by rows left out of bootstrap samples" in text
    assert "test row" not in text
    assert f"P({FIRST} > {SECOND})" in text
    assert "conditional on this training set" in text
    assert "63.2%" in text
    assert f"of {B} pairs of runs" in result.claim()
    assert "probability" not in result.claim()
    with_test = compare_methods(
        METHODS,
        X,
        Y,
        X_test=X_TEST,
        y_test=Y_TEST,
        n_train_resamples=B,
        n_cv_repeats=5,
        random_state=0,
    )
    assert "conditional on this training set and test set" in " ".join(with_test.summary().split())


def test_p_far_from_half_is_not_called_a_difference_of_methods():
    # The second is wrong on three rows, one of which nearly every sample leaves out.
    n = 60
    y = np.arange(n) % 2
    x = np.column_stack([y, y]) + np.linspace(-0.1, 0.1, n)[:, None]
    x[3:6, 1] = 1 - y[3:6]
    methods = {"a": OneColumn(0), "b": OneColumn(1)}
    result = compare_methods(methods, x, y, n_train_resamples=60, random_state=0)
    [pair] = result.pairs
    assert not pair.excludes_zero
    assert pair.outperformance.verdict == "significant and meaningful"
    assert "not shown on others" in " ".join(result.summary().split())
    assert "not significant: this does not show that one is better, nor" in result.claim()


def test_saving_and_the_table_keep_p(tmp_path):
    result = compare_methods(METHODS, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
    result.save(tmp_path / "result.npz")
    assert ComparisonResult.load(tmp_path / "result.npz") == result
    frame = pytest.importorskip("pandas") and result.to_frame()
    assert frame["outperformance"][0] == result.pairs[0].outperformance.probability
    assert result.to_dict()["pairs"][0]["outperformance"]["n_pairs"] == B
    assert "P(A > B)" in result.to_markdown()
    assert "P(A &gt; B)" in result._repr_html_()


def test_warnings_and_errors_say_of_which_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_methods(METHODS, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
    with pytest.raises(ValueError, match="NaN") as caught:
        compare_methods(METHODS, np.where(X > 1000, np.nan, X), Y, n_train_resamples=5)
    assert caught.value.__notes__ == [f"Raised with the estimator {FIRST!r}."]


class Warns(OneColumn):
    """Warns in every fit, and once more on samples that hold copies of a row."""

    def fit(self, X, y):
        warnings.warn("BootstrapScorer: it is warm", FutureWarning, stacklevel=2)
        if len(np.unique(X, axis=0)) < len(X):
            warnings.warn("copies", FutureWarning, stacklevel=2)
        return super().fit(X, y)


def test_what_an_estimator_warns_of_is_told_once_with_its_name_and_unchanged():
    methods = {"warm": Warns(23), "plain": OneColumn(1)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_methods(methods, X, Y, n_train_resamples=B, n_cv_repeats=5, random_state=0)
    assert [str(each.message) for each in caught] == [
        "compare_methods: warm: BootstrapScorer: it is warm",
        "compare_methods: warm: copies",
    ]
    assert all((each.category, each.filename) == (FutureWarning, __file__) for each in caught)


class WantsGroups(OneColumn):
    """Refuses a fit without groups."""

    def fit(self, X, y, groups=None):
        if groups is None:
            raise ValueError("no groups")
        assert len(groups) == len(X)
        return super().fit(X, y)


def test_groups_reach_the_estimator_that_requests_them():
    with sklearn.config_context(enable_metadata_routing=True):
        wants = WantsGroups(23).set_fit_request(groups=True)
        methods = {"wants": wants, "plain": OneColumn(23)}
        options = {"strategy": "oob", "n_train_resamples": 5, "random_state": 0}
        result = compare_methods(methods, X, Y, groups=GROUPS, **options)
    assert result.pairs[0].difference == 0


def test_few_training_samples_are_warned_of_once():
    with pytest.warns(UserWarning, match="compare_methods: 10 resamples are too few") as caught:
        compare_methods(METHODS, X, Y, n_train_resamples=10, random_state=0)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "bootstrap"}, "'strategy'"),
        ({"strategy": np.full(2, np.nan)}, "'strategy'"),
        ({"estimand": "system"}, "compare_systems"),
        ({"interval": "welch"}, "'interval'"),
        ({"interval": "cv-bootstrap", "strategy": "oob"}, "'interval'"),
        ({"interval": "adjusted", "X_test": X_TEST, "y_test": Y_TEST}, "'interval'"),
        ({"n_train_resamples": 1}, "'n_train_resamples'"),
        (
            {"n_train_resamples": 0, "X_test": X_TEST, "y_test": Y_TEST},
            "One run of each does not show how runs vary",
        ),
        ({"reference": "third"}, "'reference'"),
        ({"adjust": "bonferroni"}, "'adjust'"),
        ({"memory": "runs"}, "random_state=0"),
        ({"estimators": [GaussianNB()]}, "be a dict of the estimator of each method"),
        ({"estimators": {"one": GaussianNB()}}, "BootstrapScorer"),
        (
            {"estimators": {"one": GaussianNB(), "other": LinearRegression()}},
            "'scoring' parameter of compare_methods must be the same for all estimators",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(options, message):
    options = {"estimators": METHODS, "n_train_resamples": 5} | options
    with pytest.raises(ValueError, match=message):
        compare_methods(options.pop("estimators"), X, Y, **options)


@pytest.mark.parametrize("with_test_set", [False, True])
def test_one_sided_comparisons_of_methods_are_halves_of_two_sided_ones(with_test_set):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    test = {"X_test": X[:30], "y_test": y[:30]} if with_test_set else {}
    methods = {"few": DecisionTreeClassifier(max_depth=1), "many": DecisionTreeClassifier()}
    known = {"n_train_resamples": 20, "n_cv_repeats": 2, "n_test_resamples": 99, **test}

    def compared(**options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = compare_methods(methods, X, y, random_state=0, **known, **options)
        return result.pairs[0]

    both, above = compared(confidence_level=0.9), compared(alternative="greater")
    assert_allclose(above.confidence_interval, (both.confidence_interval.low, np.inf))
    half = both.p_value / 2
    assert_allclose(above.p_value, half if both.difference > 0 else 1 - half)
    with pytest.raises(ValueError, match="alternative='greater'"):
        above.verdict(0.1)


def test_copies_of_rows_are_told_once_and_not_for_each_estimator():
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 3, axis=0)
    y = np.repeat(np.arange(40) % 2, 3)
    methods = {"A": GaussianNB(), "B": DecisionTreeClassifier(max_depth=1)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_methods(methods, X, y, strategy="oob", n_train_resamples=10, random_state=0)
    [text] = [str(each.message) for each in caught if "copies of other" in str(each.message)]
    assert text.startswith("compare_methods: 80 of 120 rows of X are copies of others")


@pytest.mark.parametrize("given", [Y, "a", 3])
def test_what_has_no_fit_is_refused_by_name_with_the_function_for_predictions(given):
    text = (
        rf"""^The "estimators\['B'\]" parameter of compare_methods must be an estimator, with """
        rf"a fit method. Got a {type(given).__name__}. Predictions of a trained model go to "
        r"bootstrap_score\(y_true, y_pred\), of several to compare_systems\(y_true, "
    )
    with pytest.raises(ValueError, match=text):
        compare_methods({"A": GaussianNB(), "B": given}, X, Y, n_train_resamples=B)
