"""The table of layers in CONTRIBUTING.md is the one that the imports keep, and the map shows it."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest
from test_architecture import LAYERS, PACKAGE

ROOT = Path(__file__).parent.parent
DRAW_MAP = ROOT / "docs" / "draw_map.py"


@pytest.fixture
def draw_map():
    if not DRAW_MAP.exists():
        pytest.skip("the documentation is not part of the installed package")
    spec = importlib.util.spec_from_file_location("draw_map", DRAW_MAP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_layers_is_the_order_of_imports(draw_map):
    table = draw_map.layers(draw_map.TABLE.read_text(encoding="utf-8"))
    units = [name.partition(".")[0] for names in LAYERS for name in names]
    assert [name for row in table for name in row.names] == [*dict.fromkeys(units), "plots"]


def test_every_module_of_the_package_has_a_row(draw_map):
    table = draw_map.layers(draw_map.TABLE.read_text(encoding="utf-8"))
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for row in table for name in row.names} == modules | packages


def test_the_map_is_drawn_from_the_table(draw_map):
    drawn = draw_map.drawn()
    assert drawn == draw_map.PICTURE.read_text(encoding="utf-8"), "run python docs/draw_map.py"
    for row in draw_map.layers(draw_map.TABLE.read_text(encoding="utf-8")):
        assert all(f">{name}</text>" in drawn for name in row.names)


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_modules_that_a_page_names_are_there(page):
    path = ROOT / page
    if not path.exists():
        pytest.skip("the page is not part of the installed package")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_0-9]+\.py)`", path.read_text(encoding="utf-8")))
    missing = {
        name for name in named if not any((ROOT / part / name).exists() for part in ("", "skboot"))
    }
    # A file by its last name stands in the package that the sentence is about.
    stems = {file.name for part in ("skboot", "tests") for file in (ROOT / part).rglob("*.py")}
    assert {name for name in missing if "/" in name or name not in stems} == set()


def found(dotted):
    """Whether a dotted name below skboot is a module, or what one has."""
    parts = dotted.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:n_parts]))
        except ImportError:
            continue
        for name in parts[n_parts:]:
            fields = getattr(value, "__annotations__", {})
            if name in fields:
                return True
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


def test_names_in_docstrings_and_comments_are_there():
    named = {
        dotted
        for path in PACKAGE.rglob("*.py")
        for dotted in re.findall(r"`+(skboot(?:\.\w+)+)", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert {dotted for dotted in named if not found(dotted)} == set()
