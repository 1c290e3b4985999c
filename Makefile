# make test   what CI runs first: check, without -short
# make check  format, vet, staticcheck, laws, race tests with -short, benches once
# make full   test, and the fuzzers by counts
# make e2e    real processes, driven from outside
# make bench-agjson   codec, fold and patch beside encoding/json, by turns, with the ratios; quote these
# make bench-latency  frame to client on an idle system, beside a plain NATS request
# make real   the suites that take a real Redis, or a browser, again with those
# make conformance  against the recorded vectors of AGWIRE_VECTORS: a table of the specification's clauses and their tests
# make web          the JavaScript client, with Node 20 or later
# make golden       rewrite the golden files; review the diff like code

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := test

GO ?= go
BIN ?= bin
TIMEOUT ?= 15m
FUZZ_COUNT ?= 200000x
BENCH_TIME ?= 2s
BENCH_COUNT ?= 1
AGWIRE_VECTORS ?= ../shared/vectors

packages = $(shell $(GO) list ./... | grep -v '/e2e')
# packages whose tests hold one of the words of a pattern
mentioning = $(shell grep -rlE --include='*_test.go' '$(1)' $(wildcard cmd internal pkg services web) | xargs -r -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: build test check full lint laws race race-short bench fuzz e2e bench-agjson bench-latency real conformance web golden clean

build:
	$(GO) build -o $(BIN)/ ./cmd/agwire

test: lint laws race bench

check: lint laws race-short bench

full: test fuzz

lint:
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path './.*')); \
	if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

laws:
	$(GO) test -count=1 ./internal/archtest

race:
	$(GO) test -race -timeout $(TIMEOUT) $(packages)

race-short:
	$(GO) test -race -short -timeout $(TIMEOUT) $(packages)

bench:
	@list="$(call mentioning,^func Benchmark)"; \
	[ -z "$$list" ] || $(GO) test -run '^$$' -bench . -benchtime 1x -timeout $(TIMEOUT) $$list

fuzz:
	@for pkg in $(call mentioning,^func Fuzz); do \
	  for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "fuzz $$pkg $$name $(FUZZ_COUNT)"; \
	    $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZ_COUNT) $$pkg; \
	  done; \
	done

e2e:
	@if [ ! -d e2e ]; then echo "there is no e2e"; exit 1; fi
	$(GO) test -count=1 -timeout $(TIMEOUT) ./e2e/...

bench-agjson:
	@vectors=""; if [ -d "$(AGWIRE_VECTORS)" ]; then vectors="$(abspath $(AGWIRE_VECTORS))"; fi; \
	AGWIRE_VECTORS="$$vectors" $(GO) test -run '^$$' -bench Ratio -benchtime $(BENCH_TIME) -count $(BENCH_COUNT) -p 1 -timeout $(TIMEOUT) \
	  ./pkg/agjson ./pkg/agjson/reducer ./pkg/agjson/jsonpatch

bench-latency:
	$(GO) test -run '^$$' -bench Latency -benchtime 2000x -timeout $(TIMEOUT) ./e2e

# What these take is named by AGWIRE_TEST_REDIS_URL, AGWIRE_TEST_REDIS_SERVER and AGWIRE_TEST_CHROMIUM.
real:
	@list="$(call mentioning,redistest\.|AGWIRE_TEST_(REDIS|CHROMIUM))"; \
	[ -z "$$list" ] || $(GO) test -race -count=1 -timeout $(TIMEOUT) $$list

conformance:
	@if [ ! -d "$(AGWIRE_VECTORS)" ]; then echo "AGWIRE_VECTORS names no directory"; exit 1; fi
	@env -u AGWIRE_TEST_REDIS_URL -u AGWIRE_TEST_REDIS_SERVER AGWIRE_VECTORS="$(abspath $(AGWIRE_VECTORS))" $(GO) test -json -count=1 -timeout $(TIMEOUT) \
	  $(call mentioning,agtest\.|AGWIRE_VECTORS|SPEC §(10\.|5 INV-)) | $(GO) run ./internal/conformance

# Node tells the folds apart: the Go fold runs beside the JavaScript one, over the vectors where they are.
web: build
	@vectors=""; if [ -d "$(AGWIRE_VECTORS)" ]; then vectors="$(abspath $(AGWIRE_VECTORS))"; fi; \
	AGWIRE_BIN="$(abspath $(BIN))/agwire" AGWIRE_VECTORS="$$vectors" node --experimental-websocket --test web/client/test/ web/test/

golden:
	AGWIRE_GOLDEN=write $(GO) test -count=1 $(call mentioning,agtest\.)
	git --no-pager diff --stat -- '*testdata*'

clean:
	rm -rf $(BIN)
