"""Keep copies of a row together where an estimator cross-validates inside a bootstrap sample.

A bootstrap sample holds rows several times. A search inside it that splits these rows at random
has copies of one row on both sides of its folds, and prefers what remembers rows. Here the inner
splitter sees every row once, and the copies follow.

`group_copies` changes an estimator before it is fitted; `left_as_they_are` names the parameters
that cannot be changed this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import PredefinedSplit, check_cv

from .._base.sklearn_compat import n_rows_of, take

# Estimators for which cv=None is not five folds, but none at all (chains) or a closed form of
# leaving one row out (ridge).
_NONE_IS_NO_FOLDS = {"ClassifierChain", "RegressorChain"}
_NONE_IS_CLOSED_FORM = {"RidgeCV", "RidgeClassifierCV"}
_OWN_FOLDS = {"TargetEncoder"}
# Rows above which scikit-learn's gradient boosting stops early by early_stopping="auto".
_LARGE_FOR_EARLY_STOPPING = 10_000


class UniqueRowsSplit:
    """Split the distinct rows by another splitter; copies go where their row goes.

    Parameters
    ----------
    cv : int, None or splitter
        What splits the distinct rows.
    ids : ndarray of shape (n_train,)
        Equal for copies of one row.
    classifier : bool
        Whether an int or None makes stratified folds of class labels.
    """

    def __init__(self, cv: Any, ids: NDArray[np.intp], classifier: bool) -> None:
        self.cv, self.classifier = cv, classifier
        _, self._first, self._copy_of = np.unique(ids, return_index=True, return_inverse=True)
        # Successive halving asks whether the splits are the same at every call.
        self.random_state = getattr(cv, "random_state", 0) if getattr(cv, "shuffle", True) else 0

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield training and test rows, copies included."""
        if n_rows_of(X) != len(self._copy_of):
            # An earlier step has left out or made rows, so that copies cannot be recognised.
            yield from check_cv(self.cv, y, classifier=self.classifier).split(X, y, groups)
            return
        distinct = (
            np.empty((len(self._first), 0)),
            *(self._distinct(values) for values in (y, groups)),
        )
        splitter = check_cv(self.cv, distinct[1], classifier=self.classifier)
        for train, test in splitter.split(*distinct):
            yield self._with_copies(train), self._with_copies(test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits of the other splitter."""
        y, groups = self._distinct(y), self._distinct(groups)
        return int(check_cv(self.cv, y, classifier=self.classifier).get_n_splits(X, y, groups))

    def get_metadata_routing(self) -> Any:
        """Ask for what the other splitter asks for."""
        return check_cv(self.cv).get_metadata_routing()

    def _distinct(self, values: Any) -> Any:
        has_copies = values is not None and n_rows_of(values) == len(self._copy_of)
        return take(values, self._first) if has_copies else values

    def _with_copies(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        chosen = np.zeros(len(self._first), dtype=bool)
        chosen[rows] = True
        return np.flatnonzero(chosen[self._copy_of])


def wrapped(estimator: Any, params: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the parameters that `group_copies` replaces, and whether a classifier owns each."""
    return [
        (key, bool(is_classifier(owner)))
        for key, owner in _owners_of_cv(estimator, params)
        if _can_be_wrapped(owner, params[key])
    ]


def group_copies(estimator: Any, ids: NDArray[np.intp], keys: Sequence[tuple[str, bool]]) -> None:
    """Make inner cross-validation of an estimator keep rows of equal id together, in place.

    `keys` are what `wrapped` found in this estimator, or in the one that it is a clone of.
    """
    params = estimator.get_params(deep=True)
    for key, classifier in keys:
        estimator.set_params(**{key: UniqueRowsSplit(params[key], ids, classifier)})


def left_as_they_are(estimator: Any, n_rows: int) -> list[str]:
    """Parameters of inner cross-validation and early stopping that copies leak through."""
    params = estimator.get_params(deep=True)
    outermost = {key for key, _ in _owners_of_cv(estimator, params)}
    names = []
    for key in sorted(params):
        owner = _owner(estimator, params, key)
        name, value = key.rpartition("__")[2], params[key]
        if name == "cv" and _cross_validates(owner, value):
            if key not in outermost or not _can_be_wrapped(owner, value):
                short = value is None or isinstance(value, str | Integral)
                names.append(f"{key}={value!r}" if short else key)
        elif _stops_early(owner, name, value, n_rows):
            names.append(f"{key}={value!r}")
    return names


def _owners_of_cv(estimator: Any, params: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return each ``cv`` parameter that is not below another one, and the estimator it is of."""
    owners = []
    for key in sorted(params):
        prefix, _, name = key.rpartition("__")
        if name != "cv" or any(
            _cross_validates(_owner(estimator, params, above), params[above])
            for above in _above(prefix)
            if above in params
        ):
            continue
        owners.append((key, _owner(estimator, params, key)))
    return owners


def _above(prefix: str) -> list[str]:
    """Return the names of the ``cv`` parameters of all estimators around the one at a prefix."""
    parts = prefix.split("__") if prefix else []
    return ["__".join([*parts[:depth], "cv"]) for depth in range(len(parts))]


def _owner(estimator: Any, params: Mapping[str, Any], key: str) -> Any:
    prefix = key.rpartition("__")[0]
    return params[prefix] if prefix else estimator


def _cross_validates(owner: Any, cv: Any) -> bool:
    return not (cv is None and type(owner).__name__ in _NONE_IS_NO_FOLDS)


def _can_be_wrapped(owner: Any, cv: Any) -> bool:
    name = type(owner).__name__
    if name in _OWN_FOLDS or not _cross_validates(owner, cv):
        return False
    if cv is None:
        return name not in _NONE_IS_CLOSED_FORM
    if isinstance(cv, PredefinedSplit | UniqueRowsSplit):
        return False
    return hasattr(cv, "split") or (isinstance(cv, Integral) and not isinstance(cv, bool))


def _stops_early(owner: Any, name: str, value: Any, n_rows: int) -> bool:
    if name == "early_stopping":
        return value is True or (value == "auto" and n_rows > _LARGE_FOR_EARLY_STOPPING)
    # n_iter_no_change switches early stopping on in estimators without early_stopping=.
    is_switch = name == "n_iter_no_change" and not hasattr(owner, "early_stopping")
    return is_switch and value is not None
