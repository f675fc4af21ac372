package config

import (
	"testing"

	"github.com/spf13/pflag"
)

// A lone word is the name of a host that there is, or a command that there is not.
func TestLoneWords(t *testing.T) {
	const known = "bench, sweep, canary, worker, sim, plan, compare, merge, replay or doctor"
	isHost := func(name string) bool { return name == "gpubox" || name == "sim-host" }
	for _, c := range []struct {
		args    []string
		address string
		problem string
	}{
		{[]string{"swep"}, "", "unknown command 'swep': did you mean 'sweep'? (to use a host of that name: http://swep)"},
		{[]string{"word", "h:1"}, "", "unknown command 'word': must be " + known + " (to use a host of that name: http://word)"},
		{[]string{"docter"}, "", "unknown command 'docter': did you mean 'doctor'? (to use a host of that name: http://docter)"},
		{[]string{secret}, "", "unknown command: must be " + known + " (to use a host of that name: http://NAME)"},
		{[]string{"gpubox"}, "gpubox", ""},
		{[]string{"localhost"}, "localhost", ""},
		{[]string{"http://swep"}, "http://swep", ""},
		{[]string{"swep:8000"}, "swep:8000", ""},
		{[]string{"swep/v1"}, "swep/v1", ""},
		{[]string{"swep.lan"}, "swep.lan", ""},
		{[]string{"@swep"}, "", ""},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.String("profile", "", "")
		address, err := commands[0].argument(flags, c.args, isHost)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if address != c.address || problem != c.problem {
			t.Errorf("%q: %q, %q\nwant %q, %q", c.args, address, problem, c.address, c.problem)
		}
	}
}

// Behind a command's name stands an address; it is not looked up.
func TestWordsBehindACommandAreHosts(t *testing.T) {
	clean(t)
	if c := must(t, "bench", "swep"); c.URL != "http://swep" {
		t.Errorf("URL %q", c.URL)
	}
}

// An address is no name, and two dots in a row are none: no name server is asked.
func TestResolves(t *testing.T) {
	isHost := resolves(t.Context())
	if !isHost("127.0.0.1") || isHost("a..b") {
		t.Error("127.0.0.1 is an address, a..b is none")
	}
}
