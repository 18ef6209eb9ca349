"""Write every message that a user can see to ``messages.md``: ``python tests/messages.py``.

The source of the package is read with ``ast``: errors, warnings, notes, and any other sentence,
each text once, by kind and in the order of the alphabet. Where a text stands in the source, and
what its values are called there, is not shown: code can move and be renamed without a change here.
What results say of themselves is in ``golden/texts.md``.
"""

import ast
import importlib.util
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SNAPSHOT = Path(__file__).parent / "messages.md"
PACKAGE = Path(importlib.util.find_spec("skboot").origin).parent
HEAD = """# Every message that a user can see

Read from the source and refreshed by `python tests/messages.py`. A value is shown as {...}, and a
choice of texts as (one | other). A line under "Errors of arguments" begins with the argument; the
public function adds its own name: "The 'argument' parameter of compare_systems must ...".
"""
# Modules and functions for what results say of themselves.
SAYS_RESULTS = re.compile(r"wording |\b_?claim")
FEWEST_WORDS = 4  # of a sentence that is neither raised nor warned of
MOST_ALTERNATIVES = 8  # of one text; beyond, a name is shown instead of its texts
VALUE = "{...}"  # what is shown of a value, however it is called or computed
ARGUMENT = "Errors of arguments"  # the kind of these
TEXTS = ast.Constant | ast.JoinedStr | ast.BinOp


class Message(NamedTuple):
    kind: str  # ARGUMENT, "ValueError", "warning", "note (caution)"; "" for a sentence
    text: str


def snapshot(package=PACKAGE):
    """The whole file."""
    text = HEAD
    for kind, of_kind in itertools.groupby(all_messages(package), key=lambda message: message.kind):
        text += f"\n## {kind or 'Sentences'}\n\n"
        text += "".join(f"* {message.text}\n" for message in of_kind)
    return text


@cache
def all_messages(package=PACKAGE):
    """Each message once, by kind and text."""
    return sorted(
        {
            message
            for path in package.rglob("*.py")
            for function, messages in messages_of(path.read_text(encoding="utf-8")).items()
            if not SAYS_RESULTS.search(f"{path.stem} {function}")
            for message in messages
        }
    )


def messages_of(source: str) -> dict[str, list[Message]]:
    """Messages by the qualified name of the function that makes them."""
    tree = ast.parse(source)
    module = Scope(tree, None)
    found: dict[str, list[Message]] = {}
    for name, node in [("", tree), *_functions(tree, "")]:
        messages = list(dict.fromkeys(_messages(Scope(node, module if name else None))))
        if messages:
            found[name] = messages
    return found


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module or class; those inside of functions are a part of them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


class Scope:
    """A function or module: its nodes, and the texts that its names can be."""

    def __init__(self, node: ast.AST, outer: "Scope | None") -> None:
        self.node, self.outer = node, outer
        self.blocks: dict[ast.AST, tuple] = {}  # of a node, its blocks: (id, number of statement)
        self.bound: dict[str, list[tuple[ast.stmt, ast.expr]]] = {}
        self._enter(node, ())
        self.nodes = list(self._nodes())
        for child in self.nodes:
            if isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign) and child.value:
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    self._bind(target, child.value, child)

    def _enter(self, node: ast.AST, blocks: tuple) -> None:
        self.blocks[node] = blocks
        for field, value in ast.iter_fields(node):
            for number, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.stmt):
                    self._enter(child, (*blocks, (node, field, number)))
                elif isinstance(child, ast.AST):
                    self._enter(child, blocks)

    def _bind(self, target: ast.expr, value: ast.expr, where: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            self.bound.setdefault(target.id, []).append((where, value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._bind(one, other, where)

    def _nodes(self) -> Iterator[ast.AST]:
        """All nodes but docstrings; of a module, those outside of functions."""
        waiting = [self.node]
        while waiting:
            node = waiting.pop()
            yield node
            children = list(ast.iter_child_nodes(node))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                children = [child for child in children if not _is_docstring(child)]
            if isinstance(self.node, ast.Module):
                children = [child for child in children if not isinstance(child, ast.FunctionDef)]
            waiting += reversed(children)

    def texts_of(self, name: ast.Name) -> list[ast.expr]:
        """Expressions that a name can be where it stands; none if it is an argument, say."""
        if name not in self.blocks or name.id not in self.bound:
            return self.outer.texts_of(name) if self.outer else self._module_level(name)
        texts = []
        for where, value in reversed(self.bound[name.id]):
            if not isinstance(where, ast.AugAssign) and self._reaches(where, name):
                texts.append(value)
                if len(self._unshared(where, name)) == 1:
                    break  # it stands in a block around the name: earlier ones are overwritten
        return texts[::-1]

    def _module_level(self, name: ast.Name) -> list[ast.expr]:
        return [value for _, value in self.bound.get(name.id, [])]

    def _unshared(self, where: ast.stmt, name: ast.Name) -> tuple:
        """Blocks of a statement from the first that is another statement's than the name's."""
        pairs = zip(self.blocks[where], self.blocks[name], strict=False)
        shared = next((k for k, (one, other) in enumerate(pairs) if one != other), None)
        return self.blocks[where][shared:] if shared is not None else ()

    def _reaches(self, where: ast.stmt, name: ast.Name) -> bool:
        unshared = self._unshared(where, name)
        if not unshared:
            return False
        (node, field, number), *inner = unshared
        of_name = self.blocks[name][len(self.blocks[where]) - len(unshared)]
        if of_name[:2] != (node, field) or of_name[2] < number:
            return False  # the other branch, or later
        return not any(
            isinstance(getattr(branch, of)[-1], ast.Raise | ast.Return | ast.Continue)
            for branch, of, _ in inner
        )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _messages(scope: Scope) -> Iterator[Message]:
    """Messages in the order of the source; a text that is a part of another only within it."""
    parts: set[int] = set()
    for node in scope.nodes:
        if isinstance(node, ast.Call):
            yield from _message_of_call(node, scope, parts)
    whole = [node for node in scope.nodes if isinstance(node, TEXTS) and id(node) not in parts]
    texts = []
    for node in whole:
        inside: set[int] = set()
        texts.append(_texts(node, scope, inside) or [])
        parts |= inside - {id(node)}
    for node, alternatives in zip(whole, texts, strict=True):
        if id(node) not in parts:
            yield from (Message("", text) for text in alternatives if _is_sentence(text))


def _message_of_call(call: ast.Call, scope: Scope, parts: set[int]) -> Iterator[Message]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    # What a message is about is not shown.
    named = [keyword.value for keyword in call.keywords if keyword.arg != "about"]
    given = [*call.args, *named]
    if name == "fail" and len(given) >= 3:
        argument, must, got, *advice = (_shown(node, scope, parts) for node in given)
        got = f"Got {got}. " if got else ""
        text = f"`{argument}` must {must}. {got}{' '.join(advice)}"
        yield Message(ARGUMENT, text.rstrip())
    elif name in ("Note", "add", "say") and len(given) == 2:
        kind, text = (_shown(node, scope, parts) for node in given)
        yield from _if_written_here(f"note ({kind.strip('()')})", text)
    elif name == "refuse":
        yield from _if_written_here("ValueError", _shown(given[0], scope, parts))
    elif name == "warn_user" and given:
        category = f" ({ast.unparse(given[1])})" if len(given) > 1 else ""
        yield from _if_written_here(f"warning{category}", _shown(given[0], scope, parts))
    elif re.fullmatch(r"[A-Z]\w*(Error|Warning)|Unusable|NotANumber|BadCall", name) and call.args:
        texts = [_shown(node, scope, parts) for node in call.args]
        yield from _if_written_here(name, ". ".join(texts))


def _if_written_here(kind: str, text: str) -> Iterator[Message]:
    """The message, unless its whole text comes from elsewhere."""
    if re.search(r"[A-Za-z]{2,}", _without_placeholders(text)):
        yield Message(kind, text)


def _shown(node: ast.expr, scope: Scope, parts: set[int]) -> str:
    """An expression as one text, with its alternatives or its source in braces."""
    texts = _texts(node, scope, parts)
    if texts is None:
        return VALUE
    return texts[0] if len(texts) == 1 else f"({' | '.join(texts)})"


def _texts(node: ast.expr, scope: Scope, parts: set[int]) -> list[str] | None:
    """What a text can be; None if it is not written here."""
    found = _alternatives(node, scope, parts, seen=())
    return None if found is None else list(dict.fromkeys(found))[:MOST_ALTERNATIVES]


def _alternatives(
    node: ast.expr, scope: Scope, parts: set[int], seen: tuple[str, ...]
) -> list[str] | None:
    if isinstance(node, ast.Constant):
        parts.add(id(node))
        return [node.value] if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts.update(id(child) for child in ast.walk(node))
        pieces = [_piece(child, scope, parts, seen) for child in node.values]
        return ["".join(pieces)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_alternatives(side, scope, parts, seen) for side in (node.left, node.right)]
        if sides[0] is None or sides[1] is None:
            return None
        parts.add(id(node))
        return [first + second for first in sides[0] for second in sides[1]]
    if isinstance(node, ast.IfExp):
        chosen = [_alternatives(side, scope, parts, seen) for side in (node.body, node.orelse)]
        if chosen[0] is None or chosen[1] is None:
            return None
        return chosen[0] + chosen[1]
    if isinstance(node, ast.Name) and node.id not in seen:
        values = scope.texts_of(node)
        texts = [_alternatives(value, scope, parts, (*seen, node.id)) for value in values]
        if not texts or any(text is None for text in texts):
            return None
        return [text for alternatives in texts for text in alternatives]
    return None


def _piece(node: ast.expr, scope: Scope, parts: set[int], seen: tuple[str, ...]) -> str:
    if isinstance(node, ast.Constant):
        return node.value
    texts = None
    if node.conversion == -1 and node.format_spec is None:
        texts = _alternatives(node.value, scope, parts, seen)
    if texts is not None and len(set(texts)) <= MOST_ALTERNATIVES:
        texts = list(dict.fromkeys(texts))
        return texts[0] if len(texts) == 1 else f"({' | '.join(texts)})"
    return VALUE


def _is_sentence(text: str) -> bool:
    """Whether a text is a sentence for a reader, and not a part of one, a template or a style."""
    words = re.findall(r"[A-Za-z]{2,}", _without_placeholders(text))
    return len(words) >= FEWEST_WORDS and text.rstrip().endswith(".")


def _without_placeholders(text: str) -> str:
    while (shorter := re.sub(r"\{[^{}]*\}", "", text)) != text:
        text = shorter
    return text


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
