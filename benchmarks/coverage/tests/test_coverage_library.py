"""The library of coverage studies draws what it says, resumes, and judges by the written rule."""

import importlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from benchmarks.coverage import (
    acceptance,
    exceptions,
    pairs,
    references,
    runner,
    scores,
    systems,
)
from benchmarks.coverage.page import formats
from benchmarks.coverage.runner import Cell, Study, Tool
from benchmarks.coverage.samples import (
    MethodSample,
    SystemSample,
    errors,
    of_estimator,
    squared_errors,
)
from benchmarks.coverage.tools import TOOLS

NEW = (
    "frozen_systems",
    "real_predictions",
    "grouped_systems",
    "told_apart",
    "several_systems",
    "subgroups",
    "tutorial",
)
STUDIES = Path(runner.__file__).parent / "studies"
# Cells were added since the last run.
UNFINISHED = ("customary", "tables", "tables_drawn", "task_averages")


def study_of(name):
    return importlib.import_module(f"benchmarks.coverage.studies.{name}").STUDY


# ------------------------------------------------------------------ scores


IN_SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "F1": metrics.f1_score,
    "macro F1": lambda y, p: metrics.f1_score(y, p, average="macro"),
    "AUC": metrics.roc_auc_score,
    "average precision": metrics.average_precision_score,
    "MCC": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
    "MSE": metrics.mean_squared_error,
    "MAE": metrics.mean_absolute_error,
    "pinball": lambda y, p: metrics.mean_pinball_loss(y, p, alpha=0.9),
    "log loss": lambda y, p: metrics.log_loss(y, p, labels=[0, 1]),
    "RMSE": metrics.root_mean_squared_error,
    "R2": metrics.r2_score,
    "median absolute error": metrics.median_absolute_error,
    # A missed positive costs five times as much as a false alarm, and as much.
    "cost": lambda y, p: (
        np.mean(y != p, where=y == 1) * 5 * np.mean(y == 1) + np.mean((y == 0) & (p == 1))
    ),
    "cost 0/1": metrics.zero_one_loss,
}


def drawn(name, rng, n=60):
    y = rng.integers(0, 4 if name in ("macro F1", "kappa") else 2, size=n)
    if name in ("AUC", "average precision", "log loss"):
        return y, np.round(rng.random(n), 1)
    if name in ("accuracy", "F1", "macro F1", "MCC", "kappa", "cost", "cost 0/1"):
        return y, np.where(rng.random(n) < 0.7, y, rng.permutation(y))
    return rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("name", scores.SCORES)
def test_fast_scores_are_scikit_learns_in_a_row_and_in_many(name):
    rng = np.random.default_rng(0)
    pairs = [drawn(name, rng) for _ in range(5)]
    function, expected = scores.SCORES[name].function, [IN_SKLEARN[name](*pair) for pair in pairs]
    assert [float(function(*pair)) for pair in pairs] == pytest.approx(expected)
    y, p = (np.array(side) for side in zip(*pairs, strict=True))
    assert function(y, p) == pytest.approx(np.array(expected))


# ------------------------------------------------------------------ truths


def large(n):
    """Generators of n rows (or groups) whose scores are near their truth."""
    yield systems.proportion(n, 0.9)
    for name in ("F1", "MCC", "kappa", "cost"):
        yield systems.two_classes(name, n, 0.3, 0.8, 0.1)
    yield systems.many_classes("macro F1", n, 30, 0.5, 0.9)
    yield systems.many_classes("kappa", n, 4, 0.5, 0.9)
    for name in ("AUC", "average precision"):
        yield systems.scored(name, n, 0.3, 0.9, spread=1.5)
    for name in ("MSE", "MAE", "pinball", "RMSE", "R2", "median absolute error"):
        yield systems.regression(name, n, "t5")
    yield systems.regression("MSE", n, "lognormal .5")
    yield systems.regression("MAE", n, "uniform")
    yield systems.probabilities(n, 2.0, 1.5)


def test_truths_are_those_of_large_samples():
    # The jackknife over 30 parts gives a standard error; 18 scores within 4.5 of them: a false
    # alarm once in 500 seeds (t with 29 degrees of freedom).
    for number, draw in enumerate(large(40_000)):
        sample = draw(np.random.default_rng(number))
        score, parts = sample.score.function, np.arange(40_000) % 30
        kept = [parts != k for k in range(30)]
        left = [float(score(sample.y_true[rows], sample.y_pred[rows])) for rows in kept]
        error = 29 / np.sqrt(30) * np.std(left, ddof=1)
        value = float(score(sample.y_true, sample.y_pred))
        assert abs(value - sample.truth[""]) < 4.5 * error, (number, sample.score.name)


@pytest.mark.parametrize(
    "draw",
    [
        systems.grouped("accuracy", 300, (5, 20), 0.3, 0.9),
        systems.grouped("MAE", 300, (5, 20), 0.2, 0.5),
        systems.grouped("AUC", 300, (5, 20), 0.4, 0.9),
        systems.crossed("accuracy", 60, 60, 0.2, 0.8),
        systems.crossed("AUC", 60, 60, 0.2, 0.9),
        systems.crossed("AUC", 60, 60, 0.1, 0.8, by_member=True),
        systems.trials("AUC", 120, 0.2, 0.9),
        systems.trials("accuracy", 100, 0.2, 0.9),
    ],
)
def test_truths_with_groups_are_those_of_many_data_sets(draw):
    # 40 data sets within 4 standard errors (t with 39 degrees of freedom): once in 3600 seeds.
    samples = [draw(np.random.default_rng(k)) for k in range(40)]
    values = [float(one.score.function(one.y_true, one.y_pred)) for one in samples]
    error = np.std(values, ddof=1) / np.sqrt(40)
    assert abs(np.mean(values) - samples[0].truth[""]) < 4 * error


@pytest.mark.parametrize(
    "draw",
    [
        pairs.accuracies(100_000, 0.9, 0.8),
        pairs.two_classes("F1", 100_000, 0.3, (0.8, 0.1), (0.7, 0.1)),
        pairs.two_classes("MCC", 100_000, 0.3, (0.8, 0.1), (0.7, 0.1)),
        pairs.macro_f1_scores(100_000, 10, (0.7, 0.95), (0.6, 0.9)),
        pairs.ranked("AUC", 100_000, 0.4, 0.85, 0.8),
        pairs.ranked("average precision", 100_000, 0.3, 0.9, 0.85),
        pairs.absolute_errors(100_000, 1.15, 1.0),
        pairs.errors("MSE", 100_000, "t5", 1.2, 1.0),
        pairs.explained(100_000, 1.0, 1.2),
        pairs.probabilities(100_000, 0.3, 2.0, 1.0),
    ],
)
def test_true_differences_are_those_of_large_samples(draw):
    # The jackknife over 30 parts; 4.5 standard errors: once in 1000 seeds for all ten.
    sample = draw(np.random.default_rng(0))
    parts = np.arange(100_000) % 30

    def difference(rows):
        y, score = sample.y_true[rows], sample.score.function
        return float(score(y, sample.first[rows]) - score(y, sample.second[rows]))

    left = [difference(parts != k) for k in range(30)]
    error = 29 / np.sqrt(30) * np.std(left, ddof=1)
    assert abs(difference(parts >= 0) - sample.truth["difference"]) < 4.5 * error


@pytest.mark.parametrize(
    "draw",
    [
        pairs.grouped("accuracy", 300, (5, 20), 0.3, 0.9, 0.85),
        pairs.grouped("MAE", 300, (5, 20), 0.3, 0.6, 0.5),
        pairs.grouped("AUC", 300, (5, 20), 0.3, 0.9, 0.85),
        pairs.crossed("accuracy", 60, 60, 0.15, 0.9, 0.85),
        pairs.crossed("AUC", 60, 60, 0.15, 0.9, 0.85),
        pairs.trials(120, 0.2, 0.95, 0.9),
    ],
)
def test_true_differences_with_groups_are_those_of_many_data_sets(draw):
    # 40 data sets within 4 standard errors (t with 39 degrees of freedom): once in 600 seeds.
    samples = [draw(np.random.default_rng(k)) for k in range(40)]
    values = [
        float(
            one.score.function(one.y_true, one.first) - one.score.function(one.y_true, one.second)
        )
        for one in samples
    ]
    error = np.std(values, ddof=1) / np.sqrt(40)
    assert abs(np.mean(values) - samples[0].truth["difference"]) < 4 * error


def test_exceptions_are_found_by_what_a_data_set_shows():
    score = scores.SCORES["MSE"]
    zeros, rng = np.zeros(1000), np.random.default_rng(0)
    light = rng.uniform(size=1000)
    assert exceptions.exception_of(score, light, zeros) == ""
    one = np.where(np.arange(1000) == 3, 50.0, light)
    assert exceptions.exception_of(score, one, zeros) == "one row above a tenth of the sum"
    y = (np.arange(100) < 19).astype(int)
    rare = exceptions.exception_of(scores.SCORES["AUC"], y, rng.random(100))
    assert rare == "minority class under 20"
    groups = np.repeat(np.arange(25), 4)
    few = exceptions.exception_of(scores.SCORES["accuracy"], y, np.zeros(100, int), groups)
    assert few == ""
    few = exceptions.exception_of(scores.SCORES["accuracy"], y, y, groups // 2)
    assert few == "under 20 groups"


# ------------------------------------------------------------------ runner


def coin(rng):
    y = rng.integers(0, 2, size=20)
    return SystemSample(y, rng.integers(0, 2, size=20), scores.SCORES["accuracy"], {"": 0.5})


def wald(sample, seed):
    p = float(np.mean(sample.y_true == sample.y_pred))
    reach = 1.96 * math.sqrt(p * (1 - p) / 20)
    return {"": (p - reach, p + reach), "none": (math.nan, 1.0)}


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    return lambda n, chunk: Study(
        "small", (Cell("coin", "k", coin, {"t": n}),), {"t": Tool("t", wald)}, chunk=chunk
    )


COUNTS = ("repetitions", "truth below", "truth above", "no interval")


def test_parts_add_up_to_one_run_and_nothing_is_run_twice(small):
    assert small(30, 30).run()
    [whole, none] = acceptance.measured(small(30, 30).path)
    small(30, 30).path.unlink()
    assert not small(30, 10).run(minutes=0)
    runner.append(small(30, 10).path, first_rows(small(30, 10)))
    assert small(30, 10).run()
    rows = runner.read(small(30, 10).path)
    assert [row["first"] for row in rows] == ["0", "0", "10", "10", "20", "20"]
    [parts, _] = acceptance.measured(small(30, 10).path)
    assert (parts.repetitions, parts.missed) == (whole.repetitions, whole.missed)
    assert parts.width == pytest.approx(whole.width, rel=1e-4)
    assert none.missed == none.without == 30
    assert list(runner.open_tasks(small(30, 10))) == []
    assert [task[2:] for task in runner.open_tasks(small(45, 10))] == [(30, 10), (40, 5)]


def first_rows(study):
    cell, tool, first, n = next(runner.open_tasks(study))
    return runner.rows_of(study, cell, tool, first, n)


def test_a_table_of_cells_is_filled_once_and_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    called = []

    def row_of(name, n):
        called.append((name, n))
        return (f"{n}.00",)

    cells = [("a", 1), ("b", 2), ("b", 10)]
    study = runner.TableStudy("cells", ("name", "n", "value"), cells, runner.one_line(row_of))
    assert not study.run(minutes=-1)
    assert study.run(cells="a")
    assert study.run()
    assert called == cells
    assert [row["value"] for row in runner.read(study.path)] == ["1.00", "2.00", "10.00"]


def test_a_cell_of_several_lines_is_made_anew_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    for n in 1, 2:
        study = runner.titled(
            "titles",
            ("title", "line", "sets"),
            {"a": 0, "b": 10},
            lambda number, cell, n=n: [(cell + k, n) for k in range(number + n)],
        )
        study = replace(study, is_enough=lambda row, n=n: int(row["sets"]) >= n)
        assert study.run()
    lines = [(row["title"], row["line"]) for row in runner.read(study.path)]
    assert lines == [("a", "0"), ("a", "1"), ("b", "10"), ("b", "11"), ("b", "12")]


def test_every_study_is_on_the_frame_and_names_what_its_table_has():
    for name in sorted(path.stem for path in STUDIES.glob("[a-z]*.py")):
        if name == "exact_proportions":  # Its table is on a page alone.
            continue
        studies = importlib.import_module(f"benchmarks.coverage.studies.{name}").STUDY
        for study in studies if isinstance(studies, tuple) else (studies,):
            rows = runner.read(study.path)
            if isinstance(study, runner.Study) or not rows:
                continue
            if name == "neutral":  # Goes on data set by data set; test_neutral.py has its cells.
                continue
            width = len(study.cells[0])
            assert tuple(rows[0])[: len(study.header)] == tuple(study.header)
            there = {tuple(row[column] for column in study.header[:width]) for row in rows}
            cells = {tuple(map(str, cell)) for cell in study.cells}
            assert cells & there if name in UNFINISHED else cells <= there, name


def test_a_row_of_too_few_data_sets_is_made_anew_in_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    header, cells = ("name", "sets"), [("a",), ("b",)]

    def is_enough(row):
        return int(row["sets"]) >= 4

    for made in (2, 5), (4, 4):
        sets = dict(zip("ab", made, strict=True))
        study = runner.TableStudy("cells", header, cells, lambda n, of=sets: [(of[n],)], is_enough)
        assert study.run()
    rows = runner.read(study.path)
    assert [(row["name"], row["sets"]) for row in rows] == [("a", "4"), ("b", "5")]


def test_workers_change_no_number():
    study = study_of("frozen_systems")
    cell, tool = study.cells[0], study.tools["skboot"]
    one, two = (runner.rows_of(study, cell, tool, 0, 4, n_jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert {k: a[k] for k in a if k != "seconds"} == {k: b[k] for k in b if k != "seconds"}


def test_counts_are_those_of_the_intervals(small):
    study = small(200, 200)
    [row, _] = first_rows(study)
    low = high = 0
    for r in range(200):
        rng, _ = runner.seeds_of("small", "coin", r)
        interval = wald(coin(rng), 0)[""]
        low, high = low + (interval[0] > 0.5), high + (interval[1] < 0.5)
    assert (row["truth below"], row["truth above"]) == (low, high)
    assert float(row["coverage %"]) == pytest.approx(100 * (1 - (low + high) / 200), abs=0.006)


def test_a_test_speaks_of_its_target_alone(small):
    def call(sample, seed):
        return {"": (0.4, 0.6), "test": {"zero": runner.decision(True, -1.0)}}

    def draw(rng):
        sample = coin(rng)
        return SystemSample(sample.y_true, sample.y_pred, sample.score, {"": 0.5, "zero": 0.0})

    cell = Cell("coin", "k", draw, {"t": 3})
    study = Study("small", (cell,), {"t": Tool("t", call)})
    found = {
        (row["tool"], row["target"]): (row["truth below"], row["truth above"])
        for row in runner.rows_of(study, cell, study.tools["t"], 0, 3)
    }
    assert found == {("t", ""): (0, 0), ("t", "zero"): (3, 0), ("t: test", "zero"): (0, 3)}


# ------------------------------------------------------------------ references


def sample_of(n, learner=None, loss=squared_errors, groups=None):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + rng.normal(size=n)
    learner = learner or of_estimator(LinearRegression())
    return MethodSample(X, y, learner, loss, {"": 1.0}, groups)


def constant(X, y, weights, X_new):
    """A method that learns nothing."""
    return np.zeros((len(weights), len(X_new)))


def test_where_nothing_is_learnt_the_row_errors_are_all_there_is():
    sample = sample_of(40, constant)
    losses = sample.y**2
    [(low, high)] = references.per_row(sample, 0).values()
    assert (low + high) / 2 == pytest.approx(losses.mean())
    assert (high - low) / 2 == pytest.approx(1.959964 * losses.std() / np.sqrt(40))
    limits = references.corrected_t(sample, 0)
    for interval in (limits[""], limits["naive"], references.nested(sample, 0)[""]):
        assert np.mean(interval) == pytest.approx(losses.mean())


def test_the_corrected_t_is_that_of_the_fold_means():
    sample = sample_of(50)
    rng = np.random.default_rng(7)
    means = []
    for _ in range(2):
        folds = rng.permutation(50) % 5
        for k in range(5):
            fit = LinearRegression().fit(sample.X[folds != k], sample.y[folds != k])
            test = folds == k
            means.append(np.mean((fit.predict(sample.X[test]) - sample.y[test]) ** 2))
    low, high = references.corrected_t(sample, 7, n_repeats=2, n_folds=5)[""]
    # Nadeau and Bengio (2003): the variance times 1 / J + n_test / n_train.
    reach = stats.t.ppf(0.975, 9) * np.sqrt(np.var(means, ddof=1) * (1 / 10 + 1 / 4))
    assert (low, high) == pytest.approx((np.mean(means) - reach, np.mean(means) + reach))


def grouped_losses(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    given = np.random.default_rng(3).exponential(size=len(groups)) * (1 + groups)
    return SystemSample(np.zeros(len(groups)), given, scores.SCORES["MAE"], {"": 1.0}, groups)


def test_cv3_is_the_t_interval_of_group_means_where_groups_are_equal():
    sample = grouped_losses(np.full(8, 5))
    assert references.cv3(sample, 0)[""] == pytest.approx(references.means_of_groups(sample, 0)[""])


def test_cv3_of_unequal_groups_is_the_robust_variance_with_leverages():
    # For a mean the error of the group with share h of the rows is stretched by 1 / (1 - h).
    sizes = np.array([1, 3, 4, 12, 30])
    sample = grouped_losses(sizes)
    mean, share = sample.y_pred.mean(), sizes / sizes.sum()
    sums = np.bincount(sample.groups, sample.y_pred - mean) / sizes.sum()
    error = np.sqrt(4 / 5 * np.sum((sums / (1 - share)) ** 2))
    reach = stats.t.ppf(0.975, 4) * error
    assert references.cv3(sample, 0)[""] == pytest.approx((mean - reach, mean + reach))


def test_the_sums_of_cv3_of_several_systems_are_those_of_the_rows():
    from benchmarks.coverage.studies import unequal_groups

    name = "2 equal systems, 30 groups of 2 to 200"
    low, high, *_ = unequal_groups.cv3_of_several(name, 1, 0)
    rng, sizes, groups = unequal_groups.data_of(name, 1, 0)
    first, second = unequal_groups.equal_systems(2, False, rng, sizes)
    without = [np.mean((first - second)[groups != group]) for group in range(30)]
    limits = references.cv3_limits(np.mean(first - second), np.array(without))
    assert (low, high) == pytest.approx(limits)


def test_csranks_tells_two_systems_apart_beyond_the_normal_quantile():
    # The quantile of 1000 draws has a standard error of .06 at 1.96.
    for away, low, high in ((1.6, [1, 1], [2, 2]), (2.4, [1, 2], [1, 2])):
        means = np.array([away * math.sqrt(2), 0.0])
        found = references.csranks(means, np.eye(2), np.random.default_rng(0))
        assert [list(side) for side in found] == [low, high]


def test_csranks_goes_on_with_the_pairs_that_are_not_told_yet():
    # 2.6 standard errors are under the quantile of all ten pairs, 2.73, and over that of the one
    # that is left when those of systems that are far away are told, 1.96.
    means = np.array([1000.0, 100.0, 10.0, 2.6, 0.0]) * math.sqrt(2)
    low, high = references.csranks(means, np.eye(5), np.random.default_rng(1))
    assert list(low) == list(high) == [1, 2, 3, 4, 5]


def test_csranks_leaves_systems_open_that_do_not_differ_in_any_row():
    covariance = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    low, high = references.csranks(np.array([9.0, 9.0, 0.0]), covariance, np.random.default_rng(2))
    assert (list(low), list(high)) == ([1, 1, 3], [2, 2, 3])


def test_the_conservative_z_stands_on_halves_that_share_no_row():
    seen = []

    def watched(X, y, weights, X_new):
        seen.append(weights)
        return constant(X, y, weights, X_new)

    references.conservative_z(sample_of(40, watched), 0, n_halvings=2, n_splits=3)
    [weights] = seen
    assert weights.shape == (15, 40)
    assert weights[:3].sum(axis=1).tolist() == [36, 36, 36]
    for start in (3, 9):
        first, second = weights[start : start + 3], weights[start + 3 : start + 6]
        assert first.sum(axis=1).tolist() == [16, 16, 16]
        assert not np.any(first.any(axis=0) & second.any(axis=0))


def test_methods_leave_out_whole_groups():
    seen = []

    def watched(X, y, weights, X_new):
        seen.append(weights)
        return constant(X, y, weights, X_new)

    groups = np.repeat(np.arange(20), 3)
    sample = sample_of(60, watched, groups=groups)
    for call in (references.corrected_t, references.nested, references.conservative_z):
        call(sample, 0)
        by_group = seen[-1].reshape(-1, 20, 3)
        assert np.all(by_group == by_group[:, :, :1])


def test_the_default_of_methods_is_that_of_the_scorer():
    # Samples and folds differ, and with 200 samples a half-width has a Monte Carlo standard error
    # of 11 %; of the mean of six, 5 %. The limit is three times that of the difference of two.
    from skboot import BootstrapScorer

    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    sample = MethodSample(X, y, of_estimator(tree), errors, {"": 0.3}, bounds=(0.0, 1.0))
    call = TOOLS["skboot, method"].call
    ours = np.mean([call(sample, seed)[""] for seed in range(6)], axis=0)
    fits = [BootstrapScorer(tree, random_state=seed).fit(X, y) for seed in range(6)]
    expected = 1 - np.mean([tuple(fit.confidence_interval_) for fit in fits], axis=0)
    assert np.diff(ours) == pytest.approx(-np.diff(expected), rel=0.2)
    assert ours.mean() == pytest.approx(expected.mean(), abs=0.2 * np.diff(ours)[0])


# ------------------------------------------------------------------ peers


def binary(n=40):
    return systems.two_classes("F1", n, 0.4, 0.8, 0.2)(np.random.default_rng(1))


def test_the_fast_score_does_not_change_what_mlstatkit_gives():
    package = pytest.importorskip("MLstatkit")
    sample = binary()
    [limits] = TOOLS["MLstatkit"].call(sample, 5).values()
    plain = package.Bootstrapping(
        sample.y_true, sample.y_pred, "f1", average="binary", random_state=5
    )
    assert limits == pytest.approx(plain[1:])


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(10), 4)])
def test_kept_resamples_do_not_change_what_confidence_intervals_gives(groups):
    package = pytest.importorskip("confidence_intervals")
    sample = binary()
    sample = SystemSample(sample.y_true, sample.y_pred, sample.score, sample.truth, groups)
    plain = package.evaluate_with_conf_int(
        sample.y_pred, metrics.f1_score, labels=sample.y_true, conditions=groups
    )
    for _ in range(2):
        [limits] = TOOLS["confidence_intervals"].call(sample, 0).values()
        assert limits == pytest.approx(plain[1])


def test_scipy_is_given_the_score_of_whole_resamples():
    pytest.importorskip("scipy", minversion="1.15")  # the first that takes rng=
    sample = binary()
    [limits] = TOOLS["scipy"].call(sample, 2).values()
    plain = stats.bootstrap(
        (sample.y_true, sample.y_pred),
        metrics.f1_score,
        paired=True,
        vectorized=False,
        n_resamples=1000,
        rng=np.random.default_rng(2),
    )
    assert limits == pytest.approx(plain.confidence_interval)


# ------------------------------------------------------------------ acceptance


def row(cell, tool, missed, width, *, warned_of=0, kind="k"):
    n = 1000
    return acceptance.Measured(cell, kind, "", tool, n, missed, 0, width, warned_of, warned_of, 0.5)


def test_a_cell_is_below_only_where_its_upper_monte_carlo_limit_is():
    # 92 % of 1000: standard error .858 %, upper limit 94.2 %; 90 %: .949 %, 92.5 %.
    near, far = row("near", "skboot", 80, 1.0), row("far", "skboot", 100, 1.0)
    verdict = acceptance.judge("made", [near, far])
    assert [cell.cell for cell in verdict.under_most] == ["far"]
    assert verdict.under_all == ()
    assert not verdict.passes


def test_cells_in_an_exception_are_left_out_only_with_their_warning():
    told = row("told", "skboot", 300, 1.0, warned_of=500)
    silent = row("silent", "skboot", 300, 1.0, warned_of=499)
    verdict = acceptance.judge("made", [told, silent])
    assert [cell.cell for cell in verdict.left_out] == ["told"]
    assert [cell.cell for cell in verdict.under_all] == ["silent"]


def test_the_narrowest_tool_covers_in_every_cell_of_its_kind():
    ours = [row("a", "skboot", 50, 2.0), row("b", "skboot", 50, 2.0)]
    short = [row("a", "short", 50, 0.5), row("b", "short", 200, 0.5)]
    partial = [row("a", "partial", 50, 0.5)]
    fair = [row("a", "fair", 60, 1.0), row("b", "fair", 60, 2.0)]
    verdict = acceptance.judge("made", [*ours, *short, *partial, *fair])
    tool, ratio = verdict.ratios["k"]
    assert tool == "fair"
    assert ratio == pytest.approx(math.sqrt(2))
    assert list(verdict.too_wide) == ["k"]


def test_a_cell_of_twice_the_normal_width_is_flagged_even_if_it_covers():
    ours = [row("wide", "skboot", 50, 2.01), row("fair", "skboot", 50, 2.0)]
    ours.append(row("left out", "skboot", 300, 3.0, warned_of=500))
    normal = [row(one.cell, "skboot: normal", 50, 1.0) for one in ours]
    verdict = acceptance.judge("made", [*ours, *normal])
    assert [(cell.cell, ratio) for cell, ratio in verdict.flagged] == [
        ("wide", 2.01),
        ("left out", 3.0),
    ]
    assert "flagged: wide: 2.01 times" in acceptance.described(verdict)
    shown = formats.row_of("made", verdict, 3).outside
    assert ("wide", "2.01", "flagged: wider than twice the normal interval") in shown
    assert acceptance.judge("made", ours).flagged == ()


# ------------------------------------------------------------------ studies


@pytest.mark.parametrize("name", NEW)
def test_each_study_says_what_decides_and_names_tools_that_there_are(name):
    module = importlib.import_module(f"benchmarks.coverage.studies.{name}")
    assert "Written before the run." in " ".join(module.__doc__.split())
    assert "\nRule. " in module.__doc__
    names = [cell.name for cell in module.STUDY.cells]
    assert len(set(names)) == len(names)
    for cell in module.STUDY.cells:
        assert set(cell.tools) <= set(module.STUDY.tools)
        assert cell.tools.get("skboot", 1000) >= 1000


@pytest.mark.parametrize("name", NEW)
def test_committed_rows_are_those_of_the_study(name):
    study = study_of(name)
    rows = runner.read(study.path)
    kinds = {cell.name: cell.kind for cell in study.cells}
    for one in rows:
        assert kinds[one["cell"]] == one["kind"]
        assert one["tool"].partition(": ")[0] in study.tools
        assert one["versions"]
        assert one["command"].startswith("python -m benchmarks.coverage")
        missed = sum(int(one[key]) for key in COUNTS[1:])
        expected = 100 * (1 - missed / int(one["repetitions"]))
        assert float(one["coverage %"]) == pytest.approx(expected, abs=0.006)
    keys = [(one["cell"], one["target"], one["tool"], one["first"]) for one in rows]
    assert len(set(keys)) == len(keys)
