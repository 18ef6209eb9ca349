"""Bands of curves of streams, whose scores are counted in intervals.

Question: does the band of `BootstrapAccumulator.curve` hold the whole true curve in 95 % of data
sets, though resamples are drawn row by row and know scores as intervals alone, and is it wider than
that of the same rows together? Written before the run; that deviations are made larger by the
variance that intervals lack, and the band wider by the bound on the curve, was chosen on single
data sets of 200,000 rows with scores of other shapes. A first run, of other "saturated" scores, a
fifth of which were 1 and so no longer told apart, and before resamples of precision were
interpolated, is replaced.

Design. 3000 rows, more than the 1024 intervals of a default, so that none of the resamples knows
all scores; ROC, DET and precision-recall curves of normal scores, whose true curves are known, also
after a logistic function that sends many of them near 1 ("saturated", which changes no curve); net
benefit of a logistic model that is too sure; and 60 groups of 50 rows, whose rows share a third of
the variance of the score. "stream" is the accumulator with its default of 1024 intervals, "few" one
with 64, "skboot" is `bootstrap_curve` on the same rows together. 500 resamples, 300 data sets. A
band covers if it holds the true curve at every point of its default grid.

One line of the table: as of `curve_bands`.

Rule. It passes if "stream" and "few" each cover at least 93 % in every cell, a cell counting as
below where coverage + 2.6 Monte Carlo standard errors is; and if the mean width of "stream" is
within 10 % of that of "skboot" in every cell. Cells that break the rule are listed on the page.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skboot import BootstrapAccumulator, bootstrap_curve

from ..runner import Cell, Study, Tool
from .curve_bands import as_interval, binormal, miscalibrated

N_DATA_SETS, N_RESAMPLES = 300, 500
N, GROUPS, FEW = 3000, 60, 64
STREAM, FEWER, TOGETHER = "stream", "few", "skboot"


def saturated(draw):
    """The same curve of scores of which many are near 1."""

    def drawn(rng):
        sample = draw(rng)
        return replace(sample, y_score=1 / (1 + np.exp(-5 * sample.y_score)))

    return drawn


def _streamed(n_bins):
    def call(sample, seed):
        found = BootstrapAccumulator(
            "roc_auc", random_state=seed, n_resamples=N_RESAMPLES, n_bins=n_bins
        )
        for rows in np.array_split(np.arange(N), 3):
            units = {"start": int(rows[0])}
            if sample.groups is not None:
                units = {"groups": sample.groups[rows]}
            found.update(sample.y_true[rows], sample.y_score[rows], **units)
        return _held(found.curve(sample.curve), sample)

    return call


def _together(sample, seed):
    band = bootstrap_curve(
        sample.y_true,
        sample.y_score,
        curve=sample.curve,
        groups=sample.groups,
        n_resamples=N_RESAMPLES,
        random_state=seed,
    )
    return _held(band, sample)


def _held(band, sample):
    return {"": as_interval(band.low, band.high, sample.true_curve(band.x, sample))}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(STREAM, _streamed(1024), note="BootstrapAccumulator, 1024 intervals of scores"),
        Tool(FEWER, _streamed(FEW), note=f"BootstrapAccumulator, {FEW} intervals of scores"),
        Tool(TOGETHER, _together, note="bootstrap_curve on the rows together"),
    )
}


def _cells():
    def cell(title, draw):
        return Cell(title, title.split(",")[0], draw, dict.fromkeys(TOOLS, N_DATA_SETS))

    for prevalence, auc in ((0.3, 0.85), (0.1, 0.95)):
        draw = binormal(N, prevalence, auc)
        yield cell(f"ROC, AUC {auc}, {prevalence} positives", draw)
        yield cell(f"ROC, AUC {auc}, {prevalence} positives, saturated", saturated(draw))
    yield cell("DET, AUC 0.85, 0.3 positives", binormal(N, 0.3, 0.85, curve="det"))
    for prevalence in (0.3, 0.1):
        draw = binormal(N, prevalence, 0.85, curve="precision_recall")
        yield cell(f"precision, AUC 0.85, {prevalence} positives", draw)
    yield cell("precision, AUC 0.85, 0.1 positives, saturated", saturated(draw))
    yield cell("decision", miscalibrated(N, "decision"))
    grouped = f"{GROUPS} groups of {N // GROUPS} rows"
    yield cell(f"ROC, AUC 0.85, {grouped}", binormal(N, 0.3, 0.85, GROUPS))
    draw = binormal(N, 0.3, 0.85, GROUPS, "precision_recall")
    yield cell(f"precision, AUC 0.85, {grouped}", draw)
    yield cell(f"decision, {grouped}", miscalibrated(N, "decision", GROUPS))


STUDY = Study("streamed_curves", tuple(_cells()), TOOLS, chunk=30)
