"""Score-type limits of metrics that few rows of one class decide."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from skboot.method_error.cv_bootstrap import agreement_reach, cv_bootstrap, set_ratio_limits

Z = norm.ppf(0.975)
TP, FN, FP, TN = 2, 13, 3, 282


def wilson(hits, n, level=0.95):
    found = binomtest(hits, n).proportion_ci(level, method="wilson")
    return found.low, found.high


def scored(metric, tp, fn, fp, tn, **options):
    """scikit-learn's metric of a table of shares or counts."""
    truth, given = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    return metric(truth, given, sample_weight=np.array([tp, fn, fp, tn]), **options)


@pytest.mark.parametrize(
    ("metric", "options", "weights", "members"),
    [
        (recall_score, {}, (1, 1), TP + FN),
        (precision_score, {}, (1, 1), TP + FP),
        (jaccard_score, {}, (1, 1), TP + FN + FP),
        (f1_score, {}, (1, 2), TP + FN + FP),
        # Misses of beta = 2 weigh four if not called, one if called wrongly.
        (fbeta_score, {"beta": 2}, ((4 * FN + FP) / (FN + FP), 5), TP + FN + FP),
    ],
)
def test_the_limits_are_the_metric_at_wilsons_hits(metric, options, weights, members):
    error = 1 - scored(metric, TP, FN, FP, TN, **options)
    found = set_ratio_limits(error, np.array(weights), members, Z)
    misses = members - TP
    expected = []
    for share in wilson(TP, members):
        tp, missed = share * members, (1 - share) * members
        # Both kinds of misses change by the same factor.
        table = (tp, FN * missed / misses, FP * missed / misses, TN)
        if metric is recall_score:
            table = (tp, missed, 0, TN)
        elif metric is precision_score:
            table = (tp, 0, missed, TN)
        expected.append(1 - scored(metric, *table, **options))
    np.testing.assert_allclose(found, sorted(expected), rtol=1e-9)


def test_nothing_is_known_of_the_precision_of_no_row():
    assert set_ratio_limits(1.0, np.array([1.0, 1.0]), 0.0, Z) == (0.0, 1.0)


def test_no_hit_has_wilsons_width():
    low, high = set_ratio_limits(1.0, np.array([1.0, 2.0]), 15, Z)
    share = wilson(0, 15)[1]
    assert high == 1.0
    assert low == pytest.approx(1 - 2 * share / (1 + share))


@pytest.mark.parametrize(
    ("name", "metric"), [("matthews", matthews_corrcoef), ("kappa", cohen_kappa_score)]
)
@pytest.mark.parametrize(("hits", "false"), [(2, 3), (0, 0), (0, 3), (15, 0), (15, 285), (9, 2)])
def test_each_class_goes_to_its_wilson_limits_in_turn(name, metric, hits, false):
    def value(sensitivity, specificity):
        table = (
            15 * sensitivity,
            15 * (1 - sensitivity),
            285 * (1 - specificity),
            285 * specificity,
        )
        return scored(metric, *table)

    rates = np.array([false / 285, 1 - hits / 15])
    found = agreement_reach(name, rates, np.array([285, 15]), np.array([0.95, 0.05]), Z)
    sensitivity, specificity = wilson(hits, 15), wilson(285 - false, 285)
    centre = value(hits / 15, 1 - false / 285)
    expected = [
        np.hypot(
            value(sensitivity[side], 1 - false / 285) - centre,
            value(hits / 15, specificity[side]) - centre,
        )
        for side in (0, 1)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("sensitivity", "false_rate"), [(0.13, 0.006), (0.4, 0.01), (0.8, 0.1)])
@pytest.mark.parametrize("name", ["matthews", "kappa"])
def test_agreement_of_few_positives_is_covered(name, sensitivity, false_rate):
    # Exact coverage: all outcomes of 15 and 285 rows, weighted by their probability.
    sizes, shares = np.array([285, 15]), np.array([0.95, 0.05])
    metric = {"matthews": matthews_corrcoef, "kappa": cohen_kappa_score}[name]

    def value(hits, false):
        return scored(metric, hits, 15 - hits, false, 285 - false)

    truth = value(15 * sensitivity, 285 * false_rate)
    covered = total = 0.0
    for hits in range(16):
        for false in range(286):
            chance = binom.pmf(hits, 15, sensitivity) * binom.pmf(false, 285, false_rate)
            if chance > 1e-5:
                rates = np.array([false / 285, 1 - hits / 15])
                below, above = agreement_reach(name, rates, sizes, shares, Z)
                centre, total = value(hits, false), total + chance
                covered += chance * (centre - below <= truth <= centre + above)
    assert covered / total > 0.93


def small(centre, bounds, **guard):
    """A method whose runs show hardly any spread."""
    counts = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), size=100)
    influence = np.tile([1e-6, -1e-6], 20)[None]
    scores = np.full(100, centre)
    return cv_bootstrap(
        centre, influence, counts, scores, np.zeros(counts.shape), bounds=bounds, **guard
    )


def test_the_interval_of_a_method_holds_the_limits_on_the_scale_of_its_error():
    guard = {"guard": "set ratio", "class_sizes": [18], "guard_weights": [1, 2]}
    f1 = 2 * TP / (2 * TP + FN + FP)
    found = small(-f1, (-1.0, 0.0), **guard).interval(0.9)
    expected = [-2 * share / (1 + share) for share in wilson(TP, 18, 0.9)]
    np.testing.assert_allclose(found, sorted(expected), rtol=1e-9)


def test_the_interval_of_agreement_is_cut_at_its_range():
    guard = {
        "guard": "matthews",
        "class_sizes": [285, 15],
        "class_errors": [0.0, 0.0],
        "guard_weights": [0.95, 0.05],
    }
    low, high = small(-1.0, (-1.0, 1.0), **guard).interval()
    below, _ = agreement_reach("matthews", np.zeros(2), [285, 15], np.array([0.95, 0.05]), Z)
    assert low == -1.0
    assert high == pytest.approx(-1 + below)


def test_without_any_row_called_positive_every_precision_is_possible():
    # All runs alike: without the guard the limits would be those of no event in 12 units.
    counts = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), size=100)
    nothing = np.zeros(counts.shape)
    guard = {"guard": "set ratio", "class_sizes": [0], "guard_weights": [1, 1]}
    found = cv_bootstrap(
        0.0, nothing[:2], counts, nothing[:, 0], nothing, bounds=(-1, 0), n_effective=12, **guard
    )
    assert tuple(found.interval()) == (-1.0, 0.0)
    assert not any(
        "12 independent units" in note.text for note in found.interval_with_notes().notes
    )
