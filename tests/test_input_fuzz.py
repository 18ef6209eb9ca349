"""Random columns, in whatever people keep them: the number of scikit-learn, or a named refusal.

A call draws labels or values, the type of their entries, a container, a metric and a function.
scikit-learn computes what is expected from small integers, or from floats that Python made of each
entry; what is poisoned must be refused by a message that names the argument.
"""

import datetime
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics

import skboot

pytestmark = pytest.mark.filterwarnings("ignore")

N_CALLS = 400
START = datetime.datetime(2020, 1, 1)

# Entries for the codes 0, 1, 2, ..., in the same order as these.
LABELS = {
    "int": lambda k: k,
    "negative": lambda k: k - 3,
    "huge int": lambda k: 2**60 + k,
    "id above 2**63": lambda k: 2**63 + k,
    "whole float": lambda k: float(k),
    "whole Decimal": lambda k: Decimal(k),
    "huge Decimal": lambda k: Decimal(2**60 + k),
    "whole Fraction": lambda k: Fraction(k),
    "str": lambda k: f"class {k}",
    "bytes": lambda k: b"class %d" % k,
    "datetime": lambda k: START + datetime.timedelta(days=k),
    "date": lambda k: START.date() + datetime.timedelta(days=k),
    "timedelta": lambda k: datetime.timedelta(hours=k),
    "numpy date": lambda k: np.datetime64("2020-01-01") + np.timedelta64(k, "D"),
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float16": np.float16,
    "float32": np.float32,
    "bool": lambda k: k > 0,
    "numpy bool": lambda k: np.bool_(k > 0),
}
VALUES = {
    "float": float,
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "int": lambda x: int(x * 10),
    "int8": lambda x: np.int8(x * 10),
    "uint16": lambda x: np.uint16(abs(x) * 100),
    "Decimal": lambda x: Decimal(str(round(x, 3))),
    "Fraction": lambda x: Fraction(int(x * 100), 7),
    "bool": lambda x: bool(x > 0),
    "huge": lambda x: float(x) * 1e200,
    "tiny": lambda x: float(x) * 1e-200,
}
LABEL_METRICS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_macro": lambda t, p: metrics.f1_score(t, p, average="macro"),
    "matthews_corrcoef": metrics.matthews_corrcoef,
}
VALUE_METRICS = {
    "r2": metrics.r2_score,
    "explained_variance": metrics.explained_variance_score,
    "neg_mean_squared_error": lambda t, p: -metrics.mean_squared_error(t, p),
    "neg_mean_absolute_error": lambda t, p: -metrics.mean_absolute_error(t, p),
    "neg_median_absolute_error": lambda t, p: -metrics.median_absolute_error(t, p),
}
POISON = {
    "None": None,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "complex": 1j,
    "Decimal NaN": Decimal("nan"),
    "not a time": np.datetime64("NaT"),
    "a list": [1],
    "a dict": {},
}


def in_steps(entries, rng):
    array = np.empty(2 * len(entries), dtype=np.asarray(entries).dtype)
    array[::2] = entries
    return array[::2]


def in_a_file(entries, rng, folder):
    array = np.asarray(entries)
    kept = np.memmap(folder / f"{rng.integers(2**60)}", array.dtype, "w+", shape=array.shape)
    kept[:] = array
    return kept


def read_only(entries, rng):
    array = np.array(entries)
    array.flags.writeable = False
    return array


CONTAINERS = {
    "list": lambda entries, rng: list(entries),
    "tuple": lambda entries, rng: tuple(entries),
    "array": lambda entries, rng: np.array(entries),
    "objects": lambda entries, rng: np.array([*entries, None], dtype=object)[:-1],
    "column": lambda entries, rng: np.array(entries).reshape(-1, 1),
    "every second": in_steps,
    "read-only": read_only,
    "other bytes": lambda entries, rng: np.array(entries).astype(
        np.array(entries).dtype.newbyteorder()
    ),
    "masked, without a mask": lambda entries, rng: np.ma.array(entries),
    "pandas": lambda entries, rng: pandas().Series(entries, index=rng.permutation(len(entries))),
    "pandas nullable": lambda entries, rng: pandas().Series(entries).convert_dtypes(),
    "pandas category": lambda entries, rng: pandas().Series(entries).astype("category"),
    "pandas frame": lambda entries, rng: pandas().DataFrame({"column": entries}),
    "polars": lambda entries, rng: polars().Series("column", entries),
    "polars category": lambda entries, rng: polars().Series(
        "column", entries, dtype=polars().Categorical
    ),
}


def pandas():
    return pytest.importorskip("pandas")


def polars():
    return pytest.importorskip("polars")


def contained(entries, rng, folder):
    """The entries in a random container that can hold them."""
    names = [*CONTAINERS, "memory map"]
    while True:
        name = names[rng.integers(len(names))]
        if name == "polars category" and not isinstance(entries[0], str):
            continue
        try:
            if name == "memory map" and np.asarray(entries).dtype != object:
                return name, in_a_file(entries, rng, folder)
            if name != "memory map":
                return name, CONTAINERS[name](entries, rng)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            # The container cannot hold these entries; older pandas says so in the last way.
            continue
        except Exception as error:
            # The errors of polars and of arrow are their own.
            if type(error).__module__.split(".")[0] not in ("polars", "pyarrow", "pyo3_runtime"):
                raise


def evaluated(y_true, y_pred, metric, rng, **options):
    """Estimate by one of the functions that take predictions of a system."""
    which = rng.integers(3)
    options = {"metric": metric, "n_resamples": 9, "random_state": 0, **options}
    if which == 0:
        return skboot.bootstrap_score(y_true, y_pred, **options).estimate
    if which == 1:
        found = skboot.compare_systems(y_true, {"A": y_pred, "B": y_pred}, **options)
        return found.systems["B"].estimate
    return skboot.bootstrap_runs(y_true, [y_pred, y_pred], **options).estimate


NAMED = re.compile(
    r"""The ['"](y_true|y_pred|y_preds.*|groups|metric)['"] parameter of \w+ must .*\. Got .*""",
    re.DOTALL,
)


def checked(call, expected, case):
    """The number that is expected, or a message that names the argument."""
    try:
        found = call()
    except (ValueError, TypeError) as error:
        if not NAMED.match(str(error)):
            pytest.fail(f"{case}: {type(error).__name__}: {error}")
        return "refused"
    assert expected is not None, f"{case}: answered {found}"
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-9, nan_ok=True), case
    return "answered"


def fuzz_labels(rng, folder):
    n, kind = int(rng.choice([2, 3, 10, 40])), rng.choice(list(LABELS))
    n_classes = 2 if "bool" in kind else int(rng.integers(2, 5))
    codes = [rng.integers(n_classes, size=n) for _ in range(2)]
    name = rng.choice(list(LABEL_METRICS))
    stored = [contained([LABELS[kind](int(k)) for k in own], rng, folder) for own in codes]
    case = f"{kind} in {stored[0][0]} and {stored[1][0]}, {name}, {n} rows"
    expected = LABEL_METRICS[name](*codes)
    return case, lambda: evaluated(stored[0][1], stored[1][1], name, rng), expected


def fuzz_groups(rng, folder):
    n, kind = 20, rng.choice([kind for kind in LABELS if "bool" not in kind])
    codes = rng.permutation(np.arange(n) // 2)
    name, groups = contained([LABELS[kind](int(k)) for k in codes], rng, folder)
    y = np.arange(n) % 2

    def call():
        result = skboot.bootstrap_score(y, y, groups=groups, n_resamples=9, random_state=0)
        return float(np.ravel(result.n_units)[0])

    return f"groups of {kind} in {name}", call, 10.0


def fuzz_values(rng, folder):
    n, kind = int(rng.choice([2, 3, 10, 40])), rng.choice(list(VALUES))
    name = rng.choice(list(VALUE_METRICS))
    entries = [[VALUES[kind](x) for x in rng.normal(size=n)] for _ in range(2)]
    stored = [contained(own, rng, folder) for own in entries]
    case = f"values of {kind} in {stored[0][0]} and {stored[1][0]}, {name}, {n} rows"
    unit = {"huge": 1e-200, "tiny": 1e200}.get(kind, 1.0)
    floats = [np.array([float(x) for x in own]) * unit for own in entries]
    expected = VALUE_METRICS[name](*floats)
    if unit != 1.0 and name not in ("r2", "explained_variance"):
        expected = None
    return case, lambda: evaluated(stored[0][1], stored[1][1], name, rng), expected


def fuzz_poison(rng, folder):
    n, kind = 12, rng.choice(list(LABELS))
    codes = np.arange(n) % 2
    entries = [LABELS[kind](int(k)) for k in codes]
    what = rng.choice([*POISON, "masked", "mixed", "short", "of no rows", "of no dimension"])
    if what == "masked":
        bad = np.ma.array(np.array([*entries, None], dtype=object)[:-1], mask=codes == 1)
    elif what == "mixed":
        bad = [*entries[:-1], "a" if not isinstance(entries[0], str) else 5]
    elif what in ("short", "of no rows", "of no dimension"):
        bad = {"short": entries[:-1], "of no rows": [], "of no dimension": entries[0]}[what]
    else:
        bad = [*entries[:-1], POISON[what]]
        bad = np.array([*bad, None], dtype=object)[:-1] if rng.random() < 0.5 else bad
    where = rng.integers(3)
    if where == 2:
        y = np.arange(n) % 2
        options = {"groups": bad, "metric": "accuracy"}
        return f"{kind}, {what} in groups", lambda: evaluated(y, y, rng=rng, **options), None
    columns = [bad, entries] if where == 0 else [entries, bad]
    return f"{kind}, {what}", lambda: evaluated(*columns, "accuracy", rng), None


@pytest.mark.parametrize("kind", ["labels", "groups", "values", "poison"])
def test_random_columns_get_the_number_of_scikit_learn_or_are_named(kind, tmp_path):
    rng = np.random.default_rng(20)
    make = {
        "labels": fuzz_labels,
        "groups": fuzz_groups,
        "values": fuzz_values,
        "poison": fuzz_poison,
    }[kind]
    outcomes = []
    for _ in range(N_CALLS // 4):
        case, call, expected = make(rng, tmp_path)
        outcomes.append(checked(call, expected, case))
    if kind == "poison":
        assert set(outcomes) == {"refused"}
    else:
        assert outcomes.count("answered") >= 0.8 * len(outcomes)
