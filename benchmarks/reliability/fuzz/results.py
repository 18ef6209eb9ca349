"""Methods of results, comparisons, tables, curves and plans, called in the right way and in others.

A right call must agree with what does not go through the method: the arrays that are held, another
call of the function that made the result, or what a file gave back. Any other argument must be
refused by name, or the answer must be sound.
"""

import copy
import inspect
import json
import pickle
from fractions import Fraction
from functools import lru_cache, partial
from importlib.util import find_spec

import numpy as np
from sklearn.naive_bayes import GaussianNB

import skboot

from . import options
from .case import SOUND, Case
from .options import FEW, GROUPS, PROB, SCORED, SMALL, TWO, P, X, Y

LEVELS = (0.5, 0.8, 0.9, 0.99)
THREE = {**TWO, "C": 1 - Y}
TWO_RUNS = {"A": [P, Y, P], "B": [Y, Y, P]}
TWO_METHODS = {"A": GaussianNB(), "B": GaussianNB(var_smoothing=1.0)}
NINE = {**SMALL, "n_train_resamples": 9}


def of_a_stream(**changes):
    stream = skboot.BootstrapAccumulator("f1", **FEW, **changes)
    return stream.update(np.tile(Y, 2), np.tile(P, 2), start=0).result()


def of_a_method(**changes):
    return skboot.BootstrapScorer(GaussianNB(), **NINE, **changes).fit(X, Y).result_


SCORE = partial(skboot.bootstrap_score, Y, P, **FEW)
CURVE = partial(skboot.bootstrap_curve, Y, PROB, **FEW)
COMPARED = partial(skboot.compare_systems, Y, THREE, **FEW)
CALLS = {
    "score": SCORE,
    "score of groups": partial(SCORE, metric="f1", groups=GROUPS),
    "area": partial(skboot.bootstrap_score, Y, PROB, metric="roc_auc", **FEW),
    "metrics": partial(SCORE, metric=["accuracy", "f1"]),
    "subgroups": partial(SCORE, by=np.arange(24) // 12),
    "runs": partial(skboot.bootstrap_runs, Y, [P, TWO["B"], P], metric="accuracy", **FEW),
    "search": partial(skboot.search_score, Y, TWO, **FEW),
    "method": of_a_method,
    "stream": of_a_stream,
    "curve": CURVE,
    "calibration": partial(CURVE, curve="calibration", n_bins=3),
    "comparison": COMPARED,
    "with a reference": partial(COMPARED, reference="A", adjust="holm"),
    "one-sided": partial(COMPARED, alternative="greater"),
    "comparisons": partial(COMPARED, metric=["accuracy", "f1"]),
    "methods": partial(skboot.compare_methods, TWO_METHODS, X, Y, **NINE),
    "runs compared": partial(skboot.compare_runs, Y, TWO_RUNS, **FEW),
    "data sets": partial(
        skboot.compare_across, SCORED, greater_is_better=True, n_resamples=9, random_state=0
    ),
    "plan": partial(skboot.plan_evaluation, proportion=0.9, half_width=0.05),
}
# Results of one number, whose interval at another level is that of the same call at that level.
OF_ONE_NUMBER = ("score", "score of groups", "area", "runs", "search", "stream", "method")
TABLES = ("metrics", "subgroups", "comparisons")
# What may be right, for some results at least.
LIKELY = {
    "confidence_level": (0.5, 0.9, np.float32(0.9), Fraction(9, 10), np.float64(0.999)),
    "method": ("auto", "percentile", "basic", "normal", "bca", "t", "wilson", "hull", "components"),
    "estimand": ("system", "method", "next_run", "pooled"),
    "layout": ("differences", "systems", "both", np.str_("both")),
    "prefix": ("test/", np.str_("a"), "α ", "\n"),
    "x": (0, 1, 0.5, np.float32(0.5), Fraction(1, 2), np.array(0.25), 0.123, np.int8(1)),
    "k": (1, 2, np.int64(1), np.uint8(2), 3, 4),
    "first": ("A", "B", "C", np.str_("B")),
    "second": ("A", "B", "C", np.str_("A")),
}


@lru_cache
def made(name, **changes):
    return CALLS[name](**changes)


def text_of(value):
    """What a value says of itself, in which arrays and NaN can be compared."""
    return json.dumps(value.to_dict(), sort_keys=True)


# ------------------------------------------------------------------ right calls


def through_a_file(name, rng, folder):
    path = folder / f"{rng.integers(2**60)}.npz"

    def call():
        made(name).save(path)
        again = type(made(name)).load(path)
        return again == made(name) and text_of(again) == text_of(made(name))

    return call, True


def through_a_page(name, rng, folder):
    path = folder / f"{rng.integers(2**60)}.html"

    def call():
        is_none = made(name).to_html(path) is None
        return is_none and path.read_text(encoding="utf-8") == made(name).to_html()

    return call, True


def copied(name, rng, folder):
    through = (copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own)))
    one = through[rng.integers(3)]
    return lambda: one(made(name)) == made(name), True


def at_another_level(name, rng, folder):
    name = str(rng.choice(OF_ONE_NUMBER))
    level = float(rng.choice(LEVELS))
    expected = made(name, confidence_level=level).confidence_interval[:2]
    return lambda: made(name).interval(confidence_level=level)[:2], expected


def by_name(name, rng, folder):
    name = str(rng.choice(["comparison", "methods", "runs compared", "data sets"]))
    systems = list(made(name).systems)
    first, second = rng.choice(systems, size=2, replace=False)

    def call():
        pair = made(name).pair(first, second)
        return [pair.difference, *pair.confidence_interval[:2]]

    mirror = made(name).pair(second, first)
    low, high = mirror.confidence_interval[:2]
    return call, [-mirror.difference, -high, -low]


def on_resamples(name, rng, folder):
    first, second = rng.choice(list(THREE), size=2, replace=False)
    own = made("comparison").systems
    expected = own[first].bootstrap_distribution - own[second].bootstrap_distribution
    return lambda: made("comparison").replicates(first, second), expected


def at_a_point(name, rng, folder):
    name = str(rng.choice(["curve", "calibration"]))
    k = int(rng.integers(len(made(name).x)))
    x = made(name).x[k]
    given = x if rng.random() < 0.5 else np.array(x)
    return lambda: made(name).at(given).estimate, made(name).estimate[k]


def as_numbers(name, rng, folder):
    name = str(rng.choice(OF_ONE_NUMBER))
    prefix = str(rng.choice(["", "test/", "a b ", "α"]))
    result = made(name)
    expected = [result.estimate, *result.confidence_interval[:2]]

    def call():
        found = result.as_metrics(prefix)
        assert all(key.startswith(prefix) for key in found)
        if find_spec("pandas") is not None:
            row = result.to_frame().iloc[0]
            assert np.allclose(list(found.values()), row[["estimate", "low", "high"]].astype(float))
        return list(found.values())

    return call, expected


RIGHT = (
    through_a_file, through_a_page, copied, at_another_level, by_name, on_resamples, at_a_point,
    as_numbers,
)  # fmt: skip


def of_right_methods(rng, folder):
    name, way = str(rng.choice(list(CALLS))), RIGHT[rng.integers(len(RIGHT))]
    call, expected = way(name, rng, folder)
    return Case(f"{way.__name__.replace('_', ' ')}: {name}", call, expected)


# ------------------------------------------------------------------ any calls


def methods_of(result):
    """Public methods that take something, by name, with their arguments."""
    found = {}
    for name in dir(type(result)):
        method = inspect.getattr_static(type(result), name)
        if name.startswith("_") or hasattr(dict, name):
            continue
        if inspect.isfunction(method) or isinstance(method, classmethod):
            found[name] = [
                own.name
                for own in inspect.signature(getattr(result, name)).parameters.values()
                if own.kind is not own.VAR_KEYWORD
            ]
    return found


def right_arguments(result, method):
    """Arguments for all that have no default."""
    if method in ("pair", "replicates"):
        return dict(zip(("first", "second"), list(result.systems)[:2], strict=True))
    if method == "is_distinguishable":
        return {"pair": result.pairs[0]}
    return {"at": {"x": 0.5}}.get(method, {})


def is_a_path(value):
    """Whether a file would be made, or one that is open be closed."""
    return isinstance(value, str | bytes | int) or hasattr(value, "__fspath__")


def of_any_methods(rng, folder):
    name = str(rng.choice(list(CALLS)))
    result = made(name)
    if name in TABLES and rng.random() < 0.3:
        result = next(iter(result.values()))
    known = methods_of(result)
    method = str(rng.choice([own for own in known if known[own] and own != "plot"]))
    argument = str(rng.choice(known[method]))
    what, value = options.junk(rng)
    if argument == "path" and is_a_path(value) and not isinstance(value, bool | int):
        what, value = "a path of no folder", folder / "none" / "file"
    if argument in LIKELY and rng.random() < 0.5:
        value = LIKELY[argument][rng.integers(len(LIKELY[argument]))]
        what = repr(value)
    arguments = {**right_arguments(result, method), argument: value}

    def call():
        try:
            return getattr(result, method)(**arguments)
        except KeyError as error:
            # Of systems that were not compared, which `pair` says it raises.
            if method not in ("pair", "replicates") or "were not compared" not in str(error):
                raise
        except FileNotFoundError as error:
            if str(value.parent) not in str(error):
                raise
        raise ValueError(f"The {argument!r} parameter of x must be known. Got {what}.")

    # An unknown interval is answered with all that are known, ranks need pairs of all systems, and
    # the verdict of a comparison its only pair.
    own = {
        "method": "^The interval.* (must be|needs)",
        "k": "rank(s|ing) needs?",
        "margin": "verdict needs one number",
    }.get(argument, "")
    return Case(f"{name}: {method}({argument}={what})", call, SOUND, (argument,), own_words=own)


@lru_cache
def options_of_picture(name):
    """What the display of a result takes."""
    display, _, maker = made(name)._display.partition(".")
    functions = [getattr(getattr(skboot.plots, display), own) for own in (maker, "plot")]
    known = {own for one in functions for own in inspect.signature(one).parameters}
    return sorted(known - {"self", "result", "results", "kwargs"})


def of_any_pictures(rng, folder):
    """Options of pictures; their styles are for the drawing package to refuse."""
    if find_spec("matplotlib") is None:
        return of_any_formats(rng, folder)
    name = str(rng.choice(list(CALLS)))
    option = str(rng.choice(options_of_picture(name)))
    what, value = options.junk(rng)

    def call():
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        try:
            made(name).plot(**{option: value}).figure_.canvas.draw()
        finally:
            pyplot.close("all")

    own = ".*" if "kwargs" in option or option == "bins" else "unexpected keyword argument"
    return Case(f"{name}: plot({option}={what})", call, SOUND, (option,), (), False, own)


def of_any_formats(rng, folder):
    """Results as numbers and texts."""
    name = str(rng.choice(list(CALLS)))
    result = made(name)
    spec = str(rng.choice([".3f", ".1%", "", "d", "x", "10.2e", "\0", "{}"]))
    known = {
        "format": lambda: format(result, spec),
        "str": lambda: str(result),
        "repr": lambda: repr(result),
        "html": lambda: result._repr_html_(),
        "comparison with another": lambda: result == spec,
    }
    way = str(rng.choice(list(known)))
    own = "format|Format|specifier|several|pairs"
    return Case(f"{name}: {way} {spec!r}", known[way], SOUND, own_words=own)


MAKERS = {of_right_methods: 10, of_any_methods: 14, of_any_pictures: 2, of_any_formats: 2}
