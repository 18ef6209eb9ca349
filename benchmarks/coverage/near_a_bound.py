"""Methods that are perfect or nearly so: limits before and after decision record 0072, same fits.

python benchmarks/coverage/near_a_bound.py [DATA_SETS] [SCORING] [DESIGN ...]
"""

import sys
import warnings

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import skboot.method_error.cv_bootstrap as after
from skboot import BootstrapScorer
from skboot.method_error.prediction_error import method_interval


def normals(rng, n, distance, n_columns):
    y = np.arange(n) % 2
    rng.shuffle(y)
    X = rng.normal(size=(n, n_columns))
    X[:, 0] += distance * y
    return X, y


def threshold(rng, n):
    X = rng.uniform(-1, 1, size=(n, 5))
    return X, (X[:, 0] > 0).astype(int)


def rare_cluster(rng, n, share):
    cluster = rng.choice(3, size=n, p=[(1 - share) / 2, (1 - share) / 2, share])
    X = rng.normal(size=(n, 4))
    X[:, 0] += np.array([0.0, 12.0, 6.0])[cluster]
    return X, np.array([0, 0, 1])[cluster]


TREE = DecisionTreeClassifier(random_state=0)
# Rows, learner, and what draws them.
DESIGNS = {
    "normals 4": (30, GaussianNB(), lambda rng, n: normals(rng, n, 4, 5)),
    "normals 5": (40, KNeighborsClassifier(1), lambda rng, n: normals(rng, n, 5, 2)),
    "normals 6": (60, GaussianNB(), lambda rng, n: normals(rng, n, 6, 5)),
    "threshold": (40, TREE, threshold),
    "rare": (80, TREE, lambda rng, n: rare_cluster(rng, n, 0.05)),
}


def before(point, standard_error, quantile, bounds, n_effective):
    """Limits on the logit scale with a clip at half a row alone."""
    low, high = bounds
    span, edge = high - low, 0.5 / n_effective
    share = (point - low) / span
    at = min(max(share, edge), 1 - edge)
    step = quantile * standard_error / span / (at * (1 - at))
    limits = (
        0.0 if share <= edge else expit(logit(at) - step),
        1.0 if share >= 1 - edge else expit(logit(at) + step),
    )
    return low + span * limits[0], low + span * limits[1]


def truth(scoring, n, learner, draw, n_fits=300):
    rng, scores = np.random.default_rng(10**6), []
    while len(scores) < n_fits:
        X, y = draw(rng, n)
        if len(np.unique(y)) == 2:
            scores.append(get_scorer(scoring)(learner.fit(X, y), *draw(rng, 3000)))
    return np.mean(scores)


def main(n_data_sets=100, scoring="accuracy", *names):
    warnings.simplefilter("ignore")
    now = after.limits_on_scale
    for name, (n, learner, draw) in DESIGNS.items():
        if names and name not in names:
            continue
        expected, errors = truth(scoring, n, learner, draw), []
        for seed in range(n_data_sets):
            X, y = draw(np.random.default_rng([7, seed]), n)
            if np.bincount(y, minlength=2).min() >= 2:
                scorer = BootstrapScorer(learner, scoring=scoring, random_state=seed)
                errors.append(scorer.fit(X, y).result_._basis.error)
        for form, limits_on_scale in (("before", before), ("after", now)):
            after.limits_on_scale = limits_on_scale
            made = [method_interval(e, "cv-bootstrap", 0.95).interval for e in errors]
            low, high = np.array([one[:2] for one in made]).T
            covered = 100 * np.mean((low <= expected) & (expected <= high))
            print(
                f"{name}, {scoring}, {form}: truth {expected:.4f}, {len(made)} data sets, "
                f"{covered:.1f} % covered,"
            )
            print(f"mean width {np.mean(high - low):.4f}, lowest {low.min():.3f}")
        after.limits_on_scale = now


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:2]], *sys.argv[2:])
