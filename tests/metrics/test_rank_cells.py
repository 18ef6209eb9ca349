"""Average precision and areas under ROC curves by cells of consecutive scores, in place of rows.

Cells that hold one score each must give the numbers of rows. Others are held to the rows on the
same resamples: to a hundredth of the Monte Carlo error of a limit in the mean, and to a thousandth
in the standard deviation.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

import skboot
from skboot.metrics import ranking
from skboot.metrics.callables import Negated
from skboot.metrics.ranking import AveragePrecision, RocAuc
from skboot.metrics.tasks import TaskAverage, Tasks
from skboot.streams.sums import WeightsBlock
from skboot.study import study

N = 20_000
RNG = np.random.default_rng(0)
Z, UNIFORM = RNG.normal(size=N), RNG.random(N)
PROBABILITY = RNG.beta(0.5, 2, N)
# Monte Carlo error of a 95% limit from 1999 resamples, in standard deviations.
MONTE_CARLO_ERROR = np.sqrt(0.025 * 0.975 / 1999) / stats.norm.pdf(1.96)


def labels(share, separation):
    positive = share > UNIFORM
    return positive.astype(int), Z + separation * positive


TRUTH, SCORE = labels(0.3, 1.5)
KINDS = {
    "normal": (TRUTH, SCORE),
    "few positives": labels(0.03, 1.5),
    "few negatives, far below": labels(1 - 20 / N, 4.0),
    "strong": labels(0.1, 4.0),
    "below chance": labels(0.1, -1.0),
    "calibrated": ((PROBABILITY > UNIFORM).astype(int), PROBABILITY),
    "half in ties": (TRUTH, np.where(RNG.random(N) < 0.5, SCORE.round(1), SCORE)),
    "one score of half": (TRUTH, np.where(RNG.random(N) < 0.5, 1.0, SCORE)),
    "most at the lowest": (TRUTH, np.maximum(SCORE, 1.0)),
}


def both(truth, score):
    """The rows as average precision reads them, and cells of them."""
    by_rows = AveragePrecision().reduce(truth, score, None)
    return by_rows, AveragePrecision().in_cells(by_rows)


def value(reduced, counts):
    """Average precision where rows occur so often."""
    weights = np.bincount(reduced.code, counts, reduced.n_codes)
    block = WeightsBlock(weights[None], "running")
    return AveragePrecision().evaluate(block, reduced)[0]


def resamples(n_rows, n_resamples):
    rng = np.random.default_rng(1)
    for _ in range(n_resamples):
        yield np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_cells_of_one_score_each_give_the_numbers_of_rows(share, ties, monkeypatch):
    monkeypatch.setattr(ranking, "ROWS_BY_THEMSELVES", 1e9)
    # Pieces of few scores must not show.
    monkeypatch.setattr(ranking, "_AT_ONCE", 37)
    rng = np.random.default_rng(2)
    truth = (rng.random(500) < share).astype(int)
    score = rng.normal(size=500) + truth
    by_rows, cells = both(truth, score.round(1) if ties else score)
    for counts in resamples(500, 20):
        expected = value(by_rows, counts)
        assert value(cells, counts) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_codes_of_cells_are_of_one_class_and_in_falling_order(kind):
    truth, score = KINDS[kind]
    _, cells = both(truth, score)
    np.testing.assert_array_equal(cells.counts, np.bincount(cells.code))
    positive = cells.terms[:, 0]
    np.testing.assert_array_equal(positive[cells.code], truth == 1)
    for side in (truth == 1, truth == 0):
        falling = np.argsort(-score[side], kind="stable")
        assert (np.diff(cells.code[side][falling]) >= 0).all()
    assert cells.n_codes < 1000


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_of_the_data_is_scikit_learns(kind):
    truth, score = KINDS[kind]
    _, cells = both(truth, score)
    expected = average_precision_score(truth, score)
    assert value(cells, np.ones(N)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_vary_on_the_same_resamples_as_rows_do(kind):
    by_rows, cells = both(*KINDS[kind])
    of_rows, of_cells = np.array(
        [[value(each, counts) for each in (by_rows, cells)] for counts in resamples(N, 300)]
    ).T
    spread, apart = of_rows.std(), of_cells - of_rows
    assert abs(apart.mean()) < MONTE_CARLO_ERROR / 50 * spread
    assert apart.std() < 0.006 * spread
    assert of_cells.std() == pytest.approx(spread, rel=2e-3)
    assert stats.skew(of_cells) == pytest.approx(stats.skew(of_rows), abs=0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_single_rows_change_the_value_as_they_change_that_of_rows(kind):
    truth, score = KINDS[kind]
    _, cells = both(truth, score)
    full = average_precision_score(truth, score)
    some = np.append(np.argsort(score)[[0, N // 2, -100, -2, -1]], [0, 1, 2])
    scale = value(cells, np.ones(N) - (np.arange(N) == some[0])) - full
    for row in some:
        left = np.delete(np.arange(N), row)
        expected = average_precision_score(truth[left], score[left]) - full
        change = value(cells, np.ones(N) - (np.arange(N) == row)) - full
        assert change == pytest.approx(expected, rel=0.05, abs=max(1e-6, 0.01 * abs(scale)))


def call(truth, score, **options):
    return skboot.bootstrap_score(
        truth, score, metric="average_precision", random_state=0, **options
    )


@pytest.mark.parametrize("strata", [False, True])
def test_calls_have_the_law_of_rows(strata, monkeypatch):
    options = {"strata": TRUTH if strata else None, "interval": "bca", "n_resamples": 1999}
    by_cells = call(TRUTH, SCORE, **options)
    monkeypatch.setattr(study, "_ROWS_FOR_CELLS", N + 1)
    by_rows = call(TRUTH, SCORE, **options)
    assert by_cells.estimate == pytest.approx(by_rows.estimate, rel=1e-13)
    own, rows = by_cells.bootstrap_distribution, by_rows.bootstrap_distribution
    assert not np.array_equal(own, rows)
    # False alarms: 1 in 100,000 for each comparison.
    assert own.std() == pytest.approx(rows.std(), rel=4.4 / np.sqrt(1999))
    assert own.mean() == pytest.approx(rows.mean(), abs=4.4 * rows.std() * np.sqrt(2 / 1999))
    limits = by_cells.confidence_interval, by_rows.confidence_interval
    error = np.sqrt(2) * MONTE_CARLO_ERROR * rows.std()
    np.testing.assert_allclose(limits[0][:2], limits[1][:2], atol=4.4 * error, rtol=0)


def test_bca_has_the_acceleration_of_the_rows(monkeypatch):
    found = []
    moments = skboot.inference.distribution._jackknife_of
    monkeypatch.setattr(
        skboot.inference.distribution,
        "_jackknife_of",
        lambda *given: found.append(moments(*given)) or found[-1],
    )
    for least in (N, N + 1):
        monkeypatch.setattr(study, "_ROWS_FOR_CELLS", least)
        call(*KINDS["strong"], interval="bca", n_resamples=999)
    np.testing.assert_allclose(found[0][:2], found[1][:2], rtol=1e-3)
    # An area has no bias, but for its rounding; as far as it counts it is in standard errors.
    assert found[0].bias == pytest.approx(found[1].bias, abs=1e-3 * found[1].standard_error)


def test_weights_systems_groups_strata_and_given_resamples_are_drawn_by_rows(monkeypatch):
    def numbers():
        rng = np.random.default_rng(3)
        few, picks = {"n_resamples": 99}, rng.integers(0, N, (99, N))
        yield call(TRUTH, SCORE, sample_weight=PROBABILITY + 1, **few)
        yield call(TRUTH, SCORE, groups=np.arange(N) // 4, **few)
        yield call(TRUTH, SCORE, resamples=picks)
        yield call(TRUTH, SCORE, strata=np.arange(N) % 3, **few)
        yield skboot.compare_systems(
            TRUTH, {"A": SCORE, "B": Z}, metric="average_precision", random_state=0, **few
        ).pairs[0]

    by_default = [each.confidence_interval[:2] for each in numbers()]
    monkeypatch.setattr(study, "_ROWS_FOR_CELLS", 10 * N)
    for found, each in zip(by_default, numbers(), strict=True):
        np.testing.assert_array_equal(found, each.confidence_interval[:2])


def test_only_one_curve_of_rows_of_equal_weight_has_cells():
    metric = AveragePrecision()
    assert metric.in_cells(metric.reduce(TRUTH, SCORE, PROBABILITY)) is None
    assert metric.in_cells(metric.reduce(np.arange(N) % 3, RNG.random((N, 3)), None)) is None
    assert metric.in_cells(metric.reduce(np.zeros(N, dtype=int), SCORE, None)) is None
    reduced = metric.reduce(TRUTH, SCORE, None)
    assert Negated(metric).in_cells(reduced).n_codes == metric.in_cells(reduced).n_codes


# ------------------------------------------------------------------ areas under ROC curves


def area(reduced, counts):
    """Area under the ROC curve where rows occur so often."""
    weights = np.bincount(reduced.code, counts, reduced.n_codes)
    return RocAuc().evaluate(WeightsBlock(weights[None], "pairs"), reduced)[0]


def of_areas(truth, score):
    """The rows as the area reads them, and cells of them."""
    by_rows = RocAuc().reduce(truth, score, None)
    return by_rows, RocAuc().in_cells(by_rows)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_cells_of_one_score_each_give_the_areas_of_rows(share, ties, monkeypatch):
    monkeypatch.setattr(ranking, "RANK_CELLS", 1e9)
    rng = np.random.default_rng(2)
    truth = (rng.random(500) < share).astype(int)
    score = rng.normal(size=500) + truth
    by_rows, cells = of_areas(truth, score.round(1) if ties else score)
    for counts in resamples(500, 20):
        assert area(cells, counts) == pytest.approx(area(by_rows, counts), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_areas_of_cells_are_scikit_learns_and_vary_as_those_of_rows(kind):
    truth, score = KINDS[kind]
    by_rows, cells = of_areas(truth, score)
    np.testing.assert_array_equal(cells.counts, np.bincount(cells.code))
    assert area(cells, np.ones(N)) == pytest.approx(roc_auc_score(truth, score), rel=1e-12)
    of_rows, of_cells = np.array(
        [[area(each, counts) for each in (by_rows, cells)] for counts in resamples(N, 300)]
    ).T
    spread = of_rows.std()
    assert abs(np.mean(of_cells - of_rows)) < MONTE_CARLO_ERROR / 20 * spread
    assert of_cells.std() == pytest.approx(spread, rel=5e-3)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_subgroups_have_the_law_of_rows(metric, monkeypatch):
    by = np.arange(N) % 5

    def results():
        return list(
            skboot.bootstrap_score(TRUTH, SCORE, metric=metric, by=by, random_state=0).values()
        )[:5]

    by_cells = results()
    monkeypatch.setattr(study, "_ROWS_FOR_CELLS", N + 1)
    for one, other in zip(by_cells, results(), strict=True):
        assert one.estimate == pytest.approx(other.estimate, rel=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=6.4 / np.sqrt(3998))
        assert not np.array_equal(one.bootstrap_distribution, other.bootstrap_distribution)


@pytest.mark.parametrize(
    ("metric", "function"),
    [("roc_auc", roc_auc_score), ("average_precision", average_precision_score)],
)
def test_averages_over_tasks_have_the_law_of_rows(metric, function, monkeypatch):
    rng, n = np.random.default_rng(4), 30_000
    task, truth = np.arange(n) % 10, (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + (1 + task / 10) * truth

    def result():
        return skboot.bootstrap_score(
            truth, score, metric=metric, average_over=task, n_resamples=1999, random_state=0
        )

    by_cells = result()
    monkeypatch.setattr(study, "_ROWS_FOR_CELLS", n + 1)
    by_rows = result()
    values = [function(truth[task == k], score[task == k]) for k in range(10)]
    assert by_cells.estimate == pytest.approx(np.mean(values), rel=1e-12)
    spread = by_rows.standard_error
    assert by_cells.standard_error == pytest.approx(spread, rel=6.4 / np.sqrt(3998))
    drawn, expected = by_cells.bootstrap_distribution, by_rows.bootstrap_distribution
    assert not np.array_equal(drawn, expected)
    assert stats.ks_2samp(drawn, expected).pvalue > 1e-3


def test_tasks_of_few_rows_have_no_cells():
    task = np.arange(N) % 200
    average = TaskAverage.of(RocAuc(), Tasks(tuple(range(200)), task))
    assert average.in_cells(average.reduce(TRUTH, SCORE, None)) is None
