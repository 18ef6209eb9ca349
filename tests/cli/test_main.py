"""Exit codes, and errors of one line; the command as a process of its own."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from command_line import exit_code_of

import skboot as package
from skboot.cli import verbs

ROWS = ("--y-true", "digit", "--y-pred", "bayes")
PAIR = ("--y-true", "digit", "--candidate", "bayes", "--reference", "tree")
# Calls that cannot be carried out, with the file in the place of FILE, and a part of what is said.
BAD_CALLS = {
    "no verb": ((), "skboot: the following arguments are required: VERB (see skboot --help)"),
    "a verb that is none": (("scores", "FILE"), "invalid choice: 'scores'"),
    "no file": (("score", *ROWS), "FILE is missing: it comes first, as in skboot score FILE ..."),
    "a file behind columns": (("score", *ROWS, "FILE"), "FILE is missing: it comes first"),
    "no such file": (("score", "nowhere.csv", *ROWS), "cannot read 'nowhere.csv': No such file"),
    "no such column": (
        ("score", "FILE", "--y-true", "digits", "--y-pred", "bayes"),
        "has no column 'digits'. Columns: digit, logistic, bayes, tree, ",
    ),
    "no truth": (("score", "FILE", "--y-pred", "bayes"), "--y-true is missing"),
    "no predictions": (("score", "FILE", "--y-true", "digit"), "--y-pred --systems is required"),
    "text in one": (
        ("score", "FILE", "--y-true", "digit", "--y-pred", "half"),
        "column 'half', row 1: ",
    ),
    "no label in common": (
        ("score", "FILE", "--y-true", "is_eight", "--y-pred", "half"),
        "column 'half' shares no label with column 'is_eight': row 1 has",
    ),
    "no such metric": (
        ("score", "FILE", *ROWS, "--metric", "acuracy"),
        "--metric must be a known name. Got 'acuracy'. Did you mean 'accuracy'?",
    ),
    "a metric that only Python has": (
        ("score", "FILE", *ROWS, "--metric", "gini"),
        "--metric 'gini' needs Python. No metric has this name: give metric=lambda",
    ),
    "a mean over rows": (
        ("score", "FILE", *ROWS, "--metric", "wer"),
        "give --metric mean --y-pred COLUMN of these",
    ),
    "scores for labels": (
        ("score", "FILE", "--y-true", "digit", "--y-pred", "p_bayes"),
        "--y-pred must hold class labels for the metric 'accuracy'",
    ),
    "a level in percent": (
        ("score", "FILE", *ROWS, "--confidence-level", "95"),
        "--confidence-level must be a float in (0, 1). Got 95.0.",
    ),
    "no number": (("score", "FILE", *ROWS, "--seed", "x"), "--seed: invalid int value: 'x'"),
    "a seed below 0": (("score", "FILE", *ROWS, "--seed", "-1"), "--seed must "),
    "one resample": (("score", "FILE", *ROWS, "--n-resamples", "1"), "--n-resamples must be"),
    "an interval of another case": (
        ("score", "FILE", *ROWS, "--interval", "delong"),
        "--interval must",
    ),
    "a block length": (("score", "FILE", *ROWS, "--block-length", "x"), "block length value: 'x'"),
    "one system": (
        ("compare", "FILE", "--y-true", "digit", "--systems", "tree"),
        "--systems needs two columns or more; for one use skboot score",
    ),
    "a system twice": (
        ("rank", "FILE", "--y-true", "digit", "--systems", "tree", "tree"),
        "'tree' is named twice",
    ),
    "a reference that is none": (
        ("compare", "FILE", "--y-true", "digit", "--systems", "tree", "bayes", "--reference", "x"),
        "--reference 'x' is none of the systems: tree, bayes",
    ),
    "scores of a system": (
        ("compare", "FILE", "--y-true", "digit", "--systems", "tree", "p_bayes"),
        "--systems 'p_bayes' must hold class labels",
    ),
    "no margin": (("gate", "FILE", *PAIR), "are required: --margin"),
    "a negative margin": (("gate", "FILE", *PAIR, "--margin", "-0.1"), "--margin must be"),
    "a margin in percent": (
        ("gate", "FILE", *PAIR, "--margin", "1"),
        "--margin must be below 1, the range of accuracy (0 to 1). Got 1. No two systems can be "
        "further apart. It is in units of the metric: a hundredth of its range is --margin 0.01.",
    ),
    "one candidate": (
        ("gate", "FILE", *PAIR[:4], "--reference", "bayes", "--margin", "0"),
        "--candidate and --reference are the same column",
    ),
    "an unknown direction": (
        ("gate", "FILE", *PAIR[2:], "--margin", "0", "--metric", "mean"),
        "say --greater-is-better or --smaller-is-better",
    ),
    "another direction": (
        ("score", "FILE", *ROWS, "--smaller-is-better"),
        "--greater-is-better must",
    ),
    "a curve of ten labels": (("curve", "FILE", *ROWS), "--y-true must hold two classes"),
    "no curve": (("curve", "FILE", *ROWS, "--curve", "rox"), "invalid choice: 'rox'"),
    "no target": (("plan", "FILE", *ROWS), "must be the one target"),
    "no pilot": (("plan", "--half-width", "0.1"), "FILE is missing, or --proportion in its place"),
    "two pilots": (
        ("plan", "FILE", *ROWS, "--proportion", "0.9", "--half-width", "0.1"),
        "--proportion replaces FILE",
    ),
    "half a pair": (
        ("plan", "FILE", "--y-true", "digit", "--candidate", "bayes", "--margin", "0.1"),
        "a pair needs --candidate and --reference",
    ),
    "no such folder": (
        ("score", "FILE", *ROWS, "--report", "nowhere/x.html"),
        "--report 'nowhere/x.html': there is no folder 'nowhere'",
    ),
    "two forms": (("score", "FILE", *ROWS, "--json", "--latex"), "not allowed with argument"),
    "a report in the place of the file": (
        ("score", "FILE", *ROWS, "--report", "FILE"),
        "would take the place of the file that is read",
    ),
    "two things in one file": (
        ("score", "FILE", *ROWS, "--plot", "x.png", "--report", "./x.png"),
        "--plot and --report are the same file, 'x.png'",
    ),
    "a metric twice": (
        ("score", "FILE", *ROWS, "--metric", "f1_macro", "accuracy", "f1_macro"),
        "--metric 'f1_macro' is named twice",
    ),
    "a truth of a mean": (("score", "FILE", *ROWS, "--metric", "mean"), "leave --y-true out"),
    "one population of one column": (
        ("score", "FILE", *ROWS, "--groups", "batch", "--same-population"),
        "--same-population needs two columns: --groups COLUMN COLUMN",
    ),
    "labels that are none": (
        ("score", "FILE", *ROWS, "--labels", "0", "1"),
        "is none of the --labels",
    ),
    "labels instead of scores": (
        (
            "curve",
            "FILE",
            *("--y-true", "is_eight", "--pos-label", "yes", "--systems", "right", "p_bayes"),
        ),
        "--systems 'right' must hold scores or probabilities",
    ),
    "a difference without a pair": (
        ("plan", "FILE", *ROWS, "--difference", "0.01"),
        "--difference needs a pair: --candidate and --reference",
    ),
    "columns of no file": (
        ("plan", "--proportion", "0.9", "--half-width", "0.1", "--groups", "batch"),
        "--groups belongs to a FILE, and there is none",
    ),
    "two systems as classes": (
        ("score", "FILE", "--y-true", "right", "--y-pred", "p_logistic", "p_bayes"),
        "For the predictions of several systems give --systems p_logistic p_bayes.",
    ),
    "two systems as classes of a pilot": (
        (
            *("plan", "FILE", "--y-true", "right", "--y-pred", "p_logistic", "p_bayes"),
            *("--half-width", "0.01"),
        ),
        "give --candidate p_logistic --reference p_bayes.",
    ),
    "labels of three systems": (
        ("score", "FILE", "--y-true", "digit", "--y-pred", "logistic", "bayes", "tree"),
        "in each row. For the predictions of several systems give --systems logistic bayes tree.",
    ),
    "predictions twice": (
        ("score", "FILE", *ROWS, "--y-pred", "tree"),
        "--y-pred is given twice. For several systems give --systems COLUMN COLUMN",
    ),
    "a share of errors": (
        ("gate", "FILE", *PAIR, "--margin", "0.02", "--alpha", "0.05"),
        "unknown option --alpha. Did you mean --confidence-level 0.95, which is 1 - alpha?",
    ),
    "a report of no page": (
        ("score", "FILE", *ROWS, "--report", "x.pdf"),
        "--report 'x.pdf': its name must end in .html or .md. For JSON use --json",
    ),
    "an option of another verb": (
        ("compare", "FILE", "--y-true", "digit", "--systems", "tree", "bayes", "--margin", "0"),
        "unknown option --margin. It is an option of skboot gate and skboot plan",
    ),
    "a second file": (
        ("gate", "FILE", "other.csv", *PAIR, "--margin", "0"),
        "'other.csv' belongs to no option, and one FILE is read. Join several first",
    ),
    "scores of a candidate": (
        ("gate", "FILE", *PAIR[:2], "--candidate", "p_bayes", *PAIR[4:], "--margin", "0"),
        "--candidate 'p_bayes' must hold class labels",
    ),
    "scores of one of several": (
        ("score", "FILE", "--y-true", "digit", "--systems", "tree", "p_bayes"),
        "--systems 'p_bayes' must hold class labels",
    ),
    "a pilot of crossed factors": (
        ("plan", "FILE", *ROWS, "--groups", "first", "second", "--half-width", "0.1"),
        "the pilot must have rows or groups as units",
    ),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_one_line_and_exit_code_2(name, skboot, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, said = BAD_CALLS[name]
    code, out, err = skboot(*(file if word == "FILE" else word for word in words))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("skboot")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_an_unknown_kind_is_refused_before_any_work(skboot, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = skboot("score", "nowhere.csv", *ROWS, "--plot", tmp_path / "x.xyz")
    assert code == 2
    assert "the end of the name tells the kind; known: " in err


def test_a_warning_is_one_line_beside_the_numbers(skboot, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text(
        "y,p,g\n" + "".join(f"{k % 2},{(k % 5 > 0) * (k % 2)},{k // 8}\n" for k in range(40))
    )
    words = ("--y-true", "y", "--y-pred", "p", "--groups", "g")
    code, out, err = skboot("score", path, *words, "--json")
    assert code == 0
    assert json.loads(out)["n_units"] == 5
    lines = err.splitlines()
    assert lines
    assert all(line.startswith("skboot: warning: ") for line in lines)


def test_advice_names_options_as_they_are_typed(skboot, file):
    for words, said in (
        (("--confidence-level", "95"), "Use --confidence-level 0.95 for a 95% interval."),
        (("--block-length", "0"), "Use --block-length 'auto' to have"),
    ):
        code, _, err = skboot("score", file, *ROWS, *words)
        assert code == 2
        assert said in err


def options_of(verb, skboot):
    """Each option in the help of a verb, and whether it takes a value."""
    said = skboot(verb, "--help")[1]
    lines = (line.split() for line in said.splitlines() if line.startswith("  --"))
    return {words[0].rstrip(","): len(words) > 1 and words[1].isupper() for words in lines}


VERBS = ("score", "compare", "gate", "rank", "curve", "plan", "check")


@pytest.mark.parametrize("verb", VERBS)
def test_an_option_that_is_advised_is_one_of_the_verb(verb, skboot):
    known = options_of(verb, skboot)
    others = ("alpha", "baseline", "format", "html", "label", "md", "new", "old", "output", "seeds")
    for name in ("y-pred", "systems", "candidate", "margin", *others):
        if f"--{name}" in known:
            continue
        said = skboot(verb, "x.csv", f"--{name}", "0.1")[2]
        assert f"unknown option --{name}" in said
        said = said.partition(" (see ")[0]
        _, meant, advised = said.partition("Did you mean ")
        assert not meant or {word for word in advised.split() if word[:2] == "--"} <= {
            *known,
            *(f"{one}?" for one in known),
        }
        _, meant, verbs = said.partition("It is an option of ")
        for other in verbs.replace("skboot ", "").split(" and ") if meant else ():
            assert f"--{name}" in options_of(other, skboot)


@pytest.mark.parametrize("verb", VERBS)
def test_the_last_of_two_values_never_wins(verb, skboot):
    for option, has_value in options_of(verb, skboot).items():
        words = (option, "1") if has_value else (option,)
        code, _, said = skboot(verb, "x.csv", *words, *words)
        assert code == 2
        assert f"{option} is given twice." in said


def test_advice_on_a_level_carries_the_level(skboot, file):
    words = ("gate", file, *PAIR, "--margin", "0.02", "--n-resamples", "199")
    for given in (("--alpha", "0.1"), ("--alpha=0.1",), ("--level", "90"), ("--conf", "0.9")):
        said = skboot(*words, *given)[2]
        assert "Did you mean --confidence-level 0.9" in said
    assert " 90% CI " in skboot(*words, "--confidence-level", "0.9")[1]
    code, _, err = skboot(*words, "--confidence-level", "0.05")
    assert code in (0, 1, 3)
    assert "give --confidence-level 0.95." in err


def test_the_scored_column_is_printed(skboot, file):
    assert "\n  scored  bayes\n" in skboot("score", file, *ROWS)[1]


def test_a_warning_does_not_name_the_function_that_warns(skboot, file):
    words = ("--average-over", "half", "--n-resamples", "199")
    code, _, err = skboot("score", file, *ROWS, *words)
    assert code == 0
    assert err.startswith("skboot: warning: Only 2 tasks (fewer than 10) are averaged")


def test_help_and_version_are_said_and_done(skboot):
    for words, said in (
        (("--help",), "exit codes: 0 done"),
        (("gate", "--help"), "--inconclusive"),
    ):
        code, out, _ = skboot(*words)
        assert code == 0
        assert said in out
    code, out, _ = skboot("--version")
    assert (code, out) == (0, f"skboot {package.__version__}\n")


def process(*words, **options):
    command = [sys.executable, "-m", "skboot", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_module_is_the_command(file):
    words = ("--y-true", "digit", "--candidate", "tree", "--reference", "logistic")
    done = process("gate", file, *words, "--margin", "0.01", "--json", "--n-resamples", "199")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"]["outcome"] == "fail"
    # Nobody looks at a terminal: there is no progress.
    assert done.stderr == ""


def test_a_bad_call_of_the_module_has_no_traceback():
    done = process("score", "nowhere.csv", *ROWS)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "skboot score: cannot read 'nowhere.csv': No such file or directory"
    ]


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise there")
def test_a_reader_who_has_read_enough_is_no_error(file):
    words = ("score", file, *ROWS, "--json", "--n-resamples", "199")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "skboot", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="streams are closed otherwise there")
@pytest.mark.parametrize(
    ("streams", "code"), [(">&-", 1), ("2>&-", 1), (">/dev/full", 2), ("| true", 1)]
)
def test_a_gate_says_what_it_judged_whoever_reads(streams, code, file):
    words = " ".join(("--y-true", "digit", "--candidate", "tree", "--reference", "logistic"))
    if streams == ">/dev/full" and not os.path.exists("/dev/full"):
        pytest.skip("there is no full device")
    call = f"'{sys.executable}' -m skboot gate '{file}' {words} --margin 0.01 --n-resamples 199"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {call} {streams}"],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    "error", [KeyError("x"), AttributeError(), MemoryError(), RecursionError()]
)
def test_whatever_is_uncaught_is_exit_code_2(error, monkeypatch, capsys):
    def fails(asked):
        raise error

    monkeypatch.setitem(verbs.VERBS, "score", fails)
    assert exit_code_of(["score", "x.csv", *ROWS]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("skboot score: ")


def test_an_interrupt_is_exit_code_130(monkeypatch):
    def interrupted(asked):
        raise KeyboardInterrupt

    monkeypatch.setitem(verbs.VERBS, "score", interrupted)
    assert exit_code_of(["score", "x.csv", *ROWS]) == 130


def test_names_that_a_terminal_cannot_show_are_spelled_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,é\n" + "0,0\n1,1\n1,0\n" * 20, encoding="utf-8")
    words = ("score", str(path), "--y-true", "y", "--systems", "é", "--n-resamples", "99")
    done = process(*words, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xe9" in done.stdout


def test_a_candidate_that_equals_the_truth_is_called_so(skboot, file):
    words = ("--y-true", "digit", "--candidate", "digit", "--reference", "tree", "--margin", "0.1")
    code, _, err = skboot("gate", file, *words)
    assert code == 0
    assert "warning: digit equals the truth on every row" in err


@pytest.mark.slow
def test_a_million_rows_take_seconds(tmp_path):
    rng = np.random.default_rng(0)
    n = 1_000_000
    truth = rng.integers(0, 10, n)
    systems = [
        np.where(rng.random(n) < share, rng.integers(0, 10, n), truth) for share in (0.1, 0.11)
    ]
    path = tmp_path / "large.csv"
    columns = [column.tolist() for column in (truth, *systems, np.arange(n) // 50)]
    lines = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    path.write_text("y,a,b,g\n" + "\n".join(lines) + "\n")
    for words in (
        ("score", "--y-pred", "a"),
        ("score", "--y-pred", "a", "--groups", "g"),
        ("compare", "--systems", "a", "b"),
    ):
        verb, *more = words
        start = time.perf_counter()
        done = process(verb, str(path), "--y-true", "y", *more, "--json")
        seconds = time.perf_counter() - start
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["n_samples"] == n
        # The processor time is 4 s; the limit leaves room for other work on the machine.
        assert seconds < 30, f"{words} took {seconds:.1f} s"
