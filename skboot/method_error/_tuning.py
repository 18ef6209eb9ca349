"""Every threshold of this package, with its unit, what changes at it, and the record of it.

The first table is part of the methods: another value makes another interval or note. The other one
bounds memory, and changes numbers by rounding alone.
"""

# ------------------------------------------------------------------ intervals and their notes

# Minimum share of the training variance of bootstrap samples that is left at the full size (share
# of a variance); a steeper learning curve takes no more of it away (record 0034).
LEAST_TRAINING_SHARE = 0.15
# Maximum variance of an interval (test-sampling variances) without the note that it is wide because
# of the training samples: it is then 1.7 times as wide as the test rows alone make it (record
# 0034).
UNSTABLE_RATIO = 3.0
# Maximum share of the squared influence that one unit may carry (share of the sum) without the note
# of heavy tails. Squared errors of 80 rows pass it in 4 % of samples with normal errors, in 54 %
# with t3 errors.
HEAVY_TAIL_SHARE = 0.5
# Minimum ratio of the resubstitution to the out-of-bag error (ratio) without the note that .632 and
# .632+ are optimistic.
NEAR_PERFECT = 0.25
# Minimum number of resamples (resamples) for a stable standard error of the out-of-bag error;
# below it a note asks for 200.
FEW_RESAMPLES = 50
# Minimum number of resamples for the infinitesimal jackknife (resamples per square root of the
# units); with fewer its Monte Carlo noise is too large, and it is left out.
JACKKNIFE_RESAMPLES = 4
# Minimum degrees of freedom (number) that are left where losses without an upper bound are skewed;
# with fewer the quantile, and with it the width, would grow faster than the coverage (record 0043).
LEAST_DF = 6.0
# Distance from the quartiles (interquartile ranges) beyond which an out-of-bag score is an outlier
# and moved to this fence (Tukey 1977; record 0034).
FENCE = 1.5
# Draws for the Monte Carlo error of the standard error (draws): its own relative error is 3 %.
MONTE_CARLO_DRAWS = 500

# ------------------------------------------------------------------ memory

# Elements of a block of columns that are worked on at a time (elements, 2 MB): so only the inputs
# are large.
ELEMENTS_AT_ONCE = 1 << 18
# Counts of units that are worked on at a time (counts): their temporaries stay in the cache.
COUNTS_AT_ONCE = 1 << 16
