"""
Fairness: the largest disparity between equal subgroups is not zero
===================================================================

A model is equally good in all of six regions. In each of 200 simulated data sets some two regions
differ, by six points on average. The interval of the largest disparity (the "gap") allows for its
having been chosen as the largest: it contains 0 in all but a few data sets.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import bootstrap_score

rng = np.random.default_rng(0)
region = np.repeat([f"region {k}" for k in range(6)], 250)
gaps, found = [], 0
for _ in range(200):
    right = (rng.random(1500) < 0.85).astype(int)
    gap = bootstrap_score(np.ones(1500, int), right, by=region, n_resamples=199, random_state=0)[
        "gap"
    ]
    low, high = gap.confidence_interval
    gaps.append((gap.estimate, low))
    found += low > 0
gaps = np.array(sorted(gaps))
print(f"largest disparity: {gaps[:, 0].mean():.3f} on average")
print(f"the interval excludes 0 in {found} of 200 data sets")

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.vlines(np.arange(200), gaps[:, 1], gaps[:, 0], color="#9dc3e0", linewidth=2)
axes.plot(gaps[:, 0], ".", color="#0072b2", label="largest disparity")
axes.axhline(0, color="black", linewidth=1)
axes.set_xlabel("simulated data sets, sorted; lines reach down to the lower limit")
axes.set_ylabel("difference of accuracy")
axes.legend()
plt.show()
