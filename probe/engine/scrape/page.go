package scrape

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// readNames are all names that some table reads.
var readNames = func() map[string]bool {
	all := map[string]bool{startTime: true}
	for _, k := range kinds.All {
		if k.Table == nil {
			continue
		}
		for name := range k.Table.Families() {
			all[name] = true
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

// readable parses a page as far as the tables go, and returns the engines whose
// tables fit, the page's own first and companions behind it; none if none does.
func readable(parser *prom.Parser, body []byte) (prom.Page, []*kinds.Kind, error) {
	page, err := parser.Parse(body)
	if err != nil {
		return page, nil, err
	}
	return page, fitting(page, kinds.All), nil
}

// fitting returns the engines, of some, whose tables a page can be read with. Gateways say
// the same in old and new names: only the first engine's own table counts.
func fitting(page prom.Page, among []*kinds.Kind) []*kinds.Kind {
	var own, companions []*kinds.Kind
	names := page.Names()
	for _, k := range among {
		switch {
		case k.Table == nil:
		case !k.Table.Companion && own != nil:
		case !isOn(k, page, names):
		case k.Table.Companion:
			companions = append(companions, k)
		default:
			own = []*kinds.Kind{k}
		}
	}
	return append(own, companions...)
}

// publisher returns the engine whose metrics a page holds; nil if it is nobody's.
func publisher(page prom.Page) *kinds.Kind {
	names := page.Names()
	for _, k := range kinds.All {
		if isOn(k, page, names) {
			return k
		}
	}
	return nil
}

// engineNames accepts the names of every known engine.
func engineNames(name string) bool {
	for _, k := range kinds.All {
		if publishes(k, name) {
			return true
		}
	}
	return false
}

// unreadable says why a metrics page gives no reading. k is the engine by its
// model list.
func unreadable(body []byte, k *kinds.Kind) string {
	page, err := prom.Parse(body, engineNames)
	if err != nil {
		return err.Error()
	}
	if by := publisher(page); by != nil {
		return whyUnread(by)
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
	return k.Name + "'s metrics are not read yet"
}

// pageRefusal says what to do about a metrics page that answers another status
// than 200.
func pageRefusal(a answer, k *kinds.Kind) string {
	where := shown(a.url)
	switch {
	case a.needsKey():
		return keyRefusal(a, "give --api-key, or an address that needs none with --metrics")
	case k.Missing != "" && (a.status == http.StatusNotFound || a.status == http.StatusNotImplemented):
		return fmt.Sprintf("%d at %s: %s", a.status, where, k.Missing)
	case a.loading():
		return fmt.Sprintf("%d at %s: the model is still loading, wait until it is up", a.status, where)
	}
	return fmt.Sprintf("%d at %s: give --metrics URL", a.status, where) + through(a.proxy)
}

// notMetrics says what is at an address instead of a metrics page.
func notMetrics(address string, err error) string {
	return fmt.Sprintf("%s: %v; give --metrics URL", shown(address), err)
}

// kindByList decides by the answer that brought the model list; nil if it does not show.
func kindByList(header http.Header, model kinds.Object) *kinds.Kind {
	for _, k := range kinds.All {
		if sentBy(k, header) {
			return k
		}
	}
	owner := model.Text("owned_by")
	for _, k := range kinds.All {
		for _, o := range k.OwnedBy {
			if strings.EqualFold(o, owner) {
				return k
			}
		}
		if k.Entry != nil && model != nil && k.Entry(model) {
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
	for _, prefix := range k.Prefixes {
		if strings.HasPrefix(metric, prefix) {
			return true
		}
	}
	return false
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
