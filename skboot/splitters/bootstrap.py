"""Splitters that train on bootstrap samples, and test on the rows left out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._base.checks import check_rows, fail, numbered_labels
from .bases import OutOfBagSplit, group_codes

__all__ = ["BootstrapSplit", "GroupBootstrapSplit", "StratifiedBootstrapSplit"]


class BootstrapSplit(OutOfBagSplit):  # numpydoc ignore=PR02
    """Train on rows drawn with replacement, test on the rows left out of the draw.

    Every split draws `n_samples` training rows with replacement; about 36.8 % of the rows are
    never drawn and form the test side (out-of-bag). A training side holds about 63.2 % of the
    distinct rows, so the scores are those of a method that saw less data: their mean is biased
    low, and percentiles over them describe single runs, not the uncertainty of the mean.

    Parameters
    ----------
    n_splits : int, default=200
        Number of bootstrap samples.
    random_state : int, SeedSequence, RandomState, Generator or None, default=None
        An int or a `numpy.random.SeedSequence` (never spawned) gives the same splits at every
        call; a `RandomState` or `Generator` is drawn from, so the next call differs; None takes
        fresh entropy. The successive halving searches accept an int only.

    See Also
    --------
    StratifiedBootstrapSplit : Draws within classes.
    GroupBootstrapSplit : Draws whole groups.

    Notes
    -----
    A draw that leaves no row out is repeated from the random stream of its own split, so the test
    side is never empty: this concerns 9.4 % of draws at n_samples = 4, and one in 2756 at 10. The
    first 100 of 200 splits are the splits of ``n_splits=100``. The order of the training rows is
    random, duplicates included, as `learning_curve` needs.

    Cross-validation *inside* a training side has copies of rows on both sides of its folds and is
    far too optimistic.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on
    cross-validation. Journal of the American Statistical Association 78, 316-331.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import BootstrapSplit
    >>> cv = BootstrapSplit(n_splits=2, random_state=0)
    >>> for train, test in cv.split(np.zeros((10, 2))):
    ...     print(len(train), set(test) == set(range(10)) - set(train))
    10 True
    10 True
    """

    def _units(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        self._warn_of_ignored_groups(groups)
        # A sparse matrix has no len(), a list no shape.
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_samples < 2:
            must = "have at least two rows, one to train on and one to test on"
            raise fail("X", must, str(n_samples))
        rows = np.arange(n_samples)
        return rows, [rows]


class StratifiedBootstrapSplit(OutOfBagSplit):  # numpydoc ignore=PR02
    """Train on rows drawn with replacement within each class, test on the rows left out.

    Every class keeps its number of training rows, and every class has rows on both sides of
    every split; a class with a single row is refused.

    Parameters
    ----------
    n_splits : int, default=200
        Number of bootstrap samples.
    random_state : int, SeedSequence, RandomState, Generator or None, default=None
        An int or a `numpy.random.SeedSequence` (never spawned) gives the same splits at every
        call; a `RandomState` or `Generator` is drawn from, so the next call differs; None takes
        fresh entropy. The successive halving searches accept an int only.

    See Also
    --------
    BootstrapSplit : Draws from all rows, so that class sizes vary as they would in new data.

    Notes
    -----
    A class of which every row was drawn is drawn again, from the random stream of its own split.
    Classes are drawn independently, so this is the stratified bootstrap conditional on no class
    being missing out-of-bag. Multilabel targets are stratified by distinct rows, as in
    `sklearn.model_selection.StratifiedShuffleSplit`.

    Stratified samples show less spread than data with random class sizes: use this splitter when
    class sizes are fixed by design, or when a rare class would otherwise be missed.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import StratifiedBootstrapSplit
    >>> y = np.array(["ham"] * 7 + ["spam"] * 3)
    >>> cv = StratifiedBootstrapSplit(n_splits=2, random_state=0)
    >>> for train, test in cv.split(np.zeros((10, 2)), y):
    ...     print(sorted(y[train]).count("spam"), sorted(set(y[test].tolist())))
    3 ['ham', 'spam']
    3 ['ham', 'spam']
    """

    def _units(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        self._warn_of_ignored_groups(groups)
        code = _class_codes(y)
        by_class = np.argsort(code, kind="stable")
        return np.arange(len(code)), np.split(by_class, np.cumsum(np.bincount(code))[:-1])


class GroupBootstrapSplit(OutOfBagSplit):  # numpydoc ignore=PR02
    """Train on whole groups drawn with replacement, test on the groups left out of the draw.

    As many groups are drawn as there are; all rows of a group come along as often as the group
    was drawn, and no group is on both sides of a split.

    Parameters
    ----------
    n_splits : int, default=200
        Number of bootstrap samples.
    random_state : int, SeedSequence, RandomState, Generator or None, default=None
        An int or a `numpy.random.SeedSequence` (never spawned) gives the same splits at every
        call; a `RandomState` or `Generator` is drawn from, so the next call differs; None takes
        fresh entropy. The successive halving searches accept an int only.

    See Also
    --------
    sklearn.model_selection.GroupShuffleSplit : Groups drawn without replacement.

    Notes
    -----
    A draw that leaves no group out is repeated from the random stream of its own split. Groups of
    different sizes make training sides of different lengths. `learning_curve` takes the length of
    the first one for all: the largest steps of shorter ones hold fewer rows than they say.

    With metadata routing, groups are requested by default. Without it, `SequentialFeatureSelector`,
    `TunedThresholdClassifierCV` and `CalibratedClassifierCV` do not pass groups on.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import GroupBootstrapSplit
    >>> speaker = np.repeat(["ann", "bob", "cem", "dua"], 5)
    >>> cv = GroupBootstrapSplit(n_splits=2, random_state=0)
    >>> for train, test in cv.split(np.zeros((20, 2)), groups=speaker):
    ...     print(len(train), set(speaker[train]) & set(speaker[test]))
    20 set()
    20 set()
    """

    __metadata_request__split: ClassVar = {"groups": True}

    def _units(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        code = group_codes(groups)
        return code, [np.arange(code.max() + 1)]


def _class_codes(y: Any) -> np.ndarray:
    """Number the classes from 0, in sorted order; return the number of every row's class."""
    if y is None:
        raise fail("y", "be an array-like of class labels", "None")
    values = check_rows("y", y)
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        advice = "Use BootstrapSplit."
        raise fail("y", "be class labels", "a continuous target", advice)
    if values.dtype.kind == "O":
        for column in values.reshape(len(values), -1).T:
            numbered_labels("y", column)
    # With several labels per row a class is a distinct row of labels.
    axis = 0 if values.ndim > 1 else None
    classes, code, n_rows = np.unique(values, axis=axis, return_inverse=True, return_counts=True)
    if n_rows.min() < 2:
        raise fail(
            "y",
            "have at least two rows of each class, one to train on and one to test on",
            f"one row of each class in {classes[n_rows < 2].tolist()}",
            "Merge or leave out such classes, or use BootstrapSplit.",
        )
    # numpy 2.0 gives the codes of rows a second axis.
    return code.ravel()
