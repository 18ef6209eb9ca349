"""
Is one ROC curve above the other?
=================================

A band that holds point by point is wrong somewhere along the curve much more often than 5 %. The
simultaneous band holds for the whole curve, and the band of the *difference*, on the same
resamples, says where one is above.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import bootstrap_curve
from skboot.plots import CurveBandDisplay

rng = np.random.default_rng(0)
y_true = (rng.random(800) < 0.3).astype(int)
signal = rng.normal(size=800) + 1.6 * y_true
both = {"new": signal, "old": signal + 1.2 * rng.normal(size=800)}
table = bootstrap_curve(y_true, both, curve="roc", random_state=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
CurveBandDisplay.from_result(table, left)
CurveBandDisplay.from_result(table["difference"], right)
plt.show()
