"""What a newcomer types first works, or is told the right call in one message.

Six calls of each of eight jobs, as somebody types them who knows scikit-learn and the names of the
field, and has read no page. Behind each stands what its answer, or its error, must hold.
"""
# ruff: noqa: F401 (names are used in the calls, which are text)

import functools
import importlib.util
import pathlib
import re

import numpy as np
import pytest
import sklearn.metrics
from command_line import exit_code_of
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skboot
import skboot.inference
import skboot.metrics
import skboot.model_selection
import skboot.results
import skboot.testing

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
frame = pd.DataFrame({"truth": y, "prediction": new, "score": prob, "label": y})
hits = pd.DataFrame({"a": right_a, "b": right_b})
result = skboot.bootstrap_score(y, new, **fast)
both = skboot.bootstrap_score(y, new, metric=["accuracy", "f1"], **fast)
pair = skboot.compare_systems(y, {"new": new, "old": old}, **fast)
of_runs = skboot.bootstrap_runs(y, runs, metric="accuracy", n_resamples=199, random_state=0)
roc = skboot.bootstrap_curve(y, prob, **fast)
scorer = skboot.BootstrapScorer(model, **few)
folds = cross_val_score(model, X, y)

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
    ("search", "bootstrap_score(cross_val_score(model, X, y))", "corrected_t(scores, n_train="),
    ("search", "BootstrapScorer(model, **few).fit(X, y).result_", "0."),
    ("search", "BootstrapScorer(model, scoring='auc', **few).fit(X, y).result_.metric", "roc_auc"),
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
    ("file", "scan_dataset('big.csv')", "format='csv'"),
    ("file", "BootstrapAccumulator('auc', **fast).partial_fit(y, score)", "'update'"),
]
# Calls that do not bind, names and attributes that do not exist.
ASIDE = [
    # Options by position, and files.
    ("bootstrap_curve(y, prob, 'calibration')", "curve='calibration'"),
    ("bootstrap_curve(y, {'a': prob, 'b': old_prob}, 'roc')", "curve='roc'"),
    ("bootstrap_score(y, new, 1000)", "n_resamples="),
    ("bootstrap_score()", "bootstrap_score(y_true, y_pred)"),
    ("bootstrap_score(folds)", "corrected_t(scores, n_train=90, n_test=10)"),
    ("bootstrap_curve()", "bootstrap_curve(y_true, y_score)"),
    ("bootstrap_curve(y, prob, old_prob)", "bootstrap_curve(y_true, {'A': score_a, 'B': score_b})"),
    ("skboot.learning_curve(model)", "learning_curve(model, X, y)"),
    ("bootstrap_score(y, new, 'f1', 1000)", "metric='f1'"),
    ("BootstrapScorer(model, 'f1')", "scoring='f1'"),
    ("skboot.testing.assert_not_worse(y, new, old, 0.05)", "margin=0.02"),
    ("skboot.testing.assert_not_worse(frame, 'prediction', 'truth')", "y_reference, margin=0.02"),
    ("result.plot('x.png')", "EvaluationResult.plot() takes 1"),
    ("result.to_latex('t.tex')", "EvaluationResult.to_latex() takes"),
    ("result.claim(digits=2)", "It takes no arguments."),
    # Data frames, and systems one by one.
    ("bootstrap_score(frame)", "(data['truth'], data['prediction'])"),
    ("bootstrap_curve(frame, 'y', 'risk')", "bootstrap_curve(y_true, y_score)"),
    ("compare_systems(hits)", "compare_systems(None, values, metric='mean')"),
    ("compare_systems(y, A=new, B=old)", "compare_systems(y_true, {'A': a, 'B': b})"),
    ("compare_runs(y, runs[:5], runs[5:])", "compare_runs(y_true, {'A': runs_a, 'B': runs_b})"),
    ("compare_runs(y, A=runs[:5], B=runs[5:])", "compare_runs(y_true, {'A'"),
    ("compare_systems(y, {'A': runs[:5], 'B': runs[5:]})", "compare_runs(y_true, {'A'"),
    ("bootstrap_score(None, right_a, right_b, metric='mean')", "compare_systems(y_true, {'A'"),
    ("bootstrap_score(y, runs)", "bootstrap_runs(y_true, y_preds, metric='accuracy')"),
    ("search_score(search, X, y)", "out_of_fold(search, X, y)"),
    # Arguments of other functions.
    ("BootstrapScorer(model, cv=10)", "'n_cv_repeats'"),
    ("BootstrapScorer(model, X, y)", "BootstrapScorer(model).fit(X, y)"),
    ("BootstrapScorer(model, groups=patient)", "an argument of BootstrapScorer.fit."),
    ("skboot.learning_curve(model, X, y, cv=5)", "'n_repeats'"),
    ("skboot.learning_curve(model, X, y, sizes=[0.5])", "'train_sizes'"),
    ("skboot.compare_methods({'a': model, 'b': other}, X, y, cv=5)", "'n_cv_repeats'"),
    ("scorer.score(X, y, sample_weight=prob)", "enable_metadata_routing=True"),
    ("skboot.metrics.interval_scorer('f1', pos_label='yes')", "It takes metric, n_resamples"),
    ("skboot.scan_dataset('big', y_true='label')", "It takes "),
    ("compare_systems(y, {'new': new, 'old': old}, margin=0.02)", ".verdict(margin=0.02)"),
    ("compare_runs(y, {'a': runs[:5], 'b': runs[5:]}, margin=0.02)", "runs_b}).verdict("),
    ("compare_runs(y, {'a': runs[:5], 'b': runs[5:]}, paired=True)", "'paired_runs'"),
    ("compare_systems(y, {'new': new, 'old': old}, test='mcnemar')", ".p_value"),
    ("compare_runs(y, {'a': runs[:5], 'b': runs[5:]}, test='t')", "runs_b}).p_value"),
    ("skboot.testing.assert_not_worse(y, candidate=new, reference=old)", "'y_pred'"),
    ("skboot.testing.assert_not_worse(y, new, y_old=old)", "'y_reference'"),
    ("bootstrap_score(y, new, stratify=True)", "strata=y_true"),
    ("bootstrap_score(None, hits, metric='mean')", "compare_systems(None, values, metric='mean')"),
    ("bootstrap_score(y, new, interval='BC')", "Did you mean 'bca'?"),
    ("bootstrap_score(y, [None, *new[1:]])", "Got 1 such value, the first in row 0."),
    ("bootstrap_score(None, right_a, judge=right_b)", "'proxy'"),
    ("bootstrap_score(None, right_a, human=right_b)", "proxy, greater_is_better"),
    ("bootstrap_score(y, prob, threshold=0.5)", "It takes y_true, y_pred"),
    # Options of metrics.
    ("bootstrap_score(y, new, metric='f1', average='macro')", "metric='f1_macro'"),
    ("bootstrap_score(y, new, metric='f1', beta=2)", "sklearn.metrics.fbeta_score, beta=2)"),
    ("bootstrap_score(y, new, average='macro')", "'average_over'"),
    ("bootstrap_score(y, new, k=2)", "functools.partial("),
    ("bootstrap_score(sales, forecast, quantile=0.9)", "functools.partial("),
    (
        "bootstrap_score(sales, forecast, metric=sklearn.metrics.mean_pinball_loss, alpha=0.1)",
        "functools.partial(sklearn.metrics.mean_pinball_loss, alpha=0.1)",
    ),
    ("bootstrap_score(y, prob, metric='eer', p_target=0.01)", "functools.partial("),
    # Names.
    ("skboot.compare_models", "compare_methods("),
    ("skboot.bootstrap_632plus", "BootstrapScorer(model, strategy='.632+')"),
    ("skboot.bootstrap_estimator", "BootstrapScorer(model)"),
    ("skboot.cross_val_score", "BootstrapScorer(model)"),
    ("skboot.compare_search", "search_score("),
    ("skboot.bootstrap_compare", "compare_systems("),
    ("skboot.decision_curve", "curve='decision'"),
    ("skboot.plot_roc", "curve='roc'"),
    ("skboot.load_result", "EvaluationResult.load(path)"),
    ("skboot.non_inferiority", "assert_not_worse("),
    ("skboot.testing.gate", "assert_not_worse("),
    ("skboot.leaderboard", ".ranks()"),
    ("skboot.corrected_ttest", "corrected_t("),
    ("skboot.moving_block_bootstrap", "block_length='auto'"),
    ("skboot.BootstrapOutOfBag", "BootstrapSplit"),
    ("skboot.win_rate", "metric='mean'"),
    ("skboot.eer", "metric='eer'"),
    ("skboot.roc_auc_ci", "metric='roc_auc'"),
    ("skboot.accuracy", "metric='accuracy'"),
    ("skboot.metrics.dice", "metric='dice'"),
    ("skboot.metrics.minDCF", "skboot.metrics.minimum_detection_cost"),
    ("skboot.compare", "compare_across, compare_methods, compare_runs or compare_systems?"),
    # What results have.
    ("pair.p", "'p_value'"),
    ("pair.estimate", "'difference'"),
    ("pair.pairs[0].value", "'difference'"),
    ("pair.se", ".pairs[0].standard_error"),
    ("pair.significant", ".pairs[0].excludes_zero"),
    ("pair.pairs[0].significant", "'excludes_zero'"),
    ("pair.mcnemar_p_value", ".pairs[0].mcnemar_p_value"),
    ("pair.winner", "'best'"),
    ("pair.models", "'systems'"),
    ("pair.leaderboard", ".ranks()"),
    ("pair.non_inferior(0.02)", ".verdict(margin=0.02)"),
    ("pair.verdict(0.02).ci", "'interval'"),
    ("result.lower", ".confidence_interval.low"),
    ("result.confidence_interval.upper", "'high'"),
    ("result.to_csv('r.csv')", ".to_frame().to_csv("),
    ("result.to_pandas()", ".to_frame()"),
    ("result.to_json()", ".to_dict()"),
    ("result.std", "'standard_error'"),
    ("both.estimate", "['accuracy'].estimate"),
    ("both.ci", "['accuracy'].confidence_interval"),
    ("of_runs.std", ".runs['score'].std(ddof=1)"),
    ("of_runs.scores", ".runs['score']"),
    ("roc.fpr", "'x'"),
    ("roc.tpr", "'estimate'"),
    ("roc.auc", "'area'"),
    ("scorer.result_", "Call fit first."),
    ("BootstrapScorer(model, **few).fit(X, y).summary()", ".result_.summary"),
    ("BootstrapScorer(model, **few).fit(X, y).ci_", ".result_.confidence_interval"),
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


@pytest.mark.parametrize(("call", "answer"), ASIDE)
def test_a_call_name_or_attribute_that_does_not_exist_leads_to_one_that_does(
    call, answer, in_a_folder
):
    said = answer_of(call)
    assert answer in said
    if meant := re.search(r"object has no attribute .*Did you mean (.+)\?$", said):
        of = re.sub(r"\([^()]*\)$", "", call).rpartition(".")[0]
        advised = meant[1] if meant[1][0] in ".[" else f".{eval(meant[1])}"
        eval(of + advised, {**globals(), **NAMES})


# The names in what is advised.
GIVEN = {
    **{"y_true": y, "y_pred": new, "y_score": prob, "y_reference": old, "y_preds": runs},
    **{"a": new, "b": old, "runs_a": runs[:5], "runs_b": runs[5:], "values": right_a},
    **{"score_a": prob, "score_b": old_prob, "data": frame},
    # Whole fits are advised, of any model: of one that is trained in no time.
    **{"model": GaussianNB(), "one": GaussianNB(), "other": GaussianNB(var_smoothing=0.1)},
    **{"scores": folds, "scores_a": folds, "scores_b": cross_val_score(other, X, y)},
    **{"path": "result.npz", "folder": "parquet", "search": clone(search).fit(X, y)},
}
# What a user has who gives several systems.
OF_SYSTEMS = {"y_preds": {"new": new, "old": old}, "values": hits}


def calls_in(text):
    """Calls that a message advises, after what Python says: names, parentheses and all behind."""
    text = text.partition(". ")[2] if "()" in text.partition(". ")[0] else text
    at = 0
    while start := re.compile(r"(?<![\w.])[A-Za-z][\w.]*\(").search(text, at):
        at, depth = start.end(), 1
        while depth or (text[at : at + 1] == "." and text[at + 1 : at + 2].isalpha()):
            word = re.compile(r"\.\w+\(?|.").match(text, at)[0]
            depth += word.count("(") - word.count(")")
            at += len(word)
        yield text[start.start() : at]


@pytest.mark.parametrize(
    "advised", sorted({call for failed, _ in ASIDE for call in calls_in(answer_of(failed))})
)
def test_what_is_advised_works_when_it_is_copied(advised, in_a_folder):
    pytest.importorskip("matplotlib")
    if "scan_dataset" in advised:
        pytest.importorskip("pyarrow")
        pathlib.Path("parquet").mkdir()
        frame.to_parquet("parquet/part.parquet")
    result.save("result.npz")
    own = OF_SYSTEMS if advised.startswith("compare_systems") else {}
    eval(advised, {**globals(), **NAMES, **GIVEN, **own})


@pytest.mark.parametrize(("job", "words", "answer"), ON_THE_COMMAND_LINE)
def test_a_first_line_works_or_names_the_right_one(job, words, answer, in_a_folder, capsys):
    exit_code_of(words.split())
    assert answer in "".join(capsys.readouterr())


def test_each_job_has_six_calls():
    jobs = [job for job, *_ in (*IN_PYTHON, *ON_THE_COMMAND_LINE)]
    assert len(set(jobs)) == 8
    assert min(map(jobs.count, jobs)) >= 6
