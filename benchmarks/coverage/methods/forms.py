"""Forms of the standard error of "cv-bootstrap", of one score and of a difference of two methods.

All forms of a data set stand on the same parts, and all numbers of samples and repeats on its first
ones. The notation: V_fl is the sampling variance of out-of-fold influence values averaged over
repeats, V1 that of one repeat, s_rob^2 the robust training variance, C the covariance of testing
and training by the count of a unit and P by its presence, D the conservative variance of scores
within their fences, and lam the share of the training variance that is left at the full size.
`FORMS` and `DIFFERENCES` are the variances, each a function of these. Those by optimism have no D:
the standard error is at most sqrt(V1) and half of what the centre is above the resubstitution
error.

O13 in their names is the form of record 0043, O21 that of record 0035.
"""

from typing import NamedTuple

import numpy as np

from skboot.method_error.cv_bootstrap import share_of_training
from skboot.method_error.out_of_bag import (
    JACKKNIFE_RESAMPLES,
    out_of_bag_error,
    out_of_bag_metric,
    quartiles,
    training_spread,
    within_fences,
)

from .candidates import LEAST_TRAINING_SHARE, presence

# ------------------------------------------------------------------ one score


class Variances(NamedTuple):
    """What the forms of one score are made of."""

    averaged: float  # V_fl
    one_repeat: float  # V1
    robust: float  # s_rob^2
    by_count: float  # C
    by_presence: float  # P
    cap: float  # D
    share: float  # lam, without a least value
    bounded: bool
    excess: float  # (centre - median out-of-bag score) / sqrt(V_fl)
    half_optimism: float  # (centre - resubstitution error) / 2, at least 0; infinite if unknown


def _sum(v, share, covariance, test=None, cap=None):
    total = (v.averaged if test is None else test) + share * v.robust + max(covariance, 0.0)
    return max(v.averaged, min(v.cap if cap is None else cap, total))


def _smaller(v):
    return min(v.by_count, v.by_presence) if v.bounded else v.by_count


def _by_optimism(v, share, covariance, test=None):
    most = (np.sqrt(v.one_repeat) + v.half_optimism) ** 2
    return min(_sum(v, share, covariance, test, np.inf), max(v.averaged, most))


FORMS = {
    "O13": lambda v: _sum(v, max(v.share, LEAST_TRAINING_SHARE), _smaller(v)),
    "share": lambda v: _sum(v, v.share, np.sqrt(v.share) * v.by_count),
    "share, one repeat": lambda v: _sum(v, v.share, np.sqrt(v.share) * v.by_count, v.one_repeat),
    "share, smaller": lambda v: _sum(v, v.share, np.sqrt(v.share) * _smaller(v)),
    "share, presence": lambda v: _sum(v, v.share, np.sqrt(v.share) * v.by_presence),
    "share, uncapped": lambda v: _sum(v, v.share, np.sqrt(v.share) * v.by_count, cap=np.inf),
    "share, no covariance": lambda v: _sum(v, v.share, 0.0),
    "optimism, share": lambda v: _by_optimism(
        v, v.share, np.sqrt(v.share) * v.by_count, v.one_repeat
    ),
    "optimism, least share": lambda v: _by_optimism(
        v, max(v.share, LEAST_TRAINING_SHARE), v.by_count
    ),
    "optimism, O13": lambda v: _by_optimism(v, max(v.share, LEAST_TRAINING_SHARE), _smaller(v)),
}


def variances_by_repeats(parts, n_resamples, repeats):
    """`Variances` of the first samples, by the number of repeats."""
    scores = parts.scores[:n_resamples]
    lines = np.flatnonzero(np.isfinite(scores))
    scores, counts = scores[lines], parts.counts[:n_resamples][lines]
    influence_b = parts.oob_influence[:n_resamples][lines]
    moved, factors = within_fences(scores)
    whole, n_units = parts.influence.mean(axis=0), counts.shape[1]
    spread = training_spread(whole, counts, moved, lambda own: influence_b[:, own], factors)
    # The jackknife is a sum of squares less a noise that the repeats do not move.
    noise = np.sum((whole / n_units + spread.effect) ** 2) - spread.jackknife
    robust, variance, median = spread.robust_variance, spread.variance, quartiles(scores)[1]
    by_presence = presence(counts, spread.residual)
    enough = len(scores) >= JACKKNIFE_RESAMPLES * np.sqrt(n_units)
    bounds = parts.options["bounds"]
    found = {}
    for n_repeats in repeats:
        cv = parts.influence[:n_repeats]
        influence, centre = cv.mean(axis=0), float(parts.centres[:n_repeats].mean())
        averaged = float(influence.var(ddof=1) / n_units)
        test = float(cv.var(axis=1, ddof=1).mean() / n_units)
        jackknife = float(np.sum((influence / n_units + spread.effect) ** 2) - noise)
        cap = max(averaged, test + variance)
        share = 1.0
        if not parts.options.get("pooled") and np.isfinite(parts.resubstitution):
            share = share_of_training(parts.resubstitution, centre, median)
        found[n_repeats] = Variances(
            averaged,
            test,
            robust,
            float(2 * influence @ spread.effect / n_units),
            float(2 * influence @ by_presence / n_units),
            max(cap, jackknife) if enough and np.isfinite(jackknife) else cap,
            share,
            bool(np.isfinite(bounds).all()),
            float((centre - median) / np.sqrt(averaged)) if averaged > 0 else 0.0,
            np.inf if np.isnan(parts.resubstitution) else max(centre - parts.resubstitution, 0) / 2,
        )
    return found


# ------------------------------------------------------------------ differences


class DifferenceVariances(NamedTuple):
    """What the forms of a difference of two methods are made of."""

    averaged: float  # V_fl of the difference
    one_repeat: float  # V1 of the difference
    left_out: float  # squared standard error of the out-of-bag difference
    jackknife: float  # of the difference as it is; NaN with too few samples
    share: float  # the larger of the two
    robust: float  # s_rob^2 of residuals, each method's scaled by the root of its share
    covariance: float  # C of the same
    cap: float  # D of scores within their fences, not scaled
    robust_least: float  # s_rob^2 where shares are at least .15
    covariance_whole: float  # C of residuals that are not scaled
    half_optimism: float  # of both methods together; infinite if unknown


def _shared_jackknife(v):
    more = v.jackknife - v.left_out
    return max(v.averaged, v.left_out + (v.share * more if more > 0 else 0.0))


def _most_by_optimism(v):
    return (np.sqrt(v.one_repeat) + v.half_optimism) ** 2


def _shares(v, test, covariance=0.0, cap=np.inf):
    return max(v.averaged, min(cap, test + v.robust + max(covariance, 0.0)))


DIFFERENCES = {
    "O21": _shared_jackknife,
    "shares": lambda v: _shares(v, v.one_repeat),
    "shares and covariance": lambda v: _shares(v, v.one_repeat, v.covariance),
    "shares and covariance, capped": lambda v: _shares(v, v.one_repeat, v.covariance, v.cap),
    "shares, averaged": lambda v: _shares(v, v.averaged),
    "shares and covariance, averaged": lambda v: _shares(v, v.averaged, v.covariance),
    "shares and covariance, capped, averaged": lambda v: _shares(
        v, v.averaged, v.covariance, v.cap
    ),
    "shares and covariance, optimism": lambda v: _shares(
        v, v.one_repeat, v.covariance, _most_by_optimism(v)
    ),
    "least shares, optimism": lambda v: max(
        v.averaged,
        min(_most_by_optimism(v), v.averaged + v.robust_least + max(v.covariance_whole, 0.0)),
    ),
    "O21, optimism": lambda v: max(v.averaged, min(_most_by_optimism(v), _shared_jackknife(v))),
}


def differences_by_repeats(first, second, of_losses, n_resamples, repeats):
    """`DifferenceVariances` of two `Parts` of the same samples, by the number of repeats.

    `of_losses`: whether the metric is a mean over rows, which are the units.
    """
    every = (first, second)
    usable = np.all([np.isfinite(own.scores[:n_resamples]) for own in every], axis=0)
    lines = np.flatnonzero(usable)
    counts, n_units = first.counts[lines], first.counts.shape[1]
    scores = [own.scores[lines] for own in every]
    influence_b = [own.oob_influence[lines] for own in every]
    fenced = [within_fences(own) for own in scores]
    cv = first.influence - second.influence
    whole = cv.mean(axis=0)

    def spread_of(factors):
        """Spread of the difference where the methods' scores are scaled, and its noise."""
        moved = [scale * score for scale, (score, _) in zip(factors, fenced, strict=True)]
        scaled = [
            scale * factor[:, None] * own
            for scale, (_, factor), own in zip(factors, fenced, influence_b, strict=True)
        ]
        change = scaled[0] - scaled[1]
        return training_spread(whole, counts, moved[0] - moved[1], lambda own: change[:, own])

    change, gap = scores[0] - scores[1], influence_b[0] - influence_b[1]
    plain = training_spread(whole, counts, change, lambda own: gap[:, own])
    within = spread_of((1.0, 1.0))
    noises = [
        np.sum((whole / n_units + own.effect) ** 2) - own.jackknife for own in (plain, within)
    ]
    enough = len(lines) >= JACKKNIFE_RESAMPLES * np.sqrt(n_units)
    outside = counts == 0
    if of_losses:
        losses = np.where(outside, gap + change[:, None], 0.0)
        left_out = out_of_bag_error(losses, counts).standard_error ** 2
    else:
        left_out = out_of_bag_metric(change, counts, gap).standard_error ** 2
    medians = [quartiles(own)[1] for own in scores]
    found = {}
    for n_repeats in repeats:
        shares = [
            share_of_training(own.resubstitution, float(own.centres[:n_repeats].mean()), median)
            for own, median in zip(every, medians, strict=True)
        ]
        influence = cv[:n_repeats].mean(axis=0)
        averaged = float(influence.var(ddof=1) / n_units)
        test = float(cv[:n_repeats].var(axis=1, ddof=1).mean() / n_units)
        jackknives = [
            float(np.sum((influence / n_units + own.effect) ** 2) - noise)
            for own, noise in zip((plain, within), noises, strict=True)
        ]
        scaled = spread_of(np.sqrt(shares))
        at_least = np.maximum(shares, LEAST_TRAINING_SHARE)
        least = scaled if (at_least == shares).all() else spread_of(np.sqrt(at_least))
        optimism = [
            max(float(own.centres[:n_repeats].mean()) - own.resubstitution, 0.0) for own in every
        ]
        cap = max(averaged, test + within.variance)
        found[n_repeats] = DifferenceVariances(
            averaged,
            test,
            left_out,
            jackknives[0] if enough else np.nan,
            max(shares),
            scaled.robust_variance,
            float(2 * influence @ scaled.effect / n_units),
            max(cap, jackknives[1]) if enough else cap,
            least.robust_variance,
            float(2 * influence @ within.effect / n_units),
            np.inf if np.isnan(optimism).any() else sum(optimism) / 2,
        )
    return found
