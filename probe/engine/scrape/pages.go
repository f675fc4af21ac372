package scrape

import (
	"fmt"
	"net/http"

	"sonde/probe/prom"
)

// readNames are all names that some table reads.
var readNames = func() map[string]bool {
	all := map[string]bool{}
	for _, k := range kinds {
		if k.table == nil {
			continue
		}
		for name := range k.table.families() {
			all[name] = true
		}
		for _, name := range k.prefixes {
			all[name] = true // the whole name, where the engine has no prefix
		}
	}
	return all
}()

// newParser makes a parser of what the tables read.
func newParser() *prom.Parser {
	return prom.NewParser(func(name string) bool { return readNames[name] })
}

// readable parses a page as far as the tables go, and returns the engines whose
// tables fit, the page's own first and companions behind it; none if none does.
func readable(parser *prom.Parser, body []byte) (prom.Page, []*kind, error) {
	page, err := parser.Parse(body)
	if err != nil {
		return page, nil, err
	}
	return page, fitting(page, kinds), nil
}

// fitting returns the engines, of some, whose tables a page can be read with. Gateways say
// the same in old and new names: only the first engine's own table counts.
func fitting(page prom.Page, among []*kind) []*kind {
	var own, companions []*kind
	names := page.Names()
	for _, k := range among {
		switch {
		case k.table == nil:
		case !k.table.companion && own != nil:
		case !k.on(page, names):
		case k.table.companion:
			companions = append(companions, k)
		default:
			own = []*kind{k}
		}
	}
	return append(own, companions...)
}

// publisher returns the engine whose metrics a page holds; nil if it is nobody's.
func publisher(page prom.Page) *kind {
	names := page.Names()
	for _, k := range kinds {
		if k.on(page, names) {
			return k
		}
	}
	return nil
}

// engineNames accepts the names of every known engine.
func engineNames(name string) bool {
	for _, k := range kinds {
		if k.publishes(name) {
			return true
		}
	}
	return false
}

// unreadable says why a metrics page gives no reading. k is the engine by its
// model list.
func unreadable(body []byte, k *kind) string {
	page, err := prom.Parse(body, engineNames)
	if err != nil {
		return err.Error()
	}
	if by := publisher(page); by != nil {
		return by.notRead()
	}
	wayOut := "give the engine's own address with --metrics"
	if k.empty != "" {
		wayOut = k.empty + ", or " + wayOut
	}
	return "no engine metrics on this page: " + wayOut
}

// notRead says what can be done about an engine's page that is there and not read.
func (k *kind) notRead() string {
	if k.noPage != "" {
		return k.noPage
	}
	if k.empty != "" {
		return fmt.Sprintf("%s's own metrics are not read: %s", k.name, k.empty)
	}
	return k.name + "'s metrics are not read yet"
}

// pageRefusal says what to do about a metrics page that answers another status
// than 200.
func pageRefusal(a answer, k *kind) string {
	where := shown(a.url)
	switch {
	case a.needsKey():
		return keyRefusal(a, "give --api-key, or an address that needs none with --metrics")
	case k.missing != "" && (a.status == http.StatusNotFound || a.status == http.StatusNotImplemented):
		return fmt.Sprintf("%d at %s: %s", a.status, where, k.missing)
	case a.loading():
		return fmt.Sprintf("%d at %s: the model is still loading, wait until it is up", a.status, where)
	}
	return fmt.Sprintf("%d at %s: give --metrics URL", a.status, where) + through(a.proxy)
}

// notMetrics says what is at an address instead of a metrics page.
func notMetrics(address string, err error) string {
	return fmt.Sprintf("%s: %v; give --metrics URL", shown(address), err)
}
