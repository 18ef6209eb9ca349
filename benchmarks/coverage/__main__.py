"""Run a study: ``python -m benchmarks.coverage NAME [--minutes 40] [--jobs 1] ...``.

Without a name it tells which results were made by today's code.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from . import code_marks, runner

STUDIES = Path(__file__).parent / "studies"


def main() -> None:
    """Go on with a study, or with its tables where it has several."""
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
    if not hasattr(module, "STUDY"):  # Its table is on a page alone.
        print(module.table())
        return
    studies = module.STUDY if isinstance(module.STUDY, tuple) else (module.STUDY,)
    asked = options.minutes, options.jobs, options.cells, options.tools
    done = all(study.run(*asked) for study in studies)
    print(f"{options.study}: {'finished' if done else 'run it again to go on'}")


def _tell_ages() -> None:
    """Print a line for each table: how many lines, when, and by which code."""
    for path in sorted(runner.RESULTS.glob("*.csv")):
        rows = runner.read(path)
        age = code_marks.age_of(path, rows)
        print(f"{age.study:26} {len(rows):5} lines {age.date:10}  {age.words}")


if __name__ == "__main__":
    main()
