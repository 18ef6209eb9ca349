"""Which interval of a mean difference over few data sets: level, power and width of six forms.

Question: the studentized bootstrap tells two equal methods apart in 8 to 12 % where differences are
symmetric with heavy tails, since its tails follow the skewness of the sample, which is noise there;
Student's t finds too much where differences are skewed. Which form holds both? Written before the
run, with the rule; six forms were tried before on other draws, and so were forms with a constant
(the log of the studies has them).

Design. Differences of K data sets are drawn from a law of mean 0. Forms, at 95 %:

* ``t``: Student's t;
* ``flips``: the signs of the differences from a value are flipped, all 2^K - 1 subsets up to 12
  data sets and 1999 random ones above; the interval is of values that are not rejected, whose
  limits are means over subsets (Hartigan 1969);
* ``equal tails``: the studentized bootstrap, 1999 resamples, the library's up to then from 8 on;
* ``symmetric``: quantile of the size of its pivots (Hall 1988);
* ``one limb``: t, but on the side of the sample's long tail the symmetric quantile, where larger;
* ``skewed t``: t, but on the side of the sample's long tail q + g (2 q^2 + 1) / (6 sqrt K) for t's
  quantile q, g the size of the sample's skewness (the term of Johnson 1978, for one limit);
* ``Hall's limb``: the same with the limit of Hall's (1992) cubic transformation.

The level is the share of tables whose interval leaves out 0. Power is the share that tells the
right sign when all differences are shifted up, or down (mean of both), by what t finds in 80 %. All
forms see the same tables. Widths are means over those of t.

Rule. Of forms with a finite interval from 5 data sets on that lose at most 5 points of t's power on
normal and t3 differences at 8, 10 and 15 data sets, those are left whose worst level from 8 data
sets on is within a point of the smallest; the narrowest on normal and t3 differences at 8 to 15 is
taken, from 2 data sets on. "choose" decides; "confirm" has another seed, and laws of which none was
used to choose. It passes where the exact one-sided 95 % limit of a level is at most two points over
the aim: 6 % for symmetric laws, 8.5 for skewed ones from 8 data sets on. "extreme" laws, of which
few data sets show next to nothing, are reported and not judged in "confirm"; lognormal (1), of
which the same holds, is.

"rows" and "rows, confirm" ask the same of means of 20 to 100 rows whose values have both signs, for
which `bootstrap_score` had the studentized bootstrap. Written after the choice for
data sets, before this run: the form of the data sets is taken for rows as well, if its worst level
is not above that of the equal tails, and if in "rows, confirm" it is at most 7 % for symmetric laws
(exact limit) and never more than a point above that of the equal tails; its width beside theirs is
told. Losses, which have one sign and are known to be skewed, keep equal tails.
"""

from __future__ import annotations

import zlib
from functools import partial

import numpy as np
from scipy import stats

from ..runner import TableStudy, one_line

N_TABLES, N_TABLES_OF_ROWS, N_RESAMPLES, AT_ONCE = 10_000, 4000, 1999, 200
ALL_SUBSETS = 12
SIZES, SIZES_OF_ROWS = (5, 6, 7, 8, 10, 15, 30), (20, 30, 50, 100)
LEVEL, TAIL = 0.95, 0.025

SYMMETRIC = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape),
    "t2": lambda rng, shape: rng.standard_t(2, shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "scale lognormal (1)": lambda rng, shape: (
        rng.standard_normal(shape) * np.exp(rng.standard_normal(shape))
    ),
    "collapse of either": lambda rng, shape: (
        rng.standard_normal(shape) * np.where(rng.random(shape) < 0.1, 10, 1)
    ),
    "one of ten times the spread": lambda rng, shape: (
        rng.standard_normal(shape) * np.where(np.arange(shape[1]) == 0, 10, 1)
    ),
}
SKEWED = {
    "lognormal (.5)": lambda rng, shape: np.exp(0.5 * rng.standard_normal(shape)) - np.exp(0.125),
    "lognormal (1)": lambda rng, shape: np.exp(rng.standard_normal(shape)) - np.exp(0.5),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
}
OTHERS_SYMMETRIC = {
    "logistic": lambda rng, shape: rng.logistic(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, shape),
    "a fifth of four times the spread": lambda rng, shape: (
        rng.standard_normal(shape) * np.where(rng.random(shape) < 0.2, 4, 1)
    ),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
}
OTHERS_SKEWED = {
    "gamma (4)": lambda rng, shape: rng.gamma(4, size=shape) - 4,
    "Weibull (1.5)": lambda rng, shape: rng.weibull(1.5, shape) - 0.9027452929509336,
    "Gumbel": lambda rng, shape: rng.gumbel(size=shape) - 0.5772156649015329,
}
EXTREME = {
    "chi-squared (1)": lambda rng, shape: rng.standard_normal(shape) ** 2 - 1,
    "collapse of one": lambda rng, shape: (
        rng.standard_normal(shape) + np.where(rng.random(shape) < 0.1, 10, 0) - 1
    ),
}
KINDS = {
    "choose": {"symmetric": SYMMETRIC, "skewed": SKEWED},
    "confirm": {
        "symmetric": SYMMETRIC | OTHERS_SYMMETRIC,
        "skewed": SKEWED | OTHERS_SKEWED,
        "extreme": EXTREME,
    },
    "rows": {
        "symmetric": {law: SYMMETRIC[law] for law in ("normal", "t3", "scale lognormal (1)")},
        "skewed": SKEWED,
    },
    "rows, confirm": {"symmetric": OTHERS_SYMMETRIC, "skewed": OTHERS_SKEWED},
}


# ------------------------------------------------------------------ forms


def moments(tables):
    """Mean, its standard error and the skewness of each table."""
    n = tables.shape[1]
    centred = tables - tables.mean(axis=1, keepdims=True)
    squares = (centred**2).mean(axis=1)
    skewness = (centred**3).mean(axis=1) / squares**1.5
    return tables.mean(axis=1), np.sqrt(squares / (n - 1)), skewness


def student(tables, rng):
    """Student's t."""
    q = stats.t.ppf(1 - TAIL, tables.shape[1] - 1)
    return _about(tables, q, q)


def _about(tables, below, above):
    mean, error, _ = moments(tables)
    return mean - below * error, mean + above * error


def _limb(tables, reach):
    """T on both sides, but a farther reach on the side of the long tail."""
    q = stats.t.ppf(1 - TAIL, tables.shape[1] - 1)
    skewness, reach = moments(tables)[2], np.maximum(reach, q)
    return _about(tables, np.where(skewness < 0, reach, q), np.where(skewness > 0, reach, q))


def skewed_t(tables, rng):
    """The first term of the law of t that skewness adds, on the side of the long tail."""
    n = tables.shape[1]
    q = stats.t.ppf(1 - TAIL, n - 1)
    g = np.abs(moments(tables)[2])
    return _limb(tables, q + g * (2 * q**2 + 1) / (6 * np.sqrt(n)))


def hall_limb(tables, rng):
    """The limit of Hall's cubic transformation, on the side of the long tail."""
    n = tables.shape[1]
    q = stats.t.ppf(1 - TAIL, n - 1)
    a = np.maximum(np.abs(moments(tables)[2]) / (3 * np.sqrt(n)), 1e-9)
    return _limb(tables, (1 - np.cbrt(1 - 3 * a * (q + a / 2))) / a)


def flips(tables, rng):
    """Means over subsets, from the smallest and from the largest."""
    n, n_columns = tables.shape
    found = np.empty((2, n))
    codes = np.arange(1, 2 ** min(n_columns, ALL_SUBSETS))[:, None]
    for start in range(0, n, AT_ONCE):
        those = slice(start, start + AT_ONCE)
        if n_columns <= ALL_SUBSETS:
            held = (codes >> np.arange(n_columns) & 1).astype(float)
        else:
            held = (rng.random((N_RESAMPLES, n_columns)) < 0.5).astype(float)
            held = held[held.any(axis=1)]
        rank = int(TAIL * (len(held) + 1) + 1e-9)
        if not rank:
            found[:, those] = np.array([[-np.inf], [np.inf]])
            continue
        means = held @ tables[those].T / held.sum(axis=1, keepdims=True)
        means = np.partition(means, [rank - 1, len(held) - rank], axis=0)
        found[:, those] = means[rank - 1], means[len(held) - rank]
    return found


def _pivots(tables, rng):
    """Quantiles of the pivots and of their sizes: upper, lower with its sign turned, symmetric."""
    n, n_columns = tables.shape
    mean, found = tables.mean(axis=1, keepdims=True), np.empty((3, n))
    rank = int(np.ceil((N_RESAMPLES + 1) * (1 - TAIL) - 1e-9))
    rank_of_sizes = int(np.ceil((N_RESAMPLES + 1) * LEVEL - 1e-9))
    for start in range(0, n, AT_ONCE):
        those = slice(start, start + AT_ONCE)
        weights = rng.multinomial(n_columns, np.full(n_columns, 1 / n_columns), N_RESAMPLES)
        weights, centred = weights / n_columns, (tables[those] - mean[those]).T
        shift, squares = weights @ centred, weights @ centred**2
        variance = squares - shift**2
        variance[variance <= 1e-12 * squares] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            pivots = np.where(shift == 0, 0, shift / np.sqrt(variance / (n_columns - 1)))
        ordered, sizes = np.sort(pivots, axis=0), np.sort(np.abs(pivots), axis=0)
        found[:, those] = ordered[rank - 1], -ordered[-rank], sizes[rank_of_sizes - 1]
    return found


def equal_tails(tables, rng):
    """The studentized bootstrap."""
    upper, lower, _ = _pivots(tables, rng)
    return _about(tables, upper, lower)


def symmetric(tables, rng):
    """The same by the size of the pivots."""
    size = _pivots(tables, rng)[2]
    return _about(tables, size, size)


def one_limb(tables, rng):
    """The same on the side of the long tail alone."""
    return _limb(tables, _pivots(tables, rng)[2])


FORMS = {
    "t": student,
    "flips": flips,
    "equal tails": equal_tails,
    "symmetric": symmetric,
    "one limb": one_limb,
    "skewed t": skewed_t,
    "Hall's limb": hall_limb,
}


# ------------------------------------------------------------------ a cell


def seed_of(*words):
    """Generator of these words."""
    return np.random.default_rng([zlib.crc32(str(word).encode()) for word in words])


def cell(part, kind, law, n_columns, form):
    """What a form does on the tables of a law."""
    n_tables = N_TABLES_OF_ROWS if part.startswith("rows") else N_TABLES
    draw = partial(KINDS[part][kind][law])
    low, high = student(draw(seed_of(part, law, n_columns, "shift"), (n_tables, n_columns)), None)
    shift_up, shift_down = np.quantile(-low, 0.8), np.quantile(high, 0.8)
    tables = draw(seed_of(part, law, n_columns), (n_tables, n_columns))
    low, high = FORMS[form](tables, seed_of(part, law, n_columns, form))
    of_t = student(tables, None)
    told = int(np.sum((low > 0) | (high < 0)))
    power = [np.mean(low + shift_up > 0), np.mean(high - shift_down < 0)]
    of_t_power = [np.mean(of_t[0] + shift_up > 0), np.mean(of_t[1] - shift_down < 0)]
    return (
        n_tables,
        f"{100 * told / n_tables:.2f}",
        f"{100 * stats.beta.ppf(0.95, told + 1, n_tables - told):.2f}",
        f"{100 * np.mean(low > 0):.2f}",
        f"{100 * np.mean(high < 0):.2f}",
        f"{100 * np.mean(power):.2f}",
        f"{100 * (np.mean(of_t_power) - np.mean(power)):.2f}",
        f"{np.mean(high - low) / np.mean(of_t[1] - of_t[0]):.3f}",
    )


HEADER = ("part", "kind", "law", "data sets", "form", "tables", "told apart %", "upper limit %")
HEADER += ("above %", "below %", "power %", "less than t", "width by t's")
CELLS = [
    (part, kind, law, n, form)
    for part, kinds in KINDS.items()
    for kind, laws in kinds.items()
    for law in laws
    for n in (SIZES_OF_ROWS if part.startswith("rows") else SIZES)
    for form in FORMS
]


STUDY = TableStudy("data_set_forms", HEADER, CELLS, one_line(cell))
