"""The table of layers in CONTRIBUTING.md is the one that the imports keep, and the map shows it.

What pages say of the code, modules, types and steps, is where they say.
"""

import ast
import importlib
import importlib.util
import re
from functools import cache
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


DECISIONS = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize(
    "page",
    ["docs/architecture.md", "CONTRIBUTING.md", *(f"docs/decisions/{name}" for name in DECISIONS)],
)
def test_modules_that_a_page_names_are_there(page):
    path = ROOT / page
    if not path.exists():
        pytest.skip("the page is not part of the installed package")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_0-9]+\.py)`", path.read_text(encoding="utf-8")))
    missing = {
        name for name in named if not any((ROOT / part / name).exists() for part in ("", "skboot"))
    }
    # A file by its last name stands in the package that the sentence is about.
    folders = [ROOT / name for name in ("skboot", "tests", "benchmarks")]
    stems = {file.name for folder in folders for file in folder.rglob("*.py")}
    assert {name for name in missing if "/" in name or name not in stems} == set()


@cache
def defined_in(path):
    """Functions, classes, fields, attributes and parameters of a module, and the module."""
    names = {path.stem, path.parent.name}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg | ast.Attribute):
            names.add(getattr(node, "arg", getattr(node, "attr", None)))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def page_or_skip(name):
    path = ROOT / "docs" / name
    if not path.exists():
        pytest.skip("the documentation is not part of the installed package")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["architecture.md", "vocabulary.md"])
def test_names_of_the_code_that_a_page_mentions_are_there(page):
    text = re.sub(r"```.*?```", "", page_or_skip(page), flags=re.S)
    text = text.partition("## What the code adds")[2] or text  # before, words of users stand
    spans = [span for span in re.findall(r"`([^`]+)`", text) if not re.search(r"[/.]", span)]
    named = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", " ".join(spans))))
    assert len(named) > 20
    assert named.difference(*map(defined_in, PACKAGE.rglob("*.py"))) <= {"False"}


def test_names_are_in_the_module_that_the_page_gives():
    text = page_or_skip("architecture.md")
    placed = re.findall(r"((?:`\w+`(?:, )?)+) \(((?:`[\w/.]+`(?:, )?)+)\)", text)
    placed += re.findall(r"(`\w+`) (?:in|of) (`[\w/]+\.py`)", text)
    # Steps of a score: module, function, what it returns.
    for step in re.search(r"```text\n.*?\n(.*?)```", text, re.S)[1].splitlines():
        place, function, *_ = step.split()
        placed.append((f"`{function.split('.')[-1]}`", f"`{place}`"))
    n_found = 0
    for names, places in placed:
        paths = [PACKAGE / place for place in re.findall(r"`([^`]+)`", places)]
        paths = [path if path.is_dir() else path.with_suffix(".py") for path in paths]
        if not all(path.exists() for path in paths):
            continue  # a step in brackets, behind the type that it returns
        files = [
            file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])
        ]
        assert not set(re.findall(r"`(\w+)`", names)).difference(*map(defined_in, files)), places
        n_found += 1
    assert n_found > 30


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
