"""Verdicts: outcomes by hand, and the power of the detectable margin by simulation and by scipy."""

import html

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot import compare_systems
from skboot.inference.differences import detectable_margin, outcome_of
from skboot.results import Verdict, rendering


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (-0.01, 0.05, 0.02, "pass"),
        (-0.02, 0.05, 0.02, "inconclusive"),
        (-0.05, -0.02, 0.02, "inconclusive"),
        (-0.05, -0.03, 0.02, "fail"),
        (0.0, 0.0, 0.0, "inconclusive"),
        (1e-9, 1.0, 0.0, "pass"),
        (np.nan, np.nan, 0.5, "inconclusive"),
    ],
)
def test_the_limits_decide(low, high, margin, expected):
    assert outcome_of(low, high, margin) == expected


@pytest.mark.parametrize("df", [2, 4, 9, 10, 30, np.inf])
def test_the_detectable_margin_passes_with_eighty_percent(df):
    # An interval of Student's t passes where T + margin / se > its quantile, T noncentral.
    quantile = stats.t.ppf(0.975, df)
    margin = detectable_margin(2.0 * quantile, 2.0, df) / 2.0
    law = stats.nct(df, margin) if np.isfinite(df) else stats.norm(margin)
    assert_allclose(law.sf(quantile), 0.8, atol=1e-8 if df < 10 or np.isinf(df) else 0.012)


def test_known_values_for_few_degrees_of_freedom():
    # The two that the formula was derived with, 95% intervals.
    assert round(detectable_margin(stats.t.ppf(0.975, 4), 1.0, 4), 2) == 3.76
    assert round(detectable_margin(stats.t.ppf(0.975, 2), 1.0, 2), 2) == 5.65


def test_far_out_the_margin_goes_on_evenly():
    near, far = (detectable_margin(width, 1.0, 4) for width in (29.9, 30.1))
    assert 0 < far - near < 0.01 * far


def test_nothing_varies_or_nothing_is_known():
    assert detectable_margin(0.1, 0.0, 9) == 0.1
    assert np.isnan(detectable_margin(np.nan, 0.1, 9))
    assert np.isnan(detectable_margin(0.1, np.nan, 9))


def test_a_verdict_is_neither_true_nor_false():
    verdict = Verdict("fail", 0.1, 0.2, 0.3, None, "it is worse")
    assert verdict.failed
    assert not verdict.passed
    assert str(verdict) == "it is worse"
    with pytest.raises(TypeError, match=r"three outcomes: ask \.passed or \.outcome"):
        bool(verdict)


def test_a_page_of_a_verdict_says_what_it_says_in_words(tmp_path):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 400)
    systems = {name: y_true ^ (rng.random(400) < 0.1) for name in ("new & <b>", "old")}
    [pair] = compare_systems(y_true, systems, n_resamples=99, random_state=0).pairs
    for margin in (0.0, 0.01, 0.5):
        verdict = pair.verdict(margin)
        page = verdict._repr_html_()
        assert html.escape(str(verdict)) in page
        assert "<b>" not in page
        assert rendering.limits(verdict.interval, 2)[:4] in page
        assert page in verdict.to_html()
        verdict.to_html(tmp_path / "verdict.html")
        assert (tmp_path / "verdict.html").read_text(encoding="utf-8") == verdict.to_html()
