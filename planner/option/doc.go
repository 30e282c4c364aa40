// Package option is the shipped table of GlusterFS options (S11): for each
// option of a volume and of the whole pool, whether a custom resource may set
// it. gluster itself accepts nearly everything on a volume full of data,
// options that make the data unreadable, stop its repair or give up quorum
// among them.
//
// The table is that of GlusterFS 10.3 and complete: a test compares it with
// what 10.3 lists. It is pure data and imports nothing of ours.
package option
