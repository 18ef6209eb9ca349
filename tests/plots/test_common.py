"""What all displays do."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from displayed import result

from skboot import compare_systems
from skboot.plots import BootstrapDistributionDisplay, IntervalDisplay


def test_without_matplotlib_displays_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (BootstrapDistributionDisplay.from_result, IntervalDisplay.from_result):
        with pytest.raises(ImportError, match=r"Pictures need matplotlib.*skboot\[plot\]"):
            draw(result())


def shown_by_ipython(monkeypatch, is_interactive):
    """What a stand-in for IPython is given to show."""
    plt = pytest.importorskip("matplotlib.pyplot")
    shown = []
    stand_in = SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=stand_in))
    monkeypatch.setitem(sys.modules, "IPython.display", stand_in)
    monkeypatch.setattr(plt, "isinteractive", lambda: is_interactive)
    return shown


def test_a_display_in_a_notebook_shows_its_picture_once_and_no_text(monkeypatch, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    drawn = [result().plot(), IntervalDisplay.from_result(result())]
    shown = shown_by_ipython(monkeypatch, is_interactive=True)
    for display in drawn:
        display._ipython_display_()
    # The notebook draws the figures that pyplot holds, at the end of the cell that made them.
    assert shown == []
    plt.close("all")
    for display in drawn:
        display._ipython_display_()
    assert shown == [display.figure_ for display in drawn]
    assert capsys.readouterr().out == ""


def test_a_display_is_shown_where_pyplot_shows_no_figures_by_itself(monkeypatch):
    pytest.importorskip("matplotlib")
    display = result().plot()
    shown = shown_by_ipython(monkeypatch, is_interactive=False)
    display._ipython_display_()
    assert shown == [display.figure_]


def test_a_display_that_is_not_drawn_is_shown_as_text():
    with pytest.raises(NotImplementedError):
        IntervalDisplay(estimates=[0.5], lows=[0.4], highs=[0.6], names=["a"])._ipython_display_()


def test_labels_of_pairs_keep_both_names():
    pytest.importorskip("matplotlib")
    one, other, short = (
        "a very long name of a system, version 1",
        "a very long name of a system, version 2",
        "A",
    )
    truth = np.arange(60) % 2
    systems = {
        name: np.where(np.arange(60) % k == 0, 1 - truth, truth)
        for name, k in ((short, 9), ("B", 7), (one, 5), (other, 4))
    }
    display = compare_systems(truth, systems, random_state=0).plot()
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "a very lo…ersion 1 - a very lo…ersion 2" in labels
    assert max(map(len, labels)) <= 40
    assert "A - B" in labels
    assert sum(label.startswith("A - a very long name") for label in labels) == 2
