"""There is one way from a call to its resamples and results, read from the code.

Whoever writes a second loop over blocks, binds statistics elsewhere, or makes a result by hand,
finds the place here where it is done.
"""

import ast

import pytest
from test_architecture import PACKAGE, modules


def functions(root):
    """(module.function, node) of every function, methods among them."""
    for module in modules(root):
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef):
                yield f"{module.name}.{node.name}", node


def calls(node):
    """Source of what is called in a function."""
    return [ast.unparse(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)]


def loops_over_blocks(root):
    """Functions that run over the numbers of blocks, and evaluate or have others do so."""
    return [
        name
        for name, node in functions(root)
        if any(
            isinstance(each, ast.Call)
            and ast.unparse(each.func) == "range"
            and "n_blocks" in ast.unparse(each)
            for each in ast.walk(node)
        )
        and any(call.endswith(("evaluate", "in_chunks")) for call in calls(node))
    ]


def binds(root):
    """Functions outside of `resampling` that bind statistics to a plan or a design."""
    return sorted(
        name
        for name, node in functions(root)
        if not name.startswith("resampling.")
        and any(call.endswith(".bind") for call in calls(node))
    )


def makes(root, kind):
    """Functions that call a class by its name, in the package."""
    return [name for name, node in functions(root) for call in calls(node) if call == kind]


def test_one_loop_over_blocks_evaluates():
    assert loops_over_blocks(PACKAGE) == ["inference.distribution.over_blocks"]


def test_studies_bind_in_one_engine():
    # The others bind what is no study, such as single rows left out, or a value on the data.
    assert binds(PACKAGE) == [
        "comparison.search.binding",
        "inference.crossed._influence",
        "inference.distribution.bootstrap_each",
        "inference.outperformance._bootstrapped",
        "refit.influence._binding",
        "study.draws.draw",
        "study.series._influences",
        "study.tasks.value_of",
    ]


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("EvaluationResult", ["results.result.evaluation_result"]),
        ("ComparisonResult", []),  # `comparison.asked.answered` makes the kind that it is given
        ("DatasetsComparison", []),
        ("PairedDifference", []),  # `comparison.families.records_of` makes them
        ("DatasetsPair", []),
    ],
)
def test_results_of_a_kind_are_made_at_one_place(kind, where):
    assert makes(PACKAGE, kind) == where


def test_families_are_adjusted_by_one_route():
    """Holm's steps and joint intervals are chosen once, whatever the law of the differences."""
    chooses = [
        name
        for name, node in functions(PACKAGE)
        if any(
            isinstance(each, ast.Attribute) and each.attr == "largest" for each in ast.walk(node)
        )
        and "holm" in calls(node)
    ]
    assert chooses == ["comparison.families.at_once"]
    steps = [name for name in makes(PACKAGE, "holm") if name.startswith("comparison.")]
    # Wilcoxon's tests are no difference of a law.
    assert steps == ["comparison.across_pairs._of_data_sets", "comparison.families.at_once"]


def test_what_is_looked_for_is_found(tmp_path):
    (tmp_path / "a.py").write_text(
        "def f(binding):\n    for k in range(binding.n_blocks):\n        s.evaluate(k)\n"
        "def g(plan):\n    plan.bind([])\n    return EvaluationResult()\n"
    )
    assert loops_over_blocks(tmp_path) == ["a.f"]
    assert binds(tmp_path) == ["a.g"]
    assert makes(tmp_path, "EvaluationResult") == ["a.g"]
