"""The snapshot of all messages is what the source says, and says it whole."""

import pytest
from messages import PACKAGE, SNAPSHOT, messages_of, snapshot


def test_the_snapshot_of_messages_is_up_to_date():
    if not (PACKAGE.parent / "tests").exists():
        pytest.skip("the snapshot is of the source tree, not of the installed package")
    stale = "tests/messages.md is stale: run `python tests/messages.py`, and read what changed."
    assert SNAPSHOT.read_text(encoding="utf-8") == snapshot(), stale


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("raise ValueError(f'No {x!r} here.')", "ValueError: No {...} here."),
        ("raise ValueError(f'No {a.n} of {len(x)}.')", "ValueError: No {...} of {...}."),
        ("raise fail('x', 'be 1', repr(x))", "Errors of arguments: `x` must be 1. Got {...}."),
        (
            "must = 'be 1'\nif x:\n  must = 'be 2'\nraise fail('x', must, 'y', 'Do.')",
            "Errors of arguments: `x` must (be 1 | be 2). Got y. Do.",
        ),
        (
            "must = 'be 1'\nif x:\n  must = 'be 2'\n  raise fail('x', must, 'y', 'Do.')",
            "Errors of arguments: `x` must be 2. Got y. Do.",
        ),
        (
            "must = 'be 1'\nif x:\n  must = 'be 2'\n  return must\nraise fail('x', must, 'y')",
            "Errors of arguments: `x` must be 1. Got y.",
        ),
        ("warn_user(f'{caller}: few.', Rare)", "warning (Rare): {...}: few."),
        (
            "notes.append(Note('few', 'So ' + 'few.' if x else 'None.'))",
            "note (few): (So few. | None.)",
        ),
        ("text = 'These are four words'\nreturn f'{text}.'", "These are four words."),
        ("return OUTER", "A sentence of the module."),
    ],
)
def test_a_message_is_shown_whole(body, shown):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    found = messages_of(f"OUTER = 'A sentence of the module.'\ndef f(x):\n{lines}")
    texts = [f"{kind}: {text}" if kind else text for of in found.values() for kind, text in of]
    assert shown in texts
    assert len(texts) == 1 + (shown not in ("A sentence of the module.",))


@pytest.mark.parametrize(
    "body",
    [
        '"""What it does, in a sentence."""',
        "raise error",
        "raise ValueError(text)",
        "warn_user(sentence)",
        "return 'two words'",
        "return '<a style of some words>'",
        "return MethodError(metric='the metric', point=point)",
    ],
)
def test_what_is_no_message_is_left_out(body):
    assert not messages_of(f"def f(text):\n    {body}")


def test_a_text_of_several_functions_is_there_once_and_claims_are_not(tmp_path):
    warning = "    warn_user('Of many words, but said by two functions.')\n"
    claim = "    return 'A claim of a result is among what each call says.'\n"
    (tmp_path / "first.py").write_text(f"def f():\n{warning}def _claim():\n{claim}")
    (tmp_path / "second.py").write_text(f"def f():\n{warning}")
    (tmp_path / "wording.py").write_text(f"def f():\n{claim}")
    text = snapshot(tmp_path)
    assert text.count("Of many words") == 1
    assert "A claim" not in text


def test_a_text_that_moves_or_whose_values_are_renamed_leaves_the_snapshot(tmp_path):
    for name, value in (("first", "x"), ("second", "limit")):
        (tmp_path / name).mkdir()
        source = f"def {name}({value}):\n    raise ValueError(f'No {{{value}}} here.')\n"
        (tmp_path / name / f"{name}.py").write_text(source)
    assert snapshot(tmp_path / "first") == snapshot(tmp_path / "second")
