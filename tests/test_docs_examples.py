"""Every Python example on the pages of the documentation runs, and prints what the page says.

Blocks of one page are one session. A block with prompts (>>>) is compared with the output it shows;
one without is executed, and what it prints is compared with the block of text that follows it, if
one does. ``<!-- not run: reason -->`` on the line above a block leaves it out.
"""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: .+ -->\n)?```(?:python|pycon)\n(?P<code>.*?)^```$"
    r"(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.M | re.S,
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_page(path):
    """The failed examples of a page, as text; a block without prompts raises what it raises."""
    text = path.read_text(encoding="utf-8")
    session, failures = {"__name__": "__main__"}, []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in BLOCK.finditer(text):
        if block["skip"]:
            continue
        line = text.count("\n", 0, block.start("code"))
        if ">>> " in block["code"]:
            parser = doctest.DocTestParser()
            example = parser.get_doctest(block["code"], session, path.name, str(path), line)
            runner.run(example, out=failures.append, clear_globs=False)
            session.update(example.globs)
        else:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + block["code"], str(path), "exec"), session)
            if block["printed"] not in (None, printed.getvalue()):
                failures.append(f"{path.name}:{line} prints\n{printed.getvalue()}")
    return "".join(failures)


def has_example(path):
    return BLOCK.search(path.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize(
    "path", list(filter(has_example, PAGES)), ids=lambda path: str(path.relative_to(ROOT))
)
def test_examples_run_and_print_what_the_page_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures = run_page(path)
    assert not failures, failures


def test_a_wrong_output_on_a_page_is_found(tmp_path):
    page = tmp_path / "page.md"
    blocks = ["n = 1", ">>> n\n1", ">>> n + 1\n3"]
    page.write_text("\n".join(f"```python\n{block}\n```\n" for block in blocks))
    failures = run_page(page)
    assert failures.count("Failed example") == 1
    assert "n + 1" in failures


@pytest.mark.parametrize(("text", "is_right"), [("2", True), ("3", False)])
def test_a_wrong_text_below_a_block_is_found(text, is_right, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```python\nprint(1 + 1)\n```\n\n```text\n{text}\n```\n")
    assert (run_page(page) == "") == is_right


def test_a_block_can_be_left_out_with_a_reason(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: takes an hour -->\n```python\n1 / 0\n```\n")
    assert run_page(page) == ""
