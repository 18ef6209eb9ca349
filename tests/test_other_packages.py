"""Estimators, samplers, data frames, reports and logs of other packages that are installed."""

import json

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skboot import (
    BootstrapScorer,
    BootstrapSplit,
    bootstrap_score,
    compare_methods,
    compare_systems,
    search_score,
)
from skboot.model_selection import out_of_fold

X, y = make_classification(60, 5, random_state=0)
X_VALID, Y_VALID = make_classification(25, 5, random_state=1)
QUICK = dict(strategy="oob", n_train_resamples=64, random_state=0)


# ------------------------------------------------------------------ boosting


def xgboost():
    from xgboost import XGBClassifier

    estimator = XGBClassifier(early_stopping_rounds=3, n_estimators=20, n_jobs=1)
    return estimator, {"verbose": False}, "best_iteration"


def lightgbm():
    from lightgbm import LGBMClassifier, early_stopping

    estimator = LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1, min_child_samples=5)
    return estimator, {"callbacks": [early_stopping(3, verbose=False)]}, "best_iteration_"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [xgboost, lightgbm])
def test_boosting_stops_early_on_its_eval_set_in_every_run(make):
    pytest.importorskip(make.__name__)
    estimator, options, best = make()
    scorer = BootstrapScorer(estimator, **QUICK)
    scorer.fit(X, y, eval_set=[(X_VALID, Y_VALID)], **options)
    assert not scorer.runs_["failed"].any()
    assert getattr(scorer.estimator_, best) < 20
    alone = BootstrapScorer(type(estimator)(n_estimators=20, n_jobs=1, verbosity=0), **QUICK)
    assert alone.fit(X, y).score_ != scorer.score_


@pytest.mark.filterwarnings("ignore")
def test_lightgbm_is_compared_with_logistic_regression_on_the_runs_of_each():
    lgb = pytest.importorskip("lightgbm")
    boosted = lgb.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1, min_child_samples=5)
    methods = {"boosting": boosted, "logistic": LogisticRegression()}
    [pair] = compare_methods(methods, X, y, scoring="roc_auc", **QUICK).pairs
    alone = {
        name: BootstrapScorer(method, scoring="roc_auc", **QUICK).fit(X, y).score_
        for name, method in methods.items()
    }
    assert pair.difference == pytest.approx(alone["boosting"] - alone["logistic"])


@pytest.mark.filterwarnings("ignore")
def test_the_winner_of_a_search_over_lightgbm_is_scored_from_its_own_out_of_fold_answers():
    lgb = pytest.importorskip("lightgbm")
    boosted = lgb.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1, min_child_samples=5)
    search = GridSearchCV(boosted, {"num_leaves": [2, 8]}, cv=3).fit(X, y)
    answers = out_of_fold(search, X, y)
    assert len(answers) == 2
    assert search_score(y, answers, random_state=0).estimate <= search.best_score_


# ------------------------------------------------------------------ imbalanced-learn


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_of_imbalanced_learn_resamples_in_every_run():
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampling = pytest.importorskip("imblearn.over_sampling")
    model = pipeline.make_pipeline(sampling.RandomOverSampler(), GaussianNB())
    scorer = BootstrapScorer(model, scoring="balanced_accuracy", **QUICK).fit(X, y)
    assert not scorer.runs_["failed"].any()
    assert scorer.score_ > 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sampler", ["SMOTE", "RandomOverSampler"])
def test_a_sampler_inside_makes_no_copies_of_rows_that_are_scored(sampler):
    # With labels of pure noise, nearest neighbours find only copies. The balanced accuracy of 100
    # positives and 300 negatives has a standard deviation of about .03; the bounds are 3 of them.
    pipeline = pytest.importorskip("imblearn.pipeline")
    make = getattr(pytest.importorskip("imblearn.over_sampling"), sampler)
    rng = np.random.default_rng(0)
    noise, label = rng.normal(size=(400, 5)), np.repeat([0, 1], [300, 100])
    options = dict(QUICK, scoring="balanced_accuracy")
    nearest = KNeighborsClassifier(1)
    inside = BootstrapScorer(pipeline.make_pipeline(make(), nearest), **options)
    assert abs(inside.fit(noise, label).score_ - 0.5) < 0.09
    before = make(random_state=0).fit_resample(noise, label)
    assert BootstrapScorer(nearest, **options).fit(*before).score_ > 0.65


# ------------------------------------------------------------------ data frames


def table():
    """Columns of numbers, some of them missing, and of words, and words as labels."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 90)
    age = label + rng.normal(size=90)
    city = np.array(["Bern", "Oslo", "Rome"])[rng.integers(0, 3, 90)].tolist()
    ages = [None if i % 11 == 0 else float(x) for i, x in enumerate(age)]
    return {"age": ages, "city": city}, np.array(["stay", "churn"])[label]


def frame(package):
    columns, label = table()
    package = pytest.importorskip(package)
    return package.DataFrame(columns), package.Series(label.tolist())


def model():
    columns = make_column_transformer((SimpleImputer(), ["age"]), (OneHotEncoder(), ["city"]))
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_frame_with_words_and_missing_values_is_trained_on_as_scikit_learn_does(package):
    made, labels = frame(package)
    scorer = BootstrapScorer(model(), scoring="roc_auc", **QUICK).fit(made, labels)
    assert not scorer.runs_["failed"].any()
    assert list(scorer.feature_names_in_) == ["age", "city"]
    trained = model().fit(made, labels)
    expected = roc_auc_score(labels, trained.predict_proba(made)[:, 1])
    assert scorer.resubstitution_score_ == pytest.approx(expected)


def test_a_frame_of_polars_scores_as_the_same_one_of_pandas():
    scores = [
        BootstrapScorer(model(), scoring="roc_auc", **QUICK).fit(*frame(package)).score_
        for package in ("pandas", "polars")
    ]
    assert scores[0] == scores[1]


@pytest.mark.filterwarnings("ignore:.*smaller class")
def test_columns_of_polars_are_rows_in_their_order():
    polars = pytest.importorskip("polars")
    _, label = table()
    rng = np.random.default_rng(1)
    columns = {
        "truth": label,
        "score": (label == "stay") + rng.normal(size=90),
        "other": (label == "stay") + rng.normal(size=90),
        "by": np.where(np.arange(90) % 2, "odd", "even"),
    }
    made = polars.DataFrame({name: values.tolist() for name, values in columns.items()})
    options = dict(metric="roc_auc", pos_label="stay", n_resamples=399, random_state=0)

    def scores(of):
        return bootstrap_score(of["truth"], of["score"], by=of["by"], **options)

    def differences(of):
        systems = {name: of[name] for name in ("score", "other")}
        return compare_systems(of["truth"], systems, **options)

    for compute in (scores, differences):
        assert compute(made).to_dict() == compute(columns).to_dict()


def test_missing_labels_of_polars_are_refused_by_their_row():
    polars = pytest.importorskip("polars")
    made, labels = frame("polars")
    label = polars.Series([*labels.to_list()[:5], None, *labels.to_list()[6:]])
    with pytest.raises(ValueError, match=r"'y' .* must not contain .* the first in row 5"):
        BootstrapScorer(model(), **QUICK).fit(made, label)


def test_queries_of_polars_are_to_be_collected():
    polars = pytest.importorskip("polars")
    made, labels = frame("polars")
    with pytest.raises(ValueError, match=r"Got a LazyFrame.* give X.collect\(\)"):
        BootstrapScorer(model(), **QUICK).fit(made.lazy(), labels)
    with pytest.raises(ValueError, match=r"Got a LazyFrame.* give y_true.collect\(\)"):
        bootstrap_score(polars.LazyFrame({"a": [0, 1]}), [0, 1])


def test_tensors_score_as_arrays():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    answer = np.where(rng.random(60) < 0.2, 1 - y, y)
    options = dict(metric="f1", groups=np.arange(60) // 2, random_state=0)
    expected = bootstrap_score(y, answer, **options).to_dict()
    options["groups"] = torch.tensor(options["groups"])
    for predicted in (
        torch.tensor(answer),
        torch.tensor(answer, dtype=torch.bfloat16),
        torch.tensor(answer, dtype=torch.float32, requires_grad=True),
    ):
        assert bootstrap_score(torch.tensor(y), predicted, **options).to_dict() == expected


# ------------------------------------------------------------------ reports and tracking


@pytest.mark.filterwarnings("ignore")
def test_a_report_of_skore_runs_over_bootstrap_samples_and_shows_a_limit():
    skore = pytest.importorskip("skore")
    splitter = BootstrapSplit(n_splits=4, random_state=0)
    report = skore.CrossValidationReport(GaussianNB(), X, y, splitter=splitter)
    expected = cross_val_score(GaussianNB(), X, y, cv=splitter)
    [mean] = np.ravel(report.metrics.accuracy(aggregate="mean"))
    assert mean == pytest.approx(expected.mean())

    def lower_limit(estimator, X, y):
        return bootstrap_score(y, estimator.predict(X), random_state=0).confidence_interval.low

    held_out = skore.EstimatorReport(
        GaussianNB(), X_train=X, y_train=y, X_test=X_VALID, y_test=Y_VALID
    )
    held_out.metrics.add(lower_limit, name="lower limit")
    frame = held_out.metrics.summarize(metric="lower limit").frame()
    model = GaussianNB().fit(X, y)
    assert np.ravel(frame)[0] == pytest.approx(lower_limit(model, X_VALID, Y_VALID))


def tracked():
    return bootstrap_score(y, np.roll(y, 1), random_state=0).as_metrics("test/")


@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_a_score_with_its_limits(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("alembic")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    with mlflow.start_run() as run:
        mlflow.log_metrics(tracked())
    kept = mlflow.get_run(run.info.run_id).data.metrics
    assert kept == pytest.approx(tracked())
    assert {"test/accuracy", "test/accuracy_ci_low", "test/accuracy_ci_high"} == set(kept)


@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_keeps_a_score_with_its_limits(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(project="test", mode="offline", dir=tmp_path) as run:
        run.log(tracked())
        kept = {name: run.summary[name] for name in tracked()}
    assert kept == pytest.approx(tracked())


# ------------------------------------------------------------------ logs of language models, speech


@pytest.mark.filterwarnings("ignore")
def test_a_log_of_inspect_holds_what_the_guide_reads_of_it(tmp_path):
    inspect_log = pytest.importorskip("inspect_ai.log")
    scorer = pytest.importorskip("inspect_ai.scorer")
    right = np.random.default_rng(0).random((30, 2)) < 0.6
    samples = [
        inspect_log.EvalSample(
            id=k,
            epoch=epoch + 1,
            input=f"Question {k}?",
            target="yes",
            scores={"match": scorer.Score(value="C" if right[k, epoch] else "I")},
        )
        for k in range(30)
        for epoch in range(2)
    ]
    spec = inspect_log.EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="test",
        dataset=inspect_log.EvalDataset(),
        model="mockllm/model",
        config=inspect_log.EvalConfig(),
    )
    path = tmp_path / "log.json"
    inspect_log.write_eval_log(inspect_log.EvalLog(eval=spec, samples=samples), str(path))
    read = json.loads(path.read_text(encoding="utf-8"))["samples"]
    values = [{"C": 1.0, "I": 0.0}[sample["scores"]["match"]["value"]] for sample in read]
    questions = [sample["id"] for sample in read]
    result = bootstrap_score(None, values, metric="mean", groups=questions, random_state=0)
    assert result.n_units == 30
    assert result.estimate == pytest.approx(right.mean())


def test_the_word_error_rate_of_jiwer_is_a_mean_weighted_by_words():
    jiwer = pytest.importorskip("jiwer")
    spoken = ["the cat sat on the mat", "a dog barked", "rain fell all day", "we went home"] * 6
    heard = ["the cat sat on a mat now", "dog barked", "rain fell all day", "she went home"] * 6
    counts = [jiwer.process_words(*pair) for pair in zip(spoken, heard, strict=True)]
    words = np.array([len(text.split()) for text in spoken])
    errors = np.array([each.substitutions + each.deletions + each.insertions for each in counts])
    speakers = np.arange(24)
    options = dict(metric="mean", greater_is_better=False, sample_weight=words, random_state=0)
    rate = bootstrap_score(None, errors / words, groups=speakers, **options)
    assert rate.estimate == pytest.approx(jiwer.wer(spoken, heard))
    assert rate.estimate == pytest.approx(4 / 16)
