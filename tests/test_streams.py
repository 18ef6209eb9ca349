"""Children of a seed, and the form in which results hold it."""

import numpy as np
import pytest

from skboot._streams import child_seed, stored_seed


@pytest.mark.parametrize(
    "root", [np.random.SeedSequence(3), np.random.SeedSequence(3, pool_size=8)]
)
def test_a_child_is_the_one_that_numpy_would_spawn_and_the_seed_spawns_none(root):
    grandchild = np.random.SeedSequence(3, pool_size=root.pool_size).spawn(3)[2].spawn(2)[1]
    ours = child_seed(child_seed(root, 2), 1)
    assert ours.generate_state(4).tolist() == grandchild.generate_state(4).tolist()
    assert child_seed(root, 2, 1).generate_state(4).tolist() == ours.generate_state(4).tolist()
    assert root.n_children_spawned == 0


def test_a_stored_seed_holds_what_the_same_streams_are_made_of():
    seed = np.random.SeedSequence(3)
    assert stored_seed(seed) == 3
    child = child_seed(seed, 2, 1)
    again = np.random.SeedSequence(**stored_seed(child))
    assert again.generate_state(4).tolist() == child.generate_state(4).tolist()
