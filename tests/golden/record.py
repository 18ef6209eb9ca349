"""Write down what every call of `calls` answers, and compare two such records.

    python tests/golden/record.py write FILE.json      what this checkout answers
    python tests/golden/record.py compare A.json B.json    two revisions, bit by bit, on one machine
    python tests/golden/record.py commit               numbers.json and texts.md beside this file

A record holds, for each call, a hash of the bits of every distribution, each number in hexadecimal,
the texts a user reads, and each warning with the file that it points to. Bits are compared between
two revisions on one machine only; the committed numbers are decimal, for a comparison to 1e-9.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from calls import CALLS  # noqa: E402

NUMBERS, TEXTS = HERE / "numbers.json", HERE / "texts.md"


def recorded(call):
    """Numbers, hashes and texts of one call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = call()
        parts = dict(_parts("", answer))
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
    elif hasattr(answer, "bootstrap_distribution"):
        bits = np.ascontiguousarray(answer.bootstrap_distribution, dtype=float).tobytes()
        yield name, (_numbers(answer), hashlib.sha256(bits).hexdigest(), _texts(answer))
    elif isinstance(answer, dict):
        for key, each in answer.items():
            yield from _parts(f"{name}{key}: ", each)
    else:
        yield name, (_flat(answer), None, None)


def _numbers(result):
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
    return {name: recorded(call) for name, call in CALLS.items()}


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
        case ["compare", first, second]:
            found = differences(*(json.loads(Path(file).read_text()) for file in (first, second)))
            print("\n".join(found) or "No difference.")
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
