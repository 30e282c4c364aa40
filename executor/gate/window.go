package gate

// A Window is a writer that keeps the first, or with Last the last, Max bytes
// written to it and takes the rest without keeping it. Not for concurrent use.
type Window struct {
	Bytes []byte
	Max   int
	Last  bool
}

func (w *Window) Write(p []byte) (int, error) {
	if !w.Last {
		w.Bytes = append(w.Bytes, p[:min(w.Max-len(w.Bytes), len(p))]...)
		return len(p), nil
	}
	w.Bytes = append(w.Bytes, p...)
	if n := len(w.Bytes) - w.Max; n > 0 {
		w.Bytes = append(w.Bytes[:0], w.Bytes[n:]...)
	}
	return len(p), nil
}
