"""Each module has a file of tests: the one of its name, or the one that CONTRIBUTING.md names."""

import re
from pathlib import Path

import pytest
from test_architecture import PACKAGE, code_lines_of_module, modules

TESTS = Path(__file__).parent
CONTRIBUTING = TESTS.parent / "CONTRIBUTING.md"
# A module of fewer code lines is tested with the one that it serves.
LEAST_CODE_LINES = 60
SECTION = "## Where the tests of a module are\n"


def of_its_name(module):
    *packages, name = module.split("/")
    return "/".join([*packages, f"test_{name.lstrip('_')}.py"])


def table_of(text):
    """File of tests to the modules beside it."""
    section = text.partition(SECTION)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`test_.*|`.*/test_.*) \| (.*) \|$", section, re.MULTILINE)
    return {file.strip("`"): re.findall(r"`([^`]+)`", names) for file, names in rows}


def violations(package, tests, table):
    large = {
        module.name.replace(".", "/")
        for module in modules(package)
        if code_lines_of_module(module) > LEAST_CODE_LINES and module.path.name != "__init__.py"
    }
    listed = [module for names in table.values() for module in names]
    return [
        *(f"{file} is no file of tests" for file in table if not (tests / file).is_file()),
        *(f"{module} is listed twice" for module in set(listed) if listed.count(module) > 1),
        *(
            f"{module} is listed and has {of_its_name(module)}, or is small, or is no module"
            for module in listed
            if module not in large or (tests / of_its_name(module)).is_file()
        ),
        *(
            f"{module} has neither {of_its_name(module)} nor a row"
            for module in sorted(large - set(listed))
            if not (tests / of_its_name(module)).is_file()
        ),
    ]


def test_every_module_has_a_file_of_tests():
    if not CONTRIBUTING.exists():
        pytest.skip("the guide of contributors is not part of the installed package")
    assert violations(PACKAGE, TESTS, table_of(CONTRIBUTING.read_text(encoding="utf-8"))) == []


ROW = f"{SECTION}\n| tests | modules |\n|---|---|\n| `test_doors.py` | `a/search` |\n\n## Rules\n"


@pytest.mark.parametrize(
    ("table", "files", "n_violations"),
    [
        (ROW, ["test_doors.py"], 0),
        ("", ["a/test_search.py"], 0),
        ("", ["test_doors.py"], 1),
        (ROW, [], 1),
        (ROW, ["test_doors.py", "a/test_search.py"], 1),
        (ROW.replace("a/search", "a/search`, `a/search"), ["test_doors.py"], 1),
        (ROW.replace("a/search", "a/search`, `a/gone"), ["test_doors.py"], 1),
    ],
)
def test_a_module_without_tests_and_a_stale_row_are_found(table, files, n_violations, tmp_path):
    package, tests = tmp_path / "package", tmp_path / "tests"
    for folder in (package / "a", tests / "a"):
        folder.mkdir(parents=True)
    (package / "a" / "search.py").write_text("x = 1\n" * (LEAST_CODE_LINES + 1))
    (package / "a" / "small.py").write_text("x = 1\n" * LEAST_CODE_LINES)
    for file in files:
        (tests / file).write_text("")
    assert len(violations(package, tests, table_of(table))) == n_violations
