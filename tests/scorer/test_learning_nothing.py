"""A method that learns nothing is its frozen system, and one that was trained elsewhere the losses.

Exact: scores by every strategy, their errors, and the differences of two methods are those of the
frozen predictions; "cv-bootstrap" has the variance of samples, n / (n - 1) times that of
resamples. Its parts, of models that do learn, are those of a loop over models and rows.
"""

import numpy as np
import pytest
from identity_cases import Kept, any_seed, close, quiet, scored
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.tree import DecisionTreeRegressor

import skboot
from skboot import metrics as own
from skboot.inference import prediction_error

pytestmark = pytest.mark.identity

N = 80
OPTIONS = {"n_train_resamples": 30, "n_cv_repeats": 2, "random_state": 0}


class FixedClasses(ClassifierMixin, BaseEstimator):
    """Answers by a part of the columns, whatever it was trained on."""

    def __init__(self, first=0):
        self.first = first

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        logits = X[:, self.first : self.first + len(self.classes_)]
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class FixedValues(RegressorMixin, BaseEstimator):
    def __init__(self, first=0):
        self.first = first

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return X[:, self.first]


def rows_of(n_classes, seed=0, n=N):
    """Rows whose columns say something of the class, or of the value; for two methods."""
    rng = np.random.default_rng([seed, n_classes])
    y = rng.integers(0, max(n_classes, 2), n)
    y[:n_classes] = np.arange(n_classes)
    if not n_classes:
        y = rng.gamma(4.0, size=n)
        return y[:, None] * np.exp(0.3 * rng.normal(size=(n, 2))), y
    X = rng.normal(size=(n, 2 * n_classes)) + np.tile(np.eye(n_classes)[y], 2)
    return np.round(X, 2), np.array(["b", "a", "c"])[:n_classes][y]


OF_LABELS = ("accuracy", "balanced_accuracy", "matthews_corrcoef")
OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score")
CASES = {
    2: (*OF_LABELS, *OF_PROBABILITIES, "f1_macro", "precision_macro", "specificity", "f1"),
    3: (*OF_LABELS, "neg_log_loss", "f1_macro", "f1_weighted", "recall_macro", "top_k_accuracy"),
    0: ("r2", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_mean_gamma_deviance",
        "neg_root_mean_squared_error", "neg_mean_absolute_percentage_error"),
}  # fmt: skip
PAIRS = [(n, scoring) for n, those in CASES.items() for scoring in those]


def case_of(n_classes, scoring, seed=0):
    X, y = rows_of(n_classes, seed)
    if n_classes == 2 and scoring in ("f1", "specificity"):
        y = np.where(y == "a", 1, 0)
    made = FixedClasses if n_classes else FixedValues
    return X, y, made(), made(n_classes or 1)


def frozen(method, X, y, scoring):
    method.fit(X, y)
    wants = scoring in (*OF_PROBABILITIES, "top_k_accuracy", "roc_auc")
    answer = method.predict_proba(X) if wants else method.predict(X)
    return answer


def columns_of(design, n=N):
    return {"rows": {}, "groups": {"groups": np.arange(n) * 7 % n // 2}}[design]


@pytest.mark.parametrize(("n_classes", "scoring"), PAIRS)
@any_seed
def test_a_method_that_learns_nothing_has_the_score_and_error_of_its_answers(
    n_classes, scoring, seed
):
    design = ("rows", "groups")[(len(scoring) + n_classes + seed) % 2]
    X, y, method, _ = case_of(n_classes, scoring, seed)
    columns = columns_of(design)
    given = {"metric": scoring, "labels": np.unique(y)} if n_classes else {"metric": scoring}
    if scoring not in OF_PROBABILITIES and scoring != "top_k_accuracy":
        given.pop("labels", None)
    alone = scored(y, frozen(method, X, y, scoring), **given, **columns)
    error, n = alone._evidence.standard_error, alone.n_units
    assert error is not None
    for strategy in (("oob", ".632", ".632+")[len(scoring) % 3], "cv-bootstrap"):
        found = quiet(
            skboot.BootstrapScorer(method, scoring=scoring, strategy=strategy, **OPTIONS).fit,
            X, y, **columns,
        )  # fmt: skip
        shown = [found.score_, found.resubstitution_score_]
        # A metric that is no mean is that of few rows in each fold.
        close(shown, alone.estimate, 1e-9)
        factor = np.sqrt(n / (n - 1)) if strategy == "cv-bootstrap" else 1.0
        # The part of the training samples is not 0 but the noise of so many.
        rtol = 5e-3 if strategy == "cv-bootstrap" else 1e-6
        close(found.standard_error_, factor * error, rtol)
        low, high = found.confidence_interval_
        assert low < alone.estimate < high
        parts = found.variance_components_
        assert parts["training"] < 0.3 * error**2
        assert 0.6 < parts["test"] / error**2 < 1.6
        assert found.result_.n_units == n


OF_MEANS = [(n, s) for n, s in PAIRS if s in (
    "accuracy", "neg_log_loss", "neg_brier_score", "neg_mean_absolute_error",
    "neg_mean_squared_error", "neg_mean_gamma_deviance", "top_k_accuracy")]  # fmt: skip


ROW_VALUES = {
    "accuracy": lambda y, p, code: (y == p) * 1.0,
    "neg_log_loss": lambda y, p, code: np.log(p[np.arange(N), code]),
    "neg_brier_score": lambda y, p, code: -((code - p[:, 1]) ** 2),
    "neg_mean_absolute_error": lambda y, p, code: -np.abs(y - p),
    "neg_mean_squared_error": lambda y, p, code: -((y - p) ** 2),
    "neg_mean_gamma_deviance": lambda y, p, code: -2 * (np.log(p / y) + y / p - 1),
    "top_k_accuracy": lambda y, p, code: np.any(
        np.argsort(-p, axis=1)[:, :2] == code[:, None], axis=1
    ) * 1.0,
}  # fmt: skip


@pytest.mark.parametrize(("n_classes", "scoring"), OF_MEANS)
@any_seed
def test_methods_that_learn_nothing_differ_as_their_answers_do(n_classes, scoring, seed):
    design = ("groups", "rows")[(len(scoring) + n_classes + seed) % 2]
    X, y, first, second = case_of(n_classes, scoring, seed)
    columns = columns_of(design)
    systems = {"one": frozen(first, X, y, scoring), "two": frozen(second, X, y, scoring)}
    given = {"metric": scoring, **columns, "n_resamples": 39, "random_state": 0}
    if n_classes and scoring in (*OF_PROBABILITIES, "top_k_accuracy"):
        given["labels"] = np.unique(y)
    one, two = (quiet(skboot.bootstrap_score, y, p, **given) for p in systems.values())
    groups = columns.get("groups", np.arange(N))
    code = np.unique(y, return_inverse=True)[1] if n_classes else None
    values = [ROW_VALUES[scoring](y, p, code) for p in systems.values()]
    differences = np.bincount(groups, np.subtract(*values)) / np.bincount(groups)
    n = len(differences)
    for strategy in [("oob", "cv-bootstrap")[len(scoring) % 2]]:
        result = quiet(
            skboot.compare_methods, {"one": first, "two": second}, X, y, scoring=scoring,
            strategy=strategy, **OPTIONS, **columns,
        )  # fmt: skip
        [pair] = result.pairs
        close(pair.difference, one.estimate - two.estimate, 1e-9)
        known = differences.std() / np.sqrt(n - (strategy == "cv-bootstrap"))
        close(pair.standard_error, known, 1e-5)
        close(result.systems["one"].estimate, one.estimate)
        close(pair._mirrored().difference, -pair.difference)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro"])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_method_that_learns_nothing_is_its_answers_on_a_test_set(scoring, grouped):
    X, y, first, second = case_of(3, scoring)
    groups = {"groups_test": np.arange(50) // 2} if grouped else {}
    of_test = {"groups": np.arange(50) // 2} if grouped else {}
    options = {"n_train_resamples": 5, "n_test_resamples": 199, "random_state": 0}
    options["scoring"] = scoring
    X_test, y_test = X[30:], y[30:]
    answers = [frozen(method, X_test, y_test, scoring) for method in (first, second)]
    more = {"labels": np.unique(y)} if scoring == "neg_log_loss" else {}
    runs = quiet(skboot.bootstrap_runs, y_test, [answers[0]] * 5, metric=scoring, varied="training",
                 full_runs=[answers[0]], n_resamples=199, random_state=0, **of_test,
                 **more)  # fmt: skip
    by_name = [{"a": column, "b": column[:40]} for column in (X_test, y_test)]
    for sets, keys in (((X_test, y_test), None), (by_name, "ab")):
        own_groups = dict(groups)
        if keys and grouped:
            of_groups = groups["groups_test"]
            own_groups = {"groups_test": {"a": of_groups, "b": of_groups[:40]}}
        scorer = skboot.BootstrapScorer(first, **options)
        found = quiet(scorer.fit, X[:30], y[:30], X_test=sets[0], y_test=sets[1], **own_groups)
        result = found.result_ if keys is None else found.result_["a"]
        close(result.estimate, runs.estimate)
        close(result.standard_error, runs.standard_error, 0.25)
        assert (result.n_units, result.unit) == (runs.n_units, runs.unit)
        close([result.variance_components["training"]], [0.0], atol=1e-9)
        if keys:
            shorter = found.result_["b"]
            assert shorter.n_units == (20 if grouped else 40)
            expected = scored(y_test[:40], answers[0][:40], metric=scoring, **more)
            close(shorter.estimate, expected.estimate)
    result = quiet(skboot.compare_methods, {"one": first, "two": second}, X[:30], y[:30],
                   X_test=X_test, y_test=y_test, **groups, **options)  # fmt: skip
    both = dict(zip(("one", "two"), answers, strict=True))
    systems = quiet(skboot.compare_systems, y_test, both, metric=scoring, n_resamples=199,
                    random_state=0, **of_test, **more)  # fmt: skip
    close(result.pairs[0].difference, systems.pairs[0].difference)
    close(result.pairs[0].standard_error, systems.pairs[0].standard_error, 0.25)


# ------------------------------------------------------------------ without information


ASYMMETRIC = {
    "precision": lambda t, p: precision_score(t, p, average="macro", zero_division=0.0),
    "recall": lambda t, p: recall_score(t, p, average="weighted", zero_division=0.0),
    "f1_macro": lambda t, p: f1_score(t, p, average="macro", zero_division=0.0),
    "balanced": balanced_accuracy_score,
    "mcc": matthews_corrcoef,
    "kappa": lambda t, p: cohen_kappa_score(t, p, weights="linear"),
    "cost": lambda t, p: own.expected_cost(t, p, costs=COSTS),
    "cost with priors": lambda t, p: own.expected_cost(t, p, costs=COSTS, priors=[0.5, 0.3, 0.2]),
}
COSTS = [[0.0, 1.0, 7.0], [2.0, 0.0, 3.0], [9.0, 4.0, 0.0]]
SCORINGS = {
    "precision": make_scorer(precision_score, average="macro", zero_division=0.0),
    "recall": make_scorer(recall_score, average="weighted", zero_division=0.0),
    "f1_macro": make_scorer(f1_score, average="macro", zero_division=0.0),
    "balanced": "balanced_accuracy",
    "mcc": "matthews_corrcoef",
    "kappa": make_scorer(cohen_kappa_score, weights="linear"),
    "cost": make_scorer(own.expected_cost, costs=COSTS, greater_is_better=False),
    "cost with priors": make_scorer(
        own.expected_cost, costs=COSTS, priors=[0.5, 0.3, 0.2], greater_is_better=False
    ),
}


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_without_information_every_truth_meets_every_answer(name):
    """Of three classes whose shares are not those of the answers."""
    X, y = rows_of(3, n=30)
    X[:, 2] += 0.8
    said = FixedClasses().fit(X, y).predict(X)
    truth, answers = np.repeat(y, 30), np.tile(said, 30)
    expected = ASYMMETRIC[name](truth, answers)
    scorer = skboot.BootstrapScorer(
        FixedClasses(), scoring=SCORINGS[name], strategy="oob", n_train_resamples=5, random_state=0
    )
    found = quiet(scorer.fit, X, y).no_information_score_
    # Costs are those of a hundred permutations.
    close(abs(found), abs(expected), 0.02 if "cost" in name else 1e-6, 1e-9)


# ------------------------------------------------------------------ parts of "cv-bootstrap"


def loop_of_parts(losses, weights, full, cv):
    """The variances of the interval, with one loop over models and one over rows."""
    b, n = losses.shape
    outside = weights == 0
    scores = means = np.array([losses[k, outside[k]].mean() for k in range(b)])

    def spread(scores, factors):
        influence = np.where(outside, losses - means[:, None], np.nan) * factors[:, None]
        of_row = np.array([np.nanmean(influence[:, i]) for i in range(n)])
        residual, noise = np.empty(b), np.empty(b)
        for k in range(b):
            inside = outside[k]
            residual[k] = scores[k] - of_row[inside].mean()
            rest = influence[k, inside] - of_row[inside]
            noise[k] = rest.var(ddof=1) / len(rest) if len(rest) > 1 else np.nan
        return residual - residual.mean(), noise

    centred = cv - cv.mean(axis=1, keepdims=True)
    influence = centred.mean(axis=0)

    def parts(scores, factors):
        residual, noise = spread(scores, factors)
        products = (weights - weights.mean(axis=0)) * residual[:, None]
        effect = products.mean(axis=0)
        jackknife = np.sum((influence / n + effect) ** 2) - products.var(axis=0, ddof=1).sum() / b
        first, third = np.percentile(residual, [25, 75])
        robust = ((third - first) / 1.349) ** 2 - np.nanmedian(noise)
        variance = max(residual.var(ddof=1) - np.nanmean(noise), 0)
        return variance, max(robust, 0), jackknife, 2 * influence @ effect / n

    first, median, third = np.percentile(scores, [25, 50, 75])
    fenced = scores.clip(first - 1.5 * (third - first), third + 1.5 * (third - first))
    factors = np.where(fenced == scores, 1.0, (fenced - median) / np.where(
        scores == median, 1, scores - median))  # fmt: skip
    variance, _, jackknife, *_ = parts(scores, np.ones(b))
    _, robust, _, covariance = parts(fenced, factors)
    of_cv, averaged = cv.var(axis=1, ddof=1).mean() / n, cv.mean(axis=0).var(ddof=1) / n
    apparent, centre, left_out = full.mean(), cv.mean(), np.median(scores)
    middle = (apparent + centre) / 2
    share = 0.0 if centre <= apparent else 1.0
    if centre > apparent and left_out > max(middle, centre):
        share = ((centre - middle) / (left_out - middle)) ** 2
    cap = (np.sqrt(of_cv) + max(centre - apparent, 0) / 2) ** 2
    total = of_cv + share * robust + np.sqrt(share) * max(covariance, 0)
    usual = max(min(cap, total), averaged)
    return np.sqrt([max(usual, of_cv + variance, jackknife), usual]), share


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("n", [12, 24])
@any_seed
def test_the_errors_of_cv_bootstrap_are_those_of_a_loop(n, is_binary, seed):
    for k in range(4):
        rng = np.random.default_rng([seed, n, k])
        b = 70
        weights = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)])
        hard, level = rng.random(n), np.exp(0.5 * rng.normal(size=(b, 1)))
        level = level * (0.5 + hard) * (1 + (weights == 0)) * (1 - 0.1 * weights[:, :1])
        losses = (rng.random((b, n)) < 0.25 * level) * 1.0 if is_binary else rng.gamma(2.0, level)
        full = 0.3 * hard if is_binary else rng.gamma(2.0, 0.3, n)
        cv = (rng.random((3, n)) < 0.5 * hard) * 1.0 if is_binary else rng.gamma(2.0, 1 + hard,
                                                                               (3, n))  # fmt: skip
        found = quiet(
            prediction_error, losses, weights, resubstitution_losses=full, cv_losses=cv,
            no_information_rate=0.9, bounds=(0, 1) if is_binary else (0, np.inf),
        )  # fmt: skip
        errors, share = loop_of_parts(losses, weights, full, cv)
        close([found.cv.standard_error_conservative, found.cv.standard_error], errors, 1e-6)
        close(found.cv.training_share, share, 1e-9)
        low, high = quiet(found.interval, "cv-bootstrap")
        wide = quiet(found.interval, "cv-bootstrap-conservative")
        assert wide.low <= low + 1e-9
        assert high <= wide.high + 1e-9
        if not is_binary:
            close(low * high, cv.mean() ** 2, 1e-6)
            close(np.log(high / low) / np.log(wide.high / wide.low), errors[1] / errors[0], 1e-6)


@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
@pytest.mark.parametrize("log", ["", "_log"])
def test_the_interval_of_a_root_is_the_root_of_the_interval_of_its_mean(strategy, log):
    X, y = rows_of(0, 3, 36)
    names = [f"neg_{root}mean_squared{log}_error" for root in ("", "root_")]
    options = {"n_train_resamples": 40, "n_cv_repeats": 1, "n_seeds": 2, "random_state": 0}
    tree = DecisionTreeRegressor(splitter="random", max_depth=3)
    found = skboot.BootstrapScorer(tree, scoring=names, strategy=strategy, **options)
    quiet(found.fit, X, y, groups=np.arange(36) // 2)
    (mean, mean_limits), (root, limits) = (
        (-found.score_[name], -np.array([*found.confidence_interval_[name]])) for name in names
    )
    # The mean over repeats of roots is nearly the root of the mean over repeats.
    close(root, np.sqrt(mean), 1e-9 if strategy == "oob" else 1e-2)
    close((limits / root) ** 2, mean_limits / mean)
    errors = [found.standard_error_[name] for name in names]
    close(errors[1] / root, errors[0] / mean / 2)
    parts = [found.variance_components_[name] for name in names]
    for part, value in parts[0].items():
        close(parts[1][part], value / (4 * mean), 1e-9)


def test_a_root_of_no_error_has_no_width_and_ends_no_fit():
    X, y = np.random.default_rng(0).normal(size=(36, 2)), np.repeat([1.0, 2.0], [35, 1])
    scoring = ["neg_mean_squared_error", "neg_root_mean_squared_error"]
    for strategy in ("oob", "cv-bootstrap"):
        options = {**OPTIONS, "n_train_resamples": 9, "scoring": scoring, "strategy": strategy}
        method = DummyRegressor(strategy="median")
        found = quiet(skboot.BootstrapScorer(method, **options).fit, X, y)
        close(found.score_[scoring[1]], -1 / 6)
        mean, root = (np.array([*found.confidence_interval_[name]]) for name in scoring)
        close(root**2, -mean)
        found = quiet(skboot.BootstrapScorer(method, **options).fit, X, np.ones(36))
        assert [*found.confidence_interval_[scoring[1]]] == [0, 0]
        other = LinearRegression()
        pair = quiet(
            skboot.compare_methods, {"a": method, "b": other}, X, y,
            **{**options, "scoring": scoring[1]},
        ).pairs[0]  # fmt: skip
        assert np.isfinite([*pair.confidence_interval]).all()


@pytest.mark.parametrize("stratify", [False, True])
def test_samples_within_classes_hold_as_many_rows_of_each(stratify):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, weights=[0.7],
                               random_state=0)  # fmt: skip
    Counted.SEEN = ()
    options = {"n_train_resamples": 12, "strategy": "oob", "random_state": 0}
    quiet(skboot.BootstrapScorer(Counted(), stratify=stratify, **options).fit, X, y)
    sizes = {np.sum(own == 1) for own in Counted.SEEN if len(own) == 60}
    assert (sizes == {np.sum(y == 1)}) == stratify


class Counted(FixedClasses):
    SEEN = ()

    def fit(self, X, y):
        Counted.SEEN = (*Counted.SEEN, np.array(y))
        return super().fit(X, y)


# ------------------------------------------------------------------ other kinds of fits


class FixedTables(RegressorMixin, BaseEstimator):
    """Answers by half of the columns, as values or as labels that a row has."""

    def __init__(self, first=0, is_set=False):
        self.first, self.is_set = first, is_set

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        answer = X[:, self.first : self.first + 3]
        return (answer > 0.5).astype(int) if self.is_set else answer


class FixedSets(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = [np.array([0, 1])] * 3
        return self

    def predict(self, X):
        return (X[:, :3] > 0.5).astype(int)


OF_TABLES = ("r2", "neg_mean_absolute_error")
OF_SETS = ("accuracy", "f1_samples", "f1_macro", "f1_micro", "jaccard_samples", "recall_weighted")


@pytest.mark.parametrize("scoring", [*OF_TABLES, *OF_SETS])
def test_answers_of_several_columns_have_the_score_and_error_of_the_rows(scoring):
    """The error is within a quarter."""
    rng = np.random.default_rng(0)
    is_set = scoring in OF_SETS
    y = rng.normal(size=(N, 3)) if not is_set else (rng.random((N, 3)) < 0.6).astype(int)
    X = y + 0.5 * rng.normal(size=(N, 3))
    columns = {"groups": np.arange(N) // 2} if len(scoring) % 2 else {}
    method = FixedSets() if is_set else FixedTables()
    alone = scored(y, method.fit(X, y).predict(X), metric=scoring, **columns)
    found = quiet(
        skboot.BootstrapScorer(method, scoring=scoring, **{**OPTIONS, "n_train_resamples": 9}).fit,
        X,
        y,
        **columns,
    )
    close(found.resubstitution_score_, alone.estimate, 1e-9)
    close(found.score_, alone.estimate, 1e-9)
    if alone._evidence.standard_error is not None:
        close(found.standard_error_, alone._evidence.standard_error, 0.25)


@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
def test_seeds_of_a_method_without_chance_say_nothing(strategy):
    X, y, method, _ = case_of(2, "accuracy")
    options = {**OPTIONS, "scoring": "accuracy", "strategy": strategy}
    one = quiet(skboot.BootstrapScorer(method, **options).fit, X, y)
    more = quiet(skboot.BootstrapScorer(method, n_seeds=2, **options).fit, X, y)
    close(more.score_, one.score_)
    close(more.standard_error_, one.standard_error_, 1e-2)
    assert abs(more.variance_components_["seed"]) < 1e-9
    assert np.isnan(one.variance_components_["seed"])
    assert len(more.runs_["seed"]) > len(one.runs_["seed"])


class Failing(Kept):
    """A regression that cannot be trained on some samples."""

    def fit(self, X, y):
        if len(np.unique(X[:, 0])) < 36 and X[:, 0].sum() > 0:
            raise ValueError("a sum too large")
        return super().fit(X, y)


def test_runs_that_fail_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 3))
    y = X[:, 0] + rng.normal(size=36)
    Kept.MADE = ()
    options = {"n_train_resamples": 60, "random_state": 0, "strategy": "oob"}
    scorer = skboot.BootstrapScorer(Failing(), scoring="neg_mean_absolute_error", **options)
    quiet(scorer.fit, X, y)
    made = [
        (model, np.array([np.sum(own[:, 0] == row[0]) for row in X])) for own, model in Kept.MADE
    ]
    made = [(model, counts) for model, counts in made if counts.max() > 1]
    assert 5 < len(made) < 55
    assert np.sum(scorer.runs_["failed"]) == 60 - len(made)
    full = LinearRegression().fit(X, y).predict(X)
    error = quiet(
        prediction_error, [np.abs(model.predict(X) - y) for model, _ in made],
        [counts for _, counts in made], resubstitution_losses=np.abs(full - y),
        no_information_rate=np.abs(full[None] - y[:, None]).mean(), bounds=(0, np.inf),
    )  # fmt: skip
    close(scorer.score_, -error.oob)
    close(scorer.standard_error_, error.standard_error, 1e-6)


def test_a_fit_that_is_kept_in_a_folder_is_the_fit(tmp_path):
    X, y, method, _ = case_of(2, "accuracy")
    options = {**OPTIONS, "scoring": ["accuracy", "neg_log_loss"], "n_train_resamples": 4}
    plain = quiet(skboot.BootstrapScorer(method, **options).fit, X, y)
    for _ in range(2):
        kept = quiet(skboot.BootstrapScorer(method, memory=tmp_path, **options).fit, X, y)
        for name in ("accuracy", "neg_log_loss"):
            close(kept.score_[name], plain.score_[name])
            close(kept.standard_error_[name], plain.standard_error_[name])
            close([*kept.confidence_interval_[name]], [*plain.confidence_interval_[name]])
    other = quiet(skboot.BootstrapScorer(method, memory=tmp_path, **options).fit, X[::-1], y[::-1])
    assert other.result_["accuracy"].n_samples == N
