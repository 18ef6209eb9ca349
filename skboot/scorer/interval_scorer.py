"""`interval_scorer`: a score with its limits, for each fold of `cross_validate` and of searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import checks as check
from .._base.doors import door
from .._base.sklearn_compat import ScorerBase, scorer_parts
from .._base.typing import ScoreInterval
from .._base.work import DEFAULT_WORKERS
from ..inference.intervals import FOR_ONE_LOOK, checked_interval
from ..refit.scoring import answers_read_by, named_scorers
from ..refit.training import Answers
from ..study.rows import IntervalOptions, Sampling, Scoring
from ..study.study import results_of, study_of_system

# What a row can have beside its target.
_COLUMNS = ("groups", "sample_weight", "strata", "average_over")


class ScoreWithLimits(dict[str, float]):
    """A score and its limits, which scikit-learn takes where a scorer may return several."""

    def __str__(self) -> str:
        name = next(iter(self))
        return (
            f"{', '.join(self)}: interval_scorer returns three values, and is for scoring= of "
            f"cross_validate, or of GridSearchCV with refit={name!r}, by itself and in no dict"
        )


class IntervalScorer(ScorerBase):
    """A scorer that returns the score of a fitted model on rows, with its limits.

    Made by `interval_scorer`.

    Parameters
    ----------
    name : str
        Of the metric.
    scorer : callable
        Scorer of scikit-learn, made of a metric function.
    sampling : Sampling
        Of every fold; its columns are routed.
    wanted : IntervalOptions
    """

    def __init__(
        self, name: str, scorer: Any, sampling: Sampling, score_options: IntervalOptions
    ) -> None:
        parts = scorer_parts(scorer)
        assert parts is not None
        super().__init__(parts.function, parts.sign, dict(parts.options), parts.response_methods)
        self.name, self.scorer, self.sampling, self.wanted = name, scorer, sampling, score_options

    def set_score_request(self, **requests: Any) -> IntervalScorer:
        """Say which columns of the rows are routed to the scorer."""
        for name in requests:
            check.check_choice("a column of set_score_request", name, _COLUMNS)
        return super().set_score_request(**requests)

    def __repr__(self) -> str:
        return f"interval_scorer({self.name!r})"

    @door("interval_scorer")
    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **columns: Any
    ) -> ScoreWithLimits:
        """Return the score of the model, and its limits."""
        classes = getattr(estimator, "classes_", None)
        classes = classes if isinstance(classes, np.ndarray) else None
        needed = answers_read_by(self.name, self.scorer, classes)
        assert needed is not None
        answers = Answers(estimator, X, y_true, classes).response(
            needed.statistic.response, needed.methods, needed.positive
        )
        scoring = Scoring({self.name: self.scorer}, labels=classes if answers.ndim == 2 else None)
        sampling = self.sampling._replace(**columns)
        study = study_of_system(y_true, answers, sampling, scoring, self.wanted)
        result = results_of(study)[self.name]
        low, high = result.confidence_interval
        values = (result.estimate, low, high)
        names = (self.name, f"{self.name}_low", f"{self.name}_high")
        return ScoreWithLimits(zip(names, values, strict=True))


@door("interval_scorer")
def interval_scorer(
    metric: Any,
    *,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: ScoreInterval = "auto",
    random_state: Any = None,
) -> IntervalScorer:
    """Make a scorer that returns a score and the limits of its interval for each fold.

    The interval of a fold is that of `skboot.bootstrap_score`, for the model of the fold and new
    test rows. For the score of the method use `skboot.BootstrapScorer`.

    Parameters
    ----------
    metric : str or callable
        Name of a scorer, or a scorer made by `sklearn.metrics.make_scorer`.
    n_resamples, confidence_level, interval : optional
        As in `skboot.bootstrap_score`.
    random_state : int, Generator, RandomState or None
        Seed of every fold. With an int models that predict alike have equal limits.

    Returns
    -------
    callable
        Scorer that returns a dict of ``<name>``, ``<name>_low`` and ``<name>_high``. Give it as the
        whole ``scoring=`` of `cross_validate`, whose dict then has ``test_<name>_low`` and the
        like, or of searches with ``refit="<name>"``. `cross_val_score` and dicts of scorers take
        one number and raise an error. Groups and weights of rows go through metadata routing: after
        ``set_score_request(groups=True)`` the scorer gets the ``groups`` that ``cross_validate`` is
        given in ``params``. Routing is switched on by
        ``sklearn.set_config(enable_metadata_routing=True)``.

    Raises
    ------
    ValueError
        If the metric is unknown or no scorer, or an option is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot.metrics import interval_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = cross_validate(GaussianNB(), X, y, cv=3,
    ...                        scoring=interval_scorer("accuracy", random_state=0))
    >>> for low, high in zip(found["test_accuracy_low"], found["test_accuracy_high"]):
    ...     print(f"{low:.3f} to {high:.3f}")
    0.868 to 0.949
    0.906 to 0.972
    0.905 to 0.972
    """
    if isinstance(metric, list | tuple | set | dict) or metric is None:
        advice = "Make a scorer for each metric, and cross-validate with one after the other."
        raise check.fail("metric", "be a single metric", repr(metric), advice)
    with check.arguments_named({"scoring": "metric"}):
        named, _ = named_scorers(metric, None)
    [(name, scorer)] = named.items()
    if scorer_parts(scorer) is None:
        must = "be the name of a metric, or a scorer made of a metric function"
        raise check.fail("metric", must, repr(metric), "Use sklearn.metrics.make_scorer.")
    level = check.check_confidence_level(confidence_level)
    method = checked_interval(interval, ["auto", *FOR_ONE_LOOK])
    sampling = Sampling(
        n_resamples=check.check_count("n_resamples", n_resamples, 2),
        random_state=random_state,
    )
    # Folds are scored in the processes that scikit-learn starts.
    score_options = IntervalOptions(
        interval=method, confidence_level=level, workers=DEFAULT_WORKERS
    )
    return IntervalScorer(name, scorer, sampling, score_options)
