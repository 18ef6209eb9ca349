"""Cells of nearly equal rows, in place of many rows.

What they must keep is known in closed form: the sum of the data, the covariance of all sums, and,
to a hundredth of the Monte Carlo error of a limit, the skewness.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import skboot
import skboot.inference.distribution
from skboot.metrics import ranking
from skboot.metrics.ranking import RocAuc, delong_covariance
from skboot.resampling import row_cells as module
from skboot.resampling.design import RowDesign
from skboot.resampling.row_cells import row_cells
from skboot.study import study

N = 20_000
RNG = np.random.default_rng(0)
Z, OTHER, THIRD = RNG.normal(size=(3, N))
WEIGHTS = RNG.exponential(size=N)
HIT = (RNG.random(N) < 0.3).astype(float)
RARE = RNG.random(N) < 1e-3
STRATA = RNG.integers(0, 5, N)
# Monte Carlo error of a 95% limit from 1999 resamples, in standard deviations.
MONTE_CARLO_ERROR = np.sqrt(0.025 * 0.975 / 1999) / stats.norm.pdf(1.96)

COLUMNS = {
    "normal": [Z],
    "log-normal": [np.exp(Z)],
    "heavy tails": [np.exp(2 * Z)],
    "squares": [Z**2],
    "rare large values": [np.where(RARE, 1000 * RNG.random(N), HIT)],
    "losses of which few are huge": [-np.log(np.where(RARE, 1e-12, RNG.beta(5, 1, N)))],
    "one huge value": [np.where(np.arange(N) == 7, 1e9, Z)],
    "two systems": [Z**2, (Z + 0.1 * OTHER) ** 2],
    "unlike systems": [Z**2, OTHER**2],
    "systems that differ on few rows": [Z**2, np.where(RARE, OTHER**2, Z**2)],
    "two metrics": [Z**2, np.abs(Z)],
    "a metric and rare errors": [Z**2, RARE.astype(float)],
    "weights": [WEIGHTS, WEIGHTS * Z**2],
    "weighted hits": [WEIGHTS, WEIGHTS * HIT],
    "moments": [OTHER, OTHER**2, Z, Z**2],
    "a constant beside": [np.ones(N), Z],
    "a column that follows from others": [Z, Z**2, 3 * Z - Z**2 + 5],
}


def within_strata(values, multiplicity, strata):
    """Values less the mean of their stratum."""
    n_rows = np.bincount(strata, multiplicity)
    return values - (np.bincount(strata, multiplicity * values) / n_rows)[strata]


def moments(columns, multiplicity, strata):
    """Sums of the columns, their covariances, and third moments, within strata."""
    away = np.array([within_strata(column, multiplicity, strata) for column in columns])
    weighted = away * multiplicity
    return columns @ multiplicity, weighted @ away.T, (weighted * away**2).sum(axis=1)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_sums_and_all_covariances_are_those_of_the_rows(name, stratified):
    columns, strata = np.array(COLUMNS[name]), STRATA if stratified else None
    cells = row_cells(columns, strata)

    assert len(cells.multiplicity) < N / 10
    one = np.zeros(N, int) if strata is None else strata
    of_cells = np.zeros(len(cells.multiplicity), int) if strata is None else cells.strata
    np.testing.assert_array_equal(np.bincount(of_cells, cells.multiplicity), np.bincount(one))
    sums, covariance, third = moments(columns, np.ones(N), one)
    own_sums, own_covariance, own_third = moments(cells.columns, cells.multiplicity, of_cells)
    size = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(own_sums, sums, rtol=1e-12, atol=1e-9 * size.max())
    # Standard deviations within 1e-3 of those of rows, in each direction: also of differences.
    scale = np.outer(size, size)
    np.testing.assert_allclose(
        own_covariance / (scale + (scale == 0)), covariance / (scale + (scale == 0)), atol=2e-3
    )
    spread = size > 0
    skewness = np.abs(third - own_third)[spread] / size[spread] ** 3
    # By the expansion of Cornish and Fisher a limit moves by (z^2 - 1) / 6 of it.
    assert np.all(skewness * (1.96**2 - 1) / 6 < MONTE_CARLO_ERROR / 10)


@pytest.mark.parametrize("name", ["two systems", "systems that differ on few rows"])
def test_differences_vary_as_those_of_rows_do(name):
    one, other = COLUMNS[name]
    cells = row_cells([one, other], None)
    difference = cells.columns[1] - cells.columns[0]
    (_, [[own]], _), (_, [[exact]], _) = (
        moments(d[None], m, np.zeros(len(m), int))
        for d, m in ((difference, cells.multiplicity), (other - one, np.ones(N, int)))
    )
    assert np.sqrt(own / exact) == pytest.approx(1, abs=1e-3)


def test_a_row_far_from_the_others_is_a_cell_of_its_own():
    cells = row_cells(COLUMNS["one huge value"], None)
    largest = np.argmax(cells.columns[0])
    assert cells.columns[0, largest] == pytest.approx(1e9, rel=1e-12)
    assert cells.multiplicity[largest] == 1


def test_cells_scale_with_the_values():
    one, other = row_cells([Z, OTHER], None), row_cells([4 * Z, OTHER], None)
    np.testing.assert_array_equal(one.multiplicity, other.multiplicity)
    np.testing.assert_allclose(other.columns[0], 4 * one.columns[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "strata"),
    [
        (RNG.normal(size=(6, N)), None),
        ([Z], np.arange(N) // 20),
        ([np.ones(N)], None),
        ([np.where(np.arange(N) == 3, np.inf, Z)], None),
        ([np.concatenate(([-1.5e308, 1.5e308], Z[2:]))], None),
        # A resample that lacks the large value would have lost all digits of the others.
        ([np.concatenate(([1e40], Z[1:]))], None),
    ],
    ids=[
        "many unlike columns",
        "many small strata",
        "no difference",
        "infinite",
        "too far apart",
        "lost beside one",
    ],
)
def test_rows_stay_where_cells_would_hold_too_much(columns, strata):
    assert row_cells(columns, strata) is None


# ------------------------------------------------------------------ as calls see them


def y_and_predictions(n=N):
    rng = np.random.default_rng(1)
    y = rng.normal(size=n)
    return y, y + rng.normal(size=n) * (1 + 0.5 * np.abs(y))


def without_cells(monkeypatch, call):
    """What a call returns where rows are drawn."""
    with monkeypatch.context() as rows:
        rows.setattr(study, "_ROWS_FOR_CELLS", 10 * N)
        return call()


METRICS = {
    "neg_mean_squared_error": lambda *rows, **w: -metrics.mean_squared_error(*rows, **w),
    "neg_mean_absolute_error": lambda *rows, **w: -metrics.mean_absolute_error(*rows, **w),
    "neg_root_mean_squared_error": lambda *rows, **w: -metrics.root_mean_squared_error(*rows, **w),
    "r2": metrics.r2_score,
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("name", METRICS)
def test_estimates_are_scikit_learns_and_errors_those_of_rows(name, weights, monkeypatch):
    y, predicted = y_and_predictions()

    def call():
        return skboot.bootstrap_score(
            y, predicted, metric=name, sample_weight=weights, interval="studentized", random_state=0
        )

    result, by_rows = call(), without_cells(monkeypatch, call)
    expected = METRICS[name](y, predicted, sample_weight=weights)
    assert result.estimate == pytest.approx(expected, rel=1e-12)
    own, exact = result.bootstrap_distribution, by_rows.bootstrap_distribution
    assert not np.array_equal(own, exact)
    # False alarms: 4.5 standard errors of a standard deviation, and of the studentized limits.
    assert own.std() / exact.std() == pytest.approx(1, abs=4.5 / np.sqrt(1999))
    assert own.mean() == pytest.approx(exact.mean(), abs=4.5 * exact.std() * np.sqrt(2 / 1999))
    for one, other in zip(
        result.confidence_interval[:2], by_rows.confidence_interval[:2], strict=True
    ):
        assert abs(one - other) < 4.5 * np.sqrt(2) * MONTE_CARLO_ERROR * exact.std()


def test_replicates_of_a_mean_vary_by_the_closed_form():
    result = skboot.bootstrap_score(None, np.exp(Z), metric="mean", random_state=0)
    assert result.bootstrap_distribution.std() == pytest.approx(
        np.exp(Z).std() / np.sqrt(N), rel=4.5 / np.sqrt(2 * 1999)
    )


@pytest.mark.parametrize("metric", ["neg_log_loss", "neg_brier_score"])
def test_losses_of_probabilities_are_drawn_by_cells(metric):
    truth = HIT.astype(int)
    probability = 1 / (1 + np.exp(1 - 2 * HIT - Z))
    result = skboot.bootstrap_score(truth, probability, metric=metric, random_state=0)
    expected = {"neg_log_loss": metrics.log_loss, "neg_brier_score": metrics.brier_score_loss}
    assert result.estimate == pytest.approx(-expected[metric](truth, probability), rel=1e-12)
    loss = -np.log(np.where(HIT == 1, probability, 1 - probability))
    if metric == "neg_brier_score":
        loss = (probability - truth) ** 2
    theory = loss.std() / np.sqrt(N)
    assert result.bootstrap_distribution.std() == pytest.approx(theory, rel=4.5 / np.sqrt(3998))


def test_the_law_does_not_jump_where_cells_begin():
    y, predicted = y_and_predictions()

    def replicates(n):
        result = skboot.bootstrap_score(
            y[:n], predicted[:n], metric="mean_squared_error", n_resamples=9999, random_state=0
        )
        return (result.bootstrap_distribution - result.estimate) / np.sqrt(
            ((y - predicted)[:n] ** 2).var() / n
        )

    just_below, above = replicates(N - 1), replicates(N)
    assert stats.ks_2samp(just_below, above).pvalue > 1e-4


def test_the_first_resamples_of_many_are_those_of_few():
    few, many = (
        skboot.bootstrap_score(None, Z, metric="mean", n_resamples=b, random_state=3)
        for b in (199, 1999)
    )
    np.testing.assert_array_equal(few.bootstrap_distribution, many.bootstrap_distribution[:199])


def test_metrics_of_a_call_share_the_resamples():
    y, predicted = y_and_predictions()
    both = skboot.bootstrap_score(
        y, predicted, metric=["neg_mean_squared_error", "neg_mean_absolute_error"], random_state=0
    )
    one, other = (result.bootstrap_distribution for result in both.values())
    error = np.abs(y - predicted)
    expected = np.corrcoef(error**2, error)[0, 1]
    # Fisher's transformation of a correlation has the error 1 / sqrt(n - 3).
    assert np.arctanh(np.corrcoef(one, other)[0, 1]) == pytest.approx(
        np.arctanh(expected), abs=4.5 / np.sqrt(1996)
    )


def test_paired_systems_differ_as_on_rows_and_equal_ones_not_at_all():
    y, predicted = y_and_predictions()
    other = predicted + 0.1 * OTHER
    result = skboot.compare_systems(
        y,
        {"A": predicted, "B": other, "C": predicted.copy()},
        metric="mean_squared_error",
        random_state=0,
    )
    by_names = {(pair.first, pair.second): pair for pair in result.pairs}
    same = by_names["A", "C"]
    assert (same.difference, *same.confidence_interval[:2]) == (0, 0, 0)
    pair = by_names["A", "B"]
    difference = (y - predicted) ** 2 - (y - other) ** 2
    theory = difference.std() / np.sqrt(N)
    assert pair.standard_error == pytest.approx(theory, rel=4.5 / np.sqrt(3998))


def test_strata_keep_their_rows():
    values = Z + 1e3 * STRATA
    result = skboot.bootstrap_score(None, values, metric="mean", strata=STRATA, random_state=0)
    rows = np.bincount(STRATA)
    within = np.sqrt(sum(m * values[np.equal(STRATA, h)].var() for h, m in enumerate(rows))) / N
    assert result.bootstrap_distribution.std() == pytest.approx(within, rel=4.5 / np.sqrt(3998))


@pytest.mark.parametrize("given", ["groups", "resamples"])
def test_groups_and_given_resamples_are_drawn_as_below_the_threshold(given, monkeypatch):
    own = {
        "groups": np.arange(N) // 2,
        "resamples": np.random.default_rng(0).integers(0, N, (50, N)),
    }[given]

    def call():
        result = skboot.bootstrap_score(
            None, Z, metric="mean", n_resamples=50, random_state=0, **{given: own}
        )
        return result.bootstrap_distribution

    np.testing.assert_array_equal(call(), without_cells(monkeypatch, call))


@pytest.mark.parametrize("strata", [None, np.arange(N) % 3])
@pytest.mark.parametrize("metric", ["neg_mean_squared_error", ["neg_mean_absolute_error", "r2"]])
def test_subgroups_have_cells_of_their_own_and_the_law_of_rows(metric, strata, monkeypatch):
    def call():
        results = skboot.bootstrap_score(
            Z, Z + OTHER, metric=metric, by=STRATA, strata=strata, random_state=0
        )
        tables = [results] if isinstance(metric, str) else results.values()
        return [table[name] for table in tables for name in range(5)]

    by_cells, by_rows = call(), without_cells(monkeypatch, call)
    for one, other in zip(by_cells, by_rows, strict=True):
        assert one.estimate == pytest.approx(other.estimate, rel=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=6.4 / np.sqrt(3998))
        assert not np.array_equal(one.bootstrap_distribution, other.bootstrap_distribution)


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
@pytest.mark.parametrize("n_few", [200, 300])
def test_a_part_of_few_rows_varies_as_these_do_among_many(n_few):
    """Within 5 Monte Carlo errors, and what a varying number of rows adds."""
    values, part = np.exp(Z), np.where(np.arange(N) < n_few, "few", "many")
    found = skboot.bootstrap_score(None, values, metric="mean", by=part, random_state=0)["few"]
    few = values[:n_few]
    assert found.estimate == pytest.approx(few.mean(), rel=1e-12)
    error = few.std() / np.sqrt(n_few)
    assert found.standard_error == pytest.approx(error, rel=5 / np.sqrt(2 * 1999) + 1 / n_few)


@pytest.mark.parametrize("strata", [None, STRATA])
def test_rows_of_no_part_are_drawn_with_the_others(strata):
    rows = np.flatnonzero(OTHER > 0.3)
    cells = row_cells([Z[rows]], None if strata is None else strata[rows])
    design = module.CellsDesign.by(RowDesign.of(N, strata), [cells], [rows])
    assert design.multiplicity.sum() == N
    [part] = design.atoms_of_parts()
    assert design.multiplicity[part].sum() == len(rows)
    if strata is not None:
        of_strata = np.bincount(design.cell_strata, design.multiplicity)
        np.testing.assert_array_equal(of_strata, np.bincount(STRATA))


# ------------------------------------------------------------------ areas under ROC curves


def scores_of_two_classes(n=100_000, separation=1.0):
    rng = np.random.default_rng(2)
    truth = (rng.random(n) < 0.4).astype(int)
    score = rng.normal(size=n) + separation * truth
    return truth, score, score + 0.3 * rng.normal(size=n)


def test_areas_are_scikit_learns_and_vary_as_delong_says():
    truth, score, _ = scores_of_two_classes()
    result = skboot.bootstrap_score(truth, score, metric="roc_auc", random_state=0)
    assert result.estimate == pytest.approx(metrics.roc_auc_score(truth, score), rel=1e-12)
    own = result.bootstrap_distribution
    _, [[variance]] = delong_covariance(truth == 1, score[None])
    assert own.std() == pytest.approx(np.sqrt(variance), rel=4.5 / np.sqrt(3998))
    assert own.mean() == pytest.approx(result.estimate, abs=4.5 * np.sqrt(variance / 1999))


def test_paired_areas_differ_as_delong_says():
    truth, *scores = scores_of_two_classes()
    systems = dict(zip("AB", scores, strict=True))
    result = skboot.compare_systems(truth, systems, metric="roc_auc", random_state=0)
    _, covariance = delong_covariance(truth == 1, np.array(scores))
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert result.pairs[0].standard_error == pytest.approx(
        np.sqrt(variance), rel=4.5 / np.sqrt(3998)
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_the_first_order_of_an_area_is_the_area_without_single_rows(weighted, ties, monkeypatch):
    truth, score, _ = scores_of_two_classes(30_000)
    score = np.round(score, 2) if ties else score
    weights = np.random.default_rng(4).integers(1, 4, len(truth)) / 2 if weighted else None
    area = RocAuc()
    reduced = area.reduce(truth, score, weights)
    monkeypatch.setattr(ranking, "SECOND_ORDER_SHARE", np.inf)
    statistic, terms = area.as_sums(reduced)
    code = np.arange(len(truth)) if reduced.code is None else reduced.code.astype(int)
    of_rows = terms.terms[code]
    assert of_rows[:, 1].sum() == pytest.approx(0, abs=1e-8 * np.abs(of_rows[:, 1]).sum())
    for row in (0, 17, 29_999):
        left = np.delete(np.arange(len(truth)), row)
        own = None if weights is None else weights[left]
        expected = metrics.roc_auc_score(truth[left], score[left], sample_weight=own)
        value = statistic.combine((of_rows.sum(axis=0) - of_rows[row])[None], terms)[0]
        full = metrics.roc_auc_score(truth, score, sample_weight=weights)
        assert value - full == pytest.approx(expected - full, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("separation", [1.0, 6.0])
def test_areas_of_which_few_rows_decide_are_drawn_by_rows(separation):
    area = RocAuc()
    truth, score, _ = scores_of_two_classes(separation=separation)
    found = area.as_sums(area.reduce(truth, score, None))
    assert (found is None) == (separation > 5)
    truth, score, _ = scores_of_two_classes(20_000)
    assert area.as_sums(area.reduce(truth, score, None)) is None


def test_acceleration_of_bca_is_that_of_the_rows(monkeypatch):
    def call():
        return skboot.bootstrap_score(
            None, np.exp(Z), metric="mean", interval="bca", n_resamples=1999, random_state=0
        )

    calls = []
    acceleration = skboot.inference.distribution._jackknife_of
    monkeypatch.setattr(
        skboot.inference.distribution,
        "_jackknife_of",
        lambda *arguments: calls.append(acceleration(*arguments)) or calls[-1],
    )
    call()
    away = np.exp(Z) - np.exp(Z).mean()
    expected = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    assert calls[0][0] == pytest.approx(expected, rel=1e-3)
    assert calls[0][1] == pytest.approx(np.sqrt(np.sum(away**2)) / N, rel=1e-4)


def test_a_design_of_cells_is_that_of_the_rows_in_all_else():
    design = RowDesign.of(N, STRATA)
    cells = row_cells([Z], STRATA)
    by_cells = module.CellsDesign.by(design, [cells], [None])
    assert by_cells.kind == design.kind
    assert by_cells.n_units == design.n_units
    assert by_cells.degrees_of_freedom == design.degrees_of_freedom


def test_small_subgroups_are_not_put_in_cells(monkeypatch):
    """Of 20,000 rows in 40 subgroups each row would be a cell."""
    monkeypatch.setattr(study, "_cells_of", None)
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=(2, 20_000))
    by = np.arange(20_000) % 40
    results = skboot.bootstrap_score(
        truth, predicted, metric="mean_absolute_error", by=by, n_resamples=50, random_state=0
    )
    rows = by == 3
    expected = np.abs(truth[rows] - predicted[rows]).mean()
    assert results[3].estimate == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_apart", [0, 1, 50, 99, 100, 101, 164, 200, 2000])
@pytest.mark.parametrize("first", [True, False])
def test_values_are_nearly_equal_where_their_quantiles_are(n_apart, first):
    values = np.where(np.arange(10_000) < n_apart, 1.0, 1e-12 * np.arange(10_000))
    values = values if first else values[::-1]
    low, high = np.quantile(values, (0.01, 0.99))
    assert module._are_nearly_equal(values, 1e-7) == (0 < high - low < 1e-7)
