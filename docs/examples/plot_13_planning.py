"""
Sample size: how many test rows and training runs are enough?
=============================================================

A pilot of ten training runs on 500 rows tells how much of the error comes from runs and how much
from rows. From it follows the number of rows for the half-width that you want. With too few runs,
no number of rows suffices.
"""

import numpy as np

from skboot import bootstrap_runs, plan_evaluation

rng = np.random.default_rng(0)
losses = 1 + rng.normal(size=500) + 0.05 * rng.normal(size=(10, 1))
losses = losses + 0.7 * rng.normal(size=(10, 500))
pilot = bootstrap_runs(None, losses, metric="mean", random_state=0)
plan = plan_evaluation(pilot, half_width=0.06)
print(plan.to_markdown())
picture = plan.plot()
