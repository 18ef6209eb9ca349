"""Coverage and width of intervals on groups of which few err, by simulation.

``make coverage-study STUDY=groups`` makes the table (about eight minutes); slow tests run one cell
of each kind again.

``accuracy``: 20, 50 or 200 groups of 10 rows, or of 5 to 20 (uniform); each group's accuracy is
drawn from a beta distribution with the given mean and intra-class correlation, whatever its size.
The estimand is the mean of that distribution: what the mean over all rows estimates.
``losses``: means of losses in groups of 5 to 20 rows. "zero-inflated": a row has a loss with a
probability drawn as above, exponential or lognormal (sigma 1). "lognormal": every row has one, with
sigma 1, times a lognormal factor of its group. "normal": normal with intra-class correlation .3.
``metrics``: two balanced classes with errors of the accuracy design, 5 to 20 rows.

``auto`` is `automatic_interval` of the evidence that `bootstrap_score` collects; for ``accuracy``
and ``losses`` it is computed for many data sets at once, with resamples shared by 100 data sets
(a test holds it against `bootstrap_score`); for ``metrics`` it is that of `bootstrap_score`. The
other columns are rivals, by their formulas: "coverage/mean width". "effective" is Wilson's interval
with p (1 - p) / se^2 rows and t_{G-1}, "by_groups" the same with G rows, "transformed" a t interval
on the logit scale (accuracy) or the log scale (losses). Data sets without any error (column
``without_error``, percent) get the last but one from all; those without any loss are left out.
"""

import warnings
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from skboot import bootstrap_score
from skboot.inference.automatic import automatic_interval
from skboot.inference.evidence import Evidence
from skboot.inference.proportions import score_limits
from skboot.resampling.design import freedom_of_groups

from ..runner import TableStudy, one_line

SEED = 20261123
N_DATA_SETS = 2000
N_METRIC_DATA_SETS = 1000
N_RESAMPLES = 999
LEVEL = 0.95
Z = float(ndtri(0.975))
RIVALS = ("studentized", "expanded", "bca", "effective", "by_groups", "transformed")
HEADER = ("kind", "design", "n_groups", "sizes", "mean", "icc", "without_error", "auto", *RIVALS)
METRICS = ("balanced_accuracy", "f1", "matthews_corrcoef", "weighted accuracy", "strata")


def t(df):
    """Quantile of Student's t for a two-sided level of 95 %."""
    return stdtrit(df, 0.975)


# ------------------------------------------------------------------ data


def sizes_of(rng, n_sets, n_groups, sizes):
    """Rows of each group, (n_sets, n_groups)."""
    if sizes == "equal":
        return np.full((n_sets, n_groups), 10)
    return rng.integers(5, 21, (n_sets, n_groups))


def rates_of(rng, shape, mean, icc):
    """Beta rates with this mean and intra-class correlation."""
    if icc == 0:
        return np.full(shape, mean)
    total = 1 / icc - 1
    return rng.beta(mean * total, (1 - mean) * total, shape)


def accuracy_sums(rng, n_sets, n_groups, sizes, mean, icc):
    """Rows and right rows of each group."""
    n_rows = sizes_of(rng, n_sets, n_groups, sizes)
    return n_rows, rng.binomial(n_rows, rates_of(rng, n_rows.shape, mean, icc))


def loss_sums(rng, n_sets, n_groups, design, mean, icc):
    """Rows and summed losses of each group; the mean of the losses is ``mean``."""
    n_rows = sizes_of(rng, n_sets, n_groups, "5 to 20")
    shape = n_rows.shape
    if design == "normal":
        of_group = n_rows * rng.normal(0, np.sqrt(icc), shape)
        noise = np.sqrt(n_rows * (1 - icc)) * rng.normal(size=shape)
        return n_rows, mean * n_rows + of_group + noise
    kind, law = design.split(", ")
    rows = n_rows
    if kind == "zero-inflated":
        rows = rng.binomial(n_rows, rates_of(rng, shape, mean, icc))
    if law == "exponential":
        return n_rows, np.where(rows > 0, rng.gamma(np.maximum(rows, 1)), 0.0)
    sums = np.zeros(shape)
    for k in range(rows.max()):
        sums += np.where(k < rows, rng.lognormal(-0.5, 1, shape), 0)
    if kind == "lognormal":
        sums *= rng.lognormal(-(icc**2) / 2, icc, shape)
    return n_rows, sums


# ------------------------------------------------------------------ intervals


def replicates_of(rng, n_rows, sums, n_resamples=N_RESAMPLES):
    """Means and their standard errors on resamples of groups, (n_resamples, n_sets) each."""
    n_groups = n_rows.shape[1]
    counts = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_resamples).astype(float)
    n, s = n_rows.astype(float), sums.astype(float)
    rows = counts @ n.T
    means = (counts @ s.T) / rows
    of_sums, mixed, of_rows = (counts @ products.T for products in (s * s, s * n, n * n))
    squares = of_sums - 2 * means * mixed + means**2 * of_rows
    # What is left of a difference of large squares is rounding.
    squares[squares < 1e-12 * of_sums] = 0.0
    return means, np.sqrt(squares) / rows


def evidence_of(n_rows, sums, means, errors, zero_one):
    """What `bootstrap_score` would know of one data set, (n_groups,) rows and sums."""
    n = int(n_rows.sum())
    estimate = float(sums.sum() / n)
    influence = (sums - estimate * n_rows) / n
    return Evidence.of(
        estimate=estimate,
        replicates=means,
        kind="groups",
        n_units=(len(n_rows),),
        freedom=freedom_of_groups(n_rows),
        bounds=(0.0, 1.0) if zero_one else (-np.inf, np.inf),
        additive=True,
        row_mean=not zero_one,
        standard_error=float(np.sqrt(np.sum(influence**2))),
        replicate_standard_errors=errors,
        proportion=(int(sums.sum()), n, True, "identity", 1.0) if zero_one else None,
        group_influence=influence,
        group_weight=n_rows.astype(float),
        n_effective_rows=float(n),
    )


def quantile(ordered, level):
    """Order statistic at (B + 1) level, of columns."""
    n = len(ordered)
    rank = np.clip(np.rint((n + 1) * np.asarray(level)), 1, n).astype(int) - 1
    rank = np.broadcast_to(rank, ordered.shape[1:])
    return np.take_along_axis(ordered, rank[None], axis=0)[0]


def rivals(n_rows, sums, means, errors, zero_one):
    """Limits (2, n_sets) of other methods, by formulas written here."""
    n_groups, n = n_rows.shape[1], n_rows.sum(axis=1)
    m = sums.sum(axis=1) / n
    influence = (sums - m[:, None] * n_rows) / n[:, None]
    se = np.sqrt(np.sum(influence**2, axis=1))
    ordered, found = np.sort(means, axis=0), {}
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = np.sort(np.where(np.abs(means - m) < 1e-13, 0, (means - m) / errors), axis=0)
        found["studentized"] = [m - se * quantile(pivots, level) for level in (0.975, 0.025)]
        a = np.nan_to_num(np.sum(influence**3, axis=1) / (6 * se**3))
    tail = ndtr(np.sqrt(n_groups / (n_groups - 1)) * -t(n_groups - 1))
    found["expanded"] = [quantile(ordered, tail), quantile(ordered, 1 - tail)]
    below = ((ordered < m - 1e-13).sum(axis=0) + (ordered <= m + 1e-13).sum(axis=0)) / 2
    z0 = ndtri(np.clip(below / len(means), 1e-6, 1 - 1e-6))
    levels = [ndtr(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in (-Z, Z)]
    found["bca"] = [quantile(ordered, level) for level in levels]
    if zero_one:
        found |= _of_shares(m, se, n, n_groups)
        inside = (m > 0) & (m < 1)
        # Where nobody errs, all but Wilson's would have no width; it stands in for them.
        found = {name: np.where(inside, own, found["by_groups"]) for name, own in found.items()}
    else:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            half = t(n_groups - 1) * se / m
            found["transformed"] = [m * np.exp(-half), m * np.exp(half)]
    ends = (0.0, 1.0) if zero_one else (-1e9, 1e9)
    return {name: np.clip(np.nan_to_num(limits), *ends) for name, limits in found.items()}


def _of_shares(m, se, n, n_groups):
    """Wilson's interval with effective sizes, and t intervals on the logit scale."""
    df = n_groups - 1
    perfect = np.full(len(m), n_groups * (Z / t(df)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.clip(m * (1 - m) / se**2, n_groups, n) * (Z / t(df)) ** 2
        logit, half = np.log(m / (1 - m)), t(df) * se / (m * (1 - m))
        transformed = [1 / (1 + np.exp(-(logit + side * half))) for side in (-1, 1)]
    inside = (m > 0) & (m < 1)
    found = {
        "effective": _wilson(m, np.where(inside, rows, perfect)),
        "by_groups": _wilson(m, perfect),
    }
    found["transformed"] = np.where(inside, transformed, found["by_groups"])
    return found


def _wilson(shares, sizes):
    pairs = [score_limits(share, n, Z) for share, n in zip(shares, sizes, strict=True)]
    return np.transpose(pairs)


# ------------------------------------------------------------------ cells


def cell(kind, design, n_groups, sizes, mean, icc, n_sets=N_DATA_SETS, seed=SEED):
    """Limits by method, (2, n_sets), whether nothing but zeros or ones was seen, and carriers."""
    rng = np.random.default_rng([seed, n_groups, len(design), len(sizes), *_digits(mean, icc)])
    zero_one = kind == "accuracy"
    if zero_one:
        n_rows, sums = accuracy_sums(rng, n_sets, n_groups, sizes, mean, icc)
    else:
        n_rows, sums = loss_sums(rng, n_sets, n_groups, design, mean, icc)
    parts = []
    for start in range(0, n_sets, 100):
        some = n_rows[start : start + 100], sums[start : start + 100]
        means, errors = replicates_of(rng, *some)
        found = rivals(*some, means, errors, zero_one)
        own = zip(*some, means.T, errors.T, strict=True)
        automatic = [automatic_limits(evidence_of(*data, zero_one)) for data in own]
        parts.append({"auto": np.transpose(automatic), **found})
    limits = {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}
    shares = sums.sum(axis=1) / n_rows.sum(axis=1)
    return limits, (shares == 0) | (zero_one & (shares == 1))


def _digits(*numbers):
    return [round(1000 * number) for number in numbers]


def automatic_limits(evidence):
    """Limits of "auto"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = automatic_interval(evidence, LEVEL).interval
    return low, high


def metric_data(rng, n_groups, mean, icc, metric):
    """Arguments of `bootstrap_score` for one data set, and the true value."""
    [n_rows], [right] = accuracy_sums(rng, 1, n_groups, "5 to 20", mean, icc)
    groups = np.repeat(np.arange(n_groups), n_rows)
    first = np.concatenate([np.arange(n) for n in n_rows])
    correct = first < right[groups]
    truth = rng.integers(0, 2, len(groups))
    options = {"groups": groups, "metric": metric}
    value = 2 * mean - 1 if metric == "matthews_corrcoef" else mean
    if metric in ("weighted accuracy", "strata"):
        options["metric"] = "accuracy"
    if metric == "weighted accuracy":
        options["sample_weight"] = rng.lognormal(0, 0.7, len(groups))
    if metric == "strata":
        options["strata"] = groups % 2
    return truth, np.where(correct, truth, 1 - truth), options, value


def metric_cell(metric, n_groups, mean, icc, n_sets=N_METRIC_DATA_SETS, seed=SEED):
    """As `cell`, of another metric, by `bootstrap_score` itself."""
    rng = np.random.default_rng([seed, n_groups, METRICS.index(metric), *_digits(mean, icc)])
    limits, perfect = [], []
    for k in range(n_sets):
        truth, predicted, options, value = metric_data(rng, n_groups, mean, icc, metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bootstrap_score(
                truth, predicted, n_resamples=N_RESAMPLES, random_state=k, **options
            )
        limits.append(result.confidence_interval[:2])
        perfect.append(result.estimate == 1)
    return {"auto": np.transpose(limits)}, np.array(perfect), value


CELLS = [
    *(
        ("accuracy", "few errors", *rest)
        for rest in product(
            (20, 50, 200), ("equal", "5 to 20"), (0.95, 0.99, 0.998), (0.0, 0.1, 0.4)
        )
    ),
    *(
        ("accuracy", "many errors", *rest)
        for rest in product((20, 50), ("equal", "5 to 20"), (0.7, 0.8, 0.9), (0.0, 0.1, 0.4))
    ),
    *(
        ("losses", design, n_groups, "5 to 20", mean, icc)
        for n_groups in (20, 50, 200)
        for design, mean, icc in (
            *product(["zero-inflated, exponential"], (0.01, 0.03, 0.1, 0.3), (0.0, 0.1, 0.4)),
            *product(["zero-inflated, lognormal"], (0.03, 0.1), (0.0, 0.4)),
            *product(["lognormal, group sigma"], (1.0,), (0.5, 1.0, 1.5)),
            ("normal", 5.0, 0.3),
        )
    ),
    *(
        ("metrics", metric, n_groups, "5 to 20", mean, icc)
        for metric, n_groups, mean, icc in product(METRICS, (20, 50), (0.95,), (0.1, 0.4))
    ),
]


def row_of(kind, design, n_groups, sizes, mean, icc):
    """One row of the table, after what names the cell."""
    if kind == "metrics":
        limits, without_error, value = metric_cell(design, n_groups, mean, icc)
    else:
        limits, without_error = cell(kind, design, n_groups, sizes, mean, icc)
        value = mean
    row = {"without_error": f"{100 * without_error.mean():.1f}"}
    # Losses that all are zero have no upper limit: they are counted beside the others.
    seen = ~without_error if kind == "losses" else np.ones(len(without_error), bool)
    for name, (low, high) in limits.items():
        covered = 100 * np.mean((low <= value) & (value <= high) & seen) / np.mean(seen)
        row[name] = f"{covered:.1f}/{np.mean(high[seen] - low[seen]):.4g}"
    return [row.get(name, "") for name in HEADER[6:]]


STUDY = TableStudy("groups", HEADER, CELLS, one_line(row_of))
