"""Numbers of labels are those of sorting them, whatever their type."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skboot._base.checks import numbered

RNG = np.random.default_rng(0)


def texts(alphabet, n=200, longest=15):
    """Texts of all lengths, of which short ones recur."""
    letters = [alphabet[k] for k in RNG.integers(0, len(alphabet), n * longest)]
    lengths = RNG.integers(0, longest, n) * RNG.integers(0, 2, n)
    starts = np.arange(n) * longest
    return ["".join(letters[a : a + m]) for a, m in zip(starts, lengths, strict=True)]


LABELS = {
    "letters": np.array(texts("ab")),
    "several words of characters": np.array(texts("abcdefghijkl", longest=60)),
    "NUL inside": np.array([text + "a" for text in texts("a\0b")]),
    "accents": np.array(texts("aäöüßz")),
    "no Latin": np.array(texts("a日本語")),
    "beyond 16 bits": np.array(texts("a😀é")),
    "empty": np.array(["", ""]),
    "bytes": np.array(texts("ab")).astype("S"),
    "two columns": np.array([["b", "a"], ["c", "b"]]),
    "other order of bytes": np.array(["b", "a"]).astype(">U1"),
    "every other": np.array(texts("abc"))[::2],
    "dense integers": RNG.integers(-5, 90, 100),
    "scattered integers": RNG.integers(-(2**60), 2**60, 100),
    "floats": RNG.integers(0, 9, 50) / 8,
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_numbered_as_by_sorting(name):
    labels = LABELS[name]
    distinct, codes = numbered(labels)
    expected, places = np.unique(labels, return_inverse=True)
    assert_array_equal(distinct, expected)
    assert distinct.dtype == labels.dtype
    assert_array_equal(codes, places.reshape(labels.shape))
