"""From what a user gives as ``metric`` to statistics.

A scoring name, scorer, metric function or `functools.partial` of one is taken apart into a
function, its options and a sign. `registry.FAST_PATHS` maps the names of functions to statistics
that know sums, ranks or thresholds; where there is none for the options, the function is called on
repeated rows, which works for any callable.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike

from .._base.checks import arguments_named, fail, is_among
from .._base.lazy import import_modules
from .._base.sklearn_compat import scorer_parts
from . import additive
from . import cost_metrics as costs
from .adapters import CellsCallable, LibraryCallable, Negated, WeightedCallable
from .cells import SharedCells
from .names import SCORERS, function_of, known_names, losses, meant_by, unknown_metric
from .registry import GREATER_IS_POSITIVE, PATHS, RANGES, Request
from .responses import check_response
from .statistic import CallableStatistic, Response, Statistic

__all__ = ["check_response", "known_names", "resolve_metrics"]


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
        return additive.mean_of_values(name or "mean")
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
    if isinstance(statistic, additive.RowMean):
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
