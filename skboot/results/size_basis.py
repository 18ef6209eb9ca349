"""`SizeBasis`: the score of a method at one training-set size, a point of a learning curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from .._base import checks as check
from ..inference.bands import PointwiseFacts, pointwise_interval
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.intervals import confidence_interval
from . import wording
from .basis import ScoresBasis

if TYPE_CHECKING:
    from .result import EvaluationResult


@dataclass(frozen=True, eq=False)
class SizeBasis(ScoresBasis):
    """A method that was trained on so many rows.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The score, and draws from the normal law of its error.
    point : PointwiseFacts
        What is known of it beside these.
    """

    point: PointwiseFacts

    kind = "training-set size"
    is_on_rows_left_out = True
    is_resampled = False

    # -------------------------------------------------------------- numbers

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        if method == "auto":
            return pointwise_interval(self.evidence, self.point, level)
        check.check_choice("method", method, ("auto", "t"))
        return confidence_interval(self.evidence, method, level)

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples: nothing is resampled."""
        return True

    # -------------------------------------------------------------- words

    def rows(self, n_samples: int) -> str:
        """Return how many rows there are to train on and to test on."""
        return wording.counted(n_samples, "row")

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made."""
        return [self.method_name(result)]

    def resampled(self, result: EvaluationResult) -> str:
        """Return that nothing was resampled."""
        draws = wording.counted(result.n_resamples, "draw")
        return f"nothing; the distribution holds {draws} from the normal law of the error"

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, _ = wording.name_and_rows(result)
        rows = self.rows(result.n_samples)
        return (
            f"{name} to be expected of the method is estimated at {score} from {rows} ({interval})."
        )

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        return super().to_parts() | {"point": self.point._asdict()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the basis whose ``to_parts`` are given."""
        return super().from_parts(parts | {"point": PointwiseFacts(**parts["point"])})
