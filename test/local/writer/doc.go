// Package writer writes files into a folder and re-reads them all the time,
// with checksums, as proof that a volume under change loses nothing and answers
// every call. It knows nothing of Gluster; the folder is a mounted volume.
//
// One goroutine writes (create, write, fsync, rename), one re-reads files at
// random and compares. Checksums are kept outside of the folder. What went
// wrong is counted, never retried silently: a failed call is an error, a file
// that differs a mismatch, a call that took longer than a second a stall.
package writer
