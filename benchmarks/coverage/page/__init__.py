"""Tables and the picture of docs/guide/trust.md: ``python -m benchmarks.coverage.page``.

The page is written by hand but for the parts between ``<!-- NAME -->`` and ``<!-- end -->``; those
are made here, and a test holds the page to them. Every module of `sections` is imported, and
registers its parts by name: a section more is a module there and its marker on the page. Its line
in the table of verdicts, with its cells in the list of those outside, is what it registers with
`verdict`, its lines in the table of cases with `cases`. Order is that of the page.
"""

from importlib import import_module
from pkgutil import iter_modules

from . import sections
from .registry import PAGE, SECTIONS, filled

for _module in iter_modules(sections.__path__):
    import_module(f"{sections.__name__}.{_module.name}")

__all__ = ["PAGE", "SECTIONS", "filled"]
