package remote

import (
	"fmt"
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
// stand for the target.
var failures = []struct {
	said    string
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
	{"no route to host", "HOST cannot be reached from here: check the VPN and the network", false},
	{"network is unreachable", "HOST cannot be reached from here: check the VPN and the network", false},
	{"kex_exchange_identification", "HOST ended the connection before the login: check that sshd listens on this port", false},
	{"connection closed by", "HOST ended the connection before the login: check its sshd", false},
	{"connection reset by", "HOST ended the connection before the login: check its sshd", false},
}

// loginFailure explains what ssh wrote before it ended.
func (t Target) loginFailure(said string, code int) *Failure {
	lower := strings.ToLower(said)
	for _, f := range failures {
		at := strings.Index(lower, f.said)
		if at < 0 {
			continue
		}
		methods := "no method left"
		if _, rest, ok := strings.Cut(said[at:], "("); ok {
			if inner, _, ok := strings.Cut(rest, ")"); ok {
				methods = gpu.Clean(inner)
			}
		}
		text := strings.NewReplacer("HOST", gpu.Clean(t.String()), "COMMAND", gpu.Clean(t.command()), "METHODS", methods).Replace(f.text)
		return &Failure{text, f.refused}
	}
	switch last := lastLine(said); {
	case code == 127 || code == 126:
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
