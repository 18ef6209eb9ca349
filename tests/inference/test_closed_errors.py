"""Beside an interval that uses no resamples stands a standard error that uses none either."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skboot import Anytime, bootstrap_score, compare_systems

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore")]


N = 120


def rows(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    few = y ^ (rng.random(N) < 0.04)
    return rng, y, few, y + rng.normal(size=N)


def binomial(y, y_pred):
    p = np.mean(y == y_pred)
    return np.sqrt(p * (1 - p) / N)


SCORES = {
    "beta": lambda rng, y, few, s: (y, few, {}),
    "wilson": lambda rng, y, few, s: (y, few, {"interval": "wilson"}),
    "wald": lambda rng, y, few, s: (y, few, {"interval": "wald"}),
    "clopper-pearson": lambda rng, y, few, s: (y, few, {"interval": "clopper-pearson"}),
    "wilson of a ratio": lambda rng, y, few, s: (y, few, {"metric": "f1", "interval": "wilson"}),
    "anytime": lambda rng, y, few, s: (y, few, {"interval": Anytime(100)}),
    "delong": lambda rng, y, few, s: (y, s, {"metric": "roc_auc", "interval": "delong"}),
    "skewed-t": lambda rng, y, few, s: (None, s - 0.5, {"metric": "mean"}),
    "wilson of groups": lambda rng, y, few, s: (
        y, y ^ (np.arange(N) < 6), {"groups": np.arange(N) // 4}
    ),
    "ewc": lambda rng, y, few, s: (y, s, {"metric": "roc_auc", "block_length": 4}),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCORES)
def test_a_score_without_resamples_has_an_error_without_them(name, seed):
    y, y_pred, options = SCORES[name](*rows(seed))
    one, other = (
        bootstrap_score(y, y_pred, n_resamples=1999, random_state=k, **options) for k in (0, 1)
    )
    assert one.confidence_interval.method == name.partition(" ")[0]
    assert one.confidence_interval == other.confidence_interval
    assert one.standard_error == other.standard_error
    assert not np.array_equal(one.bootstrap_distribution, other.bootstrap_distribution)
    # Errors in time are wider than those of few blocks.
    close = 0.5 if name == "ewc" else 0.1
    assert_allclose(one.standard_error, np.std(one.bootstrap_distribution), rtol=close)
    if name in ("beta", "wilson", "wald", "clopper-pearson"):
        assert_allclose(one.standard_error, binomial(y, y_pred), rtol=1e-12)


DIFFERENCES = {
    "tango": lambda rng, y, few, s: (y, {"a": few, "b": few ^ (np.arange(N) < 5)}, {}),
    "logit-delong": lambda rng, y, few, s: (
        y, {"a": s, "b": s + rng.normal(size=N)}, {"metric": "roc_auc"}
    ),
    "delong": lambda rng, y, few, s: (
        y, {"a": s, "b": s + rng.normal(size=N)}, {"metric": "roc_auc", "interval": "delong"}
    ),
    "newcombe": lambda rng, y, few, s: (
        {"a": y, "b": y[:90]}, {"a": few, "b": y[:90] ^ (np.arange(90) < 4)}, {"paired": False}
    ),
    "anytime": lambda rng, y, few, s: (
        y, {"a": few, "b": few ^ (np.arange(N) < 5)}, {"interval": Anytime(100)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_without_resamples_has_an_error_without_them(name, seed):
    y, systems, options = DIFFERENCES[name](*rows(seed))
    calls = [
        compare_systems(y, systems, n_resamples=1999, random_state=k, **options) for k in (0, 1)
    ]
    [one], [other] = (call.pairs for call in calls)
    assert one.confidence_interval.method == name
    assert one.confidence_interval == other.confidence_interval
    assert one.standard_error == other.standard_error
    assert_allclose(one.standard_error, np.std(calls[0].replicates("a", "b")), rtol=0.1)
    if name == "tango":
        difference = (systems["a"] == y) * 1.0 - (systems["b"] == y)
        assert_allclose(one.standard_error, difference.std() / np.sqrt(N), rtol=1e-12)
