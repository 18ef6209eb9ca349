"""On each stated exception skboot warns in words, on the good side of its bound it does not."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.coverage.exceptions import exception_of
from benchmarks.coverage.samples import units_of
from benchmarks.coverage.scores import SCORES
from skboot import BootstrapScorer, bootstrap_score, compare_systems

QUICK = {"n_resamples": 999, "random_state": 0}
# What the extremes of 999 resamples say is none of these.
OTHERS = "resamples are too few"


class Data(NamedTuple):
    """Predictions of a system, as the metric reads them."""

    name: str
    y_true: np.ndarray
    y_pred: np.ndarray
    groups: np.ndarray | None = None
    same_population: bool = False

    @property
    def exception(self):
        score = SCORES[self.name]
        return exception_of(score, self.y_true, self.y_pred, self.groups, self.same_population)


def told(call, *args, **options):
    """Warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **options)
    return [str(one.message) for one in caught if OTHERS not in str(one.message)]


def told_of(data):
    """Warnings of `bootstrap_score`."""
    options = QUICK | {"groups": units_of(data.groups, data.same_population)}
    metric = SCORES[data.name].ours
    return told(bootstrap_score, data.y_true, data.y_pred, metric=metric, **options)


# ------------------------------------------------------------------ data that show one exception

LOSSES = ("MSE", "MAE", "pinball", "log loss", "RMSE", "R2")
OF_LABELS = ("accuracy", "F1", "macro F1")


def errors_with(name, share, n):
    """Rows whose losses are even but for one, which has this share of their sum."""
    rng = np.random.default_rng(n)
    large = share * (n - 1) / (1 - share)
    if name == "log loss":
        y = np.arange(n) % 2
        losses = np.full(n, 0.1)
        losses[0] = 0.1 * large
        right = np.exp(-losses)
        return Data(name, y, np.where(y == 1, right, 1 - right))
    truth = rng.normal(scale=3, size=n)
    sides = rng.choice((-1, 1), n) if name != "pinball" else np.ones(n)
    size = large if name in ("MAE", "pinball") else np.sqrt(large)
    return Data(name, truth, truth - sides * np.where(np.arange(n) == 0, size, 1.0))


def errors_spread(name, n):
    """Rows whose losses are spread evenly."""
    rng, losses = np.random.default_rng(n), np.linspace(0.5, 1.5, n)
    if name == "log loss":
        y, right = np.arange(n) % 2, np.exp(-0.1 * losses)
        return Data(name, y, np.where(y == 1, right, 1 - right))
    truth = rng.uniform(-6, 6, size=n)
    return Data(name, truth, truth - rng.choice((-1, 1), n) * losses)


def of_classes(name, n_small, n=200):
    """Decisions or scores on a class of this size, of middling quality."""
    rng = np.random.default_rng(2)
    y = (np.arange(n) < n_small).astype(int)
    scores = 1.5 * y + rng.normal(size=n)
    return Data(name, y, scores if name in ("AUC", "average precision") else (scores > 0.9) * 1)


def separated(inverted):
    """Scores of 200 and 200 rows, of which each of the first `inverted` is below 100 others."""
    y = np.repeat([0, 1], 200)
    scores = np.r_[np.linspace(0, 1, 200), np.linspace(1.001, 2, 200)]
    scores[200 : 200 + inverted] = 0.5 + np.arange(inverted) / 1000
    return Data("AUC", y, scores)


def in_groups(name, n_groups, n_erring=None):
    """Groups of ten rows; `n_erring` of them have two wrong decisions, the others none."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(n_groups), 10)
    y = np.arange(len(groups)) % 2
    if name == "MAE":
        return Data(name, np.zeros(len(groups)), expit(rng.normal(size=len(groups))), groups)
    if name == "AUC":
        return Data(name, y, y + rng.normal(size=len(groups)), groups)
    if n_erring is None:
        return Data(name, y, np.where(rng.random(len(y)) < 0.8, y, 1 - y), groups)
    wrong = (groups < n_erring) & (np.arange(len(groups)) % 10 < 2)
    return Data(name, y, np.where(wrong, 1 - y, y), groups)


def on_two_sides(name, sides, same_population=False):
    """Every member of one side with every one of the other."""
    rng = np.random.default_rng(4)
    groups = np.indices(sides).reshape(2, -1).T
    y = rng.integers(0, 2, size=len(groups))
    if name == "MAE":
        return Data(name, np.zeros(len(y)), expit(rng.normal(size=len(y))), groups)
    if name == "AUC":
        return Data(name, y, y + rng.normal(size=len(y)), groups, same_population)
    right = rng.random(len(y)) < 0.8
    return Data(name, y, np.where(right, y, 1 - y), groups, same_population)


# ------------------------------------------------------------------ frozen systems

# Data in an exception, words of the warning, and data just on the good side of the bound.
SHOWN = {
    **{
        f"{name}, {n} rows": (
            errors_with(name, max(0.1, 10 / n) + 0.01, n),
            "of the",
            errors_spread(name, n),
        )
        for name in LOSSES
        for n in (50, 400)
        # Few rows are expected beyond the forecasts of 50.
        if (name, n) != ("pinball", 50)
    },
    "AUC, 19 positives": (
        of_classes("AUC", 19),
        "The 19 rows of the smaller class",
        of_classes("AUC", 50),
    ),
    "average precision, 19 positives": (
        of_classes("average precision", 19),
        "The 19 rows of the smaller class",
        of_classes("average precision", 20),
    ),
    "average precision, 19 negatives": (
        of_classes("average precision", 181),
        "The 19 rows of the smaller class",
        of_classes("average precision", 150),
    ),
    "AUC above .98": (separated(1), "of the 400 rows decide", separated(20)),
    **{
        f"19 groups, {name}": (
            in_groups(name, 19),
            "Only 19 groups were resampled",
            in_groups(name, 20),
        )
        for name in (*OF_LABELS, "MAE", "AUC")
    },
    **{
        f"14 members, {name}": (
            on_two_sides(name, (14, 40)),
            "Only 14 members were resampled on one side",
            on_two_sides(name, (40, 40)),
        )
        for name in ("accuracy", "MAE", "AUC")
    },
    **{
        f"39 members of one population, {name}": (
            on_two_sides(name, (39, 39), True),
            "With fewer than 40 members of one population",
            on_two_sides(name, (40, 40), True),
        )
        for name in ("accuracy", "AUC")
    },
}


@pytest.mark.parametrize("case", SHOWN)
def test_every_exception_is_warned_of_in_words(case):
    bad, words, _ = SHOWN[case]
    assert bad.exception
    assert "," not in bad.exception
    (message,) = told_of(bad)
    assert words in message


@pytest.mark.parametrize("case", SHOWN)
def test_on_the_good_side_of_a_bound_there_is_no_exception_and_no_warning(case):
    good = SHOWN[case][2]
    assert good.exception == ""
    assert told_of(good) == []


@pytest.mark.parametrize("case", ["MSE, 50 rows", "AUC, 19 positives", "AUC above .98"])
def test_subgroups_and_compared_systems_are_warned_of_alike(case):
    bad, words, good = SHOWN[case]
    by = np.repeat(["bad", "good"], [len(bad.y_true), len(good.y_true)])
    both = [np.r_[bad.y_true, good.y_true], np.r_[bad.y_pred, good.y_pred]]
    options = QUICK | {"metric": SCORES[bad.name].ours}
    assert any(words in one for one in told(bootstrap_score, *both, by=by, **options))

    other = bad.y_pred + 1e-3 * np.arange(len(bad.y_pred))
    systems = {"one": bad.y_pred, "other": other}
    assert any(words in one for one in told(compare_systems, bad.y_true, systems, **options))
    fine = {"one": good.y_pred, "other": good.y_pred + 1e-3 * (np.arange(len(good.y_pred)) % 7)}
    # Few rows may decide the difference of systems that are nearly the same.
    of_scores = [one for one in told(compare_systems, good.y_true, fine, **options)
                 if "decide these differences" not in one]  # fmt: skip
    assert of_scores == []


@pytest.mark.parametrize("case", ["19 groups, accuracy"])
def test_compared_systems_are_warned_of_groups_alike(case):
    bad, words, good = SHOWN[case]
    for data, expected in ((bad, True), (good, False)):
        systems = {"one": data.y_pred, "other": np.roll(data.y_pred, 10)}
        messages = told(compare_systems, data.y_true, systems, groups=data.groups, **QUICK)
        assert any(words in one for one in messages) == expected


def test_several_classes_have_no_smaller_class_and_weighted_rows_have():
    rng = np.random.default_rng(5)
    y = np.r_[np.zeros(12, int), np.ones(90, int), np.full(90, 2)]
    chances = rng.dirichlet(np.ones(3), len(y))
    chances[np.arange(len(y)), y] += 0.7
    chances /= chances.sum(axis=1, keepdims=True)
    options = QUICK | {"metric": "average_precision"}
    assert told(bootstrap_score, y, chances, **options) == []
    two = of_classes("average precision", 12)
    weights = rng.uniform(0.5, 1.5, len(two.y_true))
    messages = told(bootstrap_score, two.y_true, two.y_pred, sample_weight=weights, **options)
    assert any("rows of the smaller class" in one for one in messages)


def test_what_was_stated_and_is_met_by_ordinary_data_excuses_nothing():
    """Record 0050: a row above 5 %, a kurtosis above 10, decisions on 12 positives."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=50)
    assert np.max(normal**2) > 0.05 * np.sum(normal**2)
    many = rng.normal(size=2000)
    for errors in (normal, many):
        data = Data("MSE", errors, np.zeros(len(errors)))
        assert data.exception == ""
        assert told_of(data) == []
    for name in ("F1", "MCC"):
        decisions = of_classes(name, 12)
        assert decisions.exception == ""
        assert told_of(decisions) == []


def test_15_to_39_crossed_members_warn_and_excuse_nothing():
    """Record 0050."""
    members = on_two_sides("accuracy", (39, 39))
    assert members.exception == ""
    [message] = told_of(members)
    assert "With fewer than 40 members on one side" in message


# ------------------------------------------------------------------ methods

FAST = {"n_train_resamples": 60, "n_cv_repeats": 1, "refit": False, "random_state": 0}


def told_of_method(estimator, X, y, scoring, **options):
    """Warnings of `BootstrapScorer`."""
    return told(BootstrapScorer(estimator, scoring=scoring, **FAST).fit, X, y, **options)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "matthews_corrcoef"])
def test_methods_are_warned_of_a_small_class(scoring):
    rng = np.random.default_rng(6)
    for n_small, expected in ((19, True), (60, False)):
        y = (np.arange(160) < n_small).astype(int)
        X = rng.normal(size=(160, 2)) + 1.2 * y[:, None]
        messages = told_of_method(LogisticRegression(), X, y, scoring)
        assert any("smallest class has 19 rows" in one for one in messages) == expected


def test_methods_are_warned_of_few_groups():
    rng = np.random.default_rng(7)
    for n_groups, expected in ((19, True), (20, False)):
        groups = np.repeat(np.arange(n_groups), 6)
        y = np.arange(len(groups)) % 2
        X = rng.normal(size=(len(y), 2)) + y[:, None]
        messages = told_of_method(LogisticRegression(), X, y, "accuracy", groups=groups)
        assert any("Only 19 groups" in one for one in messages) == expected


def test_methods_are_warned_of_heavy_tails():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=80)
    assert told_of_method(LinearRegression(), X, y, "neg_mean_squared_error") == []
    y[0] += 40
    (message,) = told_of_method(LinearRegression(), X, y, "neg_mean_squared_error")
    assert "heavy-tailed" in message
