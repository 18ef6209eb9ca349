"""The test sets of a fit: one or several by name, checked before any training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.sklearn_compat import with_rows
from .._base.warnings import only_advises
from ..metrics.cost_metrics import SAME_KIND
from ..refit.scoring import weights_of_rows
from ..refit.training import HeldOut


@dataclass(frozen=True, eq=False)
class HeldOutSets:
    """The test sets of a call.

    Attributes
    ----------
    names : list
        As the user named them; a single None for a test set that is not in a dict.
    rows : list of HeldOut
    groups : list of ndarray or None
        Group of each test row.
    weights : list of ndarray or None
        Weight of each test row.
    """

    names: list[Any]
    rows: list[HeldOut]
    groups: list[Any]
    weights: list[Any]

    @property
    def are_weighted(self) -> bool:
        """Whether the rows of a test set have weights."""
        return any(own is not None for own in self.weights)


def held_out_sets(
    X_test: Any, y_test: Any, groups_test: Any, sample_weight_test: Any
) -> HeldOutSets:
    """Check the test sets, one or a dict of them."""
    if X_test is None or y_test is None:
        missing = "X_test" if X_test is None else "y_test"
        raise check.fail(missing, "be given with the rest of the test set", "None")
    if not isinstance(X_test, dict):
        rows = _rows("", X_test, y_test)
        weights = weights_of_rows("sample_weight_test", sample_weight_test, len(rows.y))
        return HeldOutSets([None], [rows], [_groups("", groups_test, rows)], [weights])
    names = list(X_test)
    if not names:
        raise check.fail("X_test", "hold at least one test set", "{}")
    columns = {
        "y_test": y_test,
        "groups_test": groups_test,
        "sample_weight_test": sample_weight_test,
    }
    for name, own in columns.items():
        if own is None:
            continue
        if not isinstance(own, Mapping) or set(own) != set(names):
            given = f"{list(own)}" if isinstance(own, Mapping) else type(own).__name__
            raise check.fail(name, f"be a dict with the keys of X_test, {names}", given)
    groups = dict.fromkeys(names) if groups_test is None else groups_test
    by_set = dict.fromkeys(names) if sample_weight_test is None else sample_weight_test
    rows_of = {name: _rows(f"[{name!r}]", X_test[name], y_test[name]) for name in names}
    return HeldOutSets(
        names,
        list(rows_of.values()),
        [_groups(f"[{name!r}]", groups[name], rows) for name, rows in rows_of.items()],
        [
            weights_of_rows(f"sample_weight_test[{name!r}]", by_set[name], len(rows.y))
            for name, rows in rows_of.items()
        ],
    )


def _rows(of: str, X: Any, y: Any) -> HeldOut:
    check.check_readable(f"X_test{of}", X)
    X = with_rows(X)
    truth = check.check_rows(f"y_test{of}", y)
    check.check_size(f"y_test{of}", truth)
    try:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        must = "be an array-like, a row for each sample"
        raise check.fail(f"X_test{of}", must, type(X).__name__) from None
    if n_rows != len(truth):
        must = f"have as many rows as X_test{of}, {n_rows}"
        raise check.fail(f"y_test{of}", must, f"{len(truth)}")
    if n_rows < 2:
        advice = "One row does not show how much test rows vary."
        raise check.fail(f"X_test{of}", "hold at least two rows", "one row", advice)
    return HeldOut(X, truth)


def _groups(of: str, groups: Any, rows: HeldOut) -> Any:
    if groups is None:
        return None
    name = f"groups_test{of}"
    labels = check.check_rows(name, groups)
    if len(labels) != len(rows.y):
        must = f"have as many rows as y_test{of}, {len(rows.y)}"
        raise check.fail(name, must, f"{len(labels)}")
    with check.arguments_named({"groups": name}):
        if labels.ndim == 2:
            check.check_pairs(labels, False)
        else:
            check.check_groups(labels)
    return labels


@only_advises()
def shared_groups(groups: Any, tests: HeldOutSets) -> list[str]:
    """Return a sentence for each test set that shares groups with the training set."""
    if groups is None:
        return []
    known = set(check.check_column("groups", groups).tolist())
    told = []
    for name, own in zip(tests.names, tests.groups, strict=True):
        shared = set() if own is None else known & set(np.asarray(own).ravel().tolist())
        if shared:
            which = "The test set" if name is None else f"The test set {name!r}"
            told.append(
                f"{which} shares {len(shared)} groups with the training set: the score is that "
                "on known groups, not on new ones."
            )
    return told


def name_in(argument: str, name: Any) -> str:
    """Name the part of an argument that belongs to a test set."""
    return argument if name is None else f"{argument}[{name!r}]"


def check_axes(X: Any, tests: HeldOutSets) -> None:
    """Refuse rows of a test set that have another number of axes than those to train on."""
    given = getattr(X, "ndim", None)
    for name, rows in zip(tests.names, tests.rows, strict=True):
        own = getattr(rows.X, "ndim", given)
        if given is not None and own != given:
            must = f"have {given} axes, as X has"
            raise check.fail(name_in("X_test", name), must, f"{own}")


def check_columns(y: NDArray[Any] | None, tests: HeldOutSets) -> None:
    """Refuse a test set whose targets have other columns than those of the training set."""
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if y is not None and rows.y.shape[1:] != y.shape[1:]:
            must = f"have the columns of y, of shape {y.shape}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, f"shape {rows.y.shape}")


def with_classes_of(classes: NDArray[Any], tests: HeldOutSets) -> NDArray[Any]:
    """Classes of the training set and of all test sets."""
    known = _kind_of(classes)
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if (kind := _kind_of(rows.y)) != known:
            must = f"hold labels of the kind that y holds, {known}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, kind, SAME_KIND)
    return np.unique(np.concatenate([classes, *(rows.y for rows in tests.rows)]))


def _kind_of(labels: NDArray[Any]) -> str:
    """Return what labels are, in a word."""
    kinds = {"M": "dates", "m": "durations"} | dict.fromkeys("biuf", "numbers")
    return kinds.get(labels.dtype.kind, "text")
