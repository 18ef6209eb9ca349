"""Results of every kind after loading, and streams whose labels, values and groups come late.

Exact: a file answers for other levels, methods and estimands what the result answers; a stream does
not know which batch brought a class, a fraction or a group.
"""

import itertools

import numpy as np
import pytest
from identity_cases import close, quiet, rows_of, scored

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}
METHODS = (None, "percentile", "basic", "normal", "t", "bca", "expanded", "studentized", "wilson")
METHODS += ("components", "two-way")


def case(kind="two", n=80):
    rng = np.random.default_rng([n, len(kind)])
    y, p = rows_of(kind, rng, n)
    return rng, y, p, rows_of(kind, np.random.default_rng(5), n)[1]


def results():
    """One result of each function and design, by name."""
    rng, y, a, b = case()
    groups = np.arange(80) // 3
    tasks = rng.permutation(80) % 3
    members = np.column_stack([groups, rng.permutation(80) % 7])
    systems = {"A": a, "B": b, "C": rng.permutation(a)}
    runs = [a, b, systems["C"], a]
    across = {str(k): dict(zip("ABC", rng.normal(size=3).tolist(), strict=True)) for k in range(12)}
    score, compare = skboot.bootstrap_score, skboot.compare_systems
    found = {
        "crossed": quiet(score, y, a, groups=members, **OPTIONS),
        "one population": quiet(score, y, a, groups=skboot.Trials(*members.T), **OPTIONS),
        "fixed tasks": quiet(score, y, a, average_over=tasks, **OPTIONS),
        "drawn tasks": quiet(score, y, a, average_over=groups, groups=groups, **OPTIONS),
        "panel": quiet(score, y, a, block_length=3, strata=tasks, **OPTIONS),
        "table": quiet(score, y, a, metric=["accuracy", "f1"], adjust="max-t", **OPTIONS),
        "subgroups": quiet(score, y, a, by=groups % 2, **OPTIONS),
        "pairs of tasks": quiet(compare, y, systems, average_over=tasks, **OPTIONS),
        "pairs of members": quiet(compare, y, systems, groups=members, **OPTIONS),
        "pairs of one side": quiet(compare, y, systems, alternative="less", **OPTIONS),
        "reference": quiet(compare, y, systems, reference="B", metric="f1", **OPTIONS),
        "unpaired": quiet(compare, {"A": y, "B": y[:60]}, {"A": a, "B": b[:60]}, paired=False,
                          **OPTIONS),
        "pairs of subgroups": quiet(compare, y, systems, by=groups % 2, **OPTIONS),
        "search": quiet(skboot.search_score, y, systems, **OPTIONS),
        "methods": quiet(skboot.compare_runs, y, {"A": runs, "B": runs[::-1], "C": runs[:3]},
                         groups=groups, **OPTIONS),
        "across": quiet(skboot.compare_across, across, greater_is_better=True, **OPTIONS),
    }  # fmt: skip
    varied = {"seed": {}, "independent": {}, "training": {"full_runs": [a, b]}}
    varied["both"] = {"full_runs": [a, b], "training": [0, 0, 1, 1]}
    for name, more in varied.items():
        for columns in ({}, {"groups": groups, "average_over": groups}):
            found[f"{name} {len(columns)}"] = quiet(
                skboot.bootstrap_runs, y, runs, metric="accuracy", varied=name, **more, **columns,
                **OPTIONS,
            )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def every_result():
    return results()


def parts_of(result):
    """Every result of a single score inside, and the pairs."""
    if hasattr(result, "systems"):
        return [*result.systems.values()], [*result.pairs]
    if hasattr(result, "items"):
        inside = [parts_of(one) for one in result.values()]
        return [s for one, _ in inside for s in one], [p for _, pairs in inside for p in pairs]
    return [result], []


def said(result, method, level, estimand):
    try:
        return repr(quiet(result.interval, method, level, estimand=estimand))
    except ValueError as error:
        return str(error)


ESTIMANDS = (None, "method", "next_run", "pooled", "system")
NAMES = ("crossed", "one population", "fixed tasks", "drawn tasks", "panel", "table", "subgroups",
         "pairs of tasks", "pairs of members", "pairs of one side", "reference", "unpaired",
         "pairs of subgroups", "search", "methods", "across",
         "seed 0", "seed 2", "independent 0", "independent 2", "training 0", "training 2", "both 0",
         "both 2")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_result_of_any_kind_after_loading_answers_alike(name, every_result, tmp_path):
    one = every_result[name]
    one.save(tmp_path / "kept.npz")
    other = type(one).load(tmp_path / "kept.npz")
    assert other == one
    (alone, pairs), (same, same_pairs) = parts_of(one), parts_of(other)
    for first, second in zip(alone, same, strict=True):
        assert second == first
        assert second.summary() == first.summary()
        for method, level, estimand in itertools.product(METHODS, (None, 0.8), ESTIMANDS):
            if estimand is None or first.runs is not None:
                asked = (method, level, estimand)
                assert said(second, *asked) == said(first, *asked), asked
        assert repr(second.monte_carlo_error) == repr(first.monte_carlo_error)
    for first, second in zip(pairs, same_pairs, strict=True):
        assert second == first
        assert second._mirrored() == first._mirrored()
        assert second.to_dict() == first.to_dict()
        if first.alternative == "two-sided":
            assert second.equivalence_margin == first.equivalence_margin
            assert second.verdict(0.05) == first.verdict(0.05)
    if name in ("pairs of tasks", "pairs of members", "methods"):
        assert other.ranks() == one.ranks()
        assert other.top(2) == one.top(2)
    if hasattr(one, "summary"):
        assert other.summary() == one.summary()


# ------------------------------------------------------------------ streams


def streamed(batches, metric, labels=None):
    found = skboot.BootstrapAccumulator(metric, labels=labels, **OPTIONS)
    for (y, p), columns in batches:
        found.update(y, p, **columns)
    return quiet(found.result)


def assert_same_stream(one, other):
    close(other.estimate, one.estimate)
    close(other.bootstrap_distribution, one.bootstrap_distribution, 1e-9, 1e-11)
    close([*other.confidence_interval], [*one.confidence_interval], 1e-7, 1e-9)
    assert other.confidence_interval.method == one.confidence_interval.method
    assert (other.n_units, other.unit, other.notes) == (one.n_units, one.unit, one.notes)


LATE = ("accuracy", "f1_macro", "balanced_accuracy", "matthews_corrcoef", "expected_cost",
        "f1_weighted", "hamming_loss")  # fmt: skip


def batches_of(order, cuts, y, p, weight, units):
    return [
        (
            (None if y is None else y[rows], p[rows]),
            {key: column[rows] for key, column in units.items()}
            | ({} if weight is None else {"sample_weight": weight[rows]}),
        )
        for rows in np.split(order, cuts)
    ]


@pytest.mark.parametrize("metric", LATE)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", ["ids", "groups"])
def test_a_class_that_comes_late_is_a_class(metric, weighted, unit):
    if metric == "hamming_loss":
        from sklearn.metrics import hamming_loss as metric
    rng, y, p, _ = case("words", 90)
    units = {unit: np.arange(90) if unit == "ids" else np.arange(90) // 2}
    weight = rng.integers(1, 4, 90).astype(float) if weighted else None
    whole = streamed(batches_of(np.arange(90), [], y, p, weight, units), metric)
    for order in (np.argsort(y, kind="stable"), np.argsort(p, kind="stable")[::-1]):
        parts = batches_of(order, [10, 31, 60], y, p, weight, units)
        assert_same_stream(whole, streamed(parts, metric))
    columns = {} if weight is None else {"sample_weight": weight}
    columns |= {"groups": units["groups"]} if unit == "groups" else {}
    alone = scored(y, p, metric=metric, **columns)
    close(whole.estimate, alone.estimate)


@pytest.mark.parametrize("first", ["zeros", "0/1", "whole", "any"])
@pytest.mark.parametrize("unit", ["ids", "groups"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_of_other_kinds_may_come_late(first, unit, weighted):
    rng = np.random.default_rng(len(first))
    early = {"zeros": np.zeros(40), "0/1": np.arange(40) % 2, "whole": np.arange(40) % 5}
    early = early.get(first, rng.normal(size=40))
    values = np.concatenate([early.astype(float), rng.normal(size=50) + 1])
    units = {unit: np.arange(90) if unit == "ids" else np.arange(90) % 40}
    weight = rng.integers(1, 4, 90) / 2 if weighted else None
    for kept in (values, np.concatenate([early, np.arange(50) % 2])):
        whole = streamed(batches_of(np.arange(90), [], None, kept, weight, units), "mean")
        parts = batches_of(np.arange(90), [20, 40, 55], None, kept, weight, units)
        assert_same_stream(whole, streamed(parts, "mean"))
        assert_same_stream(whole, streamed(parts[::-1], "mean"))
        close(whole.estimate, np.average(kept, weights=weight))


@pytest.mark.parametrize(
    ("n_groups", "metric"),
    [
        (5, "accuracy"),
        (12, "f1"),
        (35, "f1"),
        (12, "roc_auc"),
        (5, "mean"),
        (35, "mean"),
        (12, "r2"),
    ],
)
def test_a_few_large_groups_in_batches_of_their_own_are_the_stream(n_groups, metric):
    kind = {"roc_auc": "scores", "mean": "values", "r2": "values"}.get(metric, "two")
    rng, y, p, _ = case(kind, 150)
    y = None if metric == "mean" else y
    groups, weight = np.arange(150) % n_groups, rng.integers(1, 4, 150).astype(float)
    for own in (None, weight):
        whole = streamed(batches_of(np.arange(150), [], y, p, own, {"groups": groups}), metric)
        order = np.argsort(groups, kind="stable")
        cuts = np.flatnonzero(np.diff(groups[order])) + 1
        parts = batches_of(order, cuts, y, p, own, {"groups": groups})
        assert_same_stream(whole, streamed(parts, metric))
        assert_same_stream(whole, streamed(parts[::-1], metric))
        # Groups that are cut across batches.
        cut = batches_of(np.arange(150), [33, 70, 101], y, p, own, {"groups": groups})
        assert_same_stream(whole, streamed(cut, metric))
        columns = {"groups": groups} | ({} if own is None else {"sample_weight": own})
        alone = scored(y, p, metric=metric, **columns)
        close(whole.estimate, alone.estimate)
        if n_groups < 30:
            close(whole.bootstrap_distribution, alone.bootstrap_distribution, 1e-9)
            close([*whole.confidence_interval], [*alone.confidence_interval], 1e-8)
            # Rows k times in their groups are rows of weight k.
            rows = np.repeat(np.arange(150), 1 if own is None else own.astype(int))
            more = batches_of(rows, [], y, p, None, {"groups": groups})
            close(streamed(more, metric).bootstrap_distribution, whole.bootstrap_distribution, 1e-8)
