"""`EvaluationResult`: one score, its interval, and all that is needed to judge it.

Its basis (`skboot.results.basis`) answers for other intervals and knows the words, from what it
stores; `skboot.results.storage` reads and writes files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._base.checks import check_confidence_level, fail
from .._base.doors import door
from .._base.typing import Estimand, MethodInterval, RunsInterval
from .._base.values import read_only, same_values
from .._base.warnings import collected, tell
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Evidence
from . import rendering, storage, wording
from .basis import Basis, basis_of_parts
from .monte_carlo import MonteCarloError
from .provenance import FromACall, Provenance, gathered
from .shown import ROWS, Number, ShownNumbers


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationResult(FromACall, ShownNumbers):
    """A score with its confidence interval, and all that is needed to judge it.

    `skboot.bootstrap_score` makes them. As text a result is its estimate and limits, with as many
    digits as the interval supports; a format, as in ``f"{result:.2f}"``, applies to all three
    numbers, and ``float(result)`` is the estimate. Two results are equal if all they hold is equal
    (NaN equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    metric : str
        Name of the metric.
    estimand : {"system", "method", "next_run", "pooled"}
        What the interval is for.
    basis : skboot.results.basis.Basis
        What the result rests on: one system, a disparity between subgroups, several runs, or
        trainings on samples. It holds what intervals are computed from.
    confidence_interval : ConfidenceInterval
        The pair (low, high), with `confidence_level` and `method`.
    automatic : bool
        Whether the method was chosen by ``interval="auto"``.
    n_samples : int
        Number of test rows.
    unit : str
        What was resampled, in the singular: "row", "group", ...
    greater_is_better : bool or None
        Direction of the metric; None if unknown.
    naive_estimate : float or None
        Baseline: the metric of the best system that ignores its inputs, on the same rows; None if
        unknown.
    is_confidence_interval : bool
        False for prediction intervals and for spreads.
    runs : dict or None
        One array of shape (n_runs,) per property of the runs, where there were several.
    provenance : skboot.results.provenance.Provenance
        Where the result comes from, in one value; its parts are the attributes below.
    notes : tuple of str
        What a reader must know: guards that applied, cautions, why a number is undefined.
    held_fixed : tuple of str
        What the interval is conditional on.
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.

    See Also
    --------
    ResultTable : Several results as one table.

    Notes
    -----
    ``monte_carlo_error`` is the standard deviation of each limit over 200 bootstrap resamples of
    the replicates: given the data, these are independent draws from the ideal bootstrap
    distribution, so their own bootstrap estimates the error of any function of them (compare
    Efron & Tibshirani 1993, chapter 19). It is 0 for intervals that use no resamples.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, random_state=0)
    >>> print(result)
    0.900 (0.851 to 0.935)
    >>> print(f"{result:.2f}")
    0.90 (0.85 to 0.94)
    >>> float(result)
    0.9
    >>> print(result.claim())
    Accuracy on new data from the same source is estimated at 0.900 from 200 test rows
    (95 % CI 0.851 to 0.935, interval from Beta distributions).
    >>> result.interval("percentile", confidence_level=0.9).method
    'percentile'
    """

    metric: str
    estimand: str
    basis: Basis
    confidence_interval: ConfidenceInterval
    automatic: bool
    n_samples: int
    unit: str
    greater_is_better: bool | None
    naive_estimate: float | None
    is_confidence_interval: bool = True
    runs: dict[str, Any] | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", read_only(self.runs))

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, EvaluationResult) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    _format = "skboot.EvaluationResult", 2
    _noun = "result"
    _several = ROWS
    _display = "BootstrapDistributionDisplay.from_result"

    # -------------------------------------------------------------- numbers

    @property
    def evidence(self) -> Evidence:
        """What intervals are computed from."""
        return self.basis.evidence

    @property
    def estimate(self) -> float:
        """The metric on the data."""
        return float(self.evidence.estimate)

    @property
    def bootstrap_distribution(self) -> NDArray[np.float64]:
        """The metric on each resample, (n_resamples,), read-only; NaN where undefined."""
        return self.evidence.replicates

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate; NaN where it is unknown.

        The standard deviation of the defined replicates, unless the interval uses none and the
        error is known in closed form, such as ``sqrt(p (1 - p) / n)``, or replicates are those of
        single runs: their spread is one component of several.
        """
        return self.basis.standard_error(self.confidence_interval.method)

    @property
    def bias(self) -> float:
        """Mean of the defined replicates minus the estimate."""
        defined = self.evidence.sorted_replicates
        return float(defined.mean()) - self.estimate if len(defined) else math.nan

    @property
    def variance_components(self) -> dict[str, float] | None:
        """Variance of one value by source: training, seed, test, interaction; None for one run.

        Test and interaction are per test unit: their part of the score of one run is smaller by the
        number of units. NaN where the runs do not identify it.
        """
        return self.basis.variance_components()

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """Number of units to resample from; one number per factor if there are two."""
        units = tuple(int(n) for n in self.evidence.drawn.n_units)
        return units[0] if len(units) == 1 else units

    @property
    def n_resamples(self) -> int:
        """Number of resamples, undefined ones included."""
        return len(self.evidence.replicates)

    @property
    def n_undefined(self) -> int:
        """Number of resamples on which the metric is undefined."""
        return self.n_resamples - len(self.evidence.sorted_replicates)

    @property
    def n_deciding(self) -> float | None:
        """Units that decide the score; None where nothing tells.

        (sum v^2)^2 / sum v^4 over the influences v of the units: as many of equal influence would
        make the score vary as much. Of p wrong rows about p. At most as many as the metric knows to
        decide, such as the rows of the smaller class, or those that a forecast is expected to leave
        beyond it.
        """
        return self.evidence.n_deciding

    @cached_property
    def monte_carlo_error(self) -> MonteCarloError:
        """Standard error of each limit due to the finite number of resamples; NaN if unknown."""
        return self.basis.monte_carlo_error(self)

    @door("EvaluationResult.interval")
    def interval(
        self,
        method: MethodInterval | RunsInterval | None = None,
        confidence_level: float | None = None,
        estimand: Estimand | None = None,
    ) -> ConfidenceInterval:
        """Compute another interval from what is stored; nothing is resampled again.

        Parameters
        ----------
        method : str, optional
            Name of the method, or "auto"; that of the call when None.
        confidence_level : float, optional
            In (0, 1); that of the call when None.
        estimand : str, optional
            What the interval is for. That of the result, unless it stands on several runs.

        Returns
        -------
        ConfidenceInterval
            The pair (low, high), with `confidence_level` and `method`. Limits are cut at the range
            of the metric; ``uncut`` has them as published.

        Raises
        ------
        ValueError
            If the method is unknown or needs what was not computed, the level is out of range,
            or the estimand is another one.

        Warns
        -----
        UserWarning
            If the interval has no width, or the resamples are too few for the level.
        """
        for name, value in (("method", method), ("estimand", estimand)):
            if value is not None and not isinstance(value, str):
                raise fail(name, "be None or a name", repr(value))
        if confidence_level is not None:
            confidence_level = check_confidence_level(confidence_level)
        with collected() as notes:
            interval = self.basis.interval(self, method, confidence_level, estimand)
        tell(*dict.fromkeys(notes))
        return interval

    # -------------------------------------------------------------- text and tables

    def summary(self) -> str:
        """Describe the result in several short lines of plain text.

        Returns
        -------
        str
            What was estimated, its uncertainty and its basis, with all notes.
        """
        return f"{self.basis.title(self)}\n{rendering.text_list(self.basis.facts(self))}"

    @door("EvaluationResult.claim")
    def claim(self) -> str:
        """Say the result in a sentence for a paper.

        Returns
        -------
        str
            Estimate, interval and what they are for, with as many digits as the interval's width
            supports.
        """
        return self.basis.claim(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {wording.short(self)}>"

    def __str__(self) -> str:
        return wording.numbers(self)

    def __float__(self) -> float:
        return self.estimate

    def __format__(self, spec: str) -> str:
        return f"{self.estimate:{spec}} ({self.confidence_interval:{spec}})" if spec else str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        record = {
            "metric": self.metric,
            "estimand": self.estimand,
            "estimate": self.estimate,
            "confidence_interval": self.confidence_interval.to_dict(),
            "is_confidence_interval": self.is_confidence_interval,
            "standard_error": self.standard_error,
            "bias": self.bias,
            "monte_carlo_error": self.monte_carlo_error._asdict(),
            "naive_estimate": self.naive_estimate,
            "greater_is_better": self.greater_is_better,
            "n_samples": self.n_samples,
            "unit": self.unit,
            "n_units": self.n_units,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
            "n_deciding": self.n_deciding,
            **self._of_judge,
            "held_fixed": self.held_fixed,
            "variance_components": self.variance_components,
            "notes": self.notes,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
        }
        return dict(storage.plain(record, for_json=True))

    def _heading(self) -> str:
        return self.basis.title(self)

    def _tables(self, options: rendering.TableOptions) -> list[tuple[str, rendering.Table]]:
        return [("", wording.table_of([self], options))]

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(self)]

    def _numbers(self) -> Iterator[Number]:
        yield Number((), self.metric, self.estimate, {"ci": self.confidence_interval})

    def _html(self, options: rendering.TableOptions) -> str:
        from . import drawing

        claim = f'<p style="margin:.3em 0">{escape(self.claim())}</p>'
        picture = drawing.draw(wording.strip_of(self))
        picture += rendering.html_legend(drawing.LEGEND) if picture else ""
        facts = rendering.html_list(self.basis.facts(self))
        return f'<div style="color:inherit;max-width:52em">{claim}{picture}{facts}</div>'

    # -------------------------------------------------------------- files

    def _to_parts(self) -> dict[str, Any]:
        return super()._to_parts() | {"basis": self.basis.to_parts()}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        basis = basis_of_parts(parts["basis"])
        interval = ConfidenceInterval(*parts["confidence_interval"])
        return cls(**gathered(parts) | {"basis": basis, "confidence_interval": interval})


def record_of(result: EvaluationResult) -> dict[str, Any]:
    """Row of a data frame."""
    return {
        "metric": result.metric,
        "estimand": result.estimand,
        "estimate": result.estimate,
        **result.confidence_interval._row(),
        "standard_error": result.standard_error,
        "bias": result.bias,
        "naive_estimate": math.nan if result.naive_estimate is None else result.naive_estimate,
        "n_samples": result.n_samples,
        "unit": result.unit,
        "n_units": result.n_units,
        "n_resamples": result.n_resamples,
        "n_undefined": result.n_undefined,
        **result._of_judge,
    }


def evaluation_result(
    provenance: Provenance,
    *,
    estimand: str = "system",
    automatic: bool = False,
    greater_is_better: bool | None = None,
    naive_estimate: float | None = None,
    **fields: Any,
) -> EvaluationResult:
    """Return the result of a call; ``fields`` are its other attributes."""
    return EvaluationResult(
        estimand=estimand,
        automatic=automatic,
        greater_is_better=greater_is_better,
        naive_estimate=naive_estimate,
        provenance=provenance,
        **fields,
    )
