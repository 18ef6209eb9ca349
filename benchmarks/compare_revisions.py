"""Compare the speed of two revisions of skboot: ``make bench-revisions BASE=... HEAD=...``.

Both are checked out into a temporary directory. Worker processes, one per revision, take turns on
the same workloads in the same run, so that a busy machine slows both; the table shows the medians
of their CPU times, the median of the ratios of the turns, and its limits (the order statistics that
hold the median in 95%). Fails where the lower limit of a ratio is above 1.05: a revision is then
slower by more than the noise. Workloads that a revision cannot run are left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom

ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("revision_worker.py")
# Lower limit of a ratio of times, after by before, above which a revision is slower.
SLOWER = 1.05
# Turns of which the extremes hold the median in 95%.
FEWEST = 6


class Revision:
    """A revision, checked out, and a process that runs its workloads."""

    def __init__(self, name: str, where: Path) -> None:
        self.name = name
        add = ["git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(where), name]
        subprocess.run(add, check=True)
        self.where = where
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(where)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, workload: str) -> float | None:
        """Seconds of CPU time of one run; None if the revision cannot do it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(workload) + "\n")
        self.process.stdin.flush()
        answer: float | None = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process and forget the working tree."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        remove = ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(self.where)]
        subprocess.run(remove, check=True)


def compare(base: Revision, head: Revision, workload: str, repeats: int) -> tuple[str, bool]:
    """Take turns; a row of the table, and whether the second revision is slower."""
    times: list[tuple[float, float]] = []
    for turn in range(repeats + 1):
        one, other = base.ask(workload), head.ask(workload)
        if one is None or other is None:
            return f"| {workload} | cannot be run by both | | | |", False
        # The first turn fills caches.
        if turn:
            times.append((one, other))
    before, after = np.median(np.array(times), axis=0) * 1e3
    ratios = [other / one for one, other in times]
    low, high = limits_of_median(ratios)
    text = f"{np.median(ratios):.2f} | {low:.2f} to {high:.2f}"
    return (
        f"| {workload} | {before:.3g} ms | {after:.3g} ms | {text} |",
        low > SLOWER and repeats >= FEWEST,
    )


def limits_of_median(values: list[float]) -> tuple[float, float]:
    """Order statistics that hold the median in at least 95% (the extremes of fewer than six)."""
    ordered = sorted(values)
    first = max(int(binom.ppf(0.025, len(ordered), 0.5)), 1)
    return ordered[first - 1], ordered[-first]


def main() -> int:
    """Compare two revisions on all workloads; 1 if the second is slower on one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("head", nargs="?", default="HEAD")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--workloads", default="", help="only those whose name has this text")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from revision_worker import WORKLOADS

    print(f"| workload | {options.base} | {options.head} | ratio | limits |\n|---|---|---|---|---|")
    slower: list[str] = []
    with tempfile.TemporaryDirectory(prefix="skboot-revisions-") as folder:
        base = Revision(options.base, Path(folder) / "base")
        head = Revision(options.head, Path(folder) / "head")
        try:
            for workload in WORKLOADS:
                if options.workloads not in workload:
                    continue
                row, is_slower = compare(base, head, workload, options.repeats)
                print(row, flush=True)
                slower += [workload] * is_slower
        finally:
            base.close()
            head.close()
    print(f"\nSlower: {'; '.join(slower) or 'none'}.")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
