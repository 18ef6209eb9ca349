"""An example of each design, with and without strata, on the same 70 rows; what streams draw."""

import numpy as np

from skboot.resampling.design import CrossedDesign, GroupDesign, OnePopulationDesign, RowDesign
from skboot.resampling.series import SeriesDesign, SingleRowDesign
from skboot.resampling.streamed import PoissonWeights, StreamedGroups, StreamedRows
from skboot.resampling.task_designs import (
    DrawnGroupsOfTasks,
    DrawnTasks,
    GroupsAcrossTasks,
    GroupsWithinTasks,
    RowsWithinTasks,
    SeriesWithinTasks,
)

N = 70
_RNG = np.random.default_rng(0)
GROUPS = _RNG.permutation(np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 8]))
PAIRS = np.column_stack((_RNG.integers(0, 9, N), _RNG.integers(0, 7, N)))
PAIRS[:9, 0], PAIRS[-7:, 1] = np.arange(9), np.arange(7)
TRIALS = np.sort(_RNG.integers(0, 9, (N, 2)), axis=1)
TRIALS[:9] = np.arange(9)[:, None]

# Three series of 30, 25 and 15 rows, whose rows do not stand together.
SERIES = _RNG.permutation(np.repeat(np.arange(3), [30, 25, 15]))
_IN_TASKS = SeriesDesign.of(N, 4, SERIES)

EXAMPLES = {
    "rows": RowDesign.of(N),
    "strata": RowDesign.of(N, np.arange(N) % 3),
    "groups": GroupDesign.of(GROUPS),
    "groups in strata": GroupDesign.of(GROUPS, GROUPS % 2),
    "crossed": CrossedDesign.of(PAIRS),
    "one population": OnePopulationDesign.of(TRIALS),
    "rows within tasks": RowsWithinTasks(
        N, (N,), None, np.arange(N) % 6, 3, np.array([0, 0, 1, 1, 2, 2])
    ),
    "groups within tasks": GroupsWithinTasks(
        N, (12,), GROUPS[:, None], np.arange(12) % 3, 3, np.arange(3)
    ),
    "groups across tasks": GroupsAcrossTasks(N, (12,), GROUPS[:, None], None, 5),
    "rows of a stream": StreamedRows.of(N),
    "groups of a stream": StreamedGroups.of(GROUPS),
    "series": SeriesDesign.of(N, 6),
    "short blocks": SeriesDesign.of(N, 3),
    "panel": SeriesDesign.of(N, 4, SERIES),
    "blocks of one row": SingleRowDesign.of(N),
    "series within tasks": SeriesWithinTasks(
        N,
        _IN_TASKS.n_units,
        _IN_TASKS.members,
        _IN_TASKS.strata,
        _IN_TASKS.circles,
        n_tasks=2,
        task_of_stratum=np.array([0, 0, 1]),
    ),
    "drawn tasks": DrawnTasks.of(GROUPS),
    "drawn groups of tasks": DrawnGroupsOfTasks.of(GROUPS),
}


def weights_in_a_stream(seed, n_resamples, units):
    """How often each unit is in each resample of a stream with this random state."""
    drawn = PoissonWeights(np.random.SeedSequence(seed), n_resamples)
    return drawn.weights(drawn.units(np.asarray(units)))


def starts_of_blocks(seed, n_rows, length, series):
    """Where the blocks of the first 1024 resamples begin, in a call with this random state."""
    own = np.random.SeedSequence(seed, spawn_key=(0,))
    (starts,) = SeriesDesign.of(n_rows, length, series).draw(
        np.random.Generator(np.random.SFC64(own)), 1024, (), None
    )
    return starts
