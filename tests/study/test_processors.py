"""The same seed gives the same numbers on every processor, however its fast sort leaves ties."""

import numpy as np
import pytest
from identity_cases import ALL, call_of, close, scored

pytestmark = pytest.mark.identity

STABLE = ("stable", "mergesort")
argsort = np.argsort


def other_argsort(a, axis=-1, kind=None, order=None, **options):
    """As another processor may sort: where no stable sort is asked for, ties in reverse."""
    if kind in STABLE or options.get("stable") or np.ndim(a) != 1:
        return argsort(a, axis=axis, kind=kind, order=order, **options)
    return len(a) - 1 - argsort(np.asarray(a)[::-1], kind="stable", order=order)


@pytest.mark.parametrize("weighted", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALL)
def test_numbers_do_not_depend_on_how_ties_are_sorted(name, weighted, monkeypatch):
    call = call_of(name, weighted=weighted, n=60)
    truth, predicted = call.y_true, call.y_pred
    if call.score.data == "values":
        truth, predicted = np.round(truth, 1), np.round(predicted, 1)
    here = scored(truth, predicted, **call.options)
    monkeypatch.setattr(np, "argsort", other_argsort)
    there = scored(truth, predicted, **call.options)
    close(there.estimate, here.estimate)
    close(there.bootstrap_distribution, here.bootstrap_distribution)
