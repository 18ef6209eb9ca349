"""A method beside one that always scores 0 is the method by itself; several share their law.

Exact: whatever varies between the runs and in any design, the difference from a constant has the
components, limits and errors of the runs, and paired runs those of their differences; limits vary
as those of calls on the same resamples drawn again. Within the error of simulations: how far
simultaneous limits of methods reach, and how limits vary with seeds.
"""

import numpy as np
import pytest
from identity_cases import N_SLOW, any_seed, call_of, close, quiet, scored
from scipy import stats
from scipy.special import ndtri

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 59, "random_state": 0}
N, S = 60, 8
GROUPS = np.arange(N) // 2
DESIGNS = {
    "rows": {},
    "groups": {"groups": GROUPS},
    "strata": {"strata": np.arange(N) % 3 // 2},
    "groups in strata": {"groups": GROUPS, "strata": GROUPS % 3 // 2},
    "weights": {"sample_weight": 1.0 + np.arange(N) % 4},
    "weights of groups": {"sample_weight": 1.0 + np.arange(N) % 4, "groups": GROUPS},
    "drawn tasks": {"groups": GROUPS, "average_over": GROUPS},
    "fixed tasks": {"average_over": np.arange(N) % 2},
    "blocks": {"block_length": 3},
    "panel": {"block_length": 4, "strata": np.arange(N) % 3 // 2},
}
SAMPLES = np.repeat(np.arange(S // 2), 2)
VARIED = ("seed", "independent", "training", "both")


def some_of(first, second, step):
    """All products, of which one in so many is not slow."""
    found = []
    for k, one in enumerate(first):
        for j, other in enumerate(second):
            is_fast = (k + j) % step == 0
            if is_fast or N_SLOW:
                marks = [] if is_fast else [pytest.mark.slow]
                found.append(pytest.param(one, other, marks=marks))
    return found


def values_of_runs(seed, s=S, n=N, scale=0.5):
    rng = np.random.default_rng([seed, s])
    own = scale * np.repeat(rng.normal(size=s // 2), 2)[:, None] + scale * rng.normal(size=(s, 1))
    return 4 + own + rng.normal(size=n) + 0.7 * rng.normal(size=(s, n))


def runs_of(values, varied, full=None, samples=SAMPLES, **options):
    more = {} if varied in ("seed", "independent") else {"full_runs": full}
    more |= {"training": samples} if varied == "both" else {}
    return quiet(skboot.bootstrap_runs, None, values, metric="mean", varied=varied, **more,
                 **{**OPTIONS, **options})  # fmt: skip


def compared(methods, varied, full=None, samples=None, **options):
    more = {} if varied in ("seed", "independent") else {"full_runs": full}
    samples = dict.fromkeys(methods, SAMPLES) if samples is None else samples
    more |= {"training": samples} if varied == "both" else {}
    return quiet(skboot.compare_runs, None, methods, metric="mean", varied=varied, **more,
                 **{**OPTIONS, **options})  # fmt: skip


@pytest.mark.parametrize(("design", "varied"), some_of(DESIGNS, VARIED, 3))
def test_a_method_less_one_that_is_constant_is_the_method(varied, design):
    values, full, columns = values_of_runs(0), values_of_runs(1, 2), DESIGNS[design]
    alone = runs_of(values, varied, full, **columns)
    for paired, constant in ((varied == "both", 0.0), (varied != "both", 3.0)):
        methods = {"A": values, "nothing": np.full_like(values, constant)}
        of_list = {"A": full, "nothing": np.full_like(full, constant)}
        result = compared(methods, varied, of_list, paired_runs=paired, **columns)
        [pair] = result.pairs
        close(pair.difference, alone.estimate - constant)
        close(pair.standard_error, alone.standard_error, 1e-7)
        limits = [limit - constant for limit in alone.confidence_interval]
        close([*pair.confidence_interval], limits, 1e-7, 1e-9)
        close(sum(pair.components.values()), alone.standard_error**2, 1e-7)
        nothing = result.systems["nothing"]
        close(nothing.estimate, constant)
        # Runs of hits or errors alone have the error of a share.
        assert nothing.standard_error < 1e-9 or constant == 0
        close([*result.systems["A"].confidence_interval], [*alone.confidence_interval], 1e-7)
        turned = compared(dict(reversed(methods.items())), varied, of_list, paired_runs=paired,
                          alternative="less", confidence_level=0.975, **columns)  # fmt: skip
        [pair] = turned.pairs
        close(pair.confidence_interval.high, -limits[0], 1e-7, 1e-9)


@pytest.mark.parametrize(("design", "varied"), some_of(DESIGNS, VARIED, 4))
def test_paired_runs_differ_as_the_runs_of_their_differences(varied, design):
    values, full = {"A": values_of_runs(2), "B": values_of_runs(3)}, values_of_runs(4, 4)
    full = {"A": full[:2], "B": full[2:]}
    columns = DESIGNS[design]
    [pair] = compared(values, varied, full, paired_runs=True, **columns).pairs
    alone = runs_of(values["A"] - values["B"], varied, full["A"] - full["B"], **columns)
    close(pair.difference, alone.estimate, 1e-8)
    close(pair.standard_error, alone.standard_error, 1e-7)
    close([*pair.confidence_interval], [*alone.confidence_interval], 1e-6, 1e-8)
    sign = np.sign(np.average(values["A"] - values["B"], axis=1,
                              weights=columns.get("sample_weight")))  # fmt: skip
    if design != "drawn tasks" and varied in ("seed", "independent"):
        known = compared(values, varied, full, paired_runs=True, greater_is_better=True, **columns)
        outperformed = known.pairs[0].outperformance
        close(outperformed.probability, np.mean(sign > 0))


@pytest.mark.parametrize("design", DESIGNS)
def test_names_and_order_of_training_samples_change_nothing(design):
    values, full, columns = values_of_runs(5), values_of_runs(6, 2), DESIGNS[design]
    order = np.random.default_rng(0).permutation(S)
    names = np.array(["d", "a", "c", "b"])[SAMPLES]
    one = runs_of(values, "both", full, **columns)
    other = runs_of(values[order], "both", full[::-1], samples=names[order], **columns)
    methods = {"A": values, "B": 1.3 * values_of_runs(7)}
    samples = {"A": SAMPLES, "B": np.arange(S) % 4}
    of_list = {"A": full, "B": full + 1}
    first = compared(methods, "both", of_list, samples, **columns)
    moved = {"A": methods["A"][order], "B": methods["B"]}
    second = compared(moved, "both", of_list, {"A": names[order], "B": samples["B"]}, **columns)
    for key, expected in (("A", one), ("B", runs_of(methods["B"], "both", full + 1,
                                                    samples=samples["B"], **columns))):  # fmt: skip
        for result in (first, second):
            close(result.systems[key].standard_error, expected.standard_error, 1e-7)
            close(result.systems[key].estimate, expected.estimate)
    close(other.standard_error, one.standard_error, 1e-7)
    parts = [[one.variance_components[key] for one in (one, other)] for key in ("training", "seed")]
    for found, again in parts:
        close(again, found, 1e-7)
    close(second.pairs[0].standard_error, first.pairs[0].standard_error, 1e-7)
    close([*second.pairs[0].confidence_interval], [*first.pairs[0].confidence_interval], 1e-7)
    # What is paired is not what is apart.
    assert abs(first.systems["A"].standard_error - first.systems["B"].standard_error) > 1e-6


# ------------------------------------------------------------------ all pairs at once


def reach_of(correlation, df, rng, n=20_000):
    """Normal quantile that the largest of t statistics with these correlations stays within."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    drawn = rng.standard_normal((n, len(correlation))) @ root.T
    drawn /= np.sqrt(rng.chisquare(df, drawn.shape) / df)
    return ndtri(np.quantile(stats.t.cdf(np.abs(drawn), df).max(axis=1), 0.95))


# What makes the differences from the reference alike: its runs, its rows, or neither.
ALIKE = {"runs": (1.5, 0.0), "rows": (0.0, 1.5), "neither": (0.0, 0.0)}


KINDS = ("plain", "paired", "welch", "paired welch", "training")


@pytest.mark.parametrize(("alike", "kind"), some_of(ALIKE, KINDS, 6))
def test_simultaneous_limits_of_methods_reach_as_far_as_their_correlation_says(alike, kind):
    """Within 3%: of t statistics whose errors are drawn one by one."""
    rng, s, n = np.random.default_rng(0), 40, 200
    of_runs, of_rows = ALIKE[alike]
    methods = {key: 0.3 * rng.normal(size=(s, 1)) + 0.3 * rng.normal(size=n)
                    + 0.5 * rng.normal(size=(s, n)) for key in "ABCDEF"}  # fmt: skip
    methods["A"] = methods["A"] + of_runs * rng.normal(size=(s, 1)) + of_rows * rng.normal(size=n)
    interval = "welch" if "welch" in kind else "components"
    varied = "training" if kind == "training" else "seed"
    full = {key: 0.3 * rng.normal(size=(2, n)) + own.mean(axis=0) for key, own in methods.items()}
    result = compared(methods, varied, full, reference="A", paired_runs="paired" in kind,
                      interval=interval, n_resamples=99)  # fmt: skip
    # Covariances of the errors of the methods, of runs and of rows.
    scores = np.array([own.mean(axis=1) for own in methods.values()])
    covariance = np.cov(scores)
    rest = [np.var(own - own.mean(axis=0) - own.mean(axis=1, keepdims=True) + own.mean())
            for own in methods.values()]  # fmt: skip
    if "welch" not in kind:
        covariance = covariance - np.diag(rest) / n
    if "paired" not in kind:
        covariance = np.diag(np.maximum(np.diag(covariance), 0))
    covariance = covariance / (1 if kind == "training" else s)
    if "welch" not in kind:
        centre = full if kind == "training" else methods
        covariance = covariance + np.cov([own.mean(axis=0) for own in centre.values()]) / n
    contrast = np.array([[(pair.first == key) * 1.0 - (pair.second == key) for key in methods]
                         for pair in result.pairs])  # fmt: skip
    of_pairs = contrast @ covariance @ contrast.T
    close([pair.standard_error for pair in result.pairs], np.sqrt(np.diag(of_pairs)), 0.05)
    scale = np.sqrt(np.diag(of_pairs))
    df = np.array([pair.degrees_of_freedom for pair in result.pairs])
    expected = reach_of(of_pairs / np.outer(scale, scale), df, rng)
    for pair in result.pairs:
        half = (pair.simultaneous_interval.high - pair.simultaneous_interval.low) / 2
        level = stats.t.cdf(half / pair.standard_error, pair.degrees_of_freedom)
        assert ndtri(level) == pytest.approx(expected, rel=0.03)
    assert len(result.pairs) == 5


# ------------------------------------------------------------------ errors of limits


@pytest.mark.parametrize("interval", ["percentile", "expanded", "basic", "normal", "t", "bca"])
@any_seed
def test_limits_vary_with_the_seed_as_their_monte_carlo_error_says(interval, seed):
    """Within a factor of two: of sixteen seeds."""
    call = call_of("auc", "groups", seed=seed, n=90)
    options = {**call.options, "interval": interval, "n_resamples": 199}
    results = [scored(call.y_true, call.y_pred, **options, random_state=k) for k in range(16)]
    found = np.mean([[*one.monte_carlo_error] for one in results], axis=0)
    expected = np.std([[*one.confidence_interval] for one in results], axis=0, ddof=1)
    assert ((found / expected > 0.5) & (found / expected < 2)).all()


@pytest.mark.parametrize(
    ("name", "asked"),
    [("mae", "studentized"), ("auc", "bca"), ("mae", "gap"), ("f1", "gap")],
)
def test_the_error_of_limits_is_that_of_calls_on_its_resamples_drawn_again(name, asked):
    """Exact, of 25 calls: all that a limit is made of is of the resamples that are drawn."""
    call = call_of(name, n=72)
    weights = np.random.default_rng(1).integers(1, 4, 72) / 2
    is_gap = asked == "gap"
    options = {"by": np.arange(72) % 2, "sample_weight": weights} if is_gap else {"interval": asked}

    def result_on(resamples):
        found = scored(call.y_true, call.y_pred, metric=call.score.metric, resamples=resamples,
                       **options)  # fmt: skip
        return found["gap"] if is_gap else found

    rows, rng = call.resamples(49), np.random.default_rng(0)
    drawn = [result_on(rows[rng.integers(49, size=49)]).confidence_interval for _ in range(25)]
    found = result_on(rows).monte_carlo_error
    close([*found], np.std([[*one] for one in drawn], axis=0, ddof=1), 1e-6, 1e-9)
    assert min(found) > 0


@pytest.mark.parametrize("estimand", ["method", "next_run", "pooled", "system"])
def test_limits_of_runs_vary_with_the_seed_as_their_monte_carlo_error_says(estimand):
    call = call_of("auc", "groups", n=90)
    runs = [call.y_pred, *(call.other() for _ in range(3))]
    results = [
        quiet(skboot.bootstrap_runs, call.y_true, runs, **call.options, estimand=estimand,
              n_resamples=999, random_state=k) for k in range(16)
    ]  # fmt: skip
    found = np.mean([[*one.monte_carlo_error] for one in results], axis=0)
    expected = np.std([[*one.confidence_interval] for one in results], axis=0, ddof=1)
    assert ((found / expected > 0.4) & (found / expected < 2.5)).all()
