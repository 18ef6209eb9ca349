"""All tables of fifteen rows are counted: "auto" holds where intervals of resamples do not."""

import numpy as np
import pytest
from sklearn import metrics as sk

from benchmarks.coverage.studies import tables

OF_SKLEARN = {
    "f1_macro": lambda y, p: sk.f1_score(y, p, average="macro"),
    "f1_weighted": lambda y, p: sk.f1_score(y, p, average="weighted"),
    "specificity": lambda y, p: sk.recall_score(y, p, pos_label=0),
    **{name: getattr(sk, f"{name}_score") for name in ("accuracy", "f1", "recall", "precision")},
    "balanced_accuracy": sk.balanced_accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}


@pytest.mark.parametrize("metric", tables.METRICS)
def test_true_values_are_those_of_scikit_learn(metric):
    counts = np.array([7, 2, 3, 11])
    y_true, y_pred = (np.repeat(labels, counts) for labels in ((1, 1, 0, 0), (1, 0, 1, 0)))
    expected = OF_SKLEARN[metric](y_true, y_pred)
    assert tables.true_value(metric, *counts / counts.sum()) == pytest.approx(expected, abs=1e-12)


def test_probabilities_of_all_tables_add_up():
    every = tables.all_tables(15)
    assert len(every) == 16 * 17 * 18 // 6
    total = tables.probabilities(every, tables.cells_of(15)).sum(axis=0)
    np.testing.assert_allclose(total, 1, rtol=1e-12)


def test_auto_holds_on_fifteen_rows_where_resamples_do_not():
    metrics = ("accuracy", "f1", "matthews_corrcoef")
    methods = ("auto", "before")
    found = tables.counted(15, metrics, methods, n_resamples=199)
    lowest = dict(zip(metrics, found[2].min(axis=2).tolist(), strict=True))
    assert all(auto > 0.85 for auto, _ in lowest.values()), lowest
    assert lowest["matthews_corrcoef"][1] < 0.6
