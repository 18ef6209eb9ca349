"""How deep the package is, by counts that are read from its code.

A count is no aim that squeezing meets: it says where to look. None may rise above what stands here;
whoever lowers one lowers its number. CONTRIBUTING says which functions, types and names are there.
"""

import ast
import collections
import re
from pathlib import Path

import pytest

import skboot

PACKAGE = Path(skboot.__file__).parent
# They say nothing about what is there.
PRONOUNS = re.compile(
    "own|one|each|first|second|found|known|given|asked|told|drawn|kept|others?|both|rest|many|few"
    "|whole|these|those|wanted|made|left|gone"
)
# Prepositions that a private name may not begin with. `from_`, `to_` and `with_` make values.
PREPOSITIONS = ("of_", "in_", "by_", "on_", "at_", "for_", "as_", "over_", "within_", "without_")
VALUE_BASES = {"NamedTuple", "Protocol"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
SHORT = 6  # lines of a body that hardly is a step of its own
# Shown as found, to lower. Not reached: 3,000 functions, 250 value types. Reached: 150 files, 350
# private functions that are named once (60 of them short), 1% of names, 2% of prepositions, 0, 1.
MOST = {
    "files": 144,
    "functions": 3333,
    "value types": 297,
    "private functions of a module named once": 335,
    "of these, of six lines or fewer": 51,
    "names that are pronouns or bare participles, per thousand": 4,
    "private functions that begin with a preposition, per thousand": 20,
    "fields that are tuples without names": 0,
    "functions that read the caller's stack": 1,
}


def counts_of(package):
    """Each count of MOST, for the package whose folder is given."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in package.rglob("*.py")]
    counts = collections.Counter({"files": len(trees)})
    n_bindings = n_pronouns = n_private = n_prepositions = 0
    for tree in trees:
        nodes = list(ast.walk(tree))
        functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
        counts["functions"] += len(functions)
        counts["functions that read the caller's stack"] += sum(map(_reads_the_stack, functions))
        uses = collections.Counter(node.id for node in nodes if isinstance(node, ast.Name))
        for function in functions:
            if function in tree.body and function.name.startswith("_"):
                named_once = uses[function.name] == 1
                counts["private functions of a module named once"] += named_once
                is_short = named_once and _body_lines(function) <= SHORT
                counts["of these, of six lines or fewer"] += is_short
        types = [node for node in nodes if isinstance(node, ast.ClassDef) and _is_value(node)]
        counts["value types"] += len(types)
        counts["fields that are tuples without names"] += sum(map(_tuple_fields, types))
        bound = [name for node in nodes if (name := _bound_name(node))]
        n_bindings += len(bound)
        n_pronouns += sum(PRONOUNS.fullmatch(name) is not None for name in bound)
        private = [function.name for function in functions if function.name.startswith("_")]
        private = [name.lstrip("_") for name in private if not name.endswith("__")]
        n_private += len(private)
        n_prepositions += sum(name.startswith(PREPOSITIONS) for name in private)
    shares = {
        "names that are pronouns or bare participles": n_pronouns / max(n_bindings, 1),
        "private functions that begin with a preposition": n_prepositions / max(n_private, 1),
    }
    counts |= {f"{name}, per thousand": round(1000 * share) for name, share in shares.items()}
    return {name: counts[name] for name in MOST}


def _body_lines(function):
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


def _reads_the_stack(function):
    names = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    return bool(names & {"_getframe", "f_back", "currentframe"})


def _is_value(node):
    decorators = {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}
    bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
    return bool(decorators & {"dataclass", "dataclasses.dataclass"} or bases & VALUE_BASES)


def _tuple_fields(node):
    """Fields of a fixed number of different things, such as ``tuple[float, FloatArray]``."""
    fields = [child for child in node.body if isinstance(child, ast.AnnAssign)]
    return sum(
        isinstance(part, ast.Subscript)
        and ast.unparse(part.value) == "tuple"
        and isinstance(part.slice, ast.Tuple)
        and len({ast.unparse(element) for element in part.slice.elts} - {"..."}) > 1
        for field in fields
        for part in ast.walk(field.annotation)
    )


def _bound_name(node):
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None


@pytest.fixture(scope="module")
def counts():
    return counts_of(PACKAGE)


@pytest.mark.parametrize("name", MOST)
def test_the_package_is_no_deeper_than_it_was(name, counts):
    assert counts[name] <= MOST[name]


def test_each_count_counts(tmp_path):
    (tmp_path / "a.py").write_text(
        "import sys\n"
        "class Pair(NamedTuple):\n"
        "    limits: tuple[float, str]\n"
        "    shape: tuple[int, int]\n"
        "def _of_rows(own, n_rows):\n"
        "    frame = sys._getframe(1)\n"
        "    return frame\n"
        "def f():\n"
        "    score = _of_rows(1, 2)\n"
        "    return score\n"
    )
    assert list(counts_of(tmp_path).values()) == [1, 2, 1, 1, 1, 167, 1000, 1, 1]
