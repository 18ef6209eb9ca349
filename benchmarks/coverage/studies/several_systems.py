"""Three to ten frozen systems on one test set: how often any two equal ones are told apart.

Question: do the simultaneous intervals of `compare_systems` (``adjust="max-t"``, the default) hold
all true differences at once in 95 % of the data sets, what ever the score, the number of systems
and the design, and how often is a better system told from all others? Written before the run.

Design. Systems whose row qualities have a correlation of .6, equally good, or one better than the
others, which are equal. The target "all pairs" is 0: an interval leaves it out where any pair's
simultaneous interval leaves out that pair's true difference, so that 100 % less the coverage is the
family-wise level; its width is the mean over pairs. The target "best" is 0, too: it is left out
where the better system is told from all others, so that 100 % less the coverage is the power. 1000
repetitions for skboot and closed forms, 500 for its other choices, 200 for packages with 1000
resamples.

Tools. "skboot, Holm" is ``adjust="holm"``, "skboot, each pair" ``adjust=None`` (wrong), and
"skboot, reference" compares with the first system alone. Others, of which tests give decisions
alone: paired t with Bonferroni's rule and Holm's over McNemar's exact tests, and Cochran's Q of all
systems at once (statsmodels); DeLong's tests (MLstatkit) with Holm's rule; pairs with Holm's rule
(stambo).

Rule. The family-wise level of the default is at most 5 % in every cell, up to 2.6 Monte Carlo
standard errors (6.8 % of 1000), outside the stated exceptions, as in `frozen_systems`. A cell
outside is reported as it is.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from skboot import compare_systems

from ..pair_tools import LEVEL, N_RESAMPLES
from ..pairs import (
    absolute_errors,
    accuracies,
    crossed,
    errors,
    grouped,
    macro_f1_scores,
    probabilities,
    ranked,
    two_classes,
)
from ..runner import Cell, Study, Tool, decision


def _answer(sample, pairs):
    """Limits of both targets from (first, second, low, high) of each pair."""
    pairs = list(pairs)
    at = {pair[:2]: pair[2:] for pair in pairs}
    own = np.array([sample.values[i] - sample.values[j] for i, j in at])
    low, high = np.array(list(at.values())).T
    found = {"all pairs": _at_once(low - own, high - own)}
    if "best" in sample.truth:
        better, is_loss = _best(sample)
        sides = [
            (lo, hi) if (i == better) != is_loss else (-hi, -lo)
            for (i, j), (lo, hi) in at.items()
            if better in (i, j)
        ]
        # Positive where it is better: the least certain lower limit, the largest upper one.
        found["best"] = min(side[0] for side in sides), max(side[1] for side in sides)
    return found


def _best(sample):
    """Number of the better system, and whether its score is the smallest."""
    is_loss = sample.score.is_loss and sample.score.name != "R2"
    return int(np.argmin(sample.values) if is_loss else np.argmax(sample.values)), is_loss


def _at_once(low, high):
    """One interval as wide as they are on average, that leaves out 0 if one of them does."""
    width = float(np.mean(high - low))
    if low.max() > 0:
        return low.max(), low.max() + width
    if high.min() < 0:
        return high.min() - width, high.min()
    return -width / 2, width / 2


def _compared(sample, seed, **options):
    named = {f"s{k}": p for k, p in enumerate(sample.y_preds)}
    return compare_systems(
        sample.y_true,
        named,
        metric=sample.score.ours,
        groups=sample.units,
        random_state=seed,
        **options,
    )


def _numbers(pair):
    return int(pair.first[1:]), int(pair.second[1:])


def _ours(sample, seed):
    """The default."""
    return {"": _by(sample, seed)}


def _each_pair(sample, seed):
    """Each pair by its own interval (wrong)."""
    return {"": _by(sample, seed, adjust=None)}


def _reference(sample, seed):
    """The first system against each of the others."""
    return {"": _by(sample, seed, reference="s0")}


def _by(sample, seed, **options):
    pairs = _compared(sample, seed, **options).pairs
    name = "confidence_interval" if "adjust" in options else "simultaneous_interval"
    return _answer(sample, [(*_numbers(pair), *getattr(pair, name)[:2]) for pair in pairs])


def _by_holm(sample, seed):
    """Decisions by Holm's rule."""
    result = _compared(sample, seed, adjust="holm")
    return {
        "": _answer(
            sample,
            [
                (*_numbers(pair), *decision(result.is_distinguishable(pair), pair.difference))
                for pair in result.pairs
            ],
        )
    }


def _statsmodels(sample, seed):
    from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

    values = np.array([sample.score.losses(sample.y_true, p) for p in sample.y_preds])
    pairs = list(combinations(range(len(values)), 2))
    found = {"t, Bonferroni": _answer(sample, _bonferroni(values, pairs))}
    if sample.score.name == "accuracy":
        p_values = []
        for i, j in pairs:
            a, b = values[[i, j]]
            table = [[np.sum(a * b), np.sum(a > b)], [np.sum(a < b), np.sum(a + b == 0)]]
            p_values.append(mcnemar(table).pvalue)
        signs = [values[i].mean() - values[j].mean() for i, j in pairs]
        found["McNemar, Holm"] = _answer(sample, _holm(pairs, p_values, signs))
        if len(set(sample.values)) == 1:
            told = cochrans_q(values.T).pvalue <= 1 - LEVEL
            found["Cochran's Q"] = {"all pairs": decision(told)}
    return found


def _bonferroni(values, pairs):
    for i, j in pairs:
        gaps = values[i] - values[j]
        quantile = stats.t.ppf(1 - (1 - LEVEL) / 2 / len(pairs), len(gaps) - 1)
        reach = quantile * stats.sem(gaps)
        yield i, j, gaps.mean() - reach, gaps.mean() + reach


def _holm(pairs, p_values, signs):
    from statsmodels.stats.multitest import multipletests

    # No p-value: two systems that agree on every row.
    told = multipletests(np.nan_to_num(p_values, nan=1.0), 1 - LEVEL, "holm")[0]
    for (i, j), is_told, sign in zip(pairs, told, signs, strict=True):
        yield i, j, *decision(is_told, sign)


def _mlstatkit(sample, seed):
    from MLstatkit import Delong_test

    pairs = list(combinations(range(len(sample.y_preds)), 2))
    p_values, signs = [], []
    for i, j in pairs:
        told = Delong_test(
            sample.y_true,
            sample.y_preds[i],
            sample.y_preds[j],
            n_boot=N_RESAMPLES,
            random_state=seed,
        )
        p_values.append(told[1])
        signs.append(told[4] - told[5])
    return {"DeLong, Holm": _answer(sample, _holm(pairs, p_values, signs))}


def _stambo(sample, seed):
    import stambo

    score, systems = sample.score.function, range(len(sample.y_preds))
    whole = sample.first.dtype.kind in "iu"

    def value(rows):
        y, p = rows.T.astype(int) if whole else rows.T
        return float(score(y, p))

    told = stambo.pairwise_bootstrap_test(
        tuple(np.column_stack((sample.y_true, p)) for p in sample.y_preds),
        {"score": value},
        labels=tuple(map(str, systems)),
        n_bootstrap=N_RESAMPLES,
        seed=seed,
        silent=True,
    )["score"]
    answers = []
    for name, pair in told.items():
        i, j = map(int, name.split(" / "))
        # stambo subtracts the first from the second.
        is_told = pair["p_value_adjusted"] <= 1 - LEVEL
        answers.append((i, j, *decision(is_told, -pair["diff"])))
    return {"Holm": _answer(sample, answers)}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", _ours, note="compare_systems, all defaults"),
        Tool("skboot, Holm", _by_holm, note='adjust="holm"'),
        Tool("skboot, reference", _reference, note='reference="s0"'),
        Tool("skboot, each pair", _each_pair, note="adjust=None: wrong on purpose"),
        Tool("statsmodels", _statsmodels, "statsmodels", "closed forms"),
        Tool("MLstatkit", _mlstatkit, "MLstatkit", "Delong_test"),
        Tool("stambo", _stambo, "stambo", "pairwise_bootstrap_test, 1000 of its 5000 resamples"),
    )
}
CLOSED = {"statsmodels": 1000}
CHOICES = {"skboot, Holm": 500, "skboot, reference": 500, "skboot, each pair": 500}


def _cell(title, kind, draw, others=()):
    return Cell(title, kind, draw, {"skboot": 1000} | dict(others))


def _equal():
    for n, k, at in ((200, 3, 0.85), (200, 5, 0.85), (200, 10, 0.85), (100, 5, 0.97)):
        others = CLOSED | CHOICES | ({"stambo": 200} if k == 5 and n == 200 else {})
        title = f"{k} equal, accuracy {at}, n {n}"
        yield _cell(title, "accuracy", accuracies(n, *[at] * k), others)
    draw = two_classes("F1", 100, 0.3, *[(0.8, 0.1)] * 5)
    yield _cell("5 equal, F1, recall 0.8, n 100", "F1", draw)
    draw = ranked("AUC", 150, 0.4, *[0.85] * 5)
    yield _cell("5 equal, AUC 0.85, n 150", "AUC", draw, {"MLstatkit": 1000})
    draw = absolute_errors(100, *[1.0] * 5)
    yield _cell("5 equal, MAE, normal errors, n 100", "losses", draw, CLOSED)
    draw = errors("MSE", 200, "t5", *[1.0] * 5)
    yield _cell("5 equal, MSE, t5 errors, n 200", "heavy tails", draw, CLOSED)
    for name, n_groups, at in (("accuracy", 30, 0.85), ("MAE", 25, 0.5)):
        draw = grouped(name, n_groups, (5, 15), 0.3, *[at] * 5)
        yield _cell(f"5 equal, {name}, {n_groups} groups of 5 to 15", "groups", draw)


def _one_better():
    for k in (3, 5):
        draw = accuracies(300, 0.9, *[0.82] * (k - 1))
        others = CLOSED | {"skboot, Holm": 500} | ({"stambo": 200} if k == 3 else {})
        yield _cell(f"one of {k} better, accuracy 0.9 and 0.82, n 300", "accuracy", draw, others)
    draw = absolute_errors(200, 0.8, *[1.0] * 4)
    yield _cell("one of 5 better, MAE 0.8 times, n 200", "losses", draw, CLOSED)
    draw = ranked("AUC", 300, 0.4, 0.9, *[0.83] * 4)
    yield _cell("one of 5 better, AUC 0.9 and 0.83, n 300", "AUC", draw, {"MLstatkit": 1000})
    draw = grouped("accuracy", 40, (5, 15), 0.3, 0.92, *[0.84] * 4)
    title = "one of 5 better, accuracy 0.92 and 0.84, 40 groups of 5 to 15"
    yield _cell(title, "groups", draw)


def _more():
    for n, k, at in ((50, 5, 0.9), (100, 10, 0.98)):
        title = f"{k} equal, accuracy {at}, n {n}"
        yield _cell(title, "accuracy", accuracies(n, *[at] * k), CLOSED)
    draw = crossed("accuracy", 45, 45, 0.15, *[0.85] * 5)
    yield _cell("5 equal, accuracy, 45 x 45 crossed", "crossed", draw)
    draw = two_classes("MCC", 200, 0.3, *[(0.8, 0.1)] * 5)
    yield _cell("5 equal, MCC, recall 0.8, n 200", "MCC", draw)
    draw = macro_f1_scores(200, 4, *[(0.6, 0.9)] * 3)
    yield _cell("3 equal, macro F1, 4 classes, n 200", "macro F1", draw)
    draw = ranked("average precision", 200, 0.3, *[0.85] * 3)
    title = "3 equal, average precision, AUC 0.85, n 200"
    yield _cell(title, "average precision", draw)
    draw = probabilities(200, 0.7, *[1.0] * 5)
    yield _cell("5 equal, log loss, n 200", "losses", draw, CLOSED)
    draw = errors("MSE", 200, "t3", *[1.0] * 5)
    yield _cell("5 equal, MSE, t3 errors, n 200", "heavy tails", draw, CLOSED)
    draw = grouped("AUC", 30, (5, 15), 0.3, *[0.85] * 5)
    yield _cell("5 equal, AUC, 30 groups of 5 to 15", "groups", draw)
    draw = accuracies(300, 0.9, *[0.82] * 9)
    yield _cell("one of 10 better, accuracy 0.9 and 0.82, n 300", "accuracy", draw, CLOSED)
    draw = ranked("AUC", 150, 0.4, *[0.85] * 10)
    yield _cell("10 equal, AUC 0.85, n 150", "AUC", draw, {"MLstatkit": 200})
    draw = absolute_errors(100, *[1.0] * 10)
    yield _cell("10 equal, MAE, normal errors, n 100", "losses", draw, CLOSED)


STUDY = Study("several_systems", (*_equal(), *_one_better(), *_more()), TOOLS)
