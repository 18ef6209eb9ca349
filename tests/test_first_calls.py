"""What a newcomer types first works, or is told the right call in one message.

Six calls of each of eight jobs, as somebody types them who knows scikit-learn and the names of the
field, and has read no page. Behind each stands what its answer, or its error, must hold.
"""
# ruff: noqa: F401 (names are used in the calls, which are text)

import importlib.util

import numpy as np
import pytest
from command_line import exit_code_of
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skboot

pd = pytest.importorskip("pandas")

# As ``from skboot import *`` gives them.
NAMES = {name: getattr(skboot, name) for name in skboot.__all__}
# Few rows and few resamples, as warnings say.
pytestmark = pytest.mark.filterwarnings("ignore")

rng = np.random.default_rng(0)
n = 240
y = rng.integers(0, 2, n)
score = y + rng.normal(size=n)
old_score = y + 1.5 * rng.normal(size=n)
prob, old_prob = 1 / (1 + np.exp(1 - 2 * score)), 1 / (1 + np.exp(1 - 2 * old_score))
new, old = (score > 0.5).astype(int), (old_score > 0.5).astype(int)
patient = np.arange(n) // 4
speakers = np.array([[f"s{a}", f"s{b}"] for a, b in rng.integers(0, 40, (n, 2))])
right_a, right_b = (new == y).astype(float), (old == y).astype(float)
subject = np.repeat(["algebra", "law", "history"], n // 3)
X = rng.normal(size=(n, 3)) + y[:, None]
model = make_pipeline(StandardScaler(), LogisticRegression())
other = LogisticRegression(C=0.01)
search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, cv=3)
sales = np.cumsum(rng.normal(size=n)) + 50
forecast, naive = sales + rng.normal(size=n), sales + 2 * rng.normal(size=n)
runs = np.array([np.where(rng.random(n) < 0.2, 1 - y, y) for _ in range(10)])
masks, found = rng.integers(0, 2, (30, 8, 8)), rng.integers(0, 2, (30, 8, 8))
fast = {"n_resamples": 199, "random_state": 0}
few = {"n_train_resamples": 20, "random_state": 0}

IN_PYTHON = [
    # A gate in continuous integration.
    ("gate", "skboot.assert_not_worse(y, new, old)", "skboot.testing.assert_not_worse"),
    ("gate", "skboot.testing.assert_not_worse(y, new, old, margin=0.02)", "pass: y_pred"),
    ("gate", "skboot.testing.assert_not_worse(y, new, old)", "'margin'"),
    ("gate", "skboot.testing.assert_not_worse(y, new, old, tolerance=0.02)", "'margin'"),
    ("gate", "compare_systems(y, new, old)", "compare_systems(y_true, {'A': a, 'B': b})"),
    ("gate", "compare_systems(y, {'new': new, 'old': old}, **fast).verdict(0.02)", "pass: new"),
    # Speaker verification.
    ("speech", "bootstrap_score(y, score, metric='eer', **fast)", "0."),
    ("speech", "bootstrap_score(y, score, metric='cllr', **fast)", "0."),
    ("speech", "bootstrap_score(y, score, metric='min_dcf')", "minimum_detection_cost"),
    ("speech", "bootstrap_score(y, score, metric='act_dcf')", "actual_detection_cost"),
    ("speech", "bootstrap_score(y, score, metric='eer', speakers=speakers)", "'groups'"),
    ("speech", "bootstrap_curve(y, score, kind='det')", "'curve'"),
    # A diagnostic model.
    ("clinic", "skboot.bootstrap_auc(y, prob)", "bootstrap_score(y_true, y_pred, metric='auc')"),
    ("clinic", "bootstrap_score(y, prob, 'auc')", "metric='auc'"),
    ("clinic", "bootstrap_score(y, prob, metric='AUC', groups=patient, **fast).ci", "confidence_i"),
    ("clinic", "bootstrap_score(y, prob, metric='calibration_slope', **fast)", "("),
    ("clinic", "bootstrap_curve(y, prob, curve='dca', **fast)", "decision curve"),
    (
        "clinic",
        "compare_systems(y, {'a': prob, 'b': old_prob}, metric='auc', **fast).p_value",
        "0.",
    ),
    # Language models: right or wrong for each question.
    ("language", "bootstrap_score(right_a)", "bootstrap_score(None, values, metric='mean')"),
    ("language", "bootstrap_score(None, right_a, metric='mean', **fast)", "0."),
    ("language", "bootstrap_score(None, right_a, metric='mean', by=subject, **fast)", "algebra"),
    ("language", "bootstrap_score(None, right_a, metric='mean', subjects=subject)", "'by' or 'av"),
    ("language", "compare_systems({'a': right_a, 'b': right_b})", "metric='mean'"),
    ("language", "skboot.mcnemar(right_a, right_b)", "compare_systems(y_true"),
    # Pipelines, cross-validation and search.
    ("search", "bootstrap_score(model, X, y)", "BootstrapScorer(model).fit(X, y)"),
    ("search", "bootstrap_score(cross_val_score(model, X, y))", "corrected_t(scores)"),
    ("search", "BootstrapScorer(model, **few).fit(X, y).result_", "0."),
    ("search", "BootstrapScorer(model, scoring='auc', **few).fit(X, y)", "'roc_auc'"),
    ("search", "compare_systems({'a': model, 'b': other}, X, y)", "compare_methods("),
    ("search", "BootstrapScorer({'a': model, 'b': other}).fit(X, y)", "compare_methods("),
    # Forecasts.
    ("forecast", "bootstrap_score(sales, forecast, metric='mae', **fast)", "0."),
    (
        "forecast",
        "bootstrap_score(sales, forecast, metric='rmse', block_length='auto', **fast)",
        "(",
    ),
    ("forecast", "bootstrap_score(sales, forecast, metric='mape', **fast)", "0."),
    (
        "forecast",
        "bootstrap_score(sales, forecast, metric='mae', time_series=True)",
        "block_length",
    ),
    ("forecast", "skboot.diebold_mariano(sales, forecast, naive)", "compare_systems(y_true"),
    (
        "forecast",
        "compare_systems(sales, {'a': forecast, 'b': naive}, metric='mae', **fast)",
        "a - b",
    ),
    # Seeds, and images.
    ("seeds", "bootstrap_score(y, runs)", "bootstrap_runs"),
    ("seeds", "bootstrap_runs(y, list(runs), metric='accuracy', **fast)", "0."),
    ("seeds", "bootstrap_runs(y, runs, metric='mcc', **fast)", "0."),
    ("seeds", "compare_runs(y, {'a': runs[:5], 'b': runs[5:]}, metric='kappa', **fast)", "a - b"),
    ("seeds", "bootstrap_score(masks.ravel(), found.ravel(), metric='dice', **fast)", "0."),
    ("seeds", "bootstrap_score(y, new, metric='iou', groups=patient, **fast)", "0."),
    # A large file, in Python.
    ("file", "bootstrap_score('big.csv', 'label', 'pred')", "skboot score FILE"),
    ("file", "scan_dataset('big.csv')", "BootstrapAccumulator.update"),
    ("file", "BootstrapAccumulator('auc', **fast).partial_fit(y, score)", "'update'"),
]
ON_THE_COMMAND_LINE = [
    ("file", "score big.csv --y-true label --y-pred score --metric auc", "ROC AUC on 240"),
    ("file", "score big.csv --target label --pred pred", "--y-true"),
    ("file", "score big.csv --y-true label --y-pred score", "--threshold 0.5"),
    ("gate", "gate big.csv --y-true label --candidate pred --baseline old", "--reference"),
]


# Characters of a message that somebody reads.
_LONGEST = 600


def answer_of(call):
    """What a call prints, or the message of its error, as far as it is read."""
    try:
        return str(eval(call, {**globals(), **NAMES}))
    except Exception as error:
        return str(error)[:_LONGEST]


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"label": y, "pred": new, "old": old, "score": prob}
    pd.DataFrame(columns).to_csv("big.csv", index=False)


@pytest.mark.parametrize(("job", "call", "answer"), IN_PYTHON)
def test_a_first_call_works_or_names_the_right_one(job, call, answer, in_a_folder):
    if call.startswith("scan_dataset") and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("pyarrow is not installed, as the error says")
    assert answer in answer_of(call)


@pytest.mark.parametrize(("job", "words", "answer"), ON_THE_COMMAND_LINE)
def test_a_first_line_works_or_names_the_right_one(job, words, answer, in_a_folder, capsys):
    exit_code_of(words.split())
    assert answer in "".join(capsys.readouterr())


def test_each_job_has_six_calls():
    jobs = [job for job, *_ in (*IN_PYTHON, *ON_THE_COMMAND_LINE)]
    assert len(set(jobs)) == 8
    assert min(map(jobs.count, jobs)) >= 6
