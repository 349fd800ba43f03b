# Every target makes the environment it needs; `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
# Tests wait for files and other processes a good part of the time: more of them than cores run at once.
WORKERS := $(shell $(PYTHON) -c "import os; print(2 * os.cpu_count())")

.DEFAULT_GOAL := help
.PHONY: help environment demo test slow check lint types architecture docs browser coverage bench lock format clean

help: ## List every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

environment: ## Make .venv from constraints.txt (exact versions, hashes checked)
	@$(PYTHON) tools/environment.py

demo: environment ## Generate the small sample world, run every room on it, write demo/index.html
	@$(BIN)/aidos demo -o demo

test: environment ## Run the test suite (fast; no network, no browser)
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not browser and not slow"

slow: environment ## Run the tests that take long (training, larger worlds)
	@$(BIN)/python -m pytest -n $(WORKERS) -m "slow and not browser"

check: environment lint types architecture docs ## Lint, types, architecture and documentation

lint: environment ## Style and formatting (ruff)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: environment ## Static types (mypy --strict)
	@$(BIN)/mypy

architecture: environment ## The law of one-way floors (import-linter)
	@$(BIN)/lint-imports

docs: environment ## Build the documentation into docs/_build/html; warnings are errors
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html && echo "docs/_build/html/index.html"

browser: environment ## Open the pages in a real browser (needs chromium)
	@$(BIN)/python -m pytest -m browser

coverage: environment ## The test suite with a coverage report
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not browser" --cov --cov-report=term --cov-report=html

bench: environment ## Run the benchmarks and print their tables (minutes; some gigabytes of temporary disk)
	@for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

lock: environment ## Renew constraints.txt to the newest versions allowed (needs the network)
	@$(BIN)/python tools/lock.py

format: environment ## Format the code
	@$(BIN)/ruff check --fix -q . && $(BIN)/ruff format -q .

clean: ## Remove everything that was made (also .venv)
	@rm -rf .venv .cache demo dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis htmlcov .coverage
