"""Answers of a scorer: those of the estimator that it trained on all rows."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..refit.lending import Loan


def _estimator_has(name: str) -> Any:
    def has(self: Delegation) -> bool:
        # Raises AttributeError with the estimator's own words.
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return has


class Delegation:
    """Prediction methods that are there if the estimator has them."""

    estimator: Any
    estimator_: Any
    _loan: Loan

    @available_if(_estimator_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Call ``predict`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels or values.
        """
        return self._ask("predict", X)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Call ``predict_proba`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._ask("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Call ``predict_log_proba`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of probabilities.
        """
        return self._ask("predict_log_proba", X)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Call ``decision_function`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values.
        """
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: Any) -> Any:
        answer = getattr(self._fitted(), method)
        return self._loan.call(answer, X)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "estimator_"):
            raise AttributeError(
                "With refit=False no estimator is kept. Set refit=True to predict and score."
            )
        return self.estimator_
