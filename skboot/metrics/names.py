"""Names of metrics: which are known, and which is meant by one that is not.

In ``metric=`` a loss is also known by its name without "neg_", and smaller is then better. In
``scoring=`` it is not, because a search takes the largest score.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import Any

import sklearn.metrics
from sklearn.metrics import make_scorer

from .._base.checks import fail
from .._base.doors import door
from . import cost_metrics, two_class
from .unnamed import AS_MEAN, instead_of_name


class NotGiven(str):
    """The metric of a call that gives none: equal to its name and shown like it."""

    __slots__ = ()


ACCURACY_IF_NOT_GIVEN = NotGiven("accuracy")

# What people call a metric, in lower case with underscores, and its name in ``metric=``.
ALIASES = {
    "acc": "accuracy",
    "act_dcf": "expected_cost",
    "actdcf": "expected_cost",
    "adj_r2": "r2",
    "adjusted_r2": "r2",
    "ami": "adjusted_mutual_info_score",
    "ap": "average_precision",
    "area_under_curve": "roc_auc",
    "area_under_the_curve": "roc_auc",
    "ari": "adjusted_rand_score",
    "auc": "roc_auc",
    "auc_roc": "roc_auc",
    "aucpr": "average_precision",
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
    "ce": "log_loss",
    "cost": "expected_cost",
    "crossentropy": "log_loss",
    "dcf": "expected_cost",
    "dice": "f1",
    "dice_coefficient": "f1",
    "dice_score": "f1",
    "dice_similarity_coefficient": "f1",
    "eer": "equal_error_rate",
    "em": "accuracy",
    "error": "expected_cost",
    "error_rate": "expected_cost",
    "exact_match": "accuracy",
    "f": "f1",
    "f1_measure": "f1",
    "f1score": "f1",
    "f_measure": "f1",
    "f_score": "f1",
    "fscore": "f1",
    "intersection_over_union": "jaccard",
    "iou": "jaccard",
    "likelihood_ratio_negative": "negative_likelihood_ratio",
    "likelihood_ratio_positive": "positive_likelihood_ratio",
    "log_likelihood": "neg_log_loss",
    "logistic_loss": "log_loss",
    "lr_minus": "negative_likelihood_ratio",
    "lr_plus": "positive_likelihood_ratio",
    "mad": "mean_absolute_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mcc": "matthews_corrcoef",
    "mean_iou": "jaccard_macro",
    "mdae": "median_absolute_error",
    "medae": "median_absolute_error",
    "miou": "jaccard_macro",
    "mse": "mean_squared_error",
    "msle": "mean_squared_log_error",
    "multiclass_log_loss": "log_loss",
    "negative_predictive_value": "npv",
    "nll": "log_loss",
    "nlr": "negative_likelihood_ratio",
    "nmi": "normalized_mutual_info_score",
    "phi": "matthews_corrcoef",
    "plr": "positive_likelihood_ratio",
    "positive_predictive_value": "ppv",
    "pr_auc": "average_precision",
    "prauc": "average_precision",
    "r_squared": "r2",
    "rmsd": "root_mean_squared_error",
    "rmse": "root_mean_squared_error",
    "rmsle": "root_mean_squared_log_error",
    "roc": "roc_auc",
    "rocauc": "roc_auc",
    "rsquared": "r2",
    "selectivity": "specificity",
    "sens": "sensitivity",
    "spec": "specificity",
    "tnr": "specificity",
    "top1": "accuracy",
    "top5": "top_k_accuracy",
    "top_1": "accuracy",
    "top_1_accuracy": "accuracy",
    "top_5": "top_k_accuracy",
    "top_5_accuracy": "top_k_accuracy",
    "top_k": "top_k_accuracy",
    "tpr": "recall",
    "true_negative_rate": "specificity",
    "true_positive_rate": "recall",
    "uar": "balanced_accuracy",
    "xent": "log_loss",
}
# Minimum likeness, as of difflib, of a name that is offered; below it "zero_one_loss" would be
# taken for a misspelt "log_loss".
_LEAST_LIKENESS = 0.7
_OF_A_FUNCTION = "Of a function make a scorer with sklearn.metrics.make_scorer."

# Function, and the methods of an estimator whose answer it takes, by the name of the scorer.
SCORERS: dict[str, tuple[Any, Any]] = {
    "neg_brier": (cost_metrics.brier_score, "predict_proba"),
    "neg_cross_entropy": (cost_metrics.cross_entropy, "predict_proba"),
    "neg_equal_error_rate": (cost_metrics.equal_error_rate, ("decision_function", "predict_proba")),
    "neg_expected_cost": (cost_metrics.expected_cost, "predict"),
    "npv": (two_class.npv, "predict"),
    "ppv": (two_class.ppv, "predict"),
    "sensitivity": (two_class.sensitivity, "predict"),
    "specificity": (two_class.specificity, "predict"),
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


def unknown_metric(metric: str) -> ValueError:
    """Error for a ``metric`` of no known name: the nearest one first, then all."""
    advice = _instead(metric) or _did_you_mean(metric, negated=False)
    listed = (
        f"Known names: {', '.join(known_names())}; those that begin with 'neg_' also without it, "
        "where smaller is better. A metric without a name is a callable: "
        "metric=lambda y_true, y_pred: ..."
    )
    must = "be a known name or a callable"
    return fail("metric", must, repr(metric), f"{advice}\n{listed}")


def unknown_scoring(scoring: str) -> ValueError:
    """Error for a ``scoring`` of no known name; for a loss it names the negated one."""
    advice = _instead(scoring)
    if advice.startswith(AS_MEAN):
        advice += " In scoring= there is no such metric: it takes predictions, not values of rows."
    elif advice:
        advice += (
            " As scoring= give sklearn.metrics.make_scorer of that function, for a loss with "
            "greater_is_better=False."
        )
    else:
        advice = _did_you_mean(scoring, negated=True)
    names = [name for name in known_names() if name != "mean"]
    listed = (
        f"Known names: {', '.join(names)}. Losses are negated, so that larger is always better. "
        "A metric without a name: scoring=sklearn.metrics.make_scorer(function)."
    )
    must = "be a known name or a callable"
    return fail("scoring", must, repr(scoring), f"{advice}\n{listed}")


def _did_you_mean(given: str, negated: bool) -> str:
    """Question whether the nearest of the known names was meant; "" if none is near."""
    near = difflib.get_close_matches(_plain(given), _names(), 1, _LEAST_LIKENESS)
    name = _meant(_plain(given)) or (near[0] if near else None)
    if name is None:
        return ""
    if negated:
        return f"Did you mean {losses().get(name, name)!r}?"
    return f"Did you mean {name!r}?{' Smaller is better.' if name in losses() else ''}"


def _meant(plain: str) -> str | None:
    """Name in ``metric=`` that people call so: an alias, other words' order, a function's name."""
    of_words = {_in_order(name): name for name in _names()}
    for candidate in (plain, re.sub("_(score|loss)$", "", plain)):
        if candidate in ALIASES or _in_order(candidate) in of_words:
            return ALIASES.get(candidate) or of_words[_in_order(candidate)]
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


def _instead(given: str) -> str:
    """What to give for a metric that has no name of its own; "" if it is none of those."""
    unnamed = instead_of_name(given, _plain(given))
    if unnamed:
        return unnamed
    # The last parts of names keep matrices, curves and `auc`, which takes a curve, from the advice.
    ends = ("_score", "_loss", "_error", "_deviance")
    if not given.endswith(ends) or _meant(_plain(given)) is not None:
        return ""
    is_function = callable(getattr(sklearn.metrics, given, None))
    return f"Give the function: metric=sklearn.metrics.{given}." if is_function else ""
