"""Calls of the sizes at which other ways through the code are taken than at 60 rows.

1,000 rows fill several blocks of resamples at 2,500, and rows are merged, cut into tiles and drawn
by tables at 20,000: a change that keeps every bit at 60 rows can change them here.
"""

from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.metrics import f1_score, mean_absolute_error, median_absolute_error

import skboot
from skboot import Trials
from skboot.metrics import expected_cost

# Rows, and resamples.
SIZES = ((1000, 199), (1000, 2500), (20_000, 199))


class Columns:
    """Truth, answers and units of so many rows."""

    def __init__(self, n):
        rng = np.random.default_rng(n)
        self.n = n
        self.label = (rng.random(n) < 0.3).astype(int)
        self.score = np.round(rng.normal(size=n) + 1.3 * self.label, 3)
        self.other = np.round(rng.normal(size=n) + 1.1 * self.label, 3)
        self.decision, self.second = ((s > 0.8).astype(int) for s in (self.score, self.other))
        self.three = np.array(["ant", "bee", "cat"])[rng.choice(3, n, p=(0.6, 0.3, 0.1))]
        self.said = np.where(rng.random(n) < 0.2, rng.permutation(self.three), self.three)
        self.probabilities = rng.dirichlet(np.ones(3), n)
        self.target = rng.normal(size=n)
        self.value = self.target + 0.5 * rng.normal(size=n)
        self.loss = rng.exponential(size=n)
        self.weight = rng.integers(1, 4, n).astype(float)
        self.group = np.arange(n) * 50 // n + 50 * rng.integers(0, 2, n)
        self.stratum = np.arange(n) % 3
        self.pair = np.column_stack((np.arange(n) % 25, np.arange(n) % 17))
        self.members = np.sort(rng.integers(0, 40, (n, 2)), axis=1)
        self.part = np.array(["a", "b", "c"])[rng.choice(3, n, p=(0.5, 0.3, 0.2))]
        self.runs = np.array(
            [np.where(rng.random(n) < 0.2, 1 - self.label, self.label) for _ in "12345"]
        )


def calls_of(n, n_resamples):
    """Calls on so many rows, by what they are of."""
    rows = Columns(n)
    few = {"n_resamples": n_resamples, "random_state": 0}

    def score(y_true, y_pred, metric, **options):
        return partial(skboot.bootstrap_score, y_true, y_pred, metric=metric, **few | options)

    labels = partial(score, rows.label, rows.decision)
    scores = partial(score, rows.label, rows.score)
    values = partial(score, rows.target, rows.value)
    systems = {"first": rows.decision, "second": rows.second}
    yield "accuracy", labels("accuracy", interval="percentile")
    yield "accuracy, groups", labels("accuracy", groups=rows.group)
    yield "accuracy, weights", labels("accuracy", sample_weight=rows.weight)
    yield "accuracy, strata", labels("accuracy", strata=rows.stratum)
    yield "f1, crossed", labels("f1", groups=rows.pair)
    yield "f1, by", labels("f1", by=rows.part)
    yield "labels together", labels(["accuracy", "f1", "balanced_accuracy"], adjust="max-t")
    yield "costs", labels(partial(expected_cost, costs=[[0, 1], [5, 0]]))
    yield "macro F1", score(rows.three, rows.said, "f1_macro")
    yield "each class", score(rows.three, rows.said, partial(f1_score, average=None))
    yield "log loss", score(rows.three, rows.probabilities, "neg_log_loss")
    yield "one-vs-rest", score(rows.three, rows.probabilities, "roc_auc_ovr")
    yield "roc_auc", scores("roc_auc")
    yield "roc_auc, groups", scores("roc_auc", groups=rows.group)
    yield "roc_auc, one population", scores("roc_auc", groups=Trials(*rows.members.T))
    yield "average precision, weights", scores("average_precision", sample_weight=rows.weight)
    yield "equal error rate", scores("neg_equal_error_rate")
    yield "scores together", scores(["roc_auc", "average_precision"])
    yield "values together", values(["r2", mean_absolute_error, "neg_mean_squared_error"])
    yield "values together, groups", values(["r2", mean_absolute_error], groups=rows.group)
    yield "mean, blocks", score(None, rows.loss, "mean", block_length=7)
    yield "mean, tasks", score(None, rows.loss, "mean", average_over=rows.part)
    yield "systems", partial(skboot.compare_systems, rows.label, systems, metric="f1", **few)
    yield (
        "systems, groups",
        partial(skboot.compare_systems, rows.label, systems, groups=rows.group, **few),
    )
    yield (
        "systems on rows of their own",
        partial(
            skboot.compare_systems,
            {"first": rows.label, "second": rows.label[: n // 2]},
            {"first": rows.score, "second": rows.other[: n // 2]},
            metric="roc_auc",
            paired=False,
            **few,
        ),
    )
    yield "runs", partial(skboot.bootstrap_runs, rows.label, rows.runs, metric="f1", **few)
    yield "stream", partial(streamed, rows, few)
    if n <= 1000:
        # Callables and curves read every row of each resample.
        if n_resamples < 1000:
            yield "median", values(median_absolute_error)
        yield "roc", partial(skboot.bootstrap_curve, rows.label, rows.score, **few)
        calibration = {"curve": "calibration", "groups": rows.group}
        prob = expit(rows.score - 1)
        yield "calibration", partial(skboot.bootstrap_curve, rows.label, prob, **few | calibration)


def streamed(rows, few):
    """Scores of three batches."""
    found = skboot.BootstrapAccumulator("roc_auc", **few)
    for batch in np.array_split(np.arange(rows.n), 3):
        found.update(rows.label[batch], rows.score[batch], start=int(batch[0]))
    return found.result()


LARGER = {
    f"{n} rows, {n_resamples} resamples: {name}": call
    for n, n_resamples in SIZES
    for name, call in calls_of(n, n_resamples)
}
