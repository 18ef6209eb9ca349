"""
Confidence intervals for a file that is larger than memory
==========================================================

A million predictions lie in a file. You read them a hundred thousand at a time and add them to an
accumulator, which keeps sums for every resample and no rows. After each batch there is an interval
for the rows read so far. The last one is that of all rows, whatever the batches were.
"""

import csv
import tempfile
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import skboot

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "predictions.csv"
rng = np.random.default_rng(0)
with path.open("w", newline="") as file:
    writer = csv.writer(file)
    for _ in range(20):
        score = rng.normal(size=50_000)
        truth = (rng.normal(size=50_000) < score - 1).astype(int)
        writer.writerows(zip(truth.tolist(), score.round(4).tolist(), strict=True))

# %%
# ``start`` is the number of the first row of a batch in the whole file. It gives each row the same
# weights in every resample, wherever the row is read. You merge accumulators of several machines
# with ``merge``.


def batches(path, n_rows):
    with path.open() as file:
        while lines := list(islice(file, n_rows)):
            rows = np.loadtxt(lines, delimiter=",", ndmin=2)
            yield rows[:, 0].astype(int), rows[:, 1]


metrics = ["roc_auc", "average_precision"]
accumulator = skboot.BootstrapAccumulator(metrics, random_state=0, n_resamples=199)
start, read, found = 0, [], []
for truth, score in batches(path, 100_000):
    accumulator.update(truth, score, start=start)
    start += len(truth)
    read.append(start / 1e6)
    found.append(accumulator.result())
for result in found[-1].values():
    print(f"{result.metric}: {result:.4f}")

# %%
# The intervals get shorter as more of the file is read.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for metric, ax in zip(metrics, axes, strict=True):
    low, high = np.transpose([result[metric].confidence_interval for result in found])
    estimate = [result[metric].estimate for result in found]
    ax.fill_between(read, low, high, alpha=0.3, label="95% interval")
    ax.plot(read, estimate, marker="o", label="estimate")
    ax.set(title=metric.replace("_", " "), xlabel="million rows read")
axes[0].legend()
plt.show()

# %%
# The same sums give the ROC curve with its band, and its value at a false positive rate of 0.1.

curve = accumulator.curve("roc")
print(f"{curve}; at 0.1: {curve.at(0.1)}")
curve.plot()
plt.show()
folder.cleanup()
