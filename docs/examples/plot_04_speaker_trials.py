"""
Equal error rate of speaker verification: resample speakers, not trials
=======================================================================

A trial compares two recordings, and each speaker is in many trials, on either side. With
``groups=Trials(first, second)`` you resample speakers with all their trials. An interval from
single trials is too short: 1500 trials of 60 speakers are worth 60 speakers.
"""

import numpy as np

from skboot import Trials, bootstrap_score
from skboot.plots import IntervalDisplay

rng = np.random.default_rng(0)
first = rng.integers(0, 60, size=1500)
second = np.where(rng.random(1500) < 0.3, first, rng.integers(0, 60, size=1500))
same = first == second
typical = rng.normal(size=60)
score = 2 * same + 0.5 * (typical[first] + typical[second]) + rng.normal(size=1500)

speakers = Trials(first, second)
rate = {"metric": "equal_error_rate", "random_state": 0}
results = {
    "trials resampled": bootstrap_score(same, score, **rate),
    "speakers resampled": bootstrap_score(same, score, **rate, groups=speakers),
}
picture = IntervalDisplay.from_results(results, show_naive=False)
