"""What runs keep of their answers for test sets, so that metrics can be computed of them later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from ..metrics.lookup import check_response
from ..refit.influence import ErrorFunction
from ..refit.scoring import Needed, needed_of
from ..refit.training import Answers, Job, Record, Scored, kept_on_tests, key_on_test
from ..study.measured import Scoring, measured_by
from ..study.rows import Rows
from .held_out import HeldOutSets, name_in


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """What is kept of a run for all metrics that read the same answers.

    Attributes
    ----------
    key : str
    needed : Needed
        By the first of these metrics.
    metrics : dict of str to ErrorFunction
        All of them.
    """

    key: str
    needed: Needed
    metrics: dict[str, ErrorFunction]

    def keep(self, answers: Answers, scored: Scored) -> Mapping[str, Any]:
        """Answers by their key; a run fails by those that have no score."""
        kind = self.needed.statistic.response
        given = answers.response(kind, self.needed.methods, self.needed.positive)
        found = narrow(np.asarray(given))
        self.check_defined(answers.y, found)
        return {self.key: found}

    def check_defined(self, y: Any, found: NDArray[Any]) -> None:
        """Refuse answers that a metric has no value for."""
        for name, function in self.metrics.items():
            statistic = check_response(function.statistic, y, found)
            if statistic.of_row_values and statistic.response == "labels":
                # A mean over labels has a value whatever they are.
                continue
            if np.isnan(replace(function, statistic=statistic)(y, found)):
                raise ValueError(f"The metric {name!r} is undefined on the test set.")


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in bytes, where they fit: all runs are kept."""
    if labels.dtype.kind not in "iu" or labels.size == 0:
        return labels
    if labels.min() < -128 or labels.max() > 127:
        return labels
    return labels.astype(np.int8)


def responses_of(
    scorers: Mapping[str, Any], classes: Any, several_outputs: bool, model: Any
) -> dict[str, KeptAnswers]:
    """Return the answers that each metric reads; metrics that read the same share them."""
    found: dict[str, KeptAnswers] = {}
    by_key: dict[str, KeptAnswers] = {}
    for name, scorer in scorers.items():
        with check.arguments_named({"metric": "scoring"}):
            needed = needed_of(name, scorer, classes, several_outputs)
        if needed is None:
            raise check.fail(
                "scoring",
                "be metric-based with a test set",
                f"the callable {name!r} of estimator, X and y",
                "Its answers cannot be resampled: use a name, or make_scorer of a metric.",
            )
        method = next((own for own in needed.methods if hasattr(model, own)), "none")
        part = "all" if needed.statistic.response == "probabilities" else needed.positive
        key = method if method == "predict" else f"{method} {part}"
        found[name] = by_key.setdefault(key, KeptAnswers(key, needed, {}))
        found[name].metrics[name] = ErrorFunction(needed.statistic, 1.0, classes)
    return found


def first_record(
    job: Job,
    model: Any,
    fit_time: float,
    scorers: Mapping[str, Any],
    tests: HeldOutSets,
    answers_to_keep: Sequence[KeptAnswers],
) -> Record:
    """Return the record of the run on all rows; refuse metrics that cannot be had."""
    plain = replace(job, keep=[replace(answers, metrics={}).keep for answers in answers_to_keep])
    found = kept_on_tests(plain, model, None, job.loan)
    for k, rows in enumerate(tests.rows):
        with check.arguments_named({"y_true": name_in("y_test", tests.names[k])}):
            for response in answers_to_keep:
                answers = found[key_on_test(k, response.key)]
                labels = job.classes if answers.ndim == 2 else None
                named = {"": [("y_pred", Rows(rows.y, answers, None, labels))]}
                for name in response.metrics:
                    measured_by(Scoring({name: scorers[name]}, several=False), named)
                response.check_defined(rows.y, answers)
    return {"error": None, "fit_time": fit_time, "n_convergence": 0, **found}
