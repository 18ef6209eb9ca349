"""Real predictions: small test sets drawn from large real ones, with the full-set score as truth.

Question: does ``interval="auto"`` of `bootstrap_score` keep 95 % where nothing was simulated, and
is it wider than it must be? Written before the run.

Design. Out-of-fold predictions of common learners on 17 data sets (`real`); a cell is a score on
test sets of n rows, n schools or lecturers, or persons by items, drawn with replacement from the
whole. 1000 repetitions for skboot and for closed forms, 200 for packages that loop over 1000
resamples and for what is wrong on purpose.

Rule. As in `frozen_systems`: the default covers at least 93 % in at least 90 % of the cells that
are not left out, and at least 91 % in all (upper Monte Carlo limit, 2.6 standard errors); left out
are cells of which at least half of the data sets are in a stated exception and carry a warning;
mean width at most 1.3 times that of the narrowest tool that was run in every cell of a kind and
covers at least 93 % there. Kinds are scores, those of regression with heavy tails apart.
"""

from __future__ import annotations

from ..real import crossed, groups_of, rows
from ..runner import Cell, Study
from ..tools import TOOLS

LOOPS = 200
PERCENTILES = ("scipy", "confidence_intervals", "stambo", "arch")


def _cells():
    def cell(title, kind, draw, *names, first="skboot"):
        closed = ("statsmodels", "confidenceinterval", "t of group means")
        tools = {first: 1000} | {name: 1000 if name in closed else LOOPS for name in names}
        return Cell(title, kind, draw, tools)

    closed = ("statsmodels", "confidenceinterval")
    for task, sizes in (
        ("digits, naive Bayes", (50, 200)),
        ("iris, naive Bayes", (50,)),
        ("wine, tree", (50,)),
        ("breast cancer, tree", (50,)),
        ("breast cancer, logistic", (200,)),
    ):
        for n in sizes:
            peers = (*closed, *PERCENTILES) if n == 50 else closed
            draw = rows("accuracy", task, n)
            yield cell(f"accuracy, {task}, n {n}", "accuracy", draw, *peers)
    for name, task, sizes in (
        ("F1", "breast cancer, tree", (100,)),
        ("F1", "spam, logistic", (100, 500)),
        ("F1", "churn, boosting", (200,)),
        ("MCC", "spam, logistic", (100,)),
        ("MCC", "churn, boosting", (200,)),
        ("macro F1", "digits, naive Bayes", (200,)),
        ("macro F1", "cluster jobs, boosting", (200,)),
        ("kappa", "digits, naive Bayes", (100,)),
        ("kappa", "cluster jobs, boosting", (100,)),
        ("AUC", "breast cancer, tree", (100,)),
        ("AUC", "spam, logistic", (100,)),
        ("AUC", "caravan insurance, logistic", (500,)),
        ("AUC", "churn, boosting", (500,)),
        ("average precision", "spam, logistic", (100,)),
        ("average precision", "churn, boosting", (200,)),
        ("average precision", "caravan insurance, logistic", (1000,)),
    ):
        for n in sizes:
            peers = ("confidenceinterval",) if name in ("F1", "macro F1", "AUC") else ()
            peers += ("statsmodels",) if name == "kappa" else ()
            peers += ("scipy", "stambo") if (name, n) in (("F1", 100), ("MCC", 100)) else ()
            yield cell(f"{name}, {task}, n {n}", name, rows(name, task, n), *peers)
    for name, task, sizes, tails in (
        ("log loss", "caravan insurance, logistic", (300,), "heavy"),
        ("log loss", "churn, boosting", (200,), "heavy"),
        ("MAE", "diabetes, ridge", (50,), "light"),
        ("MAE", "computers, least squares", (50, 200), "light"),
        ("MAE", "diamonds, boosting", (100, 1000), "heavy"),
        ("MAE", "houses of Ames, boosting", (200,), "heavy"),
        ("MSE", "diabetes, ridge", (50, 200), "light"),
        ("MSE", "computers, least squares", (200,), "heavy"),
        ("MSE", "diamonds, boosting", (200, 2000), "heavy"),
        ("R2", "diabetes, ridge", (50,), "light"),
        ("R2", "computers, least squares", (100,), "light"),
        ("R2", "diamonds, boosting", (200,), "heavy"),
        ("R2", "houses of Ames, boosting", (200,), "heavy"),
        ("median absolute error", "diabetes, ridge", (50,), ""),
        ("median absolute error", "diamonds, boosting", (100,), ""),
    ):
        for n in sizes:
            kind = f"{name}, {tails} tails" if tails else name
            peers = ("statsmodels",) if name in ("log loss", "MAE", "MSE") else ()
            peers += PERCENTILES if name == "MAE" and n <= 50 else ()
            yield cell(f"{name}, {task}, n {n}", kind, rows(name, task, n), *peers)
    by_groups = ("t of group means", "skboot, rows")
    for name, task, sizes in (
        ("accuracy", "minorities in 160 schools, boosting", (20, 50)),
        ("accuracy", "1128 lecturers, boosting", (50,)),
        ("AUC", "minorities in 160 schools, boosting", (30,)),
        ("MAE", "maths in 160 schools, least squares", (20, 50)),
        ("MSE", "maths in 160 schools, least squares", (50,)),
    ):
        for n in sizes:
            draw = groups_of(name, task, n)
            sums = name in ("accuracy", "MAE", "MSE")
            peers = ("statsmodels", *by_groups) if sums else by_groups[1:]
            peers += ("stambo",) if n == 20 and name != "MSE" else ()
            yield cell(f"{name}, {task}, {n} groups", f"groups, {name}", draw, *peers)
    task = "anger of 316 persons by 24 items, logistic"
    for name, sides in (("accuracy", (40, 20)), ("AUC", (40, 20)), ("accuracy", (100, 40))):
        draw = crossed(name, task, *sides)
        title = f"{name}, {task}, {sides[0]} x {sides[1]}"
        yield cell(title, f"crossed, {name}", draw, "skboot, rows")


STUDY = Study("real_predictions", tuple(_cells()), TOOLS, bounds=lambda sample: sample.score.bounds)
