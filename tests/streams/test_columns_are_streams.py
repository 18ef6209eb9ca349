"""Columns of files and of dask are the stream of their rows, and those of few rows the arrays.

Exact, however files and partitions are cut, since a row is drawn by its number or group.
"""

from collections.abc import Mapping

import numpy as np
import pytest
from identity_cases import close, quiet, rows_of

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
array = pytest.importorskip("dask.array")
frames = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

OPTIONS = {"n_resamples": 19, "random_state": 4}
KINDS = ("files", "one file", "dask arrays", "dask frame", "files cut otherwise", "dask and arrays")
each_kind = pytest.mark.parametrize("kind", KINDS)


def table_of(n):
    rng = np.random.default_rng(n)
    y, p = rows_of("probability", rng, n)
    t, q = rows_of("columns", rng, n)
    rows = {"y": y, "p": p, "o": np.round(0.6 * p + 0.4 * rng.random(n), 2), "t": t}
    rows |= {"a": (p > 0.4).astype(int), "b": (rows["o"] > 0.5).astype(int), "q": q}
    rows["said"] = np.array(["no", "yes"])[y]
    rows |= {"w": rng.integers(1, 9, n) / 4, "g": rng.integers(0, 10**6, n // 2)[np.arange(n) // 2]}
    # Rows of a group are taken in this order.
    order = np.lexsort([rows[name] for name in "wbayg"])
    return {name: one[order] for name, one in rows.items()}


@pytest.fixture(scope="module")
def columns_of(tmp_path_factory):
    """Columns of a kind by name, and the arrays themselves."""
    made = {}

    def columns(kind, n, whole=False):
        if n not in made:
            rows, folder = table_of(n), tmp_path_factory.mktemp(f"rows{n}")
            table = pa.table({k: pa.array(list(v) if v.ndim == 2 else v) for k, v in rows.items()})
            (folder / "parts").mkdir()
            for k, (first, last) in enumerate([(0, n // 3), (n // 3, n - 5), (n - 5, n)]):
                part = table.slice(first, last - first)
                pq.write_table(part, folder / "parts" / f"{k}.parquet", row_group_size=7)
            pq.write_table(table, folder / "all.parquet", row_group_size=11)
            frame = pandas.DataFrame({name: v for name, v in rows.items() if v.ndim == 1})
            made[n] = rows, folder, frames.from_pandas(frame, npartitions=3, sort=False)
        rows, folder, frame = made[n]
        if "file" in kind:
            data = skboot.scan_dataset(folder / ("parts" if kind == "files" else "all.parquet"))
            found = data if whole else {name: data[name] for name in rows}
        else:
            found = {name: array.from_array(one, chunks=(n // 4, *one.shape[1:]))
                     for name, one in rows.items()}  # fmt: skip
        if kind == "dask frame":
            found |= {name: frame[name] for name in frame.columns}
            del found["q"]
        if kind == "dask and arrays":
            found |= {name: rows[name] for name in ("y", "g", "w", "o")}
        if kind == "files cut otherwise":
            paths = [folder / "parts" / f"{k}.parquet" for k in range(3)]
            parts = skboot.scan_dataset(paths)
            found |= {name: parts[name] for name in ("y", "g", "o")} | {"w": rows["w"]}
        return rows, found

    return columns


def assert_same_score(one, other):
    for name in ("n_units", "n_samples", "unit", "notes", "greater_is_better",
                 "held_fixed", "metric", "naive_estimate"):  # fmt: skip
        assert getattr(one, name) == getattr(other, name), name
    close(one.estimate, other.estimate)
    close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-12, 1e-14)
    assert one.confidence_interval.method == other.confidence_interval.method
    assert one.confidence_interval.confidence_level == other.confidence_interval.confidence_level
    close([*one.confidence_interval], [*other.confidence_interval])


SCORES = {
    "accuracy": ("y", "a", {}),
    "f1": ("y", "a", {"interval": "t"}),
    "f1 of 0": ("y", "a", {"metric": "f1", "pos_label": 0}),
    "roc_auc": ("y", "p", {"confidence_level": 0.8}),
    "average_precision": ("said", "p", {"pos_label": "yes"}),
    "neg_log_loss": ("t", "q", {"labels": [0, 1, 2]}),
    "roc_auc_ovr": ("t", "q", {"labels": [0, 1, 2]}),
    "mean": (None, "p", {"greater_is_better": True}),
    "r2": ("o", "p", {"interval": "normal"}),
    "several": ("y", "p", {"metric": ["roc_auc", "neg_brier_score"]}),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for k, name in enumerate(SCORES)
        for j, kind in enumerate(KINDS)
        # A frame has no column of several numbers.
        if (j + k) % 3 == 0 and not (kind == "dask frame" and SCORES[name][1] == "q")
    ],
)
def test_a_score_of_columns_is_that_of_the_stream(name, kind, columns_of):
    rows, lazy = columns_of(kind, 70)
    y, p, options = SCORES[name]
    place = list(SCORES).index(name) + KINDS.index(kind)
    options = {"metric": name, **OPTIONS, **options}
    given = {"groups": "g"} if place % 2 else {}
    if place % 3 == 0:
        given |= {"sample_weight": "w"}
    found = quiet(skboot.bootstrap_score, None if y is None else lazy[y], lazy[p], **options,
                  **{key: lazy[one] for key, one in given.items()})  # fmt: skip
    given = {key: rows[one] for key, one in given.items()}
    given = given if "groups" in given else {"start": 0, **given}
    stream = skboot.BootstrapAccumulator(**options)
    expected = quiet(stream.update(None if y is None else rows[y], rows[p], **given).result)
    if name != "several":
        found, expected = {"": found}, {"": expected}
    for key, one in found.items():
        assert_same_score(one, expected[key])


@each_kind
def test_a_comparison_of_columns_is_that_of_the_stream(kind, columns_of):
    rows, lazy = columns_of(kind, 70)
    for metric, names in (("accuracy", "ab"), ("roc_auc", "po")):
        given = {"sample_weight": "w"} if metric == "roc_auc" else {"groups": "g"}
        systems = {name: lazy[name] for name in names}
        if kind == "files":
            systems = columns_of(kind, 70, True)[1][[*names]]
        found = quiet(skboot.compare_systems, lazy["y"], systems, metric=metric, **OPTIONS,
                      **{key: lazy[one] for key, one in given.items()})  # fmt: skip
        stream = skboot.BootstrapAccumulator(metric, systems=[*names], **OPTIONS)
        given = {key: rows[one] for key, one in given.items()}
        given = given if "groups" in given else {"start": 0, **given}
        stream.update(rows["y"], {name: rows[name] for name in names}, **given)
        expected = quiet(stream.result)
        assert found.pairs == expected.pairs
        assert found.notes == expected.notes
        for name in names:
            assert_same_score(found.systems[name], expected.systems[name])


@each_kind
def test_a_curve_of_columns_is_that_of_the_stream(kind, columns_of):
    rows, lazy = columns_of(kind, 70)
    curve = ("roc", "precision_recall", "decision", "det", "roc", "decision")[KINDS.index(kind)]
    options = {"curve": curve, "grid": [0.2, 0.4, 0.7], "band": "pointwise"}
    options |= {"confidence_level": 0.8}
    level = {"confidence_level": options["confidence_level"]}
    found = quiet(skboot.bootstrap_curve, lazy["y"], {"p": lazy["p"], "o": lazy["o"]},
                  groups=lazy["g"], sample_weight=lazy["w"], **OPTIONS, **options)  # fmt: skip
    stream = skboot.BootstrapAccumulator("roc_auc", systems=["p", "o"], **OPTIONS, **level)
    stream.update(rows["y"], {"p": rows["p"], "o": rows["o"]}, groups=rows["g"],
                  sample_weight=rows["w"])  # fmt: skip
    del options["confidence_level"]
    expected = quiet(stream.curve, **options)
    assert [*found] == [*expected] == ["p", "o", "difference"]
    for name, one in found.items():
        for what in ("x", "estimate", "low", "high", "bootstrap_distribution", "reference"):
            close(getattr(one, what), getattr(expected[name], what), 1e-12, 1e-12)
        assert (one.n_units, one.unit) == (expected[name].n_units, expected[name].unit)


@each_kind
def test_few_rows_of_columns_are_arrays_in_every_option(kind, columns_of):
    rows, lazy = columns_of(kind, 26)
    systems = {"a": "a", "b": "b", "y": "y"}

    def both(function, y, p, **options):
        """The answers for columns and for arrays."""
        return [
            quiet(
                function,
                given[y],
                {key: given[one] for key, one in p.items()} if isinstance(p, dict) else given[p],
                **{**OPTIONS, **options},
                **{key: given[one] for key, one in columns.items()},
            )
            for given in (lazy, rows)
        ]

    place = KINDS.index(kind)
    columns = ({}, {"groups": "g"}, {"sample_weight": "w", "groups": "g"})[place % 3]
    one, other = both(skboot.bootstrap_score, "y", "a", metric=("f1", own.expected_cost)[place % 2])
    assert one == other
    options = (
        {"adjust": "holm", "reference": "a"},
        {"alternative": "less", "confidence_level": 0.8},
        {"adjust": None, "alternative": "greater", "interval": "t"},
        {"metric": "f1", "pos_label": 0},
    )[place % 4]
    one, other = both(skboot.compare_systems, "y", systems, **options)
    assert one == other
    options = ({"pos_label": 0}, {"curve": "decision", "grid": [0.2, 0.4]})[place % 2]
    columns = {}
    one, other = both(skboot.bootstrap_curve, "y", {"p": "p", "o": "o"}, **options)
    assert one == other


def test_columns_that_are_scanned_are_those_of_the_files(columns_of):
    for kind in ("files", "one file"):
        rows, lazy = columns_of(kind, 70)
        for name, one in lazy.items():
            assert one.columns == [name]
            np.testing.assert_array_equal(one.collect(), rows[name])
        both = columns_of(kind, 70, whole=True)[1][["w", "p"]]
        assert both.columns == ["w", "p"]
        np.testing.assert_array_equal(both.collect(), np.column_stack([rows["w"], rows["p"]]))


# ------------------------------------------------------------------ labels that are counted

MANY = 20_000  # rows from which labels are counted before resamples are drawn
LABELS = {
    "accuracy": {"metric": "accuracy"},
    "f1": {"metric": "f1_macro"},
    "cost": {"metric": own.expected_cost},
    "several": {"metric": ["balanced_accuracy", "matthews_corrcoef"]},
}


def many_labels(seed, n=MANY):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return y, np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))


def of_chunks(y, p, size, **options):
    columns = [array.from_array(one, chunks=size) for one in (y, p)]
    return quiet(skboot.bootstrap_score, *columns, **{"random_state": 4, **options})


def replicates(result):
    found = result.values() if isinstance(result, Mapping) else [result]
    return np.array([one.bootstrap_distribution for one in found])


@pytest.mark.parametrize("name", LABELS)
def test_counted_labels_are_drawn_alike_however_they_are_cut_and_in_whatever_order(name):
    y, p = many_labels(1)
    options = {"n_resamples": 49, **LABELS[name]}
    one, order = of_chunks(y, p, 6000, **options), np.random.default_rng(0).permutation(MANY)
    assert one == of_chunks(y, p, 1501, **options) == of_chunks(y[order], p[order], 7000, **options)
    fewer = of_chunks(y, p, 6000, **options | {"n_resamples": 19})
    np.testing.assert_array_equal(replicates(fewer), replicates(one)[:, :19])


@pytest.mark.parametrize("name", LABELS)
def test_counted_labels_are_known_and_vary_as_those_of_arrays(name):
    y, p = many_labels(2, MANY + 7)
    options = {"n_resamples": 999, "interval": "percentile", **LABELS[name]}
    found, expected = of_chunks(y, p, 9000, **options), quiet(
        skboot.bootstrap_score, y, p, random_state=5, **options)  # fmt: skip
    if name != "several":
        found, expected = {"": found}, {"": expected}
    for key, one in found.items():
        other = expected[key]
        close(one.estimate, other.estimate)
        close(one.naive_estimate, other.naive_estimate)
        # Standard deviations of 999 replicates have errors of 2.2% each: four of their difference.
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.13)
    wilson = of_chunks(y, p, 9000, metric="accuracy", n_resamples=19)
    arrays = quiet(skboot.bootstrap_score, y, p, metric="accuracy", n_resamples=19, random_state=5)
    assert tuple(wilson.confidence_interval) == tuple(arrays.confidence_interval)


def test_labels_of_fewer_rows_and_those_of_groups_are_drawn_one_by_one():
    y, p = many_labels(3, MANY)
    stream = skboot.BootstrapAccumulator("accuracy", n_resamples=19, random_state=4)
    few = slice(MANY - 1)
    expected = quiet(stream.update(y[few], p[few], start=0).result)
    found = of_chunks(y[few], p[few], 9000, metric="accuracy", n_resamples=19)
    np.testing.assert_array_equal(replicates(found), replicates(expected))
    groups = np.arange(MANY) // 5
    stream = skboot.BootstrapAccumulator("accuracy", n_resamples=19, random_state=4)
    expected = quiet(stream.update(y, p, groups=groups).result)
    found = of_chunks(y, p, 9000, metric="accuracy", n_resamples=19, groups=groups)
    np.testing.assert_array_equal(replicates(found), replicates(expected))


def test_labels_of_too_many_pairs_to_be_counted_are_drawn_one_by_one():
    rng = np.random.default_rng(5)
    y = rng.permutation(2 * MANY)
    p = np.where(rng.random(len(y)) < 0.9, y, y[::-1])
    options = {"metric": "accuracy", "n_resamples": 1999}
    found = of_chunks(y, p, 15_000, **options)
    stream = skboot.BootstrapAccumulator(random_state=4, **options).update(y, p, start=0)
    assert_same_score(found, quiet(stream.result))
