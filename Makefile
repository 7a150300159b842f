# `make demo` and `make test` set themselves up: Python 3.11 or newer, pip and make are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types tests speed clean

demo: $(VENV)/.installed-demo  ## the paper's first experiment: a table here, a figure in demo.png
	$(BIN)/disaggregate demo --output demo.png

test: lint types tests  ## everything that must hold

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

tests: $(VENV)/.installed-dev
	$(BIN)/pytest -q -n 2

speed: $(VENV)/.installed-dev  ## ratios that the README quotes
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/mixing.py
	$(BIN)/python benchmarks/calibration.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "disaggregate needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) demo.png .numba_cache .mypy_cache .ruff_cache .pytest_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
