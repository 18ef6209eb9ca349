"""Means over rows of a value of the scores of all classes.

* `PosteriorMean`: the mean of a loss of each row's probabilities (log loss, Brier score);
* `TopAccuracy`: how often the right class is among the few that score highest.

Rows are numbered by class once, so that a loss is a function of the number of the right column and
of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from .._base.checks import fail
from .._base.errors import Note, tell
from .cells import encode, known_labels, label_counts
from .means import RowMean
from .statistic import Columns, Facts, Floats, ReducedData, Request, Response, Statistic, fast_path


@dataclass(frozen=True, eq=False)
class PosteriorMean(RowMean):
    """Weighted mean of a loss of the probabilities of all classes.

    ``row_values`` takes the class of each row and the probabilities of all, ``constant`` the
    shares of the classes.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The class of one column of probabilities, of two classes; None: the second of ``labels``.
    columns_suffice : bool
        Whether two columns give the same value whichever class is called positive.
    halved_of_two : bool
        Whether the loss of two classes is half of that of several, and so is its range.
    of_one_class : bool
        Whether one column of probabilities says enough of rows that are all of one of two classes.
    """

    greater_is_positive = True
    response: Response = "probabilities"
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    columns_suffice: bool = True
    halved_of_two: bool = False
    of_one_class: bool = False

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """See `Statistic.of_all_rows`; of two classes one may lack rows, as in scikit-learn."""
        fixed = super().of_all_rows(y_true, y_pred)
        if not self.of_one_class or y_pred.ndim == 2 or len(fixed.labels) != 1:
            return fixed
        [label], positive = fixed.labels.tolist(), self.pos_label
        if positive is None:
            positive = 1 if label in (0, -1) else label
        # A class without rows and without a name needs one that differs.
        differs = f"not {label}" if isinstance(label, str) else label - 1
        both = np.array([differs if positive == label else label, positive])
        return replace(fixed, labels=both, pos_label=positive)  # type: ignore[type-var]

    @property
    def lacks_labels(self) -> bool:  # type: ignore[override]
        """Whether the labels of the columns are those of the truth."""
        return self.labels is None

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any mean, in half of the range where the loss of two classes is halved."""
        known, (low, high) = super().facts(reduced, rows, members), self.bounds
        of_two = self.halved_of_two and self.labels is not None and len(self.labels) == 2
        return replace(known, bounds=(low / 2, high / 2)) if of_two else known

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the loss of each row before its sign, (n_samples,)."""
        assert y_true is not None
        labels, prob = oriented(y_pred, self.labels, self.pos_label)
        classes = classes_of(y_true, labels, prob.shape[1])
        return self.row_values(classes, prob)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Loss of the class shares, given as the posterior of every row."""
        y_true, y_pred, sample_weight = rows
        if y_true is None or self.constant is None:
            return None
        labels, prob = oriented(y_pred[:1], self.labels, self.pos_label)
        n_classes = prob.shape[1]
        classes = classes_of(y_true, labels, n_classes)
        weight = np.bincount(classes, sample_weight, n_classes)
        return self.sign * float(self.constant(weight / weight.sum()))


@dataclass(frozen=True, eq=False)
class TopAccuracy(PosteriorMean):
    """Share of rows whose class is among the k that score highest.

    Ties are as in scikit-learn: of three or more classes, the one of the last label comes first; of
    two, the first. One column of scores is compared with a threshold, which is that of the whole
    test set, also for resamples that hold no score outside [0, 1].

    Parameters
    ----------
    k : int
        How many classes count.
    """

    ranks_columns = True

    greater_is_better: bool | None = True
    response: Response = "scores"
    k: int = 2

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return whether each row is a hit, (n_samples,)."""
        assert y_true is not None
        labels, n_classes = self.labels, 2
        if y_pred.ndim == 2:
            n_classes = y_pred.shape[1]
        else:
            labels, _ = oriented(y_pred[:1], labels, self.pos_label)
        if y_pred.ndim == 2 and labels is not None and np.any(labels[1:] < labels[:-1]):
            # Columns are sorted by label, because that order decides between equal scores.
            order = np.argsort(labels)
            labels, y_pred = labels[order], y_pred[:, order]
        classes = classes_of(y_true, labels, n_classes)
        return self.row_values(classes, y_pred)

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Warn where the right class is always among the k."""
        n_classes = len(known_labels(self.labels, y_true))
        if self.k >= n_classes:
            text = (
                f"the right class is always among the {self.k} that score highest of "
                f"{n_classes}: this top-k accuracy is 1 whatever the predictions. Use a smaller k."
            )
            tell(Note("undefined", text))

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """See `Statistic.of_all_rows`; the threshold of one column is that of these rows, too."""
        fixed = super().of_all_rows(y_true, y_pred)
        if y_pred.ndim > 1:
            return fixed
        hits = partial(top_hits, k=self.k, threshold=threshold_of(y_pred))
        return replace(fixed, row_values=hits)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class HingeLoss(PosteriorMean):
    """Mean of how far the decision of each row's class is from beating the best other one by 1.

    The decision of one column counts for the second of two classes, and against the first.
    """

    response: Response = "scores"
    averages_columns: bool = True

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse two columns, which decision functions of two classes do not have."""
        if y_pred.ndim == 2 and y_pred.shape[1] == 2:
            must = f"be one decision per row of two classes for the metric {self.name!r}"
            advice = "Give what decision_function returns."
            raise fail("y_pred", must, f"shape {y_pred.shape}", advice)

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the loss of each row before its sign, (n_samples,)."""
        assert y_true is not None
        labels, n_classes = self.labels, 2
        if y_pred.ndim == 2:
            n_classes = y_pred.shape[1]
        else:
            labels, _ = oriented(y_pred[:1], labels, self.pos_label)
        return self.row_values(classes_of(y_true, labels, n_classes), y_pred)


# ------------------------------------------------------------------ values of rows


@fast_path("hinge_loss", response="scores")
def _hinge_loss(request: Request, *, labels: ArrayLike | None = None) -> HingeLoss:
    labels = request.columns(labels)
    return HingeLoss(request.name, hinge_losses, labels=labels, pos_label=request.pos_label)


@fast_path("log_loss", response="probabilities")
def _log_loss(
    request: Request, *, labels: ArrayLike | None = None, normalize: bool = True
) -> PosteriorMean | None:
    if not normalize:
        return None
    return log_loss_statistic(request.name, request.columns(labels), pos_label=request.pos_label)


@fast_path("brier_score_loss", response="probabilities")
def _brier_score_loss(
    request: Request,
    *,
    labels: ArrayLike | None = None,
    scale_by_half: Any = "auto",
    pos_label: Any = None,
) -> PosteriorMean:
    halve = None if scale_by_half == "auto" else bool(scale_by_half)
    return brier_statistic(request.name, request.columns(labels), halve, pos_label=pos_label)


@fast_path("top_k_accuracy_score", response="scores")
def _top_k_accuracy(
    request: Request, *, k: int = 2, normalize: bool = True, labels: ArrayLike | None = None
) -> TopAccuracy | None:
    if not normalize:
        return None
    return TopAccuracy(
        request.name,
        partial(top_hits, k=k),
        bounds=(0.0, 1.0),
        constant=partial(_largest_classes, k=k),
        labels=request.columns(labels),
        pos_label=request.pos_label,
        k=k,
    )


def log_loss_statistic(
    name: str, labels: NDArray[Any] | None, *, pos_label: Any = None
) -> PosteriorMean:
    """Mean negative log probability of the truth."""
    return PosteriorMean(name, log_losses, constant=entropy, labels=labels, pos_label=pos_label)


def brier_statistic(
    name: str, labels: NDArray[Any] | None, halve: bool | None = None, *, pos_label: Any = None
) -> PosteriorMean:
    """Mean squared distance of the probabilities from the truth; see `squared_distances`."""
    two = labels is not None and len(labels) == 2 if halve is None else halve
    return PosteriorMean(
        name,
        partial(squared_distances, halve=halve),
        bounds=(0.0, 1.0 if two else 2.0),
        # Labels may be known later than here, from the rows.
        halved_of_two=halve is None and not two,
        of_one_class=True,
        constant=partial(gini, halve=halve),
        labels=labels,
        pos_label=pos_label,
    )


def classes_of(
    y_true: NDArray[Any], labels: NDArray[Any] | None, n_classes: int
) -> NDArray[np.intp]:
    """Class of each row, (n_samples,): its column among ``n_classes``."""
    all_labels = label_counts(y_true)[0] if labels is None else np.asarray(labels)
    if len(all_labels) != n_classes:
        labels_given = all_labels.tolist()
        raise ValueError(
            f"There are probabilities of {n_classes} classes, but the labels {labels_given}. "
            "Give all labels, in the order of the columns, as labels=."
        )
    return encode(y_true, all_labels)


def all_columns(y_prob: NDArray[Any]) -> NDArray[Any]:
    """Probabilities (n_samples, n_classes) in floating point, from the second of two if alone."""
    prob = y_prob if y_prob.dtype.kind == "f" else y_prob.astype(np.float64)
    if prob.ndim == 2 and prob.shape[1] > 1:
        return prob
    second = prob.reshape(-1)
    return np.column_stack((1 - second, second))


def oriented(
    y_prob: NDArray[Any], labels: NDArray[Any] | None, pos_label: Any
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Labels and columns of `all_columns`, those of a positive class that is named second."""
    prob = all_columns(y_prob)
    if pos_label is None or labels is None or len(labels) != 2 or labels[0] != pos_label:
        return labels, prob
    of_one = y_prob.ndim == 1 or y_prob.shape[1] == 1
    return labels[::-1], prob if of_one else prob[:, ::-1]


def log_losses(classes: NDArray[np.intp], prob: NDArray[Any]) -> NDArray[Any]:
    """Negative log probability of the truth, clipped as `sklearn.metrics.log_loss` does."""
    epsilon = np.finfo(prob.dtype).eps
    of_truth = prob[np.arange(len(classes)), classes]
    np.clip(of_truth, epsilon, 1 - epsilon, out=of_truth)
    np.log(of_truth, out=of_truth)
    return np.negative(of_truth, out=of_truth)


def squared_distances(
    classes: NDArray[np.intp], prob: NDArray[Any], halve: bool | None = None
) -> NDArray[Any]:
    """Squared distance from the truth; by default halved for two classes."""
    distance = prob.copy()
    distance[np.arange(len(classes)), classes] -= 1
    squares = np.einsum("ij,ij->i", distance, distance)
    return squares / 2 if halved(prob, halve) else squares


def hinge_losses(classes: NDArray[np.intp], decision: NDArray[Any]) -> Floats:
    """How far the margin of each row's class is below 1, (n_samples,), and 0 above."""
    if decision.ndim == 1:
        margin = np.where(classes == 1, decision, -decision)
    else:
        at = np.arange(len(classes)), classes
        others = decision.astype(np.float64)
        others[at] = -np.inf
        margin = decision[at] - others.max(axis=1)
    return np.maximum(1.0 - margin, 0.0)


def entropy(shares: Floats) -> Floats:
    """Entropy of class shares (..., n_classes), in nats: the log loss of the shares."""
    return -np.sum(xlogy(shares, shares), axis=-1) + 0.0


def gini(shares: Floats, halve: bool | None = None) -> Floats:
    """Brier score of class shares (..., n_classes)."""
    impurity = 1 - np.sum(shares**2, axis=-1)
    # The impurity of a single class is zero, also if its share is not 1 by rounding.
    impurity = np.where(np.count_nonzero(shares, axis=-1) > 1, impurity, 0.0)
    return impurity / 2 if halved(shares, halve) else impurity


def halved(columns: NDArray[Any], halve: bool | None) -> bool:
    """Whether squared distances are halved: as told, else those of two columns."""
    return columns.shape[-1] == 2 if halve is None else halve


def top_hits(
    classes: NDArray[np.intp], scores: NDArray[Any], *, k: int, threshold: float | None = None
) -> NDArray[np.bool_]:
    """Whether the class of each row is among the k that score highest, (n_samples,).

    Counting who scores higher needs no sorting of the columns.
    """
    if scores.ndim == 1 or scores.shape[1] == 2:
        if k > 1:
            return np.ones(len(scores), dtype=bool)
        if scores.ndim == 2:
            return np.asarray((scores[:, 1] > scores[:, 0]) == (classes == 1))
        threshold = threshold_of(scores) if threshold is None else threshold
        return np.asarray((scores > threshold) == (classes == 1))
    score_of_truth = scores[np.arange(len(classes)), classes][:, None]
    rank = np.count_nonzero(scores > score_of_truth, axis=1)
    tied = scores == score_of_truth
    if np.count_nonzero(tied) > len(classes):
        last = np.arange(scores.shape[1]) > classes[:, None]
        rank += np.count_nonzero(tied & last, axis=1)
    return rank < k


def threshold_of(scores: NDArray[Any]) -> float:
    """Threshold of one column of scores, as in scikit-learn: 1/2 for probabilities, else 0."""
    return 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0.0


def _largest_classes(shares: Floats, k: int) -> float:
    return float(np.sort(shares)[::-1][:k].sum())
