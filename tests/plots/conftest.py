"""Figures are closed after each test."""

import pytest


@pytest.fixture(autouse=True)
def _closed():
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")
