package panel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sweep"
	"sonde/probe/units"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Title is the top line: what is measured on the left, the state on the right. The right part
// stays whole; the left part is shortened from its end.
func Title(v *View, paused, narrow bool, w int) string {
	right := state(v, paused, narrow)
	left := target(v, w-2-ansi.StringWidth(right))
	fill := max(0, w-1-ansi.StringWidth(left)-ansi.StringWidth(right))
	return text.Pad(left+strings.Repeat(" ", fill)+right, w)
}

// target names the endpoint, the engine, the model and the GPU; on a narrow screen fewer
// of them, the model last.
func target(v *View, room int) string {
	f := v.Frame
	host, engine, model := text.CleanOr(f.Target.Host, units.Unknown), engineName(f), shortModel(f.Engine.Identity.Model)
	if f.Target.Embedded {
		host, engine = "embedded engine", ""
	}
	if f.Engine.Reading.Replica != "" {
		host += " › " + FleetShort(f)
	}
	const name = " sonde  "
	for _, parts := range [][]string{
		{host, engine, model, gpusOf(f)}, {host, engine, model}, {host, model}, {host, engine},
	} {
		s := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
		if len(name)+ansi.StringWidth(s) <= room {
			return v.Theme.Bold.Render(name) + s
		}
	}
	return v.Theme.Bold.Render(name) + text.Clip(host, room-len(name))
}

// engineName is its name with its version: "vLLM 0.11.0".
func engineName(f *frame.Frame) string {
	id := &f.Engine.Identity
	name := text.Clean(id.Name)
	if id.Version != "" && name != "" {
		name += " " + text.Clean(id.Version)
	}
	return name
}

// shortModel is the model's own name, without the owner or the folder before it.
func shortModel(name string) string {
	s := text.Clean(name)
	return s[strings.LastIndexByte(s, '/')+1:]
}

func gpusOf(f *frame.Frame) string {
	gpus := f.GPU.GPUs
	if len(gpus) == 0 {
		return ""
	}
	name := shortGPUName(gpus[0].Name)
	if len(gpus) > 1 {
		return fmt.Sprintf("%d× %s", len(gpus), name)
	}
	return name
}

// state is the activity, the level, and the age of the session.
func state(v *View, paused, narrow bool) string {
	t := v.Theme
	parts := []string{}
	if paused {
		parts = append(parts, t.Warn.Render("PAUSED"))
	}
	if v.Silent > SilentAfter {
		parts = append(parts, t.Warn.Render(theme.SignWarn+" no data for "+units.Span(v.Silent)))
	}
	switch {
	case v.Playback != nil:
		parts = append(parts, playing(v, narrow))
	case v.Sweep.State == sweep.Running:
		parts = append(parts, dot(v, "")+sweeping(t, &v.Sweep, narrow))
	default:
		parts = append(parts, activity(v, narrow))
	}
	if v.Frame.Load.Level > 0 && !v.Frame.Load.Watch {
		parts = append(parts, levelState(v, narrow))
	}
	if back, on := v.cursorBack(); on {
		parts = append(parts, t.Accent.Render(cursorTime(v, back, narrow)))
	}
	at := units.Clock(v.Frame.At)
	if v.Playback != nil {
		at += "/" + units.Clock(v.Playback.Last)
	}
	return strings.Join(append(parts, at), "  ") + " "
}

// levelState says whether the level's numbers can be trusted; without load nothing can
// settle.
func levelState(v *View, narrow bool) string {
	l := &v.Frame.Load
	name := fmt.Sprintf("level %d · ", l.Level)
	if narrow {
		name = fmt.Sprintf("L%d ", l.Level)
	}
	switch {
	case v.unserved() > 0:
		return name + v.Theme.Bad.Render("unserved")
	case l.Settled:
		return name + "settled "
	case v.Requested.Concurrency == 0:
		return name + "no load "
	case v.Requested.Trace != "":
		return name + v.Theme.Dim.Render("trace   ")
	case l.Moving():
		return name + v.Theme.Dim.Render("ramp    ")
	}
	return name + v.Theme.Dim.Render("settling")
}

func activity(v *View, narrow bool) string {
	t := v.Theme
	switch c := &v.Frame.Client; {
	case !v.Have:
		return t.Dim.Render("○ starting")
	case v.Frame.Load.Watch:
		return dot(v, "") + t.Accent.Render("WATCH ") + engineDoes(v, narrow)
	case v.Requested.Concurrency > 0:
		return dot(v, "probing")
	case v.beforeLoad():
		return t.Note.Render("◌ " + stages[v.Frame.Load.Stage].word)
	case c.InFlight > 0:
		return t.Warn.Render("◐ draining")
	}
	return t.Dim.Render("○ idle")
}

// dot is a word behind the sign of the strongest verdict, in its colour.
func dot(v *View, word string) string {
	sign, style := VerdictSign(v.Theme, v.Verdict().Severity)
	if v.Verdict().Severity == diagnose.Unknown {
		sign = "○"
	}
	return style.Render(sign + " " + word)
}

// engineDoes is what the engine has to do for all its clients: the state of a session that
// sends nothing.
func engineDoes(v *View, narrow bool) string {
	r, ok := v.Frame.FreshEngine()
	if !ok || !r.Running.OK && !r.Waiting.OK {
		return v.Theme.Dim.Render("no engine metrics")
	}
	running, waiting := " running, ", " waiting"
	if narrow {
		running, waiting = " run, ", " wait"
	}
	return units.Known(r.Running, units.Tally) + running + units.Known(r.Waiting, units.Tally) + waiting
}

// playing is the state of the playback.
func playing(v *View, narrow bool) string {
	t, s := v.Theme, v.Playback
	switch {
	case s.Ended && narrow:
		return t.Warn.Render("END")
	case s.Ended:
		return t.Warn.Render("end of recording")
	case s.Paused:
		return t.Warn.Render("PAUSED")
	case s.Seeking:
		return t.Dim.Render("○ seeking")
	case s.Speed != 1:
		return dot(v, "replay "+strconv.FormatFloat(s.Speed, 'g', 3, 64)+"×")
	}
	return dot(v, "replay")
}

// sweeping is the progress of a sweep.
func sweeping(t *theme.Palette, s *sweep.Status, narrow bool) string {
	about := ""
	if s.Guess {
		about = "~"
	}
	progress := fmt.Sprintf("⟳ sweep %d/%s%d", s.Level, about, s.Level+s.More)
	if !narrow {
		progress += ", " + s.Remaining() + " left"
	}
	return t.Accent.Render(progress)
}

// stages are what happens before the load: a short form, and the reason why there are no
// figures.
var stages = map[frame.Stage]struct{ word, why string }{
	frame.StageConnecting: {"connecting", "connecting to the server"},
	frame.StageLoading:    {"loading model", "the server is loading its model; the load starts when it is ready"},
	frame.StageWorkers:    {"waiting for workers", "the load starts when enough workers have joined: sonde worker, with the same --nats and --run"},
	frame.StageFitting:    {"fitting prompt", "fitting the prompt length; the load starts after that"},
}
