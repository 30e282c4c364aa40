package local

// Note returns what a package that builds on this one noted, or nothing.
func (e *Env) Note(name string) string { return e.load().Notes[name] }

// SetNote keeps a value for a package that builds on this one, as long as the
// environment lives.
func (e *Env) SetNote(name, value string) error {
	return e.change(func(s *state) error {
		if s.Notes == nil {
			s.Notes = map[string]string{}
		}
		s.Notes[name] = value
		return nil
	})
}
