// Package nvml reads this machine's GPUs through the driver's library, libnvidia-ml. The
// binding is behind the interfaces driver and device: they run against fakes, and the
// package builds without cgo.
package nvml

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"sonde/gpu"
)

// driver is the part of NVML that is used.
type driver interface {
	init() Code
	shutdown()
	count() (int, Code)
	device(index int) (device, Code)
}

// device is one GPU or one MIG instance.
type device interface {
	name() (string, Code)
	uuid() (string, Code)
	value(name string) (uint32, Code) // in the driver's unit
	memory() (memory, Code)
	gpm() (gpmBuffers, Code)
	instances() []migInstance // occupied MIG slots, empty without MIG
}

// memory is in bytes.
type memory struct{ used, total uint64 }

type migInstance struct {
	gpuInstance int // id on the parent
	device      device
}

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
	host       string
	hostMemory HostMemory

	units         []*unit
	listed        int // GPUs at the last enumeration
	nextEnumerate time.Time
}

// open starts the library; its error is a sentence for people.
func open(d driver, interval time.Duration) (*Reader, error) {
	if c := d.init(); c != CodeSuccess {
		return nil, c
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	n := &Reader{driver: d, interval: interval, host: host, hostMemory: SystemMemory}
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
	instances := dev.instances()
	n.add(old, &unit{id: id, index: index, device: dev, hasMIG: len(instances) > 0})
	seen := map[int]bool{} // compute instances share their GPU instance's numbers
	for _, m := range instances {
		if !seen[m.gpuInstance] {
			seen[m.gpuInstance] = true
			n.add(old, &unit{
				id: id + "/" + strconv.Itoa(m.gpuInstance), parent: id, index: index, device: m.device,
			})
		}
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
	u := &unit{id: n.indexID(index), index: index, handle: c, lost: c.lost() || c == CodeUnknown}
	for _, known := range old {
		if known.index == index && known.parent == "" {
			u.id, u.name = known.id, known.name
		}
	}
	return u
}

func (n *Reader) idOf(d device, index int) (string, Code) {
	id, c := d.uuid()
	if c == CodeSuccess && id != "" {
		return gpu.Clean(id), c
	}
	return n.indexID(index), c
}

func (n *Reader) indexID(index int) string { return n.host + "/" + strconv.Itoa(index) }
