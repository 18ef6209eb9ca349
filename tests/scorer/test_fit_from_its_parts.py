"""What a fit says follows from its parts: from the models that it trained, and from each other."""

import numpy as np
import pytest
from identity_cases import close, quiet
from scipy import optimize, sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot.metrics import interval_scorer
from skboot.model_selection import out_of_fold

pytestmark = pytest.mark.identity

TRAINED = []


class Recorded(LinearRegression):
    """A regression that keeps what every model was trained on."""

    def fit(self, X, y):
        TRAINED.append((np.array(X), np.array(y)))
        return super().fit(X, y)


@pytest.fixture(scope="module")
def regression():
    X, y = make_regression(40, 3, noise=30.0, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(80, 4, flip_y=0.2, random_state=1)
    return X, y


def fitted(estimator, X, y, **options):
    options = {"n_train_resamples": 12, "strategy": "oob", "random_state": 0, **options}
    groups = options.pop("groups", None)
    return quiet(skboot.BootstrapScorer(estimator, **options).fit, X, y, groups=groups)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_out_of_bag_score_is_that_of_each_row_by_the_models_without_it(regression, grouped):
    """Efron's Err(1): the mean over rows of the mean over the models that did not see them."""
    X, y = regression
    groups = np.arange(40) // 3 if grouped else None
    TRAINED.clear()
    scoring = "neg_mean_absolute_error"
    found = fitted(Recorded(), X, y, scoring=scoring, groups=groups, n_train_resamples=30)
    samples = [(own, of) for own, of in TRAINED if len(np.unique(own[:, 0])) < 40]
    assert len(samples) == 30
    errors, seen_in = [], []
    for own, of in samples:
        model = LinearRegression().fit(own, of)
        seen = np.isin(X[:, 0], own[:, 0])
        seen_in.append(seen)
        errors.append(np.where(seen, np.nan, np.abs(model.predict(X) - y)))
        if grouped:
            counts = np.array([np.sum(own[:, 0] == row[0]) for row in X])
            assert all(len(set(counts[groups == g])) == 1 for g in range(14))
        else:
            assert len(own) == 40
    by_row = np.nanmean(errors, axis=0)
    close(found.oob_score_, -np.nanmean(by_row))
    whole = LinearRegression().fit(X, y)
    close(found.resubstitution_score_, -np.mean(np.abs(whole.predict(X) - y)))
    assert 0.5 < np.mean(seen_in) < 0.75


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc", "f1"])
def test_the_632_estimates_follow_from_resubstitution_and_out_of_bag_scores(classes, scoring):
    X, y = classes
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    by_strategy = {s: fitted(tree, X, y, scoring=scoring, strategy=s)
                   for s in ("oob", ".632", ".632+")}  # fmt: skip
    one = by_strategy["oob"]
    resubstitution = get_scorer(scoring)(clone(tree).fit(X, y), X, y)
    close(one.resubstitution_score_, resubstitution)
    oob, chance = one.oob_score_, one.no_information_score_
    point = 0.368 * resubstitution + 0.632 * oob
    close(one.point632_score_, point, 1e-3)
    close(by_strategy[".632"].score_, one.point632_score_)
    rate, weight = one.relative_overfitting_rate_, one.weight_
    if chance < oob < resubstitution:
        close(rate, (resubstitution - oob) / (resubstitution - chance), 1e-9)
    close(weight, 0.632 / (1 - 0.368 * rate), 1e-3)
    within = oob if oob >= chance else chance
    close(one.point632_plus_score_, (1 - weight) * resubstitution + weight * within, 1e-3)
    close(by_strategy[".632+"].score_, one.point632_plus_score_)
    close(one.score_, oob)
    for other in by_strategy.values():
        close([other.oob_score_, other.weight_], [oob, weight])
        low, high = other.confidence_interval_
        assert low < other.score_ < high


@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
def test_a_method_beside_itself_differs_by_nothing_and_a_metric_in_a_list_is_itself(
    classes, strategy
):
    X, y = classes
    options = {"n_train_resamples": 6, "n_cv_repeats": 1, "random_state": 0, "strategy": strategy}
    methods = {"line": GaussianNB(), "same": GaussianNB()}
    [pair] = quiet(skboot.compare_methods, methods, X, y, **options).pairs
    assert pair.difference == 0
    assert pair.p_value == 1
    scores = [
        quiet(skboot.BootstrapScorer(GaussianNB(), scoring=s, **options).fit, X, y)
        for s in ("neg_brier_score", "neg_log_loss", "accuracy")
    ]
    listed = quiet(
        skboot.BootstrapScorer(
            GaussianNB(), scoring=["neg_brier_score", "neg_log_loss", "accuracy"], **options
        ).fit,
        X,
        y,
    )
    for name, alone in zip(listed.score_, scores, strict=True):
        close(listed.score_[name], alone.score_)
        close(listed.standard_error_[name], alone.standard_error_)
        close([*listed.confidence_interval_[name]], [*alone.confidence_interval_])


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_without_information_precision_is_the_share_of_positives_and_recall_that_of_answers(share):
    """Truth and answers of the model of all rows are paired at random, each with each."""
    X, y = make_classification(90, 4, flip_y=0.3, weights=[1 - share], random_state=2)
    model = GaussianNB()
    said = clone(model).fit(X, y).predict(X)
    p, q = np.mean(y == 1), np.mean(said == 1)
    expected = {
        "precision": p,
        "recall": q,
        "f1": 2 * p * q / (p + q),
        "accuracy": p * q + (1 - p) * (1 - q),
        "balanced_accuracy": 0.5,
        "jaccard": p * q / (p + q - p * q),
        "roc_auc": 0.5,
    }
    for scoring, value in expected.items():
        found = fitted(model, X, y, scoring=scoring)
        close(found.no_information_score_, value, 1e-6)


class Answers(DecisionTreeClassifier):
    """A tree that keeps what each model answers for the rows of a test set."""

    GIVEN = ()

    def predict(self, X):
        answer = super().predict(X)
        if len(X) == 90:
            Answers.GIVEN = (*Answers.GIVEN, answer)
        return answer


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_a_fit_with_a_test_set_is_the_runs_that_it_made(n_seeds):
    X, y = make_classification(150, 4, flip_y=0.2, random_state=2)
    Answers.GIVEN = ()
    options = {"n_train_resamples": 6, "n_seeds": n_seeds, "random_state": 0, "scoring": "accuracy"}
    scorer = skboot.BootstrapScorer(Answers(max_features=1), n_test_resamples=99, **options)
    quiet(scorer.fit, X[:60], y[:60], X_test=X[60:], y_test=y[60:])
    runs = np.array(Answers.GIVEN)
    samples = runs[1 : 1 + 6 * n_seeds]
    found = quiet(
        skboot.bootstrap_runs,
        y[60:],
        samples,
        metric="accuracy",
        varied="training" if n_seeds == 1 else "both",
        training=None if n_seeds == 1 else np.repeat(np.arange(6), n_seeds),
        full_runs=np.concatenate([runs[:1], runs[1 + 6 * n_seeds :]]),
        n_resamples=99,
        random_state=0,
    )
    close(scorer.score_, found.estimate)
    close(scorer.standard_error_, found.standard_error, 1e-6)
    parts = scorer.result_.variance_components
    for part, value in found.variance_components.items():
        close(parts[part], value, 1e-7, 1e-12)


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_p_values_of_methods_are_of_the_t_law_of_their_intervals(classes, level):
    X, y = classes
    methods = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    options = {"n_train_resamples": 12, "n_cv_repeats": 2, "random_state": 0, "scoring": "accuracy"}
    pair = quiet(
        skboot.compare_methods, methods, X[:40], y[:40], confidence_level=level, **options
    ).pairs[0]
    low, high = pair.confidence_interval
    quantile = (high - low) / 2 / pair.standard_error
    freedom = optimize.brentq(lambda df: stats.t.ppf(0.5 + level / 2, df) - quantile, 1, 1e6)
    statistic = abs(pair.difference) / pair.standard_error
    assert pair.p_value == pytest.approx(2 * stats.t.sf(statistic, freedom), rel=0.02)


@pytest.mark.parametrize("scoring", ["accuracy", "f1", "roc_auc"])
def test_a_method_that_is_better_on_every_sample_outperforms(classes, scoring):
    X, y = classes
    methods = {"bayes": GaussianNB(), "chance": DummyClassifier(strategy="uniform", random_state=0)}
    options = {"n_train_resamples": 12, "n_cv_repeats": 2, "random_state": 0, "scoring": scoring}
    for order in (methods, dict(reversed(methods.items()))):
        pair = quiet(skboot.compare_methods, order, X, y, **options).pairs[0]
        share = pair.outperformance.probability
        assert share == (1 if pair.difference > 0 else 0)


# ------------------------------------------------------------------ answers that are no numbers


class Spoilt(ClassifierMixin, BaseEstimator):
    """Answers as a good model does, but for the first row; on all rows only where ``on_all``."""

    def __init__(self, method="predict_proba", value=np.nan, on_all=True):
        self.method, self.value, self.on_all = method, value, on_all

    def fit(self, X, y):
        self.spoils_ = self.on_all or len(np.unique(X[:, 0])) < 80
        self.model_ = LogisticRegression().fit(X, np.asarray(y))
        self.classes_ = self.model_.classes_
        return self

    def _answer(self, method, X):
        answers = getattr(self.model_, method)(X).astype(float)
        if self.spoils_ and method == self.method:
            answers[0] = self.value
        return answers

    def predict(self, X):
        return self._answer("predict", X)

    def predict_proba(self, X):
        return self._answer("predict_proba", X)


class SpoiltDecisions(Spoilt):
    predict_proba = property()

    def decision_function(self, X):
        return self._answer("decision_function", X)


READ_BY = {
    "predict": ("accuracy", "f1_macro", "neg_mean_absolute_error", "neg_median_absolute_error"),
    "predict_proba": ("roc_auc", "average_precision", "neg_log_loss", "neg_equal_error_rate"),
    "decision_function": ("roc_auc", "average_precision"),
}
SPOILT = [(method, scoring) for method, of_method in READ_BY.items() for scoring in of_method]
VALUES = [(np.nan, np.inf, -np.inf)[k % 3] for k in range(len(SPOILT))]


@pytest.mark.parametrize(
    ("method", "scoring", "value"),
    [(*read, value) for read, value in zip(SPOILT, VALUES, strict=True)],
)
def test_answers_that_are_not_finite_have_no_score_whatever_reads_them(
    classes, method, scoring, value
):
    """As scikit-learn's metrics refuse them: an error on all rows, else runs that failed."""
    X, y = classes
    kind = SpoiltDecisions if method == "decision_function" else Spoilt
    model = kind(method, value)
    options = {"scoring": scoring, "n_train_resamples": 10, "random_state": 0}
    test = {"X_test": X[:40], "y_test": y[:40]}
    said = f"{method} returns NaN, infinity or None"
    for call in (
        lambda: skboot.BootstrapScorer(model, **options).fit(X, y),
        lambda: skboot.BootstrapScorer(model, **options).fit(X, y, **test),
        lambda: skboot.compare_methods({"a": model, "b": GaussianNB()}, X, y, **options),
        lambda: skboot.learning_curve(model, X, y, scoring=scoring, random_state=0),
    ):
        with pytest.raises(ValueError, match=said):
            quiet(call)
    scorer = interval_scorer(scoring)
    with pytest.raises(ValueError, match=said):
        scorer(clone(model).fit(X, y), X, y)
    with pytest.raises(ValueError, match=said):
        quiet(skboot.BootstrapScorer(kind(method, value, on_all=False), **options).fit, X, y)


def test_answers_of_another_number_than_the_rows_are_counted(regression):
    X, y = regression

    class Short(LinearRegression):
        def predict(self, X):
            return super().predict(X)[1:]

    with pytest.raises(ValueError, match=r"Short\.predict returns 39 answers for 40 rows"):
        skboot.BootstrapScorer(Short(), scoring="neg_median_absolute_error").fit(X, y)


class Contained(GaussianNB):
    """Answers in another container."""

    def __init__(self, container=np.asarray):
        super().__init__()
        self.container = container

    def predict(self, X):
        return self.container(super().predict(X)[:, None])

    def predict_proba(self, X):
        return self.container(super().predict_proba(X))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, np.ndarray.tolist])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc"])
def test_the_container_of_answers_is_of_no_matter(classes, container, scoring):
    X, y = classes
    options = {"scoring": scoring, "n_train_resamples": 10, "random_state": 0}
    for test in ({}, {"X_test": X[:40], "y_test": y[:40]}):
        plain, contained = (
            quiet(skboot.BootstrapScorer(model, **options).fit, X, y, **test).result_
            for model in (GaussianNB(), Contained(container))
        )
        assert plain.estimate == contained.estimate
        assert plain.confidence_interval == contained.confidence_interval


def test_answers_out_of_fold_are_finite_and_dense(classes):
    X, y = classes
    models = cross_validate(
        Contained(sparse.csr_matrix),
        X,
        y,
        cv=4,
        scoring=lambda *_: 0.0,
        return_estimator=True,
        return_indices=True,
    )
    assert out_of_fold(models, X).shape == (80, 1)
    models["estimator"] = tuple(Spoilt("predict", np.nan).fit(X, y) for _ in range(4))
    with pytest.raises(ValueError, match="finite numbers or labels on every row"):
        out_of_fold(models, X)
