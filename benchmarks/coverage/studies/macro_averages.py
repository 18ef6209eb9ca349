"""Coverage of the automatic interval of averages over many classes, by simulation.

``make coverage-study STUDY=macro_averages`` makes the table that record 0033 speaks of; about a
quarter of an hour on one core. A slow test runs a part of it again.

Rows are drawn with classes of equal probability, so that each class has `rows` of them on average.
A system answers class k rightly with a probability of its own, from a beta distribution, and else
with one of the next classes. The truth is the metric on its exact confusion matrix, which is what
ever more rows tend to. Every data set has seeds of its own: number i of a cell draws its rows from
(i, classes, rows) and resamples by i, 999 times. Under 8 rows a class no coverage is promised.
"""

import warnings

import numpy as np

from skboot import bootstrap_score

from ..runner import TableStudy

METRICS = ("f1_macro", "balanced_accuracy", "precision_macro")
N_RESAMPLES = 999
# Mean accuracy of a class, number of rows its beta distribution is worth, classes it is taken for.
SYSTEMS = {"good": (0.9, 20, 5), "middling": (0.6, 5, 5), "weak": (0.35, 3, 1000)}
# system, classes, rows a class, data sets
CELLS = [
    *(("middling", 20, rows, 1000) for rows in (10, 20, 50)),
    *(("middling", 100, rows, 1000) for rows in (10, 20, 50)),
    *(("middling", 300, rows, 600) for rows in (10, 20, 50)),
    ("good", 20, 10, 1000),
    ("good", 100, 10, 1000),
    ("weak", 100, 10, 1000),
    ("middling", 100, 4, 600),
    ("middling", 300, 4, 600),
]


class System:
    """What a system answers to rows of each class, and its scores in the long run."""

    def __init__(self, kind, n_classes):
        mean, size, spread = SYSTEMS[kind]
        self.n_classes, self.spread = n_classes, min(spread, n_classes - 1)
        rng = np.random.default_rng(7)
        self.accuracy = rng.beta(mean * size, (1 - mean) * size, size=n_classes)

    def draw(self, rng, n_rows):
        """True and decided classes of some rows."""
        truth = rng.integers(self.n_classes, size=n_rows)
        other = (truth + 1 + rng.integers(self.spread, size=n_rows)) % self.n_classes
        return truth, np.where(rng.random(n_rows) < self.accuracy[truth], truth, other)

    def scores(self):
        """Exact value of each metric."""
        matrix = np.diag(self.accuracy)
        for step in range(1, self.spread + 1):
            other = (np.arange(self.n_classes) + step) % self.n_classes
            matrix[np.arange(self.n_classes), other] += (1 - self.accuracy) / self.spread
        hits, decided = np.diag(matrix), matrix.sum(axis=0)
        return {
            "f1_macro": np.mean(2 * hits / (1 + decided)),
            "balanced_accuracy": np.mean(hits),
            "precision_macro": np.mean(hits / decided),
        }


def cell(kind, n_classes, rows, n_data_sets):
    """Rows of the table for one system and size, one for each metric."""
    system = System(kind, n_classes)
    truth = system.scores()
    found = {metric: [] for metric in METRICS}
    for i in range(n_data_sets):
        rng = np.random.default_rng([i, n_classes, rows])
        y_true, y_pred = system.draw(rng, n_classes * rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = bootstrap_score(
                y_true, y_pred, metric=list(METRICS), n_resamples=N_RESAMPLES, random_state=i
            )
            for metric, result in results.items():
                limits = [result.confidence_interval]
                limits += [result.interval(name) for name in ("bca", "percentile")]
                held = [low <= truth[metric] <= high for low, high in limits]
                low, high = result.confidence_interval
                method = result.confidence_interval.method
                out = not low <= result.estimate <= high
                bias = result.bias / result.standard_error
                few = any("fewer than 8 rows" in note for note in result.notes)
                found[metric].append((*held, bias, method == "bias-corrected", out, few))
    return [_line((n_data_sets, metric), found[metric]) for metric in METRICS]


SETS = {tuple(names): n for *names, n in CELLS}
HEADER = ["system", "classes", "rows", "data_sets", "metric", "auto", "bca", "percentile"]
HEADER += ["bias", "corrected", "estimate_outside", "caution"]


def _line(names, found):
    means = np.mean(found, axis=0)
    shares = [f"{100 * share:.1f}" for share in (*means[:3], *means[4:])]
    return [*names, *shares[:3], f"{means[3]:.2f}", *shares[3:]]


STUDY = TableStudy(
    "macro_averages", HEADER, [cell[:3] for cell in CELLS], lambda *names: cell(*names, SETS[names])
)
