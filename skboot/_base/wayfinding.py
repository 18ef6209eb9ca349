"""What is meant by a name or an attribute that does not exist: what errors advise.

* `name_for`: which call does what a name asks for, as other libraries have it.
* `attribute_for`: which attribute of a result has what a name asks for.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

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
