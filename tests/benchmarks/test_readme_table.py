"""The README quotes what was measured."""

import re
import tomllib
from pathlib import Path

import pytest

from skboot import bootstrap_score

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
STUDIES = ROOT / "docs" / "studies"
OF_ERRORS = ("mean squared error", "mean absolute error")


@pytest.fixture(scope="module", autouse=True)
def in_a_checkout():
    if not README.exists():
        pytest.skip("the README is not part of the installed package")


def rows(path, start, after="\n"):
    """The cells of the rows of a page, or of its part after a mark, that begin with these words."""
    lines = path.read_text(encoding="utf-8").partition(after)[2].splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith(f"| {start}")
    ]


def by_tool(start):
    tools, found = rows(README, "| skboot")[0], rows(README, start)[0]
    return {tool.strip("[").split("]")[0]: cell for tool, cell in zip(tools, found, strict=True)}


def test_the_cost_of_an_interval_is_that_of_the_page_of_benchmarks():
    text = " ".join(README.read_text(encoding="utf-8").split())
    costs = re.search(r"An interval of 100,000 labels .*? less than (\d+) .*? some (\d+) \(", text)
    single_scores = rows(STUDIES / "benchmarks.md", "", "## How many single scores")[1:]
    by_metric = {row[0]: float(row[3]) for row in single_scores if len(row) == 6}
    assert len(by_metric) == 11
    of_errors = {name: by_metric.pop(name) for name in ("R2", *OF_ERRORS)}
    assert max(by_metric.values()) < int(costs[1])
    assert list(of_errors.values()) == pytest.approx([int(costs[2])] * 3, rel=0.2)


def test_coverages_are_those_of_the_page_of_other_tools():
    quoted = by_tool("covers 93%")
    for tool in ("mlxtend", "confidence_intervals", "confidenceinterval", "scipy.stats"):
        row = rows(
            STUDIES / "other_tools.md", f"{tool.removesuffix('.stats')} |", "<!-- tools -->"
        )[0]
        cells, covers, ours = row[1:4]
        assert quoted[tool] == f"{covers} of {cells} ({ours})"
        assert by_tool("width of skboot's")[tool] == row[5]


def test_our_own_coverage_is_that_of_the_studies_of_the_cells():
    cells = covers = warned = 0
    for study in ("[simulated systems]", "[real predictions]", "[groups, crossed factors]"):
        row = rows(STUDIES / "index.md", study, "<!-- verdicts -->")[0]
        counted, excluded = map(int, re.match(r"(\d+) \+ (\d+) of", row[1]).groups())
        cells += counted
        covers += round(counted * float(row[2]) / 100)
        warned += excluded
    quoted = by_tool("covers 93%")["skboot"]
    assert quoted == f"{covers} of {cells}, and {warned} with a warning"


def test_the_number_of_intervals_is_that_of_the_names_that_are_known():
    with pytest.raises(ValueError, match="must be one of") as error:
        bootstrap_score([0, 1] * 20, [0, 1] * 20, interval="none of them")
    known = re.search(r"\[(.+)\]", str(error.value))[1].split(", ")
    [quoted] = re.findall(r"(\d+) by name", rows(README, "intervals")[0][1])
    assert int(quoted) == len(set(known) - {"'auto'"})


def test_links_are_whole_addresses_of_pages_and_files_that_exist():
    # A registry of packages shows the page away from the repository.
    text = README.read_text(encoding="utf-8")
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    targets = re.findall(r"\]\(([^)]+)\)|^\[[^]]+\]: (\S+)$", text, re.M)
    for target in map("".join, targets):
        assert target.startswith("https://")
        if source := re.fullmatch(rf"{urls['Source']}/(?:blob|raw)/main/(.+)", target):
            assert (ROOT / source[1]).exists(), target
        elif page := re.fullmatch(rf"{urls['Documentation']}(.+)\.html", target):
            assert (ROOT / "docs" / f"{page[1]}.md").exists(), target
