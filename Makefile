# Two commands do everything on a machine with Python >= 3.11, git and make:  make demo, make test
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# For two cores: one of the three mostly waits for clusters.
WORKERS ?= 3
CONSTRAINTS ?=
EXTRAS ?= all,dev,docs

.PHONY: demo test test-fast coverage test-oldest test-wheel dist docs docs-serve lint types results clean
.PHONY: reproduction peers compare soak mutants bench bench-accuracy bench-coverage bench-logistic bench-stats bench-suite bench-quantiles bench-smooth bench-speed bench-sensitivity bench-gpu bench-real bench-scale bench-study bench-ranges bench-mixed bench-monotone bench-times choose-defaults

$(VENV)/.installed: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) -e ".[$(EXTRAS)]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/eptr demo

test: $(VENV)/.installed lint types
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q

test-fast: $(VENV)/.installed
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q -m "not slow"

# What the fast tests run, room by room (results/coverage.csv); fails below the floor in pyproject.toml.
coverage: $(VENV)/.installed
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q -m "not slow" --cov --cov-report=json:build/coverage.json
	$(BIN)/python -m benchmarks.coverage

# The oldest supported dependencies, in an environment of their own, and the tests that a version can break; some minutes.
OLDEST = $(addprefix tests/,accounting cli codebook estimators rows stats study every/test_sklearn.py) $(wildcard tests/test_[c-p]*.py)
test-oldest:
	$(MAKE) VENV=.venv-oldest EXTRAS=all,dev CONSTRAINTS=constraints/oldest.txt .venv-oldest/.installed
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n $(WORKERS) --dist loadgroup -q -m "not slow" $(OLDEST)

# Wheel and source archive, as they would be published.
dist: $(VENV)/.installed
	rm -rf dist build/lib
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

# The wheel in an empty environment: the README's first example and tests that need no extras, then all extras, types of user code and other tests; some minutes.
test-wheel: dist
	$(BIN)/python -m tests.wheel dist/*.whl

# The site, offline: nothing is fetched while it is built or read; a warning is an error.
docs: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/site
	@echo "build/site/index.html"

docs-serve: docs
	$(BIN)/python -m http.server --directory build/site --bind 127.0.0.1 8000

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

# Every number in the README and docs is printed by one of these. QUICK=1 shortens the simulations.
bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.core

bench-accuracy: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.life accuracy $(if $(QUICK),--quick)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.accuracy $(if $(QUICK),--quick)
	$(BIN)/python -m benchmarks.pictures

bench-coverage: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.life coverage $(if $(QUICK),--quick)

# Distance from maximum likelihood, coverage, prediction on one-hot columns, speed; an hour.
bench-logistic: $(VENV)/.installed
	for table in coefficients census speed; do OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.logistic $$table $(if $(QUICK),--replications 20) || exit 1; done

# Means, spreads, covariances and scores against their non-private values and CoinPress; coverage; speed. Some ten minutes.
bench-stats: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.stats

# The datasets of EPTR_DATA_HOME/regression, scaled and raw, and wages with ranges.
bench-suite: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.suite $(if $(QUICK),--quick)

# Misclassified points of quantiles, ours and published, coverage of intervals, and a million values; a quarter of an hour on two cores.
bench-quantiles: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.quantiles

# Curves, bands, housing prices (EPTR_DATA_HOME) and a million rows; an hour.
bench-smooth: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.smooth

bench-speed: $(VENV)/.installed
	OMP_NUM_THREADS=2 $(BIN)/python -m benchmarks.speed

bench-sensitivity: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.estimators.gaps

# Parquet files of up to 5e7 rows (10 GB on disk while it runs), memory and passes; about ten minutes.
bench-scale: $(VENV)/.installed
	$(BIN)/python -m benchmarks.scale

# Where torch or CuPy finds a GPU; says so where there is none.
bench-gpu: $(VENV)/.installed
	$(BIN)/python -m benchmarks.gpu

# A survey of 32,561 people, a formula at a fifth of epsilon 2, 200 times; then people with three rows each; some eight minutes.
bench-study: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.study
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.study --persons --runs 60

bench-real: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.real

# What ranges that are too wide cost, and columns with long tails; five minutes.
bench-ranges: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.ranges $(if $(QUICK),--replications 20)

# Tables drawn at random: how often intervals are wrong about least squares; five minutes.
bench-mixed: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.mixed $(if $(QUICK),--tables 30)

# Whether more budget or more rows ever make a fit worse; ten minutes.
bench-monotone: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.monotone $(if $(QUICK),--replications 4)

# Sixteen processes, 20,000 charges, 500 kill -9, on SQLite and on PostgreSQL.
soak: $(VENV)/.installed
	$(BIN)/python -m tests.accounting.soak

# Every line that carries the guarantee, weakened; which test notices (results/mutants.csv). Survivors fail. Some 1,500 mutants, each
# against the test that noticed it before; what that does not notice any more is searched for, after learning, once, which test
# executes what.
# LEFT=1 tries those that no test is known to notice, or whose test is gone: minutes.
mutants: $(VENV)/.installed
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.mutants $(if $(LEFT),--left)

# Every rival in every form against our estimators and statistics; rewrites the tables of docs/rivals.md, stats.md, quantiles.md.
compare: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.compare
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.stats --only normal
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.quantiles --part errors

# diffprivlib and OpenDP's own estimators in the same table, in an environment of their own.
peers: $(VENV)/.installed
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/peers.txt diffprivlib scikit-learn opendp
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.peers.compare .venv-peers/bin/python

# What commands that share the machine cannot time well, again and alone.
bench-times: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.smooth speed

# Every figure of the paper with its replications (under an hour on two cores), then the claims one by one.
# AGAIN="refined Additive" runs these methods alone, beside the stored rows of the others.
reproduction: $(VENV)/.installed
	$(if $(AGAIN),,$(BIN)/eptr reproduce all --out results/reproduction)
	$(BIN)/python -m benchmarks.reproduction $(addprefix --again ,$(AGAIN))

# All of the above, with versions and times (results/versions.csv); what this code has done already is left out, so an
# interrupted run goes on. Under three hours on two cores. ONLY="compare peers" runs some.
results: $(VENV)/.installed
	$(BIN)/python -m benchmarks.everything $(ONLY)

choose-defaults: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.choose_defaults

clean:
	rm -rf .venv .venv-oldest .venv-peers .mypy_cache .pytest_cache .ruff_cache build dist
