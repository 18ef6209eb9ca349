"""Random streams below a seed, and the seed in the form that results show and save."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def child_seed(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child that `SeedSequence.spawn` would give, without changing the seed itself.

    Without a key it is a copy, which has spawned nothing yet.
    """
    return np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size
    )


def child_words(seed: np.random.SeedSequence, keys: Iterable[Sequence[int]]) -> list[NDArray[Any]]:
    """Return four words of each of many children, which seed generators as these would."""
    key, options = seed.spawn_key, {"pool_size": seed.pool_size}
    return [
        np.random.SeedSequence(seed.entropy, spawn_key=(*key, *of_child), **options).generate_state(
            4
        )
        for of_child in keys
    ]


def stored_seed(seed: np.random.SeedSequence) -> Any:
    """Return the entropy of a seed, for a spawned one in a dict with its spawn key."""
    if seed.spawn_key:
        return {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
    return seed.entropy
