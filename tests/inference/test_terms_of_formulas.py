"""Each term of a formula by itself: the best constant, derivatives, degrees of freedom, steps.

Exact: a second program makes each number from values of scikit-learn, from replicates, or from
counts, on rows for which a term that is left out or stands in another's place is seen.
"""

import itertools
import re
from functools import partial

import numpy as np
import pytest
from identity_cases import (
    OTHERS,
    PLAIN_CALLABLES,
    Score,
    call_of,
    close,
    each_of,
    plain_value,
    quiet,
    scored,
)
from scipy import stats
from scipy.special import ndtr, stdtrit
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

FEW = {"n_resamples": 19, "random_state": 0}

# ------------------------------------------------------------------ the best constant


WITH_PARAMETERS = (
    "pinball", "top_k", "net_benefit", "poisson", "gamma", "mape", "msle", "cost of three",
    "cost of words", "fbeta", "fbeta_macro", "recall of some", "cost with priors",
    "cost of three with priors", "brier with priors", "kappa", "min dcf", "act dcf", "ece",
    "r2 of outputs", "mse of outputs", "neg rmsle",
)  # fmt: skip


def constants_of(call):
    """Answers that may be the best one for all rows: labels, shares, values, means."""
    truth, weights = call.y_true, call.columns.get("sample_weight")
    mean = partial(np.average, axis=0, weights=weights)
    if call.score.data == "scores":
        return [0.0]
    if call.score.data == "probability":
        priors = getattr(call.score.metric, "keywords", {}).get("priors", [0.5, 0.5])
        return [0.0, 1.0, mean(truth), priors[1]]
    if call.score.data == "columns":
        return [mean(np.eye(3)[truth]), *np.eye(3)]
    if call.score.data == "sets":
        return [np.array(one) for one in itertools.product([0, 1], repeat=truth.shape[1])]
    if call.score.data == "tables":
        return [mean(truth)]
    if call.score.data in ("values", "positive"):
        return [*truth, mean(truth), np.expm1(mean(np.log1p(np.maximum(truth, 0))))]
    return [*np.unique(truth)]


# Of labels that are not equally frequent, in another order than that of their shares.
OF_SETS = {
    f"{function.__name__} {average}": (function, average)
    for function in (sk.precision_score, sk.recall_score, sk.f1_score, sk.jaccard_score)
    for average in ("micro", "macro", "weighted")
}


def call_of_sets(name):
    call = call_of("f1 of sets", weighted=len(name) % 2 > 0, n=30)
    function, average = OF_SETS[name]
    options = {"average": average, "zero_division": 0.0}

    def plain(truth, said, weights=None):
        return function(truth, said, sample_weight=weights, **options)

    truth = call.y_true * (call.rng.random(call.y_true.shape) < [0.4, 0.9, 0.6, 1.0])
    score = call.score._replace(metric=partial(function, **options), plain=plain)
    return call._replace(score=score, y_true=truth)


@pytest.mark.parametrize("name", [*WITH_PARAMETERS, *OF_SETS])
def test_the_baseline_is_the_score_of_the_best_constant(name):
    if name in OF_SETS:
        call = call_of_sets(name)
    else:
        call = call_of(name, weighted=WITH_PARAMETERS.index(name) % 3 > 0, n=30)
    result = scored(call.y_true, call.y_pred, **call.options, **FEW)
    found = []
    for one in constants_of(call):
        said = np.broadcast_to(one, (call.n, *np.shape(one))).copy()
        weights = call.columns.get("sample_weight")
        found.append(plain_value(call.score, call.y_true, said, weights))
    best = np.nanmax(found) if result.greater_is_better else np.nanmin(found)
    close(result.naive_estimate, best)


# ------------------------------------------------------------------ derivatives by weights


def derivatives(score, truth, said, weights, groups, step=1e-4):
    """Of the plain function, by the weight of each group."""
    found = []
    for one in np.unique(groups):
        more, less = (weights * (1 + side * step * (groups == one)) for side in (1, -1))
        both = [plain_value(score, truth, said, own) for own in (more, less)]
        found.append((both[0] - both[1]) / (2 * step))
    return np.array(found)


def assert_error_is_of_derivatives(score, truth, said, weights):
    groups = np.arange(len(said)) // 3
    result = scored(truth, said, metric=score.metric, groups=groups, sample_weight=weights, **FEW)
    if result._evidence.standard_error is None:
        return False
    influence = derivatives(score, truth, said, weights, groups)
    close(result._evidence.standard_error, np.sqrt(np.sum(influence**2)), 1e-5, what=score.metric)
    return True


@each_of([name for name in OTHERS if name not in (*PLAIN_CALLABLES, "f1 of sets")])
def test_the_error_of_groups_is_of_the_derivatives_by_their_weights(name):
    call = call_of(name, weighted=True, n=42)
    weights = call.columns.get("sample_weight", np.ones(call.n))
    is_smooth = assert_error_is_of_derivatives(call.score, call.y_true, call.y_pred, weights)
    # Areas of several classes have no such error, nor have some metrics of one column.
    assert is_smooth or name == "auc ovr" or call.score.data in ("scores", "probability", "values")


def sums_on_a_circle(influence, length):
    starts = range(len(influence))
    return [np.take(influence, range(k, k + length), mode="wrap").sum() for k in starts]


@pytest.mark.parametrize(
    ("name", "length", "sizes"),
    [("mae", 4, (42,)), ("r2", 4, (19, 13, 10)), ("cost with priors", 5, (42,)),
     ("mae", 3, (19, 13, 10))],
)  # fmt: skip
def test_the_error_of_blocks_is_of_all_blocks_that_can_be_drawn(name, length, sizes):
    """The last block of a series is cut where its length is no multiple of that of blocks."""
    call = call_of(name, weighted=True, n=sum(sizes))
    weights, series = call.columns["sample_weight"], np.repeat(np.arange(len(sizes)), sizes)
    columns = {"strata": series} if len(sizes) > 1 else {}
    result = scored(call.y_true, call.y_pred, **call.options, block_length=length, **columns, **FEW)
    influence = derivatives(call.score, call.y_true, call.y_pred, weights, np.arange(call.n))
    variance = 0.0
    for k, size in enumerate(sizes):
        of_blocks = [length] * (size // length) + [size % length] * (size % length > 0)
        own = influence[series == k]
        variance += sum(np.var(sums_on_a_circle(own, one)) for one in of_blocks)
    close(result._evidence.standard_error, np.sqrt(variance), 1e-5)


@pytest.mark.parametrize(
    ("function", "average"),
    [
        (sk.r2_score, "variance_weighted"),
        (sk.r2_score, "uniform_average"),
        (sk.explained_variance_score, "variance_weighted"),
        (sk.explained_variance_score, "uniform_average"),
        (sk.root_mean_squared_error, "uniform_average"),
        (sk.mean_absolute_error, "uniform_average"),
    ],
)
def test_outputs_of_unequal_variance_have_the_derivatives_of_their_average(function, average):
    """Means far from 0, one output well told and one badly: no term of the shares is small."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(30, 3)) * [1.0, 3.0, 5.0] + [2.0, 5.0, -4.0]
    said = truth + rng.normal(size=(30, 3)) * [0.9, 0.5, 4.0] + [0.1, -0.3, 1.0]
    metric = partial(function, multioutput=average)
    score = Score(metric, "tables", lambda t, p, w: metric(t, p, sample_weight=w))
    weights = rng.integers(1, 9, 30) / 4
    assert assert_error_is_of_derivatives(score, truth, said, weights)


# ------------------------------------------------------------------ gaps of weighted subgroups


def limits_at(result, bounds, df, c, is_share, n_rows, size):
    """Limits of one subgroup from its replicates, at the level of a normal quantile."""
    q = -stdtrit(df, ndtr(-c))
    drawn, value = result.bootstrap_distribution, result.estimate
    variance = drawn.var(ddof=1) * (df + 1) / df
    low, high = bounds
    if is_share:
        share, reach = (value - low) / (high - low), high - low
        n = np.clip(share * (1 - share) * reach**2 / variance, size, n_rows)
        centre = (share + q**2 / (2 * n)) / (1 + q**2 / n)
        half = q / (1 + q**2 / n) * np.sqrt(share * (1 - share) / n + q**2 / (4 * n**2))
        return low + reach * (centre - half), low + reach * (centre + half)
    skewness = stats.skew(drawn)

    def unskewed(t):
        """The root of Hall's cubic (1992)."""
        s = skewness
        roots = np.roots([s**2 / 27, s / 3, 1, s / 6 - t])
        return roots[np.abs(roots.imag).argmin()].real

    error = np.sqrt(variance)
    below, above = error * max(q, unskewed(q)), error * max(q, -unskewed(-q))
    return max(value - below, low), min(value + above, high)


SHARES = ("accuracy", "expected_cost", "f1_macro", "balanced_accuracy", "matthews_corrcoef")
VALUES = ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "r2")


@pytest.mark.parametrize("metric", [*SHARES, *VALUES])
@pytest.mark.parametrize("k", [2, 3])
def test_a_gap_of_weighted_subgroups_has_the_freedom_of_their_sizes_by_kish(metric, k):
    rng, n = np.random.default_rng(k), 180
    by = np.arange(n) % k
    weights = np.where(rng.random(n) < 0.3, 6.0, 1.0)
    truth = rng.integers(0, 2, n)
    said = np.where(rng.random(n) < 0.2 + 0.1 * by, 1 - truth, truth)
    if metric in VALUES:
        truth = rng.normal(size=n)
        said = truth + (0.5 + 0.2 * by) * rng.normal(size=n)
    options = {"metric": metric, "by": by, "sample_weight": weights}
    parts = scored(truth, said, **options, n_resamples=39, random_state=0)
    gap = parts["gap"]
    first = max(range(k), key=lambda one: parts[one].estimate)
    second = min(range(k), key=lambda one: parts[one].estimate)
    c = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    found = []
    for one in (first, second):
        rows = by == one
        if metric in ("f1_macro", "balanced_accuracy", "matthews_corrcoef"):
            rows &= truth == np.argmin(np.bincount(truth[rows]))
        size = weights[rows].sum() ** 2 / np.sum(weights[rows] ** 2)
        bounds = parts[one]._evidence.facts.bounds
        found += limits_at(parts[one], bounds, size - 1, c, metric in SHARES, sum(by == one), size)
    (low_a, high_a, low_b, high_b), a, b = found, parts[first].estimate, parts[second].estimate
    low = a - b - np.hypot(a - low_a, high_b - b)
    high = a - b + np.hypot(high_a - a, b - low_b)
    close([*gap.confidence_interval], [low, high], 1e-6)


# ------------------------------------------------------------------ ranks in steps


def steps_of(t, critical):
    """Signs that step-down tests of both one-sided hypotheses of each pair tell."""
    hypotheses = {(k, side) for k in range(len(t)) for side in (1, -1)}
    signs = np.zeros(len(t), int)
    while True:
        limit = critical(hypotheses)
        told = {(k, side) for k, side in hypotheses if side * t[k] > limit}
        if not told:
            return signs
        for k, side in told:
            signs[k] = side
        hypotheses -= told


def systems_of(kind, seed, n=60):
    rng = np.random.default_rng(seed)
    truth, shared = rng.integers(0, 2, n), rng.random(n)
    levels = zip("ABCDEFG", np.linspace(0.15, 0.6, 7), strict=True)
    if kind == "values":
        truth = rng.normal(size=n)
        return truth, {key: truth + (0.4 + q) * rng.normal(size=n) for key, q in levels}
    noise = {key: shared + 0.15 * rng.normal(size=n) for key in "ABCDEFG"}
    return truth, {key: np.where(noise[key] < q, 1 - truth, truth) for key, q in levels}


@pytest.mark.parametrize("kind", ["labels", "values"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_ranks_are_of_step_down_tests_of_all_ordered_pairs(kind, level):
    """Of values the joint law of the differences may tell more than Bonferroni's rule, not less."""
    n, n_told = 60, 0
    for seed in range(2):
        truth, systems = systems_of(kind, seed, n)
        metric = "accuracy" if kind == "labels" else "mean_absolute_error"
        result = quiet(skboot.compare_systems, truth, systems, metric=metric,
                       confidence_level=level, **FEW)  # fmt: skip
        t = []
        for pair in result.pairs:
            one, other = systems[pair.first], systems[pair.second]
            error = pair.standard_error * np.sqrt(n / (n - 1))
            if kind == "labels":
                error = ((one == truth) * 1.0 - (other == truth)).std() / np.sqrt(n - 1)
            t.append(pair.difference / error)
        signs = steps_of(t, lambda left: -stdtrit(n - 1, (1 - level) / len(left)))
        found = np.array([pair._step_down_sign for pair in result.pairs])
        told = signs != 0
        np.testing.assert_array_equal(found[told], signs[told])
        assert kind == "values" or not found[~told].any()
        n_told += told.sum()
        for name, rank in result.ranks().items():
            ahead = [pair._step_down_sign * (-1 if pair.second == name else 1)
                     * (1 if result.greater_is_better else -1)
                     for pair in result.pairs if name in (pair.first, pair.second)]  # fmt: skip
            assert (rank.low, rank.high) == (1 + ahead.count(-1), len(systems) - ahead.count(1))
    assert n_told


# ------------------------------------------------------------------ runs and seeds


@pytest.mark.parametrize("n_full", [1, 3])
@pytest.mark.parametrize("sizes", [(1, 4, 2, 5), (3, 3, 1, 1, 6)])
def test_samples_with_unequal_seeds_have_their_harmonic_mean(sizes, n_full):
    """Searle, Casella and McCulloch (1992): of means of samples that weigh the same."""
    rng, n = np.random.default_rng([*sizes, n_full]), 40
    k, of_sample = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
    chance = 1.2 * rng.normal(size=k)[of_sample] + 0.4 * rng.normal(size=sum(sizes))
    values = 4 + chance[:, None] + rng.normal(size=(sum(sizes), n)) + rng.normal(size=n)
    full = 4 + rng.normal(size=(n_full, n))
    result = quiet(skboot.bootstrap_runs, None, values, metric="mean", varied="both",
                   training=of_sample, full_runs=full, n_resamples=39)  # fmt: skip
    following = quiet(result.interval, estimand="next_run")

    def variances(rows):
        return np.var(rows, axis=-1, ddof=1) / n

    squares = noise = 0.0
    for one in np.unique(of_sample):
        rows = values[of_sample == one]
        squares += np.sum((rows.mean(axis=1) - rows.mean()) ** 2)
        noise += variances(rows - rows.mean(axis=0)).sum()
    freedom = sum(sizes) - k
    seed = max((squares - noise) / freedom, 0)
    means = np.array([values[of_sample == one].mean(axis=0) for one in range(k)])
    between = np.var(means.mean(axis=1), ddof=1)
    c = variances(means - means.mean(axis=0)).sum() / (k - 1)
    harmonic = stats.hmean(sizes)
    training = max(between - c - seed / harmonic, 0)
    close(result.variance_components["seed"], seed, 1e-7)
    close(result.variance_components["training"], training, 1e-7)
    assert min(seed, training) > 0
    te, fewer = variances(full.mean(axis=0)), seed * max(1 / n_full - 1 / harmonic, 0)
    variance = max(between - c, 0) + te + fewer
    close(result.standard_error, np.sqrt(variance), 1e-7)
    rest = abs(1 + 1 / n_full - 2 / harmonic) * squares / freedom
    te = te + variances(full).mean()
    expected = 2 * training + (1 + 1 / n_full) * seed + te
    terms = [(2 * between, k - 1), (rest, freedom), (te, n - 1)]
    df = max(expected**2 / sum(one**2 / freedom for one, freedom in terms), 2)
    half = stats.t.ppf(0.975, df) * np.sqrt(expected)
    close([*following], [full.mean() - half, full.mean() + half], 1e-7)


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearest mean of some columns; there is no chance in it."""

    def __init__(self, columns=slice(None), random_state=None):
        self.columns, self.random_state = columns, random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == one][:, self.columns].mean(axis=0) for one in self.classes_])
        return self

    def predict(self, X):
        away = np.abs(X[:, None, self.columns] - self.means_).sum(axis=2)
        return self.classes_[away.argmin(axis=1)]


@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
def test_seeds_that_change_nothing_leave_how_often_a_method_is_better(strategy):
    """Runs on one training sample are drawn together, so that their number does not count."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 4)) + 0.6 * y[:, None]
    methods = {"A": Nearest(slice(2)), "B": Nearest(slice(2, 4))}
    found = [
        quiet(skboot.compare_methods, methods, X, y, scoring="accuracy", strategy=strategy,
              n_train_resamples=12, n_cv_repeats=2, n_seeds=n_seeds, random_state=0)
        .pairs[0].outperformance for n_seeds in (1, 3)
    ]  # fmt: skip
    one, other = found
    assert 0 < one.low < one.high < 1
    assert other.n_pairs == 3 * one.n_pairs
    close([*other[:3]], [*one[:3]])


class Answers(RegressorMixin, BaseEstimator):
    """The first column, whatever it was trained on."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 0]


WITHOUT_INFORMATION = {
    "mean_squared_error": sk.mean_squared_error,
    "root_mean_squared_error": sk.root_mean_squared_error,
    "mean_absolute_error": sk.mean_absolute_error,
    "mean_squared_log_error": sk.mean_squared_log_error,
    "root_mean_squared_log_error": sk.root_mean_squared_log_error,
    "mean_absolute_percentage_error": sk.mean_absolute_percentage_error,
    "mean_poisson_deviance": sk.mean_poisson_deviance,
    "mean_gamma_deviance": sk.mean_gamma_deviance,
    "r2": sk.r2_score,
    "explained_variance": sk.explained_variance_score,
}


@pytest.mark.parametrize("name", WITHOUT_INFORMATION)
def test_values_without_information_are_of_all_pairs_of_truth_and_answer(name):
    rng = np.random.default_rng(0)
    y = 3 + rng.gamma(9.0, size=40)
    X = (y * np.exp(0.2 * rng.normal(size=40)) + 1)[:, None]
    is_gain = name in ("r2", "explained_variance")
    scorer = skboot.BootstrapScorer(
        Answers(), scoring=name if is_gain else f"neg_{name}", strategy=".632+",
        n_train_resamples=9, random_state=0,
    )  # fmt: skip
    fitted = quiet(scorer.fit, X, y)
    expected = WITHOUT_INFORMATION[name](np.repeat(y, 40), np.tile(X[:, 0], 40))
    # Means that have no closed form are of a hundred permutations.
    is_drawn = any("permutations" in note for note in fitted.result_.notes)
    close(fitted.no_information_score_, expected if is_gain else -expected,
          0.02 if is_drawn else 1e-9)  # fmt: skip


# ------------------------------------------------------------------ the positive class in a stream


IN_STREAMS = {
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "brier_score": own.brier_score,
    "brier_score_loss": sk.brier_score_loss,
    "log_loss": sk.log_loss,
    "cross_entropy": own.cross_entropy,
    "equal_error_rate": own.equal_error_rate,
    "false_positive_rate_at": partial(own.false_positive_rate_at, false_negative_rate=0.1),
    "net_benefit": partial(own.net_benefit, threshold=0.3),
}


@pytest.mark.parametrize("name", IN_STREAMS)
@pytest.mark.parametrize("positive", ["ant", "bee"])
def test_a_stream_of_two_columns_reads_that_of_the_class_that_is_named(name, positive):
    rng, n = np.random.default_rng(0), 60
    truth = rng.integers(0, 2, n)
    share = np.clip(0.3 * truth + 0.7 * rng.random(n), 0.02, 0.98).round(2)
    labels = np.array(["ant", "bee"])
    said = np.column_stack([1 - share, share])
    options = {"metric": IN_STREAMS[name], "pos_label": positive, **FEW}
    stream = skboot.BootstrapAccumulator(labels=[*labels], **options)
    for rows in (slice(25), slice(25, n)):
        quiet(stream.update, labels[truth[rows]], said[rows], start=rows.start or 0)
    expected = scored(labels[truth], said, **options)
    close(quiet(stream.result).estimate, expected.estimate)


# ------------------------------------------------------------------ notes


def test_notes_of_a_table_count_the_scores_that_they_hold_for():
    rng = np.random.default_rng(0)
    for few in (5, 6, 7, 9):
        by = np.repeat(np.arange(12), [12] * few + [60] * (12 - few))
        truth = rng.normal(size=len(by))
        # One large error among the 12 rows of a small part decides its mean.
        errors = np.r_[np.tile([9.0] + [0.1] * 11, few), rng.normal(size=60 * (12 - few))]
        table = scored(truth, truth + errors, metric="mean_absolute_error", by=by, **FEW)
        text = " ".join(table.summary().split())
        held = [
            key for key in range(12) if any("of the 12 rows" in note for note in table[key].notes)
        ]
        assert held == list(range(few))
        who = re.findall(r"((?:mean_absolute_error \(\w+\)(?:; )?)+(?: and \d+ others)?)"
                         r": About 1 of the 12 rows decides", text)  # fmt: skip
        assert len(who) == 1
        named = [int(key) for key in re.findall(r"\((\d+)\)", who[0])]
        more = re.search(r"and (\d+) others", who[0])
        assert len(named) + (int(more[1]) if more else 0) == len(held)
        assert set(named) <= set(held)


@pytest.mark.parametrize("metric", ["accuracy", "neg_expected_cost", "precision"])
def test_resamples_that_no_interval_needs_are_told(metric):
    truth = np.arange(30) % 2
    said = np.where(np.arange(30) % 7 == 0, 1 - truth, truth)
    for asked in (100_000, 100_001):
        result = scored(truth, said, metric=metric, interval="wilson", n_resamples=asked,
                        random_state=0)  # fmt: skip
        notes = [note for note in result.notes if "resamples" in note and "100,000" in note]
        assert len(notes) == (asked > 100_000)
        assert result.n_resamples == 100_000
        text = " ".join(result.summary().split())
        assert all(note in text for note in notes)
