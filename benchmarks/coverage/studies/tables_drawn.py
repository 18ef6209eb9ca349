"""Coverage for functions of tables that are too many to count: classes, pairs, weights, strata.

Tables are drawn, and each is a test set of that many rows. Rule as in `tables`, whose amounts and
number of deciding rows are taken as they are: at least 93 % by the upper Monte Carlo limit, or a
warning in at least half of the misses.

* classes: three on 15 and 30 rows, four on 30; classes as many, or rare ones of a tenth; 60 to 97 %
  right in each; errors spread evenly, or all on the next class.
* pairs: two systems that differ in being right on 0.5 to 10 rows on average, as often for the first
  as for the second, or three or four times as often.
* weights: lognormal, or 1 and 5; strata: 40 of two rows to 10 of eight, and the classes.

    make coverage-study STUDY=tables_drawn [PART="--minutes 20"]
"""

import warnings
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from sklearn import metrics as sk

from skboot import bootstrap_score, compare_systems
from skboot.inference.automatic import automatic_interval
from skboot.inference.intervals import confidence_interval

from ..runner import TableStudy

N_SETS = 100
METRICS = {
    "accuracy": sk.accuracy_score,
    "f1": sk.f1_score,
    "recall": sk.recall_score,
    "precision": sk.precision_score,
    "f1_macro": lambda y, p, **w: sk.f1_score(y, p, average="macro", **w),
    "balanced_accuracy": sk.balanced_accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}
OF_CLASSES = ("accuracy", "f1_macro", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa")
HEADER = (
    "kind",
    "n",
    "cell",
    "metric",
    "coverage %",
    "before %",
    "width",
    "width before",
    "told %",
)


def of_classes(n_classes):
    """Probabilities of cells (n_classes, n_classes) by name."""
    rare = {3: (0.6, 0.3, 0.1), 4: (0.5, 0.25, 0.15, 0.1)}[n_classes]
    for sizes, right, spread in product((None, rare), (0.6, 0.8, 0.9, 0.97), ("even", "next")):
        shares = np.full(n_classes, 1 / n_classes) if sizes is None else np.array(sizes)
        wrong = np.ones((n_classes, n_classes)) - np.eye(n_classes)
        if spread == "next":
            wrong = np.roll(np.eye(n_classes), 1, axis=1)
        rates = right * np.eye(n_classes) + (1 - right) * wrong / wrong.sum(axis=1, keepdims=True)
        yield f"{'even' if sizes is None else 'rare'} {right} {spread}", shares[:, None] * rates


def of_pairs():
    """Rows, and probabilities of truth by first by second decision, by name."""
    systems = (
        (150, 0.3, 0.98, 0.99),
        (60, 0.5, 0.9, 0.9),
        (40, 0.4, 0.8, 0.85),
        (1000, 0.1, 0.8, 0.98),
    )
    for (n, prevalence, *rights), (differ, ratio) in product(
        systems, ((0.5, 1), (2, 1), (5, 1), (10, 1), (5, 3), (10, 4))
    ):
        p = np.zeros((2, 2, 2))
        for truth in (0, 1):
            share = prevalence if truth else 1 - prevalence
            first, second = differ / n * np.array([ratio, 1]) / (1 + ratio)
            right, wrong = rights[1 - truth], 1 - truth
            p[truth, truth, truth] = share * (right - first)
            p[truth, truth, wrong], p[truth, wrong, truth] = share * first, share * second
            p[truth, wrong, wrong] = share * max(1 - right - second, 0)
        yield n, f"{prevalence} {rights[0]} {rights[1]}: {differ} differ, {ratio} to 1", p / p.sum()


def of_designs():
    """Rows, name, rates, and what is drawn beside the columns."""
    for n, rates in ((200, (0.3, 0.98, 0.99)), (60, (0.5, 0.9, 0.95))):
        yield n, f"lognormal weights {rates}", rates, partial(_weights, lognormal=True)
        yield n, f"weights 1 and 5 {rates}", rates, partial(_weights, lognormal=False)
    for n_strata, rows in ((40, 2), (30, 3), (20, 5), (10, 8)):
        name, rates = f"{n_strata} strata of {rows}", (0.4, 0.85, 0.9)
        yield n_strata * rows, name, rates, partial(_strata, rows=rows)


def _weights(rng, n, lognormal):
    drawn = np.exp(0.8 * rng.normal(size=n)) if lognormal else rng.choice([1.0, 5.0], n)
    return {"sample_weight": drawn}


def _strata(rng, n, rows):
    return {"strata": np.arange(n) // rows}


def cells():
    """Every cell: what is drawn, rows, name and metrics."""
    for n_classes, n in ((3, 15), (3, 30), (4, 30)):
        for name, _ in of_classes(n_classes):
            yield f"{n_classes} classes", n, name, OF_CLASSES
    for n, name, _ in of_pairs():
        yield "pairs", n, name, tuple(METRICS)
    for n, name, *_ in of_designs():
        yield "designs", n, name, tuple(METRICS)


def drawn(kind, n, name, rng):
    """Return truth, decisions of each system and options of a test set; and the shares of cells."""
    if kind == "designs":
        [(rates, draw)] = [own[2:] for own in of_designs() if own[:2] == (n, name)]
        prevalence, sensitivity, specificity = rates
        p = np.array(
            [
                [(1 - prevalence) * specificity, (1 - prevalence) * (1 - specificity)],
                [prevalence * (1 - sensitivity), prevalence * sensitivity],
            ]
        )
    elif kind == "pairs":
        [p] = [own[2] for own in of_pairs() if own[:2] == (n, name)]
    else:
        p = dict(of_classes(int(kind[0])))[name]
    columns = np.unravel_index(rng.choice(p.size, size=n, p=p.ravel()), p.shape)
    return columns, draw(rng, n) if kind == "designs" else {}, p


def rows_of(kind, n, name, metrics, n_sets=N_SETS):
    """Coverage and widths of "auto", and of what it took before, and misses that are told."""
    counts = np.zeros((len(metrics), 6))
    for k in range(n_sets):
        rng = np.random.default_rng([k, n])
        (y, *decisions), options, p = drawn(kind, n, name, rng)
        at = np.indices(p.shape).reshape(p.ndim, -1)
        options |= {"metric": list(metrics), "random_state": k, "n_resamples": 999}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if kind == "pairs":
                systems = dict(zip("ab", decisions, strict=True))
                found = compare_systems(y, systems, **options)
                of_old = compare_systems(y, systems, **options, interval="expanded")
            else:
                found = bootstrap_score(y, *decisions, **options)
        for m, metric in enumerate(metrics):
            scores = [METRICS[metric](at[0], own, sample_weight=p.ravel()) for own in at[1:]]
            if kind == "pairs":
                truth = scores[0] - scores[1]
                now, before = (one[metric].pairs[0].confidence_interval for one in (found, of_old))
            else:
                [truth], known = scores, found[metric]._evidence
                now = found[metric].confidence_interval
                if known.share is None:
                    before = automatic_interval(replace(known, smoothed=None), 0.95).interval
                else:
                    before = confidence_interval(known, "wilson", 0.95)
            covered = [low - 1e-9 <= truth <= high + 1e-9 for low, high in (now, before)]
            widths = [high - low for low, high in (now, before)]
            told = any(metric in str(one.message) for one in caught)
            counts[m] += [*covered, *widths, not covered[0], not covered[0] and told]
    for metric, sums in zip(metrics, counts, strict=True):
        share = sums / n_sets
        told = f"{100 * sums[5] / sums[4]:.0f} %" if sums[4] else ""
        now, before = (f"{100 * one:.1f}" for one in share[:2])
        numbers = (now, before, f"{share[2]:.4f}", f"{share[3]:.4f}", told)
        yield metric, n_sets, *numbers


METRICS_OF = {tuple(cell): metrics for *cell, metrics in cells()}
STUDY = TableStudy(
    "tables_drawn", HEADER, [*METRICS_OF], lambda *cell: rows_of(*cell, METRICS_OF[cell])
)
