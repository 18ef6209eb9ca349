"""The command line is the call: names that look like numbers, labels in any order, plans."""

import contextlib
import io
import json

import numpy as np
import pytest
from command_line import exit_code_of
from identity_cases import quiet, rows_of
from scipy.special import ndtri

import skboot

pytestmark = pytest.mark.identity

B = 39
OPTIONS = {"n_resamples": B, "random_state": 0}


def told(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = exit_code_of([*map(str, words), "--json", "--n-resamples", str(B)])
    assert code == 0
    return json.loads(out.getvalue())


def as_told(result):
    return json.loads(json.dumps({"schema": 1, **result.to_dict()}))


def write(folder, columns):
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "rows.csv"


@pytest.mark.parametrize(
    "names", [["01", "1", "001", "10"], ["1.0", "1", "1e0", "01.0"], ["a", "A", "b", "1"]]
)
@pytest.mark.parametrize("column", ["groups", "strata", "by", "average-over"])
def test_names_that_differ_as_texts_are_different_units(names, column, tmp_path):
    rng = np.random.default_rng(0)
    y, p = rows_of("two", rng, 96)
    units = np.array(names)[np.arange(96) % 4]
    file = write(tmp_path, {"y": y, "p": p, "u": units})
    options = {column.replace("-", "_"): units, **OPTIONS}
    result = quiet(skboot.bootstrap_score, y, p, **options)
    record = told("score", file, "--y-true", "y", "--y-pred", "p", f"--{column}", "u")
    assert record == as_told(result)


@pytest.mark.parametrize(
    "order", [["cat", "ant", "bee"], ["bee", "cat", "ant"], ["ant", "bee", "cat"]]
)
def test_columns_are_read_by_the_labels_that_are_told(order, tmp_path):
    rng = np.random.default_rng(1)
    y, p = rows_of("columns", rng, 60)
    names = ["ant", "bee", "cat"]
    p = p.round(3)
    p[:, 2] = (1 - p[:, :2].sum(axis=1)).round(3)
    place = [names.index(label) for label in order]
    columns = {"y": np.array(names)[y], **{f"p{k}": p[:, place[k]] for k in range(3)}}
    file = write(tmp_path, columns)
    one = quiet(skboot.bootstrap_score, np.array(names)[y], p, metric="neg_log_loss", **OPTIONS)
    words = ("--y-true", "y", "--y-pred", "p0", "p1", "p2", "--metric", "neg_log_loss")
    record = told("score", file, *words, "--labels", *order)
    assert record["estimate"] == pytest.approx(one.estimate, abs=1e-12)
    how = {"labels": order, "metric": "neg_log_loss", **OPTIONS}
    assert record == as_told(quiet(skboot.bootstrap_score, columns["y"], p[:, place], **how))


PLANS = {
    "half-width": {"half_width": 0.05},
    "half-width of groups": {"half_width": 0.05, "groups": "g"},
    "half-width of strata": {"half_width": 0.06, "strata": "s"},
    "half-width with weights": {"half_width": 0.06, "weights": "w"},
    "half-width over tasks": {"half_width": 0.06, "average-over": "g", "groups": "g"},
    "half-width of blocks": {"half_width": 0.07, "block-length": 3},
    "half-width of f1": {"half_width": 0.06, "metric": "f1", "pos-label": "0"},
    "level": {"half_width": 0.05, "confidence-level": 0.8},
    "interval": {"half_width": 0.05, "interval": "normal", "confidence-level": 0.9},
    "difference": {"difference": 0.06},
    "power": {"difference": 0.06, "power": 0.6, "confidence-level": 0.9},
    "margin": {"margin": 0.05, "power": 0.9},
    "margin of groups": {"margin": 0.06, "groups": "g", "metric": "f1"},
}
ARGUMENTS = {"weights": "sample_weight"}
TARGETS = ("half_width", "difference", "margin", "power", "confidence-level")


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_is_told_is_that_of_the_call(name, tmp_path):
    rng = np.random.default_rng(2)
    y, a = rows_of("two", rng, 90)
    b = np.where(rng.random(90) < 0.3, 1 - a, a)
    columns = {"y": y, "a": a, "b": b, "g": np.arange(90) // 3, "s": np.arange(90) % 2}
    columns["w"] = rng.integers(1, 5, 90) / 2
    file = write(tmp_path, columns)
    asked = PLANS[name]
    words = [word for key, value in asked.items() for word in (f"--{key.replace('_', '-')}", value)]
    options = {
        ARGUMENTS.get(key, key.replace("-", "_")): columns.get(value, value)
        if isinstance(value, str)
        else value
        for key, value in asked.items()
        if key not in TARGETS
    }
    if "pos_label" in options:
        options["pos_label"] = int(options["pos_label"])
    level = asked.get("confidence-level", 0.95)
    options |= {"confidence_level": level, **OPTIONS}
    if "half_width" in asked:
        words += ["--y-pred", "a"]
        pilot = quiet(skboot.bootstrap_score, y, a, **options)
    else:
        words += ["--candidate", "a", "--reference", "b"]
        [pilot] = quiet(skboot.compare_systems, y, {"a": a, "b": b}, **options).pairs
    target = {key: asked[key] for key in TARGETS[:4] if key in asked}
    plan = quiet(skboot.plan_evaluation, pilot, **target)
    assert told("plan", file, "--y-true", "y", *words) == as_told(plan)


@pytest.mark.parametrize("share", [0.5, 0.83, 0.99])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_plan_of_a_share_is_wilsons_interval(share, level):
    plan = skboot.plan_evaluation(proportion=share, half_width=0.03, confidence_level=level)
    record = told("plan", "--proportion", share, "--half-width", 0.03, "--confidence-level", level)
    assert record == as_told(plan)
    for n, is_enough in ((plan.n_units, True), (plan.n_units - 1, False)):
        z = ndtri(0.5 + level / 2)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        assert (half <= 0.03) == is_enough


def test_one_population_on_the_command_line_is_that_of_the_call(tmp_path):
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 20, (2, 200))
    values = np.round(rng.normal(size=20)[i] + rng.normal(size=20)[j] + rng.normal(size=200), 3)
    file = write(tmp_path, {"value": values, "i": i, "j": j})
    words = ["score", file, "--y-pred", "value", "--metric", "mean", "--groups", "i", "j"]
    for same in (False, True):
        said = told(*words, *(["--same-population"] if same else []))
        groups = (skboot.Trials if same else skboot.Crossed)(i, j)
        call = {"metric": "mean", "groups": groups}
        result = quiet(skboot.bootstrap_score, None, values, **call, **OPTIONS)
        assert said["estimate"] == as_told(result)["estimate"]
        assert said["confidence_interval"] == as_told(result)["confidence_interval"]
