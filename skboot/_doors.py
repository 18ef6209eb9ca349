"""Doors: what a public function answers to a keyword that it does not have.

`door` gives a function, method or generator the name under which users know it. Where a call binds,
it costs a tenth of a microsecond; where it does not because of an unknown keyword, the error of
Python goes on with the argument that is meant, under whatever name other libraries have for it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

Door = TypeVar("Door", bound=Callable[..., Any])

# Names of one argument, here and in other libraries. Of those in a row, the ones that a function
# has are offered.
_NAMES_OF_ONE = (
    ("confidence_level", "alpha", "ci", "conf", "conf_level", "confidence", "level"),
    ("random_state", "seed", "random_seed", "rng", "generator", "key"),
    (
        *("n_resamples", "n_train_resamples", "n_bootstraps", "n_bootstrap", "n_boot", "nboot"),
        *("n_bootstrap_samples", "bootstraps", "n_iterations", "n_iter", "n_replicates", "reps"),
        *("num_resamples", "B", "R"),
    ),
    ("metric", "scoring", "metrics", "scorer", "scorers", "score_func", "statistic"),
    ("groups", "group", "cluster", "clusters", "cluster_ids", "units", "patient_ids"),
    ("sample_weight", "weights", "weight", "sample_weights", "w"),
    ("y_true", "y", "target", "targets", "truth", "labels_true", "ground_truth", "y_test"),
    (
        *("y_pred", "y_preds", "y_score", "y_prob", "y_proba", "y_hat", "yhat", "pred", "preds"),
        *("predictions", "prediction", "scores", "probas", "y_pred_proba", "y_scores"),
    ),
    ("strata", "stratify", "stratum", "stratified"),
    ("by", "subgroups", "subgroup", "sensitive_features", "slices"),
    ("interval", "method", "ci_method", "interval_method", "bootstrap_type"),
    ("adjust", "correction", "multiple_testing", "p_adjust", "adjustment"),
    ("greater_is_better", "higher_is_better", "larger_is_better", "maximize"),
    ("block_length", "block_size", "block_len"),
    ("n_splits", "n_folds", "folds"),
    ("n_jobs", "n_workers", "workers", "num_workers", "n_cpus"),
    ("estimator", "model", "clf", "classifier", "regressor"),
    ("estimators", "models", "classifiers", "methods"),
    ("y_preds", "systems", "runs"),
    ("memory", "cache", "cache_dir"),
)
_LEAST_LIKENESS = 0.75


def door(caller: str) -> Callable[[Door], Door]:
    """Make a public function known as ``caller``; its signature, name and pickles stay.

    Parameters
    ----------
    caller : str
        As messages name it: ``"bootstrap_score"``, ``"BootstrapAccumulator.update"``.

    Returns
    -------
    callable
        A decorator. An unknown keyword raises TypeError, with what is meant.
    """

    def decorate(function: Door) -> Door:
        @wraps(function)
        def through(*arguments: Any, **options: Any) -> Any:
            __tracebackhide__ = True  # pytest shows the line that calls
            try:
                return function(*arguments, **options)
            except TypeError as error:
                # A call that did not bind has no frame of the function.
                trace = error.__traceback__
                known = () if trace is None or trace.tb_next else _keywords_of(function)
                unknown = [name for name in options if known and name not in known]
                if not unknown:
                    raise
                said = _unknown_keyword(caller, unknown[0], options[unknown[0]], known)
            raise TypeError(said)

        return through  # type: ignore[return-value]

    return decorate


def _keywords_of(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.name != "self"]


def _unknown_keyword(caller: str, name: str, value: Any, known: Iterable[str]) -> str:
    """What Python says, and the argument that is meant: by another name, misspelt, or any."""
    said = f"{caller}() got an unexpected keyword argument {name!r}."
    rows = [row for row in _NAMES_OF_ONE if name in row]
    meant = list(dict.fromkeys(own for row in rows for own in known if own in row))
    meant = meant or difflib.get_close_matches(name, known, 1, _LEAST_LIKENESS)
    if meant == ["confidence_level"]:
        return f"{said} Did you mean {_level(name, value)}?"
    if meant:
        return f"{said} Did you mean {' or '.join(map(repr, meant))}?"
    return f"{said} It takes {', '.join(known)}."


def _level(name: str, value: Any) -> str:
    """The confidence level of a share of errors, a percentage or a share."""
    try:
        share = float(value) / 100 if 1 < float(value) < 100 else float(value)
    except (TypeError, ValueError):
        return "'confidence_level'"
    if not 0 < share < 1:
        return "'confidence_level'"
    if name == "alpha":
        return f"confidence_level={1 - share:g}, which is 1 - alpha"
    return f"confidence_level={share:g}"
