"""Would the tests see a fault? Small ones are put into the code, and the tests run until one fails.

``python -m benchmarks.reliability.mutants metrics resampling --n 300`` takes the tests of these two
packages and goes on where it was stopped. ``--others tests/more`` names tests that run on faults
which all of those let pass: whether cases could go, or are missing.

A fault is in a line of the body of a function, drawn by seed; each line is as likely as any other.
Tests that run the line are asked, one case of each test before the second of any, up to ``--most``.
Functions get the code of the fault in a fork of a process that has collected the tests. Where a
line is run before that, the fork imports the package with the fault in it.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.machinery
import json
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest

from .page import Mutant, put_mutants

ROOT = Path(__file__).parents[2]
SEED = 20261125
# A test may take this many seconds more, and this many times longer, than without a fault.
MORE_SECONDS, TIMES_LONGER, WALL_SECONDS = 20, 20, 600
MOST_BYTES = 8 << 30
QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist", "--no-header"]
OTHER_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
NO_BEHAVIOUR = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
ONLY_WORDS = ("fail", "tell", "warn")


# ------------------------------------------------------------------ faults


class Fault(NamedTuple):
    """The change number `which` of a file, in the statement that begins at `first`."""

    path: str
    first: int
    line: int
    which: int
    what: str


class Change(NamedTuple):
    """What can be changed in place, in which statement."""

    node: ast.AST
    statement: ast.stmt
    apply: Callable[[], None]


def changes_of(tree: ast.Module) -> Iterator[Change]:
    """All changes that a file offers, in the order of its text."""
    for statement, node in _nodes(tree, None, False):
        for apply in _changes(node):
            yield Change(node, statement, apply)


def _nodes(node: ast.AST, statement: Any, inside: bool) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """The nodes of bodies of functions that do something when these are called."""
    if isinstance(node, NO_BEHAVIOUR) or _is_words(node):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if inside:
        yield statement, node
    if isinstance(node, ast.FunctionDef):
        children, inside = node.body, True
    elif isinstance(node, ast.Lambda):
        children, inside = [node.body], True
    elif isinstance(node, ast.ClassDef):
        children, inside = node.body, False
    elif isinstance(node, ast.AnnAssign):
        children = [node.value] if node.value else []
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _nodes(
            child, statement, inside or isinstance(node, ast.FunctionDef | ast.Lambda)
        )


def _is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) in ONLY_WORDS


def _changes(node: ast.AST) -> Iterator[Callable[[], None]]:
    if (
        isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp)
        and type(node.op) in OTHER_OPERATORS
    ):
        yield partial(setattr, node, "op", OTHER_OPERATORS[type(node.op)]())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv):
        yield partial(_swap, node)
    if isinstance(node, ast.Compare):
        for table in (OTHER_OPERATORS, TURNED):
            if type(node.ops[0]) in table:
                yield partial(node.ops.__setitem__, 0, table[type(node.ops[0])]())
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        # Twice is not at all.
        yield partial(setattr, node, "operand", ast.UnaryOp(node.op, node.operand))
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(
        node.test, ast.Compare | ast.UnaryOp
    ):
        yield partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if isinstance(node.value, bool):
            yield partial(setattr, node, "value", not node.value)
        else:
            yield partial(setattr, node, "value", node.value + 1)
            yield partial(setattr, node, "value", node.value - 1)
    if isinstance(node, ast.Slice):
        for side, by in (("lower", ast.Add()), ("upper", ast.Sub())):
            bound = getattr(node, side)
            if bound is not None and not isinstance(bound, ast.Constant):
                yield partial(setattr, node, side, ast.BinOp(bound, by, ast.Constant(1)))


def _swap(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def drawn(folders: list[Path], n: int) -> list[Fault]:
    """The first n of all lines that offer a change in random order, with one change of each."""
    lines: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for which, one in enumerate(changes_of(ast.parse(path.read_text(encoding="utf-8")))):
            line = getattr(one.node, "lineno", one.statement.lineno)
            at = str(path.relative_to(ROOT)), line
            lines.setdefault(at, []).append((which, one.statement.lineno))
    rng = random.Random(SEED)
    chosen = sorted(lines)
    rng.shuffle(chosen)
    found = []
    for path, line in chosen[:n]:
        which, first = rng.choice(lines[path, line])
        found.append(Fault(path, first, line, which, _what(path, which)))
    return found


def changed(path: str, which: int) -> tuple[ast.Module, Change]:
    """A file before its change, and the change."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return tree, next(one for k, one in enumerate(changes_of(tree)) if k == which)


def _what(path: str, which: int) -> str:
    _, one = changed(path, which)
    shown = one.node if isinstance(one.node, ast.expr) else one.statement
    before = ast.unparse(shown)
    one.apply()
    after = ast.unparse(ast.fix_missing_locations(shown))
    return f"{before.splitlines()[0]} -> {after.splitlines()[0]}"


def compiled(fault: Fault) -> CodeType:
    """The code of a file with its fault."""
    tree, one = changed(fault.path, fault.which)
    one.apply()
    return compile(ast.fix_missing_locations(tree), str(ROOT / fault.path), "exec")


def put_into_functions(fault: Fault) -> None:
    """Give the functions of a file that is imported the code of the file with a fault."""
    new = dict(_codes(compiled(fault)))
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename == str(ROOT / fault.path):
            one.__code__ = new[_place(one.__code__)]


def _codes(code: CodeType) -> Iterator[tuple[Any, CodeType]]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield _place(one), one
            yield from _codes(one)


def _place(code: CodeType) -> tuple[str, int, int]:
    """Where a function stands; of lambdas in one line the column tells."""
    columns = [at[2] for at in code.co_positions() if at[2] and at[0] == code.co_firstlineno]
    named = not code.co_name.startswith("<")
    return code.co_qualname, code.co_firstlineno, 0 if named else min(columns, default=0)


def put_into_import(fault: Fault) -> None:
    """Let a file that is not imported yet be imported with a fault."""
    loader = importlib.machinery.SourceFileLoader
    plain = loader.get_code

    def get_code(self: Any, name: str) -> CodeType:
        same = self.path == str(ROOT / fault.path)
        return compiled(fault) if same else plain(self, name)

    loader.get_code = get_code


# ------------------------------------------------------------------ which test runs which line


def name_of(item: Any) -> str:
    """The name of a case, in whichever process it is collected."""
    return re.sub(" at 0x[0-9a-f]+", "", item.nodeid)


class Readers:
    """Tests by line, and their seconds, as a run without a fault counts them."""

    def __init__(self, covered: coverage.Coverage) -> None:
        self.covered, self.seconds, self.failed = covered, {}, []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.covered.switch_context(name_of(item))
        start = time.process_time()
        yield
        self.seconds[name_of(item)] = time.process_time() - start
        self.covered.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def count_readers(tests: list[str], folders: list[Path], out: Path) -> None:
    """Run tests without a fault, and write which lines each of them runs."""
    of = [str(folder / "*") for folder in folders]
    covered = coverage.Coverage(data_file=None, include=of, config_file=False)
    readers = Readers(covered)
    covered.start()
    pytest.main([*QUIET, *tests], [readers])
    covered.stop()
    number = {name: k for k, name in enumerate(readers.seconds)}
    data = covered.get_data()
    lines = {
        path: {
            line: sorted({number.get(name, -1) for name in names})
            for line, names in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    seconds = list(readers.seconds.values())
    said = {"tests": list(number), "seconds": seconds, "failed": readers.failed, "lines": lines}
    out.write_text(json.dumps(said), encoding="utf-8")


class Counted:
    """Who runs a line: what `count_readers` wrote."""

    def __init__(self, path: Path, most: int) -> None:
        self.most = most
        said = json.loads(path.read_text(encoding="utf-8"))
        self.lines = said["lines"]
        self.tests = said["tests"]
        self.seconds = dict(zip(said["tests"], said["seconds"], strict=True))
        self.failed = set(said["failed"])

    def of(self, fault: Fault) -> tuple[list[str], bool]:
        """The tests to run, one case of each before the second of any; if imports run the line."""
        lines = self.lines.get(str(ROOT / fault.path), {})
        span = (lines.get(str(line), []) for line in range(fault.first, fault.line + 1))
        readers = {which for one in span for which in one}
        at_import = -1 in readers
        names = [self.tests[k] for k in sorted(readers - {-1})]
        if at_import:
            # What was made then is read by others too.
            names += sorted(set(self.tests) - set(names))
        names = [name for name in names if name not in self.failed]
        random.Random(SEED).shuffle(names)
        rank: dict[str, int] = {}
        place = {}
        for name in names:
            test = name.partition("[")[0]
            rank[test] = rank.get(test, 0) + 1
            place[name] = rank[test], self.seconds[name]
        return sorted(names, key=place.__getitem__)[: self.most], at_import


# ------------------------------------------------------------------ trials


class Trial:
    """Collected tests, in place of whose run each fault is tried in a fork."""

    def __init__(
        self, faults: list[Fault], own: Counted, others: Counted | None, out: Path
    ) -> None:
        self.faults, self.own, self.others, self.out = faults, own, others, out
        self.failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        items = {name_of(item): item for item in session.items}
        gc.collect()
        gc.freeze()
        for fault in self.faults:
            said = self.out.with_suffix(".now")
            said.write_text("", encoding="utf-8")
            process = os.fork()
            if not process:
                try:
                    self.run(fault, items, said)
                except BaseException:
                    traceback.print_exc(file=sys.__stderr__)
                finally:
                    os._exit(0)
            _, status, used = os.wait4(process, 0)
            put(self.out, fault, said.read_text(encoding="utf-8"), status, used)
        return True

    def run(self, fault: Fault, items: dict[str, Any], said: Path) -> None:
        """Run the tests of a fault until one fails."""
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        names, at_import = self.own.of(fault)
        others = self.others.of(fault)[0] if self.others else []
        gc.unfreeze()
        if not at_import:
            put_into_functions(fault)
        with said.open("a", encoding="utf-8", buffering=1) as file:
            print(f"tests {len(names)} {len(others)}", file=file)
            order = [("tests", name) for name in names] + [("others", name) for name in others]
            if at_import and not {name for _, name in order} <= set(items):
                print("failed tests in collection", file=file)
                return
            for k, (which, name) in enumerate(order):
                seconds = (self.own if which == "tests" else self.others).seconds[name]
                print(f"in {which} {name}", file=file)
                signal.setitimer(signal.ITIMER_PROF, MORE_SECONDS + TIMES_LONGER * seconds)
                signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
                item, after = items[name], items[order[k + 1][1]] if k + 1 < len(order) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self.failed:
                    print(f"failed {which} {name}", file=file)
                    return
            print("passed", file=file)


def put(out: Path, fault: Fault, said: str, status: int, used: Any) -> None:
    """Append what came of a fault, unless this script itself failed."""
    lines = said.splitlines()
    counts = lines[0].split()[1:]
    verdict, _, rest = lines[-1].partition(" ")
    if os.WIFSIGNALED(status):
        verdict = "time" if os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM) else "signal"
    elif verdict == "in":
        return
    which, _, test = rest.partition(" ")
    row = {
        **fault._asdict(), "n_tests": counts[0], "n_others": counts[1], "verdict": verdict,
        "by": which, "test": test, "seconds": round(used.ru_utime + used.ru_stime, 1),
    }  # fmt: skip
    with out.open("a", encoding="utf-8") as file:
        print(json.dumps(row), file=file, flush=True)


def try_all(faults: list[Fault], own: Counted, others: Counted | None, tests: list[str], out: Path):
    """Try faults that functions can be given in one process, and each other one in its own."""
    done = set()
    if out.exists():
        rows = map(json.loads, out.read_text(encoding="utf-8").splitlines())
        done = {(row["path"], row["which"]) for row in rows}
    left = [fault for fault in faults if (fault.path, fault.which) not in done]
    early = [fault for fault in left if own.of(fault)[1]]
    late = [fault for fault in left if fault not in early]
    for group in [late, *([fault] for fault in early)]:
        if group:
            forked(partial(try_some, group, group is late, tests, Trial(group, own, others, out)))


def try_some(faults: list[Fault], imported: bool, tests: list[str], trial: Trial) -> None:
    """Collect the tests, in a package with the fault if it must be there at its import."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not imported:
        put_into_import(faults[0])
    pytest.main([*QUIET, *tests], [trial])


# ------------------------------------------------------------------ what came of it


def write(faults: list[Fault], out: Path) -> None:
    """Write the table of the faults that were tried, and the page."""
    said = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    verdicts = {(row["path"], row["which"]): row for row in said}
    rows = []
    for fault in faults:
        if one := verdicts.get((fault.path, fault.which)):
            verdict = one["by"] if one["by"] == "others" else one["verdict"]
            rows.append(Mutant(fault.path, fault.line, fault.what, int(one["n_tests"]), verdict))
    put_mutants(rows)


def forked(work: Callable[[], Any]) -> None:
    """Do some work in a process of its own, which imports what this one does not."""
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(process, 0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability.mutants")
    parser.add_argument("packages", nargs="+", help="folders in skboot/ and in tests/")
    parser.add_argument("--n", type=int, default=300, help="number of faults")
    parser.add_argument("--most", type=int, default=600, help="most cases for one fault")
    parser.add_argument("--others", help="tests to run on faults that pass")
    parser.add_argument("--folder", type=Path, default=ROOT / ".benchmarks" / "mutants")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    folders = [ROOT / "skboot" / name for name in asked.packages]
    tests = {"tests": [str(ROOT / "tests" / name) for name in asked.packages]}
    if asked.others:
        tests["others"] = [asked.others]
    counted = {}
    for name, own in tests.items():
        path = asked.folder / f"{name}.json"
        if not path.exists():
            forked(partial(count_readers, own, folders, path))
        counted[name] = Counted(path, asked.most)
    faults = drawn(folders, asked.n)
    out = asked.folder / "faults.jsonl"
    every = [path for own in tests.values() for path in own]
    try_all(faults, counted["tests"], counted.get("others"), every, out)
    write(faults, out)


if __name__ == "__main__":
    main()
