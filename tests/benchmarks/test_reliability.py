"""The faults that are tried, a few times each, and the page that counts them."""

import ast
import csv
import multiprocessing

import pytest

from benchmarks.reliability import faults, fuzz, page, soak

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        "fork" not in multiprocessing.get_all_start_methods(), reason="processes are forked"
    ),
]

QUICK = [name for name, trials in faults.FAULTS.items() if trials.n_short]


@pytest.mark.parametrize("name", QUICK)
def test_nothing_is_lost(name, tmp_path):
    one, lost = faults.counted(name, faults.FAULTS[name].n_short, tmp_path)
    assert lost == []
    assert one.survived == one.tried


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in faults.FAULTS if name not in QUICK])
def test_nothing_is_lost_with_workers(name, tmp_path):
    assert faults.counted(name, 1, tmp_path)[1] == []


def test_a_fault_that_loses_something_is_counted(tmp_path, monkeypatch):
    def loses(rng, folder):
        raise faults.Lost("all")

    monkeypatch.setitem(faults.FAULTS, "mine", faults.Trials("mine", loses, 2, 2))
    one, lost = faults.counted("mine", 2, tmp_path)
    assert (one.tried, one.survived, one.lost) == (2, 0, 2)
    assert len(lost) == 2


def test_what_grows_is_not_flat():
    flat = soak.Soaked("score", "", 10, 0, 0.1, 0, 1.0)
    assert flat.is_flat
    assert not flat._replace(megabytes=2 * soak.MOST_MEGABYTES).is_flat
    assert not flat._replace(files=1).is_flat


def test_the_page_is_what_the_data_say():
    if not page.PAGE.exists():
        pytest.skip("the documentation is not part of the installed package")
    assert page.PAGE.read_text(encoding="utf-8") == page.text_of(page.read())


def test_the_page_counts_every_part_and_nothing_lost():
    rows = page.read()
    parts = {row.part for row in rows}
    assert parts == set(page.PARTS)
    for name, series in ((name, fuzz.SERIES[name]) for name in fuzz.SERIES):
        own = [row for row in rows if row.part == name]
        assert {row.name for row in own} == {make.__name__ for make in series.makers}
        assert sum(row.tried for row in own) == series.n_cases
    assert {row.name for row in rows if row.part == "soak"} == set(soak.WORK)
    assert {row.name for row in rows if row.part == "faults"} == set(faults.FAULTS)
    assert sum(row.lost for row in rows) == 0
    assert next(row.tried for row in rows if row.name == "killed") >= 50


# ------------------------------------------------------------------ faults put into the code

SOURCE = """
LIMIT = 3

def f(x: int = 1) -> int:
    'Add 1.'
    if x < LIMIT:
        raise ValueError(f"{x + 1} is more than {LIMIT - 1}")
    return x - LIMIT
"""


def test_a_fault_is_in_what_a_function_does_and_not_in_what_it_says():
    mutants = pytest.importorskip("benchmarks.reliability.mutants")
    found = [type(one.node).__name__ for one in mutants.changes_of(ast.parse(SOURCE))]
    assert found == ["Compare"] * 2 + ["BinOp"] * 2


def test_functions_get_the_code_of_a_fault(tmp_path, monkeypatch):
    mutants = pytest.importorskip("benchmarks.reliability.mutants")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "own.py").write_text(SOURCE, encoding="utf-8")
    own = {}
    exec(compile(SOURCE, str(tmp_path / "own.py"), "exec"), own)
    assert own["f"](7) == 4
    mutants.put_into_functions(mutants.Fault("own.py", 8, 8, 3, "turned round"))
    assert own["f"](7) == -4


def test_the_table_of_faults_has_each_line_once():
    with page.MUTANTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["path"], row["line"]) for row in rows}) == len(rows)
    assert {row["verdict"] for row in rows} <= {"failed", "time", "signal", "passed"}
