"""The command line in this process, by the door that users take: ``python -m skboot``."""

import runpy
import sys

import pytest


def exit_code_of(words):
    """Run the command with these words after it; what it prints is left to the caller."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["skboot", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_module("skboot", run_name="__main__")
    return ended.value.code
