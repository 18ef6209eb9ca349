"""The error of models trained anywhere: R's numbers, what must not matter, refusals."""

import pickle

import numpy as np
import pytest
from method_error_problems import (
    Oracle,
    small_problem,
)

from skboot.inference import prediction_error

CASES = ["iris_lda", "pima_lda", "null40_knn1"]

EXACT = dict(rtol=0, atol=1e-12)

LOSSES, WEIGHTS, FULL = small_problem(n=6, n_resamples=20)


@pytest.fixture(scope="module", params=CASES)
def oracle(request):
    return Oracle(request.param)


def test_points_equal_those_of_ipred(oracle):
    result, expected = oracle.result(), oracle.expected
    np.testing.assert_allclose(result.resubstitution, expected["err_resub"], **EXACT)
    np.testing.assert_allclose(result.oob, expected["Err1"], **EXACT)
    np.testing.assert_allclose(result.out_of_bag.by_row, oracle.by_row, **EXACT)
    np.testing.assert_allclose(result.no_information_rate, expected["gamma"], **EXACT)
    np.testing.assert_allclose(result.point632, expected["err632"], **EXACT)
    np.testing.assert_allclose(result.point632_plus, expected["e632plus_fully_clipped"], **EXACT)


def test_literal_clipping_is_the_form_of_ipred(oracle):
    result, expected = oracle.result(clipping="literal"), oracle.expected
    np.testing.assert_allclose(result.relative_overfitting_rate, expected["R_raw"], **EXACT)
    np.testing.assert_allclose(result.point632_plus, expected["ipred_632plus"], **EXACT)


def test_published_standard_error_equals_the_authors_code(oracle):
    result, expected = oracle.result(form="et97"), oracle.expected
    np.testing.assert_allclose(result.standard_error_unadjusted, expected["tibs_SE_del"], **EXACT)
    np.testing.assert_allclose(result.standard_error, expected["tibs_SE_adj"], **EXACT)
    np.testing.assert_allclose(result.out_of_bag.influence, oracle.influence, **EXACT)


def test_mean_of_replicates_is_another_number_than_err1(oracle):
    replicates = oracle.result().out_of_bag.replicates
    np.testing.assert_allclose(replicates.mean(), oracle.expected["Err1_per_replicate"], **EXACT)


def test_groups_of_one_row_are_rows():
    losses, weights, full = small_problem()
    common = {"resubstitution_losses": full, "no_information_rate": 0.5, "cv_losses": losses[:3]}
    rows = prediction_error(losses, weights, **common)
    groups = prediction_error(losses, weights, groups=np.arange(30)[::-1], **common)
    np.testing.assert_allclose(groups.standard_error, rows.standard_error)
    np.testing.assert_allclose(groups.out_of_bag.influence, rows.out_of_bag.influence[::-1])
    for method in ("adjusted", "hull", "cv-bootstrap"):
        np.testing.assert_allclose(groups.interval(method), rows.interval(method))


def test_order_of_the_rows_of_groups_does_not_matter():
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    losses, weights, full = small_problem(groups=groups)
    order = np.random.default_rng(2).permutation(30)
    common = {"no_information_rate": 0.5, "bounds": (0, 1)}
    results = [
        prediction_error(
            losses[:, rows],
            weights[:, rows],
            resubstitution_losses=full[rows],
            groups=groups[rows],
            cv_losses=losses[:2, rows],
            **common,
        )
        for rows in (np.arange(30), order)
    ]
    np.testing.assert_allclose(results[0].standard_error, results[1].standard_error)
    np.testing.assert_allclose(results[0].interval("hull"), results[1].interval("hull"))
    np.testing.assert_allclose(*[result.interval("cv-bootstrap") for result in results])


@pytest.mark.parametrize("method", ["adjusted", "hull", "cv-bootstrap", "percentile", "t"])
def test_minus_score_one_minus_score_and_loss_give_one_answer(method):
    losses, weights, full = small_problem()
    losses, full = losses.astype(float), full.astype(float)

    def interval(shift, bounds):
        result = prediction_error(
            losses + shift,
            weights,
            resubstitution_losses=full + shift,
            no_information_rate=0.5 + shift,
            bounds=bounds,
            cv_losses=losses[:3] + shift,
        )
        return result, np.array(result.interval(method)) - shift

    loss, expected = interval(0.0, (0, 1))
    minus_accuracy, limits = interval(-1.0, (-1, 0))
    np.testing.assert_allclose(limits, expected)
    np.testing.assert_allclose(minus_accuracy.weight, loss.weight)
    np.testing.assert_allclose(minus_accuracy.standard_error, loss.standard_error)


def test_in_bag_losses_are_never_read():
    losses, weights, full = small_problem()
    hidden = np.where(weights > 0, np.nan, losses)
    common = {"resubstitution_losses": full, "no_information_rate": 0.5}
    for form in ("centred", "et97"):
        assert prediction_error(hidden, weights, form=form, **common) == prediction_error(
            losses, weights, form=form, **common
        )


def test_blocks_of_columns_do_not_change_the_result(monkeypatch):
    groups = np.repeat(np.arange(6), 5)
    for labels in (None, groups):
        losses, weights, full = small_problem(groups=labels)
        common = {"resubstitution_losses": full, "no_information_rate": 0.5, "groups": labels}
        whole = prediction_error(losses, weights, cv_losses=losses[:2], **common)
        monkeypatch.setattr("skboot.method_error.out_of_bag.ELEMENTS_AT_ONCE", 700)
        parts = prediction_error(losses, weights, cv_losses=losses[:2], **common)
        monkeypatch.undo()
        np.testing.assert_allclose(parts.standard_error, whole.standard_error)
        np.testing.assert_allclose(parts.cv.standard_error, whole.cv.standard_error)


def test_values_are_compared_pickled_read_only_and_not_hashed():
    losses, weights, full = small_problem()
    result = prediction_error(
        losses, weights, resubstitution_losses=full, no_information_rate=0.5, cv_losses=losses[:2]
    )
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.interval("hull") == pickle.loads(pickle.dumps(result.interval("hull")))
    assert result != prediction_error(
        losses[1:], weights[1:], resubstitution_losses=full, no_information_rate=0.5
    )
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    with pytest.raises(ValueError, match="read-only"):
        result.out_of_bag.by_row[0] = 1


def test_rows_never_out_of_bag_are_left_out_and_said():
    losses, weights, full = small_problem(n_resamples=4)
    never = (weights > 0).all(axis=0)
    assert 0 < never.sum() < 30
    for form in ("centred", "et97"):
        result = prediction_error(
            losses, weights, resubstitution_losses=full, no_information_rate=0.5, form=form
        )
        np.testing.assert_array_equal(np.isnan(result.out_of_bag.by_row), never)
        np.testing.assert_allclose(result.oob, np.nanmean(result.out_of_bag.by_row))
        assert np.isfinite(result.standard_error)
        assert any(f"{never.sum()} of 30 rows" in note for note in result.notes)
        assert any("too few" in note for note in result.notes)


def test_a_floored_standard_error_says_so():
    notes = []
    for seed in range(30):
        losses, weights, full = small_problem(seed, n=40, n_resamples=20)
        result = prediction_error(
            losses, weights, resubstitution_losses=full, no_information_rate=0.5, form="et97"
        )
        by_row = result.out_of_bag.by_row
        floor = np.sqrt(np.nansum((by_row - np.nanmean(by_row)) ** 2)) / np.isfinite(by_row).sum()
        assert result.standard_error >= floor * (1 - 1e-12)
        floored = any("floored" in note for note in result.notes)
        assert floored == result.out_of_bag.standard_error_floored
        assert floored == bool(np.isclose(result.standard_error, floor, rtol=1e-12))
        notes.append(floored)
    assert any(notes)
    assert not all(notes)


def bad(name, message, **changes):
    return pytest.param(changes, f"The '{name}' parameter of prediction_error {message}", id=name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        bad("losses", "must be an array of shape", losses=LOSSES[0]),
        bad("losses", "must be an array of numbers", losses=LOSSES.astype(str)),
        bad("losses", "must be free of NaN where weights are 0", losses=LOSSES * np.nan),
        bad("losses", r"must be within bounds=\(0.0, 1.0\)", losses=LOSSES * 2.0),
        bad("weights", "must be an array of the shape of losses", weights=WEIGHTS[:, :5]),
        bad("weights", "must be counts", weights=WEIGHTS / 2),
        bad("weights", "must be counts of 6 draws", weights=WEIGHTS * 2),
        bad("weights", "must be 0 somewhere", weights=np.ones_like(WEIGHTS)),
        bad("weights", "must be equal within a group", groups=[0, 0, 1, 1, 2, 2]),
        bad("resubstitution_losses", "must be finite numbers", resubstitution_losses=FULL[:3]),
        bad("no_information_rate", "must be a finite float", no_information_rate=np.nan),
        bad("groups", r"must be an array of shape \(6,\)", groups=[0, 1]),
        bad("groups", "must hold at least two groups", groups=[0] * 6),
        bad("groups", "must not contain NaN", groups=[0, 1, np.nan, 2, 3, 4]),
        bad("bounds", "must be a pair of numbers", bounds=1),
        bad("bounds", "must be a pair of numbers, the smaller first", bounds=(1, 0)),
        bad("clipping", r"must be one of \['full', 'literal'\]", clipping="none"),
        bad("form", r"must be one of \['centred', 'et97'\]", form="centered"),
        bad("form", "must be 'centred' with groups", form="et97", groups=np.arange(6)),
        bad("cv_losses", "must be finite numbers of shape", cv_losses=LOSSES[:, :2]),
    ],
)
def test_bad_arguments_are_named_with_what_to_do(changes, message):
    arguments = {
        "losses": LOSSES,
        "weights": WEIGHTS,
        "resubstitution_losses": FULL,
        "no_information_rate": 0.5,
        **changes,
    }
    with pytest.raises(ValueError, match=f"{message}.* Got .*"):
        prediction_error(arguments.pop("losses"), arguments.pop("weights"), **arguments)
