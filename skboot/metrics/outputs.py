"""Metrics of several real outputs, averaged over the outputs.

A mean of losses is a mean over rows, of the mean loss of a row's outputs. Roots of means, R2 and
explained variance are functions of sums of each output (`OutputAverage`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .additive import RowMean, SumsStatistic
from .coefficients import Coefficient, about_mean
from .facts import Facts
from .magnitudes import in_ordinary_range
from .registry import FAST_PATHS, Factory, Request, fast_path
from .statistic import Columns, Floats, ReducedData, Response, Statistic


@dataclass(frozen=True, eq=False)
class OutputAverage(SumsStatistic):
    """A function of sums of each output, averaged over the outputs.

    Parameters
    ----------
    name : str
        How results call it.
    column : SumsStatistic
        The metric of one output.
    by_variance : bool
        Weigh an output by the variance of its truth; for coefficients of determination alone.
    """

    adds_by_row = True

    name: str
    column: Any
    by_variance: bool = False
    response: Response = "outputs"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", self.column.bounds)
        object.__setattr__(self, "greater_is_better", self.column.greater_is_better)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms of each output, side by side."""
        assert y_true is not None
        weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
        truth, predicted = (np.asarray(y, dtype=np.float64) for y in (y_true, y_pred))
        reduce = self.column.reduce
        if self.by_variance:
            # Variances of outputs are compared, so that all have one scale.
            truth, predicted = in_ordinary_range(truth, predicted)
            reduce = self.column.reduce_scaled
        return _side_by_side(
            [reduce(*own, weights) for own in zip(truth.T, predicted.T, strict=True)]
        )

    def reduce_about(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], origin: NDArray[Any]
    ) -> ReducedData:
        """The same about a point of each output; see `Statistic.reduce_about`."""
        each = zip(y_true.T, y_pred.T, origin, strict=True)
        return _side_by_side([self.column.reduce_about(*own) for own in each])

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """See `Statistic.as_sums`."""
        return self, reduced

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Average of the values of the outputs."""
        values, shares = self._values_and_shares(sums, reduced)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.sum(values * shares, axis=0)
        return mean

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivatives of each output's value times its share, and of the shares."""
        values, shares = self._values_and_shares(sums, reduced)
        gradients = []
        each = zip(self._by_output(sums, reduced), reduced.data["outputs"], shares, strict=True)
        for own, output, share in each:
            gradients.append(share[:, None] * self.column.gradient(own, output))
        if self.by_variance:
            with np.errstate(invalid="ignore"):
                mean = np.sum(values * shares, axis=0)
            total = sum(_total(own) for own in self._by_output(sums, reduced))
            for k, own in enumerate(self._by_output(sums, reduced)):
                pull = np.divide(values[k] - mean, total, out=np.zeros_like(mean), where=total > 0)
                with np.errstate(invalid="ignore", divide="ignore"):
                    middle = own[:, 2] / own[:, 1]
                gradients[k][:, 1] += pull * middle**2
                gradients[k][:, 2] -= 2 * pull * middle
                gradients[k][:, 3] += pull
        return np.hstack(gradients)

    def _values_and_shares(self, sums: Floats, reduced: ReducedData) -> tuple[Floats, Floats]:
        """Value of each output and its share in the average, (n_outputs, n_resamples) each."""
        by_output = self._by_output(sums, reduced)
        each = zip(by_output, reduced.data["outputs"], strict=True)
        values = np.array([self.column.combine(own, output) for own, output in each])
        shares = np.full(values.shape, 1 / len(values))
        if self.by_variance:
            totals = np.array([_total(own) for own in by_output])
            # Where no truth varies all outputs count the same, as in scikit-learn.
            every = totals.sum(axis=0)
            np.divide(totals, every, out=shares, where=every > 0)
        return values, shares

    def _by_output(self, sums: Floats, reduced: ReducedData) -> list[Floats]:
        return np.split(sums, len(reduced.data["outputs"]), axis=1)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and what one row carries."""
        known = super().facts(reduced, rows, members)
        return replace(known, largest_share=self.largest_share(reduced))

    def largest_share(self, reduced: ReducedData) -> float | None:
        """At most this share of the losses, averaged over outputs, does one row carry."""
        shares = [self.column.largest_share(own) for own in reduced.data["outputs"]]
        known = [share for share in shares if share is not None]
        return sum(known) / len(shares) if known else None

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Average of the values of the best constants of the outputs."""
        y_true, y_pred, sample_weight = rows
        if y_true is None:
            return None
        columns = zip(y_true.T, y_pred.T, strict=True)
        values = [self.column.naive(None, (*own, sample_weight)) for own in columns]
        return None if None in values else float(np.mean(values))


def _side_by_side(outputs: list[ReducedData]) -> ReducedData:
    terms = np.hstack([own.terms for own in outputs])
    return ReducedData(None, len(terms), terms, MappingProxyType({"outputs": outputs}))


def _total(sums: Floats) -> Floats:
    """Sum of squares of the truth about its mean, from the sums of `Coefficient`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        total = about_mean(sums[:, 1], sums[:, 2], sums[:, 3])
    return np.nan_to_num(total)


def _mean_over_outputs(
    y_true: NDArray[Any], y_pred: NDArray[Any], *, loss: Any, weights: Any
) -> Floats:
    return np.asarray(np.average(loss(y_true, y_pred), axis=1, weights=weights))


def _constant_of_outputs(
    y_true: NDArray[Any], sample_weight: Floats | None, *, of: Any, weights: Any
) -> float:
    return float(np.average([of(column, sample_weight) for column in y_true.T], weights=weights))


def _averaged(request: Request, column: Any, multioutput: Any) -> Any:
    """The metric of one output, averaged over outputs; other averages are left to the function."""
    weights = None
    is_mean = isinstance(column, RowMean) and not column.root
    by_variance = isinstance(column, Coefficient) and isinstance(multioutput, str)
    by_variance = by_variance and multioutput == "variance_weighted"
    if not isinstance(multioutput, str):
        weights = np.asarray(multioutput)
        if not is_mean or weights.ndim != 1 or weights.dtype.kind not in "iuf":
            return None
    elif not by_variance and multioutput != "uniform_average":
        return None
    if not is_mean:
        return OutputAverage(request.name, column, by_variance)
    return replace(
        column,
        response="outputs",
        row_values=partial(_mean_over_outputs, loss=column.row_values, weights=weights),
        constant=partial(_constant_of_outputs, of=column.constant, weights=weights),
    )


def _of_outputs(factory_of_column: Factory) -> Factory:
    def factory(request: Request, *, multioutput: Any = "uniform_average") -> Any:
        return _averaged(request, factory_of_column(request), multioutput)

    return factory


for _name in (
    "mean_squared_error",
    "mean_squared_log_error",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
):
    fast_path(_name, response="outputs", several_outputs=True)(_of_outputs(FAST_PATHS[_name]))


@fast_path("mean_pinball_loss", response="outputs", several_outputs=True)
def _pinball_loss(
    request: Request, *, alpha: float = 0.5, multioutput: Any = "uniform_average"
) -> Any:
    column = FAST_PATHS["mean_pinball_loss"](request, alpha=alpha)
    return _averaged(request, column, multioutput)


@fast_path("r2_score", response="outputs", several_outputs=True)
def _r2_score(
    request: Request, *, force_finite: bool = True, multioutput: Any = "uniform_average"
) -> Any:
    return _averaged(request, Coefficient(request.name, False, force_finite), multioutput)


@fast_path("explained_variance_score", response="outputs", several_outputs=True)
def _explained_variance(
    request: Request, *, force_finite: bool = True, multioutput: Any = "uniform_average"
) -> Any:
    return _averaged(request, Coefficient(request.name, True, force_finite), multioutput)
