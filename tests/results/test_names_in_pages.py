"""Names are text on every page: none of what a user may name becomes markup."""

import numpy as np
import pytest
from made_results import checked_html

import skboot
from skboot import bootstrap_curve, bootstrap_score, compare_across, compare_runs, compare_systems
from skboot.results import ResultTable

pytestmark = pytest.mark.identity

MARKUP = "<i>&amp;"
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
SCORES = Y + RNG.normal(size=80)
SYSTEMS = {f"{MARKUP}{k}": np.where(RNG.random(80) < rate, 1 - Y, Y)
           for k, rate in enumerate((0.1, 0.2, 0.4))}  # fmt: skip
PARTS = np.where(np.arange(80) % 2, f"{MARKUP}x", f"{MARKUP}z")
PREDICTED = next(iter(SYSTEMS.values()))
OPTIONS = {"n_resamples": 99, "random_state": 0}


def named(y_true, y_pred):
    return float(np.mean(y_true == y_pred)) ** 2


named.__name__ = MARKUP
METRICS = ["accuracy", named]
ACROSS = {f"{MARKUP}{k}": {name: float(RNG.random()) for name in SYSTEMS} for k in range(6)}
RUNS = {name: [system, PREDICTED] for name, system in SYSTEMS.items()}
PRINTED = {"system": list(SYSTEMS), "score": ["0.9", "0.8", "0.7"]}
PAGES = {
    "a metric": lambda: bootstrap_score(Y, PREDICTED, metric=named, **OPTIONS),
    "metrics": lambda: bootstrap_score(Y, PREDICTED, metric=METRICS, **OPTIONS),
    "subgroups": lambda: bootstrap_score(Y, PREDICTED, by=PARTS, **OPTIONS),
    "metrics of subgroups": lambda: bootstrap_score(
        Y, PREDICTED, metric=METRICS, by=PARTS, **OPTIONS
    ),
    "nested by hand": lambda: ResultTable(
        {name: bootstrap_score(Y, system, by=PARTS, **OPTIONS) for name, system in SYSTEMS.items()}
    ),
    "systems": lambda: compare_systems(Y, SYSTEMS, metric=named, greater_is_better=True, **OPTIONS),
    "systems by metrics": lambda: compare_systems(
        Y, SYSTEMS, metric=METRICS, greater_is_better=True, **OPTIONS
    ),
    "systems by subgroups": lambda: compare_systems(Y, SYSTEMS, by=PARTS, **OPTIONS),
    "ranks": lambda: compare_systems(Y, SYSTEMS, **OPTIONS).ranks(),
    "runs": lambda: compare_runs(Y, RUNS, metric="accuracy", **OPTIONS),
    "data sets": lambda: compare_across(ACROSS, greater_is_better=True, **OPTIONS),
    "mean ranks": lambda: compare_across(ACROSS, greater_is_better=True, **OPTIONS).mean_ranks(),
    "a curve": lambda: bootstrap_curve(Y, {MARKUP: SCORES}, curve="roc", **OPTIONS),
    "curves": lambda: bootstrap_curve(
        Y, {MARKUP: SCORES, f"{MARKUP}2": -SCORES}, curve="roc", **OPTIONS
    ),
    "a printed table": lambda: skboot.check_table(PRINTED, n=80),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PAGES)
def test_a_name_is_never_markup(kind):
    shown = PAGES[kind]()
    texts = [shown._repr_html_(), *([shown.to_html()] if hasattr(shown, "to_html") else [])]
    for text in texts:
        assert "i" not in checked_html(text).tags
        assert "&lt;i&gt;&amp;amp;" in text
