"""search_score and its helpers: the winner of a search, corrected for having been chosen."""

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import BootstrapSplit, search_score
from skboot.inference import prediction_error
from skboot.model_selection import corrected_t, one_standard_error, out_of_fold


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=120)
    return y, {f"c{k}": rng.integers(0, 2, size=120) for k in range(30)}


def accuracy_of_labels(y_true, y_pred):
    return np.mean(y_true == y_pred)


# ------------------------------------------------------------------ search_score


def test_the_winner_of_pure_noise_is_worth_chance():
    # 10 data sets of 100 rows and 100 configurations: the mean has standard error .01, so that
    # four of them raise a false alarm once in 16,000 seeds.
    rng = np.random.default_rng(0)
    corrected, best = [], []
    for seed in range(10):
        y = rng.integers(0, 2, size=100)
        systems = {str(k): rng.integers(0, 2, size=100) for k in range(100)}
        best.append(max(np.mean(y == p) for p in systems.values()))
        result = search_score(y, systems, n_resamples=199, random_state=seed)
        corrected.append(result.estimate)
    assert abs(np.mean(corrected) - 0.5) < 4 * np.std(corrected, ddof=1) / np.sqrt(10)
    assert np.mean(best) > 0.6


def drawn_rows(y, n_resamples, seed, groups=None):
    """Rows of each resample, as a callable sees them."""
    rows_of = []

    def remember(y_true, y_pred):
        rows_of.append(y_pred)
        return 0.0

    from skboot import bootstrap_score

    # Row numbers as predictions: the callable sees which rows each resample holds.
    bootstrap_score(
        y,
        np.arange(len(y)),
        metric=remember,
        groups=groups,
        n_resamples=n_resamples,
        random_state=seed,
        interval="percentile",
    )
    return rows_of[-n_resamples:]


def test_one_row_is_refused_and_two_are_not():
    with pytest.raises(ValueError, match="'y_preds' parameter of search_score must hold at least"):
        search_score([1], {"a": [1], "b": [0]}, random_state=0)
    result = search_score([1, 0], {"a": [1, 0], "b": [0, 0]}, random_state=0)
    assert 0 <= result.estimate <= 1


def test_resamples_that_leave_no_row_out_have_no_error():
    y_preds = {"a": [1, 3.0], "b": [2, 2.5]}
    result = search_score([1, 2.0], y_preds, metric="mae", n_resamples=2, random_state=0)
    assert np.isnan([result.estimate, *result.confidence_interval[:2]]).all()
    assert any("undefined" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore:bootstrap_score. 32 resamples are too few")
def test_it_chooses_in_the_resample_and_scores_outside(noise):
    y, systems = noise
    names = list(systems)
    # The first block of a callable's resamples, which those of sums share.
    drawn = drawn_rows(y, 32, 3)
    outside, losses, weights = [], [], []
    for rows in drawn:
        inside = [accuracy_score(y[rows], systems[name][rows]) for name in names]
        wrong = (systems[names[int(np.argmax(inside))]] != y).astype(float)
        counts = np.bincount(rows, minlength=len(y))
        outside.append(1 - wrong[counts == 0].mean())
        losses.append(wrong)
        weights.append(counts)
    expected = prediction_error(
        losses, weights, resubstitution_losses=wrong, no_information_rate=0.5
    )
    for metric in ("accuracy", accuracy_of_labels):
        result = search_score(
            y,
            systems,
            metric=metric,
            greater_is_better=None if metric == "accuracy" else True,
            n_resamples=32,
            random_state=3,
        )
        assert_allclose(result.bootstrap_distribution, outside, atol=1e-12)
    result = search_score(y, systems, n_resamples=32, random_state=3)
    assert_allclose(result.estimate, 1 - expected.oob)
    assert_allclose(result.standard_error, expected.standard_error)


def test_a_single_good_configuration_keeps_its_score():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    systems = {"good": y ^ (rng.random(300) < 0.1), "poor": y ^ (rng.random(300) < 0.4)}
    result = search_score(y, systems, random_state=0)
    assert_allclose(result.estimate, np.mean(systems["good"] == y), atol=1e-3)
    low, high = result.confidence_interval
    # One system by itself: about its Wilson interval.
    assert_allclose(high - low, 2 * 1.97 * np.sqrt(0.1 * 0.9 / 300), rtol=0.2)


def test_other_metrics_have_percentiles_and_say_so(noise):
    y, systems = noise
    result = search_score(y, systems, metric="f1", n_resamples=199, random_state=0)
    assert result.confidence_interval.method == "percentile"
    assert any("too wide" in note for note in result.notes)
    with pytest.raises(ValueError, match="no mean of row values"):
        search_score(y, systems, metric="f1", interval="adjusted", random_state=0)


def test_losses_are_chosen_when_small():
    rng = np.random.default_rng(0)
    losses = {"small": rng.gamma(2, size=200), "large": rng.gamma(2, size=200) + 1}
    result = search_score(None, losses, metric="mean", greater_is_better=False, random_state=0)
    assert_allclose(result.estimate, losses["small"].mean(), atol=0.01)
    assert "small" in result.notes[0]


def test_whole_groups_are_left_out(noise):
    y, systems = noise
    groups = np.arange(120) // 6
    result = search_score(y, systems, groups=groups, n_resamples=199, random_state=0)
    assert result.unit == "group"
    assert result.n_units == 20


def test_the_result_says_who_was_chosen_and_answers_later(noise, tmp_path):
    y, systems = noise
    result = search_score(y, systems, random_state=0)
    best = max(systems, key=lambda name: np.mean(systems[name] == y))
    assert f"configurations: {best}," in result.notes[0]
    assert result.interval(confidence_level=0.8).low > result.confidence_interval.low
    assert "no information" not in result.summary()
    result.save(tmp_path / "search.npz")
    assert type(result).load(tmp_path / "search.npz") == result
    assert search_score(y, systems, random_state=0) == result


def drawn_groups(groups, n_resamples, seed):
    """How often each row occurs in the resamples of its groups."""
    rows = drawn_rows(np.zeros(len(groups)), n_resamples, seed, groups=groups)
    return np.array([np.bincount(own, minlength=len(groups)) for own in rows])


@pytest.mark.filterwarnings(
    "ignore:bootstrap_score. 32 resamples are too few", "ignore:search_score. Only"
)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_standard_error_is_that_of_all_losses_at_once(noise, grouped):
    # prediction_error holds the losses of all resamples on all rows; here blocks are added up.
    y, systems = noise
    groups = np.random.default_rng(1).integers(0, 25, size=120) if grouped else np.arange(120)
    names, weights = list(systems), drawn_groups(groups, 32, 3)
    right = np.array([systems[name] == y for name in names])
    chosen = np.argmax(right @ weights.T, axis=0)
    expected = prediction_error(
        ~right[chosen],
        weights,
        resubstitution_losses=~right[np.argmax(right.sum(axis=1))],
        no_information_rate=0.5,
        groups=groups if grouped else None,
    )
    result = search_score(
        y, systems, groups=groups if grouped else None, n_resamples=32, random_state=3
    )
    assert_allclose(result.estimate, 1 - expected.oob, rtol=1e-12)
    assert_allclose(result.standard_error, expected.standard_error, rtol=1e-12)
    assert_allclose(
        result._basis.error.prediction_error.standard_error_unadjusted,
        expected.standard_error_unadjusted,
        rtol=1e-12,
    )
    outside = 1 - expected.out_of_bag.replicates
    assert_allclose(result.bootstrap_distribution, outside, rtol=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "neg_mean_absolute_error"])
def test_a_weight_counts_as_copies_that_are_drawn_together(noise, metric):
    y, systems = noise
    times = np.random.default_rng(0).integers(1, 4, size=120)
    copied = {name: np.repeat(values, times) for name, values in systems.items()}
    options = {"metric": metric, "n_resamples": 99, "random_state": 0}
    weighted = search_score(y, systems, sample_weight=times, **options)
    repeated = search_score(
        np.repeat(y, times), copied, groups=np.repeat(np.arange(120), times), **options
    )
    assert_allclose(weighted.estimate, repeated.estimate, rtol=1e-12)
    assert_allclose(weighted.standard_error, repeated.standard_error, rtol=1e-12)
    assert_allclose(weighted.confidence_interval[:2], repeated.confidence_interval[:2], rtol=1e-10)
    assert_allclose(weighted.bootstrap_distribution, repeated.bootstrap_distribution, rtol=1e-12)


def test_rows_without_weight_count_for_nothing(noise):
    y, systems = noise
    weight = np.arange(120) % 2
    flipped = {name: np.where(weight == 0, 1 - row, row) for name, row in systems.items()}
    options = {"sample_weight": weight, "n_resamples": 99, "random_state": 0}
    result, other = (search_score(y, each, **options) for each in (systems, flipped))
    assert result.estimate == other.estimate
    assert result.confidence_interval == other.confidence_interval


def test_memory_does_not_grow_with_the_resamples():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=4000)
    systems = {str(k): y ^ (rng.random(4000) < 0.3) for k in range(3)}

    def peak(n_resamples):
        tracemalloc.start()
        search_score(y, systems, n_resamples=n_resamples, random_state=0)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    # Two blocks and more. The losses of 6000 more resamples would take 200 MB, scores a third of
    # one.
    assert peak(8192) < peak(2048) + 1e6


# Whatever the scores: labels are scores of two values.
@pytest.mark.filterwarnings("ignore:search_score. y_preds.* holds two distinct values")
# A function without a name travels to a worker whole, and not as the name of a module.
@pytest.mark.parametrize(
    "metric", ["accuracy", "f1", "roc_auc", lambda y_true, y_pred: np.mean(y_true == y_pred)]
)
def test_the_first_resamples_of_many_are_the_few_whoever_draws_them(noise, metric, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    y, systems = noise
    systems = {name: systems[name] for name in list(systems)[:8]}
    options = {"metric": metric, "random_state": 0}
    if callable(metric):
        options["greater_is_better"] = True
    weight = np.random.default_rng(0).random(120) if not callable(metric) else None
    few = search_score(y, systems, sample_weight=weight, n_resamples=100, **options)
    many = search_score(y, systems, sample_weight=weight, n_resamples=1100, n_jobs=2, **options)
    assert_array_equal(few.bootstrap_distribution, many.bootstrap_distribution[:100])
    alone = search_score(y, systems, sample_weight=weight, n_resamples=1100, **options)
    assert alone == many


def test_progress_is_shown_when_asked_for(noise, capsys):
    y, systems = noise
    search_score(y, systems, n_resamples=99, random_state=0, verbose=1)
    assert "99/99 resamples" in capsys.readouterr().err


def test_a_metric_that_raises_on_the_rows_left_out_names_the_resample(noise):
    y, systems = noise

    def fragile(y_true, y_pred):
        if len(y_true) < 100:  # only the rows left out are so few
            raise ZeroDivisionError("too few")
        return np.mean(y_true == y_pred)

    with pytest.raises(RuntimeError, match=r"left out of resample \d+: too few"):
        search_score(
            y, systems, metric=fragile, greater_is_better=True, n_resamples=9, random_state=0
        )


def test_an_unknown_direction_is_refused(noise):
    y, systems = noise
    with pytest.raises(ValueError, match="'greater_is_better' parameter of search_score"):
        search_score(y, systems, metric=accuracy_of_labels, random_state=0)


# ------------------------------------------------------------------ out_of_fold


@pytest.fixture(scope="module")
def classification():
    return make_classification(n_samples=120, n_features=5, flip_y=0.2, random_state=0)


def test_predictions_are_those_of_the_folds_of_the_search(classification):
    X, y = classification
    cv = KFold(4, shuffle=True, random_state=1)
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 10]}, cv=cv).fit(X, y)
    found = out_of_fold(search, X, y)
    for name, C in (("C=0.01", 0.01), ("C=10", 10)):
        assert_array_equal(found[name], cross_val_predict(LogisticRegression(C=C), X, y, cv=cv))


def test_probabilities_are_given_where_the_scoring_looks_at_them(classification):
    X, y = classification
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 10]}, scoring="neg_log_loss", cv=3)
    found = out_of_fold(search.fit(X, y), X, y)
    assert found["C=10"].shape == (120, 2)
    result = search_score(y, found, metric="neg_log_loss", n_resamples=199, random_state=0)
    assert result.estimate < 0


def test_regression_searches_are_taken(classification):
    X, y = classification
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=3).fit(X, X[:, 0] + y)
    assert list(out_of_fold(search, X, X[:, 0] + y)) == ["alpha=0.1", "alpha=10.0"]


def test_shuffled_folds_are_the_same_for_all_configurations(classification):
    X, y = classification
    cv = KFold(4, shuffle=True)
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [3, 3]}, cv=cv)
    first, second = out_of_fold(search.fit(X, y), X, y).values()
    assert_array_equal(first, second)


def test_splits_that_do_not_test_each_row_once_are_refused(classification):
    X, y = classification
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=ShuffleSplit(3)).fit(X, y)
    with pytest.raises(ValueError, match="test each row once"):
        out_of_fold(search, X, y)


# ------------------------------------------------------------------ one_standard_error


def test_the_first_configuration_within_one_paired_error_is_chosen():
    # Behind the best by .02 with differences .01, .03, .02: error .0058, so not the first; the
    # second is behind by .005 with error .005.
    results = {
        "split0_test_score": np.array([0.89, 0.91, 0.90]),
        "split1_test_score": np.array([0.67, 0.69, 0.70]),
        "split2_test_score": np.array([0.78, 0.795, 0.80]),
        "mean_test_score": np.zeros(3),
    }
    assert one_standard_error()(results) == 1
    assert one_standard_error("score")(results) == 1


def test_it_works_as_refit_and_in_pickles(classification):
    X, y = classification
    refit = pickle.loads(pickle.dumps(one_standard_error("accuracy")))
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 8]},
        scoring=["accuracy", "f1"],
        refit=refit,
    ).fit(X, y)
    assert search.best_index_ <= int(np.argmax(search.cv_results_["mean_test_accuracy"]))
    with pytest.raises(ValueError, match="'scoring' parameter of one_standard_error"):
        one_standard_error("recall")(search.cv_results_)


# ------------------------------------------------------------------ corrected_t


def test_corrected_t_by_its_formula():
    a = np.array([0.80, 0.85, 0.78, 0.83, 0.82, 0.84, 0.79, 0.81, 0.80, 0.86])
    b = a - np.array([0.01, 0.03, -0.01, 0.02, 0.02, 0.01, 0.0, 0.04, 0.01, 0.02])
    found = corrected_t(a, b, n_train=900, n_test=100)
    d = a - b
    error = np.sqrt(d.var(ddof=1) * (1 / 10 + 100 / 900))
    assert_allclose(found.standard_error, error)
    assert_allclose(found.p_value, 2 * stats.t.sf(d.mean() / error, 9))
    half = stats.t.ppf(0.975, 9) * error
    assert_allclose(found.confidence_interval[:2], [d.mean() - half, d.mean() + half])


def test_corrected_t_warns_of_small_training_shares():
    with pytest.warns(UserWarning, match="less than nine tenths"):
        corrected_t([0.8, 0.9, 0.7], n_train=80, n_test=20)
    # Ten folds of 569 rows: 57 of them for testing is nine tenths, but for rounding.
    corrected_t([0.8, 0.9, 0.7], n_train=512, n_test=57)


@pytest.mark.parametrize(
    ("scores", "message"), [([0.8], "at least two scores"), ([0.8, np.nan], "NaN")]
)
def test_corrected_t_refuses_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        corrected_t(scores, n_train=90, n_test=10)


def cross_validated(model, data, **options):
    return cross_validate(model, *data, return_indices=True, **{"cv": 10} | options)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def test_the_dict_of_cross_validate_tells_sizes_and_metrics(cancer):
    found = cross_validated(GaussianNB(), cancer, scoring=["accuracy", "roc_auc"])
    table = corrected_t(found)
    assert list(table) == ["accuracy", "roc_auc"]
    # 569 rows make nine folds of 57 rows and one of 56.
    share = np.mean([57 / 512] * 9 + [56 / 513])
    scores = found["test_accuracy"]
    error = scores.std(ddof=1) * np.sqrt(1 / 10 + share)
    assert_allclose(table["accuracy"].standard_error, error, rtol=1e-12)
    frame = table.to_frame()
    assert list(frame["metric"]) == list(table)
    assert_allclose(frame["estimate"], [scores.mean(), found["test_roc_auc"].mean()])
    assert str(table).splitlines()[0].split() == [
        "metric",
        "estimate",
        "95%",
        "CI",
        "(t)",
        "standard",
        "error",
    ]
    # Of equal folds the sizes are those of any.
    sizes = {"n_train": 90, "n_test": 10}
    equal = cross_validated(GaussianNB(), [own[:100] for own in cancer])
    assert corrected_t(equal)["score"] == corrected_t(equal["test_score"], **sizes)


def test_two_dicts_make_differences_on_the_same_splits(cancer):
    first, second = (
        cross_validated(one, cancer) for one in (GaussianNB(), DecisionTreeClassifier())
    )
    found = corrected_t(first, second)["score"]
    assert_allclose(found.estimate, np.mean(first["test_score"] - second["test_score"]))
    others = cross_validated(GaussianNB(), cancer, cv=KFold(10, shuffle=True, random_state=0))
    with pytest.raises(ValueError, match="have the splits of 'scores_a'"):
        corrected_t(first, others)
    with pytest.raises(ValueError, match=r"have the metrics \['score'\]"):
        corrected_t(first, cross_validated(GaussianNB(), cancer, scoring=["accuracy"]))
    with pytest.raises(ValueError, match="be a dict, as 'scores_a' is"):
        corrected_t(first, second["test_score"])
    with pytest.raises(ValueError, match="be an array, as 'scores_a' is"):
        corrected_t(first["test_score"], second, n_train=512, n_test=57)


def test_distinct_training_rows_count_and_groups_where_they_are_given(cancer):
    cv = BootstrapSplit(5, random_state=0)
    found = cross_validated(GaussianNB(), cancer, cv=cv)
    with pytest.warns(UserWarning, match="less than nine tenths"):
        table = corrected_t(found)
    shares = [
        len(np.unique(test)) / len(np.unique(train))
        for train, test in zip(*found["indices"].values(), strict=True)
    ]
    scale = np.sqrt(1 / 5 + np.mean(shares))
    assert_allclose(table["score"].standard_error, found["test_score"].std(ddof=1) * scale)
    sizes = np.repeat(np.arange(60), np.arange(60) % 9 + 5)[:569]
    groups = np.concatenate((sizes, np.full(569 - len(sizes), 60)))
    of_groups = cross_validated(GaussianNB(), cancer, cv=GroupKFold(12), groups=groups)
    shares = [
        len(np.unique(groups[test])) / len(np.unique(groups[train]))
        for train, test in zip(*of_groups["indices"].values(), strict=True)
    ]
    found = corrected_t(of_groups, groups=groups)["score"]
    scale = np.sqrt(1 / 12 + np.mean(shares))
    assert_allclose(found.standard_error, of_groups["test_score"].std(ddof=1) * scale)
    with pytest.raises(ValueError, match="have a group for each of 569 rows"):
        corrected_t(of_groups, groups=groups[:100])


def test_a_dict_without_indices_is_told_what_to_add(cancer):
    bare = cross_validate(GaussianNB(), *cancer, cv=10)
    with pytest.raises(ValueError, match="return_indices=True"):
        corrected_t(bare)
    with pytest.raises(ValueError, match=r"'n_train' .* None.*return_indices=True"):
        corrected_t(bare["test_score"])
    with pytest.raises(ValueError, match="be None, as 'n_test', with a dict"):
        corrected_t(cross_validated(GaussianNB(), cancer), n_train=512, n_test=57)
    with pytest.raises(ValueError, match="hold scores, as 'test_score'"):
        corrected_t({"indices": {"train": [[0]], "test": [[1]]}})
    with pytest.raises(ValueError, match="be None with scores without indices"):
        corrected_t(bare["test_score"], n_train=512, n_test=57, groups=[1])


# ------------------------------------------------------------------ out_of_fold of models


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=1)])
def test_models_of_a_cross_validation_answer_for_their_folds(cancer, cv, method):
    found = cross_validated(GaussianNB(), cancer, cv=cv, return_estimator=True)
    known = cross_val_predict(GaussianNB(), *cancer, cv=cv, method=method)
    np.testing.assert_array_equal(out_of_fold(found, cancer[0], method=method), known)


def test_a_cross_validation_without_models_or_with_others_is_refused(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="return_estimator=True and return_indices=True"):
        out_of_fold(cross_validated(GaussianNB(), cancer), X)
    models = {"return_estimator": True}
    with pytest.raises(ValueError, match="hold the indices"):
        out_of_fold(cross_validate(GaussianNB(), X, y, **models), X)
    repeated = cross_validated(GaussianNB(), cancer, cv=RepeatedKFold(n_repeats=2), **models)
    with pytest.raises(ValueError, match="test each row once"):
        out_of_fold(repeated, X)
    once = cross_validated(GaussianNB(), cancer, **models)
    with pytest.raises(ValueError, match=rf"'X'.*be the {len(X)} rows that the folds.*Got 10"):
        out_of_fold(once, X[:10])
    found = cross_validated(GaussianNB(), cancer, **models)
    with pytest.raises(ValueError, match="be one that GaussianNB has"):
        out_of_fold(found, X, method="decision_function")
    with pytest.raises(ValueError, match=r"'method' .* be one of"):
        out_of_fold(found, X, method="transform")
    in_order = cross_validated(
        GaussianNB(), (X[:60], np.repeat([0, 1, 2], 20)), cv=KFold(3), **models
    )
    with pytest.raises(ValueError, match="models that know the same classes"):
        out_of_fold(in_order, X[:60], method="predict_proba")
