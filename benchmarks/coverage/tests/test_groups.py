"""Intervals on groups cover as often, and are as short, as the committed table says."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage.runner import read
from benchmarks.coverage.studies import groups as study
from skboot import bootstrap_score

ROOT = Path(__file__).parents[3]
RIVALS = ("auto", "studentized", "expanded", "bca", "effective", "by_groups", "transformed")
PAGE = ROOT / "docs" / "studies" / "grouped_systems.md"
# Sigma of rows 1 and of groups 1.5: no method in the table reaches 90 % with 20 or 50 groups.
HEAVY = {("lognormal, group sigma", n_groups, "1.5") for n_groups in ("20", "50")}


def committed(kind, design=None):
    rows = read(study.STUDY.path)
    return [row for row in rows if row["kind"] == kind and design in (None, row["design"])]


def numbers(row, method):
    """Coverage in percent and mean width."""
    return tuple(float(number) for number in row[method].split("/"))


def least(row):
    """Coverage that is asked for, in percent."""
    if row["kind"] == "losses":
        return 90
    return 92 if (row["n_groups"], row["icc"]) == ("20", "0.4") else 93


def judged(kind, design=None):
    """Rows whose coverage is asked for: losses where it is rare that all are zero."""
    for row in committed(kind, design):
        if kind != "losses" or (float(row["without_error"]) < 2 and not is_heavy(row)):
            yield row


def is_heavy(row):
    """Whether no method covers."""
    return (row["design"], row["n_groups"], row["icc"]) in HEAVY


def ratios(kind, design=None):
    """Mean width over that of the shortest method that covers."""
    found = []
    for row in judged(kind, design):
        rivals = [numbers(row, method) for method in RIVALS if row[method]]
        shortest = min(width for covered, width in rivals if covered >= least(row))
        found.append(numbers(row, "auto")[1] / shortest)
    return np.array(found)


@pytest.mark.parametrize(("kind", "n"), [("accuracy", 90), ("losses", 52), ("metrics", 20)])
def test_grouped_scores_are_covered_as_often_as_promised(kind, n):
    rows = list(judged(kind))
    assert len(rows) == n
    for row in rows:
        assert numbers(row, "auto")[0] >= least(row), row


@pytest.mark.parametrize(
    ("kind", "design"), [("accuracy", "few errors"), ("accuracy", "many errors"), ("losses", None)]
)
def test_intervals_are_nearly_as_short_as_the_shortest_that_cover(kind, design):
    found = ratios(kind, design)
    assert np.exp(np.mean(np.log(found))) <= 1.4
    assert found.max() <= 1.8


def test_with_many_errors_intervals_are_no_wider_than_studentized_ones():
    for row in committed("accuracy", "many errors"):
        assert numbers(row, "auto")[1] <= 1.02 * numbers(row, "studentized")[1]


def test_the_heavy_tails_that_are_missed_are_missed_by_all():
    rows = [row for row in committed("losses") if is_heavy(row)]
    assert len(rows) == len(HEAVY)
    for row in rows:
        assert 86 <= numbers(row, "auto")[0] < 90
        assert max(numbers(row, method)[0] for method in RIVALS if row[method]) < 90


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_committed_table():
    text = PAGE.read_text(encoding="utf-8")
    for row in committed("accuracy", "few errors"):
        if (row["sizes"], row["icc"]) == ("5 to 20", "0.1"):
            cells = [row["n_groups"], row["mean"]]
            for method in ("auto", "studentized"):
                covered, width = numbers(row, method)
                cells += [f"{covered:.1f}", f"{width:.2g}"]
            assert f"| {' | '.join(cells)} |" in text


@pytest.mark.parametrize(
    ("kind", "design", "mean", "icc"),
    [("accuracy", "few errors", 0.97, 0.1), ("losses", "zero-inflated, exponential", 0.05, 0.1)],
)
def test_the_study_knows_of_a_data_set_what_bootstrap_score_knows(kind, design, mean, icc):
    rng = np.random.default_rng(0)
    zero_one = kind == "accuracy"
    if zero_one:
        n_rows, sums = study.accuracy_sums(rng, 12, 20, "5 to 20", mean, icc)
    else:
        n_rows, sums = study.loss_sums(rng, 12, 20, design, mean, icc)
    means, errors = study.replicates_of(rng, n_rows, sums)
    closed = 0
    for k, (rows, of_group) in enumerate(zip(n_rows, sums, strict=True)):
        groups = np.repeat(np.arange(20), rows)
        place = np.concatenate([np.arange(n) for n in rows])
        if zero_one:
            arguments = np.ones(len(groups), int), (place < of_group[groups]).astype(int)
        else:
            arguments = None, np.where(place == 0, of_group[groups], 0.0)
        metric = "accuracy" if zero_one else "mean"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bootstrap_score(*arguments, metric=metric, groups=groups, random_state=k)
        own = study.evidence_of(rows, of_group, means[:, k], errors[:, k], zero_one)
        known = result._evidence
        assert known.group_influence == pytest.approx(own.group_influence, abs=1e-14)
        assert known.standard_error == pytest.approx(own.standard_error)
        assert known.group_weight.tolist() == own.group_weight.tolist()
        for name in ("estimate", "n_units", "bounds", "n_effective_rows", "additive"):
            assert known.to_parts()[name] == pytest.approx(own.to_parts()[name]), name
        # The same resamples are not at hand, so only closed forms can agree to the last digits.
        if result.confidence_interval.method in ("wilson", "score"):
            closed += 1
            expected = study.automatic_limits(own)
            assert result.confidence_interval[:2] == pytest.approx(expected, nan_ok=True)
        else:
            errors_of = known.replicate_standard_errors
            assert np.median(errors_of) == pytest.approx(np.median(errors[:, k]), rel=0.1)
    assert closed >= 3


# 500 data sets: standard error 1.1 % at 94 %, so that 89.5 % is undercut once in 40,000 seeds.
@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        ("accuracy", "few errors", 20, "5 to 20", 0.95, 0.1),
        ("accuracy", "few errors", 200, "equal", 0.998, 0.1),
        ("accuracy", "many errors", 20, "5 to 20", 0.8, 0.1),
        ("losses", "zero-inflated, exponential", 50, "5 to 20", 0.03, 0.1),
    ],
)
def test_other_data_sets_are_covered_as_well(cell):
    limits, _ = study.cell(*cell, n_sets=500, seed=1)
    low, high = limits["auto"]
    assert np.mean((low <= cell[4]) & (cell[4] <= high)) >= 0.895
