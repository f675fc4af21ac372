package diagnose

// RuleNames lists the table of rules.
func RuleNames() []Rule {
	var out []Rule
	for _, entry := range table {
		out = append(out, entry.rule)
	}
	return out
}
