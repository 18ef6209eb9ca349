"""Run a study: ``python -m benchmarks.coverage NAME [--minutes 40] [--jobs 1] ...``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import runpy
import sys
from pathlib import Path

from . import runner

STUDIES = Path(__file__).parent / "studies"


def main() -> None:
    """Go on with a study, or run an earlier one, which has a script of its own, from its start."""
    names = sorted(path.stem for path in STUDIES.glob("*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("study", choices=names)
    parser.add_argument("--minutes", type=float, default=runner.PART_MINUTES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cells", default="", help="only cells whose name has this text")
    parser.add_argument("--tools", default="", help="only tools whose name has this text")
    options = parser.parse_args()
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


def _script(module) -> None:
    """Run a script; what it prints is its table, unless it writes one or shows one."""
    arguments = {"run_name": "__main__"}
    name = Path(module.__file__).stem
    sys.argv = [module.__file__]
    table = runner.RESULTS / f"{name}.csv"
    if hasattr(module, "TABLE") or not table.exists():
        runpy.run_path(module.__file__, **arguments)
        return
    part = table.with_suffix(".part")
    with part.open("w", newline="") as file, contextlib.redirect_stdout(file):
        runpy.run_path(module.__file__, **arguments)
    part.replace(table)


if __name__ == "__main__":
    main()
