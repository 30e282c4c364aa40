# The real servers and the real API server on this machine; see package local.
# Included by the root Makefile. INSTANCE names one of several environments.

GO       ?= go
INSTANCE ?=
LOCAL     = $(GO) run -C test ./local/cmd/local --instance "$(INSTANCE)"

.PHONY: setup preflight local-up local-down local-status local-logs test-local

setup: ## Install the Debian packages that real servers and nodes need (root)
	@$(LOCAL) setup

preflight: ## Say what this machine lacks for real servers
	@$(LOCAL) preflight

local-up: ## Start four servers, etcd and kube-apiserver (root)
	@$(LOCAL) up

local-down: ## Take them down, whatever state they are in (root)
	@$(LOCAL) down

local-status: ## Say what runs, and what is unhealthy and why (root)
	@$(LOCAL) status

local-logs: ## Print the ends of all their logs (root)
	@$(LOCAL) logs

test-local: ## Test the environment itself (root)
	@$(GO) test -C test -count=1 -timeout 10m ./local/...
