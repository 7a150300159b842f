# `make demo`, `make web` and `make test` set themselves up: Python 3.11 or newer, pip and make are all they need.
# `make browser` needs Node 20 or newer besides, and installs Debian's chromium if there is none.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := -m pip install --quiet --no-compile  # Python compiles what is imported; pip would compile all, for half a minute
BROWSER := tests/browser
BUILT := $(BROWSER)/built
TABLES := $(BUILT)/people.csv $(BUILT)/results.csv --group district --share share --weights weight

unexport PYTHONDONTWRITEBYTECODE  # else every process would parse numpy, pandas and numba anew, for two seconds

.PHONY: demo web test quick thorough lint types tests compiled browser docs speed clean fuzz oldest sbom audit

demo: $(VENV)/.installed-demo  ## the paper's first experiment: a table here, a figure in demo.png
	$(BIN)/disaggregate demo --output demo.png

test: lint types tests  ## everything that must hold

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

quick: lint  ## a minute and a half: linters, and the tests that hardly fit anything
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile $(HARDLY_FITTING)

HARDLY_FITTING := tests/storage tests/groups tests/tables tests/basis tests/model tests/posterior tests/plots tests/sampler \
  tests/test_settings.py $(patsubst %,tests/contract/test_%.py,bad_input forms_of_y import_order)

# A file stays with one worker, whose fixtures then fit once; threads of both workers would wait for each other.
tests: compiled
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations 15

thorough: compiled  ## every test, those that take too long for each change too: an hour
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations 15 -m ""

# The machine code of all fits, for tests, documentation and browser together: each would compile for a minute or two.
compiled: $(VENV)/.installed-dev
	$(BIN)/python -m tests.helpers.compile_first dense outcomes & $(BIN)/python -m tests.helpers.compile_first places sparse published; wait

CACHED := NUMBA_CACHE_DIR="$(CURDIR)/.numba_cache/$$($(BIN)/python -c 'from importlib.metadata import version; print(version("numba"))')"

web: $(VENV)/.installed-web  ## the page: two tables in, an answer out
	$(BIN)/disaggregate serve

browser: compiled $(BROWSER)/node_modules/.installed  ## the HTML report and the page in a real browser
	@command -v chromium > /dev/null || { apt-get update && apt-get install --yes --no-install-recommends chromium; }
	rm -rf $(BUILT)
	mkdir $(BUILT)
	$(BIN)/python $(BROWSER)/make_tables.py $(BUILT)
	$(BIN)/disaggregate check $(TABLES)
	$(CACHED) $(BIN)/disaggregate fit $(TABLES) --draws 150 --burn 100 --chains 2 -o $(BUILT)/model.dgz
	$(CACHED) $(BIN)/disaggregate report $(BUILT)/model.dgz $(BUILT)/people.csv -o $(BUILT)/report.html
	$(CACHED) CHROMIUM="$$(command -v chromium)" PYTHON="$(CURDIR)/$(BIN)/python" OPENBLAS_NUM_THREADS=1 \
	  node --test --test-concurrency=1 --test-reporter=spec $(BROWSER)/

$(BROWSER)/node_modules/.installed: $(BROWSER)/package-lock.json
	@node --eval 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || \
	  { echo "the browser tests need Node 20 or newer, and npm"; exit 1; }
	npm ci --prefix $(BROWSER) --no-audit --no-fund
	@touch $@

docs: $(VENV)/.installed-docs compiled  ## the documentation as a site, in docs/_build/html; runs the code on its pages
	$(CACHED) $(BIN)/python -m sphinx -b html -q --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

speed: $(VENV)/.installed-dev  ## ratios that the README quotes
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/mixing.py
	$(BIN)/python -m benchmarks.calibration

fuzz: $(VENV)/.installed-dev  ## bad input by the thousand for every reader, and random problems; takes an hour
	$(BIN)/python $(INSTALL) 'atheris>=3.0' || echo "no atheris here: random bytes instead"
	$(BIN)/python -m fuzz.results --runs 100000
	$(BIN)/python -m fuzz.dgz --runs 100000
	$(BIN)/python -m fuzz.people --runs 100000
	$(BIN)/python -m fuzz.forms --runs 100000
	$(BIN)/python -m fuzz.random_problems --runs 10000
	$(BIN)/python -m fuzz.dgc --runs 100000
	$(BIN)/python -m fuzz.draws --runs 100000
	$(BIN)/python -m fuzz.kills --runs 200
	$(BIN)/python -m fuzz.two_users --runs 200
	$(BIN)/python -m fuzz.spoiled --runs 900 --quiet
	$(BIN)/python -m fuzz.hostile
	$(BIN)/python -m fuzz.alone --runs 1000

OLDEST := .venv-oldest/bin
QUICK ?= tests/groups tests/tables tests/saving tests/basis tests/posterior tests/test_settings.py \
  $(patsubst %,tests/analysis/test_%.py,contrasts dependence effects identification importance privacy)

oldest: .venv-oldest/.installed  ## the quick tests with the oldest versions that pyproject.toml allows
	$(OLDEST)/python -m pytest -q -p no:cacheprovider $(QUICK)

.venv-oldest/.installed: pyproject.toml constraints/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python $(INSTALL) --constraint constraints/oldest.txt --editable '.[plots,parquet,excel,report]' \
	  pytest polars hypothesis xarray
	@touch $@

sbom: $(VENV)/.installed-dev  ## what an installation consists of, as CycloneDX, in sbom.json
	rm -rf .venv-sbom && $(PYTHON) -m venv .venv-sbom && .venv-sbom/bin/python $(INSTALL) '.[all]'
	$(BIN)/python $(INSTALL) 'cyclonedx-bom>=7'
	$(BIN)/cyclonedx-py environment .venv-sbom --pyproject pyproject.toml --output-file sbom.json
	@echo "sbom.json"

audit: $(VENV)/.installed-dev  ## known weaknesses of what is installed; it asks the network
	$(BIN)/python $(INSTALL) 'pip-audit>=2.7'
	@$(BIN)/pip-audit --skip-editable --progress-spinner off > audit.txt 2>&1; status=$$?; \
	  if grep -q 'could not be audited' audit.txt; \
	  then cat audit.txt; echo "not checked: $$(grep -c 'could not be audited' audit.txt) packages that were not found there"; exit 1; \
	  elif grep -qiE 'connection|resolve|timed out|network|proxy|ssl|unreachable' audit.txt && ! grep -q 'Fix Versions' audit.txt; \
	  then echo "pip-audit could not reach its database of weaknesses; nothing was checked. Run it where it can."; \
	  else cat audit.txt; exit $$status; fi

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "disaggregate needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python $(INSTALL) --editable '.[plots]'
	@touch $@

$(VENV)/.installed-web: $(VENV)/bin/python pyproject.toml
	$(BIN)/python $(INSTALL) --editable '.[web]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python $(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev  # not both at once
	$(BIN)/python $(INSTALL) --editable '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) .venv-oldest .venv-sbom $(BUILT) docs/_build $(BROWSER)/node_modules
	rm -rf sbom.json audit.txt demo.png .numba_cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
