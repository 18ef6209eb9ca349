"""Public functions are doors: they name errors and warnings of all that they call."""

import ast
import importlib.util
import inspect
import pickle
import warnings
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

import skboot
import skboot.inference
import skboot.metrics
import skboot.model_selection
import skboot.testing
from skboot._base.doors import door
from skboot._base.errors import Note, arguments_named, fail, refuse, tell

PACKAGE = Path(importlib.util.find_spec("skboot").origin).parent
PUBLIC = [skboot, skboot.metrics, skboot.inference, skboot.testing, skboot.model_selection]
RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
P = np.where(RNG.random(60) < 0.2, 1 - Y, Y)
X = (Y + RNG.normal(size=60))[:, None]
FEW = {"n_resamples": 99, "random_state": 0}


def told_by(call):
    """The texts that a call warns of, and the error that ends it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            error = ""
        except ValueError as raised:
            error = str(raised)
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught], error


# ------------------------------------------------------------------ names


def test_nothing_below_a_door_knows_who_called():
    taken = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        if {"caller", "called", "who"}
        & {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
    ]
    assert taken == []


def public_functions():
    """Functions, and methods of classes, with arguments that a call can get wrong."""
    for module in PUBLIC:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value
            elif inspect.isclass(value):
                for own, method in inspect.getmembers(value, inspect.isroutine):
                    if not own.startswith("_") and str(
                        getattr(method, "__module__", "")
                    ).startswith("skboot"):
                        yield f"{value.__name__}.{own}", method


# They take no argument of the user's that could be wrong, or hand all of it to a door.
NO_DOORS = {
    *("summary", "to_dict", "get_metadata_routing", "show_versions"),
    *("with_limits", "within", "at_level", "mirrored"),
    *("friedman", "mean_ranks", "replicates", "point_notes", "interval_with_notes", "title"),
}


def test_every_public_function_with_arguments_is_a_door():
    shut = [
        name
        for name, function in public_functions()
        if name.rpartition(".")[2] not in NO_DOORS and not hasattr(function, "__wrapped__")
    ]
    assert shut == []


def test_an_error_names_the_function_or_the_class_that_was_given_the_argument():
    scorer = skboot.BootstrapScorer(LogisticRegression(), n_train_resamples=-1)
    with pytest.raises(ValueError, match="'n_train_resamples' parameter of BootstrapScorer must"):
        scorer.fit(X, Y)
    with pytest.raises(ValueError, match=r"'groups' parameter of BootstrapScorer.fit must"):
        skboot.BootstrapScorer(LogisticRegression()).fit(X, Y, groups=Y[1:])
    with pytest.raises(ValueError, match="'n_splits' parameter of BootstrapSplit must"):
        next(skboot.BootstrapSplit(0).split(X))
    with pytest.raises(ValueError, match=r"'y' parameter of StratifiedBootstrapSplit.split must"):
        next(skboot.StratifiedBootstrapSplit(3).split(X))
    result = skboot.bootstrap_score(Y, P, **FEW)
    with pytest.raises(ValueError, match=r"'method' parameter of EvaluationResult.interval must"):
        result.interval(3)
    with pytest.raises(ValueError, match=r"'layout' parameter of ResultTable.to_latex must"):
        skboot.bootstrap_score(Y, P, metric=["f1", "accuracy"], **FEW).to_latex(layout="no")


def test_parameters_of_a_metric_are_those_of_the_metric():
    metric = partial(skboot.metrics.sensitivity_at, specificity=2)
    with pytest.raises(ValueError, match="'specificity' parameter of sensitivity_at must"):
        skboot.bootstrap_score(Y, X[:, 0], metric=metric, **FEW)


def judged(y_true, y_pred):
    """A metric of a user's that is itself about a bootstrap."""
    return skboot.bootstrap_score(y_true, y_pred, n_resamples=-1).estimate


def test_a_metric_of_the_users_that_calls_a_door_is_at_that_door():
    with pytest.raises(ValueError, match="'n_resamples' parameter of bootstrap_score must"):
        skboot.compare_systems(Y, {"a": P, "b": Y}, metric=judged, **FEW)


def test_a_sentence_and_a_renamed_argument_get_the_name_of_the_door():
    @door("judge")
    def judge(argument, how):
        with arguments_named({"rows": "argument"}):
            raise fail("rows", "be 1", "2") if how else refuse("these cannot be judged.")

    with pytest.raises(ValueError, match="The 'argument' parameter of judge must be 1"):
        judge(2, True)
    with pytest.raises(ValueError, match=r"^judge: these cannot"):
        judge(2, False)


def test_an_error_keeps_its_traceback_and_its_cause():
    @door("judge")
    def judge():
        try:
            raise KeyError("why")
        except KeyError as error:
            raise fail("x", "be 1", "2") from error

    with pytest.raises(ValueError, match="of judge must") as raised:
        judge()
    assert isinstance(raised.value.__cause__, KeyError)
    assert raised.traceback[-1].name == "judge"


# ------------------------------------------------------------------ notes


@door("warns")
def warns(*notes):
    tell(*notes)


def test_a_call_warns_once_of_a_kind_and_counts_the_others():
    same = Note("few", "A is short.", "short"), Note("few", "B is short.", "short")
    assert told_by(lambda: warns(*same))[0] == ["warns: A is short. (1 more: see the summary.)"]
    counts = [
        Note("few", f"'{name}' has {n} rows.") for name, n in zip("abba", (3, 4, 5, 6), strict=True)
    ]
    other = Note("caution", "Labels do not meet.")
    assert told_by(lambda: warns(*counts, other))[0] == [
        "warns: 'a' has 3 rows. (3 more: see the summary.)",
        "warns: Labels do not meet.",
    ]
    assert told_by(lambda: warns(counts[0], counts[0]))[0] == ["warns: 'a' has 3 rows."]
    assert told_by(lambda: warns(Note("advice", "Read on.")))[0] == []


def test_what_was_told_before_an_error_is_warned_of():
    @door("judge")
    def judge():
        tell(Note("failed", "A run failed."))
        raise fail("x", "be 1", "2")

    texts, error = told_by(judge)
    assert texts == ["judge: A run failed."]
    assert error.startswith("The 'x' parameter of judge")


def test_each_step_of_a_generator_passes_the_door():
    @door("steps")
    def steps():
        tell(Note("few", "One."))
        yield 1
        raise fail("x", "be 1", "2")

    found = steps()
    assert told_by(lambda: next(found)) == (["steps: One."], "")
    # Between steps, calls of the user have their own warnings.
    assert told_by(lambda: warns(Note("few", "Two.")))[0] == ["warns: Two."]
    assert told_by(lambda: next(found))[1].startswith("The 'x' parameter of steps must be 1.")


def failing(y_true, y_pred):
    if len(np.unique(y_true)) < 2:
        raise ValueError("one class")
    return accuracy_score(y_true, y_pred)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_give_the_notes_and_errors_of_one_process(backend, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    scarce = np.r_[np.ones(3, int), np.zeros(57, int)]

    def fit(n_jobs, scoring="roc_auc"):
        scorer = skboot.BootstrapScorer(
            LogisticRegression(),
            scoring=scoring,
            n_train_resamples=6,
            random_state=0,
            n_jobs=n_jobs,
        )
        return told_by(lambda: scorer.fit(X, scarce))

    alone, wrong = fit(1), fit(1, "no_such")
    with joblib.parallel_config(backend):
        assert fit(2) == alone
        assert fit(2, "no_such") == wrong
    assert alone[0]


# ------------------------------------------------------------------ functions as before


def test_a_door_keeps_signature_name_and_pickle():
    found = pickle.loads(pickle.dumps(skboot.bootstrap_score))
    assert found is skboot.bootstrap_score
    assert found.__name__ == "bootstrap_score"
    assert list(inspect.signature(found).parameters)[:2] == ["y_true", "y_pred"]
