"""How many files of tests know what users do not: modules and names that are not public.

A redesign pays for each of them. Engines (`resampling`, `metrics`, `inference`, `method_error`,
`refit`) deserve tests of their own functions; everything else is tested by the calls of users. Both
counts are of today: whoever lowers one writes the new number here.
"""

import ast
from pathlib import Path

import pytest
from test_architecture import imports, modules
from test_public_api import NAMES, PUBLIC_MODULES

TESTS = Path(__file__).parent
IMPORTING = 88
PATCHING = 22


def is_private(target):
    return (
        target.partition(".")[0] == "skboot"
        and target not in PUBLIC_MODULES
        and target not in NAMES
        and not target.rpartition(".")[2].startswith("__")
    )


def reached(module):
    """Private names that a file imports, or reaches as attributes of the package."""
    yield from (item.target for item in imports(module) if is_private(item.target))
    packages = {item.target for item in imports(module) if item.target in PUBLIC_MODULES}
    lasts = {name.rpartition(".")[2] for name in packages}
    for node in module.nodes:
        # To write down what owns an attribute takes longest.
        of_a_package = isinstance(node, ast.Attribute) and _last(node.value) in lasts
        if of_a_package and ast.unparse(node.value) in packages:
            target = ast.unparse(node)
            if is_private(target):
                yield target


def _last(node):
    """The last part of a dotted name, None of anything else."""
    return getattr(node, "attr", getattr(node, "id", None))


def patched(module):
    """Private names that a file gives as a text, which patches them."""
    first = [node.args[0] for node in module.nodes if isinstance(node, ast.Call) and node.args]
    texts = [each.value for each in first if isinstance(each, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and is_private(text)]


def files_with(found, root):
    return sorted(module.name for module in modules(root) if any(found(module)))


@pytest.mark.parametrize(("found", "today"), [(reached, IMPORTING), (patched, PATCHING)])
def test_as_many_files_know_private_names_as_today(found, today):
    files = files_with(found, TESTS)
    assert len(files) == today, files


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("from skboot.results import storage", True),
        ("from skboot import _workers", True),
        ("import skboot._base.work", True),
        ("from skboot.scorer import BootstrapScorer", True),
        ("def f():\n    from skboot.inference.intervals import quantile", True),
        ("import skboot\nskboot._checks.check_weights([1])", True),
        ("from skboot import BootstrapScorer, metrics", False),
        ("from skboot.inference import ConfidenceInterval", False),
        ("import skboot\nskboot.metrics.get_scorer('ppv')", False),
        ("import skboot\nskboot.__version__", False),
        ("from sklearn.metrics import f1_score", False),
    ],
)
def test_private_names_are_told_from_public_ones(code, is_found, tmp_path):
    (tmp_path / "test_a.py").write_text(code)
    assert files_with(reached, tmp_path) == (["test_a"] if is_found else [])


def test_a_private_name_as_a_text_is_found(tmp_path):
    (tmp_path / "test_a.py").write_text("f('skboot._base.work._WORTH', 0)\n")
    (tmp_path / "test_b.py").write_text("f('skboot.metrics', 'skboot.ppv')\n")
    assert files_with(patched, tmp_path) == ["test_a"]
