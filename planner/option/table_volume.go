package option

// volumeGroups are the options of a volume in 10.3.
var volumeGroups = []group{
	// Speed and size of caches; wrong values cost time, not data.
	{entry{class: Free}, `
		performance.cache-max-file-size performance.cache-min-file-size performance.cache-refresh-timeout
		performance.cache-priority performance.io-cache-size performance.cache-size performance.io-thread-count
		performance.high-prio-threads performance.normal-prio-threads performance.low-prio-threads
		performance.least-prio-threads performance.enable-least-priority performance.iot-watchdog-secs
		performance.iot-cleanup-disconnected-reqs performance.iot-pass-through performance.io-cache-pass-through
		performance.quick-read-cache-size performance.quick-read-cache-timeout performance.qr-cache-timeout
		performance.quick-read-cache-invalidation performance.ctime-invalidation performance.flush-behind
		performance.nfs.flush-behind performance.write-behind-window-size performance.nfs.write-behind-window-size
		performance.strict-o-direct performance.nfs.strict-o-direct performance.strict-write-ordering
		performance.nfs.strict-write-ordering performance.write-behind-trickling-writes
		performance.nfs.write-behind-trickling-writes performance.aggregate-size performance.lazy-open
		performance.read-after-open performance.open-behind-pass-through performance.read-ahead-page-count
		performance.read-ahead-pass-through performance.readdir-ahead-pass-through
		performance.md-cache-pass-through performance.md-cache-timeout performance.write-behind-pass-through
		performance.cache-swift-metadata performance.cache-samba-metadata performance.cache-capability-xattrs
		performance.cache-ima-xattrs performance.md-cache-statfs performance.xattr-cache-list
		performance.nl-cache-pass-through performance.write-behind performance.read-ahead
		performance.readdir-ahead performance.io-cache performance.open-behind performance.quick-read
		performance.nl-cache performance.stat-prefetch performance.client-io-threads
		performance.nfs.write-behind performance.nfs.read-ahead performance.nfs.io-cache
		performance.nfs.quick-read performance.nfs.stat-prefetch performance.nfs.io-threads
		performance.force-readdirp performance.cache-invalidation performance.global-cache-invalidation
		performance.parallel-readdir performance.rda-request-size performance.rda-low-wmark
		performance.rda-high-wmark performance.rda-cache-limit performance.nl-cache-positive-entry
		performance.nl-cache-limit performance.nl-cache-timeout performance.resync-failed-syncs-after-fsync
		features.cache-invalidation features.cache-invalidation-timeout features.leases
		features.lease-lock-recall-timeout features.locks-notify-contention
		features.locks-notify-contention-delay features.tag-namespaces config.global-threading
		config.client-threads config.brick-threads rebalance.ensure-durability dht.force-readdirp`},

	// Placement of new files, reads, locking and the pace of repair.
	{entry{class: Free}, `
		cluster.lookup-unhashed cluster.lookup-optimize cluster.min-free-disk cluster.min-free-inodes
		cluster.rebalance-stats cluster.readdir-optimize cluster.rebal-throttle cluster.lock-migration
		cluster.weighted-rebalance cluster.read-subvolume cluster.read-subvolume-index cluster.read-hash-mode
		cluster.choose-local cluster.background-self-heal-count cluster.self-heal-window-size
		cluster.data-self-heal-algorithm cluster.self-heal-readdir-size cluster.heal-wait-queue-length
		cluster.shd-max-threads cluster.shd-wait-qlength cluster.eager-lock cluster.post-op-delay-secs
		cluster.consistent-metadata cluster.full-lock cluster.locking-scheme cluster.use-compound-fops
		cluster.use-anonymous-inode cluster.quorum-reads cluster.optimistic-change-log
		disperse.eager-lock disperse.other-eager-lock disperse.eager-lock-timeout
		disperse.other-eager-lock-timeout disperse.background-heals disperse.heal-wait-qlength
		disperse.read-policy disperse.shd-max-threads disperse.shd-wait-qlength disperse.cpu-extensions
		disperse.self-heal-window-size disperse.optimistic-change-log disperse.parallel-writes
		disperse.stripe-cache`},
	{entry{class: Free, rule: atLeast(5), why: "the repair would never begin by itself", accept: "5 or more seconds"}, `
		cluster.heal-timeout`},

	// Network and access.
	{entry{class: Free}, `
		network.frame-timeout network.tcp-window-size network.remote-dio network.inode-lru-limit
		client.event-threads client.tcp-user-timeout client.keepalive-time client.keepalive-interval
		client.keepalive-count client.strict-locks client.bind-insecure client.send-gids
		server.event-threads server.tcp-user-timeout server.keepalive-time server.keepalive-interval
		server.keepalive-count server.outstanding-rpc-limit server.own-thread server.manage-gids
		server.gid-timeout server.dynamic-auth server.allow-insecure server.root-squash server.all-squash
		server.anonuid server.anongid transport.keepalive transport.listen-backlog auth.allow auth.reject
		features.acl features.selinux features.uss features.snapshot-directory features.show-snapshot-directory
		features.trash features.trash-eliminate-path features.trash-max-filesize features.trash-internal-op
		ctime.noatime`},
	{entry{class: Free, rule: atLeast(1), why: "a server that is gone would stop its clients for ever", accept: "1 or more seconds"}, `
		network.ping-timeout`},
	{entry{class: Free, rule: isOn, why: "gluster's own NFS server is gone", accept: "on"}, `nfs.disable`},

	// What is logged and counted.
	{entry{class: Free}, `
		diagnostics.latency-measurement diagnostics.dump-fd-stats diagnostics.count-fop-hits
		diagnostics.brick-log-level diagnostics.client-log-level diagnostics.brick-sys-log-level
		diagnostics.client-sys-log-level diagnostics.brick-logger diagnostics.client-logger
		diagnostics.brick-log-format diagnostics.client-log-format diagnostics.brick-log-buf-size
		diagnostics.client-log-buf-size diagnostics.brick-log-flush-timeout
		diagnostics.client-log-flush-timeout diagnostics.stats-dump-interval diagnostics.fop-sample-interval
		diagnostics.stats-dump-format diagnostics.fop-sample-buf-size diagnostics.stats-dnscache-ttl-sec
		locks.trace`},

	// The brick's own file system.
	{entry{class: Free}, `
		storage.owner-uid storage.owner-gid storage.node-uuid-pathinfo storage.create-mask
		storage.create-directory-mask storage.force-create-mode storage.force-directory-mode
		storage.max-hardlinks storage.batch-fsync-delay-usec`},
	{entry{class: Free, rule: atLeast(1), why: "a brick whose disk is broken would stay in service", accept: "1 or more seconds"}, `
		storage.health-check-interval storage.health-check-timeout`},
	{entry{class: Free, rule: atLeast(1), why: "a full brick cannot even repair itself", accept: "1 or more percent"}, `
		storage.reserve`},
	{entry{class: Never, why: "it changes how bricks reach their disks and is not tested"}, `
		storage.linux-aio storage.linux-io_uring storage.batch-fsync-mode`},

	// What is written cannot be read, or not be found, after a change.
	{entry{class: OnlyEmpty}, `
		features.shard features.shard-block-size features.shard-lru-limit features.shard-deletion-rate
		cluster.subvols-per-directory cluster.rsync-hash-regex cluster.extra-hash-regex
		cluster.randomize-hash-range-by-gfid features.ctime storage.gfid2path storage.gfid2path-separator
		storage.build-pgfid storage.fips-mode-rchecksum cluster.nufa`},

	// Repair and its bookkeeping stay on.
	{entry{class: Free, rule: isOn, why: "copies would no longer be repaired", accept: "on"}, `
		cluster.self-heal-daemon cluster.disperse-self-heal-daemon`},
	{entry{class: Free, rule: isOn, why: "repairs by clients can only be switched on", accept: "on"}, `
		cluster.metadata-self-heal cluster.data-self-heal cluster.entry-self-heal`},
	{entry{class: Free, rule: isOn, why: "writes that a copy missed would be forgotten", accept: "on"}, `
		cluster.entry-change-log cluster.data-change-log cluster.metadata-change-log cluster.ensure-durability`},
	{entry{class: Never, why: "with repairs pending a change loses them; gluster has a command of its own for it"}, `
		cluster.granular-entry-heal`},
	{entry{class: Free, rule: oneOf("none"), why: "it throws one of two differing copies away without asking", accept: "none"}, `
		cluster.favorite-child-policy`},

	// Quorum stays.
	{entry{class: Free, rule: oneOf("auto"), why: "without client quorum copies diverge", accept: "auto"}, `
		cluster.quorum-type`},
	{entry{class: Never, why: "a count of one's own weakens client quorum"}, `
		cluster.quorum-count disperse.quorum-count`},
	{entry{class: Never, why: "bricks would stop when servers lose sight of each other"}, `
		cluster.server-quorum-type`},
	{entry{class: Never, why: "writes would return before enough copies have them"}, `
		cluster.halo-enabled cluster.halo-shd-max-latency cluster.halo-nfsd-max-latency
		cluster.halo-max-latency cluster.halo-max-replicas cluster.halo-min-replicas`},

	// The volume would stop being writable, or locks would stop being locks.
	{entry{class: Never, why: "clients could no longer write, or delete, what they own"}, `
		features.read-only features.worm features.worm-file-level features.worm-files-deletable
		features.default-retention-period features.retention-mode features.auto-commit-period
		features.barrier features.barrier-timeout`},
	{entry{class: Never, why: "applications would lose locks that they hold, or wait for ever"}, `
		features.locks-revocation-secs features.locks-revocation-clear-all features.locks-revocation-max-blocked
		features.locks-monkey-unlocking features.enforce-mandatory-lock locks.mandatory-locking`},

	// Layout and transport are Anthill's.
	{entry{class: Never, why: "it belongs to the layout of the volume, which Anthill keeps"}, `
		cluster.dht-xattr-name cluster.local-volume-name cluster.switch-pattern cluster.switch
		cluster.force-migration config.transport config.memory-accounting transport.address-family`},
	{entry{class: Never, why: "encryption needs certificates on every server and client first"}, `
		client.ssl server.ssl auth.ssl-allow ssl.own-cert ssl.private-key ssl.ca-list ssl.crl-path
		ssl.certificate-depth ssl.cipher-list ssl.dh-param ssl.ec-curve`},
	{entry{class: Never, why: "it is an option of the whole pool"}, `
		cluster.server-quorum-ratio cluster.enable-shared-storage cluster.brick-multiplex
		cluster.brick-graceful-cleanup glusterd.vol_count_per_thread cluster.max-bricks-per-process
		cluster.daemon-log-level`},

	// Features with a command, or a service, of their own.
	{entry{class: Never, why: "it has a command, or a service, of its own that Anthill does not run"}, `
		features.quota features.inode-quota features.default-soft-limit features.soft-timeout
		features.hard-timeout features.alert-time features.quota-deem-statfs features.bitrot features.scrub
		features.scrub-freq features.scrub-throttle features.signer-threads features.expiry-time
		geo-replication.indexing geo-replication.ignore-pid-check changelog.changelog changelog.changelog-dir
		changelog.encoding changelog.rollover-time changelog.fsync-interval
		changelog.changelog-barrier-timeout changelog.capture-del-path ganesha.enable config.gfproxyd
		features.timeout features.failover-hosts features.sdfs features.cloudsync features.cloudsync-storetype
		features.cloudsync-remote-read features.cloudsync-store-id features.cloudsync-product-id
		network.compression network.compression.window-size network.compression.mem-level
		network.compression.min-size network.compression.compression-level network.compression.debug`},
	{entry{class: Never, why: "gluster would write there as root"}, `
		server.statedump-path features.trash-dir`},
	{entry{class: Never, why: "it injects faults or traces on the data path"}, `
		debug.trace debug.log-history debug.log-file debug.exclude-ops debug.include-ops debug.error-gen
		debug.error-failure debug.error-number debug.random-failure debug.error-fops debug.delay-gen
		delay-gen.delay-percentage delay-gen.delay-duration delay-gen.enable`},
}
