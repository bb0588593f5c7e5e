# deixis: every job has one word. Bare `make` prints them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Two numerical libraries spinning on the same few cores run several times slower than one.
export OMP_NUM_THREADS ?= 2
export MKL_NUM_THREADS ?= 2

# Tests share the cores by files, so each process computes on one.
PYTEST := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo browser test test-all check format bench clean

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

setup: $(READY) ## make .venv with the deixis command in it

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: setup ## scenes, features, small models, their tables, a library, searches, the search box
	$(BIN)/deixis demo demo

browser: ## chromium for the browser tests, where it can be installed
	@command -v chromium >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
	  || echo "there is no chromium and it cannot be installed here: browser tests will be skipped"

test: check browser ## every check and every test; minutes on two cores
	$(PYTEST)

test-all: check browser ## the long tests too: claims, crashes, loads
	$(PYTEST) -m ''

check: setup ## format, lint, types, layers, file sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python checks/file_sizes.py

format: setup ## rewrite the files as the checks want them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## every benchmark: ratios measured in one run
	$(BIN)/python -m benchmarks

clean: ## remove the environment and everything made
	rm -rf $(VENV) demo build dist
