package scrape

import (
	"encoding/json"
	"testing"
)

func TestTheModelThatRequestsName(t *testing.T) {
	for name, c := range map[string]struct {
		list, want string
		noChat     bool
	}{
		"type":                   {`[{"id":"a","type":"embedding"},{"id":"b","type":"rerank"},{"id":"c","type":"chat"}]`, "c", false},
		"LM Studio":              {`[{"id":"a","type":"embeddings"},{"id":"b","type":"llm"}]`, "b", false},
		"task":                   {`[{"id":"a","task":"text-embedding"},{"id":"b","task":"automatic-speech-recognition"},{"id":"c","task":"text-generation"}]`, "c", false},
		"chats about pictures":   {`[{"id":"a","pipeline_tag":"text-to-image"},{"id":"b","pipeline_tag":"image-text-to-text"},{"id":"c"}]`, "b", false},
		"capabilities as list":   {`[{"id":"a","capabilities":["embedding"]},{"id":"b","capabilities":["completion","tools"]}]`, "b", false},
		"capabilities as object": {`[{"id":"a","capabilities":{"completion_chat":false}},{"id":"b","capabilities":{"completion_chat":true,"vision":false}}]`, "b", false},
		"modality":               {`[{"id":"a","architecture":{"modality":"text->image"}},{"id":"b","architecture":{"modality":"text+image->text"}}]`, "b", false},
		"output modalities":      {`[{"id":"a","architecture":{"output_modalities":["embeddings"]}},{"id":"b","architecture":{"output_modalities":["text"]}}]`, "b", false},
		"by name":                {`[{"id":"text-embedding-3-small"},{"id":"whisper-1"},{"id":"tts-1"},{"id":"omni-moderation-latest"},{"id":"meta/Llama-Guard-4"},{"id":"BAAI/bge-m3"},{"id":"gpt-4o"}]`, "gpt-4o", false},
		"a word beats a name":    {`[{"id":"guardian-chat","type":"chat"},{"id":"b"}]`, "guardian-chat", false},
		"the first of equals":    {`[{"id":"x"},{"id":"y"}]`, "x", false},
		"object is no type":      {`[{"id":"x","object":"model","type":"model"},{"id":"y"}]`, "x", false},
		"nothing for chat":       {`[{"id":"nomic-embed-text:latest"},{"id":"bge-reranker"}]`, "nomic-embed-text:latest", true},
		"nothing":                {`[]`, "", false},
	} {
		var doc any
		if err := json.Unmarshal([]byte(c.list), &doc); err != nil {
			t.Fatal(err)
		}
		models, _ := entries(doc)
		if id, noChat := (modelList{models: models}).choose(); id != c.want || noChat != c.noChat {
			t.Errorf("%s: %q (no chat: %t), want %q (%t)", name, id, noChat, c.want, c.noChat)
		}
	}
}
