"""Calls as users write them: `mypy --strict` must accept them and know what each returns."""

from functools import partial
from typing import Any, assert_type

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score

from skboot import (
    Anytime,
    BootstrapScorer,
    Crossed,
    Judge,
    Trials,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_methods,
    compare_runs,
    compare_systems,
    search_score,
)
from skboot.inference import proportion_interval
from skboot.results import ComparisonResult, CurveResult, EvaluationResult, ResultTable

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
y = rng.integers(0, 2, size=100)
speakers = np.arange(100) // 10
systems = {"A": y, "B": 1 - y}
runs = {"A": np.stack([y, 1 - y]), "B": np.stack([y, y])}
names = ["accuracy", "f1"]


def exact_match(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    return float(np.mean(y_true == y_pred))


# ------------------------------------------------------------------ one metric, one answer

assert_type(bootstrap_score(y, y), EvaluationResult)
assert_type(bootstrap_score([0, 1, 1], ["0", "1", "1"], metric="f1"), EvaluationResult)
# scikit-learn ships no types: its functions may be anything.
assert_type(bootstrap_score(y, y, metric=f1_score, groups=speakers), Any)
assert_type(bootstrap_score(y, y, metric=exact_match, by=None), EvaluationResult)
assert_type(bootstrap_score(y, y, metric=partial(fbeta_score, beta=2)), EvaluationResult)
assert_type(bootstrap_score(None, y, metric="mean", greater_is_better=False), EvaluationResult)
assert_type(bootstrap_score(y, y, interval="bca", verbose=True, n_jobs=2), EvaluationResult)
assert_type(bootstrap_runs(y, [y, y]), EvaluationResult)
assert_type(bootstrap_runs(y, [y, y], metric="accuracy", varied="both"), EvaluationResult)
assert_type(bootstrap_score(y, y, interval=Anytime(100), groups=Trials(y, y)), EvaluationResult)
assert_type(
    compare_systems(y, systems, groups=Crossed(y, y), proxy=Judge(y, weight=0.5)), ComparisonResult
)
assert_type(bootstrap_runs(y, [y, y], metric="f1", estimand="next_run"), EvaluationResult)
assert_type(bootstrap_runs(y, [y, y], metric="f1", interval="components"), EvaluationResult)
assert_type(search_score(y, systems, interval="percentile"), EvaluationResult)
scores = rng.random(100)
assert_type(bootstrap_curve(y, scores, curve="det", groups=speakers), CurveResult)
assert_type(bootstrap_curve(y, scores).at(0.5), EvaluationResult)
assert_type(bootstrap_curve(y, {"A": scores}, band="pointwise"), ResultTable[CurveResult])
assert_type(compare_systems(y, systems, adjust="holm", interval="tango"), ComparisonResult)
assert_type(compare_systems(y, systems, adjust=None, reference="A"), ComparisonResult)
assert_type(compare_runs(y, runs, paired_runs=True, interval="welch"), ComparisonResult)
models = {"C = 1": LogisticRegression(), "C = 0.1": LogisticRegression(C=0.1)}
assert_type(compare_methods(models, X, y, strategy="oob", inner_cv="as-is"), ComparisonResult)
assert_type(compare_methods(models, X, y, X_test=[[0.0]], y_test=[1]), ComparisonResult)

# ------------------------------------------------------------------ several, or subgroups

assert_type(bootstrap_score(y, y, metric=["accuracy", "f1"]), ResultTable[EvaluationResult])
assert_type(bootstrap_score(y, y, metric=names), ResultTable[EvaluationResult])
assert_type(
    bootstrap_score(y, y, metric=["accuracy", f1_score, exact_match]), ResultTable[EvaluationResult]
)
assert_type(bootstrap_score(y, y, metric=("accuracy", exact_match)), ResultTable[EvaluationResult])
assert_type(
    bootstrap_score(y, y, metric={"F": f1_score, "exact": exact_match}),
    ResultTable[EvaluationResult],
)
assert_type(bootstrap_score(y, y, by=speakers), ResultTable[EvaluationResult])
assert_type(
    bootstrap_score(y, y, metric=names, by=speakers), ResultTable[ResultTable[EvaluationResult]]
)
assert_type(bootstrap_runs(y, [y, y], metric=names), ResultTable[EvaluationResult])
assert_type(search_score(y, systems, metric=names), ResultTable[EvaluationResult])
assert_type(compare_systems(y, systems, metric=names), ResultTable[ComparisonResult])
assert_type(compare_systems(y, systems, by=speakers), ResultTable)
assert_type(compare_runs(y, runs, metric={"F": "f1"}), ResultTable[ComparisonResult])
assert_type(compare_methods(models, X, y, scoring=names), ResultTable[ComparisonResult])
tests = {"clean": X, "noisy": X + rng.normal(size=X.shape)}
on_tests = compare_methods(models, X, y, X_test=tests, y_test={"clean": y, "noisy": y})
assert_type(on_tests, ResultTable[ComparisonResult])
assert_type(on_tests["clean"].pairs[0].difference, float)
assert_type(
    compare_methods(models, X, y, scoring=names, X_test=tests, y_test={"clean": y, "noisy": y}),
    ResultTable[ResultTable[ComparisonResult]],
)

# ------------------------------------------------------------------ what answers hold

result = bootstrap_score(y, y)
low, high = result.confidence_interval
assert_type(low, float)
assert_type(float(result), float)
assert_type(f"{result:.3f}", str)
assert_type(result.interval("bca", 0.9, "system").high, float)
[pair] = compare_systems(y, systems).pairs
assert_type(pair.difference, float)
assert_type(compare_systems(y, systems).systems["A"], EvaluationResult)
assert_type(
    BootstrapScorer(LogisticRegression(), strategy=".632+", interval="hull").fit(X, y),
    BootstrapScorer,
)

# ------------------------------------------------------------------ values of tables, and names

table = bootstrap_score(y, y, metric=names)
assert_type(table["accuracy"].estimate, float)
assert_type([one.standard_error for one in table.values()], list[float])
assert_type(bootstrap_score(y, y, by=speakers)["gap"].confidence_interval.low, float)
assert_type(bootstrap_score(y, y, metric=names, by=speakers)["f1"][3].estimate, float)
assert_type(bootstrap_runs(y, [y, y], metric=names)["f1"].estimate, float)
assert_type(compare_systems(y, systems, metric=names)["f1"].pairs[0].difference, float)
assert_type(compare_runs(y, runs, metric=names)["f1"].systems["A"].estimate, float)
assert_type(search_score(y, systems, metric=names)["f1"].estimate, float)
assert_type(ResultTable({"a": result, "b": result}), ResultTable[EvaluationResult])
assert_type(ResultTable([result])["accuracy"].estimate, float)
assert_type(ResultTable([("a", result)])["a"].estimate, float)
untyped: ResultTable = ResultTable({"all": result, "parts": table})
assert_type(untyped["parts"], Any)
assert_type(table.to_latex(layout="systems"), str)
assert_type(proportion_interval(186, 200, method="clopper-pearson").low, float)
