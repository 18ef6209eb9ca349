"""Files that an earlier skboot wrote, and what it said of them: ``python tests/kept/keep.py``.

One file for each basis of a result, table, curve, comparison, plan and check, the state of an
accumulator, and the folder of a fit's ``memory=``. A later version must read each to the end and
say the same (`test_kept.py`); run this again only where files of before need not be read any more.
Where the files stay and what is said of them was meant to change, ``keep.py said`` writes that
anew; read its change before you commit it.
"""

import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from sklearn.naive_bayes import GaussianNB

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from golden import calls  # noqa: E402
from golden.calls import (  # noqa: E402
    CALLS,
    DECISION,
    LABEL,
    LABEL_TEST,
    LOSS,
    RUNS,
    SCORE,
    SCORES,
    SUBGROUP,
    SYSTEMS,
    TASK,
    X_TEST,
    X,
)
from golden.record import versions  # noqa: E402

import skboot  # noqa: E402

SAID = HERE / "said.json"
FEW = {"n_resamples": 99, "random_state": 0}
FITS = {"n_train_resamples": 12, "n_cv_repeats": 1, "random_state": 0}
METHODS = [
    *("wald", "wilson", "clopper-pearson", "percentile", "expanded", "two-way", "basic", "normal"),
    *("t", "studentized", "bca", "delong", "bins", "bias-corrected", "components", "cv-bootstrap"),
    *("cv-bootstrap-conservative", "adjusted", "hull", "welch", "tango", "simultaneous"),
]
score = partial(skboot.bootstrap_score, LABEL, **FEW)
runs = partial(skboot.bootstrap_runs, LABEL, RUNS, metric="accuracy", **FEW)
systems = partial(skboot.compare_systems, LABEL, SYSTEMS, **FEW)


def fitted(**test):
    return skboot.BootstrapScorer(GaussianNB(), **FITS).fit(X, LABEL, **test).result_


def fitted_by(strategy):
    return skboot.BootstrapScorer(GaussianNB(), strategy=strategy, **FITS).fit(X, LABEL).result_


RESULTS = {
    "system": lambda: score(DECISION),
    "system, F1": lambda: score(DECISION, metric="f1"),
    "system, groups": lambda: score(SCORE, metric="roc_auc", groups=calls.GROUP),
    "system, losses": lambda: skboot.bootstrap_score(None, LOSS, metric="mean", **FEW),
    "system, crossed": lambda: score(SCORE, metric="roc_auc", groups=calls.TRIALS),
    "system, tasks": lambda: score(DECISION, average_over=TASK, groups=TASK),
    "table of metrics": lambda: score(DECISION, metric=["accuracy", "f1"]),
    "table at once": lambda: score(DECISION, metric=["accuracy", "f1"], adjust="max-t"),
    "table of subgroups": lambda: score(DECISION, by=SUBGROUP),
    "stream": CALLS["stream, rows"],
    "runs": runs,
    "runs, next run": lambda: runs(estimand="next_run"),
    "runs, pooled": lambda: runs(estimand="pooled"),
    "runs, system": lambda: runs(estimand="system"),
    "method": fitted,
    "method, oob": lambda: fitted_by("oob"),
    "method, .632+": lambda: fitted_by(".632+"),
    "method, test set": lambda: fitted(X_test=X_TEST, y_test=LABEL_TEST),
    "search": CALLS["search, accuracy"],
    "curve": lambda: skboot.bootstrap_curve(LABEL, SCORE, **FEW),
    "curve, calibration": CALLS["curve, calibration"],
    "table of curves": lambda: skboot.bootstrap_curve(LABEL, SCORES, **FEW),
    "comparison": systems,
    "comparison, subgroups": lambda: systems(by=SUBGROUP),
    "comparison, metrics": lambda: systems(metric=["accuracy", "f1"]),
    "comparison, groups, holm": lambda: systems(groups=calls.GROUP, adjust="holm"),
    "comparison of runs": CALLS["compare runs, seeds"],
    "comparison of methods": CALLS["methods, out of bag"],
    "comparison on a test set": CALLS["methods, test set"],
    "data sets": CALLS["across, scores"],
    "data sets, these": CALLS["across, these"],
    "plan": lambda: skboot.plan_evaluation(score(DECISION), half_width=0.05),
    "plan of a pair": lambda: skboot.plan_evaluation(systems().pairs[0], difference=0.2),
    "plan of runs": lambda: skboot.plan_evaluation(runs(), half_width=0.08),
    "check of a table": lambda: skboot.check_table(
        {"system": ["a", "b", "c"], "score": ["93.4", "91.0", "85.37"]}, n=500
    ),
}
KINDS = (
    skboot.results.EvaluationResult,
    skboot.results.ResultTable,
    skboot.results.CurveResult,
    skboot.results.DatasetsComparison,
    skboot.results.ComparisonResult,
    skboot.results.EvaluationPlan,
    skboot.results.TableCheck,
)


def file_of(name):
    return HERE / f"{name.replace(', ', '_').replace(' ', '_')}.npz"


def said_of(result):
    """What a result answers to whoever holds it: texts, numbers and intervals by name."""
    said = {"summary": result.summary(), "numbers": json.loads(json.dumps(result.to_dict()))}
    if hasattr(result, "claim"):
        said["claim"] = result.claim()
    for part, one in parts_of(result):
        said[f"intervals of {part}"] = {name: interval(one, name) for name in METHODS}
    return said


def parts_of(result, name="it"):
    """Each result of one score in it, by name."""
    if isinstance(result, Mapping):
        for key, value in result.items():
            yield from parts_of(value, str(key))
    elif isinstance(result, skboot.results.ComparisonResult):
        for key, value in result.systems.items():
            yield from parts_of(value, str(key))
    elif isinstance(result, skboot.results.EvaluationResult):
        yield name, result


def interval(result, method):
    """Limits of an interval by name at another level, or why there are none."""
    try:
        return [float(limit) for limit in result.interval(method, confidence_level=0.9)]
    except ValueError as error:
        return str(error)


def accumulator():
    """The state of a stream of scores in two batches."""
    found = skboot.BootstrapAccumulator(["roc_auc", "average_precision"], n_bins=64, **FEW)
    for rows in (slice(0, 40), slice(40, 60)):
        found.update(LABEL[rows], SCORE[rows], start=rows.start)
    return found


def remembered(folder):
    """A fit that finds its runs in a folder."""
    known = {**FITS, "n_train_resamples": 4, "memory": folder}
    return skboot.BootstrapScorer(GaussianNB(), **known).fit(X, LABEL)


def say_again():
    """Write anew what is said of the files as they are."""
    said = json.loads(SAID.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in RESULTS:
            kind = said[name]["kind"]
            loaded = getattr(skboot.results, kind).load(file_of(name))
            said[name] = {"kind": kind, **said_of(loaded)}
        state = skboot.BootstrapAccumulator.from_bytes((HERE / "accumulator.bin").read_bytes())
        said["accumulator"] = said_of(state.result())
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(HERE / "memory", folder, dirs_exist_ok=True)
            said["memory"] = remembered(Path(folder)).result_.summary()
    SAID.write_text(json.dumps(said, indent=1) + "\n")


def main():
    for file in [*HERE.glob("*.npz"), *HERE.glob("*.bin")]:
        file.unlink()
    shutil.rmtree(HERE / "memory", ignore_errors=True)
    said = {"versions": versions()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in RESULTS.items():
            result = make()
            result.save(file_of(name))
            kind = next(kind for kind in KINDS if isinstance(result, kind))
            said[name] = {"kind": kind.__name__, **said_of(result)}
        state = accumulator()
        (HERE / "accumulator.bin").write_bytes(state.to_bytes())
        said["accumulator"] = said_of(state.result())
        said["memory"] = remembered(HERE / "memory").result_.summary()
    SAID.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    say_again() if sys.argv[1:] == ["said"] else main()
