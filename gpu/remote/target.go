// Package remote runs programs on another machine, through the system's ssh: with its
// configuration, agent, jump hosts and known hosts. Nothing is installed there.
package remote

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Scheme begins the address of a machine that is reached by SSH.
const Scheme = "ssh://"

// Target is a machine that is reached by SSH. User and Port are "" if ssh's own
// configuration decides.
type Target struct{ User, Host, Port string }

// Parse reads ssh://[user@]host[:port]; host may be a name of ssh's configuration.
func Parse(address string) (Target, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ssh" || u.Hostname() == "" {
		return Target{}, errors.New("must be ssh://[user@]host[:port]")
	}
	t := Target{u.User.Username(), u.Hostname(), u.Port()}
	if _, has := u.User.Password(); has {
		return t, errors.New("must not hold a password: ssh logs in with a key or its agent")
	}
	if strings.HasPrefix(t.Host, "-") || strings.HasPrefix(t.User, "-") || strings.ContainsAny(t.Host+t.User, " \t\r\n\x00") {
		return t, errors.New("must be ssh://[user@]host[:port]")
	}
	if port, err := strconv.Atoi(cmp.Or(t.Port, "22")); err != nil || port < 1 || port > 65535 {
		return t, errors.New("must have a port from 1 to 65535")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return t, errors.New("must end after the host or its port")
	}
	return t, nil
}

// String is the target as people write it.
func (t Target) String() string {
	text := t.Host
	if t.Port != "" {
		text = net.JoinHostPort(t.Host, t.Port)
	}
	if t.User != "" {
		text = t.User + "@" + text
	}
	return text
}

// command is what a person types to log in.
func (t Target) command() string {
	words := []string{"ssh"}
	if t.Port != "" {
		words = append(words, "-p", t.Port)
	}
	host := t.Host
	if t.User != "" {
		host = t.User + "@" + host
	}
	return strings.Join(append(words, host), " ")
}

// args are those of ssh. It never asks on our screen, forwards nothing, and notices within
// 15 s that the other side is gone.
func (t Target) args() []string {
	args := []string{"-T", "-a", "-x", "-e", "none"}
	for _, option := range []string{
		"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "ClearAllForwardings=yes",
		"ControlMaster=no", "RemoteCommand=none", "LogLevel=ERROR",
	} {
		args = append(args, "-o", option)
	}
	if t.Port != "" {
		args = append(args, "-p", t.Port)
	}
	if t.User != "" {
		args = append(args, "-l", t.User)
	}
	return append(args, "--", t.Host, "exec sh -s")
}
