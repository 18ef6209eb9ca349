"""
Four intervals of a tutorial on Iris, with the errors corrected
===============================================================

S. Raschka's "Creating confidence intervals for machine learning classifiers" (2022) shows four
ways to get an interval for the accuracy of a decision tree. Each is repeated here, grey, beside
what answers the same question without its error, blue. How often each held the truth was
measured: see :doc:`/studies/tutorial`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from skboot import BootstrapScorer, bootstrap_score

X, y = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.3, stratify=y, random_state=123
)
tree = DecisionTreeClassifier(max_depth=3, random_state=123)
predicted = tree.fit(X_train, y_train).predict(X_test)

# %%
# On the test rows the model is fixed. The normal approximation is too short where errors are few;
# so are percentiles of a bootstrap of the test rows. Wilson's interval has neither fault.

on_test = bootstrap_score(y_test, predicted, random_state=0)
rows = {
    "1  normal approximation": on_test.interval("wald"),
    "3  bootstrap of the test rows": on_test.interval("percentile"),
    "corrected: Wilson": on_test.interval("wilson"),
}

# %%
# From the training rows alone the *method* is asked about. Percentiles of out-of-bag scores are
# the spread of single runs. The tutorial's .632 exchanges the two weights: .632 belongs to the
# rows left out.

scorer = BootstrapScorer(tree, strategy=".632", random_state=0).fit(X_train, y_train)
out_of_bag = scorer.runs_["score"]
exchanged = 0.368 * out_of_bag + 0.632 * scorer.resubstitution_score_
rows |= {
    "2.2  out-of-bag percentiles": np.percentile(out_of_bag, [2.5, 97.5]),
    "2.3  .632, weights exchanged": np.percentile(exchanged, [2.5, 97.5]),
    "corrected: .632": scorer.confidence_interval_,
    "corrected: cross-validation": BootstrapScorer(tree, random_state=0)
    .fit(X_train, y_train)
    .confidence_interval_,
}

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for k, (name, (low, high)) in enumerate(rows.items()):
    colour = "#0072b2" if name.startswith("corrected") else "#8c8c8c"
    axes.plot([low, high], [k, k], color=colour, linewidth=5, solid_capstyle="butt")
axes.set_yticks(range(len(rows)), rows)
axes.invert_yaxis()
axes.axhline(2.5, color="#cccccc", linewidth=0.8)
axes.set_xlabel("accuracy; above the line of this tree, below it of such trees")
plt.show()
