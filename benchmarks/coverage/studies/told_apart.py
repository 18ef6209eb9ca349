"""Two frozen systems on one test set: level, power and coverage of the difference.

Question: does the default of `compare_systems` keep its level with equal systems, does it cover a
difference that there is, and does it tell the systems apart as often as others that keep their
level? Written before the run. How eight systems, several runs and methods fare is in `comparisons`,
`method_differences` and `method_differences_at_n`; subgroups are in `gaps`.

Design. Systems whose row qualities have a correlation of .6; accuracy, F1, area under the ROC
curve, mean absolute error; each with no difference and with one. The target "difference" is the
true difference; "zero" is no difference, and 100 % less its coverage is the power. 1000 repetitions
for skboot, 200 or 400 for packages with 1000 resamples. "unpaired percentiles" draws other
resamples for the second system, as is often done.

Rule. As in `frozen_systems`, for the target "difference": at least 93 % in at least 90 % of the
cells, at least 91 % in all (upper Monte Carlo limit, 2.6 standard errors), and on average over the
cells of a kind at most 1.3 times as wide as the narrowest tool that covers 93 % in all of them.
Kinds are scores.
"""

from __future__ import annotations

from ..pairs import TOOLS, absolute_errors, accuracies, areas, f1_scores
from ..runner import Cell, Study


def _cells():
    loops = {"scipy": 400, "unpaired percentiles": 400, "stambo": 200, "arch": 200}

    def cell(title, kind, draw, others=loops):
        return Cell(title, kind, draw, {"skboot": 1000} | others)

    few = {"scipy": 400, "unpaired percentiles": 400}
    for n, first, second in (
        (50, 0.9, 0.9),
        (100, 0.8, 0.8),
        (200, 0.95, 0.95),
        (500, 0.85, 0.85),
        (100, 0.9, 0.8),
        (500, 0.85, 0.81),
    ):
        draw = accuracies(n, first, second)
        others = loops if n == 100 else few
        yield cell(f"accuracy {first} and {second}, n {n}", "accuracy", draw, others)
    for n, first, second in (
        (100, (0.8, 0.1), (0.8, 0.1)),
        (400, (0.8, 0.1), (0.8, 0.1)),
        (400, (0.8, 0.1), (0.7, 0.1)),
    ):
        draw = f1_scores(n, 0.3, first, second)
        others = loops if n == 100 else few
        yield cell(f"F1, recall {first[0]} and {second[0]}, n {n}", "F1", draw, others)
    for n, first, second in ((100, 0.8, 0.8), (300, 0.9, 0.9), (300, 0.85, 0.8)):
        draw = areas(n, 0.4, first, second)
        others = {"unpaired percentiles": 200, "scipy": 200} if n == 100 else {}
        yield cell(f"AUC {first} and {second}, n {n}", "AUC", draw, others)
    for n, ratio in ((50, 1.0), (200, 1.0), (200, 1.15)):
        draw = absolute_errors(n, ratio)
        others = loops if n == 50 else few
        yield cell(f"MAE {ratio} times, n {n}", "MAE", draw, others)


STUDY = Study("told_apart", tuple(_cells()), TOOLS)
