// Package executor carries out the operations of a journal: it recovers after a
// crash, schedules, takes locks, retries, parks and fences. It is generic: it
// knows no Gluster verb, only steps that can look, check their guards and act.
//
// The life of a step: probe; if its effect is not there, evaluate the guards,
// make the intent durable, act, probe again. Only what a probe saw is success
// or failure; what a command answered decides only how soon to look again. A
// step whose command may still take effect is Unknown: the same command may be
// sent again, but nothing is undone, given up or planned anew before it is
// known to be over (invariant I31).
//
// Each scope (a Gluster pool) has one lane, a goroutine that takes one turn at a
// time, so there is never more than one mutating command per pool.
package executor
