"""Where a result comes from: seed, arguments, versions, and what it is conditioned on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .._streams import stored_seed
from .._versions import versions_used


class Provenance(NamedTuple):
    """What every result keeps of the call that made it.

    Attributes
    ----------
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    held_fixed : tuple of str
        What the interval does not vary.
    versions : dict
        Versions of skboot, Python and the packages that matter.
    """

    seed: Any
    settings: dict[str, Any]
    held_fixed: tuple[str, ...]
    versions: dict[str, str]

    @classmethod
    def of(
        cls,
        seed: np.random.SeedSequence,
        settings: dict[str, Any],
        held_fixed: Iterable[str] = (),
    ) -> Provenance:
        """Return that of a call that is made now."""
        return cls(stored_seed(seed), settings, tuple(held_fixed), versions_used())
