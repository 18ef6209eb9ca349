"""Calls with a mistake each: `mypy --strict` must find every one, and nothing else."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from skboot import (
    Anytime,
    BootstrapScorer,
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
from skboot.inference import prediction_error, proportion_interval
from skboot.plots import ComparisonDisplay

y = np.arange(100) % 2
systems = {"A": y, "B": 1 - y}
model = LogisticRegression()

bootstrap_score(y, y, interval="bcaa")  # mistake
bootstrap_score(y, y, metric=3)  # mistake
bootstrap_curve(y, y / 3, curve="rok")  # mistake
bootstrap_curve(y, y / 3, band="both")  # mistake
bootstrap_score(y, y, metric=[3])  # mistake
bootstrap_score(y, y, n_resample=999)  # mistake
bootstrap_score(y, y, confidence_level="95%")  # mistake
bootstrap_score(y, y, metric="f1").interval("bcaa")  # mistake
bootstrap_score(y, y, metric="f1")["f1"]  # mistake
print(bootstrap_score(y, y, metric=["f1"]).estimate)  # mistake
bootstrap_score(y, y, interval="anytime")  # mistake
bootstrap_runs(y, [y, y], interval=Anytime(100))  # mistake
compare_systems(y, {"a": y, "b": y}, proxy=Judge(y, weight="best"))  # mistake
bootstrap_score(y, y, groups=Trials(y))  # mistake
bootstrap_runs(y, [y, y], metric="f1", varied="seeds")  # mistake
bootstrap_runs(y, [y, y], metric="f1", estimand="next run")  # mistake
compare_systems(y, "A")  # mistake
compare_systems(y, [y, y])  # mistake
compare_systems(y, systems, adjust="bonferroni")  # mistake
compare_systems(y, systems, interval="wilson")  # mistake
print(compare_systems(y, systems).estimate)  # mistake
compare_runs(y, systems, interval="percentile")  # mistake
compare_methods("A", y, y)  # mistake
compare_methods({"A": model, "B": model}, y, y, strategy="632")  # mistake
compare_methods({"A": model, "B": model}, y, y, estimand="system")  # mistake
search_score(y, systems, interval="bca")  # mistake
BootstrapScorer(model, strategy="cv_bootstrap")  # mistake
BootstrapScorer(model, inner_cv="group")  # mistake
BootstrapScorer(model, interval="wald-ish")  # mistake
print(bootstrap_score(y, y, metric=["f1"])["f1"].estimat)  # mistake
print(bootstrap_score(y, y, by=y)["gap"].pairs)  # mistake
print(compare_systems(y, systems, metric=["f1"])["f1"].estimate)  # mistake
bootstrap_score(y, y, by=y).to_latex(layout="rows")  # mistake
compare_systems(y, systems).to_markdown(layout="system")  # mistake
proportion_interval(186, 200, method="exact")  # mistake
ComparisonDisplay.from_result(compare_systems(y, systems), pairs="first")  # mistake
error = prediction_error([[0.0, 1.0]], [[0, 1]], form="ET97")  # mistake
prediction_error([[0.0, 1.0]], [[0, 1]], clipping="none")  # mistake
error.interval("basic")  # mistake
error.interval(point="632")  # mistake
