"""
Forecast errors in time: resample blocks
========================================

A forecast four quarters ahead is wrong for several quarters in a row. If you resample single
quarters, 196 errors count as independent, and the interval is too short. ``block_length="auto"``
resamples blocks of quarters, and estimates their length from the errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

from skboot import bootstrap_score
from skboot.plots import IntervalDisplay

rng = np.random.default_rng(3)
shocks = rng.normal(size=260)
rate = 6 + 0.4 * lfilter([1], [1, -0.9], shocks)[60:]  # an autoregression, without its start
forecast, y_true = rate[:-4], rate[4:]  # "as it is now", four quarters ahead

options = {"metric": "mean_absolute_error", "random_state": 0}
results = {
    "quarters resampled": bootstrap_score(y_true, forecast, block_length=1, **options),
    "blocks resampled": bootstrap_score(y_true, forecast, block_length="auto", **options),
}
blocks = results["blocks resampled"]
print(blocks.n_units, "blocks of", blocks.settings["block_length"], "quarters")

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 4.6), layout="constrained", height_ratios=[2, 1]
)
top.bar(np.arange(len(y_true)), forecast - y_true, color="#0072b2", width=1.0)
top.set_ylabel("error of the forecast")
top.set_xlabel("quarter")
IntervalDisplay.from_results(results, bottom, show_naive=False)
plt.show()
