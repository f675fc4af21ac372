package core

import (
	"unicode"
	"unicode/utf8"
)

// The engine's tokenizer has one rule: a token is a run of up to 16 letters,
// digits and apostrophes, or any other character that is not white space. Of
// scripts that write without blanks (from U+2E80 on: Chinese, Japanese, Korean,
// emoji) every character is a token. White space separates tokens.
//
// English prose has about as many tokens by this rule as in a real vocabulary, and
// the text of an answer has exactly the tokens that it was made of.
const longestToken = 16 // characters

// AppendTokens appends the token ids of text.
func AppendTokens(ids []uint32, text string) []uint32 {
	EachToken(text, func(piece string) { ids = append(ids, TokenID(piece)) })
	return ids
}

// EachToken calls f with the text of each token.
func EachToken(text string, f func(piece string)) {
	for start := 0; start < len(text); {
		r, size := utf8.DecodeRuneInString(text[start:])
		if unicode.IsSpace(r) {
			start += size
			continue
		}
		end := start + size
		if InWord(r) {
			end = wordEnd(text, start)
		}
		f(text[start:end])
		start = end
	}
}

// wordEnd finds the end of the token that starts with a word character.
func wordEnd(text string, start int) int {
	end := start
	for n := 0; n < longestToken && end < len(text); n++ {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !InWord(r) {
			break
		}
		end += size
	}
	return end
}

// InWord reports whether r is part of a longer token.
func InWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '\''
	}
	return r < 0x2E80 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// TokenID is the FNV-1a hash of a token's text.
func TokenID(piece string) uint32 {
	h := uint32(2166136261)
	for i := range len(piece) {
		h = (h ^ uint32(piece[i])) * 16777619
	}
	return h
}

// Message is one turn of a conversation.
type Message struct {
	Role, Text string
}

// ChatTokens applies the chat template: a token that begins the text, for each
// message its role and an end mark as one token each around the content, and
// the assistant's role. One message alone costs 4 tokens besides its content.
func ChatTokens(messages []Message) []uint32 {
	ids := []uint32{TokenID("<begin>")}
	for _, m := range messages {
		ids = append(ids, TokenID("<role "+m.Role+">"))
		ids = append(AppendTokens(ids, m.Text), TokenID("<end>"))
	}
	return append(ids, TokenID("<role assistant>"))
}

// blockHash continues the hash of everything before a block with the block's
// own tokens, so that equal hashes mean equal prefixes. It is never 0.
func blockHash(before uint64, tokens []uint32) uint64 {
	h := before ^ 14695981039346656037
	for _, t := range tokens {
		for shift := 0; shift < 32; shift += 8 {
			h = (h ^ uint64(t>>shift&0xff)) * 1099511628211
		}
	}
	return max(h, 1)
}
