"""Predictions of three systems on digits that none of them has seen, as arrays and as a file."""

import csv

import numpy as np
import pytest
from command_line import exit_code_of
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

SYSTEMS = {
    "logistic": LogisticRegression(max_iter=2000),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0),
}


def _exported():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    columns = {"digit": y_test}
    for name, model in SYSTEMS.items():
        columns[name] = model.fit(X_train, y_train).predict(X_test)
    # Is it an 8? As text, with probabilities of two systems.
    columns["is_eight"] = np.where(y_test == 8, "yes", "no")
    columns["eight"] = np.where(columns["bayes"] == 8, "yes", "no")
    for name in ("logistic", "bayes"):
        columns[f"p_{name}"] = SYSTEMS[name].predict_proba(X_test)[:, 8].round(6)
    rng = np.random.default_rng(0)
    columns["batch"] = np.arange(len(y_test)) // 15
    columns["half"] = np.where(rng.random(len(y_test)) < 0.5, "left", "right")
    columns["first"], columns["second"] = rng.integers(0, 20, (2, len(y_test)))
    columns["weight"] = rng.integers(1, 5, len(y_test))
    columns["right"] = (columns["bayes"] == y_test).astype(float)
    for label in range(10):
        columns[f"p{label}"] = SYSTEMS["logistic"].predict_proba(X_test)[:, label].round(9)
    return columns


@pytest.fixture(scope="session")
def digits():
    """Columns by name."""
    return _exported()


@pytest.fixture(scope="session")
def file(digits, tmp_path_factory):
    """The same in a CSV file."""
    path = tmp_path_factory.mktemp("predictions") / "digits.csv"
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target)
        writer.writerow(digits)
        writer.writerows(zip(*(column.tolist() for column in digits.values()), strict=True))
    return str(path)


@pytest.fixture
def skboot(capsys):
    """Run the command in this process: its exit code, and what it wrote to both streams."""

    def run(*words):
        code = exit_code_of(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run
