package api

import (
	"context"
	"testing"

	"sonde/probe/measure"
)

func movedTo(path string) script {
	return script{head: "HTTP/1.1 307 Temporary Redirect\r\nLocation: " + path + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"}
}

var oneToken = script{steps: []step{{10, content("a") + finished("stop") + doneMark}}}

// A redirect to the same host is followed once, before measuring. In the middle of
// a run it would change what is measured: it is a failure then.
func TestRedirectIsFollowedOnlyAtTheBeginning(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []script
		want    []measure.Class
		sent    int
	}{
		{"at the beginning", []script{movedTo("/elsewhere"), oneToken}, []measure.Class{measure.OK, measure.OK}, 3},
		{"twice", []script{movedTo("/elsewhere"), movedTo("/third"), oneToken}, []measure.Class{measure.Redirect, measure.OK}, 3},
		{"in the middle", []script{oneToken, movedTo("/elsewhere"), oneToken}, []measure.Class{measure.OK, measure.Redirect}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{scripts: c.scripts}
			inBubble(t, s, nil, func(client *Client) {
				for i, want := range c.want {
					if got := client.Do(context.Background(), Call{Text: "x", MaxTokens: 1}, quiet{}); got.Class != want {
						t.Errorf("request %d: %q %s, want %q", i+1, got.Class, got.Error, want)
					}
				}
			})
			if len(s.paths) != c.sent {
				t.Errorf("asked %v, want %d requests", s.paths, c.sent)
			}
		})
	}
}
