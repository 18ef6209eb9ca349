"""What is said and made at the edges: no spread, no value, too few resamples, few errors in runs.

Exact: closed forms of rows without an error, refusals by design and metric, and the intervals of
runs widened to Wilson's by the parts that their own t interval has.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from identity_cases import close, quiet, scored, told
from scipy.special import ndtri, stdtrit
from sklearn import metrics as sk

import skboot
from skboot import inference
from skboot import metrics as own

pytestmark = pytest.mark.identity

K = np.arange(60)
Y = K % 2
SCORE = skboot.bootstrap_score


def wilson(share, n, quantile):
    square = quantile**2 / n
    half = quantile * np.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    centre = (share + square / 2) / (1 + square)
    return np.clip([centre - half, centre + half], 0, 1)


# ------------------------------------------------------------------ without spread


@pytest.mark.parametrize(("n", "turned"), [(7, False), (12, True)])
@pytest.mark.parametrize("metric", ["roc_auc", "neg"])
def test_a_perfect_ranking_is_no_error_on_the_smaller_class(n, turned, metric):
    y = np.r_[np.ones(n, int), np.zeros(30, int)]
    scores = np.arange(n + 30)[::-1] * (-1.0 if turned else 1.0)
    scorer = sk.make_scorer(sk.roc_auc_score, greater_is_better=False)
    metric = scorer if metric == "neg" else metric
    result, notes, raised = told(SCORE, y, scores, metric=metric)
    low, high = wilson(0.0 if turned else 1.0, n, ndtri(0.975))
    expected = [low, high] if metric == "roc_auc" else [-high, -low]
    close([*result.confidence_interval], expected)
    assert result.confidence_interval.method == "wilson"
    text = (
        "No row is out of place, and no resample differs: score interval on the smaller class "
        f"({n} rows)"
    )
    assert text in notes
    assert text not in raised


def test_groups_without_an_error_say_so():
    groups = K % 12
    zeros, ones = np.zeros(60), np.ones(60)
    for y_true, y_pred, metric, text, is_warning, limits in (
        (Y, Y, "accuracy", "No group shows any error", False, None),
        (ones, ones, "mean_absolute_error", "No group shows any loss", True, (0.0, np.nan)),
        (ones, ones, "neg_mean_absolute_error", "No group shows any loss", True, (np.nan, 0.0)),
        (Y, 1 - Y, "accuracy", "No group shows any error", False, None),
        (None, zeros + 2.5, "mean", "The interval has zero width", False, (2.5, 2.5)),
    ):
        result, notes, raised = told(SCORE, y_true, y_pred, metric=metric, groups=groups)
        assert text in notes or text in raised, (metric, notes)
        assert (text in raised) == is_warning, (metric, raised)
        if limits is not None:
            close([*result.confidence_interval], limits)
    side = {"mean_absolute_error": "upper", "neg_mean_absolute_error": "lower"}
    for metric, word in side.items():
        notes = told(SCORE, ones, ones, metric=metric, groups=groups)[1]
        assert f"the {word} limit is undefined, since nothing in these 12 groups" in notes
    # Blocks of rows in time are units like groups.
    notes = told(SCORE, Y, Y, metric="accuracy", block_length=5)[1]
    assert "No block shows any error" in notes
    assert "12 blocks" in notes


def test_groups_of_equal_scores_are_wilsons_rows():
    groups = K // 4
    wrong = K % 4 == 1
    result, notes, _ = told(SCORE, Y, np.where(wrong, 1 - Y, Y), metric="accuracy", groups=groups)
    assert "Every group has the same score, so resampling cannot show any spread" in notes
    t = stdtrit(14, 0.975)
    close([*result.confidence_interval], wilson(0.75, 60 * (ndtri(0.975) / t) ** 2, ndtri(0.975)))


def test_a_score_without_a_value_says_so():
    def never(y_true, y_pred):
        return np.nan

    result, notes, _ = told(SCORE, Y, Y, metric=never)
    assert "The metric is undefined on these data." in notes
    assert np.isnan([*result.confidence_interval]).all()
    assert result.n_undefined == 39

    def on_data_alone(y_true, y_pred):
        return 0.5 if np.array_equal(y_true, Y) else np.nan

    result, notes, _ = told(SCORE, Y, Y, metric=on_data_alone)
    assert "The limits are undefined: fewer than two resamples gave a value." in notes
    assert np.isnan([*result.confidence_interval]).all()


@pytest.mark.parametrize(("n", "level"), [(18, 0.9), (19, 0.9), (38, 0.95), (39, 0.95)])
def test_resamples_that_are_too_few_for_a_level_are_told(n, level):
    values = np.random.default_rng(0).normal(size=60)
    options = {"metric": "mean", "interval": "percentile", "n_resamples": n}
    result, *_, raised = told(SCORE, None, values, confidence_level=level, **options)
    tail = (1 - level) / 2
    needed = round(2 / (1 - level)) - 1
    text = f"{n} resamples are too few for a quantile with {100 * tail:.3g}% beyond it"
    advice = f"Use n_resamples={needed} or more."
    assert (text in raised) == (advice in raised) == (n < needed)
    drawn = result.bootstrap_distribution
    close([*result.confidence_interval], [drawn.min(), drawn.max()])
    _, *_, raised = told(SCORE, None, values, confidence_level=1 - 1e-8, **options)
    assert "No practical number of resamples is enough" in raised
    _, *_, raised = told(SCORE, None, values, confidence_level=0.999, **options)
    assert "Use n_resamples=1999 or more." in raised


def test_an_interval_without_the_estimate_says_how_biased_it_is():
    values = np.random.default_rng(0).normal(size=60)
    drawn = np.random.default_rng(1).integers(0, 60, (400, 60))
    for side in (1, -1):
        order = np.argsort(side * values[drawn].mean(axis=1))
        for few, is_told in ((150, True), (399, False)):
            rows = drawn[order[-few:]]
            options = {"metric": "mean", "interval": "percentile", "resamples": rows}
            result, notes, _ = told(SCORE, None, values, **options, n_resamples=1999)
            bias, estimate = values[rows].mean() - values.mean(), values.mean()
            text = (
                f"The interval does not contain the estimate, {estimate:.4g}. Its bias is "
                f"{bias:+.3g} by the resamples; corrected for that it is {estimate - bias:.4g}."
            )
            low, high = result.confidence_interval
            assert is_told == (not low <= estimate <= high)
            assert (text in notes) == is_told


# ------------------------------------------------------------------ refusals


def test_an_interval_that_data_do_not_have_is_refused_with_the_reason():
    rng = np.random.default_rng(0)
    values = rng.normal(size=60) + 4
    scores = rng.normal(size=60) + Y
    prob = 1 / (1 + np.exp(-scores))
    pairs = np.column_stack([K % 10, 100 + K // 6])
    alone = {"groups": K % 12}
    ece = own.expected_calibration_error
    for method, y_true, y_pred, options, words in (
        ("bca", None, values, {"metric": "mean", "groups": pairs}, "no single unit can be left"),
        ("studentized", None, values, {"metric": "mean", "groups": pairs}, "crossed groups"),
        ("studentized", values, values[::-1], {"metric": "median_absolute_error"}, "influence"),
        ("two-way", None, values, {"metric": "mean"}, "is for crossed groups"),
        ("two-way", values, values[::-1], {"metric": "median_absolute_error", "groups": pairs},
         "needs the metric without each pair"),
        ("bins", None, values, {"metric": "mean"}, "is for the expected calibration error"),
        ("bins", Y, prob, {"metric": ece, "block_length": 5}, "knows rows, groups and crossed"),
        ("percentile", Y, prob, {"metric": ece}, "is not for a sum of distances"),
        ("wilson", None, values, {"metric": "mean"}, "needs 0/1 values"),
        ("wilson", Y, Y[::-1], {"metric": "accuracy", **alone}, "needs 0/1 values"),
        ("wald", Y, Y[::-1], {"metric": "accuracy", "strata": K % 3}, "needs 0/1 values"),
        ("delong", Y, scores, {"metric": "roc_auc", **alone}, "needs the area"),
        ("delong", Y, scores, {"metric": "average_precision"}, "needs the area"),
        ("max-t", None, values, {"metric": "mean"}, "interval"),
    ):  # fmt: skip
        options = {**options, "n_resamples": 9, "random_state": 0}
        with pytest.raises(ValueError, match=words):
            quiet(SCORE, y_true, y_pred, interval=method, **options)
        if method != "max-t" and "block_length" not in options:
            result = quiet(SCORE, y_true, y_pred, **options)
            with pytest.raises(ValueError, match=words):
                quiet(result.interval, method)


def test_an_interval_that_was_not_computed_says_how_it_is():
    result = scored(Y, Y[::-1], metric=lambda t, p: np.mean(t == p), interval="percentile")
    with pytest.raises(ValueError, match=r"Run again with \s*interval='bca'"):
        quiet(result.interval, "bca")


def test_an_interval_is_a_constant_pair_with_a_level_and_a_method():
    one = inference.proportion_interval(18, 20, confidence_level=0.9)
    low, high = one
    assert (one.low, one.high) == (low, high)
    assert one == (low, high)
    assert one != inference.proportion_interval(18, 20)
    assert one != inference.proportion_interval(18, 20, confidence_level=0.9, method="wald")
    assert one == pickle.loads(pickle.dumps(one))
    assert one != (low, 2.0)
    assert hash(one) == hash((low, high))
    assert f"{one:.3f}" == f"{low:.3f} to {high:.3f}"
    assert one.to_dict() == {"low": low, "high": high, "confidence_level": 0.9, "method": "wilson"}
    assert [*one._with_limits(0.1, 0.2)] == [0.1, 0.2]
    assert one._with_limits(0.1, 0.2).method == "wilson"
    assert [*one._within(0.8, 0.85)] == [0.8, 0.85]
    assert [*one._within(2.0, 3.0)] == [2.0, 2.0]
    assert all(str(limit) in repr(one) for limit in one)
    with pytest.raises(AttributeError, match="cannot be changed"):
        one.low = 0.0


# ------------------------------------------------------------------ runs with few errors


def runs_with(n_wrong, n_runs=4, n=40):
    rng = np.random.default_rng(n_wrong)
    y = np.arange(n) % 2
    runs = []
    for k in range(n_runs):
        wrong = rng.choice(n, n_wrong[k % len(n_wrong)], replace=False)
        runs.append(np.where(np.isin(np.arange(n), wrong), 1 - y, y))
    return y, runs


@pytest.mark.parametrize("n_wrong", [(1, 2), (8, 10), (9, 10), (10, 11), (33, 30), (0, 0)])
@pytest.mark.parametrize("metric", ["accuracy", "zero_one"])
@pytest.mark.parametrize("estimand", ["method", "next_run"])
def test_runs_of_few_errors_have_an_interval_as_wide_as_wilsons(n_wrong, metric, estimand):
    n = 40
    y, runs = runs_with(n_wrong)
    metric = sk.zero_one_loss if metric == "zero_one" else metric
    result, notes, raised = told(skboot.bootstrap_runs, y, runs, metric=metric, estimand=estimand)
    parts = getattr(result._basis.run_evidence, estimand)
    centre, error, df, sources = parts
    close(error**2, sum(sources))
    for level in (0.95, 0.8):
        t = stdtrit(df, 0.5 + level / 2)
        plain = np.array([centre - t * error, centre + t * error])
        close([*quiet(result.interval, "components", level)], np.clip(plain, 0, 1))
        few = n * min(centre, 1 - centre) < 10
        expected = plain
        if few:
            most = n / 2 if estimand == "next_run" else n
            binomial = centre * (1 - centre)
            carried = np.clip(binomial / error**2, 1, most) if binomial > 0 else most
            low, high = wilson(centre, carried, t)
            expected = [min(low, plain[0]), max(high, plain[1])]
        close([*quiet(result.interval, None, level)], np.clip(expected, 0, 1))
    text = "Few errors or hits per run: the interval is widened to the Wilson interval of the"
    assert (text in notes) == few
    assert text not in raised
    cut = "A limit beyond the range of the metric was cut at the range."
    t = stdtrit(df, 0.975)
    assert (cut in notes) == (centre - t * error < 0 or centre + t * error > 1)


@pytest.mark.parametrize("n_wrong", [(0, 0), (1, 0), (1, 2), (9, 14)])
def test_runs_of_right_and_wrong_rows_have_at_least_the_variance_of_wilson(n_wrong):
    """Score limits of p have the variance (p (1 - p) / n + z^2 / 4 n^2) / (1 + z^2 / n)^2."""
    n, s = 40, 4
    y, runs = runs_with(n_wrong, s, n)
    right = np.array([run == y for run in runs], dtype=float)
    square = 1.96**2 / n

    def floor(variance):
        return max(variance, (variance + square / (4 * n)) / (1 + square) ** 2)

    single, of_mean = right.var(axis=1, ddof=1).mean() / n, right.mean(axis=0).var(ddof=1) / n
    c = max(s / (s - 1) * (single - of_mean), 0)
    a = max(right.mean(axis=1).var(ddof=1) - c, 0)
    a = a if a > 1e-12 else 0.0
    test = max(floor(of_mean) - c / s, 0)
    result = quiet(skboot.bootstrap_runs, y, runs, metric="accuracy", n_resamples=9)
    components = result.variance_components
    close([components["seed"], components["test"]], [a, test * n], 1e-7, 1e-12)
    close(components["interaction"], c * n, 1e-7, 1e-12)
    close(result.standard_error**2, a / s + test + c / s, 1e-7)
    following = quiet(skboot.bootstrap_runs, y, runs, metric="accuracy", n_resamples=9,
                      estimand="next_run")  # fmt: skip
    more = a * (1 + 1 / s) + test + c / s + floor(single)
    close(following.standard_error**2, more, 1e-7)


def test_the_pool_of_runs_has_the_error_of_its_batches():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(5, 30)) + rng.normal(size=(5, 1))
    pool = quiet(skboot.bootstrap_runs, None, values, metric="mean", estimand="pooled",
                 n_resamples=400, random_state=0, confidence_level=0.8)  # fmt: skip
    drawn = pool.bootstrap_distribution.reshape(5, -1)
    limits = [np.sort(part.ravel()) for part in np.array_split(drawn, 20, axis=1)]
    # A hundred replicates in each batch, of which ranks 10.1 and 90.9 are between two.
    share = (ndtri(0.1) - ndtri(10 / 101)) / (ndtri(11 / 101) - ndtri(10 / 101))
    ends = np.array([
        [own[9] + share * (own[10] - own[9]), own[90] - share * (own[90] - own[89])]
        for own in limits
    ])  # fmt: skip
    close([*pool.monte_carlo_error], ends.std(axis=0, ddof=1) / np.sqrt(20), 1e-7)
    assert pool.confidence_interval.method == "percentile"


def test_limits_of_runs_vary_as_the_variance_of_test_resamples_does():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    runs = [y + rng.normal(size=60) for _ in range(4)]
    for estimand in ("method", "next_run"):
        result = quiet(skboot.bootstrap_runs, y, runs, metric="roc_auc", estimand=estimand,
                       n_resamples=99, random_state=0)  # fmt: skip
        _, error, df, sources = getattr(result._basis.run_evidence, estimand)
        half = stdtrit(df, 0.975) * error
        share = (sources.test + sources.interaction) / error**2
        expected = half * share / np.sqrt(2 * 99)
        [low, high] = result.interval("components")
        if result.confidence_interval == (low, high):
            close([*result.monte_carlo_error], [expected] * 2, 1e-7)
    values = rng.normal(size=(4, 30))
    exact = quiet(skboot.bootstrap_runs, None, values, metric="mean", n_resamples=99)
    assert [*exact.monte_carlo_error] == [0.0, 0.0]


# ------------------------------------------------------------------ how often a method is better


@pytest.mark.parametrize(("n_pairs", "share"), [(28, 0.5), (29, 1.0), (90, 0.6), (29, 0.66)])
def test_a_share_of_pairs_is_judged_by_its_interval(n_pairs, share):
    wins = np.arange(n_pairs) < round(share * n_pairs)
    ties = np.arange(n_pairs) == n_pairs - 1
    first = np.where(wins, 1.0, -1.0) * (~ties if share < 1 else 1.0)
    rows = np.linspace(-1, 1, 4)
    systems = {"A": rows + first[:, None], "B": np.tile(rows, (n_pairs, 1))}
    options = {"metric": "mean", "paired_runs": True, "n_resamples": 199}
    result, notes, _ = told(skboot.compare_runs, None, systems, greater_is_better=True, **options)
    [pair] = result.pairs
    found = pair.outperformance
    known = np.sign(first)
    close(found.probability, np.mean((known + 1) / 2))
    assert found.n_pairs == n_pairs
    few = f"P(A > B) is estimated from {n_pairs} pairs of runs: 29 are needed to detect 0.75"
    assert (few in notes) == (n_pairs < 29)
    if share == 1.0:
        close([found.low, found.high], wilson(1.0, n_pairs, ndtri(0.975)))
    else:
        error = np.std((known + 1) / 2) / np.sqrt(n_pairs)
        limits = np.array([found.low, found.high])
        close(limits, found.probability + 1.96 * error * np.array([-1, 1]), atol=1.2 * error)
    for one, low, high in ((found, found.low, found.high),
                           (found._mirrored(), 1 - found.high, 1 - found.low)):  # fmt: skip
        assert one.is_significant == (low > 0.5 or high < 0.5)
        if not one.is_significant:
            assert one.verdict == "not significant"
        elif max(high, 1 - low) <= 0.75:
            assert one.verdict == "significant, not meaningful"
        else:
            assert one.verdict == "significant and meaningful"


# ------------------------------------------------------------------ words


WORDS = {
    "wald": "Wald interval",
    "wilson": "Wilson interval",
    "clopper-pearson": "Clopper-Pearson interval",
    "delong": "DeLong interval",
    "percentile": "percentile bootstrap interval",
    "expanded": "expanded percentile bootstrap interval",
    "basic": "basic bootstrap interval",
    "normal": "normal bootstrap interval",
    "t": "t interval with bootstrap standard error",
    "bias-corrected": "t interval about the bias-corrected estimate",
    "jackknife": "t interval about the jackknife's estimate",
    "studentized": "bootstrap-t interval",
    "bca": "BCa bootstrap interval",
}


def test_each_interval_is_named_and_says_whether_resamples_made_it():
    scores = np.random.default_rng(0).normal(size=60) + Y
    for k, (method, words) in enumerate(WORDS.items()):
        metric, y_pred = ("roc_auc", scores) if method == "delong" else ("accuracy", Y[::-1] * Y)
        result = scored(Y, y_pred, metric=metric, interval=method)
        assert f"({words})" in result.summary()
        for line in ("bias", "resampled", "units"):
            assert (f"\n  {line} " in result.summary()) == ((k > 3) == (line != "units"))
        assert ("60 rows resampled" in result.claim()) == (k > 3)
        assert (result.monte_carlo_error.low == 0) == (k < 4)


# ------------------------------------------------------------------ subgroups without a class


def test_subgroups_that_lack_a_class_are_scored_by_the_labels_of_all_rows():
    rng = np.random.default_rng(0)
    y, by = K % 3, np.where(K < 30, "a", "b")
    y = np.where((by == "a") & (y == 2), 0, y)
    said = np.where(rng.random(60) < 0.3, rng.integers(0, 2, 60), y)
    said = np.where((by == "a") & (said == 2), 1, said)
    prob = 0.6 * np.eye(3)[y] + 0.4 * rng.dirichlet(np.ones(3), 60)
    costs = [[0.0, 1.0, 5.0], [2.0, 0.0, 3.0], [4.0, 6.0, 0.0]]
    every, left_out = [0, 1, 2], []
    for metric, y_pred, plain in (
        (partial(own.expected_cost, costs=costs), said,
         partial(own.expected_cost, costs=costs, labels=every)),
        (partial(own.expected_cost, costs=costs, relative=True), said,
         partial(own.expected_cost, costs=costs, labels=every, relative=True)),
        ("log_loss", prob, partial(sk.log_loss, labels=every)),
        ("brier_score", prob, partial(own.brier_score, labels=every)),
        (partial(own.cross_entropy, relative=True), prob,
         partial(own.cross_entropy, labels=every, relative=True)),
        ("f1_macro", said, partial(sk.f1_score, average="macro")),
        ("precision_weighted", said, partial(sk.precision_score, average="weighted")),
        ("recall_micro", said, partial(sk.recall_score, average="micro")),
        (partial(sk.recall_score, average="macro", labels=[0, 1]), said,
         partial(sk.recall_score, average="macro", labels=[0, 1])),
        (partial(sk.jaccard_score, average="micro", labels=[1]), said,
         partial(sk.jaccard_score, average="micro", labels=[1])),
        ("balanced_accuracy", said, sk.balanced_accuracy_score),
        ("matthews_corrcoef", said, sk.matthews_corrcoef),
        (partial(sk.cohen_kappa_score, weights="quadratic"), said,
         partial(sk.cohen_kappa_score, weights="quadratic", labels=every)),
        (partial(sk.top_k_accuracy_score, k=2), prob,
         partial(sk.top_k_accuracy_score, k=2, labels=every)),
    ):  # fmt: skip
        result = scored(y, y_pred, metric=metric, by=by, n_resamples=9)
        expected = [plain(y[by == part], y_pred[by == part]) for part in "ab"]
        close([result[part].estimate for part in "ab"], expected, what=metric)
        if any("fewer than 10 rows of a class" in note for note in result["gap"].notes):
            assert np.isnan(result["gap"].estimate)
            left_out.append(metric)
        else:
            close(result["gap"].estimate, abs(expected[0] - expected[1]), what=metric)
    assert len(left_out) < 8


@pytest.mark.parametrize("function", [own.sensitivity, own.specificity, own.ppv, own.npv,
                                      sk.precision_score, sk.recall_score, sk.jaccard_score,
                                      sk.f1_score])  # fmt: skip
@pytest.mark.parametrize("positive", ["ant", "bee"])
def test_gaps_of_a_ratio_are_of_the_class_that_is_named(function, positive):
    rng = np.random.default_rng(5)
    names = np.array(["ant", "bee"])
    y, by = names[rng.integers(0, 2, 90)], np.arange(90) % 3
    said = np.where(rng.random(90) < 0.1 + 0.1 * by, names[rng.integers(0, 2, 90)], y)
    result = scored(y, said, metric=function, pos_label=positive, by=by, n_resamples=9)
    parts = [function(y[by == k], said[by == k], pos_label=positive) for k in range(3)]
    close([result[k].estimate for k in range(3)], parts)
    close(result["gap"].estimate, max(parts) - min(parts))
    systems = {"A": said, "B": y}
    paired = quiet(skboot.compare_systems, y, systems, metric=function, pos_label=positive, by=by,
                   n_resamples=9)  # fmt: skip
    for k in range(3):
        close(paired[k].pairs[0].difference, parts[k] - 1.0)
