# deixis: every job has one word. Bare `make` prints them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Two numerical libraries spinning on the same few cores run several times slower than one.
export OMP_NUM_THREADS ?= 2
export MKL_NUM_THREADS ?= 2

# Two jobs at a time: the checks of code, the documentation and the wheel share the cores.
MAKEFLAGS += --jobs=2

# Tests share the cores by files, so each process computes on one. A process that dies ends the run:
# one that is started in its place may wait for ever.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
	--max-worker-restart=0

# What starts clusters runs alone: several at once would take each other's cores.
PYTEST_APART := $(ONE_THREAD) $(BIN)/python -m pytest tests/scale

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-cluster browser test test-all wheel release check code docs docs-write screenshots format bench clean

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

setup: $(READY) ## make .venv with the deixis command in it

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: setup ## scenes, a small table, a library with a good model, searches, the search box
	$(BIN)/deixis demo demo

browser: ## chromium and a voice for the browser tests, where they can be installed
	@{ command -v chromium && command -v espeak-ng; } >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq chromium espeak-ng; } >/dev/null 2>&1 \
	  || echo "chromium and espeak-ng cannot be installed here: browser and speech tests will be skipped"

demo-cluster: setup ## two Ray nodes and an S3 server here: index, serve from two parts, kill one
	$(BIN)/python -m examples.cluster_demo

test: check browser wheel ## every check and every test; minutes on two cores
	$(PYTEST) --ignore=tests/scale
	$(PYTEST_APART)

test-all: check browser wheel ## the long tests too: claims, crashes, loads
	$(PYTEST) --ignore=tests/scale -m 'not wheel'
	$(PYTEST_APART) -m 'not wheel'

wheel: setup ## build the wheel, install it into an empty environment, and search with it there
	$(BIN)/python -m pytest -q -s -m wheel tests/release

release: setup ## build sdist and wheel into dist; refused unless a second build gives the same bytes
	$(BIN)/python checks/release.py

check: code docs ## format, lint, types, layers, file sizes, documentation

code: setup ## the checks of code alone
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python checks/file_sizes.py

docs: setup ## build the documentation site into build/site; any warning is an error
	$(BIN)/python checks/write_docs.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

docs-write: setup ## write the generated parts of the documentation anew
	$(BIN)/python checks/write_docs.py

screenshots: setup browser ## remake the documentation's pictures of the search box
	$(BIN)/python -m pip install --quiet --no-deps scikit-image  # photographs that may be shown
	$(BIN)/python checks/screenshots.py

format: setup ## rewrite the files as the checks want them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## every benchmark: ratios measured in one run
	$(BIN)/python -m benchmarks

clean: ## remove the environment and everything made
	rm -rf $(VENV) demo build dist
