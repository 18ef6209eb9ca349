"""What results say in words are their numbers, and the command line prints the same words."""

import contextlib
import io
import re

import numpy as np
import pytest
from command_line import exit_code_of
from identity_cases import quiet, rows_of
from scipy.integrate import trapezoid

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}


def case(n=96):
    rng = np.random.default_rng(n)
    y, p = rows_of("probability", rng, n)
    a = (p > 0.4).astype(int)
    rows = {"y": y, "p": p, "a": a, "b": np.where(rng.random(n) < 0.25, 1 - a, a)}
    rows |= {"c": np.where(rng.random(n) < 0.1, 1 - a, a), "g": np.arange(n) // 3}
    return rows | {"s": np.where(np.arange(n) % 5 < 2, "x", "z"), "w": rng.integers(1, 9, n) / 4}


def numbers_in(text):
    """Numbers of a text, and how many digits each has behind the point."""
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text.replace("\u2212", "-"))
    found = [one.rstrip(",").replace(",", "") for one in found]
    return [(float(one), len(one.partition(".")[2].partition("e")[0])) for one in found]


def assert_told(text, *values):
    known = numbers_in(text)
    for value in values:
        assert any(abs(one - value) <= 0.5001 * 10.0**-k and (k or one == value)
                   for one, k in known), (value, text)  # fmt: skip


DESIGNS = {
    "rows": {},
    "groups": {"groups": "g"},
    "strata": {"strata": "s"},
    "weights": {"sample_weight": "w"},
    "groups in strata of a level": {"groups": "g", "confidence_level": 0.8},
    "tasks": {"average_over": "s"},
    "blocks": {"block_length": 4},
}


def options_of(design, rows):
    own = DESIGNS[design]
    return {**OPTIONS, **{key: rows.get(one, one) if isinstance(one, str) else one
                          for key, one in own.items()}}  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews_corrcoef"])
def test_a_score_is_told_with_its_limits_level_and_units(design, metric):
    rows = case()
    result = quiet(
        skboot.bootstrap_score, rows["y"], rows["a"], metric=metric, **options_of(design, rows)
    )
    level = result.confidence_interval.confidence_level
    limits = [result.estimate, *result.confidence_interval]
    for text in (result.summary(), result.claim()):
        assert_told(text, *limits, 100 * level, result.n_samples)
        if result.confidence_interval.method not in ("wilson",):
            assert_told(text, result.n_units)
    # Resamples are told where they made the interval, and the rows where they did not.
    resampled = result.confidence_interval.method != "wilson"
    assert ("\n  resampled " in result.summary()) == resampled
    assert_told(result.summary(), result.n_resamples if resampled else result.n_units)
    assert_told(str(result), *limits)
    assert_told(f"{result:.4f}", *np.round(limits, 4))
    words = result.summary()
    for note in result.notes:
        assert " ".join(note.split()) in " ".join(words.split())
    for held in result.held_fixed:
        assert held in " ".join(words.split())
    for shown in (result.to_markdown(), result.to_latex(), result._repr_html_()):
        assert_told(shown, *limits)
    assert_told(words, *([result.naive_estimate] if result.naive_estimate is not None else []))


@pytest.mark.parametrize("options", [{}, {"adjust": "holm", "reference": "b"}, {"adjust": None},
                                     {"alternative": "less", "confidence_level": 0.8}])  # fmt: skip
def test_a_comparison_is_told_with_the_numbers_of_its_pairs(options):
    rows = case()
    systems = {name: rows[name] for name in "abc"}
    result = quiet(skboot.compare_systems, rows["y"], systems, metric="f1", **OPTIONS, **options)
    text = result.summary()
    for shown in (text, result.to_markdown(), result.to_latex(), result._repr_html_()):
        for pair in result.pairs:
            limits = [one for one in pair._widest_interval if np.isfinite(one)]
            # A pair may be shown from the side of the better one.
            known = np.abs([one for one, _ in numbers_in(shown)])
            for value in np.abs([pair.difference, *limits]):
                is_beside_zero = value < 0.01 and re.search(
                    r"(<|>|&[lg]t;|er{}|ess{})[$-]*0\.01", shown
                )
                assert is_beside_zero or np.min(np.abs(known - value)) <= 0.0051, (value, shown)
    for system in result.systems.values():
        assert_told(text, system.estimate, *system.confidence_interval)
    assert_told(text, 100 * options.get("confidence_level", 0.95), result.n_samples,
                result.n_resamples)  # fmt: skip
    for note in result.notes:
        assert " ".join(note.split()) in " ".join(text.split())
    pytest.importorskip("pandas")
    frame = result.to_frame()
    for (_, row), pair in zip(frame.iterrows(), result.pairs, strict=True):
        assert (row["first"], row["second"]) == (pair.first, pair.second)
        assert row["p_value"] == pair.p_value
        assert row["bootstrap_support"] == pair.bootstrap_support


def test_a_plan_is_told_with_its_sizes():
    rows = case()
    pilot = quiet(skboot.bootstrap_score, rows["y"], rows["a"], metric="f1", **OPTIONS)
    plan = quiet(skboot.plan_evaluation, pilot, half_width=0.07)
    text = plan.summary()
    assert_told(text, plan.n_units, *plan.n_units_range, plan.pilot_n_units, 0.07, 95)
    for row in plan.table:
        assert_told(text, row.n_units, row.value)
    for shown in (plan.to_markdown(), plan.to_latex(), plan.claim()):
        assert_told(shown, plan.n_units)


@pytest.mark.parametrize("curve", ["roc", "calibration", "decision"])
@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_a_curve_is_told_with_its_points_and_critical_value(curve, band):
    rows = case()
    found = quiet(skboot.bootstrap_curve, rows["y"], rows["p"], curve=curve, band=band,
                  groups=rows["g"], confidence_level=0.8, **OPTIONS)  # fmt: skip
    widths, x = found.high - found.low, found.x
    assert np.isfinite(widths).all()
    width = trapezoid(widths, x) / (x[-1] - x[0])
    text = found.summary()
    for told in (text, found.claim()):
        assert band in told
        assert_told(told, 80, 96, 32, 39)
        assert f"mean width {width:.3g}" in " ".join(told.split())
        assert f"{found.x[0]:.3g} to {found.x[-1]:.3g}" in told
    reach = "all points at once" if band == "simultaneous" else "each point by itself"
    assert reach in text
    if band == "simultaneous":
        assert f"{found._critical:.2f} standard errors either way" in text
    shown = np.unique(np.linspace(0, len(found.x) - 1, 9).round().astype(int))
    for k in shown:
        assert_told(text, found.estimate[k], found.low[k], found.high[k])
    pytest.importorskip("pandas")
    frame = found.to_frame()
    np.testing.assert_array_equal(frame[["x", "estimate", "low", "high"]].to_numpy().T,
                                  [found.x, found.estimate, found.low, found.high])  # fmt: skip
    np.testing.assert_array_equal(frame["reference"], found.reference)


def test_undefined_resamples_are_counted_in_words():
    rng = np.random.default_rng(0)
    y, p = np.append(np.zeros(12), [1, 1]).astype(int), rng.random(14)
    result = quiet(skboot.bootstrap_score, y, p, metric="roc_auc", interval="percentile", **OPTIONS)
    n = int(np.isnan(result.bootstrap_distribution).sum())
    assert result.n_undefined == n > 0
    assert re.search(rf"undefined +{n} of 39 resamples", result.summary())


def test_resamples_on_which_any_of_two_curves_is_undefined_are_counted_in_either_order():
    rows = case()
    systems = {"always": rows["p"], "at times": np.where(np.arange(len(rows["p"])) < 2, 9.0, 0.1)}

    def share(y, score, grid):
        return np.full(len(grid), np.mean(y) if score.max() > 1 else np.nan)

    notes = []
    for order in ([*systems], [*systems][::-1]):
        own = {name: systems[name] for name in order}
        found = quiet(skboot.bootstrap_curve, rows["y"], own, curve=share, grid=[0.5], **OPTIONS)
        n = int(np.isnan(found["at times"].bootstrap_distribution).sum())
        assert 0 < n < 39
        for one in found.values():
            assert any(f"undefined on {n} of 39 resamples" in note for note in one.notes)
        notes.append(found["always"].notes)
    assert notes[0] == notes[1]


# ------------------------------------------------------------------ the command line


def printed(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = exit_code_of([*map(str, words), "--n-resamples", "39"])
    assert code in (0, 1, 3)
    return out.getvalue()


@pytest.mark.parametrize("verb", ["score", "scores", "compare", "rank", "gate", "curve", "plan"])
def test_the_command_line_prints_what_the_result_says(verb, tmp_path):
    rows = case()
    names = [*rows]
    table = zip(*rows.values(), strict=True)
    lines = [",".join(names), *(",".join(map(str, row)) for row in table)]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    y, systems = rows["y"], {name: rows[name] for name in "ab"}
    compared = quiet(skboot.compare_systems, y, systems, metric="f1", **OPTIONS)
    score = quiet(skboot.bootstrap_score, y, rows["a"], metric="f1", **OPTIONS)
    judged = compared.pairs[0].verdict(0.05)
    several = quiet(skboot.bootstrap_score, y, rows["a"], metric=["f1", "accuracy"], **OPTIONS)
    curve = quiet(skboot.bootstrap_curve, y, rows["p"], **OPTIONS)
    plan = quiet(skboot.plan_evaluation, score, half_width=0.06)
    words, result, text = {
        "score": (["--y-pred", "a", "--metric", "f1"], score, score.summary()),
        "scores": (["--y-pred", "a", "--metric", "f1", "accuracy"], several, several.summary()),
        "compare": (["--systems", "a", "b", "--metric", "f1"], compared, compared.summary()),
        "rank": (["--systems", "a", "b", "--metric", "f1"], compared.ranks(),
                 str(compared.ranks())),
        "gate": (["--candidate", "a", "--reference", "b", "--margin", "0.05", "--metric", "f1"],
                 compared, judged.statement),
        "curve": (["--y-pred", "p"], curve, curve.summary()),
        "plan": (["--y-pred", "a", "--metric", "f1", "--half-width", "0.06"], plan,
                 plan.summary()),
    }[verb]  # fmt: skip
    call = ["score" if verb == "scores" else verb, file, "--y-true", "y", *words]
    plain = printed(*call)
    assert text in plain
    # A long path is wrapped.
    assert f"file{file},96rows" in "".join(plain.split())
    assert "seed 0" in " ".join(plain.split())
    if verb not in ("rank", "gate"):
        assert result.to_latex() in printed(*call, "--latex")
        assert result.to_markdown() in printed(*call, "--markdown")
    if verb == "gate":
        assert judged.statement in printed(*call, "--markdown").replace("\\", "")
