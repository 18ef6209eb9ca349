"""What is meant by a call, a name or an attribute that does not exist: what errors advise.

* `call_for`: which function takes the arguments that were given.
* `name_for`: which function does what a name asks for, as other libraries call it.
* `attribute_for`: which attribute of a result has what a name asks for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

OF_A_MODEL = (
    "Give its answers for the test rows: model.predict(X_test), or model.predict_proba(X_test) for "
    "metrics of probabilities. To train and score a method use BootstrapScorer(model).fit(X, y)."
)
OF_MODELS = "To train and compare estimators use compare_methods({'A': one, 'B': other}, X, y)."
OF_PREDICTIONS = (
    "Predictions of a trained model go to bootstrap_score(y_true, y_pred), of several to "
    "compare_systems(y_true, {'A': a, 'B': b})."
)
OF_SEVERAL = (
    "Systems on one test set are compared by compare_systems(y_true, {'A': a, 'B': b}); several "
    "runs of one method go to bootstrap_runs(y_true, y_preds)."
)
_OF_SYSTEMS = "To compare systems on one test set use compare_systems(y_true, {'A': a, 'B': b})."
_OF_A_FILE = (
    "Read the file and give its columns, or use the command line: skboot score FILE --y-true "
    "COLUMN --y-pred COLUMN."
)
_OF_VALUES = (
    "Values of rows alone go to bootstrap_score(None, values, metric='mean'), and scores of "
    "cross-validation to skboot.model_selection.corrected_t(scores)."
)
_OF_A_FRAME = "Give its columns: bootstrap_score(data['truth'], data['prediction'])."
_TRUTH_FIRST = (
    "The truth comes first: compare_systems(y_true, y_preds), or for values of rows "
    "compare_systems(None, values, metric='mean')."
)
# What to call, by how names begin that other libraries, or a guess, would give it.
_CALLS = (
    ("assert_", "skboot.testing.assert_not_worse(y_true, y_pred, y_reference, margin=...)"),
    (
        "(compare|p_?val|delong|mcnemar|paired|permutation|diebold|dm_|wilcoxon)",
        "compare_systems(y_true, {'A': a, 'B': b})",
    ),
    (
        "(bootstrap_)?(roc|pr|det|calibration|decision)_?(curve|$)",
        "bootstrap_curve(y_true, y_score)",
    ),
    ("(scan|read|load)_|bootstrap_file", "scan_dataset(folder) for Parquet, skboot score for CSV"),
    ("(bootstrap|confidence|ci$|ci_|score)", "bootstrap_score(y_true, y_pred, metric=...)"),
)
# Attributes of results, by what else they are called.
_ATTRIBUTES = {
    "estimate": "score mean value point statistic",
    "confidence_interval": "ci conf_int interval_ limits",
    "confidence_interval.low": "low lower ci_low lower_bound",
    "confidence_interval.high": "high upper ci_high upper_bound",
    "standard_error": "std se stderr sd standard_deviation sem",
    "bootstrap_distribution": "samples replicates distribution bootstrap_samples scores draws",
    "update": "partial_fit add",
    "result": "compute finalize",
    "pairs": "differences comparisons",
    "systems": "results",
}
_LEAST_LIKENESS = 0.75


def call_for(given: Sequence[Any]) -> str:
    """Name the function that takes these arguments, by what they are; "" where that is unclear."""
    models = [value for value in given if is_model(value)]
    if len(models) > 1 or any(map(_holds_models, given)):
        return OF_MODELS
    if models:
        return f"The first arguments are y_true and y_pred, and not a model. {OF_A_MODEL}"
    if given and isinstance(given[0], str):
        return _OF_A_FILE
    if given and hasattr(given[0], "columns"):
        return _OF_A_FRAME
    if len(given) > 1 and isinstance(given[1], Mapping):
        return _OF_SYSTEMS
    if given and isinstance(given[0], Mapping):
        return _TRUTH_FIRST
    if len(given) > 2 and isinstance(given[2], str | int | float):
        return f"Options are given by name, such as metric={given[2]!r}."
    if not all(hasattr(value, "__len__") for value in given):
        return ""
    return _OF_SYSTEMS if len(given) > 2 else _OF_VALUES if len(given) == 1 else ""


def name_for(name: str) -> str:
    """Name the call that does what a function of this name would; "" where none does."""
    return next((call for begins, call in _CALLS if re.match(begins, name)), "")


def attribute_for(name: str, known: Iterable[str]) -> str:
    """Name the attribute that has what one of this name would, of those that are known."""
    known = list(known)
    meant = (own for own, others in _ATTRIBUTES.items() if name in others.split())
    found = next((own for own in meant if own.partition(".")[0] in known), None)
    near = difflib.get_close_matches(name, known, 1, _LEAST_LIKENESS)
    return found or (near[0] if near else "")


class Hinting:
    """An object whose error for an attribute that it lacks names the one that is meant."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                # A property that raised AttributeError: it raises it again.
                return object.__getattribute__(self, name)
            kind = type(self).__name__
            own = [] if name.startswith("_") else [one for one in dir(self) if one[0] != "_"]
            meant, call = attribute_for(name, own), name_for(name) if own else ""
            advice = f". Use {call}." if call else ""
            advice = f". Did you mean {meant!r}?" if meant else advice
            for key, value in self.items() if own and isinstance(self, Mapping) else ():
                if hasattr(value, name):
                    advice = f". Take one by its name: table[{key!r}].{name}."
                    break
            raise AttributeError(f"{kind!r} object has no attribute {name!r}{advice}")


def is_model(value: Any) -> bool:
    """Whether a value is an estimator, trained or not."""
    return hasattr(value, "fit") or hasattr(value, "predict")


def _holds_models(value: Any) -> bool:
    values = list(value.values()) if isinstance(value, Mapping) else value
    is_several = isinstance(values, list | tuple) and len(values) > 0
    return is_several and all(map(is_model, values))
