"""`BootstrapAccumulator` beside `BootStrapper` of torchmetrics, on the same batches.

    python -m benchmarks.streamed_peer [PART ...]      writes streamed_peer.csv

Needs torch and torchmetrics, which no extra installs. Both get the rows of each batch, and never
see them again. Parts: `time` of 1000 resamples of 100,000 rows (CPU time of one thread, the best of
some runs), `pairs` of two systems, `batches` of other sizes, and `coverage` of 95% intervals,
where the limits of torchmetrics are its quantiles.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from skboot import BootstrapAccumulator

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("part", "case", "tool", "measure", "value")
N_ROWS, BATCH, N_RESAMPLES, N_RUNS = 100_000, 1000, 1000, 2
# Of the simulations: repetitions in one call of torchmetrics, calls, rows, batches, resamples.
N_AT_ONCE, N_CALLS, N_SMALL, SMALL_BATCH, N_SMALL_RESAMPLES = 200, 10, 200, 50, 400
LEVEL = 0.95


def stepped(n, size):
    """Start and end of each batch."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def data(rng, n=N_ROWS):
    """Labels, and the answers of two systems that often err on the same rows."""
    truth = rng.integers(0, 2, n)
    is_hard = rng.random(n) < 0.15
    one, two = (truth ^ (is_hard & (rng.random(n) < 0.7)) for _ in range(2))
    return truth, one, two


# ------------------------------------------------------------------ the two tools


def of_torchmetrics(truth, answers, *, size=BATCH, n_resamples=N_RESAMPLES, strategy="poisson"):
    """Accuracy of each system on each resample, (n_resamples,) by name, in the order given."""
    import torch
    from torchmetrics.classification import BinaryAccuracy
    from torchmetrics.wrappers import BootStrapper

    torch.manual_seed(0)
    made = {
        name: BootStrapper(
            BinaryAccuracy(),
            num_bootstraps=n_resamples,
            raw=True,
            sampling_strategy=strategy,
        )
        for name in answers
    }
    for start, end in stepped(len(truth), size):
        for name, own in answers.items():
            rows = torch.from_numpy(own[start:end]), torch.from_numpy(truth[start:end])
            made[name].update(*rows)
    return {name: own.compute()["raw"].numpy().astype(float) for name, own in made.items()}


def of_skboot(truth, answers, *, size=BATCH, n_resamples=N_RESAMPLES, **options):
    """The same of `BootstrapAccumulator`, and its result."""
    names = list(answers)
    systems = {} if len(names) == 1 else {"systems": names}
    stream = BootstrapAccumulator(
        "accuracy", random_state=0, n_resamples=n_resamples, **systems, **options
    )
    for start, end in stepped(len(truth), size):
        batch = {name: own[start:end] for name, own in answers.items()}
        stream.update(truth[start:end], batch if systems else batch[names[0]], start=start)
    result = stream.result()
    if not systems:
        return {names[0]: result.bootstrap_distribution}, result
    return {name: result.systems[name].bootstrap_distribution for name in names}, result


# ------------------------------------------------------------------ parts


def of_time():
    """CPU seconds of one system, and the standard errors that both find."""
    truth, one, _ = data(np.random.default_rng(0))
    right = np.mean(truth == one)
    known = np.sqrt(right * (1 - right) / N_ROWS)
    yield "accuracy", "formula", "standard error", f"{known:.6f}"
    for tool, runs, call in (
        ("skboot", N_RUNS, lambda: of_skboot(truth, {"one": one})[0]["one"]),
        ("torchmetrics", 1, lambda: of_torchmetrics(truth, {"one": one})["one"]),
    ):
        seconds = []
        for _ in range(runs):
            start = time.process_time()
            found = call()
            seconds.append(time.process_time() - start)
        yield "accuracy", tool, "seconds", f"{min(seconds):.2f}"
        yield "accuracy", tool, "standard error", f"{found.std(ddof=1):.6f}"


def of_pairs():
    """How the resamples of two systems go together, and the standard error of their difference."""
    truth, one, two = data(np.random.default_rng(1), N_ROWS // 10)
    answers = {"one": one, "two": two}
    gap = (truth == one).astype(float) - (truth == two)
    yield "two systems", "formula", "standard error", f"{gap.std() / np.sqrt(len(gap)):.5f}"
    both = np.corrcoef(truth == one, truth == two)[0, 1]
    yield "two systems", "formula", "correlation", f"{both:.2f}"
    for tool, found in (
        ("skboot", of_skboot(truth, answers)[0]),
        ("torchmetrics", of_torchmetrics(truth, answers, n_resamples=N_RESAMPLES // 2)),
    ):
        difference = found["one"] - found["two"]
        together = np.corrcoef(found["one"], found["two"])[0, 1]
        yield "two systems", tool, "standard error", f"{difference.std(ddof=1):.5f}"
        yield "two systems", tool, "correlation", f"{together:.2f}"


def of_batches():
    """Whether the replicates are the same bits in batches of other sizes, from the same seed."""
    truth, one, _ = data(np.random.default_rng(2), 5000)
    for tool, call in (
        ("skboot", lambda size: of_skboot(truth, {"one": one}, size=size)[0]["one"]),
        (
            "torchmetrics",
            lambda size: of_torchmetrics(truth, {"one": one}, size=size, n_resamples=100)["one"],
        ),
    ):
        first, again, other = call(1000), call(1000), call(250)
        yield "the same batches", tool, "equal replicates", f"{np.mean(first == again):.2f}"
        yield "other batches", tool, "equal replicates", f"{np.mean(first == other):.2f}"
    for strategy in ("poisson", "multinomial"):
        found = of_torchmetrics(
            truth[:500], {"one": one[:500]}, size=1, n_resamples=100, strategy=strategy
        )
        tool = f"torchmetrics, {strategy}"
        yield "batches of one row", tool, "standard error", f"{found['one'].std(ddof=1):.5f}"
    right = np.mean(truth[:500] == one[:500])
    known = np.sqrt(right * (1 - right) / 500)
    yield "batches of one row", "formula", "standard error", f"{known:.5f}"


# Share of right answers of each kind of row, and of these kinds.
KINDS = np.array([0.98, 0.55])


def shuffled(rng):
    """Rows that are right or wrong, of two kinds, in any order: (n_rows, N_AT_ONCE)."""
    kind = rng.integers(0, 2, size=(N_SMALL, N_AT_ONCE))
    return (rng.random(kind.shape) < KINDS[kind]).astype(float), None


def by_kind(rng):
    """The same, the rows of one kind (a class, a corpus) before those of the other."""
    kind = np.sort(rng.integers(0, 2, size=(N_SMALL, N_AT_ONCE)), axis=0)
    return (rng.random(kind.shape) < KINDS[kind]).astype(float), None


def by_speaker(rng):
    """Rows in groups of five, of one kind each."""
    kind = rng.integers(0, 2, size=(N_SMALL // 5, N_AT_ONCE)).repeat(5, axis=0)
    return (rng.random(kind.shape) < KINDS[kind]).astype(float), np.arange(N_SMALL) // 5


CASES = {"shuffled": shuffled, "sorted by kind": by_kind, "groups of five": by_speaker}


def limits_of_torchmetrics(right, strategy, seed):
    """Quantiles for each column of rows, all of which are resampled together."""
    import torch
    from torchmetrics import MeanSquaredError
    from torchmetrics.wrappers import BootStrapper

    torch.manual_seed(seed)
    # The squared error of a 1 is the share of wrong rows.
    metric = MeanSquaredError(num_outputs=right.shape[1])
    made = BootStrapper(
        metric, num_bootstraps=N_SMALL_RESAMPLES, raw=True, sampling_strategy=strategy
    )
    for start, end in stepped(len(right), SMALL_BATCH):
        rows = torch.from_numpy(right[start:end])
        made.update(rows, torch.ones_like(rows))
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return np.quantile(1 - made.compute()["raw"].numpy(), ends, axis=0)


def limits_of_skboot(right, groups, seed):
    """The default interval of each column."""
    found = []
    for k, own in enumerate(right.T):
        stream = BootstrapAccumulator(
            "accuracy", random_state=seed * N_AT_ONCE + k, n_resamples=N_SMALL_RESAMPLES
        )
        for start, end in stepped(len(own), SMALL_BATCH):
            who = {"start": start} if groups is None else {"groups": groups[start:end]}
            stream.update(np.ones(end - start), own[start:end], **who)
        with warnings.catch_warnings():
            # Of few groups.
            warnings.simplefilter("ignore")
            found.append(stream.result().confidence_interval[:2])
    return np.transpose(found)


def of_coverage():
    """How often 95% intervals hold the share of right answers of all rows there could be."""
    truth = KINDS.mean()
    for case, draw in CASES.items():
        held = {}
        for seed in range(N_CALLS):
            right, groups = draw(np.random.default_rng([3, seed]))
            limits = {
                f"torchmetrics, {strategy}": limits_of_torchmetrics(right, strategy, seed)
                for strategy in ("poisson", "multinomial")
            }
            limits["skboot"] = limits_of_skboot(right, groups, seed)
            for tool, (low, high) in limits.items():
                held.setdefault(tool, []).append((low <= truth) & (truth <= high))
        for tool, own in held.items():
            yield case, tool, "coverage", f"{100 * np.mean(own):.1f}"


PARTS = {"time": of_time, "pairs": of_pairs, "batches": of_batches, "coverage": of_coverage}


def versions():
    """What was compared."""
    import torch
    import torchmetrics

    yield "all", "torchmetrics", "version", torchmetrics.__version__
    yield "all", "torch", "version", torch.__version__.partition("+")[0]


def main():
    """Run the parts that are named, or all, and put them in the place of the older ones."""
    import torch

    torch.set_num_threads(1)
    asked = {name: PARTS[name] for name in sys.argv[1:] or PARTS} | {"versions": versions}
    rows = []
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["part"] not in asked]
    for part, measured in asked.items():
        for line in measured():
            rows.append(dict(zip(COLUMNS, (part, *line), strict=True)))
            print(*rows[-1].values(), sep=", ", flush=True)
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(rows, key=lambda row: [*PARTS, "versions"].index(row["part"])))


if __name__ == "__main__":
    main()
