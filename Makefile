.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help run test test-all check-fast metrics bench docs docs-serve docs-pictures stubs proto clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(STAMP)  ## train and check a model on data that comes with the package
	$(BIN)/everflow run examples/digits_convnet.py

test: $(STAMP)  ## style, types and every test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal

test-all: test  ## the same with the slow sweeps: kernels held to their facts, thousands of random programs
	$(BIN)/pytest -n 2 -m slow
	$(BIN)/pytest -n 2 --checked tests/conformance
	$(BIN)/python -m tests.runtime.random_programs --seeds 1000 21000

check-fast: $(STAMP)  ## style, types and the tests of the house itself: under a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 tests/test_floors.py tests/test_docs.py tests/test_tf_namespace.py tests/test_as_tensorflow.py tests/framework tests/ops/math

metrics: $(STAMP)  ## figures of the source, with their bounds
	$(BIN)/python -m tests.source_figures

# TENSORFLOW_PYTHON=old/bin/python adds TensorFlow 1.15.5, BENCH="greedy_decoder elementwise" measures these only,
# BENCH_OPTIONS="--notes found.jsonl --rounds 5" measures in another way. All of it takes 25 minutes; nobody else should use the machine.
bench: $(STAMP)  ## time programs beside TensorFlow and torch, and write docs/performance.md
	$(BIN)/python -m benchmarks $(BENCH) $(if $(TENSORFLOW_PYTHON),--tensorflow $(TENSORFLOW_PYTHON)) $(BENCH_OPTIONS)

docs: $(STAMP)  ## build the documentation into site/; a broken link is an error
	$(BIN)/mkdocs build --strict

docs-serve: $(STAMP)  ## show the documentation while it is written
	$(BIN)/mkdocs serve

docs-pictures: $(STAMP)  ## draw the pictures of the documentation again
	$(BIN)/python -m docsite.pictures

stubs: $(STAMP)  ## write the stubs (.pyi) of the public namespaces again
	$(BIN)/python -m docsite.stubs

# protobuf 5.26's compiler, in an environment of its own: see everflow/protos/generate.py.
proto:  ## compile everflow/protos/*.proto again
	$(PYTHON) -m venv $(VENV)-proto
	$(VENV)-proto/bin/pip install --quiet "grpcio-tools==1.63.2" "setuptools<81"
	$(VENV)-proto/bin/python everflow/protos/generate.py

# Installs anew when pyproject.toml has changed.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

clean:  ## remove what was made
	rm -rf $(VENV) $(VENV)-proto build dist site *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
