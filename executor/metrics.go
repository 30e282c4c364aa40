package executor

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the executor. Kinds and steps are few and known, so the labels are
// bounded.
type Metrics struct {
	OpsEnded    *prometheus.CounterVec   // kind, state
	OpsOpen     *prometheus.GaugeVec     // state
	OpSeconds   *prometheus.HistogramVec // kind
	StepSeconds *prometheus.HistogramVec // step: from intent to outcome
	StepErrors  *prometheus.CounterVec   // step, class
	Unknown     prometheus.Gauge         // steps whose outcome is not known now
	Fenced      prometheus.Counter       // times another operator was met
}

// NewMetrics makes the series; Register adds them to a registry.
func NewMetrics() *Metrics {
	buckets := []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}
	return &Metrics{
		OpsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anthill_operations_ended_total",
			Help: "Operations that ended, by kind and final state."}, []string{"kind", "state"}),
		OpsOpen: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anthill_operations_open",
			Help: "Operations that have not ended, by state."}, []string{"state"}),
		OpSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "anthill_operation_duration_seconds",
			Help: "From plan to end, by kind.", Buckets: buckets}, []string{"kind"}),
		StepSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "anthill_step_duration_seconds",
			Help: "From intent to outcome, by step.", Buckets: buckets}, []string{"step"}),
		StepErrors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anthill_step_errors_total",
			Help: "Errors of steps, by step and class."}, []string{"step", "class"}),
		Unknown: prometheus.NewGauge(prometheus.GaugeOpts{Name: "anthill_steps_unknown",
			Help: "Steps whose outcome is not known now."}),
		Fenced: prometheus.NewCounter(prometheus.CounterOpts{Name: "anthill_fenced_total",
			Help: "Times an effect was refused because another operator owns the pool."}),
	}
}

// Register adds the series to r and makes those that always exist start at zero.
func (m *Metrics) Register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.OpsEnded, m.OpsOpen, m.OpSeconds, m.StepSeconds, m.StepErrors, m.Unknown, m.Fenced} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	for _, s := range []string{"planned", "running", "suspended", "cancelling"} {
		m.OpsOpen.WithLabelValues(s)
	}
	return nil
}
