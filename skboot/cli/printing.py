"""What a call prints, and the files that it was told to write.

A page of HTML needs nothing else: it holds claims, tables and pictures as results write them for
notebooks, the call, its settings and the versions of all that its numbers depend on.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

from .._base.files import is_same_file, takes_bytes, write_whole
from .._base.reading import BadCall
from ..results import rendering
from ..results.storage import write_text
from .verbs import Answer

# Of the JSON: it rises when a name in it changes its meaning.
_SCHEMA = 1
# Ends of the names of pages.
_PAGES = (".html", ".htm", ".md")
# Columns of a terminal that no table fills.
_ENDLESS = 10_000
# What rich makes bold by stands here until all that is printed is cleaned; no file can hold it.
_ESCAPE = f"<{uuid4().hex}>"

_STYLE = """\
<style>
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
pre{padding:.6rem .8rem;border:1px solid rgba(127,127,127,.4);border-radius:4px}
pre span{display:inline-block;max-width:100%}
figure{margin:1.5rem 0;overflow-x:auto}
figure img{max-width:100%;min-width:min(100%,42rem);height:auto;background:#fff;border-radius:4px}
@media (max-width:42rem){figure img{max-width:none;width:42rem}}
.verdict{font-size:1.05rem;padding:.6rem .8rem;border-left:4px solid #2f7fd6;margin:1rem 0}
</style>"""


def check_files(asked: Namespace) -> None:
    """Refuse files that cannot be written, before any work.

    Parameters
    ----------
    asked : Namespace
        The call.

    Raises
    ------
    BadCall
        If a folder is not there, or pictures of this kind cannot be made.
    """
    for option in ("plot", "report"):
        path = getattr(asked, option)
        if path is None:
            continue
        # A link is followed, so that the folder of the file that it points to counts.
        folder = Path(path if takes_bytes(path) else os.path.realpath(path)).parent
        if not folder.is_dir():
            raise BadCall(f"--{option} {path!r}: there is no folder {str(Path(path).parent)!r}")
        if Path(path).is_dir() or not os.access(path if takes_bytes(path) else folder, os.W_OK):
            raise BadCall(f"--{option} {path!r} cannot be written")
        if asked.file is not None and is_same_file(path, asked.file):
            raise BadCall(f"--{option} {path!r} would take the place of the file that is read")
    if None not in (asked.plot, asked.report) and is_same_file(asked.plot, asked.report):
        raise BadCall(f"--plot and --report are the same file, {asked.plot!r}")
    if asked.plot is not None:
        _check_picture(asked.plot)
    if asked.report is not None and not takes_bytes(asked.report):
        _check_page(asked.report)


def tables_of(stream: Any) -> contextlib.AbstractContextManager[None]:
    """Return a context in which tables are laid out by rich, for somebody who looks at a terminal.

    Parameters
    ----------
    stream : file
        Where the text goes.

    Returns
    -------
    context manager
        That changes nothing where rich is not installed or the stream is no terminal.
    """
    try:
        from rich.console import Console
    except ImportError:
        return contextlib.nullcontext()
    console = Console(file=stream)
    if not console.is_terminal:
        return contextlib.nullcontext()
    return rendering.tables_by(lambda table: _rich_table(table, console))


def text_of(answer: Answer, format_name: str | None) -> str:
    """Return what is printed.

    Parameters
    ----------
    answer : Answer
        What came out.
    format_name : {"json", "latex", "markdown", None}
        How; plain text when None.

    Returns
    -------
    str
        Without a line break at the end.
    """
    if format_name == "json":
        if "schema" in answer.record:
            raise BadCall("a system or subgroup named 'schema' stands in the way of --json")
        return json.dumps({"schema": _SCHEMA, **answer.record}, indent=2, allow_nan=False)
    if format_name == "latex":
        statement = f"% {rendering.one_line(answer.statement)}\n" if answer.statement else ""
        tables = [("", table) for table in answer.tables]
        shown = rendering.latex_tables(tables) if tables else str(answer.shown[0].to_latex())
        return statement + shown
    if format_name == "markdown":
        return _markdown(answer)
    return f"{answer.text}\n\n{rendering.text_list(answer.facts)}" if answer.facts else answer.text


def put(text: str, stream: Any) -> None:
    """Print a text without escape sequences, in characters that a stream can show.

    Parameters
    ----------
    text : str
        What is said; names in it come from files.
    stream : file or None
        Where to; None where it is closed.
    """
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = rendering.shown_characters(text).replace(_ESCAPE, "\x1b")
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream)
    stream.flush()


def write_files(answer: Answer, asked: Namespace, command: str) -> None:
    """Write the picture and the page that a call asks for.

    Parameters
    ----------
    answer : Answer
        What came out.
    asked : Namespace
        The call.
    command : str
        The call as it was typed.
    """
    if asked.plot is not None:
        kind = Path(asked.plot).suffix.lstrip(".").lower()
        drawn = _drawn(answer, kind)
        with _written("plot", asked.plot):
            write_whole(asked.plot, lambda file: file.write(drawn))
    if asked.report is not None and Path(asked.report).suffix.lower() == ".md":
        with _written("report", asked.report):
            write_text(asked.report, _markdown_page(answer, command))
    elif asked.report is not None:
        pictures = []
        if _has_matplotlib():
            encoded = base64.b64encode(_drawn(answer, "png")).decode("ascii")
            pictures.append(f"data:image/png;base64,{encoded}")
        with _written("report", asked.report):
            write_text(asked.report, _page_of(answer, command, pictures))


# ------------------------------------------------------------------ steps


@contextlib.contextmanager
def _written(option: str, path: str) -> Iterator[None]:
    """Say which file cannot be written."""
    try:
        yield
    except OSError as error:
        raise BadCall(f"--{option} {path!r} cannot be written: {error.strerror}") from error


def _markdown(answer: Answer) -> str:
    """Return the verdict and the tables in Markdown."""
    statement = f"{rendering.markdown(answer.statement)}\n\n" if answer.statement else ""
    tables = [("", table) for table in answer.tables]
    return statement + (
        rendering.markdown_tables(tables) if tables else str(answer.shown[0].to_markdown())
    )


def _markdown_page(answer: Answer, command: str) -> str:
    """Return a page in Markdown: tables, claims, the call, its settings and the versions."""
    claims = answer.sentences or tuple(
        shown.claim() for shown in answer.shown if hasattr(shown, "claim")
    )
    parts = [f"# {rendering.markdown(answer.title)}", _markdown(answer)]
    parts += [rendering.markdown(claim) for claim in claims]
    parts += ["## The call", f"```text\n{command}\n```"]
    lists = [("", answer.facts)]
    lists += [
        (f"## {title.capitalize()}", _listed(getattr(answer.settings, title, {})))
        for title in ("settings", "versions")
    ]
    for heading, items in lists:
        lines = [f"* {label}: {rendering.markdown(text)}" for label, text in items]
        parts += [heading] * bool(heading and lines) + ["\n".join(lines)] * bool(lines)
    return "\n\n".join(parts) + "\n"


def _rich_table(table: rendering.Table, console: Any) -> str:
    """Return a table as rich lays it out; plain where it would have to break a number."""
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for k, title in enumerate(table.header):
        shown.add_column(
            Text(rendering.one_line(title)), justify="left" if k < table.n_left else "right"
        )
    for row in table.rows:
        # Names are no markup of rich.
        styles = ("bold" if isinstance(cell, rendering.Best) else "" for cell in row)
        shown.add_row(*map(Text, map(rendering.one_line, row), styles))
    # Asked for a page without an edge, rich tells the width below which words are broken.
    endless = console.options.update(max_width=_ENDLESS)
    if Measurement.get(console, endless, shown).minimum > console.width:
        return rendering.plain_table(table)
    with console.capture() as captured:
        console.print(shown)
    return str(captured.get()).rstrip("\n").replace("\x1b", _ESCAPE)


def _check_picture(path: str) -> None:
    if not _has_matplotlib():
        raise BadCall("--plot needs matplotlib. Install it with: pip install 'skboot[plot]'")
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix.lstrip(".").lower() not in known:
        listed = ", ".join(sorted(f".{kind}" for kind in known))
        raise BadCall(f"--plot {path!r}: the end of the name tells the kind; known: {listed}")


def _check_page(path: str) -> None:
    if Path(path).suffix.lower() not in _PAGES:
        advice = "For JSON use --json, for a picture --plot"
        raise BadCall(f"--report {path!r}: its name must end in .html or .md. {advice}")


def _has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def _drawn(answer: Answer, kind: str) -> bytes:
    """Return the picture as the bytes of a file."""
    from matplotlib import pyplot

    display: Any = answer.picture()
    file = io.BytesIO()
    display.figure_.savefig(file, format=kind, dpi=150, bbox_inches="tight")
    pyplot.close(display.figure_)
    return file.getvalue()


def _page_of(answer: Answer, command: str, pictures: Sequence[str]) -> str:
    """Return a page: claims, tables and pictures, the call, its settings and the versions."""
    parts = [_STYLE, f"<h1>{rendering.html(answer.title)}</h1>"]
    if answer.statement:
        parts.append(f'<p class="verdict">{rendering.html(answer.statement)}</p>')
    parts += [shown._repr_html_() for shown in answer.shown]
    parts += [_figure(address, answer.title) for address in pictures]
    if answer.sentences:
        parts += ["<h2>In words</h2>", *(f"<p>{escape(each)}</p>" for each in answer.sentences)]
    parts += [
        "<h2>The call</h2>",
        # A line does not end within an option, behind one of its hyphens.
        f"<pre>{' '.join(f'<span>{escape(word)}</span>' for word in command.split(' '))}</pre>",
        rendering.html_list(answer.facts),
    ]
    settings = getattr(answer.settings, "settings", {})
    if settings:
        parts += ["<h2>Settings</h2>", rendering.html_list(_listed(settings))]
    versions = getattr(answer.settings, "versions", {})
    if versions:
        parts += ["<h2>Versions</h2>", rendering.html_list(_listed(versions))]
    return rendering.page(answer.title, "\n".join(parts))


def _figure(address: str, title: str) -> str:
    return f'<figure><img src="{address}" alt="{escape(f"Picture: {title}")}"></figure>'


def _listed(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return settings as label and text, those that say something."""
    return [(str(name), _shown(value)) for name, value in values.items()]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
