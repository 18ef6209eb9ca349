"""Forms of the interval of one score and of a difference, and the learners near singularity."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from benchmarks.coverage.methods.candidates import form_of_0043
from benchmarks.coverage.methods.designs import ridge
from benchmarks.coverage.methods.forms import (
    DIFFERENCES,
    FORMS,
    differences_by_repeats,
    variances_by_repeats,
)
from benchmarks.coverage.methods.many_columns import kernel_ridge, least_squares
from benchmarks.coverage.methods.parts import bootstrap, parts_of, samples_of
from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import cv_bootstrap_forms as study
from benchmarks.coverage.studies import cv_bootstrap_forms_differences as differences
from skboot.method_error.cv_bootstrap import cross_validated_variance


def parts_of_cell(design, seed=0):
    rng = np.random.default_rng(seed)
    X, y, groups = design.draw(rng, design.size)
    return parts_of(design, X, y, groups, samples_of(design, y, groups, rng))


@pytest.mark.parametrize(
    "title",
    [
        "logistic, n 120",
        "least squares, p 60, n 100, R2",
        "linear discriminant, 20 unequal groups",
        "quadratic discriminant, 35 % positives, n 100, AUC",
    ],
)
def test_the_former_form_is_that_of_the_record(title):
    parts = parts_of_cell(study.CELLS[title])
    found = bootstrap(parts, 80, 3, form_of_0043)
    v = variances_by_repeats(parts, 80, (3,))[3]
    assert v.averaged == pytest.approx(found.variance_cv_averaged)
    assert v.cap == pytest.approx(found.variance_cap)
    assert v.robust == pytest.approx(found.variance_training_robust)
    assert v.by_count == pytest.approx(found.covariance_training)
    assert FORMS["O13"](v) == pytest.approx(found.standard_error**2)
    assert FORMS["O13"](v) >= FORMS["share, smaller"](v)


@pytest.mark.parametrize("title", ["logistic, n 120", "least squares, p 60, n 100, R2"])
def test_the_form_that_was_taken_is_that_of_the_library(title):
    parts = parts_of_cell(study.CELLS[title])
    v = variances_by_repeats(parts, 80, (3,))[3]
    found = bootstrap(parts, 80, 3)
    assert FORMS["optimism, share"](v) == pytest.approx(found.standard_error**2)


def test_a_difference_from_a_method_without_errors_is_the_rule_of_one_score():
    pair = differences.CELLS["discriminant and centroids, p 10, n 80"]
    first = parts_of_cell(pair.design(pair.first))
    nothing = first._replace(
        centres=first.centres * 0,
        influence=first.influence * 0,
        scores=first.scores * 0,
        oob_influence=first.oob_influence * 0,
        resubstitution=0.0,
    )
    one = variances_by_repeats(first, 100, (1, 5))
    two = differences_by_repeats(first, nothing, True, 100, (1, 5))
    for n_repeats in (1, 5):
        expected = FORMS["share, one repeat"](one[n_repeats])
        assert DIFFERENCES[differences.ONE_RULE](two[n_repeats]) == pytest.approx(expected)


def test_the_difference_of_the_library_is_that_of_the_records():
    pair = differences.CELLS["discriminant and centroids, p 10, n 80"]
    first, second = (parts_of_cell(pair.design(own)) for own in (pair.first, pair.second))
    found = differences_by_repeats(first, second, True, 200, (5,))[5]
    given = (
        first.influence - second.influence,
        first.counts,
        first.scores - second.scores,
        first.oob_influence - second.oob_influence,
    )
    for form, optimism in (("O21", np.inf), ("O21, optimism", 2 * found.half_optimism)):
        expected = cross_validated_variance(
            *given, left_out=found.left_out, share=found.share, optimism=optimism
        )
        assert DIFFERENCES[form](found) == pytest.approx(expected)


@pytest.mark.parametrize("p", [5, 20, 45])
def test_least_squares_is_the_shortest_of_repeated_rows(p):
    rng = np.random.default_rng(p)
    X, y = rng.normal(size=(40, p)), rng.normal(size=40)
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=3).astype(float)
    found = least_squares(X, y, weights, X)
    np.testing.assert_allclose(found, ridge()(X, y, weights, X), rtol=1e-6, atol=1e-6)
    for line, weight in zip(found, weights.astype(int), strict=True):
        rows = np.repeat(np.arange(40), weight)
        model = LinearRegression().fit(X[rows], y[rows])
        np.testing.assert_allclose(line, model.predict(X), rtol=1e-6, atol=1e-6)


def test_kernel_ridge_counts_rows():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    counts = rng.multinomial(30, np.full(30, 1 / 30))
    rows = np.repeat(np.arange(30), counts)
    learner = kernel_ridge(1.0, 0.3)
    weighted = learner(X, y, counts[None].astype(float), X)
    repeated = learner(X[rows], y[rows], np.ones((1, 30)), X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


def test_the_rules_say_of_the_tables_what_the_records_say():
    rows = read(RESULTS / "cv_bootstrap_forms.csv")
    said = list(study.last_verdict(rows))
    assert "FORM: optimism, share" in said
    assert "DEFAULT: (80, 3)" in said
    halves = list(study.verdict(rows))
    assert "share, one repeat is chosen and not confirmed: O13 stays" in halves
    rows = read(RESULTS / "cv_bootstrap_forms_differences.csv")
    assert "FORM: O21" in list(differences.verdict(rows))
    last = study.table_by_cell([row for row in rows if row["half"] == "last"])
    assert differences.form_faults(last, "O21, optimism") == {}
    assert "D2" in differences.form_faults(last, "shares and covariance, optimism")
    # The rule of differences has S1 to S3; the noise of the centre is told.
    assert set(study.setting_faults(last, "O21, optimism", (80, 3), "O21")) == {"S5"}
