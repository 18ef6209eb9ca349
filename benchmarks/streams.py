"""Speed and memory of `BootstrapAccumulator`, and of the ways to make its weights.

    python -m benchmarks.streams weights                 ways to make weights, side by side
    python -m benchmarks.streams run --rows 100000000    accuracy and log loss, in eight shards
    python -m benchmarks.streams classes --classes 10 --metric roc_auc_ovo    an average of areas

Times are CPU times of this process, in nanoseconds per resample and row.
"""

import argparse
import resource
import sys
import time

import numpy as np

from skboot import BootstrapAccumulator
from skboot.resampling.streamed import _THRESHOLDS, PoissonWeights

SHARDS = 8
LABELS = [0, 1]


def nanoseconds(call, n, repeats=5):
    """Best CPU time of some calls, per weight."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) / n * 1e9


def compare_weights(n_rows=4096, n_resamples=1000):
    """Print what ways to make weights take, and what is done with them."""
    drawn = PoissonWeights(np.random.SeedSequence(0), n_resamples)
    units = drawn.units(np.arange(n_rows))
    n = n_rows * n_resamples
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**16, (64, n_resamples), dtype=np.uint16)
    table = np.searchsorted(_THRESHOLDS, np.arange(2**16), side="right").astype(np.uint8)
    terms = np.stack((np.ones(n_rows), rng.random(n_rows) < 0.9, rng.random(n_rows)))
    code = rng.integers(0, 2, n_rows)
    many = rng.integers(0, 200, n_rows)
    poisson = np.random.Generator(np.random.SFC64(0)).poisson
    ways = {
        "numpy's Poisson generator": (lambda: poisson(1.0, n // 16), n // 16),
        "look-up alone, of 16 bits that are there": (lambda: table.take(bits), bits.size),
        "weights, counter-based": (lambda: [None for _ in drawn._tiles(units)], n),
        "weights and 3 sums": (lambda: drawn.sums(units, terms), n),
        "weights and 2 cells": (lambda: drawn.sums(units, None, code, 2), n),
        "weights and 200 cells": (lambda: drawn.sums(units, None, many, 200), n),
        "weights, 3 sums and 200 cells": (lambda: drawn.sums(units, terms, many, 200), n),
    }
    for name, (call, size) in ways.items():
        print(f"{nanoseconds(call, size):6.2f} ns  {name}")


def batch(number, n_rows):
    """Truth and probabilities of both classes of the rows of a batch."""
    rng = np.random.default_rng((7, number))
    second = rng.random(n_rows)
    truth = (rng.random(n_rows) < second).astype(np.int8)
    return truth, np.column_stack((1 - second, second))


def run(n_rows, n_chunks, n_resamples):
    """Print time and memory of a stream in shards, and whether merging them gives the same bits."""
    size, spent = n_rows // n_chunks, 0.0
    before = peak()
    options = {"random_state": 0, "n_resamples": n_resamples, "labels": LABELS}
    shards = [BootstrapAccumulator(["accuracy", "log_loss"], **options) for _ in range(SHARDS)]
    for number in range(n_chunks):
        columns = batch(number, size)
        start = time.process_time()
        shards[number % SHARDS].update(*columns, start=number * size)
        spent += time.process_time() - start
    packed = [shard.to_bytes() for shard in shards]
    merged = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(SHARDS)
        whole = [BootstrapAccumulator.from_bytes(packed[k]) for k in order]
        while len(whole) > 1:
            first = np.random.default_rng(len(whole) + seed).integers(len(whole) - 1)
            whole[first].merge(whole.pop(first + 1))
        merged.add(whole[0].to_bytes())
    result = whole[0].result()
    print(f"{n_rows:,} rows in {n_chunks} chunks, {n_resamples} resamples: {spent:.0f} s CPU,")
    print(f"{spent / n_rows / n_resamples * 1e9:.2f} ns per resample and row;")
    print(f"peak memory {peak():.0f} MB, {before:.0f} MB of it before the first row;")
    print(f"{SHARDS} shards merged in 5 orders: {len(merged)} different result in bits.")
    for name, one in result.items():
        print(f"{name} {one}, standard error {one.standard_error:.3g}")


def average_classes(metric, n_classes, n_rows, n_resamples):
    """Print time and memory of an area averaged over classes, with a score for each row."""
    rng = np.random.default_rng(7)
    before, spent, size = peak(), 0.0, 1 << 16
    options = {"random_state": 0, "n_resamples": n_resamples, "labels": np.arange(n_classes)}
    found = BootstrapAccumulator(metric, **options)
    for first in range(0, n_rows, size):
        truth = rng.integers(0, n_classes, min(size, n_rows - first))
        columns = rng.random((len(truth), n_classes))
        columns[np.arange(len(truth)), truth] += 0.5
        columns /= columns.sum(axis=1, keepdims=True)
        start = time.process_time()
        found.update(truth, columns, start=first)
        spent += time.process_time() - start
    at_most, packed = peak(), len(found.to_bytes())
    start = time.process_time()
    result = found.result()
    to_result = time.process_time() - start
    print(f"{metric} of {n_classes} classes, {n_rows:,} rows, {n_resamples} resamples:")
    print(f"{spent / n_rows / n_resamples * 1e9:.2f} ns per resample and row;")
    print(f"{packed / 2**20:.0f} MB of sums, peak {at_most - before:.0f} MB, then {peak():.0f} MB")
    print(f"in all, with the result, which takes {to_result:.1f} s: {result}")
    print(result.notes[0])


def peak():
    """Peak memory of this process in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["weights", "run", "classes"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--metric", default="roc_auc_ovr")
    asked = parser.parse_args()
    if asked.what == "weights":
        compare_weights()
    elif asked.what == "classes":
        average_classes(asked.metric, asked.classes, asked.rows, asked.resamples)
    else:
        run(asked.rows, asked.chunks, asked.resamples)


if __name__ == "__main__":
    main()
