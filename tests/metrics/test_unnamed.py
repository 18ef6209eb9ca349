"""Metrics that have no name: what is shown instead can be copied, and is that metric."""

import functools
import re
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import sklearn.linear_model
import sklearn.metrics
from in_turn import in_turn

import skboot
from skboot import BootstrapScorer, bootstrap_score
from skboot.metrics.lookup import (
    _LOSSES,
    ALIASES,
    AS_MEAN,
    CALLABLES,
    ELSEWHERE,
    OF_SKBOOT,
    ROW_MEANS,
    SYNONYMS,
    function_of,
    known_names,
    losses,
    resolve_metrics,
)

RNG = np.random.default_rng(0)
N = 200
LABEL = RNG.integers(0, 2, N)
DECISION = np.where(RNG.random(N) < 0.2, 1 - LABEL, LABEL)
SCORE = 2 * LABEL + RNG.normal(size=N)
PROBABILITY = 1 / (1 + np.exp(1 - SCORE))
TIME, EVENT = RNG.exponential(size=N), RNG.random(N) < 0.7
REAL, FORECAST = SCORE + 5, SCORE + 5 + RNG.normal(size=N)


def harrell(time, prediction, event):
    """Share of usable pairs in the right order (Harrell et al. 1982), from its definition."""
    usable = (np.asarray(event) == 1)[:, None] & (time[:, None] < time)
    right = (prediction[:, None] < prediction) + 0.5 * (prediction[:, None] == prediction)
    return (right * usable).sum() / usable.sum()


# Each image has a few detections, whose scores tell hits from false alarms.
HITS = [np.append(RNG.random(3) < 0.7, True) for _ in range(N)]
CONFIDENCES = [RNG.random(4) + hits for hits in HITS]


def pooled_average_precision(image):
    hits, confidences = (np.concatenate([of[i] for i in image]) for of in (HITS, CONFIDENCES))
    return sklearn.metrics.average_precision_score(hits, confidences)


# The packages that only these metrics need are not installed for the tests.
LIFELINES = types.SimpleNamespace(utils=types.SimpleNamespace(concordance_index=harrell))
SACREBLEU = types.SimpleNamespace(
    corpus_bleu=lambda texts, references: types.SimpleNamespace(
        score=100 * np.mean([one == other for one, other in zip(texts, references[0], strict=True)])
    )
)
NAMESPACE = {
    "np": np,
    "scipy": scipy,
    "sklearn": sklearn,
    "skboot": skboot,
    "functools": functools,
    "lifelines": LIFELINES,
    "sacrebleu": SACREBLEU,
    "f": pooled_average_precision,
    "scale": 2,
}

SENSITIVITY = np.mean(DECISION[LABEL == 1] == 1)
SPECIFICITY = np.mean(DECISION[LABEL == 0] == 0)
THRESHOLDS = [-np.inf, *SCORE, np.inf]
MISSED = np.array([np.mean(SCORE[LABEL == 1] <= at) for at in THRESHOLDS])
ALARMS = np.array([np.mean(SCORE[LABEL == 0] > at) for at in THRESHOLDS])
LOGIT = np.log(PROBABILITY / (1 - PROBABILITY))
CALIBRATION = scipy.optimize.minimize(
    lambda ab: np.sum(np.logaddexp(0, (1 - 2 * LABEL) * (ab[0] + ab[1] * LOGIT))), [0, 1]
).x
SHIFT = scipy.optimize.minimize_scalar(
    lambda a: np.sum(np.logaddexp(0, (1 - 2 * LABEL) * (a + LOGIT)))
).x
BIN_OF = np.clip(np.digitize(PROBABILITY, np.linspace(0, 1, 11)) - 1, 0, 9)
ECE = sum(
    np.mean(own) * abs(LABEL[own].mean() - PROBABILITY[own].mean())
    for own in (np.equal(BIN_OF, k) for k in np.unique(BIN_OF))
)
# Decisions at the thresholds of log-likelihood ratios, whose errors count by their priors.
COSTS = [
    np.mean(SCORE[LABEL == 1] < np.log((1 - p) / p))
    + (1 - p) / p * np.mean(SCORE[LABEL == 0] >= np.log((1 - p) / p))
    for p in (0.01, 0.005)
]
OF_TEN = RNG.random((N, 10))
RISING = np.argsort(SCORE)
FITTED = scipy.optimize.isotonic_regression(LABEL[RISING].astype(float)).x
RATIO = np.clip(FITTED, 1e-12, 1 - 1e-12) / np.clip(1 - FITTED, 1e-12, 1) / np.mean(LABEL)
RATIO *= 1 - np.mean(LABEL)
OF_TARGETS = LABEL[RISING] == 1
MIN_CLLR = 0.5 * np.mean(np.log2(1 + 1 / RATIO[OF_TARGETS]))
MIN_CLLR += 0.5 * np.mean(np.log2(1 + RATIO[~OF_TARGETS]))
DECISIONS, SCORES, VALUES = (LABEL, DECISION), (LABEL, SCORE), (REAL, FORECAST)
PROBABILITIES = (LABEL, PROBABILITY)
# By one name of each: the rows, and the metric from its definition.
REFERENCE = np.full(N, REAL.mean() + 1)
EXPECTED = {
    "skill": (
        (REAL, np.column_stack((FORECAST, REFERENCE))),
        1 - np.square(REAL - FORECAST).sum() / np.square(REAL - REFERENCE).sum(),
    ),
    "mean_ap": ((None, np.arange(N)), pooled_average_precision(range(N))),
    "bleu": ((np.array(["a", "b"])[LABEL], np.array(["a", "b"])[DECISION]), None),
    "ccc": (
        VALUES,
        1
        - np.mean((REAL - FORECAST) ** 2)
        / (REAL.var() + FORECAST.var() + (REAL.mean() - FORECAST.mean()) ** 2),
    ),
    "correlation": (VALUES, np.corrcoef(REAL, FORECAST)[0, 1]),
    "dor": (
        DECISIONS,
        SENSITIVITY / (1 - SENSITIVITY) * SPECIFICITY / (1 - SPECIFICITY),
    ),
    "f0_5": (DECISIONS, None),
    "f2": (DECISIONS, None),
    "fpr": (DECISIONS, 1 - SPECIFICITY),
    "fnr": (DECISIONS, 1 - SENSITIVITY),
    "fpr95": (SCORES, ALARMS[MISSED <= 0.05].min()),
    "g_mean": (DECISIONS, np.sqrt(SENSITIVITY * SPECIFICITY)),
    "gini": (
        SCORES,
        np.mean(np.sign(SCORE[LABEL == 1][:, None] - SCORE[LABEL == 0])),
    ),
    "hter": (DECISIONS, 1 - (SENSITIVITY + SPECIFICITY) / 2),
    "youden": (DECISIONS, SENSITIVITY + SPECIFICITY - 1),
    "kendall": (VALUES, None),
    "ks": (SCORES, np.max(1 - MISSED - ALARMS)),
    "act_dcf": (SCORES, None),
    "sensitivity_at": (SCORES, (1 - MISSED)[ALARMS <= 0.1].max()),
    "specificity_at": (SCORES, (1 - ALARMS)[MISSED <= 0.1].max()),
    "false_positive_rate_at": (SCORES, ALARMS[MISSED <= 0.05].min()),
    "min_dcf": (SCORES, np.min(0.01 * MISSED + 0.99 * ALARMS) / 0.01),
    "net_benefit": (
        PROBABILITIES,
        np.mean((PROBABILITY >= 0.2) & (LABEL == 1))
        - np.mean((PROBABILITY >= 0.2) & (LABEL == 0)) * 0.25,
    ),
    "lr": (DECISIONS, SENSITIVITY / (1 - SPECIFICITY)),
    "oe": (PROBABILITIES, LABEL.sum() / PROBABILITY.sum()),
    "nrmse": (VALUES, np.sqrt(np.mean((REAL - FORECAST) ** 2)) / REAL.std()),
    "partial_auc": (SCORES, None),
    "perplexity": ((None, TIME), np.exp(TIME.mean())),
    "pinball": (VALUES, np.mean(np.maximum(0.9 * (REAL - FORECAST), 0.1 * (FORECAST - REAL)))),
    "qwk": (DECISIONS, None),
    "spearman": (VALUES, None),
    "cprimary": (SCORES, np.mean(COSTS)),
    "mdape": (VALUES, np.sort(np.abs((REAL - FORECAST) / REAL))[N // 2 - 1 : N // 2 + 1].mean()),
    "median": ((None, REAL), np.sort(REAL)[N // 2 - 1 : N // 2 + 1].mean()),
    "min_cllr": (SCORES, MIN_CLLR),
    "rmsse": (VALUES, np.sqrt(np.mean((REAL - FORECAST) ** 2)) / 2),
    "top_k": (
        (np.arange(N) % 10, OF_TEN),
        sklearn.metrics.top_k_accuracy_score(np.arange(N) % 10, OF_TEN, k=5),
    ),
    "wape": (VALUES, np.abs(REAL - FORECAST).sum() / np.abs(REAL).sum()),
    "weighted_kappa": (DECISIONS, None),
}


def first_line(name):
    with pytest.raises(ValueError, match="must be a known name") as raised:
        bootstrap_score(LABEL, DECISION, metric=name)
    return str(raised.value).splitlines()[0]


# The callables that a page shows, by what they are called.
PAGE = Path(skboot.__file__).parents[1] / "docs" / "guide" / "coming_from.md"
ON_PAGE = {}
if PAGE.exists():
    for row in (
        PAGE.read_text(encoding="utf-8").rpartition("## Metrics without a name")[2].splitlines()
    ):
        if row.startswith("| `"):
            names, shown = row.strip("| ").split(" | ")[:2]
            ON_PAGE |= {called: shown.strip("`") for called in re.findall("`(.+?)`", names)}


def shown_callable(line):
    text = line.partition("metric=")[2].partition(", with y_")[0].partition(". ")[0]
    return eval(text.removesuffix("."), NAMESPACE)


def test_there_is_an_example_of_every_callable():
    shown = CALLABLES | ON_PAGE
    assert {shown[name] for name in EXPECTED if name in shown} == set(shown.values())


@pytest.mark.skipif(not ON_PAGE, reason="the page is of the source tree")
def test_what_the_page_shows_is_said_to_be_there():
    said = {name for name in ELSEWHERE if ELSEWHERE[name].endswith("coming_from.md")}
    assert said == set(ON_PAGE)


@pytest.mark.filterwarnings("ignore:bootstrap_score")
@pytest.mark.parametrize("name", EXPECTED)
def test_the_callable_that_is_shown_is_the_metric(name):
    line = first_line(name)
    rows, expected = EXPECTED[name]
    if name in CALLABLES:
        assert "No metric has this name: give metric=" in line
        metric = shown_callable(line)
    elif name in ON_PAGE:
        metric = eval(ON_PAGE[name], NAMESPACE)
    else:
        pytest.skip("the page is of the source tree")
    result = bootstrap_score(
        *rows, metric=metric, n_resamples=19, random_state=0, interval="percentile"
    )
    assert np.isfinite(result.estimate)
    assert np.isfinite(result.bootstrap_distribution).all()
    if expected is not None:
        assert result.estimate == pytest.approx(expected, rel=1e-4)


@pytest.mark.filterwarnings("ignore:bootstrap_score")
def test_the_callable_that_is_shown_for_event_times_is_the_concordance():
    rows = np.column_stack((TIME, EVENT)), -TIME + FORECAST
    line = first_line("c_index")
    assert "of two classes it is 'roc_auc'" in line
    options = dict(n_resamples=19, random_state=0, interval="percentile")
    result = bootstrap_score(*rows, metric=shown_callable(line), **options)
    assert result.estimate == pytest.approx(harrell(TIME, TIME - FORECAST, EVENT))


@in_turn(name=list(ELSEWHERE))
def test_what_is_no_metric_leads_elsewhere_in_one_line(name):
    assert first_line(name).endswith(f"No metric has this name: {ELSEWHERE[name]}.")


def test_losses_are_told_with_their_direction():
    """In a comparison the larger of two means would be called the higher one, not the worse."""
    shown = CALLABLES | ROW_MEANS
    losses = {shown[name] for name in _LOSSES}
    for name, advice in shown.items():
        assert first_line(name).endswith("greater_is_better=False.") == (advice in losses)
    assert first_line("rouge-2").endswith("the score of each text.")


@pytest.mark.skipif(not ON_PAGE, reason="the page is of the source tree")
def test_tokens_weigh_the_losses_of_a_perplexity():
    tokens = RNG.integers(1, 9, N)
    metric = eval(ON_PAGE["perplexity"], NAMESPACE)
    result = bootstrap_score(None, TIME, metric=metric, sample_weight=tokens, random_state=0)
    assert result.estimate == pytest.approx(np.exp(np.repeat(TIME, tokens).mean()))


MEANS = """ndcg nDCG@10 pass@k pass@1 pass_at_10 sMAPE WER ROUGE-L rouge-1 rouge2 hits@1 MRR mAP@k
cer loss"""


@pytest.mark.parametrize("name", MEANS.split())
def test_a_mean_of_values_of_rows_is_to_be_given_as_these(name):
    assert f"{AS_MEAN} and, as predictions, " in first_line(name)
    scorer = BootstrapScorer(sklearn.linear_model.LogisticRegression(), scoring=name)
    with pytest.raises(ValueError, match="In scoring= there is no such metric") as raised:
        scorer.fit(SCORE[:, None], LABEL)
    assert "make_scorer" not in str(raised.value).splitlines()[0]


def test_the_value_that_is_shown_for_a_problem_is_unbiased_for_the_success_of_k_draws():
    """Chen et al. (2021), equation 1: against all subsets of k of n solutions."""
    n, c, k = 6, 2, 3
    subsets = np.array([bits for bits in np.ndindex(*(2,) * n) if sum(bits) == k])
    value = ROW_MEANS["pass"].partition(" of each")[0]
    [shown] = eval(value, {"skboot": skboot, "n_samples": n, "n_correct": [c], "k": k})
    assert shown == pytest.approx(np.mean(subsets[:, :c].any(axis=1)))


@pytest.mark.parametrize(
    ("name", "meant"),
    {
        "mIoU": "jaccard_macro",
        "exact match": "accuracy",
        "adjusted R2": "r2",
        "log-likelihood": "neg_log_loss",
    }.items(),
)
def test_other_names_lead_to_the_one_that_may_be_meant(name, meant):
    assert f"Did you mean {meant!r}?" in first_line(name)


def test_no_name_is_both_known_and_missing():
    unnamed = {*CALLABLES, *ROW_MEANS, *ELSEWHERE}
    assert len(unnamed) == len(CALLABLES) + len(ROW_MEANS) + len(ELSEWHERE)
    assert not unnamed & {*known_names(), *losses()}


def test_aliases_lead_to_known_names_and_are_none():
    known = {*known_names(), *losses(), *OF_SKBOOT}
    named = {**ALIASES, **SYNONYMS}
    assert len(named) == len(ALIASES) + len(SYNONYMS)
    assert all(meant in known or function_of(meant) is not None for meant in named.values())
    assert not set(named) & known
    assert not set(named) & {*CALLABLES, *ROW_MEANS, *ELSEWHERE}


def test_the_list_of_names_holds_every_metric_that_a_name_gives():
    with pytest.raises(ValueError, match="Known names") as raised:
        bootstrap_score([0, 1], [0, 1], metric="nothing of this kind")
    listed = str(raised.value).partition("Known names: ")[2].partition(";")[0].split(", ")
    assert {*OF_SKBOOT, *known_names(), "cohen_kappa_score", "zero_one_loss"} <= {*listed}
    assert not {"fbeta_score", "accuracy_score", "silhouette_score"} & {*listed}
    for name in listed:
        assert resolve_metrics(name, several_outputs=name.endswith("_samples"))[1]
