// Package plain keeps text that came from elsewhere from doing anything but be
// read.
package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes v as indented JSON that is harmless on a terminal.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(EscapeJSON(b.Bytes()))
	return err
}

// EscapeJSON writes the control and formatting characters of valid JSON as
// escapes. JSON itself asks for that only below U+0020; but U+009B is an escape
// sequence to a terminal, and U+202E turns around what follows.
func EscapeJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf) {
			out = append(out, escape(r)...)
		} else {
			out = append(out, raw[:size]...)
		}
		raw = raw[size:]
	}
	return out
}

func escape(r rune) string {
	if r > 0xffff { // outside the first plane JSON has surrogate pairs
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
	}
	return fmt.Sprintf(`\u%04x`, r)
}
