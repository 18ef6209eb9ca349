"""Draw the pictures of the page of curves, when the documentation is built.

The systems are those of the page.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from skboot import bootstrap_curve
from skboot.plots import CurveBandDisplay

PICTURES = Path(__file__).parent / "generated"


def systems():
    """Truth and probabilities of two systems, as on the page."""
    rng = np.random.default_rng(0)
    y_true = (rng.random(800) < 0.3).astype(int)
    signal = rng.normal(size=800) + 1.6 * y_true
    new = 1 / (1 + np.exp(1.9 - 1.5 * signal))
    old = 1 / (1 + np.exp(1.1 - 0.9 * (signal + 1.2 * rng.normal(size=800))))
    return y_true, {"new": new, "old": old}


def draw():
    """Write all pictures."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    y_true, both = systems()

    def curve(name, scores):
        return bootstrap_curve(y_true, scores, curve=name, random_state=0)

    def write(file, result, **options):
        _, axes = plt.subplots(figsize=(5, 5), layout="constrained")
        CurveBandDisplay.from_result(result, axes, **options)
        axes.figure.savefig(PICTURES / f"curves_{file}.png", dpi=140)

    table = curve("roc", both)
    write("roc", table)
    write("difference", table["difference"])
    write("calibration", curve("calibration", both["new"]), name="new, ten bins")
    smooth = curve("calibration_smooth", both["new"])
    write("calibration_smooth", smooth, name="new, smooth")
    write("decision", curve("decision", both))
    plt.close("all")


if __name__ == "__main__":
    draw()
