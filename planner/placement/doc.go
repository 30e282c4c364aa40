// Package placement decides which brick directory carries which brick. It is
// pure and deterministic: the same request in any order of its parts gives the
// same answer.
//
// The rules, strongest first:
//
//   - No two bricks of a set on one node, ever (LAB-12). If there are fewer nodes
//     than bricks in a set there is no placement.
//   - The bricks of a set lie in as many zones as possible: no two in one zone
//     while there are enough zones, else as evenly as the nodes allow.
//   - Bricks that exist are never moved.
//   - What is new goes where there is most room: by the space of a directory that
//     is left to each brick when its bricks, of all volumes, share it equally.
//   - An arbiter is the last brick of its set. It holds no data, so it goes to
//     the node with the fewest bricks and takes no share.
//
// The package imports nothing of ours.
package placement
