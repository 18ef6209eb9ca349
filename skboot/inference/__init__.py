"""Numbers from a distribution: intervals, error estimates, variance components."""

from .error632 import PredictionError, prediction_error
from .intervals import ConfidenceInterval, proportion_interval
from .paired import delong_test, mcnemar_exact, tango_interval

__all__ = [
    "ConfidenceInterval",
    "PredictionError",
    "delong_test",
    "mcnemar_exact",
    "prediction_error",
    "proportion_interval",
    "tango_interval",
]
