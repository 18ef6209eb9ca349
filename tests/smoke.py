"""First use of an installed skboot without its extras: a plain script, public names only."""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np

import skboot
from skboot.inference import proportion_interval
from skboot.metrics import expected_cost


def main():
    """Score, show, save, load; say what is missing where an extra is."""
    result = _score()
    _save_and_load(result)
    _ask_for_extras(result)
    perfect = proportion_interval(50, 50)
    assert round(perfect.low, 3) == 0.929, perfect
    assert perfect.high == 1, perfect
    print(f"skboot {skboot.__version__} works from {Path(skboot.__file__).parent}")


def _score():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, size=300)
    y_score = y_true + rng.normal(size=300)
    y_pred = (y_score > 0.5).astype(int)
    speakers = rng.integers(0, 30, size=300)
    result = skboot.bootstrap_score(y_true, y_pred, random_state=0)
    assert result.estimate == np.mean(y_true == y_pred)
    assert np.isclose(expected_cost(y_true, y_pred), 1 - result.estimate)
    auc = skboot.bootstrap_score(
        y_true,
        y_score,
        metric="roc_auc",
        groups=speakers,
        n_resamples=199,
        random_state=0,
        n_jobs=2,
    )
    for each in (result, auc):
        assert each.confidence_interval.low < each.estimate < each.confidence_interval.high, each
    print(result.summary())
    print(result.claim())
    return result


def _save_and_load(result):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        result.save(path)
        assert skboot.results.EvaluationResult.load(path) == result


def _ask_for_extras(result):
    for module, extra, use in [
        ("matplotlib", "plot", result.plot),
        ("pandas", "dataframe", result.to_frame),
    ]:
        if importlib.util.find_spec(module) is None:
            message = _message_of_import_error(use)
            assert f"skboot[{extra}]" in message, message


def _message_of_import_error(use):
    try:
        use()
    except ImportError as error:
        return str(error)
    return "no ImportError"


if __name__ == "__main__":
    main()
