"""Children of a seed, and the form in which results hold it."""

import numpy as np
import pytest

from skboot._streams import child_seed, child_words, stored_seed


@pytest.mark.parametrize(
    "root", [np.random.SeedSequence(3), np.random.SeedSequence(3, pool_size=8)]
)
def test_a_child_is_the_one_that_numpy_would_spawn_and_the_seed_spawns_none(root):
    grandchild = np.random.SeedSequence(3, pool_size=root.pool_size).spawn(3)[2].spawn(2)[1]
    ours = child_seed(child_seed(root, 2), 1)
    assert ours.generate_state(4).tolist() == grandchild.generate_state(4).tolist()
    assert child_seed(root, 2, 1).generate_state(4).tolist() == ours.generate_state(4).tolist()
    assert root.n_children_spawned == 0


def test_words_of_many_children_are_those_that_each_child_would_generate():
    seed = np.random.SeedSequence(3, spawn_key=(4,), pool_size=8)
    keys = [(1, 2), (0,), (1, 2, 3)]
    expected = [child_seed(seed, *key).generate_state(4).tolist() for key in keys]
    assert [words.tolist() for words in child_words(seed, iter(keys))] == expected


def test_a_child_without_a_key_is_a_copy_that_has_spawned_nothing():
    seed = np.random.SeedSequence(3, spawn_key=(4,), pool_size=8)
    seed.spawn(5)
    first, second = child_seed(seed).spawn(2)
    assert first.generate_state(4).tolist() == child_seed(seed, 0).generate_state(4).tolist()
    assert second.generate_state(4).tolist() == child_seed(seed, 1).generate_state(4).tolist()
    assert seed.n_children_spawned == 5


def test_a_stored_seed_holds_what_the_same_streams_are_made_of():
    seed = np.random.SeedSequence(3)
    assert stored_seed(seed) == 3
    child = child_seed(seed, 2, 1)
    again = np.random.SeedSequence(**stored_seed(child))
    assert again.generate_state(4).tolist() == child.generate_state(4).tolist()
