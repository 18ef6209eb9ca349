"""Settings of the documentation; `make docs` builds it with warnings as errors."""

import runpy
from importlib import metadata
from pathlib import Path

project = "skboot"
author = "The skboot developers"
copyright = "2026, The skboot developers"
release = metadata.version("skboot")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "decisions/0000-template.md", "examples"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings
# Members are documented on the page of their class; no table links to pages of their own.
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"skboot {release}"
html_copy_source = False


def setup(app):
    """Draw the pictures of the pages before these are read."""
    drawing = runpy.run_path(str(Path(__file__).parent / "draw_curves.py"))
    app.connect("builder-inited", lambda _: drawing["draw"]())
