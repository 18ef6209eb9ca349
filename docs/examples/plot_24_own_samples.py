"""
Bootstrap training samples of your own: ``train_samples=``
==========================================================

Many scripts draw bootstrap samples in a loop, fit on each, score the rows left out, and print the
mean with 1.96 standard deviations. ``train_samples=`` takes these samples and gives the same scores
and the same interval. That interval says how far single training runs scatter. Beside it is the
interval for the expected score of the learning algorithm.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from skboot import BootstrapScorer

X, y = load_breast_cancer(return_X_y=True)
rows = np.arange(len(y))
model = make_pipeline(StandardScaler(), LogisticRegression())
drawn = [resample(rows, random_state=k) for k in range(200)]
samples = [(train, np.setdiff1d(rows, train)) for train in drawn]
by_hand = [model.fit(X[train], y[train]).score(X[test], y[test]) for train, test in samples]

# %%
# ``strategy=".632+"`` gives another estimate from the same fits.

scorer = BootstrapScorer(model, strategy="oob", train_samples=samples, random_state=0).fit(X, y)
found = scorer.runs_["score"][scorer.runs_["sample"] == "bootstrap"]
print("largest difference from the loop:", np.abs(found - by_hand).max())

figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
axes.hist(by_hand, bins=20, color="#c0c0c0")
for height, name, label in (
    (33, "normal", "single training runs"),
    (36, "adjusted", "learning algorithm"),
):
    low, high = scorer.result_.interval(name)
    axes.plot([low, high], [height, height], linewidth=4, label=f'"{name}": {label}')
axes.plot(scorer.score_, 36, "ko")
axes.set_ylim(0, 48)
axes.set_xlabel("accuracy on the rows left out")
axes.set_ylabel("samples")
axes.legend(frameon=False, loc="upper left")
plt.show()
