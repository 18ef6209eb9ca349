"""A trillion rows on a thousand workers: what they cost, and what slow and dying workers change.

    python -m benchmarks.many_workers cost        writes many_workers_cost.csv
    python -m benchmarks.many_workers simulate    writes many_workers.csv

Cost. Each constant is measured on one core: what a row takes to be read from Parquet and to be
drawn into 1000 resamples, how large a state is, and what adding two states takes, from bytes to
bytes. The rest is arithmetic: rows are shared equally, each worker adds its own states as it goes,
and those of all workers are added in pairs, round by round, over a network of 125 MB/s.

Simulation. Time is simulated, the numbers are not: every part is an accumulator that is updated and
sent as bytes, and every merge merges them. A coordinator hands out the work; a worker that asks for
some adds two finished states, or takes a part, or, if none is left, does a part again that another
one still works on. What a dying worker had begun is done again by another; what was finished has
been stored. Of a part that is done twice the later answer is dropped by its number: added, its rows
would count twice.

Rule, written before the run: no row may be lost or counted twice. So all resamples have the bits of
one process for accuracy and F1, and log loss agrees within 1e-10, in every cell.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from skboot import BootstrapAccumulator, scan_dataset

HERE = Path(__file__).parent
COSTS, RUNS = HERE / "many_workers_cost.csv", HERE / "many_workers.csv"

# ---------------------------------------------------------------------- cost

RESAMPLES = 1000
BYTES_PER_SECOND = 125e6
KINDS = {
    "accuracy and log loss": (["accuracy", "log_loss"], 1),
    "ROC AUC": ("roc_auc", 1),
    "accuracy, groups of 1000 rows": ("accuracy", 1000),
}
# Rows, workers and resamples of the jobs on the page.
JOBS = (
    (10**9, 1, 1000),
    (10**9, 100, 1000),
    (10**12, 1000, 1000),
    (10**12, 1000, 100),
)


def columns(n_rows, seed):
    """Truth and probability of the second class."""
    rng = np.random.default_rng((11, seed))
    second = rng.random(n_rows, dtype=np.float32)
    return (rng.random(n_rows) < second).astype(np.int8), second


def predictions(metric, second):
    """Probabilities of both classes, what is decided by them, or those of the second."""
    if metric == "accuracy":
        return (second > 0.5).astype(np.int8)
    return second if metric == "roc_auc" else np.column_stack((1 - second, second))


def accumulator(metric):
    """An accumulator of whatever part of the rows."""
    labels = [0, 1] if metric != "accuracy" else None
    return BootstrapAccumulator(metric, random_state=0, n_resamples=RESAMPLES, labels=labels)


def seconds_of(call, repeats=3):
    """Least CPU time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def read_nanoseconds(n_rows=2_000_000):
    """What a row of two columns takes to be read from Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    truth, second = columns(n_rows, 0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.parquet"
        parquet.write_table(pa.table({"truth": truth, "second": second}), file)
        data = scan_dataset(file)
        return seconds_of(lambda: [data[name].collect() for name in data.columns]) / n_rows * 1e9


def constants(kind, n_rows=200_000):
    """Nanoseconds per resample and row, bytes of a state, and seconds of adding two of them."""
    metric, size = KINDS[kind]
    states = []

    def update(seed=0):
        truth, second = columns(n_rows, seed)
        units = {"groups": np.arange(n_rows) // size} if size > 1 else {"start": n_rows * seed}
        found = accumulator(metric).update(truth, predictions(metric, second), **units)
        states.append(found.to_bytes())

    drawn = seconds_of(update) / n_rows / RESAMPLES * 1e9
    update(1)

    def merge():
        one, other = map(BootstrapAccumulator.from_bytes, states[-2:])
        one.merge(other).to_bytes()

    return drawn, len(states[-1]), seconds_of(merge, 10)


def plain(value):
    """Two digits, without a power of ten."""
    return np.format_float_positional(value, 2, fractional=False, trim="-") if value else "0"


def cost_rows():
    """Yield a row for each kind of metric and job."""
    read = read_nanoseconds()
    for kind in KINDS:
        drawn, size, merge = constants(kind)
        for n_rows, n_workers, n_resamples in JOBS:
            share, part = n_rows / n_workers, n_resamples / RESAMPLES
            rounds = int(np.ceil(np.log2(n_workers)))
            added = rounds * part * (merge + size / BYTES_PER_SECOND)
            yield {
                "metrics": kind,
                "rows": n_rows,
                "workers": n_workers,
                "resamples": n_resamples,
                "read_ns": plain(read),
                "drawn_ns": plain(drawn),
                "state_megabytes": plain(size * part / 1e6),
                "merge_milliseconds": plain(merge * part * 1e3),
                "reading_seconds": plain(share * read / 1e9),
                "drawing_seconds": plain(share * n_resamples * drawn / 1e9),
                "merging_seconds": plain(added),
            }


# ---------------------------------------------------------------------- simulation

ROWS_OF_PART, SIMULATED_RESAMPLES = 40, 99
METRICS = ["accuracy", "f1", "log_loss"]
# Spread of the logarithm of a part's time; share of slow workers, and how slow they are.
SPREAD, SLOW_SHARE, SLOW = 0.2, 0.05, 5.0
# Merging two states, and starting a worker again, in units of the time of a run without trouble.
MERGE, RESTART = 0.001, 0.05
SEEDS = 3


@dataclass(frozen=True)
class Trouble:
    """How often workers die in the time of a run without trouble, and what is done about it."""

    name: str
    deaths: float = 0.0
    slow: bool = False
    again: bool = False


TROUBLES = (
    Trouble("none"),
    Trouble("slow workers", slow=True),
    Trouble("slow workers, parts done again", slow=True, again=True),
    Trouble("deaths", deaths=0.5),
    Trouble("slow workers and deaths, parts done again", deaths=0.5, slow=True, again=True),
)
SIZES = ((10, 16), (100, 16), (1000, 1), (1000, 4), (1000, 16))


def of_rows(numbers):
    """The rows of some parts in one batch, from the first row of the first of them on."""
    parts = [columns(ROWS_OF_PART, number) for number in numbers]
    truth, second = (np.concatenate(each) for each in zip(*parts, strict=True))
    found = BootstrapAccumulator(
        METRICS, random_state=0, n_resamples=SIMULATED_RESAMPLES, labels=[0, 1]
    )
    return found.update(
        truth, np.column_stack((1 - second, second)), start=numbers[0] * ROWS_OF_PART
    )


def merged_bytes(one, other):
    """The state of two."""
    first, second = map(BootstrapAccumulator.from_bytes, (one, other))
    return first.merge(second).to_bytes()


@dataclass
class Coordinator:
    """Hands out parts and merges, and keeps what is finished."""

    n_parts: int
    again: bool
    counts: dict = field(default_factory=lambda: {"merged": 0, "dropped": 0, "redone": 0})

    def __post_init__(self):
        self.waiting = list(range(self.n_parts))[::-1]
        self.running: dict[int, int] = {}
        self.done: set[int] = set()
        self.states: list = []
        self.adding = 0

    @property
    def finished(self):
        """Whether one state of all parts is left."""
        return len(self.done) == self.n_parts and len(self.states) == 1 and not self.adding

    def task(self):
        """What a worker is to do: add two states, do a part, or nothing."""
        if len(self.states) > 1:
            self.adding += 1
            return "merge", (self.states.pop(0), self.states.pop(0))
        if self.waiting:
            number = self.waiting.pop()
        else:
            number = next(iter(self._alone()), None) if self.again else None
        if number is None:
            return None
        self.running[number] = self.running.get(number, 0) + 1
        return "part", number

    def _alone(self):
        """Parts that one worker works on, in the order in which they were begun."""
        return (k for k, n in self.running.items() if n == 1 and k not in self.done)

    def _left(self, number):
        self.running[number] -= 1
        if not self.running[number]:
            del self.running[number]

    def end(self, kind, what):
        """Keep what a worker has finished."""
        if kind == "merge":
            self.adding -= 1
            self.counts["merged"] += 1
            self.states.append(merged_bytes(*what))
            return
        self._left(what)
        state = of_rows([what]).to_bytes()
        if what in self.done:
            self.counts["dropped"] += 1
            return
        self.done.add(what)
        self.states.append(state)

    def lose(self, kind, what):
        """Put back what a dead worker had begun."""
        self.counts["redone"] += 1
        if kind == "merge":
            self.adding -= 1
            self.states.extend(what)
            return
        self._left(what)
        if what not in self.done and what not in self.running:
            self.waiting.append(what)


def simulated(n_workers, parts_each, trouble, seed):
    """Return the coordinator at the end, the time that it took, and how many workers died."""
    rng = np.random.default_rng((13, n_workers, parts_each, seed))
    found = Coordinator(n_workers * parts_each, trouble.again)
    slow = trouble.slow * (rng.random(n_workers) < SLOW_SHARE)
    idle, events, n_deaths, now = list(range(n_workers)), [], 0, 0.0
    serial = 0
    while not found.finished:
        still = []
        for worker in idle:
            task = found.task()
            if task is None:
                still.append(worker)
                continue
            lasts = MERGE if task[0] == "merge" else rng.lognormal(0, SPREAD) / parts_each
            lasts *= SLOW if slow[worker] else 1.0
            dies = rng.exponential(1 / trouble.deaths) if trouble.deaths else np.inf
            serial += 1
            heapq.heappush(events, (now + min(lasts, dies), serial, worker, dies < lasts, task))
        idle = still
        now, _, worker, died, task = heapq.heappop(events)
        if task == "start":
            idle.append(worker)
        elif died:
            n_deaths += 1
            found.lose(*task)
            serial += 1
            heapq.heappush(events, (now + RESTART, serial, worker, False, "start"))
        else:
            found.end(*task)
            idle.append(worker)
    return found, now, n_deaths


def simulation_rows():
    """Yield a row for each number of workers and trouble."""
    whole = {}
    for n_workers, parts_each in SIZES:
        n_parts = n_workers * parts_each
        if n_parts not in whole:
            whole[n_parts] = of_rows(range(n_parts)).result()
        for trouble in TROUBLES:
            yield simulation_row(n_workers, parts_each, trouble, whole[n_parts])


def simulation_row(n_workers, parts_each, trouble, whole):
    """What some runs of one kind took, and whether their numbers are right."""
    times, deaths, counts, same, apart = [], 0, [], True, 0.0
    for seed in range(SEEDS):
        found, took, died = simulated(n_workers, parts_each, trouble, seed)
        times.append(took)
        deaths += died
        counts.append(found.counts)
        for name, one in BootstrapAccumulator.from_bytes(found.states[0]).result().items():
            its, ours = one.bootstrap_distribution, whole[name].bootstrap_distribution
            if name != "log_loss":
                same &= its.tobytes() == ours.tobytes()
            apart = max(apart, float(np.abs(its / ours - 1).max()))
    sums = {name: sum(one[name] for one in counts) for name in counts[0]}
    return {
        "workers": n_workers,
        "parts": n_workers * parts_each,
        "trouble": trouble.name,
        "runs": SEEDS,
        "time": f"{np.mean(times):.2f}",
        "longest": f"{max(times):.2f}",
        "deaths": deaths,
        "begun_again": sums["redone"],
        "merges": sums["merged"],
        "second_answers_dropped": sums["dropped"],
        "same_bits": same,
        "largest_difference": f"{apart:.1g}",
    }


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["cost", "simulate"])
    asked = parser.parse_args()
    rows = []
    for row in cost_rows() if asked.what == "cost" else simulation_rows():
        rows.append(row)
        print(*row.values(), sep=", ", flush=True)
    with (COSTS if asked.what == "cost" else RUNS).open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
