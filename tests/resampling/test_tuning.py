"""Thresholds stand in one table, each with what is known of it."""

import ast
import re
from pathlib import Path

import pytest

import skboot

TABLE = Path(skboot.__file__).parent / "resampling" / "_tuning.py"


def numeric_constants(source):
    """Names that a module assigns arithmetic of literals to."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and all(map(_is_arithmetic, ast.walk(node.value))):
            yield from (name.id for name in node.targets)


def _is_arithmetic(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop)


@pytest.mark.parametrize("path", sorted(TABLE.parent.glob("*.py")), ids=lambda path: path.name)
def test_no_other_module_of_resampling_defines_a_number(path):
    assert path == TABLE or not list(numeric_constants(path.read_text(encoding="utf-8")))


def test_every_threshold_has_a_comment_and_a_reader():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    sources = [path.read_text(encoding="utf-8") for path in TABLE.parent.glob("[!_]*.py")]
    names = re.findall(r"^([A-Z]\w*) = ", "\n".join(lines), re.MULTILINE)
    assert len(names) > 30
    for name in names:
        line = next(k for k, text in enumerate(lines) if text.startswith(f"{name} = "))
        assert lines[line - 1].startswith("# "), name
        assert any(name in source for source in sources), name


def test_a_number_outside_the_table_is_found():
    source = "A = 1 << 4\nB = f(1)\nC = -1 / 128\nD = [1]\nE = 'e'"
    assert list(numeric_constants(source)) == ["A", "C"]
