"""Numbers from a distribution: intervals, error estimates, variance components."""

import typing

from .._base import lazy as _lazy
from .evidence import ConfidenceInterval
from .proportions import mcnemar_exact, proportion_interval, tango_interval

if typing.TYPE_CHECKING:
    from ..method_error.error632 import PredictionError
    from ..method_error.prediction_error import prediction_error
    from .differences import delong_test

__all__ = [
    "ConfidenceInterval",
    "PredictionError",
    "delong_test",
    "mcnemar_exact",
    "prediction_error",
    "proportion_interval",
    "tango_interval",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        ".method_error.error632": ["PredictionError"],
        "differences": ["delong_test"],
        ".method_error.prediction_error": ["prediction_error"],
    },
)
