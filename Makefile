# Short names for the usual commands; the build itself is CMakeLists.txt and CMakePresets.json.
JOBS := $(shell nproc 2>/dev/null || echo 2)
export PORT ?= 8080

.NOTPARALLEL:
.PHONY: help setup build run web package docs python test test-long same-bits ablation bench bench-web duel fuzz soak format lint clean

help:
	@echo "make build    build the library, command, tests and benchmarks into build/release"
	@echo "make run      serve the gallery of scenes on 127.0.0.1; PORT=... is 8080"
	@echo "make web      build the gallery into build/release/web/site"
	@echo "make package  build the npm package tenon-physics into build/release/web/package/dist"
	@echo "make docs     the reference, the manual and the other documents as a site in build/docs"
	@echo "make python   a wheel of the Python package in build/python"
	@echo "make test     all tests, then again under the address, undefined and thread sanitizers"
	@echo "make test-long  more random cases, larger scenes and more compilers than make test"
	@echo "make same-bits BASE=...  compare the motion of many scenes with that of a commit, bit for bit"
	@echo "make ablation  what each rule of the solver is good for: scenes with and without it; ABLATION=\"--rules preload\""
	@echo "make bench    run the benchmarks; BENCH=\"pyramid:36 scaling\" picks some, BENCH_JSON=... is a file"
	@echo "make bench-web  what the gallery costs: bytes, time until it is ready, a frame over the native one"
	@echo "make duel     Tenon beside Rapier, Jolt and MuJoCo, all as WebAssembly: docs/duel.md"
	@echo "make fuzz     run all fuzzers, SECONDS=60 each; the corpus is in build/fuzz-corpus, crashes beside it"
	@echo "make soak     churn worlds of all kinds for MINUTES=10 and compare lanes, threads, restores, replays"
	@echo "make format   format all sources"
	@echo "make lint     check format, structure, clang-tidy and cppcheck"
	@echo "make clean    remove build/"

setup:
	@scripts/setup

build: build-release

build-%:
	@cmake --preset $* --log-level=WARNING >/dev/null
	@cmake --build --preset $* --parallel $(JOBS)

package:
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target package_js --parallel $(JOBS)

web:
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target web --parallel $(JOBS)

docs: setup
	@scripts/docs build/docs

python: setup build-release
	@cd python && TENON_BUILD=$(CURDIR)/build/release /usr/bin/python3 -m pip wheel -q --no-build-isolation --no-deps \
	  -w ../build/python .

run: setup web
	@node web/serve.mjs build/release/web/site

test: setup build-release build-asan build-tsan
	ctest --preset release --parallel $(JOBS)
	ctest --preset asan --parallel $(JOBS)
	ctest --preset tsan --parallel $(JOBS)

# The preset asan-long builds in the folder of asan.
test-long: setup build-release
	@cmake --preset asan --log-level=WARNING >/dev/null
	@cmake --build --preset asan-long --parallel $(JOBS)
	ctest --preset release-long --parallel $(JOBS)
	ctest --preset asan-long --parallel $(JOBS)

same-bits:
	@scripts/same_bits $(BASE)

ablation:
	@node scripts/ablation.mjs $(ABLATION)

bench: build
	build/release/tenon_bench $(BENCH)

bench-web: web
	@cmake --build --preset release --target tenon_cli
	@node web/bench.mjs build/release/web/site build/release/tenon $(BENCH)

duel: setup
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target package_js_simd --parallel $(JOBS)
	@node web/duel/run.mjs build/release/web/package/dist_simd --json docs/duel.json
	@node web/duel/report.mjs docs/duel.json docs

SECONDS ?= 60
fuzz: setup build-fuzz
	@fuzz/run $(SECONDS)

MINUTES ?= 10
soak:
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target soak --parallel $(JOBS)
	@build/release/test/soak $(MINUTES)

format:
	@scripts/sources | xargs clang-format -i
	@clang-format -i web/package/c/*.c web/package/c/readers/files.c
	@[ ! -d web/node_modules ] || (cd web && npx prettier --log-level warn --write .)

lint:
	@scripts/lint

clean:
	rm -rf build
