"""`ConfidenceInterval`: a pair of limits that knows its level and its method."""

from __future__ import annotations

from typing import Any, Self

from .._base.wayfinding import Hinting

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
        cls, low: Any, high: Any = None, confidence_level: Any = None, method: str = ""
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
        return self

    @property
    def low(self) -> float:
        """Lower limit."""
        return self[0]

    @property
    def high(self) -> float:
        """Upper limit."""
        return self[1]

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
        return self.with_limits(low, high)

    def to_dict(self) -> dict[str, Any]:
        """Return limits, level and method by name.

        Returns
        -------
        dict
            With keys low, high, confidence_level and method.
        """
        return {"low": self.low, "high": self.high, **self.__dict__}

    def __eq__(self, other: object) -> bool:
        same = tuple.__eq__(self, other)
        if same is True and isinstance(other, ConfidenceInterval):
            return self.__dict__ == other.__dict__
        return same

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    # An interval equals the plain tuple of its limits, so their hashes agree.
    __hash__ = tuple.__hash__

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A ConfidenceInterval cannot be changed: {name!r} was to be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self, self.confidence_level, self.method)

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec}} to {self.high:{spec}}" if spec else str(self)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({fields})"
