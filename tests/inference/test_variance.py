"""Variance components against R, a plain double loop, and what simulations must give."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from skboot.inference.runs import (
    Components,
    Moments,
    ResampleNoise,
    RowNoise,
    crossed_runs,
    least_test_variance,
    moments,
    over_runs_alone,
    sum_of_runs,
    trained_runs,
    within_samples,
)

CROSSED = Path(__file__).parents[1] / "references" / "crossed"


@pytest.fixture
def matrix():
    return np.loadtxt(CROSSED / "crossed_matrix.csv", delimiter=",")


@pytest.fixture
def expected():
    return json.loads((CROSSED / "crossed_expected.json").read_text())


def anova_by_loops(values):
    """Mean squares of runs, units and residual, from the definition."""
    n_runs, n_units = values.shape
    mean = sum(values[s, i] for s in range(n_runs) for i in range(n_units)) / values.size
    runs, units = values.mean(axis=1), values.mean(axis=0)
    of_runs = sum(n_units * (runs[s] - mean) ** 2 for s in range(n_runs)) / (n_runs - 1)
    of_units = sum(n_runs * (units[i] - mean) ** 2 for i in range(n_units)) / (n_units - 1)
    residual = 0.0
    for s in range(n_runs):
        for i in range(n_units):
            residual += (values[s, i] - runs[s] - units[i] + mean) ** 2
    return of_runs, of_units, residual / ((n_runs - 1) * (n_units - 1))


def singles(n_runs):
    return [[run] for run in range(n_runs)]


def of_matrix(values):
    return moments(values.mean(axis=1), RowNoise(values), singles(len(values)))


class Anova(NamedTuple):
    """Two-way analysis of variance without replication, both factors random."""

    mean: float
    mean_squares: tuple  # runs, units, residual
    components: tuple  # runs, units, interaction
    standard_error: float
    degrees_of_freedom: float


def crossed_anova(values):
    """The components of `crossed_runs` for a matrix of values, (n_runs, n_units), as R has them."""
    n_units = values.shape[1]
    runs = of_matrix(values)
    found = crossed_runs(runs, n_units - 1, n_units=n_units, source="seed")
    squares = (runs.between, runs.n * runs.of_mean, runs.interaction)
    return Anova(
        found.method.centre,
        tuple(n_units * square for square in squares),
        (found.components.seed, found.components.test, found.components.interaction),
        found.method.standard_error,
        found.method.degrees_of_freedom,
    )


def test_components_and_standard_error_equal_those_of_r(matrix, expected):
    found = crossed_anova(matrix)
    r = expected["anova"]

    assert found.mean == pytest.approx(expected["mean"], rel=1e-9)
    assert found.mean_squares == pytest.approx((r["MS_seed"], r["MS_item"], r["MS_res"]), rel=1e-9)
    assert found.components == pytest.approx((r["var_seed"], r["var_item"], r["var_res"]), rel=1e-9)
    assert found.standard_error == pytest.approx(expected["se_mean_anova"], rel=1e-9)


def test_components_agree_with_restricted_maximum_likelihood(matrix, expected):
    reml = expected["reml"]
    assert crossed_anova(matrix).components == pytest.approx(
        (reml["seed"], reml["item"], reml["Residual"]), rel=1e-6
    )


@pytest.mark.parametrize("shape", [(2, 2), (3, 50), (7, 11)])
def test_mean_squares_equal_a_double_loop(shape):
    rng = np.random.default_rng(0)
    values = rng.normal(size=shape) + rng.normal(size=(shape[0], 1)) + rng.normal(size=shape[1])
    of_runs, of_units, residual = anova_by_loops(values)
    found = crossed_anova(values)
    n = values.size

    assert found.mean_squares == pytest.approx((of_runs, of_units, residual), rel=1e-9)
    if found.components[0] > 0 and found.components[1] > 0:
        variance = (of_runs + of_units - residual) / n
        assert found.standard_error**2 == pytest.approx(variance, rel=1e-9)
        df = variance**2 / (
            (of_runs / n) ** 2 / (shape[0] - 1)
            + (of_units / n) ** 2 / (shape[1] - 1)
            + (residual / n) ** 2 / ((shape[0] - 1) * (shape[1] - 1))
        )
        assert found.degrees_of_freedom == pytest.approx(df, rel=1e-9)


def test_boolean_rows_give_what_real_rows_give():
    correct = np.random.default_rng(1).random((4, 60)) < 0.8
    one, other = crossed_anova(correct), crossed_anova(correct.astype(float))
    for found, expected_ in zip(one, other, strict=True):
        assert found == pytest.approx(expected_)


def test_the_order_of_runs_does_not_matter(matrix):
    for one, other in zip(crossed_anova(matrix), crossed_anova(matrix[::-1]), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_variance_is_unbiased_for_the_mean_of_crossed_effects():
    """False alarms: two tests at |z| > 4, 1.3e-4 together."""
    rng = np.random.default_rng(2)
    n_runs, n_units, repetitions = 5, 30, 4000
    run, unit, pair = 0.7, 1.0, 0.5
    squares, variances = [], []
    for _ in range(repetitions):
        values = (
            run * rng.normal(size=(n_runs, 1))
            + unit * rng.normal(size=n_units)
            + pair * rng.normal(size=(n_runs, n_units))
        )
        found = crossed_anova(values)
        variances.append(found.standard_error**2)
        squares.append(found.components[2])
    truth = run**2 / n_runs + unit**2 / n_units + pair**2 / (n_runs * n_units)
    for sample, value in ((variances, truth), (squares, pair**2)):
        z = (np.mean(sample) - value) / (np.std(sample) / np.sqrt(repetitions))
        assert abs(z) < 4


def test_components_below_zero_are_clipped_and_named():
    # Runs whose means are more alike than their rows allow.
    values = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    found = crossed_runs(of_matrix(values), 3, n_units=4, source="seed")

    assert found.components.seed == 0
    assert found.components.test == 0
    assert found.clipped == ("seed", "test")
    assert found.method.standard_error > 0


def test_the_training_component_is_not_divided_by_the_number_of_samples():
    many = Moments(np.linspace(0.7, 0.8, 50), np.full(50, 1e-4), 1e-4)
    alone = Moments(np.array([0.8]), np.array([1e-4]), 1e-4)
    within = within_samples(many.scores, RowNoise(np.ones((50, 10))), singles(50))
    found = trained_runs(many, within, alone, 999, n_units=1000)
    between = np.var(many.scores, ddof=1)

    assert found.method.standard_error**2 == pytest.approx(between + 1e-4)
    assert found.method.centre == 0.8
    df = (between + 1e-4) ** 2 / (between**2 / 49 + 1e-8 / 999)
    assert found.method.degrees_of_freedom == pytest.approx(df)
    assert np.isnan(found.components.seed)


def test_test_noise_counted_in_the_runs_is_taken_out():
    """Runs without any training effect: their scores differ by their own test noise alone.

    False alarms: |z| > 4, 6e-5.
    """
    rng = np.random.default_rng(3)
    found = []
    for _ in range(400):
        correct = rng.random((20, 100)) < 0.8
        runs = of_matrix(correct)
        found.append(runs.between - runs.interaction)
    assert abs(np.mean(found) / (np.std(found) / 20)) < 4
    assert np.mean([np.var(c.mean(axis=1)) for c in rng.random((50, 20, 100)) < 0.8]) > 1e-3


def test_components_of_seeds_and_training_samples_are_unbiased():
    """False alarms: four tests at |z| > 4, 2.5e-4 together."""
    rng = np.random.default_rng(4)
    n_samples, n_seeds, n_units, repetitions = 20, 3, 50, 400
    truth = Components(0.3**2, 0.2**2, 1.0, 0.5**2)
    members = np.split(np.arange(n_samples * n_seeds), n_samples)
    found = []
    for _ in range(repetitions):
        values = (
            0.3 * rng.normal(size=n_samples).repeat(n_seeds)[:, None]
            + 0.2 * rng.normal(size=(n_samples * n_seeds, 1))
            + rng.normal(size=n_units)
            + 0.5 * rng.normal(size=(n_samples * n_seeds, n_units))
        )
        scores, noise = values.mean(axis=1), RowNoise(values)
        split = trained_runs(
            moments(scores, noise, members),
            within_samples(scores, noise, members),
            moments(scores, noise, [[0]]),
            n_units - 1,
            n_units=n_units,
        )
        found.append(split.components)
    found = np.array(found)
    z = (found.mean(axis=0) - truth) / (found.std(axis=0) / np.sqrt(repetitions))
    assert np.all(np.abs(z) < 4)


def test_fewer_seeds_on_the_full_list_than_on_the_samples_widen_the_interval():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 40)) + 0.5 * rng.normal(size=(20, 1))
    members = np.split(np.arange(20), 5)
    scores, noise = values.mean(axis=1), RowNoise(values)
    samples, within = moments(scores, noise, members), within_samples(scores, noise, members)
    spreads = [
        trained_runs(samples, within, Moments(scores[:n], np.full(n, 0.01), 0.01), 39, n_units=40)
        for n in (1, 4)
    ]
    gain = spreads[0].method.standard_error ** 2 - spreads[1].method.standard_error ** 2
    assert gain == pytest.approx(within.seed * (1 - 1 / 4))


def test_resamples_and_rows_agree_on_the_noise():
    """False alarms: relative error of a variance over 20000 resamples is 1%; 5% is five of it."""
    rng = np.random.default_rng(6)
    values = rng.normal(size=(4, 80)) + rng.normal(size=80)
    counts = rng.multinomial(80, np.full(80, 1 / 80), size=20_000)
    resampled = ResampleNoise(values @ counts.T / 80, inflation=80 / 79)
    scores = values.mean(axis=1)
    one = moments(scores, RowNoise(values), singles(4))
    other = moments(scores, resampled, singles(4))

    assert other.of_mean == pytest.approx(one.of_mean, rel=0.05)
    assert other.interaction == pytest.approx(one.interaction, rel=0.05)


def test_the_floor_is_the_variance_of_the_wilson_interval_where_no_run_errs():
    n, z = 50, 1.96
    low = 1 / (1 + z**2 / n)
    assert least_test_variance(n)(0.0) == pytest.approx(((1 - low) / (2 * z)) ** 2, rel=1e-3)
    assert least_test_variance(n)(0.01) == 0.01


def test_seeds_alone_give_the_textbook_t_interval():
    scores = np.array([0.8, 0.82, 0.79, 0.85])
    spread = over_runs_alone(scores)
    low, _ = stats.t.interval(0.95, 3, scores.mean(), stats.sem(scores))
    half = stats.t.ppf(0.975, spread.degrees_of_freedom) * spread.standard_error
    assert spread.centre - half == pytest.approx(low)


@pytest.mark.parametrize("n_runs", [1, 255, 256, 600])
def test_hits_of_runs_are_added_up(n_runs):
    flags = np.random.default_rng(7).random((n_runs, 40)) < 0.8
    flags[:, 0] = True
    np.testing.assert_array_equal(sum_of_runs(list(flags)), flags.sum(axis=0))
    np.testing.assert_allclose(sum_of_runs(list(0.1 * flags)), 0.1 * flags.sum(axis=0))
