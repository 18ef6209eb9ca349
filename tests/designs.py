"""An example of each design that a plan draws, on the same 70 rows; what streams draw."""

import numpy as np

from skboot.resampling.design import (
    CrossedDesign,
    GroupDesign,
    OnePopulationDesign,
    RowDesign,
    across_tasks,
    drawn_tasks,
    within_tasks,
)
from skboot.resampling.series import SeriesDesign
from skboot.resampling.streamed import PoissonWeights

N = 70
_RNG = np.random.default_rng(0)
GROUPS = _RNG.permutation(np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 8]))
PAIRS = np.column_stack((_RNG.integers(0, 9, N), _RNG.integers(0, 7, N)))
PAIRS[:9, 0], PAIRS[-7:, 1] = np.arange(9), np.arange(7)
TRIALS = np.sort(_RNG.integers(0, 9, (N, 2)), axis=1)
TRIALS[:9] = np.arange(9)[:, None]

# Three series of 30, 25 and 15 rows, whose rows do not stand together.
SERIES = _RNG.permutation(np.repeat(np.arange(3), [30, 25, 15]))
PANEL = SeriesDesign.of(N, 4, SERIES)

EXAMPLES = {
    "rows": RowDesign.of(N),
    "strata": RowDesign.of(N, np.arange(N) % 3),
    "groups": GroupDesign.of(GROUPS),
    "groups in strata": GroupDesign.of(GROUPS, GROUPS % 2),
    "crossed": CrossedDesign.of(PAIRS),
    "one population": OnePopulationDesign.of(TRIALS),
    "rows within tasks": within_tasks(RowDesign.of(N, np.arange(N) % 2), np.arange(N) % 3),
    "groups within tasks": within_tasks(GroupDesign.of(GROUPS), np.arange(12) % 3),
    "groups across tasks": across_tasks(GroupDesign.of(GROUPS), 5),
    "series": SeriesDesign.of(N, 6),
    "short blocks": SeriesDesign.of(N, 3),
    "panel": PANEL,
    "blocks of one row": RowDesign.of(N).of_kind("blocks of one row"),
    "series within tasks": within_tasks(PANEL, np.array([0, 0, 1])[PANEL.strata]),
    "drawn tasks": drawn_tasks(GroupDesign.of(GROUPS), np.arange(12)),
    "drawn groups of tasks": drawn_tasks(GroupDesign.of(GROUPS), np.arange(30) % 12),
}


def weights_in_a_stream(seed, n_resamples, units):
    """How often each unit is in each resample of a stream with this random state."""
    drawn = PoissonWeights(np.random.SeedSequence(seed), n_resamples)
    return drawn.weights(drawn.units(np.asarray(units)))


def assert_same_bits(result, expected):
    """Two streams of the same rows gave the same result."""
    assert result.estimate == expected.estimate
    np.testing.assert_array_equal(result.bootstrap_distribution, expected.bootstrap_distribution)
    assert tuple(result.confidence_interval) == tuple(expected.confidence_interval)
    assert (result.n_samples, result.n_units) == (expected.n_samples, expected.n_units)


def starts_of_blocks(seed, n_rows, length, series):
    """Where the blocks of the first 1024 resamples begin, in a call with this random state."""
    own = np.random.SeedSequence(seed, spawn_key=(0,))
    (starts,) = SeriesDesign.of(n_rows, length, series).draw(
        np.random.Generator(np.random.SFC64(own)), 1024, (), None
    )
    return starts
