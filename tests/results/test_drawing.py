"""The bars of a small drawing."""

import numpy as np
import pytest
from displayed import result

from skboot.inference import ConfidenceInterval

pyplot = pytest.importorskip("matplotlib.pyplot")


def bars(values):
    """Centres, heights and widths, as a picture of the result has them."""
    interval = ConfidenceInterval(values.min(), values.max(), 0.95, "percentile")
    drawn = list(result(values.mean(), values, interval).plot().bars_)
    pyplot.close("all")
    centres = [bar.get_x() + bar.get_width() / 2 for bar in drawn]
    sizes = [(bar.get_height(), bar.get_width()) for bar in drawn]
    return np.array(centres), *np.transpose(sizes)


@pytest.mark.parametrize("n_rows", [20, 200, 1000, 30_000])
def test_each_bar_of_a_proportion_holds_as_many_possible_values(n_rows):
    # Bins that beat with the lattice would make a comb of an even distribution.
    values = np.arange(int(0.8 * n_rows), int(0.9 * n_rows)) / n_rows
    _, heights, widths = bars(np.repeat(values, 3))
    assert len(heights) <= 60
    assert heights.sum() == 3 * len(values)
    assert len(set(heights[:-1])) <= 1
    np.testing.assert_allclose(widths, widths[0])


def test_values_off_any_lattice_are_binned():
    values = np.random.default_rng(0).normal(0.5, 0.1, size=1999)
    centres, heights, widths = bars(values)
    assert heights.sum() == 1999
    assert 10 < len(centres) < 200
    np.testing.assert_allclose(centres[0] - widths[0] / 2, values.min())
