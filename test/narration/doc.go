// Package narration tells a person who watches a demo what happens: lines with
// the time since it began, and what the operator's journal records, as it does.
package narration
