"""Run a study: ``python -m benchmarks.coverage NAME [--minutes 40] [--jobs 1] ...``.

Without a name it tells which results were made by today's code.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import runpy
import sys
from pathlib import Path

from . import code_marks, runner

STUDIES = Path(__file__).parent / "studies"


def main() -> None:
    """Go on with a study, or run an earlier one, which has a script of its own, from its start."""
    names = sorted(path.stem for path in STUDIES.glob("*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("study", nargs="?", choices=names)
    parser.add_argument("--minutes", type=float, default=runner.PART_MINUTES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cells", default="", help="only cells whose name has this text")
    parser.add_argument("--tools", default="", help="only tools whose name has this text")
    options = parser.parse_args()
    if options.study is None:
        _tell_ages()
        return
    module = importlib.import_module(f"{__package__}.studies.{options.study}")
    if not hasattr(module, "STUDY") and not hasattr(module, "go_on"):
        _script(module)
        return
    if hasattr(module, "go_on"):  # Cells whose intervals share their trainings.
        done = module.go_on(options.minutes)
    else:
        asked = options.minutes, options.jobs, options.cells, options.tools
        done = runner.run(module.STUDY, *asked)
    print(f"{options.study}: {'finished' if done else 'run it again to go on'}")


def _tell_ages() -> None:
    """Print a line for each table: how many lines, when, and by which code."""
    for path in sorted(runner.RESULTS.glob("*.csv")):
        rows = runner.read(path)
        age = code_marks.age_of(path, rows)
        print(f"{age.study:26} {len(rows):5} lines {age.date:10}  {age.words}")


def _script(module) -> None:
    """Run a script; what it prints is its table, unless it writes one or shows one."""
    table = runner.RESULTS / f"{Path(module.__file__).stem}.csv"
    sys.argv = [module.__file__]
    if hasattr(module, "TABLE") or not table.exists():
        runpy.run_path(module.__file__, run_name="__main__")
    else:
        part = table.with_suffix(".part")
        with part.open("w", newline="") as file, contextlib.redirect_stdout(file):
            runpy.run_path(module.__file__, run_name="__main__")
        part.replace(table)
    if table.exists():
        rows = runner.read(table)
        table.unlink()
        runner.append(table, rows, tuple(rows[0]))


if __name__ == "__main__":
    main()
