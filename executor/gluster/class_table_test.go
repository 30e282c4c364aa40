package gluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// xmlAnswer is an answer of which only the essentials matter.
func xmlAnswer(ret, errno int, text string) Output {
	return Output{Stdout: fmt.Appendf(nil,
		"<cliOutput><opRet>%d</opRet><opErrno>%d</opErrno><opErrstr>%s</opErrstr></cliOutput>", ret, errno, text)}
}

type read struct {
	Verdict Verdict
	Class   Class
	Reason  Reason
	Phase   Phase
	Host    string
}

// quoted are answers that were not captured; their words are those of
// gluster-facts C, of the sources at v10.3 and of its binaries.
var quoted = map[string]struct {
	reason string
	argv   []string
	out    Output
	want   read
}{
	"ProbeVolumeClash": {
		reason: "A volume of the same name on the other server is for a person to rename.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(-1, 4, "At least one volume on s4 conflicts with existing volumes in the cluster"),
		want:   read{Term, Permanent, ReasonPeerVolumeClash, PhaseNone, ""},
	},
	"ProbeForgotUs": {
		reason: "The other server has a peers file without us: a repair.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(-1, 6, "s4 responded with 'unknown peer' error, this could happen if s4 doesn't have localhost in its peer database"),
		want:   read{Need, Permanent, ReasonPeerForgotUs, PhaseNone, ""},
	},
	"ProbeNotAdded": {
		reason: "Nothing changed.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(-1, 7, "Failed to add peer information on s4"),
		want:   read{Retry, Transient, ReasonPeerNotAdded, PhaseNone, ""},
	},
	"ProbeMissedSnapshots": {
		reason: "Snapshots are for a person.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(-1, 9, "Failed to update list of missed snapshots from peer s4"),
		want:   read{Term, Permanent, ReasonPeerSnapshots, PhaseNone, ""},
	},
	"ProbeSnapshots": {
		reason: "Snapshots are for a person.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(-1, 10, "Conflict in comparing list of snapshots from peer s4"),
		want:   read{Term, Permanent, ReasonPeerSnapshots, PhaseNone, ""},
	},
	"ProbeDetaching": {
		reason: "opRet 0 is not success when the peer is on its way out.",
		argv:   ArgvPeerProbe("s4"),
		out:    xmlAnswer(0, 11, "Peer is already being detached from cluster.\nCheck peer status by running gluster peer status"),
		want:   read{Retry, Transient, ReasonPeerDetaching, PhaseNone, ""},
	},
	"Mgmtv3Busy": {
		reason: "The words without the errno.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 0, "Another transaction could be in progress. Please try again after some time."),
		want:   read{Retry, Busy, ReasonAnotherTransaction, PhaseNone, ""},
	},
	"LockingFailedOnPeer": {
		reason: "Nothing is staged before all locks are held.",
		argv:   ArgvVolumeSet("v", "user.x", "y"),
		out:    xmlAnswer(-1, 30800, "Locking failed on s3. Please check log file for details."),
		want:   read{Retry, Busy, ReasonAnotherTransaction, PhaseLock, "s3"},
	},
	"OldClient": {
		reason: "A client has to be upgraded.",
		argv:   ArgvVolumeSet("v", "features.shard", "on"),
		out:    xmlAnswer(-1, 30800, "One of the client 10.0.0.9:1021 is running with op-version 30700 and doesn't support the required op-version 31202. This client needs to be upgraded or disconnected before running this command again"),
		want:   read{Need, Permanent, ReasonClientsTooOld, PhaseNone, ""},
	},
	"OldClientRebalance": {
		reason: "Starting would lose data.",
		argv:   ArgvRebalanceStart("v"),
		out:    xmlAnswer(-1, 30800, "Volume v has one or more connected clients of a version lower than GlusterFS-v3.6.0. Starting rebalance in this state could lead to data loss."),
		want:   read{Need, Permanent, ReasonClientsTooOld, PhaseNone, ""},
	},
	"VolumeExists": {
		reason: "The probe tells whether it is ours.",
		argv:   ArgvVolumeCreate(CreateSpec{Name: "v"}),
		out:    xmlAnswer(-1, 30800, "Volume v already exists"),
		want:   read{Done, Transient, ReasonVolumeExists, PhaseNone, ""},
	},
	"HostUnknown": {
		reason: "A name that does not resolve now may later.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 30800, "Failed to find host gluster-4.example.org"),
		want:   read{Need, Transient, ReasonHostUnknown, PhaseNone, "gluster-4.example.org"},
	},
	"NoXattr": {
		reason: "The wrong kind of file system.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 30800, "Glusterfs is not supported on brick: s1:/b/x.\nSetting extended attributes failed, reason: Operation not supported."),
		want:   read{Term, Permanent, ReasonBrickNoXattr, PhaseNone, "s1"},
	},
	"VolumeFiles": {
		reason: "LAB-17: leftovers in vols/V.",
		argv:   ArgvVolumeCreate(CreateSpec{Name: "v"}),
		out:    xmlAnswer(-1, 30800, "Failed to create volume files"),
		want:   read{Term, Permanent, ReasonVolumeFiles, PhaseNone, ""},
	},
	"ArbiterReplica": {
		reason: "The layout of a volume stays.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 0, "Increasing replica count for arbiter volumes is not supported."),
		want:   read{Term, Permanent, ReasonArbiterReplica, PhaseNone, ""},
	},
	"StoppedReplicaUp": {
		reason: "A started volume is needed.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 0, " Volume must not be in stopped state when replica-count needs to  be increased."),
		want:   read{Need, Permanent, ReasonVolumeNotStarted, PhaseNone, ""},
	},
	"BrickDownReplicaUp": {
		reason: "The brick has to be up first.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 0, "Brick /b/x is down, changing replica count needs all the bricks to be up to avoid data loss"),
		want:   read{Need, Transient, ReasonBrickDown, PhaseNone, ""},
	},
	"DeleteWithSnapshots": {
		reason: "Snapshots are for a person.",
		argv:   ArgvVolumeDelete("v"),
		out:    xmlAnswer(-1, 30800, "Cannot delete Volume v ,as it has 2 snapshots. To delete the volume, first delete all the snapshots under it."),
		want:   read{Need, Permanent, ReasonVolumeSnapshots, PhaseNone, ""},
	},
	"RebalanceNotBegun": {
		reason: "The process did not come up.",
		argv:   ArgvRebalanceStart("v"),
		out:    xmlAnswer(-1, 30800, "failed to start the rebalance"),
		want:   read{Retry, Transient, ReasonRebalanceNotBegun, PhaseNone, ""},
	},
	"CommitFailedOnPeer": {
		reason: "LAB-4: all may have applied it.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 30800, "Commit failed on gluster-2.example.org. Please check log file for details."),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhaseCommit, "gluster-2.example.org"},
	},
	"PostValidation": {
		reason: "LAB-2: it is applied everywhere.",
		argv:   ArgvVolumeStart("v", false),
		out:    xmlAnswer(-1, 30800, "Post Validation failed on n4"),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhasePost, "n4"},
	},
	"PostCommit": {
		reason: "Committed before.",
		argv:   ArgvVolumeStart("v", false),
		out:    xmlAnswer(-1, 30800, "Post commit failed on localhost. Please check log file for details."),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhasePost, "localhost"},
	},
	"BrickOps": {
		reason: "Between staging and commit.",
		argv:   ArgvVolumeStop("v"),
		out:    xmlAnswer(-1, 30800, "Brick ops failed on localhost. Please check log file for details"),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhaseBrickOp, "localhost"},
	},
	"Unlocking": {
		reason: "After the commit.",
		argv:   ArgvVolumeStop("v"),
		out:    xmlAnswer(-1, 30800, "Unlocking failed on s2. Please check log file for details."),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhaseUnlock, "s2"},
	},
	"PreValidationLocal": {
		reason: "Nothing is committed, but why is in the log only.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 30800, "Pre-validation failed on localhost. Please check log file for details"),
		want:   read{Retry, Transient, ReasonUnrecognized, PhaseStage, "localhost"},
	},
	"SeveralServersWorstCounts": {
		reason: "One server that may have committed outweighs one that surely did not.",
		argv:   ArgvAddBrick("v", nil),
		out:    xmlAnswer(-1, 30800, "Locking failed on s2. Please check log file for details.\nCommit failed on s3. Please check log file for details."),
		want:   read{Unknown, Uncertain, ReasonHalfApplied, PhaseCommit, "s3"},
	},
	"EmptyText": {
		reason: "opRet without a word can mean anything.",
		argv:   ArgvVolumeStop("v"),
		out:    xmlAnswer(-1, 0, ""),
		want:   read{Unknown, Uncertain, ReasonUnrecognized, PhaseNone, ""},
	},
	"OperationFailed": {
		reason: "Nor does this say anything.",
		argv:   ArgvVolumeStop("v"),
		out:    xmlAnswer(-1, 30800, "Operation failed"),
		want:   read{Unknown, Uncertain, ReasonUnrecognized, PhaseNone, ""},
	},
	"ReadNeverUnknown": {
		reason: "A read that failed changed nothing.",
		argv:   ArgvVolumeStatus("v"),
		out:    xmlAnswer(-1, 30800, "Commit failed on s2. Please check log file for details."),
		want:   read{Retry, Transient, ReasonHalfApplied, PhaseCommit, "s2"},
	},
	"CutXML": {
		reason: "glusterd died while the answer was printed.",
		argv:   ArgvVolumeStop("v"),
		out:    Output{Stdout: []byte("<?xml version=\"1.0\"?><cliOutput><opRet>0</opRet>")},
		want:   read{Unknown, Uncertain, ReasonBadOutput, PhaseSend, ""},
	},
	"NoOutput": {
		reason: "The command was killed.",
		argv:   ArgvVolumeStop("v"),
		out:    Output{Exit: 137},
		want:   read{Unknown, Uncertain, ReasonBadOutput, PhaseSend, ""},
	},
	"CleanXMLBadExit": {
		reason: "Clean needs exit 0 and opRet 0 (F3).",
		argv:   ArgvVolumeStop("v"),
		out:    Output{Exit: 1, Stdout: xmlAnswer(0, 0, "").Stdout},
		want:   read{Unknown, Uncertain, ReasonUnrecognized, PhaseNone, ""},
	},
	"Deadline": {
		reason: "Its effect may come later.",
		argv:   ArgvVolumeStop("v"),
		out:    Output{TimedOut: true, Exit: 137},
		want:   read{Unknown, Uncertain, ReasonTimedOut, PhaseSend, ""},
	},
	"TooMuch": {
		reason: "Half an answer is none.",
		argv:   ArgvVolumeInfo(""),
		out:    Output{Truncated: true, Stdout: xmlAnswer(0, 0, "").Stdout},
		want:   read{Retry, Transient, ReasonCutOutput, PhaseSend, ""},
	},
}

func TestQuotedAnswers(t *testing.T) {
	for name, tc := range quoted {
		t.Run(name, func(t *testing.T) {
			_, err := parse(Command{Argv: tc.argv, Mutates: !isRead(tc.argv)}, tc.out)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%s\nread as clean: %v", tc.reason, err)
			}
			got := read{e.Verdict, e.Class, e.Reason, e.Phase, e.Host}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEveryRowIsReached finds rows that no captured or quoted answer reaches:
// they would be guesses, or hidden by one above them.
func TestEveryRowIsReached(t *testing.T) {
	var errs []*Error
	add := func(argv []string, out Output) {
		_, err := parse(Command{Argv: argv, Mutates: !isRead(argv)}, out)
		if e, ok := errors.AsType[*Error](err); ok {
			errs = append(errs, e)
		}
	}
	for _, a := range loadAnswers(t) {
		add(a.argv, a.out)
	}
	for _, q := range quoted {
		add(q.argv, q.out)
	}
	firstOf := func(table []row, e *Error) int {
		for i, r := range table {
			if _, ok := r.match(e); ok {
				return i
			}
		}
		return -1
	}
	for name, table := range map[string][]row{"class": classTable, "plain": plainTable} {
		reached := map[int]bool{}
		for _, e := range errs {
			if (e.Phase == PhaseSend) == (name == "plain") {
				reached[firstOf(table, e)] = true
			}
		}
		for i, r := range table {
			if !reached[i] {
				t.Errorf("%s table: no answer reaches row %d (%q %q)", name, i, r.verbs, r.text)
			}
		}
	}
}

// TestVerdictAndClassAgree: a verdict allows some classes only.
func TestVerdictAndClassAgree(t *testing.T) {
	allowed := map[Verdict][]Class{
		Done: {Transient}, Retry: {Transient, Busy}, Unknown: {Uncertain}, Need: {Transient, Permanent}, Term: {Permanent},
	}
	for _, r := range append(append([]row{}, plainTable...), classTable...) {
		ok := false
		for _, c := range allowed[r.verdict] {
			ok = ok || c == r.class
		}
		if !ok {
			t.Errorf("row %q: %s does not go with %s", r.text, r.verdict, r.class)
		}
		if r.reason == "" {
			t.Errorf("row %q has no reason", r.text)
		}
	}
}

func TestMatchPattern(t *testing.T) {
	cases := map[string]struct {
		reason, pattern, text, host string
		ok                          bool
	}{
		"Literal":       {"The whole text.", "Operation failed", "Operation failed", "", true},
		"LiteralMore":   {"More words do not match.", "Operation failed", "Operation failed now", "", false},
		"Star":          {"Any words.", "Volume * exists", "Volume a b exists", "", true},
		"StarEnd":       {"The last literal ends the text.", "a * b", "a b b b", "", true},
		"StarEndMissed": {"It must.", "a * b", "a b b c", "", false},
		"OpenEnd":       {"A star at the end takes the rest, or nothing.", "a*", "a", "", true},
		"Host":          {"Up to a blank.", "Host {host} not connected", "Host s3.example.org not connected", "s3.example.org", true},
		"HostOfBrick":   {"Up to a colon.", "brick {host}:/*", "brick s3:/b/c", "s3", true},
		"NoHost":        {"A host is not nothing.", "brick {host}:/*", "brick :/b/c", "", false},
		"Overlap":       {"Literals do not share letters.", "ab*ba", "aba", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			host, ok := matchPattern(tc.pattern, tc.text)
			if ok != tc.ok || ok && host != tc.host {
				t.Errorf("%s matchPattern(%q, %q) = %q, %v; want %q, %v", tc.reason, tc.pattern, tc.text, host, ok, tc.host, tc.ok)
			}
		})
	}
}
