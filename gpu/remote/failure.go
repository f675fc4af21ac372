package remote

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sonde/gpu"
)

// Failure is a login that failed, in one line for people.
type Failure struct {
	Text    string
	Refused bool // trying again soon is no use
}

func (f *Failure) Error() string { return f.Text }

// failures are what ssh says, the most telling first, and what to do. HOST and COMMAND
// stand for the target, METHODS for the ways to log in that it still offered.
var failures = []struct {
	said    string // in lower case; several are separated by |
	text    string
	refused bool
}{
	{"identification has changed", "the host key of HOST has changed: if that is right, remove the old one with ssh-keygen -R, then run COMMAND once", true},
	{"host key verification failed", "the host key of HOST is not known here: run COMMAND once and confirm it", true},
	{"too many authentication failures", "HOST refuses the login after too many keys: set IdentityFile and IdentitiesOnly yes for it in ~/.ssh/config", true},
	{"permission denied", "HOST refuses the login (METHODS): COMMAND has to work without a password, with a key or ssh-agent", true},
	{"bad owner or permissions", "ssh rejects its own configuration: run chmod 600 ~/.ssh/config", true},
	{"could not resolve hostname", "no host has the name HOST: check it, or add it to ~/.ssh/config", false},
	{"connection refused", "HOST refuses SSH connections: check its port, and that sshd runs there", false},
	{"timed out", "HOST does not answer SSH: check its port, the VPN and the firewall", false},
	{"no route to host|network is unreachable", "HOST cannot be reached from here: check the VPN and the network", false},
	{"kex_exchange_identification", "HOST ended the connection before the login: check that sshd listens on this port", false},
	{"connection closed by|connection reset by", "HOST ended the connection before the login: check its sshd", false},
}

// offered finds the methods in a refusal such as "Permission denied (publickey,password).".
var offered = regexp.MustCompile(`(?i)permission denied \(([^)]*)\)`)

// loginFailure explains what ssh wrote before it ended.
func (t Target) loginFailure(said string, code int) *Failure {
	lower := strings.ToLower(said)
	for _, f := range failures {
		if !slices.ContainsFunc(strings.Split(f.said, "|"), func(words string) bool { return strings.Contains(lower, words) }) {
			continue
		}
		methods := "no method left"
		if m := offered.FindStringSubmatch(said); m != nil {
			methods = gpu.Clean(m[1])
		}
		text := strings.NewReplacer("HOST", gpu.Clean(t.String()), "COMMAND", gpu.Clean(t.command()), "METHODS", methods).Replace(f.text)
		return &Failure{text, f.refused}
	}
	switch last := lastLine(said); {
	case code == codeMissing || code == codeNotRun:
		return &Failure{gpu.Clean(t.String()) + " has no POSIX shell: name an exporter with --gpu URL", true}
	case last != "":
		return &Failure{fmt.Sprintf("ssh to %s failed: %s", gpu.Clean(t.String()), last), false}
	}
	return &Failure{fmt.Sprintf("ssh to %s ended with status %d: check that %s works", gpu.Clean(t.String()), code, gpu.Clean(t.command())), false}
}

// lastLine is the last one that says something.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return gpu.Clean(strings.TrimSpace(lines[len(lines)-1]))
}
