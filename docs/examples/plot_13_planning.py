"""
How many test rows are enough?
==============================

A pilot of ten runs on 500 rows tells which part of its error comes from runs and which from rows,
and how many rows an interval of the wanted half-width takes. With too few runs, no number of rows
will do.
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
