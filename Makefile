# Two targets do everything on a fresh machine with Python 3.11+, git and make: `make run` and `make test`.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
# Three times the processors of the smallest machine: most tests wait for a process or a disk.
WORKERS ?= 6
# Empty is off: what is compiled once is kept, wherever it runs.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test lint types arrows collected tests demo bench soak fuzz real-clients man audit clean

run: .venv/installed
	@$(BIN)/memsyncd run

demo: .venv/installed
	@$(BIN)/memsyncd demo

# What needs one processor each goes first and side by side.
test: .venv/installed-dev
	$(MAKE) --jobs=2 types collected lint arrows
	$(MAKE) tests

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/installed-dev
	$(BIN)/mypy

arrows: .venv/installed-dev
	$(BIN)/lint-imports

# pytest rewrites the assertions of every module and keeps that: once here, or once in each worker.
collected: .venv/installed-dev
	$(BIN)/python -m pytest --collect-only -m "not long" -qq | tail -1

# Coverage's floor is in pyproject.toml and only rises.
tests: .venv/installed-dev
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not long" --cov --cov-report=term:skip-covered -q

# Long, bounded runs with their own figures: docs/reliability.md and docs/performance.md.
soak: .venv/installed-dev
	$(BIN)/python -m pytest -m long -ra

# Ten million inputs, two targets at a time: docs/reliability.md, Bad input.
fuzz: .venv/installed-fuzz
	$(BIN)/python -m tests.fuzz --workers 2

# Coding agents' own programs against fakes of their models: docs/harnesses.md.
real-clients: .venv/installed-dev .clients/installed .clients/kimi-cli
	MEMSYNCD_REAL_CLIENTS=.clients $(BIN)/python -m pytest tests/real_clients -m long -ra

# Two of the packages come with a script that puts the program of this machine in place; no other script is run.
.clients/installed: tests/real_clients/package.json
	mkdir -p .clients
	cp tests/real_clients/package.json .clients/
	npm install --prefix .clients --ignore-scripts --no-package-lock --no-audit --no-fund
	node .clients/node_modules/@anthropic-ai/claude-code/install.cjs
	node .clients/node_modules/opencode-ai/postinstall.mjs
	@touch $@

# It wants a newer Python than we do; where there is none its test is skipped.
KIMI_CLI_PYTHON = python3.13
.clients/kimi-cli: .clients/installed
	if $(KIMI_CLI_PYTHON) -c 0; then \
		$(KIMI_CLI_PYTHON) -m venv $@ && $@/bin/pip install -q kimi-cli==1.49.0 || { rm -rf $@; exit 1; }; fi

bench: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m bench

# The manual page, of the commands as they are.
man: .venv/installed
	$(BIN)/python -m daemon.cli.manual > docs/memsyncd.1

# Known faults of the pinned versions (docs/security.md). It asks an advisory database, so it is no part of `test`; one
# that cannot be looked up is a failure. Its own packages stay out of ours.
audit: .audit/bin/pip-audit constraints.txt
	.audit/bin/pip-audit --strict --no-deps --disable-pip -r constraints.txt

.audit/bin/pip-audit:
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "memsyncd needs Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.venv/installed-fuzz: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,fuzz]'
	@touch $@

clean:
	rm -rf .venv .audit .clients .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
