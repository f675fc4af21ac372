//go:build !linux

package core

import "time"

func fineSleep(d time.Duration) { time.Sleep(d) }
