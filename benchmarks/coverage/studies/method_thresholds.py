"""Two thresholds of methods: resubstitution by out-of-bag error, and samples for the jackknife.

``near_perfect``: .632 and .632+ take a part of the resubstitution error, which says nothing where a
learner repeats its training rows. Under which ratio of resubstitution to out-of-bag error does the
interval about .632+ miss the method's error? k nearest neighbours and kernel smoothers of labels,
from 1-NN, which makes no error on its rows, to stiff ones. 300 data sets of 80 and 200 rows, 200
bootstrap samples; "covered" is of the strategy's own interval ("adjusted") about .632+ and .632.

``jackknife``: V_IJ from B bootstrap samples beside that of 4096, from 60 data sets; mean of the
ratio and its standard deviation, and how often the conservative variance, of which V_IJ is one of
three candidates, is more than 1.2 times that without V_IJ.

Rule, written before the run. The bound of the caution is right if .632+ covers at least 93 % (upper
limit, 2.6 standard errors) in all cells with a mean ratio above it, and less in some cell below it.
The bound of the jackknife is right if above it the standard deviation of the ratio is at most .5
and its mean within .75 and 1.25. If not, what is seen is written down, and the bounds stay as what
they are, a caution and a candidate, unless another bound of the table would keep the rule.

    make coverage-study STUDY=method_thresholds
"""

from itertools import product
from typing import NamedTuple
from unittest import mock

import numpy as np

from skboot.inference import prediction_error

from ..methods.designs import Design, neighbours, sloped, smoother, truth
from ..methods.parts import bootstrap, parts_of, samples_of
from ..runner import TableStudy

SEED = 5000
HEADER = (
    "part",
    "cell",
    "at",
    "data sets",
    "covered .632+ %",
    "covered .632 %",
    "bias .632+ in sd",
)
N_SETS, N_RESAMPLES, N_JACKKNIFES, MANY = 300, 200, 60, 4096
LEARNERS = {
    **{f"{k}-NN": neighbours(k) for k in (1, 3, 5, 9, 21)},
    **{f"smoother {width}": smoother(width) for width in (0.1, 0.3, 0.5, 0.8, 1.5)},
}
SIZES = (80, 200)


class Found(NamedTuple):
    """Of one data set."""

    ratio: float
    point: float
    plus: tuple[float, float]
    plain: tuple[float, float]


def one(design, rng):
    """Ratio, .632+, and its interval and that of .632 of a data set."""
    X, y, _ = design.draw(rng, design.size)
    n = len(y)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
    weights = np.vstack((np.ones((1, n)), counts)).astype(float)
    wrong = ((design.learner(X, y, weights, X) > 0.5) != y).astype(float)
    decided = (design.learner(X, y, weights[:1], X)[0] > 0.5).mean()
    no_information = y.mean() * (1 - decided) + (1 - y.mean()) * decided
    error = prediction_error(
        wrong[1:], counts, resubstitution_losses=wrong[0], no_information_rate=no_information
    )
    limits = (error.interval("adjusted", point=point)[:2] for point in (".632+", ".632"))
    return Found(error.resubstitution / error.oob, error.point632_plus, *limits)


def near_perfect(name, size, number):
    """Its line of the table."""
    design = Design(LEARNERS[name], sloped(3, 2.0), size, "error of means")
    expected = truth(design, np.random.default_rng([SEED, number, 10**6]))[0]
    found = [one(design, np.random.default_rng([SEED, number, k])) for k in range(N_SETS)]
    points = np.array([each.point for each in found])
    covered = [
        np.mean([low <= expected <= high for low, high in pairs])
        for pairs in ([each.plus for each in found], [each.plain for each in found])
    ]
    bias = (points.mean() - expected) / points.std(ddof=1)
    ratio = np.mean([each.ratio for each in found])
    yield [
        f"{ratio:.2f}",
        N_SETS,
        *(f"{100 * c:.1f}" for c in covered),
        f"{bias:.2f}",
    ]


def jackknifes(size, number):
    """Lines of the table, for 2 to 16 times the root of the rows."""
    design = Design(neighbours(5), sloped(3, 2.0), size, "error of means", MANY)
    factors, ratios, larger = (2, 4, 8, 16), [], []
    for k in range(N_JACKKNIFES):
        rng = np.random.default_rng([SEED, number, k])
        X, y, groups = design.draw(rng, size)
        parts = parts_of(design, X, y, groups, samples_of(design, y, groups, rng))
        whole = bootstrap(parts).variance_jackknife
        some = [bootstrap(parts, int(np.ceil(f * np.sqrt(size)))) for f in factors]
        ratios.append([each.variance_jackknife / whole for each in some])
        others = [
            max(each.variance_cv_averaged, each.variance_cv + each.variance_training)
            for each in some
        ]
        larger.append(
            [each.variance_jackknife > 1.2 * o for each, o in zip(some, others, strict=True)]
        )
    for place, factor in enumerate(factors):
        at = np.array(ratios)[:, place]
        shares = f"{at.mean():.2f}", f"{at.std(ddof=1):.2f}"
        wide = f"{100 * np.mean([row[place] for row in larger]):.0f}"
        yield [factor, N_JACKKNIFES, *shares, wide]


def rows_of(part, cell):
    """Lines of the table for one cell of a part."""
    make, *arguments = CELLS[part, cell]
    # V_IJ is asked for below its bound as well.
    with mock.patch("skboot.method_error.cv_bootstrap.JACKKNIFE_RESAMPLES", 0):
        yield from make(*arguments)


CELLS = {
    ("near_perfect", f"{name}, n {size}"): (near_perfect, name, size, number)
    for number, (size, name) in enumerate(product(SIZES, LEARNERS))
} | {
    ("jackknife", f"5-NN, n {size}"): (jackknifes, size, 100 + number)
    for number, size in enumerate(SIZES)
}
STUDY = TableStudy("method_thresholds", HEADER, [*CELLS], rows_of)
