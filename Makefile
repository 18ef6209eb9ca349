# Every target starts from a fresh clone and needs Python 3.11 or newer; it makes what it needs in
# .venv, once. Another interpreter: `make test PYTHON=python3.12`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := $(BIN)/python
# On all processors.
ON_ALL := -n auto --dist worksteal
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
export MPLBACKEND ?= Agg
# What a run compiles, tests with their assertions among it, serves the processes it starts and the next run.
test test-shown test-studies: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test test-shown test-studies slow coverage lint format types docs texts blocks gallery bench bench-revisions coverage-study soak wheel-smoke test-oldest clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.demo  ## print scores with their intervals; write a picture and a page to demo_output/
	$(RUN) docs/examples/demo.py

test: $(VENV)/.dev  ## the tests, and the examples in docstrings and documentation
	$(RUN) -m pytest $(ON_ALL)

test-shown: $(VENV)/.dev  ## the tests in which a version of a dependency or of the system shows
	$(RUN) -m pytest $(ON_ALL) $(SHOWN_BY) --ignore=tests/test_docs_examples.py

test-studies: $(VENV)/.dev  ## the tests of the studies of coverage, which stand beside them
	$(RUN) -m pytest $(ON_ALL) benchmarks/coverage/tests

slow: $(VENV)/.dev  ## the simulation studies that `make test` leaves out
	$(RUN) -m pytest tests benchmarks/coverage/tests -m slow

coverage: $(VENV)/.dev  ## the tests, and which lines they reach
	$(RUN) -m pytest --cov --cov-report=term --cov-report=html

lint: $(VENV)/.dev  ## style, formatting and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

format: $(VENV)/.dev  ## put the code into the project's format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: $(VENV)/.dev  ## static types: of the package, of calls, and of the blocks of the pages
	$(BIN)/mypy
	$(RUN) -m pytest tests/test_typing.py

# GALLERY=some runs three examples of the gallery, and shows the others without their pictures. Small fits take ten times as
# long where several threads share each of them. Unbuffered, a line for each example and page is seen when it begins.
export GALLERY ?= all
docs gallery: export OMP_NUM_THREADS = 1
docs gallery: export OPENBLAS_NUM_THREADS = 1
docs gallery: export MKL_NUM_THREADS = 1
docs: $(VENV)/.docs  ## the site, in docs/_build/html; its examples, and tests with other packages
	rm -rf docs/generated docs/gallery
	$(RUN) -u -m sphinx --fresh-env --fail-on-warning --keep-going docs docs/_build/html
	$(RUN) -m pytest tests/test_docs_examples.py tests/test_other_packages.py
	@echo "Open docs/_build/html/index.html"

texts: export OMP_NUM_THREADS = 1
texts: $(VENV)/.dev  ## write anew what snapshots, pages and docstrings show, after words of results were changed
	PYTHONPATH=.:tests $(RUN) tests/refresh_outputs.py
	PYTHONPATH=. $(RUN) tests/messages.py
	$(RUN) tests/golden/record.py commit

blocks: $(VENV)/.docs  ## each code block of the README and the guide, in a process of its own
	$(RUN) tests/fresh_blocks.py

gallery: $(VENV)/.dev  ## all examples of the gallery, which `make test` runs three of
	$(RUN) -m pytest tests/test_gallery.py -m "gallery or not gallery"

bench: $(VENV)/.bench  ## how fast it is here, against other packages; writes a page of the docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(RUN) benchmarks/peers.py --write

BASE ?= HEAD~1
HEAD ?= HEAD
bench-revisions: $(VENV)/.bench  ## compare the speed of two revisions: BASE=... HEAD=...
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	  $(RUN) benchmarks/compare_revisions.py $(BASE) $(HEAD)

STUDY ?=
PART ?=
coverage-study: $(VENV)/.bench  ## go on with a study: STUDY=frozen_systems [PART="--minutes 20"]; without: which results are of older code
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	  $(RUN) -m benchmarks.coverage $(STUDY) $(PART)

soak: $(VENV)/.dev  ## try to break it for an hour: random calls, faults, many calls; writes a page of the docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(RUN) -m benchmarks.reliability run

# The wheel and the oldest dependencies run the code that `make test` has tested. Of its tests they run those in which a file
# of the package, an extra or a version shows; every night all: make wheel-smoke test-oldest SHOWN_BY=tests
SHOWN_BY ?= tests/golden tests/kept tests/cli tests/splitters tests/_base tests/plots tests/test_public_api.py \
  tests/metrics/test_contract.py tests/scorer/test_bootstrap_scorer.py tests/scorer/test_estimator_checks.py
export SHOWN_BY

# The packaged wheel, made from the source archive, in an environment without the extras.
SMOKE := build/wheel-smoke
wheel-smoke: $(VENV)/.dev  ## build the package; test it without its extras, away from the checkout
	rm -rf $(SMOKE) && mkdir -p $(SMOKE)
	$(RUN) -m build --quiet --outdir $(SMOKE)/dist .
	$(PYTHON) -m venv $(SMOKE)/venv
	$(SMOKE)/venv/bin/python $(PIP_INSTALL) $(SMOKE)/dist/skboot-*.whl
	cp -R tests benchmarks pyproject.toml $(SMOKE)/
	cd $(SMOKE) && venv/bin/python tests/smoke.py
	$(SMOKE)/venv/bin/python $(PIP_INSTALL) pytest pytest-xdist hypothesis
	cd $(SMOKE) && venv/bin/python -m pytest $(ON_ALL) $(SHOWN_BY) --ignore=tests/test_docs_examples.py

# Expected output in docstrings and pages is that of the newest numpy, so only tests/ runs here.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= $(PYTHON)
test-oldest: $(OLDEST)/.installed  ## the tests on the oldest supported dependencies (Python 3.11 or 3.12)
	$(OLDEST)/bin/python -m pytest $(ON_ALL) $(SHOWN_BY) --ignore=tests/test_docs_examples.py

$(OLDEST)/.installed: pyproject.toml .ci/oldest.txt
	@$(OLDEST_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] not in [(3, 11), (3, 12)])' || \
	  { echo "numpy 1.26 has no wheels for this Python: make test-oldest OLDEST_PYTHON=python3.11"; exit 1; }
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(PIP_INSTALL) --only-binary numpy,scipy,scikit-learn,matplotlib,pandas,polars \
	  -c .ci/oldest.txt -e '.[plot,dataframe]' pytest pytest-xdist hypothesis
	@touch $@

# One stamp per extra: a second call installs nothing, a change of pyproject.toml installs again.
$(VENV)/.demo: EXTRAS := plot,dataframe
$(VENV)/.dev: EXTRAS := dev
$(VENV)/.docs: EXTRAS := docs
$(VENV)/.bench: EXTRAS := bench
$(VENV)/.demo $(VENV)/.dev $(VENV)/.docs $(VENV)/.bench: pyproject.toml | $(VENV)/pyvenv.cfg
	$(RUN) $(PIP_INSTALL) -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "skboot needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

clean:  ## remove all that the other targets made
	rm -rf .venv .venv-oldest build dist *.egg-info docs/_build docs/generated docs/gallery demo_output htmlcov
	rm -rf .benchmarks .coverage .hypothesis .mypy_cache .nox .pytest_cache .ruff_cache
	find skboot tests docs -name __pycache__ -type d -exec rm -rf {} +
