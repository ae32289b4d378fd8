# The Cost of Privacy: `make help` lists what there is to make.

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
PY := $(VENV)/bin/python
BOOK := $(PY) -m costofprivacy.book
# Processes side by side share the cores; threads of linear algebra in each would fight for them.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PIP := $(PY) -m pip --disable-pip-version-check install --quiet

# Extra environments: requirements-NAME.in and its lock make .venv-NAME. The two commands never need one. Each has the
# chapters whose runs it measures; without it they show the committed runs. A new one: a line here, and its two files.
CHAPTERS_opacus := noisyhead/dp-sgd privacy/every-mechanism
CHAPTERS_diffprivlib := privacy/rivals privacy/every-mechanism
CHAPTERS_opendp := privacy/every-mechanism
EXTRAS := $(patsubst requirements-%.txt,%,$(wildcard requirements-*.txt))
UV := _build/uv/bin/python -m uv

# What a person has set for other projects stays out of this one: PYTHONHOME, PYTHONOPTIMIZE and the like.
unexport $(filter-out PYTHON PYTHONUNBUFFERED PYTHONPYCACHEPREFIX,$(filter PYTHON%,$(.VARIABLES)))
unexport PIP_REQUIRE_VIRTUALENV PIP_TARGET
export PIP_USER := 0
export PRESET NAME P OUT CLUSTER
export COSTOFPRIVACY_ANYWAY := $(ANYWAY)

.PHONY: book pages pdf data test checks browser no-reports lint library chapters chapters-list validate chapter sweep worker refresh lab \
  attacks campaign bench lock extra anew extras-list clean help FORCED EXTRA_IS_KNOWN

book: $(VENV)/.complete ## the book at PRESET=quick (default) or PRESET=paper, in _build/html
	@exec $(BOOK) build --preset "$$PRESET"

pages: $(VENV)/.complete ## the committed chapters, as they are, in _build/html: about a minute, nothing is executed
	@exec $(BOOK) pages

data: $(VENV)/.complete ## the real data sets (30 MB) into scikit-learn's data folder, SCIKIT_LEARN_DATA; counted
	@exec $(BOOK) data

test: no-reports checks chapters ## lint, types, the library's tests (SLOW=1: the slow ones, too), then nbval over every chapter

checks: $(VENV)/.complete # lint and types have one process, so the library's tests begin beside them
	@$(MAKE) --no-print-directory -j 2 lint library SLOW=$(filter 1,$(SLOW))

no-reports:
	@rm -f $(addprefix _build/reports/,library.xml chapters.xml ledger.xml test.xml test.json)

lint: $(VENV)/.complete
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

library: $(VENV)/.complete
	@rm -f _build/reports/library.xml
	$(ONE_THREAD) $(PY) -m pytest -n "$$($(PY) -c 'import joblib; print(joblib.cpu_count())')" --dist worksteal \
	  $(if $(filter 1,$(SLOW)),,-m "not slow") --junitxml=_build/reports/library.xml

chapters: $(VENV)/.complete # or NAME=..., one of them
	exec $(BOOK) test --preset "$$PRESET" -- "$$NAME"

pdf: pages ## letters to the authors, errata and the ten-minute pages as PDF in _build/pdf (needs Chromium)
	@exec $(BOOK) pdf

browser: $(VENV)/.complete ## the committed pages in a browser (Chromium), wide and narrow, light and dark: some minutes
	COSTOFPRIVACY_BROWSER=1 $(ONE_THREAD) $(PY) -m pytest -n "$$($(PY) -c 'import joblib; print(joblib.cpu_count())')" \
	  --dist worksteal tests/book/test_browser.py tests/book/test_explorers_browser.py \
	  tests/book/test_finding_browser.py tests/book/test_code_browser.py tests/book/test_calculator_browser.py tests/book/test_pdf.py

validate: $(VENV)/.complete ## every chapter (or NAME=...) at the papers' scale, against what is committed; its last line says what changed
	@exec $(BOOK) validate -- "$$NAME"

chapter: $(VENV)/.complete ## one chapter: NAME=noisyhead/low-dimensional P='-p trials 50' OUT=_build/mine; P=--help lists its parameters, ANYWAY=1 refuses less
	@exec $(BOOK) chapter --out "$$OUT" --cluster "$$CLUSTER" --words "$$P" -- "$$NAME"

sweep: $(VENV)/.complete ## one chapter at many parameters: NAME=... P='--sweep penalty=0.1,1,5 -p trials 50'; P=--help for more
	@exec $(BOOK) sweep --out "$$OUT" --cluster "$$CLUSTER" --words "$$P" -- "$$NAME"

worker: $(VENV)/.complete ## work for a Dask scheduler: CLUSTER=tcp://host:8786; chapter and sweep take the same CLUSTER
	@exec $(BOOK) worker --words "$$P" -- "$$CLUSTER"

chapters-list: $(VENV)/.complete ## the chapters: their questions, claims and times
	@exec $(BOOK) list

refresh: $(VENV)/.complete ## execute stale committed chapters (or NAME=...; all with FORCE=1) in place
	@exec $(BOOK) refresh $(if $(filter-out 0,$(FORCE)),--force) -- "$$NAME"

lab: $(VENV)/.complete ## JupyterLab on the book; P='--port 9000 --no-browser' are its options, as root P=--allow-root
	@exec $(BOOK) lab --words "$$P"

attacks: $(VENV)/.complete ## every guarantee attacked with random neighbours: P='--pairs 100000 --only rivals', 1,000 of each by default
	@exec $(PY) -m tests.attacks $(P)

campaign: $(VENV)/.complete ## the comparison of methods and the coverage of intervals, measured anew; an hour and more, resumed where it stopped
	$(ONE_THREAD) $(PY) -m costofprivacy.experiments.privacy.best_method

bench: $(VENV)/.complete ## speed and memory: benchmarks, each chapter against the limit (or NAME=...), growth with each size; half an hour
	$(if $(NAME),,$(PY) -m pytest benchmarks --benchmark-only)
	$(PY) -m benchmarks.chapters $(NAME)
	$(if $(NAME),,$(PY) -m benchmarks.growth)

extra: EXTRA_IS_KNOWN ## an extra environment, for what the book's own has not: NAME=opacus makes .venv-opacus
	@$(MAKE) --no-print-directory .venv-$(NAME)/.complete
	@echo "the extra environment $(NAME) is in .venv-$(NAME)"

anew: EXTRA_IS_KNOWN $(VENV)/.complete ## what an extra environment (NAME=opacus) measured, measured anew and compared
	@COSTOFPRIVACY_EXTRAS=anew $(BOOK) validate $(CHAPTERS_$(NAME))

extras-list: ## the names of the extra environments
	@echo $(EXTRAS)

EXTRA_IS_KNOWN:
	@$(if $(and $(filter 1,$(words $(NAME))),$(filter $(EXTRAS),$(NAME))),:, \
	  printf "error: NAME must be one of %s, got '%s'\n" "$(EXTRAS)" "$$NAME" >&2; exit 2)

lock: _build/uv/.complete ## requirements*.txt from requirements*.in, for Python 3.11 to 3.13; all, or NAME=opacus
	for name in $(if $(NAME),"requirements-$$NAME",$(basename $(wildcard requirements*.in))); do \
	  $(UV) pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet "$$name.in" -o "$$name.txt" \
	    || exit; done

clean: ## remove _build and the tools' caches; .venv and what is committed stay
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

# An extra environment. Its lock knows builds for Python 3.11, the reference, at least: that comes first. Where pip finds
# no such build, uv does, as it knows where PyTorch keeps those without CUDA. Either checks the hashes.
.venv-%/.complete: FIRST := python3.11
.venv-%/.complete: requirements-%.txt
	@python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then echo "error: Python 3.11, 3.12 or 3.13 is needed" >&2; exit 2; fi; \
	echo "installing the extra environment $* into .venv-$* with $$("$$python" --version): some minutes, once"; \
	rm -rf ".venv-$*" && "$$python" -m venv ".venv-$*"
	@".venv-$*/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes -r $< || { \
	  echo "pip cannot find all of it; uv looks in PyTorch's own place, too"; \
	  $(MAKE) --no-print-directory _build/uv/.complete && UV_TORCH_BACKEND=cpu $(UV) pip install --quiet \
	    --python ".venv-$*/bin/python" --require-hashes -r $<; }
	@touch $@

_build/uv/.complete: $(VENV)/.complete
	@rm -rf _build/uv && $(PY) -m venv _build/uv
	@_build/uv/bin/python -m pip --disable-pip-version-check install --quiet uv
	@touch $@
