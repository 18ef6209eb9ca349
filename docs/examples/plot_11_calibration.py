"""
Calibration curves with confidence bands
========================================

Is a model overconfident, or are 221 rows too few to tell? Two models predict the progression of
diabetes. The band of the boosted one contains the diagonal: these rows do not show that it is
miscalibrated. The penalty of the logistic regression is too strong for these small columns: it is
underconfident, and its band shows it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skboot import bootstrap_curve
from skboot.plots import CurveBandDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y > 140, test_size=0.5, random_state=0)
models = {
    "boosting": GradientBoostingClassifier(random_state=0),
    "logistic regression": LogisticRegression(),
}
figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for (name, model), axes in zip(models.items(), panels, strict=True):
    probability = model.fit(X_train, y_train).predict_proba(X_test)
    band = bootstrap_curve(y_test, probability, curve="calibration", n_bins=8, random_state=0)
    CurveBandDisplay.from_result(band, axes, name=name)
plt.show()
