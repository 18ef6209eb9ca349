"""
Compare two estimators by cross-validation
==========================================

Naive Bayes and a tree are trained on the same folds and the same bootstrap samples of 178 wines.
The standard deviation over folds is no standard error of the difference. The paired interval below
is for the expected difference of the two.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import compare_methods
from skboot.plots import ComparisonDisplay, IntervalDisplay

X, y = load_wine(return_X_y=True)
methods = {"naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
result = compare_methods(methods, X, y, random_state=0)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 3.6), layout="constrained")
IntervalDisplay.from_results(result.systems, top, show_naive=False)
ComparisonDisplay.from_result(result, bottom)
plt.show()

# %%

print(result.claim())
