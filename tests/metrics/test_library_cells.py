"""Label metrics of scikit-learn without a fast path: weighted cells are as good as repeated rows.

False-alarm rate of the Kolmogorov-Smirnov test: 1e-4, with fixed seeds.
"""

from functools import partial

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import stats

from skboot import bootstrap_score
from skboot.metrics.callables import CellsCallable, LibraryCallable
from skboot.metrics.lookup import resolve_metrics
from skboot.refit.run_metrics import ErrorFunction, replicate
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import CrossedDesign, GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

METRICS = {
    "kappa of some labels": partial(sk.cohen_kappa_score, labels=[0, 1, 3]),
    "number of hits": partial(sk.accuracy_score, normalize=False),
    "number of errors": partial(sk.zero_one_loss, normalize=False),
}
N = 120


def data():
    rng = np.random.default_rng(0)
    # Label 3 has one row, so that most resamples lack it or repeat it.
    y_true = np.append(rng.integers(0, 3, N - 1), 3)
    y_pred = np.where(rng.random(N) < 0.3, rng.integers(0, 3, N), y_true)
    return y_true, y_pred


def statistic_of(metric):
    (statistic,) = resolve_metrics(metric)[0].values()
    assert isinstance(statistic, CellsCallable)
    return statistic


def design_of(kind):
    groups = np.random.default_rng(1).integers(0, 15, N)
    groups[:15] = np.arange(15)
    if kind == "groups":
        return GroupDesign.of(groups)
    if kind == "strata":
        return RowDesign.of(N, np.arange(N) % 3)
    if kind == "crossed":
        pairs = np.column_stack(np.unravel_index(np.arange(N), (12, 10)))
        return CrossedDesign.of(pairs)
    return RowDesign.of(N)


@pytest.mark.parametrize("kind", ["rows", "groups", "strata", "crossed"])
@pytest.mark.parametrize("name", METRICS)
def test_a_replicate_is_the_function_on_the_repeated_rows(name, kind):
    y_true, y_pred = data()
    statistic = statistic_of(METRICS[name])
    reduced = statistic.reduce(y_true, y_pred, None)
    assert "cells" in reduced.data
    plan = ResamplingPlan(design_of(kind), 20, np.random.SeedSequence(2))
    by_cell = CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced))
    block, rows = plan.bind([by_cell, CodedRows(None, N, "rows")]).block(0)

    expected = [METRICS[name](y_true[line], y_pred[line]) for line in rows.rows()]
    values = statistic.evaluate(block, reduced)[: len(expected)]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["rows", "groups", "strata"])
def test_without_a_unit_it_is_the_function_on_the_other_rows(kind):
    y_true, y_pred = data()
    metric = METRICS["kappa of some labels"]
    statistic = statistic_of(metric)
    reduced = statistic.reduce(y_true, y_pred, None)
    by_cell = CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced))
    plan = ResamplingPlan(design_of(kind), 20, np.random.SeedSequence(2))
    for left_out in plan.bind([by_cell, CodedRows(None, N, "rows")]).jackknife_resamples():
        block, rows = left_out.blocks
        expected = [metric(y_true[line], y_pred[line]) for line in rows.rows()]
        np.testing.assert_allclose(statistic.evaluate(block, reduced), expected, rtol=1e-12)


def test_the_distribution_is_that_of_repeated_rows():
    y_true, y_pred = data()
    metric = METRICS["kappa of some labels"]
    quick = bootstrap_score(y_true, y_pred, metric=metric, n_resamples=1000, random_state=0)
    rng = np.random.default_rng(1)
    picks = rng.integers(0, N, (400, N))
    plain = [metric(y_true[rows], y_pred[rows]) for rows in picks]
    assert stats.ks_2samp(quick.bootstrap_distribution, plain).pvalue > 1e-4


def test_a_function_that_weights_change_falls_back_to_rows():
    def rows_seen(y_true, y_pred, *, sample_weight=None):
        return float(len(y_true))

    y_true, y_pred = data()
    statistic = CellsCallable(rows_seen, "rows seen", response="labels", takes_weights=True)
    reduced = statistic.reduce(y_true, y_pred, None)
    assert reduced.code is None
    assert statistic.reading(reduced) == "rows"
    plan = ResamplingPlan(design_of("rows"), 5, np.random.SeedSequence(2))
    (block,) = plan.bind([CodedRows(None, N, "rows")]).block(0)
    assert np.all(statistic.evaluate(block, reduced) == N)


def test_weighted_rows_are_repeated():
    y_true, y_pred = data()
    reduced = statistic_of(METRICS["number of hits"]).reduce(y_true, y_pred, np.ones(N))
    assert reduced.code is None


def test_functions_without_weights_are_called_on_rows():
    (statistic,) = resolve_metrics(sk.max_error)[0].values()
    assert isinstance(statistic, LibraryCallable)
    assert not isinstance(statistic, CellsCallable)


# ------------------------------------------------------------------ functions of users


def share_right(y_true, y_pred, sample_weight=None):
    return float(np.average(y_true == y_pred, weights=sample_weight))


def test_a_users_function_with_weights_is_called_on_the_pairs_that_occur():
    y_true, y_pred = data()
    sizes = []

    def metric(y_true, y_pred, sample_weight=None):
        sizes.append(len(y_true))
        return share_right(y_true, y_pred, sample_weight)

    quick = bootstrap_score(y_true, y_pred, metric=metric, n_resamples=1000, random_state=0)
    assert quick.estimate == pytest.approx(np.mean(y_true == y_pred), rel=1e-12)
    assert np.median(sizes) <= len(np.unique(y_true)) * len(np.unique(y_pred))

    plain = bootstrap_score(
        y_true,
        y_pred,
        metric=lambda t, p: share_right(t, p),
        n_resamples=1000,
        random_state=1,
    )
    law = stats.ks_2samp(quick.bootstrap_distribution, plain.bootstrap_distribution)
    assert law.pvalue > 1e-4


@pytest.mark.parametrize("truth", [np.arange(12.0) / 7, np.array([1, "a", None] * 4, dtype=object)])
def test_a_users_function_of_other_values_than_labels_is_called_on_rows(truth):
    def metric(y_true, y_pred, sample_weight=None):
        return float(len(y_true))

    (statistic,) = resolve_metrics(metric)[0].values()
    assert statistic.reduce(truth, truth, None).code is None


def test_the_influence_of_a_function_of_cells_is_that_of_rows():
    y_true, y_pred = data()
    values = []
    for metric in (share_right, lambda t, p: share_right(t, p)):
        (statistic,) = resolve_metrics(metric)[0].values()
        function = ErrorFunction(statistic, 1.0, np.unique(y_true))
        values.append(replicate(function, y_true, y_pred, None, 0))
    assert (
        "cells" in resolve_metrics(share_right)[0]["share_right"].reduce(y_true, y_pred, None).data
    )
    assert values[0][0] == pytest.approx(values[1][0], rel=1e-12)
    np.testing.assert_allclose(values[0][1], values[1][1], rtol=1e-9)


# ------------------------------------------------------------------ clusterings


@pytest.mark.filterwarnings("ignore:.*None of the 24 rows moves")
def test_information_that_no_table_of_the_margins_lacks_counts_as_all_of_it():
    """scikit-learn's adjusted mutual information is there 0 / 0 but for rounding."""
    truth, decision = np.arange(24), np.arange(24) // 3
    metric = partial(sk.adjusted_mutual_info_score, average_method="min")
    result = bootstrap_score(truth, decision, metric=metric, n_resamples=99, random_state=0)
    assert result.estimate == 1.0


@pytest.mark.parametrize("metric", [sk.rand_score, sk.adjusted_mutual_info_score])
def test_clusters_are_not_scores(metric):
    y_true, _ = data()
    with pytest.raises(ValueError, match=r"y_pred.*must hold class labels"):
        bootstrap_score(y_true, np.linspace(0, 1, N), metric=metric)


def test_agreement_by_chance_of_many_clusters_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    truth, decision = rng.integers(0, 30, (2, 400))
    result = bootstrap_score(
        truth, decision, metric="adjusted_mutual_info_score", n_resamples=99, random_state=0
    )
    expected = sk.adjusted_mutual_info_score(truth, decision)
    assert result.estimate == pytest.approx(expected, rel=1e-10)
