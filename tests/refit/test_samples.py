"""The rows, folds and seeds of all runs, drawn before any of them."""

import numpy as np
import pytest
from training_jobs import drawn

from skboot import BootstrapSplit


def test_no_stream_of_a_splitter_with_the_same_seed_is_used():
    ours = drawn().counts
    theirs = [
        np.bincount(train, minlength=60)
        for train, _ in BootstrapSplit(20, random_state=0).split(np.empty((60, 0)))
    ]
    assert not (ours[:, None] == np.array(theirs)).all(axis=-1).any()


def test_groups_are_whole_in_folds_and_samples():
    unit = np.repeat(np.arange(12), 5)
    samples = drawn(unit=unit)
    assert samples.counts.shape == (20, 12)
    for fold_of in samples.folds:
        assert all(len(set(fold_of[unit == g])) == 1 for g in range(12))


def test_folds_hold_the_classes_evenly_and_rows_once():
    codes = np.repeat([0, 1, 2], [40, 14, 6])
    samples = drawn(codes=codes)
    assert samples.n_folds == 6
    for fold_of in samples.folds:
        for k in range(3):
            per_fold = np.bincount(fold_of[codes == k], minlength=6)
            assert per_fold.max() - per_fold.min() <= 1


@pytest.mark.parametrize(("n_rows", "expected"), [(4, 4), (9, 9), (200, 10)])
def test_there_are_fewer_folds_where_rows_are_few(n_rows, expected):
    assert drawn(n_rows).n_folds == expected


def test_stratified_samples_keep_the_size_of_each_class():
    codes = np.repeat([0, 1], [50, 10])
    counts = drawn(codes=codes, stratify=True).counts
    assert set(counts[:, codes == 1].sum(axis=1)) == {10}
