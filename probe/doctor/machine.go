package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/api/wire"
	"sonde/probe/guard"
	"sonde/probe/process"
)

// machine looks at what a measurement needs of this machine.
func (r *Report) machine(t Terminal) {
	s := r.section("this machine")
	s.stamps(kernelStamps())
	s.files()
	s.cores(runtime.GOMAXPROCS(0))
	s.terminal(t)
}

func (s section) stamps(kernel bool, err error) {
	const name = "arrival stamps"
	switch {
	case err != nil:
		s.failed(name, "no connection on loopback: "+err.Error(), "allow this program to use the network")
	case kernel:
		s.ok(name, "by the kernel: our own lateness does not count")
	default:
		s.missing(name, "when they are read: under load gaps are as wrong as our reads are late", "measure from Linux (amd64 or arm64); see sonde doctor --calibrate")
	}
}

// kernelStamps sends a byte to ourselves and looks who stamped it.
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
	if _, err := peer.Write([]byte("?")); err != nil {
		return false, err
	}
	if n, err := link.Read(make([]byte, 1)); n != 1 {
		return false, errors.Join(errors.New("no byte came back"), err)
	}
	return link.Wire.Stamp().Kernel, nil
}

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

func (s section) cores(n int) {
	if n < 2 {
		s.missing("processor", "1 core: drawing and measuring share it", "keep other work off this machine, and use sonde bench for high rates")
		return
	}
	s.ok("processor", fmt.Sprintf("%d cores", n))
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
	source := gpu.Open(gpu.Options{Mode: mode, Local: true})
	guard.Go("GPU readings", func(error) {}, func() { source.Run(ctx) })
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := source.Latest()
		if ctx.Err() != nil || gpuSettled(now, mode) {
			r.gpus(now)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
