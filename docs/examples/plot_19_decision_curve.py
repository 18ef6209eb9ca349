"""
Decision curve: net benefit of a model against treat all and treat none
=======================================================================

Net benefit weighs patients who are rightly treated against those who are needlessly treated
(Vickers and Elkin 2006). The dotted and the solid line are those of treat all and treat none. The
band of the model holds at all thresholds at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skboot import bootstrap_curve
from skboot.plots import CurveBandDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y > 200, test_size=0.5, random_state=0)
risk = LogisticRegression(C=100).fit(X_train, y_train).predict_proba(X_test)
curve = bootstrap_curve(
    y_test, risk, curve="decision", grid=np.linspace(0.05, 0.7, 60), random_state=0
)
CurveBandDisplay.from_result(curve)
plt.show()
