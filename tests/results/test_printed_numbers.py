"""Each printed number, read back, is nearly what it is, whatever the magnitudes beside it."""

import dataclasses
import html
import math
import re

import numpy as np
import pytest
from displayed import result as result_of

from skboot import compare_systems
from skboot.inference import ConfidenceInterval
from skboot.results import ResultTable

pytestmark = pytest.mark.identity

NUMBER = r"[<>]?-?(?:\d[\d.]*(?:e[+-]\d+)?|inf)"
RANGE = rf"({NUMBER}) to ({NUMBER})"


def skewed(seed):
    """An estimate with limits whose distances from it differ by up to twenty magnitudes."""
    rng = np.random.default_rng(seed)
    bounds = [(-math.inf, math.inf), (0.0, 1.0), (-math.inf, 1.0)][seed % 3]
    near, far = 10.0 ** rng.uniform(-12, 8, 2)
    estimate = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-10, 10)
    if bounds[1] == 1:
        estimate = 1 - 10.0 ** rng.uniform(-12, -1)
    low = max(estimate - near * abs(estimate), bounds[0])
    return estimate, low, min(estimate + far * abs(estimate), bounds[1]), bounds


def assert_read(texts, values, anchors):
    """Hold an estimate and its limits, as they are written, against what they are."""
    estimate, *limits = values
    apart = [abs(limit - estimate) for limit in limits]
    nearer = min((d for d in apart if d > 1e-13 * abs(estimate)), default=abs(estimate))
    for text, value, distance in zip(texts, values, (nearer, *apart), strict=True):
        room = distance if distance > 1e-13 * abs(estimate) else nearer
        assert abs(float(text) - value) <= room / 10 * (1 + 1e-9), (text, values)
        assert float(text) == value or float(text) not in anchors, (text, values)


def assert_read_in_a_table(texts, values, anchors, widest=None):
    """Hold numbers of a table, which have the same decimals, against what they are."""
    widest = values[2] - values[1] if widest is None else widest
    for text, value in zip(texts, values, strict=True):
        read = float(text.lstrip("<>"))
        if text[0] in "<>":
            beside = [anchor for anchor in anchors if abs(anchor - value) < widest / 40]
            assert any(min(a, read) < value < max(a, read) for a in beside), (text, values)
        else:
            assert abs(read - value) <= widest / 40 * (1 + 1e-9), (text, values)
            assert read == value or read not in anchors, (text, values)
    assert texts[1] != texts[2]


def texts_of_a_row(text):
    """Return estimate and limits from a row of a table in any language."""
    text = text.replace("$-$", "-").replace(r"\textless{}", "<").replace(r"\textgreater{}", ">")
    cells = re.split(r"\||&| {2,}", text)
    cells = [cell.strip() for cell in cells if cell.strip()]
    [k] = [k for k, cell in enumerate(cells) if re.match(RANGE, cell)]
    return cells[k - 1], *re.match(RANGE, cells[k]).groups()


@pytest.mark.parametrize("seed", range(24))
def test_a_result_is_printed_as_what_it_is_wherever_it_is_shown(seed):
    values = estimate, low, high, bounds = skewed(seed)
    spread = abs(estimate) * 10.0 ** np.random.default_rng(seed).uniform(-6, 2)
    result = result_of(
        estimate,
        estimate + spread * np.linspace(-1, 1, 20),
        ConfidenceInterval(low, high, 0.95, "percentile"),
        bounds=bounds,
        naive_estimate=abs(estimate) * 1e-5,
    )
    anchors = {0.0, *bounds}
    page, table = result._repr_html_(), ResultTable({"a": result, "b": result})
    [drawn] = [re.findall(r"<text[^>]*>([^<]*)<", svg)[:3] for svg in page.split("<svg")[1:]]
    rows = re.sub("<svg.*?</svg>", "", table._repr_html_()).split("<tbody>")[1]
    in_claim = re.search(rf"at (\S+) from .*?CI {RANGE}", result.claim())
    shown = [
        re.match(rf"(\S+) \({RANGE}", str(result)).groups(),
        re.search(rf"estimate +(\S+).*?CI +{RANGE}", result.summary(), re.DOTALL).groups(),
        in_claim.groups(),
        (drawn[2], drawn[0], drawn[1]),
    ]
    in_tables = [
        texts_of_a_row(result.to_markdown().splitlines()[-1]),
        texts_of_a_row(result.to_latex().splitlines()[4]),
        texts_of_a_row(str(table).splitlines()[1]),
        texts_of_a_row(html.unescape(re.sub("<[^>]+>", "|", rows.split("</tr>")[0]))),
    ]
    if seed % 8 == 0:
        plt = pytest.importorskip("matplotlib.pyplot")
        legend = " ".join(text.get_text() for text in result.plot().legend_.get_texts())
        plt.close("all")
        middle, ends = re.search(r"estimate (\S+)", legend), re.search(RANGE, legend)
        in_tables.append((middle[1], *ends.groups()))
    for texts in shown:
        assert_read(texts, (estimate, low, high), anchors)
    for texts in in_tables:
        assert_read_in_a_table(texts, (estimate, low, high), anchors)
    # What has no limits of its own: two significant digits.
    for text, value in (
        (re.search(r"standard error +(\S+)", result.summary())[1], result.standard_error),
        (re.search(r"baseline +(\S+)", result.summary())[1], result.naive_estimate),
    ):
        assert float(text) == pytest.approx(value, rel=0.0501), values


PAIR = np.random.default_rng(0).normal(size=(3, 30))
COMPARISON = compare_systems(
    PAIR[0], {"A": PAIR[1], "B": PAIR[2]}, metric="mae", n_resamples=99, random_state=0
)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_a_difference_is_printed_as_what_it_is_wherever_it_is_shown(seed):
    estimate, low, high, _ = skewed(seed)
    pair = dataclasses.replace(
        COMPARISON.pairs[0],
        difference=estimate,
        confidence_interval=ConfidenceInterval(low, high, 0.95, "percentile"),
        simultaneous_interval=None,
        p_value=1 - 1e-5,
        bootstrap_support=1 - 1e-5,
    )
    systems = {
        name: result_of(value, np.full(9, value), ConfidenceInterval(*limits, 0.95, "percentile"))
        for name, value, limits in (
            ("A", estimate, (low, high)),
            ("B", estimate / 3, (estimate / 3 - abs(estimate), estimate / 3 + abs(estimate))),
        )
    }
    result = dataclasses.replace(COMPARISON, pairs=(pair,), systems=systems)
    if high - low <= 1e-12 * abs(estimate):
        return
    [pair] = result.pairs
    scores = re.search(r"A scored (\S+) and B (\S+) in", result.claim()).groups()
    row = result.to_markdown(p_values=True).splitlines()[-1]
    verdict = re.search(rf"difference ({NUMBER}).*?CI {RANGE}", str(pair.verdict()))
    for texts in (
        re.match(rf"(\S+) \({RANGE}", str(pair)).groups(),
        re.search(rf"estimated at (\S+) \(95% CI {RANGE}", result.claim()).groups(),
        verdict.groups(),
    ):
        assert_read(texts, (estimate, low, high), {0.0})
    widest = max(high - low, 2 * abs(estimate))
    for in_table in (
        re.search(rf"A - B +(\S+) +{RANGE}", result.summary()).groups(),
        texts_of_a_row(row),
    ):
        assert_read_in_a_table(in_table, (estimate, low, high), {0.0}, widest)
    assert_read((scores[0], *texts[1:]), (estimate, low, high), {0.0})
    assert float(scores[1]) == pytest.approx(estimate / 3, abs=abs(estimate) / 10)
    # Neither a p-value nor a share of resamples is 1 that is not.
    assert row.endswith("| 0.99999 |")
    assert re.search(r"0\.99999 +0\.99999\n", result.summary())
