"""
Grouped data: ten photographs of one patient are not ten patients
=================================================================

The model is right or wrong on several photographs of one patient together. If you resample rows,
the interval is too short for any claim about other patients, and more photographs of the same
patients make it shorter still. Give ``groups=patient`` to resample patients.
"""

import numpy as np

from skboot import bootstrap_score
from skboot.plots import IntervalDisplay

rng = np.random.default_rng(0)
skill = rng.beta(6, 2, size=50)
results = {}
for n_photographs in (2, 10, 50):
    patient = np.repeat(np.arange(50), n_photographs)
    right = (rng.random(len(patient)) < skill[patient]).astype(float)
    score = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    results[f"{n_photographs} photographs each"] = {
        "rows resampled": bootstrap_score(None, right, **score),
        "patients resampled": bootstrap_score(None, right, groups=patient, **score),
    }
picture = IntervalDisplay.from_results(results, show_naive=False)
