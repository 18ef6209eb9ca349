"""What type checkers and editors know of the public functions."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_overloads, get_type_hints

import pytest

import skboot
from skboot._base import typing as types
from skboot.comparison import methods, runs, search
from skboot.comparison.arguments import ADJUSTMENTS
from skboot.inference import proportions
from skboot.inference.differences import DIFFERENCE_METHODS
from skboot.inference.intervals import FOR_ONE_LOOK, INTERVALS
from skboot.inference.runs import ESTIMANDS
from skboot.method_error import error632
from skboot.method_error.prediction_error import METHOD_INTERVALS, STRATEGIES
from skboot.results import result
from skboot.results.curve import CURVE_SYNONYMS
from skboot.study import curves
from skboot.study.runs import VARIED

HERE = Path(__file__).parent / "typing_of_calls"
OPTIONS = {
    "bootstrap_score": types.ScoreOptions,
    "bootstrap_runs": types.RunsOptions,
    "bootstrap_curve": types.CurveOptions,
    "compare_systems": types.SystemsOptions,
    "compare_runs": types.CompareRunsOptions,
    "compare_methods": types.MethodsOptions,
    "search_score": types.SearchOptions,
}


# ------------------------------------------------------------------ what mypy says of calls


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def lines_with_errors(name, cache):
    """Numbers of the lines of a file that `mypy --strict` objects to, as a user would run it."""
    pytest.importorskip("mypy")
    options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(cache), name]
    done = subprocess.run(
        command,
        cwd=HERE,
        env=os.environ | {"MYPYPATH": str(Path(skboot.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line) for line in re.findall(rf"^{name}:(\d+): error", done.stdout, re.M)}


def test_mypy_accepts_calls_and_knows_what_they_return(cache):
    assert lines_with_errors("calls.py", cache) == set()


def test_mypy_finds_each_planted_mistake_and_nothing_else(cache):
    text = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(text, 1) if line.endswith("# mistake")}
    assert len(planted) > 20
    assert lines_with_errors("mistakes.py", cache) == planted


# ------------------------------------------------------------------ one list of names


def names_of(literal):
    """Strings of a literal, or of a union of literals."""
    values = [names_of(arg) if not isinstance(arg, str) else {arg} for arg in get_args(literal)]
    return set().union(*values)


@pytest.mark.parametrize(
    ("literal", "registered"),
    [
        (types.ScoreInterval, ("auto", *FOR_ONE_LOOK)),
        (types.RunsInterval, ("auto", "components", *FOR_ONE_LOOK)),
        (types.DifferenceInterval, {"auto", *DIFFERENCE_METHODS} - {"anytime"}),
        (types.RunsDifferenceInterval, runs._INTERVALS),
        (
            types.MethodsDifferenceInterval,
            (
                *methods._INTERVALS_ON_TESTS,
                *methods._INTERVALS_LEFT_OUT,
                *methods._INTERVALS_OF_FOLDS,
            ),
        ),
        (types.SearchInterval, search._INTERVALS),
        (types.MethodInterval, ("auto", *METHOD_INTERVALS)),
        (types.Varied, VARIED),
        (types.Estimand, ESTIMANDS),
        (types.Adjustment, ADJUSTMENTS),
        (types.Strategy, STRATEGIES),
        (types.InnerCV, ("grouped", "as-is")),
        (types.ErrorInterval, error632._ERROR_INTERVALS),
        (types.ErrorPoint, error632.POINTS),
        (types.ProportionInterval, proportions.SHARE_LIMITS),
        (types.Layout, result._LAYOUTS),
        (types.CurveName, (*curves.CURVES, *CURVE_SYNONYMS)),
        (types.Band, curves.BANDS),
    ],
)
def test_a_literal_lists_the_names_that_are_registered(literal, registered):
    assert names_of(literal) == set(registered)


def test_every_registered_interval_of_a_score_is_in_the_literal():
    chosen = {name for name, interval in INTERVALS.items() if interval.for_one_score}
    assert names_of(types.ScoreInterval) == {"auto"} | chosen - {"anytime"}


# ------------------------------------------------------------------ one list of arguments


@pytest.mark.parametrize("name", OPTIONS)
def test_overloads_take_the_arguments_of_their_function_and_no_others(name):
    function = getattr(skboot, name)
    own, options = get_type_hints(function), get_type_hints(OPTIONS[name])
    assert {key: own[key] for key in options} == options
    overloads = get_overloads(function)
    assert len(overloads) >= 2
    for each in overloads:
        parameters = dict(inspect.signature(each).parameters)
        parameters.pop("options")
        assert parameters.keys() | options.keys() == inspect.signature(function).parameters.keys()
        assert not parameters.keys() & options.keys()
        for key, parameter in parameters.items():
            assert parameter.kind == inspect.signature(function).parameters[key].kind


@pytest.mark.parametrize("name", OPTIONS)
def test_the_documented_signature_is_that_of_the_implementation(name):
    function = getattr(skboot, name)
    assert "options" not in inspect.signature(function).parameters
    assert not any(each.__doc__ for each in get_overloads(function))
