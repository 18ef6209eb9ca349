"""Pictures of results, in the conventions of scikit-learn's displays.

`BootstrapDistributionDisplay` shows one result, `IntervalDisplay` compares several: metrics,
subgroups, systems; `ComparisonDisplay` shows paired differences, `RankDisplay` where each system
stands, and `CriticalDifferenceDisplay` mean ranks over data sets; `CurveBandDisplay` shows curves
with their bands; `VarianceComponentsDisplay` shows
what the score of a run varies with, `PlanDisplay` what more data would reach,
`PredictionInstabilityDisplay` how the answers for single rows vary with the training sample. A
display stores what it draws; ``plot`` draws it and keeps the artists in attributes that end in an
underscore. matplotlib is imported when something is drawn.

Modules of this package are private and may change without notice.
"""

from .._base import lazy as _lazy
from .comparison import ComparisonDisplay, CriticalDifferenceDisplay, RankDisplay
from .curves import CurveBandDisplay
from .distribution import (
    BootstrapDistributionDisplay,
    PredictionInstabilityDisplay,
    VarianceComponentsDisplay,
)
from .intervals import IntervalDisplay
from .planning import PlanDisplay

__all__ = [
    "BootstrapDistributionDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "CurveBandDisplay",
    "IntervalDisplay",
    "PlanDisplay",
    "PredictionInstabilityDisplay",
    "RankDisplay",
    "VarianceComponentsDisplay",
]

__getattr__, __dir__ = _lazy.names_from(__name__, {})
