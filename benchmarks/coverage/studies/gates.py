"""How often a gate lets a worse release through, or stops a good one: verdicts by simulation.

Run ``python -m benchmarks.coverage gates`` to make
the table; half an hour. The rule, written before the run: "pass" where the first is worse by
exactly the margin, and "fail" where both are equal, come out in at most 2.5 % plus 2.6 Monte Carlo
standard deviations of 2000 releases (20 groups and five seeds a side: 3.5 % plus). For right and
wrong on independent rows the rates are computed exactly, without simulation, and are at most 2.5 %.
Of several candidates the rate is that of any of them. Where both are equal, the mean over all
releases of the margin that is called detectable passes in 76 to 84 %. Beside them, without a limit:
"fail" where the first is worse by exactly the margin. A cell that breaks the rule is reported as it
is.
"""

import warnings

import numpy as np
from scipy import stats

from skboot import compare_runs, compare_systems
from skboot.inference import tango_interval
from skboot.inference.differences import outcome_of

from ..runner import TableStudy, one_line

N = 200
TRUTH = np.tile([0, 1], N // 2)


def _named(values):
    return dict(zip(["new", "old", "other"], values, strict=False))


# ------------------------------------------------------------------ exact: right and wrong


def exact(n, share_apart, margin, worse_by):
    """Probabilities of "pass" and "fail" where the new system is worse by so much.

    The systems differ in being right on a share of the rows.
    """
    new_only = (share_apart - worse_by) / 2
    passed = failed = 0.0
    for apart in range(n + 1):
        weight = stats.binom.pmf(apart, n, share_apart)
        if weight < 1e-10:
            continue
        wins = np.arange(apart + 1)
        chances = weight * stats.binom.pmf(wins, apart, new_only / share_apart)
        for won, chance in zip(wins[chances > 1e-9], chances[chances > 1e-9], strict=True):
            low, high = tango_interval(int(won), int(apart - won), n)
            outcome = outcome_of(low, high, margin)
            passed += chance * (outcome == "pass")
            failed += chance * (outcome == "fail")
    return 100 * passed, 100 * failed


EXACT = [(200, 0.05, 0.02), (200, 0.1, 0.02), (200, 0.1, 0.05), (200, 0.2, 0.05), (200, 0.3, 0.1)]


# ------------------------------------------------------------------ releases


def latent(rng, n_systems, n_rows, shared=0.6):
    """Normal values of rows, which systems share in part, (n_systems, n_rows)."""
    common, own = rng.normal(size=n_rows), rng.normal(size=(n_systems, n_rows))
    return np.sqrt(shared) * common + np.sqrt(1 - shared) * own


def areas(rng, worse):
    """Scores whose areas under the ROC curve differ by .05 if the new one is worse."""
    separation = np.sqrt(2) * stats.norm.ppf([0.80 if worse else 0.85, 0.85])
    scores = latent(rng, 2, N) + separation[:, None] * TRUTH
    return {"y_true": TRUTH, "y_preds": _named(scores), "metric": "roc_auc"}, 0.05


def f1_of(threshold, separation=1.5):
    """F1 of a normal score at a threshold, half of the rows positive."""
    hit, alarm = stats.norm.sf(threshold - separation), stats.norm.sf(threshold)
    return 2 * hit / (2 * hit + alarm + (1 - hit))


def f1(rng, worse):
    """Decisions by the same scores at another threshold."""
    thresholds = [1.3 if worse else 0.75, 0.75]
    decided = latent(rng, 2, N) + 1.5 * TRUTH > np.reshape(thresholds, (2, 1))
    margin = f1_of(0.75) - f1_of(1.3)
    return {"y_true": TRUTH, "y_preds": _named(decided.astype(int)), "metric": "f1"}, margin


def _by_group(rng, n_groups, n_rows):
    """Normal values with effects of groups: common ones, and those of each system."""
    group = np.arange(n_rows) % n_groups
    common = rng.normal(size=n_groups)[group] + rng.normal(size=n_rows)
    own = 0.6 * rng.normal(size=(2, n_groups))[:, group] + 0.8 * rng.normal(size=(2, n_rows))
    return (common + own) / np.sqrt(3), group


def groups(rng, worse):
    """Right and wrong on 20 groups of 20 rows; accuracies .80 and .85."""
    values, group = _by_group(rng, 20, 400)
    limits = stats.norm.ppf([0.80 if worse else 0.85, 0.85])
    wrong = (values > limits[:, None]).astype(int)
    zeros = np.zeros(400, int)
    return {"y_true": zeros, "y_preds": _named(wrong), "groups": group}, 0.05


def losses_of_groups(rng, worse):
    """Normal losses on 20 groups of 20 rows."""
    values, group = _by_group(rng, 20, 400)
    values[0] += 0.2 if worse else 0.0
    known = {"metric": "mean", "greater_is_better": False, "groups": group}
    return {"y_true": None, "y_preds": _named(values), **known}, 0.2


def several(rng, worse):
    """Two candidates by the old system, both worse by .05 of accuracy; any is a wrong release."""
    limits = stats.norm.ppf([0.80, 0.85, 0.80] if worse else [0.85] * 3)
    wrong = (latent(rng, 3, 500) > limits[:, None]).astype(int)
    known = {"y_true": np.zeros(500, int), "reference": "old"}
    return {"y_preds": _named(wrong), **known}, 0.05


def losses(rng, worse):
    """Skewed losses on 200 rows."""
    values = np.exp(0.7 * latent(rng, 2, N))
    values[0] += 0.15 if worse else 0.0
    known = {"metric": "mean", "greater_is_better": False}
    return {"y_true": None, "y_preds": _named(values), **known}, 0.15


def seeds(rng, worse):
    """Five runs of each method on 500 rows; accuracies .80 and .85."""
    row = np.sqrt(0.6) * rng.normal(size=(1, 1, 500)) + np.sqrt(0.1) * rng.normal(size=(2, 1, 500))
    run = np.sqrt(0.01) * rng.normal(size=(2, 5, 1)) + np.sqrt(0.29) * rng.normal(size=(2, 5, 500))
    limits = stats.norm.ppf([0.80 if worse else 0.85, 0.85])
    wrong = (row + run > limits[:, None, None]).astype(int)
    return {"y_true": np.zeros(500, int), "y_preds": _named(wrong)}, 0.05


RELEASES = {
    "AUC, 200 rows": areas,
    "F1, 200 rows": f1,
    "skewed losses, 200 rows": losses,
    "accuracy, 20 groups": groups,
    "normal losses, 20 groups": losses_of_groups,
    "accuracy, five seeds a side": seeds,
    "two candidates, accuracy, 500 rows": several,
}
# Percent that "pass" and "fail" may reach at the margin, besides Monte Carlo error.
LIMITS = {name: 3.5 if "groups" in name or "seeds" in name else 2.5 for name in RELEASES}


def verdicts(name, seed, worse):
    """Verdicts on the pairs of one release, and its margin."""
    call, margin = RELEASES[name](np.random.default_rng([seed, int(worse)]), worse)
    compare = compare_runs if "seeds" in name else compare_systems
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y_true, y_preds = call.pop("y_true"), call.pop("y_preds")
        result = compare(y_true, y_preds, n_resamples=999, random_state=seed, **call)
    return [pair.verdict(margin) for pair in result.pairs]


def rates(name, repetitions):
    """Percent of "pass" and of "fail" at the margin, of any pair."""
    found = [verdicts(name, seed, worse=True) for seed in range(repetitions)]
    passed = np.mean([any(each.passed for each in release) for release in found])
    failed = np.mean([any(each.failed for each in release) for release in found])
    return 100 * passed, 100 * failed


def power(name, repetitions):
    """Of equal systems: percent of "fail", mean detectable margin, and percent that pass that."""
    found = [v for s in range(repetitions) for v in verdicts(name, s, worse=False)]
    margin = float(np.mean([verdict.detectable_margin for verdict in found]))
    passed = [outcome_of(*verdict.interval, margin) == "pass" for verdict in found]
    failed = [verdict.failed for verdict in found]
    return 100 * float(np.mean(failed)), margin, 100 * float(np.mean(passed))


def row_of(release):
    """Line of the table for one release, computed or simulated."""
    if release in COMPUTED:
        n, apart, margin = COMPUTED[release]
        passed, failed = exact(n, apart, margin, margin)
        _, failed_equal = exact(n, apart, margin, 0.0)
        of_what, of_equal = "exact", ("", "")
    else:
        passed, failed = rates(release, N_RELEASES)
        failed_equal, margin, share = power(release, N_RELEASES)
        of_what, of_equal = N_RELEASES, (f"{margin:.4f}", f"{share:.1f}")
    return of_what, *(f"{value:.2f}" for value in (passed, failed_equal, failed)), *of_equal


N_RELEASES = 2000
COMPUTED = {
    f"accuracy, {n} rows, {apart:g} apart, margin {margin:g}": (n, apart, margin)
    for n, apart, margin in EXACT
}
HEADER = ("release", "repetitions", "passed", "failed_equal", "failed_worse", "detectable", "power")
CELLS = [(release,) for release in (*COMPUTED, *RELEASES)]
STUDY = TableStudy("gates", HEADER, CELLS, one_line(row_of))
