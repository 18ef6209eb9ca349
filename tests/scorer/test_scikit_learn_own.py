"""scikit-learn's own tests of meta-estimators and splitters, with ours in place of theirs.

Each function of their test files that takes an estimator or a splitter, or goes over a list of
them, is called with ours, or stands in `NOT_APPLICABLE` with the reason; so do their checks of
docstrings.
"""

import functools
import inspect
import sys
import types
import warnings
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._testing import check_docstring_parameters

import skboot
from skboot import (
    BootstrapScorer,
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
    compare_methods,
    model_selection,
)
from skboot.metrics import interval_scorer

if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9):
    pytest.skip("The tests are those of scikit-learn 1.9.", allow_module_level=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of estimators that scikit-learn cannot make
    of_splitters = import_module("sklearn.model_selection.tests.test_split")
    of_delegation = import_module("sklearn.tests.test_metaestimators")
    of_records = import_module("sklearn.tests.metadata_routing_common")
    of_routing = import_module("sklearn.tests.test_metaestimators_metadata_routing")

pytestmark = pytest.mark.filterwarnings("ignore")
ALONE = functools.partial(BootstrapScorer, n_train_resamples=0)
SAMPLES = functools.partial(
    BootstrapScorer, n_train_resamples=2, strategy="oob", error_score="raise", random_state=0
)
ROUTING = [
    "test_error_on_missing_requests_for_sub_estimator",
    "test_setting_request_on_sub_estimator_removes_error",
    "test_non_consuming_estimator_works",
    "test_metadata_is_routed_correctly_to_scorer",
]
WITHOUT_GROUPS = [
    BootstrapSplit(),
    StratifiedBootstrapSplit(),
    BootstrapTestSplit(3),
    SeedSplit(2, BootstrapSplit(3)),
]
NO_CV = "A BootstrapScorer has no cv=; a splitter given as train_samples= gets the groups alone."
NOT_APPLICABLE = {
    "test_unsupported_estimators_get_metadata_routing": "Of estimators that route nothing.",
    "test_unsupported_estimators_fit_with_metadata": "Of estimators that route nothing.",
    "test_registry_copy": "Of a helper of the tests.",
    "test_default_request": (
        "A BootstrapScorer asks for the groups that it draws, as the group splitters do."
    ),
    "test_metadata_is_routed_correctly_to_splitter": NO_CV,
    "test_metadata_routed_to_group_splitter": NO_CV,
    "test_stratified_splitter_without_y": (
        "split takes y=None, and says in words of its own that it needs classes."
    ),
}
# A splitter around another one passes the groups on, and ignores none.
WRAPPING = (BootstrapTestSplit, SeedSplit)


@pytest.fixture(autouse=True)
def without_source_lines(monkeypatch):
    """Let their records of callers read names of functions alone: source lines take minutes."""

    def names_of_callers():
        frame, frames = sys._getframe(1), []
        while frame is not None:
            frames.append(types.SimpleNamespace(function=frame.f_code.co_name))
            frame = frame.f_back
        return frames

    monkeypatch.setattr(of_records, "inspect", types.SimpleNamespace(stack=names_of_callers))


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("made", [ALONE, SAMPLES], ids=["alone", "samples"])
@pytest.mark.parametrize("test", ROUTING)
def test_metadata_is_routed_as_scikit_learn_asks(test, made, kind):
    info = {
        "metaestimator": made,
        "estimator_name": "estimator",
        "estimator": kind,
        "X": of_routing.X,
        "y": of_routing.y,
        "estimator_routing_methods": ["fit"],
        "scorer_name": "scoring",
        # A model alone is not scored by its fit.
        "scorer_routing_methods": ["score"] if made is ALONE else ["fit", "score"],
        "preserves_metadata": True if made is ALONE else "subset",
    }
    getattr(of_routing, test)(info)


@pytest.mark.parametrize("made", [ALONE, SAMPLES], ids=["alone", "samples"])
def test_weights_reach_a_transformer_in_a_pipeline(made, monkeypatch):
    """Their test takes classifiers and regressors, of which none transforms."""

    class Transformer(of_records.ConsumingTransformer):
        __metadata_request__transform: ClassVar = {"sample_weight": False, "metadata": False}

        def score(self, X, y):
            return 1.0

    monkeypatch.setattr(of_routing, "ConsumingClassifier", Transformer)
    info = {
        "metaestimator": made,
        "estimator_name": "estimator",
        "estimator": "classifier",
        "X": of_routing.X,
        "y": of_routing.y,
        "preserves_metadata": True if made is ALONE else "subset",
    }
    of_routing.test_metadata_routed_to_sub_estimator_in_pipeline(info)


def test_methods_are_delegated_as_scikit_learn_asks(monkeypatch):
    ours = of_delegation.DelegatorData("BootstrapScorer", ALONE, skip_methods=["score"])
    monkeypatch.setattr(of_delegation, "DELEGATING_METAESTIMATORS", [ours])
    of_delegation.test_metaestimator_delegation()


@pytest.mark.parametrize("estimator", [LogisticRegression(), Ridge()], ids=["labels", "values"])
def test_validation_of_data_is_the_estimator_s(estimator):
    of_texts = of_delegation._get_instance_with_pipeline(ALONE(estimator), {"estimator"})
    of_delegation.test_meta_estimators_delegate_data_validation(of_texts)


@pytest.mark.parametrize("cv", [*WITHOUT_GROUPS, GroupBootstrapSplit()], ids=str)
@pytest.mark.parametrize(
    "test", ["test_splitter_get_metadata_routing", "test_splitter_set_split_request"]
)
def test_splitters_ask_for_metadata_as_scikit_learn_s_do(test, cv, monkeypatch):
    grouped = isinstance(cv, (GroupBootstrapSplit, *WRAPPING))
    monkeypatch.setattr(of_splitters, "GROUP_SPLITTERS", [cv] * grouped)
    monkeypatch.setattr(of_splitters, "NO_GROUP_SPLITTERS", [cv] * (not grouped))
    getattr(of_splitters, test)(cv)


@pytest.mark.parametrize("cv", [BootstrapSplit(), StratifiedBootstrapSplit()], ids=str)
def test_groups_are_ignored_with_scikit_learn_s_warning(cv):
    of_splitters.test_no_group_splitters_warns_with_groups(cv)


def test_each_of_their_tests_is_called_or_listed_with_its_reason():
    before, _, after = Path(__file__).read_text(encoding="utf-8").partition("NOT_APPLICABLE = {")
    of_ours = before + after.partition("\n}\n")[2]
    theirs = [
        name
        for module in (of_delegation, of_routing, of_splitters)
        for name, function in vars(module).items()
        if name.startswith("test_") and (module is not of_splitters or takes_any_splitter(function))
    ]
    assert {name for name in theirs if name not in of_ours} == set(NOT_APPLICABLE)


def takes_any_splitter(function):
    """Whether a test goes over their list of splitters; others are of one splitter."""
    names = [mark.args[0] for mark in getattr(function, "pytestmark", ()) if mark.args]
    return "cv" in names


def test_docstrings_name_the_parameters_as_scikit_learn_asks():
    docscrape = pytest.importorskip("numpydoc.docscrape")
    wrong = []
    for name in (*skboot.__all__, *model_selection.__all__):
        own = getattr(skboot, name, None) or getattr(model_selection, name)
        if inspect.isclass(own):
            wrong += check_docstring_parameters(own.__init__, docscrape.ClassDoc(own))
            methods = [value for key, value in vars(own).items() if not key.startswith("_")]
            for method in filter(inspect.isfunction, methods):
                wrong += check_docstring_parameters(method)
        elif callable(own):
            wrong += check_docstring_parameters(own)
    assert wrong == []


GROUPED = {
    "cross_validate": lambda model, X, y, g: cross_validate(
        model, X, y, cv=GroupKFold(2), params={"groups": g}, error_score="raise"
    )["test_score"],
    "search": lambda model, X, y, g: (
        GridSearchCV(model, {"n_train_resamples": [0, 4]}, cv=GroupKFold(2), error_score="raise")
        .fit(X, y, groups=g)
        .best_estimator_.predict(X)
    ),
    "pipeline": lambda model, X, y, g: (
        Pipeline([("first", StandardScaler()), ("last", model)]).fit(X, y, groups=g).predict(X)
    ),
    "nested": lambda model, X, y, g: cross_validate(
        GridSearchCV(model, {"n_train_resamples": [0]}, cv=GroupKFold(2)),
        X,
        y,
        cv=GroupKFold(2),
        params={"groups": g},
        error_score="raise",
    )["test_score"],
}


@pytest.mark.parametrize("pattern", GROUPED)
def test_groups_reach_a_scorer_inside_of_other_tools(pattern):
    """Whole groups are drawn, and a model inside that asks for them gets those of its rows."""

    class Grouped(GaussianNB):
        def fit(self, X, y, groups=None):
            assert len(groups) == len(X)
            SEEN.append(np.asarray(groups))
            return super().fit(X, y)

    SEEN = []
    X, y, groups = of_routing.X, of_routing.y, np.arange(len(of_routing.y)) // 2
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Grouped().set_fit_request(groups=True)
        found = GROUPED[pattern](SAMPLES(inner), X, y, groups)
    assert np.isfinite(found).all()
    whole = [np.bincount(own)[np.unique(own)] % 2 for own in SEEN]
    assert len(SEEN) >= 3
    assert not np.concatenate(whole).any()


def test_groups_among_the_parameters_are_groups():
    X, y, groups = of_routing.X, of_routing.y, np.arange(len(of_routing.y)) // 2
    methods = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.1)}
    options = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
    by_name = compare_methods(methods, X, y, groups=groups, **options)
    for routed in (False, True):
        with sklearn.config_context(enable_metadata_routing=routed):
            found = compare_methods(methods, X, y, params={"groups": groups}, **options)
        assert found.summary() == by_name.summary()
    with pytest.raises(ValueError, match=r"'groups' .* be given once"):
        compare_methods(methods, X, y, groups=groups, params={"groups": groups})


def test_a_scorer_with_limits_is_routed_in_a_search():
    """Weights that are requested reach it, as they reach scikit-learn's own scorers."""
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorer = interval_scorer("accuracy", n_resamples=99, random_state=0)
        search = GridSearchCV(
            GaussianNB().set_fit_request(sample_weight=True),
            {"var_smoothing": [1e-9]},
            scoring=scorer.set_score_request(sample_weight=True),
            refit="accuracy",
            cv=2,
        )
        search.fit(of_routing.X, of_routing.y, sample_weight=of_routing.sample_weight)
    assert search.cv_results_["mean_test_accuracy_low"][0] <= search.best_score_
