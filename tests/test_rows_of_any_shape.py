"""Tuples, images, lists of several lengths and wide integers: right, or refused with what to do."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from skboot import bootstrap_runs, bootstrap_score, compare_systems
from skboot.inference import distribution

RNG = np.random.default_rng(0)
N = 40
TRUTH = RNG.integers(0, 3, N)
ANSWER = np.where(RNG.random(N) < 0.7, TRUTH, RNG.integers(0, 3, N))
PLACE = np.arange(N) % 2
OPTIONS = {"n_resamples": 99, "random_state": 0}
IMAGES = RNG.random((2, N, 4, 5)) < 0.5
LISTS = [[list(range(1 + k)) for k in RNG.integers(0, 5, N)] for _ in range(2)]


def tuples(codes):
    return [("site", int(code)) for code in codes]


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def overlap(y_true, y_pred):
    """Mean intersection over union, read in one step, as an array of images is."""
    both, either = np.logical_and(y_true, y_pred), np.logical_or(y_true, y_pred)
    return float(np.mean(both.sum(axis=(1, 2)) / either.sum(axis=(1, 2))))


def common(y_true, y_pred):
    pairs = zip(y_true, y_pred, strict=True)
    return float(np.mean([len({*one} & {*other}) / len({*one, *other}) for one, other in pairs]))


# ------------------------------------------------------------------ tuples


@pytest.mark.filterwarnings("ignore:.*Only 2 ")
@pytest.mark.parametrize("column", ["strata", "by", "average_over", "groups"])
@pytest.mark.parametrize("kept", ["list", "numpy scalars", "objects", "MultiIndex"])
def test_tuples_name_what_their_codes_name(column, kept):
    codes = np.arange(N) // 2 if column == "groups" else PLACE
    names = tuples(codes)
    if kept == "MultiIndex":
        names = pytest.importorskip("pandas").MultiIndex.from_tuples(names)
    elif column == "groups":
        # A list of pairs is two crossed columns, as an array of shape (n_samples, 2) is.
        names = objects(names)
    elif kept == "numpy scalars":
        names = [("site", code) for code in codes]
    elif kept == "objects":
        names = objects(names)
    found = bootstrap_score(TRUTH, ANSWER, **{column: names}, **OPTIONS)
    expected = bootstrap_score(TRUTH, ANSWER, **{column: codes}, **OPTIONS)
    if column != "by":
        assert found.confidence_interval == expected.confidence_interval
        return
    assert repr(list(found)) == "[('site', 0), ('site', 1), 'gap']"
    for code in (0, 1):
        assert found["site", code].estimate == accuracy_score(
            TRUTH[code == PLACE], ANSWER[code == PLACE]
        )


def test_a_pair_of_columns_that_names_one_member_is_told_of_names_of_groups():
    with pytest.raises(ValueError, match=r"groups=pandas.MultiIndex.from_tuples\(groups\)"):
        bootstrap_score(TRUTH, ANSWER, groups=tuples(np.arange(N) // 2))


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "adjusted_rand_score"])
@pytest.mark.parametrize("kept", [list, objects])
def test_tuples_as_labels_are_refused_with_the_call_that_works(metric, kept):
    y_true, y_pred = (kept(tuples(codes)) for codes in (TRUTH, ANSWER))
    with pytest.raises(ValueError, match="'y_true' parameter of bootstrap_score") as raised:
        bootstrap_score(y_true, y_pred, metric=metric, **OPTIONS)
    advised = str(raised.value).partition("Make labels from tuples: ")[2].removesuffix(".")
    columns = [eval(advised, {"y_true": own}) for own in (y_true, y_pred)]
    found = bootstrap_score(*columns, metric=metric, **OPTIONS)
    assert found.estimate == bootstrap_score(TRUTH, ANSWER, metric=metric, **OPTIONS).estimate


# ------------------------------------------------------------------ integers of 128 bits


def test_integers_of_128_bits_are_those_of_64_where_they_fit():
    polars = pytest.importorskip("polars")
    if not hasattr(polars, "Int128"):
        pytest.skip("this release of polars has no integers of 128 bits")
    wide = [polars.Series("y", own.tolist(), dtype=polars.Int128) for own in (TRUTH, ANSWER)]
    frame = polars.DataFrame({"group": wide[0]})
    expected = bootstrap_score(TRUTH, ANSWER, groups=np.arange(N) // 2, **OPTIONS)
    groups = polars.Series("group", (np.arange(N) // 2).tolist(), dtype=polars.Int128)
    found = bootstrap_score(*wide, groups=groups, **OPTIONS)
    assert found.confidence_interval == expected.confidence_interval
    assert bootstrap_score(frame, ANSWER, **OPTIONS).estimate == expected.estimate
    far = polars.Series("group", [2**100 + k for k in range(N)], dtype=polars.Int128)
    with pytest.raises(ValueError, match=r"'groups'.*one type of 64 bits.*Give ids.*as text"):
        bootstrap_score(TRUTH, ANSWER, groups=far, **OPTIONS)


# ------------------------------------------------------------------ images and lists


@pytest.mark.parametrize(
    ("metric", "columns"),
    [
        (overlap, tuple(IMAGES)),
        (overlap, tuple(own.tolist() for own in IMAGES)),
        (common, tuple(LISTS)),
        (common, tuple(map(objects, LISTS))),
        (common, tuple([np.array(one) for one in own] for own in LISTS)),
    ],
    ids=["images", "nested lists", "lists", "objects", "arrays"],
)
@pytest.mark.filterwarnings("ignore:.*None of the 40 rows moves")
def test_a_callable_reads_rows_of_any_shape_on_every_resample(metric, columns):
    rows = RNG.integers(0, N, (99, N))
    found = bootstrap_score(*columns, metric=metric, resamples=rows, interval="percentile")
    sides = [own if isinstance(own, np.ndarray) else objects(own) for own in columns]
    if metric is overlap:
        sides = [np.array(own) for own in columns]
    expected = [metric(*(own[one] for own in sides)) for one in rows]
    np.testing.assert_allclose(found.bootstrap_distribution, expected, rtol=1e-12)
    systems = {"A": columns[1], "B": columns[0]}
    few = {**OPTIONS, "n_resamples": 199, "interval": "percentile"}
    compared = compare_systems(columns[0], systems, metric=metric, **few)
    assert compared.systems["A"].estimate == found.estimate
    assert compared.systems["B"].estimate == 1


def test_a_callable_of_predictions_alone_reads_lists():
    found = bootstrap_score(None, LISTS[1], metric=lambda y: float(np.mean([*map(len, y)])))
    assert found.estimate == pytest.approx(np.mean([len(own) for own in LISTS[1]]))


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "r2", "neg_log_loss"])
@pytest.mark.parametrize("columns", [IMAGES, LISTS], ids=["images", "lists"])
def test_metrics_of_labels_or_numbers_point_to_the_guide(metric, columns):
    match = r"'y_true' parameter of bootstrap_score must hold.*docs/guide/images\.md"
    with pytest.raises(ValueError, match=match):
        bootstrap_score(*columns, metric=metric)
    with pytest.raises(ValueError, match=r"'y_pred'.*docs/guide/images\.md"):
        bootstrap_score(TRUTH, columns[1], metric=metric)
    with pytest.raises(ValueError, match=r"docs/guide/images\.md"):
        bootstrap_score(None, columns[1], metric="mean")
    with pytest.raises(ValueError, match=r"y_true.*docs/guide/images\.md|y_preds"):
        bootstrap_runs(columns[0], [columns[1], columns[1]], metric=metric)


# ------------------------------------------------------------------ weights of parts


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "r2", "neg_median_absolute_error"])
@pytest.mark.parametrize("column", ["by", "average_over"])
def test_a_part_whose_rows_weigh_nothing_is_named(metric, column):
    call = {"metric": metric, "sample_weight": 1 - PLACE, column: np.array(["in", "out"])[PLACE]}
    match = "'sample_weight' parameter of .* must be more than 0 .* Got zeros alone for 'out'"
    with pytest.raises(ValueError, match=match):
        bootstrap_score(TRUTH, ANSWER, **call, **OPTIONS)
    with pytest.raises(ValueError, match=match):
        compare_systems(TRUTH, {"A": ANSWER, "B": TRUTH}, **call, **OPTIONS)


# ------------------------------------------------------------------ rows that only advice reads

AWKWARD = {
    "masks": objects(IMAGES[0]),
    "lists of several lengths": objects([np.array(own) for own in LISTS[0]]),
    "mixed types": objects([1, "a", 2.5, ("b", 3)] * (N // 4)),
    "dicts": objects([{"boxes": k % 3} for k in range(N)]),
    "sets": objects([{k % 3, k % 2} for k in range(N)]),
    "arrays in objects": objects([objects([k % 3, "a"]) for k in range(N)]),
    "complex numbers in objects": objects([(k % 3 + 1j, k) for k in range(N)]),
}


class Tensor:
    """A row whose comparison has no truth value, as that of a tensor has none."""

    def __eq__(self, other):
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")

    __hash__ = None


def alike(y_true, y_pred):
    return float(
        np.mean([repr(one) == repr(other) for one, other in zip(y_true, y_pred, strict=True)])
    )


def weighted_alike(y_true, y_pred, sample_weight=None):
    return alike(y_true, y_pred) if sample_weight is None else np.nan


CALLS = {
    "bootstrap_score": lambda rows, others, **o: bootstrap_score(rows, others, **o),
    "groups": lambda rows, others, **o: bootstrap_score(
        rows, others, groups=np.arange(N) // 2, **o
    ),
    "by": lambda rows, others, **o: bootstrap_score(rows, others, by=PLACE, **o)[0],
    "block_length": lambda rows, others, **o: bootstrap_score(rows, others, block_length=3, **o),
    "compare_systems": lambda rows, others, **o: compare_systems(
        rows, {"a": others, "b": others[::-1]}, **o
    ),
    "equal systems": lambda rows, others, **o: compare_systems(
        rows, {"a": others, "b": others.copy()}, **o
    ),
    "bootstrap_runs": lambda rows, others, **o: bootstrap_runs(
        rows, [others, others[::-1], rows], **o
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", AWKWARD)
def test_rows_of_any_kind_give_what_their_numbers_give_however_slow_the_metric_is(
    kind, call, monkeypatch
):
    """Advice that cannot read the rows is left out, and nothing else."""
    monkeypatch.setattr(distribution, "_WORTH_ADVICE", 0.0)
    rows = AWKWARD[kind]
    others = rows[np.random.default_rng(1).permutation(N)]
    numbers = {repr(row): float(k) for k, row in enumerate(rows)}
    as_numbers = [np.array([numbers[repr(row)] for row in side]) for side in (rows, others)]
    options = {**OPTIONS, "greater_is_better": True, "n_resamples": 9, "interval": "percentile"}
    for metric in (alike, weighted_alike):
        found, expected = (
            CALLS[call](*sides, metric=metric, **options) for sides in ((rows, others), as_numbers)
        )
        assert repr(found) == repr(expected)


@pytest.mark.filterwarnings("ignore")
def test_rows_without_a_truth_value_are_read_by_the_metric_alone():
    rows = objects([Tensor() for _ in range(N)])
    assert bootstrap_score(rows, rows, metric=lambda a, b: len(a), **OPTIONS).estimate == N
