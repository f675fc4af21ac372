package ui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// The commands are letters of a Latin keyboard. On other layouts the same key sends another
// letter, so a key that has no command by its letter is looked up by its place.

// KeyNames are the names of a pressed key, in the order in which they are tried: the letter
// that it writes, then the key of a US keyboard at its place.
func KeyNames(k tea.Key) []string {
	names := []string{k.String()}
	base := k.BaseCode // only terminals with the Kitty protocol report it
	if base == 0 {
		base = usKeys[unicode.ToLower(k.Code)]
	}
	if base == 0 {
		return names
	}
	const locks = tea.ModCapsLock | tea.ModNumLock | tea.ModScrollLock
	mod := k.Mod &^ locks
	if mod == tea.ModShift || mod == 0 && unicode.IsUpper(k.Code) {
		return append(names, string(shifted(base)))
	}
	at := tea.Key{Code: base, Mod: mod}
	return append(names, at.Keystroke())
}

// shifted is what a key of a US keyboard writes with shift; digits stay as they are.
func shifted(base rune) rune {
	if at := strings.IndexRune("[];',./-=", base); at >= 0 {
		return rune(`{}:"<>?_+`[at])
	}
	return unicode.ToUpper(base)
}

// usKeys are the keys of a US keyboard at the places of Cyrillic and Greek letters.
var usKeys = func() map[rune]rune {
	keys := map[rune]rune{}
	for _, layout := range [][2]string{
		{"йцукенгшщзхъфывапролджэячсмитьбю", "qwertyuiop[]asdfghjkl;'zxcvbnm,."},
		{"ςερτυθιοπασδφγηξκλζχψωβνμ", "wertyuiopasdfghjklzxcvbnm"},
	} {
		us := []rune(layout[1])
		for i, letter := range []rune(layout[0]) {
			keys[letter] = us[i]
		}
	}
	return keys
}()
