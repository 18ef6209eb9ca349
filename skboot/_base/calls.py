"""What is meant by a call that does not bind: what its TypeError advises.

* `advice_on`: how the function is called, or which other one takes what was given.
* `arguments_meant`: which arguments have another name in other libraries, or are misspelt.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import sklearn.metrics

from .sklearn_compat import scorer_parts
from .warnings import only_advises
from .wayfinding import (
    ASSERT,
    COMPARE,
    COMPARE_RUNS,
    LEAST_LIKENESS,
    OF_A_MODEL,
    OF_MODELS,
    OF_VALUES,
    RUNS,
    SCORE,
    SEARCH,
    TRAIN,
    TRAIN_AND_COMPARE,
    either,
    is_model,
)

# How functions are called whose arguments are often guessed, by the names of their doors.
_CALLS = {
    "bootstrap_score": SCORE,
    "bootstrap_curve": "bootstrap_curve(y_true, y_score)",
    "bootstrap_runs": RUNS,
    "compare_systems": COMPARE,
    "compare_runs": COMPARE_RUNS,
    "search_score": SEARCH,
    "assert_not_worse": ASSERT,
    "compare_methods": TRAIN_AND_COMPARE,
    "learning_curve": "learning_curve(model, X, y)",
    "BootstrapScorer": TRAIN,
    ".plot": "result.plot().figure_.savefig('result.png') to keep the picture",
    ".to_frame": "result.to_frame().to_csv('result.csv') to keep the table",
    ".to_markdown": "pathlib.Path('result.md').write_text(result.to_markdown()) to keep the text",
    ".to_latex": "pathlib.Path('result.tex').write_text(result.to_latex()) to keep the text",
}
# Functions of labels and predictions, in whose place others may be meant, and the calls for more
# than one column of predictions.
_OF_SEVERAL = {
    "bootstrap_score": COMPARE,
    "bootstrap_curve": "bootstrap_curve(y_true, {'A': score_a, 'B': score_b})",
    "bootstrap_runs": COMPARE_RUNS,
    "compare_systems": COMPARE,
    "compare_runs": COMPARE_RUNS,
}
_OF_A_FILE = (
    "Read the file and give its columns, or use the command line: skboot score FILE --y-true "
    "COLUMN --y-pred COLUMN."
)
_OF_ONE_COLUMN = (
    f"Values of rows alone go to {OF_VALUES}, and scores of cross-validation to "
    "skboot.model_selection.corrected_t(scores, n_train=90, n_test=10)."
)
_COLUMNS = {"y_true": "truth", "y_pred": "prediction", "y_score": "score"}
# The option of a function that people give by position.
_FIRST_OPTIONS = ("metric", "scoring", "curve")

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
    (
        *("groups", "group", "cluster", "clusters", "cluster_ids", "units", "patient_ids"),
        *("patients", "patient", "speakers", "speaker", "users", "user", "subjects", "subject"),
    ),
    ("sample_weight", "weights", "weight", "sample_weights", "w"),
    ("y_true", "y", "target", "targets", "truth", "labels_true", "ground_truth", "y_test"),
    (
        *("y_pred", "y_preds", "y_score", "y_prob", "y_proba", "y_hat", "yhat", "pred", "preds"),
        *("predictions", "prediction", "scores", "probas", "y_pred_proba", "y_scores", "predicted"),
        *("candidate", "y_candidate", "y_new", "new"),
    ),
    ("strata", "stratify", "stratum", "stratified"),
    ("by", "subgroups", "subgroup", "sensitive_features", "slices", "subjects", "subject"),
    ("average_over", "tasks", "task", "average", "subjects"),
    ("curve", "kind", "metric", "which"),
    ("interval", "method", "ci_method", "interval_method", "bootstrap_type"),
    ("adjust", "correction", "multiple_testing", "p_adjust", "adjustment"),
    ("greater_is_better", "higher_is_better", "larger_is_better", "maximize"),
    ("block_length", "block_size", "block_len", "block", "blocks", "time_series"),
    ("margin", "tolerance", "delta", "epsilon"),
    ("y_reference", "reference", "baseline", "control", "y_baseline", "y_old", "old"),
    ("report", "output", "out"),
    ("n_splits", "n_cv_repeats", "strategy", "n_repeats", "cv", "n_folds", "folds"),
    ("n_jobs", "n_workers", "workers", "num_workers", "n_cpus"),
    ("estimator", "model", "clf", "classifier", "regressor"),
    ("estimators", "models", "classifiers", "methods"),
    ("y_preds", "systems", "runs"),
    ("memory", "cache", "cache_dir"),
    ("train_sizes", "sizes"),
    ("paired_runs", "paired"),
    ("proxy", "judge", "llm"),
)
# What to write for an argument that a function lacks, where none of its own is meant.
_OF_A_METRIC = "It is an option of a metric: metric=functools.partial({})."
_INSTEAD = {
    "margin": "Ask the comparison: {of_several}.verdict(margin=0.02).",
    "test": "The result has the p-value, {of_several}.p_value, and that of McNemar's test, "
    ".pairs[0].mcnemar_p_value.",
    "threshold": "Decide first, as in y_pred = y_score >= 0.5.",
    "beta": _OF_A_METRIC.format("sklearn.metrics.fbeta_score, beta=2"),
    "k": _OF_A_METRIC.format("sklearn.metrics.top_k_accuracy_score, k=2"),
    "quantile": _OF_A_METRIC.format("sklearn.metrics.mean_pinball_loss, alpha=0.9"),
    **dict.fromkeys(
        ("p_target", "prior", "priors"),
        _OF_A_METRIC.format(
            "skboot.metrics.minimum_detection_cost, priors=[0.99, 0.01], relative=True"
        ),
    ),
    **dict.fromkeys(
        ("human", "human_labels", "humans", "gold"),
        "Labels of humans are y_true, NaN where there is none, and those of the judge are proxy=.",
    ),
    "y_true": "Take the columns of what it returns: data = scan_dataset(folder), then "
    "bootstrap_score(data['truth'], data['prediction']).",
}


class FailedCall(NamedTuple):
    """A call that did not bind.

    Attributes
    ----------
    door : str
        Name of the door, as `skboot._base.doors.door` has it.
    of : str
        Name of the function for users.
    function : callable
    arguments : sequence
        With the object, of a method.
    options : mapping
    """

    door: str
    of: str
    function: Callable[..., Any]
    arguments: Sequence[Any]
    options: Mapping[str, Any]

    @property
    def given(self) -> Sequence[Any]:
        """Arguments without a name, but for the object of a method."""
        return self.arguments[1:] if "." in self.function.__qualname__ else self.arguments


@cache
def keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of all arguments of a function, or of a method without its object."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(one.name for one in parameters if one.name not in ("self", "cls"))


@only_advises("")
def advice_on(call: FailedCall, said: str) -> str:
    """What Python says of a call, and what is meant; ``said`` is for one without unknown names."""
    known = keywords_of(call.function)
    unknown = {name: value for name, value in call.options.items() if name not in known}
    if not unknown:
        said = said.replace(f"{call.function.__qualname__}()", f"{call.of}()")
        advice = _call_for(call, unknown)
        return f"{said}. {advice}" if advice else said
    name = next(iter(unknown))
    advice = (
        _option_of_metric(call, name)
        or _meant(call, name)
        or _INSTEAD.get(name, "").format(of_several=_OF_SEVERAL.get(call.door, COMPARE))
        or _call_for(call, unknown)
        or f"It takes {', '.join(known) or 'no arguments'}."
    )
    return f"{call.of}() got an unexpected keyword argument {name!r}. {advice}"


# -------------------------------------------------------------- arguments by name


def _option_of_metric(call: FailedCall, name: str) -> str:
    """How an argument of the metric's own function is given; "" where it has none of this name."""
    if "metric" not in keywords_of(call.function):
        return ""
    metric, value = call.options.get("metric", "accuracy"), call.options[name]
    known, named = sklearn.metrics.get_scorer_names(), f"{metric}_{value}"
    found = next((own for own in (metric, f"neg_{metric}") if own in known), None)
    parts = scorer_parts(sklearn.metrics.get_scorer(found)) if found else None
    function = parts.function if parts else getattr(metric, "func", metric)
    own = inspect.signature(function).parameters if inspect.isfunction(function) else {}
    # What has no default are the columns.
    if name not in own or own[name].default is inspect.Parameter.empty:
        return ""
    if named in known:
        return f"Did you mean metric={named!r}?"
    package = ".".join(function.__module__.split(".")[:2])
    place = f"{package}." if package.endswith(".metrics") else ""
    return _OF_A_METRIC.format(f"{place}{function.__name__}, {name}={value!r}")


def _meant(call: FailedCall, name: str) -> str:
    """Which argument is meant by one that is unknown, of the function or of its class."""
    meant, value = arguments_meant(name, keywords_of(call.function)), call.options[name]
    if meant == ["confidence_level"]:
        return f"Did you mean {level_meant(name, value)}?"
    if meant == ["strata"] and value is True:
        return "Did you mean strata=y_true?"
    if meant:
        return f"Did you mean {either(map(repr, meant))}?"
    for method in ("__init__", "fit", "update") if call.given is not call.arguments else ():
        owner = type(call.arguments[0])
        door = getattr(getattr(owner, method, None), "__wrapped__", None)
        if door is not None and name in keywords_of(door):
            return f"It is an argument of {owner.__name__}.{method}.".replace(".__init__", "")
    return ""


def arguments_meant(name: str, known: Sequence[str]) -> list[str]:
    """Those of the known arguments that are meant by another name, or by a misspelt one."""
    rows = [row for row in _NAMES_OF_ONE if name in row]
    meant = list(dict.fromkeys(own for row in rows for own in known if own in row))
    return meant or difflib.get_close_matches(name, known, 1, LEAST_LIKENESS)


def level_meant(name: str, value: Any) -> str:
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


# -------------------------------------------------------------- arguments by position


def _call_for(call: FailedCall, unknown: Mapping[str, Any]) -> str:
    """Name the call that takes what was given; "" where that is unclear."""
    of_labels = call.door in _OF_SEVERAL
    if of_labels and (advice := _of_models(call.given)):
        return advice
    columns = [value for value in unknown.values() if _is_column(value)]
    if unknown and not columns and _binds(call, unknown):
        return ""
    given = [*call.given, *columns]
    if of_labels and (advice := _of_labels(call, given)):
        return advice
    option = next((name for name in _FIRST_OPTIONS if name in keywords_of(call.function)), "")
    texts = [value for value in given[1:] if isinstance(value, str)]
    if option and len(texts) == 1:
        return f"Options are given by name, such as {option}={texts[0]!r}."
    return f"Use {_CALLS[call.door]}." if call.door in _CALLS else ""


def _of_models(given: Sequence[Any]) -> str:
    """Name the call that takes models, where they are given for columns."""
    models = [value for value in given if is_model(value)]
    if len(models) > 1 or any(map(_holds_models, given)):
        return OF_MODELS
    if models:
        return f"The first arguments are y_true and y_pred, and not a model. {OF_A_MODEL}"
    return ""


def _of_labels(call: FailedCall, given: Sequence[Any]) -> str:
    """Name the call that takes what is given for labels and predictions; "" for its own."""
    first, takes_several = given[0] if given else (), "y_preds" in keywords_of(call.function)
    if isinstance(first, str):
        return _OF_A_FILE
    is_frame = hasattr(first, "columns")
    if is_frame and not takes_several:
        named = (f"data[{_COLUMNS[own]!r}]" for own in keywords_of(call.function)[:2])
        return f"Give its columns: {call.door}({', '.join(named)})."
    if isinstance(first, Mapping) or (takes_several and (is_frame or len(given) == 1)):
        name = call.door if takes_several else "compare_systems"
        return (
            f"The truth comes first: {name}(y_true, y_preds), or for values of rows "
            f"{name}(None, values, metric='mean')."
        )
    if len(given) == 1:
        return _OF_ONE_COLUMN
    if len(given) < 3 or any(isinstance(value, str) for value in given):
        return ""
    if isinstance(given[2], int | float):
        return "Options are given by name, such as n_resamples=1999 and random_state=0."
    several = _OF_SEVERAL[call.door]
    if first is None:
        several = several.replace("y_true", "None").replace("})", "}, metric='mean')")
    return f"Use {several}."


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def _holds_models(value: Any) -> bool:
    values = list(value.values()) if isinstance(value, Mapping) else value
    is_several = isinstance(values, list | tuple) and len(values) > 0
    return is_several and all(map(is_model, values))


def _binds(call: FailedCall, unknown: Mapping[str, Any]) -> bool:
    """Whether a call would bind without what is unknown."""
    known = {name: value for name, value in call.options.items() if name not in unknown}
    try:
        inspect.signature(call.function).bind(*call.arguments, **known)
    except TypeError:
        return False
    return True
