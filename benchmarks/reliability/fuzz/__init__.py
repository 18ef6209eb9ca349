"""Random calls of all public functions, each of which can be made again by its number."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import frozen, numbers, options, results, training
from .case import REFUSAL, SOUND, Case, Fault, judged

__all__ = ["MAKERS", "REFUSAL", "SOUND", "Case", "Fault", "case_of", "judged", "outcome_of"]

SEED = 17
# Functions that make a case, and how often each is taken beside the others.
MAKERS = {
    **frozen.MAKERS,
    **numbers.MAKERS,
    **options.MAKERS,
    **results.MAKERS,
    **training.MAKERS,
}


class Outcome(NamedTuple):
    """What came of a case: "answered", "refused" or "fault"."""

    number: int
    function: str
    text: str
    outcome: str
    said: str


def case_of(number: int, folder: Path) -> tuple[str, Case]:
    """The case of a number, the same at every call, and the name of what made it."""
    rng = np.random.default_rng([SEED, number])
    shares = np.array(list(MAKERS.values()), dtype=float)
    make = list(MAKERS)[rng.choice(len(shares), p=shares / shares.sum())]
    return make.__name__, make(rng, folder)


def outcome_of(number: int, folder: Path) -> Outcome:
    """Run the case of a number."""
    name, case = case_of(number, folder)
    try:
        return Outcome(number, name, case.text, judged(case), "")
    except Fault as fault:
        return Outcome(number, name, case.text, "fault", str(fault))
