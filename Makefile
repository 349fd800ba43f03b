# Every target makes the environment it needs; `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
# Tests wait for files and other processes a good part of the time: more of them than cores run at once.
WORKERS := $(shell $(PYTHON) -c "import os; print(2 * os.cpu_count())")
PYTEST := $(BIN)/python -m pytest
# Neighbours in a file share what is made for all of them: each worker gets a row of them, and takes over from others.
PARALLEL := -n $(WORKERS) --dist worksteal
# Compiled once: without files of bytecode every worker and every command that tests start compiles everything again.
unexport PYTHONDONTWRITEBYTECODE
# For make fuzz: how long, how many inputs, which targets. 0 is no limit, and a seed of 0 another one each time.
SECONDS := 300
INPUTS := 0
SEED := 0
TARGETS :=

.DEFAULT_GOAL := help
.PHONY: help environment demo test slow all-tests check lint types architecture docs browser coverage bench crash fuzz dist installed lock format clean

help: ## List every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

environment: ## Make .venv from constraints.txt (exact versions, hashes checked)
	@$(PYTHON) tools/environment.py

demo: environment ## Generate the small sample world, run every room on it, write demo/index.html
	@$(BIN)/aidos demo -o demo

test: environment ## Run the test suite (fast; no network, no browser)
	@$(PYTEST) $(PARALLEL) -m "not browser and not slow"

slow: environment ## Run the tests that take long (training, larger worlds)
	@$(PYTEST) $(PARALLEL) -m "slow and not browser"

all-tests: environment ## What test and slow run, in one session
	@$(PYTEST) $(PARALLEL) -m "not browser"

check: environment lint types architecture docs ## Lint, types, architecture and documentation

lint: environment ## Style and formatting (ruff)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: environment ## Static types (mypy --strict)
	@$(BIN)/mypy

architecture: environment ## The law of one-way floors (import-linter)
	@$(BIN)/lint-imports

docs: environment ## Build the documentation into docs/_build/html; warnings are errors
	@$(BIN)/sphinx-build -W --keep-going -q -j auto -b html docs docs/_build/html && echo "docs/_build/html/index.html"

browser: environment ## Open the pages in a real browser (needs chromium)
	@$(PYTEST) -m browser

coverage: environment ## The test suite with a coverage report
	@$(PYTEST) $(PARALLEL) -m "not browser" --cov --cov-report=term --cov-report=html

bench: environment ## Run the benchmarks and print their tables (minutes; some gigabytes of temporary disk)
	@$(BIN)/python tools/bench.py $(if $(TELL),--tell)

crash: environment ## Fail or kill at every call to the file system (about 25 minutes on 2 cores; before a release)
	@AIDOS_CRASH_EVERY=1 $(PYTEST) $(PARALLEL) tests/crash

fuzz: environment ## Fuzz every reader and state directory (SECONDS=300 INPUTS=0 SEED=0 TARGETS="check ledger")
	@$(BIN)/python tests/fuzz/campaign.py $(TARGETS) --seconds $(SECONDS) --inputs $(INPUTS) --seed $(SEED)

dist: environment ## Build wheel, source archive, bill of materials and checksums into dist/, the same bytes each time
	@$(BIN)/python tools/dist.py

installed: environment ## Install the built wheel into fresh environments, with all extras and with none, and use it
	@$(BIN)/python tools/installed.py

lock: environment ## Renew constraints.txt to the newest versions allowed (needs the network)
	@$(BIN)/python tools/lock.py

format: environment ## Format the code
	@$(BIN)/ruff check --fix -q . && $(BIN)/ruff format -q .

clean: ## Remove everything that was made (also .venv)
	@rm -rf .venv .cache demo dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis htmlcov .coverage
