"""Columns come out of each kind of file as they went in."""

import csv
import json
import sys
from decimal import Decimal

import numpy as np
import pytest

from skboot import scan_dataset
from skboot._base.reading import BadCall, read_columns

TEXT = ["cat", " dog", "01", "a,b", 'say "no"', "two\nlines", "ö"]
WHOLE = [3, 1, 4, 1, 5, 9, 2]
REAL = [0.5, 1e-9, -2.0, 3.25, 0.1, 7.0, 1e300]


def cell(value):
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\t') else text


def written(path, delimiter=","):
    rows = [["t", "w", "r"], *zip(TEXT, WHOLE, REAL, strict=True)]
    lines = [delimiter.join(map(cell, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("name", "delimiter"), [("x.csv", ","), ("x.tsv", "\t"), ("X.CSV", ",")])
def test_cells_of_a_text_file_stay_as_they_are_written(name, delimiter, tmp_path):
    columns = read_columns(written(tmp_path / name, delimiter), ["r", "t"])
    assert columns == {"r": [str(value) for value in REAL], "t": TEXT}


def test_a_mark_of_utf_8_and_blank_lines_are_no_cells(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n1,x\r\n\r\n2,y\r\n")
    assert read_columns(str(path), ["b", "a"]) == {"b": ["x", "y"], "a": ["1", "2"]}


def test_many_rows_come_whole_and_in_order(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{k},{k % 7}\n" for k in range(3001)))
    columns = read_columns(str(path), ["b", "a"])
    assert columns["a"] == [str(k) for k in range(3001)]
    assert columns["b"] == [str(k % 7) for k in range(3001)]


def test_cells_of_a_csv_file_may_be_as_long_as_answers_are(tmp_path):
    path, answer = tmp_path / "x.csv", "word " * 50_000
    path.write_text(f"a,b\n1,{answer}\n")
    before = csv.field_size_limit()
    assert read_columns(str(path), ["a", "b"]) == {"a": ["1"], "b": [answer]}
    assert csv.field_size_limit() == before


def test_json_lines_keep_their_types(tmp_path):
    path = tmp_path / "x.jsonl"
    names = ("t", "w", "r", "p", "b")
    pairs = [[0.25, 0.75]] * len(TEXT)
    rows = zip(TEXT, WHOLE, REAL, pairs, [True, False] * 4, strict=False)
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    columns = read_columns(str(path), names)
    assert columns["t"].tolist() == TEXT
    assert columns["w"].dtype.kind == "i"
    assert columns["r"].tolist() == REAL
    assert columns["p"].shape == (len(TEXT), 2)
    assert columns["b"].dtype == bool


def test_values_within_objects_of_json_lines_are_named_by_their_way(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = [
        {"acc": 1.0, "doc": {"subject": "law", "of": {"id": 0}}, "a.b": 3},
        {"acc": 0.0, "doc": {"subject": "art", "of": {"id": 0}}, "a.b": 4},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    columns = read_columns(str(path), ["acc", "doc.subject", "doc.of.id", "a.b"])
    assert columns["doc.subject"].tolist() == ["law", "art"]
    assert columns["doc.of.id"].tolist() == [0, 0]
    assert columns["a.b"].tolist() == [3, 4]
    for name, said in (
        ("doc.topic", r"has no column 'doc\.topic'\. Columns: acc, doc, a\.b"),
        ("acc.value", "has no column 'acc.value'"),
        (
            "doc",
            "column 'doc', row 1: the cell is an object. Name a value in it, as in doc.subject",
        ),
    ):
        with pytest.raises(BadCall, match=said):
            read_columns(str(path), [name])
    path.write_text('{"doc": {"of": 1}}\n{"doc": {}}\n')
    with pytest.raises(BadCall, match=r"column 'doc\.of', row 2: the cell is empty"):
        read_columns(str(path), ["doc.of"])


def test_arrays_of_an_npz_file_come_as_they_are(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, y=WHOLE, p=np.ones((7, 3)) / 3, t=np.array(TEXT), other=np.zeros(2))
    columns = read_columns(str(path), ["p", "y", "t"])
    assert columns["y"].tolist() == WHOLE
    assert columns["p"].shape == (7, 3)
    assert columns["t"].tolist() == TEXT


@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
def test_parquet_is_read_by_either_package(reader, tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    if reader == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")
    path = str(tmp_path / "x.parquet")
    kinds = polars.Series(["a", "b", "a", "a", "b", "b", "a"], dtype=polars.Categorical)
    frame = {"t": TEXT, "w": WHOLE, "r": REAL, "k": kinds, "p": [[0.5, 0.5]] * 7}
    polars.DataFrame(frame).write_parquet(path)
    columns = read_columns(path, ["k", "p", "t", "w", "r"])
    assert columns["t"].tolist() == TEXT
    assert columns["w"].tolist() == WHOLE
    assert columns["w"].dtype.kind == "i"
    assert columns["r"].tolist() == REAL
    assert columns["k"].tolist() == kinds.to_list()
    assert columns["p"].shape == (7, 2)
    polars.DataFrame({"y": [1, None, 2]}).write_parquet(path)
    with pytest.raises(BadCall, match="column 'y', row 2: the cell is empty"):
        read_columns(path, ["y"])
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadCall, match="is not a Parquet file"):
        read_columns(path, ["y"])


def test_without_a_package_for_parquet_it_is_said_which_to_install(tmp_path, monkeypatch):
    for package in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadCall, match="pip install pyarrow"):
        read_columns(str(tmp_path / "x.parquet"), ["y"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", "", "has no column 'a'. Columns: none"),
        ("x.csv", "a,b\n", "has no rows"),
        ("x.csv", "a,c\n1,2\n", "has no column 'b'. Columns: a, c"),
        ("x.csv", "a;b\n1;2\n", "Columns: a;b. Commas separate the cells of a .csv file"),
        ("x.csv", "a\tb\n1\t2\n", r"save this one, which has '\t', in this way"),
        ("x.csv.gz", "", "Unpack it first: gunzip"),
        ("x.csv", "a,b,a\n1,2,3\n", "has 2 columns named 'a'"),
        ("x.csv", "a,b\n1,2\n3\n", "row 2 has 1 cell, and the header has 2"),
        ("x.csv", "a,b\n1,2\n3,4,5\n", "row 2 has 3 cells, and the header has 2"),
        ("x.csv", "a,b\n1,2\n3,\n", "column 'b', row 2: the cell is empty"),
        ("x.csv", "a,b\n1,2\n  ,3\n", "column 'a', row 2: the cell is empty"),
        ("x.csv", b"a,b\n\xff,2\n", "not a text file in UTF-8"),
        ("x.xlsx", "", "the file extension must give its kind; known: .csv, "),
        ("x.jsonl", '{"a": 1, "b": 2}\n{"a": 1}\n', "column 'b', row 2: the cell is empty"),
        ("x.jsonl", '{"a": 1, "b": null}\n', "column 'b', row 1: the cell is empty"),
        ("x.jsonl", '{"a": 1, "b": NaN}\n', "column 'b', row 1: the cell is empty"),
        ("x.jsonl", '{"a": 1, "b": 2}\n{"a": \n', "line 2 is not JSON"),
        ("x.jsonl", "[1, 2]\n", "line 1 is not an object"),
        (
            "x.jsonl",
            '{"a": 1, "b": 2}\n{"a": 1, "b": "x"}\n',
            "column 'b' holds values of several kinds",
        ),
        ("x.jsonl", '{"a": [1, 2], "b": 2}\n{"a": [1], "b": 3}\n', "holds lists of 1 to 2 values"),
        ("x.npz", "not an archive", "is not an npz archive"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(name, content, said, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadCall) as caught:
        read_columns(str(path), ["a", "b"])
    assert said in str(caught.value)


def test_a_file_of_one_column_has_no_blank_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n\n3\n")
    with pytest.raises(BadCall, match="column 'a', row 2: the cell is empty"):
        read_columns(str(path), ["a"])


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.npz", "x.jsonl", "folder"])
def test_a_folder_without_parquet_files_is_refused_whatever_its_name_ends_in(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "part.csv").write_text("a\n1\n")
    with pytest.raises(BadCall, match=rf"{name}' is a folder without Parquet files.*join them"):
        read_columns(str(tmp_path / name), ["a"])


@pytest.mark.parametrize("is_deep", [False, True])
def test_a_folder_of_parquet_parts_is_read_as_scan_dataset_reads_it(tmp_path, is_deep):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    folder = tmp_path / "parts"
    for k, rows in enumerate(([1, 2], [3], [4, 5, 6])):
        place = folder / f"site={k}" if is_deep else folder
        place.mkdir(parents=True, exist_ok=True)
        table = pyarrow.table({"a": rows, "word": [f"w{row}" for row in rows]})
        parquet.write_table(table, place / f"part-{k}.parquet")
    # Spark leaves such a file behind.
    (folder / "_SUCCESS").write_text("")
    names = ["a", "word", "site"] if is_deep else ["a", "word"]
    columns, scanned = read_columns(str(folder), names), scan_dataset(folder)
    assert columns["word"].tolist() == ["w1", "w2", "w3", "w4", "w5", "w6"]
    for name in names:
        np.testing.assert_array_equal(columns[name], scanned[name].collect())


def test_a_folder_of_data_sets_is_read_without_what_nobody_finished(tmp_path):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    for k, place in enumerate(("monday.parquet", "tuesday.parquet")):
        (tmp_path / place).mkdir()
        parquet.write_table(pyarrow.table({"a": [k]}), tmp_path / place / "part-0.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "part-1.parquet").write_text("half of a file")
    columns, scanned = read_columns(str(tmp_path), ["a"]), scan_dataset(tmp_path)
    assert columns["a"].tolist() == scanned["a"].collect().tolist() == [0, 1]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadCall, match=r"cannot read .*nothing\.csv.*No such file"):
        read_columns(str(tmp_path / "nothing.csv"), ["a"])


def test_arrays_of_an_npz_file_have_one_length_and_hold_numbers_or_text(tmp_path):
    path = str(tmp_path / "x.npz")
    np.savez(path, a=np.zeros(3), b=np.zeros(4), c=np.zeros((2, 2, 2)), n=np.array([1, np.nan, 2]))
    with pytest.raises(BadCall, match="'a' has 3 rows, and 'b' has 4"):
        read_columns(path, ["a", "b"])
    with pytest.raises(BadCall, match=r"array 'c' must hold numbers or text of each row"):
        read_columns(path, ["c"])
    with pytest.raises(BadCall, match="column 'n', row 2: the cell is empty"):
        read_columns(path, ["n"])
    np.savez(path, a=np.array([{}, []], dtype=object))
    with pytest.raises(BadCall, match="is not an npz archive of numbers and text"):
        read_columns(path, ["a"])


@pytest.mark.parametrize(
    ("text", "row"),
    [('a,b\n1,"x\n2,y\n3,z\n', 1), ('a,b\n1,x\n2,"y\n3,"z"\n4,w\n', 2)],
    ids=["to the end", "to the next quote"],
)
def test_a_quote_that_is_not_closed_is_refused_with_its_row(text, row, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(BadCall, match=f"row {row}: .* every quote that begins a cell is closed"):
        read_columns(str(path), ["a"])


def test_numbers_of_a_file_stay_apart_or_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [{"id": 2**63 + k, "big": 2**64 + k, "some": [2**53 + 1, 0.5][k]} for k in range(2)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert read_columns(str(path), ["id"])["id"].tolist() == [2**63, 2**63 + 1]
    for name in ("big", "some"):
        with pytest.raises(BadCall, match=f"column '{name}' must hold integers that fit"):
            read_columns(str(path), [name])


@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
def test_decimals_of_parquet_stay_apart_or_are_refused(reader, tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip(reader)
    path = str(tmp_path / "x.parquet")
    whole = [Decimal(10**17 + 1), Decimal(10**17 + 2)]
    columns = {
        "whole": whole,
        "cents": [Decimal("0.10"), Decimal("0.25")],
        "close": [Decimal("0.10000000000000000001"), Decimal("0.10000000000000000002")],
        "large": [each + Decimal("0.01") for each in whole],
    }
    parquet.write_table(pyarrow.table(columns), path)
    if reader == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    read = read_columns(path, ["whole", "cents"])
    assert read["whole"].tolist() == [10**17 + 1, 10**17 + 2]
    assert read["cents"].tolist() == [0.1, 0.25]
    for name in ("close", "large"):
        with pytest.raises(BadCall, match=f"column '{name}' must hold"):
            read_columns(path, [name])


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_text_that_ends_in_nul_is_refused(kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    path.write_text('{"a": "x\\u0000"}\n{"a": "x"}' if kind == "jsonl" else "a,b\nx\0,1\nx,2\n")
    with pytest.raises(
        BadCall, match="column 'a' must not hold text that ends in the character NUL"
    ):
        read_columns(str(path), ["a"])


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.npz", "x.parquet"])
def test_an_optional_column_is_read_where_the_file_has_it(name, tmp_path):
    path = tmp_path / name
    rows = {"a": ["p", "q"], "b": [1.5, 2.5]}
    if path.suffix == ".npz":
        np.savez(path, **{key: np.array(value) for key, value in rows.items()})
    elif path.suffix == ".jsonl":
        records = [{"a": "p", "b": 1.5}, {"a": "q", "b": 2.5}]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif path.suffix == ".parquet":
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        import pandas as pd

        pd.DataFrame(rows).to_parquet(path)
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        path.write_text(f"a{mark}b\np{mark}1.5\nq{mark}2.5\n")
    found = read_columns(str(path), ["a"], ["b", "c"])
    assert list(found) == ["a", "b"]
    assert [float(value) for value in found["b"]] == rows["b"]
    with pytest.raises(BadCall, match="has no column 'c'"):
        read_columns(str(path), ["a", "c"], ["b"])
