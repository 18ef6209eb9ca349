"""An example of each design, with and without strata, on the same 70 rows."""

import numpy as np

from skboot.resampling.design import CrossedDesign, GroupDesign, OnePopulationDesign, RowDesign

N = 70
_RNG = np.random.default_rng(0)
GROUPS = _RNG.permutation(np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 8]))
PAIRS = np.column_stack((_RNG.integers(0, 9, N), _RNG.integers(0, 7, N)))
PAIRS[:9, 0], PAIRS[-7:, 1] = np.arange(9), np.arange(7)
TRIALS = np.sort(_RNG.integers(0, 9, (N, 2)), axis=1)
TRIALS[:9] = np.arange(9)[:, None]

EXAMPLES = {
    "rows": RowDesign.of(N),
    "strata": RowDesign.of(N, np.arange(N) % 3),
    "groups": GroupDesign.of(GROUPS),
    "groups in strata": GroupDesign.of(GROUPS, GROUPS % 2),
    "crossed": CrossedDesign.of(PAIRS),
    "one population": OnePopulationDesign.of(TRIALS),
}
