"""
A hundred human labels correct the labels of a judge
====================================================

A system reads 1200 digits. Humans label 100 of them, drawn at random. A judge, here a model trained
on few digits, labels all. The interval from the judge's labels is short and excludes the true
accuracy. That from human labels alone is right and long. The judge's labels, corrected by the human
ones, give a shorter one that is right as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from skboot import Judge, bootstrap_score

X, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(X))
few, more, rows = order[:250], order[250:597], order[597:]
judge = RandomForestClassifier(random_state=0).fit(X[few], digit[few]).predict(X[rows])
system = GaussianNB().fit(X[more], digit[more]).predict(X[rows])

labels = np.full(len(rows), np.nan)
by_humans = rng.permutation(len(rows))[:100]
labels[by_humans] = digit[rows][by_humans]

results = {
    "judge alone": bootstrap_score(judge, system, random_state=0),
    "human labels alone": bootstrap_score(
        labels, system, proxy=Judge(judge, weight=0), random_state=0
    ),
    "corrected": bootstrap_score(labels, system, proxy=judge, random_state=0),
}
for name, result in results.items():
    print(f"{name}: {result}")
print(results["corrected"].claim())

figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
for k, result in enumerate(results.values()):
    low, high = result.confidence_interval
    axes.plot([low, high], [-k, -k], color="#0072b2", linewidth=3)
    axes.plot(result.estimate, -k, "o", color="#0072b2")
axes.axvline(np.mean(system == digit[rows]), color="black", linestyle="--", linewidth=1)
axes.set_yticks([0, -1, -2], list(results))
axes.set_ylim(-2.6, 0.6)
axes.set_xlabel("accuracy of the system; dashed: by the true digits of all rows")
plt.show()
