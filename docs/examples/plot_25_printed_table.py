"""
Check a printed table of accuracies without the predictions
===========================================================

A paper prints accuracies with their decimals, and the size of the test set. These alone bound the
p-value of McNemar's test for every two systems. Some pairs are significantly different whatever the
predictions were. Others cannot be, whether or not a number is printed in bold. Here the predictions
are known, so you see the true p-value between its bounds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from skboot import check_table
from skboot.inference import mcnemar_exact

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)
models = {
    "SVM": SVC(),
    "neighbours": KNeighborsClassifier(),
    "forest": RandomForestClassifier(random_state=0),
    "logistic": LogisticRegression(max_iter=1000),
    "naive Bayes": GaussianNB(var_smoothing=0.01),
}
answers = {name: model.fit(X_train, y_train).predict(X_test) for name, model in models.items()}
printed = {name: f"{100 * accuracy_score(y_test, own):.1f}" for name, own in answers.items()}

# %%
# This is what a paper prints. The check needs nothing else.

table = {"system": list(printed), "score": list(printed.values())}
check = check_table(table, n=len(y_test))
print(check.summary())

# %%
# On the right, each line is the range of p-values that the two scores allow.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1, 1.2)
)
check.plot(ax=left, show_values=False)
colours = {"always": "#0072b2", "depends": "#8c8c8c", "never": "#d55e00"}
for place, pair in enumerate(check.pairs):
    first, second = (answers[name] == y_test for name in (pair.first, pair.second))
    p = mcnemar_exact((first & ~second).sum(), (second & ~first).sum())
    assert pair.p_smallest <= p <= pair.p_largest
    ends = [max(pair.p_smallest, 1e-8), max(pair.p_largest, 1e-8)]
    right.plot(ends, [place, place], color=colours[pair.significant], linewidth=4)
    right.plot(max(p, 1e-8), place, "ko", markersize=5, label="" if place else "the true p-value")
for name, colour in colours.items():
    right.plot([], [], color=colour, linewidth=4, label=f"significant: {name}")
right.axvline(0.05, color="black", linestyle=":", linewidth=1)
right.set_xscale("log")
right.set_yticks(
    range(len(check.pairs)), [f"{pair.first} vs {pair.second}" for pair in check.pairs]
)
right.invert_yaxis()
right.set_xlabel("exact McNemar p-value (below 1e-8: at the edge)")
right.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=9)
plt.show()
