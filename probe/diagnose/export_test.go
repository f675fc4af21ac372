package diagnose

// RuleNames lists the table of rules.
func RuleNames() []string {
	var out []string
	for _, entry := range table {
		out = append(out, entry.name)
	}
	return out
}
