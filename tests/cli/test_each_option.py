"""Each option of each verb of the command line is the argument of the call, and changes it.

Exact: the record that a command prints is that of the function, and it is another one without the
option. The rows are those of two classes, of values, and of columns of probabilities.
"""

import contextlib
import io
import json
import re
from argparse import Namespace
from functools import partial

import numpy as np
import pytest
from command_line import exit_code_of
from identity_cases import N_SLOW, quiet

import skboot

pytestmark = pytest.mark.identity

N, B = 90, 19


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    a, b, c = (np.where(rng.random(N) < share, 1 - y, y) for share in (0.15, 0.25, 0.35))
    p = np.round(1 / (1 + np.exp(-rng.normal(size=N) - 2 * y + 1)), 3)
    value = np.round(rng.gamma(2.0, size=N), 3)
    group = np.arange(N) // 3
    columns = {
        "y": y, "a": a, "b": b, "c": c, "p": p, "q": np.round(0.7 * p + 0.3 * rng.random(N), 3),
        "n": np.round(1 - p, 3), "value": value, "other": np.round(value * rng.gamma(4, 0.3, N), 3),
        "g": group, "h": rng.permutation(N) % 13, "s": group % 2, "t": np.arange(N) % 4,
        "w": rng.integers(1, 6, N) / 2, "word": np.array(["no", "yes"])[y],
        "said": np.array(["no", "yes"])[a],
    }  # fmt: skip
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
    return Namespace(path=path, **columns)


def told(rows, verb, *words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = exit_code_of([verb, *map(str, [rows.path, *words]), "--json"])
    return code, json.loads(out.getvalue())


def as_told(result):
    return json.loads(json.dumps({"schema": 1, **result.to_dict()}))


# Words of an option, and the arguments of the call that they stand for; names are columns.
UNITS = {
    "groups": (("--groups", "g"), {"groups": "g"}),
    "crossed": (("--groups", "g", "h"), {"groups": ("g", "h")}),
    "one population": (
        ("--groups", "g", "h", "--same-population"),
        {"groups": ["g", "h"]},
    ),
    "strata": (("--strata", "s"), {"strata": "s"}),
    "groups in strata": (("--groups", "g", "--strata", "s"), {"groups": "g", "strata": "s"}),
    "weights": (("--weights", "w"), {"sample_weight": "w"}),
    "blocks": (("--block-length", "4"), {"block_length": 4}),
    "blocks of any length": (("--block-length", "auto"), {"block_length": "auto"}),
    "panel": (("--block-length", "3", "--strata", "s"), {"block_length": 3, "strata": "s"}),
    "level": (("--confidence-level", "0.8"), {"confidence_level": 0.8}),
    "resamples": (("--n-resamples", "29"), {"n_resamples": 29}),
    "seed": (("--seed", "5"), {"random_state": 5}),
}
TASKS = {
    "tasks": (("--average-over", "t"), {"average_over": "t"}),
    "drawn tasks": (
        ("--average-over", "g", "--groups", "g"), {"average_over": "g", "groups": "g"},
    ),
}  # fmt: skip
METRICS = {
    "f1": (("--metric", "f1"), {"metric": "f1"}),
    "f1 of 0": (("--metric", "f1", "--pos-label", "0"), {"metric": "f1", "pos_label": 0}),
    "percentile": (("--interval", "percentile"), {"interval": "percentile"}),
}
BY = {"parts": (("--by", "s"), {"by": "s"}), "two": (("--metric", "f1", "accuracy"),
                                                     {"metric": ["f1", "accuracy"]})}  # fmt: skip
OF_SCORE = {**UNITS, **TASKS, **METRICS, **BY}


def arguments(rows, options):
    def column(name):
        if isinstance(name, list):  # of one population
            return skboot.Trials(*(getattr(rows, one) for one in name))
        if isinstance(name, tuple):
            return np.column_stack([getattr(rows, one) for one in name])
        return getattr(rows, name)

    of_columns = ("groups", "strata", "sample_weight", "average_over", "by")
    found = {key: column(v) if key in of_columns else v for key, v in options.items()}
    return {"n_resamples": B, "random_state": 0, **found}


def with_resamples(words):
    return words if "--n-resamples" in words else (*words, "--n-resamples", B)


def assert_said(rows, words, record, function, *given, **options):
    """The record is that of the call; the verb comes first of the words."""
    result = quiet(function, *given, **arguments(rows, options))
    code, found = told(rows, *with_resamples(words))
    assert code == 0
    assert found == record(result)
    return result


@pytest.mark.parametrize("option", OF_SCORE)
def test_each_option_of_a_score_is_its_argument(option, rows):
    words, options = OF_SCORE[option]
    given = (skboot.bootstrap_score, rows.y, rows.a)
    how = ("score", "--y-true", "y", "--y-pred", "a")
    changed = assert_said(rows, (*how, *words), as_told, *given, **options)
    plain = quiet(*given, **arguments(rows, {}))
    assert as_told(changed) != as_told(plain)


@pytest.mark.parametrize("option", OF_SCORE)
def test_each_option_of_a_comparison_is_its_argument(option, rows):
    words, options = OF_SCORE[option]
    given = (skboot.compare_systems, rows.y, {"b": rows.b, "a": rows.a, "c": rows.c})
    how = ("compare", "--y-true", "y", "--systems", "b", "a", "c")
    if option == "f1":
        words, options = (*words, "--reference", "a"), {**options, "reference": "a"}
    assert_said(rows, (*how, *words), as_told, *given, **options)


@pytest.mark.parametrize("option", {**UNITS, **TASKS, **METRICS})
def test_each_option_of_a_gate_is_its_argument(option, rows):
    words, options = {**UNITS, **TASKS, **METRICS}[option]
    result = quiet(skboot.compare_systems, rows.y, {"b": rows.b, "a": rows.a}, adjust=None,
                   **arguments(rows, options))  # fmt: skip
    how = ("gate", "--y-true", "y", "--candidate", "b", "--reference", "a", *words)
    margins = (0.0, *np.abs([*result.pairs[0].confidence_interval]).round(3) + 0.01)
    answers = ((None, 3), ("pass", 0), ("fail", 1), ("warn", 0))
    for margin in margins if option == "f1" else margins[1:2]:
        verdict = result.pairs[0].verdict(margin)
        for inconclusive, code in answers if option == "f1" else answers[:1]:
            more = () if inconclusive is None else ("--inconclusive", inconclusive)
            found, record = told(rows, *with_resamples((*how, "--margin", margin, *more)))
            assert found == {"pass": 0, "fail": 1, "inconclusive": code}[verdict.outcome]
            told_verdict = record["verdict"]
            assert told_verdict["outcome"] == verdict.outcome
            assert told_verdict["statement"] == verdict.statement
            assert told_verdict["detectable_margin"] == verdict.detectable_margin
            assert told_verdict["smallest_margin"] == verdict.smallest_margin
            if verdict.outcome != "inconclusive":
                break


@pytest.mark.parametrize("option", ["groups", "strata", "weights", "level", "tasks", "f1"])
def test_each_option_of_ranks_is_its_argument(option, rows):
    words, options = {**UNITS, **TASKS, **METRICS}[option]
    given = (skboot.compare_systems, rows.y, {"c": rows.c, "a": rows.a, "b": rows.b})
    how = ("rank", "--y-true", "y", "--systems", "c", "a", "b", *words)

    def record(result):
        return json.loads(json.dumps({**as_told(result), "ranks": result.ranks().to_dict()}))

    assert_said(rows, how, record, *given, **options)


OF_CURVES = ("one population", "groups in strata", "weights", "panel", "level", "resamples", "seed")
CURVES = ("roc", "det", "precision_recall", "calibration", "calibration_smooth", "decision")


@pytest.mark.parametrize("option", [*OF_CURVES, *CURVES, "pos_label"])
def test_each_option_of_a_curve_is_its_argument(option, rows):
    curves = {name: (("--curve", name), {"curve": name}) for name in CURVES}
    positive = {"pos_label": (("--pos-label", "0"), {"pos_label": 0})}
    words, options = {**UNITS, **curves, **positive}[option]
    how = ("curve", "--y-true", "y", "--y-pred", "p", *words)
    assert_said(rows, how, as_told, skboot.bootstrap_curve, rows.y, rows.p, **options)
    if option in ("roc", "decision"):
        systems = {"p": rows.p, "q": rows.q}
        how = ("curve", "--y-true", "y", "--systems", "p", "q", *words)
        assert_said(rows, how, as_told, skboot.bootstrap_curve, rows.y, systems, **options)


@pytest.mark.parametrize("better", [True, False])
def test_values_are_told_with_their_direction(better, rows):
    words = ("--metric", "mean", f"--{'greater' if better else 'smaller'}-is-better")
    options = {"metric": "mean", "greater_is_better": better}
    systems = {"value": rows.value, "other": rows.other}
    assert_said(rows, ("score", "--y-pred", "value", *words), as_told, skboot.bootstrap_score,
                None, rows.value, **options)  # fmt: skip
    found = assert_said(rows, ("compare", "--systems", "value", "other", *words), as_told,
                        skboot.compare_systems, None, systems, **options)  # fmt: skip
    low, high = found.pairs[0].confidence_interval
    margin = round(abs(low if better else high) + 0.01, 3)
    verdict = quiet(skboot.compare_systems, None, systems, adjust=None,
                    **arguments(rows, options)).pairs[0].verdict(margin)  # fmt: skip
    _, record = told(rows, "gate", "--candidate", "value", "--reference", "other", "--margin",
                     margin, *words, "--n-resamples", B)  # fmt: skip
    assert record["verdict"]["outcome"] == verdict.outcome
    assert record["verdict"]["statement"] == verdict.statement


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_labels_in_text_and_columns_are_told(positive, rows):
    metric, more = ("--metric", "f1"), {"metric": "f1", "pos_label": positive}
    how = ("score", "--y-true", "word", "--y-pred", "said", "--pos-label", positive, *metric)
    assert_said(rows, how, as_told, skboot.bootstrap_score, rows.word, rows.said, **more)
    for labels, columns in ((["no", "yes"], ("n", "p")), (["yes", "no"], ("p", "n"))):
        how = ("score", "--y-true", "word", "--y-pred", *columns, "--labels", *labels, "--metric",
               "neg_log_loss", "--pos-label", positive)  # fmt: skip
        prob = np.column_stack([getattr(rows, name) for name in columns])
        assert_said(rows, how, as_told, skboot.bootstrap_score, rows.word, prob, labels=labels,
                    metric="neg_log_loss", pos_label=positive)  # fmt: skip


PLANS = {
    "half-width": (("--half-width", "0.05", "--y-pred", "a"), {"half_width": 0.05}),
    "difference": (("--difference", "0.07"), {"difference": 0.07}),
    "power": (("--difference", "0.07", "--power", "0.55"), {"difference": 0.07, "power": 0.55}),
    "margin": (("--margin", "0.08", "--power", "0.9"), {"margin": 0.08, "power": 0.9}),
}
OF_PLANS = ("groups", "strata", "weights", "blocks", "level", "tasks", "f1", "percentile")


def plans_and_options():
    """Each option with one plan, and each plan with two options; the rest in `make slow`."""
    found = []
    for k, plan in enumerate(PLANS):
        for j, option in enumerate(OF_PLANS):
            is_fast = (k + j) % len(PLANS) == 0
            if is_fast or N_SLOW:
                marks = [] if is_fast else [pytest.mark.slow]
                found.append(pytest.param(plan, option, marks=marks))
    return found


@pytest.mark.parametrize(("plan", "option"), plans_and_options())
def test_each_option_of_a_plan_is_its_argument(plan, option, rows):
    words, options = OF_SCORE[option]
    aim, target = PLANS[plan]
    if plan == "half-width":
        pilot = quiet(skboot.bootstrap_score, rows.y, rows.a, **arguments(rows, options))
    else:
        aim = (*aim, "--candidate", "a", "--reference", "c")
        pilot = quiet(skboot.compare_systems, rows.y, {"a": rows.a, "c": rows.c}, adjust=None,
                      **arguments(rows, options)).pairs[0]  # fmt: skip
    level = options.get("confidence_level", 0.95)
    expected = quiet(skboot.plan_evaluation, pilot, confidence_level=level, **target)
    code, found = told(rows, "plan", "--y-true", "y", *aim, *with_resamples(words))
    assert (code, found) == (0, as_told(expected))


COSTS = {
    "share of positives": (
        ("p", "minimum_detection_cost", "--priors", 0.01), {"priors": [0.99, 0.01]},
    ),
    "two shares": (("p", "min_dcf", "--priors", 0.9, 0.1), {"priors": [0.9, 0.1]}),
    "costs of two errors": (
        ("p", "minimum_detection_cost", "--priors", 0.25, "--costs", 1, 10, "--relative"),
        {"priors": [0.75, 0.25], "costs": [[0, 1], [10, 0]], "relative": True},
    ),
    "costs of all decisions": (
        ("a", "expected_cost", "--costs", 0, 2, 5, 0), {"costs": [[0, 2], [5, 0]]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COSTS)
def test_costs_and_shares_are_options_of_their_metric(rows, case):
    (column, metric, *words), options = COSTS[case]
    name = "minimum_detection_cost" if metric == "min_dcf" else metric
    function = partial(getattr(skboot.metrics, name), **options)
    result = quiet(skboot.bootstrap_score, rows.y, getattr(rows, column), metric=function,
                   n_resamples=B, random_state=0)  # fmt: skip
    code, record = told(rows, "score", "--y-true", "y", "--y-pred", column, "--metric", metric,
                        *words, "--n-resamples", B)  # fmt: skip
    assert code == 0
    assert record == as_told(result)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("minimum_detection_cost",), "needs the share of positives.*--priors 0.01"),
        (("min_dcf",), "needs the share of positives.*--priors 0.01"),
        (("roc_auc", "--priors", "0.1"), "--priors go with metrics of costs.*'roc_auc'"),
        (("expected_cost", "--costs", "1", "2", "3"), "--costs must be.*Got 3"),
        (("brier_score", "--costs", "1", "2"), "--costs is no option of --metric 'brier_score'"),
        (("min_dcf", "--prior", "0.1"), "Did you mean --priors"),
        (("min_dcf", "--priors", "2", "-1"), "--priors"),
        (("min_dcf", "--priors", "1.5"), r"share of positives in \[0, 1\].* Got 1\.5"),
    ],
)
def test_costs_that_suit_no_metric_lead_on(rows, words, said, capsys):
    code = exit_code_of(["score", str(rows.path), "--y-true", "y", "--y-pred", "p", "--metric",
                         *words])  # fmt: skip
    assert code == 2
    assert re.search(said, capsys.readouterr().err)


def test_options_in_the_name_of_a_metric_are_no_options_of_the_command(rows, capsys):
    words = ["score", str(rows.path), "--y-true", "y", "--y-pred", "a", "--metric", "expected_cost"]
    costs = ["--costs", "1", "2", "--n-resamples", "99"]
    name = "'expected_cost (costs=0 1; 2 0)'"
    assert exit_code_of([*words, *costs, "--pos-label", "0"]) == 0
    assert f"--pos-label 0 changes nothing: {name} has" in capsys.readouterr().err
    # What was typed is said as it was typed; arguments in sentences are options as before.
    assert exit_code_of([*words[:-1], "precision (pos_label=0)"]) == 2
    assert "Got 'precision (pos_label=0)'." in capsys.readouterr().err
    assert exit_code_of([*words, *costs, "--confidence-level", "2"]) == 2
    assert "Use --confidence-level 0.02 for" in capsys.readouterr().err
