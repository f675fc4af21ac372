package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sonde/probe/opt"
)

// Limit is a quota of a provider, or what a server can hold.
type Limit struct {
	Name  string // one of LimitNames
	Quota float64
}

// LimitResult sets a quota against the load.
type LimitResult struct {
	Limit  string    `json:"limit"`
	Quota  float64   `json:"quota"`
	Used   opt.Float `json:"used"`    // with the headroom
	Share  opt.Float `json:"share"`   // used of the quota
	MaxRPM opt.Float `json:"max_rpm"` // the load, in its mix, that uses all of it
}

// Binding is the quota that a growing load in the same mix meets first.
type Binding struct {
	Limit        string    `json:"limit"`
	RPM          opt.Float `json:"rpm"`
	RequestsPerS opt.Float `json:"requests_per_s"`
	Fits         *bool     `json:"fits"` // whether the load with its headroom stays within every quota; unknown without a rate
}

// limitKinds are the quotas and the figures that they bound.
var limitKinds = []struct {
	name   string
	figure func(*Demand) opt.Float
}{
	{"rpm", func(d *Demand) opt.Float { return d.RPM }},
	{"tpm", func(d *Demand) opt.Float { return d.TotalTPM }},
	{"input_tpm", func(d *Demand) opt.Float { return d.InputTPM }},
	{"output_tpm", func(d *Demand) opt.Float { return d.OutputTPM }},
	{"concurrency", func(d *Demand) opt.Float { return d.Concurrency }},
	{"kv_tokens", func(d *Demand) opt.Float { return d.KVTokensMost }},
}

// LimitNames lists the quotas that a Limit can name.
func LimitNames() []string {
	var names []string
	for _, k := range limitKinds {
		names = append(names, k.name)
	}
	return names
}

// judgeLimits sets each quota against the load. perRequest is the Demand of one
// mean request per second, used that of the whole load with its headroom.
func judgeLimits(limits []Limit, perRequest, used Demand) ([]LimitResult, error) {
	results := []LimitResult{}
	for _, kind := range limitKinds {
		for _, l := range limits {
			if l.Name != kind.name {
				continue
			}
			r := LimitResult{Limit: l.Name, Quota: l.Quota, Used: kind.figure(&used)}
			r.Share = r.Used.Scale(1 / l.Quota)
			if one := kind.figure(&perRequest); one.OK && one.V > 0 {
				r.MaxRPM = opt.Of(perMinute * l.Quota / one.V)
			}
			results = append(results, r)
		}
	}
	if len(results) != len(limits) {
		return nil, fmt.Errorf("a limit must be one of %s", strings.Join(LimitNames(), ", "))
	}
	return results, nil
}

// bindingOf is the quota with the least load; nil if none is known. Of two that
// bind at once it is the first in the order of LimitNames.
func bindingOf(results []LimitResult) *Binding {
	known := slices.DeleteFunc(slices.Clone(results), func(r LimitResult) bool { return !r.MaxRPM.OK })
	if len(known) == 0 {
		return nil
	}
	first := slices.MinFunc(known, func(a, b LimitResult) int { return cmp.Compare(a.MaxRPM.V, b.MaxRPM.V) })
	b := &Binding{Limit: first.Limit, RPM: first.MaxRPM, RequestsPerS: first.MaxRPM.Scale(1.0 / perMinute)}
	if first.Share.OK {
		fits := first.Share.V <= 1
		b.Fits = &fits
	}
	return b
}
