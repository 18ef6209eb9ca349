"""Draw the pictures of pages by running the code that they show, when the documentation is built.

What a block of code leaves open is written to the next picture below it in `generated`.
"""

import contextlib
import doctest
import io
import re
import tempfile
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).resolve().parent
PAGES = [
    "claims",
    "clinical",
    "comparison",
    "event_times",
    "getting_started",
    "images",
    "language_models",
    "methods",
    "planning",
    "printed_tables",
    "rankings",
    "recipes",
    "runs",
    "series",
    "speech",
    "streaming",
    "systems",
    "trust",
    "which_function",
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"\.\./(generated/\w+\.png)")


def draw():
    """Run the pages, one after the other."""
    from sphinx.util.display import status_iterator

    for page in status_iterator(PAGES, "running pages... ", length=len(PAGES)):
        draw_page(DOCS / "guide" / f"{page}.md")


def draw_page(path):
    """Write the pictures of a page; blocks below the last one are not run."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    text, session = path.read_text(encoding="utf-8"), {"__name__": "__main__"}
    last = max(found.start() for found in PICTURE.finditer(text))
    # Examples save files, which nobody keeps.
    with (
        contextlib.redirect_stdout(io.StringIO()),
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):
        for block in BLOCK.finditer(text, 0, last):
            exec(compile(source_of(block[1]), str(path), "exec"), session)
            if plt.get_fignums():
                target = DOCS / PICTURE.search(text, block.end())[1]
                target.parent.mkdir(exist_ok=True)
                plt.gcf().savefig(target, dpi=110)
                plt.close("all")


def source_of(code):
    """Return the code of a block, which may be a session with prompts and answers."""
    if not code.startswith(">>>"):
        return code
    return "".join(example.source for example in doctest.DocTestParser().get_examples(code))


if __name__ == "__main__":
    draw()
