# Two commands do everything on a machine with Python >= 3.11, git and make:  make demo, make test
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
WORKERS ?= 2
CONSTRAINTS ?=

.PHONY: demo test test-fast test-oldest lint types bench clean

$(VENV)/.installed: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) -e ".[all,dev]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python -m eptr.demo

test: $(VENV)/.installed lint types
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) -q

test-fast: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) -q -m "not slow"

# The oldest supported dependencies, in an environment of their own.
test-oldest:
	$(MAKE) VENV=.venv-oldest CONSTRAINTS=constraints/oldest.txt .venv-oldest/.installed
	OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n $(WORKERS) -q -m "not slow"

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.core

clean:
	rm -rf .venv .venv-oldest .mypy_cache .pytest_cache .ruff_cache build dist
