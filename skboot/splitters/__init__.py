"""The splitters: bootstrap samples, and repeats of a test set, for every ``cv=`` of scikit-learn.

Which one when:

* `BootstrapSplit`: how a method does at this sample size, when the rows are independent. It trains
  on rows drawn with replacement and tests on the rows that were not drawn (out-of-bag).
* `StratifiedBootstrapSplit`: the same within classes, when a class is rare enough to be missed.
* `GroupBootstrapSplit`: the same with whole groups, when several rows come from one speaker,
  patient or machine.
* `BootstrapTestSplit`: how far the score of a *fitted* model can be trusted; only test rows are
  drawn again.
* `SeedSplit`: how much the score moves with the seed of the training, everything else being equal.

Everything is drawn from one random stream per split, so the first 100 of 200 splits are the splits
of ``n_splits=100``.
"""

from .bootstrap import (
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
]
