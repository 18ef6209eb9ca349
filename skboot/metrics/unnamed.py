"""What to give for a metric that has no name: a callable, or the mean of a value of each row."""

from __future__ import annotations

import re
from collections.abc import Mapping


def _by_name(several: Mapping[str, str]) -> dict[str, str]:
    return {name: advice for names, advice in several.items() for name in names.split()}


# The callable by how people call the metric, in lower case with underscores, and what it takes
# where that is not obvious.
CALLABLES = _by_name(
    {
        "act_dcf actdcf actual_dcf actual_detection_cost c_det cdet dcf detection_cost": ""
        "functools.partial(skboot.metrics.actual_detection_cost, priors=[0.99, 0.01], "
        "relative=True). Its second prior is that of targets, and it takes log-likelihood ratios",
        "ap50 ap75 coco_map map50 map_0_5 map_50 map_50_95 map_at_50 mean_ap": "lambda image: "
        "f(image), with y_true=None and y_pred=np.arange(n_images). f pools the detections of the "
        "images with these numbers",
        "act_c_primary actual_c_primary c_primary cprimary": "lambda y, llr: np.mean("
        "[skboot.metrics.actual_detection_cost(y, llr, priors=[1 - p, p], relative=True) "
        "for p in (0.01, 0.005)]). Its priors are those of NIST SRE 2016",
        "bleu corpus_bleu sacrebleu": "lambda references, texts: "
        "sacrebleu.corpus_bleu(texts.tolist(), [references.tolist()]).score",
        "ccc concordance_correlation lins_ccc": "lambda y, p: 2 * np.cov(y, p, bias=True)[0, 1] / "
        "(y.var() + p.var() + (y.mean() - p.mean()) ** 2)",
        "corr correlation pearson pearsonr": "lambda y, p: scipy.stats.pearsonr(y, p)[0]",
        "diagnostic_odds_ratio dor": "lambda y, p: "
        "np.divide(*sklearn.metrics.class_likelihood_ratios(y, p))",
        "f0_5": "functools.partial(sklearn.metrics.fbeta_score, beta=0.5)",
        "f2 f_beta fbeta": "functools.partial(sklearn.metrics.fbeta_score, beta=2)",
        "false_acceptance_rate false_alarm_rate false_positive_rate far fpr": "lambda y, p: "
        "1 - sklearn.metrics.recall_score(y, p, pos_label=0)",
        "false_negative_rate false_rejection_rate fnr frr miss_rate": "lambda y, p: "
        "1 - sklearn.metrics.recall_score(y, p)",
        "fpr95 fpr_95 fpr_at_95_tpr": "functools.partial(skboot.metrics.false_positive_rate_at, "
        "false_negative_rate=0.05)",
        "g_mean geometric_mean gmean": "lambda y, p: scipy.stats.gmean("
        "sklearn.metrics.recall_score(y, p, average=None, zero_division=0))",
        "gini": "lambda y, score: 2 * sklearn.metrics.roc_auc_score(y, score) - 1",
        "half_total_error_rate hter": "lambda y, p: "
        "1 - sklearn.metrics.balanced_accuracy_score(y, p)",
        "informedness j_statistic youden youden_index youden_j youdens_j": "functools.partial("
        "sklearn.metrics.balanced_accuracy_score, adjusted=True)",
        "false_positive_rate_at": "functools.partial(skboot.metrics.false_positive_rate_at, "
        "false_negative_rate=0.05)",
        "sensitivity_at": "functools.partial(skboot.metrics.sensitivity_at, specificity=0.9)",
        "specificity_at": "functools.partial(skboot.metrics.specificity_at, sensitivity=0.9)",
        "kendall kendall_tau kendalltau": "lambda y, p: scipy.stats.kendalltau(y, p)[0]",
        "mdape median_absolute_percentage_error": "lambda y, p: np.median(np.abs((y - p) / y))",
        "median": "np.median, with y_true=None. Of errors it is 'median_absolute_error'",
        "cllr_min min_cllr mincllr minimum_cllr": "lambda y, score: skboot.metrics.cllr(y, "
        "scipy.special.logit(sklearn.isotonic.IsotonicRegression(y_min=1e-9, y_max=1 - 1e-9)"
        ".fit_transform(score, y)) - scipy.special.logit(y.mean())). Its classes are 0 and 1; it "
        "is optimistic, as calibrated on the same rows, and more so on resamples",
        "kolmogorov_smirnov ks ks_statistic": "lambda y, score: "
        "scipy.stats.ks_2samp(score[y == 1], score[y == 0]).statistic",
        "min_dcf mindcf minimum_dcf minimum_detection_cost": "functools.partial("
        "skboot.metrics.minimum_detection_cost, priors=[0.99, 0.01], relative=True). Its second "
        "prior is that of targets",
        "net_benefit": "functools.partial(skboot.metrics.net_benefit, threshold=0.2)",
        "class_likelihood_ratios likelihood_ratio lr": "'positive_likelihood_ratio' or "
        "'negative_likelihood_ratio'",
        "normalized_rmse nrmse": "lambda y, p: "
        "sklearn.metrics.root_mean_squared_error(y, p) / np.std(y)",
        "o_e observed_expected oe oe_ratio": "lambda y, p: y.mean() / p.mean()",
        "partial_auc pauc": "functools.partial(sklearn.metrics.roc_auc_score, max_fpr=0.1)",
        "perplexity ppl": "lambda loss, sample_weight=None: np.exp(np.average(loss, "
        "weights=sample_weight)), with y_true=None. It takes the loss of each token, or of each "
        "text with its tokens as sample_weight",
        "neg_mean_pinball_loss pinball pinball_loss quantile quantile_loss": "functools.partial("
        "sklearn.metrics.mean_pinball_loss, alpha=0.9). Its alpha is the quantile",
        "quadratic_weighted_kappa qwk": "functools.partial(sklearn.metrics.cohen_kappa_score, "
        "weights='quadratic')",
        "rmsse root_mean_squared_scaled_error": "lambda y, p: "
        "sklearn.metrics.root_mean_squared_error(y, p) / scale. Its scale is the root mean squared "
        "error of the naive forecast on the rows for training",
        "spearman spearmanr": "lambda y, p: scipy.stats.spearmanr(y, p)[0]",
        "top_k": "'top_5_accuracy'. Its k is any",
        "wape wmape": "lambda y, p: np.abs(y - p).sum() / np.abs(y).sum()",
        "weighted_kappa": "functools.partial(sklearn.metrics.cohen_kappa_score, weights='linear')",
    }
)
# The value of each row, query or text, by how people call its mean; also after a cut, as "ndcg@10".
ROW_MEANS = _by_name(
    {
        "bert_score bertscore chrf comet meteor rouge rouge_l rougel": "the score of each text",
        "bias mbe me mean_bias_error mean_error": "p - y of each row",
        "bpb bpc loss": "the loss of each row",
        "cer character_error_rate": "the rate of each row, with its characters as sample_weight",
        "coverage picp": "(low <= y) & (y <= high) of each row",
        "crps": "the value of each row",
        "der diarization_error_rate": "the rate of each recording, with its seconds of speech as "
        "sample_weight",
        "hausdorff hausdorff_distance": "the distance of each image",
        "psnr ssim": "the value of each image",
        "hit hit_rate hits map mean_average_precision mean_reciprocal_rank mrr ndcg": "the value "
        "of each query",
        "interval_score winkler winkler_score": "high - low + 2 / alpha * (np.maximum(low - y, 0) "
        "+ np.maximum(y - high, 0)) of each row, with alpha=0.05 for limits of 95 %",
        "mean_scaled_interval_score msis": "the interval score of each row over the mean absolute "
        "error of the naive forecast",
        "mase": "abs(p - y) of each row over the mean absolute error of the naive forecast",
        "mos pesq sdr si_sdr stoi": "the value of each recording",
        "pass": "skboot.metrics.pass_at_k(n_correct, n_samples, k) of each problem",
        "smape symmetric_mape": "2 * abs(p - y) / (abs(p) + abs(y)) of each row",
        "ter wer word_error_rate": "the rate of each row, with its words as sample_weight",
        "win_rate": "1 for each row that is won, 0 for one that is lost, and 0.5 for a tie",
    }
)
# What is no metric, or one of two, and where it is found.
ELSEWHERE = _by_name(
    {
        "c_index c_statistic cindex concordance concordance_index harrell harrell_c harrells_c "
        "harrell_c_index harrell_s_c harrell_s_c_index harrells_c_index": "of two classes it is "
        "'roc_auc'; of event times give metric=lambda y, risk: "
        "lifelines.utils.concordance_index(y[:, 0], -risk, y[:, 1]), with "
        "y_true=np.column_stack((time, event))",
        "delong delong_test": "it is an interval, which areas under ROC curves have: "
        "compare_systems(y_true, {'A': a, 'B': b}, metric='roc_auc')",
        "det detection_error_tradeoff": "it is a curve: bootstrap_curve(y_true, y_score, "
        "curve='det')",
        "mcnemar mcnemar_test": "it is a test of two systems: skboot.inference.mcnemar_exact; for "
        "the difference and its interval compare_systems(y_true, {'A': a, 'B': b})",
        "ppi prediction_powered_inference": "give what a judge says of all rows as proxy= of "
        "bootstrap_score or compare_systems",
    }
)
# One name of each of which smaller is better, and no function says so.
_LOSSES = (
    *("cprimary", "fnr", "fpr", "hter", "mdape", "min_cllr", "nrmse", "ppl", "rmsse", "wape"),
    *("cer", "crps", "der", "hausdorff", "interval_score", "loss", "mase", "msis", "smape", "wer"),
)
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


def instead_of_name(given: str, plain: str) -> str:
    """What to give for a metric that has no name of its own; "" if it is none of those.

    ``plain`` is the name in lower case, with underscores.
    """
    at_k = _AT_K.fullmatch(given.lower())
    if at_k is not None:
        share = ".mean()" if at_k["metric"].startswith("p") else ".sum() / y.sum()"
        k = 10 if at_k["k"] == "k" else int(at_k["k"])
        instead = f"metric=lambda y, score: y[np.argsort(-score)[:{k}]]{share}"
        return f"{_NONE}: give a callable, such as {instead} of labels 0 and 1."
    if plain in ELSEWHERE:
        return f"{_NONE}: {ELSEWHERE[plain]}."
    function = CALLABLES.get(plain) or _at_point(given)
    if function:
        return f"{_NONE}: give metric={function}."
    name = _without_cut(plain)
    return f"{AS_MEAN} and, as predictions, {ROW_MEANS[name]}." if name in ROW_MEANS else ""


def direction_of(plain: str) -> str:
    """What to give beside what stands for a loss without a name; "" for others."""
    advised = CALLABLES | ROW_MEANS
    shown = advised.get(plain) or advised.get(_without_cut(plain))
    is_loss = shown in map(advised.get, _LOSSES)
    return " Smaller is better: give greater_is_better=False." if shown and is_loss else ""


def _without_cut(plain: str) -> str:
    return plain if plain in ROW_MEANS else _CUT.sub("", plain)


def _at_point(given: str) -> str:
    """The function of a rate where another is bounded, as a partial; "" for other names."""
    found = _POINT.fullmatch(re.sub(r"[\s_=-]+", "_", given.lower().strip()))
    if found is None:
        return ""
    of_positives, at_alarms = found["what"] in _POSITIVES, found["at"] in _ALARMS
    bound = float(found["early"] or found["late"] or (0.01 if at_alarms else 0.9))
    bound = bound / 100 if "%" in given or bound > 1 else bound
    if of_positives and (at_alarms or found["at"] in _NEGATIVES):
        name, option = "sensitivity_at", "specificity"
        bound = 1 - bound if at_alarms else bound
    elif found["at"] in _POSITIVES and found["what"] in _NEGATIVES:
        name, option = "specificity_at", "sensitivity"
    elif found["at"] in _POSITIVES and found["what"] in _ALARMS:
        name, option, bound = "false_positive_rate_at", "false_negative_rate", 1 - bound
    else:
        return ""
    return f"functools.partial(skboot.metrics.{name}, {option}={bound:.6g})"
