"""Frozen systems: fifteen scores, 20 to 2000 rows, light and heavy tails.

Question: does ``interval="auto"`` of `bootstrap_score` keep 95 % on independent rows, and is it
wider than it must be? Written before the run.

Design. One cell is a score, a law and a number of rows; the truth is exact. All data sets are
looked at by skboot (the default, and intervals by name from the same resamples); in some cells
also by other packages, 1000 resamples each, on fewer repetitions where they loop in
Python (their Monte Carlo error says so). 1000 repetitions for skboot.

Rule. It passes if the default covers at least 93 % in at least 90 % of the cells and at least 91 %
in all, a cell counting as below where its upper Monte Carlo limit (coverage + 2.6 standard errors)
is; cells are left out where at least half of the data sets are in a stated exception and carry a
warning (`exceptions`). And its mean width is at most 1.3 times that of the narrowest tool among
those which cover at least 93 % (same limit) in every cell of the kind that is not left out, and
were run there. A kind is a score, with the law of errors where it has heavy tails.

If it does not pass, the cells that fail are listed on the page, and the choice of "auto" for their
kind is looked at again with a decision record.
"""

from __future__ import annotations

from ..runner import Cell, Study
from ..systems import many_classes, probabilities, proportion, regression, scored, two_classes
from ..tools import TOOLS

OURS = {"skboot": 1000}
# Closed forms cost nothing; 1000 resamples in a loop cost some 50 ms.
LOOPS = 200


def _peers(*names):
    closed = ("statsmodels", "confidenceinterval")
    return {name: 1000 if name in closed else LOOPS for name in names}


RESAMPLERS = ("scipy", "confidence_intervals", "stambo", "mlxtend", "arch")


def _cells():
    def cell(name, kind, draw, *peers):
        return Cell(name, kind, draw, OURS | _peers(*peers))

    closed = ("statsmodels", "confidenceinterval")
    for n, accuracy in ((20, 0.9), (50, 0.9), (50, 0.97), (200, 0.9), (200, 0.99), (2000, 0.97)):
        all_peers = (*RESAMPLERS, "MLstatkit") if (n, accuracy) == (50, 0.9) else ()
        title = f"accuracy {accuracy}, n {n}"
        yield cell(title, "accuracy", proportion(n, accuracy), *closed, *all_peers)
    for n, prevalence, recall, false in (
        (50, 0.3, 0.8, 0.1),
        (200, 0.3, 0.8, 0.1),
        (200, 0.3, 0.95, 0.02),
        (400, 0.1, 0.7, 0.02),
        (2000, 0.05, 0.7, 0.02),
    ):
        title = f"n {n}, {prevalence} positives, recall {recall}"
        draw = two_classes("F1", n, prevalence, recall, false)
        peers = (*RESAMPLERS, "MLstatkit") if n == 50 else ()
        yield cell(f"F1, {title}", "F1", draw, "confidenceinterval", *peers)
        if n <= 400:
            draw = two_classes("MCC", n, prevalence, recall, false)
            yield cell(f"MCC, {title}", "MCC", draw, *(("scipy",) if n == 50 else ()))
            draw = two_classes("kappa", n, prevalence, recall, false)
            peers = ("scipy",) if n == 50 else ()
            yield cell(f"kappa, {title}", "kappa", draw, "statsmodels", *peers)
    for name, n, prevalence, recall, false in (
        ("cost 0/1", 50, 0.3, 0.8, 0.1),
        ("cost 0/1", 2000, 0.05, 0.7, 0.02),
        ("cost", 50, 0.3, 0.8, 0.1),
        ("cost", 200, 0.3, 0.8, 0.1),
        ("cost", 500, 0.05, 0.9, 0.1),
        ("cost", 2000, 0.05, 0.7, 0.02),
    ):
        draw = two_classes(name, n, prevalence, recall, false)
        title = f"expected {name}, n {n}, {prevalence} positives, recall {recall}"
        yield cell(title, f"expected {name}", draw)
    for n_classes, n in ((3, 60), (3, 300), (10, 300), (30, 900), (100, 2000)):
        draw = many_classes("macro F1", n, n_classes, 0.5, 0.9)
        title = f"macro F1, {n_classes} classes, n {n}"
        yield cell(title, "macro F1", draw, "confidenceinterval")
    draw = many_classes("kappa", 200, 4, 0.5, 0.9)
    yield cell("kappa, 4 classes, n 200", "kappa", draw, "statsmodels")
    for n, prevalence, auc in (
        (50, 0.5, 0.8),
        (100, 0.3, 0.9),
        (200, 0.5, 0.95),
        (200, 0.2, 0.8),
        (200, 0.06, 0.8),
        (200, 0.5, 0.99),
        (2000, 0.05, 0.9),
    ):
        title = f"n {n}, {prevalence} positives, AUC {auc}"
        peers = ("scipy", "stambo", "MLstatkit") if n == 50 else ()
        draw = scored("AUC", n, prevalence, auc)
        yield cell(f"AUC, {title}", "AUC", draw, "confidenceinterval", *peers)
        if auc < 0.99 and n <= 200:
            peers = ("MLstatkit",) if n == 50 else ()
            draw = scored("average precision", n, prevalence, auc)
            yield cell(f"average precision, {title}", "average precision", draw, *peers)
    for name, errors, sizes in (
        ("MSE", "normal", (20, 50, 200, 2000)),
        ("MSE", "t5", (50, 200)),
        ("MSE", "lognormal .5", (200,)),
        ("MAE", "normal", (20, 50)),
        ("MAE", "t3", (50, 2000)),
        ("pinball", "normal", (20, 60)),
        ("pinball", "t3", (200,)),
    ):
        light = errors in ("normal", "uniform")
        kind = f"{name}, light tails" if light else f"{name}, heavy tails"
        for n in sizes:
            peers = RESAMPLERS if (name, n, errors) == ("MSE", 50, "normal") else ()
            draw = regression(name, n, errors)
            yield cell(f"{name}, {errors} errors, n {n}", kind, draw, "statsmodels", *peers)
    for name, errors, sizes in (
        ("RMSE", "normal", (50,)),
        ("RMSE", "t3", (200,)),
        ("R2", "normal", (20, 50)),
        ("R2", "t5", (200,)),
        ("median absolute error", "normal", (20, 50)),
        ("median absolute error", "t3", (200,)),
    ):
        light = errors == "normal" or name == "median absolute error"
        kind = name if light else f"{name}, heavy tails"
        for n in sizes:
            peers = ("scipy",) if n == 50 else ()
            draw = regression(name, n, errors)
            yield cell(f"{name}, {errors} errors, n {n}", kind, draw, *peers)
    for n, slope, spread in ((50, 1.0, 1.5), (200, 1.0, 1.5), (200, 2.0, 1.5)):
        tails = "light tails" if slope == 1 else "heavy tails"
        draw = probabilities(n, slope, spread)
        peers = RESAMPLERS if n == 50 else ()
        title = f"log loss, slope {slope}, n {n}"
        yield cell(title, f"log loss, {tails}", draw, "statsmodels", *peers)


def _bounds(sample):
    return sample.score.bounds


STUDY = Study("frozen_systems", tuple(_cells()), TOOLS, bounds=_bounds)
