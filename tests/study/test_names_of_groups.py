"""Texts call what is resampled by the name of the user's column of groups, where it is a noun."""

import numpy as np
import pytest

from skboot import (
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_systems,
    plan_evaluation,
)
from skboot.resampling.design import noun_of
from skboot.results import ComparisonResult, EvaluationResult

pd = pytest.importorskip("pandas")

N = 300
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], N // 2)
A, B = (np.where(RNG.random(N) < share, 1 - Y, Y) for share in (0.1, 0.2))
GROUPS = RNG.permutation(N) % 60
FEW = {"n_resamples": 99, "random_state": 0}


def named(name, groups=GROUPS):
    return pd.Series(groups, name=name)


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("patient", "patient"), ("patients", "patient"), ("patient_id", "patient"),
        ("speakers", "speaker"), ("site", "site"), ("images", "image"), ("survey", "survey"),
        # The plural is not the noun and an s, or the s is none of a plural.
        ("study", ""), ("batch", ""), ("series", ""), ("class", ""), ("box", ""), ("mice", ""),
        ("people", ""), ("women", ""), ("child", ""), ("campus", ""), ("lens", ""), ("boxes", ""),
        # No noun in small letters, or one that says nothing.
        ("Patient ID", ""), ("patientId", ""), ("patient-id", ""), ("group", ""), ("groups", ""),
        ("id", ""), ("index", ""), ("pid", ""), ("unit_id", ""), ("x", ""), ("", ""), ("grp", ""),
    ],
)  # fmt: skip
def test_a_noun_is_a_word_whose_plural_has_an_s(name, noun):
    assert noun_of(name) == noun


@pytest.mark.parametrize(
    ("name", "unit", "text"),
    [
        ("patient", "patient", "60 patients with 300 rows"),
        ("patient_id", "patient", "60 patients with 300 rows"),
        ("Patient ID", "group", '60 groups ("Patient ID") with 300 rows'),
        ("study", "group", '60 groups ("study") with 300 rows'),
        ("group", "group", "60 groups with 300 rows"),
        ("id", "group", "60 groups with 300 rows"),
        (0, "group", "60 groups with 300 rows"),
        (None, "group", "60 groups with 300 rows"),
    ],
)
def test_a_column_lends_its_name_to_what_is_resampled(name, unit, text):
    result = bootstrap_score(Y, A, groups=named(name), **FEW)
    assert text in result.summary()
    assert f"new {unit}s from the same source" in result.claim()
    assert result.unit == result.to_dict()["unit"] == unit


def test_names_change_no_number():
    plain = bootstrap_score(Y, A, groups=GROUPS, **FEW)
    result = bootstrap_score(Y, A, groups=named("patient"), **FEW)
    assert result.confidence_interval == plain.confidence_interval
    np.testing.assert_array_equal(result.bootstrap_distribution, plain.bootstrap_distribution)


def test_a_column_of_polars_lends_its_name():
    polars = pytest.importorskip("polars")
    result = bootstrap_score(Y, A, groups=polars.Series("speaker", GROUPS), **FEW)
    assert "60 speakers" in result.summary()


def test_cautions_and_plans_name_the_units():
    few = named("patient", GROUPS % 7)
    with pytest.warns(UserWarning, match="Only 7 patients were resampled"):
        bootstrap_score(Y, A, groups=few, **FEW)
    pair = compare_systems(Y, {"a": A, "b": B}, groups=named("patient"), **FEW)
    assert plan_evaluation(pair, difference=0.05).unit == "patient"
    assert "60 patients" in pair.claim()


@pytest.mark.filterwarnings("ignore:.*Only 2 runs")
def test_runs_and_curves_name_the_units():
    runs = bootstrap_runs(Y, [A, B], groups=named("patient"), **FEW)
    assert "60 patients" in runs.summary()
    score = Y + RNG.normal(size=N)
    curve = bootstrap_curve(Y, score, groups=named("patient"), **FEW)
    assert "new patients from the same source" in " ".join(curve.summary().split())


@pytest.mark.parametrize("name", ["patient", "Patient ID"])
def test_saved_results_keep_the_name(name, tmp_path):
    result = bootstrap_score(Y, A, groups=named(name), **FEW)
    result.save(tmp_path / "result")
    again = EvaluationResult.load(tmp_path / "result")
    assert again == result
    assert again.summary() == result.summary()
    pair = compare_systems(Y, {"a": A, "b": B}, groups=named(name), **FEW)
    pair.save(tmp_path / "pair")
    assert ComparisonResult.load(tmp_path / "pair").summary() == pair.summary()


def test_each_system_on_rows_of_its_own_names_its_units():
    columns = {"a": named("patient"), "b": named("patient", GROUPS[:200])}
    result = compare_systems(
        {"a": Y, "b": Y[:200]}, {"a": A, "b": B[:200]}, groups=columns, paired=False, **FEW
    )
    assert "patients" in result.summary()


def test_averages_over_tasks_speak_of_groups():
    result = bootstrap_score(Y, A, groups=named("patient"), average_over=GROUPS % 12, **FEW)
    assert result.unit == "group"
