"""How far can a machine-learning score, and a difference between two scores, be trusted?"""

import typing

from . import metrics as _metrics
from ._base import lazy as _lazy
from ._base.arguments import Anytime, Crossed, Judge, Trials
from .evaluation import bootstrap_score

if typing.TYPE_CHECKING:
    from ._base.versions import show_versions
    from .accumulator import BootstrapAccumulator
    from .comparison import (
        compare_across,
        compare_methods,
        compare_runs,
        compare_systems,
        learning_curve,
        search_score,
    )
    from .curves import bootstrap_curve
    from .inference import proportion_interval
    from .planning import plan_evaluation
    from .results.printed import check_table
    from .runs import bootstrap_runs
    from .scorer import BootstrapScorer
    from .splitters import (
        BootstrapSplit,
        BootstrapTestSplit,
        GroupBootstrapSplit,
        SeedSplit,
        StratifiedBootstrapSplit,
    )
    from .streams.columns import scan_dataset

__version__ = "0.1.0"

__all__ = [
    "Anytime",
    "BootstrapAccumulator",
    "BootstrapScorer",
    "BootstrapSplit",
    "BootstrapTestSplit",
    "Crossed",
    "GroupBootstrapSplit",
    "Judge",
    "SeedSplit",
    "StratifiedBootstrapSplit",
    "Trials",
    "bootstrap_curve",
    "bootstrap_runs",
    "bootstrap_score",
    "check_table",
    "compare_across",
    "compare_methods",
    "compare_runs",
    "compare_systems",
    "learning_curve",
    "plan_evaluation",
    "proportion_interval",
    "scan_dataset",
    "search_score",
    "show_versions",
]

# What not every call needs is imported when it is first named, which halves the CPU time of an
# import (0.25 of 0.49 s beside scikit-learn). Type checkers read the imports above and `__all__`;
# the table repeats them because an installed package need not have its source to read them from.
__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "_base.versions": ["show_versions"],
        "accumulator": ["BootstrapAccumulator"],
        "plots": [],
        "scorer": ["BootstrapScorer"],
        "splitters": [
            "BootstrapSplit",
            "BootstrapTestSplit",
            "GroupBootstrapSplit",
            "SeedSplit",
            "StratifiedBootstrapSplit",
        ],
        "curves": ["bootstrap_curve"],
        "inference": ["proportion_interval"],
        "model_selection": [],
        "planning": ["plan_evaluation"],
        "results": [],
        "results.printed": ["check_table"],
        "runs": ["bootstrap_runs"],
        "streams.columns": ["scan_dataset"],
        "testing": [],
        "comparison": [
            "compare_across",
            "compare_methods",
            "compare_runs",
            "compare_systems",
            "learning_curve",
            "search_score",
        ],
    },
    elsewhere=("plots", "results", "model_selection", "metrics", "inference", "testing"),
    metric_advice=_metrics._lookup.call_of,
)
