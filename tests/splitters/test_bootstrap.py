"""What the splitters promise about who is in a training side and who is in a test side.

Laws are compared with a full enumeration of all equally likely draws. Every chi-square or z test
here rejects a correct splitter with probability 0.001; seeds are fixed, so a failure is a change.
"""

import copy
import itertools
import math
import pickle
from collections import Counter
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse, stats
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
)

from skboot import (
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
)

FALSE_ALARM = 0.001

N_ROWS = 12
Y = np.tile([0, 1, 1], 4)
GROUPS = np.repeat(["ann", "bob", "cem", "dua"], [1, 2, 4, 5])

# name -> (make it with a random_state and a number of splits, groups to pass)
SEEDED = {
    "bootstrap": (lambda n, seed: BootstrapSplit(n, random_state=seed), None),
    "stratified": (lambda n, seed: StratifiedBootstrapSplit(n, random_state=seed), None),
    "group": (lambda n, seed: GroupBootstrapSplit(n, random_state=seed), GROUPS),
    "test rows": (
        lambda n, seed: BootstrapTestSplit(KFold(2), n_resamples=n, random_state=seed),
        None,
    ),
    "test groups": (
        lambda n, seed: BootstrapTestSplit(KFold(2), n_resamples=n, random_state=seed),
        GROUPS,
    ),
}
OUT_OF_BAG = ["bootstrap", "stratified", "group"]


@pytest.fixture(params=SEEDED)
def seeded(request):
    """Return a function that gives the splits of one splitter for a number and a seed."""
    make, groups = SEEDED[request.param]

    def splits(n_splits, random_state):
        cv = make(n_splits, random_state)
        return as_lists(cv.split(np.zeros((N_ROWS, 1)), Y, groups))

    return splits


@pytest.fixture(params=OUT_OF_BAG)
def out_of_bag_splits(request):
    make, groups = SEEDED[request.param]
    return list(make(200, 0).split(np.zeros((N_ROWS, 1)), Y, groups))


def as_lists(splits):
    return [(np.asarray(train).tolist(), np.asarray(test).tolist()) for train, test in splits]


def law_of_counts(n_units, *, some_left_out=True):
    """Return the probability of every vector of counts, from all n^n equally likely draws."""
    law = Counter()
    for draw in itertools.product(range(n_units), repeat=n_units):
        counts = tuple(draw.count(unit) for unit in range(n_units))
        if not some_left_out or 0 in counts:
            law[counts] += 1
    total = sum(law.values())
    return {counts: ways / total for counts, ways in law.items()}


def assert_follows_law(observed, law):
    """Chi-square test of a list of outcomes against outcome -> probability."""
    tally = Counter(observed)
    assert set(tally) <= set(law)
    expected = np.array(list(law.values())) * len(observed)
    assert expected.min() >= 5, "too few draws for a chi-square test"
    p_value = stats.chisquare([tally[outcome] for outcome in law], expected).pvalue
    assert p_value > FALSE_ALARM


def counts_of(rows, n_rows):
    return tuple(np.bincount(rows, minlength=n_rows).tolist())


# -- the law of the draw --------------------------------------------------------------------------


def test_counts_of_rows_are_multinomial_given_that_a_row_is_left_out():
    cv = BootstrapSplit(8000, random_state=1)
    observed = [counts_of(train, 4) for train, _ in cv.split(np.zeros(4))]
    assert_follows_law(observed, law_of_counts(4))


def test_counts_within_classes_are_independent_multinomials_given_that_each_leaves_a_row_out():
    y = np.array(["a", "b", "a", "b", "a"])
    cv = StratifiedBootstrapSplit(8000, random_state=1)
    observed = [counts_of(train, 5) for train, _ in cv.split(np.zeros(5), y)]
    of_a, of_b = law_of_counts(3), law_of_counts(2)
    law = {
        (a[0], b[0], a[1], b[1], a[2]): p * q
        for (a, p), (b, q) in itertools.product(of_a.items(), of_b.items())
    }
    assert_follows_law(observed, law)


def test_counts_of_groups_are_multinomial_whatever_their_sizes():
    groups = np.array([7, 5, 5, 7, 7, 9, 7])
    first_row = [1, 0, 5]  # of groups 5, 7, 9
    observed = []
    for train, _ in GroupBootstrapSplit(4000, random_state=1).split(np.zeros(7), groups=groups):
        counts = np.bincount(train, minlength=7)
        for group in (5, 7, 9):
            assert len(set(counts[groups == group])) == 1, "a group came along in part"
        observed.append(tuple(counts[first_row].tolist()))
    assert_follows_law(observed, law_of_counts(3))


def test_counts_of_resampled_test_rows_are_multinomial():
    cv = BootstrapTestSplit([([0], [1, 2, 4, 3])], n_resamples=8000, random_state=1)
    observed = [counts_of(test, 5)[1:] for _, test in cv.split(np.zeros(5))]
    assert_follows_law(observed, law_of_counts(4, some_left_out=False))


def test_counts_of_resampled_test_groups_are_multinomial():
    groups = np.array([0, 1, 1, 2, 3, 3, 3])
    cv = BootstrapTestSplit([([0], [1, 2, 3, 4, 5, 6])], n_resamples=4000, random_state=1)
    observed = []
    for _, test in cv.split(np.zeros(7), groups=groups):
        counts = np.bincount(test, minlength=7)
        assert counts[1] == counts[2]
        assert counts[4] == counts[5] == counts[6]
        observed.append(tuple(counts[[1, 3, 4]].tolist()))
    assert_follows_law(observed, law_of_counts(3, some_left_out=False))


def test_share_of_rows_left_out_is_that_of_the_theory():
    n, n_splits = 200, 500
    cv = BootstrapSplit(n_splits, random_state=1)
    mean = np.mean([len(test) for _, test in cv.split(np.zeros(n))])
    never_1, never_2 = (1 - 1 / n) ** n, (1 - 2 / n) ** n  # one given row, two given rows
    variance = n * never_1 + n * (n - 1) * never_2 - (n * never_1) ** 2
    z = (mean - n * never_1) / math.sqrt(variance / n_splits)
    assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)


def test_successive_splits_are_independent():
    cv = BootstrapSplit(2001, random_state=1)  # of two rows, one is drawn twice
    drawn = [int(train[0]) for train, _ in cv.split(np.zeros(2))]
    law = dict.fromkeys(itertools.product((0, 1), repeat=2), 1 / 4)
    assert_follows_law(list(itertools.pairwise(drawn)), law)


@pytest.mark.parametrize("name", OUT_OF_BAG)
def test_training_rows_come_in_random_order(name):
    """Each row is as likely first as last, as prefixes of a training side are used."""
    make, _ = SEEDED[name]
    y, groups = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    splits = list(make(4000, 1).split(np.zeros(4), y, groups if name == "group" else None))
    for place in (0, -1):
        assert_follows_law(
            [int(train[place]) for train, _ in splits], dict.fromkeys(range(4), 0.25)
        )


# -- who is on which side -------------------------------------------------------------------------


def test_test_side_is_exactly_the_rows_that_were_not_drawn(out_of_bag_splits):
    for train, test in out_of_bag_splits:
        assert_array_equal(test, sorted(set(range(N_ROWS)) - set(train.tolist())))


def test_sides_are_integer_arrays(out_of_bag_splits):
    for train, test in out_of_bag_splits:
        assert train.dtype.kind == test.dtype.kind == "i"


def test_as_many_rows_are_drawn_as_there_are():
    for cv, y in [(BootstrapSplit(50), None), (StratifiedBootstrapSplit(50), Y)]:
        assert {len(train) for train, _ in cv.split(np.zeros(N_ROWS), y)} == {N_ROWS}


def test_classes_keep_their_number_of_training_rows():
    for train, _ in StratifiedBootstrapSplit(50, random_state=0).split(np.zeros(N_ROWS), Y):
        assert_array_equal(np.bincount(Y[train]), np.bincount(Y))


def test_no_class_is_missing_from_either_side_of_a_stratified_split():
    y = np.repeat(np.arange(30), 2)  # unguarded, a class is missed with probability 1 - 2^-30
    for train, test in StratifiedBootstrapSplit(50, random_state=0).split(np.zeros(60), y):
        assert set(y[train]) == set(y[test]) == set(y)


def test_no_group_is_on_both_sides():
    cv = GroupBootstrapSplit(200, random_state=0)
    for train, test in cv.split(np.zeros(N_ROWS), groups=GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
        assert set(GROUPS[train]) | set(GROUPS[test]) == set(GROUPS)


def test_as_many_groups_are_drawn_as_there_are():
    groups = np.arange(60) // 5
    cv = GroupBootstrapSplit(50, random_state=0)
    assert {len(train) for train, _ in cv.split(np.zeros(60), groups=groups)} == {60}


@pytest.mark.parametrize("n_units", [2, 3, 4])
@pytest.mark.parametrize("name", OUT_OF_BAG)
def test_no_side_is_empty_on_tiny_data(name, n_units):
    """Unguarded, all of n = 4 rows are drawn with probability 4! / 4^4 = 0.094."""
    make, _ = SEEDED[name]
    y = np.zeros(n_units, dtype=int)
    groups = np.arange(n_units) if name == "group" else None
    for train, test in make(500, 0).split(np.zeros(n_units), y, groups):
        assert len(train) == n_units
        assert len(test) >= 1


def test_draws_without_a_row_left_out_end_with_an_error(monkeypatch):
    class EverySplitAPermutation:
        def integers(self, high, size):
            return np.arange(size)

    monkeypatch.setattr(np.random, "default_rng", lambda *given: EverySplitAPermutation())
    with pytest.raises(RuntimeError, match="1000 draws of 4 units in a row left no unit out"):
        next(BootstrapSplit(1, random_state=0).split(np.zeros(4)))


def test_multilabel_targets_are_stratified_by_distinct_rows():
    y = np.array([[0, 1], [1, 1], [1, 0]] * 3)
    for train, test in StratifiedBootstrapSplit(50, random_state=0).split(np.zeros(9), y):
        for side in (train, test):
            assert len(np.unique(y[side], axis=0)) == 3


# -- the test-side splitter -----------------------------------------------------------------------


def test_every_training_side_of_cv_is_kept_and_its_own_test_side_resampled():
    inner = list(KFold(3).split(np.zeros(N_ROWS)))
    cv = BootstrapTestSplit(3, n_resamples=5, random_state=0)
    splits = list(cv.split(np.zeros(N_ROWS)))
    assert len(splits) == cv.get_n_splits() == 15
    for index, (train, test) in enumerate(splits):
        inner_train, inner_test = inner[index // 5]
        assert_array_equal(train, inner_train)
        assert set(test) <= set(inner_test)
        assert len(test) == len(inner_test)


def test_test_sides_of_equal_size_are_resampled_independently():
    rows = np.arange(20)
    cv = BootstrapTestSplit([(rows, rows), (rows, rows)], n_resamples=5, random_state=0)
    tests = [test.tolist() for _, test in cv.split(np.zeros(20))]
    assert len({tuple(test) for test in tests}) == 10


def test_test_sides_given_as_masks_are_understood():
    mask = np.array([True, False, True, True])
    cv = BootstrapTestSplit([(~mask, mask)], n_resamples=20, random_state=0)
    for _, test in cv.split(np.zeros(4)):
        assert len(test) == 3
        assert set(test) <= {0, 2, 3}


def test_an_iterator_of_splits_serves_more_than_one_call():
    cv = BootstrapTestSplit(KFold(2).split(np.zeros(6)), n_resamples=2, random_state=0)
    assert cv.get_n_splits() == 4
    first = as_lists(cv.split(np.zeros(6)))
    assert as_lists(cv.split(np.zeros(6))) == first


def test_groups_reach_a_cv_that_needs_them():
    cv = BootstrapTestSplit(GroupKFold(2), n_resamples=10, random_state=0)
    assert cv.get_n_splits(np.zeros(N_ROWS), Y, GROUPS) == 20
    for train, test in cv.split(np.zeros(N_ROWS), Y, GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])


@pytest.mark.parametrize(
    ("inner", "groups", "message"),
    [
        (LeaveOneOut(), None, "two rows. Got one with 1"),
        (LeaveOneGroupOut(), GROUPS, "two groups. Got one with 1"),
        ([([0, 1], [])], None, "two rows. Got one with 0"),
    ],
)
def test_a_test_side_that_cannot_vary_is_refused(inner, groups, message):
    with pytest.raises(ValueError, match=message):
        BootstrapTestSplit(inner).split(np.zeros(N_ROWS), Y, groups)


# -- the seed splitter ----------------------------------------------------------------------------


def test_each_split_of_cv_comes_once_per_seed_seed_major():
    cv = SeedSplit(3, KFold(4))
    once = as_lists(KFold(4).split(np.zeros(N_ROWS)))
    assert as_lists(cv.split(np.zeros(N_ROWS))) == once * 3
    assert cv.get_n_splits(np.zeros(N_ROWS)) == 12


def test_a_random_cv_repeats_the_same_splits_for_every_seed():
    splits = as_lists(SeedSplit(3, ShuffleSplit(2)).split(np.zeros(50)))
    assert splits[:2] == splits[2:4] == splits[4:]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.repeat([0, 1], 10), StratifiedKFold(5)),
        (np.repeat(["b", "a"], 10), StratifiedKFold(5)),
        (np.repeat([0.0, 1.0], 10), StratifiedKFold(5)),
        (np.repeat([[0], [1]], 10, axis=0), StratifiedKFold(5)),
        (np.r_[np.arange(10.0), np.zeros(10)], KFold(5)),  # an integer-valued regression target
        (np.arange(20), KFold(5)),
        (np.linspace(0, 1, 20), KFold(5)),
        (np.tile([[0, 1], [1, 0]], (10, 1)), KFold(5)),
        (np.array([0, "a"] * 10, dtype=object), KFold(5)),
        (None, KFold(5)),
    ],
    ids=[
        "int",
        "str",
        "float",
        "column",
        "counts",
        "distinct",
        "real",
        "multilabel",
        "mixed",
        "none",
    ],
)
def test_default_folds_are_stratified_where_y_holds_class_labels(y, expected):
    once = as_lists(expected.split(np.zeros(20), y))
    assert as_lists(SeedSplit(2).split(np.zeros(20), y)) == once * 2
    assert as_lists(SeedSplit(1, 5).split(np.zeros(20), y)) == once


def test_integer_classes_with_a_rare_one_are_stratified_with_the_warning_of_scikit_learn():
    y = np.array([0] * 18 + [1] * 2)
    with pytest.warns(UserWarning, match="least populated class in y has only 2 members"):
        splits = as_lists(SeedSplit(1).split(np.zeros(20), y))
    assert sum(1 in y[test] for _, test in splits) == 2


# -- random_state ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, np.int64(3), 2**40, np.random.SeedSequence(5)])
def test_an_int_or_seed_sequence_gives_the_same_splits_at_every_call(seeded, seed):
    assert seeded(5, seed) == seeded(5, seed)


def test_one_object_with_an_int_gives_the_same_splits_at_every_call():
    cv = BootstrapSplit(5, random_state=0)
    assert as_lists(cv.split(np.zeros(9))) == as_lists(cv.split(np.zeros(9)))


def test_a_seed_sequence_is_never_spawned(seeded):
    seed = np.random.SeedSequence(5)
    seeded(5, seed)
    assert seed.n_children_spawned == 0


def test_a_spawned_seed_sequence_differs_from_its_parent_and_its_siblings(seeded):
    parent = np.random.SeedSequence(5)
    first, second = parent.spawn(2)
    assert seeded(5, parent) == seeded(5, np.random.SeedSequence(5))
    assert seeded(5, first) != seeded(5, second)
    assert seeded(5, first) != seeded(5, parent)


def test_an_int_is_the_seed_sequence_of_that_int(seeded):
    assert seeded(5, 7) == seeded(5, np.random.SeedSequence(7))


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_drawn_from(seeded, make):
    generator = make(0)
    first, second = seeded(5, generator), seeded(5, generator)
    assert first != second
    again = make(0)
    assert [seeded(5, again), seeded(5, again)] == [first, second]


def test_none_takes_fresh_entropy(seeded):
    assert seeded(20, None) != seeded(20, None)


def test_the_global_random_state_is_not_touched(seeded):
    before = np.random.get_state()[1:3]  # noqa: NPY002
    seeded(5, None)
    seeded(5, 0)
    after = np.random.get_state()[1:3]  # noqa: NPY002
    assert_array_equal(after[0], before[0])
    assert after[1] == before[1]


def test_different_seeds_give_different_splits(seeded):
    assert seeded(5, 0) != seeded(5, 1)


def test_the_first_splits_do_not_depend_on_how_many_follow(seeded):
    assert seeded(100, 0)[:100] == seeded(200, 0)[:100]


def test_the_first_resamples_of_every_test_side_do_not_depend_on_how_many_follow():
    few = as_lists(BootstrapTestSplit(3, n_resamples=5, random_state=0).split(np.zeros(N_ROWS)))
    many = as_lists(BootstrapTestSplit(3, n_resamples=8, random_state=0).split(np.zeros(N_ROWS)))
    assert few == many[:5] + many[8:13] + many[16:21]


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda cv: pickle.loads(pickle.dumps(cv))])
@pytest.mark.parametrize("name", SEEDED)
def test_copies_give_the_same_splits(name, copy_of):
    make, groups = SEEDED[name]
    cv = make(5, 0)
    data = np.zeros((N_ROWS, 1)), Y, groups
    assert as_lists(copy_of(cv).split(*data)) == as_lists(cv.split(*data))


@pytest.mark.parametrize("wrong", ["0", 1.5, -1, np.random])
def test_other_random_states_are_refused(seeded, wrong):
    with pytest.raises(
        ValueError, match=r"The 'random_state' parameter of .*Split must be None, an int"
    ):
        seeded(5, wrong)


# -- kinds of data --------------------------------------------------------------------------------


def pandas_data(X, y, groups):
    pd = pytest.importorskip("pandas")
    index = np.arange(100, 100 - len(X), -1)  # labels that are no positions
    groups = None if groups is None else pd.Series(groups, index, dtype="category")
    return pd.DataFrame(X, index), pd.Series(y, index), groups


def polars_data(X, y, groups):
    pl = pytest.importorskip("polars")
    return pl.DataFrame(X), pl.Series(y), None if groups is None else pl.Series(groups)


def lists(X, y, groups):
    return X.tolist(), y.tolist(), None if groups is None else groups.tolist()


CONTAINERS = {
    "pandas": pandas_data,
    "polars": polars_data,
    "lists": lists,
    "sparse matrix": lambda X, y, groups: (sparse.csr_matrix(X), y, groups),
    "sparse array": lambda X, y, groups: (sparse.csr_array(X), y, groups),
    "texts": lambda X, y, groups: (["text"] * len(X), y.astype(str).astype(object), groups),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", SEEDED)
def test_the_kind_of_container_does_not_matter(name, container):
    make, groups = SEEDED[name]
    X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2)
    expected = as_lists(make(5, 0).split(X, Y, groups))
    assert as_lists(make(5, 0).split(*CONTAINERS[container](X, Y, groups))) == expected


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "5", True, None])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (BootstrapSplit, "n_splits' parameter of BootstrapSplit"),
        (StratifiedBootstrapSplit, "n_splits' parameter of StratifiedBootstrapSplit"),
        (GroupBootstrapSplit, "n_splits' parameter of GroupBootstrapSplit"),
        (SeedSplit, "n_seeds' parameter of SeedSplit"),
        (lambda n: BootstrapTestSplit(2, n_resamples=n), "n_resamples' parameter of BootstrapTest"),
    ],
    ids=["bootstrap", "stratified", "group", "seed", "test"],
)
def test_numbers_of_splits_must_be_positive_ints(make, name, wrong):
    with pytest.raises(
        ValueError, match=f"The '{name}.* must be an integer of at least 1. Got {wrong!r}"
    ):
        make(wrong)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_one_row_is_refused(n_rows):
    with pytest.raises(ValueError, match=f"'X' .* at least two rows.* Got {n_rows}"):
        BootstrapSplit().split(np.zeros((n_rows, 1)))


def test_one_group_is_refused():
    with pytest.raises(ValueError, match=r"at least two groups.* Got one group"):
        GroupBootstrapSplit().split(np.zeros(3), groups=["a", "a", "a"])


def test_missing_groups_are_refused_with_the_way_to_pass_them():
    with pytest.raises(ValueError, match=r"'groups' parameter .* Got None\..*enable_metadata_rout"):
        GroupBootstrapSplit().split(np.zeros(3))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1.0, np.nan, 2.0], "NaN"),
        (["a", None, "b"], "None"),
        ([[1, 2], [1, 2], [3, 4]], r"shape \(n_samples,\)\. Got shape \(3, 2\)"),
        ([1, 2], "inconsistent numbers of samples"),
    ],
)
def test_unusable_groups_are_refused(groups, message):
    for cv in (GroupBootstrapSplit(), BootstrapTestSplit([([0], [1, 2])])):
        with pytest.raises(ValueError, match=message):
            cv.split(np.zeros(3), groups=groups)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r"'y' parameter of StratifiedBootstrapSplit\.split .* class labels. Got None"),
        (["a", "a", "b"], r"at least two rows of each class.* Got one row .* in \['b'\]"),
        (np.arange(3), r"Got one row of each class in \[0, 1, 2\]"),
        ([0.5, 0.5, 0.1], "continuous"),
        (["a", None, "a"], "None"),
        ([0.0, np.nan, 0.0], "NaN"),
        ([0, 1], "inconsistent numbers of samples"),
    ],
)
def test_a_target_that_cannot_be_stratified_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        StratifiedBootstrapSplit().split(np.zeros(3), y)


@pytest.mark.parametrize("cv", ["prefit", 1, 2.5])
def test_a_cv_that_scikit_learn_refuses_is_refused_at_once(cv):
    for make in (BootstrapTestSplit, lambda cv: SeedSplit(2, cv)):
        with pytest.raises(ValueError, match=r"cv|k-fold"):
            make(cv)


@pytest.mark.parametrize("cv", [BootstrapSplit(2), StratifiedBootstrapSplit(2)], ids=repr)
def test_groups_are_ignored_with_the_warning_of_scikit_learn(cv):
    message = f"The groups parameter is ignored by {type(cv).__name__}"
    with pytest.warns(UserWarning, match=message):
        cv.split(np.zeros(N_ROWS), Y, GROUPS)


def test_a_cv_that_ignores_groups_says_so_only_where_they_are_lost():
    with pytest.warns(UserWarning, match="The groups parameter is ignored by KFold"):
        list(SeedSplit(1, KFold(2)).split(np.zeros(N_ROWS), Y, GROUPS))
    list(BootstrapTestSplit(KFold(2)).split(np.zeros(N_ROWS), Y, GROUPS))  # drawn by group: silent


@pytest.mark.parametrize(
    ("cv", "text"),
    [
        (BootstrapSplit(), "BootstrapSplit(n_splits=200, random_state=None)"),
        (
            StratifiedBootstrapSplit(5, random_state=1),
            "StratifiedBootstrapSplit(n_splits=5, random_state=1)",
        ),
        (GroupBootstrapSplit(9), "GroupBootstrapSplit(n_splits=9, random_state=None)"),
        (BootstrapTestSplit(3), "BootstrapTestSplit(cv=3, n_resamples=200, random_state=None)"),
        (SeedSplit(4), "SeedSplit(cv=None, n_seeds=4)"),
    ],
)
def test_repr_is_that_of_a_scikit_learn_splitter(cv, text):
    assert repr(cv) == text


@pytest.mark.parametrize(
    "make", [partial(SeedSplit, 2), partial(BootstrapTestSplit, random_state=0)]
)
def test_folds_inside_tell_nullable_labels_apart_that_are_one_as_floats(make):
    # scikit-learn alone reads such a column as floats, and does not stratify by it.
    pandas = pytest.importorskip("pandas")
    labels = np.sort(Y) + 2**60
    given = pandas.Series(labels, dtype="Int64")
    found, expected = (
        [rows.tolist() for pair in make(cv=3).split(np.zeros((N_ROWS, 1)), y) for rows in pair]
        for y in (given, labels)
    )
    assert found == expected
