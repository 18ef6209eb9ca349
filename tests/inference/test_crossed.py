"""The robust variance of crossed factors, and the interval that is made of it."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from skboot import Crossed, Trials, bootstrap_score, compare_systems


def pairs_of(n_left, n_right, kept=1.0, seed=0):
    """Pairs of a design, some of them at random."""
    rng = np.random.default_rng(seed)
    pairs = np.indices((n_left, n_right)).reshape(2, -1).T
    return pairs[rng.random(len(pairs)) < kept]


def labels_and_scores(n, seed=1):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    return y_true, 0.7 * y_true + rng.normal(size=n)


def evaluated(y_true, y_pred, pairs, **options):
    """`bootstrap_score` on crossed groups, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bootstrap_score(
            y_true, y_pred, groups=pairs, **{"n_resamples": 199, "random_state": 0} | options
        )


def by_loops(value, pairs, *, one_population=False):
    """Robust variance from the definition: leave out each row, add by cell and by member."""
    n = len(pairs)
    everything = np.arange(n)
    influence = [value(everything) - value(np.delete(everything, k)) for k in range(n)]
    cells, sides = {}, [{}, {}]
    for (left, right), own in zip(pairs.tolist(), influence, strict=True):
        cell = (min(left, right), max(left, right)) if one_population else (left, right)
        if not (one_population and left == right):
            cells[cell] = cells.get(cell, 0.0) + own
            at = sides[0] if one_population else sides[1]
            at[right] = at.get(right, 0.0) + own
        sides[0][left] = sides[0].get(left, 0.0) + own
    terms = [sum(each**2 for each in cells.values())]
    terms += [
        sum(each**2 for each in side.values()) * len(side) / (len(side) - 1)
        for side in sides[: 1 if one_population else 2]
    ]
    return max(sum(terms[1:]) - terms[0], *terms)


# ------------------------------------------------------------------ the variance


@pytest.mark.parametrize("design", ["complete", "incomplete", "several rows a pair"])
@pytest.mark.parametrize("name", ["accuracy", "f1", "roc_auc", "neg_log_loss"])
def test_the_robust_variance_is_that_of_its_definition(name, design):
    pairs = pairs_of(7, 9, kept=0.6 if design == "incomplete" else 1.0)
    if design == "several rows a pair":
        pairs = np.concatenate([pairs, pairs[::3]])
    y_true, scores = labels_and_scores(len(pairs))
    function, y_pred = {
        "accuracy": (metrics.accuracy_score, (scores > 0.5).astype(int)),
        "f1": (metrics.f1_score, (scores > 0.5).astype(int)),
        "roc_auc": (metrics.roc_auc_score, scores),
        "neg_log_loss": (lambda y, p: -metrics.log_loss(y, p), 1 / (1 + np.exp(-scores))),
    }[name]
    found = evaluated(y_true, y_pred, pairs, metric=name)._evidence.robust_variance
    expected = by_loops(lambda rows: function(y_true[rows], y_pred[rows]), pairs)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_a_member_paired_with_itself_is_no_cell_of_two(name):
    rng = np.random.default_rng(3)
    pairs = np.array([(s, t) for s in range(8) for t in range(s, 8)])
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    # One pair of two members occurs in both orders.
    pairs = np.concatenate([pairs, pairs[1:2, ::-1]])
    y_true = (pairs[:, 0] == pairs[:, 1]).astype(int)
    scores = 1.5 * y_true + rng.normal(size=len(pairs))
    y_pred = scores if name == "roc_auc" else (scores > 0.8).astype(int)
    function = metrics.roc_auc_score if name == "roc_auc" else metrics.accuracy_score
    found = evaluated(y_true, y_pred, Trials(*pairs.T), metric=name)
    expected = by_loops(
        lambda rows: function(y_true[rows], y_pred[rows]), pairs, one_population=True
    )
    assert found._evidence.robust_variance == pytest.approx(expected, rel=1e-9)


def test_weights_enter_the_robust_variance():
    pairs = pairs_of(6, 8)
    y_true, scores = labels_and_scores(len(pairs))
    weights = np.random.default_rng(4).uniform(0.5, 2.0, len(pairs))
    y_pred = (scores > 0.5).astype(int)
    found = evaluated(y_true, y_pred, pairs, sample_weight=weights)._evidence.robust_variance
    expected = by_loops(
        lambda rows: metrics.accuracy_score(
            y_true[rows], y_pred[rows], sample_weight=weights[rows]
        ),
        pairs,
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_subgroups_have_the_robust_variance_of_their_rows():
    pairs = pairs_of(6, 10)
    y_true, scores = labels_and_scores(len(pairs))
    part = np.where(pairs[:, 1] < 5, "a", "b")
    by_part = evaluated(y_true, scores, pairs, metric="roc_auc", by=part)
    rows = part == "a"
    alone = evaluated(y_true[rows], scores[rows], pairs[rows], metric="roc_auc")
    assert by_part["a"]._evidence.robust_variance == pytest.approx(
        alone._evidence.robust_variance, rel=1e-9
    )


def test_the_robust_variance_of_a_mean_is_that_of_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    pairs = pairs_of(12, 15, kept=0.7)
    rng = np.random.default_rng(5)
    effects = rng.normal(size=12)[pairs[:, 0]] + rng.normal(size=15)[pairs[:, 1]]
    losses = effects + rng.normal(size=len(pairs))
    fit = api.OLS(losses, np.ones(len(losses))).fit(
        cov_type="cluster", cov_kwds={"groups": pairs, "use_correction": False}
    )
    summed = [
        sum((losses - losses.mean())[pairs[:, side] == k].sum() ** 2 for k in range(n))
        for side, n in enumerate((12, 15))
    ]
    # Each of the two variances of members has its own small-sample factor here, and rows are left
    # out, which multiplies what they add by n / (n - 1).
    n = len(losses)
    extra = (summed[0] / 11 + summed[1] / 14) / n**2
    expected = (float(fit.cov_params()[0, 0]) + extra) * (n / (n - 1)) ** 2
    found = evaluated(None, losses, pairs, metric="mean")._evidence.robust_variance
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_robust_variance_counts_the_noise_of_cells_once(noise):
    # The mean over 400 data sets has a Monte Carlo error of 2%: bounds five of them away give a
    # false alarm less than once in 10^5 seeds.
    rng = np.random.default_rng(6)
    pairs, found = pairs_of(20, 20), []
    for _ in range(400):
        sides = (1 - noise) * rng.normal(size=(2, 20))
        losses = sides[0, pairs[:, 0]] + sides[1, pairs[:, 1]] + noise * rng.normal(size=400)
        found.append(
            evaluated(None, losses, pairs, metric="mean", n_resamples=2)._evidence.robust_variance
        )
    truth = noise**2 / 400 + 2 * (1 - noise) ** 2 / 20
    # The largest of three terms that are equal but for chance is above them; that of resamples is
    # 2.8 times the truth.
    low, high = (1.0, 1.4) if noise else (0.9, 1.1)
    assert low < np.mean(found) / truth < high


# ------------------------------------------------------------------ the interval


@pytest.mark.parametrize(
    ("n_members", "kind", "expected"),
    [(40, Crossed, "two-way"), (39, Crossed, "percentile"), (12, Trials, "two-way")],
)
def test_auto_is_two_way_where_there_are_members_enough(n_members, kind, expected):
    pairs = pairs_of(n_members, 44 if n_members > 12 else 12)
    y_true, scores = labels_and_scores(len(pairs))
    known = {"roc_auc": scores, "accuracy": (scores > 0.5).astype(int), "r2": scores}
    for name, y_pred in known.items():
        result = evaluated(y_true, y_pred, kind(*pairs.T), metric=name)
        assert result.confidence_interval.method == expected


@pytest.mark.parametrize(("kind", "usual"), [(Crossed, "percentile"), (Trials, "expanded")])
def test_auto_is_as_before_where_no_influence_is_known(kind, usual):
    pairs = kind(*pairs_of(42, 41).T)
    y_true, scores = labels_and_scores(len(pairs))
    for metric in (metrics.median_absolute_error, "neg_equal_error_rate"):
        result = evaluated(y_true, scores, pairs, metric=metric)
        assert result.confidence_interval.method == usual
    # The area under the curve is undefined without the only positive.
    alone = np.zeros(len(pairs), dtype=int)
    alone[17] = 1
    result = evaluated(alone, scores, pairs, metric="roc_auc")
    assert result.confidence_interval.method == usual


def test_two_way_is_refused_without_crossed_groups_or_influences():
    y_true, scores = labels_and_scores(60)
    with pytest.raises(ValueError, match=r"is for crossed groups, of shape \(n_samples, 2\)"):
        bootstrap_score(y_true, scores, metric="roc_auc", interval="two-way")
    pairs = pairs_of(6, 10)
    with pytest.raises(ValueError, match="a function of sums, or the area under the ROC curve"):
        bootstrap_score(
            y_true, scores, metric=metrics.median_absolute_error, groups=pairs, interval="two-way"
        )


# ------------------------------------------------------------------ differences


def test_a_two_way_difference_of_accuracies_is_the_mean_of_differences():
    pairs = pairs_of(12, 14, kept=0.8)
    rng = np.random.default_rng(10)
    y_true = rng.integers(0, 2, len(pairs))
    first, second = (np.where(rng.random(len(pairs)) < p, y_true, 1 - y_true) for p in (0.9, 0.8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        [pair] = compare_systems(
            y_true,
            {"first": first, "second": second},
            groups=pairs,
            interval="two-way",
            random_state=0,
        ).pairs
    each = (first == y_true).astype(float) - (second == y_true)
    alone = evaluated(
        None, each, pairs, metric="mean", interval="two-way", n_resamples=1999
    ).confidence_interval
    np.testing.assert_allclose(pair.confidence_interval[:2], alone[:2], atol=1e-12)
    assert pair.confidence_interval.method == "two-way"
    assert (pair.p_value <= 0.05) == (alone.low > 0 or alone.high < 0)


def test_a_two_way_difference_on_rows_of_their_own_adds_the_variances():
    rng = np.random.default_rng(11)
    pairs = {"a": pairs_of(12, 14), "b": pairs_of(11, 16)}
    y_true = {name: rng.integers(0, 2, len(each)) for name, each in pairs.items()}
    y_pred = {name: y + rng.normal(size=len(y)) for name, y in y_true.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"metric": "roc_auc", "groups": pairs, "paired": False, "random_state": 0}
        result = compare_systems(y_true, y_pred, interval="two-way", **options)
        usual = compare_systems(y_true, y_pred, interval="percentile", **options)
    variances = [one._evidence.robust_variance for one in result.systems.values()]
    low, high = usual.pairs[0].confidence_interval
    ratio = stats.t.ppf(0.975, 10) / stats.norm.ppf(0.975)
    share = ratio * np.sqrt(sum(variances)) / result.pairs[0].standard_error
    found = result.pairs[0].confidence_interval
    assert found.high - found.low == pytest.approx(min(share, 1.0) * (high - low), rel=1e-9)


def test_a_two_way_difference_is_refused_without_crossed_groups():
    y_true, scores = labels_and_scores(60)
    systems = {"a": scores, "b": scores[::-1]}
    with pytest.raises(ValueError, match="unless groups are crossed"):
        compare_systems(y_true, systems, metric="roc_auc", interval="two-way")
