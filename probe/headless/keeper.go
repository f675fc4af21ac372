package headless

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sonde/probe"
)

// Keeper follows a live session and holds the Summary of the load that is on
// now: it begins anew when the load is changed or the statistics are reset. The
// Summaries of the loads before it stay, as long as requests ended at them.
type Keeper struct {
	mu     sync.Mutex
	acc    *Accumulator
	before []Summary // oldest first
	level  int
	plan   Plan
	url    string
	host   string
}

// levelsKept bounds what stays of a long session.
const levelsKept = 8

// NewKeeper makes a Keeper. Of the plan only what a Frame does not tell counts:
// live, nothing ends by itself.
func NewKeeper(plan Plan) *Keeper {
	plan.Requests, plan.Duration, plan.WarmupRequests, plan.WarmupFor = 0, 0, 0, 0
	return &Keeper{plan: plan, acc: NewAccumulator(plan)}
}

// Add takes the next Frame.
func (k *Keeper) Add(f *probe.Frame) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f.Load.Level != k.level || wasReset(f) {
		k.before = k.levels()
		plan := k.plan
		plan.Load = f.Load.Asked
		k.acc, k.level = NewAccumulator(plan), f.Load.Level
	}
	k.host, k.url = f.Target.Host, f.Target.URL
	k.acc.Add(f)
}

func wasReset(f *probe.Frame) bool {
	for _, e := range f.Events {
		if e.Kind == probe.EventReset {
			return true
		}
	}
	return false
}

// Summary is the outcome at the present load so far, or at the one before if
// nothing has ended since.
func (k *Keeper) Summary() Summary {
	k.mu.Lock()
	defer k.mu.Unlock()
	if levels := k.levels(); len(levels) > 0 {
		return levels[len(levels)-1]
	}
	return k.acc.Summary()
}

// levels are the Summaries of all loads at which requests ended, the present one
// last.
func (k *Keeper) levels() []Summary {
	levels := k.before
	if k.acc.hasResults() {
		levels = append(levels[:len(levels):len(levels)], k.acc.Summary())
	}
	return levels[max(0, len(levels)-levelsKept):]
}

// WriteBrief writes the few lines that stay on the terminal after the live
// screen has closed: one for each load.
func (k *Keeper) WriteBrief(w io.Writer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return writeBrief(w, k.url, k.levels())
}

// Save writes the Summary as JSON into a new file of the folder, and a picture
// of the screen beside it, and returns the name that both share with their
// endings. It never overwrites.
func (k *Keeper) Save(dir string, now time.Time, svg string) (string, error) {
	s := k.Summary()
	k.mu.Lock()
	stem := filepath.Join(dir, fmt.Sprintf("sonde-%s-%s", fileName(k.host), now.Format("20060102-150405")))
	k.mu.Unlock()
	for n := 1; ; n++ {
		path := stem
		if n > 1 {
			path = fmt.Sprintf("%s-%d", stem, n)
		}
		err := create(path+".json", s.WriteJSON)
		if os.IsExist(err) {
			continue
		}
		if err == nil {
			err = create(path+".svg", text(svg))
		}
		return path + ".json, .svg", err
	}
}
