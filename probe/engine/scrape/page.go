package scrape

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sonde/probe/engine/kinds"
	"sonde/probe/plain"
	"sonde/probe/prom"
)

// readNames are all names that some table reads.
var readNames = func() map[string]bool {
	all := map[string]bool{startTime: true}
	for _, k := range kinds.All {
		if k.Table == nil {
			continue
		}
		for _, name := range k.Table.Families() {
			all[name], all[strings.TrimSuffix(name, totalSuffix)] = true, true
		}
		for _, name := range k.Prefixes {
			all[name] = true // the whole name, where the engine has no prefix
		}
	}
	return all
}()

// newParser makes a parser of what the tables read.
func newParser() *prom.Parser {
	return prom.NewParser(func(name string) bool { return readNames[name] })
}

// fitting returns the engines, of some, whose tables a page can be read with, the page's own
// first and companions after it. Gateways publish the same under old and new names: only the
// first engine's own table is used.
func fitting(page prom.Page, among []*kinds.Kind) []*kinds.Kind {
	var own, companions []*kinds.Kind
	for _, k := range on(page, among) {
		switch {
		case k.Table == nil:
		case k.Table.Companion:
			companions = append(companions, k)
		case own == nil:
			own = []*kinds.Kind{k}
		}
	}
	return append(own, companions...)
}

// on returns the engines, of some, whose metrics a page holds.
func on(page prom.Page, among []*kinds.Kind) []*kinds.Kind {
	names := page.Names()
	return slices.DeleteFunc(slices.Clone(among), func(k *kinds.Kind) bool { return !isOn(k, page, names) })
}

// newSearchParser makes a parser of everything that a known engine publishes, whether it is
// read or not.
func newSearchParser() *prom.Parser {
	return prom.NewParser(func(name string) bool {
		return slices.ContainsFunc(kinds.All, func(k *kinds.Kind) bool { return publishes(k, name) })
	})
}

// unreadable says why a metrics page gives no reading. k is the engine by its model list.
func unreadable(body []byte, k *kinds.Kind) string {
	page, err := newSearchParser().Parse(body)
	if err != nil {
		return err.Error()
	}
	if by := on(page, kinds.All); len(by) > 0 {
		return whyUnread(by[0])
	}
	wayOut := "give the engine's own address with --metrics"
	if k.Empty != "" {
		wayOut = k.Empty + ", or " + wayOut
	}
	return "no engine metrics on this page: " + wayOut
}

// whyUnread says what can be done about an engine's page that is there and not read.
func whyUnread(k *kinds.Kind) string {
	if k.NoPage != "" {
		return k.NoPage
	}
	if k.Empty != "" {
		return fmt.Sprintf("%s's own metrics are not read: %s", k.Name, k.Empty)
	}
	return "sonde does not read " + k.Name + "'s metrics yet"
}

// pageRefusal explains a metrics page that answers another status than 200, with the
// server's own words, and says what to do about it.
func (f fetcher) pageRefusal(a answer, k *kinds.Kind) string {
	where := fmt.Sprintf("%d at %s", a.status, a.where())
	said := f.said(a)
	switch {
	case a.needsKey():
		says := keyRefusal(a, "give --api-key, or an address that needs none with --metrics")
		if said != "" {
			says += "; it says: " + said
		}
		return says
	case k.Missing != "" && (a.status == http.StatusNotFound || a.status == http.StatusNotImplemented):
		return where + ": " + k.Missing
	case a.loading():
		return where + ": the model is still loading, wait until it is up"
	case said != "":
		where += ": " + said + "; "
	default:
		where += ": "
	}
	return where + f.otherPage() + through(a.proxy)
}

// otherPage is the advice where a metrics page is not the right one.
func (f fetcher) otherPage() string {
	if f.config.MetricsURL == "" {
		return "give --metrics URL"
	}
	return "check the address given with --metrics"
}

// said is what a server says in a response that is not what it should be: its message, or
// the title of a web page. It may repeat a key, which is hidden.
func (f fetcher) said(a answer) string {
	const most = 150 // runes
	body := bytes.TrimSpace(a.body[:min(len(a.body), 64<<10)])
	if len(body) == 0 || strings.EqualFold(string(body), http.StatusText(a.status)) {
		return ""
	}
	return f.config.hide(plain.Line(strings.TrimPrefix(plain.ErrorMessage(body), "an HTML page: "), most))
}

// where is the address of an answer, and where a redirect led.
func (a answer) where() string {
	if a.redirected == "" {
		return shown(a.url)
	}
	return shown(a.url) + ", redirected to " + shown(a.redirected)
}

// kindByList decides by the answer that brought the model list; nil if it does not show.
func kindByList(header http.Header, model kinds.Object) *kinds.Kind {
	for _, k := range kinds.All {
		if sentBy(k, header) {
			return k
		}
	}
	for _, k := range kinds.All {
		owns := func(owner string) bool { return strings.EqualFold(owner, model.Text("owned_by")) }
		if slices.ContainsFunc(k.OwnedBy, owns) || k.Entry != nil && model != nil && k.Entry(model) {
			return k
		}
	}
	return nil
}

// sentBy reports whether the headers of an answer can only be that engine's.
func sentBy(k *kinds.Kind, header http.Header) bool {
	server := strings.ToLower(header.Get("Server"))
	return k.Server != "" && strings.HasPrefix(server, k.Server) || k.Header != "" && header.Get(k.Header) != ""
}

// publishes reports whether a metric's name is one of that engine's.
func publishes(k *kinds.Kind, metric string) bool {
	return slices.ContainsFunc(k.Prefixes, func(prefix string) bool { return strings.HasPrefix(metric, prefix) })
}

// isOn reports whether a page, with these names, holds that engine's metrics.
func isOn(k *kinds.Kind, page prom.Page, names []string) bool {
	with := false
	for _, name := range names {
		if !publishes(k, name) {
			continue
		}
		if with = with || len(k.With) == 0; with && len(k.Without) == 0 {
			return true
		}
		for _, s := range page.Samples(name) {
			if len(k.Without) > 0 && hasAll(s.Labels, k.Without) {
				return false
			}
			with = with || hasAll(s.Labels, k.With)
		}
	}
	return with
}

func hasAll(labels map[string]string, want []string) bool {
	return !slices.ContainsFunc(want, func(label string) bool { return labels[label] == "" })
}
