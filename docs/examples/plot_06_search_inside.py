"""
Hyper-parameter search: the best score is too good
==================================================

The labels are pure noise, so the true accuracy of every classifier is one half. The best of 10
configurations seems better, because it is the largest of 10 noisy scores. ``search_score`` repeats
the choice on resamples of the rows. ``BootstrapScorer`` repeats the whole search on each training
sample, and never puts copies of a row on both sides of an inner fold.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from skboot import BootstrapScorer, search_score
from skboot.model_selection import out_of_fold

rng = np.random.default_rng(0)
X, y = rng.normal(size=(120, 5)), rng.integers(0, 2, size=120)
grid = {"n_neighbors": range(1, 20, 2)}
search = GridSearchCV(KNeighborsClassifier(), grid, cv=3).fit(X, y)
corrected = search_score(y, out_of_fold(search, X, y), random_state=0)

# %%
# This costs one search for each training sample. To be quick, the example uses fewer samples than
# the default.

scorer = BootstrapScorer(search, n_train_resamples=50, n_cv_repeats=1, random_state=0).fit(X, y)

figure, axes = plt.subplots(figsize=(7, 2.2), layout="constrained")
axes.axvline(0.5, color="#8c8c8c", linestyle="--", linewidth=1)
for k, result in enumerate((corrected, scorer.result_), start=1):
    low, high = result.confidence_interval
    axes.plot([low, high], [k, k], color="#0072b2", linewidth=4, solid_capstyle="butt")
    axes.plot(result.estimate, k, "o", color="#0072b2", markersize=9)
axes.plot(search.best_score_, 0, "D", color="#d55e00", markersize=9)
axes.set_yticks(
    range(3), ["best_score_ of the search", "search_score", "search in BootstrapScorer"]
)
axes.set_ylim(2.5, -0.5)
axes.set_xlabel("accuracy; dashed: the true accuracy")
plt.show()
