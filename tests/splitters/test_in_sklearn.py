"""The splitters in every scikit-learn tool that takes ``cv=``, metadata routing off and on."""

import numpy as np
import pytest
import sklearn
from in_turn import in_turn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skboot import (
    BootstrapSplit,
    BootstrapTestSplit,
    GroupBootstrapSplit,
    SeedSplit,
    StratifiedBootstrapSplit,
)

N_SPLITS = 4
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 30)
X = RNG.normal(size=(60, 3)) + Y[:, None]
GROUPS = np.repeat(np.arange(15), 4)
GRID = {"var_smoothing": [1e-9, 1e-3]}

# name -> (splitter of N_SPLITS splits, uses groups, cannot do without groups)
SPLITTERS = {
    "bootstrap": (BootstrapSplit(4, random_state=0), False, False),
    "stratified": (StratifiedBootstrapSplit(4, random_state=0), False, False),
    "group": (GroupBootstrapSplit(4, random_state=0), True, True),
    "test": (BootstrapTestSplit(2, n_resamples=2, random_state=0), True, False),
    "test of groups": (
        BootstrapTestSplit(GroupKFold(2), n_resamples=2, random_state=0),
        True,
        True,
    ),
    "seed": (SeedSplit(2, 2), False, False),
    "seed of groups": (SeedSplit(2, GroupKFold(2)), True, True),
}


def search_scores(search, params):
    search.fit(X, Y, **params)
    results = search.cv_results_
    return np.array([results[f"split{i}_test_score"] for i in range(search.n_splits_)])


def run_halving(cv, params):
    search = HalvingGridSearchCV(
        GaussianNB(), GRID, cv=cv, factor=2, min_resources=30, random_state=0
    )
    return search_scores(search, params)


def run_rfecv(cv, params):
    selector = RFECV(LogisticRegression(), cv=cv).fit(X, Y, **params)
    return np.array([selector.cv_results_[f"split{i}_test_score"] for i in range(N_SPLITS)])


def run_sequential_selector(cv, params):
    selector = SequentialFeatureSelector(GaussianNB(), n_features_to_select=1, cv=cv)
    return selector.fit(X, Y, **params).get_support()


def run_tuned_threshold(cv, params):
    return np.array(TunedThresholdClassifierCV(GaussianNB(), cv=cv).fit(X, Y, **params).best_score_)


def run_calibrated(cv, params):
    model = CalibratedClassifierCV(GaussianNB(), cv=cv, ensemble=True).fit(X, Y, **params)
    assert len(model.calibrated_classifiers_) == N_SPLITS
    return model.predict_proba(X)


def run_permutation_test(cv, params):
    return permutation_test_score(
        GaussianNB(), X, Y, cv=cv, n_permutations=3, random_state=0, **params
    )[1]


def run_validation_curve(cv, params):
    return validation_curve(
        GaussianNB(), X, Y, param_name="var_smoothing", param_range=[1e-9, 1e-3], cv=cv, **params
    )[1]


# Functions take groups= with routing off, params={"groups": ...} with routing on.
FUNCTIONS = {
    "cross_val_score": lambda cv, params: cross_val_score(GaussianNB(), X, Y, cv=cv, **params),
    "cross_validate": lambda cv, params: cross_validate(GaussianNB(), X, Y, cv=cv, **params)[
        "test_score"
    ],
    "learning_curve": lambda cv, params: learning_curve(
        GaussianNB(), X, Y, cv=cv, shuffle=True, random_state=0, train_sizes=[0.5, 1.0], **params
    )[2],
    "validation_curve": run_validation_curve,
    "permutation_test_score": run_permutation_test,
}

# Estimators whose fit takes groups= whether routing is on or off.
GROUPS_ALWAYS = {
    "GridSearchCV": lambda cv, params: search_scores(
        GridSearchCV(GaussianNB(), GRID, cv=cv), params
    ),
    "RandomizedSearchCV": lambda cv, params: search_scores(
        RandomizedSearchCV(GaussianNB(), GRID, n_iter=2, cv=cv, random_state=0), params
    ),
    "HalvingGridSearchCV": run_halving,
    "RFECV": run_rfecv,
}

# Estimators that hand groups to cv only when routing is on.
GROUPS_WITH_ROUTING = {
    "SequentialFeatureSelector": run_sequential_selector,
    "TunedThresholdClassifierCV": run_tuned_threshold,
    "CalibratedClassifierCV": run_calibrated,
}

TOOLS = FUNCTIONS | GROUPS_ALWAYS | GROUPS_WITH_ROUTING


def groups_as_params(tool, routing):
    """Return the keyword arguments by which a tool takes groups, None where it cannot."""
    if tool in FUNCTIONS and routing:
        return {"params": {"groups": GROUPS}}
    if tool in GROUPS_WITH_ROUTING and not routing:
        return None
    return {"groups": GROUPS}


@pytest.mark.parametrize("tool", TOOLS)
@in_turn(name=list(SPLITTERS), routing=[False, True])
def test_every_splitter_runs_in_every_tool(tool, name, routing):
    cv, uses_groups, needs_groups = SPLITTERS[name]
    params = groups_as_params(tool, routing) if uses_groups else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        if params is None and needs_groups:
            with pytest.raises(ValueError, match="'groups' parameter"):
                TOOLS[tool](cv, {})
        else:
            assert np.isfinite(TOOLS[tool](cv, params or {})).all()


@pytest.mark.parametrize("tool", GROUPS_WITH_ROUTING)
def test_tools_that_need_routing_for_groups_refuse_them_without_it(tool):
    """No silent loss: either scikit-learn or the splitter refuses."""
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        TOOLS[tool](SPLITTERS["group"][0], {"groups": GROUPS})


@pytest.mark.parametrize("name", ["bootstrap", "stratified"])
def test_routing_refuses_groups_for_a_splitter_that_does_not_use_them(name):
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(TypeError, match="which are not routed to any object"),
    ):
        cross_val_score(GaussianNB(), X, Y, cv=SPLITTERS[name][0], params={"groups": GROUPS})


@pytest.mark.parametrize("name", ["group", "test of groups", "seed of groups"])
def test_groups_can_be_routed_under_another_name(name):
    cv, _, _ = SPLITTERS[name]
    expected = cross_val_score(GaussianNB(), X, Y, cv=cv, groups=GROUPS)
    with sklearn.config_context(enable_metadata_routing=True):
        renamed = type(cv)(**vars(cv)).set_split_request(groups="speaker")
        scores = cross_val_score(GaussianNB(), X, Y, cv=renamed, params={"speaker": GROUPS})
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", SPLITTERS)
def test_scores_are_those_of_a_bare_loop_over_the_splits(name):
    cv, uses_groups, _ = SPLITTERS[name]
    groups = GROUPS if uses_groups else None
    expected = [
        accuracy_score(Y[test], GaussianNB().fit(X[train], Y[train]).predict(X[test]))
        for train, test in cv.split(X, Y, groups)
    ]
    np.testing.assert_array_equal(
        cross_val_score(GaussianNB(), X, Y, cv=cv, groups=groups), expected
    )


@pytest.mark.parametrize("name", SPLITTERS)
def test_a_search_can_be_cloned_and_gives_the_same_scores(name):
    cv, uses_groups, _ = SPLITTERS[name]
    params = {"groups": GROUPS} if uses_groups else {}
    search = GridSearchCV(GaussianNB(), GRID, cv=cv)
    np.testing.assert_array_equal(
        search_scores(clone(search), params), search_scores(search, params)
    )


# -- what scikit-learn cannot do ------------------------------------------------------------------

NEEDS_A_PARTITION = {
    "cross_val_predict": lambda cv: cross_val_predict(GaussianNB(), X, Y, cv=cv),
    "StackingClassifier": lambda cv: StackingClassifier([("nb", GaussianNB())], cv=cv).fit(X, Y),
    "CalibratedClassifierCV(ensemble=False)": lambda cv: CalibratedClassifierCV(
        GaussianNB(), cv=cv, ensemble=False
    ).fit(X, Y),
}


@pytest.mark.parametrize("name", ["bootstrap", "stratified", "test", "seed"])
@pytest.mark.parametrize("tool", NEEDS_A_PARTITION)
def test_tools_that_need_one_prediction_per_row_say_so(tool, name):
    """Test sides that overlap or miss rows are no partition of the rows."""
    with pytest.raises(ValueError, match="cross_val_predict only works for partitions"):
        NEEDS_A_PARTITION[tool](SPLITTERS[name][0])


def test_cross_val_predict_refuses_group_splits_as_well():
    with pytest.raises(ValueError, match="cross_val_predict only works for partitions"):
        cross_val_predict(GaussianNB(), X, Y, cv=SPLITTERS["group"][0], groups=GROUPS)


@pytest.mark.parametrize("seed", [None, np.random.SeedSequence(0)], ids=["none", "sequence"])
def test_halving_searches_accept_an_int_seed_only(seed):
    with pytest.raises(ValueError, match="must yield consistent folds"):
        run_halving(BootstrapSplit(4, random_state=seed), {})


def test_calibration_needs_as_many_rows_per_class_as_splits():
    model = CalibratedClassifierCV(GaussianNB(), cv=BootstrapSplit(31, random_state=0))
    with pytest.raises(ValueError, match="less than 31 examples for at least one class"):
        model.fit(X, Y)


# -- what each splitter is for --------------------------------------------------------------------


def test_learning_curve_prefixes_hold_all_classes_of_sorted_data():
    """An ordered training side would show learning_curve one class only."""
    order = np.argsort(Y, kind="stable")
    cv = StratifiedBootstrapSplit(20, random_state=0)
    firsts = [Y[order][train[:30]] for train, _ in cv.split(X[order], Y[order])]
    assert min(first.mean() for first in firsts) > 0.1
    assert max(first.mean() for first in firsts) < 0.9


def test_a_frozen_model_is_scored_on_resampled_test_rows_and_never_fitted():
    model = GaussianNB().fit(X[:20], Y[:20])
    right = model.predict(X) == Y
    rows = np.arange(60)
    cv = BootstrapTestSplit([(rows, rows)], n_resamples=400, random_state=0)
    scores = cross_val_score(FrozenEstimator(model), X, Y, cv=cv)
    expected = [right[test].mean() for _, test in cv.split(X, Y)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    # The bootstrap variance of a proportion is exactly p (1 - p) / n; chi-square, 0.1% two-sided.
    theory = right.mean() * (1 - right.mean()) / 60
    assert 0.78 < scores.var() / theory < 1.25


def test_seed_spread_is_seen_with_random_state_none_and_not_with_an_int():
    def spread(random_state):
        tree = DecisionTreeClassifier(max_features=1, random_state=random_state)
        scores = cross_val_score(tree, X, Y, cv=SeedSplit(20, KFold(3)))
        return np.ptp(scores.reshape(20, 3), axis=0)

    assert (spread(None) > 0).all()
    assert (spread(0) == 0).all()
    assert (spread(np.random.RandomState(0)) == 0).all()


def test_folds_inside_a_bootstrap_sample_leak_copies_unless_grouped_by_row():
    """Labels are noise; a row has a copy in another fold with probability 1 - exp(-0.8) = 0.55.

    So 1-NN should get 0.78 of the rows right with the leak and 0.5 without; the standard deviation
    of either mean is below 0.02.
    """
    rng = np.random.default_rng(0)
    nearest, leaking, grouped = KNeighborsClassifier(1), [], []
    for sample in range(10):
        noise, labels = rng.normal(size=(200, 5)), rng.integers(2, size=200)
        train, _ = next(BootstrapSplit(1, random_state=sample).split(noise))
        data = noise[train], labels[train]
        leaking.append(cross_val_score(nearest, *data, cv=KFold(5)).mean())
        grouped.append(cross_val_score(nearest, *data, cv=GroupKFold(5), groups=train).mean())
    assert np.mean(leaking) > 0.71
    assert np.mean(grouped) < 0.57
