"""Evaluate methods: `BootstrapScorer`, from an estimator and a data set to an interval.

Private but for the names that `skboot` shows: modules may change without notice.
"""

from .bootstrap_scorer import BootstrapScorer

__all__ = ["BootstrapScorer"]
