"""Evaluate methods: `BootstrapScorer`, from an estimator and a data set to an interval."""

from .bootstrap_scorer import BootstrapScorer

__all__ = ["BootstrapScorer"]
