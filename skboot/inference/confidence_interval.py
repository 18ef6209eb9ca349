"""`ConfidenceInterval`: a pair of limits that knows its level and its method.

No limit lies beyond the range of what it is of: `within_range` cuts it there, every function that
makes limits ends with it, and results have the note of `notes_of_cut`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._base.warnings import Note
from .._base.wayfinding import Hinting

_CUT = Note("choice", "A limit beyond the range of the metric was cut at the range.")

# Share of the size of limits by which rounding may put them in the wrong order.
_ROUNDING = 1e-9


class ConfidenceInterval(Hinting, tuple[float, float]):
    """A pair of limits, ``low, high``, with its confidence level and its method.

    Two intervals are equal if their limits, levels and methods are; an interval and a plain tuple
    are equal if the limits are. A format, as in ``f"{interval:.3f}"``, applies to both limits.

    Parameters
    ----------
    low : float
        Lower limit, on the metric's scale.
    high : float
        Upper limit.
    confidence_level : float
        Share of data sets whose interval contains the true value, if the method attains its nominal
        coverage.
    method : str
        Name of the method.
    uncut : tuple of float, optional
        Both limits by the formula of the method, where they were cut at the range of the metric.

    Examples
    --------
    >>> from skboot.inference import proportion_interval
    >>> interval = proportion_interval(18, 20)
    >>> interval.method, interval.confidence_level
    ('wilson', 0.95)
    >>> low, high = interval
    >>> round(low, 3), round(interval.high, 3)
    (0.699, 0.972)
    >>> print(f"{interval:.3f}")
    0.699 to 0.972
    """

    confidence_level: float
    method: str

    def __new__(
        cls,
        low: Any,
        high: Any = None,
        confidence_level: Any = None,
        method: str = "",
        uncut: tuple[float, float] | None = None,
    ) -> Self:
        """Return the pair with its level and its method."""
        if high is None:
            # `dataclasses.asdict` copies tuples of any sort from an iterable: that is a plain one.
            return tuple(low)  # type: ignore[return-value]
        low, high = float(low), float(high)
        if 0 < low - high <= _ROUNDING * max(abs(low), abs(high)):
            low, high = high, low
        self = super().__new__(cls, (low, high))
        # Attributes cannot be set, so that the pair is as constant as its limits.
        self.__dict__.update(confidence_level=float(confidence_level), method=method)
        if uncut is not None:
            self.__dict__["_uncut"] = float(uncut[0]), float(uncut[1])
        return self

    @property
    def low(self) -> float:
        """Lower limit."""
        return self[0]

    @property
    def high(self) -> float:
        """Upper limit."""
        return self[1]

    @property
    def uncut(self) -> tuple[float, float]:
        """Both limits by the formula of the method, before they were cut at the metric's range."""
        return self.__dict__.get("_uncut", (self.low, self.high))

    @property
    def is_cut(self) -> bool:
        """Whether a limit was cut at the range of the metric."""
        return "_uncut" in self.__dict__

    def with_limits(self, low: float, high: float) -> Self:
        """Return an interval with other limits and the same level and method.

        Parameters
        ----------
        low, high : float
            Its limits.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        return type(self)(low, high, self.confidence_level, self.method)

    def within(self, least: float, greatest: float) -> Self:
        """Return the interval cut at the ends of a range.

        Parameters
        ----------
        least, greatest : float
            The range of the metric. Limits beyond the same end are both this end.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        low, high = (min(max(limit, least), greatest) for limit in self)
        if (low, high) == tuple(self):
            return self
        return type(self)(low, high, self.confidence_level, self.method, self.uncut)

    def mirrored(self) -> Self:
        """Return the interval of the value with the other sign; 0 has none.

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        low, high = 0.0 - self.high, 0.0 - self.low
        uncut = (0.0 - self.uncut[1], 0.0 - self.uncut[0]) if self.is_cut else None
        return type(self)(low, high, self.confidence_level, self.method, uncut)

    def at_level(self, confidence_level: float) -> Self:
        """Return the same limits for another level, as of one interval of several at once.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            This one is not changed.
        """
        uncut = self.__dict__.get("_uncut")
        return type(self)(self.low, self.high, confidence_level, self.method, uncut)

    def to_dict(self) -> dict[str, Any]:
        """Return limits, level and method by name.

        Returns
        -------
        dict
            With keys low, high, confidence_level and method, and uncut where a limit was cut.
        """
        return self._row() | ({"uncut": self.uncut} if self.is_cut else {})

    def _row(self) -> dict[str, Any]:
        """Return what a data frame has of it."""
        named = {"confidence_level": self.confidence_level, "method": self.method}
        return {"low": self.low, "high": self.high, **named}

    def __eq__(self, other: object) -> bool:
        same = tuple.__eq__(self, other)
        if same is True and isinstance(other, ConfidenceInterval):
            own = self.confidence_level, self.method
            return own == (other.confidence_level, other.method)
        return same

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    # An interval equals the plain tuple of its limits, so their hashes agree.
    __hash__ = tuple.__hash__

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A ConfidenceInterval cannot be changed: {name!r} was to be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        uncut = self.__dict__.get("_uncut")
        return type(self), (*self, self.confidence_level, self.method, uncut)

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec}} to {self.high:{spec}}" if spec else str(self)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({fields})"


def within_range(
    interval: ConfidenceInterval, bounds: tuple[float, float], alternative: str = "two-sided"
) -> ConfidenceInterval:
    """Return the interval cut at the range of the metric.

    The other limit of a one-sided interval stays infinite.
    """
    least = -np.inf if alternative == "less" else bounds[0]
    greatest = np.inf if alternative == "greater" else bounds[1]
    return interval.within(least, greatest)


def notes_of_cut(*intervals: ConfidenceInterval | None) -> tuple[Note, ...]:
    """Return the note that a limit was cut, if one of the intervals has such a limit."""
    return (_CUT,) if any(each is not None and each.is_cut for each in intervals) else ()


def range_of_difference(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the range of a difference of two values that have a range."""
    return bounds[0] - bounds[1], bounds[1] - bounds[0]
