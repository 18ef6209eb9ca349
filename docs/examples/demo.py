"""Confidence intervals for models trained once, on data that scikit-learn ships.

Three questions, each with its baseline (the best system that ignores its inputs): how good is a
classifier of diabetes that progresses fast; how much do five noisy copies of each digit tell, if
copies are right or wrong together; how large is the error of a diabetes model, and does it differ
between the sexes?
"""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skboot import bootstrap_score
from skboot.metrics import bayes_decisions, expected_cost
from skboot.plots import BootstrapDistributionDisplay, IntervalDisplay
from skboot.results import ResultTable

OUTPUT = Path("demo_output")


def fast_progression():
    """Accuracy, AUC, and the expected cost when a missed patient costs three false alarms."""
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y > 140, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    probabilities = model.predict_proba(X_test)
    costs = [[0, 1], [3, 0]]  # a row for each truth: slow, fast
    cost = partial(expected_cost, costs=costs)
    return {
        "accuracy": bootstrap_score(y_test, model.predict(X_test), random_state=0),
        "AUC": bootstrap_score(y_test, probabilities, metric="roc_auc", random_state=0),
        "expected cost": bootstrap_score(
            y_test, bayes_decisions(probabilities, costs=costs), metric=cost, random_state=0
        ),
    }


def noisy_digits():
    """Five noisy copies of each test digit hardly tell more than one: they are wrong together."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    model = LogisticRegression(max_iter=2000).fit(X_train / 16, y_train)
    digit = np.repeat(np.arange(len(y_test)), 5)
    noise = np.random.default_rng(0).normal(scale=2.0, size=(len(digit), X.shape[1]))
    predicted = model.predict((X_test[digit] + noise) / 16)
    truth = y_test[digit]
    return {
        "one copy of each": bootstrap_score(truth[::5], predicted[::5], random_state=0),
        "five copies of each": bootstrap_score(truth, predicted, groups=digit, random_state=0),
    }


def diabetes_by_sex():
    """Mean absolute error of disease progression, for all patients, by sex, and the difference."""
    data = load_diabetes(scaled=False)
    X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0)
    model = make_pipeline(StandardScaler(), RidgeCV()).fit(X_train, y_train)
    predicted = model.predict(X_test)
    sex = np.where(X_test[:, data.feature_names.index("sex")] == 1, "sex 1", "sex 2")
    error = partial(bootstrap_score, y_test, predicted, metric=mean_absolute_error, random_state=0)
    return {"all patients": error(), **error(by=sex)}


def main():
    """Print the three tables, then write them with pictures."""
    questions = {
        "Fast progression": fast_progression(),
        "Noisy digits": noisy_digits(),
        "Diabetes": diabetes_by_sex(),
    }
    for title, results in questions.items():
        print(f"\n{title}\n{'-' * len(title)}\n{ResultTable(results).to_markdown()}")
    print(f"\nIn a paper: {questions['Fast progression']['AUC'].claim()}")

    OUTPUT.mkdir(exist_ok=True)
    everything = ResultTable({title: ResultTable(r) for title, r in questions.items()})
    everything.to_html(OUTPUT / "report.html")
    display = IntervalDisplay.from_results(everything)
    display.figure_.savefig(OUTPUT / "intervals.png", dpi=130, bbox_inches="tight")
    display = BootstrapDistributionDisplay.from_result(questions["Fast progression"]["AUC"])
    display.figure_.savefig(OUTPUT / "auc.png", dpi=130, bbox_inches="tight")
    print(f"\nWrote intervals.png, auc.png and report.html to {OUTPUT}.")


if __name__ == "__main__":
    main()
