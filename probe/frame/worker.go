package frame

import "time"

// Worker is another process that sends a share of the load.
type Worker struct {
	Name        string        `json:"name"`
	State       WorkerState   `json:"state"`
	Why         string        `json:"why,omitempty"`       // why it failed
	Streams     int           `json:"streams"`             // in flight
	Begun       int64         `json:"sent"`                // requests since it joined
	OutTokens   int64         `json:"output_tokens"`       // since it joined
	OutPerS     float64       `json:"output_tokens_per_s"` // over about the last second
	Health      Health        `json:"health"`
	ClockWithin time.Duration `json:"clock_within_ms"` // how far that may be off
}

// Takes reports whether the worker has a share of the load.
func (w *Worker) Takes() bool { return w.State == WorkerReady || w.State == WorkerLate }

// WorkerState is how a worker is.
type WorkerState int

// States of a worker.
const (
	WorkerWaiting WorkerState = iota // it connects
	WorkerReady
	WorkerLate // its reports come late
	WorkerLost // it is silent or has left: its share has gone to the others
	WorkerFailed
)

func (s WorkerState) String() string {
	return [...]string{"connecting", "ready", "late", "lost", "failed"}[s]
}
