"""Results for the tests of displays, and what is read off a picture."""

import numpy as np

from skboot.inference.evidence import Evidence
from skboot.inference.intervals import confidence_interval
from skboot.results import EvaluationResult
from skboot.results.basis import SystemBasis


def result(estimate=0.8, replicates=None, interval=None, **changes):
    if replicates is None:
        replicates = np.random.default_rng(0).binomial(100, estimate, 499) / 100
    bounds = changes.pop("bounds", (0.0, 1.0))
    evidence = Evidence(
        estimate=estimate, replicates=replicates, kind="rows", n_units=(100,), bounds=bounds
    )
    known = {
        "metric": "accuracy",
        "estimand": "system",
        "basis": SystemBasis(evidence),
        "confidence_interval": interval or confidence_interval(evidence, "percentile", 0.95),
        "automatic": False,
        "n_samples": 100,
        "unit": "row",
        "greater_is_better": True,
        "naive_estimate": 0.7,
    }
    return EvaluationResult(**{**known, **changes})


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def overlaps(artists):
    """Pairs of artists whose boxes overlap in the drawn figure."""
    boxes = [artist.get_window_extent().shrunk(0.98, 0.9) for artist in artists]
    return [
        (a, b) for a in range(len(boxes)) for b in range(a) if boxes[a].overlaps(boxes[b])
    ]  # fmt: skip
