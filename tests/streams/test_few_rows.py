"""Rows of fewer than 30 units are kept and scored as rows that were given at once."""

import numpy as np
import pytest

from skboot import BootstrapAccumulator, bootstrap_score, compare_systems

RNG = np.random.default_rng(2)
N = 29
TRUTH = RNG.integers(0, 2, N)
GUESS = np.where(RNG.random(N) < 0.8, TRUTH, 1 - TRUTH)
OPTIONS = {"random_state": 0, "n_resamples": 99}


def accumulator(metric="accuracy", **options):
    return BootstrapAccumulator(metric, **OPTIONS | options)


def of_all_rows(**options):
    return bootstrap_score(TRUTH, GUESS, **OPTIONS | options)


def test_the_first_example_that_anyone_types_has_a_result():
    result = BootstrapAccumulator(random_state=0).update([0, 1, 1], [0, 1, 0]).result()
    expected = bootstrap_score([0, 1, 1], [0, 1, 0], random_state=0)
    assert (result.estimate, *result.confidence_interval) == (
        expected.estimate,
        *expected.confidence_interval,
    )


def test_row_30_changes_over_to_poisson_counts_and_gives_up_the_rows():
    found = accumulator().update(TRUTH, GUESS, start=0)
    assert found.result() == of_all_rows()
    found.update(TRUTH[:1], GUESS[:1], start=N)
    assert found._state.few_rows is None
    assert found.result().n_samples == 30
    assert any("Poisson resamples" in note for note in found.result().notes)
    at_once = accumulator().update(np.append(TRUTH, TRUTH[0]), np.append(GUESS, GUESS[0]), start=0)
    assert found.to_bytes() == at_once.to_bytes()


def test_rows_are_taken_in_the_order_of_their_ids():
    ids = RNG.choice(1000, N, replace=False)
    order = np.argsort(ids)
    options = {"metric": "neg_log_loss", "interval": "percentile", **OPTIONS}
    shares = np.round(0.2 + 0.6 * RNG.random(N), 2)
    for names in (ids, np.char.add("row ", np.char.zfill(ids.astype(str), 4))):
        found = accumulator("neg_log_loss", interval="percentile")
        for rows in np.array_split(np.arange(N), 4):
            found.update(TRUTH[rows], shares[rows], ids=names[rows])
        assert found.result() == bootstrap_score(TRUTH[order], shares[order], **options)


@pytest.mark.parametrize("kind", ["int8", "uint64", "float32", "S3", "U9", "object"])
def test_columns_of_any_type_are_kept(kind):
    rows = (TRUTH.astype(kind), GUESS.astype(kind))
    found = accumulator()
    for some in np.array_split(np.arange(N), 3):
        found.update(rows[0][some], rows[1][some], start=some[0])
    found = BootstrapAccumulator.from_bytes(found.to_bytes())
    assert tuple(found.result().confidence_interval) == tuple(of_all_rows().confidence_interval)


def test_few_groups_may_have_many_rows():
    n = 5000
    truth, groups = RNG.integers(0, 2, n), RNG.integers(0, 29, n)
    guess = np.where(RNG.random(n) < 0.7, truth, 1 - truth)
    found = accumulator("f1")
    for rows in np.array_split(np.arange(n), 11):
        found.update(truth[rows], guess[rows], groups=groups[rows])
    expected = bootstrap_score(truth, guess, metric="f1", groups=groups, **OPTIONS)
    assert found.result() == expected
    copy = BootstrapAccumulator.from_bytes(found.to_bytes())
    assert copy.result() == expected


def test_rows_of_few_groups_are_kept_up_to_a_number_of_values(monkeypatch):
    monkeypatch.setattr("skboot.streams.state.MOST_VALUES", 3 * 50)
    options = {"groups": np.arange(50) % 5}
    truth = np.arange(50) % 2
    found = accumulator().update(truth, truth, **options)
    assert found._state.has_few
    for one in (found, BootstrapAccumulator.from_bytes(found.to_bytes())):
        one.update(truth[:1], truth[:1], groups=[3])
        with pytest.raises(
            ValueError, match=r"5 groups are too few: fewer than 30 .*bootstrap_score"
        ):
            one.result()
    one.update(truth, truth, groups=np.arange(50) + 100)
    assert one.result().n_units == 55


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([0, 1]), np.array(["0", "1"])),
        (np.array([0, 2**53 + 1]), np.array([0.0, 1.0])),
    ],
)
def test_values_that_no_type_holds_together_are_not_kept(first, second):
    found = accumulator().update(first, first, start=0).update(second, second, start=2)
    with pytest.raises(ValueError, match=r"4 rows are too few: .*different shapes or types"):
        found.result()
    again = BootstrapAccumulator.from_bytes(found.to_bytes())
    with pytest.raises(ValueError, match="4 rows are too few"):
        again.result()
    found.update(np.repeat(first, 15), np.repeat(first, 15), start=4)
    assert found.result().estimate == 1


def test_few_rows_of_systems_are_compared_as_all_rows_are():
    systems = {"new": GUESS, "old": 1 - GUESS, "none": np.zeros(N, dtype=int)}
    metrics = ["accuracy", "f1"]
    found = accumulator(metrics, systems=list(systems))
    for rows in np.array_split(np.arange(N), 3):
        found.update(TRUTH[rows], {name: one[rows] for name, one in systems.items()}, start=rows[0])
    assert found.result() == compare_systems(TRUTH, systems, metric=metrics, **OPTIONS)


def test_wrong_rows_are_refused_as_those_in_memory_are():
    found = accumulator("roc_auc").update([1, 1, 1], [0.1, 0.2, 0.3], start=0)
    with pytest.raises(
        ValueError, match=r"'y_true' parameter of BootstrapAccumulator.result .*two class"
    ):
        found.result()
    with pytest.raises(ValueError, match="two classes"):
        found.curve()
    labels = accumulator("roc_auc").update([0, 1, 1], [0, 1, 1], start=0)
    with pytest.raises(ValueError, match=r"'y_pred' parameter of BootstrapAccumulator\.curve"):
        labels.curve()
