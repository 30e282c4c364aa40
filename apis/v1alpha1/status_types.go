package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MessageRunesMax bounds every message in status: of conditions, actions,
// operations and brick directories. Writers cut with Bounded.
const MessageRunesMax = 1024

// OptionValue is the value of a gluster option, as `gluster volume get` would
// print it.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
type OptionValue string

// ReconcileAction is the result of one action of the procedure in the last
// cycle.
type ReconcileAction struct {
	// name of the action, for example `nodesJoined`.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name"`

	// status is True if the goal already held in this cycle and nothing was
	// asked for, False if it did not hold, Unknown if that could not be
	// determined, which includes that a prerequisite is not met.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status metav1.ConditionStatus `json:"status"`

	// message says what is missing, or which prerequisite is not met.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// OperationState is where an operation stands.
//
// +kubebuilder:validation:Enum=Planned;Running;Suspended;Cancelling
type OperationState string

// The states of an open operation.
const (
	// OperationPlanned: in the journal, nothing has happened yet.
	OperationPlanned OperationState = "Planned"
	// OperationRunning: it holds its locks and goes on step by step.
	OperationRunning OperationState = "Running"
	// OperationSuspended: parked with a cause; a person decides.
	OperationSuspended OperationState = "Suspended"
	// OperationCancelling: it stops where it safely can.
	OperationCancelling OperationState = "Cancelling"
)

// CurrentOperation is a glance at the journal, which holds the whole story:
// `anthill journal show <id>`.
type CurrentOperation struct {
	// id of the operation in the journal.
	// +required
	// +kubebuilder:validation:Format=uuid
	// +kubebuilder:validation:MaxLength=36
	ID string `json:"id"`

	// kind of the operation, for example `add-brick`.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// target is what it changes, for example `volume/v1`.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Target string `json:"target"`

	// state of the operation.
	// +required
	State OperationState `json:"state"`

	// step is the first step that is not done yet, for example `rebalance`.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Step string `json:"step,omitempty"`

	// since is when the operation was started, or planned if it has not been
	// started.
	// +required
	Since metav1.Time `json:"since"`

	// message says why it is suspended and what to type next; empty otherwise.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
