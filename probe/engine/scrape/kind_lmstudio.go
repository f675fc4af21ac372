package scrape

// lmstudioKind leaves out when a model was created, and logs an error for every
// path that it does not know.
var lmstudioKind = kind{
	id: "lmstudio", name: "LM Studio",
	entry: func(m object) bool {
		_, created := m["created"]
		return m.text("owned_by") == "organization_owner" && !created
	},
	noPage: "LM Studio has no metrics page",
	about:  lmstudioAbout,
	extra:  lmstudioExtras,
}
