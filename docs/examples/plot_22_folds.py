"""
Cross-validation: do folds differ, or are they small?
=====================================================

Ten folds of 57 rows have scores from .88 to .98. How much of this comes from having few test rows?
``interval_scorer`` puts limits beside the score of each fold, inside ``cross_validate``.
``corrected_t`` reads the dict that ``cross_validate`` returns, and gives the interval of the mean
for new training rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from skboot.metrics import interval_scorer
from skboot.model_selection import corrected_t

X, y = load_breast_cancer(return_X_y=True)
folds = KFold(10, shuffle=True, random_state=1)
found = cross_validate(
    GaussianNB(),
    X,
    y,
    cv=folds,
    scoring=interval_scorer("accuracy", random_state=0),
    return_indices=True,
)
mean = corrected_t(found)["accuracy"]

# %%
# The intervals of nine folds contain the mean, and that of the tenth ends at it: the folds differ
# mostly because they have few test rows. The interval of the mean allows for the training rows that
# the folds share.

score, low, high = (found[f"test_accuracy{end}"] for end in ("", "_low", "_high"))
order = np.argsort(score)
place = np.arange(len(score))

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.axvspan(*mean.confidence_interval, color="#d55e00", alpha=0.2, linewidth=0)
axes.axvline(mean.estimate, color="#d55e00", linewidth=1)
axes.hlines(place, low[order], high[order], color="#0072b2", linewidth=3)
axes.plot(score[order], place, "o", color="#0072b2")
axes.set_yticks(place, [f"fold {k + 1}" for k in order])
axes.set_xlabel("accuracy; band: mean of the folds, corrected for shared training rows")
plt.show()
