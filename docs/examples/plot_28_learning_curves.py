"""
Learning curves with bands
==========================

Would more training rows help, and which of two estimators gains more from them?
``sklearn.model_selection.learning_curve`` gives the scores of folds, which share most of their
rows: their scatter is no standard error. `skboot.learning_curve` trains on nested subsamples and
puts a band around the expected score at each size, and around the difference of two methods.
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
# The bands hold for all sizes at once. Scores at different sizes come from the same rows and move
# together, so the rise of a curve is surer than the width of its band suggests. For the methods the
# difference on the right answers what two overlapping bands cannot.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
curves.plot(ax=left)
curves["difference"].plot(ax=right)
plt.show()

# %%
# A point of a curve is a result like any other.

print(curves["tree"].at(540).claim())
