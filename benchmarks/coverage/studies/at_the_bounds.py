"""At the bounds of the stated exceptions: where does coverage fall, and does skboot warn there?

The exceptions of `exceptions` are wide, and some are met by half of all honest data. On which of
them is a warning due, and from which number on? Written before the run.

Design. Ladders of small systems across each bound, 1000 data sets a cell: 10 to 70 rows of the
smaller class for the area under the ROC curve, areas of .97 to .995, 6 to 50 positives for average
precision, F1 and Matthews' coefficient, 5 to 30 groups for five scores, and groups nearly all of
which are perfect. For losses the data sets of `frozen_systems` and `real_predictions` are drawn
again, by `warned_losses`. A data set without one of the classes, which is refused, is drawn
again.

Rule. A warning is due at a rung where the default covers less than 93 %, and at all further out;
its bound is the next rung towards ordinary data. Where no rung of an exception does, nothing is
lost: skboot warns only if it hardly ever meets ordinary data (under 5 % of the data sets of those
cells of `frozen_systems`, `real_predictions` and `grouped_systems` that have this score and cover
at least 94 %), and an exception without a warning excuses no cell. The same share is asked of
warnings that are due, and where it is exceeded, the bound is moved to where it is not, and the
coverage that goes without a warning is written down.

Added later, before it was run: ladders of 10 to 80 members of crossed factors and of one
population, with a fifth and with nine tenths of the variance in members. The caution that every
interval of one population carries was measured for an earlier one, and is to say what these cells
give.
"""

from __future__ import annotations

import numpy as np

from ..ours import default_of_system
from ..runner import Cell, Study, Tool
from ..systems import crossed, grouped, scored, trials, two_classes

REPETITIONS = 1000


def _of_both_classes(draw):
    """Draw again where a class is missing, on which the metric is refused."""

    def drawn(rng):
        while len(np.unique((sample := draw(rng)).y_true)) < 2:
            pass
        return sample

    return drawn


def _cells():
    def cell(title, kind, draw):
        return Cell(title, kind, draw, {"skboot": REPETITIONS})

    for auc in (0.8, 0.95):
        for n, positives in ((100, 0.1), (100, 0.2), (100, 0.35), (100, 0.5), (200, 0.35)):
            title = f"AUC {auc}, about {positives * n:.0f} positives of {n}"
            yield cell(title, "AUC, smaller class", scored("AUC", n, positives, auc))
    for n, positives, auc in (
        (200, 0.5, 0.97),
        (200, 0.5, 0.98),
        (200, 0.5, 0.99),
        (200, 0.5, 0.995),
        (1000, 0.5, 0.99),
        (1000, 0.1, 0.995),
    ):
        title = f"AUC {auc}, about {positives * n:.0f} positives of {n}"
        yield cell(title, "AUC near 1", scored("AUC", n, positives, auc))
    for auc in (0.8, 0.9):
        for positives in (0.03, 0.05, 0.1, 0.15, 0.25):
            title = f"average precision, AUC {auc}, about {positives * 200:.0f} positives of 200"
            draw = _of_both_classes(scored("average precision", 200, positives, auc))
            yield cell(title, "average precision", draw)
    for name in ("F1", "MCC"):
        for n, positives in (
            (200, 0.03),
            (200, 0.05),
            (200, 0.1),
            (200, 0.15),
            (60, 0.1),
            (60, 0.2),
            (60, 0.3),
        ):
            title = f"{name}, about {positives * n:.0f} positives of {n}"
            yield cell(title, name, two_classes(name, n, positives, 0.8, 0.05))
    for name, at in (("accuracy", 0.9), ("F1", 0.9), ("macro F1", 0.9), ("MAE", 0.5), ("AUC", 0.8)):
        for n_groups in (5, 10, 15, 20, 30):
            title = f"{name} {at}, {n_groups} groups of 10, icc 0.2"
            yield cell(title, f"groups, {name}", grouped(name, n_groups, (10, 10), 0.2, at))
    for name in ("accuracy", "macro F1"):
        for n_groups, at in ((20, 0.99), (50, 0.99), (50, 0.995)):
            title = f"{name} {at}, {n_groups} groups of 10, icc 0.3"
            yield cell(title, "few erring groups", grouped(name, n_groups, (10, 10), 0.3, at))
    for n_members in (10, 15, 25, 40, 80):
        for icc in (0.2, 0.45):
            for name, at in (("accuracy", 0.85), ("AUC", 0.85)):
                title = f"{name} {at}, pairs of {n_members}, icc {icc}"
                draw = trials(name, n_members, icc, at)
                yield cell(title, "members of one population", draw)
    for sides in ((10, 10), (15, 25), (25, 25), (35, 35), (50, 30)):
        for icc in (0.1, 0.45):
            for name, at in (("accuracy", 0.85), ("MAE", 0.5), ("AUC", 0.85)):
                labels = ", labels by member" if name == "AUC" else ""
                title = f"{name} {at}, {sides[0]} x {sides[1]}, icc {icc} a side{labels}"
                draw = crossed(name, *sides, icc, at, by_member=bool(labels))
                draw = _of_both_classes(draw) if labels else draw
                yield cell(title, "crossed members", draw)


TOOLS = {"skboot": Tool("skboot", default_of_system)}
STUDY = Study("at_the_bounds", tuple(_cells()), TOOLS, bounds=lambda sample: sample.score.bounds)
