"""Each package has a folder of tests of its name, and each file of tests says what must hold."""

import ast
from pathlib import Path

from test_architecture import PACKAGE

TESTS = Path(__file__).parent
# They are of no single package.
OF_ALL = {"benchmarks", "golden", "kept", "references", "typing_of_calls"}
# A package whose modules are tested through public functions alone.
OF_ITS_USERS = {"testing"}


def folders(root):
    return {path.parent.name for path in root.glob("*/*.py")}


def violations(package, tests):
    packages = folders(package)
    files = sorted(tests.rglob("test_*.py"))
    return [
        *(f"{name} has no folder of tests" for name in packages - folders(tests) - OF_ITS_USERS),
        *(f"tests/{name} is of no package" for name in folders(tests) - packages - OF_ALL),
        *(
            f"{path.relative_to(tests)} does not say what must hold"
            for path in files
            if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        ),
    ]


def test_tests_of_a_package_are_in_a_folder_of_its_name():
    assert violations(PACKAGE, TESTS) == []


def test_what_stands_elsewhere_is_found(tmp_path):
    for name in ("package/metrics/means.py", "tests/means/test_means.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("x = 1")
    assert violations(tmp_path / "package", tmp_path / "tests") == [
        "metrics has no folder of tests",
        "tests/means is of no package",
        "means/test_means.py does not say what must hold",
    ]
