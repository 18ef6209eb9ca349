"""The key of a fit: the same in every process, another where code or data changed."""

import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skboot import BootstrapScorer
from skboot.refit import identity
from skboot.refit.identity import Key, UnknownIdentity

pytestmark = pytest.mark.filterwarnings("ignore:BootstrapScorer. 8 resamples are too few")

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 2)) + Y[:, None]


def scorer(estimator, folder, **options):
    options = dict(n_train_resamples=8, strategy="oob", random_state=0, memory=folder) | options
    return BootstrapScorer(estimator, scoring="accuracy", **options)


def key_of(value):
    key = Key()
    key.add(value)
    return key.finished()


@pytest.fixture
def module(monkeypatch):
    """Make a module of a user's from its source."""

    def make(source, name="mine"):
        made = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, made)
        exec(compile(source, f"{name}.py", "exec"), made.__dict__)
        return made

    return make


FUNCTIONS = {
    "body": ("def f(x): return x + x", "def f(x): return x * x"),
    "constant": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "kind of constant": ("def f(x): return x + 1", "def f(x): return x + 1.0"),
    "default": ("def f(x, a=1): return x + a", "def f(x, a=2): return x + a"),
    "keyword default": ("def f(x, *, a=1): return x", "def f(x, *, a=2): return x"),
    "attribute": ("def f(x): return f.a\nf.a = 1", "def f(x): return f.a\nf.a = 2"),
    "name of a call": ("def f(x): return x.max()", "def f(x): return x.min()"),
    "lambda": ("f = lambda x: x + 1", "f = lambda x: x - 1"),
    "inner function": (
        "def f(x):\n def g(): return x\n return g()",
        "def f(x):\n def g(): return -x\n return g()",
    ),
    "closure": (
        "def make(a):\n def f(x): return x + a\n return f\nf = make(1)",
        "def make(a):\n def f(x): return x + a\n return f\nf = make(2)",
    ),
    "function that it calls": (
        "def g(x): return x\ndef f(x): return g(x)",
        "def g(x): return -x\ndef f(x): return g(x)",
    ),
    "function called by that": (
        "def h(x): return x\ndef g(x): return h(x)\ndef f(x): return g(x)",
        "def h(x): return -x\ndef g(x): return h(x)\ndef f(x): return g(x)",
    ),
    "function that calls it": (
        "def g(x): return f(x) if x else 0\ndef f(x): return g(x)",
        "def g(x): return f(x) if x else 1\ndef f(x): return g(x)",
    ),
    "number that it reads": (
        "A = 1\ndef f(x): return x + A",
        "A = 2\ndef f(x): return x + A",
    ),
    "settings that it reads": (
        "A = {'a': [1]}\ndef f(x): return A",
        "A = {'a': [2]}\ndef f(x): return A",
    ),
    "array that it reads": (
        "import numpy as np\nA = np.arange(3)\ndef f(x): return x + A",
        "import numpy as np\nA = np.arange(3)[::-1]\ndef f(x): return x + A",
    ),
    "cached function": (
        "from functools import cache\n@cache\ndef f(x): return x",
        "from functools import cache\n@cache\ndef f(x): return -x",
    ),
    "partial": (
        "from functools import partial\ndef g(a, x): return x + a\nf = partial(g, 1)",
        "from functools import partial\ndef g(a, x): return x + a\nf = partial(g, 2)",
    ),
    "set": ("def f(x): return x in {'a', 'b'}", "def f(x): return x in {'a', 'c'}"),
    "method": ("class f:\n def m(self): return 1", "class f:\n def m(self): return 2"),
    "class attribute": ("class f:\n a = 1", "class f:\n a = 2"),
    "property": (
        "class f:\n @property\n def m(self): return 1",
        "class f:\n @property\n def m(self): return 2",
    ),
    "cached property": (
        "from functools import cached_property\n"
        "class f:\n @cached_property\n def m(self): return 1",
        "from functools import cached_property\n"
        "class f:\n @cached_property\n def m(self): return 2",
    ),
    "class method": (
        "class f:\n @classmethod\n def m(cls): return 1",
        "class f:\n @classmethod\n def m(cls): return 2",
    ),
    "base class": (
        "class g:\n def m(self): return 1\nclass f(g): pass",
        "class g:\n def m(self): return 2\nclass f(g): pass",
    ),
    "base of a library": (
        "from sklearn.naive_bayes import GaussianNB as g\nclass f(g): pass",
        "from sklearn.naive_bayes import BernoulliNB as g\nclass f(g): pass",
    ),
    "instance": (
        "class g:\n def __call__(self): return 1\nf = g()",
        "class g:\n def __call__(self): return 2\nf = g()",
    ),
    "bound method": (
        "class g:\n def m(self): return 1\nf = g().m",
        "class g:\n def m(self): return 2\nf = g().m",
    ),
    "vectorized function": (
        "import numpy as np\nf = np.vectorize(lambda x: x + 1)",
        "import numpy as np\nf = np.vectorize(lambda x: x + 2)",
    ),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_changed_code_changes_the_key(what, module):
    first, second = (module(source).f for source in FUNCTIONS[what])
    again = module("\n# moved, with a comment\n" + FUNCTIONS[what][0]).f
    assert key_of(first) != key_of(second)
    assert key_of(first) == key_of(again)


@pytest.mark.parametrize(
    "call", ["import helper\ndef f(x): return helper.g(x)",
             "def f(x):\n import helper\n return helper.g(x)",
             "def f(x):\n from helper import g\n return g(x)"],
)  # fmt: skip
def test_changed_code_in_another_module_of_the_users_changes_the_key(call, module):
    found = []
    for sign in "+-":
        module(f"def g(x): return {sign}x\ndef unused(x): return {sign}x", "helper")
        found.append(key_of(module(call).f))
    assert found[0] != found[1]


def test_the_version_of_an_estimators_package_is_in_the_key(monkeypatch):
    before = key_of(GaussianNB())
    monkeypatch.setattr(identity, "version_of", lambda module: "another")
    assert key_of(GaussianNB()) != before


def test_data_enter_by_what_they_hold():
    values = [
        X, X.T, X.astype("f4"), X[::-1], X.tolist(), sparse.csr_matrix(X), Y, Y.astype(object),
        None, "a", b"a", 1, 1.0, True, "1", [1], (1,), {1}, frozenset([1]), {1: 1}, [[1], 1],
        [[1, 1]], np.float64(1), np.int64(1), len, max, np.log1p, np.log, np.nan, {"a": 1, "b": 2},
        {"b": 2, "a": 1}, np.random.default_rng(0), np.random.RandomState(0), range(3), slice(3),
        # The same bytes in another shape, type or order.
        X.ravel(), X.reshape(2, N), X[None], X.view("i8"), X.view("f4"), np.asfortranarray(X),
        X[:0], X[:0].T, Y.astype(object)[:, None], sparse.csr_array(X), sparse.csc_matrix(X),
    ]  # fmt: skip
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    values += [frame, frame[["b", "a"]], frame.rename(columns={"b": "c"}), frame.astype("f4")]
    values += [frame.set_axis(["b", "a"], axis=1), frame["a"], frame["a"].rename("b")]
    keys = [key_of(value) for value in values]
    assert len(set(keys)) == len(keys)
    copies = [key_of(v.copy(order="K") if isinstance(v, np.ndarray) else v) for v in values]
    assert copies == keys


def test_a_value_that_holds_itself_has_a_key():
    one, other = [1], [2]
    one.append(one)
    other.append(other)
    assert key_of(one) != key_of(other)


PROGRAM = """
import sys, threading
import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.metrics import make_scorer
from skboot.refit.identity import Key

LOCK, WORDS = threading.Lock(), {"a", "b", "c"}

def helper(x):
    with LOCK:
        return x if x in {"alpha", "beta", "gamma", "delta"} else WORDS

class Mine(SVC):
    kinds = frozenset(["one", "two", "three", "four"])
    def fit(self, X, y):
        return super().fit(helper(X), y)

def metric(y, p, *, words=("a", "b")):
    return sum(map(lambda x: helper(x), p))

X = np.arange(12.0).reshape(4, 3)
data = [X, X.T, sparse.csr_array(X), X.astype(str), X.astype(object)]
try:
    import pandas, polars
    data += [pandas.DataFrame({"a": X[:, 0], "b": list("xyzw"), "c": [1, None, {"k"}, "s"]}),
             pandas.Series(pandas.Categorical(list("abca"))), polars.DataFrame({"a": list("xyz")})]
except ImportError:
    pass
cv = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(1))
search = GridSearchCV(make_pipeline(StandardScaler(), Mine()), {"svc__C": [1, 2]}, cv=cv)
key = Key()
key.add([search, make_scorer(metric), data, {"z", "y", "x"}, FunctionTransformer(lambda x: x + 1),
         ColumnTransformer([("a", RandomForestClassifier(), ["a", "b"])])])
print(key.finished(), key.unseen)
"""


def test_a_key_is_the_same_in_every_process(tmp_path):
    program, found = tmp_path / "program.py", []
    program.write_text(PROGRAM)
    for seed in "01":
        run = subprocess.run(
            [sys.executable, str(program)], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(run.stdout)
    assert len(set(found)) == 1
    assert found[0].endswith(" []\n")


TYPICAL = """
import abc, dataclasses, enum, functools, logging, re, typing
from sklearn.base import TransformerMixin
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if

T = typing.TypeVar("T")
log, pattern = logging.getLogger("mine"), re.compile("a+")

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass(frozen=True)
class Settings:
    a: int = 1
    b: list = dataclasses.field(default_factory=list)

class Named(typing.NamedTuple):
    a: int

class Shape(typing.Generic[T]):
    @abc.abstractmethod
    def area(self) -> T: return log.info(pattern), Named

class Mine(TransformerMixin, SVC):
    colour = Colour.RED
    def __init__(self, C=1.0, *, settings=Settings()): self.C, self.settings = C, settings
    @available_if(lambda self: hasattr(self, "C"))
    def transform(self, X): return Shape
    @functools.singledispatchmethod
    def one(self, x): return x
    @functools.lru_cache
    def two(self): return [y for y in range(3)]
"""


def test_an_ordinary_class_enters_whole(module):
    key = Key()
    key.add(module(TYPICAL).Mine())
    key.finished()
    assert key.unseen == []


@pytest.mark.parametrize("value", [np.frompyfunc(abs, 1, 1), threading.Lock(), (a for a in "a")])
def test_what_lives_in_this_process_only_has_no_key(value):
    with pytest.raises(UnknownIdentity):
        key_of([value])


def test_runs_of_a_function_whose_body_changed_are_not_used_again(tmp_path, module):
    def fitted(source, folder):
        pipe = make_pipeline(FunctionTransformer(module(source).f), LogisticRegression())
        return scorer(pipe, folder).fit(X, Y).oob_score_

    before, after = "def f(x): return x + 1", "def f(x): return x * [1, 0]"
    first = fitted(before, tmp_path)
    assert fitted(before, tmp_path) == first
    assert len(list(tmp_path.iterdir())) == 1
    assert fitted(after, tmp_path) == fitted(after, None) != first
    assert len(list(tmp_path.iterdir())) == 2


def test_code_that_cannot_be_read_is_refused_and_what_a_function_reads_is_named(tmp_path, module):
    compiled = np.frompyfunc(lambda x: x + 1, 1, 1)
    with pytest.raises(ValueError, match="The 'memory' parameter of BootstrapScorer must be None"):
        scorer(make_pipeline(FunctionTransformer(compiled), GaussianNB()), tmp_path).fit(X, Y)
    mine = module("def f(x): return compiled(x).astype(float)")
    mine.compiled = compiled
    with pytest.warns(UserWarning, match=r"does not notice changes of compiled \(ufunc\)"):
        scorer(make_pipeline(FunctionTransformer(mine.f), GaussianNB()), tmp_path).fit(X, Y)
