package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/engine/scrape"
	"sonde/probe/frame"
	"sonde/probe/plain"
	"sonde/probe/units"
)

// idleTimeout is how long the one request may wait for a byte.
const idleTimeout = 30 * time.Second

// loadingPatience is longer than the model list may take. A Session keeps waiting for
// a server that loads its model, however long that takes; a checklist does not.
var loadingPatience = 12 * time.Second // tests wait less

// endpoint examines everything behind the connection, as a measurement would see
// it: the readings of engine and GPU are those of a Session without load.
func (r *Report) endpoint(ctx context.Context, o Options, addr api.Address) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Idle = idleTimeout
	quiet := o.Options
	quiet.Load = frame.Load{}
	session, err := probe.New(quiet)
	if err != nil {
		r.section("endpoint").failed("settings", err.Error(), "")
		return
	}
	session.Start(ctx)
	defer session.Close()
	began := time.Now()
	loading := time.AfterFunc(loadingPatience, cancel)
	err = session.Connect(ctx)
	switch expired := !loading.Stop(); {
	case err != nil && expired:
		r.section("models").failed("list", "the server is still loading its model (503)", "wait until it is up, or check its log")
		return
	case err != nil:
		r.unlisted(ctx, o, addr, err)
		return
	}
	id := awaitFrame(ctx, session, func(f *frame.Frame) bool { return f.Target.URL != "" }).Engine.Identity
	r.listed(o, addr, id)
	if o.Watch {
		r.section("request").skipped("answer", "no request was sent (--watch)")
	} else {
		r.request(ctx, o, addr, id)
	}
	r.tokenizer(ctx, o, addr, id)
	last := awaitFrame(ctx, session, func(f *frame.Frame) bool {
		return engineSettled(f.Engine, o.Metrics) && gpuSettled(f.GPU, o.GPU) || time.Since(began) > gpuWait(o.GPU)
	})
	r.engine(last.Engine.Identity)
	status := readAgain(ctx, o, addr, last.Engine)
	r.metrics(status, o.metricsNeed(ctx, addr, status))
	r.gpus(last.GPU, o.GPU, api.IsLocal(addr.Base))
	r.prometheus(ctx, o, last.Engine, last.GPU)
}

// engineSettled reports whether a metrics page was read, or is known not to exist.
// A Prometheus server may still find series at its next answer.
func engineSettled(s engine.Status, source string) bool {
	return s.Have || source != probe.FromPrometheus && (s.Identity.MetricsURL == "" || s.State != engine.Connecting)
}

// gpuSettled reports whether GPUs and their interval are known, or there are none.
func gpuSettled(s gpu.Status, source string) bool {
	if len(s.GPUs) > 0 || source == probe.FromPrometheus {
		return s.Period > 0
	}
	return s.State != gpu.Looking
}

// awaitFrame waits for a Frame; when ctx ends it takes the newest one.
func awaitFrame(ctx context.Context, s *probe.Session, good func(*frame.Frame) bool) *frame.Frame {
	newest := &frame.Frame{}
	for {
		if frames := s.Since(newest.Seq); len(frames) > 0 {
			newest = frames[len(frames)-1]
		}
		if good(newest) || ctx.Err() != nil {
			return newest
		}
		select {
		case <-s.Tick():
		case <-ctx.Done():
		}
	}
}

// unlisted explains why there is no model list, on which everything depends.
func (r *Report) unlisted(ctx context.Context, o Options, addr api.Address, err error) {
	s := r.section("models").via(api.Redacted(addr.Base), o.rights(addr))
	var list *scrape.ListError
	if !errors.As(err, &list) {
		s.failed("list", err.Error(), "")
		return
	}
	switch {
	case keyRefused(list.Status):
		found, advice := o.aboutKey(addr)
		s.failed("key", fmt.Sprintf("the server %s (%d)", found, list.Status), advice)
	case addr.Base.Scheme == "http" && speaksTLS(ctx, api.HostPort(addr.Base)):
		s.failed("list", "the server speaks TLS on this port", "use https://")
	case list.Status != 0:
		s.failed("list", list.Says, "if the server has no model list, add --model NAME")
	default:
		s.failed("list", list.Says, "") // which says what to do
	}
}

func keyRefused(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// aboutKey says what the server did with the key, and what to do about it.
func (o Options) aboutKey(addr api.Address) (found, advice string) {
	if o.APIKey != "" || addr.User != nil || len(o.Header) > 0 {
		return "refused it", "check --api-key, --header and OPENAI_API_KEY"
	}
	return "requires one", "use --api-key, or set OPENAI_API_KEY"
}

// speaksTLS tries a handshake; whose certificate it is does not matter here.
func speaksTLS(ctx context.Context, hostPort string) bool {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	d := tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{InsecureSkipVerify: true}}
	c, err := d.DialContext(ctx, "tcp", hostPort)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// listed says what the model list holds.
func (r *Report) listed(o Options, addr api.Address, id engine.Identity) {
	s := r.section("models").via(api.Redacted(addr.Base), o.rights(addr))
	if o.APIKey != "" {
		s.ok("key", "accepted for the model list")
	} else {
		s.ok("key", "not needed for the model list")
	}
	switch n := len(id.Models); {
	case n == 0:
		s.missing("list", "empty: requests name "+cmp.Or(id.Model, "no model"), "load a model, or use --model NAME")
	case !slices.Contains(id.Models, id.Model):
		s.missing("list", fmt.Sprintf("does not contain %q: %s", id.Model, plain.FirstFew(id.Models, 5)), "check --model")
	default:
		s.ok("list", fmt.Sprintf("%s: %s; requests name %s", units.Count(n, "model"), plain.FirstFew(id.Models, 3), id.Model))
	}
	if id.MaxModelLen > 0 {
		s.ok("context", units.WholeCommas(float64(id.MaxModelLen))+" tokens")
	}
}
