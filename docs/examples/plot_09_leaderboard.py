"""
Leaderboard of 60 systems: confidence intervals of ranks
========================================================

Sixty systems answer 1000 questions, and neighbours in the table differ by a fraction of a point.
The intervals of the ranks hold for all systems at once: eight systems may be the best, and most
intervals span a dozen places.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import compare_systems
from skboot.plots import RankDisplay

rng = np.random.default_rng(0)
question = rng.normal(size=1000)
truth = np.ones(1000, dtype=int)
systems = {}
for k in range(60):
    ability = 1.2 - 0.03 * k
    known = ability - question + 0.7 * rng.normal(size=1000) > 0
    systems[f"system {k + 1:02d}"] = known.astype(int)

result = compare_systems(truth, systems, random_state=0)
first = result.top(1)
widths = [row.high - row.low for row in result.ranks().rows]
print(f"{len(first)} of 60 cannot be excluded from the first place")
print(f"an interval of a rank spans {np.median(widths):.0f} places (median)")

figure, axes = plt.subplots(figsize=(7, 11), layout="constrained")
RankDisplay.from_result(result, axes, show_values=False)
plt.show()
