"""Systems on the same rows of a stream: differences on the resamples that they share."""

from __future__ import annotations

import hashlib
from typing import Any

from ..results.comparison import ComparisonResult
from ..streams.evaluating import StreamScore, scores_of, settings_of
from ..streams.state import StreamSettings, StreamState
from .asked import Asked
from .contestants import Contestant
from .system_studies import compared_systems

# Intervals of differences that need neither rows nor values without single units.
STREAMED_DIFFERENCES = ("auto", "percentile", "expanded", "basic", "normal", "t")


def compare_streamed(
    settings: StreamSettings,
    state: StreamState,
    asked: Asked,
) -> dict[str, ComparisonResult]:
    """Compare systems by each metric.

    Parameters
    ----------
    settings : StreamSettings
        With the names of systems.
    state : StreamState
    asked : Asked
    """
    names = [str(name) for name in settings.systems]
    own = settings_of(settings, state) | asked.settings
    scores = scores_of(settings, state, "auto")
    return {metric: _comparison(names, own, each, asked) for metric, each in scores.items()}


def _comparison(
    names: list[str],
    settings: dict[str, Any],
    scores: list[StreamScore],
    asked: Asked,
) -> ComparisonResult:
    """Return the comparison by one metric."""
    remarks = scores[0].evidence.drawn.design.remarks
    # The order of computation must not depend on the names, nor on the order of the call.
    order = sorted(range(len(names)), key=lambda k: _content(scores[k]))
    contestants = {
        name: Contestant(
            name=name,
            rank=order.index(k),
            evidence=scores[k].evidence,
            result=scores[k].result,
            shared_notes=(*scores[k].shared_notes, *remarks),
            # Predictions are not kept; those that are equal have equal scores on all resamples.
            predicted=scores[k].evidence.replicates,
        )
        for k, name in enumerate(names)
    }
    return compared_systems(asked, contestants, settings)


def _content(score: StreamScore) -> bytes:
    """Return a digest of the numbers of a system."""
    numbers = score.evidence.replicates.tobytes() + float(score.evidence.estimate).hex().encode()
    return hashlib.blake2b(numbers, digest_size=16).digest()
