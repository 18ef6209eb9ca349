"""Which metric functions have a statistic that knows sums, ranks or thresholds.

A *factory* makes the statistic of a metric function of scikit-learn or of `skboot.metrics`. It
takes the `Request` and, as keywords, the options it knows; for an option it does not take, or where
it returns None, the function is called on repeated rows.

A factory stands beside its statistic and is registered there by `fast_path`, the one place that a
new metric needs: the contract tests run over `FAST_PATHS` and, for a truth of several columns, over
`OUTPUT_PATHS`. `lookup` imports every module of this folder when it is asked for a function that
those in memory do not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cells import SharedCells
from .statistic import Response, Statistic

Factory = Callable[..., Statistic | None]
_F = TypeVar("_F", bound=Factory)

# Factory by the name of the metric function.
FAST_PATHS: dict[str, Factory] = {}

# What predictions a function takes, by its name: for calls on repeated rows. The functions listed
# here have no fast path; `fast_path` adds the others.
RESPONSES: dict[str, Response] = {
    "det_curve": "scores",
    "d2_absolute_error_score": "values",
    "d2_pinball_score": "values",
    "d2_tweedie_score": "values",
    "max_error": "values",
}

# Functions without a fast path and without an argument for the positive class, for which the
# greater of two labels is positive, and what predictions they take.
GREATER_IS_POSITIVE: dict[str, Response] = {"class_likelihood_ratios": "labels"}

# Range of functions on repeated rows, before their sign; those that are not here have no bounds.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("roc_auc_score", "average_precision_score"), (0.0, 1.0)),
    **dict.fromkeys(("d2_absolute_error_score", "d2_pinball_score"), (-np.inf, 1.0)),
    "d2_tweedie_score": (-np.inf, 1.0),
    # Counts of rows; shares have a fast path.
    **dict.fromkeys(("accuracy_score", "top_k_accuracy_score", "zero_one_loss"), (0.0, np.inf)),
    # With options that their fast paths do not take.
    "cohen_kappa_score": (-1.0, 1.0),
    **dict.fromkeys(("f1_score", "fbeta_score", "jaccard_score"), (0.0, 1.0)),
    **dict.fromkeys(("precision_score", "recall_score"), (0.0, 1.0)),
    "log_loss": (0.0, np.inf),
    **dict.fromkeys(("max_error", "median_absolute_error"), (0.0, np.inf)),
}

# Factory and predictions where the truth has several columns: labels that a row has or lacks, or
# outputs.
OUTPUT_PATHS: dict[str, Factory] = {}
OUTPUT_RESPONSES: dict[str, Response] = {
    "d2_absolute_error_score": "outputs",
    "d2_pinball_score": "outputs",
    "median_absolute_error": "outputs",
}
# Factories and predictions, for a truth of several columns (True) or of one.
PATHS = {False: (FAST_PATHS, RESPONSES), True: (OUTPUT_PATHS, OUTPUT_RESPONSES)}


class Request(NamedTuple):
    """A metric, taken apart.

    Attributes
    ----------
    name : str
        Name in results.
    function : callable
        The metric function.
    options : mapping
        Its keyword arguments, without those that are its defaults.
    sign : float
        1.0, or -1.0 where the score is the negated function.
    scorer_response : str or None
        For scorers: "labels" if it calls ``predict``, else "scores".
    labels : array-like or None
        Labels of the columns of probabilities.
    several_outputs : bool
        Whether the truth has several columns.
    pos_label : label or None
        The positive class, for a function that has no argument for it.
    cells : SharedCells or None
        Cells of the rows, for metrics of single classes of one call.
    order : array-like or None
        Labels of the rows in the order of their categories; None: they are sorted.
    """

    name: str
    function: Callable[..., Any]
    options: Mapping[str, Any]
    sign: float = 1.0
    scorer_response: str | None = None
    labels: ArrayLike | None = None
    several_outputs: bool = False
    pos_label: Any = None
    cells: SharedCells | None = None
    order: ArrayLike | None = None

    def columns(self, labels: ArrayLike | None) -> NDArray[Any] | None:
        """Labels of the columns; scikit-learn sorts those that its functions are given."""
        if labels is not None:
            return np.unique(np.asarray(labels))
        return None if self.labels is None else np.asarray(self.labels)


def fast_path(
    *functions: str, response: Response, several_outputs: bool = False
) -> Callable[[_F], _F]:
    """Register a factory for metric functions of these names, which take these predictions."""
    factories, responses = PATHS[several_outputs]

    def register(factory: _F) -> _F:
        for function in functions:
            factories[function] = factory
            responses[function] = response
        return factory

    return register
