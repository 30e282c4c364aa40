package procedure

// A Status says whether a goal holds.
type Status string

// The states of a goal.
const (
	True    Status = "True"    // it holds, and nothing has to change
	False   Status = "False"   // it does not, or something was asked for to make it hold
	Unknown Status = "Unknown" // it could not be told
)

// An Outcome is what an Action found. O is what it hands back to make its goal
// hold, for example an operation.
type Outcome[O any] struct {
	Status  Status
	Message string // one line, without times
	// Changes would make the goal hold, in the order they are to happen. An
	// outcome with changes is never True: a True says that nothing was changed.
	Changes []O
}

// An Action is one goal over a state S. It is used by pointer: the same pointer
// is the same goal. Fields are not to be changed once it is part of a Procedure.
type Action[S, O any] struct {
	// Name is unique within a procedure; it appears in status and logs.
	Name string
	// Requires are goals that must hold first, looked at in this order. They
	// need not be listed in the procedure themselves.
	Requires []*Action[S, O]
	// Evaluate looks at the state. An error means that it could not look; the
	// goal is then Unknown and changes are dropped. It must not change the state
	// in a way another Action can see.
	Evaluate func(S) (Outcome[O], error)
}

// A Result is what became of one Action in one cycle.
type Result struct {
	Name    string
	Status  Status
	Message string
	// Unmet names the requirement that kept the Action from running.
	Unmet string
	// Err is the Action's own error, never that of a requirement.
	Err error
}
