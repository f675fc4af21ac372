package faults

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	got, err := Parse("429=0.1, 503=0.05,error=0.02,cut=0.03,stall=1s/10s,clump=8")
	want := Faults{RateLimited: 0.1, Unavailable: 0.05, StreamError: 0.02, Cut: 0.03, Stall: time.Second, StallEvery: 10 * time.Second, Clump: 8}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, list := range []string{"429", "429=x", "flood=1", "stall=soon", "429=0.6,503=0.6", "cut=-1", "error=NaN", "clump=-2"} {
		if _, err := Parse(list); err == nil {
			t.Errorf("%q is accepted", list)
		}
	}
}

func TestFaultsAreReadAsTheyAreWritten(t *testing.T) {
	for list, want := range map[string]Faults{
		"":                           {},
		"429=0.1":                    {RateLimited: 0.1},
		"429=0.1/5s, 503=0.2":        {RateLimited: 0.1, RetryAfter: 5 * time.Second, Unavailable: 0.2},
		"loading":                    {Loading: Forever},
		"loading=on":                 {Loading: Forever},
		"loading=10s":                {Loading: 10 * time.Second},
		"loading=off":                {},
		"stall=1s":                   {Stall: time.Second},
		"stall=1s/10s":               {Stall: time.Second, StallEvery: 10 * time.Second},
		"clump=8,slow=2,throttle=.5": {Clump: 8, Slow: 2, Throttle: 0.5},
		"kv=0.8,error=0.1,cut=0.2":   {KV: 0.8, StreamError: 0.1, Cut: 0.2},
		"clump=8,clump=off":          {},
	} {
		if got, err := Parse(list); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", list, got, err, want)
		}
	}
}

// A wrong list is refused with the fault and the way to write it.
func TestWrongFaultsSayHowTheyAreWritten(t *testing.T) {
	for list, want := range map[string]string{
		"flood=1":         "known faults: 429=SHARE[/WAIT], 503=SHARE",
		"429":             `fault "429": expected 429=SHARE[/WAIT], such as 429=0.3/2s, or 429=off`,
		"stall=soon":      "stall=TIME[/EVERY]",
		"cut=-1":          "between 0 and 1",
		"kv=1.5":          "between 0 and 1",
		"error=NaN":       "between 0 and 1",
		"slow=0.5":        "1 to 1000 times",
		"slow=Inf":        "1 to 1000 times",
		"throttle=2":      "between 0.01 and 1",
		"clump=-2":        "0 to 1000000 tokens",
		"loading=-1s":     "between 0 and 24h",
		"stall=1000h/1s":  "24h",
		"429=0.6,503=0.6": "more than all requests",
	} {
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", list, err, want)
		}
	}
}

// Every row of the table: its example is felt, is written as it was read, and is
// gone when it is switched off.
func TestEveryFaultCanBeSwitched(t *testing.T) {
	for _, k := range Kinds {
		f, err := Parse(k.Example)
		if err != nil || f == (Faults{}) {
			t.Errorf("%s: %+v, %v", k.Example, f, err)
			continue
		}
		if f.String() != k.Example {
			t.Errorf("%s is written as %s", k.Example, f)
		}
		if healed, err := f.With(k.Name + "=off"); err != nil || healed != (Faults{}) {
			t.Errorf("%s=off leaves %+v, %v", k.Name, healed, err)
		}
		if k.Description == "" || !strings.HasPrefix(k.Form, k.Name) || !strings.HasPrefix(k.Example, k.Name) {
			t.Errorf("a poor row: %+v", k)
		}
	}
}

func FuzzFaults(f *testing.F) {
	for _, k := range Kinds {
		f.Add(k.Example + ",clump=off")
	}
	f.Fuzz(func(t *testing.T, list string) {
		got, err := Parse(list)
		if err != nil {
			return
		}
		// What has no effect is not written: a factor of one, a waiting time without refusals.
		again, err := Parse(got.String())
		if err != nil || again.String() != got.String() {
			t.Errorf("%q is written as %q, which is read as %q, %v", list, got, again, err)
		}
	})
}

// The table of faults in the README is the program's.
func TestReadmeListsTheFaults(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds {
		if row := "| `" + k.Example + "` | " + k.Description + " |"; !strings.Contains(string(text), row) {
			t.Errorf("the README has no row %s", row)
		}
	}
}
