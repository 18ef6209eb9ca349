"""Any partition of a stream is the stream, and a stream of few units is `bootstrap_score`.

Exact: replicates and limits of metrics to which a row adds whole numbers, in any batches and any
order of merging, packed in between; of others in any order of merging the same batches, and all
numbers of fewer than 30 rows or groups, which are those of all rows in memory. Within 1e-12: the
estimate, which is that of `bootstrap_score` whatever the number of rows. The replicates of 30 rows
or more are Poisson counts (DESIGN 4.12), and agree with those of `bootstrap_score` in law alone.
Of several metrics each says what it says alone, notes and all.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot import BootstrapAccumulator, bootstrap_curve, bootstrap_score, compare_systems

pytestmark = pytest.mark.identity

# The same examples at every run: a new one would find its fault in someone else's change.
same_examples = settings(max_examples=18, deadline=None, derandomize=True, database=None)

B = 39
OF_LABELS = ("accuracy", "f1", "balanced_accuracy", "matthews_corrcoef", "precision")
OF_SCORES = ("roc_auc", "average_precision")
OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score")
OF_VALUES = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error")
METRICS = (*OF_LABELS, *OF_SCORES, *OF_PROBABILITIES, *OF_VALUES)
UNITS = ("start", "ids", "groups", "arrival")


class Stream(NamedTuple):
    """Rows, and how they come: what tells them apart, batches, and an order of merging."""

    metric: str
    rows: dict[str, Any]
    unit: str
    names: tuple[str, ...]
    batches: list[np.ndarray]
    random: Any

    @property
    def is_whole(self):
        weight = self.rows["sample_weight"]
        whole = weight is None or np.array_equal(weight, np.round(weight))
        return whole and self.metric in (*OF_LABELS, *OF_SCORES)

    @property
    def n(self):
        return len(self.rows["y_true"])

    @property
    def n_units(self):
        return len(np.unique(self.rows["key"])) if self.unit == "groups" else self.n

    def empty(self, **options):
        options |= {"systems": list(self.names) or None, "random_state": 7, "n_resamples": B}
        return BootstrapAccumulator(self.metric, **options)

    def update(self, found, rows):
        """Add rows by their places in the order of their keys."""
        keys, weight = self.rows["key"][rows], self.rows["sample_weight"]
        key = {} if self.unit == "arrival" else {self.unit: keys}
        key |= {"start": int(keys[0])} if self.unit == "start" else {}
        return found.update(
            self.rows["y_true"][rows],
            self.predicted(rows),
            sample_weight=None if weight is None else weight[rows],
            **key,
        )

    def predicted(self, rows=slice(None)):
        if not self.names:
            return self.rows["y_pred"][rows]
        return dict(zip(self.names, (self.rows[name][rows] for name in self.names), strict=True))

    def at_once(self):
        return self.update(self.empty(), np.arange(self.n))


@st.composite
def streams(draw, metrics=METRICS, units=UNITS, systems=(False, True)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([2, 3, 9, 23, 29, 30, 31, 58, 90]))
    metric = draw(st.sampled_from(metrics))
    unit = draw(st.sampled_from(units))
    y_true = rng.permutation(np.arange(n) % 2)

    def predicted():
        if metric in OF_LABELS:
            return np.where(rng.random(n) < 0.3, 1 - y_true, y_true)
        return np.round(np.clip(0.3 + 0.4 * y_true + 0.2 * rng.normal(size=n), 0.01, 0.99), 2)

    rows = {"y_true": y_true, "y_pred": predicted()}
    rows |= {"new": rows["y_pred"], "old": predicted()}
    if metric in OF_VALUES:
        rows["y_true"] = np.round(rng.normal(size=n), 1)
    rows["key"] = np.arange(n) + draw(st.sampled_from([0, 1000]))
    if unit == "ids":
        rows["key"] = np.sort(rng.choice(10**6, n, replace=False))
        if draw(st.booleans()):
            rows["key"] = np.sort(np.char.add("row ", rows["key"].astype(str)))
    if unit == "groups":
        rows["key"] = np.sort(rng.permutation(np.arange(n) % max(2, n // draw(st.integers(1, 3)))))
    weights = draw(st.sampled_from([None, "whole", "any"]))
    rows["sample_weight"] = {
        None: None,
        "whole": rng.integers(1, 4, n).astype(float),
        "any": rng.random(n) + 0.1,
    }[weights]
    in_order_of_key(rows)
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6)))
    order = np.arange(n) if unit in ("start", "arrival") else rng.permutation(n)
    names = ("new", "old") if draw(st.sampled_from(systems)) else ()
    random = draw(st.randoms(use_true_random=False))
    return Stream(metric, rows, unit, names, np.split(order, cuts), random)


def in_order_of_key(rows):
    """Sort rows: those of one group, which have one key, by truth, predictions and weight."""
    weight = rows["sample_weight"]
    order = np.lexsort(
        (
            np.zeros(len(rows["key"])) if weight is None else weight,
            rows["old"],
            rows["new"],
            rows["y_true"],
            rows["key"],
        )
    )
    rows |= {name: None if one is None else one[order] for name, one in rows.items()}


def in_any_tree(stream, pack):
    """Merge accumulators of the batches in a random order, as bytes in between."""
    shards = [stream.update(stream.empty(), rows) for rows in stream.batches]
    while len(shards) > 1:
        stream.random.shuffle(shards)
        last = shards.pop()
        if pack:
            last = BootstrapAccumulator.from_bytes(last.to_bytes())
        shards[-1].merge(last)
    return BootstrapAccumulator.from_bytes(shards[0].to_bytes()) if pack else shards[0]


def one_after_another(stream):
    found = stream.empty()
    for rows in stream.batches:
        stream.update(found, rows)
    return found


def answer(function, *args, **options):
    """The result, or the error without the name of the function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except ValueError as error:
            bad = getattr(error, "bad_argument", None)
            return str(error) if bad is None else bad[2:4]


def numbers(result):
    """Estimate, replicates and limits of a result, or of each system and pair."""
    if not hasattr(result, "pairs"):
        limits = (result.estimate, *result.confidence_interval)
        return np.append(limits, result.bootstrap_distribution)
    pairs = [(one.difference, *one.confidence_interval, one.p_value) for one in result.pairs]
    return np.concatenate([*map(numbers, result.systems.values()), *pairs])


def of_all_rows(stream, **options):
    """What functions of rows in memory say of the same rows."""
    function = compare_systems if stream.names else bootstrap_score
    options |= {"metric": stream.metric, "sample_weight": stream.rows["sample_weight"]}
    if stream.unit == "groups":
        options["groups"] = stream.rows["key"]
    options |= {"n_resamples": B, "random_state": 7}
    return answer(function, stream.rows["y_true"], stream.predicted(), **options)


@given(stream=streams(units=("start", "ids", "groups")), pack=st.booleans())
@same_examples
def test_any_batches_and_any_order_of_merging_are_the_stream(stream, pack):
    parts, whole = in_any_tree(stream, pack), stream.at_once()
    found, expected = answer(parts.result), answer(whole.result)
    if isinstance(expected, str | tuple):
        assert found == expected
        return
    if stream.is_whole or stream.n_units < 30:
        np.testing.assert_array_equal(numbers(found), numbers(expected))
        assert found == expected
    else:
        np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-9, atol=1e-12)
        other = answer(in_any_tree(stream, not pack).result)
        np.testing.assert_array_equal(numbers(found), numbers(other))
    if stream.is_whole:
        assert parts.to_bytes() == whole.to_bytes()


@given(stream=streams())
@same_examples
def test_batches_one_after_another_are_the_stream(stream):
    parts, whole = one_after_another(stream), stream.at_once()
    found, expected = answer(parts.result), answer(whole.result)
    if isinstance(expected, str | tuple) or stream.is_whole or stream.n_units < 30:
        assert found == expected
    else:
        np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-9, atol=1e-12)


@given(stream=streams().filter(lambda one: one.n_units < 30), pack=st.booleans())
@same_examples
def test_a_stream_of_fewer_than_30_units_is_the_call_on_all_rows(stream, pack):
    """Notes, settings and all, but for a note on rows that have no key."""
    found = one_after_another(stream) if stream.unit == "arrival" else in_any_tree(stream, pack)
    result, expected = answer(found.result), of_all_rows(stream)
    if stream.unit == "arrival" and not isinstance(result, str | tuple):
        assert "order of arrival" in result.notes[-1]
        assert result.notes[:-1] == expected.notes
        np.testing.assert_array_equal(numbers(result), numbers(expected))
    else:
        assert result == expected


@given(stream=streams(systems=(False,)))
@same_examples
def test_the_estimate_of_a_stream_is_that_of_all_rows(stream):
    result = answer(stream.at_once().result)
    expected = of_all_rows(stream, interval="percentile")
    if stream.n_units < 30 and isinstance(expected, str | tuple):
        assert result == expected
    else:
        assert result.estimate == pytest.approx(expected.estimate, rel=1e-12, abs=1e-12)


@given(stream=streams(metrics=(*OF_LABELS, *OF_SCORES, "r2"), units=("start", "ids", "groups")))
@same_examples
def test_a_stream_knows_of_its_rows_what_is_known_of_all_rows(stream):
    """Baseline and direction, of metrics that need no more of the rows than is kept."""
    found, expected = answer(stream.at_once().result), of_all_rows(stream, interval="percentile")
    if isinstance(expected, str | tuple) or isinstance(found, str | tuple):
        return
    pairs = [(found, expected)]
    if stream.names:
        pairs = [(found.systems[name], expected.systems[name]) for name in stream.names]
    for one, other in pairs:
        assert one.greater_is_better == other.greater_is_better
        if stream.metric != "accuracy":  # a mean of rows, which keeps no labels
            assert one.naive_estimate == pytest.approx(other.naive_estimate, nan_ok=True)


@given(stream=streams(metrics=OF_SCORES), pack=st.booleans())
@settings(same_examples, max_examples=12)
def test_curves_of_any_batches_are_those_of_the_stream_and_of_few_rows_those_of_all(stream, pack):
    parts = one_after_another(stream) if stream.unit == "arrival" else in_any_tree(stream, pack)
    asked = {"curve": "roc", "grid": [0.1, 0.3, 0.5]}
    found, expected = answer(parts.curve, **asked), answer(stream.at_once().curve, **asked)
    if not isinstance(expected, str | tuple) and stream.is_whole:
        assert found == expected
    if stream.n_units >= 30 or stream.unit == "arrival":
        return
    options = {"groups": stream.rows["key"]} if stream.unit == "groups" else {}
    options |= {"sample_weight": stream.rows["sample_weight"], "n_resamples": B}
    rows = stream.rows["y_true"], stream.predicted()
    assert found == answer(bootstrap_curve, *rows, **options, **asked, random_state=7)


@given(
    stream=streams(units=("start",)).filter(lambda one: len(one.batches) > 1), pick=st.integers()
)
@same_examples
def test_a_batch_that_comes_again_is_refused_and_leaves_the_stream_as_it_was(stream, pick):
    found = in_any_tree(stream, pack=True)
    before = found.to_bytes()
    again = stream.batches[pick % len(stream.batches)]
    with pytest.raises(ValueError, match=r"'start' parameter .* not added before"):
        stream.update(found, again)
    with pytest.raises(
        ValueError, match=r"'other' parameter of BootstrapAccumulator.merge .* not added before"
    ):
        found.merge(stream.update(stream.empty(), again))
    assert found.to_bytes() == before


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("systems", [None, ["new", "old"]])
def test_several_metrics_of_a_stream_in_batches_say_what_each_says_of_it_alone(unit, systems):
    """Notes and all: of rows without a key, and of one row, among the last, that carries much."""
    rng = np.random.default_rng(0)
    y_true, n = rng.normal(size=60), 60
    said = {name: y_true + rng.normal(size=n) for name in ("new", "old")}
    y_true[55] = 900.0

    def stream(metric, cuts):
        found = BootstrapAccumulator(metric, systems=systems, random_state=7, n_resamples=B)
        for rows in np.split(np.arange(n), cuts):
            key = {"start": int(rows[0]), "ids": rows, "groups": rows // 2}
            own = {name: one[rows] for name, one in said.items()}
            answer(found.update, y_true[rows], own if systems else own["new"],
                   **({unit: key[unit]} if unit in key else {}))  # fmt: skip
        return answer(found.result)

    metrics = ["mean_absolute_error", "neg_mean_squared_error", "r2"]
    table = stream(metrics, [20, 31])
    for metric in metrics:
        alone = stream(metric, [])
        assert table[metric].notes == alone.notes
        np.testing.assert_allclose(numbers(table[metric]), numbers(alone), rtol=1e-8, atol=1e-9)
        assert ("order of arrival" in " ".join(alone.notes)) == (unit == "arrival")
        if systems is None and unit != "groups" and metric != "r2":
            assert "rows decides this score" in " ".join(alone.notes)
