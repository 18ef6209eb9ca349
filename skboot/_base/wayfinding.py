"""Which function takes what was given, for errors of a call that has it in the wrong place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

OF_A_MODEL = (
    "Give its answers for the test rows: model.predict(X_test), or model.predict_proba(X_test) for "
    "metrics of probabilities. To train and score a method use BootstrapScorer(model).fit(X, y)."
)
OF_MODELS = "To train and compare estimators use compare_methods({'A': one, 'B': other}, X, y)."
OF_PREDICTIONS = (
    "Predictions of a trained model go to bootstrap_score(y_true, y_pred), of several to "
    "compare_systems(y_true, {'A': a, 'B': b})."
)
_OF_SYSTEMS = "To compare systems on one test set use compare_systems(y_true, {'A': a, 'B': b})."
_OF_A_FILE = (
    "Read the file and give its columns, or use the command line: skboot score FILE --y-true "
    "COLUMN --y-pred COLUMN."
)
_OF_FOLDS = "Scores of cross-validation go to skboot.model_selection.corrected_t(scores)."


def call_for(given: Sequence[Any]) -> str:
    """Name the function that takes these arguments, by what they are; "" where that is unclear."""
    models = [value for value in given if is_model(value)]
    if len(models) > 1 or any(map(_holds_models, given)):
        return OF_MODELS
    if models:
        return f"The first arguments are y_true and y_pred, and not a model. {OF_A_MODEL}"
    if given and isinstance(given[0], str):
        return _OF_A_FILE
    if len(given) > 1 and isinstance(given[1], Mapping):
        return _OF_SYSTEMS
    columns = [hasattr(value, "__len__") and not isinstance(value, Mapping) for value in given]
    if len(given) > 2 and all(columns):
        return _OF_SYSTEMS
    return _OF_FOLDS if len(given) == 1 and all(columns) else ""


def is_model(value: Any) -> bool:
    """Whether a value is an estimator, trained or not."""
    return hasattr(value, "fit") or hasattr(value, "predict")


def _holds_models(value: Any) -> bool:
    values = list(value.values()) if isinstance(value, Mapping) else value
    is_several = isinstance(values, list | tuple) and len(values) > 0
    return is_several and all(map(is_model, values))
