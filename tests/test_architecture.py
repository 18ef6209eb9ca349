"""What holds for every module, read from the source of the package with ``ast``.

Imports go one way, optional packages wait until they are needed, private scikit-learn stays in one
file, and functions and modules stay short. Each rule is tried on a tree of modules that breaks it.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(importlib.util.find_spec("skboot").origin).parent

# From the ground up. A module imports from the lines above its own, and from its own package, but
# for the ground itself, whose modules have an order of their own.
LAYERS = [
    ["_base.versions"],
    ["_base.errors"],
    ["_base.sklearn_compat"],
    ["_base.hints"],
    ["_base.lazy"],
    ["_base.work"],
    ["_base.doors"],
    ["_base.values"],
    ["_base.checks"],
    ["_base.arguments"],
    ["_base.typing"],
    ["_base.reading"],
    ["_base.copies"],
    ["resampling", "metrics"],
    ["splitters"],
    ["inference"],
    ["method_error"],
    ["refit"],
    ["results"],
    ["study"],
    ["streams"],
    ["evaluation"],
    ["runs"],
    ["curves"],
    ["scorer"],
    ["comparison"],
    ["accumulator"],
    ["model_selection"],
    ["testing"],
    ["planning"],
    ["cli"],
    ["__main__"],
]
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units}
# Pictures stand on what lays out and words results. Their classes are named in annotations alone,
# and one method of results draws them: the only import that goes up.
PLOTS_STAND_ON = LEVEL["results"]
PLOTS_READ = {"comparison_texts", "rendering", "table", "wording"}
DRAWS_RESULTS = "results.result"
# A display that makes the results which it draws calls their engine, inside its method.
MAKES_RESULTS, THEIR_ENGINE = "plots.curves", "curves"

# The command line is a user of the package: it calls public functions and draws results.
USER = "cli"

# They show public names, from wherever these are.
SHOW_WINDOWS = {"", "inference", "metrics", "model_selection"}

OPTIONAL_PACKAGES = {"matplotlib", "pandas", "polars", "pyarrow", "dask", "distributed"}
PRIVATE_OF_SCORERS = {"_score_func", "_sign", "_kwargs", "_response_method"}
# Above these a function or a module is looked at: does it say more than one thing?
LOOKED_AT_FUNCTION_LINES = 80  # of the body, without the signature and the docstring
LOOKED_AT_MODULE_LINES = 1000  # of code: without docstrings, comments and blank lines
# Longer than that, by module and name, and looked at: cutting them would scatter one thought.
LONG_ON_PURPOSE: dict[str, str] = {}
MIN_MODULE_LINES = 60  # of code, for a module that only one other imports
# May be smaller, by the last part of their names, because:
SMALL_ON_PURPOSE = {
    "lazy": "packages name it in __init__, to which the rule does not apply",
    "sklearn_compat": "private scikit-learn stays in one file, however little it is",
    "_tuning": "thresholds stand apart, so that a reader can skip them",
}


class Module(NamedTuple):
    name: str  # within the package: "metrics.ranking", "results", "" for the package itself
    path: Path
    tree: ast.Module
    source: str

    @property
    def unit(self):
        return _unit(self.name)

    @property
    def nodes(self):
        return _parsed(self.source)[1]

    def at(self, node):
        return f"{self.path.name}:{node.lineno}"


def _unit(name):
    """Place in the order of a dotted name within the package."""
    package, *rest = name.split(".")
    return ".".join([package, *rest[:1]]) if package == "_base" else package


@cache
def _parsed(source):
    """The tree of a text, and all its nodes: ten rules read the same two hundred files."""
    tree = ast.parse(source)
    return tree, tuple(ast.walk(tree))


# An import is a statement, and no expression holds one.
HOLD_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


class Import(NamedTuple):
    target: str  # absolute: "numpy.random", "skboot.metrics.ranking"
    at_import: bool  # runs when the module is imported
    node: ast.stmt
    for_types: bool = False  # never runs


def modules(root):
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        source = path.read_text(encoding="utf-8")
        yield Module(name, path, _parsed(source)[0], source)


def imports(module):
    """Each imported name as an absolute target, wherever the statement stands."""
    yield from _imports_below(module.tree, module, at_import=True)


def _imports_below(node, module, at_import, for_types=False):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, at_import, child, for_types)
        elif isinstance(child, ast.ImportFrom):
            base = _absolute(child, module)
            for alias in child.names:
                yield Import(f"{base}.{alias.name}", at_import, child, for_types)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            # For annotations only: still a dependency of the text, never run.
            yield from _imports_below(child, module, at_import=False, for_types=True)
        elif isinstance(child, HOLD_STATEMENTS):
            deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports_below(child, module, at_import and not deferred, for_types)


def _absolute(node, module):
    if not node.level:
        return node.module
    package = ["skboot", *filter(None, module.name.split("."))]
    if module.path.name != "__init__.py":
        package.pop()
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *filter(None, [node.module])])


def import_violations(root):
    return [
        f"{module.at(item.node)} {reason}"
        for module in modules(root)
        if module.name not in SHOW_WINDOWS
        for item in imports(module)
        if item.target.partition(".")[0] == "skboot"
        for reason in [_against_the_order(module, item)]
        if reason
    ]


def _against_the_order(module, item):
    unit, target = module.unit, _unit(item.target.partition(".")[2])
    if target == unit:
        return None
    if unit not in LEVEL and unit != "plots":
        return None  # found by unplaced_modules
    if target == "plots":
        if item.for_types and unit == "results":
            return None  # what `plot` returns
        if item.at_import or (module.name != DRAWS_RESULTS and unit != USER):
            return f"plots is imported by {DRAWS_RESULTS} and {USER} alone, where they draw"
        return None
    if target not in LEVEL:
        return f"imports {item.target}, not from the module that defines it"
    if (module.name, target) == (MAKES_RESULTS, THEIR_ENGINE):
        return "plots runs an engine inside a method alone" if item.at_import else None
    if (unit, target) == ("plots", "results") and item.at_import:
        parts = item.target.split(".")
        if len(parts) < 3 or parts[2] not in PLOTS_READ:
            return f"plots takes {item.target} for annotations only"
    highest = PLOTS_STAND_ON if unit == "plots" else LEVEL[unit] - 1
    return None if LEVEL[target] <= highest else f"{unit} imports {target}, not below it"


def unplaced_modules(root):
    known = {"", "plots", "_base", *LEVEL}
    return [
        f"module {module.name!r} has no place in LAYERS"
        for module in modules(root)
        if module.unit not in known
    ]


def eager_optional_imports(root):
    return [
        f"{module.at(item.node)} imports {item.target} before it is needed"
        for module in modules(root)
        for item in imports(module)
        if item.at_import and item.target.partition(".")[0] in OPTIONAL_PACKAGES
    ]


def private_sklearn(root):
    """Private names and modules of scikit-learn, imported or reached, outside of one file."""
    return [
        f"{module.at(node)} uses {name}"
        for module in modules(root)
        if module.name != "_base.sklearn_compat"
        for node, name in [*_private_imported(module), *_private_reached(module)]
    ]


def _private_imported(module):
    for item in imports(module):
        if item.target.startswith("sklearn.") and _has_private_part(item.target):
            yield item.node, item.target


def _private_reached(module):
    sklearn_names = {
        alias.asname or alias.name.partition(".")[0]
        for node in module.nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] == "sklearn"
    }
    for node in module.nodes:
        if isinstance(node, ast.Attribute):
            if not _has_private_part(node.attr):
                continue  # to write down what owns it takes longest
            owner = ast.unparse(node.value)
            of_sklearn = owner.partition(".")[0] in sklearn_names
            of_scorer = node.attr in PRIVATE_OF_SCORERS and owner not in ("self", "cls")
            if of_sklearn or of_scorer:
                yield node, ast.unparse(node)
        elif isinstance(node, ast.Constant) and node.value in PRIVATE_OF_SCORERS:
            yield node, node.value  # getattr(scorer, "_sign")


def _has_private_part(dotted):
    return any(part.startswith("_") and not part.endswith("__") for part in dotted.split("."))


def handwritten_messages(root):
    """Messages of a bad argument that are not made by `fail`."""
    return [
        f"{module.at(node)} writes the message of an argument by hand"
        for module in modules(root)
        if module.name != "_base.messages"
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"parameter of [\w. ]* ?must\b|' parameter of $", node.value)
    ]


def long_functions(root):
    return [
        f"{module.at(node)} {node.name} has {lines} lines"
        for module in modules(root)
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for lines in [_code_lines(node)]
        if lines > LOOKED_AT_FUNCTION_LINES and f"{module.name} {node.name}" not in LONG_ON_PURPOSE
    ]


def _code_lines(function):
    docstring = ast.get_docstring(function, clean=False)
    all_lines = function.end_lineno - function.body[0].lineno + 1
    return all_lines - (docstring.count("\n") + 1 if docstring else 0)


def long_modules(root):
    return [
        f"{module.path.name} has {lines} lines of code"
        for module in modules(root)
        for lines in [code_lines_of_module(module)]
        if lines > LOOKED_AT_MODULE_LINES
    ]


def small_modules(root):
    """Modules that serve one other and are so short that they are a part of it.

    What only an ``__init__`` names is public.
    """
    by_name = {module.name: module for module in modules(root)}
    importers = {name: set() for name in by_name}
    for module in by_name.values():
        for item in imports(module):
            imported = _module_of(item.target, by_name)
            if imported not in (None, module.name):
                importers[imported].add(module.name)
    return [
        f"{module.path.name} has {lines} lines of code, for {importer} alone"
        for name, module in by_name.items()
        if len(importers[name]) == 1
        for importer in importers[name]
        if "__init__.py" not in (module.path.name, by_name[importer].path.name)
        for lines in [code_lines_of_module(module)]
        if lines < MIN_MODULE_LINES and module.path.stem not in SMALL_ON_PURPOSE
    ]


def _module_of(target, by_name):
    """Name of the module of the package that an absolute target lies in; None for others."""
    package, _, name = target.partition(".")
    while package == "skboot" and name:
        if name in by_name:
            return name
        name = name.rpartition(".")[0]
    return None


def code_lines_of_module(module):
    lines = module.source.splitlines()
    code = {
        number
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in module.nodes:
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            code -= set(range(docstring.lineno, docstring.end_lineno + 1))
    return len(code)


# Public functions that make a call of checked arguments and hand it to an engine.
DOORS = {
    "bootstrap_score",
    "bootstrap_runs",
    "bootstrap_curve",
    "compare_across",
    "compare_systems",
    "compare_runs",
    "compare_methods",
    "search_score",
    "plan_evaluation",
    "check_table",
    "BootstrapScorer",
}


def doors_inside_the_package(root):
    """Public functions that are imported or called in the package, where engines should be."""
    return [
        f"{module.at(node)} uses {name}, not its engine"
        for module in modules(root)
        if module.unit != USER
        for node, name in [*_doors_imported(module), *_doors_called(module)]
    ]


def _doors_imported(module):
    if module.path.name == "__init__.py" or module.name in SHOW_WINDOWS:
        return  # it shows public names
    for item in imports(module):
        name = item.target.rpartition(".")[2]
        if item.target.partition(".")[0] == "skboot" and name in DOORS:
            yield item.node, name


def _doors_called(module):
    own = {
        node.name
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in DOORS
    }
    shown = own if module.path.name != "__init__.py" else DOORS
    modules_of_package = {
        alias.asname or alias.name
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and (node.level or "skboot" in (node.module or ""))
        for alias in node.names
    } | {"skboot"}
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in shown:
                yield node, node.func.id
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in DOORS
            and ast.unparse(node.value).partition(".")[0] in modules_of_package
        ):
            yield node, node.attr


# Names of a text that a person reads, and of several.
PROSE = {"caution", "claim", "error", "message", "note", "reason", "said", "sentence", "summary"}
PROSE |= {"text", "warning", "wording"}
SEARCHES = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"}
SEARCHES |= {"find", "rfind", "index", "rindex", "count"}
PATTERNS = {"match", "search", "fullmatch", "findall", "finditer"}
# The sign of a number, the case of a word, a noun that follows: how a text is written, not what it
# says.
OF_SPELLING = {
    "text.startswith('<')",
    "words_of(method).removesuffix(' interval')",
    "re.match('\\\\w+', text)",
}


def prose_searched(root):
    """Places that look for words in a text written for people, to decide by them."""
    return [
        f"{module.at(node)} searches prose: {ast.unparse(node)}"
        for module in modules(root)
        for node in module.nodes
        if _searches_prose(node) and ast.unparse(node) not in OF_SPELLING
    ]


def _searches_prose(node):
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        # A whole text among others is no search; a part of one is.
        literal = _is_phrase(node.left) and not isinstance(node.comparators[0], ast.Tuple | ast.Set)
        return literal or _is_prose(node.comparators[0])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if ast.unparse(node.func.value) == "re" and node.func.attr in PATTERNS:
        return any(_is_prose(argument) for argument in node.args)
    if node.func.attr not in SEARCHES:
        return False
    return _is_prose(node.func.value) or any(map(_is_phrase, node.args))


def _is_prose(node):
    """Whether an expression is a text for people: by its name, or the text of an exception."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        node = node.args[0] if node.args else node
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name.strip("_") in PROSE


def _is_phrase(node):
    """Whether a literal, or one of several, is part of a sentence: words with a space."""
    literals = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and each.value.strip() != ""
        and " " in each.value
        for each in literals
    )


RULES = [
    import_violations,
    unplaced_modules,
    eager_optional_imports,
    private_sklearn,
    handwritten_messages,
    long_functions,
    long_modules,
    small_modules,
    doors_inside_the_package,
    prose_searched,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_every_rule(rule):
    assert not rule(PACKAGE)


def test_importing_skboot_loads_no_optional_package_that_scikit_learn_does_not():
    code = f"""if True:
        import sys, joblib, scipy.stats, sklearn.metrics, sklearn.model_selection
        before = set(sys.modules)
        import skboot
        print(sorted({OPTIONAL_PACKAGES} & (set(sys.modules) - before)))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 81
LONG_DOCSTRING = 'def f():\n    """Long.\n' + "    text\n" * 60 + '    """\n    return 1'
BROKEN = [
    (import_violations, "metrics/a.py", "from skboot.resampling.block import Block"),
    (import_violations, "metrics/a.py", "from skboot.resampling import block"),
    (import_violations, "metrics/a.py", "from ..resampling.block import Block"),
    (import_violations, "metrics/a.py", "from .. import resampling"),
    (import_violations, "resampling/a.py", "import skboot.metrics.ranking"),
    (import_violations, "resampling/__init__.py", "from ..metrics import ranking"),
    (import_violations, "resampling/a.py", "def f():\n    from skboot import inference"),
    (
        import_violations,
        "metrics/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from skboot.resampling import b",
    ),
    (import_violations, "inference/a.py", "from skboot.results import EvaluationResult"),
    (import_violations, "_base/sklearn_compat.py", "from .checks import check"),
    (import_violations, "results.py", "from skboot import bootstrap_score"),
    (import_violations, "results.py", "from skboot.plots import IntervalDisplay"),
    (import_violations, "inference/a.py", "def f():\n    from skboot.plots import IntervalDisplay"),
    (import_violations, "scorer/a.py", "def f():\n    from skboot.plots import IntervalDisplay"),
    (import_violations, "cli/a.py", "from ..plots import IntervalDisplay"),
    (import_violations, "results/a.py", "def f():\n    from ..plots import IntervalDisplay"),
    (import_violations, "plots.py", "from skboot.evaluation import bootstrap_score"),
    (import_violations, "plots.py", "from skboot.results import EvaluationResult"),
    (import_violations, "evaluation.py", "import skboot.comparison"),
    (unplaced_modules, "utils.py", ""),
    (eager_optional_imports, "plots.py", "import matplotlib.pyplot as plt"),
    (
        eager_optional_imports,
        "results.py",
        "try:\n    from pandas import DataFrame\nexcept ImportError: ...",
    ),
    (eager_optional_imports, "results.py", "class C:\n    import polars"),
    (private_sklearn, "metrics/a.py", "from sklearn.metrics._scorer import _Scorer"),
    (private_sklearn, "metrics/a.py", "from sklearn.utils import _safe_indexing"),
    (private_sklearn, "metrics/a.py", "import sklearn.metrics._ranking"),
    (private_sklearn, "metrics/a.py", "def f():\n    from sklearn.utils import _safe_indexing"),
    (private_sklearn, "metrics/a.py", "from sklearn import metrics as m\nm._scorer"),
    (private_sklearn, "metrics/a.py", "import sklearn.metrics\nsklearn.metrics._scorer"),
    (private_sklearn, "metrics/a.py", "def f(scorer):\n    return scorer._score_func"),
    (private_sklearn, "metrics/a.py", "def f(scorer):\n    return getattr(scorer, '_sign', 1)"),
    (handwritten_messages, "runs.py", "f\"The 'x' parameter of f must be {y}.\""),
    (handwritten_messages, "runs.py", "f\"The 'x' parameter of {f} must be 1.\""),
    (handwritten_messages, "runs.py", "f\"The 'x' parameter of A.f must be 1.\""),
    (long_functions, "metrics/a.py", LONG_FUNCTION),
    (long_functions, "metrics/a.py", f"class C:\n{LONG_FUNCTION}".replace("\n", "\n  ")),
    (long_modules, "metrics/a.py", "x = 1\n" * 1001),
    (doors_inside_the_package, "comparison/a.py", "from ..runs import bootstrap_runs"),
    (doors_inside_the_package, "comparison/a.py", "from .runs import compare_runs as engine"),
    (doors_inside_the_package, "comparison/a.py", "def f():\n    from skboot import search_score"),
    (
        doors_inside_the_package,
        "comparison/a.py",
        "from .. import evaluation\nevaluation.bootstrap_score([1], [1])",
    ),
    (
        doors_inside_the_package,
        "evaluation.py",
        "def bootstrap_score(): ...\ndef f(y):\n    return bootstrap_score(y)",
    ),
    (
        doors_inside_the_package,
        "scorer/a.py",
        "class BootstrapScorer: ...\ndef f(model):\n    return BootstrapScorer(model)",
    ),
    (prose_searched, "metrics/a.py", "def f(note):\n    return note.startswith('Only')"),
    (
        prose_searched,
        "metrics/a.py",
        "def f(notes):\n    return [n for n in notes if 'too few' in n]",
    ),
    (prose_searched, "metrics/a.py", "def f(note, mark):\n    return mark in note"),
    (prose_searched, "metrics/a.py", "def f(x):\n    return x.removeprefix('bootstrap_score: ')"),
    (
        prose_searched,
        "metrics/a.py",
        "def f(x):\n    return x.startswith(('Only ', 'The smaller '))",
    ),
    (prose_searched, "metrics/a.py", "def f(error):\n    return str(error).partition(':')"),
    (prose_searched, "metrics/a.py", "def f(w):\n    return w.message.endswith('few')"),
    (prose_searched, "metrics/a.py", "import re\ndef f(text):\n    return re.search('few', text)"),
]
ALLOWED = [
    ("results.py", "from skboot.inference.intervals import INTERVALS"),
    ("results/result.py", "def plot():\n    from .. import plots"),
    (
        "results/curve.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..plots import CurveDisplay",
    ),
    ("plots.py", "from .results import wording\ndef f():\n    import matplotlib"),
    (
        "plots.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .results import Table",
    ),
    ("metrics/a.py", "from .statistic import Statistic\nfrom skboot.metrics import b"),
    (
        "metrics/a.py",
        "from skboot._base.sklearn_compat import get\nfrom .._base.checks import check",
    ),
    ("metrics/a.py", "from sklearn.metrics import f1_score\nf1_score.__module__"),
    ("metrics/a.py", "class C:\n    def f(self):\n        return self._sign"),
    ("_base/checks.py", "from skboot._base import sklearn_compat"),
    ("_base/sklearn_compat.py", "from sklearn.metrics._scorer import _Scorer"),
    ("resampling/draws.py", "from skboot.resampling.design import SamplingDesign"),
    ("inference/choice.py", "from skboot.metrics.lookup import get"),
    ("comparison.py", "from skboot.study.study import evaluate"),
    (
        "cli/verbs.py",
        "def f():\n    from ..evaluation import bootstrap_score\n    bootstrap_score()",
    ),
    ("cli/verbs.py", "def f():\n    from ..plots import RankDisplay"),
    ("metrics/a.py", LONG_DOCSTRING),
    ("comparison/__init__.py", "from .runs import compare_runs"),
    ("comparison/runs.py", 'def compare_runs():\n    """Like bootstrap_runs()."""'),
    ("comparison/a.py", "def f(scorer):\n    return scorer.bootstrap_score"),
    ("metrics/a.py", "def f(name):\n    return name.endswith('_loss') or name in ('a b', 'c d')"),
    ("metrics/a.py", "def f(found, notes):\n    return [one for one in found if one not in notes]"),
    ("metrics/a.py", "def f(note):\n    return note.kind == 'few'"),
    ("metrics/a.py", LONG_FUNCTION.removesuffix("    x = 1\n") + "\n# why" * 544),
    ("metrics/a.py", '"""' + "text\n" * 500 + '"""\n' + "x = 1\n" * 1000),
]


@pytest.mark.parametrize(("rule", "file", "code"), BROKEN)
def test_a_broken_rule_is_found_once(rule, file, code, tmp_path):
    _write_tree(tmp_path, file, code)
    assert len(rule(tmp_path)) == 1


@pytest.mark.parametrize(("file", "code"), ALLOWED)
def test_what_is_allowed_breaks_no_rule(file, code, tmp_path):
    _write_tree(tmp_path, file, code)
    assert not [found for rule in RULES for found in rule(tmp_path)]


@pytest.mark.parametrize(
    "importing", ["from .a import f", "def g():\n    from skboot.metrics import a"]
)
def test_a_short_module_for_one_importer_is_found(importing, tmp_path):
    _write_tree(tmp_path, "metrics/a.py", "x = 1\n" * 59)
    _write_tree(tmp_path, "metrics/b.py", importing)
    assert small_modules(tmp_path) == ["a.py has 59 lines of code, for metrics.b alone"]


@pytest.mark.parametrize(
    ("name", "lines", "importers"),
    [
        ("a", 60, ["b"]),
        ("a", 59, ["b", "c"]),
        ("a", 59, ["__init__"]),
        ("_tuning", 2, ["b"]),
    ],
)
def test_a_module_may_be_short_for_several_or_long_for_one(name, lines, importers, tmp_path):
    _write_tree(tmp_path, f"metrics/{name}.py", "x = 1\n" * lines)
    for importer in importers:
        _write_tree(tmp_path, f"metrics/{importer}.py", f"from .{name} import x")
    assert not small_modules(tmp_path)


def _write_tree(root, file, code):
    (root / "__init__.py").write_text("from .evaluation import f\nfrom .plots import D\n")
    path = root / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code + "\n")
