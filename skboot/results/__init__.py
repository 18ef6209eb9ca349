"""What an evaluation found: numbers, a sentence, tables, drawings, files.

`EvaluationResult` holds one score with its bootstrap distribution; whatever it is asked later, such
as another interval or level, is answered from what it stores. `ComparisonResult` does the same for
paired differences of systems. `ResultTable` is a dict of either (several metrics, subgroups) that
can be shown as one table. `CurveResult` has a value for each point of a curve, `EvaluationPlan` how
much data is enough, a `TableCheck` what printed scores allow, and a `Verdict` says whether a
difference passes a margin. Functions of `skboot` make all of them; you call `ResultTable` alone,
and ``load`` for a file.

Modules of this package are private and may change without notice.
"""

import typing

from .._base import lazy as _lazy
from .result import EvaluationResult
from .table import ResultTable

if typing.TYPE_CHECKING:
    from ..inference.differences import Verdict
    from .comparison import ComparisonResult
    from .curve import CurveResult
    from .data_sets import DatasetsComparison
    from .plan import EvaluationPlan
    from .printed import TableCheck

__all__ = [
    "ComparisonResult",
    "CurveResult",
    "DatasetsComparison",
    "EvaluationPlan",
    "EvaluationResult",
    "ResultTable",
    "TableCheck",
    "Verdict",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        ".inference.differences": ["Verdict"],
        "comparison": ["ComparisonResult"],
        "curve": ["CurveResult"],
        "data_sets": ["DatasetsComparison"],
        "plan": ["EvaluationPlan"],
        "printed": ["TableCheck"],
    },
)
