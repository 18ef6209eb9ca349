"""Each verb says what the public function says of the same rows, on a real file."""

import json

import numpy as np
import pytest

from skboot import (
    Trials,
    bootstrap_curve,
    bootstrap_score,
    check_table,
    compare_systems,
    plan_evaluation,
)
from skboot.results import ResultTable
from skboot.testing import assert_not_worse

NAMES = ("logistic", "bayes", "tree")
SHORT = {"n_resamples": 499, "random_state": 0}
FEW = ("--n-resamples", "499", "--json")


@pytest.fixture
def record(skboot, file):
    """The JSON of a call on the file, without its version, and the exit code."""

    def run(verb, *words, codes=(0,)):
        code, out, err = skboot(verb, file, *words, *FEW)
        assert code in codes, err
        found = json.loads(out)
        assert found.pop("schema") == 1
        return found

    return run


def systems(digits, names=NAMES):
    return {name: digits[name] for name in names}


def as_json(record):
    return json.loads(json.dumps(record, allow_nan=False))


def test_score_is_bootstrap_score(record, digits):
    expected = bootstrap_score(digits["digit"], digits["bayes"], **SHORT)
    assert record("score", "--y-true", "digit", "--y-pred", "bayes") == as_json(expected.to_dict())


def test_an_interval_at_every_look_has_the_name_that_tables_print(record):
    words = ("--y-true", "digit", "--y-pred", "bayes", "--first-look", "100", "--interval")
    named, printed = (record("score", *words, name) for name in ("anytime", "Anytime"))
    assert named == printed


def test_score_of_several_systems_metrics_and_subgroups_is_a_table(record, digits):
    words = ("--y-true", "digit", "--systems", *NAMES, "--metric", "accuracy", "f1_macro")
    options = {"metric": ["accuracy", "f1_macro"], **SHORT}
    table = ResultTable(
        {name: bootstrap_score(digits["digit"], digits[name], **options) for name in NAMES}
    )
    assert record("score", *words) == as_json(table.to_dict())
    by = bootstrap_score(digits["digit"], digits["tree"], by=digits["half"], **SHORT)
    words = ("--y-true", "digit", "--y-pred", "tree", "--by", "half")
    assert record("score", *words) == as_json(by.to_dict())


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (("--groups", "batch"), {"groups": "batch"}),
        (("--strata", "half"), {"strata": "half"}),
        (("--weights", "weight"), {"sample_weight": "weight"}),
        (("--average-over", "batch"), {"average_over": "batch"}),
        (("--block-length", "5"), {"block_length": 5}),
        (("--interval", "percentile"), {"interval": "percentile"}),
        (("--confidence-level", "0.9"), {"confidence_level": 0.9}),
        (("--seed", "7"), {"random_state": 7}),
    ],
)
def test_an_option_is_the_argument_of_the_function(words, options, record, digits):
    given = {
        name: digits[value] if isinstance(value, str) and value in digits else value
        for name, value in options.items()
    }
    expected = bootstrap_score(digits["digit"], digits["bayes"], **{**SHORT, **given})
    found = record("score", "--y-true", "digit", "--y-pred", "bayes", *words)
    assert found == as_json(expected.to_dict())


def test_pairs_of_one_population_are_crossed(record, digits):
    options = {"groups": Trials(digits["first"], digits["second"]), **SHORT}
    with pytest.warns(UserWarning, match="one population"):
        expected = bootstrap_score(digits["digit"], digits["bayes"], **options)
    words = ("--y-true", "digit", "--y-pred", "bayes", "--groups", "first", "second")
    assert record("score", *words, "--same-population") == as_json(expected.to_dict())


def test_a_mean_of_values_needs_no_truth(record, digits):
    expected = bootstrap_score(
        None, digits["right"], metric="mean", greater_is_better=True, **SHORT
    )
    words = ("--y-pred", "right", "--metric", "mean", "--greater-is-better")
    assert record("score", *words) == as_json(expected.to_dict())


def test_compare_is_compare_systems(record, digits):
    expected = compare_systems(digits["digit"], systems(digits), **SHORT)
    words = ("--y-true", "digit", "--systems", *NAMES)
    assert record("compare", *words) == as_json(expected.to_dict())
    with_one = compare_systems(digits["digit"], systems(digits), reference="tree", **SHORT)
    assert record("compare", *words, "--reference", "tree") == as_json(with_one.to_dict())


@pytest.mark.parametrize(
    ("candidate", "reference", "margin", "outcome", "code"),
    [
        ("logistic", "bayes", "0", "pass", 0),
        ("tree", "logistic", "0.01", "fail", 1),
        ("bayes", "tree", "0.02", "inconclusive", 3),
    ],
)
def test_gate_is_assert_not_worse_in_an_exit_code(
    candidate, reference, margin, outcome, code, skboot, file, digits
):
    words = ("gate", file, "--y-true", "digit", "--candidate", candidate, "--reference", reference)
    found_code, out, err = skboot(*words, "--margin", margin, *FEW)
    assert (found_code, err) == (code, "")
    found = json.loads(out)
    arguments = (digits["digit"], digits[candidate], digits[reference])
    options = {"margin": float(margin), **SHORT}
    if outcome == "pass":
        assert_not_worse(*arguments, **options)
    else:
        with pytest.raises(AssertionError, match=f"^{outcome}: "):
            assert_not_worse(*arguments, **options)
    pair = compare_systems(
        digits["digit"], systems(digits, (candidate, reference)), adjust=None, **SHORT
    ).pairs[0]
    verdict = pair.verdict(float(margin))
    assert found["verdict"]["outcome"] == verdict.outcome == outcome
    assert found["verdict"]["smallest_margin"] == verdict.smallest_margin
    assert found["verdict"]["interval"] == verdict.interval.to_dict()
    assert found["pairs"][0]["difference"] == pair.difference
    assert verdict.statement in skboot(*words, "--margin", margin, "--n-resamples", "499")[1]


@pytest.mark.parametrize(("told", "code"), [("fail", 1), ("warn", 0), ("pass", 0)])
def test_an_open_outcome_counts_as_told(told, code, skboot, file):
    words = ("--y-true", "digit", "--candidate", "bayes", "--reference", "tree", "--margin", "0.02")
    found_code, _, err = skboot("gate", file, *words, "--inconclusive", told, *FEW)
    assert found_code == code
    assert err.count("\n") == (told == "warn")
    # The statement stands above the numbers, and the warning does not repeat it.
    assert "CI" not in err


def test_an_outcome_that_is_clear_is_no_warning(skboot, file):
    words = ("--y-true", "digit", "--candidate", "logistic", "--reference", "tree")
    code, _, err = skboot("gate", file, *words, "--margin", "0", "--inconclusive", "warn", *FEW)
    assert (code, err) == (0, "")


def test_rank_is_the_ranks_of_a_comparison(record, skboot, file, digits):
    expected = compare_systems(digits["digit"], systems(digits), **SHORT)
    words = ("--y-true", "digit", "--systems", *NAMES)
    found = record("rank", *words)
    assert found.pop("ranks") == expected.ranks().to_dict()
    assert found == as_json(expected.to_dict())
    printed = skboot("rank", file, *words, "--n-resamples", "499")[1]
    assert str(expected.ranks()) in printed
    assert "may be the best  logistic" in printed


def test_curve_is_bootstrap_curve(record, digits):
    words = ("--y-true", "is_eight", "--pos-label", "yes")
    given = {"pos_label": "yes", **SHORT}
    expected = bootstrap_curve(digits["is_eight"], digits["p_bayes"], curve="det", **given)
    found = record("curve", *words, "--y-pred", "p_bayes", "--curve", "det")
    assert found == as_json(expected.to_dict())
    two = {name: digits[name] for name in ("p_logistic", "p_bayes")}
    batch = pytest.importorskip("pandas").Series(digits["batch"], name="batch")
    expected = bootstrap_curve(digits["is_eight"], two, groups=batch, **given)
    found = record("curve", *words, "--systems", *two, "--groups", "batch")
    assert found == as_json(expected.to_dict())
    assert "difference" in found


def test_plan_is_plan_evaluation(record, skboot, digits):
    pilot = bootstrap_score(digits["digit"], digits["bayes"], **SHORT)
    found = record("plan", "--y-true", "digit", "--y-pred", "bayes", "--half-width", "0.01")
    assert found == as_json(plan_evaluation(pilot, half_width=0.01).to_dict())
    two = systems(digits, ("bayes", "tree"))
    [pair] = compare_systems(digits["digit"], two, adjust=None, **SHORT).pairs
    words = ("--y-true", "digit", "--candidate", "bayes", "--reference", "tree")
    found = record("plan", *words, "--difference", "0.02", "--power", "0.9")
    assert found == as_json(plan_evaluation(pair, difference=0.02, power=0.9).to_dict())
    found = record("plan", *words, "--margin", "0.02")
    assert found["n_units"] == plan_evaluation(pair, margin=0.02).n_units
    code, out, _ = skboot("plan", "--proportion", "0.9", "--half-width", "0.02")
    assert code == 0
    assert out.rstrip() == plan_evaluation(proportion=0.9, half_width=0.02).summary()


def test_the_same_call_gives_the_same_numbers_and_says_its_seed(skboot, file):
    words = ("score", file, "--y-true", "is_eight", "--y-pred", "p_bayes", "--metric", "roc_auc")
    first, second = (skboot(*words, "--pos-label", "yes") for _ in range(2))
    assert first == second
    assert f"file            {file}, 450 rows\n" in first[1]
    assert "positive label  yes\n" in first[1]
    assert first[1].endswith("seed            0\n")
    other = skboot(*words, "--pos-label", "yes", "--seed", "1")
    assert other[1] != first[1]


def test_check_is_check_table_and_ends_well_with_an_impossible_score(skboot, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("system,score\nours,93.4\nother,93.20\nold,85.37%\n")
    found = check_table(table, n=500, confidence_level=0.9)
    words = ("check", str(table), "--n", "500", "--confidence-level", "0.9")
    assert found.rows[2].k_low is None
    code, out, err = skboot(*words)
    assert (code, err) == (0, "")
    assert out.startswith(found.summary())
    assert (
        skboot(*words, "--json")[1] == json.dumps({"schema": 1, **found.to_dict()}, indent=2) + "\n"
    )
    assert skboot(*words, "--markdown")[1].rstrip() == found.to_markdown()
    assert skboot(*words, "--latex")[1].rstrip() == found.to_latex()
    report = tmp_path / "report.html"
    assert skboot(*words, "--report", str(report))[0] == 0
    assert "No number of right rows" in report.read_text(encoding="utf-8")


def test_check_says_in_words_of_the_command_line_what_it_needs(skboot, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("system,score\nours,93.4\nother,.9\n")
    code, out, err = skboot("check", str(table))
    assert (code, out) == (2, "")
    assert err.startswith("skboot check: --n must be given where the table has no column 'n'.")
    code, _, err = skboot("check", str(table), "--n", "500", "--decimals", "0")
    assert code == 2
    assert err.startswith("skboot check: --decimals must be at least the number of decimals")
    code, _, err = skboot("check", str(table), "--n", "500")
    assert code == 0
    assert err.startswith(
        "skboot: warning: Scores of 1 or less are read as percent too: other (.9)"
    )
    table.write_text("system,score\nours,high\n")
    code, _, err = skboot("check", str(table), "--n", "500")
    assert code == 2
    assert err.startswith("skboot check: column 'score' must hold one number of each system")
    table.write_text("name,score\nours,0.9\n")
    code, _, err = skboot("check", str(table), "--n", "500")
    assert (code, err) == (
        2,
        f"skboot check: '{table}' has no column 'system'. Columns: name, score\n",
    )


def test_demo_shows_every_other_verb_and_writes_only_where_it_is_told(
    skboot, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, out, err = skboot("demo")
    assert (code, err) == (0, "")
    assert list(tmp_path.iterdir()) == []
    shown = [line.split()[2] for line in out.splitlines() if line.startswith("$ skboot ")]
    assert shown == ["score", "compare", "gate", "rank", "curve", "plan", "check"]
    (tmp_path / "here").mkdir()
    code, again, err = skboot("demo", "here")
    assert (code, err) == (0, "")
    assert again.splitlines()[:-1] == out.splitlines()[:-1]
    assert {path.name for path in (tmp_path / "here").iterdir()} == {
        "digits.csv",
        "table.csv",
        "report.html",
    }
    code, out, err = skboot("demo", "nowhere")
    assert (code, out, err) == (2, "", "skboot demo: there is no folder 'nowhere'\n")


# ------------------------------------------------------------------ scores cut into labels


def labels_from(scores, threshold):
    return np.where(scores >= threshold, "yes", "no")


def test_a_threshold_makes_labels_of_scores(record, digits):
    words = ("--y-true", "is_eight", "--pos-label", "yes", "--threshold", "0.25")
    given = {"pos_label": "yes", **SHORT}
    two = {name: labels_from(digits[name], 0.25) for name in ("p_logistic", "p_bayes")}
    expected = bootstrap_score(digits["is_eight"], two["p_bayes"], metric="f1", **given)
    found = record("score", *words, "--y-pred", "p_bayes", "--metric", "f1")
    assert found == as_json(expected.to_dict())
    expected = compare_systems(digits["is_eight"], two, metric="f1", **given)
    found = record("compare", *words, "--systems", *two, "--metric", "f1")
    assert found == as_json(expected.to_dict())


def test_a_score_of_the_threshold_is_positive_and_the_threshold_is_printed(skboot, tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"{k % 2},{0.5 if k % 2 else 0.25}\n" for k in range(60)]
    path.write_text("y,p\n" + "".join(rows))
    call = ("score", path, "--y-true", "y", "--y-pred", "p", "--n-resamples", "99")
    code, out, err = skboot(*call, "--threshold", "0.5", "--json")
    assert (code, json.loads(out)["estimate"], err) == (0, 1.0, "")
    assert (
        "threshold  0.5: scores from it on are positive\n" in skboot(*call, "--threshold", ".5")[1]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("digit", "--y-pred", "p_bayes"), "needs two labels, and column 'digit' has 10"),
        (
            ("is_eight", "--y-pred", "p_bayes", "--metric", "roc_auc", "--pos-label", "yes"),
            "makes labels of scores: every --metric must be one of labels",
        ),
        (
            ("is_eight", "--y-pred", "p0", "p1", "--pos-label", "yes"),
            "needs one column of numbers, and got p0, p1",
        ),
    ],
)
def test_a_threshold_without_scores_of_two_classes_is_refused(words, said, skboot, file):
    code, out, err = skboot("score", file, "--y-true", *words, "--threshold", "0.5")
    assert (code, out) == (2, "")
    assert err.startswith(f"skboot score: --threshold {said}")


def test_a_threshold_of_labels_that_are_no_0_and_1_asks_for_the_positive_one(skboot, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y,p\n" + "".join(f"{3 + 2 * (k % 2)},{k % 2}\n" for k in range(60)))
    call = ("score", path, "--y-true", "y", "--y-pred", "p", "--metric", "f1", "--threshold", "0.5")
    code, out, err = skboot(*call)
    assert (code, out) == (2, "")
    assert err.startswith("skboot score: --threshold needs the label that large scores stand for")
    code, out, _ = skboot(*call, "--pos-label", "5", "--n-resamples", "99", "--json")
    assert (code, json.loads(out)["estimate"]) == (0, 1.0)
