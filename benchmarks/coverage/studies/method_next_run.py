"""Coverage of the intervals over runs: the method, the next run, and the pooled recipe.

Each repetition draws a training list and a test set, runs a learner on bootstrap samples of the
list and on the whole list, and asks whether the interval for the method holds the mean accuracy of
the method, and whether the interval for the next run holds the score of a run on a fresh training
list and fresh test rows (that of the next repetition). In the designs "simulated", runs and items
are normal effects behind a 0/1 answer, so that the true mean is known exactly.

The table in the user guide shows it.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skboot.runs import bootstrap_runs

from ..runner import TableStudy, read

LEVEL = 0.95
N_RESAMPLES = 199
TEST_SIZES = (200, 1000)
# Fresh rows in each repetition for the mean of the method: their own noise averages out.
N_TRUTH = 2000


class Design(NamedTuple):
    """A learner, how many rows it is trained on, and which runs are made."""

    name: str
    learner: object
    n_train: int
    n_samples: int  # bootstrap samples of the training list
    n_seeds: int  # runs per sample
    n_full: int  # runs on the whole list


class Effects(NamedTuple):
    """Simulated runs: a latent normal per run, item and pair; correct above a threshold."""

    name: str
    n_runs: int
    run: float  # standard deviations
    item: float
    pair: float
    threshold: float

    @property
    def mean(self):
        scale = np.sqrt(self.run**2 + self.item**2 + self.pair**2)
        return float(ndtr(-self.threshold / scale))


TREE = DecisionTreeClassifier(random_state=0)
FOREST = RandomForestClassifier(n_estimators=5, random_state=0)
LEARNERS = [
    Design("logistic regression", LogisticRegression(), 100, 30, 1, 1),
    Design("logistic regression", LogisticRegression(), 500, 30, 1, 1),
    Design("decision tree", TREE, 100, 30, 1, 5),
    Design("decision tree", TREE, 500, 30, 1, 5),
    Design("forest of 5 trees", FOREST, 100, 20, 2, 5),
    Design("forest of 5 trees", FOREST, 500, 20, 2, 5),
]
SIMULATED = [
    Effects("simulated, 10 runs alike", 10, 0.0, 1.0, 0.5, -1.0),
    Effects("simulated, 10 runs", 10, 0.15, 1.0, 0.5, -1.0),
    Effects("simulated, 20 runs, rare errors", 20, 0.2, 1.0, 0.5, -2.2),
    Effects("simulated, 10 unlike runs", 10, 0.4, 0.7, 0.7, 0.0),
]


class Cell(NamedTuple):
    """A line of the table; shares in percent."""

    design: str
    n_train: int
    n_test: int
    repetitions: int
    method: float
    next_run: float
    pooled_method: float
    pooled_next_run: float
    method_width: float
    next_run_width: float
    pooled_width: float

    @staticmethod
    def error(share, repetitions):
        """Monte Carlo standard error of a coverage, in percent; that of 93 % at least."""
        share = min(share, 93.0)
        return float(np.sqrt(share * (100 - share) / repetitions))


def population(rng, n):
    """Rows of eight normal inputs; the label depends on four of them, with an interaction."""
    X = rng.normal(size=(n, 8))
    return X, (rng.random(n) < probability(X)).astype(int)


def probability(X):
    """Of label 1."""
    return expit(2 * (X[:, 0] + 0.8 * X[:, 1] * X[:, 2] + 0.6 * X[:, 3]))


def true_accuracy(models, rng):
    """Mean over models of the probability of a correct answer."""
    X = rng.normal(size=(N_TRUTH, 8))
    p = probability(X)
    return float(np.mean([np.where(model.predict(X) == 1, p, 1 - p) for model in models]))


def trained(design, repetitions, seed):
    """Cells of a learner, one per test size."""
    rng = np.random.default_rng(seed)
    records, truths = {m: [] for m in TEST_SIZES}, []
    for _ in range(repetitions):
        X, y = population(rng, design.n_train)
        X_test, y_test = population(rng, max(TEST_SIZES))
        models = [_fitted(design, X, y, rng) for _ in range(design.n_full)]
        truths.append(true_accuracy(models, rng))
        full = np.array([model.predict(X_test) for model in models])
        sampled = []
        for _ in range(design.n_samples):
            rows = _both_classes(rng, y)
            sampled.extend(
                _fitted(design, X[rows], y[rows], rng).predict(X_test)
                for _ in range(design.n_seeds)
            )
        both = design.n_seeds > 1
        options = {
            "varied": "both" if both else "training",
            "training": np.repeat(np.arange(design.n_samples), design.n_seeds) if both else None,
        }
        for m in TEST_SIZES:
            found = _intervals(
                y_test[:m], np.array(sampled)[:, :m], full_runs=full[:, :m], **options
            )
            records[m].append((*found, (full[0, :m] == y_test[:m]).mean()))
    mean = float(np.mean(truths))
    return [_cell(design.name, design.n_train, m, records[m], mean) for m in TEST_SIZES]


def simulated(effects, repetitions, seed):
    """Cells of simulated runs, one per test size."""
    rng = np.random.default_rng(seed)
    cells = []
    for m in TEST_SIZES:
        records = []
        for _ in range(repetitions):
            correct = _answers(effects, rng, effects.n_runs, m)
            found = _intervals(np.ones(m, int), correct.astype(int), varied="independent")
            records.append((*found, _answers(effects, rng, 1, m).mean()))
        cells.append(_cell(effects.name, 0, m, records, effects.mean))
    return cells


# Where runs are trained; of simulated ones it is four times as many.
N_REPETITIONS, SEED = 400, 20240607


def cells_of(name, n_train, repetitions=N_REPETITIONS, seed=SEED):
    """Cells of one design, one per test size."""
    number = [*DESIGNS].index((name, n_train))
    study, design = DESIGNS[name, n_train]
    return study(design, repetitions * (4 if study is simulated else 1), [seed, number])


def rows_of(name, n_train):
    """Lines of the table for one design, after what names it."""
    return [cell[2:] for cell in cells_of(name, n_train)]


DESIGNS = {(effects.name, 0): (simulated, effects) for effects in SIMULATED}
DESIGNS |= {(design.name, design.n_train): (trained, design) for design in LEARNERS}
STUDY = TableStudy("method_next_run", Cell._fields, [*DESIGNS], rows_of)


def table(cells):
    """The cells in Markdown."""
    lines = [
        "| runs | training rows | test rows | repetitions | method | next run | "
        "pooled, as method | pooled, as next run | width method | next run | pooled |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for cell in cells:
        shares = [cell.method, cell.next_run, cell.pooled_method, cell.pooled_next_run]
        widths = [cell.method_width, cell.next_run_width, cell.pooled_width]
        lines.append(
            f"| {cell.design} | {cell.n_train or ''} | {cell.n_test} | {cell.repetitions} | "
            + " | ".join(f"{share:.1f}" for share in shares)
            + " | "
            + " | ".join(f"{width:.3f}" for width in widths)
            + " |"
        )
    return "\n".join(lines)


def committed():
    """The cells of the committed table."""
    kinds = Cell.__annotations__
    return [
        Cell(**{name: kinds[name](row[name]) for name in Cell._fields}) for row in read(STUDY.path)
    ]


def _answers(effects, rng, n_runs, n_items):
    latent = (
        effects.run * rng.normal(size=(n_runs, 1))
        + effects.item * rng.normal(size=n_items)
        + effects.pair * rng.normal(size=(n_runs, n_items))
    )
    return latent > effects.threshold


def _fitted(design, X, y, rng):
    model = design.learner
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31)))
    return type(model)(**model.get_params()).fit(X, y)


def _both_classes(rng, y):
    while True:
        rows = rng.integers(len(y), size=len(y))
        if y[rows].min() != y[rows].max():
            return rows


def _intervals(y_true, y_preds, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = bootstrap_runs(
            y_true, y_preds, metric="accuracy", n_resamples=N_RESAMPLES, random_state=0, **options
        )
        return [result.interval(estimand=name)[:2] for name in ("method", "next_run", "pooled")]


def _cell(name, n_train, n_test, records, mean):
    limits = np.array([record[:3] for record in records])  # (repetitions, 3, 2)
    # The next run is that of the next repetition: fresh training list, seed and test rows.
    ahead = np.roll([record[3] for record in records], -1)

    def covered(which, value):
        inside = (limits[:, which, 0] <= value) & (value <= limits[:, which, 1])
        return round(100 * float(inside.mean()), 2)

    widths = [round(float(w), 4) for w in np.diff(limits, axis=2)[:, :, 0].mean(axis=0)]
    return Cell(
        name,
        n_train,
        n_test,
        len(records),
        covered(0, mean),
        covered(1, ahead),
        covered(2, mean),
        covered(2, ahead),
        *widths,
    )
