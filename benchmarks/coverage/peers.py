"""Intervals of other packages, with their defaults but at most 1000 resamples.

Packages are imported when they are called. Metrics are the fast functions of `scores`, which give
what scikit-learn gives. `confidence_intervals` draws the same resamples at each call (seeds 0 to
999), so that they are kept; nothing else of a package is changed.
"""

from __future__ import annotations

import contextlib
import functools
import io
from unittest import mock

import numpy as np
from scipy import stats

from .runner import Tool
from .samples import SystemSample

N_RESAMPLES = 1000


def _columns(sample: SystemSample):
    """Rows that can be drawn, and the score of such rows."""
    score = sample.score
    if score.losses is not None:
        return score.losses(sample.y_true, sample.y_pred), np.mean
    whole = sample.y_true.dtype.kind in "iu"

    def value(rows):
        y = rows[:, 0].astype(int) if whole else rows[:, 0]
        p = rows[:, 1].astype(int) if sample.y_pred.dtype.kind in "iu" else rows[:, 1]
        return float(score.function(y, p))

    return np.column_stack((sample.y_true, sample.y_pred)), value


def scipy_bootstrap(sample: SystemSample, seed: int) -> dict:
    """BCa."""
    score = sample.score
    data, statistic = (sample.y_true, sample.y_pred), score.function
    if score.losses is not None:
        data, statistic = (score.losses(*data),), np.mean
    result = stats.bootstrap(
        data,
        lambda *of, axis: statistic(*of, axis=-1) if statistic is np.mean else statistic(*of),
        paired=True,
        vectorized=True,
        n_resamples=N_RESAMPLES,
        rng=np.random.default_rng(seed),
    )
    return {"": result.confidence_interval[:2]}


def confidenceinterval(sample: SystemSample, seed: int) -> dict:
    """Wilson, Takahashi et al., DeLong: its default for each of its metrics."""
    import confidenceinterval as package

    call = {
        "accuracy": package.accuracy_score,
        "F1": functools.partial(package.f1_score, average="binary"),
        "macro F1": functools.partial(package.f1_score, average="macro"),
        "AUC": package.roc_auc_score,
    }[sample.score.name]
    return {"": call(sample.y_true, sample.y_pred, confidence_level=0.95)[1]}


@contextlib.contextmanager
def _kept_resamples(module):
    """Let the indices of `confidence_intervals` be drawn once for each number of rows or groups."""
    plain = module.get_bootstrap_indices

    def indices(n, conditions=None, random_state=None):
        key = None if conditions is None else np.asarray(conditions).tobytes()
        place = plain, n, key, random_state
        if place not in _KEPT:
            if len(_KEPT) >= 4 * N_RESAMPLES:
                _KEPT.clear()
            _KEPT[place] = plain(n, conditions, random_state)
        return _KEPT[place]

    with mock.patch.object(module, "get_bootstrap_indices", indices):
        yield


_KEPT: dict[tuple, np.ndarray] = {}


def confidence_intervals(sample: SystemSample, seed: int) -> dict:
    """Percentiles; with groups, groups are drawn and then rows within them."""
    from confidence_intervals import confidence_intervals as module

    rows, value = _columns(sample)
    with _kept_resamples(module):
        _, limits = module.evaluate_with_conf_int(
            rows, value, conditions=sample.groups, num_bootstraps=N_RESAMPLES, alpha=5
        )
    return {"": limits}


def stambo(sample: SystemSample, seed: int) -> dict:
    """Percentiles, of groups where there are some."""
    import stambo as package

    rows, value = _columns(sample)
    found = package.two_sample_test(
        rows,
        rows,
        {"score": value},
        groups=sample.groups,
        n_bootstrap=N_RESAMPLES,
        seed=seed,
        silent=True,
    )["score"]
    return {"": found[5:7]}


def mlstatkit(sample: SystemSample, seed: int) -> dict:
    """Percentiles."""
    from MLstatkit import ci

    name = {
        "accuracy": "accuracy",
        "F1": "f1",
        "AUC": "roc_auc",
        "average precision": "average_precision",
    }[sample.score.name]

    def metric(*_):
        return lambda y, p: float(sample.score.function(y, p))

    with mock.patch.object(ci, "get_metric_fn", metric), contextlib.redirect_stderr(io.StringIO()):
        limits = ci.Bootstrapping(
            sample.y_true, sample.y_pred, name, n_bootstraps=N_RESAMPLES, random_state=seed
        )[1:]
    return {"": limits}


def statsmodels(sample: SystemSample, seed: int) -> dict:
    """Wald for accuracy, t for means, the standard error of kappa; cluster-robust with groups."""
    score, y, p = sample.score, sample.y_true, sample.y_pred
    if score.name == "kappa":
        from statsmodels.stats.inter_rater import cohens_kappa

        n = int(max(y.max(), p.max())) + 1
        table = np.zeros((n, n))
        np.add.at(table, (y, p), 1)
        result = cohens_kappa(table)
        return {"": (result.kappa_low, result.kappa_upp)}
    losses = score.losses(y, p)
    if sample.groups is not None:
        from statsmodels.api import OLS

        fit = OLS(losses, np.ones(len(losses))).fit(
            cov_type="cluster", cov_kwds={"groups": sample.groups}, use_t=True
        )
        return {"": fit.conf_int()[0]}
    if score.name == "accuracy":
        from statsmodels.stats.proportion import proportion_confint

        return {"": proportion_confint(int(losses.sum()), len(losses))}
    from statsmodels.stats.weightstats import DescrStatsW

    return {"": DescrStatsW(losses).tconfint_mean()}


def mlxtend(sample: SystemSample, seed: int) -> dict:
    """Percentiles."""
    from mlxtend.evaluate import bootstrap

    rows, value = _columns(sample)
    return {"": bootstrap(rows, value, num_rounds=N_RESAMPLES, ci=0.95, seed=seed)[2]}


def arch(sample: SystemSample, seed: int) -> dict:
    """The basic bootstrap."""
    from arch.bootstrap import IIDBootstrap

    rows, value = _columns(sample)
    limits = IIDBootstrap(rows, seed=seed).conf_int(value, N_RESAMPLES)
    return {"": limits[:, 0]}


TOOLS = (
    Tool("scipy", scipy_bootstrap, "scipy", "stats.bootstrap, BCa, 1000 of its 9999 resamples"),
    Tool("confidenceinterval", confidenceinterval, "confidenceinterval", "closed forms"),
    Tool("confidence_intervals", confidence_intervals, "confidence_intervals", "1000 resamples"),
    Tool("stambo", stambo, "stambo", "two_sample_test, 1000 of its 5000 resamples"),
    Tool("MLstatkit", mlstatkit, "MLstatkit", "Bootstrapping, 1000 resamples"),
    Tool("statsmodels", statsmodels, "statsmodels", "closed forms"),
    Tool("mlxtend", mlxtend, "mlxtend", "evaluate.bootstrap, 1000 resamples"),
    Tool("arch", arch, "arch", "IIDBootstrap.conf_int, 1000 resamples"),
)
