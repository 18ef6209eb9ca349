"""What an evaluation found: numbers, a sentence, tables, drawings, files.

`EvaluationResult` holds one score with its bootstrap distribution; whatever it is asked later, such
as another interval or level, is answered from what it stores. `ComparisonResult` does the same for
paired differences of systems. `ResultTable` is a dict of either (several metrics, subgroups) that
can be shown as one table; `ComparisonTable` is its former name for comparisons.

Private but for the names that `skboot` shows: modules may change without notice.
"""

import typing

from .._base import lazy as _lazy
from .monte_carlo import MonteCarloError
from .result import EvaluationResult
from .table import ResultTable

if typing.TYPE_CHECKING:
    from .comparison import ComparisonResult
    from .data_sets import DatasetsComparison
    from .pairs import PairedDifference

__all__ = [
    "ComparisonResult",
    "ComparisonTable",
    "DatasetsComparison",
    "EvaluationResult",
    "MonteCarloError",
    "PairedDifference",
    "ResultTable",
]

# The former name of a table of comparisons, until 1.0.
ComparisonTable = ResultTable

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "comparison": ["ComparisonResult"],
        "data_sets": ["DatasetsComparison"],
        "pairs": ["PairedDifference"],
    },
)
