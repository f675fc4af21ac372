package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/engine/scrape"
	"sonde/probe/units"
)

// scrapeConfig is how the engine's own pages are read beside a Session.
func scrapeConfig(o Options, addr api.Address) scrape.Config {
	header := make(http.Header)
	api.SetCredentials(header, o.APIKey, addr.User, o.Header)
	base := *addr.Base
	base.RawQuery = ""
	return scrape.Config{Base: strings.TrimRight(base.String(), "/"), Query: addr.Base.RawQuery, Header: header, Client: httpClient(o)}
}

// Engines behind a load balancer answer in turn, which one look at the page does not show.
const (
	againEvery = 200 * time.Millisecond
	againFor   = 1100 * time.Millisecond // six looks
)

// readAgain reads the metrics page a few times, each over a connection of its own, unless a
// read costs the engine something. It returns the last status: one without figures if
// several engines answer, else with what was not known at first.
func readAgain(ctx context.Context, o Options, addr api.Address, status engine.Status) engine.Status {
	id := status.Identity
	if o.Metrics == probe.FromPrometheus || !status.Have || id.MetricsURL == "" || kinds.ByID(id.Kind).Every > 0 {
		return status
	}
	config := scrapeConfig(o, addr)
	config.MetricsURL, config.Interval = o.Metrics, againEvery
	ctx, cancel := context.WithTimeout(ctx, againFor)
	defer cancel()
	again := scrape.NewSource(config, id)
	again.Run(ctx)
	if now := again.Latest(); now.State == engine.Several || now.State == engine.Ready {
		return now
	}
	return status
}

// tokenizer asks the engine to count a prompt, which generates nothing.
func (r *Report) tokenizer(ctx context.Context, o Options, addr api.Address, id engine.Identity) {
	s := r.section("engine")
	if n, ok := scrape.CountTokens(ctx, scrapeConfig(o, addr), id, requestText, api.Kind(o.API) == api.Chat); ok {
		s.ok("tokenizer", fmt.Sprintf("the engine counts %d tokens in a test prompt: prompts have the requested length from the start", n))
		return
	}
	what := "a prompt"
	if api.Kind(o.API) == api.Chat {
		what = "a chat with its template"
	}
	s.missing("tokenizer", "none that counts "+what+": the first prompts may be longer or shorter than requested", "nothing to do: lengths are learned from the usage in responses")
}

// engine says which engine it is, and what it reports about itself.
func (r *Report) engine(id engine.Identity) {
	s := r.section("engine")
	switch {
	case id.Kind == "":
		s.missing("engine", "not recognised: measuring works, but queue and KV cache are not shown", "name the engine's metrics page with --metrics URL")
		return
	case id.Version == "":
		s.ok("engine", id.Name+", version unknown")
	default:
		s.ok("engine", id.Name+" "+id.Version)
	}
	about := slices.Clone(id.About)
	if id.MaxRunning > 0 {
		about = append(about, units.WholeCommas(float64(id.MaxRunning))+" concurrent requests")
	}
	if id.MaxInputLen > 0 {
		about = append(about, "prompts of up to "+units.WholeCommas(float64(id.MaxInputLen))+" tokens")
	}
	if len(about) > 0 {
		s.ok("settings", strings.Join(about, ", "))
	}
}

// metrics says whether the engine's metrics can be read, and what is missing in them.
func (r *Report) metrics(status engine.Status, need Need) {
	s := r.section("engine")
	reading := &status.Reading
	page := status.Identity.MetricsURL
	u, err := url.Parse(page)
	if err == nil && u.Host != "" {
		s = s.via(api.Redacted(u), "")
	}
	switch {
	case !status.Have && status.State == engine.Off:
		s.skipped("metrics", status.Why)
		return
	case !status.Have:
		s.needs(need).missing("metrics", status.Why, "")
		return
	case status.Why != "":
		s.missing("metrics", "read, but no newer ones: "+status.Why, "check that this page is still up")
	case page == "" && status.Identity.MetricsWhy != "":
		_, lacking, _ := sortedFields(status)
		advice := "nothing to do: there are none to enable"
		if len(lacking) > 0 {
			advice = "until then, unknown: " + strings.Join(lacking, ", ")
		}
		s.needs(need).missing("metrics", status.Identity.MetricsWhy, advice)
	case err == nil && u.Host != "":
		s.ok("metrics", "at "+api.Redacted(u))
	default:
		s.ok("metrics", "read")
	}
	s.fields(status)
	for _, note := range reading.Notes {
		if note != status.Identity.MetricsWhy {
			s.ok("note", note)
		}
	}
}

// figures are the fields that the screen and the verdict use, with an equivalent
// field, if there is one.
var figures = []struct{ field, or engine.Field }{
	{engine.FieldRunning, ""}, {engine.FieldWaiting, engine.FieldWaitingMean}, {engine.FieldKVFill, ""}, {engine.FieldKVCapacity, engine.FieldKVBlocks},
	{engine.FieldPreemptions, ""}, {engine.FieldPrefixHits, engine.FieldHitRateGauge}, {engine.FieldPromptTokens, engine.FieldLivePrefill},
	{engine.FieldGenerationTokens, engine.FieldOutputGauge}, {engine.FieldTTFT, ""}, {engine.FieldGap, engine.FieldTPOT},
	{engine.FieldQueue, ""}, {engine.FieldPrefill, ""}, {engine.FieldE2E, ""},
}

// fields says which figures the page has, and which are missing: those that the
// engine could report, and those that no version of it does.
func (s section) fields(status engine.Status) {
	found, lacking, never := sortedFields(status)
	if len(found) > 0 {
		s.ok("reported", strings.Join(found, ", "))
	}
	switch {
	case len(lacking) > 0 && status.Identity.MetricsURL == "":
		// The metrics line lists them.
	case len(lacking) > 0:
		s.missing("not on the page", strings.Join(lacking, ", "), "a newer version of the engine may have them; some appear with the first requests")
	case len(never) == 0:
		s.ok("missing fields", "none")
	}
	if len(never) > 0 {
		s.ok("never reported", strings.Join(never, ", ")+": not by "+status.Identity.Name+"; what clients see of these is measured anyway")
	}
}

// sortedFields sorts the figures by what a reading holds and its engine offers.
// The page may be that of another engine than the one that answers requests.
func sortedFields(status engine.Status) (found, lacking, never []string) {
	kind := status.Reading.Engine
	if kind == "" {
		kind = status.Identity.Kind
	}
	offered := kinds.Offers(kind)
	for _, f := range figures {
		switch name := string(f.field); {
		case status.Reading.Known(f.field) || f.or != "" && status.Reading.Known(f.or):
			found = append(found, name)
		case len(offered) == 0, slices.Contains(offered, f.field), f.or != "" && slices.Contains(offered, f.or):
			lacking = append(lacking, name)
		default:
			never = append(never, name)
		}
	}
	return found, lacking, never
}
