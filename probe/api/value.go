package api

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
)

// value is the JSON of one value as it stands in a reply; nil if it is absent or null.
// Reading it is lenient: a server that writes NaN, a raw tab in a string or a comma too
// many still gets its tokens counted.
type value []byte

// cursor steps through JSON in one pass. It allocates nothing: every chunk of every stream
// is read with it.
//
//	for end := c.enter(); c.more(end); {
//		… // reads one value with c.value, or by such a loop; c.name is a member's name
//	}
type cursor struct {
	data []byte
	at   int
	name []byte // of the member at hand, in lower case if it began with a capital

	escaped bool // the newest string has escapes
	cut     bool // the JSON ends too early or is none: there is no more of anything
}

func (v value) cursor() *cursor { return &cursor{data: v} }

// enter steps into the object or list at hand and returns its end mark. It steps over any
// other value, which has no members: 0.
func (c *cursor) enter() (end byte) {
	if c.at < len(c.data) && (c.data[c.at] == '{' || c.data[c.at] == '[') {
		c.at++
		return c.data[c.at-1] + 2 // in ASCII both end marks come two after the opening ones
	}
	c.value()
	return 0
}

// more goes to the next member or item; false behind the last.
func (c *cursor) more(end byte) bool {
	if end == 0 || c.cut {
		return false
	}
	data, at := c.data, c.at
	for at < len(data) && (data[at] <= ' ' || data[at] == ',') {
		at++
	}
	c.at = at
	switch {
	case at == len(data):
		c.cut = true
	case data[at] == end:
		c.at++
		return false
	case end == '}':
		c.cut = data[at] != '"' || !c.text() || !c.colon(at+1)
	}
	return !c.cut
}

// colon goes on from a name, which began at first, to the value behind it.
func (c *cursor) colon(first int) bool {
	c.name = c.data[first : c.at-1]
	if c.escaped || len(c.name) > 0 && c.name[0] >= 'A' && c.name[0] <= 'Z' { // .NET's names begin with capitals
		c.name = bytes.ToLower([]byte(value(c.data[first-1 : c.at]).string()))
	}
	c.blanks()
	if c.at == len(c.data) || c.data[c.at] != ':' {
		return false
	}
	c.at++
	c.blanks()
	return c.at < len(c.data)
}

// kind is the first character of the value at hand: one of {["tfn, a digit or a sign.
func (c *cursor) kind() byte {
	if c.at == len(c.data) {
		return 0
	}
	return c.data[c.at]
}

func (c *cursor) blanks() {
	for c.at < len(c.data) && c.data[c.at] <= ' ' {
		c.at++
	}
}

// value reads the value at hand.
func (c *cursor) value() value {
	first := c.at
	for depth := 0; c.at < len(c.data); {
		switch ch := c.data[c.at]; ch {
		case '"':
			if !c.text() {
				return nil
			}
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		default:
			for c.at++; scalar[ch] && c.at < len(c.data) && scalar[c.data[c.at]]; {
				c.at++
			}
		}
		if depth <= 0 {
			if c.data[first] == 'n' && string(c.data[first:c.at]) == "null" {
				return nil
			}
			return c.data[first:c.at]
		}
	}
	c.cut = true
	return nil
}

// text steps over the string at hand. It looks for the next quote or backslash in eight
// bytes at a time; the bit tricks are those of "Hacker's Delight", where the lowest mark is
// always right.
func (c *cursor) text() bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	data := c.data
	c.escaped = false
	for at := c.at + 1; at < len(data); {
		if at+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[at:])
			quote, back := w^ones*'"', w^ones*'\\'
			marks := ((quote-ones)&^quote | (back-ones)&^back) & high
			if marks == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(marks) / 8
		}
		switch data[at] {
		case '"':
			c.at = at + 1
			return true
		case '\\':
			c.escaped = true
			at++
		}
		at++
	}
	c.cut = true
	return false
}

// scalar marks the characters of numbers and words.
var scalar = func() (set [256]bool) {
	for c := range set {
		set[c] = c > ' ' && bytes.IndexByte([]byte(`,:{}[]"`), byte(c)) < 0
	}
	return set
}()

// get goes down into objects by the names of members.
func (v value) get(names ...string) value {
	for _, name := range names {
		c := v.cursor()
		v = nil
		for end := c.enter(); c.more(end); {
			if member := c.value(); string(c.name) == name {
				v = member
			}
		}
	}
	return v
}

// string reads a JSON string, or the text of a number or a word; "" for an object or a
// list.
func (v value) string() string {
	if len(v) == 0 || v[0] == '{' || v[0] == '[' {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(bytes.Trim(v, `"`))
}

func (v value) isString() bool { return len(v) > 0 && v[0] == '"' }

// number reads a number, also one that a server wrote as a string.
func (v value) number() (n float64, ok bool) {
	n, err := strconv.ParseFloat(string(bytes.Trim(v, `"`)), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// whole reads a whole number of things, not ok if it is none: 12, 12.0, "12".
func (v value) whole() (n int, ok bool) {
	f, ok := v.number()
	if !ok || f < 0 || f > 1e9 || f != math.Trunc(f) {
		return 0, false
	}
	return int(f), true
}

// count is whole, or 0.
func (v value) count() int {
	n, _ := v.whole()
	return n
}

// hasText reports whether a value holds text. Some servers send a token of digits as a
// number, and the arguments of a tool as an object: those are text too.
func (v value) hasText() bool {
	if len(v) == 0 {
		return false
	}
	switch c := v[0]; c {
	case '"':
		return len(v) > len(`""`)
	case '{', '-':
		return true
	default:
		return c >= '0' && c <= '9'
	}
}
