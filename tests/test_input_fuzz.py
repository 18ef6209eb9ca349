"""Random calls of all public functions: the number of scikit-learn, or a refusal with a name.

`benchmarks/reliability/fuzz` makes them by number; ``python -m benchmarks.reliability case 17``
makes one again.
"""

import pytest

from benchmarks.reliability import fuzz

pytestmark = pytest.mark.filterwarnings("ignore")

N_CASES, N_CASES_SLOW = 1000, 20_000


def run_cases(numbers, folder):
    outcomes = [fuzz.outcome_of(number, folder) for number in numbers]
    faults = [one for one in outcomes if one.outcome == "fault"]
    assert not faults, "\n".join(f"case {o.number}: {o.text}: {o.said}" for o in faults[:10])
    return outcomes


def test_random_calls_get_the_number_of_scikit_learn_or_name_the_argument(tmp_path):
    outcomes = run_cases(range(N_CASES), tmp_path)
    # Else the generator would make little but nonsense, and say nothing about right calls.
    assert sum(one.outcome == "answered" for one in outcomes) > 0.4 * N_CASES
    assert {one.function for one in outcomes} == {make.__name__ for make in fuzz.MAKERS}


@pytest.mark.slow
def test_many_more_random_calls(tmp_path):
    run_cases(range(N_CASES, N_CASES_SLOW), tmp_path)


def test_a_case_is_the_same_whenever_it_is_made(tmp_path):
    for number in range(40):
        (maker, one), (again, other) = (fuzz.case_of(number, tmp_path) for _ in range(2))
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
