"""The tutorial's table."""

from __future__ import annotations

from ...acceptance import measured
from ...runner import RESULTS
from ...studies.tutorial import PUBLISHED
from ..formats import percent, table
from ..registry import section


@section("tutorial", "tutorial")
def tutorial() -> str:
    """The tutorial's rows and those it lacks."""
    rows = measured(RESULTS / "tutorial.csv")
    cells = list(dict.fromkeys(row.cell for row in rows))
    names = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for name in names:
        short = name.partition(": ")[2]
        line = [short, str(PUBLISHED.get(short, ""))]
        for cell in cells:
            both = {row.target: row for row in rows if (row.cell, row.tool) == (cell, name)}
            values = [percent(both[target].coverage) for target in ("system", "method")]
            line += [" / ".join(values), f"{both['method'].width:.3f}"]
        lines.append(tuple(line))
    header = ["interval", "published"]
    for cell in cells:
        header += [f"{cell}: system / method", "width"]
    return table(tuple(header), lines)
