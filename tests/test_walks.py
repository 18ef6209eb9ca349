"""How far a reader walks: how often a call of a public function goes from one module to another.

The second call on 300 rows is traced; functions of the package alone count, without comprehensions,
lambdas, and doors, which lead to the function of the same name. A count is a matter of the code,
not of the machine: it may rise by 10 % before this test fails, and whoever shortens a walk lowers
its number here.
"""

import importlib
import itertools
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
DOORS = str(Path(skboot.__file__).parent / "_base" / "doors.py")
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


# Each call, and its walk today: changes of module, functions, modules.
WALKS = {
    "accuracy": (lambda: skboot.bootstrap_score(Y, A, random_state=0), 138, 234, 43),
    "AUC of groups": (
        lambda: skboot.bootstrap_score(
            Y, SCORES, metric="roc_auc", groups=np.arange(300) // 5, random_state=0
        ),
        217,
        278,
        45,
    ),
    "runs": (
        lambda: skboot.bootstrap_runs(Y, RUNS, metric="accuracy", random_state=0),
        250,
        282,
        42,
    ),
    "two systems": (
        lambda: skboot.compare_systems(Y, {"A": A, "B": B}, random_state=0),
        326,
        336,
        61,
    ),
    "runs compared": (
        lambda: skboot.compare_runs(Y, {"A": RUNS[:3], "B": RUNS[3:]}, random_state=0),
        472,
        362,
        56,
    ),
    "fit": (fit, 500, 306, 49),
    "fit with a test set": (lambda: fit(X_test=X[::-1], y_test=Y[::-1]), 688, 392, 60),
    "methods compared": (lambda: skboot.compare_methods(METHODS, X, Y, **FITS), 1121, 426, 68),
    "search": (lambda: skboot.search_score(Y, {"A": A, "B": B}, random_state=0), 225, 220, 38),
}


class Walk(NamedTuple):
    switches: int
    functions: int
    modules: int


def walk_of(call):
    """Walk of the second call."""
    steps = []

    def watch(frame, event, argument):
        code = frame.f_code
        of_package = event == "call" and code.co_filename.startswith(PACKAGE)
        if code.co_name in WITHIN_A_FUNCTION or code.co_filename == DOORS:
            return
        if of_package:
            steps.append((code.co_filename, code))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            call()
        finally:
            sys.setprofile(before)
    files = [file for file, _ in steps]
    switches = sum(one != other for one, other in itertools.pairwise(files))
    functions = {(file, code.co_firstlineno, code.co_name) for file, code in steps}
    return Walk(switches, len(functions), len(set(files)))


@pytest.mark.parametrize("name", WALKS)
def test_a_call_goes_no_further_through_the_package_than_it_did(name):
    call, *today = WALKS[name]
    assert all(found <= most for found, most in zip(walk_of(call), today, strict=True))


def test_a_function_of_another_module_is_a_switch_and_back_another(tmp_path, monkeypatch):
    for name in ("one_of_walks", "other_of_walks"):
        (tmp_path / f"{name}.py").write_text(f"def step():\n    return {name!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(globals(), "PACKAGE", str(tmp_path))
    one, other = map(importlib.import_module, ("one_of_walks", "other_of_walks"))

    def call():
        one.step()
        other.step()
        other.step()
        one.step()

    assert walk_of(call) == Walk(switches=2, functions=2, modules=2)
