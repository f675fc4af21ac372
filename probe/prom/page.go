// Package prom reads Prometheus and OpenMetrics text pages as they are found in the
// field (with repeated HELP and TYPE lines, exemplars, carriage returns, tabs,
// unreadable lines, or with something else where metrics should be), and asks a
// Prometheus server for the newest samples of some series.
package prom

import (
	"maps"
	"slices"
	"strings"
)

// Sample is one series of a page. Histograms and summaries appear flat, as on
// the wire: x_bucket{le}, x_sum, x_count.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64 // as published: may be NaN or infinite
}

// Page holds the samples of one metrics page. The zero value is an empty page.
type Page struct {
	samples map[string][]Sample
	types   map[string]string
	notes   []string

	earliest   float64
	labelNames map[string]bool // nil if nobody has looked
}

// FromSamples makes a page of samples that came from elsewhere, for example from
// a Prometheus server's answer.
func FromSamples(samples []Sample) Page {
	p := Page{samples: map[string][]Sample{}}
	for _, s := range samples {
		p.samples[s.Name] = append(p.samples[s.Name], s)
	}
	return p
}

// Samples returns the series of that exact name, in the order of the page. The
// result belongs to the page.
func (p Page) Samples(name string) []Sample { return p.samples[name] }

// Has tells whether any sample's name starts with prefix.
func (p Page) Has(prefix string) bool {
	for name := range p.samples {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Names returns the names of all samples, sorted.
func (p Page) Names() []string { return slices.Sorted(maps.Keys(p.samples)) }

// Notes returns quiet remarks about the page, for example that it is irregular.
func (p Page) Notes() []string { return p.notes }

// MayHaveLabel tells whether some sample may carry a label of that name. It is a
// quick no where there is none.
func (p Page) MayHaveLabel(name string) bool { return p.labelNames == nil || p.labelNames[name] }

// Created is when the oldest of the samples' families came to be, Unix seconds, as
// client libraries tell in x_created; 0 if they do not. It changes with a restart.
func (p Page) Created() float64 { return p.earliest }

// Type returns what the page's TYPE line says of a sample's family: "counter",
// "gauge", "histogram", …; "" if it says nothing.
func (p Page) Type(name string) string { return p.types[name] }

// suffixes are what exposition formats append to a family's name.
var suffixes = []string{"_bucket", "_total", "_count", "_sum"}

// family strips what the formats append to a family's name. OpenMetrics declares
// the counter x and publishes x_total.
func family(name string) string {
	for _, s := range suffixes {
		if base, ok := strings.CutSuffix(name, s); ok {
			return base
		}
	}
	return name
}
