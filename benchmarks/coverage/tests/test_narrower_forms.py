"""What was tried for the interval of a method, and the reason why it was not taken."""

import numpy as np

from benchmarks.coverage.methods.candidates import form_of_0043
from benchmarks.coverage.methods.parts import bootstrap, parts_of, samples_of
from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import narrower_forms, optimism_interval


def table(name):
    rows = read(RESULTS / f"{name}.csv")
    return {(row["cell"], row["interval"]): row for row in rows}


def test_every_cell_is_in_the_table():
    assert {cell for cell, _ in table("narrower_forms")} == set(narrower_forms.CELLS)


def test_without_the_covariance_learners_that_jump_are_not_covered():
    rows = table("narrower_forms")
    assert float(rows["stump, n 100", "without covariance"]["covered %"]) < 90
    assert float(rows["stump, n 100", "chosen"]["covered %"]) > 92.5


def test_the_smaller_covariance_gives_up_skewed_losses():
    rows = table("narrower_forms")
    gains = [
        float(rows[cell, "chosen"]["covered %"]) - float(rows[cell, "presence"]["covered %"])
        for cell, design in narrower_forms.CELLS.items()
        if design.kind == "skewed"
    ]
    assert np.mean(gains) > 1


def test_a_form_with_the_chosen_covariance_is_the_chosen_form():
    design = narrower_forms.CELLS["least squares, p 10, n 60"]
    rng = np.random.default_rng(0)
    X, y, groups = design.draw(rng, design.size)
    parts = parts_of(design, X, y, groups, samples_of(design, y, groups, rng))
    found = bootstrap(parts, form=form_of_0043)
    same = narrower_forms.with_covariance(found, found.covariance_training)
    np.testing.assert_allclose(same.standard_error, found.standard_error)


def test_shifted_percentiles_of_an_optimism_corrected_score_do_not_cover():
    rows = table("optimism_interval")
    assert {cell for cell, _ in rows} == set(optimism_interval.CELLS)
    low = [
        cell
        for cell in optimism_interval.CELLS
        if float(rows[cell, optimism_interval.SHIFTED]["covered %"])
        + 2.6 * float(rows[cell, optimism_interval.SHIFTED]["Monte Carlo error"])
        < 93
    ]
    assert len(low) >= len(optimism_interval.CELLS) / 2
