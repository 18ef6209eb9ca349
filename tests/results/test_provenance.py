"""What a result keeps of its call: readers see the arguments, words hang on facts."""

import json
import warnings

import numpy as np
import pytest

import skboot
from skboot.results.result import CallFacts, Provenance, gathered, save

N = 60
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], N // 2)
A, B = (np.where(RNG.random(N) < p, 1 - Y, Y) for p in (0.2, 0.3))
RUNS = np.array([np.where(RNG.random(N) < 0.2, 1 - Y, Y) for _ in range(6)])
HALVES, WEIGHTS = np.repeat([0, 1], N // 2), RNG.integers(1, 4, N)
OPTIONS = {"n_resamples": 49, "random_state": 0}


def compared(**given):
    return skboot.compare_systems(Y, {"A": A, "B": B}, **OPTIONS, **given)


def unpaired():
    return skboot.compare_systems(
        {"A": Y, "B": Y[:40]},
        {"A": A, "B": B[:40]},
        average_over={"A": np.arange(N) // 20, "B": np.arange(40) // 20},
        groups={"A": np.arange(N) // 20, "B": np.arange(40) // 20},
        paired=False,
        **OPTIONS,
    )


def runs_compared():
    methods = {"A": RUNS[:3], "B": RUNS[3:]}
    return skboot.compare_runs(Y, methods, paired_runs=True, **OPTIONS)


CALLS = {
    "rows": (lambda: skboot.bootstrap_score(Y, A, **OPTIONS), {}),
    "tasks": (lambda: skboot.bootstrap_score(Y, A, average_over=HALVES, **OPTIONS),
              {"n_tasks": (2,)}),
    "blocks": (lambda: skboot.bootstrap_score(Y, A, block_length=3, **OPTIONS),
               {"block_length": 3}),
    "weights": (lambda: skboot.bootstrap_score(Y, A, sample_weight=WEIGHTS, **OPTIONS),
                {"weighted": True}),
    "subgroup": (lambda: skboot.bootstrap_score(Y, A, by=HALVES, **OPTIONS)[0],
                 {"by_subgroup": True}),
    "curve": (lambda: skboot.bootstrap_curve(Y, Y + A + RNG.random(N), sample_weight=WEIGHTS,
                                             **OPTIONS), {"weighted": True}),
    "point": (lambda: skboot.bootstrap_curve(Y, Y + A + RNG.random(N), block_length=3,
                                             **OPTIONS).at(0.5), {"block_length": 3}),
    "values of runs": (lambda: skboot.bootstrap_runs(None, RNG.random((4, N)), metric="mean",
                                                     **OPTIONS),
                       {"varied": "seed", "runs_of_values": True}),
    "systems": (lambda: compared(average_over=HALVES, sample_weight=WEIGHTS),
                {"n_tasks": (2,), "weighted": True}),
    "systems on rows of their own": (unpaired, {"n_tasks": (3, 2), "paired": False}),
    "runs of methods": (runs_compared, {"varied": "seed", "paired_runs": True}),
    "data sets": (lambda: skboot.compare_across(
        {str(k): dict(zip("AB", RNG.normal(size=2), strict=True)) for k in range(12)},
        greater_is_better=True, **OPTIONS), {}),
    "search": (lambda: skboot.search_score(Y, {"A": A, "B": B}, **OPTIONS), {}),
    "plan": (lambda: skboot.plan_evaluation(proportion=0.9, half_width=0.02), {}),
}  # fmt: skip


@pytest.fixture(scope="module", params=CALLS)
def result(request):
    make, facts = CALLS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(), CallFacts(**facts)


def test_what_makes_a_result_says_the_facts_of_its_call(result):
    made, facts = result
    assert made._provenance.facts == facts


def test_a_file_without_facts_has_those_of_its_settings(result):
    made, _ = result
    parts = made._to_parts()
    del parts["facts"]
    assert gathered(type(made), parts)["_provenance"] == made._provenance


def test_the_parts_of_its_provenance_are_attributes_of_a_result(result):
    made, _ = result
    own = made._provenance
    assert (made.notes, made.held_fixed, made.seed) == (own.notes, own.held_fixed, own.seed)
    assert (made.settings, made.versions) == (own.settings, own.versions)
    assert made.versions["skboot"] == skboot.__version__
    record = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert record["settings"].keys() == made.settings.keys()
    assert record["notes"] == list(made.notes)


def test_a_result_comes_back_from_a_file_with_its_facts(result, tmp_path):
    made, _ = result
    made.save(tmp_path / "kept.npz")
    back = type(made).load(tmp_path / "kept.npz")
    assert back == made
    assert back._provenance.facts == made._provenance.facts


def test_a_file_whose_settings_are_none_is_refused(tmp_path):
    made = CALLS["rows"][0]()._with_provenance(settings=None)
    parts = made._to_parts()
    del parts["facts"]
    save(tmp_path / "kept.npz", parts, format_name="skboot.EvaluationResult", version=2)
    with pytest.raises(ValueError, match="does not hold a whole result"):
        skboot.results.EvaluationResult.load(tmp_path / "kept.npz")


def test_what_a_provenance_holds_is_plain():
    seed = np.random.SeedSequence(3, spawn_key=(1,))
    own = Provenance(["a note"], seed=seed, settings={"x": np.arange(2), 1: len})
    assert own.notes == ("a note",)
    assert json.dumps([own.seed, own.settings])
    assert own.settings == {"x": [0, 1], "1": str(len)}


def test_a_plan_holds_its_target_and_the_arguments_beside_it():
    plan = skboot.plan_evaluation(proportion=0.9, half_width=0.02)
    assert plan.settings == {
        "half_width": 0.02,
        "power": None,
        "confidence_level": 0.95,
        "proportion": 0.9,
        "n_runs": None,
    }
