"""There is one way from a call to its resamples and results, read from the code.

Whoever writes a second loop over blocks, binds statistics elsewhere, or makes a result by hand,
finds the place here where it is done.
"""

import ast
from functools import cache

import pytest
from test_architecture import PACKAGE, modules


def functions(root):
    """(module.function, node) of every function, methods among them."""
    for module in modules(root):
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef):
                yield f"{module.name}.{node.name}", node


@cache
def calls(node):
    """The last part of the name of what is called in a function."""
    called = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return [getattr(each, "attr", getattr(each, "id", "")) for each in called]


def loops_over_blocks(root):
    """Functions that run over the numbers of blocks, and evaluate or have others do so."""
    return [
        name
        for name, node in functions(root)
        if any(
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Name)
            and each.func.id == "range"
            and "n_blocks" in ast.unparse(each)
            for each in ast.walk(node)
        )
        and any(call.endswith(("evaluate", "results_in_chunks")) for call in calls(node))
    ]


def binds(root):
    """Functions outside of `resampling` that bind statistics to a plan or a design."""
    return sorted(
        name
        for name, node in functions(root)
        if not name.startswith("resampling.") and "bind" in calls(node)
    )


def classes_below(root, base):
    """Names of a class and of all that inherit from it, sorted."""
    bases = {
        node.name: {ast.unparse(each).rpartition(".")[2] for each in node.bases}
        for module in modules(root)
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
    }
    found = {base}
    while more := {name for name, own in bases.items() if own & found} - found:
        found |= more
    return sorted(found)


def asks_for(root, classes):
    """Functions that ask which of some classes a value is; an assertion tells a reader of types."""
    told = {
        id(each.test)
        for module in modules(root)
        for each in module.nodes
        if isinstance(each, ast.Assert)
    }
    return [
        name
        for name, node in functions(root)
        for each in ast.walk(node)
        if id(each) not in told and _asks(each, classes)
    ]


def _asks(node, classes):
    """Whether a node asks for one of some classes, by `isinstance` or by `type`."""
    if not isinstance(node, ast.Call | ast.Compare):
        return False
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("isinstance", "issubclass") and bool(names & classes)
    return "type" in names and bool(names & classes)


def makes(root, kind):
    """Functions that call a class by its name, in the package."""
    return [name for name, node in functions(root) for call in calls(node) if call == kind]


def asks_settings(root):
    """Functions that read the settings of a call, which are for readers, as data."""
    return sorted(
        {name for name, node in functions(root) if any(map(_asks_settings, ast.walk(node)))}
    )


def _asks_settings(node):
    """Whether a node is `settings.get`, `settings[...]` or `... in settings`, of whomever."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return _are_settings(node.value)
    if isinstance(node, ast.Compare):
        asks = isinstance(node.ops[0], ast.In | ast.NotIn)
        return asks and any(map(_are_settings, node.comparators))
    return isinstance(node, ast.Attribute) and node.attr == "get" and _are_settings(node.value)


def _are_settings(node):
    return ast.unparse(node).rpartition(".")[2] == "settings"


def test_one_loop_over_blocks_evaluates():
    assert loops_over_blocks(PACKAGE) == ["inference.distribution._other_blocks"]


def test_studies_bind_in_one_engine():
    # The others bind what is no study: single rows left out, a value on the data.
    assert binds(PACKAGE) == [
        "comparison.search.binding",
        "inference.dependence.crossed_covariances",
        "inference.dependence.leave_out_blocks",
        "inference.distribution.bootstrap_each",
        "inference.runs.outperformance",
        "refit.run_metrics._binding",
        "study.study.draw",
        "study.tasks.value_of",
    ]


def test_a_class_of_designs_is_a_way_to_bind_and_to_make_blocks():
    assert classes_below(PACKAGE, "SamplingDesign") == [
        "CellsDesign",  # into which a plan is made where rows are many
        "CrossedDesign",
        "GroupDesign",
        "OnePopulationDesign",
        "RowDesign",
        "SamplingDesign",
        "SeriesDesign",
        "StreamedDesign",  # which no plan can bind
    ]


def test_no_function_asks_for_the_class_of_a_design():
    assert asks_for(PACKAGE, set(classes_below(PACKAGE, "SamplingDesign"))) == []


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("EvaluationResult", ["results.result.evaluation_result"]),
        ("ComparisonResult", []),  # `comparison.families.comparison_of` makes the kind it is given
        ("DatasetsComparison", []),
        ("PairedDifference", []),  # `comparison.families.records_of` makes them
        ("DatasetsPair", []),
    ],
)
def test_results_of_a_kind_are_made_at_one_place(kind, where):
    assert makes(PACKAGE, kind) == where


def test_families_are_adjusted_by_one_route():
    """Holm's steps and joint intervals are chosen once, whatever the distribution."""
    chooses = [
        name
        for name, node in functions(PACKAGE)
        if any(
            isinstance(each, ast.Attribute) and each.attr == "max_t_limits"
            for each in ast.walk(node)
        )
        and "holm" in calls(node)
    ]
    assert chooses == ["comparison.families.records_of"]
    steps = [name for name in makes(PACKAGE, "holm") if name.startswith("comparison.")]
    # Wilcoxon's tests are no difference of a distribution.
    assert steps == ["comparison.across._records", "comparison.families.records_of"]


def test_where_rows_are_is_asked_in_one_branch_of_a_public_function():
    """Functions that take columns which are read in parts do no more for them than for arrays."""
    asks = [name for name, node in functions(PACKAGE) if "is_lazy" in calls(node)]
    # Values of arguments and their checks ask what they were given.
    asks = [name for name in asks if not name.startswith("_base.")]
    # Systems on test sets of their own are refused, and the labels of a judge.
    refused = ["comparison.systems.studies_of_each", "study.judge.checked"]
    of_rows = [
        "evaluation.bootstrap_score",
        "comparison.systems.study_of_systems",
        "curves.bootstrap_curve",
    ]
    assert sorted(asks) == sorted([*refused, *of_rows])


def test_settings_are_asked_where_a_file_of_before_is_read():
    assert asks_settings(PACKAGE) == ["results.result.gathered"]


def test_tables_ask_no_result_for_its_class():
    asked = {
        name: [ast.unparse(each.args[1]) for each in ast.walk(node) if _is_question(each)]
        for name, node in functions(PACKAGE)
        if name.startswith(("results.table.", "results.entries."))
    }
    kinds = {kind for own in asked.values() for kind in own}
    assert not [kind for kind in kinds if kind.endswith(("Result", "Comparison", "Plan"))]


def _is_question(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"


def test_what_is_looked_for_is_found(tmp_path):
    (tmp_path / "a.py").write_text(
        "def f(binding):\n    for k in range(binding.n_blocks):\n        s.evaluate(k)\n"
        "def g(plan):\n    plan.bind([])\n    return EvaluationResult()\n"
    )
    assert loops_over_blocks(tmp_path) == ["a.f"]
    assert binds(tmp_path) == ["a.g"]
    assert makes(tmp_path, "EvaluationResult") == ["a.g"]
    (tmp_path / "b.py").write_text(
        "class Base: ...\nclass One(Base): ...\nclass Two(a.One): ...\nclass Other: ...\n"
        "def f(x):\n    assert isinstance(x, One)\n    return isinstance(x, Other)\n"
        "def g(x):\n    return isinstance(x, One | Other)\n"
        "def h(x):\n    return type(x) is not Two\n"
    )
    assert classes_below(tmp_path, "Base") == ["Base", "One", "Two"]
    assert asks_for(tmp_path, {"One", "Two"}) == ["b.g", "b.h"]
    (tmp_path / "c.py").write_text(
        "def f(a):\n    return a.settings.get('x')\ndef g(settings):\n    return settings['x']\n"
        "def h(a):\n    return 'x' not in a.b.settings\ndef k(a, settings):\n"
        "    settings['x'] = a in settings.systems\n"
    )
    assert asks_settings(tmp_path) == ["c.f", "c.g", "c.h"]
