"""
Language-model benchmark: these subjects, or subjects like these?
=================================================================

A benchmark has twelve subjects with 50 to 200 questions each. The average over subjects has two
intervals: a short one for other questions of these subjects, and a long one for other subjects.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import bootstrap_score
from skboot.plots import IntervalDisplay

rng = np.random.default_rng(0)
sizes = [100, 150, 60, 200, 80, 120, 90, 110, 70, 140, 50, 130]
subject = np.repeat([f"subject {k:02d}" for k in range(1, 13)], sizes)
answers = rng.integers(0, 4, len(subject))
knows = rng.random(len(subject)) < np.repeat(rng.uniform(0.5, 0.9, 12), sizes)
said = np.where(knows, answers, (answers + 1) % 4)

each = bootstrap_score(answers, said, by=subject, random_state=0)
average = {"average_over": subject, "random_state": 0}
results = {name: each[name] for name in np.unique(subject)}
results["average, these subjects"] = bootstrap_score(answers, said, **average)
results["average, subjects like these"] = bootstrap_score(answers, said, groups=subject, **average)
figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
IntervalDisplay.from_results(results, axes, show_naive=False)
plt.show()
