"""What is meant by a call, a name or an attribute that does not exist, as errors advise it.

Near names are looked for among our own; tables hold what is said elsewhere. Nothing is guessed: the
call fails all the same.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import sklearn.metrics

from .errors import Call, only_advises

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
_OF_FOLDS = "skboot.model_selection.corrected_t(scores, n_train=90, n_test=10)"

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
_OF_ONE_COLUMN = (
    f"Values of rows alone go to {OF_VALUES} or compare_systems(None, values, metric='mean'), "
    f"scores of cross-validation to {_OF_FOLDS}, a frame to bootstrap_score(data['truth'], "
    "data['prediction']), a file to the command line: skboot score FILE."
)
_OF_FOLDS_OR_SEARCH = (
    f"Scores of folds of your own go to {_OF_FOLDS}, predictions of a search out of its folds to "
    f"{SEARCH}."
)
# Arguments that say by which folds a method is scored, which functions here choose.
_OF_OWN_FOLDS = ("cv", "n_folds", "folds", "n_splits")
_OF_A_METRIC = "It is an option of a metric: metric=functools.partial({})"
_BY_NAME_ALONE = "Options are given by name, such as {}."

# --------------------------------------------------------------- what is said elsewhere

# What to write, by how names begin, in small letters, that other libraries would give it.
_BY_NAME = {
    "assert_|gate$|non_?inferior|regression_test|check_regression|equivalence": ASSERT,
    "(bootstrap_)?compare_(esti|model|class|regr|learn|algo|pipe)": TRAIN_AND_COMPARE,
    "compare_search|search": SEARCH,
    ".*632|.*optimism": "BootstrapScorer(model, strategy='.632+').fit(X, y)",
    "bootstrap_(esti|model|method)|cross_val|nested|kfold": TRAIN,
    "corrected|nadeau|(paired_)?t_?test": _OF_FOLDS,
    "bootstrap_?(cv|split|out_?of_?bag|oob)": "BootstrapSplit(random_state=0) as cv=",
    "(moving_|circular_|stationary_)?block": "bootstrap_score(y_true, y_pred, block_length='auto')",
    "leader|rank": f"{COMPARE}.ranks()",
    "(pass|win|hit)_rate|mean_(ci|conf)|bootstrap_mean": OF_VALUES,
    "(bootstrap_)?(compare|p_?val|delong|mcnemar|paired|permutation|diebold|dm_|wilcoxon)": COMPARE,
    "(?:bootstrap_|plot_)?(roc|pr|precision_recall|det|calibration|reliability|decision)"
    "(_?curve|_diagram|$)": r"bootstrap_curve(y_true, y_score, curve='\1')",
    "(load|read)(_result|_comparison|$)": "skboot.results.EvaluationResult.load(path)",
    "(scan|read|load)_|bootstrap_file": "scan_dataset(folder) for Parquet, skboot score for CSV",
}
_OF_A_SCORE = "bootstrap_score(y_true, y_pred, metric='accuracy')"
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
    "to_bytes": "save dump dumps",
    "result": "compute finalize",
    "pairs": "differences comparisons",
    "systems": "results models scores",
    "ranks()": "leaderboard rank",
    "verdict(margin=0.02)": "non_inferior non_inferiority is_non_inferior equivalent",
    "to_frame()": "to_pandas to_dataframe to_df dataframe df frame",
    "to_frame().to_csv('result.csv')": "to_csv csv",
    "to_dict()": "to_json as_dict json",
}
# Names of one argument, here and in other libraries. Of those in a row, the ones that a function
# has are offered.
_NAMES_OF_ONE = """
confidence_level alpha ci conf conf_level confidence level
random_state seed random_seed rng generator key
n_resamples n_train_resamples n_bootstraps n_bootstrap n_boot nboot n_bootstrap_samples bootstraps \
n_iterations n_iter n_replicates reps num_resamples B R
metric scoring metrics scorer scorers score_func statistic
groups group cluster clusters cluster_ids units patient_ids patients patient speakers speaker \
users user subjects subject
sample_weight weights weight sample_weights w
y_true y target targets truth labels_true ground_truth y_test
y_pred y_preds y_score y_prob y_proba y_hat yhat pred preds predictions prediction scores probas \
y_pred_proba y_scores predicted candidate y_candidate y_new new
strata stratify stratum stratified
by subgroups subgroup sensitive_features slices subjects subject
average_over tasks task average subjects
curve kind metric which
interval method ci_method interval_method bootstrap_type
adjust correction multiple_testing p_adjust adjustment
greater_is_better higher_is_better larger_is_better maximize
block_length block_size block_len block blocks time_series
margin tolerance delta epsilon
y_reference reference baseline control y_baseline y_old old
n_splits n_cv_repeats strategy n_repeats cv n_folds folds
n_jobs n_workers workers num_workers n_cpus
estimator model clf classifier regressor
estimators models classifiers methods
y_preds systems runs
memory cache cache_dir
train_sizes sizes
paired_runs paired
report output out
proxy judge llm
"""
# Arguments that are part of a value, by the names under which they are given alone: the argument
# that takes the value, its type, and how it is made.
_IN_A_VALUE = {
    "first_look": ("interval", "Anytime", "skboot.Anytime(first_look={!r})"),
    "same_population": ("groups", "Trials", "skboot.Trials(a, b), with the two columns of members"),
    "proxy_weight": ("proxy", "Judge", "skboot.Judge(labels, weight={!r})"),
}
_OF_METRICS = ("beta", "k", "quantile", "p_target", "prior", "priors")
# Functions of labels and predictions, in whose place others may be meant.
_OF_LABELS = [
    "bootstrap_score",
    "bootstrap_curve",
    "bootstrap_runs",
    "compare_systems",
    "compare_runs",
]
# How functions are called whose arguments are often guessed, by the function that they call.
_CALLS = {
    call.partition("(")[0].rpartition(".")[2]: call
    for call in (SCORE, COMPARE, RUNS, COMPARE_RUNS, TRAIN, TRAIN_AND_COMPARE, SEARCH, ASSERT)
} | {
    "bootstrap_curve": "bootstrap_curve(y_true, y_score), of several systems "
    "bootstrap_curve(y_true, {'A': score_a, 'B': score_b})",
    "learning_curve": "learning_curve(model, X, y)",
}
LEAST_LIKENESS = 0.75


def either(names: Iterable[str]) -> str:
    """Join names by commas and "or"."""
    *names_before, last = names
    return f"{', '.join(names_before)} or {last}" if names_before else last


def is_model(value: Any) -> bool:
    """Whether a value is an estimator, trained or not."""
    return hasattr(value, "fit") or hasattr(value, "predict")


# --------------------------------------------------------------- names and attributes


def name_for(name: str, of_metric: Callable[[str], str] | None = None) -> str:
    """Say which call does what a function of this name would; "" where none does."""
    plain = name.lower()
    for begins, call in _BY_NAME.items():
        if match := re.match(begins, plain):
            return f"Use {match.expand(call)}."
    if of_metric is not None and (metric_hint := of_metric(name)):
        return metric_hint
    return f"Use {_OF_A_SCORE}." if re.match("bootstrap|confidence|ci$|ci_|score", plain) else ""


def attribute_for(instance: Any, name: str) -> str:
    """Say what to write after an object for an attribute that it lacks; "" if nothing is near."""
    # `dir` of an estimator asks each attribute whether it is there, and so comes back here.
    # What every tuple has is nobody's aim, and settings, which do not end in "_", are no answer.
    parameters = vars(instance) if hasattr(type(instance), "fit") else {}
    present = [
        attribute
        for attribute in object.__dir__(instance)
        if not (attribute[0] == "_" or hasattr(tuple, attribute))
        and (attribute not in parameters or attribute.endswith("_"))
    ]
    for meant, names in _ATTRIBUTES.items():
        if name in names.split() and _answers(instance, meant, present):
            return f".{meant}"
    # Parts of a result may have what it lacks.
    parts: dict[str, Any] = {}
    if isinstance(instance, Mapping):
        with contextlib.suppress(KeyError):
            instance[name]
            return f"[{name!r}]"
        parts = {f"[{key!r}]": instance[key] for key in list(instance)[:1]}
    for attribute in ("result_", "confidence_interval", "pairs"):
        part: Any = getattr(instance, attribute, None) if attribute in present else None
        is_of_pairs = attribute == "pairs" and isinstance(part, tuple) and len(part) > 0
        parts |= {".pairs[0]": part[0]} if is_of_pairs else {f".{attribute}": part}
    for place, part in parts.items():
        if part is not None:
            has_it = not hasattr(tuple, name) and _answers(part, name, object.__dir__(part))
            if path := f".{name}" if has_it else attribute_for(part, name):
                return f"{place}{path}"
    near = difflib.get_close_matches(name, present, len(present) or 1, LEAST_LIKENESS)
    return next((f".{meant}" for meant in near if _answers(instance, meant, present)), "")


def _answers(instance: Any, name: str, attributes: Iterable[str]) -> bool:
    """Whether what a hint names is there and answers: an attribute, or the call of a method."""
    attribute = re.split(r"\W", name)[0]
    if attribute not in attributes:
        return False
    try:
        value = getattr(instance, attribute)
        if name.startswith(f"{attribute}("):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value(**({"margin": 0.02} if attribute == "verdict" else {}))
    except Exception:
        return False
    return value is not None


class Hinting:
    """An object whose error for an attribute that it lacks names the one that is meant."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                # A property that raised AttributeError: it raises it again.
                return object.__getattribute__(self, name)
            advice = ""
            # By scikit-learn's rule, what is learned ends in "_".
            is_fitted = any(attribute.endswith("_") for attribute in vars(self))
            if name.startswith("_") or name in getattr(type(self), "__dataclass_fields__", ()):
                # Of an object that is being made, and lacks a field, nothing else may be asked.
                pass
            elif hasattr(type(self), "fit") and not is_fitted:
                advice = "Call fit first." if name.endswith("_") else ""
            elif reason := self._why_absent(name):
                advice = reason
            elif name_meant := attribute_for(self, name.rstrip("_")):
                shown = repr(name_meant[1:]) if name_meant[1:].isidentifier() else name_meant
                advice = f"Did you mean {shown}?"
            else:
                advice = name_for(name)
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{text}. {advice}" if advice else text)

    def _why_absent(self, name: str) -> str:
        """Say why a fit has not set an attribute, and which one does; "" where none does."""
        return ""


# --------------------------------------------------------------- calls that do not bind


@cache
def keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of all arguments of a function, or of a method without its object."""
    parameters = inspect.signature(function).parameters
    return tuple(name for name in parameters if name not in ("self", "cls"))


@only_advises("")
def advice_on(call: Call, text: str) -> str:
    """Say what is wrong with a call, and what is meant.

    ``text`` is what Python says of the call, for one without unknown names.
    """
    keywords = keywords_of(call.function)
    unknown = {name: value for name, value in call.options.items() if name not in keywords}
    if unknown:
        name = next(iter(unknown))
        text = f"{call.of}() got an unexpected keyword argument {name!r}"
        advice = _argument_for(call, name) or _call_for(call, unknown)
        advice = advice or f"It takes {', '.join(keywords) or 'no arguments'}."
    else:
        text = text.replace(f"{call.function.__qualname__}()", f"{call.of}()")
        advice = _call_for(call, unknown)
    return f"{text}. {advice}" if advice else text


def _argument_for(call: Call, name: str) -> str:
    """Which argument is meant by an unknown one: of the function, its metric or its class."""
    keywords, value = keywords_of(call.function), call.options[name]
    if name in _IN_A_VALUE:
        argument, kind, meant_call = _IN_A_VALUE[name]
        parameter = inspect.signature(call.function).parameters.get(argument)
        if parameter is not None and kind in str(parameter.annotation):
            return f"Use {argument}={meant_call.format(value)}."
    if "metric" in keywords:
        metric = call.options.get("metric", "accuracy")
        if f"{metric}_{value}" in sklearn.metrics.get_scorer_names():
            return f"Did you mean metric='{metric}_{value}'?"
        function = getattr(metric, "func", metric)
        if inspect.isfunction(function) and name in inspect.signature(function).parameters:
            place = "sklearn.metrics." if function.__module__.startswith("sklearn.metrics") else ""
            return f"{_OF_A_METRIC.format(f'{place}{function.__name__}, {name}={value!r}')}."
        if name in _OF_METRICS:
            return f"{_OF_A_METRIC.format('sklearn.metrics.fbeta_score, beta=2')}, for example."
    meant = arguments_meant(name, keywords)
    if meant:
        if name in _OF_OWN_FOLDS and "strategy" in meant:
            return f"Did you mean {either(map(repr, meant))}? {_OF_FOLDS_OR_SEARCH}"
        if meant == ["confidence_level"]:
            shown = level_meant(name, value)
        elif meant == ["strata"] and value is True:
            shown = "strata=y_true"
        else:
            shown = either(map(repr, meant))
        return f"Did you mean {shown}?"
    if name in ("margin", "test"):
        comparison = COMPARE_RUNS if "runs" in call.door else COMPARE
        answer = "verdict(margin=0.02)" if name == "margin" else "p_value"
        return f"Ask the result: {comparison}.{answer}."
    for method in ("__init__", "fit", "update") if "." in call.function.__qualname__ else ():
        owner = type(call.arguments[0])
        function = getattr(getattr(owner, method, None), "__wrapped__", None)
        if function is not None and name in keywords_of(function):
            return f"It is an argument of {owner.__name__}.{method}.".replace(".__init__", "")
    return ""


def arguments_meant(name: str, arguments: Sequence[str]) -> list[str]:
    """Known arguments that are meant by another name, or by a misspelt one."""
    rows = [row.split() for row in _NAMES_OF_ONE.splitlines() if name in row.split()]
    meant = dict.fromkeys(argument for row in rows for argument in arguments if argument in row)
    return [*meant] or difflib.get_close_matches(name, arguments, 1, LEAST_LIKENESS)


def level_meant(name: str, value: Any) -> str:
    """The confidence level of a share of errors, a percentage or a share."""
    try:
        share = float(value) / 100 if 1 < float(value) < 100 else float(value)
    except (TypeError, ValueError):
        share = 0.0
    if not 0 < share < 1:
        return "'confidence_level'"
    level = f"{1 - share:g}, which is 1 - alpha" if name == "alpha" else f"{share:g}"
    return f"confidence_level={level}"


def _call_for(call: Call, unknown: Mapping[str, Any]) -> str:
    """Name the call that takes what was given; "" where that is unclear."""
    is_method = "." in call.function.__qualname__
    is_of_labels = call.door in _OF_LABELS
    passed = list(call.arguments[1:] if is_method else call.arguments)
    columns = [v for v in unknown.values() if hasattr(v, "__len__") and not isinstance(v, str)]
    n_models = 0
    for value in passed if is_of_labels else ():
        values = list(value.values()) if isinstance(value, Mapping) else value
        of_several = isinstance(values, list | tuple) and any(map(is_model, values))
        n_models += 2 * len(values) if of_several else is_model(value)
    if n_models:
        of_one_model = f"The first arguments are y_true and y_pred, and not a model. {OF_A_MODEL}"
        return OF_MODELS if n_models > 1 else of_one_model
    if unknown and len(columns) < 2:
        return ""
    passed += columns
    texts = [value for value in passed[1:] if isinstance(value, str)]
    if is_of_labels and passed and (len(passed) == 1 or isinstance(passed[0], str)):
        return _OF_ONE_COLUMN
    for option in ("metric", "scoring", "curve"):
        if option in keywords_of(call.function) and len(texts) == 1:
            return _BY_NAME_ALONE.format(f"{option}={texts[0]!r}")
    if len(passed) > 2 and isinstance(passed[2], int | float):
        return _BY_NAME_ALONE.format("n_resamples=1999")
    if len(passed) > 2 and is_of_labels and call.door != "bootstrap_curve":
        return OF_SEVERAL
    return f"Use {_CALLS[call.door]}." if call.door in _CALLS else ""
