"""BootstrapScorer: its numbers by other routes, what it accepts, and what it says."""

import tracemalloc
import warnings
from html import escape

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import EfficiencyWarning, FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    mean_squared_error,
    r2_score,
    roc_auc_score,
    top_k_accuracy_score,
    zero_one_loss,
)
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from skboot import BootstrapScorer
from skboot.inference import prediction_error
from skboot.model_selection import copies_as_groups
from skboot.results import EvaluationResult

FEW = dict(n_train_resamples=60, n_cv_repeats=2, random_state=0)
STRATEGIES = ["cv-bootstrap", "oob", ".632", ".632+"]


@pytest.fixture(scope="module")
def two_classes():
    return make_classification(120, 5, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def regression():
    return make_regression(100, 4, noise=20.0, random_state=0)


class Samples(ClassifierMixin, BaseEstimator):
    """Notes which rows it was given; the first column of X numbers them."""

    seen = None

    def fit(self, X, y):
        Samples.seen.append(X[:, 0].astype(int))
        self.model_ = GaussianNB().fit(X[:, 1:], y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, 1:])


class Regressed(Samples):
    _estimator_type = "regressor"

    def fit(self, X, y):
        Samples.seen.append(X[:, 0].astype(int))
        self.model_ = Ridge().fit(X[:, 1:], y)
        return self

    def __sklearn_tags__(self):
        return Ridge().__sklearn_tags__()


def watched(estimator, X, y, **options):
    """A fitted scorer, and the rows of the bootstrap samples in the order of runs."""
    Samples.seen = []
    numbered = np.column_stack((np.arange(len(X)), X))
    scorer = BootstrapScorer(estimator, strategy="oob", **options).fit(numbered, y)
    return scorer, Samples.seen[1:]


# ------------------------------------------------------------------ numbers by other routes


def test_top_k_accuracy_is_a_mean_of_hits_on_the_same_samples():
    X, y = make_classification(
        120, 6, n_classes=4, n_informative=4, flip_y=0.2, class_sep=0.5, random_state=0
    )
    scorer, samples = watched(
        Samples(), X, y, n_train_resamples=60, random_state=0, scoring="top_k_accuracy"
    )

    def misses(model):
        worst_two = np.argsort(model.predict_proba(X), axis=1)[:, :2]
        return (worst_two == y[:, None]).any(axis=1)

    full = misses(GaussianNB().fit(X, y))
    expected = prediction_error(
        [misses(GaussianNB().fit(X[rows], y[rows])) for rows in samples],
        [np.bincount(rows, minlength=len(y)) for rows in samples],
        resubstitution_losses=full,
        no_information_rate=0.5,
    )
    assert scorer.oob_score_ == pytest.approx(1 - expected.oob, abs=1e-12)
    assert scorer.resubstitution_score_ == pytest.approx(1 - full.mean(), abs=1e-12)
    assert scorer.standard_error_ == pytest.approx(expected.standard_error, rel=1e-9)


def test_top_1_accuracy_of_decision_values_is_accuracy(two_classes):
    X, y = two_classes
    scoring = {
        "top": make_scorer(
            top_k_accuracy_score, k=1, response_method=("decision_function", "predict_proba")
        ),
        "right": "accuracy",
    }
    scorer = BootstrapScorer(LogisticRegression(), scoring=scoring, **FEW).fit(X, y)
    assert scorer.score_["top"] == scorer.score_["right"]
    assert scorer.confidence_interval_["top"][:2] == scorer.confidence_interval_["right"][:2]


def test_accuracy_equals_prediction_error_on_the_same_samples(two_classes):
    X, y = two_classes
    scorer, samples = watched(Samples(), X, y, n_train_resamples=60, random_state=0)
    models = [GaussianNB().fit(X[rows], y[rows]) for rows in samples]
    full = GaussianNB().fit(X, y).predict(X)
    expected = prediction_error(
        [model.predict(X) != y for model in models],
        [np.bincount(rows, minlength=len(y)) for rows in samples],
        resubstitution_losses=full != y,
        no_information_rate=np.mean(y[:, None] != full),
    )
    assert scorer.oob_score_ == pytest.approx(1 - expected.oob, abs=1e-12)
    assert scorer.resubstitution_score_ == pytest.approx(1 - expected.resubstitution, abs=1e-12)
    assert scorer.no_information_score_ == pytest.approx(
        1 - expected.no_information_rate, abs=1e-12
    )
    assert scorer.point632_plus_score_ == pytest.approx(1 - expected.point632_plus, abs=1e-12)
    assert scorer.standard_error_ == pytest.approx(expected.standard_error, abs=1e-12)
    low, high = expected.interval(point="oob")
    assert scorer.confidence_interval_[:2] == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_default_interval_equals_prediction_error_on_the_same_runs(two_classes, grouped):
    X, y = two_classes
    groups = np.arange(len(y)) // 3 if grouped else None
    Samples.seen = []
    numbered = np.column_stack((np.arange(len(X)), X))
    scorer = BootstrapScorer(Samples(), **FEW).fit(numbered, y, groups=groups)
    samples, folds = Samples.seen[1:61], Samples.seen[61:]
    assert len(folds) == 20

    def losses(rows):
        return GaussianNB().fit(X[rows], y[rows]).predict(X) != y

    out_of_fold = np.full((2, len(y)), np.nan)
    for k, rows in enumerate(folds):
        test = np.setdiff1d(np.arange(len(y)), rows)
        assert np.isnan(out_of_fold[k // 10, test]).all()
        out_of_fold[k // 10, test] = losses(rows)[test]
    full = GaussianNB().fit(X, y).predict(X)
    expected = prediction_error(
        [losses(rows) for rows in samples],
        [np.bincount(rows, minlength=len(y)) for rows in samples],
        resubstitution_losses=full != y,
        no_information_rate=np.mean(y[:, None] != full),
        groups=groups,
        cv_losses=out_of_fold,
    )
    low, high = expected.interval("cv-bootstrap")
    assert scorer.score_ == pytest.approx(1 - expected.cv.centre, abs=1e-12)
    assert scorer.confidence_interval_[:2] == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_scores_of_runs_are_scikit_learns_on_the_rows_left_out(two_classes):
    X, y = two_classes
    metrics = {
        "roc_auc": lambda m, X, y: roc_auc_score(y, m.predict_proba(X)[:, 1]),
        "f1": lambda m, X, y: f1_score(y, m.predict(X)),
        "neg_log_loss": lambda m, X, y: -log_loss(y, m.predict_proba(X)),
    }
    options = dict(n_train_resamples=60, random_state=0, scoring=list(metrics))
    scorer, samples = watched(Samples(), X, y, **options)
    for name, metric in metrics.items():
        expected = []
        for rows in samples:
            out = np.setdiff1d(np.arange(len(y)), rows)
            model = GaussianNB().fit(X[rows], y[rows])
            expected.append(metric(model, X[out], y[out]))
        found = scorer.result_[name].bootstrap_distribution
        np.testing.assert_allclose(found, expected, atol=1e-12)
    # A rank metric is the mean over samples.
    assert scorer.oob_score_["roc_auc"] == pytest.approx(
        scorer.result_["roc_auc"].bootstrap_distribution.mean(), abs=1e-12
    )


def test_r2_is_one_less_the_ratio_of_row_averaged_errors(regression):
    X, y = regression
    options = dict(n_train_resamples=60, random_state=0, scoring="r2")
    scorer, samples = watched(Regressed(), X, y, **options)
    total, times = np.zeros(len(y)), np.zeros(len(y))
    for rows in samples:
        out = np.setdiff1d(np.arange(len(y)), rows)
        model = Ridge().fit(X[rows], y[rows])
        total[out] += (y[out] - model.predict(X[out])) ** 2
        times[out] += 1
    expected = 1 - np.mean(total / times) / y.var()
    assert scorer.oob_score_ == pytest.approx(expected, abs=1e-10)
    predicted = Ridge().fit(X, y).predict(X)
    pairs = (y[:, None] - predicted[None]) ** 2
    assert scorer.no_information_score_ == pytest.approx(1 - pairs.mean() / y.var(), abs=1e-10)
    assert scorer.resubstitution_score_ == pytest.approx(r2_score(y, predicted), abs=1e-12)


def test_optimism_is_the_mean_gap_between_training_sample_and_all_rows(two_classes):
    X, y = two_classes
    Samples.seen = []
    numbered = np.column_stack((np.arange(len(X)), X))
    scorer = BootstrapScorer(
        Samples(),
        scoring=["accuracy", "roc_auc"],
        strategy="optimism",
        n_train_resamples=60,
        random_state=0,
    ).fit(numbered, y)
    for name, metric in (
        ("accuracy", lambda m, X, y: accuracy_score(y, m.predict(X))),
        ("roc_auc", lambda m, X, y: roc_auc_score(y, m.predict_proba(X)[:, 1])),
    ):
        gaps = []
        for rows in Samples.seen[1:]:
            model = GaussianNB().fit(X[rows], y[rows])
            gaps.append(metric(model, X[rows], y[rows]) - metric(model, X, y))
        full = metric(GaussianNB().fit(X, y), X, y)
        assert scorer.score_[name] == pytest.approx(full - np.mean(gaps), abs=1e-12)
        assert np.isnan(scorer.confidence_interval_[name].low)
        assert "another strategy" in " ".join(scorer.result_[name].summary().split())
        assert scorer.oob_score_[name] < 1


def test_one_nearest_neighbour_has_no_resubstitution_error_and_never_passes_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.repeat([0, 1], 50)
    scorer = BootstrapScorer(
        KNeighborsClassifier(1), strategy="oob", n_train_resamples=100, random_state=0
    ).fit(X, y)
    assert scorer.resubstitution_score_ == 1
    assert scorer.no_information_score_ == pytest.approx(0.5)
    assert scorer.point632_plus_score_ >= 0.5
    # Labels know nothing: within 4 standard errors of the no-information score.
    assert scorer.point632_plus_score_ - 0.5 < 4 * scorer.standard_error_


def test_the_direction_of_a_metric_changes_nothing(two_classes):
    X, y = two_classes
    scoring = {
        "accuracy": "accuracy",
        "negated": make_scorer(zero_one_loss, greater_is_better=False),
        "error": make_scorer(zero_one_loss),
    }
    for strategy in STRATEGIES:
        scorer = BootstrapScorer(
            KNeighborsClassifier(5), scoring=scoring, strategy=strategy, **FEW
        ).fit(X, y)
        low, high = scorer.confidence_interval_["accuracy"][:2]
        assert scorer.score_["negated"] == pytest.approx(scorer.score_["accuracy"] - 1, abs=1e-12)
        assert scorer.score_["error"] == pytest.approx(1 - scorer.score_["accuracy"], abs=1e-12)
        assert scorer.confidence_interval_["negated"][:2] == pytest.approx((low - 1, high - 1))
        assert scorer.confidence_interval_["error"][:2] == pytest.approx((1 - high, 1 - low))


def test_groups_of_single_rows_are_rows(two_classes):
    X, y = two_classes
    scoring = ["accuracy", "neg_log_loss", "f1"]
    rows, groups = (
        BootstrapScorer(GaussianNB(), scoring=scoring, strategy="oob", **FEW).fit(X, y, groups=g)
        for g in (None, np.arange(len(y)))
    )
    for name in scoring:
        assert rows.standard_error_[name] == pytest.approx(groups.standard_error_[name], rel=1e-9)


def test_seeds_of_a_random_guess_are_told_from_training_samples():
    X, y = np.zeros((200, 1)), np.tile([0, 1], 100)
    scorer = BootstrapScorer(
        DummyClassifier(strategy="uniform"), n_seeds=4, strategy="oob", **FEW
    ).fit(X, y)
    components = scorer.variance_components_
    # Guesses are made per row: all of the spread between seeds is interaction, .25 / 200.
    assert components["interaction"] == pytest.approx(0.25 / 200, rel=0.1)
    # Estimated with 180 degrees of freedom from a variance of .25 / 74: 3 standard errors.
    assert components["seed"] < 3 * 0.25 / 74 * np.sqrt(2 / 180)
    assert scorer.runs_["score"].shape == (4 + 240,)
    one = BootstrapScorer(GaussianNB(), strategy="oob", **FEW).fit(X + y[:, None], y)
    assert np.isnan(one.variance_components_["seed"])


# ------------------------------------------------------------------ what it accepts


def strings_and_numbers():
    rng = np.random.default_rng(0)
    city, x = rng.choice(["oslo", "rome"], 120), rng.normal(size=120)
    y = np.where(x + (city == "rome") + rng.normal(size=120) > 0.5, "yes", "no")
    return city, x, y


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_over_a_data_frame_with_strings(library):
    frames = pytest.importorskip(library)
    city, x, y = strings_and_numbers()
    frame = frames.DataFrame({"city": city.tolist(), "x": x})
    model = make_pipeline(
        ColumnTransformer(
            [("c", OneHotEncoder(sparse_output=False), ["city"]), ("x", StandardScaler(), ["x"])]
        ),
        GaussianNB(),
    )
    scorer = BootstrapScorer(model, scoring=["accuracy", "roc_auc"], **FEW).fit(frame, y)
    assert 0.5 < scorer.score_["accuracy"] < 0.9
    assert set(scorer.predict(frame)) == {"yes", "no"}
    assert scorer.feature_names_in_.tolist() == ["city", "x"]


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows(form, two_classes):
    X, y = two_classes
    found, dense = (
        BootstrapScorer(KNeighborsClassifier(3), strategy="oob", **FEW).fit(data, y).oob_score_
        for data in (form(X), X)
    )
    assert found == pytest.approx(dense)


def test_a_regressor(regression):
    X, y = regression
    scoring = ["r2", "neg_mean_squared_error", "neg_median_absolute_error"]
    scorer = BootstrapScorer(DecisionTreeRegressor(), scoring=scoring, **FEW).fit(X, y)
    for name in scoring:
        low, high = scorer.confidence_interval_[name][:2]
        assert low < scorer.score_[name] < high <= 1
    assert scorer.resubstitution_score_["r2"] == 1
    assert scorer.score(X, y)["neg_mean_squared_error"] == -mean_squared_error(y, scorer.predict(X))


def test_an_auc_of_three_classes():
    X, y = load_iris(return_X_y=True)
    scoring = ["roc_auc_ovr", "roc_auc_ovo"]
    scorer = BootstrapScorer(GaussianNB(), scoring=scoring, **FEW).fit(X, y)
    for name in scoring:
        assert 0.95 < scorer.confidence_interval_[name].low < scorer.score_[name] <= 1
        assert scorer.no_information_score_[name] == 0.5


def test_a_search_inside(two_classes):
    X, y = two_classes
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=3)
    options = {**FEW, "n_train_resamples": 50, "n_cv_repeats": 1}
    scorer = BootstrapScorer(search, **options).fit(X, y)
    assert scorer.estimator_.best_params_["n_neighbors"] in (1, 15)
    assert scorer.score(X, y) == scorer.resubstitution_score_


def test_a_dummy_scores_at_chance_with_an_interval(two_classes):
    X, y = two_classes
    scoring = ["accuracy", "balanced_accuracy", "roc_auc"]
    scorer = BootstrapScorer(DummyClassifier(), scoring=scoring, **FEW).fit(X, y)
    for name in ("balanced_accuracy", "roc_auc"):
        low, high = scorer.confidence_interval_[name][:2]
        assert scorer.score_[name] == pytest.approx(0.5)
        assert low < 0.5 < high


class FailsOnCopies(ClassifierMixin, BaseEstimator):
    """Refuses four or more copies of one row: 3 of 200 samples."""

    row = None

    def fit(self, X, y):
        if (X[:, 0] == self.row).sum() >= 4:
            raise RuntimeError("too many copies")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_runs_that_fail_are_counted_and_left_out():
    X, y = make_classification(100, random_state=0)
    options = dict(strategy="oob", n_train_resamples=50)
    for seed in range(20):
        scorer = BootstrapScorer(FailsOnCopies(), random_state=seed, **options)
        FailsOnCopies.row = X[seed, 0]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            scorer.fit(X, y)
        if scorer.runs_["failed"].sum() == 2:
            break
    [said] = [one for one in said if one.category is FitFailedWarning]
    assert "2 of 50 runs failed" in str(said.message)
    assert "2 x RuntimeError: too many copies" in str(said.message)
    assert scorer.result_.n_undefined == 2
    assert np.isfinite(scorer.score_)
    assert np.isnan(scorer.runs_["score"][scorer.runs_["failed"]]).all()
    with pytest.raises(RuntimeError, match="too many copies"):
        clone(scorer).set_params(error_score="raise").fit(X, y)


def test_if_all_runs_fail_the_first_error_is_told(two_classes):
    class OnlyOnce(GaussianNB):
        def fit(self, X, y):
            if len(np.unique(X[:, 0])) < len(X):
                raise RuntimeError("no copies")
            return super().fit(X, y)

    with pytest.raises(ValueError, match=r"All 60 runs failed.*no copies"):
        BootstrapScorer(OnlyOnce(), strategy="oob", **FEW).fit(*two_classes)


def test_fit_parameters_are_sliced_with_the_rows(two_classes):
    X, y = two_classes

    class Weighted(GaussianNB):
        def fit(self, X, y, sample_weight=None, label=None):
            np.testing.assert_array_equal(sample_weight, 1 + np.abs(X[:, 0]))
            assert label == "whole"
            return super().fit(X, y, sample_weight=sample_weight)

    options = {"sample_weight": 1 + np.abs(X[:, 0]), "label": "whole"}
    BootstrapScorer(Weighted(), error_score="raise", **FEW).fit(X, y, **options)


def test_a_callable_of_estimator_and_rows(two_classes):
    X, y = two_classes

    def share_right(estimator, X, y):
        return float(np.mean(estimator.predict(X) == y))

    scoring = {"callable": share_right, "accuracy": "accuracy"}
    scorer = BootstrapScorer(GaussianNB(), scoring=scoring, **FEW).fit(X, y)
    assert scorer.score_["callable"] == pytest.approx(scorer.score_["accuracy"], abs=1e-3)
    parts = [
        scorer.result_[name]._basis.error.prediction_error.cv for name in ("callable", "accuracy")
    ]
    by_callable, by_name = parts
    for name in ("variance_cv", "variance_training_robust", "covariance_training"):
        assert getattr(by_callable, name) == pytest.approx(getattr(by_name, name), rel=0.1)
    assert by_callable.standard_error == pytest.approx(by_name.standard_error, rel=0.1)
    assert "100 permutations" in scorer.result_["callable"].summary()


def test_without_targets_the_estimators_own_score_is_used(two_classes):
    X, _ = two_classes
    scorer = BootstrapScorer(GaussianMixture(1), strategy="oob", **FEW).fit(X)
    assert scorer.oob_score_ < scorer.resubstitution_score_
    assert np.isnan(scorer.no_information_score_)


def test_kernels_are_sliced_both_ways():
    X, y = load_iris(return_X_y=True)
    plain = BootstrapScorer(SVC(kernel="linear"), strategy="oob", **FEW).fit(X, y)
    kernel = BootstrapScorer(SVC(kernel="precomputed"), strategy="oob", **FEW).fit(X @ X.T, y)
    assert kernel.oob_score_ == pytest.approx(plain.oob_score_, abs=0.01)


@pytest.mark.parametrize("inner_cv", ["grouped", "as-is"])
def test_an_estimator_without_randomness_has_no_seed_component_and_it_is_said(
    two_classes, inner_cv
):
    scoring = ["accuracy", "neg_log_loss", "roc_auc"]
    options = dict(scoring=scoring, strategy="oob", n_seeds=2, inner_cv=inner_cv)
    scorer = BootstrapScorer(GaussianNB(), **options, **FEW).fit(*two_classes)
    tree = DecisionTreeClassifier(splitter="random")
    random = BootstrapScorer(tree, **options, **FEW).fit(*two_classes)
    for name in scoring:
        assert scorer.variance_components_[name]["seed"] == 0
        assert "The seed component is 0" in scorer.result_[name].summary()
        assert "The seed component is 0" not in random.result_[name].summary()


# ------------------------------------------------------------------ inner cross-validation


@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_copies_on_both_sides_of_a_search_make_it_choose_what_remembers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = ((X[:, 0] > 0) ^ (rng.random(200) < 0.3)).astype(int)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 31]}, cv=5)

    def remembers(estimator, X, y):
        return float(estimator.best_params_["n_neighbors"] == 1)

    share = {}
    for mode in ("as-is", "grouped"):
        scorer = BootstrapScorer(
            search,
            scoring=remembers,
            strategy="oob",
            inner_cv=mode,
            n_train_resamples=15,
            random_state=0,
        ).fit(X, y)
        share[mode] = np.mean(scorer.result_.bootstrap_distribution)
    assert share["as-is"] == 1
    assert share["grouped"] < 0.3


def test_one_warning_names_what_copies_leak_through(two_classes):
    from sklearn.linear_model import RidgeClassifierCV

    model = make_pipeline(StandardScaler(), RidgeClassifierCV())
    with pytest.warns(UserWarning, match=r"inner splits by ridgeclassifiercv__cv=None have copies"):
        BootstrapScorer(model, strategy="oob", **FEW).fit(*two_classes)
    BootstrapScorer(model, strategy="oob", inner_cv="as-is", **FEW).fit(*two_classes)


# ------------------------------------------------------------------ selection before and inside


def test_a_selecting_step_before_the_scorer_makes_noise_look_good():
    """Noise labels: inside, chance; before, the step has seen the rows left out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1000)), np.repeat([0, 1], 30)
    outside = make_pipeline(SelectKBest(k=10), BootstrapScorer(GaussianNB(), **FEW)).fit(X, y)[-1]
    inside = BootstrapScorer(make_pipeline(SelectKBest(k=10), GaussianNB()), **FEW).fit(X, y)
    assert outside.confidence_interval_.low > 0.6
    assert outside.score_ > 0.8
    assert inside.confidence_interval_.low < 0.5 < inside.confidence_interval_.high


# ------------------------------------------------------------------ the result


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_any_interval_comes_from_what_is_stored_also_in_a_file(strategy, two_classes, tmp_path):
    scorer = BootstrapScorer(GaussianNB(), strategy=strategy, **FEW).fit(*two_classes)
    result = scorer.result_
    names = ["adjusted", "hull", "t", "percentile"]
    names += ["cv-bootstrap", "cv-bootstrap-conservative"] if strategy == "cv-bootstrap" else []
    result.save(tmp_path / "result.npz")
    loaded = EvaluationResult.load(tmp_path / "result.npz")
    for name in names:
        own = clone(scorer).set_params(interval=name, confidence_level=0.9).fit(*two_classes)
        assert result.interval(name, 0.9) == own.confidence_interval_
        assert loaded.interval(name, 0.9) == own.confidence_interval_
    assert loaded == result
    if strategy != "cv-bootstrap":
        with pytest.raises(ValueError, match="needs the cross-validation fits"):
            result.interval("cv-bootstrap")
    with pytest.raises(ValueError, match="must be 'method'"):
        result.interval(estimand="system")


def test_the_claim_names_the_method_its_rows_and_the_interval(two_classes):
    scorer = BootstrapScorer(GaussianNB(), **FEW).fit(*two_classes)
    claim = scorer.result_.claim()
    assert "expected accuracy of the method when trained on 120 rows" in claim
    assert "95% CI" in claim
    assert "cv-bootstrap interval, 120 rows resampled" in claim
    assert "probability" not in claim
    assert "test row" not in scorer.result_.summary()


def test_the_summary_of_out_of_bag_says_what_a_sample_holds(two_classes):
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", **FEW).fit(*two_classes)
    assert "63.2%" in scorer.result_.summary()


def test_seeds_that_make_no_difference_change_no_interval(two_classes):
    one, two = (
        BootstrapScorer(GaussianNB(), n_seeds=n_seeds, **FEW).fit(*two_classes)
        for n_seeds in (1, 2)
    )
    np.testing.assert_allclose(two.confidence_interval_, one.confidence_interval_)


def test_the_noise_of_seeds_is_left_out_of_the_interval(two_classes):
    # One threshold at a random place of a random column.
    random = ExtraTreeClassifier(max_depth=1, max_features=1)
    scorer = BootstrapScorer(random, n_seeds=3, **FEW).fit(*two_classes)
    cv, found = scorer.result_._basis.error.prediction_error.cv, scorer.variance_components_
    # Runs of the same training sample differ by their seeds alone; those of two samples do too.
    by_sample = scorer.runs_["score"][scorer.runs_["sample"] == "bootstrap"].reshape(-1, 3)
    assert found["seed"] > 0.5 * by_sample.var(axis=1, ddof=1).mean()
    assert cv.variance_training < 0.3 * by_sample.mean(axis=1).var(ddof=1)
    assert found["training"] == cv.variance_training


def test_the_summary_says_what_more_bootstrap_samples_would_buy(two_classes):
    scorer = BootstrapScorer(GaussianNB(), **FEW).fit(*two_classes)
    now, later = scorer.result_._basis.error.prediction_error.cv.half_width_errors()
    assert 0.01 < later < now < 0.3
    text = f"Monte Carlo error {100 * now:.2g}% of half the width; with four times the bootstrap"
    summary = " ".join(scorer.result_.summary().split())
    assert f"{text} samples {100 * later:.2g}%" in summary
    oob = BootstrapScorer(GaussianNB(), strategy="oob", **FEW).fit(*two_classes)
    assert "half the width" not in oob.result_.summary()


def test_a_rate_without_a_value_says_why_and_speaks_of_no_test_rows():
    # The model of all rows calls none positive; some bootstrap samples make it call a few so.
    rng = np.random.default_rng(0)
    y = (np.arange(150) < 30).astype(int)
    X = rng.normal(size=(150, 3)) + 0.5 * y[:, None]
    scorer = BootstrapScorer(LogisticRegression(C=0.03), scoring="ppv", **FEW)
    with pytest.warns(UserWarning, match="undefined, as precision is without positive decisions"):
        scorer.fit(X, y)
    assert np.isfinite(scorer.oob_score_)
    claim = scorer.result_.claim()
    assert "is undefined on 150 rows" in claim
    assert "the metric was undefined, as precision is without positive decisions: the" in claim


def test_an_interval_that_a_strategy_lacks_is_not_blamed_on_another_note(regression):
    scorer = BootstrapScorer(
        Ridge(), scoring="neg_median_absolute_error", strategy="optimism", **FEW
    ).fit(*regression)
    summary, claim = (
        " ".join(text.split()) for text in (scorer.result_.summary(), scorer.result_.claim())
    )
    assert "use another strategy)." in claim
    assert summary.count("use another strategy") == 1
    assert summary.count("note The no-information score is the mean over 100 permutations") == 1


def test_a_perfect_score_has_an_interval():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    for strategy in STRATEGIES:
        scorer = BootstrapScorer(DecisionTreeClassifier(), strategy=strategy, **FEW).fit(X, y)
        low, high = scorer.confidence_interval_[:2]
        assert scorer.score_ == high == 1
        assert 0.85 < low < 0.97


@pytest.mark.parametrize(
    ("options", "rows", "sentence"),
    [
        (
            dict(n_train_resamples=20, interval="cv-bootstrap-conservative"),
            slice(None),
            "too few for the infinitesimal jackknife",
        ),
        (dict(strategy=".632+", estimator=KNeighborsClassifier(1)), slice(None), "optimistic"),
        ({}, np.r_[0:30, 60:90, 116:120], "smallest class has 4 rows"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*too few for a stable:UserWarning")
def test_it_warns_where_intervals_are_unreliable(options, rows, sentence):
    X, y = make_classification(120, flip_y=0, shuffle=False, random_state=0)
    options = {"estimator": GaussianNB(), **FEW, **options}
    with pytest.warns(UserWarning, match=sentence):
        BootstrapScorer(**options).fit(X[rows], y[rows])


@pytest.mark.parametrize(("n_groups", "few"), [(19, True), (20, False)])
def test_few_groups_are_warned_of(n_groups, few):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5 * n_groups, 2)), np.arange(5 * n_groups) % 2
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        BootstrapScorer(GaussianNB(), **FEW).fit(X, y, groups=np.arange(len(y)) % n_groups)
    expected = "Only 19 groups were resampled (fewer than 20): expect less coverage"
    assert (expected in " ".join(str(one.message) for one in said)) == few


def test_a_heavy_tailed_loss_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = rng.normal(size=80)
    y[3] = 100
    with pytest.warns(UserWarning, match="heavy-tailed"):
        BootstrapScorer(Ridge(), scoring="neg_mean_squared_error", **FEW).fit(X, y)


# ------------------------------------------------------------------ randomness


def test_an_int_gives_the_same_numbers_and_a_generator_others(two_classes):
    X, y = two_classes
    tree = DecisionTreeClassifier(max_features=1, random_state=0)

    def score(random_state):
        options = {**FEW, "random_state": random_state}
        return BootstrapScorer(tree, strategy="oob", **options).fit(X, y).score_

    assert score(3) == score(3) == score(np.random.SeedSequence(3))
    rng = np.random.default_rng(0)
    assert score(rng) != score(rng)


# ------------------------------------------------------------------ as an estimator


def test_predict_and_score_are_those_of_the_run_on_all_rows(two_classes):
    X, y = two_classes
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", **FEW).fit(X, y)
    model = GaussianNB().fit(X, y)
    np.testing.assert_array_equal(scorer.predict(X), model.predict(X))
    np.testing.assert_array_equal(scorer.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(scorer.predict_log_proba(X), model.predict_log_proba(X))
    assert scorer.score(X, y) == model.score(X, y)
    assert not hasattr(scorer, "decision_function")
    assert not hasattr(scorer, "transform")


def test_without_refit_no_estimator_is_kept(two_classes):
    X, y = two_classes
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", refit=False, **FEW).fit(X, y)
    assert not hasattr(scorer, "estimator_")
    with pytest.raises(AttributeError, match="refit=True"):
        scorer.predict(X)


@pytest.mark.filterwarnings("ignore:BootstrapScorer. up to 51 trainings for one fold")
def test_it_is_a_candidate_of_a_search(two_classes):
    inner = BootstrapScorer(
        LogisticRegression(), strategy="oob", n_train_resamples=50, random_state=0
    )
    search = GridSearchCV(inner, {"estimator__C": [1e-3, 1.0]}, cv=3).fit(*two_classes)
    assert search.best_params_["estimator__C"] in (1e-3, 1.0)


@pytest.mark.filterwarnings(
    "ignore:BootstrapScorer. (up to 51 trainings for one fold|The smallest class has 20 groups)"
)
def test_metadata_is_routed_to_the_estimator(two_classes):
    X, y = two_classes
    groups, weight = np.arange(120) // 2, np.ones(120)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False),
            {"var_smoothing": [1e-9]},
            cv=GroupKFold(2),
        )
        options = dict(strategy="oob", n_train_resamples=50, random_state=0)
        scorer = BootstrapScorer(search, error_score="raise", **options)
        scorer.fit(X, y, groups=groups, sample_weight=weight)
        assert scorer.result_.n_units == 60
        params = {"groups": groups, "sample_weight": weight}
        found = cross_validate(scorer, X, y, params=params, cv=GroupKFold(2), error_score="raise")
        assert np.isfinite(found["test_score"]).all()
        with pytest.raises(TypeError, match="unexpected argument"):
            scorer.fit(X, y, colour="red")


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(strategy="cv"), "strategy"),
        (dict(interval="bca"), "interval"),
        (dict(interval="cv-bootstrap", strategy="oob"), "'adjusted' or 'hull'"),
        (dict(interval="cv-bootstrap-conservative", strategy="oob"), "'adjusted' or 'hull'"),
        (dict(estimand="system"), "without one only 'method' is known"),
        (dict(estimand="pooled"), "for 'pooled', or interval='percentile'"),
        (dict(estimand="next_run"), "without one only 'method' is known"),
        (dict(confidence_level=95), "Use confidence_level=0.95"),
        (dict(n_train_resamples=1), "n_train_resamples"),
        (dict(n_seeds=0), "n_seeds"),
        (dict(inner_cv="none"), "inner_cv"),
        (dict(error_score="ignore"), "be a number or 'raise'"),
        (dict(memory="folder", random_state=None), "random_state=0"),
        (dict(scoring="acuracy"), "Did you mean 'accuracy'"),
        (dict(scoring=[]), "at least one scorer"),
        (
            dict(scoring=accuracy_score),
            "metric function accuracy_score. Give scoring=sklearn.metrics",
        ),
        (dict(scoring=3), "scoring name"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(options, message, two_classes):
    class Never(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("fitted")

    with pytest.raises(ValueError, match=message):
        BootstrapScorer(Never(), **options).fit(*two_classes)


def test_strata_of_groups_are_refused(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="stratify"):
        BootstrapScorer(GaussianNB(), stratify=True).fit(X, y, groups=np.arange(120) // 2)
    with pytest.raises(ValueError, match="two groups"):
        BootstrapScorer(GaussianNB()).fit(X, y, groups=np.zeros(120))


def test_progress_is_shown_on_stderr_only_when_asked(two_classes, capsys):
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", **FEW)
    scorer.fit(*two_classes)
    assert capsys.readouterr().err == ""
    scorer.set_params(verbose=1).fit(*two_classes)
    captured = capsys.readouterr()
    assert "60/60 runs" in captured.err
    assert captured.out == ""


# ------------------------------------------------------------------ what a scorer shows


def test_a_fitted_scorer_shows_its_scores_below_what_scikit_learn_shows():
    scorer = BootstrapScorer(GaussianNB(), n_train_resamples=100, n_cv_repeats=1, random_state=0)
    before = repr(scorer)
    assert before == BaseEstimator.__repr__(scorer)
    result = scorer.fit(*load_iris(return_X_y=True)).result_
    assert repr(scorer) == f"{before}\n{repr(result)[len('<EvaluationResult: ') : -1]}"
    bundle = scorer._repr_mimebundle_()
    assert bundle["text/plain"] == repr(scorer)
    for html in (bundle["text/html"], scorer._repr_html_()):
        assert "<style>" in html
        assert html.endswith(f"{escape(result.claim())}</p>")
    assert repr(clone(scorer)) == before
    assert "<p style" not in clone(scorer)._repr_html_()
    with sklearn.config_context(display="text"):
        assert set(scorer._repr_mimebundle_()) == {"text/plain"}


def test_a_scorer_of_several_metrics_shows_a_line_for_each():
    scorer = BootstrapScorer(
        GaussianNB(),
        scoring={"accuracy": "accuracy", "F": "f1_macro"},
        n_train_resamples=100,
        n_cv_repeats=1,
        random_state=0,
    ).fit(*load_iris(return_X_y=True))
    *_, first, second = repr(scorer).splitlines()
    assert first.startswith("accuracy 0.9")
    assert second.startswith("F")
    assert scorer._repr_html_().count("<p style") == 2


def test_lines_of_a_long_scorer_are_broken_as_those_of_any_estimator():
    logistic = LogisticRegression(C=0.123456789, tol=1e-07, max_iter=12345, solver="newton-cg")
    scorer = BootstrapScorer(logistic, n_train_resamples=123, n_test_resamples=4567, strategy="oob")
    for shown in (scorer, make_pipeline(StandardScaler(), scorer)):
        assert max(map(len, repr(shown).splitlines())) < 90


@pytest.mark.filterwarnings("ignore")
def test_runs_that_left_one_group_out_are_not_called_failed_alone():
    """The influence of a group needs two groups left out: of six groups some runs leave one."""
    X, y = make_classification(120, random_state=0)
    groups = np.arange(120) % 6
    scorer = BootstrapScorer(
        GaussianNB(), scoring="roc_auc", strategy="oob", n_train_resamples=50, random_state=0
    ).fit(X, y, groups=groups)
    assert not scorer.runs_["failed"].any()
    n_undefined = scorer.result_.n_undefined
    assert n_undefined > 0
    reason = "they failed, left out fewer than two groups, or have no score"
    assert f"{n_undefined} of 50 runs: {reason}" in " ".join(scorer.result_.summary().split())


# ------------------------------------------------------------------ copies of rows

COPIES = dict(n_train_resamples=10, strategy="oob", random_state=0)


@pytest.fixture
def copied():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return np.repeat(X, 4, axis=0), np.repeat(np.arange(60) % 2, 4)


def warned(scorer, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scorer.fit(*args, **kwargs)
    return [str(each.message) for each in caught if "copies" in str(each.message)]


def test_copies_of_rows_are_told_once_with_their_count_and_what_to_do(copied):
    X, y = copied
    [text] = warned(BootstrapScorer(GaussianNB(), **COPIES), X, y)
    assert text.startswith("BootstrapScorer: 180 of 240 rows of X are copies of others")
    assert "groups=skboot.model_selection.copies_as_groups(X, y)" in text
    assert len(text) < 200


def test_copies_in_groups_and_rows_of_other_targets_are_not_told_of(copied):
    X, y = copied
    assert not warned(BootstrapScorer(GaussianNB(), **COPIES), X, y, groups=copies_as_groups(X, y))
    regression = BootstrapScorer(Ridge(), **COPIES)
    assert not warned(regression, X, np.random.default_rng(1).normal(size=240))


def test_test_rows_that_were_trained_on_are_told_of_by_test_set(copied):
    X, y = copied[0][::4], copied[1][::4]
    other = np.random.default_rng(1).normal(size=(40, 3))
    mixed, targets = np.vstack([X[:20], other]), np.append(y[:20], np.arange(40) % 2)
    scorer = BootstrapScorer(GaussianNB(), n_train_resamples=10, random_state=0)
    [text] = warned(scorer, X, y, X_test=mixed, y_test=targets)
    assert text.startswith("BootstrapScorer: 20 of 60 rows of X_test are copies of rows of X")
    sets = {"own": X[:10].astype(object), "new": other, "both": mixed}
    tests = {"own": y[:10].astype(float), "new": np.arange(40) % 2, "both": targets}
    [text] = warned(scorer, X, y, X_test=sets, y_test=tests)
    assert "10 of 10 rows of X_test['own'], 20 of 60 rows of X_test['both'] are copies" in text
    assert not warned(scorer, X, y, X_test=other, y_test=np.arange(40) % 2)


def test_rows_that_are_copied_on_purpose_for_one_training_are_not_told_of(copied):
    X, y = copied
    tests = dict(X_test=np.random.default_rng(1).normal(size=(40, 3)), y_test=np.arange(40) % 2)
    fixed = BootstrapScorer(GaussianNB(), n_train_resamples=0, estimand="system", random_state=0)
    assert not warned(fixed, X, y, **tests)
    [text] = warned(
        BootstrapScorer(GaussianNB(), n_train_resamples=10, random_state=0), X, y, **tests
    )
    assert "180 of 240 rows of X" in text


# ------------------------------------------------------------------ memory


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 100))
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)


@pytest.mark.parametrize(
    ("scoring", "n_runs", "most"),
    [
        # A training sample is one copy of X; the answers of few runs take little beside it.
        ("accuracy", 8, 1.3),
        ("neg_log_loss", 8, 1.3),
        # The answers of 200 runs for all rows: a quarter of X as labels, twice X as losses.
        ("accuracy", 200, 2.0),
        ("neg_log_loss", 200, 5.5),
        ("roc_auc", 200, 4.8),
    ],
)
def test_trainings_take_one_copy_of_the_rows_and_what_is_kept_of_runs_little_more(
    wide, scoring, n_runs, most
):
    X, y = wide
    scorer = BootstrapScorer(
        DummyClassifier(), scoring=scoring, strategy="oob", n_train_resamples=n_runs, random_state=0
    )
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            scorer.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most * X.nbytes


@pytest.mark.parametrize("strategy", ["oob", "optimism"])
def test_equal_rows_of_a_group_have_the_same_spread_of_answers_wherever_they_are_read(strategy):
    """Of 20 runs some 13,000 rows are read at a time, and the second of each pair comes later."""
    rng, n = np.random.default_rng(0), 8000
    half = rng.normal(size=(n, 3))
    y = half[:, 0] + rng.normal(size=n)
    scorer = BootstrapScorer(Ridge(), strategy=strategy, n_train_resamples=20, random_state=0)
    pairs = np.tile(np.arange(n), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scorer.fit(np.vstack((half, half)), np.tile(y, 2), groups=pairs)
    for values in scorer.prediction_instability_.values():
        np.testing.assert_allclose(values[:n], values[n:], rtol=1e-9, atol=1e-12)
        assert len(np.unique(values)) > 10


def test_what_has_no_fit_is_refused_with_the_function_for_it(two_classes):
    X, y = two_classes
    text = (
        r"^The 'estimator' parameter of BootstrapScorer must be an estimator, with a fit "
        r"method. Got a {}. {}"
    )
    with pytest.raises(
        ValueError, match=text.format("ndarray", r".* to bootstrap_score\(y_true, ")
    ):
        BootstrapScorer(y).fit(X, y)
    with pytest.raises(ValueError, match=text.format("dict", ".*compare_methods")):
        BootstrapScorer({"A": GaussianNB(), "B": GaussianNB()}).fit(X, y)


def area_of_positives(estimator, X, y):
    return roc_auc_score(y, estimator.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (area_of_positives, "roc_auc"),
        (lambda estimator, X, y: estimator.score(X, y), "accuracy"),
        (lambda estimator, X, y: -log_loss(y, estimator.predict_proba(X)), "neg_log_loss"),
        (lambda estimator, X, y: roc_auc_score(y, estimator.predict_proba(X)[:, 1]) ** 2, None),
    ],
)
def test_a_slow_callable_that_is_a_named_scorer_is_told_its_name(scoring, name, monkeypatch):
    monkeypatch.setattr("skboot.refit.scoring._WORTH_A_NAME", 0.0)
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    scorer = BootstrapScorer(LogisticRegression(), scoring=scoring, **FEW_RUNS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scorer.fit(X, y)
    texts = [str(one.message) for one in caught if one.category is EfficiencyWarning]
    assert len(texts) == (name is not None)
    if name is not None:
        assert f"scoring={name!r} has the value of" in texts[0]


FEW_RUNS = {"strategy": "oob", "n_train_resamples": 20, "random_state": 0}
