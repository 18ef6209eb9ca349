"""The study of the tutorial does what the tutorial does, and its page says what was found."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks.coverage.page.sections import tutorial as shown
from benchmarks.coverage.studies import tutorial

N = 40
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "methods.md"
IS_RUN = pytest.mark.skipif(not tutorial.STUDY.path.exists(), reason="the study was not run yet")


@pytest.fixture
def sample(monkeypatch):
    monkeypatch.setattr(tutorial, "N_TRUTH", 200)
    monkeypatch.setattr(tutorial, "N_ROUNDS", 60)
    return tutorial._sampler(N, 3)(np.random.default_rng(3))


def rounds_of(sample, seed):
    """Accuracies of each round by the recipe of the tutorial: trees of repeated rows, one by one.

    Agreement without information is counted over all pairs, as there, on all rows that there are.
    """
    X, y = sample.X.astype(float), sample.y
    counts = np.random.default_rng(seed).multinomial(N, np.full(N, 1 / N), size=60)
    found = []
    for line in counts:
        drawn, left = np.repeat(np.arange(N), line), np.flatnonzero(line == 0)
        tree = DecisionTreeClassifier(random_state=123, max_depth=3).fit(X[drawn], y[drawn])
        train, valid = tree.score(X[:N], y[:N]), tree.score(X[left], y[left])
        pairs = np.array(list(product(y, tree.predict(X))))
        gamma = accuracy_score(pairs[:, 0], pairs[:, 1])
        weight = 0.632 / (1 - 0.368 * (valid - train) / (gamma - train))
        found.append((train, valid, weight * train + (1 - weight) * valid))
    return np.array(found).T


def test_the_rows_of_the_table_are_what_the_recipe_computes(sample):
    train, valid, plus = rounds_of(sample, seed=7)
    found = tutorial.intervals(sample, 7)
    swapped, right = 0.632 * train + 0.368 * valid, 0.368 * train + 0.632 * valid
    for name, values in (
        ("2.2 out-of-bag percentiles", valid),
        ("2.3 .632 as published", swapped),
        (".632, right weights", right),
        (".632+ as published", plus),
    ):
        assert found[name] == pytest.approx(np.percentile(values, [2.5, 97.5])), name
    reach = stats.t.ppf(0.975, 59) * valid.std(ddof=1)
    expected = (valid.mean() - reach, valid.mean() + reach)
    assert found["2.1 out-of-bag t"] == pytest.approx(expected)


def test_values_of_rounds_with_right_weights_are_those_of_mlxtend():
    evaluate = pytest.importorskip("mlxtend.evaluate")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 3)).astype(np.float32), rng.integers(0, 2, size=N)
    tree = DecisionTreeClassifier(random_state=123, max_depth=3)
    theirs = evaluate.bootstrap_point632_score(tree, X, y, n_splits=25, random_seed=1)
    splits = evaluate.BootstrapOutOfBag(n_splits=25, random_seed=1).split(X)
    counts = np.array([np.bincount(rows, minlength=N) for rows, _ in splits])
    answers = np.array([tutorial._trained(3, X, y, line, X) for line in counts])
    right, out = answers == y, counts == 0
    oob = np.sum(right & out, axis=1) / out.sum(axis=1)
    found = tutorial._point632(y, answers, oob, answers[0], N)[".632, right weights"]
    assert found == pytest.approx(np.quantile(theirs, tutorial.ENDS))


@IS_RUN
def test_the_published_numbers_are_made_again():
    # The rule of the study: 2.6 standard errors each.
    found = shown.results()
    for name, value in tutorial.PUBLISHED.items():
        row = found[tutorial.CELLS[0].name, name, "system"]
        assert shown.standard_errors(row, value) < 2.6, name


@IS_RUN
def test_our_intervals_cover_what_they_are_for_in_the_cells_of_the_tutorial():
    found = shown.results()
    for name, target in shown.OURS.items():
        for cell in dict.fromkeys(cell for cell, *_ in found):
            assert found[cell, name, target].covers(0.93), (name, cell)


@IS_RUN
@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of the installed package")
def test_the_guide_of_methods_quotes_what_was_measured():
    found, text = shown.results(), " ".join(GUIDE.read_text(encoding="utf-8").split())
    swapped, right = (
        found[tutorial.CELLS[0].name, name, "system"] for name in (shown.SWAPPED, shown.RIGHT)
    )
    held = f"it held a tree's accuracy in {100 * swapped.coverage:.0f}% of {swapped.repetitions}"
    assert held in text
    assert f"with the weights put right in {100 * right.coverage:.0f}%" in text
