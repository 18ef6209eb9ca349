"""How far can a machine-learning score, and a difference between two scores, be trusted?"""

from .evaluation import bootstrap_score
from .plots import BootstrapDistributionDisplay, IntervalDisplay
from .resampling.splitters import (
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
)
from .results import EvaluationResult, ResultTable

__version__ = "0.1.0"

__all__ = [
    "BootstrapDistributionDisplay",
    "BootstrapSplit",
    "BootstrapTestSplit",
    "EvaluationResult",
    "GroupBootstrapSplit",
    "IntervalDisplay",
    "ResultTable",
    "SeedSplit",
    "StratifiedBootstrapSplit",
    "bootstrap_score",
]
