"""Tiny named data sets. Each is one situation; the name says which."""

import os
from typing import NamedTuple

import numpy as np
import pytest
from fresh_entropy import pytest_runtest_setup  # noqa: F401 (a hook)
from sklearn.utils import validation

os.environ.setdefault("MPLBACKEND", "Agg")

# The scripts behind the references need packages that the tests do not; the calls are read by mypy
# in test_typing.py, never run.
collect_ignore = ["references", "typing_of_calls"]


def _arrays_are_no_data_frames():
    """Answer for arrays what takes a third of the time of each of scikit-learn's metrics.

    Since 1.9 its checks ask narwhals of each argument, by looking up attributes of a dozen
    packages, whether it is a data frame. An array is none.
    """
    asked = getattr(validation, "_nw_into_df_or_series", None)
    if asked is not None:
        validation._nw_into_df_or_series = lambda x: type(x) is not np.ndarray and asked(x)


_arrays_are_no_data_frames()


def pytest_configure(config):
    """Leave out the cases of `make slow` before they are made where none of them will run."""
    if config.getoption("markexpr").strip().startswith("not slow"):
        os.environ.setdefault("SKBOOT_IDENTITY_SEEDS", "0")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no examples in their docstrings: what would look for some is left out."""
    return [part for part in (yield) if type(part) is pytest.Module]


@pytest.fixture(autouse=True)
def _few_repeats_of_monte_carlo_errors(request, monkeypatch):
    """Both sides of an identity have the error of as many repeats."""
    if request.node.get_closest_marker("identity"):
        from skboot.results import basis

        monkeypatch.setattr(basis, "_N_REPEATS", 25)


class Predictions(NamedTuple):
    """Labels and what a system said about them; `groups` is None where rows are independent."""

    y_true: np.ndarray  # (n_samples,)
    y_pred: np.ndarray  # (n_samples,)
    y_score: np.ndarray  # (n_samples,), or (n_samples, n_classes) probabilities
    groups: np.ndarray | None = None  # (n_samples,) or (n_samples, 2)


def _binary(rng, y_true, separation=1.5, groups=None):
    # Scores of one decimal: ties are the rule, as with real systems.
    y_score = np.round(rng.normal(size=len(y_true)) + separation * y_true, 1)
    return Predictions(y_true, (y_score > separation / 2).astype(int), y_score, groups)


@pytest.fixture
def separable():
    """40 rows, no error, and a score that separates the classes."""
    y_true = np.tile([0, 1], 20)
    return Predictions(y_true, y_true.copy(), y_true + np.linspace(0, 0.5, 40))


@pytest.fixture
def balanced():
    """60 independent rows of two classes, some errors, tied scores."""
    return _binary(np.random.default_rng(0), np.tile([0, 1], 30))


@pytest.fixture
def imbalanced():
    """200 independent rows, 8 of them positive."""
    y_true = np.zeros(200, dtype=int)
    y_true[::25] = 1
    return _binary(np.random.default_rng(1), y_true)


@pytest.fixture
def three_classes():
    """90 rows of string classes, one of which has 3 rows and is missing in some resamples."""
    rng = np.random.default_rng(2)
    classes = np.array(["ant", "bee", "cat"])
    y_true = classes[np.repeat([0, 1, 2], [60, 27, 3])]
    logits = rng.normal(size=(90, 3)) + 1.5 * (y_true[:, None] == classes)
    y_score = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Predictions(y_true, classes[y_score.argmax(axis=1)], y_score)


@pytest.fixture
def one_group_per_row(balanced):
    """Groups that change nothing: each row is its own."""
    return balanced._replace(groups=np.arange(60))


@pytest.fixture
def unequal_groups():
    """12 groups of 1 to 12 rows, in mixed order; the errors of a group go together."""
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat([f"patient {i}" for i in range(12)], np.arange(1, 13)))
    y_true = rng.integers(0, 2, size=len(groups))
    _, codes = np.unique(groups, return_inverse=True)
    wrong = rng.random(len(groups)) < np.linspace(0, 0.6, 12)[codes]
    y_pred = np.where(wrong, 1 - y_true, y_true)
    y_score = np.round(y_pred + rng.normal(scale=0.6, size=len(groups)), 1)
    return Predictions(y_true, y_pred, y_score, groups)


@pytest.fixture
def crossed_trials():
    """Every pair of 9 enrolled speakers and 7 test clips: two crossed factors."""
    rng = np.random.default_rng(4)
    enrolled, clip = (side.ravel() for side in np.meshgrid(np.arange(9), np.arange(7)))
    y_true = (enrolled % 3 == clip % 3).astype(int)
    return _binary(rng, y_true, groups=np.column_stack([enrolled, clip]))


@pytest.fixture
def trials_of_one_population():
    """Unordered trials among 10 speakers, each also against itself: one population."""
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(10)
    y_true = (first == second).astype(int)
    return _binary(rng, y_true, groups=np.column_stack([first, second]))
