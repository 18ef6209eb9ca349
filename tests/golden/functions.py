"""Public functions of `skboot.metrics` called by themselves: weights, priors, ties, text labels."""

from functools import partial

import numpy as np
from golden.calls import CLASSES, DECISION, LABEL, PROBABILITIES, SAID, SCORE, WEIGHT
from scipy.special import expit

from skboot import metrics

TEXT = np.array(["no", "yes"])[LABEL]
SAID_TEXT = np.array(["no", "yes"])[DECISION]
TIED = np.round(SCORE)
COSTS = [[0, 1, 2], [1, 0, 5], [0.5, 1, 0]]
PROB = expit(SCORE)
WEIGHED = {"sample_weight": WEIGHT}

ARGUMENTS = {
    "expected_cost": [
        (CLASSES, SAID, {}),
        (CLASSES, SAID, {"costs": COSTS, "relative": True} | WEIGHED),
        (CLASSES, SAID, {"priors": [0.2, 0.3, 0.5]}),
        (TEXT, SAID_TEXT, {"costs": [[0, 1], [10, 0]]}),
    ],
    "cross_entropy": [
        (CLASSES, PROBABILITIES, {}),
        (CLASSES, PROBABILITIES, {"priors": [0.2, 0.3, 0.5], "relative": True} | WEIGHED),
    ],
    "brier_score": [
        (CLASSES, PROBABILITIES, WEIGHED),
        (TEXT, PROB, {"relative": True, "labels": ["no", "yes"]}),
    ],
    "equal_error_rate": [(LABEL, TIED, {}), (TEXT, SCORE, {"pos_label": "no"} | WEIGHED)],
    "false_positive_rate_at": [
        (LABEL, TIED, {"false_negative_rate": 0.1}),
        (LABEL, SCORE, {"false_negative_rate": 0.0} | WEIGHED),
    ],
    "sensitivity_at": [(LABEL, TIED, {"specificity": 0.9}), (LABEL, SCORE, {"specificity": 1.0})],
    "specificity_at": [(LABEL, TIED, {"sensitivity": 0.9} | WEIGHED)],
    **{
        name: [(TEXT, SAID_TEXT, {"pos_label": "no"}), (LABEL, DECISION, WEIGHED)]
        for name in ("sensitivity", "specificity", "ppv", "npv")
    },
    "calibration_slope": [(LABEL, PROB, {}), (LABEL, PROB, WEIGHED)],
    "calibration_intercept": [(LABEL, PROB, {}), (LABEL, PROB, WEIGHED)],
    "expected_calibration_error": [(LABEL, PROB, {"n_bins": 4}), (LABEL, PROB, WEIGHED)],
    "net_benefit": [(LABEL, PROB, {"threshold": 0.3}), (LABEL, PROB, {"threshold": 0.5} | WEIGHED)],
    "cllr": [(LABEL, TIED, {}), (TEXT, SCORE, {"pos_label": "no"} | WEIGHED)],
    "actual_detection_cost": [(LABEL, SCORE, {"priors": (0.9, 0.1)} | WEIGHED)],
    "minimum_detection_cost": [
        (LABEL, TIED, {"priors": (0.9, 0.1), "relative": True}),
        (LABEL, SCORE, {"priors": (0.5, 0.5), "costs": ((0, 1), (3, 0.5))} | WEIGHED),
    ],
}

FUNCTIONS = {
    f"function, {name}, {k}": partial(getattr(metrics, name), *columns, **options)
    for name, given in ARGUMENTS.items()
    for k, (*columns, options) in enumerate(given)
}
