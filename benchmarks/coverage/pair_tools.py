"""Tools that compare two frozen systems on one test set.

Tests give no interval of the difference: they speak of the target "zero" alone. Packages are
imported when they are called.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from skboot import compare_systems

from .peers import N_RESAMPLES
from .runner import LEVEL, Tool, decision
from .samples import PairSample

Z = stats.norm.ppf((1 + LEVEL) / 2)


def ours(sample: PairSample, seed: int) -> dict:
    """The default of `compare_systems`."""
    return {"": _compared(sample, seed, sample.units)}


def as_rows(sample: PairSample, seed: int) -> dict:
    """The same with the rows of groups taken for independent ones (wrong)."""
    return {"": _compared(sample, seed, None)}


def _compared(sample, seed, groups):
    [pair] = compare_systems(
        sample.y_true,
        {"first": sample.first, "second": sample.second},
        metric=sample.score.ours,
        groups=groups,
        random_state=seed,
    ).pairs
    return pair.confidence_interval[:2]


def _is_test(p_value: float, sign: float = 1.0) -> dict:
    """A test's p-value as what it says of no difference; no p-value tells nothing apart."""
    return {"zero": decision(p_value <= 1 - LEVEL, sign)}


def _losses(sample: PairSample) -> np.ndarray:
    """Values of rows whose means are compared, (2, n_samples)."""
    return np.array([sample.score.losses(sample.y_true, p) for p in sample.y_preds])


def _table(sample: PairSample) -> np.ndarray:
    """Rows by whether the first and the second are right."""
    right = [p == sample.y_true for p in sample.y_preds[:2]]
    return np.array([[np.sum(a & b) for b in (right[1], ~right[1])] for a in (right[0], ~right[0])])


def statsmodels(sample: PairSample, seed: int) -> dict:
    """McNemar's test of accuracies, a t interval of mean losses; cluster-robust with groups."""
    from statsmodels.stats.contingency_tables import mcnemar

    gaps = np.subtract(*_losses(sample)[:2])
    if sample.groups is not None:
        from statsmodels.api import OLS

        codes = {"groups": sample.groups}
        fit = OLS(gaps, np.ones(len(gaps))).fit(cov_type="cluster", cov_kwds=codes, use_t=True)
        return {"cluster": tuple(fit.conf_int()[0])}
    if sample.score.name != "accuracy":
        return {"paired t": _t_interval(gaps)}
    table = _table(sample)
    plain = mcnemar(table, exact=False, correction=False).pvalue
    return {
        "McNemar exact": _is_test(mcnemar(table).pvalue, gaps.mean()),
        "McNemar chi2": _is_test(plain, gaps.mean()),
        "paired t": _t_interval(gaps),
    }


def _t_interval(gaps):
    from statsmodels.stats.weightstats import DescrStatsW

    return DescrStatsW(gaps).tconfint_mean()


def mlxtend(sample: PairSample, seed: int) -> dict:
    """McNemar's test with its default, the correction for continuity; shares as if unpaired."""
    from mlxtend.evaluate import mcnemar, proportion_difference

    n, means = len(sample.y_true), _losses(sample).mean(axis=1)
    sign = means[0] - means[1]
    unpaired = proportion_difference(*means, n, n)[1]
    return {
        "McNemar": _is_test(mcnemar(_table(sample))[1], sign),
        # Its p-value is one-sided.
        "proportion difference": _is_test(2 * min(unpaired, 1 - unpaired), sign),
    }


def mlstatkit(sample: PairSample, seed: int) -> dict:
    """DeLong's test; its difference with the variance that it reports makes an interval."""
    from MLstatkit import Delong_test

    _, p_value, _, _, first, second, told = Delong_test(
        sample.y_true, *sample.y_preds[:2], n_boot=N_RESAMPLES, random_state=seed
    )
    gap, reach = first - second, Z * np.sqrt(told["var_diff"] or np.nan)
    return {
        "DeLong": {"difference": (gap - reach, gap + reach)} | _is_test(p_value, gap),
    }


def confidenceinterval(sample: PairSample, seed: int) -> dict:
    """Whether its intervals of the two systems overlap (wrong)."""
    from .peers import TOOLS as PEERS

    [call] = [tool.call for tool in PEERS if tool.name == "confidenceinterval"]
    (low, high), (other_low, other_high) = (
        call(_OneSystem(sample.y_true, p, sample.score), seed)[""] for p in sample.y_preds[:2]
    )
    apart = low > other_high or other_low > high
    return {"overlap": {"zero": decision(apart, low - other_low)}}


class _OneSystem:
    """What `peers.confidenceinterval` looks at."""

    def __init__(self, y_true, y_pred, score):
        self.y_true, self.y_pred, self.score = y_true, y_pred, score


def scipy_bootstrap(sample: PairSample, seed: int) -> dict:
    """BCa of the difference."""
    score = sample.score.function
    result = stats.bootstrap(
        (sample.y_true, sample.first, sample.second),
        lambda y, p, q, axis: score(y, p) - score(y, q),
        paired=True,
        vectorized=True,
        n_resamples=N_RESAMPLES,
        rng=np.random.default_rng(seed),
    )
    return {"": result.confidence_interval[:2]}


def permutation(sample: PairSample, seed: int) -> dict:
    """scipy's permutation test: which system gave which answer is swapped by rows."""
    score, y = sample.score.function, sample.y_true

    def statistic(p, q, axis):
        rows = np.broadcast_to(y, p.shape)
        return score(rows, p) - score(rows, q)

    result = stats.permutation_test(
        (sample.first, sample.second),
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=N_RESAMPLES - 1,
        rng=np.random.default_rng(seed),
    )
    return {"": _is_test(result.pvalue, result.statistic)}


def stambo(sample: PairSample, seed: int) -> dict:
    """Percentiles of paired differences; stambo subtracts the first from the second."""
    import stambo as package

    score = sample.score.function
    sides = [np.column_stack((sample.y_true, p)) for p in (sample.second, sample.first)]
    whole = sample.first.dtype.kind in "iu"

    def value(rows):
        y, p = rows.T.astype(int) if whole else rows.T
        return float(score(y, p))

    found = package.two_sample_test(
        *sides,
        {"score": value},
        groups=sample.groups,
        n_bootstrap=N_RESAMPLES,
        seed=seed,
        silent=True,
    )["score"]
    return {"": found[2:4]}


def arch(sample: PairSample, seed: int) -> dict:
    """The basic bootstrap."""
    from arch.bootstrap import IIDBootstrap

    rows, difference = _columns(sample)
    return {"": IIDBootstrap(rows, seed=seed).conf_int(difference, N_RESAMPLES)[:, 0]}


def _columns(sample: PairSample):
    score = sample.score.function
    whole = sample.first.dtype.kind in "iu"

    def difference(rows):
        y, p, q = rows.T.astype(int) if whole else (rows[:, 0], rows[:, 1], rows[:, 2])
        return float(score(y, p) - score(y, q))

    return np.column_stack((sample.y_true, sample.first, sample.second)), difference


def unpaired(sample: PairSample, seed: int) -> dict:
    """Percentiles of the difference of two bootstraps with different resamples (wrong)."""
    rng, score = np.random.default_rng(seed), sample.score.function
    n = len(sample.y_true)
    values = []
    for p in (sample.first, sample.second):
        rows = rng.integers(0, n, size=(N_RESAMPLES, n))
        values.append(score(sample.y_true[rows], p[rows]))
    return {"": np.quantile(values[0] - values[1], [0.025, 0.975])}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", ours, note="compare_systems, all defaults"),
        Tool("skboot, rows", as_rows, note="groups left out: wrong on purpose"),
        Tool("stambo", stambo, "stambo", "two_sample_test, 1000 of its 5000 resamples"),
        Tool("scipy", scipy_bootstrap, "scipy", "stats.bootstrap, BCa, 1000 of its 9999 resamples"),
        Tool("scipy permutation", permutation, "scipy", "stats.permutation_test, 999 of 9999"),
        Tool("arch", arch, "arch", "IIDBootstrap.conf_int, 1000 resamples"),
        Tool("statsmodels", statsmodels, "statsmodels", "closed forms"),
        Tool("mlxtend", mlxtend, "mlxtend", "closed forms"),
        Tool("MLstatkit", mlstatkit, "MLstatkit", "Delong_test"),
        Tool("confidenceinterval", confidenceinterval, "confidenceinterval", "two closed forms"),
        Tool("unpaired percentiles", unpaired, "numpy", "1000 resamples"),
    )
}
