# What maintainers need beside the Makefile, in the project's root: make -f tests/maintain.mk TARGET

include Makefile
.DEFAULT_GOAL := help

# Extra environments: environments/NAME.in and its lock make .venv-NAME. The two commands never need one. Each has the
# chapters whose runs it measures; without it they show the committed runs. A new one: a line here, and its two files.
CHAPTERS_opacus := noisyhead/dp-sgd privacy/every-mechanism
CHAPTERS_diffprivlib := privacy/rivals privacy/every-mechanism
CHAPTERS_opendp := privacy/every-mechanism
EXTRAS := $(patsubst environments/%.txt,%,$(wildcard environments/*.txt))
# Pages that people print, by Chromium, with the book's own style for paper: formulas and figures look as on the screen.
PRINTED := letter-noisyhead letter-dpgd errata noisyhead-in-ten-minutes dpgd-in-ten-minutes
UV := _build/uv/bin/python -m uv

.PHONY: lint library chapters pdf browser attacks campaign extra anew lock EXTRA_IS_KNOWN

lint: $(VENV)/.complete ## ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

library: $(VENV)/.complete ## the library's tests; SLOW=1: the slow ones, too
	@rm -f _build/reports/library.xml
	$(ONE_THREAD) $(PY) -m pytest -n "$$($(PY) -c 'import joblib; print(joblib.cpu_count())')" --dist worksteal \
	  -p no:nbval $(if $(filter 1,$(SLOW)),,-m "not slow") --junitxml=_build/reports/library.xml

chapters: $(VENV)/.complete ## nbval over every chapter, or NAME=...
	exec $(BOOK) test --preset "$$PRESET" -- "$$NAME"

pdf: pages ## letters to the authors, errata and the ten-minute pages as PDF in _build/pdf (needs Chromium)
	@mkdir -p _build/pdf
	@for page in $(PRINTED); do \
	  "$$(command -v chromium || command -v chromium-browser || command -v google-chrome)" --headless --no-sandbox \
	    --no-pdf-header-footer --virtual-time-budget=60000 --print-to-pdf="_build/pdf/$$page.pdf" \
	    "file://$(CURDIR)/_build/html/book/$$page.html" && echo "$$page.pdf is in _build/pdf" || exit; \
	done

browser: $(VENV)/.complete ## the committed pages in a browser (Chromium), wide and narrow, light and dark: some minutes
	COSTOFPRIVACY_BROWSER=1 $(ONE_THREAD) $(PY) -m pytest -n "$$($(PY) -c 'import joblib; print(joblib.cpu_count())')" \
	  --dist worksteal tests/book/test_browser.py

attacks: $(VENV)/.complete ## every guarantee attacked with random neighbours: P='--pairs 100000 --only rivals', 1,000 of each by default; goes on where it stopped
	@exec $(PY) -m tests.attacks $(P)

campaign: $(VENV)/.complete ## the comparison of methods and the coverage of intervals, measured anew; an hour and more, resumed where it stopped
	$(ONE_THREAD) $(PY) -m chapters.privacy.best_method

extra: EXTRA_IS_KNOWN ## an extra environment, for what the book's own has not: NAME=opacus makes .venv-opacus
	@$(MAKE) --no-print-directory -f tests/maintain.mk .venv-$(NAME)/.complete
	@echo "the extra environment $(NAME) is in .venv-$(NAME)"

anew: EXTRA_IS_KNOWN $(VENV)/.complete ## what an extra environment (NAME=opacus) measured, measured anew and compared
	@COSTOFPRIVACY_EXTRAS=anew $(BOOK) validate $(CHAPTERS_$(NAME))

EXTRA_IS_KNOWN:
	@$(if $(and $(filter 1,$(words $(NAME))),$(filter $(EXTRAS),$(NAME))),:, \
	  printf "error: NAME must be one of %s, got '%s'\n" "$(EXTRAS)" "$$NAME" >&2; exit 2)

lock: _build/uv/.complete ## requirements.txt and environments/*.txt from environments/*.in, for Python 3.11 to 3.13; all, or NAME=opacus
	for name in $(if $(NAME),"$$NAME",$(EXTRAS) book); do \
	  lock="environments/$$name.txt"; [ "$$name" != book ] || lock=requirements.txt; \
	  $(UV) pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet "environments/$$name.in" \
	    -o "$$lock" || exit; done

# An extra environment. Its lock knows builds for Python 3.11, the reference, at least: that comes first. Where pip finds
# no such build, uv does, as it knows where PyTorch keeps those without CUDA. Either checks the hashes.
.venv-%/.complete: FIRST := python3.11
.venv-%/.complete: environments/%.txt
	@python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then echo "error: Python 3.11, 3.12 or 3.13 is needed" >&2; exit 2; fi; \
	echo "installing the extra environment $* into .venv-$* with $$("$$python" --version): some minutes, once"; \
	rm -rf ".venv-$*" && "$$python" -m venv ".venv-$*"
	@".venv-$*/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes -r $< || { \
	  echo "pip cannot find all of it; uv looks in PyTorch's own place, too"; \
	  $(MAKE) --no-print-directory -f tests/maintain.mk _build/uv/.complete && UV_TORCH_BACKEND=cpu $(UV) pip install --quiet \
	    --python ".venv-$*/bin/python" --require-hashes -r $<; }
	@touch $@

_build/uv/.complete: $(VENV)/.complete
	@rm -rf _build/uv && $(PY) -m venv _build/uv
	@_build/uv/bin/python -m pip --disable-pip-version-check install --quiet uv
	@touch $@
