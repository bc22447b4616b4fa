# Every target sets up what it needs: a virtual environment with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint format figures bench clean

demo: $(READY)
	$(BIN)/redac fit pitprops

test: lint
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

figures: $(READY)
	$(BIN)/python docs/make_figures.py

# BENCH passes options on: make bench BENCH="--threads 1"
bench: $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --group bench
	$(BIN)/python -m benchmarks $(BENCH)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("redac needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
		$(BIN)/python -m pip install --quiet -e '.[all]' --group dev
	touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
