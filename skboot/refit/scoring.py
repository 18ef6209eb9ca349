"""From the ``scoring`` of a user to scorers by name, and to run metrics."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring

from .._base.checks import arguments_named, check_weights, fail
from .._base.errors import Note, amend, only_advises, parts_of, rename, tell
from .._base.sklearn_compat import n_rows_of, scorer_parts
from ..method_error.out_of_bag import NO_INFORMATION_SCORE
from ..metrics import get_scorer
from ..metrics.lookup import (
    check_response,
    known_names,
    meant_by,
    resolve_metrics,
    scorers_called_by,
    unknown_scoring,
    unnamed_positives,
)
from ..metrics.responses import positive_note, positive_of_call
from ..metrics.statistic import Statistic
from . import run_metrics
from .run_metrics import RunMetric, RunMetricArguments, Targets
from .training import Answers, has_rows

# How often a run calls a callable, about, and the time (seconds) from which on a name is advised.
_CALLS_OF_A_RUN, _WORTH_A_NAME = 80, 1.0
# How to name the positive class of a scorer, and the other one.
_NAME_IT = (
    "Say so with sklearn.metrics.make_scorer(function, pos_label={0!r}), or give pos_label={1!r} "
    "there."
)
# Columns of probabilities are those of the estimator, whichever class is positive.
_COLUMNS_OF_ESTIMATOR = np.empty((0, 2))


def named_scorers(scoring: Any, estimator: Any) -> tuple[dict[str, Any], bool]:
    """Scorers by name, and whether a single one was asked for.

    Parameters
    ----------
    scoring : str, callable, list, tuple, set, dict or None
        As in scikit-learn's searches; None: accuracy or R2 by type, else the estimator's own.
    estimator : estimator
        Decides what None means.

    Returns
    -------
    scorers : dict of str to callable
    single : bool
    """
    if scoring is None:
        if is_classifier(estimator):
            return {"accuracy": get_scorer("accuracy")}, True
        if is_regressor(estimator):
            return {"r2": get_scorer("r2")}, True
        return {"score": check_scoring(estimator)}, True
    if isinstance(scoring, Mapping):
        named = {str(name): _scorer(item, estimator) for name, item in scoring.items()}
    elif isinstance(scoring, list | tuple | set | frozenset):
        several = sorted(scoring, key=str) if isinstance(scoring, set | frozenset) else scoring
        named = {_name_of(item): _scorer(item, estimator) for item in several}
        if len(named) < len(scoring):
            advice = "Name them with a dict."
            must = "hold scorers of different names"
            raise fail("scoring", must, repr(scoring), advice)
    else:
        return {_name_of(scoring): _scorer(scoring, estimator)}, True
    if not named:
        raise fail("scoring", "hold at least one scorer", repr(scoring))
    return named, False


def name_arguments_of_fit(error: ValueError, truth: str) -> None:
    """Put an error of metrics under the arguments of a fit, which has no predictions as argument.

    What is wrong with the estimator's is that the metric in ``scoring`` does not read them.
    """
    bad = parts_of(error)
    if bad is not None and bad.name == "y_pred":
        got = f"predictions of {bad.got}, which must {bad.must}"
        must = "be a metric of what the estimator predicts"
        amend(error, bad._replace(name="scoring", must=must, got=got))
    rename(error, {"metric": "scoring", "y_true": truth})


def run_metrics_of(
    scorers: Mapping[str, Any],
    target: Targets,
    answers: Answers,
    params: Mapping[str, Mapping[str, Any]],
) -> list[RunMetric]:
    """One metric for each scorer, checked on what the model of all rows answers.

    Parameters
    ----------
    scorers : dict of str to callable
    target : Targets
    answers : Answers
        Of the model of all rows, for all rows.
    params : dict of dict
        Metadata of each scorer that has some, by its name.

    Returns
    -------
    list of RunMetric
    """
    try:
        classes = target.classes
        if classes is not None and classes.dtype.kind in "iuf" and classes.max() > 1:
            _check_positive(scorers, target)
        metrics = [
            _run_metric(name, scorer, target, answers, params.get(name, {}))
            for name, scorer in scorers.items()
        ]
    except ValueError as error:
        name_arguments_of_fit(error, "y")
        raise
    tell(*[Note("caution", metric.positive_note) for metric in metrics if metric.positive_note][:1])
    return metrics


@dataclass(frozen=True)
class ScorerEntry:
    """A callable of estimator, X and y that returns one entry of the dict of another one."""

    scorer: Any
    key: Any

    def __call__(self, *arguments: Any, **params: Any) -> Any:
        """Return the score under the key."""
        return self.scorer(*arguments, **params)[self.key]


def _check_positive(scorers: Mapping[str, Any], target: Targets) -> None:
    """Warn of the positive class where scikit-learn's is the lesser label; refuse both at once."""
    if target.y is None or len(np.asarray(target.classes)) != 2:
        return
    needed = {
        name: answers_read_by(name, scorer, target.classes) for name, scorer in scorers.items()
    }
    statistics = {
        name: answers.statistic for name, answers in needed.items() if answers is not None
    }
    unnamed = unnamed_positives({name: scorers[name] for name in statistics}, statistics)
    positive = positive_of_call(unnamed, [(np.asarray(target.y), _COLUMNS_OF_ESTIMATOR, None)])
    if positive is None:
        return
    if positive.are_both:
        must, got = "hold metrics of one positive class", f"classes 1 and {positive.label!r}"
        raise fail("scoring", must, got, _NAME_IT.format(positive.label, positive.negative))
    tell(positive.note(_NAME_IT))


class MetricAnswers(NamedTuple):
    """Answers of an estimator that a metric reads.

    Attributes
    ----------
    statistic : Statistic
    methods : tuple of str
        Methods of the estimator, in order of preference.
    positive : int
        Column of the positive class, of two.
    function : callable
        The metric function behind it.
    """

    statistic: Statistic
    methods: tuple[str, ...]
    positive: int
    function: Any


def answers_read_by(
    name: str, scorer: Any, classes: NDArray[Any] | None, several_outputs: bool = False
) -> MetricAnswers | None:
    """Answers that a metric-based scorer reads; None for a callable of estimator, X and y."""
    parts = scorer_parts(scorer)
    if parts is None:
        return None
    named = {name: scorer}
    statistic = resolve_metrics(named, labels=classes, several_outputs=several_outputs)[0][name]
    pos_label, positive = parts.options.get("pos_label"), 1
    if pos_label is not None and classes is not None and len(classes) == 2:
        positive = 0 if classes[0] == pos_label else 1
    return MetricAnswers(statistic, parts.response_methods, positive, parts.function)


def _scorer(scoring: Any, estimator: Any) -> Any:
    if isinstance(scoring, str):
        name = _name_of(scoring)
        if name not in set(known_names()) - {"mean"}:
            raise unknown_scoring(scoring)
        return get_scorer(name)
    if not callable(scoring):
        must = "be a scoring name, a scorer callable(estimator, X, y), or a list or dict of these"
        raise fail("scoring", must, repr(scoring))
    if _is_metric_function(scoring):
        must = "take the estimator first: callable(estimator, X, y)"
        advice = (
            "Give scoring=sklearn.metrics.make_scorer of the function, with its options, and for a "
            "loss with greater_is_better=False."
        )
        raise fail("scoring", must, f"the metric function {_name_of(scoring)}", advice)
    return check_scoring(estimator, scoring=scoring)


def _is_metric_function(scoring: Any) -> bool:
    """Whether a callable, or what a partial calls, takes true and predicted values."""
    if scorer_parts(scoring) is not None:
        return False
    while isinstance(scoring, partial):
        scoring = scoring.func
    try:
        parameter = next(iter(inspect.signature(scoring).parameters), "")
    except (TypeError, ValueError):
        # Functions written in C need not have a signature.
        return False
    return parameter in ("y_true", "y_test")


def _name_of(scoring: Any) -> str:
    if isinstance(scoring, str):
        # What people call it, as in metric=; a loss has no scorer of its own name.
        name = meant_by(scoring)
        return name if name in known_names() else scoring
    parts = scorer_parts(scoring)
    function = scoring if parts is None else parts.function
    function = getattr(function, "func", function)
    name = str(getattr(function, "__name__", type(function).__name__))
    name = "score" if name == "<lambda>" else name
    return f"neg_{name}" if parts is not None and parts.sign < 0 else name


def _run_metric(
    name: str, scorer: Any, target: Targets, answers: Answers, params: Mapping[str, Any]
) -> RunMetric:
    y, needed = target.y, None
    columns = y is not None and y.ndim == 2
    if y is not None and y.ndim in (1, 2) and set(params) <= {"sample_weight"}:
        needed = answers_read_by(name, scorer, target.classes, columns)
    n_rows = n_rows_of(answers.X)
    by_row = {key: value for key, value in params.items() if has_rows(value, n_rows)}
    whole_params = {key: value for key, value in params.items() if key not in by_row}
    if needed is None:
        arguments = RunMetricArguments(name, target, by_row=by_row, params=whole_params)
        return run_metrics.ScorerRunMetric(arguments, scorer)
    statistic = needed.statistic
    low, high = statistic.bounds
    weights = None
    if "sample_weight" in params:
        weights = weights_of_rows("sample_weight", params["sample_weight"], n_rows)
    is_called = weights is not None and not statistic.takes_weights
    if is_called and not _may_take_weights(needed.function):
        raise refused_weights(name)
    reads_numbers = needed.methods == ("predict",)
    if columns and reads_numbers:
        # Predictions of numbers in columns; sparse ones are not.
        truth, predicted = np.asarray(answers.y), answers.predicted
        is_number = all(values.dtype.kind in "biuf" for values in (truth, predicted))
        reads_numbers = predicted.ndim == 2 and is_number
    if is_called or (columns and not reads_numbers):
        # Only the scorer itself knows what it does with these.
        bounds = (0.0 - high, 0.0 - low)
        arguments = RunMetricArguments(
            name, target, bounds=bounds, by_row=by_row, params=whole_params
        )
        return run_metrics.ScorerRunMetric(arguments, scorer)
    response = answers.response(statistic.response, needed.methods, needed.positive)
    statistic = check_response(statistic, y, response)
    sign = -1.0 if statistic.greater_is_better is False else 1.0
    inner: Any = statistic.unsigned or statistic
    factor = -sign if inner is statistic else sign
    arguments = RunMetricArguments(
        name,
        target,
        sign,
        factor,
        (0.0 - high, 0.0 - low) if sign > 0 else (low, high),
        needed.function,
        needed.methods,
        needed.positive,
        weights,
    )
    metric: RunMetric
    by_posteriors = inner.response in ("probabilities", "scores") and target.codes is not None
    if inner.adds_by_row and inner.response == "labels":
        labels = np.unique(np.concatenate([target.y, response]))
        metric = run_metrics.LabelRunMetric(arguments, inner, labels)
    elif inner.adds_by_row and inner.response in ("values", "outputs", "indicators"):
        metric = run_metrics.ValueRunMetric(arguments, inner)
    elif inner.adds_by_row and by_posteriors:
        metric = run_metrics.LossRunMetric(arguments, inner)
    else:
        function_name = getattr(arguments.function, "__name__", "").removesuffix("_score")
        limit = NO_INFORMATION_SCORE.get(function_name)
        metric = run_metrics.ReplicateRunMetric(arguments, inner, limit)
    note = positive_note(inner, y, _COLUMNS_OF_ESTIMATOR, "choice", _NAME_IT)
    metric.positive_note = None if note is None else note.text
    return metric


def weights_of_rows(argument: str, weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Check weights of rows; None where all are equal, which changes no score."""
    if weights is None:
        return None
    with arguments_named({"sample_weight": argument}):
        checked = check_weights(weights)
        assert checked is not None
        if len(checked) != n_rows:
            raise fail(
                "sample_weight", f"have a value for each of {n_rows} rows", f"{len(checked)}"
            )
    return None if bool((checked == checked[0]).all()) else checked


@only_advises(None)
def note_on_callable(
    scorers: Mapping[str, Any], metrics: list[RunMetric], answers: Answers, n_runs: int
) -> Note | None:
    """Return which named scorers slow callables are, tried on the model of all rows.

    A callable is called for every run, and again without each of some rows or groups of it; of a
    named scorer the answers of the run suffice.
    """
    texts, seconds = [], 0.0
    for metric in metrics:
        scorer: Any = scorers.get(metric.name)
        candidates = scorers_called_by(scorer)
        is_called = isinstance(metric, run_metrics.ScorerRunMetric) and not metric.is_weighted
        if not (is_called and candidates):
            continue
        rows = (answers.X,) if answers.y is None else (answers.X, answers.y)
        start = time.perf_counter()
        value = float(answers.lender.call(partial(scorer, answers.estimator), *rows))
        seconds += (time.perf_counter() - start) * n_runs * _CALLS_OF_A_RUN
        for name, named in candidates.items():
            try:
                score = float(answers.lender.call(partial(named, answers.estimator), *rows))
            except (AttributeError, TypeError, ValueError):
                continue
            if abs(score - value) <= 1e-12 * max(abs(value), 1.0):
                texts.append(f"scoring={name!r} has the value of {metric.name!r}")
                break
    if not texts or seconds < _WORTH_A_NAME:
        return None
    text = (
        f"about {seconds:.0f} s in one process: a callable is called again and again in each of "
        f"{n_runs} runs. {', and '.join(texts)} on the model of all rows, and needs no calls."
    )
    return Note("slow", text, about="time of a callable")


def _may_take_weights(function: Any) -> bool:
    """Whether a function has a parameter ``sample_weight``, or takes any."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return takes_any or "sample_weight" in parameters


def refused_weights(name: str) -> ValueError:
    """Return the error of weights for a metric that takes none."""
    advice = "Its function has no sample_weight: request it for other scorers only."
    return fail("sample_weight", f"be None for the metric {name!r}", "weights", advice)
