"""What a fit says follows from its parts: from the models that it trained, and from each other."""

import numpy as np
import pytest
from identity_cases import close, quiet
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot

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
