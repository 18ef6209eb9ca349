"""Where parameters of a fit go: to the estimator's ``fit``, and to scorers, as they request.

With metadata routing on, as in `sklearn.model_selection.GridSearchCV`; off, all go to the fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from .._base import checks as check
from .._base.sklearn_compat import MultimetricScorer, routing_enabled
from ..refit.scoring import named_scorers

Params = dict[str, Any]


class Routed(NamedTuple):
    """Parameters by where they go.

    Attributes
    ----------
    fit : dict
        To the estimator's ``fit``.
    scores : dict of dict
        To each scorer that gets some, by its name.
    """

    fit: Params
    scores: dict[str, Params]


def router_of(router: MetadataRouter, estimators: Mapping[str, Any], scoring: Any) -> Any:
    """Add estimators by name, and the scorer of each, to a router."""
    for name, estimator in estimators.items():
        suffix = f" of {name}" if name else ""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router.add(**{f"estimator{suffix}": estimator}, method_mapping=to_fit)
        scorer = _as_one(scoring, estimator)
        if scorer is not None:
            to_score = MethodMapping().add(caller="fit", callee="score")
            to_score = to_score.add(caller="score", callee="score")
            router.add(**{f"scorer{suffix}": scorer}, method_mapping=to_score)
    return router


def routed_to_fit(
    router: Any, estimator: Any, scoring: Any, params: Mapping[str, Any], name: str = ""
) -> Routed:
    """Return where the parameters of a fit go; refuse those that nothing has requested.

    Parameters
    ----------
    router : MetadataRouter, or object that has one
        From `router_of`.
    estimator : estimator
    scoring : str, callable, list, dict or None
    params : mapping
    name : str
        Of the estimator among several.
    """
    if not routing_enabled():
        return Routed(dict(params), {})
    if not params:
        return Routed({}, {})
    suffix = f" of {name}" if name else ""
    routed = process_routing(router, "fit", **params)
    scorer = f"scorer{suffix}"
    of_scorer = dict(routed[scorer].score) if scorer in routed else {}
    of_fit = dict(routed[f"estimator{suffix}"].fit)
    return Routed(of_fit, by_scorer(scoring, estimator, of_scorer) if of_scorer else {})


def by_scorer(scoring: Any, estimator: Any, params: Mapping[str, Any]) -> dict[str, Params]:
    """Return the parameters that each scorer requests of those that go to all."""
    scorers, single = named_scorers(scoring, estimator)
    if single or not params:
        return {name: dict(params) for name in scorers if params}
    routed = process_routing(MultimetricScorer(scorers=scorers), "score", **params)
    return {name: dict(routed[name].score) for name in scorers if routed[name].score}


def scorers_of_test_weights(scoring: Any, estimator: Any, *, given: bool) -> set[str]:
    """Return the names of the scorers that weigh test rows.

    Parameters
    ----------
    scoring : str, callable, list, dict or None
    estimator : estimator
    given : bool
        Whether there are weights of test rows. With routing off all scorers take them, with
        routing on those that request ``sample_weight``; these cannot do without.
    """
    scorers, single = named_scorers(scoring, estimator)
    if not routing_enabled():
        return set(scorers) if given else set()
    asked = {next(iter(scorers)): _as_one(scoring, estimator)} if single else scorers
    requests = {
        name: get_routing_for_object(scorer).score.requests.get("sample_weight", False)
        for name, scorer in asked.items()
    }
    unset = [name for name, request in requests.items() if request is None]
    if given and unset:
        text = (
            "[sample_weight] of test rows are passed but are not explicitly set as requested or "
            f"not requested for the scorers {unset}: use set_score_request(sample_weight=True)."
        )
        raise UnsetMetadataPassedError(
            message=text, unrequested_params={"sample_weight": None}, routed_params={}
        )
    weighing = {name for name, request in requests.items() if request}
    if given and not weighing:
        advice = "Use set_score_request(sample_weight=True)."
        must = "be None where no scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "weights", advice)
    if weighing and not given:
        must = "be given with X_test where a scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "None")
    return weighing


def _as_one(scoring: Any, estimator: Any) -> Any:
    """Return what a router knows as the scorer; None where there is none."""
    if scoring is None and hasattr(estimator, "score"):
        # As in a search, requests are those of the estimator's own method.
        return check_scoring(estimator)
    if scoring is None and not (is_classifier(estimator) or is_regressor(estimator)):
        return None
    scorers, single = named_scorers(scoring, estimator)
    return next(iter(scorers.values())) if single else MultimetricScorer(scorers=scorers)
