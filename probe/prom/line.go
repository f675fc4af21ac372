package prom

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// labelPair is a label with its value, or a quoted word alone, and what ends it.
var labelPair = regexp.MustCompile(`^[ \t]*(?:"((?:[^"\\]|\\[\\"n])+)"|([A-Za-z_][A-Za-z0-9_]*))[ \t]*` +
	`(=[ \t]*(?:"((?:[^"\\]|\\[\\"n])*)"|([^",}]*)))?[ \t]*([,}])`)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// labelBlock takes apart the label block that text starts with, {…}, and returns
// its length in text; 0 if it does not end or cannot be read. Values without quotes
// and a comma at the end are allowed. A quoted word without a value is the metric's
// name: {"name",label="value"}.
func labelBlock(text []byte) (labels map[string]string, name string, n int) {
	labels = map[string]string{}
	for rest := text[1:]; ; {
		if end := bytes.TrimLeft(rest, " \t"); bytes.HasPrefix(end, []byte{'}'}) {
			return labels, name, len(text) - len(end) + 1
		}
		m := labelPair.FindSubmatch(rest)
		if m == nil || !utf8.Valid(m[0]) {
			return nil, "", 0
		}
		key := unescape.Replace(string(m[1])) + string(m[2])
		switch _, twice := labels[key]; {
		case twice:
			return nil, "", 0
		case m[3] != nil:
			labels[key] = unescape.Replace(string(m[4])) + string(bytes.TrimRight(m[5], " \t"))
		case m[1] != nil && name == "" && len(labels) == 0:
			name = key
		default:
			return nil, "", 0
		}
		rest = rest[len(m[0])-1:] // the comma, or the end
		if rest[0] == ',' {
			rest = rest[1:]
		}
	}
}

// nameBytes are the bytes of a name without quotes.
var nameBytes = func() (is [256]bool) {
	for b := range is {
		is[b] = b == '_' || b == ':' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	return is
}()

// number reads the value that text starts with, behind blanks.
func number(text []byte) (float64, bool) {
	text = bytes.TrimLeft(text, " \t")
	if end := bytes.IndexAny(text, " \t"); end >= 0 {
		text = text[:end]
	}
	if bytes.EqualFold(text, []byte("-nan")) { // as C's printf writes it
		text = text[1:]
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil
}

// nameLength is how many bytes of a name a line starts with.
func nameLength(line []byte) int {
	for i, b := range line {
		if !nameBytes[b] {
			return i
		}
	}
	return len(line)
}
