"""How many of the tables were made by today's code."""

from __future__ import annotations

import datetime

from ...code_marks import age_of
from ...runner import RESULTS, read
from ..registry import section


@section("ages", "studies/index")
def ages() -> str:
    """What was so when the page was written, in a sentence."""
    found = [age_of(path, read(path)) for path in RESULTS.glob("*.csv")]
    unknown = sum(age.unknown > 0 for age in found)
    older = sum(age.older > 0 and not age.unknown for age in found)
    day = datetime.datetime.now(datetime.UTC).date()
    return (
        f"On {day} {len(found) - older - unknown} of the {len(found)} files were made by the code "
        f"of that day, {older} by older code at least in part; {unknown} have lines that do not "
        "say which code made them. `make coverage-study` without a study says which files, and "
        "what has changed since."
    )
