"""
Learning curves with confidence bands
=====================================

Would more training rows help, and which of two estimators gains more from them?
``sklearn.model_selection.learning_curve`` gives the scores of folds. These share most of their
rows, so their standard deviation is no standard error. `skboot.learning_curve` trains on nested
subsamples. It puts a band around the expected score at each size, and around the difference of two
estimators.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import learning_curve

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
methods = {
    "naive Bayes": GaussianNB(var_smoothing=0.01),
    "tree": DecisionTreeClassifier(random_state=0),
}
curves = learning_curve(methods, X, y, random_state=0)
print(curves["difference"].summary())

# %%
# The bands hold for all sizes at once. Scores at different sizes come from the same rows and vary
# together, so the rise of a curve is more certain than the width of its band suggests. To compare
# the two estimators, read the band of the difference on the right, not whether the two bands
# overlap.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
curves.plot(ax=left)
curves["difference"].plot(ax=right)
plt.show()

# %%
# Each point of a curve is a result with its own interval.

print(curves["tree"].at(540).claim())
