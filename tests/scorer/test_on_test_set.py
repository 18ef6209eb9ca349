"""BootstrapScorer on a test set: which runs are made, and that `bootstrap_runs` judges them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import (
    make_classification,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skboot import BootstrapScorer, bootstrap_runs, bootstrap_score
from skboot.results import EvaluationResult, ResultTable

FEW = dict(n_train_resamples=10, n_seeds=2, n_test_resamples=199, random_state=0)
KEYS = {"training", "seed", "test", "interaction"}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(360, 5, flip_y=0.1, random_state=0)
    return (X[:120], y[:120]), dict(X_test=X[120:], y_test=y[120:])


class Watched(ClassifierMixin, BaseEstimator):
    """A tree that notes its training rows, its seed and its answers; X[:, 0] numbers the rows."""

    log = None

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.model_ = DecisionTreeClassifier(random_state=self.random_state).fit(X[:, 1:], y)
        self.classes_ = self.model_.classes_
        self.own_ = {"rows": X[:, 0].astype(int), "seed": self.random_state}
        Watched.log.append(self.own_)
        return self

    def predict(self, X):
        return self._noted("predict", X)

    def predict_proba(self, X):
        return self._noted("predict_proba", X)

    def _noted(self, method, X):
        assert method not in self.own_, "called twice"
        self.own_[method] = getattr(self.model_, method)(X[:, 1:])
        return self.own_[method]


def watched(data, groups=None, **options):
    (X, y), test = data
    Watched.log = []
    X = np.column_stack((np.arange(len(X)), X))
    X_test = np.column_stack((np.arange(len(test["X_test"])), test["X_test"]))
    scorer = BootstrapScorer(Watched(), **{**FEW, **options})
    scorer.fit(X, y, groups=groups, X_test=X_test, y_test=test["y_test"])
    # The first run, those on bootstrap samples, the other runs on the whole list.
    return scorer, Watched.log


def on_test(estimator, data, **options):
    (X, y), test = data
    return BootstrapScorer(estimator, **{**FEW, **options}).fit(X, y, **test)


# ------------------------------------------------------------------ runs and numbers


# A tree's probabilities of these rows are 0 and 1.
@pytest.mark.filterwarnings("ignore:bootstrap_runs. y_preds.* holds two distinct values")
def test_the_answers_of_every_run_go_to_bootstrap_runs(data):
    scorer, log = watched(data, scoring=["accuracy", "roc_auc"], n_seeds=3)
    y_test = data[1]["y_test"]
    full = [log[0], *log[31:]]
    for metric, method in (("accuracy", "predict"), ("roc_auc", "predict_proba")):
        answers = [run[method] if metric == "accuracy" else run[method][:, 1] for run in log[1:31]]
        whole = [run[method] if metric == "accuracy" else run[method][:, 1] for run in full]
        expected = bootstrap_runs(
            y_test,
            answers,
            metric=metric,
            varied="both",
            training=np.repeat(np.arange(10), 3),
            full_runs=whole,
            n_resamples=199,
            random_state=1,
        )
        result = scorer.result_[metric]
        assert result.estimate == expected.estimate
        if metric == "accuracy":  # exact: no resamples in it
            assert result.confidence_interval == expected.confidence_interval
            assert scorer.variance_components_[metric] == expected.variance_components
        else:
            assert result.standard_error == pytest.approx(expected.standard_error, rel=0.3)
    scores = [roc_auc_score(y_test, run["predict_proba"][:, 1]) for run in full]
    assert scorer.score_["roc_auc"] == pytest.approx(np.mean(scores))


def test_several_metrics_cost_no_extra_fits_and_methods_are_called_once(data):
    _, log = watched(
        data, scoring=["accuracy", "f1", "roc_auc", "neg_log_loss", "average_precision"]
    )
    assert len(log) == 2 * (1 + 10)
    assert all({"predict", "predict_proba"} <= set(run) for run in log)


def test_seeds_are_fresh_and_training_samples_shared_by_their_seeds(data):
    _, log = watched(data)
    assert len({run["seed"] for run in log}) == len(log)
    for first, second in zip(log[1:21:2], log[2:21:2], strict=True):
        np.testing.assert_array_equal(first["rows"], second["rows"])
    assert len({tuple(run["rows"]) for run in log[1:21]}) == 10
    for run in (log[0], log[21]):
        np.testing.assert_array_equal(run["rows"], np.arange(120))


def test_groups_of_the_training_set_are_drawn_whole(data):
    groups = np.arange(120) // 4
    _, log = watched(data, groups=groups)
    for run in log[1:21]:
        counts = np.bincount(run["rows"], minlength=120).reshape(-1, 4)
        assert (counts == counts[:, :1]).all()


def test_every_run_is_in_the_table_of_runs(data):
    scorer, log = watched(data)
    runs, y_test = scorer.runs_, data[1]["y_test"]
    order = [log[0], log[21], *log[1:21]]
    expected = [accuracy_score(y_test, run["predict"]) for run in order]
    assert runs["score"] == pytest.approx(expected)
    assert runs["sample"].tolist() == ["full"] * 2 + ["bootstrap"] * 20
    assert runs["training_sample"].tolist() == [0, 0, *np.repeat(np.arange(10), 2)]
    assert runs["seed"].tolist() == [0, 1] * 11
    assert not runs["failed"].any()
    assert (runs["fit_time"] > 0).all()


def test_the_system_is_the_estimator_that_is_kept(data):
    scorer = on_test(DecisionTreeClassifier(), data)
    X_test, y_test = data[1].values()
    alone = bootstrap_score(y_test, scorer.predict(X_test), random_state=0)
    assert scorer.result_.interval(estimand="system") == alone.confidence_interval
    asked = on_test(DecisionTreeClassifier(), data, estimand="system")
    assert asked.score_ == alone.estimate
    assert asked.confidence_interval_ == alone.confidence_interval
    assert set(asked.variance_components_) == KEYS


def test_other_estimands_are_answered_without_running_again(data, tmp_path):
    scorer, log = watched(data)
    n_runs = len(log)
    # A file has neither answers nor rows that could be resampled again.
    scorer.result_.save(tmp_path / "result.npz")
    alone = EvaluationResult.load(tmp_path / "result.npz")
    width = {}
    for estimand in ("method", "next_run", "pooled", "system"):
        low, high = alone.interval(estimand=estimand)
        assert alone.interval(estimand=estimand) == scorer.result_.interval(estimand=estimand)
        width[estimand] = high - low
    assert len(log) == n_runs
    assert width["next_run"] > width["method"] > 0
    asked, _ = watched(data, estimand="next_run")
    assert asked.confidence_interval_ == scorer.result_.interval(estimand="next_run")


def test_test_groups_are_drawn_together(data):
    (X, y), test = data
    groups = np.arange(240) // 4
    twins = dict(X_test=test["X_test"][groups * 4], y_test=test["y_test"][groups * 4])
    options = dict(FEW, scoring="accuracy")
    rows = BootstrapScorer(GaussianNB(), **options).fit(X, y, **twins)
    grouped = BootstrapScorer(GaussianNB(), **options).fit(X, y, **twins, groups_test=groups)
    assert grouped.standard_error_ > 1.2 * rows.standard_error_
    assert grouped.result_.n_units == 60


@pytest.mark.parametrize("estimator", [SVC(), DecisionTreeClassifier()])
def test_the_numbers_do_not_depend_on_workers_or_calls(estimator, data, monkeypatch):
    first = on_test(estimator, data, scoring="roc_auc")
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    again = on_test(estimator, data, scoring="roc_auc", n_jobs=2)
    assert first.confidence_interval_ == again.confidence_interval_


def test_a_regressor_on_a_test_set():
    X, y = make_regression(200, 4, noise=20.0, random_state=0)
    scorer = BootstrapScorer(Ridge(), **FEW)
    scorer.fit(X[:80], y[:80], X_test=X[80:], y_test=y[80:])
    assert scorer.score_ == pytest.approx(Ridge().fit(X[:80], y[:80]).score(X[80:], y[80:]))


def test_a_class_that_only_the_test_set_has_gets_probability_zero():
    X, y = make_classification(300, 5, n_informative=3, n_classes=3, random_state=0)
    train = np.flatnonzero(y[:150] < 2)
    scorer = BootstrapScorer(GaussianNB(), scoring=["accuracy", "neg_log_loss"], **FEW)
    scorer.fit(X[train], y[train], X_test=X[150:], y_test=y[150:])
    assert scorer.score_["accuracy"] < 0.75
    assert scorer.score_["neg_log_loss"] < -5


# ------------------------------------------------------------------ what is varied


def test_without_bootstrap_samples_only_seeds_vary_and_the_claim_says_so(data):
    scorer, log = watched(data, n_train_resamples=0, n_seeds=10)
    assert all(len(set(run["rows"])) == 120 for run in log)
    expected = bootstrap_runs(
        data[1]["y_test"], [run["predict"] for run in log], metric="accuracy", random_state=0
    )
    assert scorer.confidence_interval_ == expected.confidence_interval
    assert "when trained on this training set" in scorer.result_.claim()
    assert np.isnan(scorer.variance_components_["training"])


def test_one_run_offers_the_system_only(data):
    with pytest.raises(ValueError, match="estimand='system'"):
        on_test(GaussianNB(), data, n_train_resamples=0, n_seeds=1)
    scorer = on_test(GaussianNB(), data, n_train_resamples=0, n_seeds=1, estimand="system")
    assert scorer.result_.estimand == "system"
    assert all(np.isnan(part) for part in scorer.variance_components_.values())


def test_with_one_seed_the_training_component_includes_the_seeds(data):
    scorer = on_test(DecisionTreeClassifier(), data, n_seeds=1)
    assert set(scorer.variance_components_) == KEYS
    assert np.isnan(scorer.variance_components_["seed"])
    assert "The training component includes the seed variance" in " ".join(scorer.result_.notes)


# The log loss of one row, of which naive Bayes is wrongly sure, is a sixth of all.
@pytest.mark.filterwarnings("ignore:.*About:UserWarning")
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_an_estimator_without_randomness_has_no_seed_component_and_it_is_said(data, scoring):
    scorer = on_test(GaussianNB(), data, scoring=scoring)
    assert scorer.variance_components_["seed"] == 0
    assert "The seed component is 0" in scorer.result_.summary()


def test_intervals_by_name(data):
    over_seeds = on_test(DecisionTreeClassifier(), data, interval="t", n_seeds=4)
    scores = over_seeds.runs_["score"][:4]
    assert over_seeds.standard_error_ == pytest.approx(scores.std(ddof=1) / 2)
    pooled = on_test(DecisionTreeClassifier(), data, interval="percentile")
    assert pooled.result_.estimand == "pooled"
    assert pooled.confidence_interval_.method == "percentile"


def share_of_right_labels(y_true, probability):
    return np.mean((probability > 0.5) == y_true)


@pytest.mark.parametrize(
    "runs",
    [
        {},
        {"n_seeds": 1},
        {"n_train_resamples": 0, "n_seeds": 10},
        {"n_train_resamples": 0, "n_seeds": 1, "estimand": "system"},
    ],
)
def test_metrics_of_labels_and_of_probabilities_are_computed_on_the_same_test_resamples(data, runs):
    (X, y), test = data
    scoring = {
        "labels": "accuracy",
        "probabilities": make_scorer(share_of_right_labels, response_method="predict_proba"),
        "f1": "f1",
    }
    scorer = BootstrapScorer(GaussianNB(), scoring=scoring, **FEW | runs).fit(X, y, **test)
    assert list(scorer.result_) == list(scoring)
    of_labels, of_probabilities, _ = scorer.result_.values()
    assert of_labels.estimate == of_probabilities.estimate
    assert_allclose(
        of_labels.bootstrap_distribution,
        of_probabilities.bootstrap_distribution,
        rtol=0,
        atol=1e-12,
    )


# ------------------------------------------------------------------ test sets


def test_test_sets_of_a_dict_are_answered_by_the_same_runs(data):
    (X, y), test = data
    X_test, y_test = test.values()
    far = X_test + 1.0
    options = dict(FEW, scoring=["accuracy", "roc_auc"])
    scorer = BootstrapScorer(DecisionTreeClassifier(), **options)
    sets = dict(X_test={"matched": X_test, "far": far}, y_test={"matched": y_test, "far": y_test})
    scorer.fit(X, y, **sets)
    alone = BootstrapScorer(DecisionTreeClassifier(), **options).fit(X, y, **test)
    assert isinstance(scorer.result_, ResultTable)
    assert list(scorer.result_) == ["matched", "far"]
    assert scorer.confidence_interval_["matched"] == alone.confidence_interval_
    assert scorer.score_["far"]["accuracy"] < scorer.score_["matched"]["accuracy"]
    assert set(scorer.variance_components_["far"]["roc_auc"]) == KEYS
    single = BootstrapScorer(DecisionTreeClassifier(), **FEW).fit(X, y, **sets)
    assert single.score_["matched"] == alone.score_["accuracy"]
    assert "far" in single.result_.summary()


def test_a_warning_names_the_test_sets_that_it_is_about(data):
    (X, y), test = data
    X_test, y_test = test.values()
    scorer = BootstrapScorer(GaussianNB(), scoring="roc_auc", **FEW)

    def warned(large, small):
        rows = {"large": slice(large), "small": slice(small)}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scorer.fit(
                X,
                y,
                X_test={name: X_test[own] for name, own in rows.items()},
                y_test={name: y_test[own] for name, own in rows.items()},
            )
        return [str(one.message) for one in caught if "smaller class" in str(one.message)]

    (text,) = warned(240, 30)
    assert text.startswith(
        "BootstrapScorer: X_test['small']: The 14 rows of the smaller class decide"
    )
    (text,) = warned(30, 30)
    assert text.startswith("BootstrapScorer: The 14 rows of the smaller class decide")


def test_shared_groups_are_warned_of(data):
    (X, y), test = data
    scorer = BootstrapScorer(GaussianNB(), **FEW)
    with pytest.warns(UserWarning, match="shares 2 groups"):
        scorer.fit(X, y, groups=np.arange(120) // 4, **test, groups_test=28 + np.arange(240) // 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer.fit(X, y, groups=np.arange(120) // 4, **test, groups_test=100 + np.arange(240) // 4)


def test_a_test_set_of_one_axis_is_refused_by_name(data):
    (X, y), test = data
    with pytest.raises(ValueError, match=r"'X_test' parameter .* must have 2 axes"):
        BootstrapScorer(GaussianNB(), **FEW).fit(X, y, **test | {"X_test": test["X_test"][:, 0]})


def test_shared_groups_of_a_sparse_column_are_found(data):
    (X, y), test = data
    groups, groups_test = np.arange(120) // 4, np.arange(240) // 4
    scorer = BootstrapScorer(GaussianNB(), **FEW)
    with pytest.warns(UserWarning, match="shares 30 groups"):
        scorer.fit(X, y, groups=sparse.csc_array(groups[:, None]), groups_test=groups_test, **test)


@pytest.mark.filterwarnings("ignore:BootstrapScorer. About")
@pytest.mark.parametrize("dtype", ["Int64", "UInt64"])
def test_nullable_labels_that_floats_cannot_tell_apart_are_told_apart(data, dtype):
    # scikit-learn reads nullable columns as floats, in which 2**60 and 2**60 + 1 are one.
    pandas = pytest.importorskip("pandas")
    (X, y), test = data
    large = test | {"y_test": test["y_test"] + 2**60}
    scorer = BootstrapScorer(GaussianNB(), scoring=["accuracy", "neg_brier_score"], **FEW)
    alone = scorer.fit(X, y, **test).score_
    assert scorer.fit(X, pandas.Series(y + 2**60, dtype=dtype), **large).score_ == alone
    assert scorer.estimator_.classes_.tolist() == [2**60, 2**60 + 1]


@pytest.mark.filterwarnings("ignore:BootstrapScorer. 10 resamples are too few")
def test_numbers_of_runs_of_few_bits_do_not_overflow(data):
    (X, y), test = data
    counts = {name: value for name, value in FEW.items() if name.startswith("n_")}
    counts["n_test_resamples"] = 99
    small = {name: np.int8(value) for name, value in counts.items()}
    fits = [
        BootstrapScorer(GaussianNB(), random_state=0, n_cv_repeats=repeats, **own).fit(X, y, **rows)
        for rows in ({}, test)
        for own, repeats in ((counts, 1), (small, np.int8(1)))
    ]
    assert fits[0].confidence_interval_ == fits[1].confidence_interval_
    assert fits[2].confidence_interval_ == fits[3].confidence_interval_


# ------------------------------------------------------------------ failures, memory, refusals


class Fails(GaussianNB):
    """Fails where the first row of the sample is even."""

    def fit(self, X, y):
        self.failed_ = False
        if len(np.unique(X, axis=0)) < len(X) and X[0, 0] > 0:
            raise RuntimeError("no luck")
        return super().fit(X, y)


def test_runs_that_fail_are_left_out_and_counted(data):
    with pytest.warns(FitFailedWarning, match="no luck"):
        scorer = on_test(Fails(), data, n_train_resamples=30)
    failed = scorer.runs_["failed"]
    assert 0 < failed.sum() < 60
    assert np.isnan(scorer.runs_["score"][failed]).all()
    assert len(scorer.result_._basis.run_evidence.scores) == 60 - failed.sum()
    with pytest.raises(RuntimeError, match="no luck"):
        on_test(Fails(), data, n_train_resamples=30, error_score="raise")


def test_a_fit_goes_on_from_its_finished_runs(data, tmp_path):
    options = dict(scoring=["accuracy", "roc_auc"], memory=tmp_path)
    first, log = watched(data, **options)
    assert len(log) == 22
    files = sorted(tmp_path.glob("*/run-*.npz"))
    assert len(files) == 21
    for file in files[::4]:
        file.unlink()
    again, log = watched(data, **options)
    assert len(log) == 1 + len(files[::4])
    assert again.confidence_interval_ == first.confidence_interval_
    other = (data[0], dict(X_test=data[1]["X_test"][:200], y_test=data[1]["y_test"][:200]))
    _, log = watched(other, **options)
    assert len(log) == 22  # another test set: other runs


def test_a_fit_without_a_test_set_leaves_nothing_of_one_with_it(data):
    (X, y), test = data
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", n_train_resamples=60, random_state=0)
    scorer.fit(X, y)
    assert scorer.oob_score_ > 0.5
    scorer.fit(X, y, **test)
    assert not hasattr(scorer, "oob_score_")


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        (dict(estimand="mean"), {}, "estimand"),
        (dict(interval="hull"), {}, "interval"),
        (dict(interval="bca"), {}, "must be 'auto' or 'components' or 't'"),
        (dict(interval="t", n_seeds=1), {}, "several"),
        (dict(interval="components", estimand="system"), {}, "bootstrap_score's"),
        (dict(n_train_resamples=1), {}, "0 or at least 2"),
        (dict(n_seeds=0), {}, "n_seeds"),
        ({}, dict(y_test=None), "y_test"),
        ({}, dict(X_test=None), "X_test"),
        ({}, dict(y_test=[0, 1]), "as many rows"),
        ({}, dict(groups_test=[0, 1]), "as many rows"),
        ({}, dict(X_test={}, y_test={}), "at least one test set"),
        ({}, dict(X_test={"a": [[0.0]]}), "keys of X_test"),
        ({}, dict(y_test=np.repeat("yes", 240)), "kind that y holds"),
        (
            dict(scoring="roc_auc"),
            dict(y_test=np.ones(240, int)),
            "BootstrapScorer.fit must hold two",
        ),
        (dict(scoring=lambda model, X, y: 0.0), {}, "make_scorer"),
    ],
)
def test_what_cannot_be_right_is_refused_before_any_second_run(options, change, message, data):
    class Once(GaussianNB):
        n_fits = 0

        def fit(self, X, y):
            Once.n_fits += 1
            return super().fit(X, y)

    with pytest.raises(ValueError, match=message):
        on_test(Once(), (data[0], {**data[1], **change}), **options)
    assert Once.n_fits <= 1


def ratio(y_true, y_pred):
    return float(np.mean(y_pred / y_true)) if y_pred.min() > 0 else np.nan


class SometimesNegative(LinearRegression):
    """Its answers are all positive but in some of the runs on bootstrap samples."""

    def fit(self, X, y):
        super().fit(X, y)
        repeated = len(np.unique(X, axis=0)) < len(X)
        self.shift_ = -1e6 if repeated and self.coef_[0] > 1 else 0.0
        return self

    def predict(self, X):
        return super().predict(X) + self.shift_


def test_a_run_whose_score_is_undefined_on_the_test_set_is_left_out_and_counted():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, size=(90, 1))
    y = 1 + X[:, 0] + rng.normal(0, 0.05, size=90)
    data = (X[:40], y[:40]), dict(X_test=X[40:], y_test=y[40:])
    scoring = {"ratio": make_scorer(ratio), "r2": "r2"}
    options = dict(scoring=scoring, n_seeds=1, n_train_resamples=30)
    with pytest.warns(FitFailedWarning, match="The metric 'ratio' is undefined on the test set"):
        scorer = on_test(SometimesNegative(), data, **options)
    failed = scorer.runs_["failed"]
    assert 0 < failed.sum() < 30
    for result in scorer.result_.values():
        assert len(result._basis.run_evidence.scores) == 30 - failed.sum()
        assert np.isfinite(result.confidence_interval[:2]).all()
    with pytest.raises(ValueError, match="undefined on the test set"):
        on_test(SometimesNegative(), data, **options, error_score="raise")


def test_a_metric_that_the_model_of_all_rows_has_no_value_for_is_refused_at_once():
    class Negative(LinearRegression):
        n_fits = 0

        def fit(self, X, y):
            Negative.n_fits += 1
            return super().fit(X, y)

        def predict(self, X):
            return super().predict(X) - 1e6

    X, y = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    with pytest.raises(ValueError, match="undefined on the test set"):
        BootstrapScorer(Negative(), scoring=make_scorer(ratio)).fit(X, y, X_test=X, y_test=y)
    assert Negative.n_fits == 1


@pytest.mark.parametrize("labels", [(0, 1), (-128, 127), (0, 1000), (3, 2**40)])
def test_whole_numbers_as_labels_are_kept_in_bytes_where_they_fit(data, labels):
    (X, y), test = data
    y, y_test = (np.array(labels)[own] for own in (y, test["y_test"]))
    parameters = {"n_train_resamples": 10, "n_test_resamples": 99, "random_state": 0}
    scorers = [BootstrapScorer(DecisionTreeClassifier(), **parameters) for _ in range(2)]
    scorers[0].fit(X, y, X_test=test["X_test"], y_test=y_test)
    # Fractions are kept as they are.
    scorers[1].fit(X, y.astype(float), X_test=test["X_test"], y_test=y_test.astype(float))
    assert scorers[0].confidence_interval_ == scorers[1].confidence_interval_
    assert scorers[0].score_ == scorers[1].score_


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [([0, 1], np.int8), ([-128, 127], np.int8), ([0, 128], np.int64), ([0.5, 2.0], np.float64)],
)
def test_bytes_hold_the_same_numbers(data, tmp_path, labels, dtype):
    """Of the answers of a run for the test set, as `memory` keeps them."""
    (X, y), test = data
    y, y_test = (np.array(labels)[own] for own in (y, test["y_test"]))
    tree = DecisionTreeRegressor() if dtype == np.float64 else DecisionTreeClassifier()
    scoring = "neg_mean_absolute_error" if dtype == np.float64 else "accuracy"
    few = {"n_train_resamples": 10, "n_test_resamples": 99, "random_state": 0}
    scorer = BootstrapScorer(tree, scoring=scoring, memory=tmp_path, **few)
    scorer.fit(X, y, X_test=test["X_test"], y_test=y_test)
    paths = [*tmp_path.rglob("run-*.npz")]
    assert len(paths) == 10
    for path in paths:
        with np.load(path) as run:
            [kept] = [run[name] for name in run.files if run[name].shape == y_test.shape]
        assert kept.dtype == dtype
        assert set(kept.tolist()) == set(labels)


# ------------------------------------------------------------------ several outputs


def label_sets(n_rows=160):
    X, sets = make_multilabel_classification(
        n_rows, n_features=8, n_classes=3, n_labels=2, random_state=0
    )
    return X[:100], sets[:100], X[100:], sets[100:]


SEVERAL = {
    "lists of probabilities": (RandomForestClassifier(5, max_depth=3, random_state=0), "roc_auc"),
    "probabilities": (OneVsRestClassifier(LogisticRegression()), "average_precision"),
    "decisions": (OneVsRestClassifier(LinearSVC()), "roc_auc"),
    "labels": (DecisionTreeClassifier(max_depth=3, random_state=0), "f1_macro"),
    "sets": (DecisionTreeClassifier(max_depth=3, random_state=0), "accuracy"),
    "values": (Ridge(), "r2"),
}


@pytest.mark.parametrize("what", SEVERAL)
@pytest.mark.filterwarnings("ignore")
def test_runs_of_several_outputs_are_scored_as_by_the_scorer(what):
    estimator, scoring = SEVERAL[what]
    X, y, X_test, y_test = label_sets()
    if what == "values":
        y, y_test = X[:, :2] @ [[1, 2], [0, 1]], X_test[:, :2] @ [[1, 2], [0, 1]] + 1
    scorer = BootstrapScorer(
        estimator, scoring=scoring, n_train_resamples=4, n_test_resamples=99, random_state=0
    )
    scorer.fit(X, y, X_test=X_test, y_test=y_test)
    full = scorer.runs_["score"][scorer.runs_["sample"] == "full"]
    expected = get_scorer(scoring)(scorer.estimator_, X_test, y_test)
    assert full == pytest.approx([expected], rel=1e-12)
    assert not scorer.runs_["failed"].any()
    low, high = scorer.confidence_interval_
    assert low < high


def test_a_scoring_without_an_average_is_named_for_several_labels():
    X, y, X_test, y_test = label_sets()
    scorer = BootstrapScorer(DecisionTreeClassifier(), scoring="f1", n_train_resamples=4)
    with pytest.raises(ValueError, match=r"'scoring'.*name an average.*'f1_macro'"):
        scorer.fit(X, y, X_test=X_test, y_test=y_test)
