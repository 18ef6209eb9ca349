"""A splitter that yields every split of another one for several seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.utils import indexable

from .._base.checks import check_count
from .._base.doors import door
from .._base.sklearn_compat import with_exact_integers
from .bases import RepeatedFolds, Split, check_inner_cv, resolve_cv

__all__ = ["SeedSplit"]


class SeedSplit(RepeatedFolds):
    """Give each split of `cv` once per seed, to measure the seed variance of a score.

    A splitter does not seed an estimator. The repeats differ because an estimator with
    ``random_state=None`` takes fresh randomness at every fit. With an int, or a `RandomState`
    (which is copied for every fit), all repeats are equal, which wrongly shows a seed variance of
    zero.

    Parameters
    ----------
    n_seeds : int
        How often each split is given.
    cv : int, splitter, iterable of (train, test) or None, default=None
        The splits; None is five folds. An int or None makes stratified folds where `y` holds
        class labels (see Notes).

    Notes
    -----
    The order is seed-major: all splits of `cv`, then all of them again. So
    ``scores.reshape(n_seeds, -1)`` has a row per seed and a column per split; the spread down a
    column is due to the seed, the spread between column means also to the data. `cv` is asked for
    its splits once per call, so a random `cv` repeats the same splits for every seed. The
    successive halving searches call several times: give a random `cv` an int seed there.

    scikit-learn stratifies folds if the estimator is a classifier, which a splitter cannot see.
    Here an int `cv` is stratified if `y` looks like class labels: floats where every value has at
    least one row per fold, other types where some value has. Pass a splitter to choose yourself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skboot import SeedSplit
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_features=1, random_state=None)
    >>> scores = cross_val_score(tree, X, y, cv=SeedSplit(4))
    >>> scores.reshape(4, -1).shape
    (4, 5)
    """

    @door("SeedSplit")
    def __init__(self, n_seeds: int, cv: Any = None) -> None:
        self.n_seeds = check_count("n_seeds", n_seeds, 1)
        self.cv = check_inner_cv(cv)

    @door(".split")
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Generate all splits of `cv`, once per seed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data, passed to `cv`.
        y : array-like of shape (n_samples,), default=None
            The target, passed to `cv`.
        groups : array-like of shape (n_samples,), default=None
            Passed to `cv`, which may need or ignore them.

        Returns
        -------
        iterator of (train, test)
            As `cv` gives them, seed-major.
        """
        X, y, groups = indexable(X, with_exact_integers(y), groups)
        folds = list(resolve_cv(self.cv, y).split(X, y, groups))
        return (fold for _ in range(self.n_seeds) for fold in folds)

    def _n_repeats(self) -> int:
        return self.n_seeds
