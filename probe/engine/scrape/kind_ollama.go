package scrape

var ollamaKind = kind{
	id: "ollama", name: "Ollama",
	ownedBy: []string{"library"},
	noPage:  "Ollama has no metrics page",
	about:   []about{{"/api/version", version}},
	extra:   ollamaExtras,
}
