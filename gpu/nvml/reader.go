//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"sonde/gpu"
)

// Built reports whether this build can load the driver's library.
const Built = true

const (
	// enumerateEvery finds GPUs that came or went, and retries what was refused.
	enumerateEvery = time.Minute
	// enumerateAfterLoss looks sooner whether a lost GPU came back.
	enumerateAfterLoss = 10 * time.Second
)

// Reader reads all GPUs of this machine. One goroutine owns it and the
// library: NVML calls that hang must never pile up.
type Reader struct {
	driver     driver
	interval   time.Duration
	hostMemory HostMemory

	units         []*unit
	listed        int // GPUs at the last enumeration
	nextEnumerate time.Time
}

// Open reads this machine's GPUs through NVML; its error is a sentence for people.
func Open(interval time.Duration) (*Reader, error) { return open(&library{}, interval) }

func open(d driver, interval time.Duration) (*Reader, error) {
	if c := d.init(); c != CodeSuccess {
		return nil, c
	}
	n := &Reader{driver: d, interval: interval, hostMemory: SystemMemory}
	if err := n.enumerate(time.Now()); err != nil {
		d.shutdown()
		return nil, err
	}
	return n, nil
}

// Close frees the samples and ends the library.
func (n *Reader) Close() {
	for _, u := range n.units {
		u.free()
	}
	n.driver.shutdown()
}

// Read queries every GPU for everything.
func (n *Reader) Read(context.Context) (gpu.Status, error) {
	now := time.Now()
	if count, c := n.driver.count(); !now.Before(n.nextEnumerate) || c == CodeSuccess && count != n.listed {
		if err := n.enumerate(now); err != nil {
			return gpu.Status{}, err
		}
	}
	st := gpu.Status{Source: gpu.SourceNVML, Period: n.interval, GPUs: make([]gpu.Reading, 0, len(n.units))}
	for _, u := range n.units {
		wasLost := u.lost
		st.GPUs = append(st.GPUs, u.read(n.hostMemory))
		if u.lost && !wasLost {
			n.nextEnumerate = now.Add(enumerateAfterLoss) // indexes may have shifted
		}
	}
	st.At = time.Now()
	return st, nil
}

// enumerate rebuilds the list of devices. A device that is still there keeps its
// GPM samples; what it refused is queried again.
func (n *Reader) enumerate(now time.Time) error {
	count, c := n.driver.count()
	if c != CodeSuccess {
		return c
	}
	if count == 0 {
		return CodeGPUNotFound
	}
	old := n.units
	n.units, n.listed = nil, count
	for i := range count {
		n.addGPU(i, old)
	}
	for _, u := range old {
		if !slices.Contains(n.units, u) {
			u.free()
		}
	}
	n.nextEnumerate = now.Add(enumerateEvery)
	return nil
}

func (n *Reader) addGPU(index int, old []*unit) {
	dev, c := n.driver.device(index)
	if c != CodeSuccess {
		n.units = append(n.units, n.unreachable(index, c, old))
		return
	}
	id, c := n.idOf(dev, index)
	if c.lost() || c == CodeUnknown {
		n.units = append(n.units, n.unreachable(index, c, old))
		return
	}
	parts := instances(dev)
	n.add(old, &unit{driver: n.driver, id: id, index: index, device: dev, hasMIG: len(parts) > 0})
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		n.add(old, &unit{
			driver: n.driver, id: id + "/" + strconv.Itoa(part), parent: id, index: index,
			device: parts[part], whole: dev, instance: part,
		})
	}
}

// add prefers the unit that was already known under the same identity.
func (n *Reader) add(old []*unit, u *unit) {
	for _, known := range old {
		if known.id == u.id && known.hasMIG == u.hasMIG && known.device != nil && !known.lost {
			known.index = u.index
			u = known
			break
		}
	}
	u.begin()
	n.units = append(n.units, u)
}

// unreachable is a row for a GPU whose handle cannot be had; it keeps the
// identity that was seen at this index before.
func (n *Reader) unreachable(index int, c Code, old []*unit) *unit {
	u := &unit{id: hostID(index), index: index, handle: c, lost: c.lost() || c == CodeUnknown}
	for _, known := range old {
		if known.index == index && known.parent == "" {
			u.id, u.name = known.id, known.name
		}
	}
	return u
}

// hostID is the ID of a GPU that has none of its own.
func hostID(index int) string { return HostName() + "/" + strconv.Itoa(index) }

func (n *Reader) idOf(d device, index int) (string, Code) {
	id, c := d.uuid()
	if c == CodeSuccess && id != "" {
		return gpu.Clean(id), c
	}
	return hostID(index), c
}
