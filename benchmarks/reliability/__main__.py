"""``python -m benchmarks.reliability run [fuzz] [faults] [soak]`` | ``case 17 [parameters]``."""

import argparse
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from . import faults, fuzz, page, soak


def run_fuzz(names, share, folder, series="fuzz"):
    """Run the first cases of a series, print faults, and count what came of those of each maker."""
    counts = Counter()
    for number in range(part_of(fuzz.SERIES[series].n_cases, share)):
        one = fuzz.outcome_of(number, folder, series)
        counts[one.function, one.outcome] += 1
        if one.outcome == "fault":
            print(f"case {number}: {one.text}: {one.said}", flush=True)
    for make in fuzz.SERIES[series].makers:
        name = make.__name__
        answered, refused = counts[name, "answered"], counts[name, "refused"]
        tried = answered + refused + counts[name, "fault"]
        what = f"`{make.__module__.rpartition('.')[2]}`: {name[3:].replace('_', ' ')}"
        note = f"{answered:,} answered, {refused:,} refused by name"
        survived = answered + refused
        yield page.Row(series, name, what, tried, survived, tried - survived, note)


def run_faults(names, share, folder):
    """Try each fault, or those named, as often as it says, and print what was lost."""
    for name in names or faults.FAULTS:
        one, lost = faults.counted(name, part_of(faults.FAULTS[name].n, share), folder)
        print(f"{one.name}: {one.tried} tried, {one.lost} lost, {one.seconds:.0f} s", flush=True)
        for line in lost:
            print(f"  {line}", flush=True)
        yield page.Row("faults", name, one.text, one.tried, one.survived, one.lost, "")


def run_soak(names, share, folder):
    """Make many calls, and count one as lost that raised, and all where memory or files grew."""
    for name, (text, _, calls) in soak.WORK.items():
        n = part_of(calls, share)
        one = soak.soaked(name, n)
        lost = one.failed if one.is_flat else n
        note = f"memory {one.megabytes:+.1f} MB, open files {one.files:+d}"
        print(f"{name}: {n} calls, {one.failed} failed, {note}, {one.seconds:.0f} s", flush=True)
        yield page.Row("soak", name, text, n, n - lost, lost, note)


def part_of(n, share):
    """How many of n are tried."""
    return max(1, round(n * share))


RUNS = {
    **{series: partial(run_fuzz, series=series) for series in fuzz.SERIES},
    "faults": run_faults,
    "soak": run_soak,
}


def run(asked):
    """Run parts, and write their counts and the page."""
    n_lost = 0
    for part in [asked.part] if asked.part else RUNS:
        with tempfile.TemporaryDirectory() as folder:
            for row in RUNS[part](asked.names, asked.share, Path(folder)):
                n_lost += row.lost
                page.put([row])
    sys.exit(n_lost > 0)


def show_case(asked):
    """Show one case, and run it without a judge, so that an error comes with its trace."""
    with tempfile.TemporaryDirectory() as folder:
        name, case = fuzz.case_of(asked.number, Path(folder), asked.series)
        print(f"{name}: {case.text}\nexpected: {case.expected}")
        for value in case.inputs:
            print(repr(value))
        print("found:", case.call())


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability")
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run", help="run all parts, or one, and write the page")
    verb.add_argument("part", nargs="?", choices=RUNS)
    verb.add_argument("names", nargs="*", help="faults, all if none is named")
    verb.add_argument("--share", type=float, default=1.0, help="share of the trials that are made")
    verb.set_defaults(run=run)
    verb = verbs.add_parser("case", help="one case of the fuzz, by its number")
    verb.add_argument("number", type=int)
    verb.add_argument("series", nargs="?", choices=fuzz.SERIES, default="fuzz")
    verb.set_defaults(run=show_case)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
