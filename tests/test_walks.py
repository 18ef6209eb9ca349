"""How far a reader walks: how many functions of how many modules a public function calls.

The second call on 300 rows is traced; functions of the package alone count, without comprehensions
and lambdas. A count is a matter of the code, not of the machine: whoever shortens a walk lowers its
number here. ``PYTHONPATH=.:tests python tests/test_walks.py`` prints all of them, with the calls a
function, which tell a loop over rows or fits from a procedure that is read once.
"""

import importlib
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import skboot

PACKAGE = str(Path(skboot.__file__).parent)
WITHIN_A_FUNCTION = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"}
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 150)
A, B = (np.where(RNG.random(300) < p, 1 - Y, Y) for p in (0.2, 0.25))
RUNS = np.array([np.where(RNG.random(300) < 0.2, 1 - Y, Y) for _ in range(6)])
X = RNG.normal(size=(300, 4)) + Y[:, None]
SCORES = X[:, 0]
FITS = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
METHODS = {"bayes": GaussianNB(), "logistic": LogisticRegression()}


def fit(**test):
    return skboot.BootstrapScorer(GaussianNB(), **FITS).fit(X, Y, **test)


def stream():
    return skboot.BootstrapAccumulator("roc_auc", random_state=0).update(Y, SCORES)


# Types of the package that functions of a score are handed, or hand back.
MOST_TYPES = 39
STREAM = stream()
SYSTEMS = {"A": A, "B": B}
# Each call, and its walk today: functions, modules.
WALKS = {
    "accuracy": (lambda: skboot.bootstrap_score(Y, A, random_state=0), 169, 28),
    "AUC of groups": (
        lambda: skboot.bootstrap_score(
            Y, SCORES, metric="roc_auc", groups=np.arange(300) // 5, random_state=0
        ),
        240,
        27,
    ),
    "runs": (lambda: skboot.bootstrap_runs(Y, RUNS, metric="accuracy", random_state=0), 229, 29),
    "two systems": (lambda: skboot.compare_systems(Y, SYSTEMS, random_state=0), 250, 33),
    "three systems": (
        lambda: skboot.compare_systems(Y, SYSTEMS | {"C": RUNS[0]}, random_state=0),
        264,
        34,
    ),
    "runs compared": (
        lambda: skboot.compare_runs(Y, {"A": RUNS[:3], "B": RUNS[3:]}, random_state=0),
        304,
        33,
    ),
    "fit": (fit, 239, 34),
    "fit with a test set": (lambda: fit(X_test=X[::-1], y_test=Y[::-1]), 331, 41),
    "methods compared": (lambda: skboot.compare_methods(METHODS, X, Y, **FITS), 336, 45),
    "search": (lambda: skboot.search_score(Y, SYSTEMS, random_state=0), 167, 28),
    "curve": (lambda: skboot.bootstrap_curve(Y, SCORES, random_state=0), 177, 26),
    "stream, update": (stream, 110, 16),
    "stream, result": (lambda: STREAM.result(), 148, 26),
}


class Walk(NamedTuple):
    functions: int
    modules: int
    calls_a_function: float


def walk_of(call):
    """Walk of the second call."""
    steps = []

    def watch(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            steps.append(code)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            call()
        finally:
            sys.setprofile(before)
    steps = [code for code in steps if code.co_name not in WITHIN_A_FUNCTION]
    functions = {(code.co_filename, code.co_firstlineno, code.co_name) for code in steps}
    files = {code.co_filename for code in steps}
    return Walk(len(functions), len(files), len(steps) / max(len(functions), 1))


def types_handed_on(call):
    """Types of the package among the arguments and returns of the functions of a second call."""
    types = set()

    def add(value):
        if type(value).__module__.partition(".")[0] == skboot.__name__:
            types.add(type(value).__qualname__)

    def watch(frame, event, argument):
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in WITHIN_A_FUNCTION:
            return
        if event == "call":
            n = code.co_argcount + code.co_kwonlyargcount
            named = (name for name in code.co_varnames[:n] if name not in ("self", "cls"))
            for name in named:
                add(frame.f_locals.get(name))
        elif event == "return":
            add(argument)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            call()
        finally:
            sys.setprofile(before)
    return types


def test_few_types_are_handed_from_function_to_function_in_a_score():
    assert len(types_handed_on(WALKS["accuracy"][0])) <= MOST_TYPES


@pytest.mark.parametrize("name", WALKS)
def test_a_call_passes_through_no_more_functions_and_modules_than_it_did(name):
    call, functions, modules = WALKS[name]
    walk = walk_of(call)
    assert (walk.functions <= functions, walk.modules <= modules) == (True, True)


def test_functions_modules_and_calls_are_counted(tmp_path, monkeypatch):
    for name in ("one_of_walks", "other_of_walks"):
        (tmp_path / f"{name}.py").write_text(f"def step():\n    return {name!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(globals(), "PACKAGE", str(tmp_path))
    first, second = map(importlib.import_module, ("one_of_walks", "other_of_walks"))

    def call():
        first.step()
        second.step()
        second.step()

    assert walk_of(call) == Walk(functions=2, modules=2, calls_a_function=1.5)


if __name__ == "__main__":
    for name, (call, *_) in WALKS.items():
        walk = walk_of(call)
        print(f"{name:20} {walk.functions:4} {walk.modules:3} {walk.calls_a_function:5.1f}")
    types = types_handed_on(WALKS["accuracy"][0])
    print(f"types of accuracy: {len(types)}: {', '.join(sorted(types))}")
