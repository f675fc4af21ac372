//go:build !linux

package sim

import "time"

func fineSleep(d time.Duration) { time.Sleep(d) }
