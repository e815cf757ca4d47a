# make install | demo | test | check | bench | speed | fuzz | fuzz-lanes | fuzz-max | gate | exhaust | spills | report | docs; every target sets itself up on a machine with python3 and a C compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
KERNEL := $(wildcard kernel/*.c kernel/*.h) src/maxik/kernel/build_kernel.py setup.py pyproject.toml
SHARED ?= ../shared

.PHONY: docs install demo test check bench speed fuzz fuzz-lanes fuzz-max gate exhaust spills report lock clean

install: $(STAMP)

$(STAMP): requirements.lock $(KERNEL)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $@

demo: $(STAMP)
	mkdir -p out
	$(BIN)/maxik bake examples/walk.scene.json -o out/walk.glb -o out/walk.json -o out/walk.csv -o out/walk.npz --report out/walk.certificate.json
	$(BIN)/maxik bake examples/snake.scene.json -o out/snake.glb -o out/snake.json --report out/snake.certificate.json
	$(BIN)/maxik view examples/walk.scene.json -o out/walk.html
	$(BIN)/maxik view examples/snake.scene.json -o out/snake.html
	@echo "The baked motion lies in out/: walk.glb and snake.glb open in Blender; *.certificate.json say what the bits rest on."

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --cov --cov-report=term

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-columns=min,median,max,rounds -p no:xdist

# docs/speed.md: every limb path, threads, other solvers, take lengths, splines, whole commands, in one run of some minutes.
speed: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.bench.lock
	$(BIN)/python benchmarks/speed.py -o docs/speed.md

# 100,000 random spline problems, the certified leap against the literal march; FUZZ_SEED and FUZZ_COUNT change them.
fuzz: $(STAMP)
	$(BIN)/python fuzz/spline_leap.py --seed $(or $(FUZZ_SEED),0) --count $(or $(FUZZ_COUNT),100000)

# 10^8 random limb solves by every path in lanes against the literal path, minutes.
fuzz-lanes: $(STAMP)
	$(BIN)/python fuzz/limb_lanes.py --seed $(or $(FUZZ_SEED),0) --count $(or $(FUZZ_COUNT),100000000)

# 20,000 damaged .max files made from the reference scenes: each ends in a scene or one clear error, soon and small.
fuzz-max: $(STAMP)
	$(BIN)/python fuzz/max_files.py $(SHARED)/maxfiles/*.max --seed $(or $(FUZZ_SEED),0) --count $(or $(FUZZ_COUNT),20000)

# Native kernel, x87 builds and model over all vectors and random problems, every bit; gate.json says what was compared.
gate: $(STAMP)
	$(BIN)/python -m maxik.verify.gate --vectors $(SHARED)/vectors --limb $(or $(GATE_LIMB),200000) --spline $(or $(GATE_SPLINE),5000) $(foreach target,$(or $(GATE_TARGETS),x87-gcc wine-mingw),--target $(target)) -o $(or $(GATE_OUTPUT),gate.json)

# Every float32 input of the kernel's transcendentals and square root, minutes; docs/exhaust.md is the summary.
exhaust: $(STAMP)
	$(BIN)/python -m maxik.oracle.exhaust -o docs/exhaust.md

# docs/spills.md: what register spills could change, of the public vectors and the examples.
spills: $(STAMP)
	$(BIN)/python docs/make_spill_report.py $(SHARED)/vectors

# docs/max-report.md, from a run over the reference scenes; docs/discriminating.md, from a run over the core profile.
report: $(STAMP)
	$(BIN)/python docs/make_max_report.py $(SHARED)/maxfiles
	$(BIN)/python docs/make_discriminating.py
	COLUMNS=100 $(BIN)/python docs/make_reference.py

# The site of docs/, in out/site.
docs: $(STAMP)
	$(BIN)/mkdocs build --strict

lock:
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --extra dev -o requirements.lock pyproject.toml requirements.build.in
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --extra bench --constraint requirements.lock -o requirements.bench.lock pyproject.toml

clean:
	rm -rf $(VENV) out build src/*.egg-info src/maxik/kernel/_kernel*
