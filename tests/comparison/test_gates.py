"""Identities of gates, names, blocks of one row and the command line.

Each test says what it holds: exact, or the standard error within five Monte Carlo errors.
"""

import contextlib
import csv
import io
import itertools
import json
import warnings

import numpy as np
import pytest
from command_line import exit_code_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import zero_one_loss

from skboot import (
    bootstrap_curve,
    bootstrap_score,
    compare_systems,
)
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.identity

FEW = settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SEEDS = st.integers(0, 2**32 - 1)
HOSTILE = [
    "{v2}", "{0}", "{", "}}", "%s", "%(x)d", "a\nb", "\x1b[31mred\x1b[0m", "\x9b2J", "$x_1$",
    "\\alpha",     "<b>&amp;</b>", "|a|b|", "_x", "n" * 300, "é", "\u202egnp", "'; --", '"', " ",
]  # fmt: skip
B = 99


def decisions(seed):
    """A truth, and decisions of two systems, on 60 to 300 rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 300))
    y = rng.integers(0, 2, n)
    y[:4] = 0, 1, 0, 1
    return rng, y, [y ^ (rng.random(n) < rate) for rate in rng.uniform(0.02, 0.4, 2)]


def quietly(call, *given_, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given_, **options)


# ------------------------------------------------------------------ the command line is the call


def write(path, columns):
    names, values = list(columns), [np.asarray(each).tolist() for each in columns.values()]
    rows = list(zip(*values, strict=True))
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *rows])
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    elif path.suffix == ".npz":
        np.savez(path, **columns)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    return str(path)


def told(*words):
    """The exit code, and the record that the command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = exit_code_of([*map(str, words), "--json", "--n-resamples", str(B)])
    return code, json.loads(out.getvalue())


def as_told(record):
    return json.loads(json.dumps({"schema": 1, **record}))


def table(seed, folder, kind):
    """Rows in a file, and a call of the command line and of the functions on its decisions."""
    rng, y, (a, b) = decisions(seed)
    score = np.round(rng.normal(size=len(y)) + y, 3)
    who = rng.integers(0, 25, len(y))
    weight = np.round(rng.uniform(0.5, 2, len(y)), 2)
    columns = {"y": y, "a": a, "b": b, "p": score, "who": who, "w": weight}
    file = write(folder / f"rows{kind}", columns)
    metric = ["accuracy", "f1", "balanced_accuracy"][seed % 3]
    shared = {"metric": metric, "n_resamples": B, "random_state": 0}
    words, extra = [("--groups", "who"), ("--weights", "w"), ()][seed % 7 % 3], {}
    extra = {"--groups": {"groups": who}, "--weights": {"sample_weight": weight}}
    options = shared | (extra[words[0]] if words else {})
    return file, columns, ("--y-true", "y", "--metric", metric, *words), options


@pytest.mark.parametrize("kind", [".parquet", ".jsonl", ".npz"])
@FEW
@given(seed=SEEDS)
def test_a_file_of_any_kind_is_the_call_on_its_columns(kind, seed, tmp_path):
    """Exact: numbers, notes and words."""
    file, rows, how, options = table(seed, tmp_path, kind)
    result = quietly(bootstrap_score, rows["y"], rows["a"], **options)
    assert told("score", file, "--y-pred", "a", *how) == (0, as_told(result.to_dict()))


@FEW
@given(seed=SEEDS)
def test_the_command_line_is_the_call(seed, tmp_path):
    """Exact: the same numbers, notes and words as by the functions with seed 0."""
    file, rows, how, options = table(seed, tmp_path, ".csv")
    y, a, b, score = (rows[name] for name in ("y", "a", "b", "p"))
    result = quietly(bootstrap_score, y, a, **options)
    assert told("score", file, "--y-pred", "a", *how) == (0, as_told(result.to_dict()))
    pair = quietly(compare_systems, y, {"a": a, "b": b}, **options)
    code, record = told("compare", file, "--systems", "a", "b", *how)
    assert (code, record) == (0, as_told(pair.to_dict()))
    code, record = told("rank", file, "--systems", "a", "b", *how)
    assert (code, record["ranks"]) == (0, json.loads(json.dumps(pair.ranks().to_dict())))
    judged = pair.pairs[0].verdict(0.05)
    if not judged.failed:
        by_assertion = quietly(
            assert_not_worse, y, a, b, margin=0.05, inconclusive="pass", **options
        )
        assert by_assertion.interval == judged.interval
    code, record = told(
        "gate", file, "--candidate", "a", "--reference", "b", "--margin", ".05", *how
    )
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3}[judged.outcome]
    assert record["verdict"]["smallest_margin"] == judged.smallest_margin
    assert record["verdict"]["interval"] == json.loads(json.dumps(judged.interval.to_dict()))

    band = quietly(bootstrap_curve, y, score, n_resamples=B, random_state=0)
    code, record = told("curve", file, "--y-true", "y", "--y-pred", "p")
    assert (code, record) == (0, as_told(band.to_dict()))


DESIGNS_IN_WORDS = {
    "weights of groups": ("--groups", "who", "--weights", "w"),
    "weights of strata": ("--strata", "s", "--weights", "w"),
    "groups in subgroups": ("--groups", "who", "--by", "s"),
    "crossed": ("--groups", "who", "item"),
}
ARGUMENTS = {"--groups": "groups", "--weights": "sample_weight", "--strata": "strata", "--by": "by"}


def columns_in_words(rows, words):
    """The columns of a call that is told in words; that of groups has its name."""
    pd = pytest.importorskip("pandas")
    found = {}
    for place, word in enumerate(words):
        if word in ARGUMENTS:
            rest = itertools.takewhile(lambda one: one not in ARGUMENTS, words[place + 1 :])
            columns = [pd.Series(rows[name], name=name) for name in rest]
            found[ARGUMENTS[word]] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    return found


@pytest.mark.parametrize("words", DESIGNS_IN_WORDS.values(), ids=DESIGNS_IN_WORDS)
def test_designs_in_words_are_those_of_the_call(words, tmp_path):
    """Exact: scores, comparisons and curves."""
    rng, y, (a, b) = decisions(3)
    who = rng.integers(0, 25, len(y))
    rows = {"y": y, "a": a, "b": b, "p": np.round(rng.normal(size=len(y)) + y, 3), "who": who}
    rows |= {"item": rng.integers(0, 20, len(y)), "s": who % 2}
    rows["w"] = np.round(rng.uniform(0.5, 2, len(y)), 2)
    file = write(tmp_path / "rows.csv", rows)
    options = columns_in_words(rows, words) | {"n_resamples": B, "random_state": 0}
    words = ("--y-true", "y", *words)
    result = quietly(bootstrap_score, y, a, **options)
    code, record = told("score", file, "--y-pred", "a", *words)
    assert (code, record) == (0, as_told(result.to_dict()))
    pairs = quietly(compare_systems, y, {"a": a, "b": b}, **options)
    code, record = told("compare", file, "--systems", "a", "b", *words)
    assert (code, record) == (0, as_told(pairs.to_dict()))
    if "--by" not in words:
        band = quietly(bootstrap_curve, y, rows["p"], **options)
        code, record = told("curve", file, "--y-pred", "p", *words)
        assert (code, record) == (0, as_told(band.to_dict()))


# ------------------------------------------------------------------ names


def texts_of(result, one, other):
    """All that a comparison says, and the verdicts on its pair."""
    [pair] = result.pairs
    found = [result.summary(), result.claim(), result._repr_html_(), str(result), repr(result)]
    found += [result.to_markdown(), result.to_latex(), result._heading()]
    found += [str(pair), repr(pair), *(str(pair.verdict(margin)) for margin in (0, 0.05))]
    ranks = result.ranks()
    found += [str(ranks), ranks.to_markdown(), ranks.to_latex(), ", ".join(result.top())]
    found += [result.systems[name].summary() for name in (one, other)]
    return found


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_renaming_a_system_changes_nothing_but_the_name(name):
    """Exact: all numbers; and every text can be made."""
    _, y, (a, b) = decisions(1)
    options = {"n_resamples": B, "random_state": 0}
    plain = compare_systems(y, {"A": a, "B": b}, **options)
    named = compare_systems(y, {name: a, "B": b}, **options)
    assert [pair.to_dict() | {"first": ""} for pair in named.pairs] == [
        pair.to_dict() | {"first": ""} for pair in plain.pairs
    ]
    for margin in (0, 0.01, 0.3):
        one, other = (each.pairs[0].verdict(margin) for each in (named, plain))
        assert (one.outcome, one.interval) == (other.outcome, other.interval)
        shown = " ".join(
            "".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in name).split()
        )
        assert one.statement == other.statement.replace("A is", f"{shown} is", 1).replace(
            "of A and", f"of {shown} and", 1
        )
        assert one.statement.isprintable()
    assert all(isinstance(text, str) for text in texts_of(named, name, "B"))
    escapes = {"\x1b", "\x9b", "\u202e"}
    for text in (named.to_markdown(), named.to_latex(), named.summary().partition("\n")[2]):
        assert not escapes & set(text)


def few(names):
    """One in eight; the rest in `make slow`."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=slow) if k % 8 else name for k, name in enumerate(names)]


@pytest.mark.parametrize("name", few(HOSTILE), ids=ascii)
def test_a_picture_of_a_system_of_any_name_is_drawn(name, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, y, (a, b) = decisions(1)
    result = compare_systems(y, {name: a, "B": b}, n_resamples=B, random_state=0)
    with warnings.catch_warnings():
        # A font may lack a character.
        warnings.filterwarnings("ignore", message="Glyph")
        result.plot().figure_.savefig(tmp_path / "x.png")
    pyplot.close("all")


FORMS = ((), ("--markdown",), ("--latex",))


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.strip()], ids=ascii)
def test_a_name_of_a_file_reaches_no_terminal_as_an_escape_sequence(name, tmp_path, capsys):
    form = FORMS[len(name) % 3]
    _, y, (a, b) = decisions(1)
    file = write(tmp_path / "rows.csv", {"y": y, name: a, "B": b})
    words = ("--y-true", "y", f"--candidate={name}", "--reference", "B", "--margin", "0.3")
    assert exit_code_of(["gate", file, *words, *form, "--n-resamples", str(B)]) == 0
    assert exit_code_of(["gate", file, *words[:2], "--candidate", "none", *words[3:]]) == 2
    out, err = capsys.readouterr()
    for text in (out, err):
        assert all(c.isprintable() or c in "\n\t" for c in text)


# ------------------------------------------------------------------ verdicts


@FEW
@given(seed=SEEDS)
def test_a_verdict_agrees_with_its_interval(seed):
    """Exact: it passes above the smallest margin, and fails where the whole interval is below."""
    rng, y, (a, b) = decisions(seed)
    for metric in ("accuracy", "f1", zero_one_loss):
        result = quietly(compare_systems, y, {"a": a, "b": b}, metric=metric, n_resamples=B,
                         random_state=0)  # fmt: skip
        [pair] = result.pairs
        low, high = pair.verdict(0).interval
        for margin in (0, *rng.uniform(0, 0.5, 4)):
            verdict = pair.verdict(margin)
            assert (
                verdict.passed == (low > -margin) == (margin > verdict.smallest_margin or low > 0)
            )
            assert verdict.failed == (high < -margin)
            assert not (verdict.passed and pair._mirrored().verdict(0).passed and margin == 0)
        for margin in (1, 1.5, 100):
            with pytest.raises(ValueError, match="be below 1, the range of"):
                pair.verdict(margin)


# ------------------------------------------------------------------ blocks of one row


@FEW
@given(seed=SEEDS)
def test_blocks_of_one_row_are_rows(seed):
    """Exact: replicates and intervals, also by "auto", in groups of strata as well."""
    rng, y, (a, _) = decisions(seed)
    values, strata = rng.exponential(size=len(y)), np.arange(len(y)) % 2
    calls = [
        ((None, values), "mean"),
        ((y, a), "accuracy"),
        ((y, a), "f1"),
        ((y, values), "roc_auc"),
    ]
    for given_, metric in calls:
        for how in ({}, {"strata": strata}, {"sample_weight": values}):
            options = {"metric": metric, "n_resamples": B, "random_state": 0, **how}
            rows = quietly(bootstrap_score, *given_, **options)
            blocks = quietly(bootstrap_score, *given_, block_length=1, **options)
            assert blocks.estimate == rows.estimate
            assert tuple(blocks.confidence_interval) == tuple(rows.confidence_interval)
            np.testing.assert_array_equal(
                blocks.bootstrap_distribution, rows.bootstrap_distribution
            )
