"""Say which names hold three of the package's types or more in a package, as mypy infers them.

``python tests/types_of_names.py [PACKAGE ...]`` reads variables, parameters and attributes; without
packages it reads all. It takes a minute, so that no test calls it: `tests/test_counts.py` reads
annotations alone, and misses types that are nowhere written. A subclass counts as the class that it
begins with.
"""

import collections
import sys

from mypy import build, main
from mypy.nodes import ClassDef, FuncDef, MemberExpr, NameExpr, Var
from mypy.types import Instance, TupleType, UnionType, get_proper_type
from test_counts import OF_SEVERAL_TYPES, SEVERAL_TYPES

OF_SEVERAL = OF_SEVERAL_TYPES | {
    ("", name): "the union AnySpread of four, by its name"
    for name in ("spread", "least", "largest")
}
# Classes that give a method or two to classes of any kind.
MIXINS = {"Hinting"}
CONTAINERS = {"list", "Sequence", "Iterable", "Iterator", "dict", "Mapping", "tuple"}
DEEPEST = 3  # containers in containers that are looked into


def types_in(type_, depth=0):
    """Yield the classes of the package that a type is, or holds, each by the one it begins with."""
    type_ = get_proper_type(type_)
    if isinstance(type_, UnionType) and depth <= DEEPEST:
        for item in type_.items:
            yield from types_in(item, depth + 1)
    elif isinstance(type_, TupleType):
        yield from types_in(type_.partial_fallback, depth)
    elif isinstance(type_, Instance) and type_.type.fullname.startswith("skboot."):
        above = [base for base in type_.type.mro if base.fullname.startswith("skboot.")]
        yield [base.fullname for base in above if base.name not in MIXINS][-1]
    elif isinstance(type_, Instance) and type_.type.name in CONTAINERS and depth <= DEEPEST:
        for argument in type_.args:
            yield from types_in(argument, depth + 1)


def parameters(definitions):
    """Yield the parameters of functions and methods, with their types."""
    for definition in definitions:
        definition = getattr(definition, "func", definition)  # of a decorated one
        if isinstance(definition, ClassDef):
            yield from parameters(definition.defs.body)
        elif isinstance(definition, FuncDef):
            for argument in definition.arguments:
                yield argument.variable.name, argument.variable.type, definition.line


def names_with_types(state):
    """Yield each name of a module with a type that it has, and the line."""
    for expression, type_ in state.type_map().items():
        if isinstance(expression, NameExpr | MemberExpr) and isinstance(expression.node, Var):
            yield expression.name, expression.node.type or type_, expression.line
    if state.tree is not None:
        yield from parameters(state.tree.defs)


def names_of_several_types(packages=()):
    """Map package and name to its types, each with places where it has this type."""
    sources, options = main.process_options(["skboot"])
    options.export_types, options.preserve_asts, options.incremental = True, True, False
    places = collections.defaultdict(lambda: collections.defaultdict(set))
    for module, state in build.build(sources, options).graph.items():
        parts = module.split(".")
        folder = "/".join(parts[1:-1])
        if parts[0] != "skboot" or (packages and folder not in packages):
            continue
        for name, type_, line in names_with_types(state):
            for held in types_in(type_):
                places[folder, name][held].add(f"{parts[-1]}:{line}")
    names = {place: types for place, types in places.items() if len(types) >= SEVERAL_TYPES}
    return {place: names[place] for place in sorted(names) if place[1] not in ("self", "cls")}


def report(packages):
    """Print each name without a reason, and return whether there is one."""
    names = names_of_several_types(packages)
    for package, name in sorted(names.keys() - OF_SEVERAL.keys()):
        print(f"{package or 'skboot'}: {name}")
        for held, places in names[package, name].items():
            print(f"    {held}: {', '.join(sorted(places)[:5])}")
    for package, name in sorted(names.keys() & OF_SEVERAL.keys()):
        print(f"{package or 'skboot'}: {name}, {OF_SEVERAL[package, name]}")
    return bool(names.keys() - OF_SEVERAL.keys())


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:]))
