"""Cells of nearly equal rows in place of rows: what they change of limits, and what calls take.

    python -m benchmarks.row_cells              both tables, at 20,000 to 1,000,000 rows
    python -m benchmarks.row_cells --seeds 20   and limits of calls by rows beside those by cells
    python -m benchmarks.row_cells --coverage 500   how many of so many intervals hold the truth
    python -m benchmarks.row_cells --precision 1000   average precision of so many resamples

The first table is closed: standard deviations and skewness of sums are those of cells and of rows.
By the expansion of Cornish and Fisher a limit moves by (1.96**2 - 1) / 6 of what skewness lacks.
The third has the mean difference of limits over seeds, with 9999 resamples, and its error. The last
evaluates average precision on the same resamples of rows, by the rows and by cells.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.stats import norm, skew
from sklearn import metrics

import skboot
from skboot.metrics.ranking import AveragePrecision
from skboot.resampling.row_cells import row_cells
from skboot.streams.sums import WeightsBlock
from skboot.study import study

ROWS = (20_000, 100_000, 1_000_000)


def columns_of(n):
    """Columns of rows, and the sum of them that is looked at."""
    rng = np.random.default_rng(1)
    z, other, third = rng.normal(size=(3, n))
    weights, rare = rng.exponential(size=n), rng.random(n) < 1e-3
    near, far = (z + 0.1 * other) ** 2, other**2
    return {
        "normal": ([z], [1]),
        "log-normal": ([np.exp(z)], [1]),
        "log-normal, sigma 2": ([np.exp(2 * z)], [1]),
        "squares": ([z**2], [1]),
        "0 or 1 and rare large values": ([np.where(rare, 1000 * rng.random(n), far > 1)], [1]),
        "log loss with rare huge losses": ([np.where(rare, 27.0, rng.gamma(1, 0.2, n))], [1]),
        "difference of close systems": ([z**2, near], [-1, 1]),
        "difference of unlike systems": ([z**2, far], [-1, 1]),
        "weighted squares": ([weights, weights * z**2], [-1, 1]),
        "one of three systems": ([z**2, (z + other) ** 2, (z + third) ** 2], [0, 0, 1]),
        "R2": ([other, other**2, z, z**2], [0, -0.2, 0, 1]),
    }


def moments(values, multiplicity):
    """Standard deviation and skewness of the sum over a resample."""
    away = values - np.average(values, weights=multiplicity)
    variance, third = multiplicity @ away**2, multiplicity @ away**3
    return np.sqrt(variance), third / variance**1.5


def print_law(n):
    """Print what cells change of each column, or of a sum of several."""
    for name, (columns, loading) in columns_of(n).items():
        columns = [np.asarray(column, dtype=np.float64) for column in columns]
        cells = row_cells(columns, None)
        if cells is None:
            print(f"{name}, {n} rows: by rows")
            continue
        spread, skewness = moments(np.dot(loading, columns), np.ones(n))
        own, own_skewness = moments(np.dot(loading, cells.columns), cells.multiplicity)
        moved = abs(own_skewness - skewness) * (1.96**2 - 1) / 6
        print(
            f"{name}, {n} rows: {len(cells.multiplicity)} cells, standard deviations "
            f"{own / spread:.6f}, limits moved by {moved:.5f} standard errors"
        )


def calls(n):
    """Functions of scikit-learn and calls of the same metric."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=n)
    predicted = truth + rng.normal(size=n)
    label = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + 1.5 * label
    probability = 1 / (1 + np.exp(1 - score))
    return {
        "mean_squared_error": (metrics.mean_squared_error, truth, predicted),
        "mean_absolute_error": (metrics.mean_absolute_error, truth, predicted),
        "r2": (metrics.r2_score, truth, predicted),
        "log_loss": (metrics.log_loss, label, probability),
        "brier_score": (metrics.brier_score_loss, label, probability),
        "roc_auc": (metrics.roc_auc_score, label, score),
        "average_precision": (metrics.average_precision_score, label, score),
    }


def seconds(function, runs):
    """Median CPU time of some runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return float(np.median(found))


def print_times(n):
    """Print how many single scores a call with 1999 resamples takes."""
    for name, (function, *rows) in calls(n).items():
        single = seconds(lambda function=function, rows=rows: function(*rows), 7)
        whole = seconds(
            lambda name=name, rows=rows: skboot.bootstrap_score(*rows, metric=name, random_state=0),
            5,
        )
        print(f"{name}, {n} rows: {whole * 1e3:.1f} ms, {whole / single:.1f} single scores")


def print_limits(n, seeds):
    """Print how limits by cells differ from those by rows, in standard errors."""
    for name, (columns, _) in columns_of(n).items():
        if len(columns) > 1:
            continue
        values = np.asarray(columns[0], dtype=np.float64)
        print_limits_of(f"mean, {name}", (None, values), "mean", n, seeds)
    for name, rows in ranked(n).items():
        print_limits_of(f"average precision, {name}", rows, "average_precision", n, seeds)


def print_limits_of(name, rows, metric, n, seeds):
    """Print how percentiles, and limits of BCa, by cells differ from those by rows."""
    limits, spread = np.empty((2, seeds, 4)), 0.0
    for k, least in enumerate((n, n + 1)):
        study._ROWS_FOR_CELLS = least
        for seed in range(seeds):
            result = skboot.bootstrap_score(
                *rows, metric=metric, interval="bca", n_resamples=9999, random_state=seed
            )
            limits[k, seed, :2] = result.interval("percentile")[:2]
            limits[k, seed, 2:] = result.confidence_interval[:2]
            spread += result.bootstrap_distribution.std() / (2 * seeds)
    difference = (limits[0].mean(axis=0) - limits[1].mean(axis=0)) / spread
    error = np.sqrt(limits.var(axis=1, ddof=1).sum(axis=0) / seeds) / spread
    print(
        f"{name}, {n} rows: percentiles, BCa differ by {difference.round(4)}, "
        f"error {error.round(4)}",
        flush=True,
    )


def draws_of_truth(n):
    """What a call is given, its metric and true value, by kind of data."""

    def values(law, truth):
        return lambda rng: ((None, law(rng)), "mean", truth)

    def scores(rng):
        label = (rng.random(n) < 0.3).astype(int)
        return (label, rng.normal(size=n) + label), "roc_auc", norm.cdf(1 / np.sqrt(2))

    return {
        "mean of normal values": values(lambda rng: rng.normal(size=n), 0.0),
        "mean of squares": values(lambda rng: rng.normal(size=n) ** 2, 1.0),
        "mean of log-normal values": values(lambda rng: rng.lognormal(size=n), np.exp(0.5)),
        "mean, log-normal of sigma 2": values(lambda rng: rng.lognormal(0, 2, n), np.exp(2)),
        "area under the ROC curve": scores,
    }


def print_coverage(n, data_sets):
    """Print how many intervals hold the truth by cells and by rows, on the same data."""
    for name, draw in draws_of_truth(n).items():
        held = np.zeros((data_sets, 2), dtype=bool)
        for seed in range(data_sets):
            rows, metric, truth = draw(np.random.default_rng([7, seed]))
            for k, least in enumerate((n, n + 1)):
                study._ROWS_FOR_CELLS = least
                found = skboot.bootstrap_score(
                    *rows, metric=metric, n_resamples=999, random_state=seed
                )
                low, high = found.confidence_interval
                held[seed, k] = low <= truth <= high
        cells, by_rows = 100 * held.mean(axis=0)
        differ = int((held[:, 0] != held[:, 1]).sum())
        print(
            f"{name}, {n} rows: {cells:.1f}% by cells, {by_rows:.1f}% by rows of {data_sets} "
            f"intervals; {differ} differ",
            flush=True,
        )


def ranked(n):
    """Truth and scores by kind of data."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=n)

    def labels(share, separation):
        positive = rng.random(n) < share
        return positive.astype(int), z + separation * positive

    probability = rng.beta(0.5, 2, size=n)
    found = {
        "normal, 30% positives": labels(0.3, 1.5),
        "normal, 3% positives": labels(0.03, 1.5),
        "normal, 97% positives": labels(0.97, 1.0),
        "20 negatives, far below": labels(1 - 20 / n, 4.0),
        "weak scores, 50% positives": labels(0.5, 0.2),
        "strong scores, 10% positives": labels(0.1, 4.0),
        "below chance, 10% positives": labels(0.1, -1.0),
        "calibrated probabilities": ((rng.random(n) < probability).astype(int), probability),
    }
    truth, score = labels(0.3, 1.5)
    found["half in ties, at tenths"] = truth, np.where(rng.random(n) < 0.5, score.round(1), score)
    truth, score = labels(0.1, 1.5)
    found["four fifths at the lowest score"] = truth, np.maximum(score, 0.8)
    return found


def print_precision(n, n_resamples):
    """Print how average precision by cells differs from that by rows, on the same resamples."""
    for name, (truth, score) in ranked(n).items():
        rng = np.random.default_rng(4)
        statistic = AveragePrecision()
        by_rows = statistic.reduce(truth, score, None)
        cells = statistic.in_cells(by_rows)
        values = np.empty((2, 1 + n_resamples))
        for k in range(1 + n_resamples):
            counts = np.bincount(rng.integers(0, n, n), minlength=n) if k else np.ones(n)
            for reduced, found in zip((by_rows, cells), values, strict=True):
                weights = np.bincount(reduced.code, counts, reduced.n_codes)
                block = WeightsBlock(weights[None], "running")
                found[k] = statistic.evaluate(block, reduced)[0]
        print_difference(f"{name}, {n} rows: {cells.n_codes} counts", values)


def print_difference(name, values):
    """Print the laws of the second values and of the first, (2, 1 + n_resamples), data first."""
    (estimate, own), (by_rows, by_cells) = values[:, 0], values[:, 1:]
    spread, apart = by_rows.std(), by_cells - by_rows
    error = apart.std() / spread / np.sqrt(len(apart))
    (low, low_of_cells), (high, high_of_cells) = np.quantile(values[:, 1:], (0.025, 0.975), axis=1)
    below = norm.ppf(np.mean([by_rows < estimate, by_cells < estimate], axis=1))
    print(
        f"{name}, estimate off by {own - estimate:.1e}, "
        f"standard deviation {by_cells.std() / spread:.5f}, "
        f"bias {(by_rows.mean() - estimate) / spread:.4f} off by {apart.mean() / spread:.5f} "
        f"(errors {error:.5f}), "
        f"skewness {skew(by_rows):.3f} off by {skew(by_cells) - skew(by_rows):.4f}, percentiles "
        f"by {(low_of_cells - low) / spread:.4f} and {(high_of_cells - high) / spread:.4f}, "
        f"normal quantile of the share below the estimate by {below[1] - below[0]:.4f}",
        flush=True,
    )


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--coverage", type=int, default=0, metavar="DATA_SETS")
    parser.add_argument("--precision", type=int, default=0, metavar="RESAMPLES")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.precision:
        for n in asked.rows:
            print_precision(n, asked.precision)
        return
    if asked.coverage:
        print_coverage(50_000, asked.coverage)
        return
    for n in asked.rows:
        print_law(n)
        print_times(n)
    if asked.seeds:
        print_limits(min(asked.rows), asked.seeds)


if __name__ == "__main__":
    main()
