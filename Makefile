# Each target installs what it needs into an environment of its own, made with plain venv and pip.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := -m pip install --quiet --quiet --disable-pip-version-check
# Tests and the demo use one BLAS thread per process, so that parallel test processes do not compete; results are the same.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: demo test test-slow test-oldest campaign docs dist reproduce-quick lint format bench bench-long bench-imml leaderboard clean

.venv/installed: pyproject.toml experiments/pyproject.toml
	@echo "setting up .venv with everything that development needs (about 1 GB, once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python $(INSTALL) --upgrade pip
	@$(BIN)/python $(INSTALL) --editable '.[dev]' --editable ./experiments
	@touch $@

# the library, scikit-learn and matplotlib
.venv-demo/installed: pyproject.toml
	@echo "setting up .venv-demo with jella and matplotlib (about 400 MB, once)"
	@$(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python $(INSTALL) --editable '.[plot]'
	@touch $@

.venv-docs/installed: pyproject.toml
	@echo "setting up .venv-docs with jella and Sphinx (once)"
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python $(INSTALL) --editable '.[docs]'
	@touch $@

demo: .venv-demo/installed
	@$(ONE_THREAD) .venv-demo/bin/python examples/demo.py

# the site in build/site, with executed examples; a warning, a broken link or a failing example is an error
docs: .venv-docs/installed
	$(ONE_THREAD) .venv-docs/bin/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet --jobs 2 -b html docs build/site
	@echo "open build/site/index.html"

# wheel and sdist in dist/, checked, installed in a clean environment and tried there
dist:
	PYTHON=$(PYTHON) tools/dist.sh

test: .venv/installed
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto -m "not slow and not gpu"

test-slow: .venv/installed
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto -m "slow"

# the oldest versions that pyproject.toml allows; their deprecation warnings are ignored
test-oldest:
	test -x .venv-oldest/bin/uv || { $(PYTHON) -m venv .venv-oldest && .venv-oldest/bin/python $(INSTALL) uv; }
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest --resolution lowest-direct --editable '.[test]' --editable ./experiments
	SCIPY_ARRAY_API=1 $(ONE_THREAD) .venv-oldest/bin/python -m pytest -n auto -m "not slow and not gpu" -W ignore::DeprecationWarning

# attacks on the command line and the library, seeded; it continues where it stopped (rm -r .campaign: from the beginning)
campaign: .venv/installed
	$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m campaign --jobs 2 --table docs/results

# a small version of the paper's tables and figures, on the data sets that are found, or on embedded digits
reproduce-quick: .venv/installed
	$(ONE_THREAD) $(BIN)/jella reproduce all --quick --jobs 2 -o reproduced

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# the main tasks: seconds, memory, quality; ends with one table, also in benchmarks/results/bench.md
bench: .venv/installed
	$(BIN)/python benchmarks/bench.py

# the parts of a sweep, sizes up to a million, Dask beyond memory: hours
bench-long: .venv/installed
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/block_diagonal.py
	$(BIN)/python benchmarks/block_diagonal.py --large
	$(BIN)/python benchmarks/sor_vs_als.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/dask_scale.py
	$(BIN)/python benchmarks/cost_model.py

# DAIMC against the package iMML, in an environment of its own; needs JELLA_DATA
bench-imml: .venv/installed
	test -x .venv-imml/bin/python || $(PYTHON) -m venv .venv-imml
	.venv-imml/bin/python $(INSTALL) 'imml==0.6.*'
	$(BIN)/python benchmarks/daimc_vs_imml.py --imml-python .venv-imml/bin/python

# clusters of our methods and of other packages, each in an environment of its own; it adds what the page lacks, needs JELLA_DATA
leaderboard: .venv/installed
	test -x .venv-imml/bin/python || $(PYTHON) -m venv .venv-imml
	.venv-imml/bin/python $(INSTALL) 'imml==0.6.*'
	test -x .venv-mofa/bin/python || $(PYTHON) -m venv .venv-mofa
	.venv-mofa/bin/python $(INSTALL) mofapy2 snfpy 'scikit-learn==1.7.*'
	PYTHONPATH=benchmarks $(BIN)/python -m leaderboard

clean:
	rm -rf .campaign .venv .venv-demo .venv-docs .venv-imml .venv-mofa .venv-oldest build dist docs/api/generated docs/gallery docs/tutorials .pytest_cache .mypy_cache .ruff_cache
