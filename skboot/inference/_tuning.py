"""Every threshold of this package, with its unit, what changes at it, and the record of it.

The first two tables are part of the methods: another value makes another interval, or warns of
others. The last one bounds time and memory; another value changes numbers by rounding or by Monte
Carlo noise. The coverage that the warnings speak of is measured in benchmarks/coverage.
"""

# ------------------------------------------------------------------ when "auto" warns

# Minimum number of rows of the smaller class (rows); below it intervals of the area under the ROC
# curve tend to be too short.
SMALL_CLASS = 50
# The same of other scores of two classes that hang on it (rows; record 0050).
FEW_OF_CLASS = 20
# Minimum number of groups (groups), and of blocks of rows in time (blocks); below it intervals
# cover less than their level (record 0093 for blocks).
FEW_GROUPS = 20
FEW_BLOCKS = 25
# Minimum number of groups of equal size that groups of unequal size are worth (groups; record
# 0091).
FEW_EQUAL_GROUPS = 12
# Minimum number of units that carry the variation (units): of fewer the sample says little of how
# much they vary. Of values without an end one in UNITS_CARRY (units), up to MOST_CARRY (record
# 0118).
FEW_CARRY = 5
UNITS_CARRY = 20
MOST_CARRY = 15
# The same of an area under the ROC curve, which near 1 rests on few misranked rows (rows; record
# 0118).
FEW_MISRANKED = 8
# Minimum number of units that distinguish a bias of single units from noise (units; record 0094).
FEW_ROWS = 20
# Minimum number of units that move a difference (units) for quantiles of its resamples, which
# cannot leave the range of what the units bring; below it Student's t is made (record 0118).
FEW_MOVING = 10
# Inflation of strata (ratio of variances: n / (n - 1) of strata of n rows) from which quantiles of
# resamples are expanded, because these lack a variance that BCa cannot see (record 0119).
INFLATED = 1.05
# Minimum number of members of a crossed factor (members); below it intervals covered down to 83%
# where members have nine tenths of the variance (record 0050).
FEW_MEMBERS = 15
# Minimum number of data sets of a comparison across them (data sets); below it a skewed difference
# is found significant more often than stated (record 0088).
FEW_DATA_SETS = 10
# Minimum number of units of a comparison (rows, groups, data sets); below it the summary, verdicts
# and ranks say that they are rough (record 0051).
FEW_COMPARED = 10
# Minimum number of rows of a class in an average over classes (rows, or rows worth the unequal
# classes); below it no interval keeps its level (record 0033).
FEW_IN_CLASS = 8
# Maximum ratio of the standard error by leaving out single rows to that of resamples (ratio); above
# it single rows, the only ones of their kind, decide more than resamples show (record 0094).
SINGLE_ROWS = 1.2
# Number of resamples (resamples) that it was measured with, and by how many Monte Carlo errors that
# fewer have beyond theirs (standard errors) their ratio must exceed it (record 0157).
MEASURED_WITH = 1999
SURELY_SINGLE = 1.645

# Minimum number of rows that show how far they depend on each other (rows).
FEWEST_ROWS = 20
# Minimum number of blocks of all series together: the spread of fewer says nothing (blocks, record
# 0074).
FEWEST_BLOCKS = 5
# Rank correlation of neighbouring rows from which they look dependent, and the chance of a false
# alarm on independent rows that a normal correlation would have; without the two pairs that speak
# most for it the chance is smaller (record 0053).
SIMILAR = 0.08
UNSURE = 0.036
# By how much it must exceed that of rows further apart, at least and in standard errors:
# independent rows that were sorted are as much alike there (record 0053).
MORE_SIMILAR = 0.06
MORE_SURE = 1.9
# The same for rows whose values are sorted themselves, as a multiple of the share of the rows that
# lies between.
SLOPE = 4.0
# These are one to two of so many parts of the rows apart, and at least so many rows.
PARTS_APART = 80
FEWEST_APART = 3
# Power of a season over that which the frequencies beside it let expect (ratio), its length (rows)
# and the number of them in a series (seasons), from which it is plain. The ratio is exceeded in one
# of a hundred series without any (record 0093).
PLAIN_SEASON = 16.0
SHORTEST_SEASON = 4
FEWEST_SEASONS = 5
# Chance of a false alarm on series that do not depend on each other, and the least variance of all
# series together over that of blocks within each (ratio), from which series move together:
# intervals are then too short by a tenth or more.
UNSURE_TOGETHER = 0.005
LOST = 1.2

# ------------------------------------------------------------------ looks that may be repeated

# Minimum number of rows of the rarer class, or of the rows that a ratio is of, at a look (rows);
# below it no interval was measured to hold at every look (record 0100).
RARE_ROWS_AT_LOOK = 30
# Minimum degrees of freedom of a standard error at a look (those of a variance): about twice as
# many as there are units that carry the variation. With fewer the limits are the whole range.
FEWEST_FREEDOM_AT_LOOK = 12

# ------------------------------------------------------------------ which interval is made

# Minimum number of members of each of two crossed factors (members) for the two-way interval; with
# fewer it covered down to 88% where members have most of the variance (record 0049).
MANY_MEMBERS = 40
# Minimum number of errors and of hits (rows) of a proportion for a bootstrap interval; below it
# all of them are too short, and Wilson's is made (record 0022 for runs).
FEW_EVENTS = 10
# Minimum number of rows that decide a function of a table of truth and decision (rows, those added
# among them) for resamples of it; below it tables are drawn smoothed (record 0116).
FEW_IN_TABLE = 30
# Minimum number of rows on which two systems differ in being right (rows) for a bootstrap interval
# of the difference; below it Tango's is made (record 0006).
FEW_DISCORDANT = 10
# Maximum bias for BCa (standard errors); above it the levels of BCa run out of resamples, and a t
# interval about the corrected estimate is made (record 0033).
LARGE_BIAS = 0.5
# Maximum difference of the bias that resamples show from that which single units show (standard
# errors); above it resamples differ from samples by the units that are in them twice (record 0094).
BIAS_APART = 0.25
# Bias beyond which the levels of BCa run out of 1999 resamples whatever their skewness (standard
# errors, record 0094).
SURE_BIAS = 0.75
# Maximum bias of an average over fixed tasks for percentiles of the resamples (standard errors);
# above it a t interval about the corrected estimate is made (record 0048).
BIAS_OVER_TASKS = 0.1
# Maximum skewness of replicates for the interval about the corrected estimate (third standardized
# moment); above it BCa is the better one (record 0033).
LARGE_SKEWNESS = 0.3
# Maximum number of values without one unit (values) for a metric to be a function of quantiles, as
# a median is; with more of them a ratio of FAR_ERROR shows it (record 0033).
FEW_VALUES = 16
# Difference of the ratio of jackknife to bootstrap standard error from 1 (ratio) up to which it is
# chance for a metric that is smooth (record 0033).
NEAR_ERROR = 0.1
# Ratio of jackknife to bootstrap standard error, or its inverse, from which the jackknife cannot be
# used whatever the number of values (record 0033).
FAR_ERROR = 3.0
# Minimum number of rows that carry the variation (rows) for blocks of one row; fewer do not show
# whether they stand together (record 0093).
FEW_ROWS_CARRY = 10
# Minimum number of groups that carry the variation (groups) for a studentized interval. Below it
# score intervals cover as well and are shorter (record 0031).
FEW_CARRIERS = 4
# Minimum number of data sets for the studentized bootstrap of mean ranks over them (data sets).
# Below it resamples are nearly all alike, and Student's t is taken (record 0046).
DATA_SETS_FOR_PIVOTS = 8
# Cosines of the variance of a series of n rows, over n^(2/3) (Lazarus et al. 2018), and the least
# number of them (record 0093).
COSINES = 0.4
FEWEST_COSINES = 3
# Maximum correlation of consecutive rows (correlation): 100 rows are worth 1 at least (record
# 0093).
MOST_ALIKE = 0.98
# Degrees of freedom of a variance beyond the number of groups that carry it (record 0031).
DEGREES_BEYOND_CARRIERS = 2
# Minimum degrees of freedom of runs on bootstrap samples of one list. The variance between the
# samples holds test noise that V lacks, so that Satterthwaite's rule can give next to none.
LEAST_DF = 2.0

# ------------------------------------------------------------------ time and memory

# Memory at the peak (bytes) for a replicate and its standard error: 49 measured (record 0037).
BYTES_PER_REPLICATE = 50
# Values of the jackknife that are worked on at a time (values): their temporary arrays stay in the
# cache.
JACKKNIFE_VALUES_AT_ONCE = 1 << 13
# Draws from the joint distribution of t statistics (draws): the Monte Carlo error of a 5% level is
# 0.1%.
JOINT_DRAWS = 40_000
# The same, of all pairs over data sets (draws by pairs): of many pairs fewer draws, down to those
# of one block, whose error of a 5% level is 0.3%. Bonferroni's rule bounds what comes of them.
JOINT_DRAWS_TIMES_PAIRS = 1 << 21
# The same that are worked on at a time (draws): a matrix with one column per difference is held.
JOINT_DRAWS_AT_ONCE = 4000
# Deviations of a joint bootstrap (numbers of four bytes) up to which those of all resamples are
# kept for step-down tests; of more than these the SHARE_KEPT (share of the resamples) with the
# largest. Step-down tests of 5% look at the largest tenth at most (record 0045).
DEVIATIONS_ALL_KEPT = 1 << 22
SHARE_KEPT = 0.3
# Differences of a family (numbers) from which deviations of a resample are divided by chi variables
# only where they are near its largest. That another is larger after division has a chance of NEVER
# for each variable. Where that takes deviations below LEAST_SHARE of the largest (share), as of few
# units, all are divided: too many are near (record 0136).
DEVIATIONS_ALL_DIVIDED = 1024
NEVER = 1e-10
LEAST_SHARE = 0.5
# Differences whose replicates are worked on at a time (numbers): they stay in the cache.
DIFFERENCES_AT_ONCE = 1 << 17
