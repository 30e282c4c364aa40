# Anthill. `make help` lists what can be made.

GO ?= go
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help

include test/tools/tools.mk
include test/local/local.mk
include test/cluster/cluster.mk

.PHONY: help build check test test-full demo demo-down demo-cluster demo-cluster-down e2e e2e-full bench bench-quick

help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

build: ## Build bin/anthill and the gate it installs on servers, statically
	$(GO) build -trimpath -ldflags "-s -w" -o bin/anthill ./cmd/anthill
	$(GO) build -trimpath -ldflags "-s -w" -o bin/anthill-gate ./executor/gate/cmd/anthill-gate

# The inner loop: no root, no servers.
check: fmt-check generated-check ## Format, vet and unit tests of the product (no root)
	$(GO) vet ./...
	$(GO) vet -C test ./...
	$(GO) test -short ./...

# What needs no Kubernetes with nodes.
WITHOUT_NODES = $$($(GO) list -C test ./... | grep -vE '/test/(cluster|image|pods)(/|$$)')

# Two packages at a time: they mostly wait, each for servers of its own.
test: ## Everything that needs no Kubernetes nodes: unit and property tests, real glusterd, real kube-apiserver, crashes (root)
	@$(LOCAL) preflight
	$(GO) test -timeout 15m ./...
	$(GO) test -C test -count=1 -p 2 -timeout 45m $(WITHOUT_NODES)

test-full: ## All of it with whole matrices instead of seeded parts (root, hours)
	@$(LOCAL) preflight
	ANTHILL_TEST_FULL=1 $(GO) test -count=1 -timeout 60m ./...
	ANTHILL_TEST_FULL=1 $(GO) test -C test -count=1 -p 1 -timeout 8h ./...

demo: ## The main job, on four real servers, before your eyes (root; KEEP=1 leaves it up)
	@$(GO) run -C test ./demo $(if $(KEEP),--keep)

demo-down: ## Take down what a demo left up
	@$(GO) run -C test ./demo --down

demo-cluster: ## The main job in a Kubernetes with nodes, with servers that are pods (root, or KUBECONFIG; KEEP=1 leaves it up)
	@$(GO) run -C test ./pods/demo $(if $(KEEP),--keep)

demo-cluster-down: ## Take down what that demo left up
	@$(GO) run -C test ./pods/demo --down

e2e-full: ## e2e with whole matrices instead of seeded parts (root; an hour or more)
	ANTHILL_TEST_FULL=1 $(GO) test -C test -count=1 -timeout 4h ./pods/...

e2e: ## The operator installed in a Kubernetes with nodes: servers that are pods, growth, kills, uninstalling (root, or KUBECONFIG)
	$(GO) test -C test -count=1 -parallel 3 -timeout 80m ./pods/...

bench: ## Measure: one line per figure, name value unit ratio target ok|short (root)
	@$(GO) run -C test ./bench

bench-quick: ## The figures that need no servers, within 50 seconds
	@$(GO) run -C test ./bench --quick
