"""The tests on every interpreter that is found: `nox`; on one: `nox -s tests-3.13`."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session):
    """Install the package with what its tests need, and run them."""
    session.install(".[dev]")
    session.run("pytest", *session.posargs, env={"MPLBACKEND": "Agg"})
