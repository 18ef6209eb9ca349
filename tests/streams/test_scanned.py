"""`scan_dataset`: files that are read batch by batch, with the numbers of arrays."""

import glob

import numpy as np
import pytest
import sklearn.metrics as sk
from designs import assert_same_bits

import skboot
from skboot import BootstrapAccumulator, Judge, bootstrap_score, compare_systems, scan_dataset
from skboot.streams import columns

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")
csv = pytest.importorskip("pyarrow.csv")

RNG = np.random.default_rng(4)
N, B = 2000, 99
TRUTH = RNG.integers(0, 2, N)
SCORES = np.round(RNG.normal(size=N) + TRUTH, 2)
GOOD = np.where(RNG.random(N) < 0.9, TRUTH, 1 - TRUTH)
FAIR = np.where(RNG.random(N) < 0.8, TRUTH, 1 - TRUTH)
GROUPS = np.arange(N) // 9
SECOND = 1 / (1 + np.exp(-SCORES))
COLUMNS = np.column_stack((1 - SECOND, SECOND))
TEXTS = np.array(["no", "yes"])
OPTIONS = {"random_state": 0, "n_resamples": B}


def table():
    return pa.table(
        {
            "y": TRUTH,
            "good": GOOD,
            "fair": FAIR,
            "score": SCORES,
            "group": GROUPS,
            "text": pa.array(TEXTS[TRUTH]),
            "said": pa.array(TEXTS[GOOD]).dictionary_encode(),
            "flag": GOOD.astype(bool),
            "p0": COLUMNS[:, 0],
            "p1": COLUMNS[:, 1],
            "both": pa.array(COLUMNS.tolist()),
            "fixed": pa.FixedSizeListArray.from_arrays(COLUMNS.ravel(), 2),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files of 600, 600 and 800 rows, in groups of 250 rows."""
    path = tmp_path_factory.mktemp("files")
    for number, (first, last) in enumerate([(0, 600), (600, 1200), (1200, N)]):
        part = table().slice(first, last - first)
        pq.write_table(part, path / f"{number}.parquet", row_group_size=250)
    return path


def of_one_process(metric, y_true, y_pred, labels=None, **units):
    found = BootstrapAccumulator(metric, labels=labels, **OPTIONS)
    return found.update(y_true, y_pred, **(units or {"start": 0})).result()


@pytest.mark.parametrize("rows_at_once", [97, 1 << 18])
@pytest.mark.parametrize("runs", [1, 4, 64])
def test_files_give_the_bits_of_one_process(folder, monkeypatch, rows_at_once, runs):
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(columns, "_RUNS", runs)
    data = scan_dataset(folder)
    for y_true, y_pred in (("y", "good"), ("text", "said"), ("flag", "flag")):
        found = bootstrap_score(data[y_true], data[y_pred], metric="accuracy", **OPTIONS)
        expected = TRUTH if y_true != "flag" else GOOD
        assert_same_bits(found, of_one_process("accuracy", expected, GOOD))
    found = bootstrap_score(data["y"], data["score"], metric="roc_auc", **OPTIONS)
    assert_same_bits(found, of_one_process("roc_auc", TRUTH, SCORES))
    assert found.estimate == pytest.approx(sk.roc_auc_score(TRUTH, SCORES), abs=1e-13)


@pytest.mark.parametrize("predicted", [["p0", "p1"], "both", "fixed"])
def test_probabilities_are_several_columns_or_lists(folder, predicted):
    data = scan_dataset(folder)
    options = {"metric": "log_loss", "labels": [0, 1], **OPTIONS}
    found = bootstrap_score(data["y"], data[predicted], **options)
    assert found.estimate == pytest.approx(sk.log_loss(TRUTH, SECOND), rel=1e-12)


def test_workers_give_the_bits_of_one_process(folder, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    data = scan_dataset(folder)
    found = bootstrap_score(data["y"], data["good"], groups=data["group"], n_jobs=2, **OPTIONS)
    assert_same_bits(found, of_one_process("accuracy", TRUTH, GOOD, groups=GROUPS))


def test_a_source_is_a_path_a_list_or_a_data_set(folder, tmp_path):
    expected = of_one_process("accuracy", TRUTH, GOOD)
    paths = sorted(folder.iterdir())
    single = tmp_path / "single.parquet"
    pq.write_table(table(), single)
    for source in (str(folder), paths, ds.dataset(folder), ds.dataset(table()), single):
        data = scan_dataset(source)
        assert_same_bits(bootstrap_score(data["y"], data["good"], **OPTIONS), expected)


def test_files_of_this_machine_are_read_without_reading_ahead(folder, monkeypatch):
    of_part = [part.format for part in scan_dataset(folder)._files._parts]
    assert not any(own.default_fragment_scan_options.pre_buffer for own in of_part)
    asked = []
    monkeypatch.setattr(ds, "dataset", lambda *args, format, **options: asked.append(format) or 1)
    with pytest.raises(AttributeError):
        scan_dataset("s3://bucket/predictions")
    assert asked[0].default_fragment_scan_options.pre_buffer


def test_memory_of_arrow_is_given_back_before_rows_are_drawn(folder, monkeypatch):
    order, added = [], columns.part_added
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", 500)
    monkeypatch.setattr(columns, "_RUNS", 1)
    monkeypatch.setattr(columns, "release_unused", lambda: order.append("given back"))
    monkeypatch.setattr(columns, "part_added", lambda *args: order.append("drawn") or added(*args))
    data = scan_dataset(folder)
    bootstrap_score(data["y"], data["good"], **OPTIONS)
    assert order == ["given back", "drawn"] * (N // 500)


def test_files_that_are_cut_differently_are_paired_row_by_row(folder, tmp_path):
    pq.write_table(table().select(["good"]), tmp_path / "good.parquet", row_group_size=333)
    other = scan_dataset(tmp_path)["good"]
    expected = of_one_process("accuracy", TRUTH, GOOD)
    assert_same_bits(bootstrap_score(scan_dataset(folder)["y"], other, **OPTIONS), expected)
    assert_same_bits(bootstrap_score(TRUTH, other, **OPTIONS), expected)


def test_a_filter_of_a_data_set_is_kept(folder, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    kept = SCORES > 0.3
    data = scan_dataset(ds.dataset(folder).filter(ds.field("score") > 0.3))
    found = bootstrap_score(data["y"], data["good"], n_jobs=2, **OPTIONS)
    assert_same_bits(found, of_one_process("accuracy", TRUTH[kept], GOOD[kept]))


def test_a_column_may_be_the_name_of_a_folder(tmp_path):
    for label in (0, 1):
        (tmp_path / f"y={label}").mkdir()
        own = table().filter(ds.field("y") == label).drop_columns(["y"])
        pq.write_table(own, tmp_path / f"y={label}" / "0.parquet")
    data = scan_dataset(tmp_path)
    order = np.argsort(TRUTH, kind="stable")
    expected = of_one_process("accuracy", TRUTH[order], GOOD[order])
    assert_same_bits(bootstrap_score(data["y"], data["good"], **OPTIONS), expected)


def test_systems_are_columns(folder):
    data = scan_dataset(folder)
    one = BootstrapAccumulator(systems=["good", "fair"], **OPTIONS)
    expected = one.update(TRUTH, {"good": GOOD, "fair": FAIR}, start=0).result()
    for systems in (data[["good", "fair"]], {"good": data["good"], "fair": data["fair"]}):
        found = compare_systems(data["y"], systems, **OPTIONS)
        assert found.pair("good", "fair") == expected.pair("good", "fair")


def test_only_the_rows_of_a_batch_are_held(folder, monkeypatch):
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", 100)
    taken = []
    take = columns._Reader.take
    monkeypatch.setattr(columns._Reader, "take", lambda self, n: taken.append(n) or take(self, n))
    data = scan_dataset(folder)
    bootstrap_score(data["y"], data["good"], **OPTIONS)
    assert max(taken) == 100
    assert sum(taken) == N


def test_collect_reads_all_rows_and_other_functions_ask_for_it(folder):
    data = scan_dataset(folder)
    np.testing.assert_array_equal(data["score"].collect(), SCORES)
    np.testing.assert_array_equal(data[["p0", "p1"]].collect(), COLUMNS)
    with pytest.raises(ValueError, match=r"'y_true' parameter.*y_true\.collect\(\)"):
        skboot.bootstrap_runs(data["y"], [GOOD, GOOD], metric="accuracy")


def test_columns_show_their_names(folder):
    data = scan_dataset(folder)
    assert data.columns == table().column_names
    assert repr(data[["y", "good"]]) == "<DatasetColumns: y, good>"
    assert data[["y", "good"]].columns == ["y", "good"]


def test_what_cannot_be_scanned_is_refused(folder, tmp_path):
    for source in (3, None, [], [3]):
        with pytest.raises(ValueError, match="'source' parameter of scan_dataset"):
            scan_dataset(source)
    with pytest.raises(ValueError, match=r"'source' parameter.*Parquet"):
        scan_dataset(tmp_path / "missing")
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(ValueError, match=r"'source' parameter.*Parquet"):
        scan_dataset(tmp_path)
    pq.write_table(table().slice(0, 0), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match=r"'source' parameter.*at least one row"):
        scan_dataset(tmp_path)
    with pytest.raises(ValueError, match=r"'name' parameter.*'other'"):
        scan_dataset(folder)["other"]


def test_a_pattern_is_advised_as_a_list_and_csv_as_a_data_set(folder, tmp_path):
    with pytest.raises(ValueError, match=r"\(not found\).*sorted\(glob.glob\(.*format='csv'\)"):
        scan_dataset(str(folder / "*.parquet"))
    found = scan_dataset(sorted(glob.glob(str(folder / "*.parquet"))))
    both = (found, scan_dataset(folder))
    assert_same_bits(*(bootstrap_score(data["y"], data["good"], **OPTIONS) for data in both))
    csv.write_csv(table().select(["y", "good"]), tmp_path / "rows.csv")
    lines = scan_dataset(ds.dataset(tmp_path, format="csv"))
    assert bootstrap_score(lines["y"], lines["good"], **OPTIONS).n_samples == N


def test_columns_of_two_systems_are_no_scores_of_classes(folder):
    data = scan_dataset(folder)
    for metric, names in (("accuracy", ["good", "fair"]), ("roc_auc", ["score", "p1"])):
        with pytest.raises(ValueError, match=r"'y_pred' parameter.*compare_systems"):
            bootstrap_score(data["y"], data[names], metric=metric, labels=[0, 1], **OPTIONS)
    # Probabilities that do not sum to one may be right: a caution, once for all batches.
    with pytest.warns(UserWarning, match="compare_systems") as told:
        bootstrap_score(data["y"], data[["p1", "p1"]], labels=[0, 1], **OPTIONS)
    assert len(told) == 1


def test_columns_of_other_lengths_and_of_dask_are_refused(folder):
    data = scan_dataset(folder)
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*as many rows.*1999"):
        bootstrap_score(data["y"], GOOD[:-1])
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"'y_true' parameter.*same kind"):
        bootstrap_score(da.from_array(TRUTH, chunks=300), data["good"])
    ragged = pa.table({"y": TRUTH, "p": pa.array([[0.5]] * (N - 1) + [[0.5, 0.5]])})
    own = scan_dataset(ds.dataset(ragged))
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*one length"):
        bootstrap_score(own["y"], own["p"], metric="log_loss", labels=[0, 1])


def test_missing_cells_are_refused(folder, tmp_path):
    cells = pa.table({"y": pa.array([None, *TRUTH[1:].tolist()]), "p": GOOD})
    pq.write_table(cells, tmp_path / "0.parquet")
    data = scan_dataset(tmp_path)
    with pytest.raises(ValueError, match=r"'y_true' parameter.*NaN"):
        bootstrap_score(data["y"], data["p"])


def test_rows_that_come_or_go_while_they_are_read_are_an_error(tmp_path):
    path = tmp_path / "0.parquet"
    pq.write_table(table(), path)
    data = scan_dataset(path)
    data._files._lengths = [N + 1]
    with pytest.raises(RuntimeError, match="Scan it again"):
        bootstrap_score(data["y"], data["good"])


COMPARED = {
    "a threshold": (lambda c: c["score"] >= 0.2, SCORES >= 0.2),
    "a threshold above": (lambda c: c["score"] > 0.2, SCORES > 0.2),
    "from the other side": (lambda c: np.float64(0.2) >= c["score"], SCORES <= 0.2),
    "a threshold below": (lambda c: c["score"] < 0.2, SCORES < 0.2),
    "a label of text": (lambda c: c["said"] == "yes", GOOD == 1),
    "another label": (lambda c: c["y"] != 1, TRUTH != 1),
}


@pytest.mark.parametrize("case", COMPARED)
def test_a_column_that_is_compared_is_the_array_that_is_compared(folder, case):
    compared, expected = COMPARED[case]
    scanned = scan_dataset(folder)
    np.testing.assert_array_equal(compared(scanned).collect(), expected)
    options = {"metric": ["accuracy", "f1"], **OPTIONS}
    found = bootstrap_score(scanned["y"] == 1, compared(scanned), **options)
    given = BootstrapAccumulator(**options)
    given.update(TRUTH == 1, expected)
    for name, result in given.result().items():
        assert_same_bits(found[name], result)


def test_thresholds_of_two_systems_are_compared_and_read_by_workers(folder):
    data = scan_dataset(folder)
    systems = {"low": data["score"] >= 0.2, "high": data["score"] >= 0.8}
    found = compare_systems(data["y"], systems, n_jobs=2, **OPTIONS)
    difference = np.mean((SCORES >= 0.2) == TRUTH) - np.mean((SCORES >= 0.8) == TRUTH)
    assert found.difference == pytest.approx(difference)


def test_what_cannot_be_compared_says_so(folder):
    data = scan_dataset(folder)
    for wrong in (lambda: data >= 0.2, lambda: (data["score"] >= 0.2) == 1):
        with pytest.raises(ValueError, match="Name one column"):
            wrong()
    with pytest.raises(ValueError, match=r"one number or label\. Got DatasetColumns"):
        _ = data["y"] == data["good"]
    with pytest.raises(ValueError, match=r"none for all of them.*collect\(\)"):
        bool(data["score"] >= 0.2)
    assert repr(data["score"] >= np.float64(0.2)) == "<DatasetColumns: score >= 0.2>"
    assert len({data, data["y"]}) == 2


def test_text_beside_a_number_is_refused_under_the_name_of_its_argument(tmp_path):
    pq.write_table(pa.table({"y": [0, 1], "name": ["a", "b"]}), tmp_path / "rows.parquet")
    data = scan_dataset(tmp_path)
    with pytest.raises(ValueError, match=r"'y_pred' parameter of bootstrap_score.*order with 0\.5"):
        bootstrap_score(data["y"], data["name"] >= 0.5)


def test_a_judge_in_files_is_refused_as_a_judge(tmp_path):
    pq.write_table(pa.table({"y": [0, 1]}), tmp_path / "rows.parquet")
    y = scan_dataset(tmp_path)["y"]
    assert repr(Judge(y)) == "Judge(<DatasetColumns>, weight='auto')"
    for proxy in (y, Judge(y)):
        with pytest.raises(ValueError, match=r"A judge's labels need arrays: .*\.collect\(\)"):
            bootstrap_score(y, y, proxy=proxy)


def test_a_missing_score_is_not_below_a_threshold(tmp_path):
    for k, values in enumerate(([0.1, None, 0.3], [0.1, float("nan"), 0.3])):
        pq.write_table(pa.table({"score": values}), tmp_path / f"{k}.parquet")
        with pytest.raises(ValueError, match="must hold one value in each row"):
            (scan_dataset(tmp_path / f"{k}.parquet")["score"] >= 0.2).collect()
