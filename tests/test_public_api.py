"""What users can import is what is documented, and each docstring has what a reader needs."""

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import subprocess
import sys
import textwrap
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from in_turn import in_turn
from test_architecture import PACKAGE, modules

import skboot
from skboot.results import result

ROOT = Path(__file__).parent.parent
PUBLIC_MODULES = [
    "skboot",
    "skboot.metrics",
    "skboot.inference",
    "skboot.model_selection",
    "skboot.results",
    "skboot.plots",
    "skboot.testing",
]
# Public modules that show names of others beside their own; the reference page lists these once.
GATHERING = {"skboot.model_selection": 6, "skboot.inference": 1}


def public_object(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def public_names():
    for module in PUBLIC_MODULES:
        for attribute in importlib.import_module(module).__all__:
            name = f"{module}.{attribute}"
            if not attribute.startswith("__") and not inspect.ismodule(public_object(name)):
                yield name


def own_members(name):
    """Public methods and properties that a class of this package defines."""
    for attribute in dir(public_object(name)):
        defined_in = [cls for cls in public_object(name).__mro__ if attribute in vars(cls)]
        if attribute.startswith("_") or not defined_in[0].__module__.startswith("skboot"):
            continue
        member = inspect.getattr_static(public_object(name), attribute)
        if isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member):
            yield f"{name}.{attribute}"


NAMES = list(public_names())
CLASSES = [name for name in NAMES if inspect.isclass(public_object(name))]
CALLABLES = [name for name in NAMES if callable(public_object(name))]
MEMBERS = [member for name in CLASSES for member in own_members(name)]


def read_or_skip(file):
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not part of the installed package")
    return (ROOT / file).read_text(encoding="utf-8")


def listed_on_the_reference_page():
    listed, module = [], None
    for line in read_or_skip("docs/api.md").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.match(r"(?:   |\.\. py:class:: )(\w+)$", line):
            listed.append(f"{module}.{found[1]}")
    return listed


def test_the_reference_page_lists_each_public_name_once():
    gathered = {f"{module}.{name}" for module in GATHERING for name in skboot.__all__}
    assert sorted(listed_on_the_reference_page()) == sorted({*NAMES} - gathered)


def test_the_page_of_the_project_names_each_public_module():
    [paragraph] = re.findall(
        r"^\* \*Public\* are(.*?)^\* ", read_or_skip("docs/project.md"), re.M | re.S
    )
    assert re.findall(r"`(skboot[.\w]*)`", paragraph) == sorted(PUBLIC_MODULES, key=paragraph.find)


# Given by public names, and not public: three are handed on as they are, three are parts of the
# errors of a method, whose own page says what they hold.
HANDED_ON = {"DatasetColumns", "DrawnSamples", "IntervalScorer"}
PARTS_OF_ERRORS = {"CVBootstrap", "IntervalWithNotes", "OutOfBagError"}


def given_types(name):
    """Words of the annotations of what a public name returns, and of what an object of it has."""
    value = public_object(name)
    functions = [] if inspect.isclass(value) else [value]
    words = []
    for base in value.__mro__ if inspect.isclass(value) else ():
        if base.__module__.startswith("skboot"):
            fields = vars(base).get("__annotations__", {})
            words += [text for field, text in fields.items() if not field.startswith("_")]
            shown = [member for key, member in vars(base).items() if not key.startswith("_")]
            functions += [
                getattr(member, "fget", getattr(member, "__func__", member)) for member in shown
            ]
    for function in filter(inspect.isfunction, functions):
        words.append(inspect.unwrap(function).__annotations__.get("return", ""))
    return set(re.findall(r"\w+", " ".join(map(str, words))))


def test_each_type_that_a_user_meets_can_be_imported():
    statements = [node for module in modules(PACKAGE) for node in module.tree.body]
    types = {node.name for node in statements if isinstance(node, ast.ClassDef)}
    given = set().union(*map(given_types, NAMES)) & types
    public = {name.rpartition(".")[2] for name in CLASSES}
    assert given - public == HANDED_ON | PARTS_OF_ERRORS


def public_attributes(cls):
    """Public attributes and methods that a class of this package gives, its fields included."""
    names = set()
    for base in cls.__mro__:
        if base.__module__.startswith("skboot"):
            names |= {*vars(base), *getattr(base, "__dataclass_fields__", ())}
    # Metadata requests are scikit-learn's, for arguments of methods that are listed.
    of_requests = re.compile(r"_|set_\w+_request$|get_metadata_routing$")
    return {name for name in names if not of_requests.match(name)}


def listed_attributes():
    """Names that the reference page lists of each class, by the names that head its paragraphs."""
    page = read_or_skip("docs/api.md").partition("## Attributes and methods of each class\n")[2]
    return {
        heading: set(re.findall(r"`(\w+)(?:\(\))?`", text))
        for headings, text in re.findall(r"^(\S.*)\n: ((?:.+\n)+)", page, re.M)
        for heading in (re.findall(r"`(\w+)`", headings) or [headings])
    }


SHARED = {
    "Every result, plan and table of results": result.Shown,
    "Every result and plan": result.FromACall,
}


def test_the_reference_page_heads_a_paragraph_with_each_public_class():
    classes = {name.rpartition(".")[2] for name in CLASSES}
    assert listed_attributes().keys() == classes | SHARED.keys()


@in_turn(name=CLASSES)
def test_the_reference_page_lists_each_attribute_of_a_public_class(name):
    cls, listed = public_object(name), listed_attributes()
    shared = [listed[heading] for heading, base in SHARED.items() if issubclass(cls, base)]
    bases = [listed[base.__name__] for base in cls.__mro__ if base.__name__ in listed]
    documented = set().union(*shared, *bases) - {base.__name__ for base in cls.__mro__}
    given = public_attributes(cls)
    # What scikit-learn gives is on the page where it is a reason to have the class.
    beside = {name for name in documented - given if not hasattr(cls, name)}
    assert given <= documented
    assert beside <= set().union(*(vars(base).get("__annotations__", {}) for base in cls.__mro__))


@in_turn(name=CLASSES)
def test_each_attribute_that_an_object_sets_is_documented(name):
    cls = public_object(name)
    for base in cls.__mro__:
        if not base.__module__.startswith("skboot"):
            continue
        documented = set(re.findall(r"^\s*(\w+(?:, \w+)*) : ", cls.__doc__, re.M))
        documented = {field for names in documented for field in names.split(", ")}
        assigned = assigned_by(base)
        assert {field for field in assigned if not field.startswith("_")} <= documented, base


@functools.cache
def assigned_by(cls):
    """Attributes that the methods of a class set."""
    return {
        node.attr
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls))))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def test_a_name_that_a_module_gathers_is_the_one_of_the_package():
    for module, n_shared in GATHERING.items():
        shared = {*importlib.import_module(module).__all__} & {*skboot.__all__}
        assert len(shared) == n_shared
        for name in shared:
            assert public_object(f"{module}.{name}") is getattr(skboot, name)


def test_advice_that_names_a_module_works_after_importing_the_package_alone():
    code = "import skboot; print(skboot.model_selection.copies_as_groups([[1.5], [2.0], [1.5]]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0 1 0]"


@pytest.mark.parametrize(
    ("name", "home"),
    [("IntervalDisplay", "plots"), ("ResultTable", "results"), ("out_of_fold", "model_selection")],
)
def test_a_name_that_moved_says_where_it_is(name, home):
    with pytest.raises(AttributeError, match=f"skboot.{name} is skboot.{home}.{name}\\."):
        getattr(skboot, name)
    with pytest.raises(ImportError):
        exec(f"from skboot import {name}")
    assert getattr(getattr(skboot, home), name).__name__ == name


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_a_public_module_shows_its_public_names_and_no_submodule(module):
    package = importlib.import_module(module)
    for name in package.__all__:
        getattr(package, name)  # importing what waits must not show more
    assert [name for name in dir(package) if not name.startswith("__")] == sorted(package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_each_public_name_is_imported_for_type_checkers_from_where_it_is_found(module):
    package = importlib.import_module(module)
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name: "." * node.level + (node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module not in (None, "_base")
        for alias in node.names
    }
    assert sorted(imported) == sorted(package.__all__)
    for name, home in imported.items():
        found = getattr(importlib.import_module(home, package.__package__), name)
        assert getattr(package, name) is found


def test_what_a_score_does_not_need_is_not_imported_with_it():
    code = "import sys, skboot; skboot.bootstrap_score; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    waiting = {"plots", "comparison", "scorer", "runs", "refit", "inference.runs"}
    assert not waiting & {name.removeprefix("skboot.") for name in done.stdout.split()}


@in_turn(name=CALLABLES)
def test_each_public_name_has_an_example(name):
    assert re.search(r"^\s*Examples\n\s*-+\n(.*\n)*?\s*>>> ", public_object(name).__doc__, re.M)


@in_turn(name=[*NAMES, *MEMBERS])
def test_each_docstring_passes_numpydoc_validation(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    errors = {tuple(error) for error in validate(name)["errors"] if error[0] in checks()}
    if name in CLASSES and is_value(public_object(name)):
        # The fields of a value that users never construct are its attributes.
        errors = {error for error in errors if error[0] not in ("PR01", "PR03")}
    assert not errors


def is_value(cls):
    """Whether a class is a record of fields, which users never construct."""
    return dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")


@functools.cache
def checks():
    """The checks that pyproject.toml asks for: with "all", those listed are the ones left out."""
    validate = importlib.import_module("numpydoc.validate")
    listed = tomllib.loads(read_or_skip("pyproject.toml"))["tool"]["numpydoc_validation"]["checks"]
    return set(validate.ERROR_MSGS) - set(listed) if "all" in listed else set(listed)


@pytest.mark.parametrize(
    "name", [name for name in CLASSES if dataclasses.is_dataclass(public_object(name))]
)
def test_each_field_of_a_value_is_documented(name):
    # A value of a public kind, such as a pair of methods over data sets, has its page for the rest.
    kinds = [cls for cls in public_object(name).__mro__ if cls in map(public_object, CLASSES)]
    texts = "\n".join(cls.__doc__ for cls in kinds)
    documented = set(re.findall(r"^\s*(\w+(?:, \w+)*) : ", texts, re.M))
    documented = {field for names in documented for field in names.split(", ")}
    fields = {field.name for field in dataclasses.fields(public_object(name))}
    assert {field for field in fields if not field.startswith("_")} <= documented


def test_version_is_the_same_everywhere():
    assert skboot.__version__ == metadata.version("skboot")
    assert f"version: {skboot.__version__}\n" in read_or_skip("CITATION.cff")


def test_results_name_the_version_that_made_them_in_a_checkout_as_well():
    """A checkout on the path has no metadata, or those of another copy that is installed."""
    code = """if True:
        import skboot
        from importlib import metadata

        def not_installed(name):
            raise metadata.PackageNotFoundError(name)

        metadata.distribution = not_installed
        result = skboot.bootstrap_score([0, 1] * 20, [0, 1] * 20, n_resamples=99)
        print(result.versions["skboot"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == skboot.__version__
