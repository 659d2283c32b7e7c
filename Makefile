# Each target does all of its own set-up: a virtual environment in .venv, the build, the install.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp/core cpp/bindings -name '*.h' -o -name '*.inl' -o -name '*.cpp')
PAGE_CPP := $(shell find cpp/playground -name '*.h' -o -name '*.cpp')

# What is run with a wheel: scikit-learn's checks, and the estimators.
WHEEL_TESTS := tests/contract/test_online.py tests/contract/test_scikit_learn.py
VERSION_TESTS := tests/contract/test_auto.py $(WHEEL_TESTS) tests/unit/estimators tests/unit/test_certificate.py
FEW_TOOLS := pytest pytest-xdist hypothesis clarabel pandas polars matplotlib optuna

CLEAN := env PATH=$(CURDIR)/build/clean/bin

# Without a C++ compiler, zig's from PyPI is used.
ifeq (,$(shell command -v "$${CXX:-c++}" || command -v g++ || command -v clang++))
COMPILER := build/zig/toolchain.cmake
export CMAKE_TOOLCHAIN_FILE := $(CURDIR)/$(COMPILER)
endif

.PHONY: sdist wheel wheels test-oldest test-newest audit tsan valgrind
.PHONY: help demo test test-slow test-sklearn test-sklearn-versions test-sklearn-examples sanitize adversary fuzz lint format stubs docs playground film bench bench-kernels bench-defaults bench-online bench-losses bench-patch bench-path bench-promise bench-certified bench-scale bench-tuning \
	experiments experiments-quick experiments-timing experiments-kernels experiments-fashion \
	experiments-imbalance experiments-multiclass experiments-probabilities experiments-transfer clean
.DEFAULT_GOAL := help

help:
	@echo "make demo                 train on bundled data, print certificates, draw figures"
	@echo "make test                 the quick test suite"
	@echo "make test-slow            all tests, including slow ones"
	@echo "make test-sklearn         run scikit-learn's own tests for sklearn.svm against pegasos.svm"
	@echo "make test-sklearn-versions  the same for SKLEARN_VERSIONS, by default 1.7.2 and 1.8.0"
	@echo "make test-sklearn-examples  run scikit-learn's examples about svm with and without the patch, and compare"
	@echo "make sanitize             the quick suite on a core with address and undefined-behavior sanitizers"
	@echo "make tsan                 threaded code on a core with the thread sanitizer"
	@echo "make valgrind             every function of the core under valgrind, which must be installed"
	@echo "make adversary            search for false certificates and crashes, for an hour or SECONDS=600"
	@echo "make fuzz                 corrupt files for every reader, ten minutes each"
	@echo "make lint                 ruff, mypy, clang-format, import-linter, stubs"
	@echo "make format               rewrite the sources in the house style"
	@echo "make stubs                regenerate src/pegasos/_core.pyi from the built module"
	@echo "make sdist                build the source archive twice and compare the bytes"
	@echo "make wheel                build the wheel and test it without a compiler"
	@echo "make wheels               manylinux wheels for x86-64 and aarch64 by zig"
	@echo "make test-oldest          test with the oldest supported versions; test-newest: with the newest, betas included"
	@echo "make audit                check installed packages for known vulnerabilities; queries PyPI"
	@echo "make docs                 build the site into build/docs; warnings and dead links are errors"
	@echo "make playground           build the playground: the core as WebAssembly and its scripts in one page"
	@echo "make film                 record a short film of the playground into docs/images; needs Chromium"
	@echo "make bench                time to a measured gap, compared with other libraries"
	@echo "make bench-kernels        the same with kernels, and prediction speed"
	@echo "make bench-defaults       time, accuracy and gap of estimators with no parameters set"
	@echo "make bench-online         speed of the online learners"
	@echo "make bench-patch          the classes of pegasos.svm against scikit-learn's, at their defaults"
	@echo "make bench-losses         squared hinge, regression and one class against scikit-learn"
	@echo "make bench-path           a path over lam compared with single fits and with a grid search"
	@echo "make bench-promise        share of fits that reach tol, over data sets, lam, tol, dtype and units"
	@echo "make bench-certified      shares of certified predictions, their cost, and a count of violations"
	@echo "make bench-scale          reading files, out-of-core and distributed training"
	@echo "make bench-tuning         AutoPegasos against a grid, Optuna and halving; needs PEGASOS_DATA"
	@echo "make experiments          all experiments, and the pages in docs/experiments; needs PEGASOS_DATA"
	@echo "make experiments-quick    a short run of each, nothing written; needs PEGASOS_DATA"
	@echo "make experiments-timing   those that measure time, for an idle machine; needs PEGASOS_DATA"
	@echo "make experiments-kernels  accuracies of the kernels on strings, graphs and series; needs PEGASOS_DATA"
	@echo "make experiments-fashion  all pairs of Fashion-MNIST, linear and RBF; needs PEGASOS_DATA"
	@echo "make experiments-imbalance rare classes: costs, and balanced draws; needs PEGASOS_DATA"
	@echo "make experiments-multiclass  ways to deal with many classes, beside LinearSVC; needs PEGASOS_DATA"
	@echo "make experiments-probabilities  Brier scores against scikit-learn's calibration; needs PEGASOS_DATA"
	@echo "make experiments-transfer  one user's spam filter from another's; needs PEGASOS_DATA"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

build/zig/toolchain.cmake: $(BIN)/python packaging/zig.py
	$(BIN)/python -m pip install --quiet --group playground
	$(BIN)/python packaging/zig.py build/zig

# Rebuilt when the core, the bindings or the project file change; Python sources are used in place.
$(VENV)/.installed: $(BIN)/python pyproject.toml CMakeLists.txt cpp/core/CMakeLists.txt cpp/bindings/CMakeLists.txt $(CPP) | $(COMPILER)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.demo: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[plots]"
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.supply: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group supply
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/python -m pegasos.demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m pytest

# The files of the installed version, a minute.
test-sklearn: $(VENV)/.test
	$(BIN)/python -m tests.sklearn_contract

# The same with other versions, each in an environment of its own, from the wheel.
SKLEARN_VERSIONS ?= 1.7.2 1.8.0
test-sklearn-versions: build/.wheel
	for version in $(SKLEARN_VERSIONS); do \
		$(PYTHON) -m venv --clear build/sklearn-$$version && \
		build/sklearn-$$version/bin/python -m pip install --quiet --only-binary :all: dist/*.whl pytest scikit-learn==$$version && \
		build/sklearn-$$version/bin/python -m tests.sklearn_contract || exit 1; \
	done

# Its examples and its user guide, from the source archive, which is fetched from the package index.
test-sklearn-examples: $(VENV)/.test
	$(BIN)/python -m tests.sklearn_examples

# Python is not built with the sanitizers, so their library comes first, and that of C++ with it, without which
# exceptions cannot be followed. A cluster is many processes that start slowly, a browser one of its own. What refuses
# memory is preloaded in the sanitizer's place.
SANITIZED := .venv-sanitize
$(SANITIZED)/.installed: pyproject.toml CMakeLists.txt cpp/core/CMakeLists.txt cpp/bindings/CMakeLists.txt $(CPP)
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install --quiet --upgrade pip
	$(SANITIZED)/bin/python -m pip install --quiet . -Cbuild-dir=build/sanitize \
		-Ccmake.define.PEGASOS_SANITIZE=address,undefined
	$(SANITIZED)/bin/python -m pip install --quiet --group test
	@touch $@

sanitize: $(SANITIZED)/.installed
	LD_PRELOAD="$(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)" \
		PYTHONMALLOC=malloc UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
		$(SANITIZED)/bin/python -m pytest -m "not slow" -n 1 \
		--ignore tests/unit/dask --ignore tests/architecture --ignore tests/browser \
		--ignore tests/faults/test_scarcity.py

# Python is not built with the sanitizer, which sees its locks all the same. Without random addresses, since older
# versions of its library know only some of them.
TSAN := .venv-tsan
THREADED := tests/faults/test_threads.py tests/faults/test_native_threads.py tests/unit/solvers/test_split_ascent.py \
	tests/unit/solvers/test_newton.py tests/unit/kernels/test_vector.py tests/unit/kernels/test_strings.py \
	tests/unit/kernels/test_graphs.py
$(TSAN)/.installed: pyproject.toml CMakeLists.txt cpp/core/CMakeLists.txt cpp/bindings/CMakeLists.txt $(CPP)
	$(PYTHON) -m venv $(TSAN)
	$(TSAN)/bin/python -m pip install --quiet --upgrade pip
	$(TSAN)/bin/python -m pip install --quiet . -Cbuild-dir=build/tsan -Ccmake.define.PEGASOS_SANITIZE=thread
	$(TSAN)/bin/python -m pip install --quiet $(FEW_TOOLS)
	@touch $@

tsan: $(TSAN)/.installed
	LD_PRELOAD="$(shell $(CXX) -print-file-name=libtsan.so) $(shell $(CXX) -print-file-name=libstdc++.so)" \
		TSAN_OPTIONS=halt_on_error=1 OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 \
		setarch -R $(TSAN)/bin/python -m pytest -m "not slow" -n 0 $(THREADED)

# One thread of BLAS: it is not what is tried.
valgrind: $(VENV)/.test
	PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 valgrind --error-exitcode=9 --num-callers=30 \
		--suppressions=tests/faults/valgrind.txt $(BIN)/python -m tests.faults.verbs

adversary: $(VENV)/.test
	$(BIN)/python -m tests.adversary --seconds $(or $(SECONDS),3600) $(if $(SEED),--seed $(SEED))

fuzz: $(VENV)/.test
	for reader in svmlight csv cache arrays_of_numpy archive checkpoint; do \
		$(BIN)/python -m tests.faults.fuzz $$reader || exit 1; done

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP) $(PAGE_CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m nanobind.stubgen --quiet -m pegasos._core -o build/_core.pyi
	cmp build/_core.pyi src/pegasos/_core.pyi

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP) $(PAGE_CPP)

stubs: $(VENV)/.lint
	$(BIN)/python -m nanobind.stubgen --quiet -m pegasos._core -o src/pegasos/_core.pyi

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W -n -E -a -d build/doctrees docs build/docs
	$(BIN)/python docs/_site/links.py build/docs

$(VENV)/.playground: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group playground
	@touch $@

playground: $(VENV)/.playground
	$(BIN)/python web/playground/build.py

film: $(VENV)/.test
	$(BIN)/python web/playground/film.py

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.multiclass
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.prediction

bench-kernels: $(VENV)/.bench
	$(BIN)/python -m benchmarks.kernels.run

bench-defaults: $(VENV)/.bench
	$(BIN)/python -m benchmarks.defaults

bench-online: $(VENV)/.bench
	$(BIN)/python -m benchmarks.online

bench-path: $(VENV)/.bench
	$(BIN)/python -m benchmarks.path

bench-patch: $(VENV)/.bench
	$(BIN)/python -m benchmarks.patch

bench-losses: $(VENV)/.bench
	$(BIN)/python -m benchmarks.losses

bench-promise: $(VENV)/.bench
	$(BIN)/python -m benchmarks.promise
	$(BIN)/python -m benchmarks.kernels.promise

bench-certified: $(VENV)/.bench
	$(BIN)/python -m benchmarks.certified

bench-scale: $(VENV)/.bench
	$(BIN)/python -m benchmarks.scale.run

bench-tuning: $(VENV)/.bench
	$(BIN)/python -m benchmarks.tuning

experiments: $(VENV)/.demo
	$(BIN)/python -m experiments

experiments-quick: $(VENV)/.demo
	$(BIN)/python -m experiments --quick

experiments-timing: $(VENV)/.demo
	$(BIN)/python -m experiments training_time growth

experiments-kernels: $(VENV)/.installed
	$(BIN)/python -m experiments.structured_kernels

experiments-fashion: $(VENV)/.demo
	$(BIN)/python -m experiments.fashion_pairs

experiments-imbalance: $(VENV)/.installed
	$(BIN)/python -m experiments.imbalance

experiments-multiclass: $(VENV)/.installed
	$(BIN)/python -m experiments.multiclass

experiments-probabilities: $(VENV)/.installed
	$(BIN)/python -m experiments.probabilities

experiments-transfer: $(VENV)/.demo
	$(BIN)/python -m experiments.transfer

# The time in the archive is that of the last commit, so that a second build has the same bytes.
sdist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
sdist: $(VENV)/.supply
	rm -rf build/again dist/*.tar.gz
	$(BIN)/python -m build --sdist --outdir dist .
	$(BIN)/python -m build --sdist --outdir build/again .
	for archive in dist/*.tar.gz; do cmp $$archive build/again/$$(basename $$archive) || exit 1; sha256sum $$archive; done

build/.wheel: $(VENV)/.supply $(CPP) $(shell find src -name '*.py')
	rm -f dist/*.whl && mkdir -p build
	$(BIN)/python -m build --wheel --outdir dist .
	@touch $@

# The wheel is tried where there is no compiler: nothing but the new environment is on the path.
wheel: build/.wheel
	$(PYTHON) -m venv --clear build/clean
	$(CLEAN) python -m pip install --quiet --only-binary :all: dist/*.whl pytest pytest-xdist hypothesis
	$(CLEAN) python -c "import shutil; assert not any(map(shutil.which, ['cc', 'c++', 'gcc', 'g++', 'clang']))"
	$(CLEAN) python -c "import pegasos; print(pegasos.PegasosClassifier().fit([[0.0], [1.0]], [0, 1]).status_)"
	$(CLEAN) python -m pytest -q -m "not slow" $(WHEEL_TESTS)

# Wheels for every Linux with glibc 2.17 or later, of both architectures, by zig's compiler: one for Python 3.11, and one with
# the stable ABI for 3.12 and later, as far as these versions are installed. The wheel for x86-64 is tried in an environment
# without a compiler; those for aarch64 under qemu.
# `true` at the end: make throws away the output of a command whose status is 127, which is how pyenv says that a version is not active.
WHEEL_PYTHONS ?= $(or $(shell for python in python3.11 python3.12; do $$python -c "" 2>/dev/null && echo $$python; done; true),$(PYTHON))
wheels: sdist
	rm -f dist/*.whl
	for python in $(WHEEL_PYTHONS); do \
		$$python -m venv --clear build/builder && build/builder/bin/python -m pip install --quiet --upgrade pip && \
		build/builder/bin/python -m pip install --quiet --group wheels && \
		packaging/wheels.sh build/builder/bin/python x86_64 && packaging/wheels.sh build/builder/bin/python aarch64 && \
		tag=cp$$($$python -c "import sys; print(f'{sys.version_info[0]}{min(sys.version_info[1], 12)}')") && \
		$$python -m venv --clear build/clean && \
		$(CLEAN) python -m pip install --quiet --only-binary :all: dist/*-$$tag-*x86_64.whl pytest pytest-xdist hypothesis && \
		$(CLEAN) python -c "import shutil; assert not any(map(shutil.which, ['cc', 'c++', 'gcc', 'g++', 'clang']))" && \
		$(CLEAN) python -W error packaging/readme_example.py && \
		$(CLEAN) python -m pytest -q -m "not slow" $(WHEEL_TESTS) || exit 1; \
	done
	for wheel in dist/*aarch64.whl; do \
		packaging/aarch64.sh $$wheel build/builder/bin/python packaging/readme_example.py || exit 1; \
	done
	@ls dist
	@for python in python3.11 python3.12; do case " $(WHEEL_PYTHONS) " in *" $$python "*) ;; *) \
		echo "Skipped: no wheels by $$python, which is not installed or not named in WHEEL_PYTHONS." ;; esac; done
	@echo "Skipped: wheels for macOS and Windows, which .github/workflows/wheels.yml builds on machines of their own."

# The oldest versions that the project file allows, and the newest that there are, betas too.
test-oldest: build/.wheel
	$(PYTHON) -m venv --clear build/oldest
	build/oldest/bin/python -m pip install --quiet --only-binary :all: --constraint tests/oldest.txt dist/*.whl $(FEW_TOOLS)
	build/oldest/bin/python -m pytest -q -m "not slow" $(VERSION_TESTS)

test-newest: build/.wheel
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip install --quiet --only-binary :all: --pre dist/*.whl $(FEW_TOOLS)
	build/newest/bin/python -m pytest -q -m "not slow" $(VERSION_TESTS)

# Queries the vulnerability service of PyPI, so it is not part of `make lint`.
audit: $(VENV)/.supply
	$(BIN)/python -m pip freeze --exclude-editable > build/installed.txt
	$(BIN)/python -m pip_audit --progress-spinner off --strict --no-deps --disable-pip --requirement build/installed.txt

clean:
	rm -rf $(VENV) $(SANITIZED) $(TSAN) build dist
