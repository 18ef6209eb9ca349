"""
ROC curves with confidence bands, and the band of their difference
==================================================================

Is one ROC curve above the other? A pointwise band misses the true curve somewhere much more often
than 5%. The simultaneous band covers the whole curve. The band of the *difference*, from the same
resamples, shows at which false positive rates one curve is above.
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
