"""`compare_across`: which method is better across several data sets?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from .._base import checks as check
from .._base.doors import door
from .._base.memory import check_fits
from ..results.data_sets import DatasetsComparison
from .across_pairs import AcrossCall, compared_across
from .arguments import check_adjust, check_alternative, check_reference
from .asked import Asked
from .data_sets import check_margin, checked_data_sets

if TYPE_CHECKING:
    import pandas as pd

    from ..results import ComparisonResult

_ESTIMANDS = ("new", "these")


@door("compare_across")
def compare_across(
    scores: pd.DataFrame
    | Mapping[Any, Mapping[Any, float]]
    | Mapping[Any, ComparisonResult]
    | ArrayLike,
    *,
    datasets: ArrayLike | None = None,
    methods: ArrayLike | None = None,
    estimand: Literal["new", "these"] = "new",
    margin: float | None = None,
    adjust: Literal["max-t", "holm"] | None = "max-t",
    reference: str | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    random_state: Any = None,
) -> DatasetsComparison:
    """Compare methods across several data sets.

    There are two questions. How will the methods differ on a new data set like these? Then the data
    sets are a sample, and differences vary between them. How do they differ on average on exactly
    these data sets? Then only the error on each of them counts.

    Parameters
    ----------
    scores : DataFrame, dict, or array-like of shape (n_datasets, n_methods)
        A pandas DataFrame with a row per data set and a column per method; a dict data set ->
        method -> number; an array with ``datasets`` and ``methods``; or a dict data set ->
        `ComparisonResult`, from `compare_systems`, `compare_runs` or `compare_methods`, of the same
        methods by the same metric, all pairs. At least two data sets and two methods.
    datasets : array-like of shape (n_datasets,), optional
        Names of the rows of an array.
    methods : array-like of shape (n_methods,), optional
        Names of the columns of an array.
    estimand : {"new", "these"}
        "new": the expected difference on a new data set like these. "these": the mean difference on
        these, for which ``scores`` must be results, because bare numbers have no error.
    margin : float, optional
        Largest difference that does not matter in practice, in units of the metric. Each pair then
        holds the share of data sets with a difference within it.
    adjust : {"max-t", "holm", None}
        For several pairs at once. "max-t": simultaneous intervals and p-values from the joint law
        of all differences. "holm": Holm's p-values with Bonferroni intervals. None: neither.
    reference : str, optional
        Name of the method that all others are compared with; all pairs when None.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values, as in `compare_systems`: "greater" is
        against first minus second being at most 0, whatever the direction of the metric.
    n_resamples : int
        Number of resamples of the data sets, at least 2, for the probability of superiority, mean
        ranks and distributions.
    confidence_level : float
        In (0, 1).
    greater_is_better : bool, optional
        Direction of the scores; must be given for bare numbers.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.

    Returns
    -------
    DatasetsComparison
        ``pairs``, ``systems`` and ``ranks()`` as for any comparison; also ``mean_ranks()``,
        ``friedman``, and the ``wilcoxon_p_value`` of each pair.

    Raises
    ------
    ValueError
        If a data set lacks a method, a cell holds several numbers, the direction is not known,
        comparisons do not fit together, or an argument cannot be right; the message says what to
        do.

    Warns
    -----
    UserWarning
        With fewer than 10 data sets, or if a table has more methods than data sets and may be
        transposed.

    See Also
    --------
    compare_runs : Several runs of methods on one data set.
    CriticalDifferenceDisplay : Picture of the mean ranks.

    Notes
    -----
    All data sets have the same weight. For a new data set: Student's t of the mean difference,
    whose limit on the side of the long tail reaches out by q + g (2 q^2 + 1) / (6 sqrt(K)) standard
    errors, q being the quantile of t and g the absolute skewness over the K data sets (Johnson
    1978; Hall 1992). Simultaneous limits have the q of the largest t of all pairs, and at most that
    of Bonferroni's rule. The spread over data sets includes the error on each of them, so the error
    of a score is not added again; ``between_deviation`` is the rest, where the error is known. For
    these data sets: with the standard error se_k on each of K, the variance is sum se_k^2 / K^2,
    with Satterthwaite's degrees of freedom.

    In simulations of two equal methods a difference was significant in 1 to 5 % of cases with
    symmetric differences, of light or heavy tails. With lognormal (.5) or exponential ones it was 6
    to 8 % with 8 to 10 data sets and 5 % with 30.

    References
    ----------
    Johnson (1978), Journal of the American Statistical Association 73:536; Hall (1992), Journal of
    the Royal Statistical Society B 54:221; Demsar (2006), Journal of Machine Learning Research 7:1;
    Benavoli, Corani & Mangili (2016), Journal of Machine Learning Research 17:5.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> scores = {}
    >>> for k in range(12):
    ...     difficulty = rng.uniform(0.6, 0.9)
    ...     scores[f"set {k}"] = {"forest": difficulty + rng.normal(0.03, 0.02),
    ...                           "tree": difficulty}
    >>> result = compare_across(scores, greater_is_better=True, margin=0.01, random_state=0)
    >>> [pair] = result.pairs
    >>> print(f"{pair:.3f}, within the margin on {pair.share_within_margin:.0%} of the sets")
    0.033 (0.023 to 0.042), within the margin on 8% of the sets
    """
    level = check.check_confidence_level(confidence_level)
    check.check_choice("estimand", estimand, _ESTIMANDS)
    check_adjust(adjust)
    check_alternative(alternative)
    data = checked_data_sets(scores, datasets, methods, greater_is_better)
    check_reference(reference, dict.fromkeys(data.methods))
    if estimand == "these" and data.errors is None:
        must = "be 'new' for bare numbers"
        advice = (
            "Bare numbers do not show how exact they are: pass a dict of the ComparisonResult of "
            "each data set."
        )
        raise check.fail("estimand", must, repr(estimand), advice)
    margin = check_margin(margin, data)
    n_resamples = check.check_count("n_resamples", n_resamples, 2)
    bytes_each = 8 * (len(data.names) + len(data.methods) ** 2)
    check_fits("n_resamples", n_resamples, bytes_each)
    call = AcrossCall(
        data=data,
        estimand=estimand,
        margin=margin,
        asked=Asked("auto", adjust, level, alternative, reference),
        n_resamples=n_resamples,
        seed=check.check_seed(random_state),
    )
    return compared_across(call)
