"""
Confidence intervals of accuracy, F1 and AUC on a test set
==========================================================

A classifier is scored on 221 test rows. One call gives four metrics, each with the interval that
suits it, beside the baseline: the best system that ignores its inputs. With so few rows each score
is uncertain by several points.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skboot import bootstrap_score

X, y = load_diabetes(return_X_y=True)
worse = y > 140
X_train, X_test, y_train, y_test = train_test_split(X, worse, test_size=0.5, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

metrics = ["accuracy", "balanced_accuracy", "f1", "roc_auc"]
results = bootstrap_score(y_test, model.predict_proba(X_test), metric=metrics, random_state=0)
picture = results.plot()

# %%
# A sentence for a paper:

print(results["roc_auc"].claim())
