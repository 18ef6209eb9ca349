"""Settings of the whole folder that keep its calls cheap."""

import os

import pytest

from skboot.results import basis


def pytest_configure(config):
    """Leave out the cases of `make slow` before they are made where none of them will run."""
    if config.getoption("markexpr").strip().startswith("not slow"):
        os.environ.setdefault("SKBOOT_IDENTITY_SEEDS", "0")


@pytest.fixture(autouse=True)
def _few_repeats_of_monte_carlo_errors(monkeypatch):
    """Both sides of an identity have the error of as many repeats."""
    monkeypatch.setattr(basis, "_N_REPEATS", 25)
