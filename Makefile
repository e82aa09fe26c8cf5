# From a bare clone: `make run` shows the demo, `make test` runs the tests, `make check` the linters, `make bench` the
# benchmarks. Everything goes into .venv and var/; remove both and you are back at the bare clone.

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
PIP := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --constraint constraints.txt
# pip compiles nothing, because most of what it installs is never imported. What every `assay` command imports is compiled
# here: where Python may not write its caches, as in many containers, each command would otherwise compile it again.
COMPILE = $(BIN)/python -m compileall -q -j 0 $$($(BIN)/python -c 'import numpy; print(numpy.__path__[0])') \
	assay evaluation judgments pooling >/dev/null || true
TEST ?=
BENCH ?=

.PHONY: run test check bench install format

run: $(VENV)/.core
	@DEBUG=1 exec $(BIN)/python manage.py serve --demo --port $(PORT)

install: $(VENV)/.core

test: $(VENV)/.dev
	@$(BIN)/python tests/run.py $(TEST)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	$(BIN)/djlint templates --check --lint --quiet

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint templates --reformat --quiet || true

bench: $(VENV)/.dev
	@$(BIN)/python benchmarks/run.py $(BENCH)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "make: no Python found; install Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $(PYTHON) is too old; Assay needs Python 3.11 or newer (PYTHON=/path/to/python make run)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing Assay into $(VENV) (once, about a minute) ..."
	@$(PIP) --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV) (once) ..."
	@$(PIP) --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.core
