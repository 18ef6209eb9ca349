"""Several runs of one method on one test set: four questions, one set of runs."""

import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, fbeta_score, make_scorer, roc_auc_score

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems
from skboot.metrics import expected_calibration_error
from skboot.results import EvaluationResult

CROSSED = Path(__file__).parents[1] / "references" / "crossed"
MIXED = {"f1": "f1", "roc_auc": "roc_auc", "mine": lambda t, p: float(np.mean(t == p))}


def runs_of(n_runs=12, n=150, seed=0, spread=0.05):
    """Labels, and predictions that err on hard rows, in some runs more than in others."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, size=n)
    hard = 0.6 * rng.random(n) + spread * rng.normal(size=(n_runs, 1))
    return y_true, y_true ^ (rng.random((n_runs, n)) < hard)


def on_samples(n_samples=12, n_seeds=2, n_full=3, **kwargs):
    """Runs on bootstrap samples of a list, and on the whole list."""
    y_true, y_preds = runs_of(n_samples * n_seeds + n_full, **kwargs)
    options = {"varied": "both", "training": np.repeat(np.arange(n_samples), n_seeds)}
    return y_true, y_preds[n_full:], {**options, "full_runs": y_preds[:n_full]}


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bootstrap_runs(*args, **{"random_state": 0, "n_resamples": 199, **kwargs})


# ------------------------------------------------------------------ numbers


def test_row_losses_give_the_components_of_r():
    losses = np.loadtxt(CROSSED / "crossed_matrix.csv", delimiter=",")
    expected = json.loads((CROSSED / "crossed_expected.json").read_text())
    result = quiet(None, losses, metric="mean")
    found = result.variance_components

    assert result.standard_error == pytest.approx(expected["se_mean_anova"], rel=1e-9)
    assert found["seed"] == pytest.approx(expected["anova"]["var_seed"], rel=1e-9)
    assert found["test"] == pytest.approx(expected["anova"]["var_item"], rel=1e-9)
    assert found["interaction"] == pytest.approx(expected["anova"]["var_res"], rel=1e-9)
    assert np.isnan(found["training"])


@pytest.mark.parametrize("varied", ["seed", "independent"])
def test_the_centre_is_the_mean_over_runs(varied):
    y_true, y_preds = runs_of()
    result = quiet(y_true, y_preds, metric="accuracy", varied=varied)
    assert result.estimate == pytest.approx((y_preds == y_true).mean())


def test_the_centre_comes_from_runs_on_the_full_list():
    y_true, y_preds, options = on_samples()
    result = quiet(y_true, y_preds, metric="accuracy", **options)
    assert result.estimate == pytest.approx((options["full_runs"] == y_true).mean())


def test_a_method_from_bootstrap_samples_has_their_variance_in_full():
    y_true, y_preds, options = on_samples(n_seeds=1)
    options = {"varied": "training", "full_runs": options["full_runs"]}
    result = quiet(y_true, y_preds, metric="accuracy", **options)
    correct, full = (y_preds == y_true), (options["full_runs"] == y_true)
    k, n = correct.shape
    residual = correct - correct.mean(0) - correct.mean(1)[:, None] + correct.mean()
    c = (residual**2).sum() / ((k - 1) * (n - 1) * n)
    te = np.var(full.mean(axis=0), ddof=1) / n
    between = np.var(correct.mean(axis=1), ddof=1)
    wilson = (te + 1.96**2 / (4 * n**2)) / (1 + 1.96**2 / n) ** 2

    expected = max(between - c, 0) + max(te, wilson)
    assert result.standard_error**2 == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["f1", MIXED["mine"]])
def test_pooled_percentiles_are_those_of_all_replicates_of_all_runs(metric):
    y_true, y_preds = runs_of(4, 60)
    groups = np.arange(60) // 3
    result = quiet(y_true, y_preds, metric=metric, estimand="pooled", groups=groups)
    alone = [
        bootstrap_score(
            y_true,
            y,
            metric=metric,
            groups=groups,
            n_resamples=199,
            random_state=0,
            interval="percentile",
        ).bootstrap_distribution
        for y in y_preds
    ]
    pool = np.sort(np.concatenate(alone))
    # Between two replicates a quantile is interpolated on the normal scale.
    levels = np.arange(1, len(pool) + 1) / (len(pool) + 1)
    limits = np.interp(stats.norm.ppf([0.025, 0.975]), stats.norm.ppf(levels), pool)

    assert result.confidence_interval[:2] == pytest.approx(tuple(limits))
    assert result.standard_error == pytest.approx(pool.std(ddof=1))
    assert not result.is_confidence_interval


def test_pooled_replicates_of_accuracy_are_those_of_each_run_alone():
    y_true, y_preds = runs_of(10, 80)
    result = quiet(y_true, y_preds, metric="accuracy", interval="percentile")
    alone = [
        bootstrap_score(y_true, y, n_resamples=199, random_state=0).bootstrap_distribution
        for y in y_preds
    ]
    assert result.estimand == "pooled"
    assert np.array_equal(result.bootstrap_distribution, np.concatenate(alone))


def test_the_system_is_the_first_run_alone():
    y_true, y_preds = runs_of()
    result = quiet(y_true, y_preds, metric="accuracy", estimand="system")
    alone = bootstrap_score(y_true, y_preds[0], n_resamples=199, random_state=0)

    assert result.confidence_interval == alone.confidence_interval
    assert result.estimate == alone.estimate
    assert np.array_equal(result.bootstrap_distribution, alone.bootstrap_distribution)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_the_order_of_runs_does_not_matter(metric):
    y_true, y_preds, options = on_samples()
    order = np.random.default_rng(0).permutation(len(y_preds))
    shuffled = {**options, "training": options["training"][order]}
    one = quiet(y_true, y_preds, metric=metric, **options)
    other = quiet(y_true, y_preds[order], metric=metric, **shuffled)

    for estimand in ("method", "next_run", "pooled"):
        limits = one.interval(estimand=estimand)[:2]
        assert other.interval(estimand=estimand)[:2] == pytest.approx(limits, rel=1e-9)


def test_names_of_training_samples_can_be_anything():
    y_true, y_preds, options = on_samples(n_samples=10)
    names = [f"list {k}" for k in options["training"]]
    one = quiet(y_true, y_preds, metric="accuracy", **options)
    other = quiet(y_true, y_preds, metric="accuracy", **{**options, "training": names})
    assert one.confidence_interval == other.confidence_interval


def test_a_metric_of_resamples_agrees_with_the_exact_rows():
    """Accuracy as a callable takes the resamples' way; 1999 of them are within a few percent."""
    y_true, y_preds, options = on_samples(n=300)
    options["n_resamples"] = 1999
    exact = quiet(y_true, y_preds, metric="accuracy", **options)
    drawn = quiet(y_true, y_preds, metric=MIXED["mine"], **options)
    for estimand in ("method", "next_run"):
        one, other = exact.interval(estimand=estimand), drawn.interval(estimand=estimand)
        assert other[:2] == pytest.approx(one[:2], abs=0.1 * (one.high - one.low))


def test_groups_widen_the_interval_of_runs_that_err_together_on_groups():
    rng = np.random.default_rng(0)
    groups = np.arange(400) // 20
    hard = (rng.random(20) < 0.3)[groups]
    y_true = rng.integers(0, 2, size=400)
    y_preds = y_true ^ (hard & (rng.random((10, 400)) < 0.7))
    alone = quiet(y_true, y_preds, metric="accuracy")
    grouped = quiet(y_true, y_preds, metric="accuracy", groups=groups)

    assert grouped.standard_error > 2 * alone.standard_error
    assert grouped.n_units == 20


def test_weights_and_strata_reach_every_run():
    y_true, y_preds = runs_of()
    weights = np.random.default_rng(1).integers(1, 5, size=len(y_true))
    result = quiet(y_true, y_preds, metric="accuracy", sample_weight=weights, strata=y_true)
    assert result.estimate == pytest.approx(
        np.mean([accuracy_score(y_true, y, sample_weight=weights) for y in y_preds])
    )


def test_probabilities_of_several_classes_are_runs_too():
    rng = np.random.default_rng(0)
    y_true = np.array(list("abc"))[rng.integers(0, 3, size=90)]
    logits = rng.normal(size=(10, 90, 3)) + (y_true[:, None] == np.array(list("abc")))
    proba = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    result = quiet(y_true, proba, metric="neg_log_loss")
    alone = [
        bootstrap_score(
            y_true, p, metric="neg_log_loss", n_resamples=99, interval="percentile", random_state=0
        ).estimate
        for p in proba
    ]
    assert result.estimate == pytest.approx(np.mean(alone))
    assert result.confidence_interval.high <= 0


def test_several_metrics_are_a_table_of_results():
    y_true, y_preds = runs_of()
    results = quiet(
        y_true, y_preds, metric={"accuracy": "accuracy", "F2": partial(fbeta_score, beta=2)}
    )
    assert list(results) == ["accuracy", "F2"]
    assert results["F2"].variance_components is not None


# ------------------------------------------------------------------ four questions


def test_other_estimands_are_answered_without_resampling_again(tmp_path):
    y_true, y_preds, options = on_samples()
    results = {
        estimand: quiet(y_true, y_preds, metric="roc_auc", estimand=estimand, **options)
        for estimand in ("method", "next_run", "pooled", "system")
    }

    for result in results.values():
        # A file has no predictions that could be scored again.
        result.save(tmp_path / "result.npz")
        alone = EvaluationResult.load(tmp_path / "result.npz")
        for estimand, other in results.items():
            assert alone.interval(estimand=estimand) == other.confidence_interval
            assert result.interval(estimand=estimand) == other.confidence_interval


def test_the_next_run_is_less_certain_than_the_method():
    y_true, y_preds = runs_of()
    result = quiet(y_true, y_preds, metric="accuracy")
    method, ahead = result.interval(), result.interval(estimand="next_run")
    assert ahead.low < method.low < method.high < ahead.high


def test_over_seeds_alone_the_result_is_conditional_on_the_test_rows():
    y_true, y_preds = runs_of()
    scores = (y_preds == y_true).mean(axis=1)
    result = quiet(y_true, y_preds, metric="accuracy", interval="t")

    assert result.standard_error == pytest.approx(scores.std(ddof=1) / np.sqrt(12))
    assert "the test rows" in result.held_fixed
    assert ", conditional on the test rows, is estimated at" in result.claim()
    said = " ".join(result.summary().split())
    assert " conditional on the training set and the test rows " in said
    assert "0 to 62%" in result.summary()


@pytest.mark.parametrize(
    ("varied", "said"),
    [("seed", "when trained on this training set"), ("independent", "at this training-set size")],
)
def test_the_claim_says_what_the_runs_vary(varied, said):
    y_true, y_preds = runs_of()
    result = quiet(y_true, y_preds, metric="accuracy", varied=varied)
    assert said in result.claim()
    assert said in result.summary()
    assert ("the training set" in result.held_fixed) == (varied == "seed")


@pytest.mark.parametrize("estimand", ["method", "next_run", "pooled", "system"])
def test_every_result_says_what_is_held_fixed_and_how_the_runs_scored(estimand):
    y_true, y_preds, options = on_samples()
    result = quiet(y_true, y_preds, metric="accuracy", estimand=estimand, **options)
    text = result.summary()

    assert result.held_fixed
    assert "min " in text
    assert "median " in text
    assert result.is_confidence_interval == (estimand in ("method", "system"))
    assert ("95% prediction interval" in text) == (estimand == "next_run")
    assert ("95% spread of single runs" in text) == (estimand == "pooled")
    assert ("not a confidence interval" in result.claim()) == (estimand == "pooled")
    assert "probability" not in text + result.claim()


def test_scores_of_all_runs_are_kept():
    y_true, y_preds, options = on_samples(n_samples=10, n_full=2)
    result = quiet(y_true, y_preds, metric="accuracy", **options)
    scores = (np.vstack([y_preds, options["full_runs"]]) == y_true).mean(axis=1)

    assert result.runs["score"] == pytest.approx(scores)
    assert list(result.runs["training"]) == [*options["training"], -1, -1]
    assert result.runs["full_list"].sum() == 2


def test_without_randomness_the_seed_component_is_zero_and_the_text_says_so():
    y_true, y_preds = runs_of(1)
    result = quiet(y_true, np.repeat(y_preds, 10, axis=0), metric="accuracy")
    assert result.variance_components["seed"] == 0
    assert "seed component is 0" in result.summary()
    assert "randomness" in result.summary()
    assert result.standard_error > 0


def test_seeds_that_change_nothing_within_training_samples_are_seen():
    y_true, y_preds, options = on_samples(n_seeds=1)
    options["training"] = options["training"].repeat(2)
    result = quiet(y_true, y_preds.repeat(2, axis=0), metric="accuracy", **options)
    assert result.variance_components["seed"] == 0
    assert "seed component is 0" in result.summary()


def test_perfect_runs_do_not_get_an_interval_without_width():
    y_true = np.tile([0, 1], 50)
    result = quiet(y_true, np.tile(y_true, (10, 1)), metric="accuracy")
    low, high = result.confidence_interval
    assert high == 1
    # Wilson's lower limit for 100 hits of 100 is 0.963, that of one system 0.964.
    assert low == pytest.approx(bootstrap_score(y_true, y_true).confidence_interval.low, abs=0.003)
    ahead = result.interval(estimand="next_run")
    assert ahead.low < low


def test_groups_are_not_taken_for_few_errors_unless_there_is_none():
    y_true, y_preds = runs_of(10, 120)
    groups = np.arange(120) // 10
    result = quiet(y_true, y_preds, metric="accuracy", groups=groups)
    assert not any("Wilson" in note for note in result.notes)
    perfect = quiet(y_true, np.tile(y_true, (10, 1)), metric="accuracy", groups=groups)
    alone = bootstrap_score(y_true, y_true, groups=np.arange(120) // 5, n_resamples=199)
    assert perfect.confidence_interval.high == 1
    assert perfect.confidence_interval.low < alone.confidence_interval.low


def test_advice_names_the_largest_source():
    rng = np.random.default_rng(0)
    seeds = 0.5 + np.zeros(500) + 0.2 * rng.normal(size=(10, 1))
    rows = rng.random(500) + 0.001 * rng.normal(size=(10, 500))
    assert "advice" in quiet(None, rows, metric="mean").summary()
    assert "twice as many test units" in quiet(None, rows, metric="mean").summary()
    text = " ".join(quiet(None, seeds, metric="mean").summary().split())
    assert "twice as many seeds" in text
    assert "more test units would hardly narrow it" in text


def test_a_saved_result_still_answers_for_every_estimand(tmp_path):
    y_true, y_preds, options = on_samples()
    result = quiet(y_true, y_preds, metric="roc_auc", **options)
    result.save(tmp_path / "runs.npz")
    loaded = EvaluationResult.load(tmp_path / "runs.npz")

    assert loaded == result
    assert loaded.interval(estimand="next_run") == result.interval(estimand="next_run")
    assert loaded.summary() == result.summary()
    json.dumps(loaded.to_dict(), allow_nan=False)


# ------------------------------------------------------------------ refusals and warnings


@pytest.mark.parametrize("estimand", ["method", "next_run"])
def test_bootstrap_samples_without_full_runs_are_refused_since_the_centre_is_low(estimand):
    y_true, y_preds = runs_of()
    with pytest.raises(ValueError, match=r"full_runs.*63\.2%.*these runs are worse on average"):
        bootstrap_runs(y_true, y_preds, metric="accuracy", varied="training", estimand=estimand)


def test_bootstrap_samples_without_full_runs_still_have_a_pool_and_a_system():
    y_true, y_preds = runs_of()
    result = quiet(y_true, y_preds, metric="accuracy", varied="training", estimand="pooled")

    assert "centred low" in " ".join(result.summary().split())
    assert result.variance_components["training"] > 0
    assert result.interval(estimand="system").method == "wilson"
    with pytest.raises(ValueError, match="full_runs"):
        result.interval(estimand="method")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"varied": "seeds"}, "'varied'.*must be one of"),
        ({"estimand": "mean"}, "'estimand'.*must be one of"),
        ({"interval": "magic"}, "'interval'.*must be one of"),
        (
            {"interval": "bca"},
            r"'interval'.*must be 'auto' or 'components' or 't' for the estimand 'method'\. Got",
        ),
        ({"interval": "t", "estimand": "next_run"}, "'interval'.*for the estimand 'next_run'"),
        ({"interval": "components", "estimand": "system"}, "no variance between runs"),
        ({"varied": "both"}, "'training'.*must be given"),
        ({"varied": "both", "training": [0] * 12}, "at least two training samples"),
        ({"varied": "both", "training": [0, 1]}, r"shape \(n_runs,\), here \(12,\)"),
        ({"training": [0] * 12}, "'training'.*None with varied='seed'"),
        ({"full_runs": [[1] * 150]}, "'full_runs'.*None with varied='seed'.*add them to y_preds"),
        ({"varied": "training", "full_runs": [[1] * 9]}, r"'full_runs\[0\]'.*as many rows"),
        ({"confidence_level": 95}, "confidence_level=0.95"),
    ],
)
def test_arguments_that_cannot_be_right_are_refused_with_what_to_do(options, message):
    y_true, y_preds = runs_of()
    with pytest.raises(ValueError, match=message):
        quiet(y_true, y_preds, metric="accuracy", **options)


@pytest.mark.parametrize(
    ("y_preds", "message"),
    [
        (np.ones((1, 150), int), "at least two runs.*bootstrap_score"),
        (np.ones(150, int), r"\(n_runs, n_samples\)"),
        (np.ones((150, 12), int), r"'y_preds'.*Runs come first: give y_preds\.T"),
        (np.ones((12, 149), int), r"'y_preds\[0\]'.*as many rows as 'y_true'"),
        ([np.ones(150, int), np.ones(149, int)], r"'y_preds\[1\]'"),
        ([np.ones(150), np.full(150, np.nan)], r"'y_preds\[1\]'.*NaN"),
        ("ones", "an array or a list"),
    ],
)
def test_predictions_that_are_no_runs_are_refused(y_preds, message):
    with pytest.raises(ValueError, match=message):
        quiet(runs_of()[0], y_preds, metric="accuracy")


def test_a_run_that_no_array_can_hold_is_named_by_its_number():
    y_true, y_preds = runs_of()
    runs = [*y_preds, np.ma.masked_equal(y_preds[0], 1)]
    with pytest.raises(ValueError, match=r"'y_preds\[12\]' .* masked values"):
        bootstrap_runs(y_true, runs, metric="accuracy")


def test_few_runs_are_warned_of():
    y_true, y_preds = runs_of(5)
    with pytest.warns(UserWarning, match="Only 5 runs"):
        result = bootstrap_runs(y_true, y_preds, metric="accuracy", n_resamples=99)
    assert any("Only 5 runs" in note for note in result.notes)
    # One system does not care how many others there are.
    bootstrap_runs(y_true, y_preds, metric="accuracy", n_resamples=99, estimand="system")


def test_data_that_one_run_is_warned_of_are_warned_of_with_several():
    rng = np.random.default_rng(0)
    y_true, y_preds = runs_of(n=160)
    rare = (np.arange(160) < 12).astype(int)
    heavy = rng.standard_t(2, size=160) ** 2 + 0.1 * rng.random((12, 160))
    crossed = np.column_stack((np.arange(160) // 40, np.arange(160) % 40))
    cases = (
        ("Only 8 groups", y_true, y_preds, "accuracy", np.arange(160) // 20),
        ("Only 4 members", y_true, y_preds, "accuracy", crossed),
        (
            "The 12 rows of the smaller class",
            rare,
            rng.random((12, 160)) + 0.5 * rare,
            "roc_auc",
            None,
        ),
        ("rows decide", None, heavy, "mean", None),
    )
    for told, y, runs, metric, groups in cases:
        options = {"metric": metric, "groups": groups, "n_resamples": 99, "random_state": 0}
        for estimand in ("method", "next_run"):
            with pytest.warns(UserWarning, match=told):
                result = bootstrap_runs(y, runs, estimand=estimand, **options)
            assert any(told in note for note in result.notes)
        with pytest.warns(UserWarning, match=told):
            bootstrap_score(y, runs[0], **options)


def test_an_undefined_run_refuses_the_method_but_not_the_system():
    y_true, y_preds = runs_of()
    y_preds[3] = 0

    def undefined_without_positives(t, p):
        return float(np.mean(t == p)) if p.max() > 0 else np.nan

    with pytest.raises(ValueError, match="undefined for 1 of 12 runs"):
        quiet(y_true, y_preds, metric=undefined_without_positives)
    result = quiet(y_true, y_preds, metric=undefined_without_positives, estimand="system")
    assert result.estimate == pytest.approx((y_true == y_preds[0]).mean())
    assert np.isnan(result.variance_components["seed"])


def test_several_answers_of_one_call_are_reproducible():
    y_true, y_preds = runs_of()
    one, other = (quiet(y_true, y_preds, metric="f1", random_state=3) for _ in range(2))
    assert one == other


# ------------------------------------------------------------------ several metrics

# Pairs of metrics that are equal, of which the second is called on the repeated rows.
TWICE = {
    "accuracy": "accuracy",
    "repeated rows": lambda t, p: accuracy_score(t, p),
    "f1": "f1",
    "f1 of repeated rows": lambda t, p: f1_score(t, p),
}
UNITS = {
    "rows": lambda y: {},
    "strata": lambda y: {"strata": y},
    "groups": lambda y: {"groups": np.arange(len(y)) // 3},
    "crossed": lambda y: {"groups": np.c_[np.arange(len(y)) // 10, np.arange(len(y)) % 10]},
    "blocks": lambda y: {"block_length": 5},
    "fixed tasks": lambda y: {"average_over": np.arange(len(y)) % 4},
}


@pytest.mark.parametrize("varied", ["seed", "both"])
@pytest.mark.parametrize("unit", UNITS)
def test_all_metrics_of_a_call_are_computed_on_the_same_resamples(unit, varied):
    y_true, y_preds, options = on_samples(2, 2, 1)
    options = options if varied == "both" else {}
    options |= UNITS[unit](y_true) | {"n_resamples": 9}
    found = quiet(y_true, y_preds, metric=TWICE, estimand="pooled", **options)
    drawn = [found[name].bootstrap_distribution for name in TWICE]
    assert drawn[0].size == 9 * len(y_preds)
    assert_allclose(drawn[0], drawn[1], rtol=0, atol=1e-12)
    assert_allclose(drawn[2], drawn[3], rtol=0, atol=1e-12)


def test_areas_share_their_resamples_with_areas_of_repeated_rows():
    y_true, *probs = _probabilities()
    tied = [np.digitize(p, [0.4, 0.6]) / 2 for p in probs]
    metrics = {"area": "roc_auc", "of repeated rows": lambda t, p: roc_auc_score(t, p)}
    found = quiet(y_true, tied, metric=metrics)
    assert_allclose(*(one.bootstrap_distribution for one in found.values()), rtol=0, atol=1e-12)


# ------------------------------------------------------------------ sums of distances


def _probabilities(n=240):
    rng = np.random.default_rng(5)
    prob = rng.random(n)
    return (rng.random(n) < prob).astype(int), prob, prob**1.5


TASKS = np.arange(240) % 12
DISTANCES = {
    "difference": lambda y, p, q, o: compare_systems(y, {"a": p, "b": q}, **o),
    "unpaired": lambda y, p, q, o: compare_systems(
        {"a": y, "b": y}, {"a": p, "b": q}, paired=False, **o
    ),
    "average": lambda y, p, q, o: bootstrap_score(y, p, average_over=TASKS, **o),
    "gap": lambda y, p, q, o: bootstrap_score(y, p, by=TASKS % 2, **o)["gap"],
    "change": lambda y, p, q, o: compare_systems(y, {"a": p, "b": q}, by=TASKS % 2, **o),
    "runs": lambda y, p, q, o: bootstrap_runs(y, [p, q] * 5, **o),
    "pool": lambda y, p, q, o: bootstrap_runs(y, [p, q] * 5, estimand="pooled", **o),
    "methods": lambda y, p, q, o: compare_runs(y, {"a": [p, q] * 5, "b": [q, q] * 5}, **o),
}


@pytest.mark.parametrize("of", DISTANCES)
@pytest.mark.parametrize("negated", [False, True])
def test_a_sum_of_distances_is_cautioned_where_its_bins_make_no_interval(of, negated):
    y_true, *probs = _probabilities()
    metric = expected_calibration_error
    if negated:
        metric = make_scorer(
            metric, greater_is_better=False, response_method="predict_proba", labels=[0, 1]
        )
    options = {"metric": metric, "n_resamples": 99, "random_state": 0}
    with pytest.warns(UserWarning, match="This metric sums distances"):
        result = DISTANCES[of](y_true, *probs, options)
    if of != "change":
        assert "sums distances" in " ".join(result.notes)


def test_a_sum_of_distances_of_one_system_has_its_interval_without_a_caution():
    y_true, prob, _ = _probabilities()
    options = {"metric": expected_calibration_error, "n_resamples": 99, "random_state": 0}
    assert bootstrap_score(y_true, prob, **options).notes == ()
    assert quiet(y_true, [prob, prob], estimand="system", **options).interval().method == "bins"


def test_more_runs_than_rows_without_a_truth_are_a_caution():
    values = np.random.default_rng(0).random((60, 30))
    with pytest.warns(UserWarning, match=r"More runs \(60\) than rows \(30\).*transposed"):
        bootstrap_runs(None, values, metric="mean", random_state=0)
    # No warning.
    bootstrap_runs(None, values.T, metric="mean", random_state=0)


def test_messages_name_the_axes_that_are_meant():
    y_true, y_preds = runs_of()
    n_runs = len(y_preds)
    with pytest.raises(ValueError, match=r"'y_true'.*hold the truth of each row once"):
        quiet(np.tile(y_true, (n_runs, 1)), y_preds, metric="accuracy")
    both = np.stack((1 - y_preds, y_preds), axis=-1)
    with pytest.raises(ValueError, match=r"swapaxes\(y_preds, 0, 1\)"):
        quiet(y_true, np.moveaxis(both, 0, 1), metric="log_loss")
