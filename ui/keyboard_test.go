package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// The key at the place of a command's letter gives the command on every layout; a letter
// that is a command itself keeps its meaning.
func TestKeysOfOtherLayouts(t *testing.T) {
	for _, c := range []struct {
		name string
		key  tea.Key
		want string // the command's key
	}{
		{"ctrl+c, Russian, Kitty", tea.Key{Code: 'с', BaseCode: 'c', Mod: tea.ModCtrl}, "ctrl+c"},
		{"ctrl+c, Russian, without alternates", tea.Key{Code: 'с', Mod: tea.ModCtrl}, "ctrl+c"},
		{"ctrl+c, caps lock", tea.Key{Code: 'с', BaseCode: 'c', Mod: tea.ModCtrl | tea.ModCapsLock}, "ctrl+c"},
		{"q, Russian, Kitty", tea.Key{Code: 'й', Text: "й", BaseCode: 'q'}, "q"},
		{"q, Russian", tea.Key{Code: 'й', Text: "й"}, "q"},
		{"S, Russian", tea.Key{Code: 'Ы', Text: "Ы"}, "S"},
		{"S, Russian, Kitty", tea.Key{Code: 'ы', Text: "Ы", BaseCode: 's', Mod: tea.ModShift}, "S"},
		{": at the place of ;, Russian", tea.Key{Code: 'Ж', Text: "Ж"}, ":"},
		{": at the place of ;, Russian, Kitty", tea.Key{Code: 'ж', Text: "Ж", BaseCode: ';', Mod: tea.ModShift}, ":"},
		{":, Russian, above 6", tea.Key{Code: '6', Text: ":", BaseCode: '6', Mod: tea.ModShift}, ":"},
		{"{, Russian", tea.Key{Code: 'Х', Text: "Х"}, "{"},
		{">, Russian, Kitty", tea.Key{Code: 'ю', Text: "Ю", BaseCode: '.', Mod: tea.ModShift}, ">"},
		{"z, Greek", tea.Key{Code: 'ζ', Text: "ζ"}, "z"},
		{"1, AZERTY", tea.Key{Code: '&', Text: "&", BaseCode: '1'}, "1"},
		{"a, AZERTY, at the place of q", tea.Key{Code: 'a', Text: "a", BaseCode: 'q'}, "a"},
		{"q, US", tea.Key{Code: 'q', Text: "q"}, "q"},
	} {
		m := &model{commands: commands()}
		got, want := m.command(c.key), find(m.commands, c.want)
		if got == nil || want == nil || got != want {
			t.Errorf("%s: no %s", c.name, c.want)
		}
	}
}
