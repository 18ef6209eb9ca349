"""Numbers in a picture have the decimals that they have in the table of what it shows."""

import re

import numpy as np
import pytest

import skboot

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 300
RNG = np.random.default_rng(1)
Y = np.tile([0, 1], N // 2)
SYSTEMS = {
    name: np.where(RNG.random(N) < share, 1 - Y, Y)
    for name, share in [("a", 0.01), ("b", 0.2), ("c", 0.21)]
}
TARGET = 450 + 45 * RNG.normal(size=N)
FORECASTS = {name: TARGET + RNG.normal(size=N) * size for name, size in [("near", 1), ("far", 40)]}
FEW = {"n_resamples": 199, "random_state": 0}


def numbers(text):
    return re.findall(r"[<>]?-?\d+(?:\.\d+)?(?![\d%])", text)


def texts_of(display):
    return [text.get_text() for text in display.texts_]


@pytest.mark.parametrize("name", [*SYSTEMS, *FORECASTS])
def test_a_legend_has_the_numbers_of_the_table(name):
    if name in SYSTEMS:
        result = skboot.bootstrap_score(Y, SYSTEMS[name], **FEW)
    else:
        metric = "mean_absolute_error"
        result = skboot.bootstrap_score(TARGET, FORECASTS[name], metric=metric, **FEW)
    cells = numbers(result.to_markdown())
    _, labels = result.plot().ax_.get_legend_handles_labels()
    found = numbers(next(label for label in labels if "% CI" in label).split("CI ")[1])
    assert len(found) == 2
    assert set(found) <= set(cells)


@pytest.mark.parametrize(
    "results",
    [
        lambda: skboot.bootstrap_score(Y, SYSTEMS["a"], by=np.arange(N) % 4, **FEW),
        lambda: skboot.bootstrap_score(Y, SYSTEMS["b"], metric=["accuracy", "f1"], **FEW),
        lambda: skboot.results.ResultTable(
            {
                name: skboot.bootstrap_score(TARGET, values, metric="r2", **FEW)
                for name, values in FORECASTS.items()
            }
        ),
    ],
    ids=["subgroups", "metrics", "unequal widths"],
)
def test_a_table_and_its_picture_have_the_same_numbers(results):
    table = results()
    cells = numbers(table.to_markdown())
    for text in texts_of(table.plot()):
        assert set(numbers(text)) <= set(cells), text


def test_differences_and_their_picture_have_the_same_numbers():
    results = skboot.compare_systems(Y, SYSTEMS, metric=["accuracy", "matthews_corrcoef"], **FEW)
    for name, comparison in results.items():
        cells = numbers(comparison.to_markdown(p_values=True))
        for text in texts_of(comparison.plot()):
            assert set(numbers(text)) <= set(cells), (name, text)
    cells = numbers(results.to_markdown(p_values=True))
    for text in texts_of(skboot.plots.ComparisonDisplay.from_results(results)):
        assert set(numbers(text)) <= set(cells)
