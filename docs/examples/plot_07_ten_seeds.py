"""
Ten random seeds: seed variance and test-set variance
=====================================================

A small network is trained with ten seeds on one training set. Here the seed moves the score of a
run more than the choice of 899 test rows does. The interval from the first run alone, the last line
on the right, leaves the seed variance out: it is about one trained network, not about the learning
algorithm.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skboot import bootstrap_runs
from skboot.plots import VarianceComponentsDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)


def answers(seed):
    network = MLPClassifier((32,), early_stopping=True, random_state=seed)
    return make_pipeline(MinMaxScaler(), network).fit(X_train, y_train).predict(X_test)


runs = [answers(seed) for seed in range(10)]
result = bootstrap_runs(y_test, runs, metric="accuracy", random_state=0)
print(result.claim())

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
VarianceComponentsDisplay.from_result(result, left)
left.locator_params(axis="x", nbins=5)
for k, estimand in enumerate(("method", "next_run", "pooled", "system")):
    low, high = result.interval(estimand=estimand)
    right.plot([low, high], [k, k], color="#0072b2", linewidth=5, solid_capstyle="butt")
right.set_yticks(range(4), ["learning algorithm", "next run", "spread of runs", "first run"])
right.invert_yaxis()
right.set_xlabel("accuracy")
plt.show()
