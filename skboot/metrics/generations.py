"""Scores of several generations of a language model for each question."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import check_column, check_count, converted, counted, fail
from .._base.doors import door

# Maximum number of generations of a question: floats hold all whole numbers up to it.
_LARGEST = 2**53


@door("pass_at_k")
def pass_at_k(n_correct: ArrayLike, n_samples: ArrayLike, k: int) -> NDArray[np.float64]:
    """Probability that at least one of k generations of a question is correct, for each question.

    Parameters
    ----------
    n_correct : array-like of shape (n_items,)
        Number of correct generations of each question.
    n_samples : int or array-like of shape (n_items,)
        Number of generations of each question, at least ``k``; questions may have different ones.
    k : int
        Number of generations of which one has to be correct, at least 1.

    Returns
    -------
    ndarray of shape (n_items,)
        Unbiased estimates in [0, 1]. Their mean is pass@k, and `skboot.bootstrap_score` with
        ``metric="mean"`` gives it an interval for new questions like these.

    Raises
    ------
    ValueError
        If a question has fewer than ``k`` generations, or more correct ones than it has.

    Notes
    -----
    With c of n generations correct, the share of the sets of k generations that hold a correct one
    is 1 - C(n - c, k) / C(n, k) = 1 - prod_{i = n - c + 1}^{n} (1 - k / i), which is unbiased for
    the probability (Chen et al. 2021, equation 1); 1 - (1 - c / n)^k is not. The product is
    computed with logarithms, so small probabilities keep their digits.

    References
    ----------
    Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> from skboot.metrics import pass_at_k
    >>> n_correct = [0, 3, 10, 1, 0, 7, 2, 10] * 10  # of ten generations each
    >>> pass_at_k(n_correct[:4], 10, k=5).round(3)
    array([0.   , 0.917, 1.   , 0.5  ])
    >>> values = pass_at_k(n_correct, 10, k=5)
    >>> print(bootstrap_score(None, values, metric="mean", random_state=0))
    0.649 (0.548 to 0.729)
    """
    k = check_count("k", k, 1, "It is how many generations are looked at.")
    correct = _counts("n_correct", n_correct)
    n_samples = converted("n_samples", n_samples)
    if n_samples.ndim == 0:
        n_samples = np.full(len(correct), n_samples)
    samples = _counts("n_samples", n_samples)
    if len(samples) != len(correct):
        must = f"be one number, or one for each of the {len(correct)} questions of n_correct"
        raise fail("n_samples", must, counted(len(samples), "number"))
    _refuse("n_samples", f"be at least k, {k}", samples, samples < k, "Use a smaller k.")
    advice = "A question has no more correct generations than generations."
    _refuse("n_correct", "be at most n_samples", correct, correct > samples, advice)
    pairs, pair_of_item = np.unique(
        np.column_stack((samples, correct)), axis=0, return_inverse=True
    )
    values = np.ones(len(pairs))
    for number, (n, c) in enumerate(pairs.tolist()):
        if n - c >= k:
            values[number] = -np.expm1(np.log1p(-k / np.arange(n - c + 1, n + 1)).sum())
    return values[pair_of_item.reshape(-1)] + 0.0


def _counts(name: str, values: Any) -> NDArray[np.int64]:
    """Return checked whole numbers that are not negative."""
    counts = check_column(name, values)
    are_whole = counts.dtype.kind in "biuf" and np.all(counts == np.floor(counts))
    if not are_whole or np.any(counts < 0) or np.any(counts > _LARGEST):
        must = "hold whole numbers of generations, 0 or more (2**53 at most)"
        raise fail(name, must, f"{counts[:3].tolist()} ...")
    return counts.astype(np.int64)


def _refuse(
    name: str, must: str, counts: NDArray[Any], is_refused: NDArray[np.bool_], advice: str
) -> None:
    """Refuse numbers of some questions, with the first of them."""
    if is_refused.any():
        item = int(np.argmax(is_refused))
        got = f"{counts[item]} for question {item} ({np.count_nonzero(is_refused)} in all)"
        raise fail(name, must, got, advice)
