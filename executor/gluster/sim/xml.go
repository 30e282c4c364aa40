package sim

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

// A doc writes the CLI's XML: two blanks of indentation, elements on lines.
type doc struct {
	b     strings.Builder
	depth int
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "&#xA;", "\n"), "&#39;", "'")
}

func (d *doc) line(s string) {
	d.b.WriteString(strings.Repeat("  ", d.depth) + s + "\n")
}

// el writes <name>value</name>, or <name/> for an empty value.
func (d *doc) el(name string, value any) {
	v := fmt.Sprint(value)
	if v == "" {
		d.line("<" + name + "/>")
		return
	}
	d.line("<" + name + ">" + escape(v) + "</" + name + ">")
}

// in writes an element with others inside.
func (d *doc) in(name string, body func()) {
	d.line("<" + name + ">")
	d.depth++
	body()
	d.depth--
	tag, _, _ := strings.Cut(name, " ")
	d.line("</" + tag + ">")
}

// reply makes an answer; body adds what follows the status.
func reply(ret, errno int, text string, body func(*doc)) gluster.Output {
	return replyExit(0, ret, errno, text, body)
}

func replyExit(exit, ret, errno int, text string, body func(*doc)) gluster.Output {
	d := &doc{}
	d.line(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
	d.in("cliOutput", func() {
		d.el("opRet", ret)
		d.el("opErrno", errno)
		d.el("opErrstr", text)
		if body != nil {
			body(d)
		}
	})
	return gluster.Output{Exit: exit, Stdout: []byte(d.b.String())}
}

// withOutput adds the name of the operation and its words.
func withOutput(op, text string) func(*doc) {
	return func(d *doc) {
		if op != "" {
			d.el("cliOp", op)
		}
		d.el("output", text)
	}
}

func plain(exit int, text string) gluster.Output {
	return gluster.Output{Exit: exit, Stdout: []byte(text)}
}

func noDaemon() gluster.Output {
	return plain(1, "Connection failed. Please check if gluster daemon is operational.\n")
}

// usage is how the CLI refuses words.
func usage(why string) gluster.Output {
	return gluster.Output{Exit: 1, Stderr: []byte("\n" + why + "\n\nUsage:\nvolume ...\n\n")}
}
