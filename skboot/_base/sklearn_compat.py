"""The only place that touches private or version-dependent scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, _clone_parametrized
from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils._pprint import _EstimatorPrettyPrinter as _Printer
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled
from sklearn.utils.validation import _num_samples

# Largest integer up to which floats hold every integer: above it scikit-learn, which reads nullable
# columns as floats, would take neighbouring labels for one.
_EXACT_IN_FLOATS = 2**53

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])

try:
    from sklearn import callback
except ImportError:
    # Before scikit-learn 1.9 estimators have no callbacks.
    callback = None


class _NoCallbacks:
    """Base of estimators where scikit-learn has no callbacks: it adds nothing."""


# What an estimator needs to have callbacks.
CallbackSupportMixin: Any = getattr(callback, "CallbackSupportMixin", _NoCallbacks)


ScorerBase: Any = next(
    cls for cls in reversed(type(make_scorer(accuracy_score)).__mro__) if "Scorer" in cls.__name__
)
# What scikit-learn makes of several scorers.
MultimetricScorer: Any = type(check_scoring(scoring=["accuracy"]))


class ScorerParts(NamedTuple):
    """Parts that a scorer of scikit-learn is made of.

    Attributes
    ----------
    function : callable
        The metric function.
    sign : float
        1.0 or -1.0.
    options : mapping
        Keyword arguments of the function.
    response_methods : tuple of str
        Methods of the estimator it may call, in order of preference.
    """

    function: Any
    sign: float
    options: Mapping[str, Any]
    response_methods: tuple[str, ...]


def scorer_parts(scorer: Any) -> ScorerParts | None:
    """Take a scorer of `sklearn.metrics.make_scorer` apart; None for anything else."""
    if not isinstance(scorer, ScorerBase):
        return None
    methods = scorer._response_method
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    return ScorerParts(scorer._score_func, float(scorer._sign), dict(scorer._kwargs), methods)


def unchecked() -> Any:
    """Context in which scikit-learn's functions skip their checks of parameters."""
    return config_context(skip_parameter_validation=True, assume_finite=True)


def take(data: Any, rows: Any) -> Any:
    """Rows of an array, data frame (pandas, polars), sparse matrix or list, by position."""
    is_of_pandas = type(data).__module__.partition(".")[0] == "pandas"
    if is_of_pandas and not hasattr(data, "iloc"):
        # An index, or an array of pandas': those of text fail at the index that scikit-learn makes.
        return data.take(rows)
    return _safe_indexing(data, rows)


def with_rows(data: Any) -> Any:
    """The data, or an array of those that cannot be indexed, as `sklearn.utils.indexable` makes."""
    if hasattr(data, "__array__") and not hasattr(data, "__getitem__"):
        return np.asarray(data)
    return data


def with_exact_integers(y: Any) -> Any:
    """Labels, or an array of those in a nullable column that scikit-learn would round to floats."""
    dtype = getattr(y, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if isinstance(dtype, np.dtype) or kind not in ("i", "u") or y.isna().any():
        return y
    values = y.to_numpy(dtype=f"{kind}8")
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return y if max(-low, high) <= _EXACT_IN_FLOATS else values


def unfitted_copy(estimator: Any) -> Any:
    """Copy an estimator unfitted, as `sklearn.base.clone` does without ``__sklearn_clone__``."""
    return _clone_parametrized(estimator)


def n_rows_of(data: Any) -> int:
    """Number of rows of data in any form that scikit-learn accepts."""
    return int(_num_samples(data))


def routing_enabled() -> bool:
    """Whether metadata routing is switched on."""
    return bool(_routing_enabled())


def refuse_params_without_routing(params: Mapping[str, Any], owner: Any, method: str) -> None:
    """Refuse metadata where routing is off, as scikit-learn's searches do."""
    _raise_for_params(params, owner, method)


def has_callbacks(estimator: Any) -> bool:
    """Whether callbacks of scikit-learn are set on an estimator, or on one inside it."""
    nested = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    return any(getattr(part, "_skl_callbacks", None) for part in (estimator, *nested))


def with_callbacks(method: _Function) -> _Function:
    """Let callbacks of an estimator be torn down after its ``fit``, where there are some."""
    return method if callback is None else callback.with_callbacks(method)


def printed_as_estimator(cls: _Class) -> _Class:
    """Let scikit-learn break the lines of an estimator whose class has its own ``__repr__``."""
    _Printer._dispatch[cls.__repr__] = _Printer._dispatch[BaseEstimator.__repr__]
    return cls
