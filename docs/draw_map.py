"""Draw the map of the package, docs/architecture.svg, from the table of layers in CONTRIBUTING.md.

    python docs/draw_map.py

A test holds the table against the imports, and the picture against the table.
"""

import re
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
TABLE = DOCS.parent / "CONTRIBUTING.md"
PICTURE = DOCS / "architecture.svg"

WIDTH, MARGIN, GAP = 900, 12, 8
NAMES_WIDTH = 420  # of the column with the names of the modules
LETTER = 7.3  # width of a letter of a name
CHIP_HEIGHT, LINE = 26, 17
PACKAGE, MODULE, DOOR = "#cfe3f5", "#eef1f4", "#ffe2b8"
DOORS = {"evaluation", "runs", "curves", "scorer", "comparison", "accumulator", "testing"}
DOORS |= {"model_selection", "planning"}


class Layer(NamedTuple):
    """Modules of one row of the table, and what they know."""

    names: list[str]
    knows: str


def layers(text):
    """Rows of the table, from the ground up: names of modules and what they know."""
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.+) \|$", text, flags=re.MULTILINE)
    return [Layer(re.findall(r"`(\w+)`", names), knows.replace("`", "")) for names, knows in rows]


def picture(rows, packages):
    """Return the map as SVG, the doors on top, the ground at the bottom."""
    shapes, y = [], MARGIN
    for row in reversed(rows):
        lines = textwrap.wrap(row.knows, 66)
        chips, height = _chips(row.names, y + GAP, packages)
        height = max(height, len(lines) * LINE + 2 * GAP)
        shapes.append(
            f'<rect x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="6" '
            'fill="#ffffff" stroke="#c3c9d0"/>'
        )
        shapes += chips
        top = y + (height - len(lines) * LINE) / 2 + LINE - 4
        shapes += [
            f'<text x="{MARGIN + NAMES_WIDTH}" y="{top + k * LINE:.0f}" fill="#333333">'
            f"{escape(line)}</text>"
            for k, line in enumerate(lines)
        ]
        y += height + GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y - GAP + MARGIN}" '
            'font-family="sans-serif" font-size="13">',
            "<title>The layers of skboot: each imports only from those below it</title>",
            f'<rect width="{WIDTH}" height="{y - GAP + MARGIN}" fill="#f7f8fa"/>',
            *shapes,
            "</svg>\n",
        ]
    )


def _chips(names, y, packages):
    """Boxes with the names, in as many lines as they need, and the height of all."""
    shapes, x, top = [], MARGIN + GAP, y
    for name in names:
        width = len(name) * LETTER + 16
        if x + width > MARGIN + NAMES_WIDTH - GAP:
            x, top = MARGIN + GAP, top + CHIP_HEIGHT + 4
        fill = DOOR if name in DOORS else PACKAGE if name in packages else MODULE
        shapes.append(
            f'<rect x="{x:.0f}" y="{top}" width="{width:.0f}" height="{CHIP_HEIGHT}" rx="4" '
            f'fill="{fill}"/><text x="{x + 8:.0f}" y="{top + 17}" font-family="monospace" '
            f'font-size="12">{escape(name)}</text>'
        )
        x += width + 6
    return shapes, top + CHIP_HEIGHT + GAP - y + GAP


def drawn():
    """Return the picture that belongs to the table and the package as they are."""
    packages = {path.parent.name for path in (DOCS.parent / "skboot").glob("*/__init__.py")}
    return picture(layers(TABLE.read_text(encoding="utf-8")), packages)


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
