"""A splitter that draws the test sides of another one again and again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import indexable

from .._base.checks import check_count, check_seed, fail
from .._base.doors import door
from .._base.sklearn_compat import with_exact_integers
from .._base.streams import child_seed
from .bases import RepeatedFolds, Split, check_inner_cv, group_codes, resolve_cv

__all__ = ["BootstrapTestSplit"]


class BootstrapTestSplit(RepeatedFolds):
    """Keep every training side of `cv`, and resample its test side with replacement.

    Meant for fitted models in a `sklearn.frozen.FrozenEstimator`: nothing is trained again, and the
    scores show what other test sets of the same size would have given for this model.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        Where the test sides come from. To resample one whole test set, pass
        ``[(rows, rows)]`` with ``rows = np.arange(n_samples)``. An int, or None for five folds,
        makes stratified folds where `y` holds class labels, as in `SeedSplit`.
    n_resamples : int, default=200
        Number of resamples of each test side.
    random_state : int, SeedSequence, RandomState, Generator or None, default=None
        Seeds the resampling of test rows, not `cv`. An int or a `numpy.random.SeedSequence` (never
        spawned) gives the same splits at every call; a `RandomState` or `Generator` is drawn from,
        so the next call differs; None takes fresh entropy. The successive halving searches accept
        an int only, and need one in a random `cv` as well.

    Notes
    -----
    With an estimator that is not frozen, the same training side is fitted `n_resamples` times, and
    an estimator with ``random_state=None`` mixes in its seed variance.

    With `groups`, whole groups of a test side are resampled, whether or not `cv` itself uses
    groups. Splits are in the order of `cv`: the `n_resamples` of its first test side, then those of
    its second.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from skboot import BootstrapTestSplit
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.tile([0, 0, 0, 1, 0, 1, 1, 1], 5)
    >>> model = FrozenEstimator(LogisticRegression().fit(X, y))
    >>> rows = np.arange(40)
    >>> cv = BootstrapTestSplit([(rows, rows)], n_resamples=100, random_state=0)
    >>> cross_val_score(model, X, y, cv=cv).shape
    (100,)
    """

    @door("BootstrapTestSplit")
    def __init__(self, cv: Any, *, n_resamples: int = 200, random_state: Any = None) -> None:
        self.cv = check_inner_cv(cv)
        self.n_resamples = check_count("n_resamples", n_resamples, 1)
        self.random_state = random_state

    @door(".split")
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Generate the training side of `cv` with each resample of its test side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data, passed to `cv`.
        y : array-like of shape (n_samples,), default=None
            The target, passed to `cv`.
        groups : array-like of shape (n_samples,), default=None
            The group of every row; whole groups are resampled. Also passed to `cv`.

        Returns
        -------
        iterator of (train, test)
            `train` as `cv` gives it; `test` holds the rows as often as they were drawn.

        Raises
        ------
        ValueError
            If a test side of `cv` has fewer than two rows (or groups), or `random_state` is of no
            known type.
        """
        X, y, groups = indexable(X, with_exact_integers(y), groups)
        code = None if groups is None else group_codes(groups)
        with warnings.catch_warnings():
            # Groups are used to draw test sides even where cv itself ignores them.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored by")
            folds = list(resolve_cv(self.cv, y).split(X, y, groups))
        sides = [(train, *_test_units(test, code)) for train, test in folds]
        seed = check_seed(self.random_state)
        return _test_resamples(sides, self.n_resamples, seed)

    def _n_repeats(self) -> int:
        return self.n_resamples


def _test_units(test: Any, code: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a test side and the unit of each, counted from 0."""
    test = np.asarray(test)
    if test.dtype == bool:
        test = np.flatnonzero(test)
    if test.ndim != 1 or (test.size and test.dtype.kind not in "iu"):
        must = "give test sides as arrays of row numbers"
        raise fail("cv", must, f"{test.dtype} of shape {test.shape}")
    unit = np.arange(len(test)) if code is None else np.unique(code[test], return_inverse=True)[1]
    n_units = int(unit.max()) + 1 if len(unit) else 0
    if n_units < 2:
        kind = "row" if code is None else "group"
        raise fail(
            "cv",
            f"give test sides of at least two {kind}s",
            f"one with {n_units}, which shows no spread when it is resampled",
            "Use larger test sides.",
        )
    return test, unit


def _test_resamples(
    sides: list[tuple[Any, np.ndarray, np.ndarray]], n_resamples: int, seed: np.random.SeedSequence
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield each (train, resampled test); a stream per resample, so both counts can grow."""
    for side, (train, test, unit) in enumerate(sides):
        n_units, parent = int(unit.max()) + 1, child_seed(seed, side)
        for _ in range(n_resamples):
            rng = np.random.default_rng(parent.spawn(1)[0])
            n_drawn = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
            yield train, np.repeat(test, n_drawn[unit])
