"""`learning_curve`: which rows are trained on, what is scored, and what a curve says."""

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, get_scorer, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import learning_curve
from skboot.results import CurveResult

SIZES = (0.2, 0.5, 0.9)
TRAININGS = []


class Recording(ClassifierMixin, BaseEstimator):
    """Naive Bayes that writes down which rows it is trained on; the first column numbers them."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X[:, 1:], y)
        self.classes_ = self.model_.classes_
        TRAININGS.append(X[:, 0].astype(int))
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, 1:])


class Narrow(GaussianNB):
    """Fails on few rows."""

    def fit(self, X, y):
        if len(X) < 40:
            raise ValueError("too few rows")
        return super().fit(X, y)


def numbered(n=100, seed=0, **options):
    X, y = make_classification(n, 5, random_state=seed, flip_y=0.2, **options)
    return np.column_stack([np.arange(n), X]), y


def trained(X, y, **options):
    """The curve, and the rows of the trainings of each size, in turn."""
    TRAININGS.clear()
    result = learning_curve(Recording(), X, y, n_jobs=1, random_state=0, **options)
    return result, TRAININGS[1:]


def test_trainings_are_one_on_all_rows_and_so_many_at_each_size():
    X, y = numbered()
    result, rows = trained(X, y, train_sizes=SIZES)
    assert_array_equal(result.x, [20, 50, 90])
    assert [len(own) for own in rows] == [20] * 20 + [50] * 20 + [90] * 20
    assert len(TRAININGS[0]) == 100
    assert result.n_trainings == 20


def test_larger_training_sets_hold_the_smaller_ones():
    X, y = numbered()
    _, rows = trained(X, y, train_sizes=SIZES)
    for small, middle, large in zip(rows[:20], rows[20:40], rows[40:], strict=True):
        assert set(small) < set(middle) < set(large)
        assert len(set(large)) == 90


def test_sets_of_nine_tenths_leave_each_row_out_equally_often():
    X, y = numbered()
    _, rows = trained(X, y, train_sizes=SIZES)
    assert_array_equal(np.bincount(np.concatenate(rows[40:])), 18)


def test_the_smallest_sets_hold_a_row_of_each_class():
    X, y = numbered(weights=[0.95], seed=3)
    _, rows = trained(X, y, train_sizes=(5, 50))
    assert all(len(np.unique(y[own])) == 2 for own in rows)


def test_groups_are_trained_on_whole_and_their_rows_are_counted():
    X, y = numbered()
    groups = np.random.default_rng(0).integers(0, 15, 100)
    groups = np.unique(groups, return_inverse=True)[1]
    with pytest.warns(UserWarning, match="groups were resampled"):
        result, rows = trained(X, y, train_sizes=SIZES, groups=groups)
    for own in rows:
        assert not set(groups[own]) & set(np.delete(groups, own))
    means = [np.mean([len(own) for own in rows[k : k + 20]]) for k in (0, 20, 40)]
    assert_array_equal(result.x, np.round(means))
    assert result.unit == "group"
    assert result.n_units == len(np.unique(groups))


def scores_outside(X, y, rows, score):
    """What scikit-learn says of the rows outside, averaged over trainings."""
    found = []
    for own in rows:
        model = GaussianNB().fit(X[own, 1:], y[own])
        left = np.delete(np.arange(len(y)), own)
        found.append(score(model, X[left, 1:], y[left]))
    return np.mean(found)


def test_accuracy_is_that_of_rows_outside_each_row_once():
    X, y = numbered()
    result, rows = trained(X, y, train_sizes=SIZES)
    for k, value in enumerate(result.estimate):
        hits, times = np.zeros(100), np.zeros(100)
        for own in rows[20 * k : 20 * k + 20]:
            left = np.delete(np.arange(100), own)
            hits[left] += GaussianNB().fit(X[own, 1:], y[own]).predict(X[left, 1:]) == y[left]
            times[left] += 1
        assert_allclose(value, np.mean(hits[times > 0] / times[times > 0]))


def test_areas_are_means_over_trainings():
    X, y = numbered()
    result, rows = trained(X, y, train_sizes=SIZES, scoring="roc_auc")

    def area(model, X, y):
        return roc_auc_score(y, model.predict_proba(X)[:, 1])

    for k, value in enumerate(result.estimate):
        expected = scores_outside(X, y, rows[20 * k : 20 * k + 20], area)
        assert_allclose(value, expected)


def test_limits_stay_in_the_range_and_a_band_without_width_says_so():
    X, y = make_classification(60, 5, class_sep=3, random_state=0)
    result = learning_curve(GaussianNB(), X, y, random_state=0)
    assert result.estimate[-1] == 1
    assert (result.low >= 0).all()
    assert (result.high <= 1).all()
    assert (result.high - result.low > 0.02).all()
    with pytest.warns(UserWarning, match="the band has no width there"):
        result = learning_curve(GaussianNB(), X, y, scoring="roc_auc", random_state=0)
    assert (result.high <= 1).all()


def test_functions_of_sums_are_near_their_means_over_trainings():
    X, y = load_diabetes(return_X_y=True)
    result = learning_curve(LinearRegression(), X, y, train_sizes=(0.5,), random_state=0)
    rng, scores = np.random.default_rng(1), []
    for _ in range(50):
        order = rng.permutation(len(y))
        model = LinearRegression().fit(X[order[:221]], y[order[:221]])
        scores.append(r2_score(y[order[221:]], model.predict(X[order[221:]])))
    assert_allclose(result.estimate, np.mean(scores), atol=0.03)
    X, y = numbered()
    result, rows = trained(X, y, scoring="f1", train_sizes=(0.5,))
    expected = scores_outside(X, y, rows, lambda m, X, y: f1_score(y, m.predict(X)))
    assert_allclose(result.estimate, expected, atol=0.02)


# ------------------------------------------------------------------ identities


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "f1"])
@pytest.mark.parametrize("with_groups", [False, True])
def test_several_are_as_each_alone_and_their_difference(scoring, with_groups):
    X, y = (own[::3] for own in load_breast_cancer(return_X_y=True))
    groups = np.arange(len(y)) // 4 if with_groups else None
    both = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    options = {"scoring": scoring, "groups": groups, "random_state": 0, "train_sizes": SIZES}
    options |= {"n_repeats": 10}
    table = learning_curve(both, X, y, **options)
    for name, one in both.items():
        alone = learning_curve(one, X, y, **options)
        for each in ("x", "estimate", "low", "high", "bootstrap_distribution"):
            assert_array_equal(getattr(table[name], each), getattr(alone, each))
    first, second, difference = (table[name] for name in ("bayes", "tree", "difference"))
    assert_allclose(difference.estimate, first.estimate - second.estimate, atol=1e-12)
    assert difference.name == "bayes - tree"


def test_a_method_does_not_differ_from_itself():
    X, y = numbered()
    table = learning_curve({"a": GaussianNB(), "b": GaussianNB()}, X, y, random_state=0)
    difference = table["difference"]
    assert_array_equal(difference.estimate, 0)
    assert (difference.low < 0).all()
    assert (difference.high > 0).all()


def test_the_second_less_the_first_is_the_mirror_image():
    X, y = numbered()
    methods = {"a": GaussianNB(), "b": LogisticRegression()}
    swapped = {"b": methods["b"], "a": methods["a"]}
    one = learning_curve(methods, X, y, scoring="roc_auc", random_state=0)["difference"]
    other = learning_curve(swapped, X, y, scoring="roc_auc", random_state=0)["difference"]
    assert_allclose(one.estimate, -other.estimate)
    assert_allclose(
        one.at(90).confidence_interval.low, -other.at(90).confidence_interval.high, atol=5e-3
    )


def test_workers_and_kept_runs_change_nothing(tmp_path):
    X, y = numbered()
    options = {"train_sizes": SIZES, "random_state": 0, "n_repeats": 10}
    result = learning_curve(GaussianNB(), X, y, **options)
    assert learning_curve(GaussianNB(), X, y, n_jobs=2, **options) == result
    assert learning_curve(GaussianNB(), X, y, memory=tmp_path, **options) == result
    kept = sorted(tmp_path.rglob("run-*"))
    assert len(kept) == 30
    times = [each.stat().st_mtime_ns for each in kept]
    assert learning_curve(GaussianNB(), X, y, memory=tmp_path, **options) == result
    assert [each.stat().st_mtime_ns for each in sorted(tmp_path.rglob("run-*"))] == times


def test_points_have_the_pointwise_limits_and_hold_the_narrower_levels():
    X, y = numbered()
    result = learning_curve(GaussianNB(), X, y, random_state=0)
    pointwise = learning_curve(GaussianNB(), X, y, band="pointwise", random_state=0)
    low, high = result.pointwise_limits()
    assert_array_equal(low, pointwise.low)
    assert_array_equal(high, pointwise.high)
    assert (result.low <= low).all()
    assert (high <= result.high).all()
    for k, x in enumerate(result.x):
        point = result.at(x)
        assert (point.confidence_interval.low, point.confidence_interval.high) == (low[k], high[k])
        assert point.estimand == "method"
        wider = point.interval(confidence_level=0.99)
        assert wider.low < low[k]
        assert wider.high > high[k]


def test_a_point_is_a_result_of_a_method_that_can_be_saved(tmp_path):
    X, y = numbered()
    result = learning_curve(GaussianNB(), X, y, scoring="roc_auc", random_state=0)
    result.save(tmp_path / "curve.skboot")
    loaded = CurveResult.load(tmp_path / "curve.skboot")
    assert loaded == result
    point = loaded.at(50)
    point.save(tmp_path / "point.skboot")
    assert type(point).load(tmp_path / "point.skboot") == point
    assert point.metric == "ROC AUC at 50 training rows"
    assert "test row" not in point.summary() + point.claim() + result.summary() + result.claim()
    assert "resampled" not in result.summary()


# ------------------------------------------------------------------ what goes wrong


def test_a_size_at_which_all_trainings_fail_has_no_value():
    X, y = numbered()
    with (
        pytest.warns(FitFailedWarning, match="20 of 60 runs failed"),
        pytest.warns(UndefinedMetricWarning, match="no score at 1 of 3 sizes"),
    ):
        result = learning_curve(Narrow(), X, y, train_sizes=SIZES, random_state=0)
    assert_array_equal(np.isnan(result.estimate), [True, False, False])
    assert any("no score at 1 of 3 sizes" in note for note in result.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = learning_curve(GaussianNB(), X, y, train_sizes=SIZES, random_state=0)
    assert_array_equal(result.estimate[1:], other.estimate[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": (0.5, 1.0)}, r"'train_sizes' .* must be shares in \(0, 0.9\]"),
        ({"train_sizes": (0.5, 0.2)}, "must rise in numbers of rows"),
        ({"train_sizes": (1, 50)}, "must be training sets of 2 to 90 of the 100 rows"),
        ({"train_sizes": 0.5}, "must be a list of shares"),
        ({"train_sizes": ()}, "must be a list of shares"),
        ({"n_repeats": 1}, "'n_repeats' parameter of learning_curve"),
        ({"scoring": ["accuracy", "f1"]}, "'scoring' .* must be one metric"),
        ({"band": "wide"}, "'band' parameter of learning_curve"),
        ({"memory": "here"}, "must be None without a random_state"),
    ],
)
def test_what_cannot_be_right_is_refused(options, message):
    X, y = numbered()
    with pytest.raises(ValueError, match=message):
        learning_curve(GaussianNB(), X, y, **options)


def test_an_error_does_not_speak_of_another_function():
    X, y = numbered()
    with pytest.raises(ValueError, match=r"^All 8 runs failed. First error: ValueError: too few"):
        learning_curve(Narrow(), X[:40], y[:40], n_repeats=4, train_sizes=(0.2, 0.5))
    with pytest.raises(ValueError, match=r"^This estimator requires y"):
        learning_curve(GaussianNB(), X)


def test_no_estimator_is_called_difference():
    X, y = numbered()
    with pytest.raises(ValueError, match=r"'estimator' .* must name no system 'difference'"):
        learning_curve({"difference": GaussianNB(), "b": GaussianNB()}, X, y)


def test_other_sizes_are_asked_for_by_train_sizes():
    X, y = numbered()
    result = learning_curve(GaussianNB(), X, y, random_state=0)
    for outside in (10, 95):
        with pytest.raises(ValueError, match=rf"call again with train_sizes=\[{outside}\]"):
            result.at(outside)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_between_two_sizes_the_curve_is_the_line_between_theirs(scoring):
    X, y = numbered(200)
    result = learning_curve(GaussianNB(), X, y, scoring=scoring, random_state=0)
    low, high = result.x[1], result.x[2]
    for share in (1e-12, 0.25, 1 - 1e-12):
        point = result.at(low + share * (high - low))
        expected = (1 - share) * result.estimate[1] + share * result.estimate[2]
        assert point.estimate == pytest.approx(expected, abs=1e-12)
        draws = (1 - share) * result.bootstrap_distribution[:, 1]
        draws = draws + share * result.bootstrap_distribution[:, 2]
        assert_allclose(point.bootstrap_distribution, draws, atol=1e-9)
    # The interval goes over into those of the sizes, and is said to be of a line.
    end = result.at(high - 1e-3)
    assert_allclose(end.confidence_interval[:2], result.at(high).confidence_interval[:2], atol=1e-4)
    assert "straight line between 66 and 100 rows" in end.summary()


@pytest.mark.parametrize("scoring", ["accuracy", "f1", "roc_auc"])
def test_training_scores_are_those_of_the_rows_trained_on(scoring, tmp_path):
    X, y = numbered()
    options = {"train_sizes": SIZES, "n_repeats": 4, "scoring": scoring}
    plain = learning_curve(GaussianNB(), X[:, 1:], y, random_state=0, **options)
    result, rows = trained(X, y, return_train_score=True, **options)
    scorer = get_scorer(scoring)
    expected = [scorer(GaussianNB().fit(X[own, 1:], y[own]), X[own, 1:], y[own]) for own in rows]
    assert_allclose(result.train_scores.ravel(), expected, rtol=1e-12)
    assert_allclose(result.train_estimate, np.reshape(expected, (3, 4)).mean(axis=1))
    # The scores of the rows outside are as they were.
    assert_allclose(result.estimate, plain.estimate, rtol=1e-12)
    assert_allclose(result.low, plain.low, rtol=1e-9)
    assert plain.train_scores is None
    result.save(tmp_path / "curve.npz")
    assert CurveResult.load(tmp_path / "curve.npz") == result
    assert "on training rows" in result.summary()


def test_a_difference_has_that_of_the_training_scores():
    pytest.importorskip("matplotlib")
    X, y = numbered()
    methods = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    curves = learning_curve(
        methods, X, y, train_sizes=SIZES, n_repeats=3, return_train_score=True, random_state=0
    )
    change = curves["bayes"].train_scores - curves["tree"].train_scores
    assert_array_equal(curves["difference"].train_scores, change)
    assert (curves["tree"].train_scores == 1).all()
    labels = [line.get_label() for line in curves.plot().lines_]
    assert sum("on training rows" in label for label in labels) == 2


# ------------------------------------------------------------------ more rows


def test_more_rows_are_foretold_by_the_law_of_the_curve():
    X, y = load_diabetes(return_X_y=True)
    half = np.random.default_rng(0).permutation(len(y))[:220]
    curve = learning_curve(
        LinearRegression(), X[half], y[half], scoring="neg_mean_squared_error", random_state=0
    )
    point = curve.extrapolate(440)
    low, high = point.confidence_interval
    assert curve.estimate[-1] < point.estimate < -2000
    assert low < point.estimate < high
    assert high - low > np.ptp(curve.at(curve.x[-1]).confidence_interval[:2])
    assert point.metric.endswith("at 440 training rows")
    assert "CI" not in point.summary() + point.claim()


@pytest.mark.parametrize("rows", [90, 50, 201, float("nan")])
def test_rows_at_hand_and_far_more_are_not_extrapolated(rows):
    X, y = numbered()
    curve = learning_curve(GaussianNB(), X, y, n_repeats=4, random_state=0)
    with pytest.raises(ValueError, match="must be more than 90 training rows and at most 200"):
        curve.extrapolate(rows)


def test_differences_and_short_curves_are_not_extrapolated():
    X, y = numbered()
    methods = {"a": GaussianNB(), "b": LogisticRegression()}
    table = learning_curve(methods, X, y, n_repeats=4, random_state=0)
    short = learning_curve(GaussianNB(), X, y, n_repeats=4, train_sizes=SIZES, random_state=0)
    for curve in (table["difference"], short):
        with pytest.raises(ValueError, match="must be asked of a learning curve with scores at 4"):
            curve.extrapolate(150)


def test_a_learning_curve_holds_the_losses_of_one_size_at_a_time():
    rng, n = np.random.default_rng(0), 20_000
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    curve = partial(learning_curve, DummyClassifier(), n_repeats=20, random_state=0)
    curve(X[:200], y[:200])
    tracemalloc.start()
    curve(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # One loss of each run for each row; a copy of them all and more was held.
    assert peak < 2.0 * 8 * n * 20 * 5
