package api

import (
	"net/http"
	"strings"

	"sonde/probe/measure"
)

// adapt reports whether the request is worth another attempt: the server refused its
// form, and the client has changed to another one.
func (x *exchange) adapt() bool {
	c := x.client
	switch x.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return x.Class == measure.HTTP4xx && c.dialect.refuse(x.Error, x.off)
	case http.StatusNotFound:
		return c.otherPath(x)
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return c.followOnce(x)
	}
	if x.Status != 0 {
		c.begun.Store(true)
	}
	return false
}

// otherPath moves from <base>/v1/… to <base>/… when the first does not exist. A 404
// that mentions the model is a real answer.
func (c *Client) otherPath(x *exchange) bool {
	candidates := c.opt.Address.Requests
	if c.begun.Load() || len(candidates) < 2 || strings.Contains(strings.ToLower(x.Error), "model") {
		return false
	}
	if c.target.CompareAndSwap(candidates[0], candidates[1]) {
		return true
	}
	return x.target == candidates[0] // another stream has moved on meanwhile
}

// followOnce follows a redirect that keeps the method, to the same host only, and
// before any answer: later it would change what is being measured.
func (c *Client) followOnce(x *exchange) bool {
	to, err := x.target.Parse(x.location)
	if err != nil || x.location == "" || to.Host != x.target.Host || to.Scheme != x.target.Scheme {
		return false
	}
	if c.note.Load() != nil {
		return c.target.Load() != x.target
	}
	if c.begun.Load() {
		return false
	}
	note := "redirected once to " + Redacted(to)
	c.note.Store(&note)
	c.target.Store(to)
	return true
}
