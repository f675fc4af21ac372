package smi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sonde/gpu/tool"
	"sonde/probe/guard"
	"sonde/probe/opt"
)

// dmonArgs make nvidia-smi print the GPU's performance counters (GPM) every second:
// SM activity, SM occupancy, tensor activity, DRAM bandwidth, PCIe and NVLink.
// Drivers before R525 refuse them.
var dmonArgs = []string{"dmon", "-s", "p", "--gpm-metrics", "2,3,5,10,20,21,60,61", "-d", "1"}

const (
	// dmonPrefix marks the columns of dmon among the names of a Reading's quantities.
	dmonPrefix = "dmon "
	// countersFresh is how long a row of dmon is taken for now.
	countersFresh = 5 * time.Second
	// countersPatience is how many rows of a GPU may be without a counter: the first ones
	// always are. Then nobody asks again.
	countersPatience = 5
	// countersWait is how long the first reading waits for them.
	countersWait = 2500 * time.Millisecond
	// countersPause is the wait after dmon ended.
	countersPause = 5 * time.Second
)

// counters keeps the newest row of dmon for each GPU.
type counters struct {
	mu      sync.Mutex
	columns []string
	rows    map[int]counterRow
	blank   int  // rows since the start, without any counter
	had     bool // a counter at some time

	known chan struct{} // closed once it is known whether there are counters
	once  sync.Once     // closes it
}

type counterRow struct {
	at    time.Time
	cells []string
}

func newCounters() *counters {
	return &counters{rows: map[int]counterRow{}, known: make(chan struct{})}
}

func (c *counters) settle() { c.once.Do(func() { close(c.known) }) }

// await waits for the first counters, so that no reading says that there are none before.
func (c *counters) await(ctx context.Context) {
	late := time.NewTimer(countersWait)
	defer late.Stop()
	select {
	case <-c.known:
	case <-late.C:
	case <-ctx.Done():
	}
}

// follow runs dmon until the context ends or it turns out that there are no counters.
func (c *counters) follow(ctx context.Context, m tool.Machine) {
	guard.Go("GPU counters", func(error) {}, func() {
		for ctx.Err() == nil {
			c.run(ctx, m)
			c.settle()
			if !c.useful() {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(countersPause):
			}
		}
	})
}

func (c *counters) run(ctx context.Context, m tool.Machine) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.Follow(ctx, func(line string) {
		if c.take(line); c.hopeless() {
			cancel()
		}
	}, program, dmonArgs...)
}

// take reads a line: column names, units, or the values of one GPU.
func (c *counters) take(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cells := strings.Fields(line)
	if names, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
		if names := strings.Fields(names); slices.Contains(names, "gpu") {
			c.columns = names
		}
		return
	}
	if len(cells) == 0 || len(cells) != len(c.columns) {
		return
	}
	index, err := strconv.Atoi(cells[slices.Index(c.columns, "gpu")])
	if err != nil || index < 0 {
		return
	}
	c.rows[index] = counterRow{time.Now(), cells}
	if c.value(index, "smutil").OK || c.value(index, "dram").OK {
		c.had = true
		c.settle()
	} else {
		c.blank++
	}
}

// value is the newest value of a column; the caller holds the lock.
func (c *counters) value(index int, column string) opt.Float {
	row, ok := c.rows[index]
	at := slices.Index(c.columns, column)
	if !ok || at < 0 || at >= len(row.cells) || time.Since(row.at) > countersFresh {
		return opt.Float{}
	}
	return numberValue(row.cells[at])
}

func (c *counters) get(index int, column string) opt.Float {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value(index, column)
}

func (c *counters) useful() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.had
}

// hopeless reports that every GPU has had its chance and none has counters.
func (c *counters) hopeless() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.had && c.blank >= countersPatience*max(1, len(c.rows))
}
