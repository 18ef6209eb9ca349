"""
Rank five classifiers with confidence intervals
===============================================

Which of five classifiers may be the best? All predict the same 450 digits. The intervals of the
ranks hold for all five at once. A table that ranks by the scores alone hides how uncertain the
ranks are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skboot import compare_systems
from skboot.plots import RankDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=450, random_state=0)
models = {
    "nearest neighbours": KNeighborsClassifier(),
    "forest": RandomForestClassifier(100, random_state=0),
    "logistic regression": LogisticRegression(),
    "discriminant": LinearDiscriminantAnalysis(),
    "naive Bayes": GaussianNB(var_smoothing=0.01),
}
answers = {name: model.fit(X_train, y_train).predict(X_test) for name, model in models.items()}
result = compare_systems(y_test, answers, random_state=0)
RankDisplay.from_result(result)
plt.show()

# %%

print("cannot be excluded from the first place:", *result.top(1), sep="\n")
