"""Texts of the errors of `test_hostile_arguments`, as users read them.

    python tests/golden/hostile.py     write hostile.json anew, after looking at each difference

By function and argument, each text with the values that it refuses. Addresses of objects and sizes
of memory are left out. With other releases than those of the file a text may name other types, and
is not compared.
"""

import json
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from golden.record import versions  # noqa: E402

FILE = HERE / "hostile.json"


def rendered(error):
    """Text of an error, the same in every process and for every memory."""
    text = re.sub(r"0x[0-9a-f]+", "0x", str(error))
    return re.sub(r"at most \d{5,}|of the [\d.]+ available", "(as memory allows)", text)


def read():
    """Releases that the file was written with, and the text of each case."""
    held = json.loads(FILE.read_text())
    texts = {
        (function, argument, what): text
        for function, by_argument in held["texts"].items()
        for argument, by_text in by_argument.items()
        for text, values in by_text.items()
        for what in values
    }
    return held["versions"], texts


def write():
    """Ask every case, and write what it answers."""
    from test_hostile_arguments import cases, refused

    texts = {}
    for (function, argument), values in cases().items():
        by_text = texts.setdefault(function, {}).setdefault(argument, {})
        for what, value in values.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                by_text.setdefault(rendered(refused(function, argument, value)), []).append(what)
    held = {"versions": versions(), "texts": texts}
    FILE.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write()
