"""Texts call what is resampled by the name of the user's column of groups, where it is a noun."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from skboot import (
    BootstrapAccumulator,
    BootstrapScorer,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_methods,
    compare_systems,
    learning_curve,
    plan_evaluation,
    scan_dataset,
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


@pytest.mark.parametrize(
    ("group", "task", "unit", "estimand"),
    [
        # Groups with rows in each task, within a task, groups that are the tasks, and suites of
        # tasks: "task" is the word of the argument that names them.
        (GROUPS, GROUPS % 12 // 6, "patient", "new patients in these tasks"),
        (GROUPS, np.arange(N) % 2, "patient", "new patients in these tasks"),
        (GROUPS % 12, GROUPS % 12, "task", "new tasks like these"),
        (GROUPS % 6, GROUPS % 12, "patient", "new patients like these"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_groups_of_averages_over_tasks_have_their_name(group, task, unit, estimand):
    result = bootstrap_score(Y, A, groups=named("patient", group), average_over=task, **FEW)
    assert result.unit == unit
    assert estimand in " ".join(result.summary().split())


TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
FITS = {"random_state": 0, "n_train_resamples": 5}
X = np.column_stack([Y + RNG.normal(size=N), RNG.normal(size=N)])


@pytest.mark.parametrize("given", [named("patient"), GROUPS], ids=["named", "array"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_trained_on_is_called_by_its_name(given):
    noun = "patients" if given is not GROUPS else "groups"
    scorer = BootstrapScorer(TREE, **FITS, strategy="oob").fit(X, Y, groups=given)
    assert f"60 {noun}" in scorer.result_.summary()
    assert f"60 {noun}" in scorer.result_.claim()
    methods = {"tree": TREE, "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    compared = compare_methods(methods, X, Y, groups=given, n_cv_repeats=1, **FITS)
    assert f"60 {noun}" in compared.summary()
    curve = learning_curve(
        TREE, X, Y, groups=given, train_sizes=(0.5,), n_repeats=5, random_state=0
    )
    assert f"{noun} outside" in curve.summary()


@pytest.mark.filterwarnings("ignore")
def test_cautions_of_trainings_have_the_name():
    few = named("patient", GROUPS % 7)
    with pytest.warns(UserWarning, match="Only 7 patients were resampled"):
        BootstrapScorer(TREE, **FITS, strategy="oob").fit(X, Y, groups=few)


@pytest.mark.filterwarnings("ignore")
def test_test_sets_have_the_names_of_their_groups():
    sets = {"groups": named("patient"), "X_test": X, "y_test": Y, "groups_test": named("hospital")}
    scorer = BootstrapScorer(TREE, **FITS).fit(X, Y, **sets)
    assert "60 hospitals" in scorer.result_.summary()
    with pytest.warns(UserWarning, match="shares 60 patients with the training set"):
        BootstrapScorer(TREE, **FITS).fit(X, Y, **sets | {"groups_test": GROUPS})


def _added(*columns):
    """Return an accumulator of a batch for each column of groups."""
    accumulator = BootstrapAccumulator("accuracy", **FEW)
    for k, column in enumerate(columns):
        accumulator.update(np.roll(Y, k), A, groups=column)
    return accumulator


@pytest.mark.parametrize("n_groups", [60, 20], ids=["sums", "few rows"])
def test_batches_of_one_name_have_it(n_groups):
    column = named("patient", GROUPS % n_groups)
    accumulator = _added(column, column)
    result = accumulator.result()
    assert f"{n_groups} patients" in result.summary()
    again = BootstrapAccumulator.from_bytes(accumulator.to_bytes())
    assert again.result().summary() == result.summary()
    assert again.merge(_added()).result().unit == "patient"
    # Names that differ, and columns without, leave the word for any group, in whatever order.
    for columns in ([column, named("ward")], [GROUPS, column], [column, named("ward"), column]):
        assert _added(*columns).result().unit == "group"


def test_columns_that_are_scanned_have_their_name(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"y": Y, "a": A, "patient_id": GROUPS}).to_parquet(tmp_path / "rows.parquet")
    data = scan_dataset(tmp_path)
    result = bootstrap_score(data["y"], data["a"], groups=data["patient_id"], **FEW)
    assert "60 patients" in result.summary()
    assert data["patient_id"].name == "patient_id"
    assert data[["y", "a"]].name is None


def test_columns_of_dask_have_their_name():
    dataframe = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"y": Y, "a": A, "patient": GROUPS})
    parts = dataframe.from_pandas(table, npartitions=3)
    result = bootstrap_score(parts["y"], parts["a"], groups=parts["patient"], **FEW)
    assert "60 patients" in result.summary()
