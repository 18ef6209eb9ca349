"""Splitters that train on bootstrap samples, and test on the rows left out."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, check_cv
from sklearn.utils import indexable

from .._base.checks import check_count, check_groups, check_rows, check_seed, fail, numbered_labels
from .._base.doors import door
from .._base.errors import warn_user
from .._base.sklearn_compat import with_exact_integers
from .._base.work import child_seed

__all__ = [
    "BootstrapSplit",
    "BootstrapTestSplit",
    "GroupBootstrapSplit",
    "SeedSplit",
    "StratifiedBootstrapSplit",
]


# Bases of the splitters: units drawn within strata, and folds that are repeated.


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
        rows = np.arange(len(unit))
        return (
            (rng.permutation(np.repeat(rows, n_drawn[unit])), rows[n_drawn[unit] == 0])
            for n_drawn, rng in draws_that_leave_some_out(strata, self.n_splits, seed)
        )

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


def draws_that_leave_some_out(
    strata: list[np.ndarray], n_splits: int, seed: np.random.SeedSequence
) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Yield how often each split draws each unit, and the stream of the split.

    Units are drawn within strata, again where none of a stratum is left out. The array, (n_units,),
    is the same each time; the stream has drawn the units and nothing else.
    """
    n_drawn = np.zeros(sum(map(len, strata)), dtype=np.intp)
    # A copy spawns in place of the seed, which stays as it is for the next call.
    parent = child_seed(seed)
    for _ in range(n_splits):
        rng = np.random.default_rng(parent.spawn(1)[0])
        for members in strata:
            n_units = len(members)
            for _ in range(_MAX_DRAWS):
                times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
                if not times.all():
                    break
            else:
                raise RuntimeError(
                    f"{_MAX_DRAWS} draws of {n_units} units in a row left no unit out."
                )
            n_drawn[members] = times
        yield n_drawn, rng


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


class BootstrapSplit(OutOfBagSplit):  # numpydoc ignore=PR02
    """Train on rows drawn with replacement, test on the rows left out of the draw.

    Every split draws `n_samples` training rows with replacement; about 36.8% of the rows are
    never drawn and form the test side (out-of-bag). A training side holds about 63.2% of the
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
    side is never empty: this concerns 9.4% of draws at n_samples = 4, and one in 2756 at 10. The
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
        strata = rows_by_class(y)
        return np.arange(sum(map(len, strata))), strata


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


def rows_by_class(y: Any) -> list[np.ndarray]:
    """Return the rows of each class, in sorted order; refuse classes of a single row."""
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
    return np.split(np.argsort(code.ravel(), kind="stable"), np.cumsum(n_rows)[:-1])


# A splitter that yields every split of another one for several seeds.


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


# A splitter that draws the test sides of another one again and again.


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
