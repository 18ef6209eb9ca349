"""What an evaluation found: numbers, a sentence, tables, drawings, files.

`EvaluationResult` holds one score with its bootstrap distribution; whatever it is asked later, such
as another interval or level, is answered from what it stores. `ResultTable` is a dict of results
(several metrics, subgroups) that can be shown as one table.
"""

from .result import EvaluationResult, MonteCarloError
from .table import ResultTable

__all__ = ["EvaluationResult", "MonteCarloError", "ResultTable"]
