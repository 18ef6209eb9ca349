"""No module outside of `metrics` asks what class a statistic is, read from the code.

A statistic should answer for itself: each question is a place that another metric must be added to.
There is none, and this keeps it so.
"""

import ast
import importlib.util
from pathlib import Path

import pytest

PACKAGE = Path(importlib.util.find_spec("skboot").origin).parent
METRICS = PACKAGE / "metrics"


def trees(paths):
    for path in paths:
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def classes_of_statistics():
    """Names of `Statistic` and of all that inherit from it."""
    bases = {
        node.name: {ast.unparse(base).partition("[")[0] for base in node.bases}
        for _, tree in trees(METRICS.rglob("*.py"))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"Statistic"}
    while more := {name for name, own in bases.items() if own & found} - found:
        found |= more
    return found


def asks(node, classes):
    """Whether a node asks for the class, or for an attribute that not every statistic has."""
    if isinstance(node, ast.Compare):
        return bool(_names(node) & classes) and "type(" in ast.unparse(node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id == "getattr":
        return any(word in ast.unparse(node.args[0]) for word in ("stat", ".inner"))
    return node.func.id in ("isinstance", "issubclass") and bool(_names(node) & classes)


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def questions(paths):
    classes = classes_of_statistics()
    return [
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees(paths)
        for node in ast.walk(tree)
        if asks(node, classes)
    ]


def test_no_module_outside_of_metrics_asks_what_a_statistic_is():
    paths = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(METRICS)]
    found = questions(sorted(paths))
    assert not found


@pytest.mark.parametrize("name", ["responses"])
def test_what_a_metric_takes_is_checked_without_asking_what_it_is(name):
    assert not questions([METRICS / f"{name}.py"])


def test_questions_are_found(tmp_path):
    asked = ["isinstance(one, RowMean)", "type(one) is RocAuc", "getattr(statistic, 'x', 0)"]
    (tmp_path / "asks.py").write_text("\n".join([*asked, "isinstance(1, int)"]))
    assert len(questions([tmp_path / "asks.py"])) == 3
