"""Cases that one test goes through in turn, where a test for each would be thousands."""

import inspect
from collections.abc import Mapping
from functools import partial, wraps
from itertools import product

import pytest


def in_turn(**values):
    """Call a test once for each combination of values; it fails with all that fail, by name.

    Each argument is given as an iterable of values, or as a mapping of names to functions that make
    one. What is left of the test's arguments are fixtures, as usual.
    """
    listed = {
        name: list(given.items())
        if isinstance(given, Mapping)
        else [(repr(value), partial(_same, value)) for value in given]
        for name, given in values.items()
    }

    def decorate(test):
        @wraps(test)
        def run(**fixtures):
            failures = []
            for combination in product(*listed.values()):
                given = {name: make() for name, (_, make) in zip(listed, combination, strict=True)}
                try:
                    test(**given, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    labels = [label for label, _ in combination]
                    error.add_note(f"with {dict(zip(listed, labels, strict=True))}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} combinations", failures)

        parameters = inspect.signature(test).parameters.values()
        left = [parameter for parameter in parameters if parameter.name not in listed]
        run.__signature__ = inspect.Signature(left)
        return run

    return decorate


def _same(value):
    return value
