"""Tables and the picture of docs/studies and docs/guide/trust.md.

``python -m benchmarks.coverage.page`` writes them. The pages are written by hand but for the parts
between ``<!-- NAME -->`` and ``<!-- end -->``; those are made here, and a test holds the pages to
them. Every module of `sections` is imported, and registers its parts by name, with the page of
each. A section more is a module there and its marker on that page; a page more is a line in the
toctree of docs/studies/index.md. The line of a study in the table of verdicts, with its cells in
the list of those outside, is what its module registers with `verdict`, its lines in the table of
cases with `cases`. Order is that of the pages.
"""

from importlib import import_module
from pkgutil import iter_modules

from . import sections
from .registry import INDEX, SECTIONS, filled, pages

for _module in iter_modules(sections.__path__):
    import_module(f"{sections.__name__}.{_module.name}")

__all__ = ["INDEX", "SECTIONS", "filled", "pages"]
