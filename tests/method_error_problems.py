"""Problems that several tests of method_error share: R's models, and nearest-mean classifiers."""

import json
from pathlib import Path

import numpy as np

from skboot.inference import prediction_error

REFERENCES = Path(__file__).parent / "references" / "ipred"


def counts_of(indices, n):
    return np.stack([np.bincount(row, minlength=n) for row in indices])


def drawn(rng, n_resamples, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)


class Oracle:
    """Bootstrap indices, losses and results of R's ipred, MASS and nestedcv."""

    def __init__(self, case):
        folder = REFERENCES / case
        read = {"delimiter": ",", "dtype": int}
        self.losses = np.loadtxt(folder / "loss_all.csv.gz", **read)
        self.indices = np.loadtxt(folder / "indices.csv.gz", **read) - 1
        self.weights = counts_of(self.indices, self.losses.shape[1])
        self.expected = json.loads((folder / "expected.json").read_text())
        lines = np.loadtxt(folder / "rows.csv.gz", delimiter=",", dtype=str)
        columns = dict(zip((name.strip('"') for name in lines[0]), lines[1:].T, strict=True))
        self.y, self.full_pred = columns["y"], columns["full_pred"]
        self.full_loss, self.by_row, self.influence = (
            columns[name].astype(float) for name in ("full_loss", "E_i", "D39")
        )

    def result(self, **options):
        gamma = np.mean(self.y[:, None] != self.full_pred)
        return prediction_error(
            self.losses,
            self.weights,
            resubstitution_losses=self.full_loss,
            no_information_rate=gamma,
            **options,
        )


def small_problem(seed=0, n=30, n_resamples=100, groups=None):
    """Losses of nearest-mean classifiers trained on resamples, the counts, and the rest."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = y[:, None] * 0.8 + rng.normal(size=(n, 2))
    if groups is None:
        weights = drawn(rng, n_resamples, n)
    else:
        weights = drawn(rng, n_resamples, groups.max() + 1)[:, groups]
    scores = nearest_mean_scores(x, y, weights)
    full = nearest_mean_scores(x, y, np.ones((1, n)))[0]
    return (scores > 0) != y, weights, (full > 0) != y


def nearest_mean_scores(x, y, weights):
    up, down = weights * y, weights * (1 - y)
    high = up @ x / np.maximum(up.sum(axis=1), 1)[:, None]
    low = down @ x / np.maximum(down.sum(axis=1), 1)[:, None]
    return (high - low) @ x.T - ((high**2).sum(1) - (low**2).sum(1))[:, None] / 2
