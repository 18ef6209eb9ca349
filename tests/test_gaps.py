"""The largest gap between subgroups says what it is, wherever it is shown."""

import numpy as np
import pytest

from skboot import bootstrap_score, compare_systems


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=600)
    by = np.array(["women", "men", "other"])[np.arange(600) % 3]
    rates = {"A": np.where(by == "men", 0.4, 0.2), "B": 0.25, "C": 0.3}
    return y, {name: y ^ (rng.random(600) < rate) for name, rate in rates.items()}, by


def one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def gap(data):
    y, systems, by = data
    return bootstrap_score(y, systems["A"], by=by, random_state=0)["gap"]


@pytest.fixture(scope="module")
def change(data):
    y, systems, by = data
    return compare_systems(y, systems, by=by, random_state=0)["gap"]["A - B"]


def test_the_gap_of_a_system_is_not_its_performance(gap):
    summary = one_line(gap.summary())
    assert "largest difference between subgroups for this trained system" in summary
    assert "performance" not in summary
    assert "95 % simultaneous CI" in summary
    assert "simultaneous over all pairs of subgroups" in summary
    assert "held fixed the trained system note" in summary


def test_the_gap_of_a_comparison_is_a_change_of_a_difference(change):
    summary = one_line(change.summary())
    assert "largest change between subgroups of the difference of two trained systems" in summary
    assert "performance" not in summary
    assert "all pairs of subgroups and all differences of systems" in summary
    assert "held fixed the trained systems note" in summary


def test_the_claim_names_the_pair_and_what_the_interval_is_over(gap, change):
    low, high = gap.confidence_interval[:2]
    assert gap.claim() == (
        f"The largest difference in accuracy between subgroups was {gap.estimate:.2f} "
        f"(other - men) on 600 test rows (95 % CI {low:.2f} to {high:.2f}, simultaneous over all "
        "pairs of subgroups, max-t bootstrap, 600 rows resampled). On new data from the same "
        "source these two differ."
    )
    assert change.claim().startswith(
        "The largest change between subgroups of a difference in accuracy was "
        f"{change.estimate:.2f} (A - B: other - men) on 600 test rows (95 % CI "
    )


def test_no_difference_is_claimed_where_the_interval_holds_zero(data):
    y, systems, by = data
    gap = bootstrap_score(y, systems["B"], by=by, random_state=0)["gap"]
    assert gap.confidence_interval.low < 0
    assert gap.claim().endswith(
        "This does not show that subgroups differ, nor that they are equal."
    )


def test_tables_and_pages_mark_the_interval(data, gap, change):
    y, systems, by = data
    for one in (gap, change):
        assert "(simultaneous)" in one.to_markdown()
        assert "(simultaneous)" in one.to_latex()
        assert one.claim() in one._repr_html_()
        assert "simultaneous CI" in str(one)
    table = bootstrap_score(y, systems["A"], by=by, random_state=0)
    assert table.to_markdown().count("(simultaneous)") == 1
    assert "95 % CI" in table.to_markdown()
    summary = one_line(table.summary())
    assert "accuracy gap (other - men): largest difference between subgroups" in summary


def test_an_undefined_gap_says_why():
    y = np.array([0, 1] * 20)
    with pytest.warns(UserWarning, match="undefined"):
        table = bootstrap_score(y, y * 0.5, metric="roc_auc", by=y, random_state=0)
    assert "undefined" in table["gap"].claim()
    assert "undefined" in table["gap"].summary()
