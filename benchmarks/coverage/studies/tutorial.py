"""The table of a well-known tutorial, with the rows that it lacks.

S. Raschka, "Creating confidence intervals for machine learning classifiers" (2022), reports how
often 95 % intervals of five methods hold a tree's true accuracy: normal approximation 95.6,
out-of-bag t 98.5, out-of-bag percentiles 98.0, .632 percentiles 83.2, test-set bootstrap 94.5. Its
.632 row has the two weights swapped, and .632+ is left out as too slow.

Question: can it be reproduced; what do right weights give; what does .632+ give; and what holds the
*method's* expected accuracy? Written before the run.

Design. As there: `make_classification(n_features=5, n_redundant=2, n_classes=2,
n_clusters_per_class=1, flip_y=.25)`, a population of its own for each repetition, a tree of depth
3, 1000 training and 1000 test rows, 200 rounds; other cells have 100 rows of either, or a full
tree. Target "system" is the accuracy of the tree at hand on 100,000 rows (there 10 million), target
"method" the mean accuracy of 20 trees from fresh training sets of that population. 300 repetitions
at least; all intervals of a repetition stand on the same fits.

Rows. 1 to 3 as in the tutorial's scripts. 2.3 is, in each round, .632 times the accuracy on all
training rows of the tree of the round plus .368 times its out-of-bag accuracy; "right weights"
exchanges the two numbers and nothing else, and is what mlxtend's `bootstrap_point632_score` gives;
"of Efron" has the accuracy on the training rows of the tree of all rows. ".632+ as published" is
the notebook's code for that row, which the table lacks: the same swap, a rate of overfitting that
is not cut, and a no-information rate from training and test rows; "right weights" cuts as Efron and
Tibshirani (1997) do, with the no-information rate of the training rows. "skboot" is
`bootstrap_score` on the test rows; "skboot, test rows" `bootstrap_runs` with the tree and 50 of the
rounds on them, as `BootstrapScorer(n_train_resamples=50)` with a test set; "skboot, no test
rows" the default of `BootstrapScorer` without one; "skboot, .632+" its strategy ".632+".

Rule. (1) In the first cell each published number is within 2.6 standard errors of the difference
(1000 repetitions there); (2) the swap explains the .632 row if right weights cover
more there by 2.6 standard errors; (3) "skboot" covers the system's accuracy, and both of "skboot,
test rows" and "skboot, no test rows" the method's, in at least 93 % (upper Monte Carlo limit, 2.6
standard errors) in every cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from skboot import bootstrap_runs, bootstrap_score
from skboot.inference import prediction_error

from ..runner import LEVEL, Cell, Study, Tool

PUBLISHED = {
    "1 normal approximation": 95.6,
    "2.1 out-of-bag t": 98.5,
    "2.2 out-of-bag percentiles": 98.0,
    "2.3 .632 as published": 83.2,
    "3 test-set bootstrap": 94.5,
}
PUBLISHED_REPETITIONS = 1000
N_ROUNDS, N_TRUTH, N_FRESH = 200, 100_000, 20
N_REPEATS, N_FOLDS = 5, 10
# Rounds that are also scored on the test rows, for the method's accuracy there.
N_ON_TEST_ROWS = 50
ENDS = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])


@dataclass(frozen=True)
class TutorialSample:
    """Training rows, then as many test rows, and the two truths."""

    X: np.ndarray
    y: np.ndarray
    max_depth: int | None
    truth: dict[str, float]
    exception: str = ""

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.y) // 2


def _sampler(n, max_depth):
    def draw(rng):
        X, y = make_classification(
            n_samples=2 * n + N_FRESH * n + N_TRUTH,
            n_features=5,
            n_redundant=2,
            n_classes=2,
            n_clusters_per_class=1,
            flip_y=0.25,
            random_state=int(rng.integers(2**31)),
        )
        # Trees compare in single precision: cast once instead of at every call.
        X = np.asarray(X, dtype=np.float32)
        of_truth = slice(len(y) - N_TRUTH, None)

        def score(start):
            rows, counts = slice(start, start + n), np.ones(n)
            answers = _trained(max_depth, X[rows], y[rows], counts, X[of_truth])
            return float(np.mean(answers == y[of_truth]))

        fresh = [score(2 * n + k * n) for k in range(N_FRESH)]
        truth = {"system": score(0), "method": float(np.mean(fresh))}
        return TutorialSample(X[: 2 * n].copy(), y[: 2 * n].copy(), max_depth, truth)

    return draw


def _trained(max_depth, X, y, counts, X_new):
    """Answers of a tree that is trained on each row as often as it counts."""
    tree = DecisionTreeClassifier(random_state=123, max_depth=max_depth)
    # The checks of scikit-learn take longer than a small tree.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        tree.fit(X, y, sample_weight=counts.astype(float), check_input=False)
        return tree.predict(X_new, check_input=False)


def _about(centre, reach):
    return centre - reach, centre + reach


def _no_information(y, answers):
    """Rate of agreement if answers knew nothing: the sum over classes of p_k q_k."""
    return sum(np.mean(y == k) * np.mean(answers == k) for k in np.unique(y))


def intervals(sample: TutorialSample, seed: int) -> dict:
    """All intervals of a repetition, on the same 200 rounds and the same folds."""
    X, y, n = sample.X, sample.y, sample.n
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=N_ROUNDS)
    lines = np.concatenate((np.ones((1, n), dtype=int), counts))
    full, *rounds = [_trained(sample.max_depth, X[:n], y[:n], line, X) for line in lines]
    answers = np.array(rounds)
    found = _on_test_set(sample, rng, full, answers)
    right, out = answers[:, :n] == y[:n], counts == 0
    oob = np.sum(right & out, axis=1) / out.sum(axis=1)
    found |= _out_of_bag(oob) | _point632(y, answers, oob, full, n)
    return found | _by_folds(sample, rng, counts, right, full[:n])


def _on_test_set(sample, rng, full, answers):
    """Intervals for the tree trained on all rows, and for such trees."""
    n, y_test = sample.n, sample.y[sample.n :]
    given = full[n:]
    p = np.mean(given == y_test)
    reach = stats.norm.ppf(ENDS[1]) * np.sqrt(p * (1 - p) / n)
    drawn = rng.binomial(n, p, size=N_ROUNDS) / n
    # Both are computed from the rows: resamples do not change them.
    wilson = bootstrap_score(y_test, given, n_resamples=2, random_state=0)
    runs = bootstrap_runs(
        y_test,
        answers[:N_ON_TEST_ROWS, n:],
        metric="accuracy",
        varied="training",
        full_runs=given[None],
        n_resamples=2,
        random_state=0,
    )
    return {
        "1 normal approximation": _about(p, reach),
        # Accuracy on drawn rows is binomial.
        "3 test-set bootstrap": np.quantile(drawn, ENDS),
        "skboot": wilson.confidence_interval[:2],
        "skboot, test rows": runs.confidence_interval[:2],
    }


def _out_of_bag(oob):
    reach = stats.t.ppf(ENDS[1], N_ROUNDS - 1) * np.std(oob, ddof=1)
    return {
        "2.1 out-of-bag t": _about(oob.mean(), reach),
        "2.2 out-of-bag percentiles": np.quantile(oob, ENDS),
    }


def _point632(y, answers, oob, full, n):
    """Percentiles of .632 and .632+ values of rounds, as published and right."""
    train = np.mean(answers[:, :n] == y[:n], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        leaked = np.array([_no_information(y, line) for line in answers])
        weight = 0.632 / (1 - 0.368 * (oob - train) / (leaked - train))
        chance = np.array([_no_information(y[:n], line[:n]) for line in answers])
        cut = np.maximum(oob, chance)
        rate = np.where((train > cut) & (train > chance), (train - cut) / (train - chance), 0)
    right = 0.632 / (1 - 0.368 * rate)
    resubstitution = np.mean(full[:n] == y[:n])
    rounds = {
        "2.3 .632 as published": 0.632 * train + 0.368 * oob,
        ".632, right weights": 0.368 * train + 0.632 * oob,
        ".632 of Efron": 0.368 * resubstitution + 0.632 * oob,
        ".632+ as published": weight * train + (1 - weight) * oob,
        ".632+, right weights": (1 - right) * train + right * cut,
    }
    return {name: np.quantile(values, ENDS) for name, values in rounds.items()}


def _by_folds(sample, rng, counts, right, full):
    """What stands on 5 x 10 folds: the default of BootstrapScorer, and others."""
    n = sample.n
    X, y = sample.X[:n], sample.y[:n]
    losses, means = np.empty((N_REPEATS, n)), []
    for repeat in range(N_REPEATS):
        folds = rng.permutation(n) % N_FOLDS
        for fold in range(N_FOLDS):
            test = folds == fold
            wrong = _trained(sample.max_depth, X, y, ~test, X[test]) != y[test]
            losses[repeat, test] = wrong
            means.append(1 - wrong.mean())
    error = prediction_error(
        (~right).astype(float),
        counts,
        resubstitution_losses=(full != y).astype(float),
        no_information_rate=1 - _no_information(y, full),
        cv_losses=losses,
    )
    spread = np.std(means, ddof=1)
    t = stats.t.ppf(ENDS[1], len(means) - 1)
    corrected = t * spread * np.sqrt(1 / len(means) + 1 / (N_FOLDS - 1))
    row = stats.norm.ppf(ENDS[1]) * losses[0].std() / np.sqrt(n)
    as_scores = {
        name: tuple(1 - limit for limit in reversed(error.interval(kind)[:2]))
        for name, kind in (("skboot, no test rows", "cv-bootstrap"), ("skboot, .632+", "adjusted"))
    }
    return as_scores | {
        "corrected t": _about(np.mean(means), corrected),
        "CV per row": _about(1 - losses[0].mean(), row),
        "CV, naive t": _about(np.mean(means), t * spread / np.sqrt(len(means))),
    }


TOOL = Tool("on the same fits", intervals, note="200 rounds, 5 x 10 folds")
CELLS = tuple(
    Cell(f"{name}, {n} rows", "accuracy of a tree", _sampler(n, depth), {TOOL.name: repetitions})
    for name, n, depth, repetitions in (
        ("depth 3", 1000, 3, 300),
        ("depth 3", 100, 3, 300),
        ("full tree", 100, None, 300),
        ("full tree", 1000, None, 300),
    )
)

STUDY = Study("tutorial", CELLS, {TOOL.name: TOOL}, chunk=100, bounds=lambda sample: (0.0, 1.0))
