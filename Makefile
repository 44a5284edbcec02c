# make run   builds Discreet and shows it at work        make test  runs every test
# Both install what is missing (tools/setup) and may be run again at any time.
BUILD  ?= build
CMAKE_ARGS ?=
JOBS   ?= $(shell nproc)
SETUP  := $(if $(filter off,$(DISCREET_SETUP)),@true,@tools/setup/debian.sh)

.PHONY: run test test-spark slow build setup setup-test lectures docs bench bench-peers fuzz tsan package image format clean

run: build
	@tools/demo.sh $(BUILD)/bin/discreet

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DDISCREET_TESTS=OFF -DDISCREET_BENCHMARKS=OFF $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log >&2; exit 1; }
	@echo "build: compiling with $(JOBS) jobs into $(BUILD)/"
	@cmake --build $(BUILD) -j $(JOBS)

setup:
	@mkdir -p $(BUILD)
	$(SETUP) build
	@tools/setup/duckdb.sh $(BUILD)/_deps/duckdb
	@tools/setup/console.sh

setup-test: setup
	$(SETUP) test
	@tools/setup/venv.sh $(BUILD)/venv tests/requirements.txt

test: setup-test
	@cmake -S . -B $(BUILD) -G Ninja -DDISCREET_TESTS=ON -DDISCREET_BENCHMARKS=ON $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log >&2; exit 1; }
	@echo "build: compiling with $(JOBS) jobs into $(BUILD)/"
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure -LE slow

# Spark as an engine, against a real Spark Connect server with two executors: fetches Spark (450 MB) the first time, wants 4 GB of memory.
test-spark: setup-test
	$(SETUP) spark
	@command -v java > /dev/null || { echo "test-spark: there is no Java; install openjdk-17-jdk-headless" >&2; exit 1; }
	@tools/setup/spark.sh $(BUILD)/_deps/spark
	@cmake -S . -B $(BUILD) -G Ninja -DDISCREET_TESTS=ON -DDISCREET_SPARK=ON $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log >&2; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS) --target spark_suite engines_spark_test
	@$(BUILD)/bin/engines_spark_test --gtest_brief=1
	@DISCREET_SPARK_HOME=$(abspath $(BUILD))/_deps/spark/home $(BUILD)/bin/spark_suite

# Larger runs of the same questions: more seeds, more trials.
slow: test
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure -L slow

# Every page of docs/lectures, slow blocks included, and one page with all pictures.
lectures: build
	@tools/lectures.py --binary $(BUILD)/bin/discreet --index $(BUILD)/lectures

# docs/ as a static site with search, links checked. `discreet serve` shows it under /docs.
docs: setup
	@tools/setup/venv.sh $(BUILD)/docs-venv docs/requirements.txt
	@tools/docs.py --venv $(BUILD)/docs-venv --out $(BUILD)/docs

bench: setup-test
	@cmake -S . -B $(BUILD) -G Ninja -DDISCREET_BENCHMARKS=ON $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log >&2; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)
	@bench/run.sh $(BUILD)

bench-peers: bench
	@bench/peers/run.sh $(BUILD)

fuzz: setup-test
	$(SETUP) ci
	@tests/fuzz/run.sh $(BUILD)-fuzz

# Ledger and server under the thread sanitizer.
tsan: setup-test
	$(SETUP) ci
	@JOBS=$(JOBS) tests/server/sanitized.sh thread $(BUILD)-tsan

# A Debian package and a relocatable archive in $(BUILD)/package, installed and started in a clean root. Both read tables in Spark;
# `make package SPARK=off` leaves that out, and gRPC with it.
SPARK ?= on
package:
	@case '$(SPARK)' in on | off) ;; *) echo "package: SPARK is on or off, not '$(SPARK)'" >&2; exit 2 ;; esac
	@mkdir -p $(BUILD)/package && date +%s > $(BUILD)/package/.started
	@echo "package: $(if $(filter off,$(SPARK)),without Spark: spark:// tables will be refused,with Spark; SPARK=off leaves it out)"
	$(SETUP) build package $(if $(filter off,$(SPARK)),,spark-build)
	@$(if $(filter off,$(SPARK)),true,tools/setup/spark.sh --protocol $(BUILD)/_deps/spark)
	@$(MAKE) --no-print-directory build CMAKE_ARGS='$(CMAKE_ARGS) -DDISCREET_SPARK=$(if $(filter off,$(SPARK)),OFF,ON)'
	@packaging/package.sh $(BUILD) $(BUILD)/package
	@cmake -DDISCREET_SPARK=AUTO $(BUILD) > $(BUILD)/configure.log # for `make build`, as it was
	@SPARK=$(SPARK) tests/package/installed.sh $(BUILD)/package || [ $$? = 77 ]
	@echo "package: done in $$(($$(date +%s) - $$(cat $(BUILD)/package/.started))) s"

# The image of packaging/Dockerfile, by docker or buildah, built, started and asked. SPARK=off as above.
image:
	@JOBS=$(JOBS) SPARK=$(SPARK) tests/package/image.sh

format:
	@git ls-files -- '*.cc' '*.h' | xargs clang-format-19 -i

clean:
	@rm -rf $(BUILD) $(BUILD)-wheel $(BUILD)-asan $(BUILD)-fuzz $(BUILD)-tsan
