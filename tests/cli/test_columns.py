"""Truth and predictions are typed together, and names of groups are never merged."""

import json
import shlex

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.metrics import log_loss, roc_auc_score

from skboot import bootstrap_score

SHORT = ("--n-resamples", "199")


def table(path, **columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(map(str, row)) for row in [list(columns), *rows]]
    path.write_text("\n".join(lines) + "\n")
    return path


def estimate(skboot, *words):
    code, out, err = skboot("score", *words, *SHORT, "--json")
    assert code == 0, err
    return json.loads(out)["estimate"]


def refused(skboot, *words):
    code, out, err = skboot("score", *words, *SHORT)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        # Numbers if all are numbers: 1, 1.0 and 01 are one label.
        (["1", "01", "1.0", "2"] * 10, ["1", "1", "1", "1"] * 10, 0.75),
        # Else text exactly as written.
        (["a1", "01", "1", "b"] * 10, ["a1", "1", "01", "B"] * 10, 0.25),
        (["True", "False"] * 10, ["True", "True"] * 10, 0.5),
        (["1_0", "x"] * 10, ["10", "x"] * 10, 0.5),
        (["nan", "deu"] * 10, ["nan", "nan"] * 10, 0.5),
    ],
)
def test_labels_agree_as_numbers_or_as_they_are_written(
    truth, predicted, expected, skboot, tmp_path
):
    path = table(tmp_path / "x.csv", y=truth, p=predicted)
    assert estimate(skboot, path, "--y-true", "y", "--y-pred", "p") == expected


@pytest.mark.parametrize(
    ("truth", "predicted", "said"),
    [
        ([0, 1] * 9, [0, 1] * 8 + [0, "n/a"], "column 'p', row 18: 'n/a' is not a number (a "),
        (["a", "b"] * 9, [0, 1] * 9, "column 'y', row 1: 'a' is not a number"),
        ([0, 1] * 9, [0, 1] * 8 + ["nan", 1], "column 'p', row 17: 'nan' is not a number"),
        ([0, 1] * 9, [0, 1] * 8 + [0, ""], "column 'p', row 18: the cell is empty"),
        (["a", "b"] * 9, ["A", "B"] * 9, "column 'p' shares no label with column 'y': row 1 has"),
        ([0, 1] * 9, [2, 3] * 9, "column 'p' shares no label with column 'y': row 1 has 2 and 0"),
        ([0, 1] * 9, [0.2, 0.7] * 9, "must hold class labels"),
        # Beside scores a truth of text is no text that was meant as numbers.
        (["a", "b"] * 9, [0.2, 0.7] * 9, "Give --threshold 0.5, or a metric of scores, such as"),
        ([1.5, 2.5, "other"] * 6, [1.5, 2.5, 2.5] * 6, "name them all: --labels"),
    ],
)
def test_columns_that_do_not_go_together_are_refused(truth, predicted, said, skboot, tmp_path):
    path = table(tmp_path / "x.csv", y=truth, p=predicted)
    assert said in refused(skboot, path, "--y-true", "y", "--y-pred", "p")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"y": [0, 1] * 9, "p": ["0", "1"] * 9},
            "column 'p' holds text, such as '0' in row 1, and column 'y' holds numbers",
        ),
        ({"y": [0, 1] * 9, "p": [0.5, np.inf] * 9}, "column 'p', row 2: an infinite number"),
        ({"y": np.eye(18), "p": [0, 1] * 9}, "must have the shape of y_true, (18, 18)"),
    ],
)
def test_columns_of_types_that_do_not_go_together_are_refused(columns, said, skboot, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, **columns)
    assert said in refused(skboot, path, "--y-true", "y", "--y-pred", "p")


def test_a_long_cell_is_cut_in_a_message(skboot, tmp_path):
    path = table(tmp_path / "x.csv", y=[0, 1] * 9, p=["word " * 20_000, 1] * 9)
    said = refused(skboot, path, "--y-true", "y", "--y-pred", "p")
    assert "row 1: 'word word" in said
    assert len(said) < 250


def test_several_columns_of_truth_are_label_sets(skboot, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (60, 3))
    predicted = np.where(rng.random((60, 3)) < 0.1, 1 - truth, truth)
    path = tmp_path / "x.npz"
    np.savez(path, y=truth, p=predicted)
    found = estimate(skboot, path, "--y-true", "y", "--y-pred", "p")
    assert found == pytest.approx(np.mean((truth == predicted).all(axis=1)))


def test_labels_that_look_like_numbers_are_text_where_all_are_named(skboot, tmp_path):
    truth, predicted = [0, 1] * 9, [0, 1] * 8 + [0, "other"]
    path = table(tmp_path / "x.csv", y=truth, p=predicted)
    words = (path, "--y-true", "y", "--y-pred", "p")
    assert "--labels" in refused(skboot, *words)
    said = refused(skboot, *words, "--labels", "0", "1", "others")
    assert "column 'p', row 18: 'other' is none of the --labels" in said
    assert estimate(skboot, *words, "--labels", "0", "1", "other") == 17 / 18


def test_values_need_no_label_in_common(skboot, tmp_path):
    path = table(tmp_path / "x.csv", y=[1, 2, 3] * 9, p=[4, 5, 6] * 9)
    words = ("--y-true", "y", "--y-pred", "p", "--metric", "neg_mean_absolute_error")
    assert estimate(skboot, path, *words) == -3


def test_text_beside_scores_needs_the_positive_label(skboot, file, digits):
    words = (file, "--y-true", "is_eight", "--y-pred", "p_bayes", "--metric", "roc_auc")
    assert "--pos-label no or --pos-label yes" in refused(skboot, *words)
    expected = roc_auc_score(digits["is_eight"] == "yes", digits["p_bayes"])
    assert estimate(skboot, *words, "--pos-label", "yes") == pytest.approx(expected)
    assert estimate(skboot, *words, "--pos-label", "no") == pytest.approx(1 - expected)


@pytest.mark.parametrize("metric", ["roc_auc", "mse", "log_loss"])
@in_turn(missing=["NA", "nan", "N/A", "None", "null", "-", "?"], column=["y", "p"], row=[0, 7])
def test_a_missing_value_is_named_beside_scores(missing, metric, column, row, skboot, tmp_path):
    columns = {"y": [0, 1] * 9, "p": [0.2, 0.7] * 9}
    columns[column][row] = missing
    path = table(tmp_path / "x.csv", **columns)
    for more in ((), ("--pos-label", "1")):
        words = ("--y-true", "y", "--y-pred", "p", "--metric", metric, *more)
        said = f"column {column!r}, row {row + 1}: {missing!r} is not a number (a missing value"
        assert said in refused(skboot, path, *words)


def test_a_label_beside_probabilities_may_look_like_a_missing_value(skboot, tmp_path):
    rng = np.random.default_rng(0)
    truth, prob = rng.choice(["0", "1", "none"], 60), rng.dirichlet([1, 1, 1], 60)
    columns = dict(zip("abc", prob.T, strict=True))
    path = table(tmp_path / "x.csv", y=truth, **columns)
    words = (path, "--y-true", "y", "--y-pred", *columns, "--metric", "log_loss")
    assert estimate(skboot, *words) == pytest.approx(log_loss(truth, prob))


@pytest.mark.parametrize("metric", ["roc_auc", "equal_error_rate", "log_loss", "accuracy"])
def test_the_labels_that_are_advised_can_be_given(metric, skboot, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(60) < 0.4, "in set", "not")
    path = table(tmp_path / "x.csv", y=truth, p=rng.random(60).round(3))
    words = (path, "--y-true", "y", "--y-pred", "p", "--metric", metric)
    words += ("--threshold", "0.5") if metric == "accuracy" else ()
    said = refused(skboot, *words)
    assert "column 'y' holds text. Give the label that large scores stand for: " in said
    advised = said.rpartition(": ")[2].split(" or ")
    labels = [shlex.split(options)[1] for options in advised]
    assert labels == ["in set", "not"]
    for label in labels:
        estimate(skboot, *words, "--pos-label", label)


def test_the_positive_label_of_decisions_is_the_one_that_is_named(skboot, file, digits):
    words = (file, "--y-true", "is_eight", "--y-pred", "eight", "--metric", "recall")
    assert "label: --pos-label no or --pos-label yes." in refused(skboot, *words)
    for label in ("yes", "no"):
        truth, predicted = digits["is_eight"] == label, digits["eight"] == label
        expected = np.mean(predicted[truth])
        assert estimate(skboot, *words, "--pos-label", label) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("is_eight", "eight", "maybe"), "--pos-label must be one of ['no', 'yes']. Got 'maybe'"),
        (("digit", "bayes", "8"), "at most two labels for the metric 'f1'"),
        (("is_eight", "half", "yes"), "shares no label with column 'is_eight'"),
        (("digit", "bayes", "eight"), "the label 'eight' is not a number"),
    ],
)
def test_a_positive_label_that_is_none_is_refused(words, said, skboot, file):
    truth, predicted, label = words
    words = ("--y-true", truth, "--y-pred", predicted, "--pos-label", label, "--metric", "f1")
    assert said in refused(skboot, file, *words)


def test_probabilities_of_classes_stand_in_several_columns(skboot, file, digits):
    columns = [f"p{label}" for label in range(10)]
    words = ("--y-true", "digit", "--y-pred", *columns, "--metric", "log_loss")
    stacked = np.column_stack([digits[name] for name in columns])
    expected = log_loss(digits["digit"], stacked)
    assert estimate(skboot, file, *words) == pytest.approx(expected)
    labels = ("--labels", *map(str, range(10)))
    assert estimate(skboot, file, *words, *labels) == pytest.approx(expected)
    swapped = estimate(skboot, file, *words, "--labels", *map(str, range(9, -1, -1)))
    assert swapped > 5 * expected
    said = refused(skboot, file, *words, "--pos-label", "8")
    assert "--pos-label must be None for a metric of 10 classes" in said


def test_groups_are_never_merged_and_numbers_sort_as_numbers(skboot, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 240)
    predicted = np.where(rng.random(240) < 0.3, 1 - truth, truth)
    whole = np.arange(240) // 10
    padded = [f"{k % 2}{k:02d}"[1 - k % 2 :] for k in whole]  # 00, 101, 02, ...
    columns = {"y": truth, "p": predicted, "g": whole, "t": padded, "m": ["1", "01"] * 120}
    path = table(tmp_path / "x.csv", **columns)
    words = ("score", path, "--y-true", "y", "--y-pred", "p", "--json")

    def record(*more):
        return json.loads(skboot(*words, *more)[1])

    given = bootstrap_score(truth, predicted, groups=whole, random_state=0)
    low, high = given.confidence_interval
    found = record("--groups", "g")
    assert found["confidence_interval"]["low"] == low
    assert found["confidence_interval"]["high"] == high
    assert record("--groups", "t")["n_units"] == 24
    assert record("--strata", "m")["n_units"] == 240
    crossed = record("--groups", "g", "m")
    assert crossed["n_units"] == [24, 2]


def test_weights_are_numbers(skboot, file, digits):
    words = (file, "--y-true", "digit", "--y-pred", "bayes", "--weights")
    right = digits["bayes"] == digits["digit"]
    expected = np.average(right, weights=digits["weight"])
    assert estimate(skboot, *words, "weight") == pytest.approx(expected)
    said = refused(skboot, *words, "half")
    assert "column 'half', row 1" in said
    assert "is not a number" in said


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_true_and_false_of_a_csv_file_are_those_of_a_file_that_knows_types(
    metric, skboot, tmp_path
):
    y = np.arange(90) % 3 == 0
    columns = {"y": y, "a": y ^ (np.arange(90) % 10 == 0)}
    np.savez(tmp_path / "rows.npz", **columns)
    words = ("--y-true", "y", "--y-pred", "a", "--metric", metric)
    typed = estimate(skboot, tmp_path / "rows.npz", *words)
    assert estimate(skboot, table(tmp_path / "rows.csv", **columns), *words) == typed


@pytest.mark.parametrize(
    ("y", "more", "said"),
    [
        ([1, 0, "y", 1], (), "row 3 is the header again"),
        ([1, 0, 1, 0], ("--threshold", "nan"), "must be a finite number"),
        ([1, 0, 1, 0], ("--threshold", "inf"), "must be a finite number"),
    ],
)
def test_joined_files_and_thresholds_that_are_no_numbers_are_refused(
    y, more, said, skboot, tmp_path
):
    a = ["a" if label == "y" else 0.5 for label in y]
    file = table(tmp_path / "rows.csv", y=y, a=a)
    code, out, err = skboot("score", file, "--y-true", "y", "--y-pred", "a", *more)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("column", "said"),
    [("patient_id", "24 patients"), ("Patient", '24 groups ("Patient")'), ("g", "24 groups with")],
)
def test_the_column_of_groups_lends_its_name(column, said, skboot, tmp_path):
    y, p = [0, 1] * 24, [0, 1, 1, 1] * 12
    path = table(tmp_path / "x.csv", y=y, p=p, q=y, **{column: [k // 2 for k in range(48)]})
    for words in (("score", path, "--y-pred", "p"), ("compare", path, "--systems", "p", "q")):
        code, out, err = skboot(*words, "--y-true", "y", "--groups", column, *SHORT)
        assert code == 0, err
        assert said.removesuffix(" with") in out
        assert (said in out) or words[0] == "compare"


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl"])
@pytest.mark.parametrize("with_truth", [True, False])
def test_a_long_table_is_led_to_the_pivot_that_makes_it_wide(
    kind, with_truth, skboot, tmp_path, monkeypatch
):
    pandas = pytest.importorskip("pandas")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.integers(0, 2, 50), 2)
    right = rng.random(100) < 0.8
    columns = {"question": np.repeat(np.arange(50), 2), "model": ["old", "new"] * 50}
    columns |= {"label": truth} if with_truth else {}
    columns |= {"answer": np.where(right, truth, 1 - truth) if with_truth else right.astype(int)}
    long = pandas.DataFrame(columns)
    write = {
        "csv": lambda: long.to_csv("long.csv", index=False),
        "tsv": lambda: long.to_csv("long.tsv", index=False, sep="\t"),
        "parquet": lambda: long.to_parquet("long.parquet"),
        "jsonl": lambda: long.to_json("long.jsonl", orient="records", lines=True),
    }
    write[kind]()
    words = ("--systems", "new", "old")
    words += ("--y-true", "label") if with_truth else ("--metric", "mean", "--greater-is-better")
    err = refused_of(skboot, "compare", f"long.{kind}", *words)
    assert "has no column 'new'" in err
    exec(err[err.index("pandas.read_") :], {"pandas": pandas})
    code, out, err = skboot("compare", "wide.csv", *words, *SHORT, "--json")
    assert code == 0, err
    [pair] = json.loads(out)["pairs"]
    difference = right.reshape(-1, 2).mean(axis=0) @ [-1, 1]
    assert pair["difference"] == pytest.approx(difference)


def refused_of(skboot, *words):
    code, out, err = skboot(*words, *SHORT)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_column_that_is_no_system_leads_to_no_pivot(skboot, tmp_path):
    path = table(tmp_path / "x.csv", y=[0, 1] * 9, p=[0, 1] * 9, model=["a", "b"] * 9)
    assert "pivot" not in refused(skboot, path, "--y-true", "y", "--y-pred", "c")
    assert "pivot" not in refused(skboot, path, "--y-true", "y", "--y-pred", "p", "--groups", "a")
    # No column has the rows that all models share.
    assert "pivot" not in refused(skboot, path, "--y-true", "y", "--y-pred", "a")
