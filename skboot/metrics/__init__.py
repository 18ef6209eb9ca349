"""Metrics on weighted rows, and the metric functions that scikit-learn lacks."""

from .. import _lazy
from .cost_metrics import (
    bayes_decisions,
    brier_score,
    cross_entropy,
    equal_error_rate,
    expected_cost,
    false_positive_rate_at,
)
from .generations import pass_at_k
from .names import get_scorer
from .two_class import npv, ppv, sensitivity, specificity

__all__ = [
    "bayes_decisions",
    "brier_score",
    "cross_entropy",
    "equal_error_rate",
    "expected_cost",
    "false_positive_rate_at",
    "get_scorer",
    "npv",
    "pass_at_k",
    "ppv",
    "sensitivity",
    "specificity",
]

__getattr__, __dir__ = _lazy.names_from(__name__, {})
