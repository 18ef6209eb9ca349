"""Small jobs and training samples, which several tests of skboot.refit share."""

import numpy as np

from skboot.refit.samples import draw_training_samples
from skboot.refit.training import Job


class Labels:
    """Keeps the answers of a run as they are."""

    key = "labels"

    def keep(self, answers, scored):
        return {"labels": answers.predicted, "rows": scored.rows}


def job_of(estimator, X, y, **options):
    settings = dict(
        params={},
        unit=None,
        classes=np.unique(y),
        metrics=(Labels(),),
        pairwise=False,
        group_copies=True,
        predict_all=False,
        raise_errors=True,
    )
    return Job(estimator=estimator, X=X, y=y, **{**settings, **options})


def drawn(n_rows=60, **options):
    settings = dict(
        unit=None,
        codes=None,
        stratify=False,
        n_resamples=20,
        n_repeats=2,
        n_seeds=1,
        seed=np.random.SeedSequence(0),
    )
    return draw_training_samples(n_rows, **{**settings, **options})


def few_positives():
    """Answers, (300, 1), and truth: 15 are positive; 2 are found, and 3 others called positive."""
    y = (np.arange(300) < 15).astype(int)
    given = np.isin(np.arange(300), (0, 1, 15, 16, 17)).astype(int)
    order = np.random.default_rng(0).permutation(300)
    return given[order, None].astype(float), y[order]
