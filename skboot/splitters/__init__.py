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

Whatever a module of this folder names in its ``__all__`` is a splitter of
`skboot.model_selection`.
"""

from .._base.lazy import import_modules
from .bootstrap import BootstrapSplit, GroupBootstrapSplit, StratifiedBootstrapSplit
from .seeds import SeedSplit
from .test_sides import BootstrapTestSplit

__all__ = [
    "BootstrapSplit",
    "BootstrapTestSplit",
    "GroupBootstrapSplit",
    "SeedSplit",
    "StratifiedBootstrapSplit",
]

for _module in import_modules(__name__):
    for _name in getattr(_module, "__all__", ()):
        globals().setdefault(_name, getattr(_module, _name))
