package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"sonde/gpu/watch"
	"sonde/probe"
	"sonde/probe/api/wire"
	"sonde/probe/guard"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// machine looks at what a measurement needs of this machine.
func (r *Report) machine(t Terminal) {
	s := r.section("this machine")
	s.terminal(t)
	s.stamps(kernelStamps())
	s.files()
	s.ports(ephemeralPorts())
	s.cores(runtime.GOMAXPROCS(0), loadAverage())
}

func (s section) stamps(kernel bool, err error) {
	const name = "arrival stamps"
	switch {
	case err != nil:
		s.failed(name, "no connection on loopback: "+err.Error(), "allow this program to use the network")
	case kernel:
		s.ok(name, "by the kernel: our own lateness does not count")
	default:
		where := "measure from Linux (amd64 or arm64)"
		if runtime.GOOS == "linux" {
			where = "measure outside the sandbox: this kernel gives no times of arrival"
		}
		s.missing(name, "when they are read: under load gaps are as wrong as our reads are late", where+"; sonde doctor --calibrate tells by how much")
	}
}

// kernelStamps sends bytes to ourselves and looks who stamped them.
func kernelStamps() (bool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	link, err := (&wire.Dialer{Addr: l.Addr().String()}).Dial(ctx)
	if err != nil {
		return false, err
	}
	defer link.Close()
	peer, err := l.Accept()
	if err != nil {
		return false, err
	}
	defer peer.Close()
	for range stampTries {
		if _, err := peer.Write([]byte("?")); err != nil {
			return false, err
		}
		if n, err := link.Read(make([]byte, 1)); n != 1 {
			return false, errors.Join(errors.New("no byte came back"), err)
		}
		if link.Wire.Stamp().Kernel {
			return true, nil
		}
		time.Sleep(stampPause)
	}
	return false, nil
}

// Linux begins to stamp a little after the first socket has asked for it.
const (
	stampTries = 10
	stampPause = 10 * time.Millisecond
)

// usualStreams is the default of --max-concurrency.
const usualStreams = 256

func (s section) files() {
	const name = "open files"
	limit, known := process.FileLimit()
	switch fit := int64(limit) - ownFiles; {
	case !known || limit > 1<<30:
		s.ok(name, "no limit that matters")
	case fit < usualStreams:
		s.missing(name, fmt.Sprintf("at most %d: enough for %d streams", limit, max(0, fit)), "raise it with 'ulimit -n 4096'")
	default:
		s.ok(name, fmt.Sprintf("at most %d: enough for %s streams", limit, thousands(float64(fit))))
	}
}

// ports are what one address can have open to one server at a time.
func (s section) ports(n int) {
	const name = "local ports"
	switch {
	case n == 0:
	case n < usualStreams:
		s.missing(name, fmt.Sprintf("%d: enough for as many streams to one server", n), "widen net.ipv4.ip_local_port_range with sysctl")
	default:
		s.ok(name, fmt.Sprintf("%s: enough for as many streams to one server", thousands(float64(n))))
	}
}

// cores looks at the processor: n is what we may use of it, busy how many were in
// use over the last minute by all programs.
func (s section) cores(n int, busy opt.Float) {
	const (
		name = "processor"
		away = "keep other work off this machine, and use sonde bench for high rates"
	)
	cores := fmt.Sprintf("%d cores", n)
	if n == 1 {
		cores = "1 core"
	}
	load := ""
	if busy.OK {
		load = fmt.Sprintf(", %.1f in use over the last minute", busy.V)
	}
	switch {
	case busy.OK && busy.V >= float64(n):
		s.missing(name, cores+load+": we wait for our turn", away)
	case n < 2:
		s.missing(name, cores+load+": drawing and measuring share it", away)
	default:
		s.ok(name, cores+load)
	}
}

// gpuPatience is how long the first readings of GPUs may take.
const gpuPatience = 4 * time.Second

// localGPU looks for the GPUs of this machine.
func (r *Report) localGPU(ctx context.Context, mode string) {
	if mode == probe.FromPrometheus {
		mode = "auto" // no endpoint whose GPUs it could be asked for
	}
	ctx, cancel := context.WithTimeout(ctx, gpuPatience)
	defer cancel()
	source := watch.Open(watch.Options{Mode: mode, Local: true})
	guard.Go("GPU readings", func(error) {}, func() { source.Run(ctx) })
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := source.Latest()
		if ctx.Err() != nil || gpuSettled(now, mode) {
			r.gpus(now, true)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
