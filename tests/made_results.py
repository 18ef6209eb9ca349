"""Results of every sort, for the tests of what results say, show and save."""

from dataclasses import fields
from html.parser import HTMLParser

import numpy as np
import pytest

from skboot import bootstrap_runs
from skboot._base.errors import texts_of
from skboot.inference import ConfidenceInterval
from skboot.inference.automatic import automatic_interval
from skboot.inference.evidence import Evidence
from skboot.inference.gap import SubgroupEstimate
from skboot.inference.intervals import FOR_ONE_SCORE, WITHOUT_RESAMPLES, confidence_interval
from skboot.results import EvaluationResult, ResultTable
from skboot.results.basis import GapBasis, ScoresBasis, SystemBasis
from skboot.results.result import CallFacts, Provenance
from skboot.study.gaps import gap_of

RNG_SEED = 20
ROWS = np.random.default_rng(RNG_SEED).exponential(size=60)
RESAMPLED = set(FOR_ONE_SCORE) - WITHOUT_RESAMPLES  # intervals of one score


def mean_evidence(rows=ROWS, n_resamples=999, seed=0, **changes):
    """Bootstrap of a mean, written down without the library."""
    rng = np.random.default_rng(seed)
    drawn = rows[rng.integers(len(rows), size=(n_resamples, len(rows)))]
    known = {
        "estimate": rows.mean(),
        "replicates": drawn.mean(axis=1),
        "kind": "rows",
        "n_units": (len(rows),),
        "additive": True,
        "row_mean": True,
        "standard_error": rows.std() / np.sqrt(len(rows)),
        "replicate_standard_errors": drawn.std(axis=1) / np.sqrt(len(rows)),
        "acceleration": ((rows - rows.mean()) ** 3).sum()
        / (6 * ((rows - rows.mean()) ** 2).sum() ** 1.5),
    }
    return Evidence.of(**{**known, **changes})


def mean_result(method="studentized", level=0.95, evidence=None, **changes):
    evidence = evidence or mean_evidence()
    basis = (ScoresBasis if changes.get("estimand") == "method" else SystemBasis)(evidence)
    if "confidence_interval" not in changes:
        changes["confidence_interval"] = confidence_interval(evidence, method, level)
    known = {
        "metric": "mean",
        "estimand": "system",
        "_basis": basis,
        "_automatic": False,
        "n_samples": 60,
        "unit": "row",
        "greater_is_better": False,
        "naive_estimate": None,
    }
    provenance = {
        "held_fixed": ("the trained system",),
        "seed": 7,
        "settings": {"interval": method},
        "versions": {"skboot": "0.1"},
    }
    names = [field.name for field in fields(Provenance)]
    provenance |= {name: changes.pop(name) for name in names if name in changes}
    return EvaluationResult(**{**known, **changes}, _provenance=Provenance(**provenance))


def accuracy_evidence(hits=171, n=200, n_resamples=999, **changes):
    replicates = np.random.default_rng(1).binomial(n, hits / n, n_resamples) / n
    known = {
        "estimate": hits / n,
        "replicates": replicates,
        "kind": "rows",
        "n_units": (n,),
        "bounds": (0.0, 1.0),
        "additive": True,
        "row_mean": True,
        "proportion": (hits, n, True, "identity", 1.0),
    }
    return Evidence.of(**{**known, **changes})


def accuracy_result(hits=171, n=200, method="auto", level=0.95, **changes):
    own = {key: changes.pop(key) for key in ("kind", "n_units", "replicates") if key in changes}
    evidence = changes.pop("evidence", None) or accuracy_evidence(hits, n, **own)
    if "confidence_interval" in changes:
        interval, notes = changes.pop("confidence_interval"), changes.pop("notes", ())
    elif method == "auto":
        interval, notes = automatic_interval(evidence, level)
        notes = texts_of(notes)
    else:
        interval, notes = confidence_interval(evidence, method, level), ()
    known = {
        "metric": "accuracy",
        "confidence_interval": interval,
        "notes": notes,
        "_automatic": method == "auto",
        "n_samples": n,
        "greater_is_better": True,
        "naive_estimate": 0.51,
    }
    return mean_result(evidence=evidence, **{**known, **changes})


def undefined_result():
    evidence = accuracy_evidence(estimate=np.nan, replicates=np.full(99, np.nan))
    interval = ConfidenceInterval(np.nan, np.nan, 0.95, "undefined")
    return accuracy_result(
        evidence=evidence, confidence_interval=interval, notes=("There are no positives.",)
    )


def facts_of(result):
    return result._basis.facts(result)


def subgroups():
    evidence = [
        accuracy_evidence(
            hits, replicates=np.random.default_rng(hits).binomial(200, hits / 200, 999) / 200
        )
        for hits in (171, 150)
    ]
    sides = [
        SubgroupEstimate(known.estimate, (0.0, 1.0), "effective", (20, 200), 199.0)
        for known in evidence
    ]
    _, known = gap_of(sides, evidence, 1)
    gap = mean_result(
        _basis=GapBasis(known, metric="accuracy", pair="women - men", of_systems=False),
        confidence_interval=confidence_interval(known, "simultaneous", 0.95),
        metric="accuracy gap (women - men)",
        greater_is_better=None,
        notes=("The largest of 1 differences.",),
    )
    parts = {
        name: accuracy_result(hits, metric=f"accuracy ({name})", facts=CallFacts(by_subgroup=True))
        for name, hits in (("women", 171), ("men", 150))
    }
    return ResultTable({**parts, "gap": gap})


def several_runs(estimand):
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 50)
    runs = [np.where(rng.random(100) < 0.2, 1 - labels, labels) for _ in range(12)]
    return bootstrap_runs(labels, runs, metric="accuracy", estimand=estimand, random_state=0)


ALL_KINDS = {
    "wilson": accuracy_result,
    "perfect": lambda: accuracy_result(50, 50),
    "no width": lambda: accuracy_result(50, 50, "percentile"),
    "groups": lambda: accuracy_result(
        method="expanded", kind="groups", n_units=(20,), unit="group"
    ),
    "crossed": lambda: accuracy_result(
        method="percentile", kind="crossed", n_units=(9, 7), unit="member of each factor"
    ),
    "mean": mean_result,
    "undefined": undefined_result,
    "some undefined": lambda: mean_result(
        "percentile", evidence=mean_evidence(replicates=np.r_[np.nan, np.nan, ROWS])
    ),
    "one resample": lambda: mean_result(
        evidence=mean_evidence(replicates=np.r_[1.0, [np.nan] * 9]),
        confidence_interval=ConfidenceInterval(np.nan, np.nan, 0.95, "percentile"),
    ),
    "infinite": lambda: mean_result(
        confidence_interval=ConfidenceInterval(-np.inf, 3.0, 0.9, "studentized")
    ),
    "next_run": lambda: several_runs("next_run"),
    "pooled": lambda: several_runs("pooled"),
    "method": lambda: mean_result("t", estimand="method", unit="run"),
    "gap": lambda: subgroups()["gap"],
}
any_kind = pytest.mark.parametrize("kind", ALL_KINDS)


class _Checker(HTMLParser):
    """Follows opening and closing tags."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked_html(text):
    checker = _Checker()
    checker.feed(text)
    assert not checker.open
    assert len(set(checker.ids)) == len(checker.ids)
    return checker


def four_systems():
    """Truth and four systems that err on the same hard rows."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, size=400)
    hard = rng.random(400) < 0.4
    rates = {"A": 0.25, "B": 0.3, "C": 0.6, "D": 0.9}
    return y, {name: y ^ (hard & (rng.random(400) < rate)) for name, rate in rates.items()}


def two(systems, first="A", second="C"):
    return {first: systems[first], second: systems[second]}
