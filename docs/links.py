"""Names that pages and docstrings spell out lead to their reference, here or at another project.

A name in code type, such as ``bootstrap_score`` or ``sklearn.metrics.log_loss``, is a link where a
section has it first. Other projects' names are looked up in their inventories. Where these cannot
be reached, as in a build without a network, the lists in ``inventories`` answer, which have the
names that these pages use.
"""

import re
import zlib
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

DOCS = Path(__file__).parent
NAME = re.compile(r"(?:[A-Za-z]\w*\.)*[A-Za-z]\w*(?:\(\))?")
PROJECTS = {
    "sklearn": "https://scikit-learn.org/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
}
HEADER = (
    "# Sphinx inventory version 2\n# Project: {}\n# Version: \n"
    "# The remainder is compressed using zlib.\n"
)


def inventories():
    """Return where the inventory of each project is: its site, else the list in this folder."""
    folder = DOCS / "generated" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    places = {}
    for project, site in PROJECTS.items():
        path = folder / f"{project}.inv"
        path.write_bytes(_packed(project))
        places[project] = (site, (None, str(path)))
    return places


def _listed(project):
    """Return the entries of a list: name, role, and page below the site, with $ for the name."""
    lines = (DOCS / "inventories" / f"{project}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def _packed(project):
    """Return the list in the form that Sphinx reads."""
    entries = "".join(
        f"{name} {role} 1 {page.replace('$', name)} -\n" for name, role, page in _listed(project)
    )
    return HEADER.format(project).encode() + zlib.compress(entries.encode())


def types(public):
    """Return what the types in docstrings lead to: results, and terms of numpy and scikit-learn."""
    plain = "None bool boolean True False list tuple str string dict float int callable iterable"
    plain += " sequence contextmanager namedtuple generator scalar np.inf np.nan numpy array"
    return (
        {word: word for word in plain.split()}
        | {
            "ndarray": "numpy.ndarray",
            "array-like": ":term:`array-like <numpy:array_like>`",
            "estimator": ":term:`estimator <sklearn:estimator>`",
            "classifier": ":term:`classifier <sklearn:classifier>`",
        }
        | public
    )


class LinkNames(SphinxPostTransform):
    """Make links of the names in code type, the first of each section."""

    default_priority = 5  # before Sphinx resolves references

    def run(self, **kwargs):
        """Replace them by references; one that leads nowhere stays as it is."""
        targets = self._targets()
        seen = set()
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            name = text.removesuffix("()")
            target = targets.get(name, name if name.partition(".")[0] in PROJECTS else None)
            here = _section_of(literal), target
            if target is None or here in seen or not NAME.fullmatch(text) or _is_linked(literal):
                continue
            seen.add(here)
            reference = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=target,
                refexplicit=True,
                refwarn=False,
                refdoc=self.env.docname,
            )
            literal.replace_self(reference)
            reference.append(literal)

    def _targets(self):
        """Return the full name of each name, whole or cut at a dot, that stands for one object."""
        targets = {name: {name} for name in self.env.get_domain("py").objects}
        for full, entry in self.env.get_domain("py").objects.items():
            parts = full.split(".")
            # A bare method or attribute may be that of any class.
            shortest = 2 if entry.objtype in ("method", "property", "attribute") else 1
            for start in range(1, len(parts) - shortest + 1):
                targets.setdefault(".".join(parts[start:]), set()).add(full)
        for full, _, _ in _listed("sklearn"):
            short = full.rpartition(".")[2]
            if "_" in short or not short.islower():
                targets.setdefault(short, {full})
        return {name: fulls.pop() for name, fulls in targets.items() if len(fulls) == 1}


def _is_linked(node):
    """Whether a node is part of a link, or of a heading or signature, which have their own."""
    while (node := node.parent) is not None:
        if isinstance(node, nodes.reference | addnodes.pending_xref | nodes.title):
            return True
        if isinstance(node, addnodes.desc_signature | addnodes.compact_paragraph):
            return True
    return False


def _section_of(node):
    """Return the section that a node is in, or the document."""
    while node.parent is not None and not isinstance(node, nodes.section):
        node = node.parent
    return id(node)


def setup(app):
    """Tell Sphinx of the transform."""
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
