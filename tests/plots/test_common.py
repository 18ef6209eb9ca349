"""What all displays do."""

import sys

import pytest
from displayed import result

from skboot.plots import BootstrapDistributionDisplay, IntervalDisplay


def test_without_matplotlib_displays_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (BootstrapDistributionDisplay.from_result, IntervalDisplay.from_result):
        with pytest.raises(ImportError, match=r"Display.plot needs matplotlib.*skboot\[plot\]"):
            draw(result())
