"""Data and peers of the study of scores with a judge, by formulas and by ppi_py's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from benchmarks.coverage.studies import judges as study

PPI = Path(__file__).parents[3] / "tests" / "references" / "ppi" / "expected.json"
SCORES = {
    "accuracy": lambda truth, answers: np.mean(truth == answers),
    "groups": lambda truth, answers: np.mean(truth == answers),
    "F1": f1_score,
    "AUC": roc_auc_score,
    "difference": lambda truth, pair: np.mean(truth == pair[0]) - np.mean(truth == pair[1]),
}


@pytest.mark.parametrize("case", json.loads(PPI.read_text())["cases"], ids=lambda one: one["kind"])
def test_the_published_form_is_that_of_ppi_py(case):
    human, judge = np.array(case["human"]), np.array(case["judge"])
    n = len(human)
    truth = np.append(human, np.full(len(judge) - n, np.nan))
    weight, estimate, limits = study.published(truth, judge, n)
    assert weight == pytest.approx(case["weight"], rel=1e-10)
    assert estimate == pytest.approx(case["estimate"], rel=1e-10)
    np.testing.assert_allclose(limits, case["interval"], rtol=1e-10)


@pytest.mark.parametrize("name", [name for name in study.CELLS if name.endswith("n 50")])
def test_the_true_value_is_that_of_many_rows(name):
    """Within five standard errors of the mean over data sets."""
    samples = [study.data_of(name, k) for k in range(20)]
    metric = study.CELLS[name][0]
    if samples[0].answers is None:
        found = [one.truth.mean() for one in samples]
    else:
        found = [SCORES[metric](one.truth, one.answers) for one in samples]
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - samples[0].value) < 5 * error


@pytest.mark.parametrize("judge", ["good", "middling"])
def test_a_judge_is_wrong_as_often_as_it_is_said_to_be(judge):
    for name in ("accuracy", "F1", "AUC", "groups"):
        sample = study.data_of(f"{name}, {judge}, n 100", 0)
        wrong = np.mean(sample.judge != sample.truth)
        assert wrong == pytest.approx(study.WRONG[judge], abs=0.05)


def test_strata_of_a_judge_that_is_always_right_are_its_share():
    rng = np.random.default_rng(0)
    human = (rng.random(1100) < 0.8).astype(float)
    low, high = study.strata(human, human, 100)
    assert low < human.mean() < high
    assert high - low < 0.12


def test_a_row_holds_what_its_header_names(monkeypatch):
    monkeypatch.setattr(study, "N_DATA_SETS", 3)
    monkeypatch.setattr(study, "N_RESAMPLES", 39)
    for name in ("accuracy, good, n 50", "mean, biased, n 50", "difference, good, n 50"):
        row = dict(zip(study.HEADER, (name, *study.row_of(name)), strict=True))
        assert row["data sets"] == 3
        assert float(row["ratio"]) <= 1
