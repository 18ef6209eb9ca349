"""Trainings as tasks of a scorer, of which callbacks hear (scikit-learn 1.9 or newer).

`sklearn.callback` is experimental there, and so is this. Contexts travel with a job to workers, and
are made for each training where it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .._base.sklearn_compat import has_callbacks

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Tasks:
    """The trainings of a fit, as tasks below that of the fit.

    Attributes
    ----------
    owner : estimator
        Whose fit it is.
    context : CallbackContext
        Of the task that trainings are parts of.
    contexts : dict
        Those of trainings by number: one that is done again with copies is the same task.
    """

    owner: Any
    context: Any
    contexts: dict[int | str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, owner: Any, estimator: Any, n_tasks: int, X: Any, y: Any) -> Tasks | None:
        """Begin the task of a fit; None where nothing listens.

        Parameters
        ----------
        owner : estimator
            Has the methods of `sklearn.callback.CallbackSupportMixin`.
        estimator : estimator
            That is trained: it may have callbacks of its own.
        n_tasks : int
            Trainings on all rows, and one for all those on samples.
        X, y : array-like
        """
        if not (has_callbacks(owner) or has_callbacks(estimator)):
            return None
        context = owner._init_callback_context(max_subtasks=n_tasks)
        return cls(owner, context.call_on_fit_task_begin(estimator=owner, X=X, y=y))

    def of_samples(self, n_runs: int) -> Tasks:
        """Begin the task of all trainings on samples and folds."""
        context = self.context.subcontext("fits-on-samples", None, n_runs, False)
        return replace(self, context=context.call_on_fit_task_begin(estimator=self.owner))

    def end(self, **told: Any) -> None:
        """End the task."""
        self.context.call_on_fit_task_end(estimator=self.owner, **told)

    def run(
        self,
        work: Callable[[], _T],
        estimator: Any,
        number: int | str,
        told: Mapping[str, Any],
    ) -> _T:
        """Train an estimator as a task of its own, which ends however the training does.

        Parameters
        ----------
        work : callable
            Fits the estimator.
        estimator : estimator
        number : int or str
            Of the run; of one on all rows a name.
        told : mapping
            X, y and metadata, as callbacks are told of them.
        """
        if number not in self.contexts:
            task_id = None if self.context.sequential_subtasks else number
            name = "fit-on-all-rows" if task_id is None else "fit-on-sample"
            self.contexts[number] = self.context.subcontext(name, task_id)
        context = self.contexts[number]
        try:
            with context.propagate_callback_context(estimator):
                context.call_on_fit_task_begin(estimator=self.owner, **told)
                return work()
        finally:
            context.call_on_fit_task_end(estimator=self.owner, **told)
