package config

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// Files as editors of other systems write them.
func TestFilesOfOtherEditors(t *testing.T) {
	path := clean(t)
	for _, text := range []string{"\ufeffoutput = 7\n", "output = 7\r\n[sim]\r\nmodel = 'x'\r\n", "\ufeff# settings\r\noutput = 7"} {
		write(t, path, text)
		if c := must(t); c.Output.Mean != 7 {
			t.Errorf("%q: output %d", text, c.Output.Mean)
		}
	}
	wide := binary.LittleEndian.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune("output = 7\n")) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	for _, text := range []string{string(wide), string(wide[2:])} {
		write(t, path, text)
		if got := refused(t); got != path+": not UTF-8 text, but UTF-16 or no text at all: save it as UTF-8" {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := refused(t, "--config", t.TempDir()); !strings.HasSuffix(got, ": is a directory") {
		t.Error(got)
	}
	if got := refused(t, "--config", "/dev/zero"); !strings.Contains(got, "too large") {
		t.Error(got)
	}
}

// Whatever is in the file, it is settings or one line of complaint.
func FuzzSettingsFile(f *testing.F) {
	for _, s := range []string{"", "concurrency = 4", "[profile.lab]\nurl = 'h:1'", "profile = 3", "[profile.\"\"]\n", "header = ['A: b', 1]", "slo = 5", "\ufeffseed = 1979-05-27", "a.b.c = [[1]]", "workload = \"\x00\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := t.TempDir() + "/config.toml"
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := call("bench", "h:1", "--config", path, "--print-config")
		if o.code == 0 && o.stderr == "" {
			return
		}
		if o.code != 2 || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("code %d, %q", o.code, o.stderr)
		}
	})
}
