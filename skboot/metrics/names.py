"""Names of metrics: which are known, and which is meant by one that is not.

In ``metric=`` a loss is also known by its name without "neg_", and smaller is then better. In
``scoring=`` it is not, because a search takes the largest score.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import sklearn.metrics
from sklearn.metrics import make_scorer

from .._base.checks import fail
from .._base.doors import door
from .._base.lazy import import_modules
from . import cost_metrics, two_class
from .registry import RESPONSES
from .unnamed import AS_MEAN, CALLABLES, direction_of, instead_of_name


class NotGiven(str):
    """The metric of a call that gives none: equal to its name and shown like it."""

    __slots__ = ()


ACCURACY_IF_NOT_GIVEN = NotGiven("accuracy")

# What people call a metric, in lower case with underscores, and the name in ``metric=`` of the same
# number: it is taken at once, and the result bears this name.
SYNONYMS = {
    "acc": "accuracy",
    "act_cllr": "cllr",
    "actual_cllr": "cllr",
    "ami": "adjusted_mutual_info_score",
    "ap": "average_precision",
    "ari": "adjusted_rand_score",
    "auc": "roc_auc",
    "auc_roc": "roc_auc",
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
    "calibration_in_the_large": "calibration_intercept",
    "citl": "calibration_intercept",
    "ce": "log_loss",
    "cohen_kappa": "cohen_kappa_score",
    "cohens_kappa": "cohen_kappa_score",
    "crossentropy": "log_loss",
    "dice": "f1",
    "dice_coefficient": "f1",
    "dice_score": "f1",
    "dice_similarity_coefficient": "f1",
    "ece": "expected_calibration_error",
    "eer": "equal_error_rate",
    "error_rate": "zero_one_loss",
    "f1_measure": "f1",
    "f1score": "f1",
    "f_measure": "f1",
    "f_score": "f1",
    "fscore": "f1",
    "intersection_over_union": "jaccard",
    "iou": "jaccard",
    "kappa": "cohen_kappa_score",
    "likelihood_ratio_negative": "negative_likelihood_ratio",
    "likelihood_ratio_positive": "positive_likelihood_ratio",
    "logistic_loss": "log_loss",
    "logloss": "log_loss",
    "lr_minus": "negative_likelihood_ratio",
    "lr_plus": "positive_likelihood_ratio",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mcc": "matthews_corrcoef",
    "mdae": "median_absolute_error",
    "medae": "median_absolute_error",
    "mse": "mean_squared_error",
    "msle": "mean_squared_log_error",
    "multiclass_log_loss": "log_loss",
    "nce": "normalized_cross_entropy",
    "nec": "normalized_expected_cost",
    "negative_predictive_value": "npv",
    "nll": "log_loss",
    "nlr": "negative_likelihood_ratio",
    "nmi": "normalized_mutual_info_score",
    "normalized_cost": "normalized_expected_cost",
    "normalized_error": "normalized_total_error",
    "nte": "normalized_total_error",
    "observed_agreement": "accuracy",
    "percent_agreement": "accuracy",
    "phi": "matthews_corrcoef",
    "plr": "positive_likelihood_ratio",
    "positive_predictive_value": "ppv",
    "r_squared": "r2",
    "rmsd": "root_mean_squared_error",
    "rmse": "root_mean_squared_error",
    "rmsle": "root_mean_squared_log_error",
    "rocauc": "roc_auc",
    "rsquared": "r2",
    "selectivity": "specificity",
    "sens": "sensitivity",
    "spec": "specificity",
    "tnr": "specificity",
    "tpr": "recall",
    "true_negative_rate": "specificity",
    "true_positive_rate": "recall",
    "uar": "balanced_accuracy",
    "xent": "log_loss",
}
_OF_SKILL = ("brier_skill_score", "bss", "scaled_brier", "scaled_brier_score")
if hasattr(sklearn.metrics, "d2_brier_score"):
    SYNONYMS |= dict.fromkeys(_OF_SKILL, "d2_brier_score")
else:
    of_brier = "lambda y, p: 1 - skboot.metrics.brier_score(y, p, relative=True)"
    CALLABLES |= dict.fromkeys(_OF_SKILL, of_brier)
# Of the number of classes in a name: "top5", "top-5 accuracy", "acc@5". Without one it is 2, as in
# scikit-learn.
_TOP_K = re.compile(r"top_?(k_accuracy|(?P<k>\d+)(_acc(uracy)?)?)|acc(uracy)?(_at)?_(?P<at>\d+)")
_AVERAGE = re.compile(r"(?P<metric>.+)_(?P<average>macro|micro|weighted|samples)")
# What may be meant by another number as well, so that it is asked.
ALIASES = {
    "adj_r2": "r2",
    "adjusted_r2": "r2",
    "area_under_curve": "roc_auc",
    "area_under_the_curve": "roc_auc",
    "aucpr": "average_precision",
    "cost": "expected_cost",
    "em": "accuracy",
    "error": "zero_one_loss",
    "exact_match": "accuracy",
    "f": "f1",
    "log_likelihood": "neg_log_loss",
    "mad": "mean_absolute_error",
    "mean_iou": "jaccard_macro",
    "miou": "jaccard_macro",
    "pr_auc": "average_precision",
    "prauc": "average_precision",
    "roc": "roc_auc",
    "slope": "calibration_slope",
}
# Metrics that have a name in ``metric=`` alone: function of `skboot.metrics`, and its options.
OF_SKBOOT: dict[str, tuple[str, dict[str, Any]]] = {
    "calibration_intercept": ("calibration_intercept", {}),
    "calibration_slope": ("calibration_slope", {}),
    "cllr": ("cllr", {}),
    "expected_calibration_error": ("expected_calibration_error", {}),
    "normalized_cross_entropy": ("cross_entropy", {"relative": True}),
    "normalized_expected_cost": ("expected_cost", {"relative": True}),
    "normalized_total_error": ("expected_cost", {"relative": True}),
}
# Ends of the names of scikit-learn's functions that are metrics; `auc`, which takes a curve, and
# matrices have others.
_ENDS = ("_score", "_loss", "_error", "_deviance")
# Minimum likeness, as of difflib, of a name that is offered; below it "zero_one_loss" would be
# taken for a misspelt "log_loss".
_LEAST_LIKENESS = 0.7
# Names that an error offers at most, and by how much less like they may be than the first.
_MOST_NEAR, _AS_LIKE = 3, 0.05
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


def meant_by(metric: str) -> str:
    """Name in ``metric=`` of what is given: itself, in other letters, or that of a synonym."""
    plain = _plain(metric)
    if (top := _TOP_K.fullmatch(plain.removesuffix("_score"))) is not None:
        k = int(top["k"] or top["at"] or 2)
        return "accuracy" if k == 1 else f"top_{k}_accuracy"
    if metric in _names():
        return metric
    # Of "accuracy_score" and its like the scorer has the same number.
    candidates = [plain, plain.removesuffix("_score")]
    if (averaged := _AVERAGE.fullmatch(plain)) is not None:
        candidates.append(f"{meant_by(averaged['metric'])}_{averaged['average']}")
    known = (name for name in candidates if name in _names() or name in OF_SKBOOT)
    return SYNONYMS.get(plain) or next(known, metric)


def function_of(name: str) -> Any | None:
    """Function of a metric that is no scorer's; None where there is none of this name."""
    if (top := _TOP_K.fullmatch(name)) is not None and top["k"]:
        return partial(sklearn.metrics.top_k_accuracy_score, k=int(top["k"]))
    if name in OF_SKBOOT:
        function, options = OF_SKBOOT[name]
        found = getattr(sys.modules[__package__], function)
        return partial(found, **options) if options else found
    return getattr(sklearn.metrics, name, None) if name.endswith(_ENDS) else None


def call_of(name: str) -> str:
    """How to ask for a metric that is looked for as a function; "" if it is none."""
    plain = re.sub("^bootstrap_|(_confidence)?_(ci|interval)$", "", _plain(name))
    if meant_by(plain) in (*_names(), *OF_SKBOOT):
        return f"Use bootstrap_score(y_true, y_pred, metric={plain!r})."
    return without_name(plain)


def unknown_metric(metric: str) -> ValueError:
    """Error for a ``metric`` of no known name: the nearest ones, or all where none is near."""
    advice = without_name(metric)
    advice = f"{advice}{direction_of(_plain(metric))}" if advice else _did_you_mean(metric, False)
    if advice:
        return fail("metric", "be a known name or a callable", repr(metric), advice)
    listed = (
        f"Known names: {', '.join(_all_names())}; those that begin with 'neg_' also without it, "
        "where smaller is better. A metric without a name is a callable: "
        "metric=lambda y_true, y_pred: ..."
    )
    return fail("metric", "be a known name or a callable", repr(metric), f"\n{listed}")


def unknown_scoring(scoring: str) -> ValueError:
    """Error for a ``scoring`` of no known name; for a loss it names the negated one."""
    advice = without_name(scoring) or _as_function(meant_by(scoring))
    if advice.startswith(AS_MEAN):
        advice += " In scoring= there is no such metric: it takes predictions, not values of rows."
    elif advice:
        advice += (
            " As scoring= give sklearn.metrics.make_scorer of that function, of scores with "
            "response_method='predict_proba', and for a loss with greater_is_better=False."
        )
    else:
        advice = _did_you_mean(scoring, negated=True)
    if not advice:
        names = [name for name in known_names() if name != "mean"]
        advice = (
            f"\nKnown names: {', '.join(names)}. Losses are negated, so that larger is always "
            "better. A metric without a name: scoring=sklearn.metrics.make_scorer(function)."
        )
    return fail("scoring", "be a known name or a callable", repr(scoring), advice)


def _all_names() -> list[str]:
    """All that `known_names` has, and functions without a scorer that need no option."""
    import_modules(__package__)
    # F-beta needs its beta.
    others = {*RESPONSES} - {*_names(), "fbeta_score"}
    functions = [name for name in others if meant_by(name) == name and function_of(name)]
    return sorted({*known_names(), *OF_SKBOOT, *functions})


def _as_function(name: str) -> str:
    """Advice that names the function of a metric that is no scorer's; "" if it is one."""
    found = None if name in _names() else function_of(name)
    if found is None:
        return ""
    options = "".join(f", {key}={value!r}" for key, value in getattr(found, "keywords", {}).items())
    function = getattr(found, "func", found)
    module = "sklearn.metrics" if function.__module__.startswith("sklearn.") else __package__
    called = f"{module}.{function.__name__}"
    return (
        f"It is the function functools.partial({called}{options})."
        if options
        else (f"It is the function {called}.")
    )


def _did_you_mean(given: str, negated: bool) -> str:
    """Question whether one of the nearest known names was meant; "" if none is near."""
    known = _names() if negated else (*_names(), *OF_SKBOOT, *SYNONYMS)
    name = _meant(_plain(given))
    near = [name] if name is not None else _nearest(_plain(given), known)
    found = list(dict.fromkeys(map(meant_by, near)))
    found = [each for each in found if each.removeprefix("neg_") == each or negated] or found
    if negated:
        scorers = (losses().get(each, each) for each in found)
        found = [each for each in dict.fromkeys(scorers) if each in known_names()]
    if not found:
        return ""
    smaller = not negated and len(found) == 1 and found[0] in losses()
    listed = " or ".join(map(repr, found))
    return f"Did you mean {listed}?{' Smaller is better.' if smaller else ''}"


def _nearest(plain: str, known: Sequence[str]) -> list[str]:
    """Names that are about as like the given one as the most like of them."""
    near = difflib.get_close_matches(plain, known, _MOST_NEAR, _LEAST_LIKENESS)
    # As `difflib.get_close_matches` compares them.
    likeness = [difflib.SequenceMatcher(None, plain, each).ratio() for each in near]
    return [each for each, own in zip(near, likeness, strict=True) if own > likeness[0] - _AS_LIKE]


def _meant(plain: str) -> str | None:
    """Name in ``metric=`` that people call so: an alias, other words' order, a function's name."""
    of_words, others = {_in_order(name): name for name in _names()}, ALIASES | SYNONYMS
    for candidate in (plain, re.sub("_(score|loss)$", "", plain)):
        if candidate in others or _in_order(candidate) in of_words:
            return others.get(candidate) or of_words[_in_order(candidate)]
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


def without_name(given: str) -> str:
    """What to give for a metric that has no name of its own; "" if it is none of those."""
    return instead_of_name(given, _plain(given))
