"""Which code of the package made the lines of a table, and whether it has changed since.

A line has a mark in its column "code", and ``results/code_marks.txt`` a line for each mark: the
mark, the day, the revision where git tells it, and the modules of the package that were loaded,
with a digest of the code of each. Docstrings, comments and blank lines are no code. So a clone
without history can tell as well; one with history tells how many commits there were since.

Lines without a mark were made before marks were kept. Lines that other packages made, or that older
code made on purpose, are not judged.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import skboot

PACKAGE = Path(skboot.__file__).parent
COLUMN, MARKS = "code", "code_marks.txt"
# Parts in which a change moves numbers, where nothing tells what a line was made of.
NUMBERS = ("inference", "resampling", "metrics")


class Mark(NamedTuple):
    """When and of what a line was made; `modules` are names with their digests."""

    date: str
    revision: str
    modules: Mapping[str, str]


class Age(NamedTuple):
    """Lines of a table by the code that made them, and what to say of it."""

    study: str
    date: str
    today: int
    older: int
    unknown: int
    since: str

    @property
    def words(self) -> str:
        """The code, in words."""
        told = {
            "today's": self.today,
            "older": self.older,
            "unknown (before marks were kept)": self.unknown,
        }
        return ", ".join(f"{n} {name}" for name, n in told.items() if n) + self.since


# ------------------------------------------------------------------ marks


def code_of(source: str) -> str:
    """Lines of a module without docstrings, comments and blank lines; the same on any Python."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node) is not None:
            said = node.body[0]
            lines[said.lineno - 1 : said.end_lineno] = [""] * (said.end_lineno - said.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


@cache
def digest_of(module: str) -> str:
    """Digest of the code of a module of the package by its path; none if there is no such file."""
    path = PACKAGE / module
    if not path.exists():
        return ""
    return hashlib.sha256(code_of(path.read_text(encoding="utf-8")).encode()).hexdigest()[:6]


def mark_in(folder: Path) -> str:
    """The mark of what is loaded now, which the file of a folder of tables is made to know."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    own = {Path(file) for file in files if file and Path(file).is_relative_to(PACKAGE)}
    modules = {
        name: digest_of(name) for name in sorted(p.relative_to(PACKAGE).as_posix() for p in own)
    }
    words = [f"{name}:{digest}" for name, digest in modules.items()]
    mark = hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]
    if mark not in marks_in(folder):
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        revision = _git("rev-parse", "--short=12", "HEAD") or "unknown"
        with (folder / MARKS).open("a", encoding="utf-8") as file:
            print(mark, today, revision, *words, file=file)
    return mark


def marks_in(folder: Path) -> dict[str, Mark]:
    """What is known of the marks of the tables of a folder."""
    path = folder / MARKS
    if not path.exists():
        return {}
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        mark: Mark(date, revision, dict(word.split(":") for word in words))
        for mark, date, revision, *words in lines
    }


# ------------------------------------------------------------------ ages


def age_of(path: Path, rows: Sequence[Mapping[str, str]]) -> Age:
    """How old the code of a table's lines is."""
    marks = marks_in(path.parent)
    found = [marks.get(row.get(COLUMN) or "") for row in rows if _is_judged(row)]
    known = [mark for mark in found if mark is not None]
    older = [mark for mark in known if _changed(mark)]
    unknown = len(found) - len(known)
    date = max((mark.date for mark in known), default="")
    since = _since_marks(older) if older else ""
    if unknown:
        date = date or _git("log", "-1", "--format=%as", "--", str(path))
        since += _since_file(path)
    return Age(path.stem, date, len(known) - len(older), len(older), unknown, since)


def _is_judged(row: Mapping[str, str]) -> bool:
    """Whether today's package can make this line."""
    return "skboot" in row.get("versions", "skboot") and row.get("version", "after") == "after"


def _changed(mark: Mark) -> list[str]:
    return [name for name, digest in mark.modules.items() if digest_of(name) != digest]


def _since_marks(older: Sequence[Mark]) -> str:
    """How many modules changed, and in how many commits."""
    names = sorted({name for mark in older for name in _changed(mark)})
    parts = Counter(name.partition("/")[0] for name in names)
    told = "; modules changed: " + ", ".join(f"{part} {n}" for part, n in parts.items())
    return told + _commits(min(older, key=lambda mark: mark.date).revision, names)


def _since_file(path: Path) -> str:
    """How many commits touched what makes numbers since the table was committed."""
    commits = _commits(_git("log", "-1", "--format=%H", "--", str(path)), NUMBERS)
    return f"; {', '.join(NUMBERS)} changed{commits} since" if commits else ""


def _commits(revision: str, names: Iterable[str]) -> str:
    """In how many commits since a revision some parts of the package changed, if git tells."""
    paths = (str(PACKAGE / name) for name in names)
    n = revision and _git("rev-list", "--count", f"{revision}..HEAD", "--", *paths)
    return f" in {n} commits" if n else ""


def _git(*words: str) -> str:
    """What git answers about the repository of the package; nothing where it cannot."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=PACKAGE.parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
