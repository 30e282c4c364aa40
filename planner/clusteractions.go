package planner

// identified: the pool has an id, and its servers know no other.
func (c *cycle) identified() (outcome, error) {
	if p := c.conflict; p != nil {
		return untold("%s", p.message)
	}
	if c.poolID == "" {
		return holds("made with the first server")
	}
	return holds("%s", c.poolID)
}

// joined: all servers that are to stay are members.
func (c *cycle) joined() (outcome, error) {
	var missing []string
	for _, n := range c.nodes {
		if !n.member && !n.deleting() {
			missing = append(missing, n.name())
		}
	}
	if len(missing) > 0 {
		return lacks("not joined: %s", listed(missing))
	}
	return holds("%s", count(len(c.pool.members), "member"))
}

// agree: all members see the same pool, and a majority of them answers.
func (c *cycle) agree() (outcome, error) {
	if p := c.unsafe(); p != nil {
		return lacks("%s", p.message)
	}
	return holds("")
}
