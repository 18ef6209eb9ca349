"""Metrics on weighted rows, and the metric functions that scikit-learn lacks."""

import typing

from .._base import lazy as _lazy
from . import lookup as _lookup
from .costs import (
    bayes_decisions,
    brier_score,
    cross_entropy,
    equal_error_rate,
    expected_cost,
    false_positive_rate_at,
)
from .lookup import get_scorer
from .responses import npv, ppv, sensitivity, specificity

if typing.TYPE_CHECKING:
    from ..scorer.interval_scorer import interval_scorer
    from .calibration import (
        calibration_intercept,
        calibration_slope,
        expected_calibration_error,
        net_benefit,
    )
    from .detection import (
        actual_detection_cost,
        cllr,
        minimum_detection_cost,
        sensitivity_at,
        specificity_at,
    )
    from .generations import pass_at_k

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
        "detection": [
            "actual_detection_cost",
            "cllr",
            "minimum_detection_cost",
            "sensitivity_at",
            "specificity_at",
        ],
        "generations": ["pass_at_k"],
        ".scorer.interval_scorer": ["interval_scorer"],
    },
    synonyms=_lookup.SYNONYMS,
    of_metric=_lookup.call_of,
)
