# The Cost of Privacy: `make help` lists what there is to make, `make -f tests/maintain.mk help` what maintainers need.

PYTHON ?= python3
PRESET ?= quick
# These come from the command line alone; some systems have a NAME in their environment. What they hold is text: make
# expands nothing of it, recipes take it from the environment in quotes, and P is split into words without a shell.
NAME :=
P :=
OUT :=
FORCE :=
CLUSTER :=
ANYWAY :=
SLOW :=
override NAME := $(value NAME)
override P := $(value P)
override OUT := $(value OUT)
override PRESET := $(value PRESET)
override FORCE := $(value FORCE)
override CLUSTER := $(value CLUSTER)
override ANYWAY := $(value ANYWAY)
MAKEOVERRIDES :=

.DEFAULT_GOAL := book
SHELL := /bin/sh
VENV := .venv
HELPED := $(firstword $(MAKEFILE_LIST))
PY := $(VENV)/bin/python
BOOK := $(PY) -m companion
# Processes side by side share the cores; threads of linear algebra in each would fight for them.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PIP := $(PY) -m pip --disable-pip-version-check install --quiet

# What a person has set for other projects stays out of this one: PYTHONHOME, PYTHONOPTIMIZE, MPLBACKEND and the like.
unexport $(filter-out PYTHON PYTHONUNBUFFERED PYTHONPYCACHEPREFIX,$(filter PYTHON%,$(.VARIABLES)))
unexport PIP_REQUIRE_VIRTUALENV PIP_TARGET MPLBACKEND MATPLOTLIBRC
export PIP_USER := 0
export PRESET NAME P OUT CLUSTER
export COSTOFPRIVACY_ANYWAY := $(ANYWAY)

.PHONY: book pages data test validate chapter sweep refresh lab bench clean help FORCED

book: $(VENV)/.complete ## the book at PRESET=quick (default) or PRESET=paper, in _build/html
	@exec $(BOOK) build --preset "$$PRESET"

pages: $(VENV)/.complete ## the committed chapters, as they are, in _build/html: about a minute, nothing is executed
	@exec $(BOOK) pages

data: $(VENV)/.complete ## the real data sets (30 MB) into scikit-learn's data folder, SCIKIT_LEARN_DATA; counted
	@exec $(BOOK) data

test: $(VENV)/.complete ## lint, types, the library's tests (SLOW=1: the slow ones, too), then nbval over every chapter
	@rm -f $(addprefix _build/reports/,library.xml chapters.xml ledger.xml test.json)
	@$(MAKE) --no-print-directory -j 2 -f tests/maintain.mk lint library SLOW=$(filter 1,$(SLOW))
	@exec $(BOOK) test --preset "$$PRESET" -- "$$NAME"

validate: $(VENV)/.complete ## every chapter (or NAME=...) at the papers' scale, against what is committed; its last line says what changed
	@exec $(BOOK) validate -- "$$NAME"

chapter: $(VENV)/.complete ## one chapter: NAME=noisyhead/low-dimensional P='-p trials 50' OUT=_build/mine; P=--help lists its parameters, ANYWAY=1 refuses less
	@exec $(BOOK) chapter --out "$$OUT" --cluster "$$CLUSTER" --words "$$P" -- "$$NAME"

sweep: $(VENV)/.complete ## one chapter at many parameters: NAME=... P='--sweep penalty=0.1,1,5 -p trials 50'; P=--help for more
	@exec $(BOOK) sweep --out "$$OUT" --cluster "$$CLUSTER" --words "$$P" -- "$$NAME"

refresh: $(VENV)/.complete ## execute stale committed chapters (or NAME=...; all with FORCE=1) in place
	@exec $(BOOK) refresh $(if $(filter-out 0,$(FORCE)),--force) -- "$$NAME"

lab: $(VENV)/.complete ## JupyterLab on the book; P='--port 9000 --no-browser' are its options, as root P=--allow-root
	@exec $(BOOK) lab --words "$$P"

bench: $(VENV)/.complete ## speed and memory: benchmarks, each chapter against the limit (or NAME=...), growth with each size; half an hour
	$(if $(NAME),,$(PY) -m pytest benchmarks --benchmark-only)
	$(PY) -m benchmarks.chapters $(NAME)
	$(if $(NAME),,$(PY) -m benchmarks.growth)

clean: ## remove _build and the tools' caches; .venv and what is committed stay
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks

help: ## this list; what maintainers need is in make -f tests/maintain.mk help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "$(if $(filter Makefile,$(HELPED)),make,make -f $(HELPED)) %-9s %s\n", $$1, $$2 }' $(HELPED)

# The environment. `.locked` says that the lock is installed whole, and where: a project that was moved, or
# an installation that was interrupted, starts afresh. `.complete` says that the package itself is.
ifneq "$(shell cat $(VENV)/.locked 2>/dev/null)" "$(CURDIR)"
$(VENV)/.locked: FORCED
endif

FIRST :=
FIND_PYTHON = for python in $(FIRST) "$(PYTHON)" python3.13 python3.12 python3.11; do \
  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
  then echo "$$python"; exit; fi; done

$(VENV)/.locked: requirements.txt
	@python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then \
	  echo "error: Python 3.11, 3.12 or 3.13 is needed, $(PYTHON) is" \
	    "$$("$(PYTHON)" --version 2>&1 | head -n 1); name one: make PYTHON=/path/to/python3.11" >&2; exit 2; \
	fi; \
	echo "installing the locked environment into $(VENV) with $$("$$python" --version): some minutes, once"; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV)
	@$(PIP) --no-compile --require-hashes -r requirements.txt # Python compiles what is used, when it is used first
	@printf '%s\n' "$(CURDIR)" > $@

$(VENV)/.complete: $(VENV)/.locked pyproject.toml
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@
