#!/usr/bin/env -S pipx run
# /// script
# dependencies = ["nox"]
# ///
"""The tests on every interpreter found: `pipx run nox`; on one: `... -s tests-3.14`."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session):
    """Install the package with what its tests need, and run them."""
    session.install(".[dev]")
    session.run("pytest", *session.posargs, env={"MPLBACKEND": "Agg"})


if __name__ == "__main__":
    nox.main()
