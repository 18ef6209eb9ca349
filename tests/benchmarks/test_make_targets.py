"""What `make` offers and no job of the continuous integration runs: each ends, on tiny sizes."""

import importlib
import importlib.util
import inspect
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import scipy.stats

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
# Run by `.ci/run` and the job of the gallery; `help`, `format` and `clean` are for people.
ELSEWHERE = {
    "test",
    "test-shown",
    "test-studies",
    "lint",
    "types",
    "docs",
    "demo",
    "wheel-smoke",
    "test-oldest",
    "gallery",
    "blocks",
}
FOR_PEOPLE = {"texts", "help", "format", "clean"}
HERE = {"bench", "bench-revisions", "coverage-study", "soak", "slow", "coverage"}
# Packages that `make bench` compares with, by the names that import them.
PEERS = ("confidence_intervals", "confidenceinterval", "mlxtend")
SCRIPTS = ("everyday", "growth", "harness", "memory", "packages", "workloads")
# Sizes of the picture of growth, made small.
FEW_OF_GROWTH = {
    "SIZES": [100, 200],
    "ROWS_OF_PARTS": 2000,
    "PARTS": [2, 4],
    "GROUPS": [20, 40],
    "CLASSES": [2, 3, 4],
    "SYSTEMS": [3, 4],
    "ROWS_OF_SYSTEMS": 100,
}


def test_every_target_is_run_somewhere():
    makefile = ROOT / "Makefile"
    if not makefile.exists():
        pytest.skip("make is not part of the installed package")
    [listed] = re.findall(r"^\.PHONY: (.*)$", makefile.read_text(), re.MULTILINE)
    assert set(listed.split()) == ELSEWHERE | FOR_PEOPLE | HERE


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """The page, the pictures and what stood on stderr of `make bench` on few rows."""
    pytest.importorskip("matplotlib")
    docs = tmp_path_factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        if "rng" not in inspect.signature(scipy.stats.bootstrap).parameters:
            pytest.skip("the benchmarks run beside a newer scipy")
        if not Path("/proc/self/status").exists():
            pytest.skip("the benchmarks read the memory of a process as Linux tells it")
        patch.syspath_prepend(BENCHMARKS)
        own = {name: importlib.import_module(name) for name in SCRIPTS}
        patch.setattr(own["workloads"], "MOST_ROWS", 400)
        # The first import of scikit-learn without compiled files takes ten seconds.
        imported = own["packages"].Import
        patch.setattr(own["workloads"], "Import", lambda statement: imported("import json"))
        patch.setattr(own["workloads"], "N_FITS", (5, 5))
        patch.setattr(own["workloads"], "MOST_COMPARED", 12)
        patch.setattr(own["growth"], "ROWS", [100, 200])
        patch.setattr(own["growth"], "RESAMPLES", [10, 20])
        patch.setattr(own["growth"], "MANY_ROWS", 100)
        patch.setattr(own["growth"], "REPEATS", 1)
        for name, few in FEW_OF_GROWTH.items():
            patch.setattr(own["growth"], name, few)
        patch.setattr(own["harness"], "LONG_ENOUGH", 0.0)
        # Workers, and each process of a case, take seconds to start.
        patch.setattr(own["memory"], "ROWS", {"roc_auc": 3000, "r2": 3000})
        scores = [case for case in own["memory"].cases() if case.call == "r2"]
        patch.setattr(own["memory"], "cases", lambda: scores)
        script = runpy.run_path(str(BENCHMARKS / "peers.py"))
        main = script["main"]
        main.__globals__["DOCS"] = main.__globals__["TABLES"] = docs
        patch.setattr(sys, "argv", ["peers.py", "--repeats", "1", "--write"])
        main()
        (docs / "benchmarks.md").unlink()
        patch.setattr(sys, "argv", ["peers.py", "--repeats", "1", "--page"])
        main()
    for name in SCRIPTS:
        sys.modules.pop(name, None)
    page = (docs / "benchmarks.md").read_text(encoding="utf-8")
    return page, [docs / "benchmarks.png", docs / "growth.png"]


def test_the_page_of_the_benchmarks_is_written_to_its_end(bench):
    page, pictures = bench
    assert ":::{container} wide\n![Time of a call" in page
    parts = dict(part.split("\n", 1) for part in page.split("## "))
    single, memory, growth, beside = (
        parts[name].split("\n| ")[1:]
        for name in (
            "How many single scores an interval costs",
            "How much memory a call takes",
            "How the time grows",
            "Beside other packages",
        )
    )
    assert len(single) == 12
    assert all(row.count(" | ") == 2 for row in single)
    assert len(memory) == 2
    assert len(growth) > 20
    rows = [f"| {row}" for row in beside][1:]
    assert len(rows) > 35
    assert all(row.count(" | ") == 7 for row in rows)
    assert rows[-1].startswith("| import skboot |")
    assert all(picture.stat().st_size > 10_000 for picture in pictures)


@pytest.mark.parametrize("package", PEERS)
def test_a_peer_of_the_benchmarks_runs_or_the_page_says_that_it_did_not(bench, package):
    page, _ = bench
    missing = f"**not run: No module named '{package}'**"
    if importlib.util.find_spec(package) is None:
        assert missing in page
        assert "(not installed)" in page
        pytest.skip(f"{package} is not installed: its rows of the benchmarks were not run")
    assert missing not in page


def test_two_revisions_are_compared(tmp_path, monkeypatch, capsys):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("revisions are those of a checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", "-n", ROOT, clone], check=True)
    monkeypatch.syspath_prepend(BENCHMARKS)
    main = runpy.run_path(str(BENCHMARKS / "compare_revisions.py"))["main"]
    main.__globals__["ROOT"] = clone
    words = ["HEAD", "HEAD", "--repeats", "1", "--workloads", "accuracy, n 100,"]
    monkeypatch.setattr(sys, "argv", ["compare_revisions.py", *words])
    with warnings.catch_warnings():
        # One turn shows no difference.
        assert not main()
    sys.modules.pop("revision_worker", None)
    *_, row, _, slower = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"(\| [^|]+ ){2}\| [\d.]+ ms \| [\d.]+ \| [\d.]+ to [\d.]+ \|", row)
    assert slower == "Slower: none."


def test_a_study_of_coverage_goes_on_and_stops_in_time(tmp_path, monkeypatch, capsys):
    from benchmarks.coverage import __main__ as command
    from benchmarks.coverage import runner

    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    words = ["frozen_systems", "--minutes", "0"]
    monkeypatch.setattr(sys, "argv", ["benchmarks.coverage", *words])
    command.main()
    assert "frozen_systems: run it again to go on" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "words",
    [
        ("fuzz", "--share", "1e-4"),
        ("faults", "full disk", "--share", "0"),
        ("soak", "--share", "0"),
    ],
    ids=lambda words: words[0],
)
def test_a_part_of_the_soak_writes_its_page(words, tmp_path, monkeypatch):
    from benchmarks.reliability import __main__ as command
    from benchmarks.reliability import page

    monkeypatch.setattr(page, "DATA", tmp_path / "data" / "counts.csv")
    monkeypatch.setattr(page, "PAGE", tmp_path / "reliability.md")
    monkeypatch.setattr(sys, "argv", ["benchmarks.reliability", "run", *words])
    with pytest.raises(SystemExit) as left:
        command.main()
    assert left.value.code == 0
    assert page.read()
    assert page.PAGE.read_text(encoding="utf-8") == page.text_of(page.read())


@pytest.mark.parametrize("target", ["slow", "coverage"])
def test_the_options_of_pytest_are_known(target):
    makefile = ROOT / "Makefile"
    if not makefile.exists():
        pytest.skip("make is not part of the installed package")
    if target == "coverage":
        pytest.importorskip("pytest_cov")
    recipe = rf"^{target}:.*\n\t\$\(RUN\) -m pytest (.*)$"
    [words] = re.findall(recipe, makefile.read_text(), re.MULTILINE)
    command = [sys.executable, "-m", "pytest", *words.split(), "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
