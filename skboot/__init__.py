"""How far can a machine-learning score, and a difference between two scores, be trusted?"""

from .comparison import (
    compare_methods,
    compare_runs,
    compare_systems,
    corrected_t,
    one_standard_error,
    out_of_fold,
    search_score,
)
from .evaluation import bootstrap_score
from .plots import (
    BootstrapDistributionDisplay,
    ComparisonDisplay,
    IntervalDisplay,
    VarianceComponentsDisplay,
)
from .resampling.splitters import (
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
)
from .results import ComparisonResult, ComparisonTable, EvaluationResult, ResultTable
from .runs import bootstrap_runs
from .scorer import BootstrapScorer

__version__ = "0.1.0"

__all__ = [
    "BootstrapDistributionDisplay",
    "BootstrapScorer",
    "BootstrapSplit",
    "BootstrapTestSplit",
    "ComparisonDisplay",
    "ComparisonResult",
    "ComparisonTable",
    "EvaluationResult",
    "GroupBootstrapSplit",
    "IntervalDisplay",
    "ResultTable",
    "SeedSplit",
    "StratifiedBootstrapSplit",
    "VarianceComponentsDisplay",
    "bootstrap_runs",
    "bootstrap_score",
    "compare_methods",
    "compare_runs",
    "compare_systems",
    "corrected_t",
    "one_standard_error",
    "out_of_fold",
    "search_score",
]
