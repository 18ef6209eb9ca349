"""From a user's arguments to the checked rows of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.checks import is_column
from .._base.errors import Note, tell
from .rows import Rows, check_truth, labels_of_columns


@dataclass(frozen=True, eq=False)
class Runs:
    """The rows of every run; those on the full training set last."""

    rows: list[Rows]
    n_runs: int

    def named(self, method: str = "") -> list[tuple[str, Rows]]:
        """Return the rows of each run after the argument that its predictions came in."""
        names = _names(self.n_runs, len(self.rows) - self.n_runs, method)
        return list(zip(names, self.rows, strict=True))


@dataclass(frozen=True, eq=False)
class Columns:
    """What the runs of a call share: the truth, the weights and the labels of probabilities."""

    truth: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    labels: NDArray[Any] | None


def checked_columns(
    y_true: ArrayLike | None,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
) -> Columns:
    """Check what all runs share."""
    truth = check_truth(y_true)
    weights = None if sample_weight is None else check.check_weights(sample_weight)
    known = None if labels is None else check.check_labels(labels, truth)
    return Columns(truth, weights, known)


def checked_runs(
    columns: Columns, y_preds: Any, full_runs: Any, varied: str, method: str = ""
) -> Runs:
    """Check the predictions of every run and pair them with the truth by row order.

    ``method`` is its key in messages, such as "['MLP']", where there are several methods.
    """
    predicted = _predictions(f"y_preds{method}", y_preds)
    if len(predicted) < 2:
        raise check.fail(
            f"y_preds{method}",
            "hold the predictions of at least two runs",
            f"{len(predicted)}",
            "For one trained system use bootstrap_score.",
        )
    if len(predicted[0]) < 2:
        must = "hold the predictions for at least two test rows"
        advice = "One row does not show how much test rows vary."
        raise check.fail(f"y_preds{method}", must, "one row", advice)
    full: list[NDArray[Any]] = []
    if full_runs is not None:
        if varied not in ("training", "both"):
            raise check.fail(
                "full_runs",
                f"be None with varied={varied!r}",
                "predictions",
                "These runs used whole training sets already: add them to y_preds.",
            )
        full = _predictions(f"full_runs{method}", full_runs, predicted[0].ndim)
    _check_axes(columns, predicted, f"y_preds{method}")
    return paired_runs(columns, predicted, full, method)


def paired_runs(
    columns: Columns,
    predicted: list[NDArray[Any]],
    full: list[NDArray[Any]],
    method: str = "",
) -> Runs:
    """Pair checked predictions with the truth by row order; see `checked_runs`."""
    truth, weights = columns.truth, columns.weights
    labels, of_column = columns.labels, is_column(truth)
    if labels is None and truth is not None and of_column and predicted[0].ndim == 2:
        labels = labels_of_columns(truth, predicted[0].shape[1])
    names = _names(len(predicted), len(full), method)
    unequal = None if weights is None else check.unequal(weights)
    paired = []
    for name, values in zip(names, predicted + full, strict=True):
        # The truth comes first, because messages name the column that disagrees with it.
        columns_of_call = {"y_true": truth, name: values, "sample_weight": weights}
        check.check_same_length(**columns_of_call)
        if values.shape != predicted[0].shape:
            raise check.fail(
                name,
                f"have the shape of {names[0]}, {predicted[0].shape}",
                f"shape {values.shape}",
                "Runs come first: (n_runs, n_samples[, n_classes]).",
            )
        of_run = truth
        if truth is not None and of_column and values.ndim == 1 and truth.dtype != values.dtype:
            of_run, values = check.check_integers(name, truth, values)
        paired.append(Rows(of_run, values, unequal, labels))
    return Runs(paired, len(predicted))


def _check_axes(columns: Columns, predicted: list[NDArray[Any]], name: str) -> None:
    """Refuse predictions whose first axis are rows; warn where only their numbers speak for it."""
    truth, shape = columns.truth, (len(predicted), *predicted[0].shape)
    if truth is None:
        if shape[0] > shape[1]:
            text = (
                f"More runs ({shape[0]}) than rows ({shape[1]}): is {name} transposed? Runs come "
                "first."
            )
            tell(Note("caution", text, about="more runs than rows"))
        return
    if len(truth) == shape[1] or len(truth) != shape[0]:
        return
    if truth.shape == shape:
        must, advice = "hold the truth of each row once", "The runs share it: give one of them."
        raise check.fail("y_true", must, f"shape {shape}", advice)
    rest = ", n_classes" if shape[2:] else ""
    must = f"have the shape (n_runs, n_samples{rest}), here (n_runs, {len(truth)}{rest})"
    turned = f"np.swapaxes({name}, 0, 1)" if rest else f"{name}.T"
    raise check.fail(name, must, f"shape {shape}", f"Runs come first: give {turned}.")


def _names(n_runs: int, n_full: int, method: str) -> list[str]:
    """Return the argument and number of each run, those on the full training set last."""
    names = [f"y_preds{method}[{k}]" for k in range(n_runs)]
    return names + [f"full_runs{method}[{k}]" for k in range(n_full)]


def _predictions(name: str, values: Any, ndim: int | None = None) -> list[NDArray[Any]]:
    """Return a checked array per run; a single run counts as a list of one where that is clear."""
    if isinstance(values, Mapping):
        values = list(values.values())
    elif hasattr(values, "__array__"):
        values = check.converted(name, values)
        if ndim is not None and values.ndim == ndim:
            values = values[None]
        if values.ndim not in (2, 3):
            raise check.fail(
                name,
                "have the shape (n_runs, n_samples) or (n_runs, n_samples, n_classes)",
                f"shape {values.shape}",
                "For one trained system use bootstrap_score.",
            )
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise check.fail(
            name,
            "be an array or a list with the predictions of each run",
            type(values).__name__,
        )
    return check.check_rows_of_each(name, values)


def training_samples(training: ArrayLike | None, varied: str, n_runs: int) -> NDArray[np.intp]:
    """Return the number of the training sample of each run, (n_runs,)."""
    if varied != "both":
        if training is not None:
            raise check.fail(
                "training",
                f"be None with varied={varied!r}",
                "training samples",
                "Use varied='both' when several seeds were run on each training sample.",
            )
        return np.zeros(n_runs, np.intp) if varied == "seed" else np.arange(n_runs)
    advice = "Name the training sample of each run: training=[0, 0, 1, 1, ...]."
    if training is None:
        raise check.fail("training", "be given with varied='both'", "None", advice)
    names = check.check_rows("training", training)
    if names.shape != (n_runs,):
        raise check.fail(
            "training",
            f"be of shape (n_runs,), here ({n_runs},)",
            f"shape {names.shape}",
            advice,
        )
    _, sample = check.numbered_labels("training", names, "training sample")
    if sample.max() == 0:
        raise check.fail(
            "training",
            "name at least two training samples",
            "one",
            "With one training set use varied='seed'.",
        )
    return sample.astype(np.intp)
