"""Write down what every call of `calls` answers, and compare two such records.

    python tests/golden/record.py compare BASE [HEAD]  two revisions, bit by bit, on one machine
    python tests/golden/record.py commit               numbers.json and texts.md beside this file
    python tests/golden/record.py write FILE.json      what the package on the path answers

A record holds, for each call, a hash of the bits of every distribution, each number in hexadecimal,
the texts a user reads, errors among them, and each warning with the file that it points to. Bits
are compared between two revisions on one machine only, where both answer the calls of this checkout
(without HEAD the second is this checkout as it is); the committed numbers are decimal, for a
comparison to 1e-9. The texts of `larger` calls are compared, not committed.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy
import sklearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from golden.calls import CALLS  # noqa: E402
from golden.functions import FUNCTIONS  # noqa: E402
from golden.larger import LARGER  # noqa: E402

ALL = {**CALLS, **FUNCTIONS, **LARGER}
NUMBERS, TEXTS = HERE / "numbers.json", HERE / "texts.md"


def recorded(call):
    """Numbers, hashes and texts of one call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            parts = dict(_parts("", call()))
        except (ValueError, TypeError) as error:
            parts = {type(error).__name__: ({}, None, {"says": str(error)})}
    said = [
        f"{one.category.__name__} at {Path(one.filename).name}: {one.message}" for one in caught
    ]
    return {
        "numbers": {name: each for name, (each, _, _) in parts.items()},
        "hashes": {name: each for name, (_, each, _) in parts.items() if each},
        "texts": {name: each for name, (_, _, each) in parts.items() if each},
        "warnings": sorted(said),
    }


def _parts(name, answer):
    """Yield (name, (numbers, hash of the distribution, texts)) for each result in an answer."""
    if hasattr(answer, "pairs"):
        for pair in answer.pairs:
            yield f"{name}{pair.first} - {pair.second}", (_numbers_of_pair(pair), None, None)
        yield f"{name}all", ({}, None, _texts(answer))
        for key, system in answer.systems.items():
            yield from _parts(f"{name}{key}: ", system)
    elif hasattr(answer, "statement"):
        numbers = (answer.smallest_margin, answer.detectable_margin, tuple(answer.interval[:2]))
        yield name, (_flat(numbers), None, {"statement": answer.statement})
    elif hasattr(answer, "n_units_range"):
        numbers = answer.n_units, answer.n_units_range or ()
        yield name, (_flat(numbers), None, {"summary": answer.summary()})
    elif hasattr(answer, "bootstrap_distribution"):
        bits = np.ascontiguousarray(answer.bootstrap_distribution, dtype=float).tobytes()
        yield name, (_numbers(answer), hashlib.sha256(bits).hexdigest(), _texts(answer))
    elif isinstance(answer, Mapping):
        if hasattr(answer, "summary"):
            yield f"{name}table", ({}, None, _texts(answer))
        for key, each in answer.items():
            yield from _parts(f"{name}{key}: ", each)
    else:
        yield name, (_flat(answer), None, None)


def _numbers(result):
    if hasattr(result, "band"):
        at = np.linspace(0, len(result.x) - 1, 9).astype(int)
        columns = {
            "x": result.x,
            "estimate": result.estimate,
            "low": result.low,
            "high": result.high,
        }
        return {f"{k} {name}": float(column[k]) for k in at for name, column in columns.items()}
    low, high = result.confidence_interval[:2]
    return {
        "estimate": float(result.estimate),
        "low": float(low),
        "high": float(high),
        "standard_error": float(result.standard_error),
    }


def _numbers_of_pair(pair):
    found = {"difference": float(pair.difference), "standard_error": float(pair.standard_error)}
    for name in ("confidence_interval", "simultaneous_interval"):
        interval = getattr(pair, name)
        if interval is not None:
            found |= {f"{name} low": float(interval[0]), f"{name} high": float(interval[1])}
    for name in ("p_value", "p_value_adjusted", "bootstrap_support"):
        value = getattr(pair, name)
        if value is not None:
            found[name] = float(value)
    return found


def _texts(answer):
    return {"summary": answer.summary(), "claim": answer.claim()}


def _flat(answer):
    """Numbers of what is no result: intervals, folds, arrays."""
    if isinstance(answer, int | float | np.number):
        return {"value": float(answer)}
    if hasattr(answer, "estimate"):
        return _flat((answer.estimate, *answer.confidence_interval[:2]))
    flat = {}
    for k, each in enumerate(np.ravel(answer) if isinstance(answer, np.ndarray) else answer):
        if isinstance(each, str):
            continue
        for name, value in _flat(each).items():
            flat[f"{k} {name}"] = value
    return flat


def everything():
    return {name: recorded(call) for name, call in ALL.items()}


def answers_of(revision):
    """What the package of a revision answers to the calls of this checkout; "" for its own."""
    with tempfile.TemporaryDirectory(prefix="skboot-golden-") as folder:
        where, file = HERE.parents[1], Path(folder) / "answers.json"
        git = ["git", "-C", str(where), "worktree"]
        if revision:
            where = Path(folder) / "checkout"
            subprocess.run([*git, "add", "--quiet", "--detach", str(where), revision], check=True)
        try:
            write = [sys.executable, str(HERE / "record.py"), "write", str(file)]
            subprocess.run(write, check=True, env={**os.environ, "PYTHONPATH": str(where)})
        finally:
            if revision:
                subprocess.run([*git, "remove", "--force", str(where)], check=True)
        return json.loads(file.read_text())


def differences(first, second):
    """Names of what differs between two records, by call."""
    found = []
    for name in sorted({*first, *second}):
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            found.append(f"{name}: only in {'the first' if other is None else 'the second'}")
            continue
        found += [
            f"{name}: {kind}\n  - {one[kind]}\n  + {other[kind]}"
            for kind in ("numbers", "hashes", "texts", "warnings")
            if one[kind] != other[kind]
        ]
    return found


def _in_hexadecimal(each):
    if isinstance(each, dict):
        return {key: _in_hexadecimal(value) for key, value in each.items()}
    return each.hex() if isinstance(each, float) else each


def texts_of(records):
    """Every text, as a page that a person can read."""
    lines = ["# What each call says", ""]
    for name, record in records.items():
        if name in LARGER:
            continue
        lines += [f"## {name}", ""]
        for part, texts in record["texts"].items():
            for kind, text in texts.items():
                title = f"{part.strip(': ')} {kind}".strip()
                lines += [f"{title}:", "", "```", text, "```", ""]
        lines += [f"* {said}" for said in record["warnings"]]
        lines += [""] if record["warnings"] else []
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()).rstrip() + "\n"


def versions():
    """Releases on which random draws and last digits depend."""
    return {
        package.__name__: ".".join(package.__version__.split(".")[:2])
        for package in (np, scipy, sklearn)
    }


def numbers_of(records):
    return {name: record["numbers"] for name, record in records.items()}


def main(arguments):
    match arguments:
        case ["write", file]:
            Path(file).write_text(json.dumps(_in_hexadecimal(everything()), indent=1))
        case ["compare", first, *second]:
            records = answers_of(first), answers_of(second[0] if second else "")
            found = differences(*records)
            print("\n".join(found) or f"No difference in {len(records[0])} calls.")
            return bool(found)
        case ["commit"]:
            records = everything()
            found = {"versions": versions(), "numbers": numbers_of(records)}
            NUMBERS.write_text(json.dumps(found, indent=1) + "\n")
            TEXTS.write_text(texts_of(records))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
