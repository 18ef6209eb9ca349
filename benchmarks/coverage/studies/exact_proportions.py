"""Exact coverage of intervals for accuracy: no simulation, since its bootstrap law is binomial.

``make coverage-study STUDY=exact_proportions`` prints the table that the user guide shows
(docs/studies/frozen_systems.md); a test keeps the two equal.
"""

import numpy as np
from scipy import stats

from skboot.inference import proportion_interval

LEVEL = 0.95
SIZES = (20, 50, 100, 200, 1000)
ACCURACIES = (0.7, 0.9, 0.97)
# Averaging over nearby accuracies takes out the lattice of the binomial.
LOGIT_REACH = 0.3


def percentile(k, n):
    """Percentile interval with infinitely many resamples: binomial quantiles."""
    return tuple(stats.binom.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2], n, k / n) / n)


def bca(k, n):
    """BCa with infinitely many resamples, half ties, and the acceleration of a proportion."""
    p = k / n
    if p in (0, 1):
        return p, p
    z0 = stats.norm.ppf(stats.binom.cdf(k - 1, n, p) + stats.binom.pmf(k, n, p) / 2)
    # Influence values: n p of them are 1 - p and n (1 - p) are -p.
    a = (1 - 2 * p) / (6 * np.sqrt(n * p * (1 - p)))
    z = z0 + stats.norm.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return tuple(stats.binom.ppf(stats.norm.cdf(z0 + z / (1 - a * z)), n, p) / n)


METHODS = {
    "percentile": percentile,
    "BCa": bca,
    "Wilson": lambda k, n: proportion_interval(k, n)[:2],
    "Clopper-Pearson": lambda k, n: proportion_interval(k, n, method="clopper-pearson")[:2],
}


def coverage(method, n, accuracy):
    """Average exact coverage over accuracies near the one given, in percent."""
    low, high = np.array([METHODS[method](k, n) for k in range(n + 1)]).T
    centre = np.log(accuracy / (1 - accuracy))
    nearby = 1 / (1 + np.exp(-(centre + np.linspace(-LOGIT_REACH, LOGIT_REACH, 61))))
    hits = np.arange(n + 1)
    shares = [
        stats.binom.pmf(hits, n, p)[(low <= p + 1e-12) & (p - 1e-12 <= high)].sum() for p in nearby
    ]
    return 100 * float(np.mean(shares))


def table():
    """The table in Markdown."""
    lines = [
        f"| n | accuracy | {' | '.join(METHODS)} |",
        "|---|---|" + "---|" * len(METHODS),
    ]
    for n in SIZES:
        for accuracy in ACCURACIES:
            cells = [f"{coverage(method, n, accuracy):.1f}" for method in METHODS]
            lines.append(f"| {n} | {accuracy} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
