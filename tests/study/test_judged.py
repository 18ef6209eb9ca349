"""Scores with a judge: what `proxy=` means in `bootstrap_score` and `compare_systems`.

Terms are scored here on their rows by scikit-learn, weights are written out by their formula, and
means are compared with ppi_py, `references/ppi/make.py`.
"""

import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sk

from skboot import Anytime, Judge, bootstrap_score, compare_systems
from skboot.results import EvaluationResult

pytestmark = pytest.mark.filterwarnings("ignore:.*(class has|resamples are too few|cannot show)")

PPI = json.loads((Path(__file__).parents[1] / "references" / "ppi" / "expected.json").read_text())
METRICS = {
    "accuracy": sk.accuracy_score,
    "f1": sk.f1_score,
    "roc_auc": sk.roc_auc_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "neg_log_loss": None,
}
N_RESAMPLES = 99


def rows(seed, n=400, n_labelled=90, right=0.9):
    """Truth of all rows and of labelled ones, the judge's, answers, scores, and which are labelled.

    The labelled rows stand anywhere.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    scores = truth + rng.normal(size=n)
    judge = np.where(rng.random(n) < right, truth, 1 - truth)
    labelled = np.zeros(n, bool)
    labelled[rng.permutation(n)[:n_labelled]] = True
    given = np.where(labelled, truth, np.nan)
    return truth, given, judge, (scores > 0.5).astype(int), scores, labelled


def scored(given, answers, judge, **options):
    options = {"n_resamples": N_RESAMPLES, "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bootstrap_score(given, answers, proxy=judge, **options)


# ------------------------------------------------------------------ identities


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", [name for name, own in METRICS.items() if own])
@pytest.mark.parametrize("weight", [0.3, 1])
def test_the_score_is_that_of_its_terms(seed, metric, weight):
    truth, given, judge, answers, scores, labelled = rows(seed)
    predicted, score = (scores if metric == "roc_auc" else answers), METRICS[metric]
    found = scored(given, predicted, Judge(judge, weight), metric=metric)
    human = score(truth[labelled], predicted[labelled])
    by_judge = [score(judge[own], predicted[own]) for own in (~labelled, labelled)]
    expected = human + weight * (by_judge[0] - by_judge[1])
    assert found.estimate == pytest.approx(expected, rel=1e-12)
    assert (found.proxy_weight, found.n_labelled, found.n_samples) == (weight, 90, 400)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "roc_auc"])
@pytest.mark.parametrize("in_groups", [False, True])
def test_weight_0_is_the_score_of_human_labels_alone(metric, in_groups):
    truth, given, judge, answers, scores, labelled = rows(3)
    predicted = scores if metric == "roc_auc" else answers
    groups = {"groups": np.arange(400) // 2} if in_groups else {}
    found = scored(given, predicted, Judge(judge, 0), metric=metric, **groups)
    own = {name: column[labelled] for name, column in groups.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_resamples": N_RESAMPLES, "random_state": 0}
        alone = bootstrap_score(
            truth[labelled], predicted[labelled], metric=metric, **options, **own
        )
    assert found.confidence_interval == alone.confidence_interval
    assert found.estimate == alone.estimate
    np.testing.assert_array_equal(found.bootstrap_distribution, alone.bootstrap_distribution)
    assert found.proxy_weight == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_that_is_always_right_gives_nearly_the_score_of_all_rows(seed):
    truth, given, _, answers, _, labelled = rows(seed)
    found = scored(given, answers, Judge(truth, 1))
    assert found.estimate == pytest.approx(np.mean((answers == truth)[~labelled]), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_of_means_is_the_one_of_the_smallest_variance(seed):
    rng = np.random.default_rng(seed)
    human = rng.gamma(2.0, size=300)
    judge = rng.choice([0.2, 0.9]) * human + rng.normal(size=300)
    labelled = np.arange(300) < 70
    given = np.where(labelled, human, np.nan)
    found = scored(None, given, judge, metric="mean", n_resamples=999)
    covariance = np.cov(human[:70], judge[:70])[0, 1] / 70
    weight = covariance / (judge[70:].var(ddof=1) / 230 + judge[:70].var(ddof=1) / 70)
    expected = human[:70].mean() + weight * (judge[70:].mean() - judge[:70].mean())
    assert found.proxy_weight == pytest.approx(weight, rel=1e-9)
    assert found.estimate == pytest.approx(expected, rel=1e-12)
    # Resamples of all rows hold varying numbers of labelled ones, which adds a share of 1 / 70.
    variance = weight**2 * judge[70:].var(ddof=1) / 230
    variance += (human[:70] - weight * judge[:70]).var(ddof=1) / 70
    assert found.standard_error == pytest.approx(variance**0.5, rel=0.12)


def test_a_weight_does_not_depend_on_the_seed():
    _, given, judge, answers, *_ = rows(0)
    weights = {scored(given, answers, judge, random_state=seed).proxy_weight for seed in range(3)}
    assert len(weights) == 1


@pytest.mark.parametrize("case", PPI["cases"], ids=lambda case: case["kind"])
def test_means_are_those_of_ppi_py(case):
    """Its weight has the variance of the judge pooled over all rows, and products by n."""
    judge, human = np.array(case["judge"]), np.array(case["human"])
    n = len(human)
    given = np.append(human, np.full(len(judge) - n, np.nan))
    for weight in (0.0, 0.5, 1.0):
        found = scored(None, given, Judge(judge, weight), metric="mean", interval="t")
        low, high = found._evidence.facts.bounds
        expected = np.clip(case[f"estimate at {weight}"], low, high)
        assert found.estimate == pytest.approx(expected, rel=1e-12)
    at_its_weight = scored(None, given, Judge(judge, case["weight"]), metric="mean")
    assert at_its_weight.estimate == pytest.approx(case["estimate"], rel=1e-12)
    centred = (human - human.mean()) @ (judge[:n] - judge[:n].mean()) / n
    pooled = (1 + n / (len(judge) - n)) * judge.var(ddof=1)
    assert np.clip(centred / pooled, 0, 1) == pytest.approx(case["weight"], rel=1e-12)


def test_all_weights_of_rows_equal_are_no_weights():
    _, given, judge, answers, *_ = rows(1)
    one = scored(given, answers, judge, metric="f1")
    same = scored(given, answers, judge, metric="f1", sample_weight=np.full(400, 2.5))
    assert same.estimate == pytest.approx(one.estimate, rel=1e-12)
    assert same.proxy_weight == pytest.approx(one.proxy_weight, rel=1e-9)


def test_a_callable_has_the_terms_of_the_metric_it_is():
    _, given, judge, answers, *_ = rows(2, n=200, n_labelled=60)
    own = scored(given, answers, judge, metric=lambda true, pred: float(np.mean(true == pred)))
    known = scored(given, answers, Judge(judge, own.proxy_weight), metric="accuracy")
    assert own.estimate == pytest.approx(known.estimate, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*few for a difference")
@pytest.mark.parametrize("metric", ["accuracy", "mean"])
def test_the_difference_of_two_systems_is_that_of_their_terms(metric):
    truth, given, judge, answers, _, labelled = rows(4)
    other = np.where(np.random.default_rng(1).random(400) < 0.75, truth, 1 - truth)
    options = {"n_resamples": N_RESAMPLES, "random_state": 0}
    if metric == "mean":
        human = {"a": (answers == truth) * 1.0, "b": (other == truth) * 1.0}
        by_judge = {"a": (answers == judge) * 1.0, "b": (other == judge) * 1.0}
        some = {name: np.where(labelled, own, np.nan) for name, own in human.items()}
        found = compare_systems(None, some, metric="mean", proxy=Judge(by_judge, 0.7), **options)
    else:
        found = compare_systems(
            given, {"a": answers, "b": other}, proxy=Judge(judge, 0.7), **options
        )
    right = [(answers == own) * 1.0 - (other == own) for own in (truth, judge)]
    expected = right[0][labelled].mean()
    expected += 0.7 * (right[1][~labelled].mean() - right[1][labelled].mean())
    assert found.pairs[0].difference == pytest.approx(expected, rel=1e-9)
    assert (found.n_labelled, found.proxy_weight) == (90, 0.7)
    assert found.systems["a"].proxy_weight == 0.7


def test_a_comparison_of_weight_0_is_that_of_labelled_rows():
    truth, given, judge, answers, _, labelled = rows(5)
    other = np.where(np.random.default_rng(1).random(400) < 0.75, truth, 1 - truth)
    systems, options = {"a": answers, "b": other}, {"n_resamples": N_RESAMPLES, "random_state": 0}
    found = compare_systems(given, systems, proxy=Judge(judge, 0), **options)
    few = {name: own[labelled] for name, own in systems.items()}
    alone = compare_systems(truth[labelled], few, **options)
    one, other = found.pairs[0], alone.pairs[0]
    assert (one.confidence_interval, one.p_value) == (other.confidence_interval, other.p_value)


# ------------------------------------------------------------------ how surely


def test_few_labels_without_an_error_of_the_judge_do_not_say_that_it_has_none():
    """The labelled rows alone would take the judge as certain."""
    truth, given, _, answers, _, labelled = rows(6, n=5000, n_labelled=50)
    found = scored(given, answers, Judge(truth, 1), n_resamples=1999)
    of_unlabelled = np.std((answers == truth)[~labelled]) / np.sqrt(4950)
    assert found.standard_error > 3 * of_unlabelled
    # Two further rows, of which each moves the score by one row of 50.
    assert found.standard_error == pytest.approx(np.sqrt(2) / 50, rel=0.15)


def test_continuous_values_have_no_further_rows():
    rng = np.random.default_rng(0)
    human = rng.normal(size=2000)
    judge = human + 1e-3 * rng.normal(size=2000)
    given = np.where(np.arange(2000) < 100, human, np.nan)
    found = scored(None, given, judge, metric="mean", n_resamples=1999)
    assert found.standard_error == pytest.approx(human[100:].std() / np.sqrt(1900), rel=0.1)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_groups_of_one_row_are_rows_however_often_the_judge_is_right(share):
    rng = np.random.default_rng(4)
    truth = rng.normal(size=300)
    answers = truth + rng.normal(size=300)
    given = np.where(rng.random(300) < 0.4, truth, np.nan)
    judge = truth + 0.1 * (rng.random(300) >= share)
    options = {"metric": "mae", "n_resamples": 1999}
    one = scored(given, answers, judge, **options)
    other = scored(given, answers, judge, groups=np.arange(300), **options)
    assert other.estimate == pytest.approx(one.estimate, rel=1e-9)
    assert [*other.confidence_interval] == pytest.approx([*one.confidence_interval], rel=0.03)


def test_a_judge_that_knows_nothing_leaves_human_labels_alone():
    truth, given, _, answers, _, labelled = rows(7)
    judge = np.random.default_rng(3).integers(0, 2, 400)
    found = scored(given, answers, judge)
    low, high = found.confidence_interval
    alone = bootstrap_score(truth[labelled], answers[labelled], random_state=0)
    assert high - low <= np.subtract(*alone.confidence_interval[::-1])
    assert found.proxy_weight < 0.15


def test_the_interval_of_a_score_with_two_ends_stays_between_them():
    truth, given, judge, *_ = rows(8)
    for answers in (truth, 1 - truth):
        low, high = scored(given, answers, Judge(judge, 1)).confidence_interval
        assert 0 <= low < high <= 1


# ------------------------------------------------------------------ what is given


def test_labels_may_be_text_with_none_and_integers_with_nan():
    _, given, judge, answers, *_ = rows(0)
    numbers = scored(given, answers, judge, metric="f1")
    names = np.array(["no", "yes"])
    text = [None if np.isnan(label) else str(names[int(label)]) for label in given]
    found = scored(text, names[answers], names[judge], metric="f1", pos_label="yes")
    assert found.confidence_interval == numbers.confidence_interval
    listed = [None if np.isnan(label) else int(label) for label in given]
    found = scored(listed, answers.tolist(), judge.tolist(), metric="f1")
    assert found.confidence_interval == numbers.confidence_interval


def test_a_missing_label_is_refused_without_a_judge():
    _, given, _, answers, *_ = rows(0)
    with pytest.raises(ValueError, match="not contain NaN, infinity or None"):
        bootstrap_score(given, answers)


_, GIVEN, JUDGE, ANSWERS, SCORES, LABELLED = rows(0)
SYSTEMS = {"a": ANSWERS, "b": JUDGE}
REFUSED = {
    "by": ({"by": JUDGE}, "'by' parameter of bootstrap_score must not be combined with proxy"),
    "average_over": ({"average_over": JUDGE}, "'average_over'.* must not be combined with proxy"),
    "block_length": ({"block_length": 3}, "'block_length'.* must not be combined with proxy"),
    "adjust": ({"adjust": "max-t"}, "'adjust'.* must be None with proxy"),
    "crossed": ({"groups": np.stack((JUDGE, JUDGE), 1)}, "'groups'.* must have one column"),
    "interval": ({"interval": "bca"}, "'interval'.* must be"),
    "wilson": ({"interval": "wilson"}, "'interval'.* must be one that these data allow"),
    "looks": ({"interval": Anytime(100)}, "'interval'.* must be one that holds at one look"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_joint_form_is_refused_by_name(name):
    options, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        bootstrap_score(GIVEN, ANSWERS, proxy=JUDGE, **options)


def test_too_few_labels_are_refused():
    few = np.where(np.cumsum(LABELLED) <= 29, GIVEN, np.nan)
    with pytest.raises(ValueError, match=r"'y_true'.* human label in at least 30 rows\. Got 29"):
        bootstrap_score(few, ANSWERS, proxy=JUDGE)
    few = np.where((np.cumsum(GIVEN == 1) <= 9) | (GIVEN == 0), GIVEN, np.nan)
    with pytest.raises(
        ValueError, match=r"at least 10 human labels of each class for 'f1'\. Got 9"
    ):
        bootstrap_score(few, ANSWERS, metric="f1", proxy=JUDGE)
    bootstrap_score(few, ANSWERS, proxy=JUDGE, n_resamples=N_RESAMPLES)
    groups = np.arange(400) // 20
    with pytest.raises(ValueError, match="at least 30 groups"):
        bootstrap_score(GIVEN, ANSWERS, proxy=JUDGE, groups=groups)
    # All human labels in one group, of which there are others.
    groups = np.where(LABELLED, 0, np.arange(400))
    with pytest.raises(ValueError, match=r"human label in at least 30 groups\. Got 1\."):
        bootstrap_score(GIVEN, ANSWERS, proxy=JUDGE, groups=groups)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(bootstrap_score, JUDGE, ANSWERS, proxy=JUDGE), "must be missing"),
        (partial(bootstrap_score, GIVEN, ANSWERS, proxy=JUDGE[:9]), "length|rows"),
        (partial(bootstrap_score, GIVEN, ANSWERS, proxy={"a": JUDGE}), "'proxy'.* be a column"),
        (partial(bootstrap_score, GIVEN, ANSWERS, proxy=["a"] * 400), "'proxy'.* one type"),
        (partial(bootstrap_score, GIVEN, ANSWERS, proxy=np.full(400, 0.5)), "'proxy'.* labels"),
        (partial(bootstrap_score, GIVEN / 2, ANSWERS, proxy=JUDGE), "'y_true'.* labels"),
        (partial(bootstrap_score, [None] * 400, ANSWERS, proxy=JUDGE), "'y_true'.* Got 0"),
        (partial(Judge, JUDGE, 1.5), r"'weight' parameter of Judge must be 'auto' or a number in"),
        (partial(Judge, JUDGE, "best"), "'weight' parameter of Judge must be 'auto' or a number"),
        (partial(Judge, None, 0.5), "'labels' parameter of Judge must be the judge's labels"),
        (partial(compare_systems, GIVEN, SYSTEMS, proxy=JUDGE, paired=False), "'paired'"),
        (partial(compare_systems, GIVEN, SYSTEMS, proxy=JUDGE, interval="bca"), "'interval'"),
        (
            partial(compare_systems, None, SYSTEMS, metric="mean", proxy=JUDGE),
            "'proxy'.* have the names of y_preds",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_human_values_of_systems_are_of_the_same_rows():
    values = {"a": GIVEN, "b": np.roll(GIVEN, 1)}
    with pytest.raises(ValueError, match=r"y_preds\['b'\].* missing on the same rows"):
        compare_systems(None, values, metric="mean", proxy={"a": JUDGE, "b": JUDGE})


# ------------------------------------------------------------------ what a result says


def test_a_result_says_what_it_stands_on(tmp_path):
    found = scored(GIVEN, ANSWERS, JUDGE)
    text = found.summary()
    for line in (
        "labelled             90 of 400 rows by humans, all by a judge",
        f"weight of the judge  {found.proxy_weight:.2f}",
        "resampled            90 labelled rows and all others, 99 times",
        "human labels alone   ",
        "assumed              the rows with a human label are a random sample of all rows",
    ):
        assert line in text
    assert "assumed to be a random sample of all rows" in found.claim()
    found.save(tmp_path / "with_judge.npz")
    loaded = EvaluationResult.load(tmp_path / "with_judge.npz")
    assert loaded == found
    assert (loaded.n_labelled, loaded.proxy_weight) == (90, found.proxy_weight)
    assert loaded.summary() == text
    assert found.to_dict()["n_labelled"] == 90
    assert found.to_frame()["proxy_weight"].tolist() == [found.proxy_weight]
    held = {name: found.settings[name] for name in ("proxy", "proxy_weight")}
    assert held == {"proxy": True, "proxy_weight": "auto"}


def test_a_comparison_says_what_it_stands_on():
    found = compare_systems(GIVEN, SYSTEMS, proxy=JUDGE, n_resamples=N_RESAMPLES, random_state=0)
    assert "90 of 400 rows by humans" in found.summary()
    assert "random sample of all rows" in found.claim()
    assert found.to_dict()["proxy_weight"] == found.proxy_weight


def test_a_score_of_human_labels_alone_is_said_to_be_of_their_rows():
    one = scored(GIVEN, ANSWERS, Judge(JUDGE, 0))
    options = {"n_resamples": N_RESAMPLES, "random_state": 0}
    two = compare_systems(GIVEN, SYSTEMS, proxy=Judge(JUDGE, 0), **options)
    assert one.n_samples == two.n_samples == 400
    for result in (one, two):
        assert " on 90 test rows" in result.summary().splitlines()[0]
        assert "90 test rows" in result.claim()
        assert "400 test rows" not in result.claim()
        assert "the rows with a human label, 90 of 400 rows, are assumed" in result.claim()


def test_a_result_without_a_judge_says_nothing_of_one():
    found = bootstrap_score(JUDGE, ANSWERS, n_resamples=N_RESAMPLES, random_state=0)
    assert found.n_labelled is None
    assert found.proxy_weight is None
    assert "judge" not in found.summary()
    assert "proxy_weight" not in found.to_dict()


def test_several_metrics_have_a_weight_each():
    found = scored(GIVEN, ANSWERS, JUDGE, metric=["accuracy", "f1"])
    for metric in ("accuracy", "f1"):
        alone = scored(GIVEN, ANSWERS, JUDGE, metric=metric)
        assert found[metric].proxy_weight == alone.proxy_weight
        assert found[metric].confidence_interval == alone.confidence_interval


@pytest.mark.parametrize(("n_labelled", "is_told"), [(60, True), (100, False)])
def test_a_difference_with_few_labels_says_so(n_labelled, is_told):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    judge = np.where(rng.random(600) < 0.95, truth, 1 - truth)
    systems = {name: np.where(rng.random(600) < 0.8, truth, 1 - truth) for name in "ab"}
    given = np.where(np.arange(600) < n_labelled, truth.astype(float), np.nan)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compare_systems(given, systems, proxy=judge, random_state=0)
    told = [str(one.message) for one in caught]
    assert any("few for a difference" in text for text in told) == is_told
    assert any("few for a difference" in note for note in result.notes) == is_told
