"""A commit that changes names alone is told from one that changes more."""

import pytest
from renamed import differences

BEFORE = '''
def score(own, other):
    """Return the sum."""
    both = own + other
    return both
'''


@pytest.mark.parametrize(
    ("old", "new", "is_by_names_alone"),
    [
        ("both", "total", True),
        ("own", "y_true", True),
        ("Return the sum.", "Return y_true plus y_pred.", True),
        ("own + other", "own - other", False),
        ("own + other", "own + other + 1", False),
        ("both", "own", False),  # two names have become one
        ("return both", "return own", False),
    ],
)
def test_a_change_of_more_than_names_is_found(old, new, is_by_names_alone):
    assert (not differences(BEFORE, BEFORE.replace(old, new))) == is_by_names_alone
