"""Write anew what examples print, on pages of the documentation and in docstrings.

    PYTHONPATH=. python tests/refresh_outputs.py [FILE ...]

Without files all pages and modules. An output with an ellipsis within it is left, and named if it
is wrong: what it leaves out is a choice. Read the change before you commit it: it is right only
where the words of a result were meant to change.
"""

import contextlib
import doctest
import io
import os
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

from tests.test_docs_examples import (
    BLOCK,
    FLAGS,
    PAGES,
    ROOT,
    lacks,
    other_answers,
    warnings_of,
)


def shortened(got, want):
    """What is printed now, left out from where it was left out; None if that is within it."""
    lines = want.splitlines(keepends=True)
    if "..." not in want:
        return got
    end = next((k for k, line in enumerate(lines) if line.strip() == "..."), None)
    if (
        end is None
        or any(line.strip() for line in lines[end + 1 :])
        or "..." in "".join(lines[:end])
    ):
        return None
    return "".join([*got.splitlines(keepends=True)[:end], *lines[end:]])


def refreshed_doctest(text, example, session):
    """The source of some examples with prompts, with what they print now; what was left."""
    left = []

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out, test, one, got):
            nonlocal text
            want = textwrap.indent(one.want, " " * one.indent)
            got = shortened(got, one.want)
            if got is None:
                left.append(f"{test.name}:\n{one.source}")
                return
            start = textwrap.indent(one.source, " " * one.indent, lambda line: True)
            lines = [
                f"{'>>> ' if k == 0 else '... '}{line}"
                for k, line in enumerate(one.source.splitlines())
            ]
            source = "".join(f"{' ' * one.indent}{line}".rstrip() + "\n" for line in lines)
            now = textwrap.indent(got.replace("\n\n", "\n<BLANKLINE>\n"), " " * one.indent)
            place = text.find(source + want)
            if place < 0:
                left.append(f"{test.name} (not found):\n{start}{got}")
                return
            text = text[:place] + source + now + text[place + len(source + want) :]

        def report_unexpected_exception(self, out, test, one, exc_info):
            left.append(f"{test.name}: {one.source}{exc_info[1]!r}")

    runner = Runner(optionflags=FLAGS, verbose=False)
    runner.run(example, out=lambda _: None, clear_globs=False)
    session.update(example.globs)
    return text, left


def refreshed_page(path):
    """The text of a page with what its examples print now, and what was left."""
    text = path.read_text(encoding="utf-8")
    session, left, changes = {"__name__": "__main__"}, [], []
    for block in BLOCK.finditer(text):
        if block["skip"] or lacks(block):
            continue
        if ">>> " in block["code"]:
            example = doctest.DocTestParser().get_doctest(
                block["code"], session, path.name, None, 0
            )
            code, missed = refreshed_doctest(block["code"], example, session)
            left += missed
            changes.append((block.span("code"), code))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings_of(block["needs"]):
            exec(compile(block["code"], str(path), "exec"), session)
        if block["printed"] is not None:
            changes.append((block.span("printed"), printed.getvalue()))
    changes += refreshed_calls(text, left)
    for (start, stop), now in sorted(changes, reverse=True):
        text = text[:start] + now + text[stop:]
    return text, left


def refreshed_calls(text, left):
    """Places of what calls of the command line print, with what they print now."""
    for block, call, said in other_answers(text):
        now = shortened(said, call["printed"])
        if now is None:
            left.append(f"{call['call']}:\n{said}")
            continue
        between = "\n" * (call["printed"].endswith("\n\n") and not now.endswith("\n\n"))
        start, stop = (block.start("session") + place for place in call.span("printed"))
        yield (start, stop), now + between


def refreshed_module(path):
    """The text of a module with what the examples of its docstrings print now; what was left."""
    text, left = path.read_text(encoding="utf-8"), []
    if ">>> " not in text:
        return text, left
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    module = __import__(name, fromlist=["x"])
    for example in doctest.DocTestFinder(exclude_empty=True).find(module):
        if example.examples and example.filename and Path(example.filename) == path:
            text, missed = refreshed_doctest(text, example, {})
            left += missed
    return text, left


def main(names):
    """Write the files anew, and name what was left."""
    paths = [Path(name).resolve() for name in names] or [
        *PAGES,
        *sorted((ROOT / "skboot").rglob("*.py")),
    ]
    warnings.simplefilter("ignore")
    for path in paths:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text, left = (refreshed_page if path.suffix == ".md" else refreshed_module)(path)
        if text != path.read_text(encoding="utf-8"):
            print("changed", path.relative_to(ROOT))
            path.write_text(text, encoding="utf-8")
        for one in left:
            print("LEFT", path.relative_to(ROOT), one)


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    main(sys.argv[1:])
