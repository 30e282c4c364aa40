// Package observe looks at the servers of a pool and says what each of them
// sees: planner.Observed. It takes no lock anywhere and changes nothing: one
// gate request per server, in parallel, each with a deadline (S9).
package observe
