"""Data of fits, splits and trained models in whatever people keep them.

What is expected is the answer to the same call with plain arrays: whole numbers and labels that
mean the same. What no column may hold is refused, by us or in the words of scikit-learn.
"""

import warnings
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeRegressor

import skboot
from skboot.inference import prediction_error

from . import columns
from .case import REFUSAL, SOUND, Case
from .frozen import DATES

N, N_TEST, N_MODELS = 24, 9, 6
RNG = np.random.default_rng(5)
# Zeros and ones, which every type of numbers holds, so that all estimators see the same.
X, X_TEST = (RNG.integers(2, size=(n, 3)) for n in (N, N_TEST))
CODES, CODES_TEST = ((own[:, 0] + RNG.integers(2, size=len(own))) % 2 for own in (X, X_TEST))
VALUES, VALUES_TEST = (
    own @ [1.0, 2.0, 4.0] - RNG.integers(3, size=len(own)) for own in (X, X_TEST)
)
GROUPS, GROUPS_TEST = np.arange(N) // 3, np.arange(N_TEST) // 2
WEIGHTS = RNG.integers(1, 4, size=N)
COUNTS = RNG.multinomial(N, np.full(N, 1 / N), size=N_MODELS)
GROUP_COUNTS = RNG.multinomial(8, np.full(8, 1 / 8), size=N_MODELS).repeat(3, axis=1)
LOSSES = RNG.integers(2, size=(N_MODELS, N))
DTYPES = ("float64", "float32", "float16", "int8", "uint16", "int64", "bool")
SMALL = {"n_train_resamples": 4, "n_cv_repeats": 1, "n_test_resamples": 9, "random_state": 0}
STRATEGIES = ("cv-bootstrap", "oob", ".632", ".632+")
SCORINGS = ("accuracy", "f1_macro", "roc_auc", "neg_log_loss")
THREE = {"n_splits": 3, "random_state": 0}
SPLITTERS = {
    **dict.fromkeys(("BootstrapSplit", "StratifiedBootstrapSplit", "GroupBootstrapSplit"), THREE),
    "BootstrapTestSplit": {"cv": 3, "n_resamples": 2, "random_state": 0},
    "SeedSplit": {"cv": 3, "n_seeds": 2},
}
# Scikit-learn's words for rows, targets and weights that it does not take.
OWN = (
    r"^(Found|Input|Expected|Unknown label|y should|Support for labels|This \w+ requires y)"
    r"|least populated|n_splits|setting an array|could not convert|has no len|0-d array|NaN"
    r"|Complex data|[Ss]parse data was passed|must be real|'(<|float|int)' not supported"
    r"|[Ss]ample.weight|cannot be cast|DTypePromotion|float\(\) argument|must be a NumPy dtype"
    r"|There are probabilities of"
)


class Data(dict):
    """Arguments by name, and of what they are made."""

    text = ""


def stored(given, kinds, rng, folder):
    """The arguments of which `kinds` tells what they hold, each in a random container."""
    made, said = Data(), []
    for name, value in given.items():
        kind = kinds[name]
        if kind == "table":
            dtype = str(rng.choice(DTYPES))
            container, table = columns.contained_table(value.astype(dtype), rng, folder)
            # Older scipy has no sparse tables of half precision.
            is_half = sparse.issparse(table) and dtype == "float16"
            made[name] = table.astype("float32") if is_half else table
            said.append(f"{name} of {dtype} in {container}")
        else:
            entries = [columns.LABELS[kind](int(k)) for k in value]
            container, made[name] = columns.contained(entries, rng, folder)
            said.append(f"{name} of {kind} in {container}")
    made.text = ", ".join(said)
    return made


def label_kind(rng):
    return str(rng.choice([kind for kind in columns.LABELS if "bool" not in kind]))


def is_refused_by_sklearn(estimator, data):
    """Whether scikit-learn alone takes no such rows, targets or weights."""
    weights = {name: data[name] for name in ("sample_weight",) if name in data}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What it will refuse in a later version counts as refused.
        warnings.simplefilter("error", FutureWarning)
        try:
            model = clone(estimator).fit(data["X"], data["y"], **weights)
            if "X_test" in data:
                model.score(data["X_test"], data["y_test"])
        except Exception:
            return True
    return False


# ------------------------------------------------------------------ fits


def fitted(door, options, data):
    """Numbers of the fit of one method, or of the comparison of two."""
    if door == "compare_methods":
        methods = {"A": BernoulliNB(binarize=0.5), "B": BernoulliNB(binarize=0.5, alpha=9.0)}
        found = skboot.compare_methods(methods, **data, **SMALL, **options)
        pair = found.pairs[0]
        return [pair.difference, *pair.confidence_interval[:2]]
    result = skboot.BootstrapScorer(estimator_for(options), **SMALL, **options).fit(**data).result_
    return [result.estimate, *result.confidence_interval[:2]]


def estimator_for(options):
    regresses = options.get("scoring") == "r2"
    return DecisionTreeRegressor(max_depth=2) if regresses else BernoulliNB(binarize=0.5)


@lru_cache
def of_plain_arrays(door, options, names):
    """The numbers of the same fit with the columns as plain arrays."""
    known = {"X": X, "X_test": X_TEST, "groups": GROUPS, "groups_test": GROUPS_TEST}
    regresses = dict(options).get("scoring") == "r2"
    known |= {"y": VALUES if regresses else CODES, "sample_weight": WEIGHTS}
    known["y_test"] = VALUES_TEST if regresses else CODES_TEST
    return fitted(door, dict(options), {name: known[name].astype(float) for name in names})


def of_fits(rng, folder):
    """X, y, groups, weights and test sets in any container."""
    door = str(rng.choice(["BootstrapScorer", "compare_methods"], p=[0.7, 0.3]))
    options = {"scoring": str(rng.choice(SCORINGS))}
    given = {"X": X, "y": CODES}
    if rng.random() < 0.4:
        given["groups"] = GROUPS
    if rng.random() < 0.3:
        given |= {"X_test": X_TEST, "y_test": CODES_TEST}
        if rng.random() < 0.5:
            given["groups_test"] = GROUPS_TEST
    else:
        options["strategy"] = str(rng.choice(STRATEGIES))
    if door == "BootstrapScorer" and rng.random() < 0.2:
        given["sample_weight"] = WEIGHTS
    if door == "BootstrapScorer" and rng.random() < 0.2:
        options["scoring"] = "r2"
        given["y"] = VALUES
        if "y_test" in given:
            given["y_test"] = VALUES_TEST
    kind = label_kind(rng)
    kinds = dict.fromkeys(("X", "X_test"), "table") | dict.fromkeys(("y", "y_test"), kind)
    if options["scoring"] == "r2":
        kind = str(rng.choice(["int", "whole float", "int16", "float32"]))
        kinds |= dict.fromkeys(("y", "y_test"), kind)
    groups = label_kind(rng)
    kinds |= dict.fromkeys(("groups", "groups_test"), groups)
    kinds["sample_weight"] = str(rng.choice(["whole float", "int", "uint16", "float32"]))
    made = stored(given, kinds, rng, folder)
    expected = of_plain_arrays(door, tuple(options.items()), tuple(given))
    is_refused = is_refused_by_sklearn(estimator_for(options), made)
    # In some containers dates become others, and scikit-learn makes floats of huge nullable ids.
    is_changed = kind in (*DATES, "huge int")
    return Case(
        *(f"{door}: {made.text}, {options}", lambda: fitted(door, options, made), expected),
        *((*given, "y_true", "y_pred"), tuple(made.values()), is_refused or is_changed),
        ".*" if is_refused else "",
    )


def of_poisoned_fits(rng, folder):
    """One of the columns of a fit holds what none may hold."""
    door = str(rng.choice(["BootstrapScorer", "compare_methods"]))
    options = {"strategy": str(rng.choice(STRATEGIES))}
    given = {"X": X, "y": CODES, "groups": GROUPS, "X_test": X_TEST, "y_test": CODES_TEST}
    given["groups_test"] = GROUPS_TEST
    where = str(rng.choice([*given, "sample_weight"] if door == "BootstrapScorer" else [*given]))
    if "test" not in where:
        given = {name: value for name, value in given.items() if "test" not in name}
    if where.startswith("X"):
        what, bad = columns.poisoned(list(given[where].astype(float)), rng)
        if what in columns.POISON:
            bad = given[where].astype(object)
            bad[tuple(rng.integers(size) for size in bad.shape)] = columns.POISON[what]
    else:
        column = WEIGHTS if where == "sample_weight" else given[where]
        what, bad = columns.poisoned([float(k) for k in column], rng)
    given[where] = bad
    text = f"{door}: {what} in {where}"
    # What only the estimator looks at is the estimator's to refuse.
    is_of_estimator = where in ("X", "X_test", "sample_weight")
    is_taken = is_of_estimator and not is_refused_by_sklearn(estimator_for(options), given)
    return Case(
        *(text, lambda: fitted(door, options, given), SOUND if is_taken else REFUSAL),
        *((), (bad,), False, OWN),
    )


def of_few_rows(rng, folder):
    """Too few rows, groups, classes or columns, which may be refused."""
    n, n_columns = int(rng.choice((0, 1, 2, 3, 5, 10, 12))), int(rng.choice((0, 1, 3)))
    n_classes, n_groups = int(rng.integers(1, 4)), int(rng.choice((1, 2, 5)))
    data = {"X": rng.integers(2, size=(n, n_columns)), "y": rng.integers(n_classes, size=n)}
    if rng.random() < 0.4:
        data["groups"] = rng.integers(n_groups, size=n)
    options = {}
    if rng.random() < 0.4:
        m = int(rng.choice((0, 1, 2, 5)))
        data |= {"X_test": rng.integers(2, size=(m, n_columns)), "y_test": rng.integers(2, size=m)}
    else:
        options = {"strategy": str(rng.choice(STRATEGIES)), "stratify": bool(rng.random() < 0.3)}
    options["scoring"] = str(rng.choice(SCORINGS))
    door = str(rng.choice(["BootstrapScorer", "compare_methods"]))

    def call():
        if door == "compare_methods":
            methods = {"A": BernoulliNB(), "B": BernoulliNB(alpha=9.0)}
            return skboot.compare_methods(methods, **data, **SMALL, **options)
        return skboot.BootstrapScorer(BernoulliNB(), **SMALL, **options).fit(**data).result_

    text = f"{door}: {', '.join(f'{k} {v.shape}' for k, v in data.items())}, {options}"
    return Case(text, call, SOUND, (), tuple(data.values()), own_words=OWN)


@lru_cache
def searched():
    return GridSearchCV(BernoulliNB(binarize=0.5), {"alpha": [1.0, 9.0]}, cv=3).fit(X, CODES)


def of_searches(rng, folder):
    """The answers of a search, out of fold, for X and y in any container."""
    kinds = {"X": "table", "y": "int"}
    made = stored({"X": X, "y": CODES}, kinds, rng, folder)

    def call(data):
        found = skboot.model_selection.out_of_fold(searched(), **data)
        return np.concatenate([found[name].astype(float) for name in sorted(found)])

    expected = call({"X": X.astype(float), "y": CODES})
    is_refused = is_refused_by_sklearn(BernoulliNB(), made)
    return Case(
        *(f"out_of_fold: {made.text}", lambda: call(made), expected, ("X", "y")),
        *(tuple(made.values()), is_refused, ".*" if is_refused else ""),
    )


# ------------------------------------------------------------------ splits


def parts_of(name, data, **further):
    made = getattr(skboot, name)(**SPLITTERS[name] | further)
    return np.concatenate([rows for pair in made.split(**data) for rows in pair])


def exact(y):
    """Nullable integers as themselves: scikit-learn rounds them to floats."""
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) or getattr(dtype, "kind", None) not in ("i", "u"):
        return y
    return y.to_numpy(dtype=f"{dtype.kind}8")


def of_splits(rng, folder):
    """The same rows for the same data in any container."""
    name = str(rng.choice(list(SPLITTERS)))
    given = {"X": X, "y": CODES}
    if name == "GroupBootstrapSplit":
        given["groups"] = GROUPS
    kinds = {"X": "table", "y": label_kind(rng), "groups": label_kind(rng)}
    made = stored(given, kinds, rng, folder)
    further, is_refused = {}, False
    if "cv" in SPLITTERS[name]:
        # The folds inside are those that scikit-learn alone makes of such targets.
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            try:
                y = exact(made["y"])
                further["cv"] = list(check_cv(3, y, classifier=True).split(X, y))
            except (ValueError, TypeError, FutureWarning):
                is_refused = True
    expected = SOUND if is_refused else parts_of(name, given, **further)
    return Case(
        *(f"{name}: {made.text}", lambda: parts_of(name, made), expected, tuple(given)),
        *(tuple(made.values()), is_refused, ".*" if is_refused else ""),
    )


def of_poisoned_splits(rng, folder):
    name, where = (
        ("GroupBootstrapSplit", "groups") if rng.random() < 0.5
        else ("StratifiedBootstrapSplit", "y")
    )  # fmt: skip
    given = {"X": X, "y": CODES, "groups": GROUPS}
    what, bad = columns.poisoned([float(k) for k in given[where]], rng)
    given[where] = bad
    text = f"{name}: {what} in {where}"
    return Case(text, lambda: parts_of(name, given), REFUSAL, (where,), (bad,), own_words=OWN)


# ------------------------------------------------------------------ models trained anywhere


def numbers_of(data, bounds):
    found = prediction_error(**data, no_information_rate=0.5, bounds=bounds)
    return [found.oob, found.point632, found.point632_plus, *found.interval()[:2]]


def of_trained_models(rng, folder):
    """Losses, counts and groups of `prediction_error` in any container."""
    given = {"losses": LOSSES, "weights": COUNTS, "resubstitution_losses": LOSSES[0]}
    if rng.random() < 0.4:
        given |= {"weights": GROUP_COUNTS, "groups": GROUPS}
    if rng.random() < 0.4:
        given["cv_losses"] = LOSSES[:2]
    made, said = {}, []
    for name, value in given.items():
        if name == "groups":
            entries = [columns.LABELS["str"](int(k)) for k in value]
            container, made[name] = columns.contained(entries, rng, folder)
        elif value.ndim == 1:
            container, made[name] = columns.contained(value.astype(float), rng, folder)
        else:
            dtype = str(rng.choice([own for own in DTYPES if own != "bool"]))
            container, made[name] = columns.contained_table(value.astype(dtype), rng, folder)
        said.append(f"{name} in {container}")
    bounds = [(0, 1), (0, None), (None, None)][rng.integers(3)]
    text = f"prediction_error: {', '.join(said)}, bounds={bounds}"
    expected = numbers_of(given, bounds)
    return Case(
        text, lambda: numbers_of(made, bounds), expected, tuple(given), tuple(made.values())
    )


def of_poisoned_models(rng, folder):
    given = {
        **{"losses": LOSSES, "weights": GROUP_COUNTS, "resubstitution_losses": LOSSES[0]},
        **{"groups": GROUPS, "cv_losses": LOSSES[:2]},
    }
    where = str(rng.choice(list(given)))
    if given[where].ndim == 1:
        what, bad = columns.poisoned([float(k) for k in given[where]], rng)
    else:
        what, bad = columns.poisoned(list(given[where].astype(float)), rng)
        if what in columns.POISON:
            bad = given[where].astype(object)
            # NaN may stand where a model was trained on the row.
            unused = given["weights"] == 0
            rows, cells = np.nonzero(unused if where == "losses" else given[where] >= 0)
            k = rng.integers(len(rows))
            bad[rows[k], cells[k]] = columns.POISON[what]
        elif what in ("short", "of no dimension") and where == "cv_losses":
            # Any number of repeats is right, and one needs no second dimension.
            what, bad = "ragged", [[0.0] * N, [0.0]]
    given[where] = bad
    text = f"prediction_error: {what} in {where}"
    names = () if what in ("short", "of no rows") else (where,)
    return Case(text, lambda: numbers_of(given, (0, 1)), REFUSAL, names, (bad,))


MAKERS = {
    of_fits: 6,
    of_poisoned_fits: 4,
    of_few_rows: 4,
    of_searches: 1,
    of_splits: 6,
    of_poisoned_splits: 3,
    of_trained_models: 6,
    of_poisoned_models: 4,
}
