package ui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// What the screen showed plays back as it was, through changes, a zoom and a resize.
func TestTheRecordedScreensPlayBack(t *testing.T) {
	m := session(120, 40, newTestTheme())
	m.Save = func(string, string) (string, error) { return "", nil }
	for i, size := range [][2]int{{120, 40}, {120, 40}, {80, 24}, {80, 24}} {
		m.recorder.Add(time.Unix(int64(i), 0), size[0], size[1], sized(m, size[0], size[1]).content)
		if m.zoomed = i%2 == 0; m.content == "" {
			t.Fatal("nothing is shown")
		}
	}
	lines := strings.Split(strings.TrimSpace(m.recorder.Recording().String()), "\n")
	played := vt.NewEmulator(120, 40)
	for _, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event[1] == "r" {
			played.Resize(80, 24)
			continue
		}
		_, _ = played.WriteString(event[2].(string))
	}
	shown := vt.NewEmulator(80, 24)
	_, _ = shown.WriteString(strings.ReplaceAll(m.content, "\n", "\r\n"))
	if played.Render() != shown.Render() {
		t.Errorf("played:\n%s\nshown:\n%s", played.Render(), shown.Render())
	}
}
