"""Bases of the splitters: units drawn within strata, and folds that are repeated."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, check_cv
from sklearn.utils import indexable

from .._base.checks import check_count, check_groups, check_seed, fail
from .._base.doors import door
from .._base.streams import child_seed
from .._base.warnings import warn_user

Split = tuple[np.ndarray, np.ndarray]

# Maximum number of draws for a split, after which an error is raised. A draw leaves no unit out
# with probability 1/2 at most: only a broken generator, which would hang the caller, gets there.
_MAX_DRAWS = 1000


class OutOfBagSplit(BaseShuffleSplit):
    """Base of the three bootstrap splitters: draw units within strata, test on the others."""

    @door(".")
    def __init__(self, n_splits: int = 200, *, random_state: Any = None) -> None:
        self.n_splits = check_count("n_splits", n_splits, 1)
        self.random_state = random_state

    @door(".split")
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Generate the training and test rows of every split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data; only the number of rows is used.
        y : array-like of shape (n_samples,) or (n_samples, n_labels), default=None
            The class labels `StratifiedBootstrapSplit` needs; not used otherwise.
        groups : array-like of shape (n_samples,), default=None
            The groups `GroupBootstrapSplit` needs; ignored with a warning otherwise.

        Returns
        -------
        iterator of (train, test)
            Int arrays: `train` holds the drawn rows as often as they were drawn, in random order,
            `test` the rows that were not drawn, in rising order.

        Raises
        ------
        ValueError
            If there are fewer than two rows (of a class, when stratified) or groups, if what is
            needed of `y` and `groups` is missing or has missing values, if `y` to stratify by is
            continuous, or if `random_state` is of no known type.
        """
        X, y, groups = indexable(X, y, groups)
        unit, strata = self._units(X, y, groups)
        seed = check_seed(self.random_state)
        return _out_of_bag_splits(unit, strata, self.n_splits, seed)

    @abstractmethod
    def _units(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the unit of every row, (n_samples,), and the units of every stratum."""

    def _warn_of_ignored_groups(self, groups: Any) -> None:
        if groups is not None:
            warn_user(f"The groups parameter is ignored by {type(self).__name__}")


class RepeatedFolds(BaseCrossValidator):
    """Base of the splitters that give every split of another splitter several times."""

    __metadata_request__split: ClassVar = {"groups": True}
    cv: Any

    @door(".get_n_splits")
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits: those of `cv` times the repeats of each.

        Parameters
        ----------
        X, y, groups : array-like of shape (n_samples, ...), default=None
            Passed to `cv`, which may need them to count its splits.

        Returns
        -------
        int
            The number of pairs that `split` yields.
        """
        return self._n_repeats() * int(resolve_cv(self.cv, y).get_n_splits(X, y, groups))

    @abstractmethod
    def _n_repeats(self) -> int:
        """How often each split of `cv` is yielded."""


def _out_of_bag_splits(
    unit: np.ndarray, strata: list[np.ndarray], n_splits: int, seed: np.random.SeedSequence
) -> Iterator[Split]:
    """Draw units within strata; yield shuffled drawn rows, and the rows of no drawn unit."""
    rows = np.arange(len(unit))
    n_drawn = np.zeros(sum(map(len, strata)), dtype=np.intp)
    # A copy spawns in place of the seed, which stays as it is for the next call.
    parent = child_seed(seed)
    for _ in range(n_splits):
        rng = np.random.default_rng(parent.spawn(1)[0])
        for members in strata:
            n_drawn[members] = _draw_leaving_some_out(rng, len(members))
        weight = n_drawn[unit]
        yield rng.permutation(np.repeat(rows, weight)), rows[weight == 0]


def _draw_leaving_some_out(rng: np.random.Generator, n_units: int) -> np.ndarray:
    """Return how often each of `n_units` was drawn, (n_units,), given that one never was."""
    for _ in range(_MAX_DRAWS):
        n_drawn = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        if not n_drawn.all():
            return n_drawn
    raise RuntimeError(f"{_MAX_DRAWS} draws of {n_units} units in a row left no unit out.")


def check_inner_cv(cv: Any) -> Any:
    """Refuse what scikit-learn refuses as `cv`, and keep an iterator's splits for every call."""
    if isinstance(cv, Iterator) and not hasattr(cv, "split"):
        cv = list(cv)
    # Bytes have a method of that name that splits no rows; scikit-learn refuses text alone.
    check_cv(str(cv) if isinstance(cv, bytes | bytearray) else cv)
    return cv


def resolve_cv(cv: Any, y: Any) -> Any:
    """Return a splitter for `cv`: five folds for None, stratified where y looks like classes."""
    if inspect.ismodule(cv):
        raise fail("cv", "be an int, a splitter, folds or None", f"the module {cv.__name__}")
    n_folds = 5 if cv is None else cv
    are_folds = isinstance(n_folds, (int, np.integer))
    return check_cv(cv, y, classifier=are_folds and _looks_like_classes(y, n_folds))


def _looks_like_classes(y: Any, n_folds: int) -> bool:
    """Guess what scikit-learn learns from ``is_classifier(estimator)``; see `SeedSplit`, Notes."""
    values = np.asarray(y)
    if values.ndim == 0 or values.size == 0 or values.size != len(values):
        return False
    try:
        n_rows_of_value = np.unique(values, return_counts=True)[1]
    except TypeError:
        # Labels of mixed types are for the estimator to judge; plain folds do not look at y.
        return False
    needed = np.min if values.dtype.kind == "f" else np.max
    return bool(needed(n_rows_of_value) >= n_folds)


def group_codes(groups: Any) -> np.ndarray:
    """Number the groups from 0, in sorted order; return the number of every row's group."""
    must = "be an array-like of shape (n_samples,)"
    if groups is None:
        raise fail(
            "groups",
            must,
            "None",
            "Pass groups=..., or params={'groups': ...} with metadata routing. Some tools of "
            "scikit-learn, SequentialFeatureSelector and CalibratedClassifierCV among them, pass "
            "groups on only after sklearn.set_config(enable_metadata_routing=True).",
        )
    code = check_groups(groups)
    if code.ndim > 1:
        raise fail("groups", must, f"shape {code.shape}")
    return code
