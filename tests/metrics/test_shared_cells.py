"""Metrics of one call that share the cells of its rows: as each by itself, in one pass."""

from __future__ import annotations

import numpy as np
import pytest

import skboot
from skboot.metrics import cells, lookup
from skboot.resampling.coding import CodedRows, bind_rows

N = 600
METRICS = ["accuracy", "f1", "precision", "recall", "matthews_corrcoef", "balanced_accuracy"]


def _rows(n_classes: int, dtype: type = int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, n_classes, N)
    y_pred = np.where(rng.random(N) < 0.8, y_true, rng.integers(0, n_classes, N))
    return y_true.astype(dtype), y_pred.astype(dtype)


def _codings(names: list[str], y_true: np.ndarray, y_pred: np.ndarray, shared: bool) -> list:
    statistics, _ = lookup.resolve_metrics(names, share_cells=shared)
    reduced = [statistic.reduce(y_true, y_pred, None) for statistic in statistics.values()]
    return [CodedRows(r.coded if shared else r.code, r.n_codes, "sums", r.counts) for r in reduced]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("with_other", [False, True])
def test_atoms_are_those_of_codes_of_rows(
    n_classes: int, stratified: bool, with_other: bool
) -> None:
    names = ["accuracy", "f1_macro", "precision_macro", "balanced_accuracy"]
    y_true, y_pred = _rows(n_classes)
    strata = np.arange(N) % 3 if stratified else None
    other = [CodedRows(np.arange(N) % 4, 4, "sums")] if with_other else []
    bound = [
        bind_rows([*_codings(names, y_true, y_pred, shared), *other], N, strata)
        for shared in (True, False)
    ]
    (units, counts, stratum), (units_of_rows, counts_of_rows, stratum_of_rows) = bound
    np.testing.assert_array_equal(counts[0], counts_of_rows[0])
    np.testing.assert_array_equal(stratum, stratum_of_rows)
    for of_cells, of_rows in zip(units, units_of_rows, strict=True):
        np.testing.assert_array_equal(of_cells.units, of_rows.units)
        np.testing.assert_array_equal(of_cells.entry_starts, of_rows.entry_starts)


@pytest.mark.filterwarnings("ignore:.*pos_label")
@pytest.mark.parametrize("dtype", [int, np.int8, bool, float, str])
def test_scores_are_those_of_the_same_resamples(dtype: type) -> None:
    y_true, y_pred = _rows(2, dtype)
    pos_label = {"pos_label": y_true.dtype.type(1)} if dtype is str else {}
    names = [*METRICS, "jaccard"]
    together = skboot.bootstrap_score(y_true, y_pred, metric=names, random_state=0, **pos_label)
    for name in names:
        alone = skboot.bootstrap_score(y_true, y_pred, metric=name, random_state=0, **pos_label)
        assert together[name].estimate == alone.estimate
        assert together[name].naive_estimate == alone.naive_estimate


def test_cells_of_a_call_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of few rows the caution on their order reads the codes.
    y_true, y_pred = (np.tile(column, 5) for column in _rows(2))
    calls = []
    find = cells.Cells.of.__func__

    def counted(cls: type, *columns: np.ndarray) -> cells.Cells:
        calls.append(columns)
        return find(cls, *columns)

    monkeypatch.setattr(cells.Cells, "of", classmethod(counted))
    monkeypatch.setattr(cells.Cells, "rows", None)
    skboot.bootstrap_score(y_true, y_pred, metric=METRICS, random_state=0)
    assert len(calls) == 1


def test_columns_of_equal_place_are_one_column() -> None:
    y_true, y_pred = _rows(3)
    shared = cells.SharedCells()
    of_rows = shared.of(y_true, y_pred)
    assert shared.of(y_true[:], y_pred[:]) is of_rows
    assert shared.of(y_true[1:], y_pred[1:]) is not of_rows
    assert shared.of(y_true.view(np.uint64), y_pred) is not of_rows
    for k in range(1, 20):
        shared.of(y_true[k:], y_pred[k:])
    assert len(shared._cells) <= 8


def test_rows_are_not_passed_over_again_for_the_labels_of_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    y_true, y_pred = _rows(5)
    shared = cells.SharedCells()
    shared.of(y_true, y_pred)
    monkeypatch.setattr(cells, "label_counts", None)
    labels, counts = shared.label_counts(y_true)
    np.testing.assert_array_equal([labels, counts], np.unique(y_true, return_counts=True))


@pytest.mark.parametrize("dtypes", [(int, int), (np.int8, int), (bool, bool), (float, float)])
def test_labels_of_the_truth_have_its_type(dtypes: tuple[type, type]) -> None:
    y_true, y_pred = (y.astype(dtype) for y, dtype in zip(_rows(2), dtypes, strict=True))
    shared = cells.SharedCells()
    shared.of(y_true, y_pred)
    labels, counts = shared.label_counts(y_true)
    expected, of_each = np.unique(y_true, return_counts=True)
    assert labels.dtype == y_true.dtype
    assert (labels.tolist(), counts.tolist()) == (expected.tolist(), of_each.tolist())
