"""The study of looks counts what the library would count of rows, and its peers are themselves."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import anytime as study
from skboot import Anytime, bootstrap_score, compare_systems
from skboot.inference.proportions import Discordant, tango_statistic

CELLS = {name: (units, first, draw) for name, _, units, first, draw in study.cells()}
LOOKS = np.array([500, 1000])


def rows_of(counts):
    """Kinds of rows of counts, in random order."""
    kinds = np.repeat(np.arange(len(counts)), counts.astype(int))
    return np.random.default_rng(0).permutation(kinds)


def test_tango_s_statistic_is_that_of_the_library():
    rng = np.random.default_rng(0)
    b, c, n = rng.integers(0, 9, 50), rng.integers(0, 9, 50), 40
    for difference in (-0.05, 0.0, 0.02):
        found = study.tango_of(b, c, n, difference)
        known = [
            tango_statistic(Discordant(*pair, n), difference)
            for pair in zip(b.tolist(), c.tolist(), strict=True)
        ]
        np.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)


def test_limits_of_counts_are_those_of_rows():
    look = {"interval": Anytime(100), "random_state": 0, "n_resamples": 99}
    rng = np.random.default_rng(1)
    seen = []

    def draw_again(*arguments):
        seen.append(batches(*arguments))
        return seen[-1]

    batches, study.batches = study.batches, draw_again
    try:
        _, paths = study.f1(rng, 1, LOOKS, 100, 0.3, 0.85, 0.03)
        y, p = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])[rows_of(seen[-1][0, 1])].T
        assert paths.estimate[0, 1] == pytest.approx(f1_score(y, p))
        known = bootstrap_score(y, p, metric="f1", **look).confidence_interval
        np.testing.assert_allclose(paths.limits(0, 1), known[:2], rtol=1e-10)
        _, paths = study.macro_f1(rng, 1, LOOKS, 100, 0.3, 0.85, 0.03)
        y, p = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])[rows_of(seen[-1][0, 1])].T
        known = bootstrap_score(y, p, metric="f1_macro", **look).confidence_interval
        # Influences by the derivative, and by leaving out rows.
        np.testing.assert_allclose(paths.limits(0, 1), known[:2], rtol=2e-3)
        _, paths = study.f1_difference(rng, 1, LOOKS, 100, 0.3, (0.8, 0.85), (0.03, 0.03), 0.8)
        kinds = np.array([(k >> 2, k >> 1 & 1, k & 1) for k in range(8)])
        y, one, other = kinds[rows_of(seen[-1][0, 1])].T
        systems = {"one": one, "other": other}
        [known] = compare_systems(y, systems, metric="f1", **look).pairs
        np.testing.assert_allclose(paths.limits(0, 1), known.confidence_interval[:2], atol=1e-3)
        _, paths = study.paired(rng, 1, LOOKS, 100, 0.1, -0.02)
        right = np.array([(1, 0), (0, 1), (1, 1)])[rows_of(seen[-1][0, 1])].T
        systems = {"one": right[0], "other": right[1]}
        [known] = compare_systems(np.ones(1000, int), systems, **look).pairs
        np.testing.assert_allclose(paths.limits(0, 1), known.confidence_interval[:2], rtol=1e-9)
        _, paths = study.area(rng, 1, LOOKS, 100, 0.3, 0.9)
        at = rows_of(seen[-1][0, 1])
        y, scores = (at < 64).astype(int), at % 64
        assert paths.estimate[0, 1] == pytest.approx(roc_auc_score(y, scores))
        known = bootstrap_score(y, scores, metric="roc_auc", **look).confidence_interval
        np.testing.assert_allclose(paths.limits(0, 1), known[:2], rtol=1e-9)
        _, paths = study.two_areas(rng, 1, LOOKS, 100, 0.3, (0.9, 0.85), 0.8)
        at = rows_of(seen[-1][0, 1])
        y, both = (at < 256).astype(int), at % 256
        systems = {"one": both // 16, "other": both % 16}
        [known] = compare_systems(y, systems, metric="roc_auc", **look).pairs
        np.testing.assert_allclose(paths.limits(0, 1), known.confidence_interval[:2], rtol=1e-6)
    finally:
        study.batches = batches


def test_limits_of_means_and_groups_are_those_of_values():
    few = {"random_state": 0, "n_resamples": 99}
    values = np.random.default_rng(2).exponential(size=(1, 1000))
    _, paths = study.mean(None, 1, LOOKS, 100, lambda rng, shape: values, 1.0)
    known = bootstrap_score(None, values[0], metric="mean", interval=Anytime(100), **few)
    np.testing.assert_allclose(paths.limits(0, 1), known.confidence_interval[:2], rtol=1e-8)
    units = np.array([30, 60])
    rng = np.random.default_rng(3)
    _, paths = study.group_shares(rng, 1, units, 20, 0.9, 0.2)
    rng = np.random.default_rng(3)
    own = rng.beta(0.9 * 4, 0.1 * 4, (1, 60))
    hits = rng.binomial(10, own)[0]
    right = (np.arange(10) < hits[:, None]).astype(int)
    groups = np.repeat(np.arange(60), 10)
    known = bootstrap_score(
        np.ones(600, int), right.ravel(), groups=groups, interval=Anytime(20), **few
    ).confidence_interval
    np.testing.assert_allclose(paths.limits(0, 1), known[:2], rtol=1e-8)


@pytest.mark.parametrize("name", ["accuracy 0.97", "F1, 30% positive", "AUC 0.97, 10% positive"])
def test_limits_that_are_not_asked_for_hold_the_truth(name):
    units, first, draw = CELLS[name]
    some = units[::10]
    truth, paths = draw(np.random.default_rng(4), 20, some, first)
    near = np.abs(paths.estimate - truth) <= study.quantiles(some, first) * paths.least_error
    assert near.any()
    for k, j in np.argwhere(near):
        limits = paths.limits(k, j)
        assert limits is None or limits[0] <= truth <= limits[1]


def test_five_looks_keep_the_level_of_one():
    # 2.5 % of 10,000 paths pass; more than 3.1 % would with a probability of 1e-4.
    rng = np.random.default_rng(5)
    walks = np.cumsum(rng.standard_normal((10_000, 5)), axis=1) / np.sqrt(np.arange(1, 6))
    assert np.mean((walks > study.FIVE).any(axis=1)) == pytest.approx(0.025, abs=0.006)


def test_the_guide_has_the_table_of_stopping():
    page = (RESULTS.parents[2] / "docs" / "guide" / "looking_early.md").read_text(encoding="utf-8")
    for row in read(RESULTS / "anytime_stopping.csv"):
        cells = [row[name] for name in study.STOPPING if name != "paths"]
        assert f"| {' | '.join(cells)} |" in page
