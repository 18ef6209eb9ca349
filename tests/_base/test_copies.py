"""Rows that are copies: who is in a group with whom, and that natural repeats stay silent."""

from datetime import date

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from skboot._base.copies import ComparedColumns, DistinctRows
from skboot.model_selection import copies_as_groups

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

MIXED = pd.DataFrame(
    {
        "size": [1.5, np.nan, 2.5, np.nan],
        "name": ["a", "b", None, "b"],
        "kind": pd.Categorical(["x", "y", "x", "y"]),
        "count": pd.array([1, None, 3, None], dtype="Int64"),
        "day": pd.to_datetime(["2020-01-01", None, "2020-01-03", None]),
    }
)
PICTURE = np.arange(12.0).reshape(2, 2, 3)
FORMS = {
    "floats": np.array([[0.0, np.nan], [1, 2], [-0.0, 1], [1, 2]]),
    "integers": np.array([[1, 2], [3, 4], [1, 3], [3, 4]]),
    "large integers": np.array([[2**60], [2**60 + 1], [2**60 + 2], [2**60 + 1]]),
    "by columns": np.asfortranarray([[1.5, 2], [3, 4], [1, 3], [3, 4]]),
    "pictures": np.stack([PICTURE, PICTURE + 1, PICTURE.T.reshape(2, 2, 3), PICTURE + 1]),
    "lists": [[1, 2.5], [3, 4], [1, 3], [3, 4]],
    "texts": ["a b", "c", "d", "c"],
    "list of arrays": [PICTURE, PICTURE[:1], PICTURE + 2, PICTURE[:1].copy()],
    "dicts": [{"a": 1}, {"a": 1, "b": [2]}, {"a": 2}, {"b": [2], "a": 1}],
    "objects": np.array([["a", 1], ["b", np.nan], ["a", 2], ["b", None]], dtype=object),
    "sparse": sparse.csr_matrix([[0, 0], [0, 2.5], [1, 0], [0, 2.5]]),
    "sparse by columns": sparse.csc_array([[0, 0], [0, 2.5], [1, 0], [0, 2.5]]),
    "pandas": MIXED,
    "polars": pl.DataFrame(
        {
            "size": [1.5, None, 2.5, None],
            "name": ["a", "b", None, "b"],
            "day": [date(2020, 1, 1), None, date(2020, 1, 3), None],
        }
    ),
    "series": pd.Series([1.5, None, 2.5, None]),
    "records": np.array([(1, "a"), (2, "b"), (1, "b"), (2, "b")], dtype=[("n", int), ("t", "U1")]),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_second_and_the_last_row_are_one_in_any_form(form):
    assert_array_equal(copies_as_groups(FORMS[form]), [0, 1, 2, 1])
    assert_array_equal(copies_as_groups(FORMS[form], [0, 1, 0, 1]), [0, 1, 2, 1])


def test_rows_of_different_targets_are_no_copies():
    X = [[1.5], [2.5], [1.5], [1.5]]
    assert_array_equal(copies_as_groups(X), [0, 1, 0, 0])
    assert_array_equal(copies_as_groups(X, ["a", "a", "b", "a"]), [0, 1, 2, 0])
    assert_array_equal(
        copies_as_groups(X, np.array([[1, 2], [1, 2], [1, 3], [1, 2]])), [0, 1, 2, 0]
    )
    assert_array_equal(copies_as_groups(X, [np.nan, 1, 2, np.nan]), [0, 1, 2, 0])


def test_values_change_places_between_columns_without_becoming_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(500, 8))
    expected = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    found = copies_as_groups(X)
    assert_array_equal(found[:, None] == found, expected[:, None] == expected)
    assert_array_equal(copies_as_groups(X.astype(np.float32)), found)


def test_stored_zeros_and_sums_of_a_sparse_matrix_are_its_values():
    rows, columns, values = [0, 0, 1, 2], [0, 0, 0, 1], [1.0, 2.0, 3.0, 0.0]
    X = sparse.coo_matrix((values, (rows, columns)), shape=(4, 2))
    assert_array_equal(copies_as_groups(X), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1], [2]], [1], r"'y' parameter of copies_as_groups must have as many rows as X, 2\."),
        ("rows", None, "'X' parameter of copies_as_groups"),
        (3.5, None, "'X' parameter of copies_as_groups must be an array-like"),
        (np.array([[1j], [2j]]), None, "'X' parameter of copies_as_groups must hold real numbers"),
    ],
)
def test_what_are_no_rows_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        copies_as_groups(X, y)


# ------------------------------------------------------------------ counting


def n_copies(X, y=None):
    return DistinctRows(ComparedColumns(X, y)).n_copies


def test_copies_of_measurements_are_counted():
    X, y = load_breast_cancer(return_X_y=True)
    assert n_copies(X, y) == 0
    assert n_copies(np.repeat(X[:150], 4, axis=0), np.repeat(y[:150], 4)) == 450
    assert n_copies(np.vstack([X, X[:1]]), np.append(y, y[0])) == 1
    assert n_copies(np.vstack([X, X[:1]]), np.append(y, 1 - y[0])) == 0


def test_a_row_with_two_labels_is_two_rows_each_of_which_may_have_copies():
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert n_copies(np.repeat(X, 3, axis=0), np.tile([0, 0, 1], 100)) == 100


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, load_diabetes])
def test_data_of_scikit_learn_have_no_copies(load):
    assert n_copies(*load(return_X_y=True)) == 0


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits, load_diabetes])
@pytest.mark.parametrize("share", [4, 1])
def test_copies_of_real_rows_are_found_in_any_order(load, share):
    """No column of diabetes or digits has values for half of the rows: all together tell."""
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(share)
    copied = rng.permutation(len(y))[: len(y) // share]
    row = rng.permutation(np.append(np.arange(len(y)), copied))
    assert n_copies(X[row], y[row]) == len(copied)
    assert_array_equal(copies_as_groups(X[row], y[row]), pd.factorize(row)[0])
    others = ComparedColumns(X[copied[:30]], y[copied[:30]])
    assert DistinctRows(ComparedColumns(X, y)).n_copies_in(others) == 30


def coarse(rng, n):
    """Ordinary data of which rows are equal by chance, by what they are."""
    age, sex, y = rng.integers(20, 80, n), rng.random(n) < 0.5, rng.random(n) < 0.3
    balance = np.where(rng.random(n) < 0.2, 0, rng.lognormal(size=n))
    height = rng.normal(175, 8, n).round(1)
    levels = rng.integers(0, 5, (n, 6))
    alike = np.clip(np.round(3 + rng.normal(size=(n, 1)) + rng.normal(size=(n, 20))), 1, 5)
    tenth = np.arange(n) % 10 == 0
    alike[tenth] = rng.integers(1, 6, (tenth.sum(), 1))
    return {
        "levels": (rng.integers(0, 10, (n, 5)), y),
        "age and sex": (np.column_stack([age, sex]), y),
        "age alone": (age[:, None], y),
        "a target that follows from age": (age[:, None], age > 50),
        "age in three forms": (np.column_stack([age, 2020 - age, age**2, sex]), y),
        "many balances of zero": (np.column_stack([balance, sex, rng.integers(0, 3, n)]), y),
        "height to a millimetre": (np.column_stack([height, sex]), y),
        "text of few words": (np.array(["red", "green", "blue"])[rng.integers(0, 3, n)], y),
        "nothing": (np.zeros((n, 1)), y),
        "levels as ones and zeros": (np.eye(5)[levels].reshape(n, -1), y),
        "age, its digits and sex": (np.column_stack([age, age // 10, age % 10, age % 5, sex]), y),
        "half bought nothing": (rng.poisson(3, (n, 20)) * (rng.random((n, 1)) < 0.5), y),
        "a tenth gives one answer to all": (alike, y),
        "rare flags": (np.column_stack([age, rng.random((n, 30)) < 0.02]), y),
    }


@pytest.mark.parametrize("n", [20, 60, 100, 300, 1000])
def test_natural_repeats_are_no_copies(n):
    # 30 data sets of each kind; rows are equal in nearly all of them.
    repeats = 0
    for seed in range(30):
        for kind, (X, y) in coarse(np.random.default_rng([n, seed]), n).items():
            repeats += len(np.unique(copies_as_groups(X, y))) < n
            assert n_copies(X, y) == 0, (kind, seed)
    assert repeats > 100


@pytest.mark.parametrize("n_columns", [2, 5])
def test_copies_of_values_with_two_decimals_are_found(n_columns):
    X = np.random.default_rng(0).normal(10, 3, size=(200, n_columns)).round(2)
    y = np.arange(200) % 2
    assert n_copies(np.repeat(X, 4, axis=0), np.repeat(y, 4)) > 500


def test_copies_of_mixed_tables_and_of_texts_are_found():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(["x", "y"], 80)})
    twice = pd.concat([frame, frame], ignore_index=True)
    assert n_copies(twice) == 80
    assert n_copies(pl.from_pandas(twice)) == 80
    assert n_copies([f"text {k}" for k in range(80)] * 2, [0, 1] * 80) == 80
    measured = sparse.csr_matrix(rng.normal(size=(80, 1)))
    words = sparse.random(80, 500, 0.05, random_state=0, format="csr")
    both = sparse.hstack([measured, words])
    assert n_copies(sparse.vstack([both, both])) == 80


def test_copies_among_other_rows_are_counted_whatever_their_types():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 10**6, 80), "kind": rng.choice(["x", "y"], 80)})
    columns = ComparedColumns(frame, np.arange(80) % 2)
    other = frame.iloc[10:30].astype({"size": float, "kind": "category"})
    others = ComparedColumns(other, (np.arange(10, 30) % 2).astype(float), numbers=columns.numbers)
    assert DistinctRows(columns).n_copies_in(others) == 20


def test_equal_rows_of_large_integers_are_copies_wherever_they_stand():
    X = np.ones((70_000, 1), np.int64)
    X[0], X[1], X[-1] = 2**60, 2**60 + 1, 2**60
    assert len(np.unique(copies_as_groups(X))) == 3


@pytest.mark.parametrize("columns", [["age"], ["age", "flag"], ["age", "weight"]])
def test_rows_of_which_nothing_is_known_are_no_copies(columns):
    """Those whose other measurements are missing say no more than coarse data do."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.normal(size=300), "flag": np.ones(300), "weight": rng.normal(size=300)}
    )
    frame.loc[rng.permutation(300)[:20], ["age", "weight"]] = np.nan
    y = rng.integers(0, 2, 300)
    assert n_copies(frame[columns], y) == 0
    twice = pd.concat([frame, frame[:50]], ignore_index=True)
    known = frame[:50]["age"].notna().sum()
    assert n_copies(twice[columns], np.append(y, y[:50])) == known


def test_objects_that_compare_with_nothing_are_new_where_earlier_ones_lay_in_memory():
    class Unhashable:
        __hash__ = None

    numbers = {}
    for _ in range(50):
        rows = np.array([[Unhashable()]])
        ComparedColumns(rows, numbers=numbers)
        ComparedColumns(rows, numbers=numbers)
        del rows
    assert len(numbers) == 50
