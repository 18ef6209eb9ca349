"""Results of evaluations: numbers, a sentence, tables, drawings, files.

`EvaluationResult` holds one score with its bootstrap distribution; whatever it is asked later, such
as another interval or level, is answered from what it stores. `ComparisonResult` does the same for
differences of systems, each a `PairedDifference`, and gives their `Ranks`; the `MeanRanks` are of a
`DatasetsComparison`, an `Outperformance` of paired runs, a `CorrectedT` of folds. `ResultTable` is
a dict of either (several metrics, subgroups) that can be shown as one table. `CurveResult` has a
value for each point of a curve, `EvaluationPlan` how much data is enough, a `TableCheck` what
printed scores allow, and a `Verdict` says whether a difference passes a margin. The other types are
rows and numbers of these, such as a `Rank` of `Ranks`. Functions of `skboot` make all of them; you
call `ResultTable` alone, and ``load`` for a file.

Modules of this package are private and may change without notice.
"""

import typing

from .._base import lazy as _lazy
from .result import EvaluationResult
from .table import ResultTable

if typing.TYPE_CHECKING:
    from ..inference.data_sets import FriedmanTest
    from ..inference.differences import DelongTest
    from ..inference.runs import Outperformance
    from .basis import MonteCarloError
    from .comparison import (
        ComparisonResult,
        CorrectedT,
        CorrectedTable,
        PairedDifference,
        Rank,
        Ranks,
        Verdict,
    )
    from .curve import CurveResult
    from .data_sets import DatasetsComparison, DatasetsPair, MeanRank, MeanRanks
    from .plan import EvaluationPlan, PlanRow
    from .printed import PrintedPair, PrintedScore, TableCheck

__all__ = [
    "ComparisonResult",
    "CorrectedT",
    "CorrectedTable",
    "CurveResult",
    "DatasetsComparison",
    "DatasetsPair",
    "DelongTest",
    "EvaluationPlan",
    "EvaluationResult",
    "FriedmanTest",
    "MeanRank",
    "MeanRanks",
    "MonteCarloError",
    "Outperformance",
    "PairedDifference",
    "PlanRow",
    "PrintedPair",
    "PrintedScore",
    "Rank",
    "Ranks",
    "ResultTable",
    "TableCheck",
    "Verdict",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        ".inference.data_sets": ["FriedmanTest"],
        ".inference.differences": ["DelongTest"],
        ".inference.runs": ["Outperformance"],
        "basis": ["MonteCarloError"],
        "comparison": [
            "ComparisonResult",
            "CorrectedT",
            "CorrectedTable",
            "PairedDifference",
            "Rank",
            "Ranks",
            "Verdict",
        ],
        "curve": ["CurveResult"],
        "data_sets": ["DatasetsComparison", "DatasetsPair", "MeanRank", "MeanRanks"],
        "plan": ["EvaluationPlan", "PlanRow"],
        "printed": ["PrintedPair", "PrintedScore", "TableCheck"],
    },
)
