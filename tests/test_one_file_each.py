"""A metric is added by one file and no edit, an interval by one class.

In a copy of the package, in another process, through public calls.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skboot

METRIC = '''
"""Mean Tweedie deviance of power 0, as the mean of its rows."""
from .means import RowMean
from .statistic import MetricRequest, fast_path


def _squared(y_true, y_pred):
    return (y_true - y_pred) ** 2


@fast_path("mean_tweedie_deviance", response="values")
def _tweedie(request: MetricRequest) -> RowMean:
    return RowMean(request.name, _squared)
'''
INTERVAL = """
@registered
class Range(Interval):
    name, words, for_difference = "range", "range of the replicates", True

    def limits(self, evidence, confidence_level):
        return evidence.sorted_replicates[..., 0], evidence.sorted_replicates[..., -1]
"""
CALLS = """
import sys
import numpy as np
import skboot
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, mean_tweedie_deviance

assert skboot.__file__.startswith(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = X[:, 0] + rng.normal(size=60)
near, far = y + 0.1 * rng.normal(size=60), y + rng.normal(size=60)
options = dict(metric=mean_tweedie_deviance, random_state=0, n_resamples=199)

found = skboot.bootstrap_score(y, near, interval="range", **options)
assert np.isclose(found.estimate, np.mean((y - near) ** 2))
assert found.confidence_interval.method == "range"
assert list(found.confidence_interval) == [
    found.bootstrap_distribution.min(), found.bootstrap_distribution.max()
]
assert "range of the replicates" in found.summary()
# The standard error of a mean is in closed form, so the fast path was taken.
studentized = skboot.bootstrap_score(y, near, interval="studentized", **options)
assert studentized.confidence_interval.low < found.estimate

compared = skboot.compare_systems(y, {"near": near, "far": far}, interval="range", **options)
assert compared.pairs[0].confidence_interval.method == "range"

stream = skboot.BootstrapAccumulator(metric=mean_tweedie_deviance, random_state=0)
for half in (slice(30), slice(30, 60)):
    stream.update(y[half], near[half], start=half.start or 0)
assert np.isclose(stream.result().estimate, found.estimate)

scorer = make_scorer(mean_tweedie_deviance, greater_is_better=False)
fit = skboot.BootstrapScorer(
    LinearRegression(), scoring=scorer, n_train_resamples=10, n_cv_repeats=1, random_state=0
).fit(X, y)
plain = skboot.BootstrapScorer(
    LinearRegression(), scoring="neg_mean_squared_error", n_train_resamples=10, n_cv_repeats=1,
    random_state=0,
).fit(X, y)
assert np.isclose(fit.score_, plain.score_)
assert np.isclose(fit.standard_error_, plain.standard_error_)

print("reached")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("copied")
    package = Path(skboot.__file__).parent
    shutil.copytree(package, root / "skboot", ignore=shutil.ignore_patterns("__pycache__"))
    # All means of rows have a fast path: the one that is added again is taken out here.
    means, line = root / "skboot/metrics/means.py", '@fast_path("mean_tweedie_deviance"'
    assert line in means.read_text()
    means.write_text(re.sub(f"{re.escape(line)}.*\n", "", means.read_text()))
    return root


def answer(root):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CALLS, str(root)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )


def test_one_file_adds_a_metric_and_one_class_an_interval(copy):
    assert "'interval' parameter" in answer(copy).stderr
    intervals, listed = copy / "skboot/inference/intervals.py", "\nFOR_ONE_SCORE = "
    head, _, tail = intervals.read_text().partition(listed)
    intervals.write_text(f"{head}{INTERVAL}\n{listed}{tail}")
    assert "needs influence values" in answer(copy).stderr  # a plain function has none
    (copy / "skboot/metrics/tweedie.py").write_text(METRIC)
    done = answer(copy)
    assert done.stdout.strip() == "reached", done.stderr
