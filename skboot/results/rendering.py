"""How numbers, tables and distributions look, in plain text, Markdown, LaTeX and HTML.

The module knows no results. A `Scale` says how the numbers of a sentence are rounded, `Decimals`
those of a table. A `Table` is a header and rows of strings, written by one function per language,
which escapes what the language would misread. A `Strip` is a small drawing of one interval above
its bootstrap distribution, as inline SVG.
"""

from __future__ import annotations

import contextlib
import math
import re
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Cells = Sequence[str]
Floats = NDArray[np.float64]

# Who writes tables of plain text; None for `plain_table`.
_TEXT_TABLE: ContextVar[Callable[[Table], str] | None] = ContextVar("text_table", default=None)
DET_RATES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
"""Rates that are marked on the axes of a DET curve, as scikit-learn does, and that tables show."""
LEGEND = "grey: bootstrap distribution; dot and line: estimate and interval"
"""Legend below every drawing."""
# The contrast is 4.0 on white and 5.2 on near-black, so that the colour is readable on both.
_ACCENT = "#2f7fd6"
# Decimals by which numbers side by side may differ before they are no longer written alike.
MOST_MORE_DIGITS = 2
# Digits that double precision has, after the first one.
_PRECISION = 15
# Share of their size by which numbers differ that are not the same but for rounding.
_NUMBER_ROUNDING = 1e-13
# Characters on a line of text. Names of differences that make a table wider get a line of their own
# above their numbers, in LaTeX too.
_LINE = 100
# Characters up to which words stay beside their numbers.
_UNBROKEN = 30
# Characters on a line of words in a cell of a page, at least: longer words give way before numbers
# and drawings do, so that a window of 1,000 px holds all columns of a table of scores.
_CELL_LINE = 14
# Control characters but for tab and line break, marks of line ends, and of the direction of text.
_STEERING = dict.fromkeys(
    (
        *(code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"),
        *(0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    ),
    "\ufffd",
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # LaTeX would read [ or * after the end of a row as an argument of \\.
    "[": "{[}",
    "*": "{*}",
    **{special: f"\\{special}" for special in "&%$#_{}"},
}


class Table(NamedTuple):
    """A table of text.

    Attributes
    ----------
    header : sequence of str
        One title per column.
    rows : sequence of sequences of str
        One string per column.
    n_left : int
        Number of columns, from the first, that hold words: aligned left, the others right.
    """

    header: Cells
    rows: Sequence[Cells]
    n_left: int = 1


class TableOptions(NamedTuple):
    """Options of the tables of a result: those that its reader gives, and what its panels share.

    Attributes
    ----------
    digits : int or None
        Decimals of estimates and limits; None for as many as their intervals support.
    p_values : bool
        Whether comparisons have columns of p-values.
    scores : bool
        Whether the scores of both systems stand beside their difference.
    support : bool
        Whether there is a column of the resamples on which the first system is better.
    shared_decimals : mapping of str to Decimals
        Decimals by the name of a metric, where this table is a panel of several.
    """

    digits: int | None = None
    p_values: bool = False
    scores: bool = False
    support: bool = False
    shared_decimals: Mapping[str, Decimals] = MappingProxyType({})


NOTHING_ASKED = TableOptions()
IN_A_SUMMARY = TableOptions(p_values=True, support=True)
"""Tables of a summary: all numbers, and the scores in a table of their own."""


class Best(str):
    """A cell whose first word, a value, is the best of its column: it is set in bold."""

    __slots__ = ()


class Difference(str):
    """A cell with the names of a difference, which may stand above its numbers or on two lines.

    Parameters
    ----------
    name_a, name_b : str
        Names.
    """

    name_a: str
    name_b: str

    def __new__(cls, name_a: str, name_b: str) -> Difference:
        """Make the text "first - second"."""
        cell = super().__new__(cls, f"{name_a} - {name_b}")
        cell.name_a, cell.name_b = name_a, name_b
        return cell


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Scale:
    """How many decimals the numbers beside an estimate have.

    A limit has as many as its distance from the estimate supports, the estimate as many as the
    nearer limit does: rounding moves neither by more than a tenth of it. Every other number has two
    significant digits at least. Nothing is written as an anchor (0, or the end of the metric's
    range) that it is not.

    Attributes
    ----------
    digits : int
        Decimals that each number has at least; negative for tens, hundreds, ...
    distances : dict of float to float
        From each estimate and limit to the nearest limit or estimate.
    anchors : tuple of float
        What no other number must be mistaken for.
    """

    digits: int
    distances: Mapping[float, float] = field(default_factory=dict)
    anchors: tuple[float, ...] = (0.0, 1.0)

    @classmethod
    def of(
        cls,
        estimates: Iterable[float],
        intervals: Iterable[tuple[float, float]],
        anchors: Iterable[float] = (0.0,),
        *,
        width: float | None = None,
        digits: int = 3,
    ) -> Scale:
        """Return the scale of an estimate, or several, and its limits.

        Parameters
        ----------
        estimates, intervals, anchors : iterable
            What will be shown, and what it must not be mistaken for.
        width : float, optional
            Width of the interval: a fortieth of it is the most by which rounding moves a number.
            All numbers have the decimals of the one that needs most, if these are at most two more;
            else each has its own.
        digits : int
            Decimals to begin with where there is no width.
        """
        middle = [value for value in estimates if math.isfinite(value)]
        ends = [limit for interval in intervals for limit in interval if math.isfinite(limit)]
        distances: dict[float, float] = {}
        for values, opposite in ((middle, ends), (ends, middle)):
            for value in values:
                apart = [abs(value - o) for o in opposite if differ(value, o)]
                if apart:
                    distances[value] = min(apart)
        finite = tuple(anchor for anchor in anchors if math.isfinite(anchor))
        if width is None:
            return cls(digits, distances, finite)
        digits = decimals_of_width(width)
        scale = cls(digits, distances, finite)
        most = max((scale.decimals(value) for value in (*middle, *ends)), default=digits)
        return scale if most > digits + MOST_MORE_DIGITS else cls(most, distances, finite)

    def __add__(self, more: int) -> Scale:
        return replace(self, digits=self.digits + more)

    def at_least(self, digits: int) -> Scale:
        """Return the scale whose numbers have so many decimals at least."""
        return replace(self, digits=max(self.digits, digits))

    def decimals(self, value: float) -> int:
        """Return the decimals of a number."""
        if not value or not math.isfinite(value):
            return self.digits
        distance = next((d for v, d in self.distances.items() if not differ(v, value)), None)
        if distance is None:
            needed = 1 - math.floor(math.log10(abs(value)))
        else:
            needed = math.ceil(math.log10(5) - math.log10(distance))
        digits = max(self.digits, needed)
        while any(value != a and round(value, digits) == a for a in self.anchors):
            digits += 1
        return digits


def decimals_of_width(width: float) -> int:
    """Return the fewest decimals with which rounding moves no number by a fortieth of a width."""
    return math.ceil(math.log10(20) - math.log10(width))


@dataclass(frozen=True)
class Decimals:
    """How many decimals the numbers of one metric have in a table.

    All have those of the widest interval, or one more where the narrowest would else be written as
    a single number. Intervals that need still more, as of a metric of the same name in
    another unit, have decimals of their own.

    Attributes
    ----------
    groups : tuple of tuple (int, int)
        Of each group of intervals, the widest first: the decimals of its narrowest interval by
        itself, and those that all of the group have.
    """

    groups: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, widths: Iterable[float]) -> Self:
        """Return the decimals of intervals with these widths, which are above 0."""
        needed = sorted({decimals_of_width(width) for width in widths}) or [3]
        groups = []
        while needed:
            # With one decimal less than it needs, an interval is two units of the last place wide.
            group = [digits for digits in needed if digits <= needed[0] + 2]
            groups.append((group[-1], max(group[0], group[-1] - 1)))
            needed = needed[len(group) :]
        return cls(tuple(groups))

    def __add__(self, more: int) -> Self:
        return type(self)(tuple((narrowest, digits + more) for narrowest, digits in self.groups))

    def at(self, width: float) -> int:
        """Return the decimals of the numbers of an interval of this width."""
        needed = decimals_of_width(width)
        in_groups = (digits for narrowest, digits in self.groups if needed <= narrowest)
        return next(in_groups, self.groups[-1][1])


@dataclass(frozen=True)
class Fixed:
    """Numbers with the same decimals each, as in a table.

    A number that rounding would make an anchor (0, or the end of the metric's range) is written as
    being beside it: "<0.001", or ">0.999".

    Attributes
    ----------
    digits : int
        Decimals; negative for tens, hundreds, ...
    anchors : tuple of float
        What no other number must be mistaken for.
    rounding : float
        Distance from an anchor that is rounding alone.
    """

    digits: int
    anchors: tuple[float, ...] = (0.0,)
    rounding: float = 0.0

    def __add__(self, more: int) -> Fixed:
        return replace(self, digits=self.digits + more)

    def written(self, value: float) -> str:
        """Write a finite number."""
        anchor = self.anchor_beside(value)
        if anchor is None:
            return number(value, self.digits)
        return f"{'<' if value > anchor else '>'}{number(self.away(value, anchor), self.digits)}"

    def anchor_beside(self, value: float) -> float | None:
        """Return the anchor that rounding would make of a number; None if it would not."""
        for anchor in self.anchors:
            distance = abs(value - anchor)
            is_anchor = distance <= max(self.rounding, _NUMBER_ROUNDING * abs(anchor))
            if round(value, self.digits) == anchor and not is_anchor:
                return anchor
        return None

    def away(self, value: float, anchor: float) -> float:
        """Return the next number with these decimals on the side of an anchor where a value is."""
        return anchor + math.copysign(10.0**-self.digits, value - anchor)


def alike(scales: Sequence[Scale]) -> list[Scale]:
    """Give all scales the decimals of the one that needs most, if these are at most two more."""
    digits = [scale.digits for scale in scales]
    if not digits or max(digits) > min(digits) + MOST_MORE_DIGITS:
        return list(scales)
    return [scale.at_least(max(digits)) for scale in scales]


def differ(a: float, b: float) -> bool:
    """Whether two finite numbers differ by more than rounding."""
    return abs(a - b) > _NUMBER_ROUNDING * max(abs(a), abs(b))


def number(value: float, digits: int | Scale | Fixed) -> str:
    """Write a number with so many decimals, or those of a scale; never "-0.00", never "nan"."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(digits, Fixed):
        return digits.written(value)
    digits = digits.decimals(value) if isinstance(digits, Scale) else digits
    if not value:
        # More zeros than are read say no more than one.
        return f"{0:.{digits if 0 < digits <= 7 else 0}f}"
    # Rounding may add a digit: 998 in tens is 1000.
    rounded = round(value, digits) or value
    size = math.floor(math.log10(abs(rounded)))
    if abs(value) >= 1e9 or (digits > 7 and abs(value) < 1e-3):
        return f"{rounded:.{min(max(digits + size, 0), _PRECISION)}e}"
    digits = min(digits, _PRECISION - size)
    text = f"{value:.{digits}f}" if digits >= 0 else f"{round(value, digits):.0f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def limits(
    interval: tuple[float, float], digits: int | Scale | Fixed, *, marked: bool = True
) -> str:
    """Write both limits, as "0.801 to 0.897", or the one that is finite, as "at least 0.801".

    Marked: say so where they have no width.
    """
    low, high = interval
    if math.isnan(low) or math.isnan(high):
        return "undefined"
    if math.isfinite(low) and high == math.inf:
        return _one_limit(low, digits, "at least", "above", 1)
    if math.isfinite(high) and low == -math.inf:
        return _one_limit(high, digits, "at most", "below", -1)
    mark = " (no width)" if marked and low == high else ""
    return f"{number(low, digits)} to {number(high, digits)}{mark}"


def _one_limit(
    limit: float, digits: int | Scale | Fixed, words: str, beyond: str, direction: int
) -> str:
    """Write the only limit; one beside an anchor lies beyond it, or is moved away from it."""
    anchor = digits.anchor_beside(limit) if isinstance(digits, Fixed) else None
    if isinstance(digits, Fixed) and anchor is not None:
        if direction * (limit - anchor) > 0:
            return f"{beyond} {number(anchor, digits)}"
        limit = digits.away(limit, anchor)
    return f"{words} {number(limit, digits)}"


def percent(level: float) -> str:
    """Write a level as "95%"."""
    return f"{100 * level:.10g}%"


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, and more where it would be 0 or 1."""
    while digits < _PRECISION and value not in (0, 1) and float(f"{value:.{digits}g}") == 1:
        digits += 1
    return f"{value:.{digits}g}"


def share(value: float) -> str:
    """Write a share in percent, as "35%"."""
    return f"{percentage(value)}%"


def percentage(value: float) -> str:
    """Write the number of a share in percent; nothing is 0 or 100 that it is not."""
    digits = 0
    while value not in (0, 1) and round(100 * value, digits) in (0, 100):
        digits += 1
    return number(100 * value, digits)


# ------------------------------------------------------------------ lists and tables


def text_list(items: Sequence[tuple[str, str]], width: int = _LINE) -> str:
    """Write labelled texts as aligned, wrapped lines; a label that repeats is said once.

    Parameters
    ----------
    items : sequence of tuple of str
        Label and text.
    width : int
        Width of a line.

    Returns
    -------
    str
        Indented lines.
    """
    indent = max(len(label) for label, _ in items) + 4
    lines, before = [], None
    for label, text in items:
        shown = "" if label == before else label
        start = f"  {one_line(shown).ljust(indent - 4)}  "
        # A number and its "%" stay on one line.
        unbroken = text.replace(" %", "\N{NO-BREAK SPACE}%")
        filled = textwrap.fill(
            unbroken, width, initial_indent=start, subsequent_indent=" " * indent
        )
        lines.append(filled.replace("\N{NO-BREAK SPACE}%", " %"))
        before = label
    return "\n".join(lines)


def html_list(items: Sequence[tuple[str, str]]) -> str:
    """Write labelled texts as a description list in HTML with inline style."""
    if not items:
        return ""
    lines = "".join(
        # Notebooks give terms a share of the width, which is less than they need.
        f'<dt style="float:none;width:auto;opacity:.75">{escape(label)}</dt>'
        f'<dd style="margin:0;overflow-wrap:anywhere">{escape(one_line(text))}</dd>'
        for label, text in items
    )
    style = (
        "display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:.15em 1em;"
        "margin:.5em 0"
    )
    return f'<dl style="{style}">{lines}</dl>'


def text_table(table: Table) -> str:
    """Write a table in columns of plain text.

    Parameters
    ----------
    table : Table
        What to write.

    Returns
    -------
    str
        Lines without trailing blanks. Names of differences stand above their numbers where the
        lines would else be too long.
    """
    write = _TEXT_TABLE.get()
    return plain_table(table) if write is None else write(table)


@contextlib.contextmanager
def tables_by(write: Callable[[Table], str]) -> Iterator[None]:
    """Have tables of plain text written by another function, as for a terminal."""
    before = _TEXT_TABLE.set(write)
    try:
        yield
    finally:
        _TEXT_TABLE.reset(before)


def plain_table(table: Table) -> str:
    """Write a table in columns of plain text, even where `tables_by` has set another writer."""
    lines = [[one_line(cell) for cell in row] for row in (table.header, *table.rows)]
    above = [""] * len(lines)
    if _is_too_wide(table):
        # The indentation is the empty first column.
        above = [f"{row[0]}\n" for row in lines]
        lines = [["", *row[1:]] for row in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        start
        + "  ".join(
            cell.ljust(width) if k < table.n_left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for start, row in zip(above, lines, strict=True)
    )


def _is_too_wide(table: Table) -> bool:
    """Whether names of differences leave too little room for the numbers beside them."""
    if not any(isinstance(row[0], Difference) for row in table.rows):
        return False
    columns = zip(table.header, *table.rows, strict=True)
    widths = [max(len(one_line(cell)) for cell in column) for column in columns]
    # Above their numbers, short names would save less than the lines that they cost.
    return widths[0] > _UNBROKEN and sum(widths) + 2 * (len(widths) - 1) > _LINE


def markdown_table(table: Table) -> str:
    """Write a table in GitHub's Markdown.

    Parameters
    ----------
    table : Table
        What to write.

    Returns
    -------
    str
        A pipe table.
    """
    rule = [":---" if k < table.n_left else "---:" for k in range(len(table.header))]
    lines = [
        [_with_bold(cell, markdown, "**", "**") for cell in row]
        for row in (table.header, *table.rows)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [lines[0], rule, *lines[1:]])


def markdown_tables(tables: Sequence[tuple[str, Table]]) -> str:
    """Write tables in Markdown, one below the other, each below its caption if it has one."""
    return "\n\n".join(
        f"{markdown(caption)}\n\n{markdown_table(table)}" if caption else markdown_table(table)
        for caption, table in tables
    )


def latex_table(table: Table) -> str:
    """Write a table in LaTeX, with the rules of the booktabs package.

    Parameters
    ----------
    table : Table
        What to write.

    Returns
    -------
    str
        A tabular environment.
    """
    columns = "l" * table.n_left + "r" * (len(table.header) - table.n_left)
    cells = []
    for row in (table.header, *table.rows):
        written = [_with_bold(cell, latex, r"\textbf{", "}") for cell in row]
        if isinstance(row[0], Difference):
            written[0] = f"{latex(row[0].name_a)} $-$ {latex(row[0].name_b)}"
        cells.append(written)
    above = [""] * len(cells)
    if _is_too_wide(table):
        columns = columns[1:]
        names = (rf"\multicolumn{{{len(columns)}}}{{l}}{{{row[0]}}}" for row in cells)
        above = [f"{name} \\\\\n" for name in names]
        cells = [row[1:] for row in cells]
    lines = (" & ".join(row) + r" \\" for row in cells)
    header, *rows = (start + line for start, line in zip(above, lines, strict=True))
    start = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule"]
    return "\n".join([*start, *rows, r"\bottomrule", r"\end{tabular}"])


def latex_tables(
    tables: Sequence[tuple[str, Table]], caption: str | None = None, label: str | None = None
) -> str:
    """Write tables in LaTeX, set apart, each after a comment with its name if it has one.

    Parameters
    ----------
    tables : sequence of tuple (str, Table)
        Each after its name, which may be empty.
    caption, label : str, optional
        Caption and label of a float that holds all tables; without both there is none.

    Returns
    -------
    str
        Tabulars; a ``table`` environment around them if there is a caption or a label.
    """
    text = "\n\n\\bigskip\n\n".join(
        f"% {one_line(name)}\n{latex_table(table)}" if name else latex_table(table)
        for name, table in tables
    )
    if caption is None and label is None:
        return text
    start = [r"\begin{table}", r"\centering"]
    start += [] if caption is None else [rf"\caption{{{latex(caption)}}}"]
    start += [] if label is None else [rf"\label{{{label}}}"]
    return "\n".join([*start, text, r"\end{table}"])


def html_table(table: Table, drawings: Sequence[str] = (), legend: str = "") -> str:
    """Write a table in HTML with inline style, for notebooks and pages.

    Parameters
    ----------
    table : Table
        What to write.
    drawings : sequence of str
        Inline SVG per row, shown in a last column; empty for none.
    legend : str
        What the drawings show.

    Returns
    -------
    str
        A table element, with its legend below.
    """
    line = "border-bottom:1px solid rgba(127,127,127,.4)"

    def cell(tag: str, k: int, content: str, may_break: bool = False) -> str:
        side = "left" if k < table.n_left else "right"
        scope = {"th": ' scope="col"', "td": ""}[tag]
        # Long words may be broken, but only into lines that are long themselves.
        wrap = f"min-width:{_CELL_LINE}ch;" if may_break else "white-space:nowrap;"
        style = f"text-align:{side};padding:.3em .5em;{wrap if tag == 'td' else ''}{line}"
        return f'<{tag}{scope} style="{style}">{content}</{tag}>'

    # A first column that repeats words becomes headings of the rows.
    names = [row[0] for row in table.rows]
    headings = [""] * len(names)
    if len(set(names)) < len(names) and table.n_left > 1:
        headings = ["" if k and name == names[k - 1] else name for k, name in enumerate(names)]
        table = Table(table.header[1:], [row[1:] for row in table.rows], table.n_left - 1)
    header = "".join(cell("th", k, escape(title)) for k, title in enumerate(table.header))
    if drawings:
        header += cell("th", len(table.header), "distribution")
    body, n_columns = [], len(table.header) + bool(drawings)
    for heading, row, drawing in zip(
        headings, table.rows, drawings or [""] * len(table.rows), strict=True
    ):
        if heading:
            style = f"text-align:left;padding:.9em .5em .3em;{line}"
            start = f'<th scope="rowgroup" colspan="{n_columns}" style="{style}">'
            body.append(f"<tr>{start}{html(heading)}</th></tr>")
        cells = ""
        for k, content in enumerate(row):
            may_break = k < table.n_left and len(content) > _CELL_LINE
            written = _with_bold(content, html, "<b>", "</b>")
            if isinstance(content, Difference):
                # Long names of a difference are on two lines, which are not broken.
                may_break = False
                if len(content) > _UNBROKEN:
                    written = f"{html(content.name_a)}<br>- {html(content.name_b)}"
            cells += cell("td", k, written, may_break)
        cells += cell("td", len(row), drawing) if drawings else ""
        body.append(f"<tr>{cells}</tr>")
    # On a narrow screen the table is moved from side to side, and not the page.
    return (
        '<div style="overflow-x:auto;margin:.5em 0"><table style="border-collapse:collapse;'
        'margin:0;color:inherit;background:none">'
        f"<thead><tr>{header}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        f"{html_legend(legend) if any(drawings) else ''}"
    )


def html_of(claim: str, *parts: str, is_narrow: bool = True) -> str:
    """Write what a notebook shows of a result: its claim, and below it parts that are HTML."""
    width = ";max-width:52em" if is_narrow else ""
    start = f'<div style="color:inherit{width}"><p style="margin:.3em 0">{escape(claim)}</p>'
    return f"{start}{''.join(parts)}</div>"


def html_image(image: bytes, kind: str, description: str) -> str:
    """Write an image of a kind such as "image/svg+xml" into a page, which needs no other file."""
    data = b64encode(image).decode()
    return (
        f'<img alt="{html(description)}" src="data:{kind};base64,{data}" '
        'style="max-width:100%;height:auto;display:block"/>'
    )


def html_legend(text: str) -> str:
    """Write in small letters what a drawing shows."""
    return f'<p style="font-size:.8em;opacity:.75;margin:.2em .5em">{html(text)}</p>'


def page(title: str, body: str) -> str:
    """Wrap HTML into a whole page, light or dark as the reader's system is.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML.

    Returns
    -------
    str
        A document that needs nothing else.
    """
    style = (
        ":root{color-scheme:light dark}"
        "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem}"
        "table{font-size:.85rem}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(one_line(title))}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def html(text: str) -> str:
    """Escape a text for HTML."""
    return escape(one_line(text))


def markdown(text: str) -> str:
    """Escape what Markdown would read as markup, inside a table cell."""
    # A tag begins with a letter or one of / ! ? after "<", a character reference ends with ";":
    # "<0.0001" and "A & B" are read as they stand (CommonMark 0.31.2, sections 2.5 and 6.6).
    text = re.sub(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)", lambda match: escape(match[0]), one_line(text))
    text = re.sub(r"([\\`*|\[\]~])", r"\\\1", text)
    # Underscores inside words mark nothing in Markdown and occur in names of metrics: they stay.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\_", text)


def latex(text: str) -> str:
    """Escape what LaTeX would read as a command; a negative number gets a minus sign."""
    text = one_line(text)
    escaped = "".join(_LATEX.get(character, character) for character in text)
    escaped = escaped.replace(r"\textless{}=", r"$\leq$")
    return re.sub(r"(?<![\w.)-])-(?=(\d|inf\b))", "$-$", escaped)


def _with_bold(cell: str, write: Callable[[str], str], start: str, end: str) -> str:
    """Write a cell; of the best of a column its value between the marks of bold text."""
    if not isinstance(cell, Best):
        return write(cell)
    value, _, words = one_line(cell).partition(" ")
    return f"{start}{write(value)}{end} {write(words)}".rstrip()


def one_line(text: str) -> str:
    """Return a text on one line, in characters that are shown."""
    return shown_characters(" ".join(text.split()))


def shown_characters(text: str) -> str:
    """Return a text with a mark for each character that would steer a terminal or a page."""
    return text if text.isprintable() else text.translate(_STEERING)


# ------------------------------------------------------------------ drawings

# A drawing takes the colour of the text around it, so that it can be read on light and dark pages.


@dataclass(frozen=True, eq=False)
class Strip:
    """One interval above its bootstrap distribution.

    Attributes
    ----------
    replicates : ndarray of shape (n_defined,)
        Bootstrap distribution, without NaN.
    estimate, low, high : float
        Estimate and limits; limits may be infinite or NaN.
    naive : float or None
        Baseline to mark.
    scale : Scale
        How these are written.
    title, description : str
        For readers who do not see it.
    """

    replicates: Floats
    estimate: float
    low: float
    high: float
    naive: float | None
    scale: Scale
    title: str
    description: str

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest value to show, the reference left out."""
        values = [self.estimate, self.low, self.high]
        if len(self.replicates):
            values.extend(np.quantile(self.replicates, [0.002, 0.998]))
        finite = [value for value in values if math.isfinite(value)]
        return (min(finite), max(finite)) if finite else (0.0, 0.0)


def draw(strip: Strip, extent: tuple[float, float] | None = None, *, wide: bool = True) -> str:
    """Draw a strip as inline SVG.

    Parameters
    ----------
    strip : Strip
        What to draw.
    extent : tuple of float, optional
        Values at the left and right end, to compare strips with; its own when None.
    wide : bool
        With numbers, or small for a cell of a table.

    Returns
    -------
    str
        An svg element; empty if there is no estimate to show.
    """
    if not math.isfinite(strip.estimate):
        return ""
    start, stop = extent or strip.extent
    if start == stop:
        room = abs(start) * 0.05 or 0.05
        start, stop = start - room, stop + room
    naive = math.nan if strip.naive is None or extent is not None else strip.naive
    # All else would shrink for a reference that is far away.
    if max(start - naive, naive - stop) < 1.5 * (stop - start):
        start, stop = min(start, naive), max(stop, naive)
    width, height, margin = (460, 112, 70) if wide else (150, 34, 8)
    canvas = _Canvas(start, stop, width, height, margin, wide)
    parts = [canvas.histogram(strip.replicates), canvas.interval(strip), canvas.baseline(strip)]
    shown_naive = math.nan if strip.naive is None else strip.naive
    shown = (strip.estimate, strip.low, strip.high, shown_naive)
    texts = tuple(number(value, strip.scale) for value in shown)
    key = f"strip-{crc32(repr((strip.title, texts, parts)).encode()):08x}"
    return (
        f'<svg role="img" aria-labelledby="{key}-t {key}-d" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width:100%;color:inherit" '
        'xmlns="http://www.w3.org/2000/svg" font-family="inherit" font-size="12">'
        f'<title id="{key}-t">{escape(strip.title)}</title>'
        f'<desc id="{key}-d">{escape(strip.description)}</desc>{"".join(parts)}</svg>'
    )


def bars(values: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Choose the bars of a histogram so that bins and values do not beat.

    Few distinct values, as of an accuracy on few rows, get a bar each. Many on a lattice are binned
    in whole steps of it, others in equal bins.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite; at least one.

    Returns
    -------
    centres, heights, widths : ndarray of shape (n_bars,)
        Bars.
    """
    distinct, counts = np.unique(values, return_counts=True)
    gaps = np.diff(distinct)
    # Values that differ by rounding alone count as one value.
    gaps = gaps[gaps > 1e-9 * np.abs(distinct).max()]
    if len(gaps) == 0:
        return distinct[:1], np.array([counts.sum()]), np.array([abs(distinct[0]) * 0.01 or 0.01])
    step = gaps.min()
    n_steps = round((distinct[-1] - distinct[0]) / step)
    on_lattice = n_steps < 1e5 and np.allclose(gaps / step, np.round(gaps / step), atol=1e-3)
    if not on_lattice:
        heights, edges = np.histogram(values, bins="auto" if len(distinct) > 30 else 30)
        return (edges[:-1] + edges[1:]) / 2, heights, np.diff(edges)
    # Each bar covers whole steps of the lattice, so that all bars hold as many possible values.
    per_bar = math.ceil((n_steps + 1) / 50)
    bar = np.round((values - distinct[0]) / step).astype(int) // per_bar
    heights = np.bincount(bar)
    centres = distinct[0] + step * (np.arange(len(heights)) * per_bar + (per_bar - 1) / 2)
    share = 0.85 if per_bar == 1 else 1.0
    return centres, heights, np.full(len(heights), share * step * per_bar)


@dataclass(frozen=True)
class _Canvas:
    """Where values lie on a drawing, and the marks on it."""

    start: float
    stop: float
    width: int
    height: int
    margin: int
    wide: bool

    @property
    def _base(self) -> float:
        """Height of the line under the histogram, below which the interval is drawn."""
        return self.height - (42.0 if self.wide else 12.0)

    def x(self, value: float) -> float:
        share = (min(max(value, self.start), self.stop) - self.start) / (self.stop - self.start)
        return round(self.margin + share * (self.width - 2 * self.margin), 1)

    def histogram(self, replicates: Floats) -> str:
        inside = replicates[(replicates >= self.start) & (replicates <= self.stop)]
        if not len(inside):
            return ""
        centres, heights, widths = bars(inside)
        top = (self._base - (20 if self.wide else 2)) / heights.max()
        path = "".join(
            f"M{self.x(c - w / 2)} {self._base}V{self._base - n * top:.1f}"
            f"H{self.x(c + w / 2)}V{self._base}z"
            for n, c, w in zip(heights, centres, widths, strict=True)
            if n
        )
        return f'<path d="{path}" fill="currentColor" fill-opacity=".25"/>'

    def interval(self, strip: Strip) -> str:
        y = self._base + (12 if self.wide else 6)
        marks = []
        if not (math.isnan(strip.low) or math.isnan(strip.high)):
            low, high = self.x(strip.low), self.x(strip.high)
            marks.append(f'<path d="M{low} {y}H{high}" stroke="{_ACCENT}" stroke-width="4"/>')
            if self.wide:
                marks.append(self._text(low - 6, y + 4, "end", number(strip.low, strip.scale)))
                marks.append(self._text(high + 6, y + 4, "start", number(strip.high, strip.scale)))
        x = self.x(strip.estimate)
        marks.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{_ACCENT}"/>')
        if self.wide:
            marks.append(self._text(x, 12, "middle", number(strip.estimate, strip.scale)))
            path = f"M{x} 17V{y}"
            marks.append(f'<path d="{path}" stroke="{_ACCENT}" stroke-opacity=".7"/>')
        return "".join(marks)

    def baseline(self, strip: Strip) -> str:
        """Return a dashed line at the baseline, or on which side of the picture it is."""
        if strip.naive is None or not math.isfinite(strip.naive):
            return ""
        text, x = f"baseline {number(strip.naive, strip.scale)}", self.x(strip.naive)
        below_all = self.height - 6
        if not self.start <= strip.naive <= self.stop:
            if not self.wide:
                return ""
            if strip.naive < self.start:
                return self._text(4, below_all, "start", f"← {text}")
            return self._text(self.width - 4, below_all, "end", f"{text} →")
        # From below the interval up to the number of the estimate; in a cell, over all of it.
        bottom, top = (self._base + 16, 20) if self.wide else (self.height, 2)
        line = f'<path d="M{x} {bottom}V{top}" stroke="currentColor" stroke-dasharray="3 3"/>'
        if not self.wide:
            return line
        # Near an end of the picture the text goes away from it.
        side = "start" if x < self.width / 3 else "end" if x > 2 * self.width / 3 else "middle"
        return line + self._text(x, below_all, side, text)

    def _text(self, x: float, y: float, side: str, label: str) -> str:
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{side}" fill="currentColor">'
            f"{escape(label)}</text>"
        )
