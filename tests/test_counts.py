"""How deep the package is, by counts that are read from its code.

A count is no aim that squeezing meets: it says where to look. None may rise above what stands here;
whoever lowers one lowers its number. CONTRIBUTING says which functions, types and names are there.
"""

import ast
import collections
import re
from pathlib import Path

import pytest
from test_architecture import modules

import skboot

PACKAGE = Path(skboot.__file__).parent
# They say nothing about what is there.
PRONOUNS = re.compile(
    "own|one|each|first|second|found|known|given|asked|told|drawn|kept|others?|both|rest|many|few"
    "|whole|these|those|wanted|made|left|gone|what|which|every|none|same|seen|used|held|said|meant"
    "|taken"
)
# Prepositions that a private name may not begin with. `from_`, `to_` and `with_` make values.
PREPOSITIONS = ("of_", "in_", "by_", "on_", "at_", "for_", "as_", "over_", "within_", "without_")
VALUE_BASES = {"NamedTuple", "Protocol"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
SHORT = 6  # lines of a body that hardly is a step of its own
MANY_MODULES = 4  # in which a private name that says too little stands
SEVERAL_TYPES = 3  # that one name holds in a package
# Names that do, by package, and why. `tests/types_of_names.py` asks mypy, which takes a minute.
OF_SEVERAL_TYPES = {
    ("comparison", "t_differences"): "each is a TDifference, a protocol",
    ("results", "rows"): "a public attribute of three tables, each of its own rows",
}
# Shown as found, to lower. Not reached: 3,000 functions, 250 value types. Reached: 150 files, 350
# private functions that are named once (60 of them short), 1% of names, 2% of prepositions, 0, 1.
MOST = {
    "files": 145,
    "functions": 3479,
    "value types": 300,
    "private functions of a module named once": 309,
    "of these, of six lines or fewer": 44,
    "names that are pronouns or bare participles, per thousand": 3,
    "private functions that begin with a preposition, per thousand": 2,
    "fields that are tuples without names": 0,
    "functions that read the caller's stack": 1,
    "private names that stand in four modules or more": 0,
}


def counts_of(package):
    """Each count of MOST, for the package whose folder is given."""
    read = list(modules(package))
    trees = [module.tree for module in read]
    counts = collections.Counter({"files": len(trees)})
    modules_of = collections.Counter(name for tree in trees for name in _private_names(tree))
    n_common = sum(n_modules >= MANY_MODULES for n_modules in modules_of.values())
    counts["private names that stand in four modules or more"] = n_common
    n_bindings = n_pronouns = n_private = n_prepositions = 0
    for module in read:
        tree, nodes = module.tree, module.nodes
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


def names_of_several_types(package):
    """Names with three of the package's types or more in a folder, by annotations, with the types.

    A subclass counts as the class that it begins with, and a tuple of different things as none.
    """
    trees = {module.path: module.tree for module in modules(package)}
    classes = [node for tree in trees.values() for node in tree.body if _is_class(node)]
    bases = {node.name: [_last_name(base) for base in node.bases] for node in classes}

    def first_class(name):
        above = [base for base in bases[name] if base in bases]
        return first_class(above[0]) if above else name

    types = collections.defaultdict(set)
    for path, tree in trees.items():
        folder = path.relative_to(package).parts[:-1]
        for node in ast.walk(tree):
            annotation = getattr(node, "annotation", None)
            if annotation is None or "Callable" in ast.unparse(annotation):
                continue
            target = getattr(node, "target", None)
            name = node.arg if target is None else _last_name(target)
            shown = _without_mixed_tuples(annotation)
            held = {first_class(word) for word in re.findall(r"\w+", shown) if word in bases}
            types["/".join(folder), name] |= held
    return {place: held for place, held in types.items() if len(held) >= SEVERAL_TYPES}


def _is_class(node):
    return isinstance(node, ast.ClassDef)


def _last_name(node):
    return ast.unparse(node).split("[")[0].split(".")[-1]


def _without_mixed_tuples(annotation):
    """Return the text of an annotation without tuples of different things."""
    text = ast.unparse(annotation)
    for part in ast.walk(annotation):
        if _is_mixed_tuple(part):
            text = text.replace(ast.unparse(part), "tuple")
    return text


def _is_mixed_tuple(node):
    return (
        isinstance(node, ast.Subscript)
        and _last_name(node) == "tuple"
        and isinstance(node.slice, ast.Tuple)
        and len({ast.unparse(element) for element in node.slice.elts} - {"..."}) > 1
    )


def _private_names(tree):
    """Private functions, classes and constants of a module."""
    names = set()
    for node in tree.body:
        if isinstance(node, FUNCTIONS | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if _is_name(part)}
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def _is_name(node):
    return isinstance(node, ast.Name)


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
    return sum(_is_mixed_tuple(part) for field in fields for part in ast.walk(field.annotation))


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


def test_a_name_has_one_type_in_a_package():
    assert names_of_several_types(PACKAGE).keys() == OF_SEVERAL_TYPES.keys()


def test_types_of_a_name_are_counted_by_package(tmp_path):
    (tmp_path / "a.py").write_text(
        "class Row: ...\nclass Pair: ...\nclass Rank: ...\nclass BestRank(Rank): ...\n"
        "def f(rows: list[Row], pair: Pair, both: tuple[Row, Pair, Rank]): ...\n"
        "def g(rows: Pair | None, pair: Rank): ...\n"
        "class Table:\n    rows: tuple[Rank, ...]\n    pair: BestRank\n"
    )
    assert names_of_several_types(tmp_path) == {("", "rows"): {"Row", "Pair", "Rank"}}


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
    for name in "bcd":
        (tmp_path / f"{name}.py").write_text("_of_rows: int = 1\n")
    assert list(counts_of(tmp_path).values()) == [4, 2, 1, 1, 1, 111, 1000, 1, 1, 1]
