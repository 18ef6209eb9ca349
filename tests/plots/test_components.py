"""VarianceComponentsDisplay: what the score of a run varies with."""

import numpy as np
import pytest

from skboot import bootstrap_runs, bootstrap_score
from skboot.plots import VarianceComponentsDisplay

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, size=150)
HARD = 0.6 * RNG.random(150) + 0.05 * RNG.normal(size=(12, 1))
RUNS = Y ^ (RNG.random((12, 150)) < HARD)


def test_the_picture_shows_a_bar_per_source():
    pytest.importorskip("matplotlib")
    result = bootstrap_runs(Y, RUNS, metric="accuracy", n_resamples=199, random_state=0)
    display = VarianceComponentsDisplay.from_result(result)
    components = result.variance_components
    widths = [bar.get_width() for bar in display.bars_]

    assert widths[0] == 0
    assert widths[1] == pytest.approx(np.sqrt(components["seed"]))
    assert widths[2] == pytest.approx(np.sqrt(components["test"] / 150))
    assert any(text.get_text() == "not identified" for text in display.ax_.texts)
    assert display.figure_ is display.ax_.figure
    assert display.plot(display.ax_).ax_ is display.ax_


def test_a_single_system_has_no_components_to_draw():
    with pytest.raises(ValueError, match="bootstrap_runs"):
        VarianceComponentsDisplay.from_result(bootstrap_score(Y, RUNS[0], n_resamples=99))
