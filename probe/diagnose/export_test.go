package diagnose

// RuleNames lists the table of rules.
func RuleNames() []string {
	var out []string
	for _, entry := range table {
		out = append(out, entry.name)
	}
	return out
}

// Refuted lists the rules that were judged and found not to hold.
func (j *Judge) Refuted() []string {
	var out []string
	for _, entry := range table {
		if entry.new().check(&j.history) == absent {
			out = append(out, entry.name)
		}
	}
	return out
}
