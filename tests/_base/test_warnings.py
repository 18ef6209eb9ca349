"""Every warning of a public function points at the line of the user's that called it."""

import inspect
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from messages import all_messages
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot

HERE = str(Path(__file__))
LINE = 100  # columns of a terminal
RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
SYSTEMS = {"A": Y ^ (RNG.random(60) < 0.2), "B": Y ^ (RNG.random(60) < 0.3)}
RUNS = {name: np.array([Y ^ (RNG.random(60) < 0.2) for _ in range(3)]) for name in "AB"}
X = RNG.normal(size=(60, 2)) + Y[:, None]
FEW_GROUPS = np.arange(60) // 10
NOT_POSTERIORS = {name: RNG.random((60, 2)) for name in "AB"}
SMALL = {"n_resamples": 99, "random_state": 0}
FEW_RUNS = {"n_train_resamples": 3, "n_test_resamples": 99, "n_cv_repeats": 1, "random_state": 0}
TEST_SET = {"X_test": X[:30], "y_test": Y[:30]}


class FailsOnSomeSamples(GaussianNB):
    """Refuses every training sample whose first row has an odd number."""

    def fit(self, X, y):
        if len(np.unique(X[:, 0])) < len(X) and X[0, 0] > 0.5:
            raise ValueError("not today")
        return super().fit(X, y)


def small_result():
    return skboot.bootstrap_score(Y, SYSTEMS["A"], interval="percentile", **SMALL)


def several_runs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skboot.bootstrap_runs(Y, RUNS["A"], metric="accuracy", **SMALL)


def fitted_search():
    return GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3).fit(X, Y)


# A call of each public function or method that can warn, and what it says. The functions stand in
# this file: the line that calls is here.
CALLS = {
    "bootstrap_score": (
        lambda: skboot.bootstrap_score(Y, SYSTEMS["A"], groups=FEW_GROUPS, **SMALL),
        "Only 6 groups",
    ),
    "bootstrap_score, metric": (
        lambda: skboot.bootstrap_score(Y, NOT_POSTERIORS["A"], metric="neg_log_loss", **SMALL),
        "sum to one",
    ),
    "bootstrap_score, undefined": (
        lambda: skboot.bootstrap_score(
            Y[:3], [0.1, 0.9, 0.3], metric="roc_auc", interval="percentile", **SMALL
        ),
        "undefined on some resamples",
    ),
    "bootstrap_score, few resamples": (
        lambda: skboot.bootstrap_score(
            Y, SYSTEMS["A"], interval="percentile", n_resamples=9, random_state=0
        ),
        "resamples are too few",
    ),
    "bootstrap_runs": (
        lambda: skboot.bootstrap_runs(Y, RUNS["A"], metric="accuracy", **SMALL),
        "Only 3 runs",
    ),
    "compare_systems": (
        lambda: skboot.compare_systems(Y, SYSTEMS, groups=FEW_GROUPS, **SMALL),
        "Only 6 groups",
    ),
    "compare_runs": (lambda: skboot.compare_runs(Y, RUNS, **SMALL), "Only 3 runs"),
    "compare_methods": (
        lambda: skboot.compare_methods(
            {"A": GaussianNB(), "B": FailsOnSomeSamples()}, X, Y, strategy="oob", **FEW_RUNS
        ),
        "B: 2 of 3 runs failed",
    ),
    "compare_methods, test set": (
        lambda: skboot.compare_methods(
            {"A": GaussianNB(), "B": DecisionTreeClassifier(max_depth=1)},
            X,
            Y,
            **TEST_SET,
            **FEW_RUNS,
        ),
        "Only 3 runs",
    ),
    "search_score": (
        lambda: skboot.search_score(Y, NOT_POSTERIORS, metric="neg_log_loss", **SMALL),
        "sum to one",
    ),
    "corrected_t": (
        lambda: skboot.model_selection.corrected_t([0.8, 0.9], n_train=50, n_test=50),
        "50 test rows for 50 training rows",
    ),
    "BootstrapScorer.fit": (
        lambda: skboot.BootstrapScorer(FailsOnSomeSamples(), **FEW_RUNS).fit(X, Y),
        "runs failed",
    ),
    "BootstrapScorer.fit, test set": (
        lambda: skboot.BootstrapScorer(GaussianNB(), **FEW_RUNS).fit(X, Y, **TEST_SET),
        "Only 3 training samples",
    ),
    "BootstrapScorer.fit, failed on a test set": (
        lambda: skboot.BootstrapScorer(
            FailsOnSomeSamples(), **FEW_RUNS | {"n_train_resamples": 12}
        ).fit(X, Y, **TEST_SET),
        "runs failed",
    ),
    "BootstrapSplit.split": (
        lambda: list(skboot.BootstrapSplit(2, random_state=0).split(X, Y, FEW_GROUPS)),
        "groups parameter is ignored",
    ),
    "StratifiedBootstrapSplit.split": (
        lambda: next(skboot.StratifiedBootstrapSplit(2, random_state=0).split(X, Y, FEW_GROUPS)),
        "groups parameter is ignored",
    ),
    "SeedSplit.split": (
        lambda: list(skboot.SeedSplit(2, skboot.BootstrapSplit(2)).split(X, Y, FEW_GROUPS)),
        "groups parameter is ignored",
    ),
    "EvaluationResult.interval": (
        lambda: small_result().interval("percentile", confidence_level=0.999),
        "resamples are too few",
    ),
    "EvaluationResult.interval, runs": (
        lambda: several_runs().interval("percentile", confidence_level=0.9999),
        "resamples are too few",
    ),
}


@pytest.mark.parametrize("called", CALLS)
def test_a_warning_points_at_the_line_that_called(called):
    call, text = CALLS[called]

    def nested():
        return call()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nested()
    said = [one for one in caught if text in str(one.message)]
    assert said, [str(one.message) for one in caught]
    lines, first = inspect.getsourcelines(call)
    for one in caught:
        assert one.filename == HERE
        assert first <= one.lineno < first + len(lines)


def rendered(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


@pytest.mark.parametrize("called", CALLS)
def test_a_warning_is_said_once_in_two_lines_of_a_terminal(called):
    caught = rendered(CALLS[called][0])
    texts = [str(one.message) for one in caught]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert len(textwrap.wrap(text, LINE)) <= 2, text


def test_every_text_of_a_warning_fits_into_two_lines():
    warned = re.compile(r"warning|note \((few|caution|resamples|slow)\)")
    found = [longest(message.text) for message in all_messages() if warned.match(message.kind)]
    # Losses without bounds, of which this warns, have no end of the range.
    found = [text for text in found if "reaches the end of the range" not in text]
    assert len(found) > 30
    # A value is shown as about the six characters of a number.
    long = [text for text in found if len(textwrap.wrap(f"bootstrap_score: {text}", LINE)) > 2]
    assert long == []


def longest(text):
    """The longest of alternatives, "(one | other)"."""
    part = r"(?:[^()|]|\([^()|]*\))*"
    choice = re.compile(rf"\(({part}(?: \| {part})+)\)")
    while choice.search(text):
        text = choice.sub(lambda found: max(found[1].split(" | "), key=len), text)
    return text


def test_quantiles_on_both_sides_are_one_warning():
    few = {"n_resamples": 9, "random_state": 0, "interval": "percentile", "metric": "f1"}
    caught = rendered(lambda: skboot.bootstrap_score(Y, SYSTEMS["A"], **few))
    [text] = [str(one.message) for one in caught if "resamples are too few" in str(one.message)]
    assert "with 2.5% beyond it" in text


def test_predictions_out_of_folds_are_made_without_a_warning_of_their_own():
    search = fitted_search()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(skboot.model_selection.out_of_fold(search, X, Y)) == 2


def test_failed_runs_are_warned_of_by_the_category_of_scikit_learn():
    with pytest.warns(FitFailedWarning) as caught:
        CALLS["BootstrapScorer.fit"][0]()
    assert {one.filename for one in caught} == {HERE}


def test_a_file_whose_folder_begins_as_the_package_does_is_not_skipped():
    beside = f"{Path(skboot.__file__).parent}-experiments/run.py"
    call = "skboot.bootstrap_score(y, y, groups=groups, n_resamples=99)\n"
    code = compile(call, beside, "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(code, {"skboot": skboot, "y": Y, "groups": FEW_GROUPS})
    assert {one.filename for one in caught} == {beside}


def test_a_script_is_shown_its_own_line(tmp_path):
    script = tmp_path / "file.py"
    script.write_text(
        "import numpy as np\n"
        "from skboot import bootstrap_score\n"
        "\n"
        "bootstrap_score(np.ones(60), np.ones(60), groups=np.arange(60) // 10, n_resamples=99)\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("file.py:4: UserWarning: bootstrap_score: Only 6 groups") or (
        done.stderr.startswith(f"{script}:4: UserWarning: bootstrap_score: Only 6 groups")
    )


def test_too_few_resamples_are_warned_of_once_under_the_name_of_the_function():
    few = {"n_resamples": 9, "random_state": 0, "interval": "percentile"}
    calls = {
        "bootstrap_score": lambda: skboot.bootstrap_score(Y, SYSTEMS["A"], **few),
        "bootstrap_runs": lambda: skboot.bootstrap_runs(
            Y, RUNS["A"], metric="accuracy", estimand="system", **few
        ),
        "compare_systems": lambda: skboot.compare_systems(Y, SYSTEMS, **few),
    }
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        texts = [str(one.message) for one in caught if "too few" in str(one.message)]
        assert texts
        assert len(set(texts)) == len(texts)
        assert all(text.startswith(f"{name}: 9 resamples are") for text in texts)


def test_few_rows_are_warned_of_and_stand_in_the_notes_of_every_pair():
    values = {name: np.append(RNG.normal(size=11), 30) for name in "AB"}
    with pytest.warns(UserWarning, match="compare_systems: About 1 of the 12 rows decides"):
        result = skboot.compare_systems(
            None, values, metric="mean", n_resamples=1999, random_state=0
        )
    told = [note for note in result.notes if "12 rows decides this score" in note]
    assert len(told) == 1
