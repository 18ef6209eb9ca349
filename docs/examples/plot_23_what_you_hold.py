"""
Three confidence intervals from one ``cross_validate``
======================================================

You have run a cross-validation and kept its dict. There are three intervals for three questions.
``corrected_t`` takes the scores of the folds, and is for new training and test rows.
``out_of_fold`` with ``bootstrap_score`` is for new test rows of the ten models that were fitted.
``BootstrapScorer`` fits again, and is the one to rely on for the learning algorithm.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from skboot import BootstrapScorer, bootstrap_score
from skboot.model_selection import corrected_t, out_of_fold

X, y = load_breast_cancer(return_X_y=True)
folds = KFold(10, shuffle=True, random_state=1)
found = cross_validate(GaussianNB(), X, y, cv=folds, return_indices=True, return_estimator=True)
of_folds = corrected_t(found)["score"]
of_models = bootstrap_score(y, out_of_fold(found, X), random_state=0)
of_method = BootstrapScorer(GaussianNB(), n_train_resamples=192, random_state=0).fit(X, y).result_

# %%
# The first interval is the widest, although it covers least often: ten scores are few. To compare
# two estimators on the same folds, give ``corrected_t`` their two dicts.

shown = {
    "scores of the folds: corrected_t": of_folds,
    "ten fitted models: bootstrap_score": of_models,
    "learning algorithm: BootstrapScorer": of_method,
}
figure, axes = plt.subplots(figsize=(7, 2.2), layout="constrained")
for k, one in enumerate(shown.values()):
    low, high = one.confidence_interval
    axes.plot([low, high], [k, k], color="#0072b2", linewidth=4, solid_capstyle="butt")
    axes.plot(one.estimate, k, "o", color="#0072b2", markersize=9)
axes.set_yticks(range(3), list(shown))
axes.set_ylim(2.5, -0.5)
axes.set_xlabel("accuracy")
plt.show()
