"""Every threshold of this package, with its unit, what changes above it, and the record of it.

The first table is part of the method: another value draws other resamples from the same seed. The
last one says when a result speaks of few units. The others choose between ways that give the same
numbers but for rounding, by what they cost.
"""

# ------------------------------------------------------------------ what a seed draws

# Maximum counts in a block (4 MB as bytes, 32 MB as int64); with more atoms, a block holds fewer
# resamples, down to one. Blocks are always drawn whole, so this fixes the streams (record 0001).
BLOCK_COUNTS = 1 << 22
# Maximum resamples in a block; a call for fewer resamples pays for the whole block.
BLOCK_RESAMPLES = 1 << 10
# Resamples of the first block where these take the time, and the second has the rest of a whole
# one, so that 199 resamples cost a fifth of 999 (record 0133).
FIRST_RESAMPLES = 200
# Maximum resamples in a block that is divided so: 999 and 1999 resamples waste none (record 0133).
ROUND_RESAMPLES = 1000
# Maximum counts of a resample up to which the first block is whole: the counts of a block cost less
# there than what each block costs (record 0133).
UNDIVIDED_COUNTS = 1 << 7
# The same for a stratum, on average, whose draw is a call by itself (record 0133).
UNDIVIDED_COUNTS_OF_STRATUM = 1 << 4
# Maximum counts of a resample up to which the first block is half of a whole one (record 0133).
HALVED_COUNTS = 640
# Maximum resamples in a block of two atoms, whose resamples are drawn one after the other; such a
# block can be cut where it is drawn and may be long (record 0015).
BLOCK_RESAMPLES_OF_TWO_ATOMS = 1 << 14
# Maximum resamples in a block that is read row by row; it is the unit of progress and of parallel
# work, so that longer ones would keep the user and the other workers waiting.
BLOCK_RESAMPLES_BY_ROW = 1 << 5
# Entries of codes that are read in the time of drawing one count; with more entries than this times
# the counts, a block is kept as short as if these were counts (record 0011).
ENTRIES_PER_COUNT = 1 << 3
# Minimum mean number of rows in an atom of interchangeable rows; below it single rows are the
# atoms, because these are drawn faster (record 0010).
ROWS_PER_ATOM = 4
# Maximum units of an atom whose counts come from a table; a heavier atom is drawn by one binomial.
# A Poisson count with a mean of 100 exceeds 250 with probability 1e-35 and so fits a byte
# (record 0010).
TABLE_UNITS = 100
# Minimum units for the Poisson fill, and for numpy's binomials of two atoms; below it units are
# placed one by one, and a binomial is looked up in its distribution (record 0010).
POISSON_FILL_UNITS = 256
# Cells of equal width, a power of two, by which a binomial is looked up in its distribution: of 100
# units some 5 % of the numbers lie in a cell with two counts.
LAW_CELLS = 1 << 10
# Standard deviations by which Poisson totals stay below the wanted total; a fuller resample, one in
# 160, is drawn again (record 0010).
SHORTFALL = 2.5
# The same for heavy atoms, whose counts are drawn again faster than units are placed.
SHORTFALL_OF_HEAVY = 1.0
# Bytes of Poisson counts drawn at a time; a few buffers of this size stay in the cache.
FILL_BYTES = 1 << 17
# Equally likely entries of a table of Poisson counts (record 0010).
TABLE_ENTRIES = 1 << 12
# Maximum strata that are drawn one after the other; above it, strata of single units are drawn all
# at once, with one uniform number a unit.
STRATA_IN_TURN = 64
# Maximum units that are left out one by one where each costs a pass over the rows; of more units,
# random sets are left out, as many as there are resamples, but not more than this (record 0004).
JACKKNIFE_UNITS = 1000
# Minimum number of these sets (record 0134).
FEWEST_SETS = 200

# Cells of equal size, beside those of single rows: twice as many change no limit of an interval by
# a thousandth of its Monte Carlo error (record 0083).
EQUAL_CELLS = 512
# Rows far from the others that are cells of their own, about so many.
FAR_ROWS = 256
# Maximum directions in which rows of cells may differ; of more, cells would hold most of the
# variance.
MOST_DIRECTIONS = 5
# Maximum share of the variance of a sum, in any direction, that is within cells; above it rows are
# drawn.
MOST_WITHIN = 0.5
# Share of the variance of a sum that is not worth a look at where it lies.
UNSEEN_SHARE = 1e-3
# Random rows that a path through all of them is laid by.
ROWS_LOOKED_AT = 1 << 14
# Steps of a direction in which strips of unequal width are looked up.
STRIP_STEPS = 1 << 12
# Places on a path, over all strata.
PLACES = 1 << 16
# Minimum places on each line of it.
FEWEST_PLACES = 1 << 6
# Minimum heavy atoms of equal multiplicity that are drawn together, by look-up in one table.
EQUAL_ATOMS = 1 << 7
# Equally likely entries of this table, of which 16 random bits pick one.
HEAVY_ENTRIES = 1 << 16

# ------------------------------------------------------------------ reading a block

# Maximum atoms whose placed units are counted by one comparison each; those of more atoms are
# counted together.
PLACED_ATOMS = 3
# Maximum counts of several streams that are read together (16 MB as bytes).
JOINED_COUNTS = 1 << 24
# Elements of float64 in a tile of weights (1 MB, which stays in the cache).
TILE_ELEMENTS = 1 << 17
# Maximum counts of a block that stay in the cache as bytes, where single ones are read in any order
# as fast as rows of them.
CACHED_COUNTS = 1 << 20
# Tiles that one product with a sparse matrix takes, since each product has a fixed cost.
SPARSE_TILES = 4
# Entries that are read in the time of the arithmetic on one code's weight; codes with more entries
# are read in shorter pieces (record 0011).
ENTRIES_PER_WEIGHT = 8
# Maximum weights held at once for a search, which needs all codes of a resample; with more codes,
# fewer resamples are searched together.
SEARCH_WEIGHTS = 1 << 20
# Running sums of all codes that are made at once, where they fit the second cache.
SUMS_AT_ONCE = 1 << 16
# Maximum share of positions in levels with both sides for which ties are subtracted afterwards;
# above it pairs are counted by level.
TIED_SHARE = 0.125
# Maximum terms whose products are summed for a variance; with more terms the influence of each atom
# is squared.
PRODUCT_TERMS = 4
# Maximum atoms whose influences are computed in one piece.
INFLUENCE_ATOMS = 16
# Share of the size of its parts below which a variance from products is mostly rounding, so that it
# is computed again from influences.
CANCELLED_SHARE = 1e-8
# Share of a sum of squares below which what is left of it within strata is rounding: some hundred
# units of the last place.
ROUNDING_SHARE = 1e-13
# Maximum counts of a first block that also holds the data and the data without each unit: its sums
# cost less than what every call of numpy costs (record 0015).
NARROW_COUNTS = 1 << 15
# Maximum terms of all atoms that are put side by side once, to be summed in one product (128 MB);
# of more than these it is done for some atoms at a time, which makes 16 means of 1,000,000 rows
# twice as fast as 16 products, not three times.
SHARED_TERMS = 1 << 24
# Share of the mean size of groups below which their sizes differ by rounding.
ROUNDING_OF_SIZES = 1e-12

# Rows that are put into cells at a time; their temporary arrays stay in the cache.
ROWS_AT_ONCE = 1 << 17

# Minimum atoms per code of a statistic that reads counts of its codes instead of those of atoms.
ATOMS_PER_CODE = 8
# Codes of all statistics times atoms above which they do so: sums and variances of 500 classes with
# 4500 cells take 1.1 s by atoms, .2 s by codes.
CODES_OF_ATOMS = 1 << 20

# ------------------------------------------------------------------ running sums

# Codes in a tile of running sums: fewer leave more totals to add up in a chain, more waste
# multiplications.
TILE_WIDTH = 16
# Minimum tiles of a resample whose totals are summed in tiles again.
NESTED_TILES = 4 * TILE_WIDTH
# Elements worked on at a time where the weights of all codes are given; they stay in the cache.
RUNNING_ELEMENTS = 1 << 16
# Minimum resamples of a block whose counts are read by unit, all resamples of one side by side.
BY_UNIT_RESAMPLES = 32
# Counts that are read as one number of 32 bits.
WORD_BYTES = 4
# Largest count of which four are read so: the product of one with the sum of three is at most 255.
MOST_IN_WORD = 9
# Whole numbers below this are exact in single precision.
EXACT_SINGLE = 1 << 24
# Whole numbers below this fit an integer of four bytes.
EXACT_INTEGER = 1 << 31
# Share of the spread of a column that is rounding of it.
COLUMN_ROUNDING = 1e-9
# Share of a total by which running sums in another order may differ.
SUM_ROUNDING = 1e-12

# ------------------------------------------------------------------ codes and terms

# Maximum keys per row that are counted in an array of all keys; more are sorted.
KEYS_PER_ROW = 4
# Maximum rows whose codes are sorted by comparisons, which take 2 us of 100 rows; by counting, 65.
FEW_ROWS = 8192
# Maximum distinct rows of terms that have closed forms without one unit (record 0012).
TYPES = 8
# Maximum number of cached arrays derived from terms.
CACHED_ARRAYS = 6

# ------------------------------------------------------------------ rows in time

# Sums of blocks of rows that are looked up at once (512 kB, which stay in the cache).
STARTS_AT_ONCE = 1 << 16
# Maximum places of resamples whose blocks are counted by one call.
PLACES_AT_ONCE = 1 << 14

# ------------------------------------------------------------------ crossed factors

# Minimum rows of a crossed design for a search in a window; fewer rows are all weighed
# (record 0011).
WINDOW_ROWS = 1 << 14
# Share of the ends on each side of the middle in the first window, which is doubled until it holds
# the sign changes of all resamples (record 0011).
WINDOW_SHARE = 1 / 128
# Minimum share of pairs of members that occur for a form to be a full matrix; below it the matrix
# is sparse.
FULL_SHARE = 0.01

# ------------------------------------------------------------------ without one unit, on demand

# Maximum sums without a unit that are computed at once; their temporaries stay in the cache.
JACKKNIFE_SUMS = 1 << 15
# Minimum resamples without a unit that are computed at once, however many sums each takes: calls of
# numpy take longer than the sums of ten (macro F1 of 1000 classes, 180,000 cells: 2.7 and 1.6 s).
FEWEST_LEFT_OUT = 64
# Maximum counts of resamples without a unit that are held at once (4 MB of int64).
JACKKNIFE_COUNTS = 1 << 19
# Maximum terms that are subtracted column by column; numpy is slow along a few terms.
JACKKNIFE_TERMS = 16
# Maximum counts held at once where a search cannot draw on demand (32 MB of int64).
ON_DEMAND_COUNTS = 1 << 22

# ------------------------------------------------------------------ what is said of small designs

# Minimum units of a task (rows or groups); below it a note says that the interval is wider for the
# sake of that task (record 0048).
FEW_UNITS = 10
# Minimum tasks of an average; below it a warning says what the average can show (record 0048).
FEW_TASKS = 10
# Minimum members of each side of a crossed design, or of one population on both; with fewer,
# intervals covered 90 to 95% where members have half of the variance or more (record 0050).
UNSURE_MEMBERS = 40

# ------------------------------------------------------------------ rows of streams

# Weights of a unit that 64 random bits make, 16 bits each (record 0058).
WEIGHTS_PER_WORD = 4
# Minimum weight that is looked for, because it is rare (6e-4); smaller ones are compared with.
RARE_WEIGHT = 6
# Maximum resamples whose weights are made together; units are added until they are enough.
STREAM_RESAMPLES_AT_ONCE = 1024
# Maximum weights that are made together: as factors of a product, 8 bytes each, they stay in the
# second cache.
STREAM_WEIGHTS_AT_ONCE = 1 << 16
# Maximum runs of equal codes among these rows that are added up by a product of matrices.
MANY_RUNS = 16
# Largest running sum, as a multiple of the codes (ratio), up to which the running sums of each size
# are counted, in place of a search (record 0136).
MOST_COUNTED = 4
