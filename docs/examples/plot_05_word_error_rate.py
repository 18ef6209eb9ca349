"""
A word error rate is a weighted mean, and two recognisers are compared on the same words
========================================================================================

With the rate of each utterance as loss and its number of words as weight, the score is the
overall word error rate. Speakers are drawn. The two intervals overlap, and still the difference
is clear: what is hard for one recogniser is hard for the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from skboot import compare_systems
from skboot.plots import ComparisonDisplay, IntervalDisplay

rng = np.random.default_rng(0)
speaker = np.repeat(np.arange(40), 25)
words = rng.integers(3, 30, size=1000)
hard = rng.beta(2, 14, size=40)[speaker] + rng.beta(1, 20, size=1000)
errors = {"old": rng.binomial(words, hard), "new": rng.binomial(words, 0.85 * hard)}

result = compare_systems(
    None,
    {name: wrong / words for name, wrong in errors.items()},
    metric="mean",
    sample_weight=words,
    groups=speaker,
    greater_is_better=False,
    random_state=0,
)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 3.6), layout="constrained")
IntervalDisplay.from_results(result.systems, top, show_naive=False)
ComparisonDisplay.from_result(result, bottom)
plt.show()

# %%

print(result.claim())
