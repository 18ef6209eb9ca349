"""Frozen systems on groups, on two crossed factors, and on pairs of one population.

Question: does ``interval="auto"`` of `bootstrap_score` keep 95 % for new groups, and is it wider
than it must be? Written before the run.

Design. A latent quality of each row is normal with a part of its variance (the intra-class
correlation, icc) shared by the rows of a group, or by those of a member of either side. Scores are
the accuracy, the mean of lognormal losses and the area under the ROC curve; truths are exact. 1000
repetitions for skboot and for closed forms (cluster-robust standard errors of statsmodels with t of
G - 1 degrees of freedom, the t interval of group means), 200 for packages that loop over 1000
resamples. "skboot, rows" leaves the groups out, and shows what that costs, on 200; "groups by
hand" draws whole groups in a loop and takes percentiles, on 200.

Added later, before it was run: the cluster-robust standard error of two factors of statsmodels
(Cameron, Gelbach and Miller 2011) for means of crossed factors; "groups by hand"; and crossed
factors whose labels belong to the members of one side, as those of items do. Before that, every
member of the two cells of the area under the curve met both classes, so that what members share
cancelled and rows covered by luck: a kind whose cells all favour one luck is no measure of width.

Rule. As in `frozen_systems`: the default covers at least 93 % in at least 90 % of the cells that
are not left out, and at least 91 % in all (upper Monte Carlo limit, 2.6 standard errors); left out
are cells of which at least half of the data sets are in a stated exception and carry a warning;
mean width at most 1.3 times that of the narrowest tool that was run in every cell of a kind and
covers at least 93 % there. Kinds are a score with its design.
"""

from __future__ import annotations

from ..runner import Cell, Study
from ..systems import crossed, grouped, trials
from ..tools import TOOLS

LOOPS = 200
CLOSED = ("statsmodels", "t of group means", "skboot, rows")
BY_HAND = "groups by hand"


def _cells():
    def cell(title, kind, draw, *names):
        tools = {"skboot": 1000} | {name: 1000 if name in CLOSED[:2] else LOOPS for name in names}
        return Cell(title, kind, draw, tools)

    # score, `at`, icc, groups, sizes
    for name, at, icc, n_groups, sizes in (
        ("accuracy", 0.9, 0.1, 10, (10, 10)),
        ("accuracy", 0.9, 0.1, 20, (10, 10)),
        ("accuracy", 0.9, 0.3, 20, (5, 20)),
        ("accuracy", 0.95, 0.3, 50, (5, 20)),
        ("accuracy", 0.9, 0.2, 200, (5, 20)),
        ("MAE", 0.5, 0.2, 20, (10, 10)),
        ("MAE", 0.5, 0.2, 50, (5, 20)),
        ("AUC", 0.8, 0.2, 20, (10, 10)),
        ("AUC", 0.9, 0.4, 50, (5, 20)),
    ):
        span = f"{sizes[0]} to {sizes[1]}" if sizes[0] < sizes[1] else f"{sizes[0]}"
        title = f"{name} {at}, {n_groups} groups of {span}, icc {icc}"
        # A mean of group scores has another truth for an area under a curve.
        names = (*(CLOSED if name != "AUC" else CLOSED[2:]), BY_HAND)
        if sizes == (10, 10) and n_groups == 20:
            names += ("stambo", "confidence_intervals")
        kind = f"groups, {name}"
        yield cell(title, kind, grouped(name, n_groups, sizes, icc, at), *names)
    for name, at, icc, sides, labels in (
        ("accuracy", 0.8, 0.1, (40, 40), ""),
        ("accuracy", 0.8, 0.1, (20, 100), ""),
        ("MAE", 0.5, 0.2, (40, 40), ""),
        ("AUC", 0.8, 0.1, (40, 40), ""),
        ("AUC", 0.8, 0.1, (15, 15), ""),
        ("AUC", 0.8, 0.1, (40, 40), ", labels by member"),
    ):
        title = f"{name} {at}, {sides[0]} x {sides[1]}, icc {icc} a side{labels}"
        draw = crossed(name, *sides, icc, at, by_member=bool(labels))
        names = ("skboot, rows", *(() if name == "AUC" else CLOSED[:1]))
        yield cell(title, f"crossed, {name}", draw, *names)
    for name, at, icc, n_members in (
        ("accuracy", 0.9, 0.2, 40),
        ("AUC", 0.9, 0.2, 40),
    ):
        title = f"{name} {at}, pairs of {n_members}, icc {icc}"
        yield cell(
            title, f"one population, {name}", trials(name, n_members, icc, at), "skboot, rows"
        )


STUDY = Study("grouped_systems", tuple(_cells()), TOOLS, bounds=lambda sample: sample.score.bounds)
