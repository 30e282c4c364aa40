// Package image makes container images without a container engine: root file
// systems of Debian with debootstrap, layers and archives with the standard
// library. The images say the same as the Dockerfiles in deploy/images, for
// people who have an engine; a test compares them.
//
// A root file system takes a minute or two and is kept per suite and list of
// packages, outside the checkout. What is built from the checkout is a layer of
// its own on top, so that a new build of it costs seconds.
package image
