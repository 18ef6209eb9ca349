"""Numbers from a distribution: intervals, error estimates, variance components."""

from .error632 import PredictionError, prediction_error
from .intervals import ConfidenceInterval, proportion_interval

__all__ = ["ConfidenceInterval", "PredictionError", "prediction_error", "proportion_interval"]
