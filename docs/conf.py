"""Settings of the documentation; `make docs` builds it with warnings as errors."""

import os
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
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples", "paper"]

# The whole gallery takes minutes. GALLERY=some runs what `make test` runs as well; of the other
# examples the code is shown alone.
SOME = "plot_(01|08|12)_"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": SOME if os.environ.get("GALLERY") == "some" else "plot_",
    "ignore_pattern": "demo",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "notebook_extensions": (),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings
# Members are documented on the page of their class; no table links to pages of their own.
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"skboot {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app):
    """Draw the pictures of the pages before these are read."""
    for name in ("draw_front", "draw_pages", "draw_curves"):
        drawing = runpy.run_path(str(Path(__file__).parent / f"{name}.py"))
        app.connect("builder-inited", lambda _, draw=drawing["draw"]: draw())
