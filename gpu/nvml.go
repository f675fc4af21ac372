package gpu

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"
)

// driver is what is used of NVML, so that the logic runs against fakes and
// builds without cgo.
type driver interface {
	init() code
	shutdown()
	count() (int, code)
	device(index int) (device, code)
}

// device is one GPU or one MIG instance.
type device interface {
	name() (string, code)
	uuid() (string, code)
	value(quantity) (uint32, code)
	memory() (memory, code)
	gpm() (gpmBuffers, code)
	instances() []migInstance // occupied MIG slots, empty without MIG
}

// memory is in bytes.
type memory struct{ used, total uint64 }

type migInstance struct {
	gpuInstance int // id on the parent
	device      device
}

// quantity is a number that a device can be asked for.
type quantity int

const (
	busyPercent quantity = iota
	memoryBusyPercent
	powerMilliwatt
	powerLimitMilliwatt
	temperatureCelsius
	smClockMHz
	memoryClockMHz
	clockReasons // a bit mask: see slowedBy
	busWidthBits
	maxMemoryClockMHz
	memoryBytes // asked with device.memory
)

const (
	// enumerateEvery finds GPUs that came or went, and asks again what was refused.
	enumerateEvery = time.Minute
	// enumerateAfterLoss looks sooner whether a lost GPU came back.
	enumerateAfterLoss = 10 * time.Second
)

// nvmlReader reads all GPUs of this machine. One goroutine owns it and the
// library: NVML calls that hang must never pile up.
type nvmlReader struct {
	driver     driver
	interval   time.Duration
	host       string
	hostMemory func() (used, total uint64, ok bool)

	units         []*unit
	listed        int // GPUs at the last enumeration
	nextEnumerate time.Time
}

// openNVML starts the library; its error is a sentence for people.
func openNVML(d driver, interval time.Duration) (*nvmlReader, error) {
	if c := d.init(); c != codeSuccess {
		return nil, c
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	n := &nvmlReader{driver: d, interval: interval, host: host, hostMemory: systemMemory}
	if err := n.enumerate(time.Now()); err != nil {
		d.shutdown()
		return nil, err
	}
	return n, nil
}

func (n *nvmlReader) close() {
	for _, u := range n.units {
		u.free()
	}
	n.driver.shutdown()
}

func (n *nvmlReader) read(context.Context) (Status, error) {
	now := time.Now()
	if count, c := n.driver.count(); !now.Before(n.nextEnumerate) || c == codeSuccess && count != n.listed {
		if err := n.enumerate(now); err != nil {
			return Status{}, err
		}
	}
	st := Status{Source: "nvml", Period: n.interval, GPUs: make([]Reading, 0, len(n.units))}
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
// GPM samples; what it refused is asked again.
func (n *nvmlReader) enumerate(now time.Time) error {
	count, c := n.driver.count()
	if c != codeSuccess {
		return c
	}
	if count == 0 {
		return codeGPUNotFound
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

func (n *nvmlReader) addGPU(index int, old []*unit) {
	dev, c := n.driver.device(index)
	if c != codeSuccess {
		n.units = append(n.units, n.unreachable(index, c, old))
		return
	}
	id, c := n.idOf(dev, index)
	if c.lost() || c == codeUnknown {
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
func (n *nvmlReader) add(old []*unit, u *unit) {
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
func (n *nvmlReader) unreachable(index int, c code, old []*unit) *unit {
	u := &unit{id: n.indexID(index), index: index, handle: c, lost: c.lost() || c == codeUnknown}
	for _, known := range old {
		if known.index == index && known.parent == "" {
			u.id, u.name = known.id, known.name
		}
	}
	return u
}

func (n *nvmlReader) idOf(d device, index int) (string, code) {
	id, c := d.uuid()
	if c == codeSuccess && id != "" {
		return clean(id), c
	}
	return n.indexID(index), c
}

func (n *nvmlReader) indexID(index int) string { return n.host + "/" + strconv.Itoa(index) }
