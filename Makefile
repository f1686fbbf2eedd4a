PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# The tests start this program thousands of times: without bytecode each start would compile it again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types contracts licences mutants bench snapshots pictures locale keys clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/flowcabal-tui: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

# The pip that comes with Python 3.11 takes twice the processor time of a current one. Tools are compiled as they are used.
$(VENV)/.tools: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --upgrade pip
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev]'
	@touch $@ $(BIN)/flowcabal-tui

# Otherwise each worker of `make test` compiles all tests.
$(VENV)/.compiled: $(VENV)/.tools
	-$(BIN)/python -m pytest --collect-only > $(VENV)/tests.log 2>&1
	@touch $@

# OpenViking brings 350 MB of source, of which it imports a sixth: only that is compiled, before the first test needs it.
$(VENV)/.dev: $(VENV)/.tools
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile -c constraints.txt 'flowcabal-tui[knowledge]'
	-LITELLM_LOCAL_MODEL_COST_MAP=True $(BIN)/python -c 'import openviking.server.bootstrap, openviking.server.app' > $(VENV)/openviking.log 2>&1
	@touch $@

demo: $(BIN)/flowcabal-tui  ## the sample novel with the offline model: no key, no network
	$(BIN)/flowcabal-tui demo

test: $(VENV)/.dev $(VENV)/.compiled  ## all tests, a real OpenViking server included
	$(BIN)/python -m pytest -n auto --dist loadfile

check: licences types $(VENV)/.compiled lint contracts  ## lint, types, import contracts, licences; -j3: at once, while OpenViking is fetched

lint: $(VENV)/.tools  ## what ruff finds, and the format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.tools  ## what mypy finds
	$(BIN)/mypy

contracts: $(VENV)/.tools  ## which package imports which
	$(BIN)/lint-imports

licences: $(VENV)/.dev  ## those of everything that is installed
	$(BIN)/python -m tests.licences

mutants: $(VENV)/.dev  ## change one operator, constant or argument at a time: which changes does no test notice?
	$(BIN)/mutmut run
	$(BIN)/mutmut results

bench: $(VENV)/.dev  ## speed and memory on this machine
	$(BIN)/python -m tests.bench

snapshots: $(VENV)/.dev  ## accept how the screens look now
	$(BIN)/python -m pytest tests/snapshots --snapshot-update

pictures: $(VENV)/.dev  ## every screen in both languages, two sizes, light and dark, in the folder pictures
	$(BIN)/python -m tests.pictures all pictures

keys: $(VENV)/.dev  ## write docs/keys.md and docs/design-language.md
	$(BIN)/python -m flowcabal_tui.tui.app.keys_page > docs/keys.md
	$(BIN)/python -m tests.pages.design docs/design-language.md

locale: $(VENV)/.dev  ## collect the words, merge and compile the catalogues
	$(BIN)/python -m tests.catalogues

clean:  ## remove the environment, builds and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache mutants
