"""What is meant by a name or an attribute that does not exist: what errors advise.

* `name_for`: which call does what a name asks for, as other libraries have it.
* `attribute_for`: which attribute of a result has what a name asks for.
"""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import sklearn.metrics

from .errors import only_advises
from .sklearn_compat import scorer_parts

# Calls that errors advise; copied, each works.
SCORE = "bootstrap_score(y_true, y_pred)"
COMPARE = "compare_systems(y_true, {'A': a, 'B': b})"
RUNS = "bootstrap_runs(y_true, y_preds, metric='accuracy')"
COMPARE_RUNS = "compare_runs(y_true, {'A': runs_a, 'B': runs_b})"
SEARCH = "search_score(y, skboot.model_selection.out_of_fold(search, X, y))"
TRAIN = "BootstrapScorer(model).fit(X, y)"
TRAIN_AND_COMPARE = "compare_methods({'A': one, 'B': other}, X, y)"
ASSERT = "skboot.testing.assert_not_worse(y_true, y_pred, y_reference, margin=0.02)"
OF_VALUES = "bootstrap_score(None, values, metric='mean')"

OF_A_MODEL = (
    "Give its answers for the test rows: model.predict(X_test), or model.predict_proba(X_test) for "
    f"metrics of probabilities. To train and score a method use {TRAIN}."
)
OF_MODELS = f"To train and compare estimators use {TRAIN_AND_COMPARE}."
OF_PREDICTIONS = f"Predictions of a trained model go to {SCORE}, of several to {COMPARE}."
OF_SEVERAL = (
    f"Systems on one test set are compared by {COMPARE}; several runs of one method go to {RUNS}, "
    f"and of several methods to {COMPARE_RUNS}."
)
# What to write, by how names begin, in small letters, that other libraries would give it.
_BY_NAME = (
    ("assert_|gate$|non_?inferior|regression_test|check_regression|equivalence", ASSERT),
    (
        "(bootstrap_)?compare_(esti|model|class|regr|learn|algo|pipe)",
        f"{COMPARE} for trained models, {TRAIN_AND_COMPARE} to train estimators",
    ),
    ("compare_search|search", SEARCH),
    (".*632|.*optimism", "BootstrapScorer(model, strategy='.632+').fit(X, y)"),
    ("bootstrap_(esti|model|method)|cross_val|nested|kfold", TRAIN),
    (
        "corrected|nadeau|(paired_)?t_?test",
        "skboot.model_selection.corrected_t(scores_a, scores_b, n_train=90, n_test=10)",
    ),
    ("bootstrap_?(cv|split|out_?of_?bag|oob)", "BootstrapSplit(random_state=0) as cv="),
    (
        "(moving_|circular_|stationary_)?block",
        "bootstrap_score(y_true, y_pred, block_length='auto')",
    ),
    ("leader|rank", f"{COMPARE}.ranks()"),
    ("(pass|win|hit)_rate|mean_(ci|conf)|bootstrap_mean", OF_VALUES),
    (
        "(bootstrap_)?(compare|p_?val|delong|mcnemar|paired|permutation|diebold|dm_|wilcoxon)",
        COMPARE,
    ),
    (
        "(?:bootstrap_|plot_)?(roc|pr|precision_recall|det|calibration|reliability|decision)"
        "(_?curve|_diagram|$)",
        r"bootstrap_curve(y_true, y_score, curve='\1')",
    ),
    ("(load|read)(_result|_comparison|$)", "skboot.results.EvaluationResult.load(path)"),
    ("(scan|read|load)_|bootstrap_file", "scan_dataset(folder) for Parquet, skboot score for CSV"),
)
_OF_A_SCORE = (
    "(bootstrap|confidence|ci$|ci_|score)",
    "bootstrap_score(y_true, y_pred, metric='accuracy')",
)
# What of a result to take, by what people call it.
_ATTRIBUTES = {
    "difference": "estimate diff delta effect score mean value statistic",
    "area": "auc auroc",
    "x": "fpr",
    "estimate": "score mean value point statistic tpr y",
    "confidence_interval": "ci conf_int interval_ limits",
    "interval": "ci conf_int limits",
    "low": "lower ci_low lower_bound",
    "high": "upper ci_high upper_bound",
    "p_value": "p pvalue pval p_val",
    "excludes_zero": "significant is_significant",
    "best": "winner",
    "runs['score'].std(ddof=1)": "std sd standard_deviation",
    "runs['score']": "scores",
    "standard_error": "std se stderr sd standard_deviation sem",
    "bootstrap_distribution": "samples replicates distribution bootstrap_samples scores draws",
    "update": "partial_fit add",
    "result": "compute finalize",
    "pairs": "differences comparisons",
    "systems": "results models scores",
    "ranks()": "leaderboard rank",
    "verdict(margin=0.02)": "non_inferior non_inferiority is_non_inferior equivalent",
    "to_frame()": "to_pandas to_dataframe to_df dataframe df frame",
    "to_frame().to_csv('result.csv')": "to_csv csv",
    "to_frame().to_excel('result.xlsx')": "to_excel",
    "to_dict()": "to_json as_dict json",
}
# Arguments of the calls among them.
_OF_CALLS = {"verdict": {"margin": 0.02}}
# Parts of a result that have what it lacks.
_PARTS = ("result_", "confidence_interval", "pairs")
LEAST_LIKENESS = 0.75


def either(names: Iterable[str]) -> str:
    """Join names by commas and "or"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def no_metric(name: str) -> str:
    """Say nothing of a name that may be a metric's."""
    return ""


def name_for(name: str, of_metric: Callable[[str], str] = no_metric) -> str:
    """Say which call does what a function of this name would; "" where none does."""
    plain = name.lower()
    found = (match.expand(call) for begins, call in _BY_NAME if (match := re.match(begins, plain)))
    if call := next(found, ""):
        return f"Use {call}."
    begins, call = _OF_A_SCORE
    return of_metric(name) or (f"Use {call}." if re.match(begins, plain) else "")


def attribute_for(of: Any, name: str) -> str:
    """Say what to write after an object for an attribute that it lacks; "" if nothing is near."""
    # `dir` of an estimator asks each attribute whether it is there, and so comes back here.
    # What every tuple has is nobody's aim.
    known = [one for one in object.__dir__(of) if one[0] != "_" and not hasattr(tuple, one)]
    if hasattr(type(of), "fit"):
        # Settings, which do not end in "_", are no answer.
        known = [one for one in known if one not in vars(of) or one.endswith("_")]
    for meant, others in _ATTRIBUTES.items():
        if name in others.split() and _answers(of, meant, known):
            return f".{meant}"
    for part, place in _parts_of(of, known):
        own = [one for one in object.__dir__(part) if not hasattr(tuple, one)]
        found = f".{name}" if _answers(part, name, own) else attribute_for(part, name)
        if found:
            return f"{place}{found}"
    near = difflib.get_close_matches(name, known, len(known) or 1, LEAST_LIKENESS)
    return next((f".{meant}" for meant in near if _answers(of, meant, known)), "")


def _answers(of: Any, meant: str, known: Iterable[str]) -> bool:
    """Whether what a hint names is there and answers: an attribute, or the call of a method."""
    [own] = re.findall(r"^\w+", meant)
    if own not in known:
        return False
    try:
        value = getattr(of, own)
        if meant.startswith(f"{own}("):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value(**_OF_CALLS.get(own, {}))
    except Exception:
        return False
    return value is not None


def _parts_of(of: Any, known: Iterable[str]) -> Iterator[tuple[Any, str]]:
    """Yield parts of an object that have attributes, each with what is written for it."""
    if isinstance(of, Mapping):
        yield from ((value, f"[{key!r}]") for key, value in [*of.items()][:1])
    for name in (own for own in _PARTS if own in known):
        part = getattr(of, name, None)
        if isinstance(part, tuple) and name == "pairs":
            yield part[0], ".pairs[0]"
        elif part is not None:
            yield part, f".{name}"


class Hinting:
    """An object whose error for an attribute that it lacks names the one that is meant."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                # A property that raised AttributeError: it raises it again.
                return object.__getattribute__(self, name)
            # Of an object that is being made, and lacks a field, nothing else may be asked.
            is_field = name in getattr(type(self), "__dataclass_fields__", ())
            advice = "" if name.startswith("_") or is_field else _advice_on(self, name)
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{said}. {advice}" if advice else said)


def _advice_on(of: Any, name: str) -> str:
    """Say what to do where an object lacks an attribute."""
    # By scikit-learn's rule, what is learned ends in "_".
    if hasattr(type(of), "fit") and not any(own.endswith("_") for own in vars(of)):
        return "Call fit first." if name.endswith("_") else ""
    meant = attribute_for(of, name.rstrip("_"))
    shown = repr(meant[1:]) if meant[1:].isidentifier() else meant
    return f"Did you mean {shown}?" if meant else name_for(name)


def is_model(value: Any) -> bool:
    """Whether a value is an estimator, trained or not."""
    return hasattr(value, "fit") or hasattr(value, "predict")


# What is meant by a call that does not bind: what its TypeError advises.
#
# * `advice_on`: how the function is called, or which other one takes what was given.
# * `arguments_meant`: which arguments have another name in other libraries, or are misspelt.


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


class DoorCall(NamedTuple):
    """A call of a public function, as its door knows it.

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
def advice_on(call: DoorCall, said: str) -> str:
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


def _option_of_metric(call: DoorCall, name: str) -> str:
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


def _meant(call: DoorCall, name: str) -> str:
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


def _call_for(call: DoorCall, unknown: Mapping[str, Any]) -> str:
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


def _of_labels(call: DoorCall, given: Sequence[Any]) -> str:
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


def _binds(call: DoorCall, unknown: Mapping[str, Any]) -> bool:
    """Whether a call would bind without what is unknown."""
    known = {name: value for name, value in call.options.items() if name not in unknown}
    try:
        inspect.signature(call.function).bind(*call.arguments, **known)
    except TypeError:
        return False
    return True
