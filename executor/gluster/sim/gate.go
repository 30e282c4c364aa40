package sim

type gateState struct {
	Installed bool
	Running   string
}
