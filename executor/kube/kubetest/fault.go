package kubetest

import "sigs.k8s.io/controller-runtime/pkg/client"

// A Fault is what happens to calls of the API server.
type Fault struct {
	Verb string // "get", "create", "update", "delete"
	Kind string // "Pod"; empty: any
	Err  error  // what the caller is told
	// Lost: the call has its effect all the same.
	Lost bool
	// Before is called before the call, for example to change the object. Err may
	// be nil then.
	Before func()
	Times  int // how often; 0: once
}

// Fail adds a fault.
func (c *Cluster) Fail(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	c.faults = append(c.faults, &f)
}

// fault finds the fault of a call and uses it up.
func (c *Cluster) fault(verb string, o client.Object) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		if f.Times > 0 && f.Verb == verb && (f.Kind == "" || f.Kind == c.kind(o)) {
			f.Times--
			return f
		}
	}
	return nil
}

func (c *Cluster) call(verb string, o client.Object, do func() error) error {
	f := c.fault(verb, o)
	if f != nil && f.Before != nil {
		f.Before()
	}
	if f != nil && f.Err != nil && !f.Lost {
		return f.Err
	}
	err := do()
	if err == nil {
		c.mu.Lock()
		c.effects = append(c.effects, verb+" "+c.kind(o)+" "+o.GetName())
		c.mu.Unlock()
	}
	if f != nil && f.Lost {
		return f.Err
	}
	return err
}
