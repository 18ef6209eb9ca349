"""How rows are resampled, as it was given to a public function."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._workers import Workers


class Sampling(NamedTuple):
    """Arguments of what is drawn, of the names that they have in public; not checked.

    A function leaves those as they are here which it does not take. ``system`` names the system
    whose rows they are, where each has its own.
    """

    groups: Any = None
    strata: Any = None
    average_over: Any = None
    block_length: Any = None
    sample_weight: Any = None
    by: Any = None
    same_population: Any = False
    resamples: Any = None
    n_resamples: Any = 1999
    random_state: Any = None
    system: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """What has a value for each row, or none, by argument."""
        names = ("groups", "strata", "by", "average_over", "sample_weight")
        return {name: getattr(self, name) for name in names}

    @property
    def named_columns(self) -> dict[str, Any]:
        """The same by what messages call them."""
        key = "" if self.system is None else f"[{self.system!r}]"
        return {f"{name}{key}": column for name, column in self.columns.items()}

    @property
    def streamed(self) -> dict[str, Any]:
        """The columns that a stream can have."""
        return {"groups": self.groups, "sample_weight": self.sample_weight}

    @property
    def not_streamed(self) -> dict[str, Any]:
        """What a stream cannot have."""
        names = ("strata", "average_over", "block_length", "by", "same_population", "resamples")
        return {name: getattr(self, name) for name in names}

    def settings(self, n_resamples: int) -> dict[str, Any]:
        """Return what results hold of it."""
        given = {name: column is not None for name, column in self.columns.items()}
        del given["average_over"]
        own = {"n_resamples": n_resamples, "same_population": bool(self.same_population)}
        return given | own | {"resamples": self.resamples is not None}


class Wanted(NamedTuple):
    """What is wanted of each score, checked.

    Attributes
    ----------
    interval : str
        "auto" or the name of a method.
    confidence_level : float
    workers : Workers
    adjust : "max-t" or None
        Whether the intervals of all scores hold at once.
    """

    interval: str
    confidence_level: float
    workers: Workers
    adjust: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        adjust = {} if self.adjust is None else {"adjust": self.adjust}
        return {"confidence_level": self.confidence_level, "interval": self.interval, **adjust}
