package frame

import "time"

// Playback is the way from a reader of a recording's Frames back to their source,
// as Controls is that of a live session. Every method returns at once.
type Playback interface {
	// Pause stops the playback where it is, or lets it go on.
	Pause(on bool)
	// Jump moves by so much time of the recording; beyond its ends it stops there.
	Jump(by time.Duration)
	// SetSpeed is how many seconds of the recording pass in one second. Values out
	// of range are brought into range.
	SetSpeed(times float64)
	// State reports where the playback is.
	State() PlaybackState
}

// PlaybackState is where a playback is.
type PlaybackState struct {
	At      time.Duration // of the newest Frame that was handed out, since the session began
	Last    time.Duration // of the last Frame of the recording
	Speed   float64
	Paused  bool
	Seeking bool  // after a jump, Frames that lead up to its goal are still being read
	Ended   bool  // there is nothing after the newest Frame
	Err     error // why the rest cannot be read; nil if it can
	// Epoch counts the jumps that make Frames begin anew: those that were handed
	// out before no longer precede the next ones, and have to be fetched with Since(0).
	Epoch int
}
