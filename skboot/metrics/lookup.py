"""From what a user gives as ``metric`` to statistics.

A scoring name, scorer, metric function or `functools.partial` of one is taken apart into a
function, its options and a sign (`MetricRequest`). Its statistic is made by a factory, which knows
sums, ranks or thresholds, and stands in the module that `_MODULES` names; where there is none for
the options, the function is called on repeated rows, which works for any callable.
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from .._base.checks import arguments_named, fail, is_among
from .._base.doors import door
from .._base.lazy import import_modules
from .._base.sklearn_compat import scorer_parts
from . import means
from .callables import CellsCallable, LibraryCallable, Negated, WeightedCallable
from .cells import SharedCells
from .responses import check_response
from .statistic import (
    GREATER_IS_POSITIVE,
    PATHS,
    RANGES,
    RESPONSES,
    CallableStatistic,
    MetricRequest,
    Response,
    Statistic,
)

__all__ = ["check_response", "known_names", "resolve_metrics"]


# ------------------------------------------------------------------ names
#
# In ``metric=`` a loss is also known by its name without "neg_", and smaller is then better. In
# ``scoring=`` it is not, because a search takes the largest score.


class NotGiven(str):
    """The metric of a call that gives none: equal to its name and shown like it."""

    __slots__ = ()


ACCURACY_IF_NOT_GIVEN = NotGiven("accuracy")


def _texts_by_word(texts: Mapping[str, str]) -> dict[str, str]:
    """Split the keys into words: the text that is meant, by each word that people say."""
    return {word: text for words, text in texts.items() for word in words.split()}


# The name in ``metric=`` by what people call the same number, in lower case with underscores: it is
# taken at once, and the result bears this name.
SYNONYMS = _texts_by_word(
    {
        "acc observed_agreement percent_agreement": "accuracy",
        "ami": "adjusted_mutual_info_score",
        "ari": "adjusted_rand_score",
        "ap auprc": "average_precision",
        "ba bac bacc balanced_acc uar": "balanced_accuracy",
        "brier_loss brier_score_loss": "brier_score",
        "calibration_in_the_large citl": "calibration_intercept",
        "act_cllr actual_cllr": "cllr",
        "cohen_kappa cohens_kappa kappa": "cohen_kappa_score",
        "eer": "equal_error_rate",
        "ece": "expected_calibration_error",
        "dice dice_coefficient dice_score dice_similarity_coefficient f1_measure f1score "
        "f_measure f_score fscore": "f1",
        "intersection_over_union iou": "jaccard",
        "bce binary_crossentropy ce crossentropy logistic_loss logloss multiclass_log_loss nll "
        "xent": "log_loss",
        "mcc phi": "matthews_corrcoef",
        "mae": "mean_absolute_error",
        "mape": "mean_absolute_percentage_error",
        "mse": "mean_squared_error",
        "msle": "mean_squared_log_error",
        "mdae medae": "median_absolute_error",
        "likelihood_ratio_negative lr_minus nlr": "negative_likelihood_ratio",
        "nce": "normalized_cross_entropy",
        "nec normalized_cost": "normalized_expected_cost",
        "nmi": "normalized_mutual_info_score",
        "normalized_error nte": "normalized_total_error",
        "negative_predictive_value": "npv",
        "likelihood_ratio_positive lr_plus plr": "positive_likelihood_ratio",
        "positive_predictive_value": "ppv",
        "r_squared rsquared": "r2",
        "tpr true_positive_rate": "recall",
        "auc auc_roc auroc rocauc": "roc_auc",
        "rmsd rmse": "root_mean_squared_error",
        "rmsle": "root_mean_squared_log_error",
        "sens": "sensitivity",
        "selectivity spec tnr true_negative_rate": "specificity",
        "error_rate": "zero_one_loss",
    }
)
# For metrics that have no name: the callable by how people call the metric, and what it takes where
# that is not obvious.
CALLABLES = _texts_by_word(
    {
        "act_dcf actdcf actual_dcf actual_detection_cost c_det cdet dcf detection_cost": ""
        "functools.partial(skboot.metrics.actual_detection_cost, priors=[0.99, 0.01], "
        "relative=True). Its second prior is that of targets, and it takes log-likelihood "
        "ratios",
        "false_acceptance_rate false_alarm_rate false_positive_rate far fpr": ""
        "lambda y, p: 1 - sklearn.metrics.recall_score(y, p, pos_label=0)",
        "false_negative_rate false_rejection_rate fnr frr miss_rate": ""
        "lambda y, p: 1 - sklearn.metrics.recall_score(y, p)",
        "gini": "lambda y, score: 2 * sklearn.metrics.roc_auc_score(y, score) - 1",
        "median": "np.median, with y_true=None. Of errors it is 'median_absolute_error'",
        "min_dcf mindcf minimum_dcf minimum_detection_cost": ""
        "functools.partial(skboot.metrics.minimum_detection_cost, priors=[0.99, 0.01], "
        "relative=True). Its second prior is that of targets",
        "class_likelihood_ratios likelihood_ratio lr": ""
        "'positive_likelihood_ratio' or 'negative_likelihood_ratio'",
        "neg_mean_pinball_loss pinball pinball_loss quantile quantile_loss": ""
        "functools.partial(sklearn.metrics.mean_pinball_loss, alpha=0.9). Its alpha is the "
        "quantile",
        "forecast_skill forecast_skill_score mean_squared_error_skill_score mse_skill_score msess "
        "r2_oos skill skill_score": ""
        "lambda y, p: 1 - np.mean((y - p[:, 0]) ** 2) / np.mean((y - p[:, 1]) ** 2), with "
        "y_pred=np.column_stack((forecast, reference)) and greater_is_better=True",
        "top_k": "'top_5_accuracy'. Its k is any",
    }
)
# The same of functions that only need an option.
_PARTIALS = _texts_by_word(
    {
        "f0_5": "sklearn.metrics.fbeta_score, beta=0.5",
        "f2 f_beta fbeta": "sklearn.metrics.fbeta_score, beta=2",
        "false_positive_rate_at fpr95 fpr_95": ""
        "skboot.metrics.false_positive_rate_at, false_negative_rate=0.05",
        "informedness j_statistic youden youden_index youden_j youdens_j": ""
        "sklearn.metrics.balanced_accuracy_score, adjusted=True",
        "net_benefit": "skboot.metrics.net_benefit, threshold=0.2",
        "partial_auc pauc": "sklearn.metrics.roc_auc_score, max_fpr=0.1",
        "quadratic_weighted_kappa qwk": "sklearn.metrics.cohen_kappa_score, weights='quadratic'",
        "sensitivity_at": "skboot.metrics.sensitivity_at, specificity=0.9",
        "specificity_at": "skboot.metrics.specificity_at, sensitivity=0.9",
        "weighted_kappa": "sklearn.metrics.cohen_kappa_score, weights='linear'",
    }
)
CALLABLES |= {word: f"functools.partial({call})" for word, call in _PARTIALS.items()}
# The value of each row, query or text, by how people call its mean; also after a cut, as "ndcg@10".
ROW_MEANS = _texts_by_word(
    {
        "bert_score bertscore chrf comet meteor rouge rouge_l rougel": "the score of each text",
        "bias mbe me mean_bias_error mean_error": "p - y of each row",
        "bpb bpc loss": "the loss of each row",
        "cer character_error_rate ter wer word_error_rate": ""
        "the rate of each row, with its characters, or words, as sample_weight",
        "coverage picp": "(low <= y) & (y <= high) of each row",
        "crps": "the value of each row",
        "der diarization_error_rate": ""
        "the rate of each recording, with its seconds of speech as sample_weight",
        "hausdorff hausdorff_distance": "the distance of each image",
        "psnr ssim": "the value of each image",
        "hit hit_rate hits map mean_average_precision mean_reciprocal_rank mrr ndcg": ""
        "the value of each query",
        "interval_score mase mean_scaled_interval_score msis winkler winkler_score": ""
        "its value in each row, as in docs/guide/coming_from.md",
        "mos pesq sdr si_sdr stoi": "the value of each recording",
        "pass": "skboot.metrics.pass_at_k(n_correct, n_samples, k) of each problem",
        "smape symmetric_mape": "2 * abs(p - y) / (abs(p) + abs(y)) of each row",
        "win_rate": "1 for each row that is won, 0 for one that is lost, and 0.5 for a tie",
    }
)
# What is no metric, or one of two, and where it is found.
ELSEWHERE = _texts_by_word(
    {
        "act_c_primary actual_c_primary ap50 ap75 bleu c_primary ccc cllr_min coco_map "
        "concordance_correlation corpus_bleu corr correlation cprimary diagnostic_odds_ratio "
        "dor g_mean geometric_mean gmean half_total_error_rate hter kendall kendall_tau "
        "kendalltau kolmogorov_smirnov ks ks_statistic lins_ccc map50 map_0_5 map_50 map_50_95 "
        "map_at_50 mdape mean_ap median_absolute_percentage_error min_cllr mincllr minimum_cllr "
        "normalized_rmse nrmse o_e observed_expected oe oe_ratio pearson pearsonr perplexity "
        "ppl rmsse root_mean_squared_scaled_error sacrebleu spearman spearmanr wape wmape": ""
        "give a callable as metric=, as in docs/guide/coming_from.md",
        "c_index c_statistic cindex concordance concordance_index harrell harrell_c harrells_c "
        "harrell_c_index harrell_s_c harrell_s_c_index harrells_c_index": ""
        "of two classes it is 'roc_auc'; of event times give metric=lambda y, risk: "
        "lifelines.utils.concordance_index(y[:, 0], -risk, y[:, 1]), with "
        "y_true=np.column_stack((time, event))",
        "delong delong_test": ""
        "it is an interval, which areas under ROC curves have: compare_systems(y_true, {'A': a, "
        "'B': b}, metric='roc_auc')",
        "det detection_error_tradeoff": ""
        "it is a curve: bootstrap_curve(y_true, y_score, curve='det')",
        "mcnemar mcnemar_test": ""
        "it is a test of two systems: skboot.inference.mcnemar_exact; for the difference and "
        "its interval compare_systems(y_true, {'A': a, 'B': b})",
        "ppi prediction_powered_inference": ""
        "give what a judge says of all rows as proxy= of bootstrap_score or compare_systems",
    }
)
# One name of each of which smaller is better, and no function says so.
_LOSSES = ["fnr", "fpr", "cer", "crps", "der", "hausdorff", "interval_score", "loss", "smape"]
# How each advice to give "mean" begins.
_NONE = "No metric has this name"
AS_MEAN = f"{_NONE}: give metric='mean' with y_true=None"

_POSITIVES, _NEGATIVES = ("sens", "sensitivity", "recall", "tpr"), ("spec", "specificity", "tnr")
_ALARMS = ("fpr", "far")
_AT_K = re.compile(r"(?P<metric>precision|prec|p|recall|r)_?(@|_at_)(?P<k>\d+|k)")
# The "@10" of "ndcg@10", among names with underscores.
_CUT = re.compile(r"(_at)?_?(\d+|k)$")
# "sens@spec=0.9", "sensitivity_at_specificity", "TPR at 1% FPR", among names with underscores.
_POINT = re.compile(
    r"(?P<what>[a-z]+)_?(@|at)_?(?P<early>\d*\.?\d+)?%?_?(?P<at>[a-z]+)_?(?P<late>\d*\.?\d+)?%?"
)
_OF_SKILL = ("brier_skill_score", "bss", "scaled_brier", "scaled_brier_score")
if hasattr(sklearn.metrics, "d2_brier_score"):
    SYNONYMS |= dict.fromkeys(_OF_SKILL, "d2_brier_score")
else:
    brier_skill = "lambda y, p: 1 - skboot.metrics.brier_score(y, p, relative=True)"
    CALLABLES |= dict.fromkeys(_OF_SKILL, brier_skill)
# Of the number of classes in a name: "top5", "top-5 accuracy", "acc@5". Without one it is 2, as in
# scikit-learn.
_TOP_K = re.compile(r"top_?(k_accuracy|(?P<k>\d+)(_acc(uracy)?)?)|acc(uracy)?(_at)?_(?P<at>\d+)")
_AVERAGE = re.compile(r"(?P<metric>.+)_(?P<average>macro|micro|weighted|samples)")
# What may mean another number as well, so that it is asked.
ALIASES = _texts_by_word(
    {
        "em exact_match": "accuracy",
        "aucpr pr_auc prauc": "average_precision",
        "slope": "calibration_slope",
        "cost": "expected_cost",
        "f": "f1",
        "mean_iou miou": "jaccard_macro",
        "mad": "mean_absolute_error",
        "log_likelihood": "neg_log_loss",
        "adj_r2 adjusted_r2": "r2",
        "area_under_curve area_under_the_curve roc": "roc_auc",
        "error": "zero_one_loss",
    }
)
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
_OF_A_FUNCTION = "Make a scorer of a function with sklearn.metrics.make_scorer."

# Function, and the methods of an estimator whose answer it takes, by the name of the scorer.
SCORERS: dict[str, tuple[str, Any]] = {
    "neg_brier": ("brier_score", "predict_proba"),
    "neg_cross_entropy": ("cross_entropy", "predict_proba"),
    "neg_equal_error_rate": ("equal_error_rate", ("decision_function", "predict_proba")),
    "neg_expected_cost": ("expected_cost", "predict"),
    "npv": ("npv", "predict"),
    "ppv": ("ppv", "predict"),
    "sensitivity": ("sensitivity", "predict"),
    "specificity": ("specificity", "predict"),
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
        name, response = SCORERS[scoring]
        function = getattr(sys.modules[__package__], name)
        better = not scoring.startswith("neg_")
        return make_scorer(function, greater_is_better=better, response_method=response)
    if scoring in sklearn.metrics.get_scorer_names():
        return sklearn.metrics.get_scorer(scoring)
    raise unknown_scoring(scoring)


@lru_cache(maxsize=1)
def known_names() -> tuple[str, ...]:
    """Names that ``metric`` may be and scorers have, and "mean"."""
    return tuple(sorted({*sklearn.metrics.get_scorer_names(), *SCORERS, "mean"}))


def scorers_called_by(function: Any) -> dict[str, Any]:
    """Return scorers of scikit-learn, by name, whose function the code of a callable names.

    Whether one of them has the same values is for the caller to try; a callable that scores by the
    estimator's own score is accuracy or R2.
    """
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    words = {*code.co_names, *code.co_freevars}
    words |= {"accuracy_score", "r2_score"} if "score" in words else set()
    scorers = {
        name: sklearn.metrics.get_scorer(name) for name in sklearn.metrics.get_scorer_names()
    }
    parts = {name: scorer_parts(scorer) for name, scorer in scorers.items()}
    return {
        name: scorers[name]
        for name, part in parts.items()
        if part is not None and part.function.__name__ in words
    }


def name_of_same_value(function: Any, value: float, y_true: Any, y_pred: Any) -> str | None:
    """Return the name of a metric that a callable calls, and that has its value on the data."""
    for name, scorer in scorers_called_by(function).items():
        parts = scorer_parts(scorer)
        assert parts is not None
        try:
            score = float(parts.function(y_true, y_pred, **parts.options))
        except (TypeError, ValueError):
            continue
        if abs(score - value) <= 1e-12 * max(abs(value), 1.0):
            return name.removeprefix("neg_") if parts.sign < 0 else name
    return None


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
    matches = (name for name in candidates if name in _names() or name in OF_SKBOOT)
    return SYNONYMS.get(plain) or next(matches, metric)


def function_of(name: str) -> Any | None:
    """Function of a metric that is no scorer's; None where there is none of this name."""
    if (top := _TOP_K.fullmatch(name)) is not None and top["k"]:
        return partial(sklearn.metrics.top_k_accuracy_score, k=int(top["k"]))
    if name in OF_SKBOOT:
        function, options = OF_SKBOOT[name]
        metric = getattr(sys.modules[__package__], function)
        return partial(metric, **options) if options else metric
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
    if advice:
        instead, plain = CALLABLES | ROW_MEANS, _plain(metric)
        text = instead.get(plain) or instead.get(_CUT.sub("", plain))
        if text and text in map(instead.get, _LOSSES):
            advice += " Smaller is better: give greater_is_better=False."
    elif names := _nearest_names(metric, (*_names(), *OF_SKBOOT, *SYNONYMS)):
        names = [name for name in names if not name.startswith("neg_")] or names
        advice = f"Did you mean {' or '.join(map(repr, names))}?"
        advice += " Smaller is better." if len(names) == 1 and names[0] in losses() else ""
    if advice:
        return fail("metric", "be a known name or a callable", repr(metric), advice)
    import_modules(__package__)
    # Functions without a scorer that need no option; F-beta needs its beta.
    unscored = {*RESPONSES} - {*_names(), "fbeta_score"}
    functions = [name for name in unscored if meant_by(name) == name and function_of(name)]
    names = sorted({*known_names(), *OF_SKBOOT, *functions})
    listed = (
        f"Known names: {', '.join(names)}; those that begin with 'neg_' also without it, "
        "where smaller is better. A metric without a name is a callable: "
        "metric=lambda y_true, y_pred: ..."
    )
    return fail("metric", "be a known name or a callable", repr(metric), f"\n{listed}")


def unknown_scoring(scoring: str) -> ValueError:
    """Error for a ``scoring`` of no known name; for a loss it names the negated one."""
    advice = without_name(scoring) or _advice_on_function(meant_by(scoring))
    if advice.startswith(AS_MEAN) or scoring == "mean":
        no_values = "In scoring= there is no such metric: it takes predictions, not values of rows."
        advice = f"{advice} {no_values}".lstrip()
    elif advice:
        advice += (
            " For scoring= wrap that function in sklearn.metrics.make_scorer, with "
            "response_method='predict_proba' if it takes scores and greater_is_better=False if it "
            "is a loss."
        )
    else:
        scorers = [losses().get(name, name) for name in _nearest_names(scoring, _names())]
        names = [name for name in dict.fromkeys(scorers) if name in known_names()]
        advice = f"Did you mean {' or '.join(map(repr, names))}?" if names else ""
    if not advice:
        names = [name for name in known_names() if name != "mean"]
        advice = (
            f"\nKnown names: {', '.join(names)}. Losses are negated, so that larger is always "
            "better. A metric without a name: scoring=sklearn.metrics.make_scorer(function)."
        )
    return fail("scoring", "be a known name or a callable", repr(scoring), advice)


def _advice_on_function(name: str) -> str:
    """Advice that names the function of a metric that is no scorer's; "" if it is one."""
    metric = None if name in _names() else function_of(name)
    if metric is None:
        return ""
    function, keywords = getattr(metric, "func", metric), getattr(metric, "keywords", {})
    module = "sklearn.metrics" if function.__module__.startswith("sklearn.") else __package__
    called = f"{module}.{function.__name__}"
    if not keywords:
        return f"It is the function {called}."
    options = "".join(f", {key}={value!r}" for key, value in keywords.items())
    return f"It is the function functools.partial({called}{options})."


def _nearest_names(metric: str, names: Sequence[str]) -> list[str]:
    """Names that may be meant: the one that people call so, else those nearest in spelling."""
    plain = _plain(metric)
    name = _name_by_synonym(plain)
    near = [name] if name is not None else []
    if name is None:
        near = difflib.get_close_matches(plain, names, _MOST_NEAR, _LEAST_LIKENESS)
        likeness = {key: difflib.SequenceMatcher(None, plain, key).ratio() for key in near}
        near = [key for key in near if likeness[key] > likeness[near[0]] - _AS_LIKE]
    return list(dict.fromkeys(map(meant_by, near)))


def _name_by_synonym(plain: str) -> str | None:
    """Name in ``metric=`` that people call so: an alias, other words' order, a function's name."""
    names_by_words = {frozenset(name.split("_")): name for name in _names()}
    for candidate in (plain, re.sub("_(score|loss)$", "", plain)):
        name = (ALIASES | SYNONYMS).get(candidate) or names_by_words.get(
            frozenset(candidate.split("_"))
        )
        if name is not None:
            return name
    loss = re.sub("^(neg|negative|negated)_", "", plain)
    meant = _name_by_synonym(loss) if loss != plain else None
    return losses().get(meant) if meant is not None else None


def _names() -> tuple[str, ...]:
    return (*known_names(), *losses())


def _plain(metric: str) -> str:
    """The name in lower case, with underscores for spaces, hyphens and the like."""
    return re.sub(r"[^a-z0-9]+", "_", metric.lower()).strip("_")


def without_name(metric: str) -> str:
    """Advise what to give for a metric that has no name of its own; "" if it is none of those."""
    plain = _plain(metric)
    match = _AT_K.fullmatch(metric.lower())
    if match is not None:
        share = ".mean()" if match["metric"].startswith("p") else ".sum() / y.sum()"
        k = 10 if match["k"] == "k" else int(match["k"])
        instead = f"metric=lambda y, score: y[np.argsort(-score)[:{k}]]{share}"
        return f"{_NONE}: give a callable, such as {instead} of labels 0 and 1."
    if plain in ELSEWHERE:
        return f"{_NONE}: {ELSEWHERE[plain]}."
    function = CALLABLES.get(plain) or _function_at_point(metric)
    if function:
        return f"{_NONE}: give metric={function}."
    value = ROW_MEANS.get(plain) or ROW_MEANS.get(_CUT.sub("", plain))
    return f"{AS_MEAN} and, as predictions, {value}." if value else ""


def _function_at_point(metric: str) -> str:
    """The function of a rate where another is bounded, as a partial; "" for other names."""
    match = _POINT.fullmatch(re.sub(r"[\s_=-]+", "_", metric.lower().strip()))
    if match is None:
        return ""
    is_sensitivity, bounds_alarms = match["what"] in _POSITIVES, match["at"] in _ALARMS
    bound = float(match["early"] or match["late"] or (0.01 if bounds_alarms else 0.9))
    bound = bound / 100 if "%" in metric or bound > 1 else bound
    if is_sensitivity and (bounds_alarms or match["at"] in _NEGATIVES):
        bound = 1 - bound if bounds_alarms else bound
        return f"functools.partial(skboot.metrics.sensitivity_at, specificity={bound:.6g})"
    if match["at"] in _POSITIVES and match["what"] in _NEGATIVES:
        return f"functools.partial(skboot.metrics.specificity_at, sensitivity={bound:.6g})"
    if match["at"] in _POSITIVES and match["what"] in _ALARMS:
        option = f"false_negative_rate={1 - bound:.6g}"
        return f"functools.partial(skboot.metrics.false_positive_rate_at, {option})"
    return ""


# ------------------------------------------------------------------ statistics


class KnownLabels(NamedTuple):
    """Labels as the rows of a call have them, for metrics that do not name labels themselves.

    Attributes
    ----------
    positive : label or None
        The positive class of metrics that name none.
    order : array-like or None
        Labels that occur, in the order of their categories.
    averaged : array-like or None
        Labels of the call beside predictions of one label a row: what ``labels=`` of a metric is.
    """

    positive: Any = None
    order: ArrayLike | None = None
    averaged: ArrayLike | None = None


_NOTHING_KNOWN = KnownLabels()


def resolve_metrics(
    metric: Any,
    *,
    labels: ArrayLike | None = None,
    several_outputs: bool = False,
    greater_is_better: bool | None = None,
    several: bool = False,
    pos_label: Any = None,
    row_labels: KnownLabels = _NOTHING_KNOWN,
    share_cells: bool = False,
) -> tuple[dict[str, Statistic], bool]:
    """Turn ``metric`` into statistics.

    Parameters
    ----------
    metric : str, callable, list or dict
        A scoring name, "mean", a scorer, a metric function, any ``f(y_true, y_pred)``, a partial
        of these, or a list or dict of them.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    several_outputs : bool
        Whether the truth has several columns.
    greater_is_better : bool, optional
        Direction of "mean" and of callables, which have none of their own.
    several : bool
        Whether a metric may return several numbers, as scikit-learn's do for single classes.
    pos_label : label, optional
        The positive class of metrics that have one.
    row_labels : KnownLabels
    share_cells : bool
        Whether labels and cells of the rows are found once for all of them, and held as long.

    Returns
    -------
    statistics : dict of str to Statistic
        Statistics by name; a dict keeps its keys.
    single : bool
        Whether a single metric was asked for.
    """
    statistics: dict[str, Statistic] = {}
    of_cells: list[Statistic] = []
    single = not isinstance(metric, list | tuple | set | frozenset | Mapping)
    for name, item in [(None, metric)] if single else _name_metrics(metric):
        if isinstance(item, Statistic):
            statistic = item
        elif isinstance(item, str) and item == "mean":
            statistic = means.mean_of_values(name or "mean")
        else:
            take_apart = _request_of_name if isinstance(item, str) else _request
            request = take_apart(item, name)._replace(
                labels=labels, several_outputs=several_outputs, order=row_labels.order
            )
            if pos_label is not None:
                request = _request_of_positive(request, item, pos_label)
            elif row_labels.positive is not None and _bound(item, "pos_label") is None:
                request = _request_of_positive(request, item, row_labels.positive)
            if row_labels.averaged is not None and averages_labels(request):
                request = request._replace(
                    options={**request.options, "labels": row_labels.averaged}
                )
            _check_request(request, several)
            has_options = request.is_library and bool(request.options)
            returns_several = has_options and asks_for_several(request.options)
            fast = None if returns_several else _fast_path(request)
            if fast is None:
                statistic = _callable(request)
            else:
                statistic = fast if request.sign > 0 else _negative(fast)
                if fast.reads_cells:
                    of_cells.append(fast)
        if name is None and statistic.name in statistics:
            advice = "Name them with a dict: metric={'first': ..., 'second': ...}."
            got = f"two {statistic.name!r}"
            raise fail("metric", "hold metrics of different names", got, advice)
        if greater_is_better is not None and statistic.greater_is_better != greater_is_better:
            is_direction = isinstance(greater_is_better, bool | np.bool_)
            if statistic.greater_is_better is not None or not is_direction:
                must, advice = "be True, False or None", "None says that the direction is unknown."
                if statistic.greater_is_better is not None:
                    direction = statistic.greater_is_better
                    must = f"be None or {direction}, the direction of {statistic.name!r}"
                    advice = (
                        "It is for callables and for 'mean', whose direction is not known. Beside "
                        "other metrics give a callable as a scorer, by sklearn.metrics.make_scorer."
                    )
                raise fail("greater_is_better", must, repr(greater_is_better), advice)
            statistic = replace(statistic, greater_is_better=bool(greater_is_better))  # type: ignore[type-var]
        statistics[statistic.name if name is None else name] = statistic
    # A mean of hits alone is read row by row.
    if share_cells and of_cells and (len(of_cells) > 1 or not of_cells[0].of_row_values):
        shared_cells = SharedCells()
        for statistic in of_cells:
            statistic.set_facts(shared_cells=shared_cells)
    return statistics, single


def _name_metrics(metric: Any) -> list[tuple[str | None, Any]]:
    """Each metric, with the name that a dict gives it."""
    if isinstance(metric, Mapping):
        named: list[tuple[str | None, Any]] = [(str(name), item) for name, item in metric.items()]
    elif isinstance(metric, list | tuple | set | frozenset):
        named = [(None, item) for item in metric]
    else:
        return [(None, metric)]
    if not named:
        raise fail("metric", "hold at least one metric", repr(metric))
    return named


def metric_of_class(statistic: Any, label: Any, shared_cells: SharedCells) -> Statistic:
    """Return the metric of one class, of a metric of labels with ``average=None``."""
    function = statistic.function
    # Pooled over one class it is the metric of this class, and known as a ratio of counts.
    options = {**function.keywords, "labels": [label], "average": "micro"}
    request = _request(partial(function.func, **options), statistic.name)
    class_metric = _fast_path(request) or _callable(request)
    class_metric.set_facts(shared_cells=shared_cells)
    return class_metric if statistic.sign > 0 else _negative(class_metric)


def metric_of_column(statistic: Any) -> Statistic | None:
    """Return the metric of one column against its own truth, of one that is asked for each column.

    None where that is called on repeated rows too, or is the negative of another.
    """
    function = statistic.function
    options = {k: v for k, v in function.keywords.items() if k not in _OF_COLUMNS}
    if statistic.response == "indicators":
        options["average"] = "binary"
    column_metric = _fast_path(_request(partial(function.func, **options), statistic.name))
    if column_metric is not None and statistic.sign < 0:
        column_metric = _negative(column_metric)
    return None if isinstance(column_metric, Negated) else column_metric


def unnamed_positives(metric: Any, statistics: Mapping[str, Statistic]) -> list[Statistic]:
    """Return the statistics of ``metric`` that carry no positive class of their own."""
    return [
        statistic
        for (_, item), statistic in zip(_name_metrics(metric), statistics.values(), strict=True)
        if _bound(item, "pos_label") is None
    ]


def averages_labels(request: MetricRequest) -> bool:
    """Whether a function of labels of scikit-learn or of skboot reads ``labels=``, and has none."""
    if not request.is_library or "labels" not in request.parameters:
        return False
    import_modules(__package__)
    # As in scikit-learn: the metric of one positive class reads no others.
    if request.option("average") == "binary":
        return False
    response = PATHS[request.several_outputs][1].get(request.function_name)
    return response == "labels" and request.options.get("labels") is None


def averaging(metric: Any, statistics: Mapping[str, Statistic]) -> set[str]:
    """Return the names of the statistics of ``metric`` that the labels of the rows are given to."""
    return {
        name
        for (key, item), name in zip(_name_metrics(metric), statistics, strict=True)
        if item != "mean" and not isinstance(item, Statistic)
        if averages_labels(_request(item, key))
    }


# ------------------------------------------------------------------ a metric, taken apart


def _request(metric: Any, name: str | None) -> MetricRequest:
    """Take a scoring name, scorer, function or partial apart into a function and its options."""
    if isinstance(metric, str):
        return _request_of_name(metric, name)
    parts = scorer_parts(metric)
    if parts is not None:
        response = "labels" if parts.response_methods == ("predict",) else "scores"
        function, options = parts.function, dict(parts.options)
        sign = parts.sign
    elif callable(metric):
        response, function, options, sign = None, metric, {}, 1.0
    else:
        must = "be a scoring name, a scorer, a callable, or a list or dict of these"
        raise fail("metric", must, repr(metric))
    # A partial with positional arguments is a function of its own.
    while isinstance(function, partial) and not function.args:
        options = {**function.keywords, **options}
        function = function.func
    is_library = str(getattr(function, "__module__", "")).startswith(("sklearn.", "skboot."))
    # Signatures are slow to read, so that those of libraries are cached. A cache would keep the
    # functions of users alive.
    parameters = _known_parameters(function) if is_library else _read_parameters(function)
    if parts is None and next(iter(parameters), "") == "estimator":
        must = "take true and predicted values"
        advice = "Give the function that the scorer calls, or a scorer of make_scorer."
        raise fail("metric", must, "a callable of an estimator", advice)
    changed = {}
    for key, value in options.items():
        default = parameters[key].default if key in parameters else inspect.Parameter.empty
        simple = isinstance(value, str | int | float | bool) and type(value) is type(default)
        if value is not default and not (simple and value == default):
            changed[key] = value
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    function_name = str(getattr(inner, "__name__", type(inner).__name__))
    function_name = "metric" if function_name == "<lambda>" else function_name
    if name is None:
        name = full_name(function_name, changed, parameters)
        name = name if sign > 0 else f"neg_{name}"
    return MetricRequest(
        name,
        function,
        function_name,
        is_library,
        parameters,
        changed,
        sign,
        scorer_response=response,
    )


@lru_cache(maxsize=256)
def _request_of_name(metric: str, name: str | None) -> MetricRequest:
    name_meant = meant_by(metric)
    if name_meant != metric:
        return _request_of_name(name_meant, name)
    if metric in SCORERS:
        function = getattr(sys.modules[__package__], SCORERS[metric][0])
        sign = -1.0 if metric.startswith("neg_") else 1.0
        return _request(function, name or metric)._replace(sign=sign)
    if metric in known_names():
        return _request(sklearn.metrics.get_scorer(metric), name or metric)
    if metric in losses():
        negated = _request_of_name(losses()[metric], name or metric)
        return negated._replace(sign=1.0, scorer_response=None)
    function = function_of(metric)
    if function is None:
        raise unknown_metric(metric)
    return _request(function, name or metric)


def _read_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        # Functions written in C need not have a signature.
        return {}


_known_parameters = lru_cache(maxsize=256)(_read_parameters)


def _request_of_positive(request: MetricRequest, metric: Any, pos_label: Any) -> MetricRequest:
    """The request with the positive class of the call, with which one of its own must agree."""
    bound = _bound(metric, "pos_label")
    if bound is not None and not is_among(pos_label, [bound]):
        must = f"be None or {bound!r}, which the metric {request.name!r} names as positive"
        raise fail("pos_label", must, repr(pos_label), "Name the positive class once.")
    average = request.parameters.get("average")
    averages = average is not None and average.default == "binary"
    if request.several_outputs or (averages and request.option("average") != "binary"):
        # As in scikit-learn: an average over classes has no positive one.
        return request
    if "pos_label" in request.parameters:
        return request._replace(options={**request.options, "pos_label": pos_label})
    return request._replace(pos_label=pos_label)


def _bound(metric: Any, name: str) -> Any:
    """Value that a scorer, or a partial, has bound to a keyword; None without."""
    parts = scorer_parts(metric)
    value = None
    if parts is not None:
        metric, value = parts.function, parts.options.get(name)
    while value is None and isinstance(metric, partial):
        metric, value = metric.func, metric.keywords.get(name)
    return value


def full_name(name: str, options: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """Name of a function with its options, as "sensitivity_at specificity 0.9"."""
    if asks_for_several(options):
        # Each number is named by its class or output.
        options = {key: value for key, value in options.items() if key not in _OF_SEVERAL}
    if name == "top_k_accuracy_score":
        options = {"k": parameters["k"].default, **options}
    written = {}
    for key, value in options.items():
        rows = np.atleast_2d(np.asarray(value, dtype=object)).tolist()
        is_short = np.size(value) <= _MOST_WRITTEN
        written[key] = "; ".join(" ".join(map(str, row)) for row in rows) if is_short else "..."
    if not written:
        return name
    if name.endswith("_at") and len(written) == 1:
        [(key, text)] = written.items()
        return f"{name} {key} {text}".replace("_", " ")
    return f"{name} ({', '.join(f'{key}={text}' for key, text in written.items())})"


# Numbers of an option that the name of a metric holds: those of the costs of three classes.
_MOST_WRITTEN = 9
# Options by which a metric of scikit-learn returns a number for each class, or output.
_OF_SEVERAL = ("average", "multioutput")
# What these options, and those of how columns belong to classes, say is said by a single column.
_OF_COLUMNS = (*_OF_SEVERAL, "multi_class", "labels")


def asks_for_several(options: Mapping[str, Any]) -> bool:
    """Whether options of a metric of scikit-learn are those of single classes, or outputs."""
    multioutput = options.get("multioutput")
    # Weights of outputs may be an array, which is not compared as a whole.
    raw = isinstance(multioutput, str) and multioutput == "raw_values"
    return raw or options.get("average", "") is None


# ------------------------------------------------------------------ what is refused


def _check_request(request: MetricRequest, several: bool) -> None:
    """Refuse options that no metric takes, and metrics that are none of these rows."""
    options, parameters, name = request.options, request.parameters, request.function_name
    if options.get("sample_weight") is not None:
        advice = "Give the weights as sample_weight= instead: they are then drawn with the rows."
        raise fail("metric", "not bind sample_weight", "a partial that does", advice)
    if options and not several and request.is_library and asks_for_several(options):
        advice = "Name an average; for single classes give labels=[label] and average='macro'."
        got = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise fail("metric", "return one number", got, advice)
    if request.is_library:
        average = request.option("average") if "average" in parameters else None
        if request.several_outputs:
            _check_takes_several_columns(request, average)
        elif average == "samples" or name in _OF_RANKED_COLUMNS:
            raise _refusal_of_one_column(request, average)
        if name == "bayes_decisions":
            advice = "Use its result as y_pred, with metric='neg_expected_cost'."
            raise fail("metric", "return a score", "bayes_decisions", advice)
        if name == "top_k_accuracy_score":
            k, labels = options.get("k", 2), options.get("labels")
            if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
                raise fail("metric", "have an integer k of at least 1", f"k={k!r}")
            if labels is not None and np.any(np.asarray(labels)[1:] <= np.asarray(labels)[:-1]):
                advice = (
                    "Columns may be in any order if their labels are given as labels= of the call."
                )
                raise fail("metric", "have labels in rising order", f"labels={labels!r}", advice)
        unknown = sorted(set(options) - set(parameters))
        if unknown:
            must = f"have options that {name} takes"
            advice = f"It takes {', '.join(key for key in parameters if not key.startswith('y_'))}."
            raise fail("metric", must, f"{unknown}", advice)
    missing = [
        key
        for key, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
        and key not in options
    ]
    if missing:
        bound = ", ".join(f"{key}=..." for key in missing)
        must = f"be {name!r} with a value for {' and '.join(map(repr, missing))}"
        raise fail("metric", must, "none", f"Give functools.partial({name}, {bound}).")


def _refusal_of_one_column(request: MetricRequest, average: Any) -> ValueError:
    """The error of a metric that needs several columns, for a truth of one."""
    if average == "samples":
        must = "average over classes where a row has one label"
        advice = (
            "Averages over samples are for several labels a row, with y_true of shape "
            "(n_samples, n_labels): here use 'macro', 'weighted' or 'micro'."
        )
        return fail("metric", must, "average='samples'", advice)
    must = "take a y_true of one column"
    got = f"{request.name!r}, which ranks the columns of each row"
    return fail("metric", must, got, _OF_RANKED_ITEMS)


def _check_takes_several_columns(request: MetricRequest, average: Any) -> None:
    """Refuse a metric of one column for a truth of several."""
    name = request.function_name
    if average == "binary":
        name = name.removesuffix("_score")
        must = "name an average where a row has several labels"
        advice = (
            f"Use '{name}_macro', '{name}_micro', '{name}_weighted' or '{name}_samples', or "
            "functools.partial of the function with average=."
        )
        raise fail("metric", must, repr(request.name), advice)
    if not request.function.__module__.startswith("skboot."):
        return
    import_modules(__package__)
    if name not in PATHS[True][0]:
        must = "take a y_true of several columns"
        advice = "Score each column by itself: y_true[:, k], y_pred[:, k]."
        raise fail("metric", must, f"{request.name!r}, which takes one value a row", advice)


# Metrics of how a row ranks its columns; for one column scikit-learn's raise an error.
_OF_RANKED_COLUMNS = frozenset(
    {
        "coverage_error",
        "dcg_score",
        "label_ranking_average_precision_score",
        "label_ranking_loss",
        "ndcg_score",
    }
)
_OF_RANKED_ITEMS = (
    "Give y_true and y_pred with a row for each query, or text, and a column for each item or "
    "label. With a row for each item, give average_over=<the query of each row> and "
    "metric=lambda y, score: sklearn.metrics.ndcg_score([y], [score])."
)


# ------------------------------------------------------------------ its statistic


# In which module of this folder the factory of a metric function stands, which ``fast_path``
# registers there under the name of the function; with a truth of several columns all stand in
# `outputs`. A function that is not named here, as that of a new file, is found in any module.
_MODULES = {
    "calibration": "calibration_intercept calibration_slope expected_calibration_error net_benefit",
    "clusterings": """
        adjusted_mutual_info_score adjusted_rand_score completeness_score fowlkes_mallows_score
        homogeneity_score mutual_info_score normalized_mutual_info_score rand_score v_measure_score
    """,
    "costs": "brier_score cross_entropy d2_brier_score d2_log_loss_score expected_cost",
    "crossing": """
        equal_error_rate false_positive_rate_at median_absolute_error sensitivity_at specificity_at
    """,
    "detection": "actual_detection_cost cllr minimum_detection_cost",
    "labels": """
        balanced_accuracy_score cohen_kappa_score f1_score fbeta_score jaccard_score
        matthews_corrcoef negative_likelihood_ratio npv positive_likelihood_ratio ppv
        precision_score recall_score sensitivity specificity
    """,
    "means": """
        accuracy_score brier_score_loss explained_variance_score hamming_loss hinge_loss log_loss
        mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss
        mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance
        r2_score root_mean_squared_error root_mean_squared_log_error top_k_accuracy_score
        zero_one_loss
    """,
    "ranking": "average_precision_score roc_auc_score",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def _fast_path(request: MetricRequest) -> Statistic | None:
    """Statistic that the factory of a function makes; None if it has none for these options."""
    name, factories = request.function_name, PATHS[request.several_outputs][0]
    if name not in factories and (request.several_outputs or name in _MODULE_OF):
        named = "outputs" if request.several_outputs else _MODULE_OF[name]
        import_module(f".{named}", __package__)
    if name not in factories:
        import_modules(__package__)
    factory = factories.get(name)
    module = sys.modules.get(request.function.__module__)
    # A partial or a wrapper may carry the name of the function that it changes.
    if factory is None or getattr(module, name, None) is not request.function:
        return None
    if request.options and not set(request.options) <= set(_known_parameters(factory)):
        return None
    with arguments_named({}, name):
        return factory(request, **request.options)


def _negative(statistic: Statistic) -> Statistic:
    """The negative of a loss, as scikit-learn's scorers have it."""
    if not isinstance(statistic, means.RowMean):
        return Negated(statistic)
    low, high = statistic.bounds
    better = None if statistic.greater_is_better is None else not statistic.greater_is_better
    return replace(statistic, sign=-1.0, greater_is_better=better, bounds=(0.0 - high, 0.0 - low))


# Functions of skboot of which smaller is better, whose names do not say so.
_LOSSES_OF_SKBOOT = frozenset(
    {"brier_score", "cross_entropy", "equal_error_rate", "expected_cost", "false_positive_rate_at"}
)


def _callable(request: MetricRequest) -> CallableStatistic:
    """The function on repeated rows."""
    function, name, is_library = request.function, request.function_name, request.is_library
    options, parameters, several_outputs = (
        request.options,
        request.parameters,
        request.several_outputs,
    )
    takes_weights = "sample_weight" in parameters
    bound = partial(function, **options) if options else function
    # Greater is better for scorers, and the names of scikit-learn's functions imply theirs.
    better: bool | None = None
    if request.scorer_response is not None:
        better = True
    elif is_library and (
        name.endswith(("_loss", "_error", "_deviance")) or name in _LOSSES_OF_SKBOOT
    ):
        better = request.sign < 0
    elif is_library and name.endswith("_score"):
        better = True
    positive = options.get("pos_label")
    if not is_library and (request.scorer_response != "scores" or several_outputs):
        kind = WeightedCallable if takes_weights else CallableStatistic
        return kind(
            bound,
            request.name,
            better,
            request.sign,
            "any",
            takes_weights,
            pos_label=positive,
        )
    import_modules(__package__)
    response: Response = PATHS[several_outputs][1].get(name, "any") if is_library else "scores"
    # What a function takes that has a positive class and no argument for it.
    two_class: Response | None = None
    if is_library and not several_outputs and "pos_label" not in parameters:
        two_class = response if response in ("scores", "probabilities") else None
        two_class = GREATER_IS_POSITIVE.get(name, two_class)
    # A top-k accuracy ranks all classes, also those that a resample lacks.
    is_top = function is sklearn.metrics.top_k_accuracy_score
    takes_labels = (is_top or response in ("probabilities", "any")) and "labels" in parameters
    takes_labels = takes_labels and not several_outputs and "labels" not in options
    low, high = RANGES.get(name, (-np.inf, np.inf)) if is_library else (-np.inf, np.inf)
    has_cells = response == "labels" and takes_weights and is_library
    labels = options.get("labels")
    library_class = CellsCallable if has_cells else LibraryCallable
    return library_class(
        bound,
        request.name,
        better,
        request.sign,
        response,
        takes_weights,
        (ValueError, ZeroDivisionError) if is_library else (),
        bounds=(low, high) if request.sign > 0 else (0.0 - high, 0.0 - low),
        labels=request.labels if response == "labels" else request.columns(labels),
        pos_label=positive if two_class is None else request.pos_label,
        takes_labels=takes_labels,
        two_class=two_class,
    )
