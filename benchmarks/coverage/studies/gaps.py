"""How often the largest gap between subgroups tells equal subgroups apart, by simulation.

``make coverage-study STUDY=gaps`` makes the table; about eight minutes. A slow test runs one cell
again and holds it against the limit.

Each cell draws its data sets from a population in which the score is the same in every subgroup
(power: in which it is not), asks `bootstrap_score` or `compare_systems` for the gap, and counts how
often its 95 % interval excludes 0. Seeds are the numbers of the data sets. Resamples: 499, or 199
where the limits are closed forms and resamples decide only whether a value is undefined.

Columns: the cell; percent told apart and its Monte Carlo error; percent of data sets that have a
gap; data sets; resamples; percent told apart by the interval of version 0.1 (max-t over all
subgroups) on the first of these data sets, and its error, see `BEFORE`.
"""

import warnings

import numpy as np

from skboot import bootstrap_score, compare_systems

from ..runner import TableStudy, one_line, percent_and_error


def subgroups(sizes):
    """Subgroup of each row."""
    return np.repeat([f"s{k}" for k in range(len(sizes))], sizes)


def halves(sizes):
    """Classes, half of each subgroup's rows each."""
    return np.concatenate([np.arange(n) % 2 for n in sizes])


def answers(rng, y, right):
    """Labels that are right with a probability."""
    return np.where(rng.random(len(y)) < right, y, 1 - y)


# ------------------------------------------------------------------ one system


def accuracy(*sizes, right=0.85):
    """Independent rows, right or wrong."""

    def draw(rng):
        by = subgroups(sizes)
        y = np.zeros(len(by), dtype=int)
        return (y, answers(rng, y, np.repeat(right, sizes) if np.ndim(right) else right)), by, {}

    return draw


def f1(*sizes, random=False):
    """Half of the rows are positive; 80 % of either class are found."""

    def draw(rng):
        by = subgroups(sizes)
        y = rng.integers(0, 2, size=len(by)) if random else halves(sizes)
        return (y, answers(rng, y, 0.8)), by, {"metric": "f1"}

    return draw


def balanced(*sizes):
    """Three classes, of which the rarest is a sixth of each subgroup."""

    def draw(rng):
        by = subgroups(sizes)
        y = np.concatenate([np.array([0, 0, 0, 1, 1, 2])[np.arange(n) % 6] for n in sizes])
        wrong = rng.random(len(y)) < np.array([0.1, 0.2, 0.4])[y]
        other = (y + rng.integers(1, 3, size=len(y))) % 3
        return (y, np.where(wrong, other, y)), by, {"metric": "balanced_accuracy"}

    return draw


def ten_classes(metric, *sizes, right=0.9):
    """Ten classes of as many rows; all wrong ones are as likely."""

    def draw(rng):
        by = subgroups(sizes)
        y = np.concatenate([np.arange(n) % 10 for n in sizes])
        wrong = rng.random(len(y)) >= right
        other = (y + rng.integers(1, 10, size=len(y))) % 10
        return (y, np.where(wrong, other, y)), by, {"metric": metric}

    return draw


def auc(*sizes, apart=1.2, random=False):
    """Normal scores of two classes."""

    def draw(rng):
        by = subgroups(sizes)
        y = rng.integers(0, 2, size=len(by)) if random else halves(sizes)
        return (y, rng.normal(size=len(y)) + apart * y), by, {"metric": "roc_auc"}

    return draw


def many_subgroups(rng):
    """300 rows, each in one of 25 subgroups at random."""
    (y, scores), _, options = auc(300, random=True)(rng)
    return (y, scores), rng.integers(0, 25, size=300), options


def losses(kind, *sizes):
    """Losses of a regression: squared or absolute normal errors, or exponential ones."""

    def draw(rng):
        by = subgroups(sizes)
        own = rng.normal(size=len(by))
        own = {
            "squared": own**2,
            "absolute": np.abs(own),
            "exponential": rng.exponential(size=len(by)),
        }[kind]
        return (None, own), by, {"metric": "mean"}

    return draw


def in_groups(kind, nested, n_groups=30, size=10):
    """Rows of groups that vary (correlation .3), which have rows in all subgroups or in one."""

    def draw(rng):
        group = np.repeat(np.arange(n_groups), size)
        by = group % 3 if nested else np.arange(len(group)) % 3
        row = np.sqrt(0.7) * rng.normal(size=len(group))
        latent = np.sqrt(0.3) * rng.normal(size=n_groups)[group] + row
        options = {"groups": group}
        if kind == "losses":
            return (None, latent), by, {"metric": "mean", **options}
        if kind == "auc":
            y = rng.permutation(len(group)) % 2
            return (y, latent + 1.2 * y), by, {"metric": "roc_auc", **options}
        return (np.zeros(len(group), dtype=int), (latent > 1.0).astype(int)), by, options

    return draw


# ------------------------------------------------------------------ systems


def systems(draw_one, n_systems=2, shared=0.5):
    """Several systems that are as good: a share of their answers is common to all of them."""

    def draw(rng):
        (y, common), by, options = draw_one(rng)
        state = rng.integers(2**32, size=n_systems)
        found = {}
        for name, seed in zip("ABCDE", state, strict=False):
            other = np.random.default_rng(seed)
            (_, own), *_ = draw_one(other) if y is None else _answered(draw_one, other, y)
            found[name] = np.where(other.random(len(own)) < shared, common, own)
        return (y, found), by, options

    return draw


def _answered(draw_one, rng, y):
    """Answers of another system to the same rows; their classes must not be random."""
    (again, own), by, options = draw_one(rng)
    assert np.array_equal(again, y)
    return (again, own), by, options


# ------------------------------------------------------------------ the study

# Name: how data sets are drawn, their number, resamples.
NULL = {
    "accuracy .85, 200/190/10 rows": (accuracy(200, 190, 10), 2000, 199),
    "accuracy .9, 300/80/20 rows": (accuracy(300, 80, 20, right=0.9), 2000, 199),
    "accuracy .85, five of 80 rows": (accuracy(*[80] * 5), 2000, 199),
    "accuracy .98, 300/80/20 rows": (accuracy(300, 80, 20, right=0.98), 2000, 199),
    "F1, 290/10 rows": (f1(290, 10, random=True), 2000, 199),
    "F1, 200/60/40 rows": (f1(200, 60, 40), 2000, 199),
    "balanced accuracy of three classes, 240/120/60 rows": (balanced(240, 120, 60), 1000, 499),
    "AUC, 200/16 rows": (auc(200, 16, random=True), 1000, 499),
    "AUC, 25 subgroups of 300 rows": (many_subgroups, 600, 199),
    "AUC, 150/150/60 rows": (auc(150, 150, 60), 1000, 499),
    "AUC .95, 150/150/60 rows": (auc(150, 150, 60, apart=2.3), 1000, 499),
    "AUC, 200/24 rows": (auc(200, 24), 1000, 499),
    "squared errors, 300/20 rows": (losses("squared", 300, 20), 2000, 499),
    "absolute errors, 300/300/20 rows": (losses("absolute", 300, 300, 20), 2000, 499),
    "exponential losses, 200/100/40 rows": (losses("exponential", 200, 100, 40), 2000, 499),
    "accuracy, 30 groups in all of three subgroups": (in_groups("accuracy", False), 1000, 499),
    "accuracy, 30 groups in one of three subgroups": (in_groups("accuracy", True), 1000, 499),
    "losses, 30 groups in all of three subgroups": (in_groups("losses", False), 1000, 499),
    "losses, 30 groups in one of three subgroups": (in_groups("losses", True), 1000, 499),
    "AUC, 30 groups in all of three subgroups": (in_groups("auc", False), 600, 499),
    "two systems, accuracy .85, 200/190/10 rows": (systems(accuracy(200, 190, 10)), 1000, 199),
    "two systems, accuracy .9, 300/80/20 rows": (
        systems(accuracy(300, 80, 20, right=0.9)),
        1000,
        199,
    ),
    "two systems, accuracy .97, 300/80/20 rows": (
        systems(accuracy(300, 80, 20, right=0.97), shared=0.9),
        1000,
        199,
    ),
    "three systems, accuracy .85, 200/60/40 rows": (systems(accuracy(200, 60, 40), 3), 1000, 199),
    "two systems, F1, 200/60/40 rows": (systems(f1(200, 60, 40), shared=0.9), 1000, 499),
    "two systems, macro F1 of ten classes, 400/200/200 rows": (
        systems(ten_classes("f1_macro", 400, 200, 200)),
        1000,
        299,
    ),
    "two systems, balanced accuracy of ten classes, 2000/200 rows": (
        systems(ten_classes("balanced_accuracy", 2000, 200), shared=0.8),
        1000,
        299,
    ),
    "two systems, AUC, 150/150/60 rows": (systems(auc(150, 150, 60)), 600, 499),
    "two systems, squared errors, 300/20 rows": (systems(losses("squared", 300, 20)), 1000, 499),
}
POWER = {
    "power: accuracy .80/.80/.92, 200 rows each": (
        accuracy(200, 200, 200, right=(0.8, 0.8, 0.92)),
        2000,
        499,
    ),
}
# Percent told apart by the max-t interval of version 0.1, and its error: of the first 500 data sets
# (300 of areas and of systems; all under power), at revision ba4fbcf.
BEFORE = {
    "accuracy .85, 200/190/10 rows": (20.8, 1.8),
    "accuracy .9, 300/80/20 rows": (12.6, 1.5),
    "accuracy .85, five of 80 rows": (7.0, 1.1),
    "accuracy .98, 300/80/20 rows": (29.8, 2.0),
    "F1, 290/10 rows": (10.6, 1.4),
    "F1, 200/60/40 rows": (3.6, 0.8),
    "balanced accuracy of three classes, 240/120/60 rows": (8.2, 1.2),
    "AUC, 200/16 rows": (11.3, 1.8),
    "AUC, 25 subgroups of 300 rows": (7.7, 1.5),
    "AUC, 150/150/60 rows": (5.3, 1.3),
    "AUC .95, 150/150/60 rows": (7.3, 1.5),
    "AUC, 200/24 rows": (8.3, 1.6),
    "squared errors, 300/20 rows": (10.2, 1.4),
    "absolute errors, 300/300/20 rows": (4.6, 0.9),
    "exponential losses, 200/100/40 rows": (6.0, 1.1),
    "accuracy, 30 groups in all of three subgroups": (5.0, 1.0),
    "accuracy, 30 groups in one of three subgroups": (4.6, 0.9),
    "losses, 30 groups in all of three subgroups": (5.4, 1.0),
    "losses, 30 groups in one of three subgroups": (4.2, 0.9),
    "AUC, 30 groups in all of three subgroups": (7.0, 1.5),
    "two systems, accuracy .85, 200/190/10 rows": (3.0, 1.0),
    "two systems, accuracy .9, 300/80/20 rows": (4.3, 1.2),
    "two systems, accuracy .97, 300/80/20 rows": (0.3, 0.3),
    "three systems, accuracy .85, 200/60/40 rows": (5.0, 1.3),
    "two systems, F1, 200/60/40 rows": (0.3, 0.3),
    "two systems, macro F1 of ten classes, 400/200/200 rows": ("", ""),
    "two systems, balanced accuracy of ten classes, 2000/200 rows": ("", ""),
    "two systems, AUC, 150/150/60 rows": (3.0, 1.0),
    "two systems, squared errors, 300/20 rows": (4.7, 1.2),
    "power: accuracy .80/.80/.92, 200 rows each": (95.9, 0.4),
}


def told_apart(draw, seed, n_resamples):
    """Whether some gap tells subgroups apart, and whether there is one."""
    (y, predicted), by, options = draw(np.random.default_rng(seed))
    compare = isinstance(predicted, dict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = (compare_systems if compare else bootstrap_score)(
            y, predicted, by=by, n_resamples=n_resamples, random_state=seed, **options
        )
    gaps = list(table["gap"].values()) if compare else [table["gap"]]
    limits = np.array([gap.confidence_interval[:2] for gap in gaps])
    return bool(((limits[:, 0] > 0) | (limits[:, 1] < 0)).any()), not np.isnan(limits).all()


def rate(name, n_data_sets=None):
    """Percent told apart, its standard error, and percent with a gap."""
    draw, n, n_resamples = CELLS[name]
    n = n_data_sets or n
    found = np.array([told_apart(draw, seed, n_resamples) for seed in range(n)])
    return *percent_and_error(found[:, 0]), 100 * found[:, 1].mean()


def row_of(name):
    """Line of the table for one cell."""
    _, n, n_resamples = CELLS[name]
    return *(f"{value:.1f}" for value in rate(name)), n, n_resamples, *BEFORE[name]


CELLS = NULL | POWER
HEADER = ("cell", "told_apart", "error", "with_gap", "data_sets", "resamples")
HEADER += ("before", "before_error")
STUDY = TableStudy("gaps", HEADER, [(name,) for name in CELLS], one_line(row_of))
