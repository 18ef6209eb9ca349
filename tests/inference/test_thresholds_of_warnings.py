"""What a score is told with: each warning on both sides of its threshold, and each choice by rule.

The thresholds are those of the documentation. A warning is a note and is raised; a choice is a
note alone. The choices of "auto" follow from what is counted here: hits, errors, groups, members,
and the bias, skewness and spread of given resamples.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from identity_cases import quiet, told
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}

# ------------------------------------------------------------------ warnings of few


def mean_of(n, repeats=1, **columns):
    values = np.random.default_rng(n).normal(size=n * repeats) + 5
    return None, values, {"metric": "mean", **columns}


def of_groups(n):
    return mean_of(n, 3, groups=np.arange(3 * n) % n)


def of_tasks(n, grouped=1):
    tasks = np.arange(12 * n) % n
    return mean_of(n, 12, average_over=tasks, groups=None if grouped is None else tasks // grouped)


def of_groups_of_tasks(n):
    tasks = np.arange(12 * n) % (2 * n)
    return mean_of(n, 12, average_over=tasks, groups=tasks % n)


def of_rows_of_a_task(n):
    return mean_of(n + 100, average_over=np.r_[np.zeros(n, int), 1 + np.arange(100) % 9])


def crossed(n, other, same=False):
    k = np.arange(4 * n)
    first, second = k % n, (k // n * 7 + k) % other
    if same:
        second = (first + 1 + k // n) % n
    groups = skboot.Trials(first, second) if same else skboot.Crossed(first, second + 1000)
    return mean_of(n, 4, groups=groups)


def ranks(n, metric="roc_auc", other=60):
    y = np.r_[np.ones(n, int), np.zeros(other, int)]
    return y, np.random.default_rng(3).normal(size=n + other) + y, {"metric": metric}


def classes(*sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    wrong = np.arange(len(y)) % 3 == 1
    return y, np.where(wrong, (y + 1) % len(sizes), y), {"metric": "balanced_accuracy"}


FEW = "were resampled (fewer than {t})"
ONE_SIDE = "95% intervals covered 91 to 99%"
CAUTIONS = {
    "groups": (20, of_groups, "Only {n} groups " + FEW),
    "blocks": (25, lambda n: mean_of(n, 3, block_length=3), "Only {n} blocks " + FEW),
    "fixed tasks": (10, partial(of_tasks, grouped=None), "Only {n} tasks (fewer than {t}) are ave"),
    "drawn tasks": (10, of_tasks, "Only {n} tasks " + FEW),
    "groups of tasks": (10, of_groups_of_tasks, "Only {n} groups of tasks " + FEW),
    "members": (15, lambda n: crossed(n, 22), "Only {n} members were resampled on one side"),
    "other members": (15, lambda n: crossed(22, n), "Only {n} members were resampled on one side"),
    "population": (15, lambda n: crossed(n, n, True), "Only {n} members " + FEW),
    "40 members": (40, lambda n: crossed(n, 45), "fewer than {t} members on one side, " + ONE_SIDE),
    "40 of one": (40, lambda n: crossed(n, n, True), "fewer than {t} members of one population, 9"),
    "ranks": (50, ranks, "The {n} rows of the smaller class decide this score (fewer than {t})"),
    "precisions": (20, partial(ranks, metric="average_precision"),
                   "The {n} rows of the smaller class decide this score (fewer than {t})"),
    "classes": (8, lambda n: classes(n, n, n), "About {n} rows of each class decide this score"),
    "one class": (8, lambda n: classes(300, 300, n), "About {n} rows of each class decide this"),
    "two classes": (7, lambda n: classes(16, n, n), "About 7 rows of each class decide this"),
}  # fmt: skip


@pytest.mark.parametrize("name", CAUTIONS)
def test_fewer_units_than_an_interval_needs_are_told_and_as_many_are_not(name):
    least, make, words = CAUTIONS[name]
    for n in (least - 1, least):
        y_true, y_pred, options = make(n)
        _, notes, raised = told(skboot.bootstrap_score, y_true, y_pred, **options)
        text = words.format(n=n, t=least)
        assert (text in notes) == (text in raised) == (n < least), (n, notes)
        # Groups are looked at in each run.
        if name not in ("wrong groups", "right groups"):
            runs = [y_pred, y_pred[::-1]]
            _, notes, raised = told(skboot.bootstrap_runs, y_true, runs, **options)
            assert (text in notes) == (text in raised) == (n < least), (n, notes)


@pytest.mark.parametrize("n", [9, 10])
def test_rows_of_a_small_task_are_told_without_a_warning(n):
    _, values, options = of_rows_of_a_task(n)
    _, notes, raised = told(skboot.bootstrap_score, None, values, **options)
    text = "1 of 10 tasks have fewer than 10 rows"
    assert (text in notes) == (n < 10)
    assert text not in raised


@pytest.mark.parametrize("n", [20, 60, 143, 150, 400])
@pytest.mark.parametrize("heavy", [0.5, 1.0, 1.5])
def test_few_rows_that_decide_a_loss_are_told_with_their_number(n, heavy):
    losses = np.random.default_rng([n, int(2 * heavy)]).lognormal(0, heavy, size=n)
    _, notes, raised = told(skboot.bootstrap_score, None, losses, metric="mean")
    v = losses - losses.mean()
    number, few = np.sum(v**2) ** 2 / np.sum(v**4), min(max(n / 20, 5), 15)
    enough = np.ceil(few)
    decide = f"About {min(round(number), enough - 1):.0f} of the {n} rows decide this score"
    text = f"{decide} (fewer than {enough:.0f})"
    assert (text in notes) == (text in raised) == (number < few)


@pytest.mark.parametrize("turned", [False, True])
def test_an_area_near_its_end_is_told(turned):
    for n_wrong in (71, 73):
        scores = np.r_[np.arange(60) + 100.0, np.arange(60)]
        scores[0], scores[1] = 59.5 - 36, 59.5 - (n_wrong - 36)
        y = np.r_[np.ones(60, int), np.zeros(60, int)]
        scores = -scores if turned else scores
        result, notes, raised = told(skboot.bootstrap_score, y, scores, metric="roc_auc")
        area = max(result.estimate, 1 - result.estimate)
        assert abs(area - (1 - n_wrong / 3600)) < 1e-9
        text = "of the 120 rows decide this score (fewer than 8)"
        assert (text in notes) == (text in raised) == (result.n_deciding < 8)


def test_kinds_of_metrics_have_warnings_of_their_own():
    rng = np.random.default_rng(0)
    y, scores, _ = ranks(60)
    prob = 1 / (1 + np.exp(-scores))
    values = rng.normal(size=60).round() + 5
    off = values + (rng.random(60) < 0.4)
    cost = {"priors": [0.5, 0.5]}
    ece = {"metric": own.expected_calibration_error}
    tasks = {"average_over": np.arange(120) % 3}
    chosen, only = "The best threshold was chosen on these rows", "All errors of these rows are 0"
    distances, score = "This metric sums distances", skboot.bootstrap_score
    for text, is_told, function, *arguments, options in (
        (chosen, True, score, y, scores, {"metric": partial(own.minimum_detection_cost, **cost)}),
        (chosen, False, score, y, scores, {"metric": partial(own.actual_detection_cost, **cost)}),
        (only, True, score, values, off, {"metric": "mean_absolute_error"}),
        (only, False, score, values, off + (off == 6), {"metric": "mean_absolute_error"}),
        (only, False, score, y, y[::-1], {"metric": sk.zero_one_loss}),
        (distances, False, score, y, prob, ece),
        (distances, True, score, y, prob, {**ece, **tasks}),
        (distances, True, skboot.bootstrap_runs, y, [prob, prob**1.1], ece),
        (distances, True, skboot.compare_systems, y, {"A": prob, "B": prob**1.1}, ece),
    ):
        _, notes, raised = told(function, *arguments, **options)
        assert (text in notes) == (text in raised) == is_told, (text, options)


# ------------------------------------------------------------------ decisions for scores


def test_labels_that_do_not_meet_are_told():
    y = np.arange(100) % 3
    half = np.where(np.arange(100) < 50, y, y + 3)
    coded = np.array(["a", "b", "c"])[y]
    for truth, said, options, share in (
        (y, y + 10, {}, 100),
        (coded, np.char.upper(coded), {}, 100),
        (y, np.where(np.arange(100) < 40, y, y + 3), {}, 60),
        (y, half, {}, None),
        (y, np.where(np.arange(100) < 95, y, 7), {}, None),
        (y, (y + 1) % 3, {}, None),
        (np.where(y == 2, 5, y), y, {}, 33),
        (np.repeat(np.arange(50), 2), np.repeat(np.arange(50), 2)[::-1] + 1, {}, None),
    ):
        raised = told(skboot.bootstrap_score, truth, said, metric="accuracy", **options)[2]
        text = f"{share}% of y_pred are labels that do not occur in y_true"
        assert ("labels that do not occur in y_true" in raised) == (share is not None), (
            share,
            raised,
        )
        assert share is None or text in raised
        # Clusters have no names.
        assert "not occur" not in told(skboot.bootstrap_score, truth, said, metric=sk.rand_score)[2]


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", own.equal_error_rate])
def test_decisions_in_the_place_of_scores_are_told(metric):
    y, scores, _ = ranks(60)
    text = "holds two distinct values, as decisions do"
    for given, n, is_told in (
        (scores > 0.5, 120, True), (scores, 120, False), (np.zeros(120), 120, False),
        (scores > 0.5, 9, False), (scores > 0.5, 10, True),
        (np.where(np.arange(120) == 119, 2.0, scores > 0.5), 120, False),
    ):  # fmt: skip
        rows = np.r_[: n // 2, 120 - (n - n // 2) : 120]
        given = np.asarray(given, dtype=float)[rows]
        given[0], given[-1] = given.max(), given.min()
        raised = told(skboot.bootstrap_score, y[rows], given, metric=metric)[2]
        assert (text in raised) == is_told, (n, raised)


def test_truth_and_scores_that_are_exchanged_are_refused():
    y, scores, _ = ranks(60)
    for metric in ("roc_auc", "log_loss", "accuracy"):
        with pytest.raises(ValueError, match="seem to be swapped"):
            quiet(skboot.bootstrap_score, 1 / (1 + np.exp(-scores)), y, metric=metric, **OPTIONS)
    for metric in ("r2", "mean_absolute_error"):
        quiet(skboot.bootstrap_score, scores, y, metric=metric, **OPTIONS)


# ------------------------------------------------------------------ choices


def chosen(y_true, y_pred, **options):
    result, notes, raised = told(skboot.bootstrap_score, y_true, y_pred, **options)
    return result.confidence_interval.method, notes, raised


@pytest.mark.parametrize("count", ["hits", "errors"])
@pytest.mark.parametrize("function", [sk.precision_score, sk.recall_score, sk.jaccard_score,
                                      sk.f1_score, own.specificity])  # fmt: skip
def test_a_ratio_that_few_rows_decide_is_of_smoothed_tables(function, count):
    for n in (9, 300):
        hits, errors = (n, 300) if count == "hits" else (300, n)
        pairs = {
            "precision_score": [(1, 1, hits), (0, 1, errors), (1, 0, 40), (0, 0, 40)],
            "recall_score": [(1, 1, hits), (1, 0, errors), (0, 1, 40), (0, 0, 40)],
            "jaccard_score": [(1, 1, hits), (0, 1, errors - 4), (1, 0, 4), (0, 0, 40)],
            "f1_score": [(1, 1, hits), (0, 1, errors - 4), (1, 0, 4), (0, 0, 40)],
            "specificity": [(0, 0, hits), (0, 1, errors), (1, 0, 40), (1, 1, 40)],
        }[function.__name__]
        truth = np.concatenate([np.full(k, t) for t, _, k in pairs])
        said = np.concatenate([np.full(k, p) for _, p, k in pairs])
        method, notes, _ = chosen(truth, said, metric=function)
        assert (method == "smoothed") == (n < 30)
        text = "Few rows decide the score: limits of smoothed tables are used"
        assert (text in notes) == (n < 30)
        # Weighted rows count as the equal rows that they are worth.
        weights = 1.0 + np.arange(len(truth)) % 2
        of_weighted = chosen(truth, said, metric=function, sample_weight=weights)[0]
        assert (of_weighted == "smoothed") == (n < 30)


@pytest.mark.parametrize("n", [39, 40])
def test_factors_of_40_members_have_the_two_way_interval(n):
    for y_true, y_pred, options in (crossed(n, 45), crossed(45, n)):
        expected = "two-way" if n >= 40 else "percentile"
        assert chosen(y_true, y_pred, **options)[0] == expected
    y_true, y_pred, options = crossed(n, n, True)
    assert chosen(y_true, y_pred, **options)[0] == "two-way"
    options["metric"] = lambda y: float(np.median(y))
    assert chosen(y_true, y_pred, **options)[0] == "expanded"


@pytest.mark.parametrize(("n_groups", "n_rows"), [(24, 5), (24, 20), (8, 5)])
def test_groups_of_whom_few_carry_the_variation_have_a_score_interval(n_groups, n_rows):
    reached = []
    for n_erring in range(1, 8):
        groups = np.arange(n_rows * n_groups) % n_groups
        y = np.arange(n_rows * n_groups) // n_groups % 2
        wrong = (groups < n_erring) & (np.arange(n_rows * n_groups) < 2 * n_groups)
        columns = {"metric": "accuracy", "groups": groups}
        result, notes, _ = told(skboot.bootstrap_score, y, np.where(wrong, 1 - y, y), **columns)
        influence = np.bincount(groups, wrong - wrong.mean())
        carriers = np.sum(influence**2) ** 2 / np.sum(influence**4)
        source = f"of the variation comes from about {max(round(carriers), 1)} of the {n_groups}"
        low, high = quiet(result.interval, "studentized")
        ends = carriers >= 4 and not (low > 0 and high < 1)
        assert (f"Most {source} groups, too few" in notes) == (carriers < 4)
        text = f"The bootstrap-t interval reaches the end of the range (most {source} groups)"
        assert (text in notes) == ends
        method = result.confidence_interval.method
        assert method == ("wilson" if carriers < 4 or ends else "studentized")
        assert ("effective rows" in notes) == (method == "wilson")
        reached.append(ends)
    assert any(reached) == (n_groups == 8)


def selected(values, estimate, error, bias, spread, skewed=0.0):
    """Which of many replicates have so large a bias, spread (in errors) and a longer upper tail."""
    z = (values - estimate) / error
    inside = np.flatnonzero(np.abs(z - bias) < np.sqrt(3) * spread)
    rng = np.random.default_rng(0)
    density = np.exp(z[inside] ** 2 / 2)
    tilt = np.clip(1 - skewed * (z[inside] - bias) / spread / np.sqrt(3), 0, None)
    weights = density * tilt
    return rng.choice(inside, 199, p=weights / weights.sum())


def root_mean_square(y_true, y_pred):
    """A callable on rows that differ, of which no bias without single rows is known."""
    return float(np.sqrt(np.mean((y_true - y_pred) ** 2)))


def on_selected(bias, spread, skewed=0.0, metric=root_mean_square):
    """A score on resamples that were drawn, and then selected by their values."""
    y = np.random.default_rng(5).normal(size=40)
    rows = np.random.default_rng(1).integers(0, 40, (4000, 40))
    columns = {"y_true": 0 * y, "y_pred": y, "metric": metric}
    every = quiet(skboot.bootstrap_score, **columns, resamples=rows)
    known = every.bootstrap_distribution, every.estimate, every.standard_error
    which = selected(*known, bias, spread, skewed)
    return told(skboot.bootstrap_score, **columns, resamples=rows[which])


@pytest.mark.parametrize("bias", [0.0, 0.4, 0.6, -0.47, -0.53])
def test_a_bias_of_half_an_error_takes_the_place_of_bca(bias):
    result, notes, _ = on_selected(bias * 0.7, 0.7)
    drawn = result.bootstrap_distribution
    found = (drawn.mean() - result.estimate) / drawn.std()
    is_large = abs(found) > 0.5
    assert result.confidence_interval.method == ("bias-corrected" if is_large else "bca")
    text = f"standard errors {'below' if found < 0 else 'above'} the estimate: t interval"
    assert (text in notes) == is_large
    text = f"about the bias-corrected estimate, {result.estimate - result.bias:.4g}"
    assert (text in notes) == is_large


@pytest.mark.parametrize("skewed", [0.0, 0.3, 0.6, 0.9])
def test_skewed_replicates_keep_bca_whatever_their_bias(skewed):
    result, *_ = on_selected(0.6, 0.7, skewed)
    drawn = result.bootstrap_distribution
    bias = (drawn.mean() - result.estimate) / drawn.std()
    skewness = np.mean(((drawn - drawn.mean()) / drawn.std()) ** 3)
    expected = "bias-corrected" if abs(bias) > 0.5 and abs(skewness) <= 0.3 else "bca"
    assert result.confidence_interval.method == expected


@pytest.mark.parametrize("spread", [0.25, 0.31, 0.36, 0.6])
def test_a_jackknife_far_from_the_resamples_is_that_of_a_metric_of_jumps(spread):
    result, notes, _ = on_selected(0.0, spread, metric=lambda t, p: float(np.mean((t - p) ** 2)))
    error = result._evidence.jackknife_jumps[0]
    ratio = error / result.bootstrap_distribution.std()
    jumps = not 1 / 3 < ratio < 3
    assert result.confidence_interval.method == ("expanded" if jumps else "bca")
    assert ("The metric changes in jumps with single rows" in notes) == jumps


def _third_label(n_decided, metric="f1_macro", **options):
    """What is said of 300 rows of two labels, some of which are decided for a third."""
    y_true = np.arange(300) % 2
    y_pred = y_true.copy()
    y_pred[10:25] = 1 - y_true[10:25]
    y_pred[100 : 100 + n_decided] = 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skboot.bootstrap_score(
            y_true, y_pred, metric=metric, n_resamples=99, random_state=0, **options
        )
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("metric", ["f1_macro", "precision_macro", "recall_macro"])
@pytest.mark.parametrize("weight", [None, np.arange(300) % 3 + 1.0], ids=["rows", "weights"])
def test_few_rows_decided_for_a_class_that_is_never_true_bring_it_into_an_average(metric, weight):
    """One class of three has no row of its own, and counts a third where one row is decided so."""
    for n_decided, is_told in ((0, False), (1, True), (2, True), (3, False), (40, False)):
        texts = _third_label(n_decided, metric, sample_weight=weight)
        assert any("rows of each class decide" in text for text in texts) == is_told
    for other in ("balanced_accuracy", "f1_weighted", "cohen_kappa"):
        # It is in no average that weighs true classes.
        assert not _third_label(1, other, sample_weight=weight)


@pytest.mark.parametrize(("zero_division", "is_told"), [(0.0, True), (1.0, True), (np.nan, False)])
def test_a_class_that_nobody_has_is_told_where_it_has_a_value(zero_division, is_told):
    metric = partial(sk.f1_score, average="macro", labels=[0, 1, 2], zero_division=zero_division)
    texts = _third_label(0, metric)
    assert any("rows of each class decide" in text for text in texts) == is_told
