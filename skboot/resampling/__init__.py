"""Resampling of units: designs, plans and blocks.

Private: may change without notice.
"""
