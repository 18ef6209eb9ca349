"""Run every Python block of the README and the guide in a process of its own.

    python tests/fresh_blocks.py            all of them
    python tests/fresh_blocks.py trust.md   those of some pages

`test_docs_examples.py` runs a page as one session of a process that has run others before. Here a
block runs alone; where it uses names of blocks above it, these run first, in the same fresh
process. What it prints must be what the page says, and it must not write a warning.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from test_docs_examples import BLOCK, PAGES, ROOT, lacks, run_page

NAMES_MISSING = 3


def run(text):
    """Run the blocks of a text in a new process: its exit code, and what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.md")
        page.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, __file__, "--run", str(page)],
            cwd=folder,
            capture_output=True,
            text=True,
        )
    return done.returncode, done.stdout + done.stderr


def run_here(path):
    """Run the blocks of a page in this process, and leave it with what came out."""
    import matplotlib as mpl

    mpl.use("Agg")
    try:
        failures = run_page(path)
    except NameError as error:
        print(error)
        sys.exit(NAMES_MISSING)
    print(failures)
    # A doctest catches what its examples raise.
    sys.exit(NAMES_MISSING if "NameError: name" in failures else bool(failures))


def main(names):
    """Run the blocks of the pages, say how many need others, and list those that fail."""
    alone = behind = 0
    failed = []
    for path in PAGES:
        if path.parent.name != "guide" and path.parent != ROOT:
            continue
        if names and path.name not in names:
            continue
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if block["skip"] or lacks(block):
                continue
            line = text.count("\n", 0, block.start("code"))
            code, written = run(block[0])
            needs_others = code == NAMES_MISSING
            if needs_others:
                code, written = run(text[: block.end()])
            if code or "Warning" in written:
                failed.append(f"{path.name}:{line}")
                print(f"{path.name}:{line}\n{written}")
            elif needs_others:
                behind += 1
            else:
                alone += 1
        print(f"{path.name}: {alone + behind} so far", flush=True)
    print(
        f"{alone} blocks run alone, {behind} behind those above them, {len(failed)} fail: {failed}"
    )
    return bool(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(Path(sys.argv[2]))
    sys.exit(main(sys.argv[1:]))
