package engine

// lmstudioKind leaves out when a model was created, and logs an error for every
// path that it does not know.
var lmstudioKind = kind{
	id: "lmstudio", name: "LM Studio",
	entry: func(m object) bool {
		_, created := m["created"]
		return m.text("owned_by") == "organization_owner" && !created
	},
	noPage: "LM Studio has no metrics page",
	about: []about{{"/api/v0/models", func(a object, id *Identity) {
		for _, m := range a.list("data") {
			if m.text("id") != id.Model {
				continue
			}
			for _, key := range []string{"loaded_context_length", "max_context_length"} {
				if n := m.number(key); n > 0 {
					id.MaxModelLen = int(n)
					return
				}
			}
		}
	}}},
}
