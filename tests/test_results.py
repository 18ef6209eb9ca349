"""Results say what they hold, in words, tables and files, and nothing more."""

import copy
import json
import math
import pickle
import re
import sys
import warnings
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser

import numpy as np
import pytest

from skboot import bootstrap_runs
from skboot._gaps import gap_of
from skboot._warnings import texts_of
from skboot.inference.automatic import automatic_interval, degeneracy
from skboot.inference.confidence_interval import ConfidenceInterval
from skboot.inference.intervals import (
    FOR_ONE_SCORE,
    WITHOUT_RESAMPLES,
    Evidence,
    confidence_interval,
)
from skboot.inference.subgroup_gap import Side
from skboot.results import EvaluationResult, ResultTable, rendering, storage, wording
from skboot.results.basis import ScoresBasis, SystemBasis
from skboot.results.gap_basis import GapBasis

RNG_SEED = 20
ROWS = np.random.default_rng(RNG_SEED).exponential(size=60)


def mean_evidence(rows=ROWS, n_resamples=999, seed=0, **changes):
    """Bootstrap of a mean, written down without the library."""
    rng = np.random.default_rng(seed)
    drawn = rows[rng.integers(len(rows), size=(n_resamples, len(rows)))]
    known = {
        "estimate": rows.mean(),
        "replicates": drawn.mean(axis=1),
        "kind": "rows",
        "n_units": (len(rows),),
        "additive": True,
        "row_mean": True,
        "standard_error": rows.std() / np.sqrt(len(rows)),
        "replicate_standard_errors": drawn.std(axis=1) / np.sqrt(len(rows)),
        "acceleration": ((rows - rows.mean()) ** 3).sum()
        / (6 * ((rows - rows.mean()) ** 2).sum() ** 1.5),
    }
    return Evidence(**{**known, **changes})


def mean_result(method="studentized", level=0.95, evidence=None, **changes):
    evidence = evidence or mean_evidence()
    basis = (ScoresBasis if changes.get("estimand") == "method" else SystemBasis)(evidence)
    if "confidence_interval" not in changes:
        changes["confidence_interval"] = confidence_interval(evidence, method, level)
    known = {
        "metric": "mean",
        "estimand": "system",
        "basis": basis,
        "automatic": False,
        "n_samples": 60,
        "unit": "row",
        "greater_is_better": False,
        "naive_estimate": None,
        "held_fixed": ("the trained system",),
        "seed": 7,
        "settings": {"interval": method},
        "versions": {"skboot": "0.1"},
    }
    return EvaluationResult(**{**known, **changes})


def accuracy_evidence(hits=171, n=200, n_resamples=999, **changes):
    replicates = np.random.default_rng(1).binomial(n, hits / n, n_resamples) / n
    known = {
        "estimate": hits / n,
        "replicates": replicates,
        "kind": "rows",
        "n_units": (n,),
        "bounds": (0.0, 1.0),
        "additive": True,
        "row_mean": True,
        "proportion": (hits, n, True, "identity", 1.0),
    }
    return Evidence(**{**known, **changes})


def accuracy_result(hits=171, n=200, method="auto", **changes):
    own = {key: changes.pop(key) for key in ("kind", "n_units", "replicates") if key in changes}
    evidence = changes.pop("evidence", None) or accuracy_evidence(hits, n, **own)
    if "confidence_interval" in changes:
        interval, notes = changes.pop("confidence_interval"), changes.pop("notes", ())
    elif method == "auto":
        interval, notes = automatic_interval(evidence, 0.95)
        notes = texts_of(notes)
    else:
        interval, notes = confidence_interval(evidence, method, 0.95), ()
    known = {
        "metric": "accuracy",
        "confidence_interval": interval,
        "notes": notes,
        "automatic": method == "auto",
        "n_samples": n,
        "greater_is_better": True,
        "naive_estimate": 0.51,
    }
    return mean_result(evidence=evidence, **{**known, **changes})


def undefined_result():
    evidence = accuracy_evidence(estimate=np.nan, replicates=np.full(99, np.nan))
    interval = ConfidenceInterval(np.nan, np.nan, 0.95, "undefined")
    return accuracy_result(
        evidence=evidence, confidence_interval=interval, notes=("There are no positives.",)
    )


def facts_of(result):
    return result.basis.facts(result)


def subgroups():
    evidence = [
        accuracy_evidence(
            hits, replicates=np.random.default_rng(hits).binomial(200, hits / 200, 999) / 200
        )
        for hits in (171, 150)
    ]
    sides = [Side(known.estimate, (0.0, 1.0), "effective", (20, 200), 199.0) for known in evidence]
    _, known = gap_of(sides, evidence, 1)
    gap = mean_result(
        basis=GapBasis(known, metric="accuracy", pair="women - men", of_systems=False),
        confidence_interval=confidence_interval(known, "simultaneous", 0.95),
        metric="accuracy gap (women - men)",
        greater_is_better=None,
        notes=("The largest of 1 differences.",),
    )
    parts = {
        name: accuracy_result(hits, metric=f"accuracy ({name})")
        for name, hits in (("women", 171), ("men", 150))
    }
    return ResultTable({**parts, "gap": gap})


def several_runs(estimand):
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 50)
    runs = [np.where(rng.random(100) < 0.2, 1 - labels, labels) for _ in range(12)]
    return bootstrap_runs(labels, runs, metric="accuracy", estimand=estimand, random_state=0)


ALL_KINDS = {
    "wilson": accuracy_result,
    "perfect": lambda: accuracy_result(50, 50),
    "no width": lambda: accuracy_result(50, 50, "percentile"),
    "groups": lambda: accuracy_result(
        method="expanded", kind="groups", n_units=(20,), unit="group"
    ),
    "crossed": lambda: accuracy_result(
        method="percentile", kind="crossed", n_units=(9, 7), unit="member of each factor"
    ),
    "mean": mean_result,
    "undefined": undefined_result,
    "some undefined": lambda: mean_result(
        "percentile", evidence=mean_evidence(replicates=np.r_[np.nan, np.nan, ROWS])
    ),
    "one resample": lambda: mean_result(
        evidence=mean_evidence(replicates=np.r_[1.0, [np.nan] * 9]),
        confidence_interval=ConfidenceInterval(np.nan, np.nan, 0.95, "percentile"),
    ),
    "infinite": lambda: mean_result(
        confidence_interval=ConfidenceInterval(-np.inf, 3.0, 0.9, "studentized")
    ),
    "next_run": lambda: several_runs("next_run"),
    "pooled": lambda: several_runs("pooled"),
    "method": lambda: mean_result("t", estimand="method", unit="run"),
    "gap": lambda: subgroups()["gap"],
}
any_kind = pytest.mark.parametrize("kind", ALL_KINDS)


# ------------------------------------------------------------------ numbers


def test_numbers_are_those_of_the_replicates():
    replicates = np.array([0.5, np.nan, 0.75, 1.0])
    result = mean_result(
        "percentile",
        evidence=mean_evidence(estimate=0.7, replicates=replicates),
        confidence_interval=ConfidenceInterval(0.5, 1.0, 0.95, "percentile"),
    )
    assert result.estimate == 0.7
    assert result.standard_error == pytest.approx(0.25)
    assert result.bias == pytest.approx(0.05)
    assert (result.n_resamples, result.n_undefined, result.n_units) == (4, 1, 60)
    np.testing.assert_array_equal(result.bootstrap_distribution, replicates)


def test_two_crossed_factors_have_two_numbers_of_units():
    assert ALL_KINDS["crossed"]().n_units == (9, 7)


def test_equal_replicates_have_a_standard_error_of_exactly_zero():
    result = mean_result(
        "percentile", evidence=mean_evidence(estimate=0.2, replicates=np.full(99, 0.2))
    )
    assert result.standard_error == 0


def test_nothing_of_a_result_can_be_changed_from_outside():
    replicates = np.random.default_rng(0).normal(size=99)
    result = mean_result("percentile", evidence=mean_evidence(replicates=replicates))
    before = result.bootstrap_distribution.copy()
    replicates[:] = 0
    np.testing.assert_array_equal(result.bootstrap_distribution, before)
    with pytest.raises(ValueError, match="read-only"):
        result.bootstrap_distribution[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        result.evidence.replicate_standard_errors[0] = 1
    with pytest.raises(FrozenInstanceError):
        result.metric = "other"


@any_kind
def test_a_result_equals_its_copy_and_cannot_be_hashed(kind):
    result = ALL_KINDS[kind]()
    assert result == ALL_KINDS[kind]()
    assert result == pickle.loads(pickle.dumps(result)) == copy.deepcopy(result)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "other"},
        {"seed": 8},
        {"notes": ("x",)},
        {"naive_estimate": 0.5},
        {"settings": {"interval": "t"}},
        {"runs": {"score": np.array([1.0])}},
        {"basis": SystemBasis(mean_evidence(seed=1))},
        {"basis": SystemBasis(mean_evidence(acceleration=None))},
        {"basis": ScoresBasis(mean_evidence())},
        {"confidence_interval": ConfidenceInterval(0.0, 1.0, 0.95, "t")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_results_that_differ_anywhere_are_not_equal(change):
    assert mean_result() != replace(mean_result(), **change)
    assert mean_result() != "a result"


# ------------------------------------------------------------------ other intervals


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "t", "studentized"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_another_interval_is_that_of_the_evidence(method, level):
    result = mean_result()
    assert result.interval(method, level) == confidence_interval(result.evidence, method, level)


def test_without_arguments_the_interval_is_the_one_of_the_call():
    result = accuracy_result()
    assert result.interval() is result.confidence_interval
    assert result.interval(confidence_level=0.95) is result.confidence_interval


def test_an_automatic_interval_is_chosen_again_at_another_level():
    result = accuracy_result(50, 50, kind="groups", n_units=(10,), replicates=np.ones(99))
    expected = automatic_interval(result.evidence, 0.8).interval
    assert result.interval(confidence_level=0.8) == expected
    assert mean_result("percentile").interval(confidence_level=0.8).method == "percentile"
    assert mean_result("percentile").interval("auto").method == "studentized"


def test_automatic_intervals_of_the_largest_gap_stay_simultaneous():
    assert subgroups()["gap"].interval("auto", 0.9).method == "simultaneous"


def test_other_estimands_are_refused():
    assert mean_result().interval(estimand="system") == mean_result().confidence_interval
    with pytest.raises(ValueError, match=r"must be 'system'.*Got 'method'.*several trained"):
        mean_result().interval(estimand="method")


def test_unknown_methods_and_levels_are_refused():
    with pytest.raises(ValueError, match="one of"):
        mean_result().interval("magic")
    with pytest.raises(ValueError, match=r"confidence_level=0.95 for a 95% interval"):
        mean_result().interval(confidence_level=95)


def test_an_interval_without_width_says_so():
    with pytest.warns(UserWarning, match="zero width"):
        accuracy_result(50, 50).interval("percentile")


# ------------------------------------------------------------------ Monte Carlo error


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "t", "bca", "studentized"])
def test_monte_carlo_error_is_the_spread_of_limits_over_bootstrap_runs(method):
    # 300 runs know a spread to 4 %, the mean of 30 estimates to about 5 %: a false alarm at
    # 20 % in one of twelve comparisons is less likely than 1 in 50 (fixed seeds).
    runs = [mean_evidence(n_resamples=499, seed=seed) for seed in range(300)]
    limits = np.array([confidence_interval(run, method, 0.9)[:2] for run in runs])
    errors = [mean_result(method, 0.9, run).monte_carlo_error for run in runs[:30]]
    np.testing.assert_allclose(np.mean(errors, axis=0), limits.std(axis=0, ddof=1), rtol=0.2)


@pytest.mark.parametrize("method", ["wilson", "wald", "clopper-pearson"])
def test_intervals_without_resamples_have_no_monte_carlo_error(method):
    assert accuracy_result(method=method).monte_carlo_error == (0, 0)


def test_monte_carlo_error_is_the_same_at_each_call_and_says_nothing_on_stderr():
    too_few = mean_evidence(n_resamples=19)
    with pytest.warns(UserWarning, match="too few"):
        results = [mean_result("percentile", 0.95, too_few) for _ in range(2)]
    assert results[0].monte_carlo_error == results[1].monte_carlo_error


def test_limits_cut_at_the_range_do_not_move_there():
    evidence = mean_evidence(bounds=(2.0, np.inf), estimate=2.0)
    interval = ConfidenceInterval(2.0, 3.0, 0.95, "percentile")
    cut = mean_result(evidence=evidence, confidence_interval=interval, automatic=True)
    assert cut.monte_carlo_error.low == 0


def test_monte_carlo_error_exists_for_every_method():
    resampled = set(FOR_ONE_SCORE) - WITHOUT_RESAMPLES
    for method in resampled:
        assert min(mean_result(method).monte_carlo_error) > 0
    assert min(subgroups()["gap"].monte_carlo_error) > 0


def test_monte_carlo_error_is_unknown_where_the_interval_cannot_be_made_again():
    result = mean_result(confidence_interval=ConfidenceInterval(0, 1, 0.95, "components"))
    assert all(map(math.isnan, result.monte_carlo_error))
    assert "cannot be made again" in result.summary()


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
    if low == 0:
        assert wording.limits(result).endswith("1.00e-07")
    else:
        assert wording.limits(result) == shown


def test_rounding_moves_no_limit_by_more_than_a_fortieth_of_the_width():
    rng = np.random.default_rng(0)
    for _ in range(300):
        low = rng.normal() * 10 ** rng.uniform(-3, 3)
        high = low + 10 ** rng.uniform(-4, 3)
        digits = rendering.digits_for(low, high, (low, high), (0.0,))
        for limit in (low, high):
            assert abs(float(rendering.number(limit, digits)) - limit) <= (high - low) / 40 * 1.001


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (-0.0001, 2, "0.00"),
        (math.nan, 2, "undefined"),
        (-math.inf, 2, "-inf"),
        (1234.5, -2, "1200"),
        (3e12, -3, "3.000000000e+12"),
        (0.0, 3, "0.000"),
    ],
)
def test_numbers_have_no_negative_zero_and_no_nan(value, digits, shown):
    assert rendering.number(value, digits) == shown


# ------------------------------------------------------------------ words


def test_the_claim_of_an_accuracy_can_be_printed_in_a_paper():
    # Wilson limits of 171 of 200 from the formula: 0.7995 and 0.8971.
    assert accuracy_result().claim() == (
        "Accuracy was 0.855 on 200 test rows; on new data from the same source it is estimated "
        "at 0.855 (95 % CI 0.800 to 0.897, Wilson interval)."
    )


def test_the_claim_says_what_was_resampled():
    assert "studentized bootstrap interval, 60 rows resampled)" in mean_result().claim()
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
    notes = ("Only 3 rows.", degeneracy(limits, evidence))
    result = mean_result(evidence=evidence, confidence_interval=limits, notes=notes)
    found = facts_of(result)
    assert ("95 % CI", "undefined: fewer than two resamples gave a value") in found
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
    assert "no 95 % CI: fewer than two resamples gave" in ALL_KINDS["one resample"]().claim()


@pytest.mark.parametrize("kind", ["next_run", "pooled"])
def test_what_is_no_confidence_interval_is_not_called_one(kind):
    result = ALL_KINDS[kind]()
    assert not re.search(r"\bCI\b", result.claim() + result.summary() + result.to_markdown())
    expected = {"next_run": "95 % prediction interval", "pooled": "not a confidence interval"}
    assert expected[kind] in result.claim()


def test_the_claim_of_a_method_says_what_is_held_fixed():
    result = mean_result("t", estimand="method", held_fixed=("the training list", "the test rows"))
    assert "with the training list and the test rows held fixed" in result.claim()


def test_an_interval_without_width_is_called_no_evidence():
    assert "does not show that the score is known exactly" in ALL_KINDS["no width"]().claim()
    assert "no width" in ALL_KINDS["no width"]().to_markdown()


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("roc_auc", "ROC AUC"),
        ("neg_log_loss", "Negated log loss"),
        ("accuracy (women)", "Accuracy (women)"),
        ("f1_macro gap (a_b - c)", "F1 macro gap (a_b - c)"),
        ("mAP", "mAP"),
        ("WER of dev", "WER of dev"),
        ("größe", "Größe"),
        ("", ""),
    ],
)
def test_metric_names_become_words_unless_they_are_someones_own(metric, words):
    assert accuracy_result(metric=metric).summary().startswith(f"{words} on 200")


def test_the_summary_says_all_and_fits_the_page():
    result = replace(accuracy_result(method="percentile"), notes=("word " * 60,))
    summary = result.summary()
    for said in (
        "Accuracy on 200 test rows", "on new data from the same source", "0.855 (larger is better)",
        "95 % CI", "percentile bootstrap interval", "standard error", "bias", "Monte Carlo error",
        "200 rows, 999 times", "the trained system", "0.510 (best system that ignores its inputs",
        "note",
    ):  # fmt: skip
        assert said in summary
    assert max(map(len, summary.splitlines())) <= 100


# ------------------------------------------------------------------ tables


def test_a_dict_of_a_result_is_json():
    for make in ALL_KINDS.values():
        record = json.loads(json.dumps(make().to_dict(), allow_nan=False))
        assert record["metric"] == make().metric
    record = undefined_result().to_dict()
    assert record["estimate"] is None
    assert record["confidence_interval"]["low"] is None
    assert ALL_KINDS["infinite"]().to_dict()["confidence_interval"]["low"] == "-inf"


def test_settings_that_json_lacks_become_plain():
    settings = {1: (np.float64(0.5), np.int64(3)), "f": len, "a": np.arange(2), "n": None}
    result = mean_result(settings=settings)
    assert result.settings == {"1": [0.5, 3], "f": str(len), "a": [0, 1], "n": None}
    json.dumps(result.to_dict())


def test_a_frame_has_a_row_per_result():
    pytest.importorskip("pandas")
    frame = accuracy_result().to_frame()
    assert frame.shape[0] == 1
    low, high = accuracy_result().confidence_interval[:2]
    assert (frame.loc[0, "low"], frame.loc[0, "high"]) == (low, high)
    nested = ResultTable({"accuracy": subgroups(), "mean": mean_result()}).to_frame()
    assert list(nested["name"]) == ["accuracy"] * 3 + ["mean"]
    assert list(nested["subgroup"]) == ["women", "men", "gap", ""]


def test_without_pandas_a_frame_is_refused_and_all_else_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for value in (accuracy_result(), subgroups()):
        with pytest.raises(ImportError, match=re.escape("pip install 'skboot[dataframe]'")):
            value.to_frame()
        assert value.to_markdown()
        assert value.to_latex()
        assert value.to_html()


def test_without_matplotlib_a_plot_is_refused_and_all_else_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for value in (accuracy_result(), subgroups()):
        with pytest.raises(ImportError, match=re.escape("pip install 'skboot[plot]'")):
            value.plot()
        assert value.summary()


def test_markdown_has_as_many_cells_in_each_line():
    names = ["a|b", "two\nlines", "*bold*", "__init__", "<b>", "[link](x)", "`code`", "back\\slash"]
    table = ResultTable({name: accuracy_result() for name in names}).to_markdown()
    lines = table.splitlines()
    assert len(lines) == 2 + len(names)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    for escaped in (r"a\|b", "two lines", r"\*bold\*", r"\_\_init\_\_", "&lt;b&gt;", r"\[link\]"):
        assert escaped in table
    assert "roc_auc" in accuracy_result(metric="roc_auc").to_markdown()


def test_latex_reads_names_as_text():
    name = r"50% & #1_a {b} \x ~y^z $5 <c>"
    text = ResultTable({name: accuracy_result(), "[x]": mean_result(), "*": mean_result()})
    latex = text.to_latex()
    assert (
        r"50\% \& \#1\_a \{b\} \textbackslash{}x \textasciitilde{}y\textasciicircum{}z \$5 "
        r"\textless{}c\textgreater{}"
    ) in latex
    # After \\ a bracket or an asterisk would be an argument.
    assert "\n{[}x]" in latex
    assert "\n{*}" in latex
    for command in (r"\begin{tabular}{lllrrrrr}", r"\toprule", r"\bottomrule", r"\end{tabular}"):
        assert command in latex
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {7}


def test_latex_writes_negative_numbers_with_a_minus_sign():
    result = mean_result(confidence_interval=ConfidenceInterval(-0.5, -0.25, 0.95, "t"))
    assert "$-$0.50 to $-$0.25" in result.to_latex()
    assert "clopper-pearson" in accuracy_result(method="clopper-pearson").to_latex()


class _Checker(HTMLParser):
    """Follows opening and closing tags."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked_html(text):
    checker = _Checker()
    checker.feed(text)
    assert not checker.open
    assert len(set(checker.ids)) == len(checker.ids)
    return checker


@any_kind
def test_html_is_well_formed_and_needs_nothing_from_elsewhere(kind):
    result = ALL_KINDS[kind]()
    page = result.to_html()
    checker = checked_html(page)
    assert page.startswith("<!DOCTYPE html>")
    assert '<meta charset="utf-8">' in page
    assert "title" in checker.tags
    assert not re.search(r'(src|href)="|url\(|@import', page)
    checked_html(result._repr_html_())
    if not math.isnan(result.estimate):
        assert {"svg", "desc"} <= set(checker.tags)


def test_html_escapes_names():
    result = accuracy_result(metric="<script>&", notes=("<b>",))
    for html in (result.to_html(), ResultTable({"<i>": result}).to_html()):
        checker = checked_html(html)
        assert not {"script", "b", "i"} & set(checker.tags)


def test_html_is_readable_on_dark_and_light_pages():
    html = accuracy_result()._repr_html_()
    assert "currentColor" in html
    assert not re.search(r"(?<![-\w])(color|background|fill):(#|black|white)", html)


def test_the_same_result_gives_the_same_html():
    assert accuracy_result()._repr_html_() == accuracy_result()._repr_html_()


def test_a_page_is_written_where_it_was_asked(tmp_path):
    for value in (accuracy_result(metric="größe"), subgroups()):
        path = tmp_path / "page.html"
        assert value.to_html(path) is None
        assert path.read_text(encoding="utf-8") == value.to_html()
        assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


# ------------------------------------------------------------------ tables of results


def test_a_table_of_results_is_a_dict():
    table = subgroups()
    assert isinstance(table, dict)
    assert list(table) == ["women", "men", "gap"]
    assert table == dict(table)
    assert pickle.loads(pickle.dumps(table)) == table
    assert repr(table).startswith("ResultTable({'women': <EvaluationResult: accuracy (women) 0.855")


def test_the_summary_of_a_table_has_a_line_per_result_and_each_note_once():
    table = ResultTable({"accuracy": subgroups(), "mean": mean_result(notes=("Careful.",))})
    lines = table.summary().splitlines()
    assert re.match(r"accuracy \(women\) +wilson +0\.855 +0\.800 to 0\.897 ", lines[1])
    assert lines[4].startswith("mean")
    assert table.summary().count("the trained system") == 1
    assert "mean: Careful." in table.summary()
    assert "accuracy gap (women - men): The largest of 1 differences." in table.summary()
    assert str(table) == table.summary()


def test_keys_are_shown_where_the_metric_does_not_say_them():
    same = ResultTable({"model A": accuracy_result(), "model B": accuracy_result(150)})
    assert same.summary().splitlines()[0].startswith("name     metric")
    assert "model B" in same.to_latex()
    by_metric = ResultTable({"accuracy": accuracy_result(), "mean": mean_result()})
    assert by_metric.summary().splitlines()[0].startswith("metric")


def test_a_table_marks_what_is_no_confidence_interval():
    table = ResultTable({"a": accuracy_result(), "b": ALL_KINDS["pooled"]()})
    assert "(95 % spread of single runs)" in table.to_markdown()
    assert "(95 % CI)" in table.to_markdown()


def test_an_undefined_result_in_a_table_has_its_reason():
    table = ResultTable({"a": accuracy_result(), "b": undefined_result()})
    assert "There are no positives" in table.summary()


def test_dicts_of_a_table_are_nested_as_it_is():
    table = ResultTable({"accuracy": dict(subgroups()), "mean": mean_result()})
    record = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert record["accuracy"]["men"]["estimate"] == 0.75
    assert record["mean"]["metric"] == "mean"


def test_drawings_of_one_metric_share_a_scale():
    html = subgroups()._repr_html_()
    centres = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', html)]
    assert len(centres) == 3
    assert centres[1] < centres[0]  # men, 0.75, left of women, 0.855
    checked_html(html)


def test_an_empty_table_says_so():
    assert ResultTable().summary() == "no results"
    checked_html(ResultTable().to_html())
    assert ResultTable().to_markdown()


def test_a_table_of_other_things_is_refused():
    with pytest.raises(TypeError, match="Got int for 'a'"):
        ResultTable({"a": 1}).summary()


# ------------------------------------------------------------------ files


@any_kind
def test_a_saved_result_comes_back_equal(kind, tmp_path):
    result = ALL_KINDS[kind]()
    result.save(tmp_path / "result.npz")
    back = EvaluationResult.load(tmp_path / "result.npz")
    assert back == result
    assert back.summary() == result.summary()


@pytest.mark.parametrize("method", ["wilson", "bca", "studentized", "max-t"])
def test_a_loaded_result_can_be_asked_for_other_intervals(method, tmp_path):
    made = {"wilson": accuracy_result, "max-t": lambda: subgroups()["gap"]}
    result = made.get(method, lambda: mean_result(method))()
    result.save(tmp_path / "r.npz")
    back = EvaluationResult.load(tmp_path / "r.npz")
    assert back.interval(confidence_level=0.8) == result.interval(confidence_level=0.8)
    assert back.monte_carlo_error == result.monte_carlo_error


def test_everything_a_result_can_hold_comes_back(tmp_path):
    result = mean_result(
        metric="größe ≥ 0 🎲",
        evidence=mean_evidence(
            bounds=(-np.inf, np.inf), largest_share=np.float64(0.1), delong=(0.1, 3),
            proportion=(np.int64(3), 60, False, "f1", -1.0), replicates=np.r_[np.nan, ROWS],
            replicate_standard_errors=None, max_t=(0.5, np.arange(3.0)),
        ),
        confidence_interval=ConfidenceInterval(-np.inf, np.nan, 0.95, "studentized"),
        greater_is_better=None,
        seed={"entropy": 2**127 + 1, "spawn_key": [1, 2]},
        settings={"$tuple": 1, "x": [None, True, float("inf")], "y": {"$array": "no"}},
        runs={"score": np.arange(3.0), "name": np.array(["ä", "b"]), "$float": (1, [2.5])},
    )  # fmt: skip
    result.save(str(tmp_path / "no suffix"))
    assert (tmp_path / "no suffix").exists()
    back = EvaluationResult.load(tmp_path / "no suffix")
    assert back == result
    assert isinstance(back.evidence.n_units, tuple)
    assert isinstance(back.evidence.proportion, tuple)
    assert not back.bootstrap_distribution.flags.writeable


def test_the_header_is_json_that_other_programs_can_read(tmp_path):
    ALL_KINDS["infinite"]().save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as archive:
        header = json.loads(str(archive["header"]), parse_constant=pytest.fail)
        assert header["format"] == "skboot.EvaluationResult"
        assert archive["basis.evidence.replicates"].shape == (999,)


def test_python_objects_are_neither_saved_nor_loaded(tmp_path):
    path = tmp_path / "r.npz"
    with pytest.raises(TypeError, match="Python objects"):
        mean_result(runs={"x": np.array([{}])}).save(path)
    assert not path.exists()
    np.savez(path, header=np.array([{"format": "skboot.EvaluationResult"}], dtype=object))
    with pytest.raises(ValueError, match="not a file of skboot"):
        EvaluationResult.load(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="not an npz archive"):
        EvaluationResult.load(path)


def _header(**changes):
    return np.array(json.dumps({"format": "skboot.EvaluationResult", "version": 2, **changes}))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.arange(3)}, "not a file of"),
        ({"header": np.array("{")}, "not a file of"),
        ({"header": np.array("[1]")}, "not a file of"),
        ({"header": _header(format="other", parts={})}, "holds 'other'"),
        ({"header": _header(version=3, parts={})}, "newer skboot.*Upgrade"),
        ({"header": _header(version=1, parts={})}, "before the first release.*again"),
        ({"header": _header(version="x", parts={})}, "newer skboot"),
        ({"header": _header(parts={})}, "does not hold a whole result"),
        ({"header": _header(parts={"a": {"$array": "gone"}})}, "not a file of"),
        ({"header": _header(parts={"evidence": {"a": 1}})}, "does not hold a whole result"),
    ],
)
def test_other_files_are_refused_with_the_reason(arrays, message, tmp_path):
    np.savez(tmp_path / "r.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        EvaluationResult.load(tmp_path / "r.npz")


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "r.npz"
    mean_result().save(path)
    content = path.read_bytes()
    for end in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match="damaged"):
            EvaluationResult.load(path)
    broken = bytearray(content)
    broken[len(content) // 2] ^= 0xFF
    path.write_bytes(broken)
    with pytest.raises(ValueError, match="damaged"):
        EvaluationResult.load(path)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        EvaluationResult.load(tmp_path / "no.npz")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "r.npz"
    mean_result().save(path)

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(storage.np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        accuracy_result().save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["r.npz"]
    assert EvaluationResult.load(path) == mean_result()


def test_all_texts_are_made_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in ALL_KINDS.values():
            result = make()
            result.summary(), result.claim(), result.to_html(), result.to_dict()
