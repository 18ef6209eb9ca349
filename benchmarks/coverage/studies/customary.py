"""What is customary without a test set, on the data sets of `narrower`: how often does it cover?

* "t over folds": mean and standard error of the ten scores that ``cross_val_score`` returns, with
  the t quantile of 9 degrees of freedom, as if folds were independent;
* "t over repeated folds": the same of all folds of the repeats, 50 by default;
* "percentiles, out-of-bag": the 2.5 and 97.5 % points of the out-of-bag scores of the bootstrap
  samples.

Nothing is decided by it: coverage and width are shown beside those of "cv-bootstrap" on the first
100 data sets of each cell of `narrower` that is trained at once (Monte Carlo error 2.2 at 95 %, up
to 5). The study goes on where it was stopped:

    make coverage-study STUDY=customary
"""

from ..methods.designs import Design
from ..methods.parts import bootstrap, customary
from ..methods.table import study
from . import narrower

N_SETS = 100


def intervals(parts):
    return {"cv-bootstrap": bootstrap(parts).interval()} | customary(parts)


# The number of a cell is in its seed: those by BootstrapScorer itself are the last.
CELLS = {title: cell for title, cell in narrower.CELLS.items() if isinstance(cell, Design)}
STUDY = study(
    "customary",
    CELLS,
    intervals,
    seed=narrower.SEED,
    n_sets=lambda cell: N_SETS,
    reference="cv-bootstrap",
)
