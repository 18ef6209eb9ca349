"""Which is better? Paired comparison of systems, runs, methods and tuned searches.

`compare_systems` for trained systems on one test set, `compare_runs` for several runs (seeds) of
several methods on one test set, `compare_methods` for estimators that are trained here,
`compare_across` for methods on several data sets, `learning_curve` for methods at several sizes
of training sets, `search_score` for the winner of a search.

Private but for the names that `skboot` shows: modules may change without notice.
"""

from .across import compare_across
from .gate import assert_not_worse
from .learning import learning_curve
from .methods import compare_methods
from .runs import compare_runs
from .search import search_score
from .systems import compare_systems
from .tuning import corrected_t, one_standard_error, out_of_fold

__all__ = [
    "assert_not_worse",
    "compare_across",
    "compare_methods",
    "compare_runs",
    "compare_systems",
    "corrected_t",
    "learning_curve",
    "one_standard_error",
    "out_of_fold",
    "search_score",
]
