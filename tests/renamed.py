"""Say whether two revisions differ by names alone: ``python tests/renamed.py BASE [HEAD]``.

The syntax trees of each Python file of the package must be equal but for names, and within each
function no two names may have become one. Docstrings and comments may change.
"""

import ast
import subprocess
import sys

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def nodes_of(tree):
    """The nodes of a tree in order, without docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                del body[0]
    return ast.walk(tree)


def shape(node):
    """What of a node is no name: its kind and its constants."""
    if isinstance(node, ast.Constant):
        return "Constant", repr(node.value)
    fields = {
        name: value
        for name, value in ast.iter_fields(node)
        if isinstance(value, int | str | None) and name not in ("id", "arg", "attr", "name")
    }
    return type(node).__name__, tuple(fields.items())


def differences(before, after):
    """Where two texts differ in more than names; an empty list if nowhere."""
    trees = ast.parse(before), ast.parse(after)
    pairs = [list(nodes_of(tree)) for tree in trees]
    if len(pairs[0]) != len(pairs[1]):
        return [f"{len(pairs[0])} nodes have become {len(pairs[1])}"]
    found = []
    for old, new in zip(*pairs, strict=True):
        if shape(old) != shape(new):
            found.append(f"line {getattr(new, 'lineno', '?')}: {shape(old)} -> {shape(new)}")
        if isinstance(old, SCOPES):
            found += _met(old, new)
    return found


def _met(old, new):
    """Names of a function that were two and are one, or were one and are two."""
    names = [
        [
            node.id if isinstance(node, ast.Name) else node.arg
            for node in ast.walk(scope)
            if isinstance(node, ast.Name | ast.arg)
        ]
        for scope in (old, new)
    ]
    if len(names[0]) != len(names[1]):
        return []
    met = []
    for here, there in (names, names[::-1]):
        became = {}
        for name, other in zip(here, there, strict=True):
            if became.setdefault(name, other) != other:
                met.append(f"line {new.lineno}: {name} is {became[name]} and {other}")
    return met


def main(base, head="HEAD"):
    git = ["git", "diff", "--name-only", f"{base}..{head}", "--", "skboot/*.py"]
    paths = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split()
    failed = False
    for path in paths:
        texts = [
            subprocess.run(["git", "show", f"{revision}:{path}"], capture_output=True, text=True)
            for revision in (base, head)
        ]
        for difference in differences(*(text.stdout for text in texts)):
            failed = True
            print(f"{path}: {difference}")
    print(f"{len(paths)} files differ" + ("" if failed else " by names alone"))
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
