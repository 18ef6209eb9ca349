"""From what a user gives as ``metric`` to statistics.

A scoring name, scorer, metric function or `functools.partial` of one is taken apart into a
function, its options and a sign. `registry.FAST_PATHS` maps the names of functions to statistics
that know sums, ranks or thresholds; where there is none for the options, the function is called on
repeated rows, which works for any callable.
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from .._base.checks import arguments_named, fail, is_among
from .._base.doors import door
from .._base.lazy import import_modules
from .._base.sklearn_compat import scorer_parts
from . import costs, means, responses
from .callables import CellsCallable, LibraryCallable, Negated, WeightedCallable
from .cells import SharedCells
from .responses import check_response
from .statistic import (
    GREATER_IS_POSITIVE,
    PATHS,
    RANGES,
    RESPONSES,
    CallableStatistic,
    Request,
    Response,
    Statistic,
)
from .unnamed import AS_MEAN, CALLABLES, direction_of, instead_of_name

__all__ = ["check_response", "known_names", "resolve_metrics"]


# Names of metrics: which are known, and which is meant by one that is not.
#
# In ``metric=`` a loss is also known by its name without "neg_", and smaller is then better. In
# ``scoring=`` it is not, because a search takes the largest score.


class NotGiven(str):
    """The metric of a call that gives none: equal to its name and shown like it."""

    __slots__ = ()


ACCURACY_IF_NOT_GIVEN = NotGiven("accuracy")

# What people call a metric, in lower case with underscores, and the name in ``metric=`` of the same
# number: it is taken at once, and the result bears this name.
SYNONYMS = {
    "acc": "accuracy",
    "act_cllr": "cllr",
    "actual_cllr": "cllr",
    "ami": "adjusted_mutual_info_score",
    "ap": "average_precision",
    "ari": "adjusted_rand_score",
    "auc": "roc_auc",
    "auc_roc": "roc_auc",
    "auprc": "average_precision",
    "auroc": "roc_auc",
    "ba": "balanced_accuracy",
    "bac": "balanced_accuracy",
    "bacc": "balanced_accuracy",
    "balanced_acc": "balanced_accuracy",
    "bce": "log_loss",
    "binary_crossentropy": "log_loss",
    "brier_loss": "brier_score",
    "brier_score_loss": "brier_score",
    "calibration_in_the_large": "calibration_intercept",
    "citl": "calibration_intercept",
    "ce": "log_loss",
    "cohen_kappa": "cohen_kappa_score",
    "cohens_kappa": "cohen_kappa_score",
    "crossentropy": "log_loss",
    "dice": "f1",
    "dice_coefficient": "f1",
    "dice_score": "f1",
    "dice_similarity_coefficient": "f1",
    "ece": "expected_calibration_error",
    "eer": "equal_error_rate",
    "error_rate": "zero_one_loss",
    "f1_measure": "f1",
    "f1score": "f1",
    "f_measure": "f1",
    "f_score": "f1",
    "fscore": "f1",
    "intersection_over_union": "jaccard",
    "iou": "jaccard",
    "kappa": "cohen_kappa_score",
    "likelihood_ratio_negative": "negative_likelihood_ratio",
    "likelihood_ratio_positive": "positive_likelihood_ratio",
    "logistic_loss": "log_loss",
    "logloss": "log_loss",
    "lr_minus": "negative_likelihood_ratio",
    "lr_plus": "positive_likelihood_ratio",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mcc": "matthews_corrcoef",
    "mdae": "median_absolute_error",
    "medae": "median_absolute_error",
    "mse": "mean_squared_error",
    "msle": "mean_squared_log_error",
    "multiclass_log_loss": "log_loss",
    "nce": "normalized_cross_entropy",
    "nec": "normalized_expected_cost",
    "negative_predictive_value": "npv",
    "nll": "log_loss",
    "nlr": "negative_likelihood_ratio",
    "nmi": "normalized_mutual_info_score",
    "normalized_cost": "normalized_expected_cost",
    "normalized_error": "normalized_total_error",
    "nte": "normalized_total_error",
    "observed_agreement": "accuracy",
    "percent_agreement": "accuracy",
    "phi": "matthews_corrcoef",
    "plr": "positive_likelihood_ratio",
    "positive_predictive_value": "ppv",
    "r_squared": "r2",
    "rmsd": "root_mean_squared_error",
    "rmse": "root_mean_squared_error",
    "rmsle": "root_mean_squared_log_error",
    "rocauc": "roc_auc",
    "rsquared": "r2",
    "selectivity": "specificity",
    "sens": "sensitivity",
    "spec": "specificity",
    "tnr": "specificity",
    "tpr": "recall",
    "true_negative_rate": "specificity",
    "true_positive_rate": "recall",
    "uar": "balanced_accuracy",
    "xent": "log_loss",
}
_OF_SKILL = ("brier_skill_score", "bss", "scaled_brier", "scaled_brier_score")
if hasattr(sklearn.metrics, "d2_brier_score"):
    SYNONYMS |= dict.fromkeys(_OF_SKILL, "d2_brier_score")
else:
    of_brier = "lambda y, p: 1 - skboot.metrics.brier_score(y, p, relative=True)"
    CALLABLES |= dict.fromkeys(_OF_SKILL, of_brier)
# Of the number of classes in a name: "top5", "top-5 accuracy", "acc@5". Without one it is 2, as in
# scikit-learn.
_TOP_K = re.compile(r"top_?(k_accuracy|(?P<k>\d+)(_acc(uracy)?)?)|acc(uracy)?(_at)?_(?P<at>\d+)")
_AVERAGE = re.compile(r"(?P<metric>.+)_(?P<average>macro|micro|weighted|samples)")
# What may be meant by another number as well, so that it is asked.
ALIASES = {
    "adj_r2": "r2",
    "adjusted_r2": "r2",
    "area_under_curve": "roc_auc",
    "area_under_the_curve": "roc_auc",
    "aucpr": "average_precision",
    "cost": "expected_cost",
    "em": "accuracy",
    "error": "zero_one_loss",
    "exact_match": "accuracy",
    "f": "f1",
    "log_likelihood": "neg_log_loss",
    "mad": "mean_absolute_error",
    "mean_iou": "jaccard_macro",
    "miou": "jaccard_macro",
    "pr_auc": "average_precision",
    "prauc": "average_precision",
    "roc": "roc_auc",
    "slope": "calibration_slope",
}
# Metrics that have a name in ``metric=`` alone: function of `skboot.metrics`, and its options.
OF_SKBOOT: dict[str, tuple[str, dict[str, Any]]] = {
    "calibration_intercept": ("calibration_intercept", {}),
    "calibration_slope": ("calibration_slope", {}),
    "cllr": ("cllr", {}),
    "expected_calibration_error": ("expected_calibration_error", {}),
    "normalized_cross_entropy": ("cross_entropy", {"relative": True}),
    "normalized_expected_cost": ("expected_cost", {"relative": True}),
    "normalized_total_error": ("expected_cost", {"relative": True}),
}
# Ends of the names of scikit-learn's functions that are metrics; `auc`, which takes a curve, and
# matrices have others.
_ENDS = ("_score", "_loss", "_error", "_deviance")
# Minimum likeness, as of difflib, of a name that is offered; below it "zero_one_loss" would be
# taken for a misspelt "log_loss".
_LEAST_LIKENESS = 0.7
# Names that an error offers at most, and by how much less like they may be than the first.
_MOST_NEAR, _AS_LIKE = 3, 0.05
_OF_A_FUNCTION = "Of a function make a scorer with sklearn.metrics.make_scorer."

# Function, and the methods of an estimator whose answer it takes, by the name of the scorer.
SCORERS: dict[str, tuple[Any, Any]] = {
    "neg_brier": (costs.brier_score, "predict_proba"),
    "neg_cross_entropy": (costs.cross_entropy, "predict_proba"),
    "neg_equal_error_rate": (costs.equal_error_rate, ("decision_function", "predict_proba")),
    "neg_expected_cost": (costs.expected_cost, "predict"),
    "npv": (responses.npv, "predict"),
    "ppv": (responses.ppv, "predict"),
    "sensitivity": (responses.sensitivity, "predict"),
    "specificity": (responses.specificity, "predict"),
}


@door("get_scorer")
def get_scorer(scoring: str) -> Any:
    """Make a scorer for scikit-learn.

    Parameters
    ----------
    scoring : str
        "neg_expected_cost", "neg_cross_entropy", "neg_brier", "neg_equal_error_rate",
        "sensitivity", "specificity", "ppv" or "npv"; other names are looked up in scikit-learn.

    Returns
    -------
    callable
        To be given as ``scoring=``.

    Raises
    ------
    ValueError
        If the name is not known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot.metrics import get_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = cross_val_score(GaussianNB(), X, y, scoring=get_scorer("neg_expected_cost"))
    >>> float(scores.mean().round(3))
    -0.047
    """
    if not isinstance(scoring, str):
        raise fail("scoring", "be a known name", repr(scoring), _OF_A_FUNCTION)
    if scoring in SCORERS:
        function, response = SCORERS[scoring]
        better = not scoring.startswith("neg_")
        return make_scorer(function, greater_is_better=better, response_method=response)
    if scoring in sklearn.metrics.get_scorer_names():
        return sklearn.metrics.get_scorer(scoring)
    raise unknown_scoring(scoring)


@lru_cache(maxsize=1)
def known_names() -> tuple[str, ...]:
    """Names that ``metric`` may be and scorers have, and "mean"."""
    return tuple(sorted({*sklearn.metrics.get_scorer_names(), *SCORERS, "mean"}))


@lru_cache(maxsize=1)
def losses() -> dict[str, str]:
    """Name of the scorer, which begins with "neg_", by the name of the loss."""
    return {name.removeprefix("neg_"): name for name in known_names() if name.startswith("neg_")}


def meant_by(metric: str) -> str:
    """Name in ``metric=`` of what is given: itself, in other letters, or that of a synonym."""
    plain = _plain(metric)
    if (top := _TOP_K.fullmatch(plain.removesuffix("_score"))) is not None:
        k = int(top["k"] or top["at"] or 2)
        return "accuracy" if k == 1 else f"top_{k}_accuracy"
    if metric in _names():
        return metric
    # Of "accuracy_score" and its like the scorer has the same number.
    candidates = [plain, plain.removesuffix("_score")]
    if (averaged := _AVERAGE.fullmatch(plain)) is not None:
        candidates.append(f"{meant_by(averaged['metric'])}_{averaged['average']}")
    known = (name for name in candidates if name in _names() or name in OF_SKBOOT)
    return SYNONYMS.get(plain) or next(known, metric)


def function_of(name: str) -> Any | None:
    """Function of a metric that is no scorer's; None where there is none of this name."""
    if (top := _TOP_K.fullmatch(name)) is not None and top["k"]:
        return partial(sklearn.metrics.top_k_accuracy_score, k=int(top["k"]))
    if name in OF_SKBOOT:
        function, options = OF_SKBOOT[name]
        found = getattr(sys.modules[__package__], function)
        return partial(found, **options) if options else found
    return getattr(sklearn.metrics, name, None) if name.endswith(_ENDS) else None


def call_of(name: str) -> str:
    """How to ask for a metric that is looked for as a function; "" if it is none."""
    plain = re.sub("^bootstrap_|(_confidence)?_(ci|interval)$", "", _plain(name))
    if meant_by(plain) in (*_names(), *OF_SKBOOT):
        return f"Use bootstrap_score(y_true, y_pred, metric={plain!r})."
    return without_name(plain)


def unknown_metric(metric: str) -> ValueError:
    """Error for a ``metric`` of no known name: the nearest ones, or all where none is near."""
    advice = without_name(metric)
    advice = f"{advice}{direction_of(_plain(metric))}" if advice else _did_you_mean(metric, False)
    if advice:
        return fail("metric", "be a known name or a callable", repr(metric), advice)
    listed = (
        f"Known names: {', '.join(_all_names())}; those that begin with 'neg_' also without it, "
        "where smaller is better. A metric without a name is a callable: "
        "metric=lambda y_true, y_pred: ..."
    )
    return fail("metric", "be a known name or a callable", repr(metric), f"\n{listed}")


def unknown_scoring(scoring: str) -> ValueError:
    """Error for a ``scoring`` of no known name; for a loss it names the negated one."""
    advice = without_name(scoring) or _as_function(meant_by(scoring))
    if advice.startswith(AS_MEAN):
        advice += " In scoring= there is no such metric: it takes predictions, not values of rows."
    elif advice:
        advice += (
            " As scoring= give sklearn.metrics.make_scorer of that function, of scores with "
            "response_method='predict_proba', and for a loss with greater_is_better=False."
        )
    else:
        advice = _did_you_mean(scoring, negated=True)
    if not advice:
        names = [name for name in known_names() if name != "mean"]
        advice = (
            f"\nKnown names: {', '.join(names)}. Losses are negated, so that larger is always "
            "better. A metric without a name: scoring=sklearn.metrics.make_scorer(function)."
        )
    return fail("scoring", "be a known name or a callable", repr(scoring), advice)


def _all_names() -> list[str]:
    """All that `known_names` has, and functions without a scorer that need no option."""
    import_modules(__package__)
    # F-beta needs its beta.
    others = {*RESPONSES} - {*_names(), "fbeta_score"}
    functions = [name for name in others if meant_by(name) == name and function_of(name)]
    return sorted({*known_names(), *OF_SKBOOT, *functions})


def _as_function(name: str) -> str:
    """Advice that names the function of a metric that is no scorer's; "" if it is one."""
    found = None if name in _names() else function_of(name)
    if found is None:
        return ""
    options = "".join(f", {key}={value!r}" for key, value in getattr(found, "keywords", {}).items())
    function = getattr(found, "func", found)
    module = "sklearn.metrics" if function.__module__.startswith("sklearn.") else __package__
    called = f"{module}.{function.__name__}"
    return (
        f"It is the function functools.partial({called}{options})."
        if options
        else (f"It is the function {called}.")
    )


def _did_you_mean(given: str, negated: bool) -> str:
    """Question whether one of the nearest known names was meant; "" if none is near."""
    known = _names() if negated else (*_names(), *OF_SKBOOT, *SYNONYMS)
    name = _meant(_plain(given))
    near = [name] if name is not None else _nearest(_plain(given), known)
    found = list(dict.fromkeys(map(meant_by, near)))
    found = [each for each in found if each.removeprefix("neg_") == each or negated] or found
    if negated:
        scorers = (losses().get(each, each) for each in found)
        found = [each for each in dict.fromkeys(scorers) if each in known_names()]
    if not found:
        return ""
    smaller = not negated and len(found) == 1 and found[0] in losses()
    listed = " or ".join(map(repr, found))
    return f"Did you mean {listed}?{' Smaller is better.' if smaller else ''}"


def _nearest(plain: str, known: Sequence[str]) -> list[str]:
    """Names that are about as like the given one as the most like of them."""
    near = difflib.get_close_matches(plain, known, _MOST_NEAR, _LEAST_LIKENESS)
    # As `difflib.get_close_matches` compares them.
    likeness = [difflib.SequenceMatcher(None, plain, each).ratio() for each in near]
    return [each for each, own in zip(near, likeness, strict=True) if own > likeness[0] - _AS_LIKE]


def _meant(plain: str) -> str | None:
    """Name in ``metric=`` that people call so: an alias, other words' order, a function's name."""
    of_words, others = {_in_order(name): name for name in _names()}, ALIASES | SYNONYMS
    for candidate in (plain, re.sub("_(score|loss)$", "", plain)):
        if candidate in others or _in_order(candidate) in of_words:
            return others.get(candidate) or of_words[_in_order(candidate)]
    loss = re.sub("^(neg|negative|negated)_", "", plain)
    meant = _meant(loss) if loss != plain else None
    return losses().get(meant) if meant is not None else None


def _names() -> tuple[str, ...]:
    return (*known_names(), *losses())


def _in_order(name: str) -> str:
    return "_".join(sorted(name.split("_")))


def _plain(given: str) -> str:
    """The name in lower case, with underscores for spaces, hyphens and the like."""
    return re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")


def without_name(given: str) -> str:
    """What to give for a metric that has no name of its own; "" if it is none of those."""
    return instead_of_name(given, _plain(given))


class KnownLabels(NamedTuple):
    """What the rows of a call say of labels, for metrics that do not say it themselves.

    Attributes
    ----------
    positive : label or None
        The positive class of metrics that name none.
    order : array-like or None
        Labels that occur, in the order of their categories.
    averaged : array-like or None
        Labels of the call beside predictions of one label a row: what ``labels=`` of a metric is.
    """

    positive: Any = None
    order: ArrayLike | None = None
    averaged: ArrayLike | None = None


_NOTHING_KNOWN = KnownLabels()


def resolve_metrics(
    metric: Any,
    *,
    labels: ArrayLike | None = None,
    several_outputs: bool = False,
    greater_is_better: bool | None = None,
    several: bool = False,
    pos_label: Any = None,
    of_rows: KnownLabels = _NOTHING_KNOWN,
) -> tuple[dict[str, Statistic], bool]:
    """Turn ``metric`` into statistics.

    Parameters
    ----------
    metric : str, callable, list or dict
        A scoring name, "mean", a scorer, a metric function, any ``f(y_true, y_pred)``, a partial
        of these, or a list or dict of them.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    several_outputs : bool
        Whether the truth has several columns.
    greater_is_better : bool, optional
        Direction of "mean" and of callables, which have none of their own.
    several : bool
        Whether a metric may return several numbers, as scikit-learn's do for single classes.
    pos_label : label, optional
        The positive class of metrics that have one.
    of_rows : KnownLabels

    Returns
    -------
    statistics : dict of str to Statistic
        By name; a dict keeps its keys.
    single : bool
        Whether a single metric was asked for.
    """
    single = not isinstance(metric, list | tuple | set | frozenset | Mapping)
    named = _named(metric)
    statistics: dict[str, Statistic] = {}
    truth = labels, several_outputs, pos_label
    for name, one in named:
        statistic = _resolve(one, name, truth, several, of_rows)
        if name is None and statistic.name in statistics:
            advice = "Name them with a dict: metric={'first': ..., 'second': ...}."
            got = f"two {statistic.name!r}"
            raise fail("metric", "hold metrics of different names", got, advice)
        directed = _directed(statistic, greater_is_better)
        statistics[statistic.name if name is None else name] = directed
    return statistics, single


def _named(metric: Any) -> list[tuple[str | None, Any]]:
    if isinstance(metric, Mapping):
        named: list[tuple[str | None, Any]] = [(str(name), one) for name, one in metric.items()]
    elif isinstance(metric, list | tuple | set | frozenset):
        named = [(None, one) for one in metric]
    else:
        return [(None, metric)]
    if not named:
        raise fail("metric", "hold at least one metric", repr(metric))
    return named


def _directed(statistic: Statistic, greater_is_better: bool | None) -> Statistic:
    """The statistic with the given direction, if its own is unknown."""
    if greater_is_better is None or statistic.greater_is_better == greater_is_better:
        return statistic
    if statistic.greater_is_better is None and isinstance(greater_is_better, bool | np.bool_):
        return replace(statistic, greater_is_better=bool(greater_is_better))  # type: ignore[type-var]
    must, advice = "be True, False or None", "None says that the direction is unknown."
    if statistic.greater_is_better is not None:
        must = f"be None or {statistic.greater_is_better}, the direction of {statistic.name!r}"
        advice = (
            "It is for callables and for 'mean', whose direction is not known. Beside other "
            "metrics give a callable as a scorer, by sklearn.metrics.make_scorer."
        )
    raise fail("greater_is_better", must, repr(greater_is_better), advice)


def metric_of_class(statistic: Any, label: Any, cells: SharedCells) -> Statistic:
    """Return the metric of one class, of a metric of labels with ``average=None``."""
    function = statistic.function
    # Pooled over one class it is the metric of this class, and known as a ratio of counts.
    options = {**function.keywords, "labels": [label], "average": "micro"}
    request = _taken_apart(partial(function.func, **options), statistic.name)
    request = request._replace(cells=cells)
    return _signed(_fast_path(request) or _callable(request), statistic.sign)


def metric_of_column(statistic: Any) -> Statistic | None:
    """Return the metric of one column against its own truth, of one that is asked for each column.

    None where that is called on repeated rows too, or is the negative of another.
    """
    function = statistic.function
    options = {k: v for k, v in function.keywords.items() if k not in _OF_COLUMNS}
    if statistic.response == "indicators":
        options["average"] = "binary"
    request = _taken_apart(partial(function.func, **options), statistic.name)
    found = _fast_path(request)
    found = None if found is None else _signed(found, statistic.sign)
    return None if isinstance(found, Negated) else found


def _resolve(
    metric: Any,
    name: str | None,
    truth: tuple[ArrayLike | None, bool, Any],
    several: bool,
    of_rows: KnownLabels,
) -> Statistic:
    if isinstance(metric, Statistic):
        return metric
    if isinstance(metric, str) and metric == "mean":
        return means.mean_of_values(name or "mean")
    labels, several_outputs, pos_label = truth
    request = _taken_apart(metric, name)
    request = request._replace(labels=labels, several_outputs=several_outputs, order=of_rows.order)
    if pos_label is not None:
        request = _of_positive(request, metric, pos_label)
    elif of_rows.positive is not None and _bound(metric, "pos_label") is None:
        request = _of_positive(request, metric, of_rows.positive)
    if of_rows.averaged is not None and averages_labels(request):
        request = request._replace(options={**request.options, "labels": of_rows.averaged})
    _check_options(request, several)
    statistic = None if _returns_several(request) else _fast_path(request)
    if statistic is None:
        return _callable(request)
    return _signed(statistic, request.sign)


def _taken_apart(metric: Any, name: str | None) -> Request:
    if isinstance(metric, str):
        return _from_name(metric, name)
    parts = scorer_parts(metric)
    if parts is not None:
        response = "labels" if parts.response_methods == ("predict",) else "scores"
        function, options = _without_partial(parts.function, dict(parts.options))
        given = full_name(function, options)
        given = given if parts.sign > 0 else f"neg_{given}"
        return Request(name or given, function, options, parts.sign, response)
    if not callable(metric):
        must = "be a scoring name, a scorer, a callable, or a list or dict of these"
        raise fail("metric", must, repr(metric))
    whole = isinstance(metric, partial) and not metric.args
    first = next(iter(_parameters(metric.func if whole else metric)), "")
    if first == "estimator":
        must = "take true and predicted values"
        advice = "Give the function that the scorer calls, or a scorer of make_scorer."
        raise fail("metric", must, "a callable of an estimator", advice)
    function, options = _without_partial(metric, {})
    return Request(name or full_name(function, options), function, options)


@lru_cache(maxsize=256)
def _from_name(metric: str, name: str | None) -> Request:
    meant = meant_by(metric)
    if meant != metric:
        return _from_name(meant, name)
    if metric in SCORERS:
        function, _ = SCORERS[metric]
        return Request(name or metric, function, {}, -1.0 if metric.startswith("neg_") else 1.0)
    if metric in known_names():
        return _taken_apart(sklearn.metrics.get_scorer(metric), name or metric)
    if metric in losses():
        negated = _from_name(losses()[metric], name or metric)
        return negated._replace(sign=1.0, scorer_response=None)
    function = function_of(metric)
    if function is None:
        raise unknown_metric(metric)
    return _taken_apart(function, name or metric)


def unnamed_positives(metric: Any, statistics: Mapping[str, Statistic]) -> list[Statistic]:
    """Return the statistics of ``metric`` that carry no positive class of their own."""
    return [
        statistic
        for (_, one), statistic in zip(_named(metric), statistics.values(), strict=True)
        if _bound(one, "pos_label") is None
    ]


def averages_labels(request: Request) -> bool:
    """Whether a function of labels of scikit-learn or of skboot reads ``labels=``, and has none."""
    known = _parameters(request.function)
    if not _is_library(request.function) or "labels" not in known:
        return False
    import_modules(__package__)
    average = known.get("average")
    # As in scikit-learn: the metric of one positive class reads no others.
    if average is not None and request.options.get("average", average.default) == "binary":
        return False
    response = PATHS[request.several_outputs][1].get(_name_of(request.function))
    return response == "labels" and request.options.get("labels") is None


def averaging(metric: Any, statistics: Mapping[str, Statistic]) -> set[str]:
    """Return the names of the statistics of ``metric`` that the labels of the rows are given to."""
    return {
        name
        for (own, one), name in zip(_named(metric), statistics, strict=True)
        if one != "mean" and not isinstance(one, Statistic)
        if averages_labels(_taken_apart(one, own))
    }


def _of_positive(request: Request, metric: Any, pos_label: Any) -> Request:
    """The request with the positive class of the call, with which one of its own must agree."""
    own = _bound(metric, "pos_label")
    if own is not None and not is_among(pos_label, [own]):
        must = f"be None or {own!r}, which the metric {request.name!r} names as positive"
        raise fail("pos_label", must, repr(pos_label), "Name the positive class once.")
    known, options = _parameters(request.function), request.options
    average = known.get("average")
    averages = average is not None and average.default == "binary"
    if request.several_outputs or (averages and options.get("average", "binary") != "binary"):
        # As in scikit-learn: an average over classes has no positive one.
        return request
    if "pos_label" in known:
        return request._replace(options={**options, "pos_label": pos_label})
    return request._replace(pos_label=pos_label)


def _bound(metric: Any, name: str) -> Any:
    """What a scorer, or a partial, carries for a keyword; None without."""
    parts = scorer_parts(metric)
    found = None
    if parts is not None:
        metric, found = parts.function, parts.options.get(name)
    while found is None and isinstance(metric, partial):
        metric, found = metric.func, metric.keywords.get(name)
    return found


def _without_partial(function: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Function and keywords of a partial; a partial with positional arguments is the function."""
    while isinstance(function, partial) and not function.args:
        options = {**function.keywords, **options}
        function = function.func
    if not options:
        return function, {}
    defaults = {
        key: parameter.default
        for key, parameter in _parameters(function).items()
        if key in options and parameter.default is not inspect.Parameter.empty
    }
    changed = {
        key: value
        for key, value in options.items()
        if key not in defaults or not _same(value, defaults[key])
    }
    return function, changed


def _same(value: Any, default: Any) -> bool:
    return value is default or (
        isinstance(value, str | int | float | bool)
        and type(value) is type(default)
        and value == default
    )


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    # Signatures are slow to read, so that those of libraries are cached. A cache would keep the
    # functions of users alive.
    return _known_parameters(function) if _is_library(function) else _read_parameters(function)


def _read_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        # Functions written in C need not have a signature.
        return {}


_known_parameters = lru_cache(maxsize=256)(_read_parameters)


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "metric" if name == "<lambda>" else str(name)


def full_name(function: Any, options: Mapping[str, Any]) -> str:
    """Name of a function with its options, as "sensitivity_at specificity 0.9"."""
    name = _name_of(function)
    if asks_for_several(options):
        # Each number is named by its class or output.
        options = {key: value for key, value in options.items() if key not in _OF_SEVERAL}
    if name == "top_k_accuracy_score":
        options = {"k": _parameters(function)["k"].default, **options}
    if not options:
        return name
    if name.endswith("_at") and len(options) == 1:
        [(key, value)] = options.items()
        return f"{name} {key} {_written(value)}".replace("_", " ")
    return f"{name} ({', '.join(f'{key}={_written(value)}' for key, value in options.items())})"


def _written(value: Any) -> str:
    """An option as the name of a metric holds it."""
    if np.size(value) > _MOST_WRITTEN:
        return "..."
    rows = np.atleast_2d(np.asarray(value, dtype=object)).tolist()
    return "; ".join(" ".join(map(str, row)) for row in rows)


def _is_library(function: Any) -> bool:
    module = str(getattr(function, "__module__", ""))
    return module.startswith(("sklearn.", "skboot."))


def _returns_several(request: Request) -> bool:
    """Whether a metric of scikit-learn is asked for single classes, or single outputs."""
    return asks_for_several(request.options) and _is_library(request.function)


# Options by which a metric of scikit-learn returns a number for each class, or output.
_OF_SEVERAL = ("average", "multioutput")
# What these options, and those of how columns belong to classes, say is said by a single column.
_OF_COLUMNS = (*_OF_SEVERAL, "multi_class", "labels")


def asks_for_several(options: Mapping[str, Any]) -> bool:
    """Whether options of a metric of scikit-learn are those of single classes, or outputs."""
    multioutput = options.get("multioutput")
    # Weights of outputs may be an array, which is not compared as a whole.
    raw = isinstance(multioutput, str) and multioutput == "raw_values"
    return raw or options.get("average", "") is None


def _check_options(request: Request, several: bool) -> None:
    if request.options.get("sample_weight") is not None:
        advice = "Give the weights as sample_weight= instead: they are then drawn with the rows."
        raise fail("metric", "not bind sample_weight", "a partial that does", advice)
    known = _parameters(request.function)
    if _returns_several(request) and not several:
        advice = "Name an average; for single classes give labels=[label] and average='macro'."
        got = ", ".join(f"{name}={value!r}" for name, value in request.options.items())
        raise fail("metric", "return one number", got, advice)
    _check_columns_of_truth(request, known)
    if request.function is costs.bayes_decisions:
        advice = "Use its result as y_pred, with metric='neg_expected_cost'."
        raise fail("metric", "return a score", "bayes_decisions", advice)
    if request.function is sklearn.metrics.top_k_accuracy_score:
        _check_top_k(request.options)
    is_library = _is_library(request.function)
    unknown = sorted(set(request.options) - set(known)) if is_library else []
    if unknown:
        must = f"have options that {_name_of(request.function)} takes"
        advice = f"It takes {', '.join(name for name in known if not name.startswith('y_'))}."
        raise fail("metric", must, f"{unknown}", advice)
    missing = [name for name, one in known.items() if _is_required(one, request.options)]
    if missing:
        bound = ", ".join(f"{name}=..." for name in missing)
        must = (
            f"be {_name_of(request.function)!r} with a value for {' and '.join(map(repr, missing))}"
        )
        advice = f"Give functools.partial({_name_of(request.function)}, {bound})."
        raise fail("metric", must, "none", advice)


def _is_required(parameter: inspect.Parameter, options: Mapping[str, Any]) -> bool:
    """Whether a function needs a keyword that it was not given."""
    by_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    return by_keyword and parameter.default is parameter.empty and parameter.name not in options


def _check_columns_of_truth(request: Request, known: Mapping[str, Any]) -> None:
    """Refuse a metric of one column for a truth of several, and the reverse."""
    if not _is_library(request.function):
        return
    average = request.options.get("average", getattr(known.get("average"), "default", None))
    if not request.several_outputs:
        if average == "samples":
            must = "average over classes where a row has one label"
            advice = (
                "Averages over samples are for several labels a row, with y_true of shape "
                "(n_samples, n_labels): here use 'macro', 'weighted' or 'micro'."
            )
            raise fail("metric", must, "average='samples'", advice)
        if _name_of(request.function) in _OF_RANKED_COLUMNS:
            must = "take a y_true of one column"
            got = f"{request.name!r}, which ranks the columns of each row"
            raise fail("metric", must, got, _OF_RANKED_ITEMS)
        return
    if average == "binary":
        name = _name_of(request.function).removesuffix("_score")
        must = "name an average where a row has several labels"
        advice = (
            f"Use '{name}_macro', '{name}_micro', '{name}_weighted' or '{name}_samples', or "
            "functools.partial of the function with average=."
        )
        raise fail("metric", must, repr(request.name), advice)
    module = str(getattr(request.function, "__module__", ""))
    if not module.startswith("skboot."):
        return
    import_modules(__package__)
    if _name_of(request.function) not in PATHS[True][0]:
        must = "take a y_true of several columns"
        advice = "Score each column by itself: y_true[:, k], y_pred[:, k]."
        raise fail("metric", must, f"{request.name!r}, which takes one value a row", advice)


# Numbers of an option that the name of a metric holds: those of the costs of three classes.
_MOST_WRITTEN = 9
# Metrics of how a row ranks its columns; for one column scikit-learn's raise an error.
_NO_ENDS = (-np.inf, np.inf)
_OF_RANKED_COLUMNS = frozenset(
    {
        "coverage_error",
        "dcg_score",
        "label_ranking_average_precision_score",
        "label_ranking_loss",
        "ndcg_score",
    }
)
_OF_RANKED_ITEMS = (
    "Give y_true and y_pred with a row for each query, or text, and a column for each item or "
    "label. With a row for each item, give average_over=<the query of each row> and "
    "metric=lambda y, score: sklearn.metrics.ndcg_score([y], [score])."
)


def _check_top_k(options: Mapping[str, Any]) -> None:
    k, labels = options.get("k", 2), options.get("labels")
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise fail("metric", "have an integer k of at least 1", f"k={k!r}")
    if labels is not None and np.any(np.asarray(labels)[1:] <= np.asarray(labels)[:-1]):
        advice = "Columns may be in any order if their labels are given as labels= of the call."
        raise fail("metric", "have labels in rising order", f"labels={labels!r}", advice)


def _signed(statistic: Statistic, sign: float) -> Statistic:
    """The statistic, or its negative."""
    if sign > 0:
        return statistic
    if isinstance(statistic, means.RowMean):
        low, high = statistic.bounds
        better = None if statistic.greater_is_better is None else not statistic.greater_is_better
        return replace(
            statistic, sign=-1.0, greater_is_better=better, bounds=(0.0 - high, 0.0 - low)
        )
    return Negated(statistic)


# ------------------------------------------------------------------ any callable


def _callable(request: Request) -> CallableStatistic:
    """The function on repeated rows."""
    function, known = request.function, _parameters(request.function)
    takes_weights = "sample_weight" in known
    bound = partial(function, **request.options) if request.options else function
    better = _direction(request)
    one_column = request.scorer_response == "scores" and not request.several_outputs
    positive = request.options.get("pos_label")
    if not _is_library(function) and not one_column:
        own = WeightedCallable if takes_weights else CallableStatistic
        return own(
            bound,
            request.name,
            better,
            request.sign,
            "any",
            takes_weights,
            pos_label=positive,
        )
    import_modules(__package__)
    response: Response = PATHS[request.several_outputs][1].get(_name_of(function), "any")
    two_class = _two_class(request, response, known)
    if not _is_library(function):
        response = "scores"
    # A top-k accuracy ranks all classes, also those that a resample lacks.
    is_top = function is sklearn.metrics.top_k_accuracy_score
    takes_labels = (is_top or response in ("probabilities", "any")) and "labels" in known
    takes_labels = takes_labels and not request.several_outputs
    by_cells = response == "labels" and takes_weights and _is_library(function)
    labels = request.options.get("labels")
    ends = RANGES.get(_name_of(function), _NO_ENDS) if _is_library(function) else _NO_ENDS
    kind = CellsCallable if by_cells else LibraryCallable
    return kind(
        bound,
        request.name,
        better,
        request.sign,
        response,
        takes_weights,
        (ValueError, ZeroDivisionError) if _is_library(function) else (),
        bounds=ends if request.sign > 0 else (0.0 - ends[1], 0.0 - ends[0]),
        labels=request.labels if response == "labels" else request.columns(labels),
        pos_label=positive if two_class is None else request.pos_label,
        takes_labels=takes_labels and "labels" not in request.options,
        two_class=two_class,
    )


def _two_class(request: Request, response: Response, known: Mapping[str, Any]) -> Response | None:
    """What a function takes that has a positive class and no argument for it; None for others."""
    if request.several_outputs or "pos_label" in known or not _is_library(request.function):
        return None
    own = response if response in ("scores", "probabilities") else None
    return GREATER_IS_POSITIVE.get(_name_of(request.function), own)


def _direction(request: Request) -> bool | None:
    """Direction of a metric: greater is better for scorers; names of scikit-learn imply theirs."""
    name = _name_of(request.function)
    if request.scorer_response is not None:
        return True
    if not _is_library(request.function):
        return None
    if name.endswith(("_loss", "_error", "_deviance")) or name in vars(costs):
        return request.sign < 0
    return True if name.endswith("_score") else None


def _fast_path(request: Request) -> Statistic | None:
    name = _name_of(request.function)
    module = sys.modules.get(str(getattr(request.function, "__module__", "")))
    if not _is_library(request.function):
        return None
    factories, _ = PATHS[request.several_outputs]
    if name not in factories:
        # Each module registers the statistics that it holds.
        import_modules(__package__)
    if name not in factories:
        return None
    # A partial or a wrapper may carry the name of the function that it changes.
    if getattr(module, name, None) is not request.function:
        return None
    factory = factories[name]
    if not set(request.options) <= set(_parameters(factory)):
        return None
    with arguments_named({}, name):
        return factory(request, **request.options)
