"""
Word error rate: compare two speech recognisers on the same words
=================================================================

Give the error rate of each utterance as the loss and its number of words as the weight: the score
is then the overall word error rate. Speakers are resampled. The intervals of the two recognisers
overlap, and still they differ significantly: what is hard for one is hard for the other, so the
paired difference varies less.
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
