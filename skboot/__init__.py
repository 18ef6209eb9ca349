"""How far can a machine-learning score, and a difference between two scores, be trusted?"""

import typing

from . import _lazy
from .evaluation import bootstrap_score
from .results import ComparisonTable, EvaluationResult, ResultTable

if typing.TYPE_CHECKING:
    from .comparison import (
        compare_methods,
        compare_runs,
        compare_systems,
        corrected_t,
        one_standard_error,
        out_of_fold,
        search_score,
    )
    from .plots import (
        BootstrapDistributionDisplay,
        ComparisonDisplay,
        IntervalDisplay,
        VarianceComponentsDisplay,
    )
    from .results import ComparisonResult
    from .runs import bootstrap_runs
    from .scorer import BootstrapScorer
    from .splitters import (
        BootstrapSplit,
        BootstrapTestSplit,
        GroupBootstrapSplit,
        SeedSplit,
        StratifiedBootstrapSplit,
    )

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

# What not every call needs is imported when it is first named: half of the time of an import.
__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "BootstrapDistributionDisplay": "plots",
        "BootstrapScorer": "scorer",
        "BootstrapSplit": "splitters",
        "BootstrapTestSplit": "splitters",
        "ComparisonDisplay": "plots",
        "ComparisonResult": "results",
        "GroupBootstrapSplit": "splitters",
        "IntervalDisplay": "plots",
        "SeedSplit": "splitters",
        "StratifiedBootstrapSplit": "splitters",
        "VarianceComponentsDisplay": "plots",
        "bootstrap_runs": "runs",
        "compare_methods": "comparison",
        "compare_runs": "comparison",
        "compare_systems": "comparison",
        "corrected_t": "comparison",
        "one_standard_error": "comparison",
        "out_of_fold": "comparison",
        "search_score": "comparison",
    },
)
