"""Measure a workload beside its peer: CPU time, peak memory, and whether the answers agree."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# Seconds after which a slow peer is not repeated.
PATIENCE = 10.0
# Seconds that a measurement takes at least: the clock and the caches are cold for a short call.
LONG_ENOUGH = 0.02
# Standard errors between two spreads that are taken as a contradiction.
CONTRADICTION = 5.0


def cpu(call: Callable[[], object]) -> float:
    """Seconds of CPU time of a call in this process; the mean of several where it is short."""
    n_calls = 0
    start = now = time.process_time()
    while not n_calls or (now - start < LONG_ENOUGH and n_calls < 20):
        call()
        n_calls += 1
        now = time.process_time()
    return (now - start) / n_calls


def clock(call: Callable[[], object]) -> float:
    """Seconds on the clock that a call takes, with all processes that it starts."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@dataclass(frozen=True)
class Peer:
    """What a workload is compared with.

    The call does ``share`` of the resamples, and its time is divided by that. `agrees` takes both
    answers and says how well they agree, or raises.
    """

    name: str
    call: Callable[[], object]
    share: float = 1.0
    agrees: Callable[[object, object], str] | None = None


@dataclass(frozen=True)
class Goal:
    """What a row must hold; ratios are the peer's time by ours."""

    text: str
    at_least: float | None = None  # times faster than the peer
    at_most: float | None = None  # times the peer's time
    over: float | None = None  # seconds more than the peer
    seconds: float | None = None  # without a peer


@dataclass(frozen=True)
class Row:
    """One workload of skboot, its peer if any, and the goal."""

    workload: str
    call: Callable[[], object]
    goal: Goal
    peer: Peer | None = None
    megabytes: float | None = 64.0  # peak memory over the inputs; None: not measured
    timer: Callable[[Callable[[], object]], float] = cpu


@dataclass
class Timing:
    """Median seconds of both sides, and what else was found."""

    row: Row
    ours: float
    theirs: float | None
    agreement: str
    peak: float | None
    notes: list[str] = field(default_factory=list)

    @property
    def fast_enough(self) -> bool:
        """Whether the goal of time is held."""
        goal = self.row.goal
        if goal.seconds is not None:
            return self.ours <= goal.seconds
        if self.theirs is None:
            return True  # The peer is not installed, which the line says.
        if goal.over is not None:
            return self.ours - self.theirs <= goal.over
        if goal.at_most is not None:
            return self.ours <= goal.at_most * self.theirs
        return self.theirs >= (goal.at_least or 0.0) * self.ours

    @property
    def small_enough(self) -> bool:
        """Whether the goal of memory is held."""
        limit = self.row.megabytes
        return limit is None or self.peak is None or self.peak <= limit


def measure(row: Row, repeats: int) -> Timing:
    """Take turns, ours then the peer's, and compare medians of CPU time."""
    answer = row.call()
    peer = row.peer
    ours: list[float] = []
    theirs: list[float] = []
    agreement = ""
    if peer is not None:
        other: list[object] = []
        try:
            theirs.append(cpu(lambda: other.append(peer.call())))
        except ModuleNotFoundError as error:
            peer, agreement = None, f"**not run: {error}**"
    if peer is not None:
        if peer.agrees is not None:
            agreement = peer.agrees(answer, other[0])
        if theirs[0] < PATIENCE:
            # The first call of a package also fills its caches.
            theirs.clear()
    for _ in range(repeats):
        ours.append(row.timer(row.call))
        if peer is not None and sum(theirs) < PATIENCE:
            theirs.append(row.timer(peer.call))
    seconds = None if peer is None else float(np.median(theirs)) / peer.share
    return Timing(row, float(np.median(ours)), seconds, agreement, peak_of(row))


def peak_of(row: Row) -> float | None:
    """Peak memory of a call over what was there before, in megabytes."""
    if row.megabytes is None:
        return None
    tracemalloc.start()
    try:
        row.call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def same_spread(
    ours: Callable, theirs: Callable, n_ours: int, n_theirs: int
) -> Callable[[object, object], str]:
    """Judge the ratio of two bootstrap standard errors by its Monte Carlo error."""

    def agrees(mine: object, other: object) -> str:
        ratio = ours(mine) / theirs(other)
        z = np.log(ratio) / np.sqrt(0.5 / n_ours + 0.5 / n_theirs)
        if abs(z) > CONTRADICTION:
            raise AssertionError(f"standard errors differ: ratio {ratio:.3f}, {z:+.1f} s.e.")
        return f"SE ratio {ratio:.2f} ({z:+.1f} s.e.)"

    return agrees


def same_estimate(theirs: Callable) -> Callable[[object, object], str]:
    """Check that both give the same value on the data."""

    def agrees(mine: object, other: object) -> str:
        a, b = mine.estimate, theirs(other)  # type: ignore[attr-defined]
        if not np.isclose(a, b, rtol=1e-6):
            raise AssertionError(f"estimates differ: {a} and {b}")
        return "same estimate"

    return agrees
