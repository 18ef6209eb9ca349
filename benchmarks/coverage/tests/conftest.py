"""Tests of the studies draw as the tests of the package do."""

import os

from fresh_entropy import pytest_runtest_setup  # noqa: F401 (a hook)

os.environ.setdefault("MPLBACKEND", "Agg")
