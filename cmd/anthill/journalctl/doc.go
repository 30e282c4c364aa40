// Package journalctl is the command "anthill journal": it shows what an
// operator's journal says and hands a person's decisions to the operator.
//
// Reading works from the running operator's socket or from a file nobody
// writes; a decision (retry, resolve, cancel, abandon) only ever goes to the
// running operator, which judges it and records it with a name and a reason.
// Nothing here writes to a journal.
//
// Every command but "tail -f" has a deadline and ends soon after it, whatever
// state the file is in. Output, exit codes and the JSON are described in
// docs/reference/journal-cli.md and are kept stable.
package journalctl
