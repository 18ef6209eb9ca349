"""Names for choosing and validating models beside `sklearn.model_selection`.

The splitters for every ``cv=`` of scikit-learn, the score of a tuned search, and groups of copies.
"""

import typing

from ._base import lazy as _lazy

if typing.TYPE_CHECKING:
    from ._base.copies import copies_as_groups
    from .comparison import corrected_t, one_standard_error, out_of_fold, search_score
    from .splitters import (
        BootstrapSplit,
        BootstrapTestSplit,
        GroupBootstrapSplit,
        SeedSplit,
        StratifiedBootstrapSplit,
    )

__all__ = [
    "BootstrapSplit",
    "BootstrapTestSplit",
    "GroupBootstrapSplit",
    "SeedSplit",
    "StratifiedBootstrapSplit",
    "copies_as_groups",
    "corrected_t",
    "one_standard_error",
    "out_of_fold",
    "search_score",
]

__getattr__, __dir__ = _lazy.names_from(
    __name__,
    {
        "._base.copies": ["copies_as_groups"],
        ".comparison": ["corrected_t", "one_standard_error", "out_of_fold", "search_score"],
        ".splitters": [
            "BootstrapSplit",
            "BootstrapTestSplit",
            "GroupBootstrapSplit",
            "SeedSplit",
            "StratifiedBootstrapSplit",
        ],
    },
    class_module=".splitters",
)
