package config

import "testing"

func TestDoctorSettings(t *testing.T) {
	path := clean(t)
	c := must(t, "doctor", "h:1", "--watch", "--format", "md", "--metrics", "off", "--insecure")
	if c.URL != "http://h:1" || !c.Watch || c.Format != "md" || c.Metrics != "off" || !c.Insecure || c.Calibrate || c.Concurrency != 0 {
		t.Errorf("got %+v", c)
	}
	if c := must(t, "doctor", "--calibrate"); !c.Calibrate || c.URL != "" {
		t.Errorf("got %+v", c)
	}
	for want, args := range map[string][]string{
		"URL http://h:1: --calibrate tests this machine: omit the URL": {"doctor", "h:1", "--calibrate"},
		"--format csv: must be table, json or md":                      {"doctor", "--format", "csv"},
		"unknown flag --calibrate (--help-all lists every flag)":       {"bench", "--calibrate"},
		"unknown flag --concurrency (--help-all lists every flag)":     {"doctor", "--concurrency", "3"},
	} {
		if got := refused(t, args...); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	// What a file or the environment says for other commands does not stand in the way.
	write(t, path, "url = 'lab:1'\nformat = 'csv'\nconcurrency = 5\n")
	if c := must(t, "doctor", "--calibrate"); !c.Calibrate || c.Format != "" {
		t.Errorf("got %+v", c)
	}
}
