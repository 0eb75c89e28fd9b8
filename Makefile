# make run   train the example
# make test  style, types and tests
# make test-all  the same with slow sweeps: kernels held to their facts in all of the conformance suite, thousands of random programs
# make proto compile everflow/protos/*.proto again

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test test-all proto clean

run: $(STAMP)
	$(BIN)/everflow run examples/digits_convnet.py

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

test-all: test
	$(BIN)/pytest -n 2 -m slow
	$(BIN)/pytest -n 2 --checked tests/conformance
	$(BIN)/python -m tests.runtime.random_programs --seeds 1000 21000

# protobuf 5.26's compiler, in an environment of its own: see everflow/protos/generate.py.
proto:
	$(PYTHON) -m venv $(VENV)-proto
	$(VENV)-proto/bin/pip install --quiet "grpcio-tools==1.63.2" "setuptools<81"
	$(VENV)-proto/bin/python everflow/protos/generate.py

# Installs anew when pyproject.toml has changed.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-proto build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
