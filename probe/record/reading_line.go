package record

import (
	"math"
	"reflect"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// readingLine is a reading of the engine, and where its fields come from.
type readingLine struct {
	At               time.Time `json:"at"`
	Engine           string    `json:"engine,omitempty"`
	Via              string    `json:"via,omitempty"`
	Router           bool      `json:"router,omitempty"`
	Model            string    `json:"model,omitempty"`
	Ranks            int       `json:"ranks,omitempty"`
	PrefixUnit       string    `json:"prefix_unit,omitempty"`
	CountersOnFinish bool      `json:"counters_on_finish,omitempty"`
	Restarted        bool      `json:"restarted,omitempty"`
	Regrouped        bool      `json:"regrouped,omitempty"`
	Replica          string    `json:"replica,omitempty"`
	Settings         []string  `json:"settings,omitempty"`
	Notes            []string  `json:"notes,omitempty"`

	Running              opt.Float `json:"running"`
	Waiting              opt.Float `json:"waiting"`
	Paused               opt.Float `json:"paused,omitzero"`
	WaitingMean          opt.Float `json:"waiting_mean,omitzero"`
	KVFill               opt.Float `json:"kv_fill"`
	KVFillMax            opt.Float `json:"kv_fill_max"`
	KVCapacityTokens     opt.Float `json:"kv_capacity_tokens"`
	KVCapacityBlocks     opt.Float `json:"kv_capacity_blocks,omitzero"`
	KVBlockTokens        opt.Float `json:"kv_block_tokens,omitzero"`
	KVUsedTokens         opt.Float `json:"kv_used_tokens,omitzero"`
	MaxModelLen          opt.Float `json:"max_model_len,omitzero"`
	MaxRunning           opt.Float `json:"max_running,omitzero"`
	Servers              opt.Float `json:"servers,omitzero"`
	ModelsLoaded         opt.Float `json:"models_loaded,omitzero"`
	GPUShare             opt.Float `json:"gpu_share,omitzero"`
	Preemptions          opt.Float `json:"preemptions"`
	PrefixQueries        opt.Float `json:"prefix_queries"`
	PrefixHits           opt.Float `json:"prefix_hits"`
	PromptTokens         opt.Float `json:"prompt_tokens"`
	CachedTokens         opt.Float `json:"cached_tokens,omitzero"`
	GenerationTokens     opt.Float `json:"generation_tokens"`
	LiveDecodeTokens     opt.Float `json:"live_decode_tokens,omitzero"`
	LivePrefillTokens    opt.Float `json:"live_prefill_tokens,omitzero"`
	LiveCachedTokens     opt.Float `json:"live_cached_tokens,omitzero"`
	RequestsOK           opt.Float `json:"requests_ok,omitzero"`
	RequestsFailed       opt.Float `json:"requests_failed,omitzero"`
	RequestsAborted      opt.Float `json:"requests_aborted,omitzero"`
	RequestsReceived     opt.Float `json:"requests_received,omitzero"`
	PrefixHitRate        opt.Float `json:"prefix_hit_rate"`
	PromptTokensPerS     opt.Float `json:"prompt_tokens_per_s"`
	GenerationTokensPerS opt.Float `json:"generation_tokens_per_s"`

	TTFT    histogramLine `json:"ttft_s,omitzero"`
	Gap     histogramLine `json:"gap_s,omitzero"`
	TPOT    histogramLine `json:"tpot_s,omitzero"`
	Queue   histogramLine `json:"queue_s,omitzero"`
	Prefill histogramLine `json:"prefill_s,omitzero"`
	Decode  histogramLine `json:"decode_s,omitzero"`
	E2E     histogramLine `json:"e2e_s,omitzero"`

	KVByRank []rankLine                  `json:"kv_by_rank,omitempty"`
	Origins  map[engine.Field]originLine `json:"origins,omitempty"`
}

type rankLine struct {
	Rank string `json:"rank"`
	Fill finite `json:"fill"`
}

type originLine struct {
	Source string    `json:"source"`
	At     time.Time `json:"at"`
	Remark string    `json:"remark,omitempty"`
}

// histogramLine leaves out the last bound, +Inf, which JSON cannot hold.
type histogramLine struct {
	Bounds []finite `json:"bounds"`
	Counts []finite `json:"counts"` // one more than bounds
	Sum    finite   `json:"sum"`
	Count  finite   `json:"count"`
}

// IsZero tells that the histogram is unknown.
func (l histogramLine) IsZero() bool { return len(l.Counts) == 0 }

// alike are the fields that a line and a Reading have under the same name, in the
// same type. The others are turned over one by one.
var alike = func() (pairs []struct{ line, reading int }) {
	line, reading := reflect.TypeFor[readingLine](), reflect.TypeFor[engine.Reading]()
	for i := range line.NumField() {
		f, ok := reading.FieldByName(line.Field(i).Name)
		if ok && f.Type == line.Field(i).Type {
			pairs = append(pairs, struct{ line, reading int }{i, f.Index[0]})
		}
	}
	return pairs
}()

func fromReading(r *engine.Reading) *readingLine {
	l := &readingLine{
		TTFT: fromHistogram(r.TTFT), Gap: fromHistogram(r.Gap), TPOT: fromHistogram(r.TPOT), Queue: fromHistogram(r.Queue),
		Prefill: fromHistogram(r.Prefill), Decode: fromHistogram(r.Decode), E2E: fromHistogram(r.E2E),
	}
	line, reading := reflect.ValueOf(l).Elem(), reflect.ValueOf(r).Elem()
	for _, p := range alike {
		line.Field(p.line).Set(reading.Field(p.reading))
	}
	for _, rank := range r.KVByRank {
		l.KVByRank = append(l.KVByRank, rankLine{rank.Rank, finite(rank.Fill)})
	}
	if len(r.Origins) > 0 {
		l.Origins = map[engine.Field]originLine{}
	}
	for field, o := range r.Origins {
		l.Origins[field] = originLine(o)
	}
	return l
}

func (l *readingLine) reading() engine.Reading {
	r := engine.Reading{
		TTFT: l.TTFT.histogram(), Gap: l.Gap.histogram(), TPOT: l.TPOT.histogram(), Queue: l.Queue.histogram(),
		Prefill: l.Prefill.histogram(), Decode: l.Decode.histogram(), E2E: l.E2E.histogram(),
	}
	line, reading := reflect.ValueOf(l).Elem(), reflect.ValueOf(&r).Elem()
	for _, p := range alike {
		reading.Field(p.reading).Set(line.Field(p.line))
	}
	for _, rank := range l.KVByRank {
		r.KVByRank = append(r.KVByRank, engine.RankFill{Rank: rank.Rank, Fill: float64(rank.Fill)})
	}
	if len(l.Origins) > 0 {
		r.Origins = map[engine.Field]engine.Origin{}
	}
	for field, o := range l.Origins {
		r.Origins[field] = engine.Origin(o)
	}
	return r
}

func fromHistogram(h engine.Histogram) histogramLine {
	n := len(h.Bounds)
	if n == 0 || n != len(h.Counts) || !math.IsInf(h.Bounds[n-1], 1) {
		return histogramLine{}
	}
	l := histogramLine{Sum: finite(h.Sum), Count: finite(h.Count), Bounds: []finite{}}
	for _, b := range h.Bounds[:n-1] {
		l.Bounds = append(l.Bounds, finite(b))
	}
	for _, c := range h.Counts {
		l.Counts = append(l.Counts, finite(c))
	}
	return l
}

func (l histogramLine) histogram() engine.Histogram {
	if len(l.Counts) != len(l.Bounds)+1 {
		return engine.Histogram{}
	}
	h := engine.Histogram{Sum: float64(l.Sum), Count: float64(l.Count)}
	for _, b := range l.Bounds {
		h.Bounds = append(h.Bounds, float64(b))
	}
	h.Bounds = append(h.Bounds, math.Inf(1))
	for _, c := range l.Counts {
		h.Counts = append(h.Counts, float64(c))
	}
	return h
}
