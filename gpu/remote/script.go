package remote

import (
	"strconv"
	"strings"
)

// script makes the shell on the other side ready. It reads further lines from its input
// and ends with it: when we end, or the connection does. MARK begins every line that is
// about the session and not what a program printed.
//
// ask runs a program and says which run ended, and how. watch passes on the lines of a
// program that goes on; nobody reads them any more after the end, so it ends with its next line.
const script = `PATH="$PATH:/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib:/opt/rocm/bin"; LC_ALL=C; export PATH LC_ALL
watched=; limit=; command -v timeout >/dev/null 2>&1 && limit='timeout LIMIT'
end() { [ -z "$watched" ] || kill $watched 2>/dev/null; watched=; }
trap end EXIT; trap 'exit 0' HUP INT TERM PIPE
ask() { n=$1; shift
if command -v "$1" >/dev/null 2>&1; then text=$($limit "$@" </dev/null 2>&1); code=$?; else text=; code=127; fi
printf '%s\nMARK end %s %s\n' "$text" "$n" "$code"; }
watch() { n=$1; shift; { "$@" </dev/null 2>&1 | while IFS= read -r line; do printf 'MARK line %s %s\n' "$n" "$line"; done; printf 'MARK over %s\n' "$n"; } & watched="$watched $!"; }
printf 'MARK ready\n'
`

// scriptFor is the script with a mark that no program prints.
func scriptFor(mark string) string {
	return strings.NewReplacer("MARK", mark, "LIMIT", strconv.Itoa(int(hangLimit.Seconds()))).Replace(script)
}

// quoted makes words of a shell that it takes as they are.
func quoted(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}
