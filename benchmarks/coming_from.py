"""What other packages answer on the data of docs/guide/coming_from.md, which shows the numbers.

    python benchmarks/coming_from.py

Needs the extra `bench`. Each package has its defaults, and a fixed seed where it takes one.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def data():
    """Labels and the answers of a trained model, as on the page."""
    X, y = load_diabetes(return_X_y=True)
    worse = (y > 140).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, worse, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    return y_test, model.predict(X_test), model.predict_proba(X_test)[:, 1]


def answers():
    """Name of the call, and its numbers."""
    import confidenceinterval
    from confidence_intervals import evaluate_with_conf_int
    from mlxtend.evaluate import bootstrap
    from statsmodels.stats.proportion import proportion_confint

    y_test, predicted, score = data()
    correct = (predicted == y_test).astype(float)
    yield "mlxtend bootstrap", bootstrap(correct, np.mean, ddof=1, seed=0)
    center, limits = evaluate_with_conf_int(predicted, accuracy_score, y_test)
    yield "confidence_intervals", (center, *limits)
    for name, said in (("accuracy_score", predicted), ("roc_auc_score", score)):
        yield f"confidenceinterval {name}", getattr(confidenceinterval, name)(y_test, said)
    paired = {"paired": True, "vectorized": False, "rng": np.random.default_rng(0)}
    found = stats.bootstrap((y_test, score), roc_auc_score, **paired)
    yield "scipy bootstrap", found.confidence_interval
    yield "statsmodels proportion_confint", proportion_confint(correct.sum(), len(correct))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for call, numbers in answers():
        print(call, *(np.round(np.ravel(part), 4) for part in numbers))
