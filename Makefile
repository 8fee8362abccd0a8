# make demo   train, score and use a small translator (installs into .venv first)
# make test   what continuous integration runs: lint, types, the suite
# make lint   lint and types alone
# make why    every reason of the notes measured anew, and docs/why.md written (about 25 minutes)

PYTHON ?= python3
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --no-compile -qq -c constraints.txt
# What pip would do on one core, file by file; what hardly anybody loads is compiled when it is.
COMPILE = $(BIN)/python -m compileall -qq -j 0 -x '/tests?/|/torch/testing/|/transformers/models/' .venv/lib

.PHONY: demo test lint why clean
.DELETE_ON_ERROR:

demo: .venv/installed
	@$(BIN)/headway demo

# The environment may say not to write bytecode; here hundreds of processes load the same files.
test: lint
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n auto

lint: .venv/installed-dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary

why: .venv/installed
	@$(BIN)/python benchmarks/why.py

clean:
	@rm -rf .venv build

.venv/python:
	@echo "making .venv"
	@$(PYTHON) -c 'import sys; sys.exit("headway needs Python 3.11 or newer; $(PYTHON) is " \
		+ sys.version.split()[0] + ". Try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv --clear .venv
	@$(PIP_INSTALL) --upgrade pip
	@echo "installing torch (the largest part)"
	@$(PIP_INSTALL) torch==2.13.0
	@touch $@

.venv/installed: .venv/python pyproject.toml constraints.txt
	@echo "installing headway"
	@$(PIP_INSTALL) -e .
	-@$(COMPILE)
	@touch $@

.venv/installed-dev: .venv/python pyproject.toml constraints.txt
	@echo "installing headway and the tools that test it"
	@$(PIP_INSTALL) -e '.[dev]'
	-@$(COMPILE)
	@touch .venv/installed $@
