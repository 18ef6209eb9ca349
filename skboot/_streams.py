"""Random streams below a seed, and the seed in the form that results show and save."""

from __future__ import annotations

from typing import Any

import numpy as np


def child_seed(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child that `SeedSequence.spawn` would give, without changing the seed itself."""
    return np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size
    )


def stored_seed(seed: np.random.SeedSequence) -> Any:
    """Return the entropy of a seed, for a spawned one in a dict with its spawn key."""
    if seed.spawn_key:
        return {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
    return seed.entropy
