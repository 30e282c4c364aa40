# Tools at pinned versions, and what they generate and check. The versions are
# in test/tools/go.mod, so that the product's go.mod knows none of them. Go
# builds each tool once (the linter takes about five minutes on two cores) and
# keeps it in its build cache.
#
# Included by the Makefile; all paths are from the root of the checkout.

TOOL = go tool -modfile=$(CURDIR)/test/tools/go.mod
CONTROLLER_GEN = $(TOOL) controller-gen
KUSTOMIZE = $(TOOL) kustomize
GOLANGCI_LINT = $(TOOL) golangci-lint-kube-api-linter

# Modules that are linted; test/kube and test/tools hold no code of ours.
LINT_MODULES = . test

.PHONY: generate manifests generated-check manifests-check fmt fmt-check lint lint-fix

generate: ## Generate deep copies and apply configurations from apis/
	$(CONTROLLER_GEN) object applyconfiguration paths=./apis/v1alpha1

manifests: ## Generate deploy/crds from apis/, and the manifests of one file from deploy/
	$(CONTROLLER_GEN) crd paths=./apis/v1alpha1 output:crd:dir=deploy/crds
	$(call render,.)

# What `kubectl apply -k` would apply, for who has a file and a pipe.
define render
for kind in cluster-wide:install namespaced:install-namespaced; do \
	out=$(1)/deploy/$${kind#*:}.yaml && \
	echo "# Made by 'make manifests' of deploy/$${kind%:*}: change that. Your images instead of registry.example.com/anthill." > $$out && \
	$(KUSTOMIZE) build $(1)/deploy/$${kind%:*} >> $$out || exit 1; done
endef

# Generated in a copy and compared: the tree is never touched, and what is not
# committed yet counts as it is.
generated-check: ## Fail if generated files are not what apis/ and deploy/ generate
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
	cp -r go.mod go.sum apis deploy "$$tmp" && \
	rm -rf "$$tmp"/apis/*/zz_generated.* "$$tmp"/apis/*/applyconfiguration "$$tmp"/deploy/crds/*_*.yaml "$$tmp"/deploy/install*.yaml && \
	(cd "$$tmp" && $(CONTROLLER_GEN) object applyconfiguration crd paths=./apis/v1alpha1 output:crd:dir=deploy/crds) && \
	($(call render,"$$tmp")) && \
	if ! diff -ru apis "$$tmp/apis" || ! diff -ru deploy "$$tmp/deploy"; then \
		echo "generated files differ: run 'make generate manifests' and commit" >&2; exit 1; fi

manifests-check: generated-check ## The same, by its other name

fmt: ## Format all Go files
	@$(GOFILES) | xargs -r gofmt -w

fmt-check: ## Fail if a Go file is not formatted
	@out=$$($(GOFILES) | xargs -r gofmt -l); if [ -n "$$out" ]; then \
		echo "not formatted (run 'make fmt'):" >&2; echo "$$out" >&2; exit 1; fi

GOFILES = find . -name '*.go' -not -path './.git/*' -not -path './bin/*' -not -path './dist/*'

lint: ## Run the linters over all modules, and API conventions over apis/
	@for module in $(LINT_MODULES); do \
		echo "lint $$module"; \
		(cd $$module && $(GOLANGCI_LINT) run --allow-serial-runners --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done
	@echo "lint apis"
	@$(GOLANGCI_LINT) run --allow-serial-runners --config $(CURDIR)/.golangci-api.yml ./apis/...

lint-fix: ## Let the linters repair what they can
	@for module in $(LINT_MODULES); do \
		(cd $$module && $(GOLANGCI_LINT) run --fix --allow-serial-runners --config $(CURDIR)/.golangci.yml ./...) || true; \
	done
