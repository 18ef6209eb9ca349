"""The neutral benchmark: learners are scikit-learn's, methods agree with numbers that R printed."""

import csv

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.coverage.neutral import data_sets, intervals, processes
from benchmarks.coverage.neutral.learners import LEARNERS
from benchmarks.coverage.neutral.processes import LOSSES, PROCESSES
from benchmarks.coverage.page.sections import neutral as section
from benchmarks.coverage.runner import read
from benchmarks.coverage.studies import neutral
from skboot import BootstrapScorer

TIGHT = {"tol": 1e-10, "max_iter": 5000}


def _models(process, y):
    """scikit-learn's estimators of the learners, for these training targets."""
    n = len(y)
    grown = {"min_samples_split": 20, "min_samples_leaf": 7, "max_depth": 30, "random_state": 0}
    trees = {"n_estimators": 50, "max_features": "sqrt", "random_state": 3}
    if process.is_labels:
        penalised = LogisticRegression(C=1 / (n * process.penalties[100]), **TIGHT)
        return {
            "linear": LogisticRegression(C=np.inf, solver="newton-cholesky", **TIGHT),
            "ridge": make_pipeline(StandardScaler(), penalised),
            "tree": DecisionTreeClassifier(ccp_alpha=0.02 * y.var(), **grown),
            "forest": RandomForestClassifier(min_samples_split=11, **trees),
        }
    return {
        "linear": LinearRegression(),
        "ridge": make_pipeline(StandardScaler(), Ridge(n * process.penalties[100] / y.std())),
        "tree": DecisionTreeRegressor(ccp_alpha=0.01 * y.var(), **grown),
        "forest": RandomForestRegressor(min_samples_split=6, **trees),
    }


@pytest.mark.parametrize("learner", list(LEARNERS))
@pytest.mark.parametrize("name", ["bates_classif_20", "friedman1", "chen_10"])
def test_learners_are_scikit_learns_on_repeated_rows(name, learner):
    process, rng = PROCESSES[name], np.random.default_rng(0)
    rows, fresh = process.draw(rng, 100), process.draw(rng, 50).X
    counts = rng.multinomial(100, np.full(100, 1 / 100), size=3)
    counts[0], counts[2] = 1, rng.permutation(100) < 40
    if process.is_labels and learner == "linear":
        counts = counts[:2]  # Labels of 40 rows are separated, and have no finite fit.
    answers = [LEARNERS[learner](process, rows.X, rows.y, own[None], fresh, 3)[0] for own in counts]
    for own, answer in zip(counts, answers, strict=True):
        taken = np.repeat(np.arange(100), own)
        model = _models(process, rows.y[taken])[learner].fit(rows.X[taken], rows.y[taken])
        if process.is_labels:
            expected = model.predict_proba(fresh)[:, 1]
        else:
            expected = model.predict(fresh)
        gaps = np.abs(answer - expected)
        if learner == "tree":
            # Splits that are equally good are chosen by lot: few rows are on another side.
            assert np.mean(gaps > 1e-9) <= 0.1
        else:
            assert gaps.max() < 1e-6


def test_all_training_samples_at_once_are_those_one_by_one():
    process, rng = PROCESSES["chen_10"], np.random.default_rng(1)
    rows = process.draw(rng, 100)
    counts = rng.multinomial(100, np.full(100, 1 / 100), size=5).astype(float)
    for learner in ("linear", "ridge"):
        fit = LEARNERS[learner]
        together = fit(process, rows.X, rows.y, counts, rows.X)
        apart = [fit(process, rows.X, rows.y, own[None], rows.X)[0] for own in counts]
        np.testing.assert_allclose(together, apart, rtol=1e-6)


# ------------------------------------------------------------------ methods


def test_limits_are_those_that_mlr3inferr_prints():
    # README: a tree on a third of the 208 rows of "sonar", accuracy; documentation of ci.wald_cv:
    # ten folds on "sonar", classification error.
    right = np.repeat([1.0, 0.0], [51, 18])
    np.testing.assert_allclose(intervals.holdout(right), (0.6347628, 0.8434981), atol=5e-8)
    wrong = np.repeat([1.0, 0.0], [97, 111])
    np.testing.assert_allclose(intervals.all_pairs(wrong), (0.3985507, 0.5341416), atol=5e-8)


def test_corrected_t_is_the_t_interval_with_another_variance():
    errors = np.random.default_rng(2).normal(size=25)
    plain = stats.ttest_1samp(errors, 0).confidence_interval(0.95)
    ratio = np.sqrt((1 / 25 + 10 / 90) / (1 / 25))
    found = intervals.corrected_t(errors, 90, 10)
    np.testing.assert_allclose(np.diff(found), ratio * (plain[1] - plain[0]))
    np.testing.assert_allclose(np.mean(found), errors.mean())


def test_out_of_bag_standard_error_is_that_of_skboot_as_published():
    from skboot.method_error.out_of_bag import out_of_bag_error

    rng = np.random.default_rng(3)
    counts, losses = rng.multinomial(40, np.full(40, 1 / 40), size=100), rng.random((100, 40))
    expected = out_of_bag_error(losses, counts, form="et97")
    found = intervals.out_of_bag(losses, counts)
    assert found[0] == pytest.approx(expected.error)
    # skboot divides by how often a row should be left out, the benchmark by how often it was.
    assert found[1] == pytest.approx(expected.standard_error_unadjusted, rel=0.05)


def test_nested_has_the_bias_and_the_bounds_of_its_paper():
    rng = np.random.default_rng(4)
    losses = rng.random(100)
    outer = losses.reshape(1, 5, 20)
    inner = np.array([[np.delete(losses.reshape(5, 20), k, axis=0).ravel() for k in range(5)]])
    low, high = intervals.nested(outer, inner)
    # The same losses in both: no bias, and a standard error within that of independent rows and
    # the root of five times that.
    assert (low + high) / 2 == pytest.approx(losses.mean())
    least = 2 * intervals.Z * inner.std(ddof=1) / 10
    assert least <= high - low <= least * np.sqrt(5)


# ------------------------------------------------------------------ data sets


def _planned():
    rng = np.random.default_rng(5)
    rows = PROCESSES["bates_classif_20"].draw(rng, 100)
    return rows, *data_sets.plan(rng, rows.y)


def test_trainings_are_as_many_and_as_large_as_the_methods_say():
    _, trainings, more = _planned()
    counts = trainings.counts
    sizes = {
        "all": (1, 100),
        "bootstrap": (200, 100),
        "ours": (50, 90),
        "10 folds": (10, 90),
        "splits": (100, 90),
        "holdout 2/3": (1, 67),
        "5 x 2": (10, 50),
        "outer": (50, 80),
        "inner": (100, 60),
        "z splits": (15, 90),
        "z halves": (300, 40),
        "leave-one-out": (100, 99),
        "replace-one": (205, 40),
    }
    for name, (n, size) in sizes.items():
        own = counts[trainings[name]]
        assert own.shape == (n, 100)
        np.testing.assert_array_equal(own.sum(axis=1), size)
    assert sum(n for n, _ in sizes.values()) == len(counts)
    tested, trained = more["z halves"], counts[trainings["z halves"]]
    assert not (tested & (trained > 0)).any()
    # Both halves of a pair, of which a split trains on 40 rows and tests on 10, share no row.
    used = (tested | (trained > 0)).reshape(10, 2, 15, 100)
    assert (used == used[:, :, :1]).all()
    assert not (used[:, 0] & used[:, 1]).any()


def test_nested_and_replace_one_are_those_of_models_trained_one_by_one():
    rows, trainings, more = _planned()
    process = PROCESSES["bates_classif_20"]

    def losses_of(train, test):
        counts = np.bincount(train, minlength=100)[None].astype(float)
        answers = LEARNERS["ridge"](process, rows.X, rows.y, counts, rows.X[test])
        return LOSSES["log"](answers, rows.y[test])[0]

    answers = LEARNERS["ridge"](process, rows.X, rows.y, trainings.counts, rows.X)
    losses = LOSSES["log"](answers, rows.y)
    found = data_sets.limits(losses, losses[0], 0.7, (0, np.inf), trainings, more)[1]
    every = np.arange(100)
    outer, inner = [], []
    for fold in more["nested"][:3]:
        outer.append([losses_of(every[fold != k], every[fold == k]) for k in range(5)])
        inner.append(
            [
                np.concatenate(
                    [
                        losses_of(every[(fold != k) & (fold != j)], every[fold == j])
                        for j in range(5)
                        if j != k
                    ]
                )
                for k in range(5)
            ]
        )
    expected = intervals.nested(np.array(outer), np.array(inner))
    np.testing.assert_allclose(found["nested 3 x 5"], expected, rtol=1e-6)
    fold, half, others = more["replace-one"]

    def error(own):
        tested = [losses_of(own[fold != k], own[fold == k]) for k in range(5)]
        return np.concatenate(tested).mean()

    replaced = [error(np.where(np.arange(50) == at, others, half)) for at in range(50)]
    centre = np.mean(np.array(outer[0]))
    expected = intervals.replace_one(centre, error(half), np.array(replaced))
    np.testing.assert_allclose(found["replace-one"], expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:BootstrapScorer:UserWarning")
def test_our_interval_is_that_of_bootstrap_scorer():
    rows, trainings, more = _planned()
    process = PROCESSES["bates_classif_20"]
    model = _models(process, rows.y)["ridge"]
    scorer = BootstrapScorer(model, scoring="accuracy", random_state=0).fit(rows.X, rows.y)
    low, high = scorer.result_.interval("cv-bootstrap")
    answers = LEARNERS["ridge"](process, rows.X, rows.y, trainings.counts, rows.X)
    losses = LOSSES["zero-one"](answers, rows.y)
    chance = processes.no_information("zero-one", answers[0], rows.y)
    own = data_sets.limits(losses, losses[0], chance, (0, 1), trainings, more)[1]["cv-bootstrap"]
    # Other samples: the same interval up to the Monte Carlo error of 80 samples and 3 repeats.
    np.testing.assert_allclose([1 - own.high, 1 - own.low], [low, high], atol=0.04)


# ------------------------------------------------------------------ processes


@pytest.mark.parametrize("name", ["bates_classif_20", "bates_regr_20", "friedman1", "chen_10"])
def test_risks_are_mean_losses_on_new_targets(name):
    process, rng = PROCESSES[name], np.random.default_rng(6)
    rows, fresh = process.draw(rng, 100), process.draw(rng, 40_000)
    answers = LEARNERS["ridge"](process, rows.X, rows.y, np.ones((1, 100)), fresh.X)
    for loss, (risk, error) in process.risks(answers, fresh.law).items():
        losses = LOSSES[loss](answers, fresh.y)[0]
        spread = losses.std() / np.sqrt(len(losses))
        assert abs(risk[0] - losses.mean()) < 4 * spread
        assert error[0] < spread


def test_the_lognormal_target_has_its_moments():
    rng = np.random.default_rng(7)
    mean, variance = processes.lognormal_moments()
    rest = 4 / (1 + np.exp(-20 * (rng.normal(0.2, size=10**6) - 0.5)))
    assert mean - 0.25 * np.exp(8.8) == pytest.approx(rest.mean() + 0.6, abs=0.02)
    assert variance == pytest.approx(np.exp(17.6) * np.expm1(16) / 16, rel=1e-6)


def test_no_information_is_the_mean_over_all_pairs():
    answers, y = np.array([0.2, 0.7, 0.6]), np.array([0, 1, 1])
    expected = np.mean([(a > 0.5) != target for a in answers for target in y])
    assert processes.no_information("zero-one", answers, y) == pytest.approx(expected)


# ------------------------------------------------------------------ the study


def test_the_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(neutral, "RESULTS", tmp_path)
    monkeypatch.setattr(neutral, "METHODS", {"holdout .9": 1})
    header = tuple(name for name in neutral.SETS_HEADER if name.partition(" ")[0] != "low")
    header = (*(name for name in header if name.partition(" ")[0] != "high"),)
    header += ("low holdout .9", "high holdout .9")
    monkeypatch.setattr(neutral, "SETS_HEADER", header)
    calls = []

    def made(cell, seeds, number):
        calls.append((cell, number))
        own = data_sets.Outcome(0.2, 0.01, (0.2,) * 4, 0.3 + number / 100, {})
        own.limits["holdout .9"] = intervals.Limits(0.1, 0.4)
        return {"zero-one": own, "log": own}

    monkeypatch.setattr(neutral, "outcomes", made)
    risks = {loss: np.full(100, 0.2) for loss in ("zero-one", "log")}
    monkeypatch.setattr(neutral, "expected_risks", lambda cell, seeds: risks)
    cell = neutral.QUICK[0]
    monkeypatch.setattr(neutral, "ROUNDS", (([cell], 5), ([cell], 8)))
    study = neutral.Neutral(1)
    assert not study.run(minutes=-1)
    assert study.run()
    assert [number for _, number in calls] == list(range(8))
    assert study.run()
    assert len(calls) == 8
    with study.path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["loss"] for row in rows] == ["zero-one", "log"]
    assert rows[0]["sets"] == "8"
    assert float(rows[0]["cover_er"]) == 1.0
    assert float(rows[0]["width"]) == pytest.approx(
        0.3 / (3.92 * np.std(0.3 + np.arange(8) / 100, ddof=1)), abs=1e-4
    )


def test_undercoverage_is_that_of_the_paper():
    assert neutral.undercoverage(np.array([0.93, 0.97, 0.85])) == pytest.approx(0.12 / 3)


# ------------------------------------------------------------------ what the page says

RUN = pytest.mark.skipif(not neutral.Neutral(1).path.exists(), reason="the study was not run")


@RUN
@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize(
    "method", ["corrected t 50", "10 folds", "conservative z 10 x 15", "5 folds", ".632+ 100"]
)
def test_coverages_are_those_that_the_authors_published(method, target):
    [found] = [own for own in section.agreements(target) if own.method == method]
    assert found.n_cells >= 20
    assert abs(found.ours - found.theirs) < 3 * found.error


@RUN
def test_every_cell_of_a_hundred_rows_is_in_the_table_with_its_error():
    rows = read(neutral.Neutral(1).path)
    for cell in (*neutral.AT_100, *neutral.FORESTS):
        for loss in PROCESSES[cell.process].losses:
            own = [
                row
                for row in rows
                if (row["process"], row["learner"], row["n"], row["loss"])
                == (cell.process, cell.learner, "100", loss)
            ]
            assert [row["method"] for row in own] == list(data_sets.METHODS)
            assert all(0 < float(row["mc_error"]) < 0.25 for row in own)


@RUN
@pytest.mark.parametrize("seeds", [1, 2])
def test_the_table_is_that_of_the_data_sets(seeds):
    made = neutral.table(neutral.Neutral(seeds).sets_path)
    for row, own in zip(read(neutral.Neutral(seeds).path), made, strict=True):
        assert {name: str(value) for name, value in own.items()} == {k: row[k] for k in own}


@RUN
def test_the_replicate_has_other_data_and_the_same_coverages_up_to_chance():
    """Two binomial shares each; cells of a process are not independent, hence four errors."""
    first, second = ({tuple(cell[:4]): cell for cell in section._cells(seeds)} for seeds in (1, 2))
    whole = [k for k, cell in second.items() if cell.sets >= section.ENOUGH and not cell.apart]
    assert len(whole) >= 22 * len(data_sets.METHODS)
    gaps = np.array([second[k].cover_er - first[k].cover_er for k in whole])
    errors = np.array([np.hypot(first[k].mc_error, second[k].mc_error) for k in whole])
    assert np.abs(gaps / errors).max() < 4.5
    assert np.mean(gaps != 0) > 0.3
    widths = np.array([(first[k].width, second[k].width) for k in whole])
    widths = widths[np.isfinite(widths).all(axis=1) & (widths > 0).all(axis=1)]
    assert 0.9 < np.median(widths[:, 1] / widths[:, 0]) < 1.1


def _line(er, width, r=0.0, method="another"):
    cell = section.Cell("p", "tree", 100, method, 200, 0.9, 0.9, 0.02, 0.1, 0.0, width, "")
    return section.Line(method, 0.95, er, 0.005, r, 0.005, (0.005, 0.005), cell, 1, 1, width, 1.0)


@pytest.mark.parametrize(
    ("er", "r", "width", "said"),
    [
        (0.015, 0.0, 0.97, "neither"),  # As good, and not 5 % narrower.
        (0.015, 0.0, 0.90, "**better than ours**"),
        (0.015, 0.0, 1.20, "ours better"),
        (0.001, 0.0, 1.20, "neither"),  # Covers more, and is wider.
        (0.035, 0.0, 0.80, "neither"),
        (0.035, 0.0, 0.99, "ours better"),
        (0.010, 0.02, 0.80, "neither"),  # The risk is held less often.
    ],
)
def test_better_is_what_the_rule_says(er, r, width, said):
    ours = _line(0.015, 1.0, method="cv-bootstrap")
    if er == 0.001:
        ours = ours._replace(er=0.02)
    assert section.beside_ours(ours, _line(er, width, r)) == said
