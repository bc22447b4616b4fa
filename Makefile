# Every target sets up what it needs: a virtual environment with the versions of constraints.txt.
# The commands of an environment are called through its Python, which works in a path with spaces.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

# The tests that compute; the others are about text and files. A new file counts as one that does.
OTHERS := columns docs explore exports files layers page plots public transcript user_line
NUMERIC := $(filter-out tests/test_cli%.py $(OTHERS:%=tests/test_%.py),$(wildcard tests/test_*.py))

.PHONY: demo test test-anndata test-kernels test-shuffled test-one-thread test-floor test-latest
.PHONY: lint format docs figures bench clean

demo: $(READY)
	$(PY) -m redac fit pitprops

# make test COVERAGE=1 also counts the lines of src that run in any process; pyproject.toml has the least share.
test: lint
ifdef COVERAGE
	rm -rf build/coverage && mkdir -p -m 1777 build/coverage
	$(PY) -m coverage run -m pytest
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report
else
	$(PY) -m pytest
endif

# With other kernels of BLAS, the last of them with one thread: make test-kernels KERNELS="Haswell Prescott"
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
test-kernels: $(READY)
	set -e; kernels="$(KERNELS)"; [ -n "$$kernels" ] || kernels=$$($(PY) .ci/kernels.py); \
	for kernel in $$kernels; do \
		threads=; [ "$$kernel" != "$${kernels##* }" ] || threads="$(ONE_THREAD)"; \
		echo "OPENBLAS_CORETYPE=$$kernel $$threads"; \
		env OPENBLAS_CORETYPE=$$kernel $$threads $(PY) -m pytest --quiet $(NUMERIC); \
	done; \
	[ -n "$$kernels" ] || { echo "This machine has no other kernels of OpenBLAS."; $(MAKE) test-one-thread; }

# In another order every time; an order is repeated with the seed that is printed: SEED=1
SEED ?= $(shell date +%s)
SHUFFLED = --random-order-bucket=global --random-order-seed=$(SEED)
test-shuffled: $(READY)
	$(PY) -m pytest --quiet $(SHUFFLED)

test-one-thread: $(READY)
	$(ONE_THREAD) $(PY) -m pytest --quiet $(NUMERIC)

# With the least versions that pyproject.toml allows, in random order, too.
FLOOR := $(VENV)-floor
test-floor:
	$(call environment,$(FLOOR))
	$(PYTHON) .ci/floors.py > $(FLOOR)/floors.txt
	PIP_CONSTRAINT=$(FLOOR)/floors.txt $(FLOOR)/bin/python -m pip install --quiet -e '.[all]' --group test
	$(FLOOR)/bin/python -m pytest --quiet $(SHUFFLED)

# With the newest versions there are, and any Python: make test-latest PYTHON=python3.13
# Where that is what constraints.txt has anyway, only the tests that compute: what else they could meet
# that is new are kernels and threads, as in .ci/run.
LATEST := $(VENV)-latest
test-latest:
	$(call environment,$(LATEST))
	$(LATEST)/bin/python -m pip install --quiet -e '.[all]' --group test
	$(LATEST)/bin/python .ci/newer.py | tee $(LATEST)/newer.txt
	if [ -s $(LATEST)/newer.txt ]; then $(LATEST)/bin/python -m pytest --quiet; \
	else echo "Nothing is newer than in constraints.txt."; \
		$(LATEST)/bin/python -m pytest --quiet $(NUMERIC); fi

# Single cells with the real anndata and scanpy, which need an environment of their own.
ANNDATA := $(VENV)-anndata
test-anndata:
	$(call environment,$(ANNDATA))
	$(ANNDATA)/bin/python -m pip install --quiet -e '.[h5ad]' --group anndata
	$(ANNDATA)/bin/python -m pytest --quiet -o addopts= -W default tests_anndata

lint: $(READY)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(READY)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The site, from nothing, and the tests of what was built.
docs: $(VENV)/.ready-docs
	rm -rf build/docs docs/examples docs/reference/generated
	$(PY) -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	$(PY) -m pytest -n 0 tests_docs

figures: $(READY)
	$(PY) docs/make_figures.py

# BENCH passes options on: make bench BENCH="--threads 1"
bench: $(READY)
	$(PY) -m pip install --quiet --no-deps --group bench
	$(PY) -m benchmarks $(BENCH)

# An empty environment of this name; pip must be new enough to install groups.
define environment
	$(PYTHON) -c 'import sys; sys.exit("redac needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(1)
	PIP_CONSTRAINT=constraints.txt $(1)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
endef

$(READY): pyproject.toml constraints.txt
	$(call environment,$(VENV))
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
		$(PY) -m pip install --quiet -e '.[all]' --group dev
	touch $(READY)

$(VENV)/.ready-docs: $(READY)
	PIP_CONSTRAINT=constraints.txt $(PY) -m pip install --quiet --group docs
	touch $@

clean:
	rm -rf docs/examples docs/reference/generated
	rm -rf $(VENV) $(FLOOR) $(LATEST) $(ANNDATA) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
