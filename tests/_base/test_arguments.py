"""Values of arguments: checked where they are made, and the same as what they replace."""

import copy
import inspect
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, cross_validate

import skboot
from skboot import (
    Anytime,
    BootstrapAccumulator,
    BootstrapScorer,
    Crossed,
    Judge,
    Trials,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_runs,
    compare_systems,
)
from skboot.metrics import interval_scorer
from skboot.model_selection import corrected_t
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.filterwarnings("ignore:.*members", "ignore:.*Only 2")

N = 400
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
A, B = (np.where(RNG.random(N) < share, 1 - Y, Y) for share in (0.1, 0.2))
SCORE = Y + RNG.normal(size=N)
FIRST, SECOND = RNG.integers(0, 60, (2, N))
FEW = {"n_resamples": 49, "random_state": 0}
VALUES = {
    "looks": Anytime(100),
    "factors": Crossed(FIRST, SECOND),
    "text": Trials(FIRST.astype(str), SECOND.astype(str)),
    "judge": Judge(A, weight=0.5),
    "judge of systems": Judge({"A": A, "B": B}),
}


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_itself_in_other_processes_and_clones(name):
    value = VALUES[name]
    for other in (
        pickle.loads(pickle.dumps(value)),
        copy.deepcopy(value),
        clone(value, safe=False),
    ):
        assert other == value
        assert type(other) is type(value)
    assert len(repr(value)) < 50
    assert repr(value).startswith(type(value).__name__)
    for different in VALUES.values():
        assert (different == value) == (different is value)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_cannot_be_changed(name):
    value = VALUES[name]
    for field in vars(value):
        with pytest.raises(AttributeError):
            setattr(value, field, 5)


def test_a_row_of_two_columns_is_its_members():
    crossed = Crossed(FIRST, SECOND)
    assert crossed[3] == (FIRST[3], SECOND[3])
    assert [*crossed] == [*zip(FIRST, SECOND, strict=True)]
    assert isinstance(crossed[3:], Crossed)


def test_one_column_of_two_is_replaced():
    crossed = replace(Crossed(FIRST, SECOND), b=FIRST)
    assert crossed == Crossed(FIRST, FIRST)
    np.testing.assert_array_equal(crossed.columns[1], FIRST)


def test_columns_are_copied_and_locked():
    first = FIRST.copy()
    groups = Trials(first, SECOND)
    first[:] = 0
    np.testing.assert_array_equal(groups.a, FIRST)
    with pytest.raises(ValueError, match="read-only"):
        groups.a[0] = 5


@pytest.mark.parametrize("kind", ["array", "list", "series", "frame", "systems"])
def test_labels_of_a_judge_stay_those_it_was_made_of(kind):
    if kind in ("series", "frame"):
        pd = pytest.importorskip("pandas")
        make = pd.Series if kind == "series" else lambda values: pd.DataFrame({"A": values})
    else:
        make = {"array": np.array, "list": list, "systems": lambda a: {"A": np.array(a)}}[kind]
    labels = make(A.copy())
    judge = Judge(labels)
    if kind == "frame":
        labels.loc[0, "A"] = 5
    else:
        (labels["A"] if kind == "systems" else labels)[0] = 5
    assert judge == Judge(make(A))
    assert judge != Judge(labels)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(Crossed, FIRST, SECOND[:5]), "'b' parameter of Crossed must have as many rows as"),
        (partial(Crossed, np.c_[FIRST, SECOND], Y), "'a' parameter of Crossed must be of shape"),
        (partial(Trials, [1, None], [1, 2]), "'a' parameter of Trials must not contain NaN"),
        (partial(Trials, ["1", "2"], [1, 2]), "'b' parameter of Trials must name members as a"),
        (partial(Crossed, "speaker", [1, 2]), "'a' parameter of Crossed must be an array-like"),
        (
            partial(Anytime, 5),
            "'first_look' parameter of Anytime must be an integer of",
        ),
        (partial(Crossed, [1], [1, 2]), "Got 2 rows and 1 row. Row order"),
        (partial(Judge, 3), "'labels' parameter of Judge must be the judge's labels"),
        (partial(Judge, {"A": "label"}), "'labels' parameter of Judge must be the judge's labels"),
    ],
)
def test_what_makes_no_value_is_refused_where_it_is_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_one_row_is_written_as_one():
    assert repr(Crossed([1], [2])) == "Crossed(<1 row>)"
    assert repr(Judge([1])) == "Judge(<1 row>, weight='auto')"
    assert repr(Judge({"A": [1, 0]}, weight=1)) == "Judge(<1 system>, weight=1)"


def test_the_class_of_an_interval_leads_to_its_value():
    with pytest.raises(ValueError, match=r"at how many rows.*skboot\.Anytime\(first_look=100\)"):
        bootstrap_score(Y, A, interval=Anytime)


def test_a_finished_result_leads_to_the_call_that_takes_the_first_look():
    result = bootstrap_score(Y, A, n_resamples=99, random_state=0)
    with pytest.raises(
        ValueError, match=r"to the call: bootstrap_score\(\.\.\., interval=skboot\."
    ):
        result.interval(Anytime(100))


def test_columns_in_parts_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"'a' parameter of Crossed .* in memory.*compute\(\)"):
        Crossed(da.from_array(FIRST), SECOND)


def test_unknown_and_missing_parts_are_named():
    with pytest.raises(TypeError, match=r"Crossed\(\) missing 1 required positional argument: 'b'"):
        Crossed(FIRST)
    with pytest.raises(TypeError, match=r"keyword argument 'look'\. It takes first_look"):
        Anytime(look=100)


# ------------------------------------------------------------------ what they mean


def test_crossed_is_the_array_of_its_columns_and_trials_are_not():
    plain = bootstrap_score(Y, A, groups=np.c_[FIRST, SECOND], **FEW)
    crossed = bootstrap_score(Y, A, groups=Crossed(FIRST, SECOND), **FEW)
    assert crossed == plain
    trials = bootstrap_score(Y, A, groups=Trials(FIRST, SECOND), **FEW)
    assert (crossed.n_units, trials.n_units) == ((60, 60), 60)
    assert trials.settings["same_population"]
    assert not crossed.settings["same_population"]


def test_columns_of_different_kinds_may_be_crossed():
    named = np.char.add("case ", SECOND.astype(str))
    found = bootstrap_score(Y, A, groups=Crossed(FIRST, named), **FEW)
    assert found.n_units == (60, 60)


def test_numbers_of_both_kinds_name_the_same_members():
    whole, floats = Trials(FIRST, SECOND), Trials(FIRST, SECOND.astype(float))
    found, expected = (bootstrap_score(Y, A, groups=groups, **FEW) for groups in (floats, whole))
    np.testing.assert_array_equal(found.bootstrap_distribution, expected.bootstrap_distribution)


@pytest.mark.parametrize(
    "call",
    [
        partial(bootstrap_score, Y, A),
        partial(bootstrap_curve, Y, SCORE),
        partial(bootstrap_runs, Y, [A, B]),
        partial(compare_systems, Y, {"A": A, "B": B}),
        partial(compare_runs, Y, {"A": [A, B], "B": [B, A]}),
    ],
)
def test_each_function_of_groups_takes_trials(call):
    """Members of trials with themselves are groups."""
    own, plain = (
        call(groups=groups, random_state=0, n_resamples=49)
        for groups in (Trials(FIRST, FIRST), FIRST)
    )
    units = [getattr(result, "_any_system", result).n_units for result in (own, plain)]
    assert units[0] == units[1]


def test_groups_of_a_test_set_are_trials():
    X = SCORE[:, None]
    scorer = BootstrapScorer(
        LogisticRegression(), estimand="system", n_train_resamples=0, random_state=0
    )
    tests = {"X_test": X + 0.1, "y_test": Y, "groups_test": Trials(FIRST, SECOND)}
    assert scorer.fit(X, Y, **tests).result_.n_units == 60
    with pytest.raises(ValueError, match="'groups_test' parameter of BootstrapScorer"):
        scorer.fit(X, Y, X_test=X, y_test=Y, groups_test=Trials(FIRST[:9], SECOND[:9]))


def test_scikit_learn_routes_trials_with_the_rows():
    import sklearn

    X = SCORE[:, None]
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = interval_scorer("accuracy", random_state=0).set_score_request(groups=True)
        trials = Trials(FIRST, SECOND)
        cv = ShuffleSplit(1, test_size=300, random_state=0)
        found = cross_validate(
            LogisticRegression(), X, Y, cv=cv, scoring=scorer, params={"groups": trials}
        )
    [(train, test)] = cv.split(X)
    predicted = LogisticRegression().fit(X[train], Y[train]).predict(X[test])
    groups = Trials(FIRST[test], SECOND[test])
    low, high = bootstrap_score(
        Y[test], predicted, groups=groups, random_state=0
    ).confidence_interval
    assert (found["test_accuracy_low"], found["test_accuracy_high"]) == (low, high)


def test_a_plain_judge_has_the_weight_of_the_smallest_variance():
    some = np.where(np.arange(N) < 100, Y, np.nan)
    assert bootstrap_score(some, A, proxy=B, **FEW) == bootstrap_score(
        some, A, proxy=Judge(B, "auto"), **FEW
    )


def test_accumulators_of_before_load_with_their_first_look():
    """A file holds the name of the interval and the first look, as it did when they were apart."""
    accumulator = BootstrapAccumulator(random_state=0, n_resamples=49, interval=Anytime(100))
    accumulator.update(Y, A, start=0)
    data = accumulator.to_bytes()
    assert b'"interval": "anytime", "first_look": 100' in data
    again = BootstrapAccumulator.from_bytes(data)
    assert again.result() == accumulator.result()
    assert again.to_bytes() == data


# ------------------------------------------------------------------ what was written before

SOME = np.where(np.arange(N) < 100, Y, np.nan)
BEFORE = [
    (bootstrap_score, (Y, A), "first_look", 250, "interval=skboot.Anytime(first_look=250)"),
    (bootstrap_score, (Y, A), "same_population", True, "groups=skboot.Trials(a, b)"),
    (bootstrap_score, (SOME, A), "proxy_weight", 0.5, "proxy=skboot.Judge(labels, weight=0.5)"),
    (compare_systems, (Y, {"A": A}), "first_look", 100, "interval=skboot.Anytime(first_look=100)"),
    (compare_systems, (Y, {"A": A}), "proxy_weight", 1, "proxy=skboot.Judge(labels, weight=1)"),
    (bootstrap_curve, (Y, SCORE), "same_population", True, "groups=skboot.Trials(a, b)"),
    (assert_not_worse, (Y, A, B), "first_look", 100, "interval=skboot.Anytime(first_look=100)"),
    (BootstrapAccumulator, (), "first_look", 100, "interval=skboot.Anytime(first_look=100)"),
]


@pytest.mark.parametrize(("function", "given", "argument", "value", "instead"), BEFORE)
def test_an_argument_of_before_leads_to_its_value(function, given, argument, value, instead):
    with pytest.raises(TypeError) as error:
        function(*given, **{argument: value})
    assert f"unexpected keyword argument {argument!r}. Use {instead}" in str(error.value)
    assert argument not in inspect.signature(function).parameters


@pytest.mark.parametrize(
    "function", [bootstrap_runs, skboot.search_score, skboot.learning_curve, skboot.compare_methods]
)
def test_no_function_is_led_to_a_value_that_it_does_not_take(function):
    with pytest.raises(TypeError) as error:
        function(Y, A, first_look=100)
    assert "Anytime" not in str(error.value)


def test_every_function_of_predictions_has_the_same_metric():
    functions = [
        bootstrap_score, bootstrap_runs, compare_systems, compare_runs, skboot.search_score,
        assert_not_worse, BootstrapAccumulator,
    ]  # fmt: skip
    assert {inspect.signature(each).parameters["metric"].default for each in functions} == {
        "accuracy"
    }


@pytest.mark.parametrize("labels", [[0, 1, np.nan], [0, None, 1], [0.0, np.inf, 1.0]])
@pytest.mark.parametrize("metric", ["neg_log_loss", "f1_macro", "roc_auc"])
def test_advice_on_missing_labels_is_of_classes_not_of_rows(labels, metric):
    y = np.arange(40) % 2
    p = np.column_stack((1 - y, y)) * 0.8 + 0.1
    with pytest.raises(ValueError, match=r"'labels'.* Got 1 such value\..*leave") as error:
        bootstrap_score(y, p, metric=metric, labels=labels)
    assert "row" not in str(error.value)
    with pytest.raises(ValueError, match=r"'labels'.*leave these values out of it"):
        bootstrap_score(np.where(y == 0, np.nan, y), p, metric=metric, labels=labels)


def test_advice_on_missing_predictions_is_to_say_what_the_system_predicts():
    y, missing = np.arange(40) % 2, np.where(np.arange(40) == 7, np.nan, 0.5)
    instead = "or say what the system predicts for them"
    stream = BootstrapAccumulator("accuracy", n_resamples=9, random_state=0)
    calls = [
        lambda: bootstrap_score(y, missing, metric="roc_auc"),
        lambda: compare_systems(y, {"a": y, "b": missing}, metric="roc_auc"),
        lambda: bootstrap_curve(y, missing),
        lambda: bootstrap_runs(y, [missing, missing], metric="roc_auc"),
        lambda: stream.update(y, missing, start=0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"(?i){instead}"):
            call()
    with pytest.raises(ValueError, match="Remove these rows from every argument") as error:
        bootstrap_score(np.where(np.isnan(missing), np.nan, y), y)
    assert instead not in str(error.value)
    scores = np.where(np.arange(10) == 2, np.nan, 0.5)
    with pytest.raises(ValueError, match=r"'scores_a'.*Leave these splits out"):
        corrected_t(scores, n_train=90, n_test=10)
