"""Frozen systems as streams: the same data sets by Poisson and by multinomial resamples.

Question: do the intervals of `BootstrapAccumulator`, whose rows or groups are drawn one by one, and
which has no jackknife and so fewer intervals to choose from, hold the truth as often as those of
`bootstrap_score`? Written before the run.

Design. Accuracy, log loss, squared errors of light and heavy tails, the area under the ROC curve
of 50 to 2000 independent rows, and accuracy and absolute errors of 50 and 200 groups; truths are
exact. "stream" is the accumulator with all defaults, in batches of a third of the rows; "skboot" is
`bootstrap_score` with all defaults on the same data sets. 1000 data sets each; 300 of the area of
2000 rows, whose histogram of 1024 intervals takes a third of a second.

Rule. "stream" covers at least 93 % in at least 90 % of the cells and at least 91 % in all, a cell
counting as below where its upper Monte Carlo limit (2.6 standard errors) is; left out are cells of
which at least half of the data sets are in a stated exception and carry a warning (`exceptions`).
And in cells of at least 200 units its coverage is within 1.5 points of that of "skboot", and its
mean width within 5 %, or the page names them. Cells that break the rule are listed on the page.
"""

from __future__ import annotations

import numpy as np

from skboot import BootstrapAccumulator, bootstrap_score

from ..runner import Cell, Study, Tool
from ..systems import grouped, probabilities, proportion, regression, scored

N_DATA_SETS, OF_MANY_SCORES = 1000, 300
BATCHES = 3
BY_NAME = ("percentile", "expanded", "normal", "t")
STREAM, MULTINOMIAL = "stream", "skboot"


def _streamed(sample, seed):
    """The default of an accumulator, and other intervals by name from the same resamples."""
    found = BootstrapAccumulator(sample.score.ours, random_state=seed, labels=_labels(sample))
    for rows in np.array_split(np.arange(len(sample.y_pred)), BATCHES):
        units = {"start": int(rows[0])}
        if sample.groups is not None:
            units = {"groups": sample.groups[rows]}
        found.update(sample.y_true[rows], sample.y_pred[rows], **units)
    result = found.result()
    named = {name: result.interval(name)[:2] for name in BY_NAME}
    return {"": result.confidence_interval[:2]} | named


def _multinomial(sample, seed):
    """The default of `bootstrap_score` on the same rows."""
    result = bootstrap_score(
        sample.y_true,
        sample.y_pred,
        metric=sample.score.ours,
        labels=_labels(sample),
        groups=sample.groups,
        random_state=seed,
    )
    return {"": result.confidence_interval[:2]}


def _labels(sample):
    return [0, 1] if sample.score.name == "log loss" else None


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(STREAM, _streamed, note="BootstrapAccumulator, all defaults; others by name"),
        Tool(MULTINOMIAL, _multinomial, note="bootstrap_score, all defaults"),
    )
}


def _cells():
    def cell(title, kind, draw, n=N_DATA_SETS):
        return Cell(title, kind, draw, dict.fromkeys(TOOLS, n))

    for n in (50, 200, 2000):
        yield cell(f"accuracy 0.9, n {n}", "accuracy", proportion(n, 0.9))
        yield cell(f"log loss, n {n}", "log loss", probabilities(n, 1.0, 1.5))
        yield cell(f"MSE, normal errors, n {n}", "MSE", regression("MSE", n, "normal"))
    for n, prevalence, auc in ((100, 0.3, 0.9), (200, 0.5, 0.8), (2000, 0.05, 0.9)):
        title = f"AUC {auc}, {prevalence} positives, n {n}"
        repetitions = OF_MANY_SCORES if n == 2000 else N_DATA_SETS
        yield cell(title, "AUC", scored("AUC", n, prevalence, auc), repetitions)
    for n in (200, 2000):
        draw = regression("MSE", n, "t5")
        yield cell(f"MSE, heavy tails, n {n}", "MSE, heavy tails", draw)
    for name, at in (("accuracy", 0.9), ("MAE", 0.5)):
        for n_groups in (50, 200):
            title = f"{name}, {n_groups} groups of 5 to 20"
            yield cell(title, f"groups, {name}", grouped(name, n_groups, (5, 20), 0.2, at))


def _bounds(sample):
    return sample.score.bounds


STUDY = Study("streamed_systems", tuple(_cells()), TOOLS, bounds=_bounds)
