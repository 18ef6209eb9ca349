"""Runs of the study of several runs are what they say, and the claims on them hold by its rule."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_squared_error

from benchmarks.coverage import acceptance, runs
from benchmarks.coverage.page.sections import several_runs
from benchmarks.coverage.studies import seeds_training_test

IS_RUN = pytest.mark.skipif(
    not seeds_training_test.STUDY.path.exists(), reason="the study was not run yet"
)


def drawn(n=60, population=None, seed=0):
    rng = np.random.default_rng(seed)
    population = population or runs.Labels()
    train, new = population.draw(rng, n), population.draw(rng, 40)
    return train, new, rng.multinomial(n, np.full(n, 1 / n), size=3).astype(float)


def test_random_features_are_ridge_regression_on_repeated_rows():
    train, new, weights = drawn(population=runs.Values())
    found = runs.random_features(7, penalty=2.0)(
        train.X, train.y, weights, new.X, np.random.default_rng(5)
    )
    rng = np.random.default_rng(5)
    slopes = rng.normal(size=(3, train.X.shape[1], 7)) / np.sqrt(train.X.shape[1])
    starts = rng.normal(size=(3, 1, 7))
    for k in range(3):
        rows = np.repeat(np.arange(60), weights[k].astype(int))
        made, made_new = (np.maximum(X @ slopes[k] + starts[k], 0) for X in (train.X[rows], new.X))
        expected = Ridge(alpha=2.0).fit(made, train.y[rows]).predict(made_new)
        assert found[k] == pytest.approx(expected)


@pytest.mark.parametrize(
    "learner",
    [runs.network(3, n_steps=5), runs.random_partitions(3, 3), runs.stochastic_gradient(5)],
)
def test_weights_are_repeated_rows(learner):
    train, new, weights = drawn()
    found = learner(train.X, train.y, weights[:1], new.X, np.random.default_rng(1))
    rows = np.repeat(np.arange(60), weights[0].astype(int))
    ones = np.ones((1, 60))
    same = learner(train.X[rows], train.y[rows], ones, new.X, np.random.default_rng(1))
    assert found == pytest.approx(same)
    other = learner(train.X, train.y, weights[:1], new.X, np.random.default_rng(2))
    assert not np.allclose(found, other)


def test_expected_scores_are_those_of_many_noisy_targets():
    # 400 draws of the noise; 4 standard errors: once in 16,000 seeds, for each of the two.
    for population, score, of_sklearn in (
        (runs.Labels(flips=0.2), "accuracy", accuracy_score),
        (runs.Values(), "MSE", mean_squared_error),
    ):
        rng = np.random.default_rng(3)
        rows, answers = population.draw(rng, 50), rng.normal(size=(1, 50))
        given = (answers[0] > 0).astype(int) if score == "accuracy" else answers[0]
        found = []
        for _ in range(400):
            noise = rng.normal(size=50)
            y = rows.clean ^ (rng.random(50) < 0.2) if score == "accuracy" else rows.clean + noise
            found.append(of_sklearn(y, given))
        known = runs.SCORES[score]
        assert runs.scored(known, rows.y, answers)[0] == pytest.approx(of_sklearn(rows.y, given))
        expected = population.expected(known, rows, answers)[0]
        assert abs(np.mean(found) - expected) < 4 * np.std(found) / np.sqrt(400)


def test_groups_share_a_shift_and_rows_without_groups_do_not():
    population = runs.Labels(effect=3.0, flips=0.0)
    rows = population.draw(np.random.default_rng(0), 1000, 10)
    of_groups = rows.X[:, 3].reshape(100, 10)
    # Of variance 10, 9 are the group's: the means of groups vary by 9.1, rows within them by 1.
    assert 6 < of_groups.mean(axis=1).var() < 13
    assert 0.8 < of_groups.var(axis=1, ddof=1).mean() < 1.2
    assert population.draw(np.random.default_rng(0), 50).groups is None


@pytest.mark.parametrize("varied", ["seed", "training", "both", "independent"])
def test_the_runs_of_a_cell_are_those_of_its_name(varied, monkeypatch):
    monkeypatch.setattr(runs, "N_LISTS", 2)
    design = next(one for one in seeds_training_test.DESIGNS if one.varied == varied)
    sample = design.draw(np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = sample.make(0).settings
        found = seeds_training_test.intervals(sample, 0)
    runs_of_list = {"seed": 1, "independent": design.n_samples}.get(varied, design.n_samples)
    assert settings["n_runs"] == runs_of_list * design.n_seeds
    assert settings["n_full_runs"] == (design.n_seeds if varied in ("training", "both") else 0)
    assert sample.exception.startswith("under 10 runs")
    assert all(low <= high for low, high in found.values())
    assert set(sample.truth) >= {"method", "next run"}
    runs._expected.cache_clear()


@IS_RUN
def test_the_claims_of_several_runs_hold_as_the_rule_asks():
    found = several_runs.judged()
    assert found.share >= acceptance.SHARE_OF_CELLS
    assert found.under_all == ()
    for row in (*found.cells, *found.left_out):
        assert row.repetitions >= 300
