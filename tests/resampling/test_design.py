"""Designs: how many units and strata there are, and what follows for a variance."""

import numpy as np
import pytest

from skboot.resampling.design import CrossedDesign, GroupDesign, OnePopulationDesign, RowDesign

STRATA = np.repeat([0, 1, 2], 4)
GROUPS = np.repeat(np.arange(6), 2)
PAIRS = np.column_stack((np.arange(12) % 3, np.arange(12) % 4))


@pytest.mark.parametrize(
    ("design", "n_strata", "degrees_of_freedom", "inflation"),
    [
        (RowDesign.of(12), 1, 11, 12 / 11),
        (RowDesign.of(12, STRATA), 3, 9, 12 / 9),
        (GroupDesign.of(GROUPS), 1, 5, 6 / 5),
        (GroupDesign.of(GROUPS, STRATA), 3, 3, 6 / 3),
        (CrossedDesign.of(PAIRS), 1, 2, 1.0),
        (OnePopulationDesign.of(PAIRS), 1, 3, 1.0),
        (RowDesign.of(1), 1, 1, 1.0),
    ],
)
def test_degrees_of_freedom_are_units_less_strata_of_the_smaller_side(
    design, n_strata, degrees_of_freedom, inflation
):
    assert design.n_strata == n_strata
    assert design.degrees_of_freedom == degrees_of_freedom
    assert design.inflation == inflation
