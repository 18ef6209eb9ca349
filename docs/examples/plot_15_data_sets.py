"""
Compare classifiers over several data sets
==========================================

Four classifiers are compared on 14 data sets, three that scikit-learn ships and eleven that it
makes. Most papers ask for the difference to expect on a *new* data set: the upper picture. Below
are the mean ranks of Demšar (2006).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skboot import compare_across
from skboot.plots import ComparisonDisplay, CriticalDifferenceDisplay

methods = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0),
}
data = {load.__name__[5:]: load(return_X_y=True) for load in (load_iris, load_wine)}
data["breast cancer"] = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
for k in range(11):
    data[f"made {k}"] = make_classification(
        200, 10, n_informative=int(rng.integers(3, 9)), flip_y=0.1, class_sep=0.8, random_state=k
    )
scores = {
    name: {method: cross_val_score(learner, X, y).mean() for method, learner in methods.items()}
    for name, (X, y) in data.items()
}
result = compare_across(scores, greater_is_better=True, random_state=0)

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 5), layout="constrained", height_ratios=[1.6, 1]
)
ComparisonDisplay.from_result(result, top)
CriticalDifferenceDisplay.from_result(result, bottom)
plt.show()
