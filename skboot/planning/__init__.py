"""How much data is enough: `plan_evaluation`."""

from .plans import plan_evaluation

__all__ = ["plan_evaluation"]
