"""``skboot demo``: every verb on predictions of three systems, made from data of scikit-learn."""

from __future__ import annotations

import contextlib
import csv
import io
import shlex
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._base.reading import BadCall
from ..results.storage import write_text

_FILE, _TABLE = "digits.csv", "table.csv"
_ALL = "--systems logistic bayes tree"
# Each with the question that it answers.
_CALLS = {
    "How good is each system, and how sure is that?": (
        f"score {_FILE} --y-true digit {_ALL} --report report.html"
    ),
    "Which differences are more than chance?": f"compare {_FILE} --y-true digit {_ALL}",
    "Is the tree not worse than Bayes by more than five points?": (
        f"gate {_FILE} --y-true digit --candidate tree --reference bayes --margin 0.05"
    ),
    "Which is best, and which may be?": f"rank {_FILE} --y-true digit {_ALL}",
    "How many eights are found at how many false alarms?": (
        f"curve {_FILE} --y-true is_eight --y-pred p_eight --pos-label yes"
    ),
    "How many images would tell the accuracy to within one point?": (
        f"plan {_FILE} --y-true digit --y-pred logistic --half-width 0.01"
    ),
    "What do the accuracies alone say, as a paper prints them?": f"check {_TABLE}",
}


def demonstrate(
    folder: str | None,
    carry_out: Callable[[Sequence[str]], int],
    say: Callable[[str], None],
) -> int:
    """Write a file of predictions, and carry out calls on it.

    Parameters
    ----------
    folder : str or None
        Where the file and a report are written; nothing stays when None.
    carry_out : callable
        Takes the words of a call, and returns its exit code.
    say : callable
        Prints a text.

    Returns
    -------
    int
        Exit code.
    """
    if folder is not None and not Path(folder).is_dir():
        raise BadCall(f"there is no folder {folder!r}")
    with contextlib.ExitStack() as stack:
        place = folder or stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(contextlib.chdir(place))
        _write_predictions()
        for question, call in _CALLS.items():
            say(f"# {question}\n$ skboot {call}\n")
            carry_out(shlex.split(call))
            say("")
    if folder is None:
        say(f"Nothing was kept. For {_FILE}, {_TABLE} and report.html: skboot demo FOLDER")
    else:
        report = Path(folder, "report.html")
        say(f"Wrote {Path(folder, _FILE)}, {Path(folder, _TABLE)} and {report}.")
    return 0


def _write_predictions() -> None:
    """Train three systems on half of the digits; write their answers on the rest, and scores."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    models: dict[str, Any] = {
        # Another solver stops elsewhere on another processor.
        "logistic": LogisticRegression(solver="newton-cholesky", tol=1e-6),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    columns = {"digit": y_test.tolist()}
    for name, model in models.items():
        columns[name] = model.fit(X_train, y_train).predict(X_test).tolist()
    columns["is_eight"] = ["yes" if digit == 8 else "no" for digit in columns["digit"]]
    columns["p_eight"] = models["logistic"].predict_proba(X_test)[:, 8].round(4).tolist()
    shares = [accuracy_score(y_test, columns[name]) for name in models]
    table: dict[str, list[Any]] = {
        "system": list(models),
        "score": [f"{share:.1%}" for share in shares],
        "n": [len(y_test)] * len(models),
    }
    for file, content in ((_FILE, columns), (_TABLE, table)):
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(content)
        writer.writerows(zip(*content.values(), strict=True))
        write_text(file, text.getvalue())
