"""The study of large data shows what was measured beside torchmetrics."""

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks import streamed_peer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies" / "large_data.md"


def measured():
    with streamed_peer.TABLE.open(encoding="utf-8") as file:
        return {
            (row["part"], row["case"], row["tool"], row["measure"]): row["value"]
            for row in csv.DictReader(file)
        }


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of the package")
def test_each_number_of_the_page_is_measured():
    found = measured()
    text = PAGE.read_text(encoding="utf-8").partition("## Beside BootStrapper")[2]
    text = " ".join(text.partition("\n## ")[0].split())
    known = found["time", "accuracy", "formula", "standard error"]
    for tool, name in (("skboot", "BootstrapAccumulator"), ("torchmetrics", "BootStrapper")):
        seconds, error = (
            found["time", "accuracy", tool, own] for own in ("seconds", "standard error")
        )
        assert f"| `{name}` | {seconds} | {error} | {known} |" in text
    for case in streamed_peer.CASES:
        tools = ("torchmetrics, poisson", "torchmetrics, multinomial", "skboot")
        shares = " | ".join(found["coverage", case, tool, "coverage"] for tool in tools)
        assert f"| {case} | {shares} |" in text
    for measure in ("correlation", "standard error"):
        for tool in ("formula", "skboot", "torchmetrics"):
            assert found["pairs", "two systems", tool, measure] in text
    for package in ("torchmetrics", "torch"):
        assert f"{package} {found['versions', 'all', package, 'version']}" in text
    assert found["batches", "other batches", "torchmetrics", "equal replicates"] == "0.00"
    assert found["batches", "other batches", "skboot", "equal replicates"] == "1.00"
    alone = found["batches", "batches of one row", "torchmetrics, multinomial", "standard error"]
    assert float(alone) == 0


def test_our_side_of_the_comparison_is_the_stream():
    truth, one, two = streamed_peer.data(np.random.default_rng(0), 400)
    answers = {"one": one, "two": two}
    replicates, result = streamed_peer.of_skboot(truth, answers, size=100, n_resamples=50)
    assert result.systems["one"].estimate == pytest.approx(np.mean(truth == one))
    assert replicates["one"].shape == (50,)
    again, _ = streamed_peer.of_skboot(truth, answers, size=30, n_resamples=50)
    np.testing.assert_array_equal(replicates["two"], again["two"])
