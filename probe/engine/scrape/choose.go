package scrape

import (
	"regexp"
	"strings"

	"sonde/probe/engine/kinds"
)

// fitness says whether a model of a list is for chat.
type fitness int

const (
	unfit fitness = iota - 1
	unsaid
	fit
)

// choose picks the model that requests name: the first that its entry calls one for
// chat, else the first that nothing rules out. noChat reports that there is none.
func (l modelList) choose() (id string, noChat bool) {
	best := unfit - 1
	for _, m := range l.models {
		name := m.Text("id")
		if name == "" {
			continue
		}
		f := fitnessOf(m)
		if f > best {
			id, best = name, f
		}
	}
	return id, id != "" && best == unfit
}

// fitnessOf goes by what the entry says, and where it says nothing by the name.
func fitnessOf(m kinds.Object) fitness {
	for _, said := range []any{m["type"], m["task"], m["model_type"], m["pipeline_tag"], m["mode"], m["tasks"], m["capabilities"],
		m["output_modalities"], m.Object("architecture")["output_modalities"], afterArrow(m.Object("architecture").Text("modality"))} {
		if f := fitnessIn(said); f != unsaid {
			return f
		}
	}
	if otherName.MatchString(m.Text("id")) {
		return unfit
	}
	return unsaid
}

// afterArrow is what comes out by a modality such as "text+image->text".
func afterArrow(modality string) string {
	_, out, _ := strings.Cut(modality, "->")
	return out
}

// fitnessIn judges one field: a word, a list of words, or an object of switches. Of
// several tasks one for chat suffices.
func fitnessIn(said any) (best fitness) {
	var found []fitness
	switch v := said.(type) {
	case string:
		found = []fitness{fitnessOfWord(v)}
	case []any:
		for _, item := range v {
			if word, ok := item.(string); ok {
				found = append(found, fitnessOfWord(word))
			}
		}
	case map[string]any:
		for word, on := range v {
			f := fitnessOfWord(word)
			if on == false { // only "no chat" says something
				f = min(-f, unsaid)
			} else if on != true {
				f = unsaid
			}
			found = append(found, f)
		}
	}
	for _, f := range found {
		if f == fit {
			return fit
		}
		best = min(best, f)
	}
	return best
}

var (
	chatWords = regexp.MustCompile(`(?i)\b(chat|completion|llm|vlm|generate|generation|text2text|text|language|causal|conversational)\b`)
	// pairs are tasks that name what goes in and comes out: image-text-to-text is a chat.
	pairs      = regexp.MustCompile(`(?i)\btext.to.text\b|\bany.to.any\b`)
	otherWords = regexp.MustCompile(`(?i)embed|rerank|\brank|scor|pooling|classif|moderat|feature.extraction|similarity|whisper|speech|audio|transcri|\bt?tts\b|\basr\b|image|video|reward|ocr`)

	// otherName are the names of models that are not for chat.
	otherName = regexp.MustCompile(`(?i)embed|rerank|moderation|whisper|transcribe|stable-diffusion|dall-e|guard|` +
		`(^|[-_/.: ])(tts|stt|asr|bge|gte|e5|minilm|colbert|clip|siglip|sdxl|flux|gpt-image|sora|parakeet|kokoro|reward)([-_/.: \d]|$)`)
)

func fitnessOfWord(word string) fitness {
	word = strings.ReplaceAll(word, "_", " ")
	switch {
	case pairs.MatchString(word):
		return fit
	case otherWords.MatchString(word):
		return unfit
	case chatWords.MatchString(word):
		return fit
	}
	return unsaid
}
