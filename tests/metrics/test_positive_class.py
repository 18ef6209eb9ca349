"""The positive class is a name: which label it has, and which of the two is greater, is no matter.

Exact: the call on labels in text with ``pos_label`` is the call on 0 and 1, replicate by replicate.
Numbers of scikit-learn with its own ``pos_label`` are the second source.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn import metrics as of_sklearn

import skboot
from skboot import metrics as of_skboot
from skboot._base.lazy import import_modules
from skboot.metrics.lookup import resolve_metrics
from skboot.metrics.statistic import FAST_PATHS
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.identity

RNG = np.random.default_rng(7)
TRUTH = RNG.integers(0, 2, 240)
PROB = np.clip(0.25 * TRUTH + 0.75 * RNG.random(240), 0.02, 0.98).round(2)
OTHER_PROB = np.clip(0.15 * TRUTH + 0.85 * RNG.random(240), 0.02, 0.98).round(2)
DECISION, OTHER_DECISION = (PROB > 0.5).astype(int), (OTHER_PROB > 0.5).astype(int)
GROUPS = np.repeat(np.arange(80), 3)
# The label of class 0 and of class 1, which is positive: the greater in one pair, not in the other.
NAMES = (("ant", "bee"), ("wasp", "bee"))
QUIET = {"random_state": 3, "n_resamples": 49}

LABELS = {
    "f1": partial(of_sklearn.f1_score),
    "fbeta": partial(of_sklearn.fbeta_score, beta=2.0),
    "precision": partial(of_sklearn.precision_score),
    "recall": partial(of_sklearn.recall_score),
    "jaccard": partial(of_sklearn.jaccard_score),
    "sensitivity": of_skboot.sensitivity,
    "specificity": of_skboot.specificity,
    "ppv": of_skboot.ppv,
    "npv": of_skboot.npv,
    "positive_likelihood_ratio": "positive_likelihood_ratio",
    "negative_likelihood_ratio": "neg_negative_likelihood_ratio",
    "user": lambda y_true, y_pred, pos_label=1: np.mean(y_pred[y_true == pos_label] == pos_label),
}
SCORES = {
    "roc_auc": "roc_auc",
    "partial_roc_auc": partial(of_sklearn.roc_auc_score, max_fpr=0.2),
    "average_precision": "average_precision",
    "brier_score_loss": of_sklearn.brier_score_loss,
    "log_loss": of_sklearn.log_loss,
    "sum_of_log_losses": partial(of_sklearn.log_loss, normalize=False),
    "neg_log_loss": "neg_log_loss",
    "cross_entropy": of_skboot.cross_entropy,
    "relative_cross_entropy": partial(of_skboot.cross_entropy, relative=True),
    "brier_score": of_skboot.brier_score,
    "d2_log_loss": of_sklearn.d2_log_loss_score,
    "equal_error_rate": of_skboot.equal_error_rate,
    "neg_equal_error_rate": "neg_equal_error_rate",
    "false_positive_rate_at": partial(of_skboot.false_positive_rate_at, false_negative_rate=0.1),
    "sensitivity_at": partial(of_skboot.sensitivity_at, specificity=0.8),
    "specificity_at": partial(of_skboot.specificity_at, sensitivity=0.8),
    "calibration_slope": of_skboot.calibration_slope,
    "calibration_intercept": of_skboot.calibration_intercept,
    "expected_calibration_error": of_skboot.expected_calibration_error,
    "net_benefit": partial(of_skboot.net_benefit, threshold=0.3),
    "cllr": of_skboot.cllr,
    "actual_detection_cost": partial(of_skboot.actual_detection_cost, priors=[0.9, 0.1]),
    "minimum_detection_cost": partial(of_skboot.minimum_detection_cost, priors=[0.7, 0.3]),
    "hinge_loss": of_sklearn.hinge_loss,
    "top_1": partial(of_sklearn.top_k_accuracy_score, k=1),
}
# A row of two columns is no log-likelihood ratio and no decision; of columns that tie, the first
# counts for an accuracy.
IN_COLUMNS = [name for name in SCORES if name not in ("cllr", "hinge_loss", "top_1")]
# They are called on repeated rows.
SLOW = ("partial_roc_auc", "sum_of_log_losses", "user")


def quietly(function, *arguments, **options):
    """Return what a function returns; other warnings do not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **{**QUIET, **options})


def by_turns(names):
    """Each with one pair of labels, by turns; with both in `make slow`."""
    return [
        pytest.param(name, pair, marks=[pytest.mark.slow] if (k + turn) % 2 else [])
        for k, name in enumerate(names)
        for turn, pair in enumerate(NAMES)
    ]


def options_of(name):
    return {"interval": "percentile", "n_resamples": 9} if name in SLOW else {}


def assert_same(one, other):
    assert one.estimate == other.estimate
    np.testing.assert_array_equal(one.bootstrap_distribution, other.bootstrap_distribution)
    assert tuple(one.confidence_interval) == tuple(other.confidence_interval)
    assert one.naive_estimate == other.naive_estimate


def asked(metric, kinds=NAMES):
    for names in kinds:
        yield np.array(names)[TRUTH], names


def columns_of(names, prob=PROB):
    """Probabilities with columns in rising order of their labels."""
    by_class = np.column_stack((1 - prob, prob))
    return by_class[:, np.argsort(names)]


def test_every_fast_path_with_a_positive_class_is_tried_here():
    """A metric that is added with a positive class fails here until it has a row above."""
    needed = {
        "false_positive_rate_at": {"false_negative_rate": 0.1},
        "sensitivity_at": {"specificity": 0.8},
        "specificity_at": {"sensitivity": 0.8},
        "net_benefit": {"threshold": 0.3},
        "fbeta_score": {"beta": 2.0},
        "actual_detection_cost": {"priors": [0.9, 0.1]},
        "minimum_detection_cost": {"priors": [0.7, 0.3]},
    }
    with_class = set()
    import_modules("skboot.metrics")  # each registers its statistics
    for name in FAST_PATHS:
        function = getattr(of_skboot, name, None) or getattr(of_sklearn, name, None)
        if function is None:  # scikit-learn has no function of this name, but a scorer
            continue
        bound = partial(function, **needed.get(name, {}))
        found, _ = resolve_metrics(bound, pos_label="bee")
        statistic = next(iter(found.values()))
        if (statistic.unsigned or statistic).pos_label == "bee":
            with_class.add(name)
    tried = {**LABELS, **SCORES}.values()
    here = {getattr(getattr(one, "func", one), "__name__", None) for one in tried}
    by_name = {"roc_auc_score", "average_precision_score"}
    # It differs from the D2 of log loss by the loss alone, and came with scikit-learn 1.8.
    assert with_class - here - by_name - {"d2_brier_score"} == set()
    assert {"f1_score", "roc_auc_score", "log_loss", "net_benefit", "sensitivity"} <= with_class


@pytest.mark.parametrize(("name", "names"), by_turns(LABELS))
def test_decisions_in_text_with_pos_label_are_those_in_numbers(name, names):
    text = np.array(names)
    one = quietly(skboot.bootstrap_score, TRUTH, DECISION, metric=LABELS[name], groups=GROUPS)
    other = quietly(
        skboot.bootstrap_score,
        text[TRUTH],
        text[DECISION].astype(object),
        metric=LABELS[name],
        groups=GROUPS,
        pos_label="bee",
    )
    assert_same(one, other)
    assert other.settings["pos_label"] == "bee"


@pytest.mark.parametrize(("name", "names"), by_turns(SCORES))
def test_scores_of_text_with_pos_label_are_those_of_numbers(name, names):
    options = options_of(name)
    one = quietly(skboot.bootstrap_score, TRUTH, PROB, metric=SCORES[name], **options)
    text = np.array(names)[TRUTH]
    other = quietly(
        skboot.bootstrap_score, text, PROB, metric=SCORES[name], pos_label="bee", **options
    )
    assert_same(one, other)


@pytest.mark.parametrize(("name", "names"), by_turns(IN_COLUMNS))
def test_columns_of_text_with_pos_label_are_those_of_numbers(name, names):
    options = options_of(name)
    metric, prob = SCORES[name], np.column_stack((1 - PROB, PROB))
    one = quietly(skboot.bootstrap_score, TRUTH, prob, metric=metric, **options)
    text = np.array(names)[TRUTH]
    sorted_columns = columns_of(names)
    other = quietly(
        skboot.bootstrap_score, text, sorted_columns, metric=metric, pos_label="bee", **options
    )
    assert_same(one, other)
    for labels, columns in ((list(names), prob), (list(names)[::-1], prob[:, ::-1])):
        given = quietly(
            skboot.bootstrap_score,
            text,
            columns,
            metric=metric,
            labels=labels,
            pos_label="bee",
            **options,
        )
        assert_same(one, given)


@pytest.mark.parametrize("name", [*LABELS, *SCORES])
def test_the_default_positive_class_may_be_named(name):
    options = options_of(name)
    predicted = DECISION if name in LABELS else PROB
    metric = {**LABELS, **SCORES}[name]
    one = quietly(skboot.bootstrap_score, TRUTH, predicted, metric=metric, **options)
    other = quietly(skboot.bootstrap_score, TRUTH, predicted, metric=metric, pos_label=1, **options)
    assert_same(one, other)


@pytest.mark.parametrize(
    "function",
    [
        of_sklearn.f1_score,
        partial(of_sklearn.fbeta_score, beta=0.5),
        of_sklearn.precision_score,
        of_sklearn.recall_score,
        of_sklearn.jaccard_score,
        of_sklearn.average_precision_score,
        of_sklearn.brier_score_loss,
    ],
)
@pytest.mark.parametrize("positive", ["ant", "bee"])
def test_a_score_is_scikit_learns_with_its_own_pos_label(function, positive):
    text = np.array(["ant", "bee"])
    of_scores = function in (of_sklearn.average_precision_score, of_sklearn.brier_score_loss)
    predicted = PROB if of_scores else text[DECISION]
    expected = function(text[TRUTH], predicted, pos_label=positive)
    result = quietly(
        skboot.bootstrap_score, text[TRUTH], predicted, metric=function, pos_label=positive
    )
    assert result.estimate == pytest.approx(expected, abs=1e-12)
    rows = np.random.default_rng(0).integers(0, 240, size=(5, 240))
    result = quietly(
        skboot.bootstrap_score,
        text[TRUTH],
        predicted,
        metric=function,
        pos_label=positive,
        resamples=rows,
        n_resamples=5,
        interval="percentile",
    )
    on_rows = [function(text[TRUTH][own], predicted[own], pos_label=positive) for own in rows]
    np.testing.assert_allclose(result.bootstrap_distribution, on_rows, rtol=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "neg_log_loss"])
def test_columns_in_falling_order_of_labels_are_read_by_their_labels(metric):
    prob = np.column_stack((1 - PROB, PROB))
    one = quietly(skboot.bootstrap_score, TRUTH, prob, metric=metric, labels=[0, 1])
    other = quietly(skboot.bootstrap_score, TRUTH, prob[:, ::-1], metric=metric, labels=[1, 0])
    assert_same(one, other)


# ------------------------------------------------------------------ every function


NUMBERS = {"truth": TRUTH, "positive": None, "class": np.arange(2)}
TEXT = {"truth": np.array(NAMES[1])[TRUTH], "positive": "bee", "class": np.array(NAMES[1])}


def _runs(given, metric):
    return (
        [given["class"][DECISION], given["class"][OTHER_DECISION]] * 5
        if metric == "f1"
        else (np.array([PROB, OTHER_PROB] * 5))
    )


def _systems(given, metric):
    by_label = {"a": given["class"][DECISION], "b": given["class"][OTHER_DECISION]}
    return by_label if metric == "f1" else {"a": PROB, "b": OTHER_PROB}


def score_by(given, metric):
    predicted = _systems(given, metric)["a"]
    by = GROUPS % 2
    return skboot.bootstrap_score, (given["truth"], predicted), {"by": by}


def runs(given, metric):
    return skboot.bootstrap_runs, (given["truth"], _runs(given, metric)), {}


def paired(given, metric):
    return skboot.compare_systems, (given["truth"], _systems(given, metric)), {}


def paired_by(given, metric):
    options = {"by": GROUPS % 2}
    return skboot.compare_systems, (given["truth"], _systems(given, metric)), options


def unpaired(given, metric):
    truth = {"a": given["truth"], "b": given["truth"][:200]}
    own = _systems(given, metric)
    return skboot.compare_systems, (truth, {**own, "b": own["b"][:200]}), {"paired": False}


def compared_runs(given, metric):
    named = {"a": _runs(given, metric), "b": _runs(given, metric)[::-1][:9]}
    return skboot.compare_runs, (given["truth"], named), {}


def search(given, metric):
    return skboot.search_score, (given["truth"], _systems(given, metric)), {}


def lazy_score(given, metric):
    array = pytest.importorskip("dask.array")
    columns = (given["truth"], _systems(given, metric)["a"])
    return skboot.bootstrap_score, [array.from_array(one, chunks=80) for one in columns], {}


def lazy_systems(given, metric):
    array = pytest.importorskip("dask.array")
    own = _systems(given, metric)
    systems = {name: array.from_array(one, chunks=80) for name, one in own.items()}
    truth = array.from_array(given["truth"], chunks=80)
    return skboot.compare_systems, (truth, systems), {}


CALLS = (
    score_by,
    runs,
    paired,
    paired_by,
    unpaired,
    compared_runs,
    search,
    lazy_score,
    lazy_systems,
)


def numbers_of(shown):
    """Return all numbers of a result, a comparison or a table of them."""
    if hasattr(shown, "pairs"):
        pairs = [(p.difference, *p.confidence_interval, p.p_value) for p in shown.pairs]
        return [*pairs, *(numbers_of(one) for one in shown.systems.values())]
    if hasattr(shown, "estimate"):
        return (shown.estimate, *shown.confidence_interval, *np.ravel(shown.bootstrap_distribution))
    return {str(name): numbers_of(one) for name, one in shown.items()}


@pytest.mark.parametrize("metric", ["f1", "roc_auc"])
@pytest.mark.parametrize("call", CALLS)
def test_every_function_names_the_positive_class_alike(call, metric):
    found = []
    for given in (NUMBERS, TEXT):
        function, arguments, options = call(given, metric)
        shown = quietly(function, *arguments, metric=metric, pos_label=given["positive"], **options)
        found.append(shown)
    if call is unpaired:
        # Resamples of systems on test sets of their own are told apart by what their rows hold.
        for name, system in found[0].systems.items():
            assert system.estimate == found[1].systems[name].estimate
    else:
        np.testing.assert_equal(numbers_of(found[0]), numbers_of(found[1]))
    one = found[1]
    while not hasattr(one, "settings"):
        one = next(iter(one.values()))
    assert one.settings["pos_label"] == "bee"


@pytest.mark.parametrize("call", CALLS)
def test_every_function_warns_once_of_text_whose_positive_class_is_not_named(call):
    function, arguments, options = call(TEXT, "roc_auc")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, metric=["roc_auc", "neg_equal_error_rate"], **options, **QUIET)
    texts = [str(one.message) for one in caught if "positive class" in str(one.message)]
    assert len(texts) == 1
    assert "'wasp', the greater label" in texts[0]
    assert "pos_label='bee'" in texts[0]
    assert len(texts[0]) < 2 * 100


@pytest.mark.parametrize("call", CALLS)
def test_labels_in_numbers_and_a_named_class_are_no_reason_to_warn(call):
    for given in (NUMBERS, TEXT):
        function, arguments, options = call(given, "roc_auc")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*arguments, metric="roc_auc", pos_label=given["positive"], **options, **QUIET)
        assert not [one for one in caught if "positive" in str(one.message)]


def test_a_gate_names_the_positive_class():
    class_of = TEXT["class"]
    given = {"metric": "f1", "margin": 0.5}
    one = quietly(assert_not_worse, TRUTH, DECISION, OTHER_DECISION, **given)
    predicted = class_of[DECISION], class_of[OTHER_DECISION]
    other = quietly(assert_not_worse, TEXT["truth"], *predicted, pos_label="bee", **given)
    assert (one.outcome, one.statement) == (other.outcome, other.statement)


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "npv"])
def test_an_accumulator_and_its_bytes_name_the_positive_class(metric):
    found = []
    for given in (NUMBERS, TEXT):
        own = skboot.BootstrapAccumulator(metric, pos_label=given["positive"], **QUIET)
        predicted = PROB if metric == "roc_auc" else given["class"][DECISION]
        half = skboot.BootstrapAccumulator(metric, pos_label=given["positive"], **QUIET)
        own.update(given["truth"][:100], predicted[:100], start=0)
        half.update(given["truth"][100:], predicted[100:], start=100)
        own = skboot.BootstrapAccumulator.from_bytes(own.merge(half).to_bytes())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*resamples.*")
            found.append(own.result())
    assert_same(*found)
    other = skboot.BootstrapAccumulator(metric, pos_label="wasp", **QUIET)
    with pytest.raises(ValueError, match="another pos_label"):
        own.merge(other)


@pytest.mark.parametrize("labels", [[0, 1], [1, 0], [-1, 1], [False, True], ["", "wasp"]])
def test_any_label_may_be_positive_also_one_that_is_nothing(labels):
    """0, False and an empty text are names like others, also where another class was named."""
    of_class = np.array(labels)
    truth, given = of_class[TRUTH], {"grid": [0.2, 0.5], "band": "pointwise"}
    expected = quietly(skboot.bootstrap_curve, TRUTH, PROB, **given)
    found = [quietly(skboot.bootstrap_curve, truth, PROB, pos_label=labels[1], **given)]
    for named in (None, *labels):
        own = skboot.BootstrapAccumulator("roc_auc", pos_label=named, **QUIET)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own.update(truth, PROB, start=0)
            found.append(own.curve(pos_label=labels[1], **given))
    for one in found:
        np.testing.assert_allclose(one.estimate, expected.estimate)


# ------------------------------------------------------------------ what is refused, or warned of


def test_a_class_that_contradicts_the_metrics_own_is_refused_and_one_that_agrees_is_not():
    text, named = TEXT["truth"], partial(of_sklearn.f1_score, pos_label="bee")
    predicted = TEXT["class"][DECISION]
    alone = quietly(skboot.bootstrap_score, text, predicted, metric=named)
    both = quietly(skboot.bootstrap_score, text, predicted, metric=named, pos_label="bee")
    assert_same(alone, both)
    scorer = of_sklearn.make_scorer(of_sklearn.f1_score, pos_label="bee")
    for metric in (named, scorer):
        with pytest.raises(ValueError, match=r"'pos_label' .* be None or 'bee'.* Got 'wasp'"):
            skboot.bootstrap_score(text, predicted, metric=metric, pos_label="wasp")
    # A default that is written out is the metric's own, too.
    with pytest.raises(ValueError, match=r"'pos_label' .* be None or 1"):
        skboot.bootstrap_score(
            TRUTH, DECISION, metric=partial(of_sklearn.f1_score, pos_label=1), pos_label=0
        )


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "neg_log_loss", "sensitivity", "hinge"])
def test_a_class_that_is_no_label_is_refused(metric):
    of_labels = metric in ("f1", "sensitivity")
    predicted = TEXT["class"][DECISION] if of_labels else PROB
    metric = of_sklearn.hinge_loss if metric == "hinge" else metric
    with pytest.raises(ValueError, match=r"'pos_label' .* be one of \['bee', 'wasp'\]. Got 'fly'"):
        skboot.bootstrap_score(TEXT["truth"], predicted, metric=metric, pos_label="fly")


def test_a_list_of_labels_is_refused():
    for metric in ("accuracy", "f1"):
        with pytest.raises(ValueError, match=r"'pos_label' .* one label, or None"):
            skboot.bootstrap_score(TRUTH, DECISION, metric=metric, pos_label=[1])


def test_several_classes_have_no_positive_one():
    truth = np.arange(90) % 3
    prob = np.full((90, 3), 0.2)
    prob[np.arange(90), truth] = 0.6
    with pytest.raises(ValueError, match=r"'pos_label' .* be None for a metric of 3 classes"):
        skboot.bootstrap_score(truth, prob, metric="roc_auc_ovr", pos_label=2)


def test_a_class_that_changes_nothing_is_said_to_as_scikit_learn_does():
    text, predicted = TEXT["truth"], TEXT["class"][DECISION]
    for metric in ("accuracy", "f1_macro", ["accuracy", "f1_macro"]):
        with pytest.warns(UserWarning, match="pos_label='bee' changes nothing: '(accuracy|f1_mac)"):
            skboot.bootstrap_score(text, predicted, metric=metric, pos_label="bee", random_state=0)
    # Beside a metric that has one it is for that metric.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = skboot.bootstrap_score(
            text, predicted, metric=["accuracy", "recall"], pos_label="bee", random_state=0
        )
    assert table["recall"].estimate == np.mean(DECISION[TRUTH == 1])


def test_f1_of_text_asks_for_pos_label():
    with pytest.raises(ValueError, match="Name yours: pos_label='wasp'"):
        skboot.bootstrap_score(TEXT["truth"], TEXT["class"][DECISION], metric="f1")


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", of_skboot.equal_error_rate])
def test_scores_that_rank_the_rows_backwards_warn(metric):
    with pytest.warns(UserWarning, match="Worse than scores that ignore the input.*pos_label=0"):
        skboot.bootstrap_score(TRUTH, 1 - PROB, metric=metric, random_state=0)
    with pytest.warns(UserWarning, match="Worse than scores"):
        skboot.compare_systems(TRUTH, {"a": PROB, "b": 1 - PROB}, metric=metric, random_state=0)
    with pytest.warns(UserWarning, match="Worse than scores"):
        skboot.bootstrap_runs(TRUTH, [1 - PROB] * 10, metric=metric, random_state=0)


def test_scores_without_skill_do_not_warn_of_their_order():
    noise = np.random.default_rng(1).random(240)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skboot.bootstrap_score(TRUTH, noise, metric="roc_auc", random_state=0)
        # Ratios that are badly calibrated are worse than none, in the right order.
        skboot.bootstrap_score(TRUTH, PROB**9 + 1, metric=of_skboot.cllr, random_state=0)


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_two_columns_in_text_say_the_same_of_either_class_and_do_not_warn(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skboot.bootstrap_score(TEXT["truth"], columns_of(NAMES[1]), metric=metric, random_state=0)
