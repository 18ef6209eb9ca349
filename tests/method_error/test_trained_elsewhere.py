"""What is trained, split or scored elsewhere: plain loops over rows, groups, folds and models.

Exact. Prediction errors are those of Efron and Tibshirani's formulas by loops, those of a scorer
that trained the same models, and follow the scale and order of what they are given; splits hold
what they promise; tests of pairs are those of two systems.
"""

import math

import numpy as np
import pytest
from identity_cases import Kept, close, quiet
from scipy import stats
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skboot
from skboot import inference
from skboot.metrics import pass_at_k

pytestmark = pytest.mark.identity

# ------------------------------------------------------------------ prediction errors


def losses_of(seed, n=24, b=40, n_groups=None, is_binary=True):
    """Losses of models on rows, and how often each row was in the sample of each model."""
    rng = np.random.default_rng([seed, n, b])
    unit = np.arange(n) if n_groups is None else rng.permutation(np.arange(n) % n_groups)
    k = unit.max() + 1
    weights = np.array([np.bincount(rng.integers(0, k, k), minlength=k)[unit] for _ in range(b)])
    hard = rng.random(n)
    # What a model did not see, and what others like it did not see either, it errs on.
    level = 0.15 + 0.4 * (weights == 0) + 0.3 * hard - 0.02 * weights.mean(axis=1, keepdims=True)
    losses = (rng.random((b, n)) < level) * 1.0 if is_binary else rng.gamma(2.0, level)
    full = (rng.random(n) < 0.2) * 1.0 if is_binary else rng.gamma(2.0, 0.2, n)
    cv = (rng.random((4, n)) < 0.3 + 0.3 * hard) * 1.0 if is_binary else rng.gamma(2.0, 0.4, (4, n))
    return {
        "losses": losses,
        "weights": weights,
        "resubstitution_losses": full,
        "no_information_rate": 0.62 if is_binary else 1.1,
        "cv_losses": cv,
        "bounds": (0, 1) if is_binary else (0, np.inf),
        **({} if n_groups is None else {"groups": unit}),
    }


def predicted(data, **more):
    data = {**data, **more}
    return quiet(inference.prediction_error, data.pop("losses"), data.pop("weights"), **data)


NUMBERS = ("resubstitution", "oob", "no_information_rate", "relative_overfitting_rate", "weight",
           "point632", "point632_plus", "standard_error", "standard_error_unadjusted")  # fmt: skip
INTERVALS = ("adjusted", "hull", "cv-bootstrap", "cv-bootstrap-conservative", "t", "percentile")


def numbers_of(error, scale=1.0):
    of_scale = {"relative_overfitting_rate", "weight"}
    found = [getattr(error, name) / (1 if name in of_scale else scale) for name in NUMBERS]
    for method in INTERVALS:
        found += [limit / scale for limit in quiet(error.interval, method, 0.9)]
    return found


@pytest.mark.parametrize("n_groups", [None, 8])
@pytest.mark.parametrize("is_binary", [True, False])
def test_points_of_a_prediction_error_are_those_of_loops(is_binary, n_groups):
    data = losses_of(0, n_groups=n_groups, is_binary=is_binary)
    error = predicted(data)
    by_row = []
    for row in range(24):
        unseen = data["weights"][:, row] == 0
        by_row.append(data["losses"][unseen, row].mean())
    oob, full = np.mean(by_row), data["resubstitution_losses"].mean()
    chance = data["no_information_rate"]
    close([error.oob, error.resubstitution], [oob, full])
    close(error.point632, 0.368 * full + 0.632 * oob)
    rate = (min(oob, chance) - full) / (chance - full)
    close(error.relative_overfitting_rate, rate)
    close(error.weight, 0.632 / (1 - 0.368 * rate))
    close(error.point632_plus, (1 - error.weight) * full + error.weight * min(oob, chance))
    of_models = [
        own[seen == 0].mean() for own, seen in zip(data["losses"], data["weights"], strict=True)
    ]
    close(error.replicates, of_models)
    low, high = error.interval("percentile", 0.8)
    close([low, high], np.quantile(of_models, [0.1, 0.9], method="weibull"))
    half = stdtrit(len(of_models) - 1, 0.9) * np.std(of_models, ddof=1)
    expected = np.clip([np.mean(of_models) - half, np.mean(of_models) + half], *data["bounds"])
    close([*error.interval("t", 0.8)], expected)


def published_parts(losses, weights):
    """D of Efron and Tibshirani (1997, equation 40): of each row the move of Err(1)."""
    n = losses.shape[1]
    outside = weights == 0
    by_row = np.array([losses[outside[:, i], i].mean() for i in range(n)])
    of_models = (losses * outside).sum(axis=1) / n
    parts = np.empty(n)
    for i in range(n):
        covariance = np.cov(weights[:, i], of_models)[0, 1]
        parts[i] = (2 + 1 / (n - 1)) * (by_row[i] - by_row.mean()) / n
        parts[i] += (1 - 1 / n) ** -n * covariance
    return parts


def test_the_published_error_of_err1_is_that_of_a_loop_with_its_jackknife():
    data = losses_of(1, n=12, b=60)
    error = predicted(data, form="et97", cv_losses=None)
    losses, weights = data["losses"], data["weights"]
    parts = published_parts(losses, weights)
    close(error.standard_error_unadjusted, np.sqrt(np.sum(parts**2)), 1e-7)
    keep = [np.arange(60) != k for k in range(60)]
    without = np.array([published_parts(losses[rows], weights[rows]) for rows in keep])
    internal = np.sum((without - without.mean(axis=0)) ** 2) * 59 / 60
    close(error.standard_error**2, np.sum(parts**2) - internal, 1e-6)
    other = predicted(data, cv_losses=None)
    assert 0.5 < other.standard_error / error.standard_error_unadjusted < 2
    close(other.oob, error.oob)


@pytest.mark.parametrize("n_groups", [None, 8])
@pytest.mark.parametrize("is_binary", [True, False])
def test_a_prediction_error_follows_the_scale_and_order_of_its_losses(is_binary, n_groups):
    data = losses_of(2, n_groups=n_groups, is_binary=is_binary)
    expected = numbers_of(predicted(data))
    rng = np.random.default_rng(0)
    models, rows = rng.permutation(40), rng.permutation(24)
    moved = {
        **data,
        "losses": data["losses"][models][:, rows],
        "weights": data["weights"][models][:, rows],
        "resubstitution_losses": data["resubstitution_losses"][rows],
        "cv_losses": data["cv_losses"][:, rows],
    }
    if n_groups is not None:
        moved["groups"] = np.array(list("hgfedcba"))[data["groups"][rows]]
    close(numbers_of(predicted(moved)), expected, 1e-7, 1e-9)
    larger = {key: data[key] * 8.0 for key in
              ("losses", "resubstitution_losses", "no_information_rate", "cv_losses")}  # fmt: skip
    larger["bounds"] = tuple(8.0 * limit for limit in data["bounds"])
    close(numbers_of(predicted(data, **larger), 8.0), expected, 1e-7, 1e-9)
    # What models say of rows that they saw is not read.
    seen = np.where(data["weights"] > 0, np.nan, data["losses"])
    close(numbers_of(predicted(data, losses=seen)), expected, 1e-9)


@pytest.mark.parametrize("is_binary", [True, False])
def test_rows_k_times_in_groups_have_the_prediction_error_of_the_rows(is_binary):
    data = losses_of(3, is_binary=is_binary)
    rows = np.repeat(np.arange(24), 3)
    copies = {
        **data,
        **{key: data[key][:, rows] for key in ("losses", "weights", "cv_losses")},
        "resubstitution_losses": data["resubstitution_losses"][rows],
        "groups": rows,
    }
    alone = {**data, "groups": np.arange(24)}
    close(numbers_of(predicted(alone)), numbers_of(predicted(data)), 1e-8)
    close(numbers_of(predicted(copies)), numbers_of(predicted(data)), 1e-7, 1e-9)


def test_clipping_to_the_letter_lets_the_estimate_pass_chance():
    data = losses_of(4)
    data["losses"] = np.where(data["weights"] == 0, 1 - 0.1 * data["losses"], data["losses"])
    full, literal = (predicted(data, clipping=how) for how in ("full", "literal"))
    apparent, chance = full.resubstitution, full.no_information_rate
    assert full.oob > chance
    close([full.relative_overfitting_rate, full.weight, full.point632_plus], [1, 1, chance], 1e-12)
    rate = (literal.oob - apparent) / (chance - apparent)
    close(literal.relative_overfitting_rate, rate)
    weight = 0.632 / (1 - 0.368 * rate)
    point = literal.point632 + (chance - apparent) * 0.368 * weight * rate
    close(literal.point632_plus, point)


@pytest.mark.parametrize("grouped", [False, True])
def test_models_trained_elsewhere_have_the_error_of_the_scorer_that_trained_them(grouped):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 3))
    y = X[:, 0] + rng.normal(size=36)
    groups = np.arange(36) // 2 if grouped else None
    Kept.MADE = ()
    options = {"n_train_resamples": 60, "random_state": 0, "scoring": "neg_mean_absolute_error"}
    scorer = quiet(
        skboot.BootstrapScorer(Kept(), strategy=".632+", **options).fit, X, y, groups=groups
    )
    counts = [np.array([np.sum(own[:, 0] == row[0]) for row in X]) for own, _ in Kept.MADE]
    models = [
        (model, seen)
        for (_, model), seen in zip(Kept.MADE, counts, strict=True)
        if (seen != 1).any()
    ]
    assert len(models) == 60
    full = LinearRegression().fit(X, y).predict(X)
    error = quiet(
        inference.prediction_error,
        [np.abs(model.predict(X) - y) for model, _ in models],
        [seen for _, seen in models],
        resubstitution_losses=np.abs(full - y),
        no_information_rate=np.abs(full[None] - y[:, None]).mean(),
        bounds=(0, np.inf),
        groups=groups,
    )
    close(scorer.score_, -error.point632_plus)
    close(scorer.oob_score_, -error.oob)
    close(scorer.standard_error_, error.standard_error, 1e-6)
    low, high = error.interval("adjusted")
    close([*scorer.confidence_interval_], [-high, -low], 1e-6)
    low, high = error.interval("hull")
    close([*quiet(scorer.result_.interval, "hull")], [-high, -low], 1e-6)


# ------------------------------------------------------------------ closed forms


def test_delongs_test_is_that_of_two_systems_and_of_covariances_of_placements():
    rng = np.random.default_rng(0)
    for ties in (False, True):
        y = rng.permutation(np.arange(70) < 25).astype(int)
        a, b = (rng.normal(size=70) + shift * y for shift in (1.0, 0.5))
        if ties:
            a, b = a.round(0), b.round(0)
        found = inference.delong_test(y == 1, a, b)
        again = inference.delong_test(y == 1, b, a)
        pair = quiet(skboot.compare_systems, y, {"a": a, "b": b}, metric="roc_auc",
                     interval="delong", n_resamples=39, random_state=0).pairs[0]  # fmt: skip
        difference = roc_auc_score(y, a) - roc_auc_score(y, b)
        placed = []
        for score in (a, b):
            against = (np.sign(score[y == 1][:, None] - score[y == 0]) + 1) / 2
            placed.append((against.mean(axis=1), against.mean(axis=0)))
        variance = sum(np.var(placed[0][k] - placed[1][k], ddof=1) / np.sum(y == 1 - k)
                       for k in (0, 1))  # fmt: skip
        p = 2 * stats.norm.sf(abs(difference) / np.sqrt(variance))
        close(found.p_value, p, 1e-7)
        close(pair.p_value, p, 1e-7)
        close(again.p_value, p, 1e-9)
        close(pair.difference, difference)
        half = stats.norm.ppf(0.975) * np.sqrt(variance)
        close([*pair.confidence_interval], [difference - half, difference + half], 1e-7)


def test_mcnemars_test_is_the_binomial_one():
    for first, second in ((0, 0), (1, 0), (3, 9), (9, 3), (5, 5), (20, 41)):
        expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
        close(inference.mcnemar_exact(first, second), expected, 1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_intervals_of_counts_are_those_of_scipy_and_roots_of_their_tests(level):
    for k, n in ((0, 7), (3, 11), (40, 50), (50, 50)):
        for method, name in (("wilson", "wilson"), ("clopper-pearson", "exact")):
            expected = stats.binomtest(k, n).proportion_ci(level, method=name)
            found = inference.proportion_interval(k, n, method=method, confidence_level=level)
            close([*found], [expected.low, expected.high], 1e-7, 1e-9)
            assert (found.confidence_level, found.method) == (level, method)
    z = stats.norm.ppf(0.5 + level / 2)
    for first, second, n in ((3, 9, 60), (9, 3, 60), (20, 41, 100)):
        for limit in inference.tango_interval(first, second, n, confidence_level=level):
            # The score statistic of Tango (1998) at the limit; p21 solves a quadratic.
            b = -first - second + (2 * n - first + second) * limit
            p21 = (np.sqrt(b**2 + 8 * n * second * limit * (1 - limit)) - b) / (4 * n)
            spread = np.sqrt(n * (2 * p21 + limit * (1 - limit)))
            close(abs(first - second - n * limit) / spread, z, 1e-6)
        turned = inference.tango_interval(second, first, n, confidence_level=level)
        own = inference.tango_interval(first, second, n, confidence_level=level)
        close([*turned], [-own.high, -own.low], 1e-7)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_corrected_t_test_is_nadeau_and_bengios(level):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.8, 0.05, size=(2, 15))
    for scores, given in ((a, (a,)), (a - b, (a, b))):
        found = quiet(
            skboot.model_selection.corrected_t,
            *given,
            n_train=90,
            n_test=10,
            confidence_level=level,
        )
        error = np.sqrt((1 / 15 + 10 / 90) * np.var(scores, ddof=1))
        close([found.estimate, found.standard_error], [scores.mean(), error])
        half = stats.t.ppf(0.5 + level / 2, 14) * error
        close([*found.confidence_interval], [scores.mean() - half, scores.mean() + half])
        close(found.p_value, 2 * stats.t.sf(abs(scores.mean()) / error, 14))


def test_pass_at_k_is_the_share_of_draws_with_a_right_one():
    for n, c, k in ((10, 0, 3), (10, 2, 3), (7, 6, 2), (5, 5, 5), (8, 3, 8), (20, 1, 1)):
        share = 1 - math.comb(n - c, k) / math.comb(n, k)
        close(pass_at_k([c, c], [n, n], k), [share, share])
    # Each question keeps its place.
    rng = np.random.default_rng(0)
    n, c = rng.integers(3, 9, 30), rng.integers(0, 4, 30)
    close(pass_at_k(c, n, 2), [pass_at_k([a], [b], 2)[0] for a, b in zip(c, n, strict=True)])


# ------------------------------------------------------------------ searches


def test_predictions_out_of_fold_are_those_of_each_candidate():
    X, y = make_classification(90, 5, flip_y=0.2, random_state=0)
    for scoring, method in (("accuracy", "predict"), ("roc_auc", "decision_function"),
                            ("neg_log_loss", "predict_proba")):  # fmt: skip
        folds = KFold(4, shuffle=True, random_state=3)
        search = GridSearchCV(LogisticRegression(), {"C": [0.01, 10.0]}, scoring=scoring, cv=folds)
        found = skboot.model_selection.out_of_fold(search.fit(X, y), X, y)
        assert [*found] == ["C=0.01", "C=10.0"]
        for c, own in zip((0.01, 10.0), found.values(), strict=True):
            expected = cross_val_predict(LogisticRegression(C=c), X, y, cv=folds, method=method)
            close(own, expected, 1e-9)
    groups = np.arange(90) // 3
    search = GridSearchCV(LogisticRegression(), {"C": [0.1]}, cv=GroupKFold(3))
    found = skboot.model_selection.out_of_fold(search.fit(X, y, groups=groups), X, y, groups=groups)
    [own] = found.values()
    model = LogisticRegression(C=0.1)
    close(own, cross_val_predict(model, X, y, cv=GroupKFold(3), groups=groups))


@pytest.mark.parametrize(
    ("refit", "method"),
    [("second", "predict_proba"), ("third", "decision_function"), (False, "predict")],
)
def test_of_several_metrics_the_one_that_a_search_is_fitted_by_says_what_is_predicted(
    refit, method
):
    X, y = make_classification(30, 3, n_redundant=0, flip_y=0.2, random_state=0)
    scoring = {"first": "accuracy", "second": "neg_log_loss", "third": "roc_auc"}
    model = LinearDiscriminantAnalysis()
    search = GridSearchCV(model, {"tol": [1e-4]}, scoring=scoring, refit=refit, cv=KFold(2))
    [own] = skboot.model_selection.out_of_fold(search.fit(X, y), X, y).values()
    close(own, cross_val_predict(model, X, y, cv=KFold(2), method=method))


@pytest.mark.parametrize("scoring", [None, "one"])
def test_one_standard_error_takes_the_first_that_is_hardly_worse(scoring):
    rng = np.random.default_rng(0)
    choose = skboot.model_selection.one_standard_error(scoring)
    for _ in range(20):
        scores = 0.8 + 0.02 * np.arange(5) * rng.random() + 0.05 * rng.normal(size=(6, 5))
        scores += 0.2 * rng.normal(size=(6, 1))
        kept = {f"split{k}_test_{scoring or 'score'}": scores[k] for k in range(6)}
        kept |= {f"split{k}_test_other": -scores[k] for k in range(6)}
        best = scores.mean(axis=0).argmax()
        behind = scores[:, best, None] - scores
        error = behind.std(axis=0, ddof=1) / np.sqrt(6)
        near = [k for k in range(5) if behind[:, k].mean() <= error[k]]
        assert choose(kept) == near[0]


# ------------------------------------------------------------------ splits


def drawn_by(splitter, n, y=None, groups=None):
    return [*splitter.split(np.zeros((n, 1)), y, groups)]


@pytest.mark.parametrize("kind", ["rows", "strata", "groups"])
def test_training_sides_are_drawn_units_and_test_sides_all_others(kind):
    n, rng = 60, np.random.default_rng(0)
    y, groups = np.array(list("abc"))[np.arange(n) % 7 // 3], rng.permutation(np.arange(n) % 15)
    made = {"rows": skboot.BootstrapSplit, "strata": skboot.StratifiedBootstrapSplit,
            "groups": skboot.GroupBootstrapSplit}[kind]  # fmt: skip
    splits = drawn_by(made(300, random_state=0), n, y, groups if kind == "groups" else None)
    assert len(splits) == 300 == made(300).get_n_splits()
    total = np.zeros(n)
    for train, test in splits:
        counts = np.bincount(train, minlength=n)
        total += counts
        np.testing.assert_array_equal(test, np.flatnonzero(counts == 0))
        if kind == "strata":
            for label in "abc":
                assert np.sum(y[train] == label) == np.sum(y == label)
                assert (y[test] == label).any()
        if kind == "groups":
            assert all(len(set(counts[groups == g])) == 1 for g in range(15))
        assert len(train) == n
    # Each row comes once on average, and misses a share of (1 - 1 / m) ** m of the samples.
    assert np.abs(total / 300 - 1).max() < 5 / np.sqrt(300)
    m = {"rows": [60], "strata": np.unique(y, return_counts=True)[1], "groups": [15]}[kind]
    missing = sum(size * (1 - 1 / size) ** size for size in m) / sum(m)
    assert abs(np.mean([len(test) for _, test in splits]) / n - missing) < 0.01
    again = drawn_by(made(2, random_state=0), n, y, groups if kind == "groups" else None)
    for one, other in zip(splits, again, strict=False):
        np.testing.assert_array_equal(one[0], other[0])
    # Copies are not side by side.
    assert any(np.any(np.diff(train) < 0) for train, _ in splits)


@pytest.mark.parametrize("grouped", [False, True])
def test_test_sides_are_drawn_again_and_training_sides_stay(grouped):
    n, groups = 40, np.arange(40) // 2
    inner = GroupKFold(4) if grouped else KFold(4)
    given = groups if grouped else None
    folds = [*inner.split(np.zeros((n, 1)), groups=given)]
    splitter = skboot.BootstrapTestSplit(inner, n_resamples=50, random_state=0)
    splits = drawn_by(splitter, n, None, given)
    assert len(splits) == splitter.get_n_splits(np.zeros(n), groups=given) == 200
    total = np.zeros(n)
    for k, (train, test) in enumerate(splits):
        own_train, own_test = folds[k // 50]
        np.testing.assert_array_equal(train, own_train)
        counts = np.bincount(test, minlength=n)
        assert set(test) <= set(own_test)
        assert len(test) == len(own_test)
        if grouped:
            np.testing.assert_array_equal(counts[::2], counts[1::2])
        total += counts
    assert np.abs(total / 50 - 1).max() < 5 / np.sqrt(50)
    assert len({tuple(np.sort(test)) for _, test in splits[:50]}) > 25


def test_seeds_give_all_splits_again_and_again():
    inner = ShuffleSplit(3, random_state=1)
    splitter = skboot.SeedSplit(4, inner)
    splits = drawn_by(splitter, 30)
    assert len(splits) == splitter.get_n_splits(np.zeros(30)) == 12
    folds = [*inner.split(np.zeros((30, 1)))]
    for k, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(train, folds[k % 3][0])
        np.testing.assert_array_equal(test, folds[k % 3][1])


# ------------------------------------------------------------------ what a scorer hands on


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss"])
def test_a_fitted_scorer_answers_as_its_estimator_trained_on_all_rows(scoring):
    X, y = make_classification(80, 4, flip_y=0.2, random_state=0)
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    alone = clone(estimator).fit(X, y)
    options = {"n_train_resamples": 4, "strategy": "oob", "random_state": 0, "scoring": scoring}
    scorer = quiet(skboot.BootstrapScorer(estimator, **options).fit, X, y)
    expected = get_scorer(scoring or "accuracy")(alone, X[::2], y[::2])
    close(scorer.score(X[::2], y[::2]), expected)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        close(getattr(scorer, name)(X), getattr(alone, name)(X))
    np.testing.assert_array_equal(scorer.classes_, alone.classes_)
    assert scorer.n_features_in_ == 4
    result = scorer.result_
    assert (result.estimate, result.standard_error) == (scorer.score_, scorer.standard_error_)
    assert result.confidence_interval == scorer.confidence_interval_
    close(quiet(clone(scorer).fit, X, y).score_, scorer.score_)
    without = skboot.BootstrapScorer(estimator, refit=False, **options)
    close(quiet(without.fit, X, y).score_, scorer.score_)
    assert not hasattr(without, "estimator_")
