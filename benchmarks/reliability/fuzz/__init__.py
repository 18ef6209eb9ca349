"""Random calls of all public functions, each of which can be made again by its number."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import frozen, numbers, options, parameters, results, training
from .case import REFUSAL, SOUND, Case, Fault, judged

__all__ = ["REFUSAL", "SERIES", "SOUND", "Case", "Fault", "case_of", "judged", "outcome_of"]


class Series(NamedTuple):
    """Cases that are numbered together: their seed, how many are run, and what makes them."""

    seed: int
    n_cases: int
    # Functions that make a case, and how often each is taken beside the others.
    makers: dict[Callable[..., Case], int]


SERIES = {
    "fuzz": Series(
        17,
        20_000,
        {
            **frozen.MAKERS,
            **numbers.MAKERS,
            **options.MAKERS,
            **results.MAKERS,
            **training.MAKERS,
        },
    ),
    "parameters": Series(75, 10_000, parameters.MAKERS),
}


class Outcome(NamedTuple):
    """What came of a case: "answered", "refused" or "fault"."""

    number: int
    function: str
    text: str
    outcome: str
    said: str


def case_of(number: int, folder: Path, series: str = "fuzz") -> tuple[str, Case]:
    """The case of a number, the same at every call, and the name of what made it."""
    seed, _, makers = SERIES[series]
    rng = np.random.default_rng([seed, number])
    shares = np.array(list(makers.values()), dtype=float)
    make = list(makers)[rng.choice(len(shares), p=shares / shares.sum())]
    return make.__name__, make(rng, folder)


def outcome_of(number: int, folder: Path, series: str = "fuzz") -> Outcome:
    """Run the case of a number."""
    name, case = case_of(number, folder, series)
    try:
        return Outcome(number, name, case.text, judged(case), "")
    except Fault as fault:
        return Outcome(number, name, case.text, "fault", str(fault))
