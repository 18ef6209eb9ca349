"""What holds for every family of differences, whatever their law is.

Exact, but that p-values adjusted by the largest deviation count draws: they agree with their
interval outside of a hundredth around the level.
"""

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import skboot

pytestmark = pytest.mark.identity

SIDES = ("two-sided", "greater", "less")
OPTIONS = {"random_state": 0}
FEW = {"n_train_resamples": 10, "n_cv_repeats": 1, "random_state": 0}


def systems(rng, **options):
    """Right and wrong rows; two systems are equal, and two differ on every row alike."""
    y = rng.integers(0, 2, 60)
    first = np.where(rng.random(60) < 0.3, 1 - y, y)
    predicted = {"A": first, "B": np.where(rng.random(60) < 0.15, 1 - y, y), "C": first, "D": 1 - y}
    return quiet(skboot.compare_systems, y, predicted, **OPTIONS, n_resamples=399, **options)


def values(rng, **options):
    """Values of rows: one system is another moved by a constant."""
    base = rng.normal(size=60)
    predicted = {"A": base, "B": base + 0.4 * rng.normal(size=60), "C": base - 0.25}
    return quiet(
        skboot.compare_systems,
        None,
        predicted,
        metric="mean",
        greater_is_better=True,
        **OPTIONS,
        n_resamples=399,
        **options,
    )


def runs(rng, **options):
    rows = rng.normal(size=40)
    scores = {
        k: rows + 0.3 * rng.normal(size=(4, 1)) + 0.2 * rng.normal(size=(4, 40)) for k in "AB"
    }
    scores["C"] = np.tile(rows, (3, 1)) + rng.normal(size=40)
    return quiet(
        skboot.compare_runs,
        None,
        scores,
        metric="mean",
        greater_is_better=True,
        **OPTIONS,
        n_resamples=99,
        **options,
    )


def methods(rng, **options):
    """Two of them never differ."""
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    of_each = {"A": GaussianNB(), "B": DummyClassifier(), "C": DummyClassifier()}
    return quiet(skboot.compare_methods, of_each, X, y, **FEW, **options)


def on_a_test_set(rng, **options):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    of_each = {"A": GaussianNB(), "B": LogisticRegression(), "C": DummyClassifier()}
    rows = {"X_test": X[40:], "y_test": y[40:]}
    return quiet(
        skboot.compare_methods,
        of_each,
        X[:40],
        y[:40],
        **rows,
        n_test_resamples=99,
        **FEW,
        **options,
    )


def data_sets(rng, n=9, **options):
    """One method is another less a constant."""
    scores = rng.gamma(3.0, size=(n, 1)) + 0.3 * rng.normal(size=(n, 4))
    scores[:, 3] = scores[:, 0] - 0.25
    names = {"datasets": [f"set {k}" for k in range(n)], "methods": list("ABCD")}
    return quiet(
        skboot.compare_across, scores, greater_is_better=True, **OPTIONS, n_resamples=399, **names,
        **options,
    )  # fmt: skip


def few_data_sets(rng, **options):
    return data_sets(rng, n=5, **options)


LAWS = [systems, values, runs, methods, on_a_test_set, data_sets, few_data_sets]


def excludes_zero(interval):
    return not interval.low <= 0 <= interval.high


def holds(interval, other):
    return interval.low <= other.low + 1e-12 and interval.high >= other.high - 1e-12


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("adjust", ["max-t", "holm"])
@any_seed
def test_pairs_of_a_family_are_judged_by_limits_that_hold_their_own(law, adjust, seed):
    side = SIDES[seed % 3]
    result = law(np.random.default_rng(seed), adjust=adjust, alternative=side)
    n = len(result.pairs)
    for pair in result.pairs:
        own, wide, p = pair.confidence_interval, pair.simultaneous_interval, pair.p_value
        if np.isnan(p):
            assert np.isnan(pair.p_value_adjusted)
            continue
        assert holds(wide, own)
        assert p <= pair.p_value_adjusted <= 1
        # Pivots of other pairs can have longer tails; equal replicates do not show an error.
        if law is not data_sets and pair.standard_error > 0:
            assert pair.p_value_adjusted <= 1.5 * n * p + 0.01
        if abs(p - 0.05) > 1e-9:
            assert excludes_zero(own) == (p < 0.05)
        adjusted = pair.p_value_adjusted
        if adjust == "max-t" and abs(adjusted - 0.05) > 0.01:
            assert excludes_zero(wide) == (adjusted < 0.05)
    if adjust == "holm":
        p_values = np.array([pair.p_value for pair in result.pairs])
        order = np.argsort(p_values)
        steps = np.maximum.accumulate((n - np.arange(n)) * p_values[order]).clip(max=1)
        known = ~np.isnan(p_values[order])
        adjusted = np.array([pair.p_value_adjusted for pair in result.pairs])
        if known.all():
            close(adjusted[order], steps)


@pytest.mark.parametrize("law", [law for law in LAWS if law is not systems])
@any_seed
def test_ranks_tell_pairs_apart_at_least_where_intervals_do(law, seed):
    """In steps; of right and wrong rows Bonferroni's t decides, which can tell fewer apart."""
    result = law(np.random.default_rng(seed))
    ranks = result.ranks()
    for pair in result.pairs:
        if np.isnan(pair.p_value) or not excludes_zero(pair.simultaneous_interval):
            continue
        one, other = ranks[pair.first], ranks[pair.second]
        assert one.high < other.high or one.high > other.high or one.low != other.low
        assert pair._step_down_sign == np.sign(pair.difference), pair
