"""Numbers from a distribution: intervals, error estimates, variance components."""

import typing

from .. import _lazy
from .intervals import ConfidenceInterval, proportion_interval

if typing.TYPE_CHECKING:
    from .error632 import PredictionError, prediction_error
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

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "PredictionError": "error632",
        "delong_test": "paired",
        "mcnemar_exact": "paired",
        "prediction_error": "error632",
        "tango_interval": "paired",
    },
)
