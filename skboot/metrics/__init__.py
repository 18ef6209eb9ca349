"""Metrics on weighted rows, and the metric functions that scikit-learn lacks."""

import typing

from .._base import lazy as _lazy
from . import lookup as _lookup
from .lookup import get_scorer

if typing.TYPE_CHECKING:
    from ..scorer.interval_scorer import interval_scorer
    from .calibration import (
        calibration_intercept,
        calibration_slope,
        expected_calibration_error,
        net_benefit,
    )
    from .costs import bayes_decisions, brier_score, cross_entropy, expected_cost
    from .crossing import (
        equal_error_rate,
        false_positive_rate_at,
        sensitivity_at,
        specificity_at,
    )
    from .detection import actual_detection_cost, cllr, minimum_detection_cost
    from .generations import pass_at_k
    from .labels import npv, ppv, sensitivity, specificity

__all__ = [
    "actual_detection_cost",
    "bayes_decisions",
    "brier_score",
    "calibration_intercept",
    "calibration_slope",
    "cllr",
    "cross_entropy",
    "equal_error_rate",
    "expected_calibration_error",
    "expected_cost",
    "false_positive_rate_at",
    "get_scorer",
    "interval_scorer",
    "minimum_detection_cost",
    "net_benefit",
    "npv",
    "pass_at_k",
    "ppv",
    "sensitivity",
    "sensitivity_at",
    "specificity",
    "specificity_at",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "calibration": [
            "calibration_intercept",
            "calibration_slope",
            "expected_calibration_error",
            "net_benefit",
        ],
        "costs": ["bayes_decisions", "brier_score", "cross_entropy", "expected_cost"],
        "crossing": [
            "equal_error_rate",
            "false_positive_rate_at",
            "sensitivity_at",
            "specificity_at",
        ],
        "detection": ["actual_detection_cost", "cllr", "minimum_detection_cost"],
        "generations": ["pass_at_k"],
        "labels": ["npv", "ppv", "sensitivity", "specificity"],
        ".scorer.interval_scorer": ["interval_scorer"],
    },
    synonyms=_lookup.SYNONYMS,
    metric_advice=_lookup.call_of,
)
