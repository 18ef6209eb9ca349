"""Two frozen systems on one test set: level, power and coverage of the difference.

Question: does the default of `compare_systems` keep its level with equal systems, does it cover a
difference that there is, and does it tell the systems apart as often as others that keep their
level? Written before the run. How more than two systems fare is in `several_systems`, several runs
in `comparisons`, methods in `method_differences_at_n` and `methods_compared`, subgroups in
`subgroups`.

Design. Systems whose row qualities have a correlation of .6; each with no difference and with one.
First accuracy, F1, area under the ROC curve, mean absolute error. Then, written before their run:
few rows on which the systems differ (three to nine on average); average precision, MCC, macro F1,
R2 and log loss; squared errors with tails of t5 and t3; groups, crossed factors and pairs of one
population. The target "difference" is the true difference; "zero" is no difference, and 100 % less
its coverage is the power. 1000 repetitions for skboot and closed forms, 200 or 400 for packages
with 1000 resamples. Tests have no interval and the target "zero" alone: McNemar's exact one and
without correction (statsmodels), with it (mlxtend), two shares as if unpaired (mlxtend), DeLong's
(MLstatkit), permutations (scipy). "confidenceinterval: overlap" tells systems apart whose 95 %
intervals do not overlap. "unpaired percentiles" draws other resamples for the second system, as is
often done; "skboot, rows" leaves out the groups (1000 repetitions with crossed factors, where its
coverage is near the bound).

Rule. As in `frozen_systems`, for the target "difference": at least 93 % in at least 90 % of the
cells, at least 91 % in all (upper Monte Carlo limit, 2.6 standard errors), and on average over the
cells of a kind at most 1.3 times as wide as the narrowest tool that covers 93 % in all of them.
Kinds are scores, with the law or the design where there is one. Cells in which half of the data
sets are in a stated exception (of either system) and carry a warning are left out.
"""

from __future__ import annotations

from ..pair_tools import TOOLS
from ..pairs import (
    absolute_errors,
    accuracies,
    crossed,
    errors,
    explained,
    grouped,
    macro_f1_scores,
    probabilities,
    ranked,
    trials,
    two_classes,
)
from ..runner import Cell, Study

OURS = {"skboot": 1000}
LOOPS = {"scipy": 400, "unpaired percentiles": 400, "stambo": 200, "arch": 200}
FEW = {"scipy": 400, "unpaired percentiles": 400}
OF_ACCURACY = {"statsmodels": 1000, "mlxtend": 1000, "confidenceinterval": 1000}
PERMUTED = {"scipy permutation": 200}


def _cell(title, kind, draw, others=FEW):
    return Cell(title, kind, draw, OURS | others)


def _first_cells():
    for n, first, second in (
        (50, 0.9, 0.9),
        (100, 0.8, 0.8),
        (200, 0.95, 0.95),
        (500, 0.85, 0.85),
        (100, 0.9, 0.8),
        (500, 0.85, 0.81),
    ):
        title, draw = f"accuracy {first} and {second}, n {n}", accuracies(n, first, second)
        others = LOOPS if n == 100 else FEW
        yield _cell(title, "accuracy", draw, others | OF_ACCURACY | PERMUTED)
    for n, first, second in (
        (100, (0.8, 0.1), (0.8, 0.1)),
        (400, (0.8, 0.1), (0.8, 0.1)),
        (400, (0.8, 0.1), (0.7, 0.1)),
    ):
        title = f"F1, recall {first[0]} and {second[0]}, n {n}"
        others = (LOOPS if n == 100 else FEW) | {"confidenceinterval": 1000} | PERMUTED
        yield _cell(title, "F1", two_classes("F1", n, 0.3, first, second), others)
    for n, first, second in ((100, 0.8, 0.8), (300, 0.9, 0.9), (300, 0.85, 0.8)):
        draw = ranked("AUC", n, 0.4, first, second)
        others = {"unpaired percentiles": 200, "scipy": 200} | PERMUTED if n == 100 else {}
        others = others | {"MLstatkit": 1000, "confidenceinterval": 1000}
        yield _cell(f"AUC {first} and {second}, n {n}", "AUC", draw, others)
    for n, ratio in ((50, 1.0), (200, 1.0), (200, 1.15)):
        draw = absolute_errors(n, ratio, 1.0)
        others = (LOOPS if n == 50 else FEW) | {"statsmodels": 1000} | PERMUTED
        yield _cell(f"MAE {ratio} times, n {n}", "MAE", draw, others)


def _more_scores():
    kind = "accuracy, few differ"
    for n, first, second in ((100, 0.98, 0.98), (50, 0.96, 0.96), (200, 0.99, 0.97)):
        title, draw = f"accuracy {first} and {second}, n {n}", accuracies(n, first, second)
        yield _cell(title, kind, draw, FEW | OF_ACCURACY | PERMUTED)
    for n, first, second in ((100, 0.85, 0.85), (300, 0.9, 0.9), (300, 0.9, 0.85)):
        draw = ranked("average precision", n, 0.3, first, second)
        others = {"unpaired percentiles": 200, "scipy": 200} if n == 100 else {}
        title = f"average precision, AUC {first} and {second}, n {n}"
        yield _cell(title, "average precision", draw, others)
    for n, first, second in (
        (100, (0.8, 0.1), (0.8, 0.1)),
        (200, (0.95, 0.02), (0.95, 0.02)),
        (400, (0.8, 0.1), (0.7, 0.1)),
    ):
        title = f"MCC, recall {first[0]} and {second[0]}, n {n}"
        others = FEW | (PERMUTED if n == 100 else {})
        yield _cell(title, "MCC", two_classes("MCC", n, 0.3, first, second), others)
    for n, n_classes, first, second in (
        (200, 4, (0.6, 0.9), (0.6, 0.9)),
        (500, 10, (0.6, 0.9), (0.6, 0.9)),
        (500, 10, (0.7, 0.95), (0.6, 0.9)),
    ):
        low = f"{first[0]} and {second[0]} at least"
        title = f"macro F1, {n_classes} classes, accuracies {low}, n {n}"
        others = {"confidenceinterval": 200, "stambo": 200} if n == 200 else {}
        draw = macro_f1_scores(n, n_classes, first, second)
        yield _cell(title, "macro F1", draw, others)
    for n, first, second in ((50, 1.0, 1.0), (200, 1.0, 1.0), (200, 1.0, 1.2)):
        draw, title = explained(n, first, second), f"R2, errors {first} and {second}, n {n}"
        yield _cell(title, "R2", draw, FEW if n == 200 else LOOPS)
    for n, noise, first, second in (
        (100, 0.7, 1.0, 1.0),
        (400, 0.7, 1.0, 1.0),
        (400, 0.3, 2.0, 1.0),
    ):
        title = f"log loss, slopes {first} and {second}, noise {noise}, n {n}"
        draw = probabilities(n, noise, first, second)
        yield _cell(title, "log loss", draw, FEW | {"statsmodels": 1000} | PERMUTED)
    for law, n, ratio in (
        ("t5", 100, 1.0),
        ("t5", 400, 1.0),
        ("t5", 400, 1.2),
        ("t3", 100, 1.0),
        ("t3", 400, 1.2),
    ):
        title, draw = f"MSE, {law} errors, {ratio} times, n {n}", errors("MSE", n, law, ratio, 1.0)
        others = FEW | {"statsmodels": 1000} | PERMUTED
        yield _cell(title, f"MSE, {law}", draw, others if n == 100 else {"statsmodels": 1000})
    for n, ratio in ((60, 1.0), (200, 1.15)):
        title, draw = (
            f"MSE, normal errors, {ratio} times, n {n}",
            errors("MSE", n, "normal", ratio, 1.0),
        )
        yield _cell(title, "MSE", draw, FEW | {"statsmodels": 1000} | PERMUTED)


def _more_designs():
    clustered = {"statsmodels": 1000, "skboot, rows": 200}
    for name, n_groups, sizes, icc, first, second in (
        ("accuracy", 30, (5, 15), 0.3, 0.85, 0.85),
        ("accuracy", 60, (1, 20), 0.3, 0.9, 0.85),
        ("accuracy", 22, (5, 15), 0.3, 0.97, 0.97),
        ("MAE", 25, (5, 15), 0.3, 0.5, 0.5),
        ("MAE", 50, (1, 30), 0.3, 0.6, 0.5),
        ("AUC", 30, (5, 15), 0.3, 0.85, 0.85),
        ("AUC", 50, (5, 20), 0.3, 0.9, 0.85),
    ):
        title = f"{name} {first} and {second}, {n_groups} groups of {sizes[0]} to {sizes[1]}"
        draw = grouped(name, n_groups, sizes, icc, first, second)
        others = {"skboot, rows": 200} if name == "AUC" else clustered | {"stambo": 200}
        yield _cell(title, f"groups, {name}", draw, others)
    for name, n_left, n_right, first, second in (
        ("accuracy", 45, 45, 0.85, 0.85),
        ("accuracy", 60, 40, 0.9, 0.85),
        ("MAE", 45, 45, 0.5, 0.5),
        ("AUC", 45, 45, 0.85, 0.85),
    ):
        title = f"{name} {first} and {second}, {n_left} x {n_right} crossed"
        draw = crossed(name, n_left, n_right, 0.15, first, second)
        yield _cell(title, f"crossed, {name}", draw, {"skboot, rows": 1000})
    for n, first, second in ((50, 0.9, 0.9), (80, 0.95, 0.9)):
        title = f"AUC {first} and {second}, trials of {n} members"
        yield _cell(
            title, "one population, AUC", trials(n, 0.2, first, second), {"skboot, rows": 1000}
        )


STUDY = Study("told_apart", (*_first_cells(), *_more_scores(), *_more_designs()), TOOLS)
