"""A score of values times c is c times the score, with all that stands beside it, at any magnitude.

c is a power of two, so that all digits are the same; errors of numpy are raised outside.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore")]


N = 20
RNG = np.random.default_rng(5)
Y, A, B = RNG.normal(size=(3, N))
PAIRS = np.arange(N) // 2


def absolute(y_true, y_pred):
    return np.mean(np.abs(y_true - y_pred))


def trimmed(y_true, y_pred):
    return np.mean(np.sort(np.abs(y_true - y_pred))[1:-1])


def largest(y_true, y_pred):
    return np.max(np.abs(y_true - y_pred))


METRICS = [absolute, trimmed, largest, "median_absolute_error", "max_error"]
CALLS = {
    "rows": lambda y, a, b, **k: [bootstrap_score(y, a, **k)],
    "strata": lambda y, a, b, **k: [bootstrap_score(y, a, strata=PAIRS // 5, **k)],
    "groups": lambda y, a, b, **k: [bootstrap_score(y, a, groups=PAIRS, **k)],
    "blocks": lambda y, a, b, **k: [bootstrap_score(y, a, block_length=2, **k)],
    "subgroups": lambda y, a, b, **k: bootstrap_score(y, a, by=PAIRS // 5, **k).values(),
    "bca": lambda y, a, b, **k: [bootstrap_score(y, a, interval="bca", **k)],
    "t": lambda y, a, b, **k: [bootstrap_score(y, a, interval="t", **k)],
    "systems": lambda y, a, b, **k: [compare_systems(y, {"a": a, "b": b}, **k)],
    "runs": lambda y, a, b, **k: [bootstrap_runs(y, [a, b, a / 2], **k)],
    "runs of two": lambda y, a, b, **k: [
        compare_runs(y, {"a": [a, b, a / 2], "b": [b / 2, a / 4]}, **k)
    ],
}


def numbers(result):
    """What is in the unit of the values, and what has none."""
    if not hasattr(result, "pairs"):
        return [result.estimate, *result.confidence_interval, result.standard_error], []
    [pair] = result.pairs
    own = [pair.difference, *pair.confidence_interval, pair.standard_error]
    return own, [pair.p_value, pair.bootstrap_support]


@pytest.mark.parametrize(
    "metric", METRICS, ids=lambda metric: getattr(metric, "__name__", str(metric))
)
@pytest.mark.parametrize("name", CALLS)
def test_a_score_of_scaled_values_is_scaled(name, metric):
    options = {
        "metric": metric, "greater_is_better": False if callable(metric) else None,
        "n_resamples": 49, "random_state": 0,
    }  # fmt: skip
    plain = [numbers(one) for one in CALLS[name](Y, A, B, **options)]
    for exponent in (-493, -366, -200, 266, 490):
        unit = 2.0**exponent
        with np.errstate(all="raise"):
            scaled = [numbers(one) for one in CALLS[name](unit * Y, unit * A, unit * B, **options)]
        for (own, free), (own_of_plain, free_of_plain) in zip(scaled, plain, strict=True):
            assert_allclose(np.divide(own, unit), own_of_plain, rtol=1e-9, atol=1e-12)
            assert_allclose(free, free_of_plain, rtol=1e-9)
