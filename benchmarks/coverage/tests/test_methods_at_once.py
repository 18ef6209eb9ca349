"""Learners of the studies of methods are scikit-learn's; their intervals are BootstrapScorer's."""

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor
from training_jobs import drawn

from benchmarks.coverage.methods import designs, parts
from benchmarks.coverage.studies import narrower
from skboot import BootstrapScorer

SLOPED, LINEAR = designs.sloped(5), designs.linear(6)
TIGHT = {"tol": 1e-10, "max_iter": 1000}
SCORERS = {
    "error": "accuracy",
    "error of means": "accuracy",
    "error of classes": "accuracy",
    "Brier score": "neg_brier_score",
    "log loss of classes": "neg_log_loss",
    "mean squared error": "neg_mean_squared_error",
    "1 - R2": "r2",
    "1 - AUC": "roc_auc",
    "1 - AP": "average_precision",
    "balanced error": "balanced_accuracy",
}
# Cells of the study, one for each way in which a metric is computed.
CELLS = [
    "logistic, n 80, Brier score",
    "linear discriminant, n 90, 100 samples, 10 repeats",
    "naive Bayes, 4 classes, n 120",
    "naive Bayes, 4 classes, n 160, log loss",
    "kernel smoother, n 100, error",
    "ridge, p 10, n 70, 1 - R2",
    "linear discriminant, 10 % positives, n 240, AUC, 100 samples",
    "linear discriminant, 30 % positives, n 90, balanced error",
    "ridge, 22 groups of 1 to 12",
    "centroids, 40 groups of 1 to 5",
    "logistic, 5 % positives, n 300, average precision",
    "linear discriminant, 30 groups of 4, AUC",
]


@pytest.mark.parametrize(
    ("learner", "draw", "model", "method"),
    [
        (designs.ridge(), LINEAR, LinearRegression(), "predict"),
        (designs.ridge(2.0), LINEAR, Ridge(2.0), "predict"),
        # The default solver of scikit-learn 1.6 scales the covariance in another way.
        (
            designs.discriminant,
            SLOPED,
            LinearDiscriminantAnalysis(solver="lsqr"),
            "decision_function",
        ),
        (
            designs.newton(designs.logit_link, 1.0),
            SLOPED,
            LogisticRegression(**TIGHT),
            "decision_function",
        ),
        (designs.neighbours(5), SLOPED, KNeighborsRegressor(5), "predict"),
        (designs.bayes(2, floor=0), SLOPED, GaussianNB(var_smoothing=0), "predict_log_proba"),
        (designs.stump, LINEAR, DecisionTreeRegressor(max_depth=1), "predict"),
        (
            designs.selected(2, designs.ridge()),
            LINEAR,
            make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()),
            "predict",
        ),
    ],
)
def test_learners_are_scikit_learns_on_repeated_rows(learner, draw, model, method):
    rng = np.random.default_rng(0)
    X, y, _ = draw(rng, 60)
    counts = rng.multinomial(60, np.full(60, 1 / 60), size=3)
    rows, fresh = np.repeat(np.arange(60), counts[1]), rng.normal(size=(20, X.shape[1]))
    expected = getattr(model.fit(X[rows], y[rows]), method)(fresh)
    np.testing.assert_allclose(learner(X, y, counts, fresh)[1], expected, atol=1e-6)


def test_labels_of_class_means_are_scikit_learns():
    rng = np.random.default_rng(1)
    X, y, _ = SLOPED(rng, 60)
    found = designs.centroids(X, y, np.ones((1, 60)), X)[0] > 0
    np.testing.assert_array_equal(found, NearestCentroid().fit(X, y).predict(X))


def test_a_quadratic_discriminant_ranks_as_that_of_regularised_covariances():
    rng = np.random.default_rng(2)
    X, y, _ = SLOPED(rng, 80)
    sides = [
        stats.multivariate_normal(own.mean(axis=0), np.cov(own.T, ddof=0) + 0.05 * np.eye(5))
        for own in (X[y == 0], X[y == 1])
    ]
    expected = sides[1].logpdf(X) - sides[0].logpdf(X) + np.log(np.sum(y == 1) / np.sum(y == 0))
    found = designs.quadratic(X, y, np.ones((1, 80)), X)[0]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert QuadraticDiscriminantAnalysis().fit(X, y).score(X, y) == pytest.approx(
        np.mean((found > 0) == y), abs=0.05
    )


def test_poisson_regression_is_scikit_learns():
    rng = np.random.default_rng(3)
    X, y, _ = designs.counted(3)(rng, 80)
    # scikit-learn penalises the mean deviance: its alpha is the penalty over the rows.
    model = PoissonRegressor(alpha=1.0 / 80, **TIGHT).fit(X, y)
    found = designs.newton(designs.log_link, 1.0)(X, y, np.ones((1, 80)), X)[0]
    np.testing.assert_allclose(np.exp(found), model.predict(X), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:BootstrapScorer:UserWarning")
@pytest.mark.parametrize("cell", CELLS)
def test_the_intervals_of_a_cell_are_those_of_bootstrap_scorer(cell):
    design = narrower.CELLS[cell]._replace(n_resamples=70, n_repeats=2)
    X, y, groups = design.draw(np.random.default_rng(4), design.size)
    samples = drawn(
        len(y),
        unit=groups,
        codes=y if y.dtype.kind == "i" else None,
        n_resamples=70,
        n_repeats=2,
        seed=np.random.SeedSequence(5),
    )
    own = parts.bootstrap(parts.parts_of(design, X, y, groups, samples))
    learner = design.learner
    if design.metric == "error of means":
        learner = lambda *given: design.learner(*given) - 0.5  # noqa: E731
    kind = designs.Classifier if y.dtype.kind == "i" else designs.Regressor
    scorer = BootstrapScorer(
        kind(learner),
        scoring=SCORERS[design.metric],
        n_train_resamples=70,
        n_cv_repeats=2,
        refit=False,
        random_state=5,
    ).fit(X, y, groups=groups)
    for name in ("cv-bootstrap", "cv-bootstrap-conservative"):
        scores = np.sort(np.array(scorer.result_.interval(name)[:2]))
        errors = np.sort(np.array(own.interval(0.95, name)[:2]))
        # Scores are one less the error, or minus it.
        shift = 1.0 if scores.min() > 0 or design.metric == "1 - R2" else 0.0
        np.testing.assert_allclose(np.sort(shift - scores), errors, rtol=1e-9)


def test_fold_by_fold_samples_are_dealt_as_the_library_deals_them():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], [40, 20])
    design = designs.Design(None, None, 60, "error", n_resamples=7, n_repeats=3)
    samples = parts.samples_of(design, y, None, rng)
    assert samples.counts.shape == (7, 60)
    assert (samples.counts.sum(axis=1) == 60).all()
    for fold in samples.folds:
        np.testing.assert_array_equal(np.bincount(fold), np.full(10, 6))
        np.testing.assert_array_equal(np.bincount(fold[y == 1]), np.full(10, 2))


def test_customary_intervals_are_those_of_scipy_and_numpy():
    design = narrower.CELLS["9-NN, n 90"]
    rng = np.random.default_rng(7)
    X, y, groups = design.draw(rng, design.size)
    made = parts.parts_of(design, X, y, groups, parts.samples_of(design, y, groups, rng))
    found = parts.customary(made)
    for name, errors in (("folds", made.fold_errors[0]), ("repeated folds", made.fold_errors)):
        expected = stats.ttest_1samp(np.ravel(errors), 0).confidence_interval(0.95)
        np.testing.assert_allclose(found[f"t over {name}"], expected)
    expected = np.percentile(made.scores, [2.5, 97.5])
    np.testing.assert_allclose(found["percentiles, out-of-bag"], expected)
