"""
Release gate: a non-inferiority test with three answers
=======================================================

A candidate may be worse than the released model by at most one point. With 300 rows the gate
answers "inconclusive"; with 5000 the same candidate passes. A gate that compares two scores without
an interval has only two answers, and on few rows chance decides between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import compare_systems

rng = np.random.default_rng(1)
margin = 0.01
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
colours = {"pass": "#0072b2", "inconclusive": "#8c8c8c", "fail": "#d55e00"}
for k, n_rows in enumerate((300, 1000, 5000)):
    y_true = rng.integers(0, 2, size=n_rows)
    hard = rng.random(n_rows) < 0.15
    systems = {
        name: y_true ^ (hard & (rng.random(n_rows) < rate))
        for name, rate in (("candidate", 0.29), ("released", 0.3))
    }
    pair = compare_systems(y_true, systems, random_state=0).pair("candidate", "released")
    verdict = pair.verdict(margin=margin)
    low, high = verdict.interval
    colour = colours[verdict.outcome]
    axes.plot([low, high], [k, k], color=colour, linewidth=5, solid_capstyle="butt")
    axes.text(high + 0.002, k, f"{n_rows} rows: {verdict.outcome}", color=colour, va="center")
axes.axvline(-margin, color="black", linestyle="--", linewidth=1)
axes.set_yticks([])
axes.set_ylim(2.6, -0.6)
axes.set_xlim(right=0.075)
axes.set_xlabel("accuracy, candidate - released; dashed: the margin")
plt.show()

# %%

print(verdict.statement)
