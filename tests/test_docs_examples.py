"""Every Python example on the pages of the documentation runs, and prints what the page says.

Blocks of one page are one session. A block with prompts (>>>) is compared with the output it shows;
one without is executed, and what it prints is compared with the block of text that follows it, if
one does. ``<!-- not run: reason -->`` on the line above a block leaves it out, and so does
``<!-- needs: package -->`` where the package is not installed: the page then counts as skipped,
after all else on it was run. Calls of the command line are run as well, and so is ``echo $?``
behind them.
"""

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest
from command_line import exit_code_of

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?:(?P<skip><!-- not run: .+ -->\n)|<!-- needs: (?P<needs>\w+) -->\n)?"
    r"```(?:python|pycon)\n(?P<code>.*?)^```$"
    r"(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.M | re.S,
)
CONSOLE = re.compile(r"^```console\n(?P<session>.*?)^```$", re.M | re.S)
CALL = re.compile(r"^\$ (?P<call>skboot .*|echo \$\?)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.M)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.fixture(autouse=True)
def pictures_are_closed():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def lacks(block):
    """Whether a block needs a package that is not installed."""
    return block["needs"] is not None and importlib.util.find_spec(block["needs"]) is None


def lacked(path):
    """The packages that the blocks of a page need, and that are not installed."""
    blocks = filter(lacks, BLOCK.finditer(path.read_text(encoding="utf-8")))
    return list(dict.fromkeys(block["needs"] for block in blocks))


@contextlib.contextmanager
def warnings_of(package):
    """Other packages may speak of the future of still others; None for blocks that need none."""
    with warnings.catch_warnings():
        if package is not None:
            for category in (DeprecationWarning, FutureWarning, ResourceWarning):
                warnings.simplefilter("ignore", category)
        yield


def run_page(path):
    """The failed examples of a page, as text; a block without prompts raises what it raises."""
    text = path.read_text(encoding="utf-8")
    session, failures = {"__name__": "__main__"}, []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in BLOCK.finditer(text):
        if block["skip"] or lacks(block):
            continue
        line = text.count("\n", 0, block.start("code"))
        if ">>> " in block["code"]:
            parser = doctest.DocTestParser()
            example = parser.get_doctest(block["code"], session, path.name, str(path), line)
            runner.run(example, out=failures.append, clear_globs=False)
            session.update(example.globs)
        else:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), warnings_of(block["needs"]):
                exec(compile("\n" * line + block["code"], str(path), "exec"), session)
            if block["printed"] not in (None, printed.getvalue()):
                failures.append(f"{path.name}:{line} prints\n{printed.getvalue()}")
    return "".join(failures)


def other_answers(text):
    """Calls of the command line in a text that print something else: session, call and answer."""
    checker, code = doctest.OutputChecker(), 0
    for block in CONSOLE.finditer(text):
        for call in CALL.finditer(block["session"]):
            printed = io.StringIO()
            if call["call"] == "echo $?":
                printed.write(f"{code}\n")
            else:
                with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                    code = exit_code_of(shlex.split(call["call"])[1:])
            if not checker.check_output(call["printed"], printed.getvalue(), FLAGS):
                yield block, call, printed.getvalue()


def run_calls(path):
    """The calls of the command line on a page that print something else, as text."""
    answers = other_answers(path.read_text(encoding="utf-8"))
    return "".join(f"{path.name}: {call['call']} prints\n{said}" for _, call, said in answers)


def has_example(path):
    return has_example_in(path.read_text(encoding="utf-8"))


def has_example_in(text):
    return BLOCK.search(text) is not None or any(
        CALL.search(block["session"]) for block in CONSOLE.finditer(text)
    )


@pytest.mark.parametrize(
    "path", list(filter(has_example, PAGES)), ids=lambda path: str(path.relative_to(ROOT))
)
def test_examples_run_and_print_what_the_page_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures = run_page(path) + run_calls(path)
    assert not failures, failures
    if missing := lacked(path):
        pytest.skip(f"all else ran; not installed: {', '.join(missing)}")


guide_pages = pytest.mark.parametrize(
    "path",
    [page for page in PAGES if page.parent.name == "guide"],
    ids=lambda path: path.stem,
)


@guide_pages
def test_a_page_of_the_guide_opens_with_a_call_and_what_it_yields(path):
    opening = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[:3]
    screens = "".join(opening)
    assert has_example_in(screens)
    assert re.search(r"^!\[|^\|[ :-]+\|", screens, re.M), "neither picture nor table"


@guide_pages
def test_no_screen_of_a_page_of_the_guide_is_text_alone(path):
    text = re.sub(r"^```.*?^```$", "|", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    parts = re.split(r"^(?:\||!\[|    ).*$", text, flags=re.M)  # tables, pictures, code
    lines = [[line for line in part.splitlines() if line.strip()] for part in parts]
    assert max(map(len, lines)) <= 36


def test_each_page_of_the_guide_stands_once_in_the_bar_of_pages():
    lines = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line.startswith("guide/")]
    assert sorted(listed) == sorted(
        f"guide/{path.stem}" for path in (ROOT / "docs/guide").glob("*.md")
    )


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


def test_a_wrong_output_of_a_call_is_found(tmp_path):
    page, session = (
        tmp_path / "page.md",
        "$ skboot plan --proportion 0.9 --half-width 0.02 --markdown",
    )
    right = "| rows | half-width |\n| :--- | ---: |\n...\n| 868 | 0.02 |\n..."
    page.write_text(f"```console\n{session}\n{right}\n$ echo $?\n0\n```\n")
    assert run_calls(page) == ""
    page.write_text(f"```console\n{session}\n{right}\n$ echo $?\n1\n```\n")
    assert run_calls(page).count("prints") == 1
    page.write_text(f"```console\n{session}\n{right.replace('868', '869')}\n```\n")
    assert "| 868 |" in run_calls(page)


def test_a_block_can_be_left_out_with_a_reason(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: takes an hour -->\n```python\n1 / 0\n```\n")
    assert run_page(page) == ""


def test_a_block_whose_package_is_not_installed_is_left_out_by_name(tmp_path):
    page = tmp_path / "page.md"
    blocks = "".join(
        f"<!-- needs: {package} -->\n```python\n{code}\n```\n"
        for package, code in (("no_such_package", "1 / 0"), ("numpy", "print(1)"))
    )
    page.write_text(f"{blocks}\n```text\n2\n```\n")
    assert "prints\n1" in run_page(page)
    assert lacked(page) == ["no_such_package"]
