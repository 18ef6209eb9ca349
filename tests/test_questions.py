"""No module outside of `metrics` asks what class a statistic is, read from the code.

A statistic should answer for itself: each question is a place that another metric must be added to.
There is none, and this keeps it so.
"""

import ast
from functools import cache

import pytest
from test_architecture import PACKAGE, modules

METRICS = PACKAGE / "metrics"


@cache
def classes_of_statistics():
    """Names of `Statistic` and of all that inherit from it."""
    bases = {
        node.name: {ast.unparse(base).partition("[")[0] for base in node.bases}
        for module in modules(METRICS)
        for node in module.nodes
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


def questions(asking):
    classes = classes_of_statistics()
    return [
        f"{module.at(node)}: {ast.unparse(node)}"
        for module in asking
        for node in module.nodes
        if asks(node, classes)
    ]


def test_no_module_outside_of_metrics_asks_what_a_statistic_is():
    asking = [each for each in modules(PACKAGE) if not each.path.is_relative_to(METRICS)]
    assert not questions(asking)


@pytest.mark.parametrize("name", ["responses"])
def test_what_a_metric_takes_is_checked_without_asking_what_it_is(name):
    assert not questions([each for each in modules(METRICS) if each.name == name])


def test_questions_are_found(tmp_path):
    asked = ["isinstance(one, RowMean)", "type(one) is RocAuc", "getattr(statistic, 'x', 0)"]
    (tmp_path / "asks.py").write_text("\n".join([*asked, "isinstance(1, int)"]))
    assert len(questions(modules(tmp_path))) == 3
