"""Types of arguments, for type checkers and editors.

Each `Literal` lists the names that a registry or a check knows, and each options class the keywords
that overloads of one function share: an overload says what a call returns, its options are here
once. Tests hold them to the registries and to the functions' own signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from .arguments import Anytime, Crossed, Judge, Trials
from .checks import ArrayLike as ArrayLike


class Frame(Protocol):
    """A table with names of columns, of pandas, polars or dask."""

    @property
    def columns(self) -> Any:
        """Names."""

    def __getitem__(self, key: Any, /) -> Any:
        """A column by its name."""


# Columns by the names of systems.
BySystem: TypeAlias = Mapping[str, ArrayLike] | Frame
Metric: TypeAlias = str | Callable[..., Any]
# Several metrics; a list is not covariant, so each kind of list is named.
Metrics: TypeAlias = (
    list[str]
    | list[Callable[..., Any]]
    | list[Metric]
    | tuple[Metric, ...]
    | set[str]
    | frozenset[str]
    | Mapping[str, Metric]
)

ScoreInterval: TypeAlias = Literal[
    "auto",
    "wald",
    "wilson",
    "clopper-pearson",
    "beta",
    "percentile",
    "expanded",
    "two-way",
    "basic",
    "normal",
    "t",
    "logit-t",
    "bias-corrected",
    "studentized",
    "skewed-t",
    "jackknife",
    "ewc",
    "bca",
    "delong",
    "bins",
    "smoothed",
]
RunsInterval: TypeAlias = ScoreInterval | Literal["components"]
DifferenceInterval: TypeAlias = Literal[
    "auto",
    "percentile",
    "expanded",
    "two-way",
    "basic",
    "normal",
    "t",
    "bca",
    "smoothed",
    "tango",
    "delong",
    "logit-delong",
]
RunsDifferenceInterval: TypeAlias = Literal["auto", "components", "welch"]
MethodsDifferenceInterval: TypeAlias = Literal[
    "auto", "cv-bootstrap", "adjusted", "components", "welch"
]
SearchInterval: TypeAlias = Literal["auto", "adjusted", "percentile"]
ErrorInterval: TypeAlias = Literal[
    "cv-bootstrap", "cv-bootstrap-conservative", "adjusted", "hull", "normal", "t", "percentile"
]
MethodInterval: TypeAlias = ErrorInterval | Literal["auto"]
ProportionInterval: TypeAlias = Literal["wilson", "clopper-pearson", "wald"]

Varied: TypeAlias = Literal["seed", "training", "both", "independent"]
Estimand: TypeAlias = Literal["system", "method", "next_run", "pooled"]
Adjustment: TypeAlias = Literal["max-t", "holm"]
Simultaneous: TypeAlias = Literal["max-t"]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
BlockLength: TypeAlias = int | Literal["auto"] | None
Strategy: TypeAlias = Literal["cv-bootstrap", "oob", ".632", ".632+", "optimism"]
InnerCV: TypeAlias = Literal["grouped", "as-is"]
ErrorPoint: TypeAlias = Literal["oob", ".632", ".632+"]
Clipping: TypeAlias = Literal["full", "literal"]
SpreadForm: TypeAlias = Literal["centred", "et97"]
CurveName: TypeAlias = Literal[
    "roc",
    "precision_recall",
    "pr",
    "prc",
    "det",
    "calibration",
    "calibration_curve",
    "reliability",
    "reliability_diagram",
    "calibration_smooth",
    "decision",
    "decision_curve",
    "dca",
    "net_benefit",
]
CurveOverThresholds: TypeAlias = Literal[
    "roc",
    "det",
    "precision_recall",
    "pr",
    "prc",
    "decision",
    "decision_curve",
    "dca",
    "net_benefit",
]
Band: TypeAlias = Literal["simultaneous", "pointwise"]
Layout: TypeAlias = Literal["differences", "systems", "both"]
ShownPairs: TypeAlias = Literal["auto", "all", "best"]


class _WorkOptions(TypedDict, total=False):
    confidence_level: float
    random_state: Any
    n_jobs: int | None
    verbose: bool | int | None


class _RowOptions(_WorkOptions, total=False):
    sample_weight: ArrayLike | None
    labels: ArrayLike | None
    n_resamples: int
    greater_is_better: bool | None
    pos_label: Any


class CurveOptions(_WorkOptions, total=False):
    """Options of `skboot.bootstrap_curve`."""

    curve: CurveName | Callable[..., Any]
    band: Band
    grid: ArrayLike | None
    n_bins: int
    pos_label: Any
    groups: ArrayLike | Crossed | Trials | None
    strata: ArrayLike | None
    block_length: BlockLength
    sample_weight: ArrayLike | None
    n_resamples: int


class LearningOptions(_WorkOptions, total=False):
    """Options of `skboot.learning_curve`."""

    scoring: Metric | None
    train_sizes: ArrayLike
    n_repeats: int
    groups: ArrayLike | None
    params: Mapping[str, Any] | None
    band: Band
    return_train_score: bool
    error_score: Any
    memory: Any


class SearchOptions(_RowOptions, total=False):
    """Options of `skboot.search_score`."""

    groups: ArrayLike | None
    interval: SearchInterval


class ScoreOptions(_RowOptions, total=False):
    """Options of `skboot.bootstrap_score`."""

    groups: ArrayLike | Crossed | Trials | None
    strata: ArrayLike | None
    average_over: ArrayLike | None
    block_length: BlockLength
    interval: ScoreInterval | Anytime
    adjust: Simultaneous | None
    resamples: ArrayLike | Sequence[ArrayLike] | None
    proxy: ArrayLike | Judge | None


class RunsOptions(_RowOptions, total=False):
    """Options of `skboot.bootstrap_runs`."""

    groups: ArrayLike | Crossed | Trials | None
    varied: Varied
    training: ArrayLike | None
    full_runs: Any
    estimand: Estimand
    strata: ArrayLike | None
    average_over: ArrayLike | None
    block_length: BlockLength
    interval: RunsInterval


class SystemsOptions(_RowOptions, total=False):
    """Options of `skboot.compare_systems`."""

    groups: ArrayLike | Crossed | Trials | Mapping[str, Any] | None
    reference: str | None
    adjust: Adjustment | None
    alternative: Alternative
    strata: ArrayLike | None
    average_over: ArrayLike | None
    block_length: BlockLength
    paired: bool
    proxy: ArrayLike | Mapping[str, ArrayLike] | Judge | None
    interval: DifferenceInterval | Anytime


class CompareRunsOptions(_RowOptions, total=False):
    """Options of `skboot.compare_runs`."""

    groups: ArrayLike | Crossed | Trials | None
    varied: Varied
    training: Mapping[str, ArrayLike] | None
    paired_runs: bool
    full_runs: Mapping[str, Any] | None
    reference: str | None
    adjust: Adjustment | None
    alternative: Alternative
    strata: ArrayLike | None
    average_over: ArrayLike | None
    block_length: BlockLength
    interval: RunsDifferenceInterval


class MethodsOptions(_WorkOptions, total=False):
    """Options of `skboot.compare_methods`."""

    groups: ArrayLike | None
    y_test: Any
    groups_test: Any
    sample_weight_test: Any
    params: Mapping[str, Any] | None
    reference: str | None
    adjust: Adjustment | None
    alternative: Alternative
    strategy: Strategy
    n_train_resamples: int | Literal["auto"]
    n_cv_repeats: int
    n_seeds: int
    n_test_resamples: int
    estimand: Literal["method"]
    interval: MethodsDifferenceInterval
    stratify: bool
    inner_cv: InnerCV
    error_score: Any
    memory: Any
