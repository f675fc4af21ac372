package plain

import "testing"

func TestHide(t *testing.T) {
	secrets := []string{"sk/abc+def=ghi jklmnop", "short"}
	for in, want := range map[string]string{
		"bad key sk/abc+def=ghi jklmnop.":           "bad key ….",
		"bad key sk%2Fabc%2Bdef%3Dghi%20jklmnop.":   "bad key ….",
		"bad key sk%2fabc%2bdef%3dghi+jklmnop.":     "bad key ….",
		"bad key sk/abc%2Bdef=ghi%20jklmnop.":       "bad key ….",
		"bad key sk%252Fabc%252Bdef=ghi%20jklmnop.": "bad key ….",
		"bad key ***i%20jklmnop.":                   "bad key ***i….",
		"a short word":                              "a short word",
	} {
		if got := Hide(in, secrets); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Hide("key=g%C3%BCnstige%20T%C3%BCr", []string{"günstige Tür"}); got != "key=…" {
		t.Errorf("%q", got)
	}
}
