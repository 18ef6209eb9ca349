"""Results say what they hold in words, and nothing more."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from made_results import (
    ALL_KINDS,
    accuracy_evidence,
    accuracy_result,
    any_kind,
    facts_of,
    mean_evidence,
    mean_result,
    undefined_result,
)
from sklearn.naive_bayes import GaussianNB

from skboot import (
    BootstrapAccumulator,
    BootstrapScorer,
    Trials,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_systems,
)
from skboot.inference import ConfidenceInterval
from skboot.metrics import expected_cost

# ------------------------------------------------------------------ rounding


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.801, 0.897, "0.801 to 0.897"),
        (0.6, 0.95, "0.60 to 0.95"),
        (0.85512, 0.86499, "0.8551 to 0.8650"),
        (2841.3, 3201.9, "2840 to 3200"),
        (-0.0004, 0.0996, "-0.0004 to 0.0996"),  # "0.000" would hide on which side of 0 it is
        (0.95, 0.99996, "0.95000 to 0.99996"),  # and "1.000" that it is not 1
        (0.0, 1e-7, "0.000e+00 to 1.00e-07"),
    ],
)
def test_digits_follow_the_width_of_the_interval(low, high, shown):
    evidence = accuracy_evidence(estimate=(low + high) / 2)
    result = accuracy_result(
        evidence=evidence, confidence_interval=ConfidenceInterval(low, high, 0.95, "t")
    )
    # How a limit of zero is written is another matter.
    shown = " to 1.00e-07" if low == 0 else f"95% CI {shown}"
    assert f"{shown}, t interval" in result.claim()


def test_rounding_moves_no_limit_by_more_than_a_fortieth_of_the_width():
    rng, known = np.random.default_rng(0), mean_evidence()
    for _ in range(300):
        low = rng.normal() * 10 ** rng.uniform(-3, 3)
        high = low + 10 ** rng.uniform(-4, 3)
        interval = ConfidenceInterval(low, high, 0.95, "t")
        evidence = replace(known, estimate=(low + high) / 2)
        claim = mean_result(evidence=evidence, confidence_interval=interval).claim()
        shown = re.search(r"95% CI (\S+) to (\S+), t interval", claim).groups()
        for limit, written in zip((low, high), shown, strict=True):
            assert abs(float(written) - limit) <= (high - low) / 40 * 1.001


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (math.nan, math.nan, math.nan, "undefined"),
        (0.0, -math.inf, 0.5, "at most"),
        (0.0, -0.5, math.inf, "at least"),
        (0.0, -math.inf, math.inf, "-inf"),
        (1234.5, -600.0, 3000.0, "1200"),
        (3e12, 3e12 - 18e3, 3e12 + 18e3, "3.000000000e+12"),
        (0.0, -0.04, 0.05, "0.000"),
    ],
)
def test_numbers_are_written_to_their_digits_and_never_as_nan(value, low, high, shown):
    interval = ConfidenceInterval(low, high, 0.95, "t")
    result = mean_result(evidence=mean_evidence(estimate=value), confidence_interval=interval)
    assert f" {shown} " in result.claim()


def test_there_is_no_negative_zero():
    evidence = mean_evidence(estimate=0.75, replicates=np.array([0.65, 0.849998]))
    interval = ConfidenceInterval(0.6, 0.95, 0.95, "t")
    result = mean_result(evidence=evidence, confidence_interval=interval)
    assert pytest.approx(result.bias) == -1e-6
    assert dict(facts_of(result))["bias"] == "0.000"


# ------------------------------------------------------------------ words


def test_the_claim_of_an_accuracy_can_be_printed_in_a_paper():
    # Wilson limits of 171 of 200 from the formula: 0.7995 and 0.8971.
    assert accuracy_result().claim() == (
        "Accuracy on new data from the same source is estimated at 0.855 from 200 test rows "
        "(95% CI 0.800 to 0.897, Wilson interval)."
    )


ROWS = np.arange(240)
NEW = {
    "data from the same source": {},
    "groups from the same source": {"groups": ROWS // 4},
    "members of both factors": {"groups": np.column_stack((ROWS // 12, ROWS % 20))},
    "members of the same population": {"groups": Trials(ROWS // 12, (ROWS // 12 + ROWS % 12) % 20)},
    "data from these tasks": {"average_over": ROWS // 24},
    "groups in these tasks": {"average_over": ROWS // 24, "groups": ROWS // 4},
    "tasks like these": {"average_over": ROWS // 12, "groups": ROWS // 12},
    "groups of tasks like these": {"average_over": ROWS // 12, "groups": ROWS // 24},
}


@pytest.mark.filterwarnings("ignore:.*With fewer than 40 members:UserWarning")
@pytest.mark.parametrize("new", NEW)
def test_a_claim_is_of_new_units_of_the_kind_that_was_drawn(new):
    y = ROWS % 2
    systems = {"A": np.where(ROWS % 7 == 0, 1 - y, y), "B": np.where(ROWS % 5 == 0, 1 - y, y)}
    options = {"n_resamples": 199, "random_state": 0, **NEW[new]}
    score = bootstrap_score(y, systems["A"], **options)
    assert score.summary().count(f"performance of this trained system on new {new}\n") == 1
    assert f" on new {new} is estimated at 0.854 from 240 test rows (" in score.claim()
    compared = compare_systems(y, systems, **options)
    assert f"difference of these trained systems on new {new}\n" in compared.summary()
    assert f"on new {new} the difference is estimated at " in compared.claim()


@pytest.mark.parametrize("groups", [None, ROWS // 4])
def test_a_weighted_score_does_not_claim_the_source_of_its_rows(groups):
    y, weights = ROWS % 2, 1.0 + ROWS % 3
    systems = {"A": np.where(ROWS % 7 == 0, 1 - y, y), "B": np.where(ROWS % 5 == 0, 1 - y, y)}
    options = {"sample_weight": weights, "groups": groups, "n_resamples": 199, "random_state": 0}
    new = f"new {'data' if groups is None else 'groups'} weighted like these rows"
    results = [
        bootstrap_score(y, systems["A"], **options),
        compare_systems(y, systems, **options),
        bootstrap_score(y, systems["A"], by=ROWS % 2, **options),
    ]
    for result in results:
        text = " ".join(f"{result.summary()} {result.claim()}".split())
        assert new in text
        assert "same source" not in text
    curve = bootstrap_curve(y, y + ROWS % 11 / 5, **options)
    assert f"of this trained system on {new} points" in " ".join(curve.summary().split())


RARE = (np.arange(400) < 20).astype(int)
OFTEN_WRONG = np.where(np.arange(400) % 10 == 0, 1 - RARE, RARE)


def test_a_score_below_its_baseline_says_so_in_notes_and_claim():
    result = bootstrap_score(RARE, OFTEN_WRONG, metric="accuracy", random_state=0)
    assert (result.estimate, result.naive_estimate) == (0.9, 0.95)
    note = "Worse than the baseline: a system that ignores its inputs scores 0.95 here."
    assert note in result.notes
    assert result.claim().endswith(
        " This is worse than the baseline, a system that ignores its inputs: 0.950 here."
    )
    loss = bootstrap_score(RARE, OFTEN_WRONG, metric=expected_cost, random_state=0)
    assert (
        "Worse than the baseline: a system that ignores its inputs scores 0.05 here." in loss.notes
    )
    assert loss.claim().endswith("the baseline, a system that ignores its inputs: 0.050 here.")
    accumulator = BootstrapAccumulator("balanced_accuracy", random_state=0)
    streamed = accumulator.update(RARE, 1 - OFTEN_WRONG, start=0).result()
    assert "Worse than the baseline: a system that ignores its inputs scores 0.5 here." in (
        streamed.notes
    )


@pytest.mark.parametrize("metric", ["accuracy", "recall", "r2", "mean_squared_error"])
def test_scores_that_reach_their_baseline_say_nothing_of_it(metric):
    constant = np.zeros(400, int)
    y, predicted = RARE, constant
    if metric == "recall":
        # The baseline decides for the positive class alone, and is 1.
        y, predicted = RARE, np.where(np.arange(400) % 3 == 0, 0, RARE)
    elif metric != "accuracy":
        y = np.arange(400) / 7
        predicted = np.full(400, y.mean())
    result = bootstrap_score(y, predicted, metric=metric, random_state=0)
    assert not any("baseline" in note for note in result.notes)
    assert "ignores its inputs" not in result.claim()


def test_gaps_curves_next_runs_and_methods_speak_of_groups_where_groups_were_drawn():
    y, groups = ROWS % 2, ROWS // 4
    options = {"groups": groups, "n_resamples": 199, "random_state": 0}
    wrong = np.where(groups % 2, ROWS % 13 == 0, ROWS % 2 == 0)
    gap = bootstrap_score(y, np.where(wrong, 1 - y, y), by=groups % 2, **options)["gap"]
    assert gap.claim().endswith("On new groups from the same source these two differ.")
    assert "trained system, on new groups from the same source" in " ".join(gap.summary().split())
    curve = bootstrap_curve(y, y + ROWS % 11 / 5, **options)
    told = " ".join(curve.summary().split())
    assert "of this trained system on new groups from the same source points" in told
    runs = [np.where(ROWS % k == 0, 1 - y, y) for k in range(3, 15)]
    run = bootstrap_runs(y, runs, metric="accuracy", estimand="next_run", **options)
    assert ", on as many new groups, is predicted at " in run.claim()
    scorer = BootstrapScorer(GaussianNB(), n_train_resamples=70, random_state=0)
    method = scorer.fit(ROWS[:, None] % 6, y, groups=groups).result_
    assert "when trained on 240 rows of 60 groups from the same source is" in method.claim()


def test_the_claim_says_what_was_resampled():
    assert "bootstrap-t interval, 60 rows resampled)" in mean_result().claim()
    assert "20 groups resampled)" in ALL_KINDS["groups"]().claim()
    assert "9 and 7 members of the two factors resampled)" in ALL_KINDS["crossed"]().claim()
    assert "2 resamples of 62 without a value left out)" in ALL_KINDS["some undefined"]().claim()


def test_the_claim_of_groups_without_error_says_how_many_there_were():
    result = accuracy_result(
        50, 50, kind="groups", n_units=(10,), replicates=np.ones(99), unit="group"
    )
    assert result.claim().endswith(", Wilson interval, 10 groups).")


@any_kind
def test_no_text_calls_an_interval_a_probability_or_a_share_of_test_sets(kind):
    result = ALL_KINDS[kind]()
    texts = [result.claim(), result.summary(), str(result), result.to_html(), result.to_markdown()]
    for text in texts:
        assert not re.search(r"probab|test sets|chance|likely", text)


@any_kind
def test_no_text_shows_a_nan(kind):
    result = ALL_KINDS[kind]()
    texts = [result.claim(), result.summary(), repr(result), result.to_html(), result.to_latex()]
    for text in texts:
        assert not re.search(r"\bnan\b|\bNaN\b", text)


@any_kind
def test_what_is_undefined_comes_with_its_reason_once(kind):
    result = ALL_KINDS[kind]()
    facts = facts_of(result)
    undefined = [text for _, text in facts if text.startswith("undefined")]
    # The first number without a value says why, the others are plain.
    assert all(len(text) > len("undefined: ") for text in undefined[:1])
    reasons = [text.removeprefix("undefined: ") for text in undefined if text != "undefined"]
    assert len(reasons) <= 1
    for reason in reasons:
        assert " ".join(result.summary().split()).count(reason) == 1
        assert reason in " ".join(result.claim().split())


def test_numbers_that_follow_an_undefined_one_are_plainly_undefined():
    for result in (undefined_result(), ALL_KINDS["one resample"]()):
        found = dict(facts_of(result))
        assert found["standard error"] == found["Monte Carlo error"] == "undefined"
    assert dict(facts_of(undefined_result()))["bias"] == "undefined"


def test_notes_that_are_no_reason_stay_beside_an_undefined_number():
    """Fewer than two resamples are the reason of no limits; a caution is not."""
    evidence = mean_evidence(replicates=np.full(9, np.nan))
    limits = ConfidenceInterval(np.nan, np.nan, 0.95, "undefined")
    why = "The limits are undefined: fewer than two resamples gave a value."
    notes = ("Only 3 rows.", why)
    result = mean_result(evidence=evidence, confidence_interval=limits, notes=notes)
    found = facts_of(result)
    assert ("95% CI", "undefined: fewer than two resamples gave a value") in found
    assert [text for label, text in found if label == "note"] == ["Only 3 rows."]


def test_limits_on_one_value_are_told_from_resamples_of_one_value():
    replicates = np.r_[np.zeros(50), np.ones(49)]
    same, apart = (
        accuracy_result(
            evidence=accuracy_evidence(hits=0, replicates=values),
            confidence_interval=ConfidenceInterval(0.0, 0.0, 0.95, "percentile"),
        )
        for values in (np.zeros(99), replicates)
    )
    assert "Every resample gave the same value" in same.claim()
    assert "zero: every resample gave the same value" in same.summary()
    assert "Both limits fall on the same value" in apart.claim()
    assert "every resample" not in apart.summary()


def test_a_claim_without_a_number_gives_the_reason():
    assert undefined_result().claim() == (
        "Accuracy is undefined on 200 test rows: There are no positives."
    )
    assert "no 95% CI: fewer than two resamples gave" in ALL_KINDS["one resample"]().claim()


@pytest.mark.parametrize("kind", ["next_run", "pooled"])
def test_what_is_no_confidence_interval_is_not_called_one(kind):
    result = ALL_KINDS[kind]()
    assert not re.search(r"\bCI\b", result.claim() + result.summary() + result.to_markdown())
    expected = {"next_run": "95% prediction interval", "pooled": "not a confidence interval"}
    assert expected[kind] in result.claim()


def test_the_claim_of_a_method_says_what_it_is_conditional_on():
    result = mean_result("t", estimand="method", held_fixed=("the training set", "the test rows"))
    assert "conditional on the training set and the test rows" in result.claim()


def test_an_interval_without_width_is_called_no_evidence():
    assert "does not show that the score is known exactly" in ALL_KINDS["no width"]().claim()
    assert "no width" in ALL_KINDS["no width"]().to_markdown()


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("roc_auc", "ROC AUC"),
        ("neg_log_loss", "Negated log loss"),
        ("npv", "NPV"),
        ("neg_brier_score", "Negated Brier score"),
        ("accuracy (women)", "Accuracy (women)"),
        ("f1_macro gap (a_b - c)", "F1 macro gap (a_b - c)"),
        ("mean (women)", "Mean value (women)"),
        ("mean IoU", "Mean IoU"),
        ("mAP", "mAP"),
        ("WER of dev", "WER of dev"),
        ("größe", "Größe"),
        ("", ""),
    ],
)
def test_metric_names_become_words_unless_they_are_someones_own(metric, words):
    assert accuracy_result(metric=metric).summary().startswith(f"{words} on 200")


def test_the_summary_says_all_and_fits_the_page():
    result = accuracy_result(method="percentile")._with_provenance(notes=("word " * 60,))
    summary = result.summary()
    for said in (
        "Accuracy on 200 test rows", "on new data from the same source", "0.855 (larger is better)",
        "95% CI", "percentile bootstrap interval", "standard error", "bias", "Monte Carlo error",
        "200 rows, 999 times", "the trained system", "0.510 (best system that ignores its inputs",
        "note",
    ):  # fmt: skip
        assert said in summary
    assert max(map(len, summary.splitlines())) <= 100
