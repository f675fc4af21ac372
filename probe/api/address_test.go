package api

import "testing"

func TestAddressForms(t *testing.T) {
	for _, c := range []struct{ raw, first, base string }{
		{"http://h:8000", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"http://h:8000/", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"http://h:8000/v1", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"http://h:8000/v1/", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"http://h:8000/v1/chat/completions", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"h:8000", "http://h:8000/v1/chat/completions", "http://h:8000"},
		{"http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions", "http://[::1]:8000"},
		{"::1", "http://[::1]/v1/chat/completions", "http://[::1]"},
		{"https://x/openai/deployments/d?api-version=2024-06-01", "https://x/openai/deployments/d/v1/chat/completions?api-version=2024-06-01", "https://x/openai/deployments/d?api-version=2024-06-01"},
		{"http://u:secret@h/v1", "http://h/v1/chat/completions", "http://h"},
	} {
		a, err := ParseAddress(c.raw, Chat)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if got := a.Requests[0].String(); got != c.first {
			t.Errorf("%s: requests go to %s, want %s", c.raw, got, c.first)
		}
		if got := a.Base.String(); got != c.base {
			t.Errorf("%s: base %s, want %s", c.raw, got, c.base)
		}
	}
	for raw, want := range map[string]Kind{"http://h/v1/completions": Completions, "http://h/v1/chat/completions": Chat, "http://h/v1": Completions} {
		if a, err := ParseAddress(raw, Completions); err != nil || a.Kind != want {
			t.Errorf("%s: kind %q, %v; want %q", raw, a.Kind, err, want)
		}
	}
	for _, raw := range []string{"ftp://h", "http://", "http://a b"} {
		if _, err := ParseAddress(raw, Chat); err == nil {
			t.Errorf("%q was accepted", raw)
		}
	}
}
