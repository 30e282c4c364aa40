# Anthill. `make help` lists what can be made.

GO ?= go
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help

include test/tools/tools.mk
include test/local/local.mk

.PHONY: help build check test test-servers test-full demo demo-down bench bench-quick

help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

build: ## Build bin/anthill and the gate it installs on servers, statically
	$(GO) build -trimpath -ldflags "-s -w" -o bin/anthill ./cmd/anthill
	$(GO) build -trimpath -ldflags "-s -w" -o bin/anthill-gate ./executor/gate/cmd/anthill-gate

# The inner loop: no root, no servers.
check: fmt-check generated-check ## Format, vet and unit tests of the product (no root)
	$(GO) vet ./...
	$(GO) vet -C test ./...
	$(GO) test -short ./...

test: ## Unit and property tests, conformance with real glusterd, the API on a real kube-apiserver (root)
	@$(LOCAL) preflight
	$(GO) test -timeout 15m ./...
	$(GO) test -C test -count=1 -p 1 -timeout 30m ./api/... ./bench/... ./conformance/... ./demo/... ./local/... ./node/... ./rig/...

test-servers: ## The operator: behaviour, crash sweep, kills, fencing, lost journals, on real servers (root, an hour)
	@$(LOCAL) preflight
	$(GO) test -C test -count=1 -p 1 -timeout 90m ./e2e ./crash

test-full: ## All of it with whole matrices instead of seeded parts (root, hours)
	@$(LOCAL) preflight
	ANTHILL_TEST_FULL=1 $(GO) test -count=1 -timeout 60m ./...
	ANTHILL_TEST_FULL=1 $(GO) test -C test -count=1 -p 1 -timeout 8h ./...

demo: ## The main job, on four real servers, before your eyes (root; KEEP=1 leaves it up)
	@$(GO) run -C test ./demo $(if $(KEEP),--keep)

demo-down: ## Take down what a demo left up
	@$(GO) run -C test ./demo --down

bench: ## Measure: one line per figure, name value unit ratio target ok|short (root)
	@$(GO) run -C test ./bench

bench-quick: ## The figures that need no servers, within 50 seconds
	@$(GO) run -C test ./bench --quick
