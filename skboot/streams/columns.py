"""Columns, wherever their rows are: what functions of arrays ask of them.

Columns of dask, and those of `skboot.scan_dataset`, go the way of a stream: partition by partition
and without being collected. What a stream cannot do is refused by name, before any row is read. A
function says in a `Request` what it was given, and what it makes of rows in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ..metrics.statistic import Statistic
from ..study.measured import Scoring
from ..study.rows import Sampling, Wanted, is_lazy

if TYPE_CHECKING:
    from .state import StreamSettings, StreamState

# Intervals that need neither rows nor values without single units, of scores and of differences.
STREAMED_SCORES = (
    *("auto", "wilson", "percentile", "expanded", "basic", "normal", "t", "logit-t", "anytime"),
)
STREAMED_DIFFERENCES = ("auto", "percentile", "expanded", "basic", "normal", "t", "anytime")


@dataclass(frozen=True, eq=False)
class Request(ABC):
    """What a function of frozen predictions was given.

    Attributes
    ----------
    y_true : array-like or None
    y_preds : array-like, or mapping of str to array-like
        Of one system, or by system.
    scoring : Scoring
    sampling : Sampling
    wanted : Wanted
        Of each system by itself.
    intervals : tuple of str
        Those that a stream can have.
    """

    intervals: ClassVar[tuple[str, ...]] = STREAMED_SCORES

    y_true: Any
    y_preds: Any
    scoring: Scoring
    sampling: Sampling
    wanted: Wanted

    @property
    @abstractmethod
    def by_argument(self) -> dict[str | None, tuple[str, Any]]:
        """The argument and the predictions of each system by its name, None if it has none."""

    @abstractmethod
    def in_memory(self) -> Any:
        """Return what is made of rows in memory."""

    @property
    def interval(self) -> str:
        """The interval that is asked for."""
        return self.wanted.interval

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments as a result holds them, beside those of rows."""
        return self.scoring.settings

    def check_before_reading(self) -> None:
        """Refuse what a stream cannot do, and names that it does not have."""
        return None

    def check_statistics(self, statistics: Mapping[str, Sequence[Statistic]]) -> None:
        """Refuse metrics by which systems cannot be judged."""
        return None

    def on_stream(self, settings: StreamSettings, state: StreamState) -> Any:
        """Return what is made of the sums of a stream: a study."""
        from .source import study_of_stream

        return study_of_stream(settings, state, self)


def of_columns(request: Request) -> Any:
    """Return what a request makes of its columns: of arrays, or of rows that are read in parts."""
    if not is_lazy(request.y_true, *columns_in(request.y_preds)):
        return request.in_memory()
    # Few calls need a stream.
    from .lazy import read

    return of_stream(request, *read(request))


def columns_in(values: Any) -> list[Any]:
    """Return what was given for each system, of a data frame this."""
    return list(values.values()) if isinstance(values, Mapping) else [values]


def of_stream(request: Request, settings: StreamSettings, state: StreamState) -> Any:
    """Return what a request makes of a stream, of few rows as of rows in memory."""
    from .source import few_given

    few = few_given(settings, state)
    if few is None:
        return request.on_stream(settings, state)
    return replace(request, **few._asdict()).in_memory()
