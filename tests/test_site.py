"""Pages lead to names that exist at other projects, and workflows run what was looked at."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LISTS = sorted((ROOT / "docs" / "inventories").glob("*.txt"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module", autouse=True)
def in_a_checkout():
    if not LISTS or not WORKFLOWS:
        pytest.skip("site and workflows are not part of the installed package")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_listed_names_of_other_projects_exist(path):
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        name, role, _ = line.split()
        if role.startswith("py:"):
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), name


def test_lists_are_inventories_that_sphinx_reads():
    inventory = pytest.importorskip("sphinx.util.inventory")
    links = runpy.run_path(str(ROOT / "docs" / "links.py"))
    read = inventory.InventoryFile.loads(links["_packed"]("scipy"), uri="https://site")
    page = "reference/generated/scipy.stats.bootstrap.html#scipy.stats.bootstrap"
    assert read["py:function", "scipy.stats.bootstrap"].uri == f"https://site/{page}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_commits(path):
    actions = re.findall(r"uses: (.+)$", path.read_text(encoding="utf-8"), re.M)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
