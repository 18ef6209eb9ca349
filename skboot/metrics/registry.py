"""Which metric functions have a statistic that knows sums, ranks or thresholds.

`FAST_PATHS` maps the name of a function of scikit-learn or of `skboot.metrics` to a factory of its
statistic. A factory takes the request and, as keywords, the options it knows; an option it does
not take, or None returned, leaves the function to be called on repeated rows. To add a metric, add
an entry here: the contract test finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import additive, posteriors
from . import cost_statistics as class_costs
from .agreement import Kappa, MatthewsCoefficient, WeightedKappa
from .class_metrics import (
    JACCARD,
    PRECISION,
    RECALL,
    BalancedAccuracy,
    SetAverage,
    SetFormula,
    SetRatio,
    f_beta,
)
from .coefficients import Coefficient
from .crossing import EqualErrorRate, FalsePositiveRateAt, MedianAbsoluteError
from .ranking import AveragePrecision, RocAuc
from .statistic import Response, Statistic


class Request(NamedTuple):
    """A metric, taken apart.

    Attributes
    ----------
    name : str
        How results call it.
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
    """

    name: str
    function: Callable[..., Any]
    options: Mapping[str, Any]
    sign: float = 1.0
    scorer_response: str | None = None
    labels: ArrayLike | None = None


def _accuracy(request: Request, *, normalize: bool = True) -> Statistic | None:
    return additive.accuracy(request.name) if normalize else None


def _error(request: Request, *, normalize: bool = True) -> Statistic | None:
    return additive.accuracy(request.name, error=True) if normalize else None


def _sets(
    request: Request,
    formula: SetFormula,
    labels: ArrayLike | None,
    pos_label: Any,
    average: str,
    zero_division: Any,
) -> Statistic | None:
    undefined = 0.0 if isinstance(zero_division, str) else float(zero_division)
    classes = None if labels is None else np.asarray(labels)
    if average == "binary":
        positive = np.array([pos_label])
        return SetRatio(request.name, formula, positive, undefined, binary=True)
    if average == "micro":
        return SetRatio(request.name, formula, classes, undefined)
    if average in ("macro", "weighted"):
        return SetAverage(request.name, formula, average == "weighted", classes, undefined)
    return None


def _set_metric(formula: SetFormula) -> Callable[..., Statistic | None]:
    def factory(
        request: Request,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = 1,
        average: str = "binary",
        zero_division: Any = "warn",
    ) -> Statistic | None:
        return _sets(request, formula, labels, pos_label, average, zero_division)

    return factory


def _f_beta(
    request: Request,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str = "binary",
    zero_division: Any = "warn",
) -> Statistic | None:
    return _sets(request, f_beta(beta), labels, pos_label, average, zero_division)


def _balanced_accuracy(request: Request, *, adjusted: bool = False) -> Statistic:
    return BalancedAccuracy(request.name, adjusted)


def _matthews(request: Request) -> Statistic:
    return MatthewsCoefficient(request.name)


def _kappa(request: Request, *, weights: Any = None) -> Statistic:
    return Kappa(request.name) if weights is None else WeightedKappa(request.name, weights)


def _regression(make: Callable[..., Statistic], **fixed: Any) -> Callable[..., Statistic]:
    def factory(request: Request) -> Statistic:
        return make(request.name, **fixed)

    return factory


def _pinball(request: Request, *, alpha: float = 0.5) -> Statistic:
    return additive.pinball_loss(request.name, alpha)


def _coefficient(about_mean: bool) -> Callable[..., Statistic]:
    def factory(request: Request, *, force_finite: bool = True) -> Statistic:
        return Coefficient(request.name, about_mean, force_finite)

    return factory


def _log_loss(
    request: Request, *, labels: ArrayLike | None = None, normalize: bool = True
) -> Statistic | None:
    return posteriors.log_loss(request.name, _columns(request, labels)) if normalize else None


def _brier(
    request: Request, *, labels: ArrayLike | None = None, scale_by_half: Any = "auto"
) -> Statistic:
    halve = None if scale_by_half == "auto" else bool(scale_by_half)
    return posteriors.brier(request.name, _columns(request, labels), halve)


def _top_k(
    request: Request, *, k: int = 2, normalize: bool = True, labels: ArrayLike | None = None
) -> Statistic | None:
    columns = _columns(request, labels)
    return posteriors.top_accuracy(request.name, k, columns) if normalize else None


def _columns(request: Request, labels: ArrayLike | None) -> Any:
    """Labels of the columns; scikit-learn sorts those that its functions are given."""
    if labels is not None:
        return np.unique(np.asarray(labels))
    return None if request.labels is None else np.asarray(request.labels)


def _expected_cost(
    request: Request,
    *,
    costs: ArrayLike | None = None,
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
) -> Statistic:
    labels = request.labels if labels is None else labels
    return class_costs.expected_cost(
        request.name, costs=costs, priors=priors, labels=labels, relative=relative
    )


def _posterior_cost(make: Callable[..., Statistic]) -> Callable[..., Statistic]:
    def factory(
        request: Request,
        *,
        priors: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        relative: bool = False,
    ) -> Statistic:
        labels = request.labels if labels is None else labels
        return make(request.name, priors=priors, labels=labels, relative=relative)

    return factory


def _roc_auc(
    request: Request,
    *,
    average: str = "macro",
    multi_class: Any = "raise",
    labels: ArrayLike | None = None,
) -> Statistic | None:
    if average not in ("macro", "weighted"):
        return None
    several = None if multi_class == "raise" else multi_class
    return RocAuc(request.name, several, average, _columns(request, labels))  # type: ignore[arg-type]


def _average_precision(
    request: Request, *, average: str = "macro", pos_label: Any = 1
) -> Statistic | None:
    if average not in ("macro", "weighted"):
        return None
    return AveragePrecision(request.name, average, request.labels, pos_label)  # type: ignore[arg-type]


def _equal_error_rate(request: Request, *, pos_label: Any = None) -> Statistic:
    return EqualErrorRate(request.name, pos_label=pos_label)


def _false_positive_rate_at(
    request: Request, *, false_negative_rate: float, pos_label: Any = None
) -> Statistic:
    return FalsePositiveRateAt(false_negative_rate, request.name, pos_label=pos_label)


FAST_PATHS: Mapping[str, Callable[..., Statistic | None]] = MappingProxyType(
    {
        "accuracy_score": _accuracy,
        "average_precision_score": _average_precision,
        "balanced_accuracy_score": _balanced_accuracy,
        "brier_score": _posterior_cost(class_costs.brier_score),
        "brier_score_loss": _brier,
        "cohen_kappa_score": _kappa,
        "cross_entropy": _posterior_cost(class_costs.cross_entropy),
        "equal_error_rate": _equal_error_rate,
        "expected_cost": _expected_cost,
        "explained_variance_score": _coefficient(about_mean=True),
        "f1_score": _set_metric(f_beta(1.0)),
        "false_positive_rate_at": _false_positive_rate_at,
        "fbeta_score": _f_beta,
        "hamming_loss": _error,
        "jaccard_score": _set_metric(JACCARD),
        "log_loss": _log_loss,
        "matthews_corrcoef": _matthews,
        "mean_absolute_error": _regression(additive.absolute_error),
        "mean_absolute_percentage_error": _regression(additive.absolute_error, relative=True),
        "mean_gamma_deviance": _regression(additive.gamma_deviance),
        "mean_pinball_loss": _pinball,
        "mean_poisson_deviance": _regression(additive.poisson_deviance),
        "mean_squared_error": _regression(additive.squared_error),
        "mean_squared_log_error": _regression(additive.squared_error, log=True),
        "median_absolute_error": _regression(MedianAbsoluteError),
        "precision_score": _set_metric(PRECISION),
        "r2_score": _coefficient(about_mean=False),
        "recall_score": _set_metric(RECALL),
        "roc_auc_score": _roc_auc,
        "root_mean_squared_error": _regression(additive.squared_error, root=True),
        "root_mean_squared_log_error": _regression(additive.squared_error, root=True, log=True),
        "top_k_accuracy_score": _top_k,
        "zero_one_loss": _error,
    }
)

# What predictions the functions take, for those that are called on repeated rows.
RESPONSES: Mapping[str, Response] = MappingProxyType(
    {
        "accuracy_score": "labels",
        "balanced_accuracy_score": "labels",
        "cohen_kappa_score": "labels",
        "expected_cost": "labels",
        "f1_score": "labels",
        "fbeta_score": "labels",
        "hamming_loss": "labels",
        "jaccard_score": "labels",
        "matthews_corrcoef": "labels",
        "negative_likelihood_ratio": "labels",
        "positive_likelihood_ratio": "labels",
        "precision_score": "labels",
        "recall_score": "labels",
        "zero_one_loss": "labels",
        "average_precision_score": "scores",
        "dcg_score": "scores",
        "det_curve": "scores",
        "equal_error_rate": "scores",
        "false_positive_rate_at": "scores",
        "roc_auc_score": "scores",
        "top_k_accuracy_score": "scores",
        "brier_score": "probabilities",
        "brier_score_loss": "probabilities",
        "cross_entropy": "probabilities",
        "d2_brier_score": "probabilities",
        "d2_log_loss_score": "probabilities",
        "log_loss": "probabilities",
        "d2_absolute_error_score": "values",
        "d2_pinball_score": "values",
        "d2_tweedie_score": "values",
        "explained_variance_score": "values",
        "max_error": "values",
        "mean_absolute_error": "values",
        "mean_absolute_percentage_error": "values",
        "mean_gamma_deviance": "values",
        "mean_pinball_loss": "values",
        "mean_poisson_deviance": "values",
        "mean_squared_error": "values",
        "mean_squared_log_error": "values",
        "mean_tweedie_deviance": "values",
        "median_absolute_error": "values",
        "r2_score": "values",
        "root_mean_squared_error": "values",
        "root_mean_squared_log_error": "values",
    }
)
