"""What all displays do."""

import sys
from types import SimpleNamespace

import pytest
from displayed import result

from skboot.plots import BootstrapDistributionDisplay, IntervalDisplay


def test_without_matplotlib_displays_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (BootstrapDistributionDisplay.from_result, IntervalDisplay.from_result):
        with pytest.raises(ImportError, match=r"Display.plot needs matplotlib.*skboot\[plot\]"):
            draw(result())


def test_a_display_in_a_notebook_shows_its_picture_once_and_no_text(monkeypatch, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    shown = []
    stand_in = SimpleNamespace(display=shown.append)
    drawn = [result().plot(), IntervalDisplay.from_result(result())]
    for display in drawn:
        display._ipython_display_()
    # The notebook draws the figures that pyplot holds.
    assert shown == []
    plt.close("all")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=stand_in))
    monkeypatch.setitem(sys.modules, "IPython.display", stand_in)
    for display in drawn:
        display._ipython_display_()
    assert shown == [display.figure_ for display in drawn]
    assert capsys.readouterr().out == ""


def test_a_display_that_is_not_drawn_is_shown_as_text():
    with pytest.raises(NotImplementedError):
        IntervalDisplay(estimates=[0.5], lows=[0.4], highs=[0.6], names=["a"])._ipython_display_()
