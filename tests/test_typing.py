"""What type checkers and editors know of the public functions."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_overloads, get_type_hints

import pytest
from typing_of_calls import pages as pages_of_docs

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


def mypy_errors(*arguments, cwd, cache):
    """Modules and lines that `mypy --strict` objects to, as a user would run it."""
    pytest.importorskip("mypy")
    options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(cache), *arguments]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | {"MYPYPATH": str(Path(skboot.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(\w+)\.py:(\d+): error", done.stdout, re.M)
    return {(name, int(line)) for name, line in found}


@pytest.fixture(scope="module")
def lines_with_errors(cache):
    """Numbers of the lines of both files that mypy objects to, in one run."""
    names = ("calls", "mistakes")
    found = mypy_errors(*map("{}.py".format, names), cwd=HERE, cache=cache)
    return {name: {line for module, line in found if module == name} for name in names}


def test_mypy_accepts_calls_and_knows_what_they_return(lines_with_errors):
    assert lines_with_errors["calls"] == set()


def test_mypy_finds_each_planted_mistake_and_nothing_else(lines_with_errors):
    text = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(text, 1) if line.endswith("# mistake")}
    assert len(planted) > 20
    assert lines_with_errors["mistakes"] == planted


# ------------------------------------------------------------------ blocks of the pages

# What checkers cannot know in a block, by the start of a line of it.
UNTYPED = re.compile(
    r"^ *def |\*\*[A-Za-z]|"  # functions without types, and options in a dict without types
    r"metric=(iou|survival)|"  # a callable that returns several numbers
    r"interval=name|"  # a name that is any string
    r"scoring=\[|scorer\.\w+_\[|"  # several scorers: `result_` is then a table
    r"\.result\(\)|\.curve\(|"  # of an accumulator, by its metrics: a result or a table
    r"table\[\[|"  # systems as columns of a data frame, which is no mapping
    r"import partial|"  # lists of functions and partials of them are lists of objects
    r"variance_components|outperformance|\.reference|"  # None without runs, or pairs of them
    r"sample in samples|"  # records, whose fields are objects
    r"^from sklearn|load_|SearchCV|\.predict",  # scikit-learn has no types: checkers guess them
    re.M,
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with a module for each page, and the blocks of each."""
    folder, modules = tmp_path_factory.mktemp("pages"), pages_of_docs.modules()
    for name, blocks in modules.items():
        (folder / f"{name}.py").write_text("".join(blocks), encoding="utf-8")
    return folder, modules


def is_calling_untyped(code, blocks):
    """Whether a block calls a function without types that a block of its page defines."""
    defined = re.findall(r"^ *def (\w+)", "".join(blocks), re.M)
    return any(re.search(rf"\b{name}\(", code) for name in defined)


def assert_blocks_pass(places, modules):
    """Hold that no place, a module and a line, is in a block whose types checkers can know."""
    wrong = {(name, pages_of_docs.block_of(modules[name], line)) for name, line in places}
    typed = {
        (name, k)
        for name, blocks in modules.items()
        for k, code in enumerate(blocks)
        if not UNTYPED.search(code) and not is_calling_untyped(code, blocks)
    }
    assert len(typed) >= 30
    assert not [modules[name][k] for name, k in sorted(wrong & typed)]
    # Most of the others pass as well.
    assert len(wrong) < sum(map(len, modules.values())) / 3


def test_mypy_accepts_blocks_of_the_pages(pages, cache):
    folder, modules = pages
    found = mypy_errors(
        "--allow-redefinition", *map("{}.py".format, modules), cwd=folder, cache=cache
    )
    assert_blocks_pass({(name, line) for name, line in found if name in modules}, modules)


def test_pyright_accepts_blocks_of_the_pages(pages):
    pytest.importorskip("pyright")
    folder, modules = pages
    settings = {
        "extraPaths": [str(Path(skboot.__file__).parents[1])],
        "reportMissingImports": False,
        "reportMissingModuleSource": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    places = {
        (Path(said["file"]).stem, said["range"]["start"]["line"] + 1)
        for said in json.loads(done.stdout)["generalDiagnostics"]
        if said["severity"] == "error"
    }
    assert_blocks_pass(places, modules)


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
