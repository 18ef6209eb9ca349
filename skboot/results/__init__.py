"""What an evaluation found: numbers, a sentence, tables, drawings, files.

`EvaluationResult` holds one score with its bootstrap distribution; whatever it is asked later, such
as another interval or level, is answered from what it stores. `ResultTable` is a dict of results
(several metrics, subgroups) that can be shown as one table. `ComparisonResult` and
`ComparisonTable` do the same for paired differences of systems.

Private but for the names that `skboot` shows: modules may change without notice.
"""

import typing

from .. import _lazy
from .monte_carlo import MonteCarloError
from .result import EvaluationResult
from .table import ResultTable

if typing.TYPE_CHECKING:
    from .comparison import ComparisonResult
    from .comparison_table import ComparisonTable
    from .pairs import PairedDifference

__all__ = [
    "ComparisonResult",
    "ComparisonTable",
    "EvaluationResult",
    "MonteCarloError",
    "PairedDifference",
    "ResultTable",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "ComparisonResult": "comparison",
        "ComparisonTable": "comparison_table",
        "PairedDifference": "pairs",
    },
)
