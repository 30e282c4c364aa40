# A real Kubernetes with real kubelets on this machine; see package cluster.
# Included by the root Makefile. INSTANCE names one of several clusters. With
# KUBECONFIG set nothing is started, and the tests use the cluster it names.

CLUSTER = $(GO) run -C test ./cluster/cmd/cluster --instance "$(INSTANCE)"

.PHONY: cluster-up cluster-down cluster-status cluster-kubeconfig cluster-logs test-cluster

cluster-up: ## Start a Kubernetes of three nodes (root; the first time builds it, twenty minutes)
	@$(CLUSTER) up

cluster-down: ## Take it down, whatever state it is in (root)
	@$(CLUSTER) down

cluster-status: ## Say what of it runs, and what is unhealthy and why (root)
	@$(CLUSTER) status

cluster-kubeconfig: ## Print the path of its kubeconfig (root)
	@$(CLUSTER) kubeconfig

cluster-logs: ## Print the ends of all its logs (root)
	@$(CLUSTER) logs

test-cluster: ## Test the Kubernetes itself, its images and its nodes (root)
	@$(GO) test -C test -count=1 -p 1 -timeout 60m ./image/... ./cluster/...
