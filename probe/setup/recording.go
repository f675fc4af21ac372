package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sonde/config"
	"sonde/probe/bench"
	"sonde/probe/level"
	"sonde/probe/record"
	"sonde/probe/replay"
	"sonde/probe/slo"
)

// recorded holds the settings in the header of a recording.
type recorded struct {
	SLO []string `json:"slo"`
}

// settingsOf is that part of the header.
func settingsOf(slos []slo.Target) json.RawMessage {
	settings := recorded{SLO: []string{}}
	for _, s := range slos {
		settings.SLO = append(settings.SLO, s.Text)
	}
	raw, _ := json.Marshal(settings) // texts cannot fail
	return raw
}

// Recording is a recording that plays.
type Recording struct {
	Player *replay.Player
	SLOs   []slo.Target // requested, or else those of its session

	path string
	file *record.File
	done <-chan struct{}
	stop context.CancelFunc
}

// OpenRecording starts to play a recording. An unusable file is a usage error.
func OpenRecording(ctx context.Context, c config.Config) (*Recording, error) {
	if c.Replay.File == "" {
		return nil, Usage(errors.New("no recording given: sonde replay run.jsonl (written by --record run.jsonl)"))
	}
	file, err := record.Open(c.Replay.File)
	if err != nil {
		return nil, Usage(err)
	}
	if _, last := file.Span(); c.Replay.At > last {
		file.Close()
		return nil, Usage(fmt.Errorf("--at %s: the recording ends at %s", c.Replay.At, last.Round(time.Second)))
	}
	r := &Recording{path: c.Replay.File, file: file, SLOs: c.Replay.SLO}
	if len(r.SLOs) == 0 {
		r.SLOs = recordedSLOs(file)
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.Player, r.done = replay.Play(ctx, file, c.Replay.At, c.Replay.Speed)
	return r, nil
}

// recordedSLOs are those of the session that was recorded.
func recordedSLOs(file *record.File) (all []slo.Target) {
	var saved recorded
	if json.Unmarshal(file.Header().Plan, &saved) != nil {
		return nil
	}
	for _, text := range saved.SLO { // an unreadable one is from another version
		if s, err := slo.Parse(text); err == nil {
			all = append(all, s...)
		}
	}
	return all
}

// Levels are those of the whole recording, whatever part plays now.
func (r *Recording) Levels(ctx context.Context) (bench.SweepOutcome, error) {
	file, err := record.Open(r.path)
	if err != nil {
		return bench.SweepOutcome{}, err
	}
	defer file.Close()
	return levelsOf(ctx, file, r.SLOs)
}

// levelsOf reads the whole file, or up to what is damaged at its end.
func levelsOf(ctx context.Context, file *record.File, slos []slo.Target) (bench.SweepOutcome, error) {
	levels := level.NewBook(slos)
	keeper := bench.NewKeeper(bench.Plan{Seed: file.Header().Seed, SLOs: slos}, levels, levels.Add)
	if err := eachFrame(ctx, file, keeper.Add); err != nil {
		return bench.SweepOutcome{}, err
	}
	return keeper.Sweep(), nil
}

// Close ends the playback.
func (r *Recording) Close() {
	r.stop()
	<-r.done
	r.file.Close()
}
