"""Write expected.json: means by ppi_py (ppi-python 0.2.3, numpy 2.4.6), and their rows.

``pip install ppi-python``; ``python make.py`` from this folder. `weight` is the power-tuning
parameter that ppi_py finds, by its function for generalized linear models, as `ppi_mean_ci` does.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from ppi_py.ppi import _calc_lam_glm

N_LABELLED, N_OTHER = 40, 60


def rows(rng, kind):
    """Values by humans and by a judge."""
    n = N_LABELLED + N_OTHER
    if kind == "right or wrong":
        truth = (rng.random(n) < 0.8).astype(float)
        return truth, np.where(rng.random(n) < 0.15, 1 - truth, truth)
    truth = np.round(rng.gamma(2.0, 1.0, n), 3)
    noise = {"good": 0.3, "useless": 30.0}[kind]
    return truth, np.round(0.8 * truth + 0.5 + noise * rng.normal(size=n), 3)


def case(kind, seed):
    """One set of rows, and what ppi_py says of it."""
    truth, judge = rows(np.random.default_rng(seed), kind)
    labelled, other = slice(0, N_LABELLED), slice(N_LABELLED, None)
    given = truth[labelled], judge[labelled], judge[other]
    first = judge[other].mean() + (truth[labelled] - judge[labelled]).mean()
    gradients = (column - first for column in given)
    weight = float(_calc_lam_glm(*gradients, np.eye(1), clip=True))
    found = {
        "kind": kind,
        "human": truth[labelled].tolist(),
        "judge": judge.tolist(),
        "weight": weight,
        "estimate": float(np.squeeze(ppi_mean_pointestimate(*given))),
        "interval": [float(np.squeeze(x)) for x in ppi_mean_ci(*given, alpha=0.05)],
    }
    for lam in (0.0, 0.5, 1.0):
        found[f"estimate at {lam}"] = float(np.squeeze(ppi_mean_pointestimate(*given, lam=lam)))
    return found


if __name__ == "__main__":
    cases = [case(kind, seed) for seed, kind in enumerate(("good", "useless", "right or wrong"))]
    versions = {name: version(name) for name in ("ppi-python", "numpy")}
    path = Path(__file__).with_name("expected.json")
    path.write_text(json.dumps({"versions": versions, "cases": cases}, indent=1) + "\n")
