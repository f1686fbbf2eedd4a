PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench snapshots locale keys clean

$(BIN)/flowcabal-tui: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,knowledge]'
	@touch $@ $(BIN)/flowcabal-tui

demo: $(BIN)/flowcabal-tui  ## the sample novel with the offline model: no key, no network
	$(BIN)/flowcabal-tui demo

test: $(VENV)/.dev  ## all tests, a real OpenViking server included
	$(BIN)/python -m pytest -n auto --dist loadfile

check: $(VENV)/.dev  ## lint, types, import contracts, licences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.licences

bench: $(VENV)/.dev  ## speed and memory on this machine
	$(BIN)/python -m tests.bench

snapshots: $(VENV)/.dev  ## accept how the screens look now
	$(BIN)/python -m pytest tests/snapshots --snapshot-update

keys: $(VENV)/.dev  ## write docs/keys.md
	$(BIN)/python -m flowcabal_tui.tui.app.keys_page > docs/keys.md

locale: $(VENV)/.dev  ## collect the words, merge and compile the catalogues
	$(BIN)/python -m tests.catalogues

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
