"""Python blocks of the pages, for type checkers: a module for each page."""

import doctest

from test_docs_examples import BLOCK, PAGES, ROOT


def code_of(block):
    """What a block of a page executes."""
    code = block["code"]
    if ">>> " not in code:
        return code
    return "".join(example.source for example in doctest.DocTestParser().get_examples(code))


def modules():
    """Blocks of each page of the guide and of the README, by the name of a module."""
    named = {}
    for page in PAGES:
        if page.parent.name == "guide" or page.parent == ROOT:
            text = page.read_text(encoding="utf-8")
            blocks = [code_of(block) for block in BLOCK.finditer(text) if not block["skip"]]
            if blocks:
                named[f"page_{page.stem.lower()}"] = blocks
    return named


def block_of(blocks, line):
    """Number of the block that a line of the module, counted from 1, is in."""
    for k, code in enumerate(blocks):
        line -= code.count("\n")
        if line <= 0:
            return k
    raise ValueError("The module has fewer lines.")
