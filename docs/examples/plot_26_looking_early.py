"""
Look at results early: intervals that hold after every batch
============================================================

Labels of digits arrive in batches of 50. The interval for one look, repeated after each batch,
narrows fast, and may exclude the true difference at some look. With ``interval=Anytime(100)``
all intervals contain it at once with 95% confidence, so you may stop as soon as one excludes 0.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skboot import Anytime, compare_systems

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=400, random_state=0)
models = {"linear": LogisticRegression(), "bayes": GaussianNB(var_smoothing=0.02)}
predicted = {name: model.fit(X_train, y_train).predict(X_test) for name, model in models.items()}

looks = np.arange(100, len(y_test) + 1, 50)
limits = {"one look, repeated": [], "anytime: holds at every look": []}
for n_rows in looks:
    seen = {name: values[:n_rows] for name, values in predicted.items()}
    for of_kind, interval in zip(limits.values(), ("auto", Anytime(100)), strict=True):
        [pair] = compare_systems(y_test[:n_rows], seen, interval=interval, random_state=0).pairs
        of_kind.append(pair.confidence_interval)

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, of_kind), colour in zip(limits.items(), ("#d55e00", "#0072b2"), strict=True):
    low, high = np.transpose(of_kind)
    axes.plot(looks, low, color=colour, label=name)
    axes.plot(looks, high, color=colour)
axes.axhline(0, color="black", linewidth=1)
axes.set_xlabel("labelled rows so far")
axes.set_ylabel("accuracy, linear - bayes")
axes.legend(frameon=False)
plt.show()
