"""Which direction of a metric is the good one: known, given, or unknown; and what is then said."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, make_scorer, zero_one_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import (
    bootstrap_runs,
    bootstrap_score,
    compare_methods,
    compare_runs,
    compare_systems,
    search_score,
)

RNG = np.random.default_rng(0)
N = 120
Y = np.arange(N) % 2
HITS = {name: (RNG.random(N) < p).astype(int) for name, p in (("A", 0.8), ("B", 0.5), ("C", 0.78))}
RUN_HITS = {name: (RNG.random((5, N)) < p).astype(int) for name, p in (("A", 0.8), ("B", 0.6))}
BY = np.repeat(["left", "right"], N // 2)
FEW = {"n_resamples": 199, "random_state": 0}
MEAN = {"metric": "mean", **FEW}
pytestmark = pytest.mark.filterwarnings("ignore:.*Only 5 runs:UserWarning")


def share(y_true, y_pred):
    return np.mean(y_true == y_pred)


# Results of metrics whose direction nobody has given.
UNKNOWN = {
    "score": partial(bootstrap_score, None, HITS["A"], **MEAN),
    "score of a function": partial(bootstrap_score, Y, HITS["A"], metric=share, **FEW),
    "subgroups": partial(bootstrap_score, None, HITS["A"], by=BY, **MEAN),
    "two systems": partial(compare_systems, None, {"A": HITS["A"], "B": HITS["B"]}, **MEAN),
    "two alike": partial(compare_systems, None, {"A": HITS["A"], "C": HITS["C"]}, **MEAN),
    "three systems": partial(compare_systems, None, HITS, **MEAN),
    "a reference": partial(compare_systems, None, HITS, reference="B", **MEAN),
    "many systems": partial(
        compare_systems, None, {f"s{k}": RNG.random(N) < 0.7 for k in range(7)}, **MEAN
    ),
    "systems by subgroup": partial(compare_systems, None, HITS, by=BY, **MEAN),
    "runs": partial(bootstrap_runs, None, RUN_HITS["A"], **MEAN),
    "next run": partial(bootstrap_runs, None, RUN_HITS["A"], estimand="next_run", **MEAN),
    "pool": partial(bootstrap_runs, None, RUN_HITS["A"], estimand="pooled", **MEAN),
    "runs alone": partial(bootstrap_runs, None, RUN_HITS["A"], interval="t", **MEAN),
    "two methods": partial(compare_runs, None, RUN_HITS, **MEAN),
    "paired runs": partial(compare_runs, None, RUN_HITS, paired_runs=True, **MEAN),
}


def texts_of(result):
    """All that a result prints."""
    yield from (result.summary(), str(result), result.to_markdown(), result.to_latex())
    yield result._repr_html_()
    yield from [result.claim()] if hasattr(result, "claim") else []


# ------------------------------------------------------------------ what is said


@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_is_called_better_or_worse_without_a_direction(name):
    words = re.compile(r"\b(better|best|worse|worst|beats?|wins?|winner|loss(es)?|errs?)\b")
    for text in texts_of(UNKNOWN[name]()):
        assert not words.findall(text), text
        assert "font-weight" not in text
        assert "textbf" not in text


@pytest.mark.parametrize("name", ["score", "two systems", "many systems", "subgroups"])
def test_nothing_is_drawn_as_better_without_a_direction(name):
    pytest.importorskip("matplotlib")
    from matplotlib.text import Text

    figure = UNKNOWN[name]().plot().figure_
    assert not [t for t in figure.findobj(Text) if re.search("better|best|worse", t.get_text())]


def test_the_words_are_higher_and_lower():
    assert UNKNOWN["two systems"]().claim().endswith("A scores significantly higher than B.")
    assert (
        "not significant: this does not show that one is higher, nor that they are"
        in UNKNOWN["two alike"]().claim()
    )
    assert "A and C scored significantly higher" in UNKNOWN["a reference"]().claim()
    low = compare_systems(None, HITS, reference="A", **MEAN).claim()
    assert "B scored significantly lower" in low
    assert "C did not differ significantly from it" in low


def test_the_share_of_resamples_won_says_what_it_is_the_share_of():
    unknown = " ".join(UNKNOWN["two systems"]().summary().split())
    known = " ".join(compare_systems(None, HITS, greater_is_better=False, **MEAN).summary().split())
    assert "share of the resamples on which the first scores higher, ties half" in unknown
    assert "direction unknown: scores are called higher and lower" in unknown
    assert "share of the resamples on which the first scores better, ties half" in known
    assert "direction smaller is better" in known


@pytest.mark.parametrize("estimand", ["method", "next_run", "pooled"])
def test_runs_of_given_values_need_no_training_set(estimand):
    untrained = bootstrap_runs(None, RUN_HITS["A"], estimand=estimand, **MEAN)
    trained = bootstrap_runs(Y, RUN_HITS["A"], metric="accuracy", estimand=estimand, **FEW)
    told = untrained.claim() + untrained.summary()
    assert "training" not in told
    assert untrained.held_fixed == ("the settings of the method",)
    assert "this training set" in trained.claim()


def test_runs_of_given_values_on_fresh_training_sets_are_said_to_be():
    result = bootstrap_runs(None, RUN_HITS["A"], varied="independent", **MEAN)
    assert "at this training-set size" in result.claim()


def test_differences_between_runs_of_given_values_need_no_training_set():
    for options in ({}, {"paired_runs": True, "greater_is_better": True}, {"interval": "welch"}):
        found = compare_runs(None, RUN_HITS, **options, **MEAN)
        assert "training" not in found.claim() + found.summary()
    assert "training set" in compare_runs(Y, RUN_HITS, **FEW).claim()


# ------------------------------------------------------------------ what is known


def test_the_direction_of_a_mean_is_unknown_unless_it_is_given():
    for given in (None, True, False):
        one = bootstrap_score(None, HITS["A"], greater_is_better=given, **MEAN)
        several = bootstrap_runs(None, RUN_HITS["A"], greater_is_better=given, **MEAN)
        pair = compare_systems(None, HITS, greater_is_better=given, **MEAN)
        runs = compare_runs(None, RUN_HITS, greater_is_better=given, paired_runs=True, **MEAN)
        assert {r.greater_is_better for r in (one, several, pair, runs)} == {given}
        assert one.naive_estimate is None
        assert several.naive_estimate is None
        assert pair.best == {None: None, True: "A", False: "B"}[given]
        assert runs.best == {None: None, True: "A", False: "B"}[given]
        assert (runs.pairs[0].outperformance is None) == (given is None)


def test_intervals_and_p_values_need_no_direction():
    [unknown], [known] = (
        compare_runs(None, RUN_HITS, greater_is_better=given, **MEAN).pairs
        for given in (None, False)
    )
    said = {"bootstrap_support": known.bootstrap_support, "_comparison": known._comparison}
    assert replace(unknown, **said) == known
    assert unknown.bootstrap_support == 1 - known.bootstrap_support


def test_without_a_direction_systems_keep_the_order_of_the_call():
    backwards = {name: HITS[name] for name in ("B", "C", "A")}
    result = compare_systems(None, backwards, **MEAN)
    rows = result.summary().splitlines()[3:6]
    assert [row.split()[0] for row in rows] == ["B", "C", "A"]
    with pytest.raises(ValueError, match=r"ranking.*greater_is_better=True"):
        _ = result.ranking
    assert result.best is None
    assert result.indistinguishable_from_best is None
    assert [pair.first for pair in result.pairs] == ["B", "B", "C"]


def test_a_note_says_why_runs_are_not_set_against_each_other():
    assert "P(A > B) is left out: the direction" in " ".join(UNKNOWN["paired runs"]().notes)
    assert "P(A > B)" not in " ".join(UNKNOWN["two methods"]().notes)


CALLS = {
    "bootstrap_score": lambda **o: bootstrap_score(Y, HITS["A"], **o, **FEW),
    "compare_systems": lambda **o: compare_systems(Y, HITS, **o, **FEW),
    "bootstrap_runs": lambda **o: bootstrap_runs(Y, RUN_HITS["A"], **o, **FEW),
    "compare_runs": lambda **o: compare_runs(Y, RUN_HITS, **o, **FEW),
    "search_score": lambda **o: search_score(Y, HITS, **o, **FEW),
}


@pytest.mark.parametrize("caller", CALLS)
def test_a_direction_that_contradicts_a_known_metric_is_refused(caller):
    text = f"'greater_is_better' parameter of {caller} must be None or True, .*'accuracy'. Got Fal"
    for metric in ("accuracy", [share, "accuracy"]):
        with pytest.raises(ValueError, match=text):
            CALLS[caller](metric=metric, greater_is_better=False)
    with pytest.raises(ValueError, match="must be None or False, the direction of 'zero_one_loss'"):
        CALLS[caller](metric=zero_one_loss, greater_is_better=True)
    with pytest.raises(ValueError, match=r"be True, False or None\. Got 'lower'"):
        CALLS[caller](metric=share, greater_is_better="lower")
    CALLS[caller](metric="accuracy", greater_is_better=True)


@pytest.mark.parametrize("metric", ["mean", share])
def test_a_search_must_know_which_direction_to_choose_by(metric):
    y_true = None if metric == "mean" else Y
    with pytest.raises(ValueError, match="'greater_is_better' parameter of search_score"):
        search_score(y_true, HITS, metric=metric, **FEW)
    assert search_score(y_true, HITS, metric=metric, greater_is_better=False, **FEW)


# ------------------------------------------------------------------ bootstrap_support


def share_above_0(result, sign):
    """Of the differences of the only pair on the same resamples, by counting."""
    [pair] = result.pairs
    won = 0.0
    for change in result.replicates(pair.first, pair.second):
        won += 1.0 if sign * change > 0 else 0.5 if change == 0 else 0.0
    return won / result.n_resamples


@pytest.mark.parametrize(
    ("metric", "better", "sign"),
    [
        ("accuracy", None, 1),
        (zero_one_loss, None, -1),
        (make_scorer(zero_one_loss, greater_is_better=False), None, 1),
        (share, None, 1),
        (share, True, 1),
        (lambda y_true, y_pred: np.mean(y_true != y_pred), False, -1),
    ],
)
def test_the_support_of_a_difference_is_the_share_on_which_the_first_is_better(
    metric, better, sign
):
    options = {"metric": metric, "greater_is_better": better, **FEW}
    alike = {"A": HITS["A"], "C": HITS["C"]}
    systems = compare_systems(Y, alike, **options)
    support = systems.pairs[0].bootstrap_support
    assert support == pytest.approx(share_above_0(systems, sign), abs=1e-12)
    assert systems.pair("C", "A").bootstrap_support == pytest.approx(1 - support, abs=1e-12)
    assert 0 < support < 1
    runs = compare_runs(
        Y,
        {name: [one ^ (RNG.random(N) < 0.05) for _ in range(5)] for name, one in alike.items()},
        **options | {"n_resamples": 99},
    )
    # That of runs is of the law which p-values are of: resamples hold the runs fixed.
    [pair] = runs.pairs
    in_favour = 1 - pair.p_value / 2 if sign * pair.difference > 0 else pair.p_value / 2
    assert pair.bootstrap_support == pytest.approx(in_favour, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*too few for a stable standard error:UserWarning")
@pytest.mark.parametrize("with_test_set", [False, True])
def test_the_support_of_methods_does_not_depend_on_the_sign_of_the_metric(with_test_set):
    X, y = make_classification(160, 4, n_informative=2, flip_y=0.3, random_state=0)
    methods = {"A": GaussianNB(), "B": DecisionTreeClassifier(max_depth=2, random_state=0)}
    test = {"X_test": X[:30], "y_test": y[:30]} if with_test_set else {}
    scoring = {
        "right": make_scorer(accuracy_score),
        "wrong": make_scorer(zero_one_loss),
        "negated": make_scorer(zero_one_loss, greater_is_better=False),
    }
    result = compare_methods(
        methods,
        X[80:],
        y[80:],
        scoring=scoring,
        strategy="oob",
        n_train_resamples=30,
        n_test_resamples=99,
        random_state=0,
        **test,
    )
    pairs = {name: one.pairs[0] for name, one in result.items()}
    assert 0 < pairs["right"].bootstrap_support < 1
    assert pairs["wrong"].bootstrap_support == pytest.approx(pairs["right"].bootstrap_support)
    assert pairs["negated"].bootstrap_support == pytest.approx(pairs["right"].bootstrap_support)
    assert pairs["wrong"].difference == pytest.approx(-pairs["right"].difference)
