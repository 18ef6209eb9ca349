"""Circular blocks of arch: rows of its resamples, scores on them, and optimal lengths of blocks.

Made with arch 8.0.0, scikit-learn 1.9.1 and numpy 2.4.6 by running this file; rows are numbered
from 0.
"""

import json
from pathlib import Path

import numpy as np
from arch.bootstrap import CircularBlockBootstrap, optimal_block_length
from scipy.signal import lfilter
from sklearn.metrics import f1_score, mean_absolute_error, r2_score, roc_auc_score

HERE = Path(__file__).parent
N_ROWS, N_RESAMPLES, LENGTHS = 97, 30, (4, 10, 48)


def autoregression(rng, n, coefficient):
    """First-order autoregression, long after its start."""
    return lfilter([1], [1, -coefficient], rng.standard_normal(n + 500))[500:]


def scores(data):
    """Four scores of the rows of a resample."""
    truth, forecast, label, score = data.T
    return {
        "mean_absolute_error": mean_absolute_error(truth, forecast),
        "r2": r2_score(truth, forecast),
        "roc_auc": roc_auc_score(label, score),
        "f1": f1_score(label, score > 0.5),
    }


def main():
    """Write the data, the resamples and the numbers."""
    rng = np.random.default_rng(2026)
    truth = np.round(autoregression(rng, N_ROWS, 0.9), 4)
    forecast = np.round(truth + autoregression(rng, N_ROWS, 0.6), 4)
    label = (autoregression(rng, N_ROWS, 0.7) > 0).astype(float)
    score = np.round(label + autoregression(rng, N_ROWS, 0.5), 4)
    data = np.column_stack((truth, forecast, label, score))
    header = "truth,forecast,label,score"
    np.savetxt(HERE / "data.csv", data, fmt="%.4f", delimiter=",", header=header, comments="")
    expected = {}
    for length in LENGTHS:
        blocks = CircularBlockBootstrap(length, data, seed=length)
        rows, found = [], []
        for (resample,), _ in blocks.bootstrap(N_RESAMPLES):
            rows.append(blocks.index.tolist())
            found.append(scores(resample))
        np.savetxt(HERE / f"rows_{length}.csv", rows, fmt="%d", delimiter=",")
        expected[length] = {name: [one[name] for one in found] for name in found[0]}
    (HERE / "scores.json").write_text(json.dumps(expected, indent=1) + "\n")
    series = {
        f"coefficient {coefficient}, {n} rows": np.round(autoregression(rng, n, coefficient), 4)
        for n in (30, 150, 400)
        for coefficient in (-0.5, 0.0, 0.5, 0.9)
    }
    series["moving average of 6, 300 rows"] = np.round(
        np.convolve(rng.standard_normal(305), np.ones(6), "valid"), 4
    )
    series["squares, coefficient 0.8, 300 rows"] = np.round(autoregression(rng, 300, 0.8) ** 2, 4)
    lengths = {
        name: {
            "values": values.tolist(),
            "length": float(optimal_block_length(values)["circular"].iloc[0]),
        }
        for name, values in series.items()
    }
    (HERE / "lengths.json").write_text(json.dumps(lengths) + "\n")


if __name__ == "__main__":
    main()
