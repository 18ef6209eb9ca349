"""Points of curves: does the interval of a single point hold the truth there?

Question: `CurveResult.at` gives a point its own interval, and ``band="pointwise"`` all of them. Do
they hold the true value in 95 % of data sets, also at rates that few rows decide? Written before
the run; the form for curves over thresholds (standard errors on the scale of constant variance, as
the band has) was chosen on 200 other data sets of seven designs, listed in the log of record 0065.

Design. The designs of `curve_bands`: ROC curves and precision at recalls of normal scores, whose
true curves are known, at 200 and 1000 rows, 10 and 50 % positives and areas of .7 to .95; net
benefit and smoothed calibration of a logistic model that is too sure; ROC curves and net benefit on
30 groups of 30 rows. A target is a point of the curve. Rates of false positives begin at those of
1.5 and 3 negatives; there a lower limit may be free. 1000 resamples, 400 data sets a cell.

Rule. It passes if nine of ten points are covered at least 93 %, and all at least 91 %, a point
counting as below where coverage + 2.6 Monte Carlo standard errors is. Widths are shown and have no
rule.

If it does not pass, the points that fail are listed on the page.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skboot import bootstrap_curve

from ..runner import Cell, Study, Tool
from .curve_bands import N_RESAMPLES, binormal, miscalibrated

REPETITIONS = 400
RECALLS = (0.1, 0.3, 0.5, 0.7, 0.9)
THRESHOLDS = (0.1, 0.3, 0.5, 0.7)
PROBABILITIES = (0.2, 0.5, 0.8)
# Rows, share of positives and area.
DESIGNS = (
    (200, 0.5, 0.7),
    (200, 0.1, 0.85),
    (200, 0.5, 0.95),
    (1000, 0.5, 0.7),
    (1000, 0.1, 0.85),
    (1000, 0.5, 0.95),
)


def rates(n, prevalence):
    """Rates of 1.5 and 3 of the negatives that are expected, and others."""
    negatives = n * (1 - prevalence)
    few = (1.5 / negatives, 3 / negatives)
    return tuple(float(f"{x:.3g}") for x in (*few, 0.05, 0.1, 0.3, 0.6, 0.9))


def at_points(draw, points):
    """Data sets of a curve whose targets are points of it."""

    def drawn(rng):
        sample = draw(rng)
        values = sample.true_curve(np.asarray(points), sample)
        return replace(sample, truth=dict(zip(map(str, points), values.tolist(), strict=True)))

    return drawn


def ours(sample, seed):
    """The interval of each point."""
    band = bootstrap_curve(
        sample.y_true,
        sample.y_score,
        curve=sample.curve,
        band="pointwise",
        grid=[float(x) for x in sample.truth],
        groups=sample.groups,
        n_resamples=N_RESAMPLES,
        random_state=seed,
    )
    return {"": dict(zip(sample.truth, zip(band.low, band.high, strict=True), strict=True))}


TOOLS = {"skboot": Tool("skboot", ours, note=f"{N_RESAMPLES} resamples")}


def _cells():
    def cell(title, kind, draw, points):
        return Cell(title, kind, at_points(draw, points), {"skboot": REPETITIONS})

    for n, prevalence, auc in DESIGNS:
        words = f"AUC {auc}, n {n}, {prevalence} positives"
        yield cell(f"ROC, {words}", "ROC", binormal(n, prevalence, auc), rates(n, prevalence))
        draw = binormal(n, prevalence, auc, curve="precision_recall")
        yield cell(f"precision, {words}", "precision", draw, RECALLS)
    for n in (200, 1000):
        draw = miscalibrated(n, "decision")
        yield cell(f"decision, n {n}", "decision", draw, THRESHOLDS)
        draw = miscalibrated(n, "calibration_smooth")
        yield cell(f"smoothed calibration, n {n}", "smoothed calibration", draw, PROBABILITIES)
    grouped = "30 groups of 30 rows"
    draw = binormal(900, 0.3, 0.85, 30)
    yield cell(f"ROC, AUC 0.85, {grouped}", "ROC, groups", draw, rates(900, 0.3))
    draw = miscalibrated(900, "decision", 30)
    yield cell(f"decision, {grouped}", "decision, groups", draw, THRESHOLDS)


STUDY = Study("curve_points", tuple(_cells()), TOOLS, chunk=200)
