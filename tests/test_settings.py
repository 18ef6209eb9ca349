"""Results hold the arguments of their call: numbers and names as given, and which columns."""

import inspect
import itertools

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot

# Sixty rows and fifty resamples are few, as warnings say.
pytestmark = pytest.mark.filterwarnings("ignore")

N = 60
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], N // 2)
A, B = (np.where(RNG.random(N) < p, 1 - Y, Y) for p in (0.2, 0.3))
SCORE = Y + RNG.normal(size=N)
RUNS = np.array([np.where(RNG.random(N) < 0.2, 1 - Y, Y) for _ in range(6)])
GROUPS, STRATA, WEIGHTS = np.arange(N) // 2, np.repeat([0, 1], N // 2), RNG.integers(1, 4, N)
NUMBERS = {"n_resamples": 49, "confidence_level": 0.9}
CALLS = {
    "bootstrap_score": lambda **given: skboot.bootstrap_score(Y, A, **given),
    "compare_systems": lambda **given: skboot.compare_systems(Y, {"A": A, "B": B}, **given),
    "bootstrap_runs": lambda **given: skboot.bootstrap_runs(Y, RUNS, metric="accuracy", **given),
    "compare_runs": lambda **given: skboot.compare_runs(Y, {"A": RUNS[:3], "B": RUNS[3:]}, **given),
    "bootstrap_curve": lambda **given: skboot.bootstrap_curve(Y, SCORE, **given),
}
WITH_INTERVAL = ["bootstrap_score", "compare_systems", "bootstrap_runs"]


def settings_of(name, **given):
    return CALLS[name](random_state=0, **NUMBERS, **given).settings


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("argument", "column"),
    [("groups", GROUPS), ("strata", STRATA), ("sample_weight", WEIGHTS)],
)
def test_numbers_and_which_columns_were_given_are_held(name, argument, column):
    held = settings_of(name, **{argument: column})
    flags = {each: each == argument for each in ("groups", "strata", "sample_weight")}
    expected = NUMBERS | flags
    assert {key: held[key] for key in expected} == expected


@pytest.mark.parametrize("name", WITH_INTERVAL)
def test_the_name_of_the_interval_is_held(name):
    given = "t" if name == "bootstrap_runs" else "percentile"
    assert settings_of(name, interval=given)["interval"] == given


@pytest.mark.parametrize("name", [each for each in CALLS if each != "bootstrap_curve"])
def test_tasks_and_the_positive_class_are_held(name):
    named = {"metric": "f1"} if name != "bootstrap_runs" else {}
    held = settings_of(name, average_over=STRATA)
    assert held["average_over"] == 2
    for label in (1, np.int64(1)) if named else ():
        assert settings_of(name, pos_label=label, **named)["pos_label"] == 1


@pytest.mark.parametrize("name", ["bootstrap_score", "compare_systems"])
@pytest.mark.parametrize("weight", [0.5, "auto"])
def test_a_judge_and_its_weight_are_held(name, weight):
    some = np.where(np.arange(N) < 40, Y, np.nan)
    systems = A if name == "bootstrap_score" else {"A": A, "B": B}
    call = getattr(skboot, name)
    held = call(some, systems, proxy=skboot.Judge(Y, weight), random_state=0, **NUMBERS).settings
    assert (held["proxy"], held["proxy_weight"]) == (True, weight)
    assert held["n_resamples"] == 49


def test_systems_on_rows_of_their_own_hold_what_differs_by_name():
    held = skboot.compare_systems(
        {"A": Y, "B": Y[:40]},
        {"A": A, "B": B[:40]},
        average_over={"A": np.arange(N) // 20, "B": np.arange(40) // 20},
        groups={"A": np.arange(N) // 20, "B": np.arange(40) // 20},
        paired=False,
        random_state=0,
        **NUMBERS,
    ).settings
    assert held["average_over"] == {"A": 3, "B": 2}
    assert (held["paired"], held["groups"], held["n_resamples"]) == (False, True, 49)


# What is no value of any option, of options that need no rows to be checked.
WRONG = dict.fromkeys(("varied", "adjust", "strategy", "estimand", "interval", "alternative"), "x")
WRONG |= {"confidence_level": 2, "n_seeds": 0}
DATA = np.column_stack((SCORE, SCORE))
TRAINED = {"nb": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
TABLE = {f"set {k}": {"a": 0.1 * k, "b": 0.2} for k in range(9)}
CHECKED = {
    **{name: CALLS[name] for name in CALLS if name != "bootstrap_curve"},
    "compare_methods": lambda **given: skboot.compare_methods(TRAINED, DATA, Y, **given),
    "compare_across": lambda **given: skboot.compare_across(TABLE, greater_is_better=True, **given),
}


@pytest.mark.parametrize("name", CHECKED)
def test_the_first_wrong_option_in_the_order_of_the_signature_is_told(name):
    parameters = inspect.signature(getattr(skboot, name)).parameters
    options = [option for option in parameters if option in WRONG]
    for first, second in itertools.combinations(options, 2):
        with pytest.raises(ValueError, match=rf"^The '{first}' parameter of {name} must"):
            CHECKED[name](**{second: WRONG[second], first: WRONG[first]})
