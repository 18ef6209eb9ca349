"""scikit-learn's own tests of meta-estimators and splitters, with ours in place of theirs.

Each function of their test files that takes an estimator, or goes over a list of them, is called
with ours. `test_default_request` does not apply: a `BootstrapScorer` asks for the groups that it
draws, as the group splitters do. Tests of scorers and splitters that are parameters return at once.
"""

import functools
import sys
import types
import warnings
from importlib import import_module

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from skboot import (
    BootstrapScorer,
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
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
