"""A column of categories is the array of its values, made of the categories."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skboot._base.checks import Unusable, as_array

pandas = pytest.importorskip("pandas")

COLUMNS = {
    "text, with one that does not occur": (["b", "a", "b"], ["b", "a", "longer"]),
    "integers": ([3, 1, 3], None),
    "floats": ([1.5, 2.0, 1.5], None),
    "booleans": ([True, False], None),
    "integers and a float": ([1, 2.5, 1], None),
    "a mixture": ([1, "x", 1], None),
}


@pytest.mark.parametrize("kind", [pandas.Series, pandas.CategoricalIndex, lambda own: own])
@pytest.mark.parametrize("name", COLUMNS)
def test_categories_are_converted_as_their_values_are(name, kind):
    values, categories = COLUMNS[name]
    found = as_array(kind(pandas.Categorical(values, categories=categories)))
    expected = as_array(np.array(values, dtype=object))
    assert found.dtype == expected.dtype
    assert_array_equal(found, expected)


def test_a_missing_category_is_seen():
    found = as_array(pandas.Categorical(["a", None]))
    assert found.dtype == object
    assert found[0] == "a"
    assert found[1] != found[1]


def test_categories_that_no_array_holds_are_refused():
    with pytest.raises(Unusable, match="NUL"):
        as_array(pandas.Categorical(["a\0", "b"]))
