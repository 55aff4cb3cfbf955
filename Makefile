# Everything a user or a contributor runs. `make` alone lists the targets.
include scripts/llvm.env
export LLVM_SYS_191_PREFIX ?= $(LLVM_PREFIX)
export PATH := $(PATH):$(HOME)/.cargo/bin

.DEFAULT_GOAL := help
.PHONY: help setup build demo test soak bench fmt lint lint-installed

help:
	@echo 'make demo    install what is missing, build, check a racy example and its fixed twin'
	@echo 'make test    install what is missing, check the style, run every test'
	@echo 'make build   install what is missing, build target/release/raddle'
	@echo 'make soak    the property tests at full count, in parts, and docs/benchmarks/soak.md (six hours)'
	@echo 'make bench   measure and write docs/benchmarks (fetches real code, long)'
	@echo 'make setup   only install what is missing'
	@echo 'make fmt     format the sources'
	@echo 'make lint    rustfmt and clippy, warnings are errors'

setup:
	@sh scripts/setup.sh

build: setup
	cargo build --release

demo: build
	@sh scripts/demo.sh

# One profile only, so that everything is compiled once.
test: setup lint-installed
	cargo test --workspace --release

soak: setup
	cargo run --release -p raddle-xtask -- soak --write

bench: setup
	cargo run --release -p raddle-xtask -- bench

fmt:
	cargo fmt --all

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --release -- -D warnings

# A minimal Rust installation has neither rustfmt nor clippy: then the tests still run, and say what was left out.
lint-installed: setup
	@if cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; then \
	    $(MAKE) --no-print-directory lint; \
	else \
	    echo 'test: rustfmt or clippy is not installed: style NOT checked (rustup component add rustfmt clippy)' >&2; \
	fi
