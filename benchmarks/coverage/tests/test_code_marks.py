"""A line of results says which code made it, and is older when that code has changed."""

import sys

import pytest

from benchmarks.coverage import __main__ as command
from benchmarks.coverage import code_marks, runner

HEADER = ("cell", "held")
SAID = '''"""A docstring."""

LIMIT = "# no comment"  # a comment


def f():
    """Another,

    of three lines.
    """
    return LIMIT  # more
'''
UNSAID = """LIMIT = "# no comment"
def f():
    return LIMIT
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one module that is loaded, of which nothing is in a repository."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "part.py").write_text(SAID)
    module = type(sys)("part")
    module.__file__ = str(folder / "part.py")
    monkeypatch.setitem(sys.modules, "part", module)
    monkeypatch.setattr(code_marks, "PACKAGE", folder)
    code_marks.digest_of.cache_clear()
    yield folder
    code_marks.digest_of.cache_clear()


def changed(package, source):
    (package / "part.py").write_text(source)
    code_marks.digest_of.cache_clear()


def age_of(table):
    return code_marks.age_of(table, runner.read(table))


def test_what_is_said_is_no_code():
    assert code_marks.code_of(SAID) == UNSAID.rstrip()


def test_a_table_is_of_todays_code_until_the_code_changes(package, tmp_path):
    table = tmp_path / "table.csv"
    runner.append(table, [{"cell": "a", "held": 95}], HEADER)
    assert age_of(table)[2:5] == (1, 0, 0)
    changed(package, UNSAID)
    assert age_of(table).words == "1 today's"
    changed(package, UNSAID.replace("return LIMIT", "return LIMIT + LIMIT"))
    assert age_of(table).words == "1 older; modules changed: part.py 1"
    runner.append(table, [{"cell": "b", "held": 94}], HEADER)
    assert age_of(table).words == "1 today's, 1 older; modules changed: part.py 1"
    (package / "part.py").unlink()
    code_marks.digest_of.cache_clear()
    assert age_of(table).words == "2 older; modules changed: part.py 1"


def test_a_table_without_marks_keeps_its_lines_and_is_unknown(package, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("cell,held\na,95\n")
    assert age_of(table).words == "1 unknown (before marks were kept)"
    runner.append(table, [{"cell": "b", "held": 94}], HEADER)
    assert [(row["cell"], bool(row["code"])) for row in runner.read(table)] == [
        ("a", False),
        ("b", True),
    ]
    assert age_of(table)[2:5] == (1, 0, 1)


def test_a_line_that_is_made_anew_gets_a_mark_and_the_others_keep_theirs(
    package, tmp_path, monkeypatch
):
    table = tmp_path / "table.csv"
    table.write_text("cell,held\na,1\nb,2\n")

    def is_enough(row):
        return row["cell"] == "a" or row["held"] == "3"

    cells = [("c",), ("a",), ("b",)]
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    assert runner.TableStudy("table", HEADER, cells, lambda name: [(3,)], is_enough).run()
    rows = runner.read(table)
    assert [(row["cell"], row["held"], bool(row["code"])) for row in rows] == [
        ("a", "1", False),
        ("b", "3", True),
        ("c", "3", True),
    ]


def test_lines_that_the_package_does_not_make_today_are_not_judged(package, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("cell,version,versions\na,before,skboot 0.1.0\nb,after,scipy 1.17\n")
    assert age_of(table)[2:5] == (0, 0, 0)


def test_without_a_study_the_command_tells_how_old_each_table_is(
    package, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmarks.coverage"])
    runner.append(tmp_path / "made.csv", [{"cell": "a", "held": 95}], HEADER)
    (tmp_path / "old.csv").write_text("cell,held\na,95\n")
    command.main()
    made, old = capsys.readouterr().out.splitlines()
    assert made.startswith("made ")
    assert made.endswith(" 1 today's")
    assert old.endswith(" 1 unknown (before marks were kept)")


def test_every_mark_of_the_results_is_known():
    marks = code_marks.marks_in(runner.RESULTS)
    for path in runner.RESULTS.glob("*.csv"):
        for row in runner.read(path):
            assert not row.get("code") or row["code"] in marks
