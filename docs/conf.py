"""Settings of the documentation; `make docs` builds it with warnings as errors."""

import dataclasses
import importlib
import os
import runpy
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import links
import pictures

project = "skboot"
author = "The skboot developers"
copyright = "2026, The skboot developers"
release = metadata.version("skboot")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "links",
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
    "reference_url": {"skboot": None},  # names in the code of examples lead to the reference
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "reset_modules": ("matplotlib", "pictures.on_a_clear_ground"),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"  # a result begins with its estimate
autodoc_typehints = "none"  # types are in the docstrings
# Members are documented on the page of their class; no table links to pages of their own.
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # words that are no type, such as "of shape"
numpydoc_xref_aliases = links.types(
    {
        name: f"{module}.{name}"
        for module in ("skboot", "skboot.results")
        for name in importlib.import_module(module).__all__
        if name[0].isupper()
    }
)
default_role = "py:obj"  # `name` in a docstring is a link where the name is documented
intersphinx_mapping = links.inventories()
intersphinx_timeout = 5
viewcode_follow_imported_members = True

# Code, without its prompts and what it prints.
copybutton_selector = ", ".join(
    f".highlight-{language} pre" for language in ("python", "Python", "default", "console")
)
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"skboot {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def without_constructor(app, what, name, obj, options, signature, returns):
    """Functions make the values that have fields; how is theirs alone."""
    if what == "class" and (dataclasses.is_dataclass(obj) or hasattr(obj, "_fields")):
        return "", None
    return None


def setup(app):
    """Draw the pictures of the pages before these are read; results have no constructor."""
    app.connect("autodoc-process-signature", without_constructor)
    pictures.on_a_clear_ground()
    for name in ("draw_front", "draw_pages", "draw_curves"):
        drawing = runpy.run_path(str(Path(__file__).parent / f"{name}.py"))
        app.connect("builder-inited", lambda _, draw=drawing["draw"]: draw())
