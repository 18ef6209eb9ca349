"""Thresholds between two ways to the same metric, of which one is faster.

Times are of one core, measured beside each other. A reader of the metrics can skip them.
"""

# ---- Which codes a metric has. Counts of codes are drawn, so that another value changes the
# ---- resamples of a seed, though not their distribution.

# Minimum number of rows per code (ratio) for rows that share a code; below it each row has its own
# code, because a unit of its own costs 1 ns a resample and a code of several units 2.5 ns or more
# (record 0010).
ROWS_PER_MERGED_CODE = 12
# Maximum number of distinct row values (values) that are always coded; above it they are coded
# only if each stands for ROWS_PER_VALUE rows on average.
FEW_VALUES = 100
ROWS_PER_VALUE = 50
# Minimum number of rows per cell of the confusion matrix (ratio) for a library's metric to be
# called on weighted cells; below it the metric is called on repeated rows, because a call has a
# floor of 1 ms either way (record 0013).
ROWS_PER_CELL = 4

# Maximum share of the variance of an area that its second order may have for resamples to be drawn
# by cells: limits then move by a tenth of their Monte Carlo error at most (record 0083).
SECOND_ORDER_SHARE = 1e-4

# Minimum number of rows to be expected beyond a forecast (rows): of fewer none may be seen, and the
# loss of these is half of a pinball loss (record 0118).
FEW_BEYOND = 10
# Minimum number of rows that are decided for a class that is never true (rows) for it to be in an
# average over classes for sure: where k are expected one sample in e^k has none (record 0165).
FEW_DECIDED = 3
# Minimum number of rows that carry the variance of a truth: one in FEW_SPREAD (rows), within these
# (record 0118).
FEW_SPREAD = 10
FEWEST_SPREAD, MOST_SPREAD = 8, 20

# Cells of scores that share evenly what recall gains, and as much what precision loses: a hundred
# more change standard deviations by less than .0005 (record 0083).
RANK_CELLS = 256
# Minimum mean number of rows in the cells of each task that is averaged over; of fewer, single rows
# are drawn faster (records 0010 and 0132).
ROWS_PER_TASK_CELL = 4
# Rows of each class at the top that are mostly cells by themselves; below, a cell holds one by this
# number of the rows above it.
ROWS_BY_THEMSELVES = 16

# ---- How labels and cells are counted. The counts are the same.

# Number of rows that are searched for labels or values before all others (rows): most labels occur
# among them, and sorting them takes 20 us.
FIRST_LOOK = 1000
# Rows that are counted together (rows): their temporary arrays stay in the cache. 42 ms for the
# cells of 10 million rows; 61 ms without parts.
ROWS_AT_ONCE = 1 << 17
# Maximum number of labels or cells that are counted by one comparison of bytes each (values); above
# it numpy.bincount is as fast (16 values: 0.18 ms for 131,072 rows both ways, 2 values: 0.02 ms and
# 0.23 ms).
FEW_LABELS = 16
# Maximum number of columns, or pairs of columns, whose labels and cells are held for the other
# metrics of a call (columns): those of some systems or subgroups.
COLUMNS_HELD = 8
# Maximum length of a table of counts (entries); above it values are sorted. A table of this size
# takes 9 ms to fill from a million rows, sorting 190 ms; more would take memory, not time.
TABLE = 1 << 20
# Above this length (entries) a table of pairs also needs a row for each TABLE_ENTRIES_PER_ROW.
SMALL_TABLE = 1 << 12
TABLE_ENTRIES_PER_ROW = 4

# ---- Sums of cells. The sums are the same.

# Maximum number of labels times constant decisions that are evaluated together (entries of a
# temporary array); above it they are evaluated in several steps, which bounds the memory.
CONSTANTS_AT_ONCE = 1 << 14
# Maximum size of dense terms of label metrics (entries); above it they are sparse, because a dense
# product then takes twice as long as a sparse one (0.19 ms and 0.09 ms for 256 resamples).
DENSE_TERMS = 1 << 14
# The same for terms of classes (classes).
DENSE_CLASSES = 4
# Maximum share of terms of label sets that are not 0 for the terms to be sparse; 100 labels of
# 20,000 rows take 0.17 s and 0.28 s of dense terms where 2% of the labels are set, 0.27 s and 0.30
# s at 20%.
SPARSE_SHARE = 0.15
# Maximum number of cells whose terms are compared as tuples (cells); above 100 numpy.unique is
# faster, which takes 80 us for two cells where tuples take 6 us.
FEW_CELLS = 32
# Maximum number of pairs of a true and a predicted label, over resamples, whose chance agreement is
# computed together (entries of temporary arrays, which then stay in the cache).
PAIRS_OF_LABELS_AT_ONCE = 1 << 14
# Maximum number of scores of labels that are sorted together (entries of temporary arrays, of which
# there are some ten).
RANKED_AT_ONCE = 1 << 17

# Minimum distinct scores below which a precision-recall curve is said to be steps (record 0089).
FEW_LEVELS = 10
