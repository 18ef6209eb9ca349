"""Random calls of all public functions: the number of scikit-learn, or a refusal with a name.

`benchmarks/reliability/fuzz` makes them by number; ``python -m benchmarks.reliability case 17``, or
``case 17 parameters``, makes one again.
"""

import pytest
import sklearn

from benchmarks.reliability import fuzz

pytestmark = pytest.mark.filterwarnings("ignore")

# How many cases of each series every run of the tests makes.
N_CASES = {"fuzz": 600, "parameters": 200}
# Random parameters are those that scikit-learn 1.9 takes; releases before refuse others.
BEFORE_1_9 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
older = pytest.mark.skipif(BEFORE_1_9, reason="random parameters are those of scikit-learn 1.9")
every_series = pytest.mark.parametrize(
    "series", [pytest.param(one, marks=older if one == "parameters" else ()) for one in fuzz.SERIES]
)


def run_cases(numbers, folder, series):
    outcomes = [fuzz.outcome_of(number, folder, series) for number in numbers]
    faults = [one for one in outcomes if one.outcome == "fault"]
    assert not faults, "\n".join(f"case {o.number}: {o.text}: {o.said}" for o in faults[:10])
    return outcomes


@every_series
def test_random_calls_get_the_number_of_scikit_learn_or_name_the_argument(series, tmp_path):
    outcomes = run_cases(range(N_CASES[series]), tmp_path, series)
    # Else the generator would make little but nonsense, and say nothing about right calls.
    assert sum(one.outcome == "answered" for one in outcomes) > 0.4 * len(outcomes)
    made = {make.__name__ for make in fuzz.SERIES[series].makers}
    assert {one.function for one in outcomes} == made


@pytest.mark.slow
@every_series
def test_many_more_random_calls(series, tmp_path):
    run_cases(range(N_CASES[series], fuzz.SERIES[series].n_cases), tmp_path, series)


@every_series
def test_a_case_is_the_same_whenever_it_is_made(series, tmp_path):
    for number in range(40):
        (maker, one), (again, other) = (fuzz.case_of(number, tmp_path, series) for _ in range(2))
        assert (maker, one.text) == (again, other.text)


@pytest.mark.parametrize(
    ("call", "expected", "said"),
    [
        (lambda: 1.0, 2.0, "answered 1.0, expected 2.0"),
        (lambda: 1.0, fuzz.REFUSAL, "answered 1.0"),
        (lambda: [][0], 1.0, "IndexError"),
        (lambda: int("a"), fuzz.SOUND, "invalid literal"),
        (lambda: LIST.append(1), fuzz.SOUND, "changed an input"),
    ],
)
def test_the_judge_finds_faults(call, expected, said):
    case = fuzz.Case("a case", call, expected, inputs=(LIST,))
    with pytest.raises(fuzz.Fault, match=said):
        fuzz.judged(case)


LIST = [0]
