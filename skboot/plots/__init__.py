"""Pictures of results, in the conventions of scikit-learn's displays.

`BootstrapDistributionDisplay` shows one result, `IntervalDisplay` compares several: metrics,
subgroups, systems; `ComparisonDisplay` shows paired differences and `RankDisplay` where each system
stands; `VarianceComponentsDisplay` shows what the score of a run varies with, `PlanDisplay` what
more data would reach, `PredictionInstabilityDisplay` how the answers for single rows vary with the
training sample. A display stores what it draws; ``plot`` draws it and keeps the artists in
attributes that end in an underscore. matplotlib is imported when something is drawn.

Private but for the names that `skboot` shows: modules may change without notice.
"""

from .comparison import ComparisonDisplay
from .components import VarianceComponentsDisplay
from .distribution import BootstrapDistributionDisplay
from .instability import PredictionInstabilityDisplay
from .intervals import IntervalDisplay
from .planning import PlanDisplay
from .ranks import RankDisplay

__all__ = [
    "BootstrapDistributionDisplay",
    "ComparisonDisplay",
    "IntervalDisplay",
    "PlanDisplay",
    "PredictionInstabilityDisplay",
    "RankDisplay",
    "VarianceComponentsDisplay",
]
