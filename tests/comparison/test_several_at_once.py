"""Several scores, pairs and verdicts at once: each says of itself what can be computed by hand.

Exact: the level of scores that hold at once from the ranks of their replicates, verdicts and
margins from the limits they are read from, rankings from estimates. Within rounding of quantiles:
simultaneous limits of a family, which reach equally many standard errors of each pair.
"""

import itertools
import re

import numpy as np
import pytest
from identity_cases import (
    FAST,
    any_seed,
    call_of,
    close,
    each_of,
    each_with,
    one_of,
    quiet,
    rows_of,
    scored,
    varies_with_resamples,
)
from scipy import stats
from scipy.special import ndtr, ndtri
from sklearn.metrics import zero_one_loss

import skboot
from skboot import inference
from skboot.comparison import pairs

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 199, "random_state": 0}
# Sums of distances have an interval of their own.
OF_RESAMPLES = [name for name in FAST if name != "ece"]
OF_JUMPS = ("eer", "neg eer", "fpr_at", "sensitivity_at", "specificity_at", "median")
NO_DIRECTION = ("slope", "intercept")
DESIGNS = ("rows", "strata", "groups", "groups in strata", "weights", "crossed", "blocks")


def columns_of(design, call):
    n, rng = call.n, call.rng
    if design == "weights":
        return {"sample_weight": rng.integers(1, 9, n) / 4}
    if design == "crossed":
        return {"groups": np.column_stack([rng.integers(0, 12, n), rng.integers(0, 9, n)])}
    return {"block_length": 4} if design == "blocks" else call.columns


def case_of(name, design, seed, n=80):
    call = call_of(name, "rows" if design in DESIGNS[4:] else design, False, seed, n)
    columns = columns_of(design, call)
    if name in NO_DIRECTION:
        columns = {**columns, "greater_is_better": True}
    return call, columns


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


# ------------------------------------------------------------------ several scores of one call


def level_at_which_all_hold(replicates, level):
    """Beran (1988): by the ranks of the replicates of each score among its own."""
    varying = [own for own in replicates if np.nanmin(own) < np.nanmax(own)]
    n_constant = len(replicates) - len(varying)
    largest = np.fmax.reduce(
        [
            np.abs(ndtri(stats.rankdata(own, nan_policy="omit") / (np.isfinite(own).sum() + 1)))
            for own in varying
        ]
    )
    ordered = np.sort(largest[np.isfinite(largest)])
    share = np.arange(1, len(ordered) + 1) / (len(ordered) + 1)
    enough = share * (2 * ndtr(ordered) - 1) ** n_constant >= level - 1e-9
    reach = ordered[np.argmax(enough)] if enough.any() else ordered[-1]
    return min(max(2 * ndtr(reach) - 1, level), 1 - (1 - level) / len(replicates))


def not_of_limits(result, told=()):
    return [note for note in result.notes if note not in told and "Worse than" not in note]


def assert_words_of_baselines(result):
    """Scores are surely worse than their baseline where both limits are, which may hold alone."""
    told = [note for note in result.notes if "Worse than" in note]
    assert len(told) <= 1
    low, high = result.confidence_interval
    naive, better = result.naive_estimate, result.greater_is_better
    if any("Worse than scores that ignore" in note for note in told):
        assert high < naive if better else low > naive
    elif told:
        assert result.estimate < naive if better else result.estimate > naive


def always_half(y_true, y_pred):
    return 0.5


BESIDE = {"probability": "roc_auc", "columns": "accuracy", "sets": "f1_micro", "scores": "roc_auc"}
BESIDE |= dict.fromkeys(("values", "positive", "tables"), "r2")


@each_with(OF_RESAMPLES, DESIGNS)
@any_seed
def test_several_scores_reach_as_far_as_the_ranks_of_their_replicates_say(name, design, seed):
    call, columns = case_of(name, design, seed)
    columns.pop("greater_is_better", None)
    beside = BESIDE.get(call.score.data, "f1_macro")
    metrics = {"own": call.score.metric, "beside": beside}
    if design in ("rows", "groups") and name not in NO_DIRECTION:
        metrics["constant"] = always_half
    method = one_of(("percentile", "t", "basic", "normal"), name, seed)
    options = {**columns, "interval": method, "confidence_level": 0.8, **OPTIONS}
    alone = scored(call.y_true, call.y_pred, metric=metrics, **options)
    joint = scored(call.y_true, call.y_pred, metric=metrics, adjust="max-t", **options)
    replicates = [one.bootstrap_distribution for one in alone.values()]
    for asked in (0.8, 0.6):
        own = level_at_which_all_hold(replicates, asked)
        for key, one in alone.items():
            expected = quiet(one.interval, method, own)
            found = quiet(joint[key].interval, method, asked)
            close([*found], [*expected], 1e-8, 1e-10)
            assert found.confidence_level == asked
    for key, one in joint.items():
        told = [note for note in one.notes if f" {len(joint)} scores hold all at once" in note]
        assert len(told) == 1
        assert not_of_limits(one, told) == not_of_limits(alone[key])
        assert_words_of_baselines(one)
        assert_words_of_baselines(alone[key])
        assert one.confidence_interval == quiet(one.interval, method, 0.8)
        close(one.bootstrap_distribution, alone[key].bootstrap_distribution)
        close(one.estimate, alone[key].estimate)


# ------------------------------------------------------------------ several pairs


@each_with([name for name in OF_RESAMPLES if name not in OF_JUMPS], DESIGNS)
@any_seed
def test_simultaneous_limits_reach_equally_many_errors_of_each_pair(name, design, seed):
    """Of differences whose intervals are normal; about as far as the largest deviation does."""
    call, columns = case_of(name, design, seed)
    systems = {"A": call.y_pred, **{key: call.other() for key in "BCD"}}
    reference = one_of((None, "B", "D"), name, seed)
    options = {"metric": call.score.metric, "interval": "normal", **columns}
    result = compared(call.y_true, systems, **options, reference=reference)
    assert len(result.pairs) == (6 if reference is None else 3)
    reach = []
    for pair in result.pairs:
        if pair.standard_error < 1e-12:
            return
        low, high = pair.simultaneous_interval.uncut
        close(high - pair.difference, pair.difference - low, 1e-6, 1e-9)
        reach.append((high - low) / 2 / pair.standard_error)
        alone = pair.confidence_interval.uncut
        close((alone[1] - alone[0]) / 2, ndtri(0.975) * pair.standard_error, 1e-6, 1e-9)
    close(reach, reach[0], 1e-6)
    if not all(np.isfinite(one.bootstrap_distribution).all() for one in result.systems.values()):
        return
    drawn = [
        np.subtract(*(result.systems[k].bootstrap_distribution for k in (pair.first, pair.second)))
        for pair in result.pairs
    ]
    far = np.array([(one - pair.difference) / one.std(ddof=1)
                    for one, pair in zip(drawn, result.pairs, strict=True)])  # fmt: skip
    expected = max(np.quantile(np.abs(far).max(axis=0), 0.95), 1.96)
    # Of few units the deviations are those of Student's t, which reach as far out at this level;
    # where few of many units move a pair, its own interval is Student's, and not this one.
    freedom = result.systems["A"]._evidence.drawn.degrees_of_freedom
    expected = float(stats.t.ppf(ndtr(expected), freedom))
    assert 0.75 < reach[0] / expected < (2.5 if design == "crossed" else 1.4)


# ------------------------------------------------------------------ verdicts


def quantile_of(pair):
    """Of the normal law, that Tango's limits reach out to."""
    own = ndtri(0.5 + pair.confidence_interval.confidence_level / 2)
    wide = pair._simultaneous_quantile if pair.simultaneous_interval is not None else None
    return own if wide is None else max(own, wide)


def deciding_limits(pair):
    """Limits of the first less the second: Tango's where rows are right or wrong."""
    if pair._discordant is None:
        return [*(pair.simultaneous_interval or pair.confidence_interval)]
    level = 2 * ndtr(quantile_of(pair)) - 1
    return [*inference.tango_interval(*pair._discordant, confidence_level=level)]


def assert_passes_in_four_of_five(pair, half, margin):
    """A margin passes with a power of 80% where both are equal."""
    df = np.inf if pair.degrees_of_freedom is None else pair.degrees_of_freedom
    error = pair.standard_error
    if pair._discordant is not None:
        # As if the rows that tell them apart were split evenly; of as many again, to be whole.
        differ, n = sum(pair._discordant[:2]), pair._discordant[2]
        level = 2 * ndtr(np.sqrt(2) * quantile_of(pair)) - 1
        half = -inference.tango_interval(differ, differ, 2 * n, confidence_level=level).low
        error, df = np.sqrt(differ) / n, np.inf
    elif pair.estimand == "system" and np.isfinite(df):
        error = error * np.sqrt(np.min(pair.n_units) / df)
    if not error > 0 or not np.isfinite(half):
        close(margin, half if error == 0 else np.nan)
    elif df >= 10:
        close(margin, half + stats.t.ppf(0.8, df) * error, 1e-6, 1e-9)
    elif half / error > 30:
        spread = stats.chi2.ppf(0.8, df) / df
        close(margin, np.hypot(half * np.sqrt(spread), ndtri(0.8) * error), 1e-6, 1e-9)
    else:
        # The noncentral t of older releases of scipy has six digits.
        close(stats.nct.cdf(half / error, df, margin / error), 0.2, 1e-5)


def assert_is_judged_by_its_own_limits(pair):
    low, high = sorted(deciding_limits(pair))
    margin_of_two = max(abs(low), abs(high))
    close(pair.equivalence_margin, margin_of_two, 1e-6, 1e-9)
    if pair.greater_is_better is False:
        low, high = -high, -low
    for margin in (0.0, abs(low) * 0.99, abs(low) * 1.01, abs(high) * 0.99, 0.01):
        if pair._comparison.bounds[1] - pair._comparison.bounds[0] <= margin:
            continue
        verdict = pair.verdict(margin)
        outcome = "pass" if low > -margin else "fail" if high < -margin else "inconclusive"
        assert verdict.outcome == outcome
        assert (verdict.passed, verdict.failed) == (outcome == "pass", outcome == "fail")
        close(verdict.smallest_margin, max(0.0, -low), 1e-6, 1e-9)
        close([*verdict.interval], [low, high], 1e-6, 1e-9)
        assert verdict.margin == margin
        assert verdict.statement.startswith(outcome)
        names = [f" {name} " for name in (pair.first, pair.second)]
        places = [f" {verdict.statement} ".find(name) for name in names]
        assert 0 < places[0] < places[1]
    better = -1 if pair.greater_is_better is False else 1
    verdict = pair.verdict(0.0)
    assert_passes_in_four_of_five(pair, better * pair.difference - low, verdict.detectable_margin)
    assert_says_its_numbers(pair, verdict)
    assert_says_its_numbers(pair, pair.verdict(0.01))


def assert_says_its_numbers(pair, verdict):
    text, number = verdict.statement, r"(-?[\d.]*\d)"
    words = rf"difference {number}, .*CI {number} to {number}( .no width.)?[ ,]"
    told = [*re.search(words, text).group(1, 2, 3)]
    expected = [pair.difference, *sorted(deciding_limits(pair))]
    is_better = verdict.interval.low > 0
    assert ("significantly better" in text) == (is_better and verdict.outcome == "pass")
    assert (" pass" in text) == (not is_better)
    if not is_better:
        told += re.search(rf"Margins above {number} pass", text).groups()
        expected.append(verdict.smallest_margin)
    for one, value in zip(told, expected, strict=True):
        assert_is_rounded(one, value)
    assert f"{100 * pair.confidence_interval.confidence_level:g}% CI" in text
    assert ("where smaller is better" in text) == (pair.greater_is_better is False)
    wide = pair.simultaneous_interval
    is_joint = wide is not None and wide.method != pair.confidence_interval.method
    assert ("simultaneous" in text) == is_joint
    assert ("in 80% of cases" in text) == (
        not verdict.passed and not np.isnan(verdict.detectable_margin)
    )
    if "in 80%" in text:
        [told] = re.search(rf"would pass a margin of {number} in", text).groups()
        assert_is_rounded(told, verdict.detectable_margin)
        few = pair.degrees_of_freedom is not None and pair.degrees_of_freedom < 10
        assert ("tell little of it" in text) == (few and pair._discordant is None)
    fewest = np.min(pair.n_units)
    # Where few of few units decide the difference, their number is said instead.
    assert ("such a result is rough" in text) >= (fewest < 10)
    assert ("fewer than 10" in text) <= (fewest < 10)
    assert fewest >= 10 or re.search(rf"Only {fewest} |decides? this difference", text)


def assert_is_rounded(told, value):
    assert abs(float(told) - value) <= 0.5001 * 10.0 ** -len(told.partition(".")[2])


@each_of(FAST)
@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
@any_seed
def test_each_pair_of_several_is_judged_by_its_own_limits(name, adjust, seed):
    design = one_of(DESIGNS, name, seed + len(str(adjust)))
    call, columns = case_of(name, design, seed)
    systems = {"one": call.y_pred, **{key: call.other() for key in ("two", "three")}}
    options = {"metric": call.score.metric, "adjust": adjust, **columns}
    result = compared(call.y_true, systems, **options, n_resamples=39)
    names = [(pair.first, pair.second) for pair in result.pairs]
    assert names == [*itertools.combinations(systems, 2)]
    for pair in result.pairs:
        # Holm's p-values may be above .05 where Bonferroni's interval does not hold 0.
        by_holm = adjust != "holm" or pair.p_value_adjusted <= 0.05
        assert result.is_distinguishable(pair) == (pair.excludes_zero and by_holm)
        assert_is_judged_by_its_own_limits(pair)
        assert_is_judged_by_its_own_limits(pair._mirrored())
        twice = pair._mirrored()._mirrored()
        assert (twice.first, twice.second) == (pair.first, pair.second)
        close(twice.bootstrap_support, pair.bootstrap_support)
        close([*twice._widest_interval], [*pair._widest_interval])
        assert (twice.p_value, twice._discordant) == (pair.p_value, pair._discordant)


def studies():
    """Comparisons of every kind of study, of a score and of a loss."""
    rng = np.random.default_rng(0)
    y, a = rows_of("two", rng, 90)
    b, c = (np.where(rng.random(90) < share, 1 - a, a) for share in (0.15, 0.3))
    systems, groups = {"one": a, "two": b, "three": c}, np.arange(90) // 3
    values = {key: rng.gamma(2.0, size=(5, 90)) * scale
              for key, scale in zip(systems, (1, 1.3, 1.6), strict=True)}  # fmt: skip
    table = {f"set {k}": {key: float(rng.normal(scale)) for key, scale in
                          zip(systems, (0, 0.5, 1), strict=True)} for k in range(24)}  # fmt: skip
    own = {key: slice(0, 90 - 10 * k) for k, key in enumerate(systems)}
    few = {"n_resamples": 99, "random_state": 0}
    found = {}
    for better in (True, False):
        metric = "accuracy" if better else zero_one_loss
        runs = {"metric": "mean", "greater_is_better": better, **few}
        found |= {
            f"unpaired {better}": quiet(
                skboot.compare_systems, {k: y[s] for k, s in own.items()},
                {k: systems[k][s] for k, s in own.items()}, paired=False,
                metric="f1" if better else "mean_absolute_error", **few),
            f"rows {better}": quiet(skboot.compare_systems, y, systems,
                                    metric=metric, **few),
            f"few groups {better}": quiet(skboot.compare_systems, y, systems, groups=groups // 5,
                                          metric=metric, confidence_level=0.9, **few),
            f"few runs {better}": quiet(
                skboot.compare_runs, None, {key: one[:2] for key, one in values.items()},
                interval="welch", confidence_level=0.99, **runs),
            f"tasks {better}": quiet(skboot.compare_systems, y, systems, average_over=groups,
                                     groups=groups, metric=metric, **few),
            f"runs {better}": quiet(skboot.compare_runs, None, values, **runs),
            f"paired runs {better}": quiet(skboot.compare_runs, None, values, paired_runs=True,
                                           interval="welch", adjust="holm", **runs),
            f"across {better}": quiet(skboot.compare_across, table, greater_is_better=better,
                                      **few),
            f"few across {better}": quiet(
                skboot.compare_across, dict([*table.items()][:12]), greater_is_better=better,
                adjust="holm", **few),
        }  # fmt: skip
    return found


@pytest.fixture(scope="module")
def every_study():
    return studies()


KINDS = ("unpaired", "rows", "few groups", "few runs", "tasks", "runs", "paired runs", "across",
         "few across")  # fmt: skip


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_every_study_are_judged_by_their_own_limits(kind, better, every_study):
    for pair in every_study[f"{kind} {better}"].pairs:
        assert pair.greater_is_better == better
        assert_is_judged_by_its_own_limits(pair)
        assert_is_judged_by_its_own_limits(pair._mirrored())


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_systems_is_that_of_their_estimates(kind, better, every_study):
    result = every_study[f"{kind} {better}"]
    estimates = {name: one.estimate for name, one in result.systems.items()}
    order = sorted(estimates, key=lambda name: -estimates[name] if better else estimates[name])
    assert [*result.ranking] == order
    assert result.best == order[0]
    assert result.greater_is_better == better
    told = {name: result.is_distinguishable(result.pair(order[0], name)) for name in order[1:]}
    assert [*result.distinguishable_from_best] == [name for name in order[1:] if told[name]]
    assert [*result.indistinguishable_from_best] == [name for name in order[1:] if not told[name]]
    for first, second in itertools.permutations(estimates, 2):
        pair = result.pair(first, second)
        assert (pair.first, pair.second) == (first, second)
        close(pair.difference, estimates[first] - estimates[second], 1e-9, 1e-12)
        low, high = pair._widest_interval
        assert pair.excludes_zero == (low > 0 or high < 0)
        is_told = pair.excludes_zero and (
            result.adjust != "holm" or pair.p_value_adjusted <= 0.05 + 1e-12
        )
        assert result.is_distinguishable(pair) == is_told
    if result.adjust != "max-t":
        return
    ranks, signs = result.ranks(), {}
    for pair in result.pairs:
        better_of = pair._step_down_sign * (1 if better else -1)
        signs[pair.first, pair.second], signs[pair.second, pair.first] = better_of, -better_of
        if pair.excludes_zero and pair._discordant is None:
            assert pair._step_down_sign == np.sign(pair.difference)
    for name in estimates:
        row = ranks[name]
        assert row.rank == 1 + order.index(name)
        others = [other for other in estimates if other != name]
        assert row.low == 1 + sum(signs[other, name] > 0 for other in others)
        assert row.high == len(estimates) - sum(signs[name, other] > 0 for other in others)
        close(row.estimate, estimates[name])
    for k in range(1, len(estimates) + 1):
        assert [*result.top(k)] == [name for name in order if ranks[name].low <= k]


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_hold_the_numbers_of_pairs_and_systems(kind, better, every_study):
    pytest.importorskip("pandas")
    result = every_study[f"{kind} {better}"]
    table, metrics = result.to_frame(), result.as_metrics()
    fields = ("first", "second", "difference", "p_value", "p_value_adjusted", "standard_error",
              "bootstrap_support")  # fmt: skip
    for pair, row in zip(result.pairs, table.to_dict("records"), strict=True):
        assert [row[name] for name in fields] == [getattr(pair, name) for name in fields]
        assert (row["low"], row["high"]) == tuple(pair.confidence_interval)
        wide = pair.simultaneous_interval
        assert (row["simultaneous_low"], row["simultaneous_high"]) == tuple(wide)
        assert row["is_distinguishable"] == result.is_distinguishable(pair)
        key = f"{pair.first} - {pair.second}/{result.metric}"
        if key in metrics:
            assert metrics[key] == pair.difference
        turned = pair._mirrored()
        if pair.n_runs is not None:
            assert turned.n_runs == pair.n_runs[::-1]
        assert turned.components == pair.components
        assert turned.standard_error == pair.standard_error
        if pair.outperformance is not None:
            close(turned.outperformance.probability, 1 - pair.outperformance.probability)
            assert turned.outperformance.n_pairs == pair.outperformance.n_pairs
    for name, system in result.systems.items():
        own = [value for key, value in metrics.items() if key.startswith(f"{name}/")]
        assert own[:3] == [system.estimate, *system.confidence_interval]
    if result.adjust == "max-t":
        ranks = result.ranks()
        for row in ranks.to_frame().to_dict("records"):
            own = ranks[row.pop("system")]
            assert row == {key: getattr(own, key) for key in row}


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("kind", ["across", "few across", "rows", "tasks"])
def test_the_better_of_two_is_supported_by_the_share_of_resamples(kind, better, every_study):
    result = every_study[f"{kind} {better}"]
    drawn = {name: one.bootstrap_distribution for name, one in result.systems.items()}
    for pair in result.pairs:
        gap = (drawn[pair.first] - drawn[pair.second]) * (1 if better else -1)
        gap = np.where(np.abs(gap) < 1e-12, 0, gap)
        close(pair.bootstrap_support, np.mean(np.sign(gap) + 1) / 2, 0.03)


@each_of(FAST)
@any_seed
def test_a_table_of_scores_holds_their_numbers(name, seed):
    pytest.importorskip("pandas")
    call, columns = case_of(name, one_of(DESIGNS[:4], name, seed), seed)
    columns.pop("greater_is_better", None)
    key = columns.get("groups", np.arange(call.n))
    by = np.array(["odd", "even"])[key % 2]
    result = scored(call.y_true, call.y_pred, metric=call.score.metric, by=by, **columns)
    table = result.to_frame().set_index("name")
    for part, one in result.items():
        [row] = one.to_frame().to_dict("records")
        beside = table.loc[part]
        for found in (row, beside):
            shown = [found["estimate"], found["low"], found["high"], found["standard_error"]]
            own = [one.estimate, *one.confidence_interval, one.standard_error]
            np.testing.assert_array_equal(shown, own)
            assert found["method"] == one.confidence_interval.method
            assert (found["n_units"], found["n_samples"]) == (one.n_units, one.n_samples)
        np.testing.assert_equal(
            [*one.as_metrics().values()], [one.estimate, *one.confidence_interval]
        )
        defined = one.bootstrap_distribution[np.isfinite(one.bootstrap_distribution)]
        if len(defined):
            close(one.bias, defined.mean() - one.estimate, 1e-9)
            if varies_with_resamples(one):
                close(one.standard_error, defined.std(ddof=1))
        assert one.n_undefined == len(one.bootstrap_distribution) - len(defined)
        assert one.n_resamples == len(one.bootstrap_distribution)


def test_differences_of_few_values_are_those_of_all_numbers_to_the_bit():
    rng = np.random.default_rng(0)
    # Two systems tie, and differ on resamples by rounding alone.
    n_right = rng.binomial(90, rng.uniform(0.6, 0.9, 12)[:, None], (12, 400))
    replicates = n_right / 90
    replicates[3] = replicates[4] + 1e-16 * rng.integers(0, 2, 400)
    estimates_of_systems = replicates[:, 0]
    first, second = np.triu_indices(12, 1)
    estimates = estimates_of_systems[first] - estimates_of_systems[second]
    table = pairs._TabledDifferences(replicates, np.unique(replicates))
    ordered = table.ordered(estimates, first, second)
    expected = np.sort(
        pairs._replicated_differences(estimates, replicates[first], replicates[second]), axis=1
    )
    assert np.array_equal(ordered, expected)
    # Scores of 0 leave unclear what of a difference is rounding: the numbers decide.
    replicates[5, :7] = 0.0
    table = pairs._TabledDifferences(replicates, np.unique(replicates))
    assert table.ordered(estimates * (1 + 1e-13), first, second) is None
