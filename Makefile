# Every target makes .venv and installs what it needs by itself; each also works by hand (see the line).
# Another interpreter:  make setup PYTHON=/path/to/python3.12

VENV    := .venv
BIN     := $(VENV)/bin
LOCKED  := $(VENV)/.locked
READY   := $(VENV)/.ready
LOCK    := requirements.lock
# As many as CI has cores: with a third, tests of processes and of records take 6 % longer, and 12 % more CPU.
WORKERS ?= 2
# The groups of conftest.py, in the order of testpaths: the longest are not those of the most tests.
GROUPED := --dist loadgroup --no-loadscope-reorder

# Asked of each candidate: a Python that is new enough and can make virtual environments.
USABLE  := import sys, venv; sys.exit(sys.version_info < (3, 11))
# Asked of .venv: does it run, is it new enough, and does it serve this checkout and not a moved one?
HEALTHY := import sys, os, importlib.util as u; s = u.find_spec("rocketproof"); \
           sys.exit(sys.version_info < (3, 11) or s is None or not s.origin.startswith(os.getcwd()))

PYTHON  ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
                     $$p -c '$(USABLE)' >/dev/null 2>&1 && { echo $$p; break; }; done)

# A stamp in a broken environment says nothing: drop it before make looks at it.
ifneq ($(wildcard $(READY)),)
  ifneq ($(shell $(BIN)/python -c '$(HEALTHY)' >/dev/null 2>&1 && echo yes),yes)
    $(shell rm -f $(READY) $(LOCKED))
  endif
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test rings check bench lock

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv and install everything that the lock names

demo: $(READY) ## the main job end to end: check, simulate, validate, catch a bug, write a report
	$(BIN)/rocketproof demo

test: $(READY) ## style, types, tests with Java and Spark; CI runs this and `make rings`
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) $(GROUPED) -m "not slow"

rings: $(READY) ## TLC on the models, witnesses and mutants of the push ring; fifteen minutes at most
	$(BIN)/rocketproof rings --push --budget 900

check: $(READY) ## the developer's loop: style, types, fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) $(GROUPED) -m "not java and not spark and not slow"

bench: $(READY) ## ratios against a named baseline, measured in the same run
	$(BIN)/python -m benchmarks

lock: ## write requirements.lock anew from pyproject.toml (needs the network)
	rm -rf build/lock && "$(PYTHON)" -m venv build/lock && build/lock/bin/python -m pip install --quiet uv
	build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --group dev --all-extras pyproject.toml -o $(LOCK)

# Where Python comes without ensurepip (Debian splits it off), the outer pip installs into .venv.
$(LOCKED): $(LOCK)
	@test -n "$(PYTHON)" || { echo "rocketproof needs Python 3.11 or newer; none was found on PATH" \
	  "(say where: make setup PYTHON=/path/to/python3.12)" >&2; exit 1; }
	@$(BIN)/python -c '$(USABLE)' >/dev/null 2>&1 || { rm -rf $(VENV); \
	  "$(PYTHON)" -c 'import ensurepip' 2>/dev/null && "$(PYTHON)" -m venv $(VENV) || { \
	  "$(PYTHON)" -m venv --without-pip --clear $(VENV) && \
	  "$(PYTHON)" -m pip --quiet --python $(BIN)/python install pip; }; }
	@echo "installing the locked packages (about 500 MB to fetch the first time, mostly Spark)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --require-hashes -r $(LOCK)
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
