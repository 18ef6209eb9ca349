"""Results for the tests of displays, and what is read off a picture."""

import numpy as np
from made_results import accuracy_evidence, mean_result


def result(estimate=0.8, replicates=None, interval=None, **changes):
    if replicates is None:
        replicates = np.random.default_rng(0).binomial(100, estimate, 499) / 100
    evidence = accuracy_evidence(
        estimate=estimate,
        replicates=replicates,
        n_units=(100,),
        bounds=changes.pop("bounds", (0.0, 1.0)),
        additive=False,
        row_mean=False,
        proportion=None,
    )
    if interval is not None:
        changes["confidence_interval"] = interval
    known = {
        "metric": "accuracy",
        "n_samples": 100,
        "greater_is_better": True,
        "naive_estimate": 0.7,
    }
    return mean_result("percentile", evidence=evidence, **{**known, **changes})


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def overlaps(artists):
    """Pairs of artists whose boxes overlap in the drawn figure."""
    boxes = [artist.get_window_extent().shrunk(0.98, 0.9) for artist in artists]
    return [
        (a, b) for a in range(len(boxes)) for b in range(a) if boxes[a].overlaps(boxes[b])
    ]  # fmt: skip
