package diagnose

import (
	"time"

	"sonde/probe/measure"
)

// Every number that decides a verdict stands here, or is named here where others use it too;
// docs/verdicts.md quotes them, and a test compares the two. Durations apart, the unit stands
// with each: shares are 0 to 1.

// Spans and samples that several rules share.
const (
	keep       = 30 * time.Second // how far back a verdict looks
	recent     = 5 * time.Second  // how long a state must last before it is called one
	burst      = time.Second      // after a change of load requests begin all together
	latelySpan = 10 * time.Second // of the newest requests, where speed is compared over time
	unheardOf  = 5 * time.Second  // a silence, where nothing is known to compare it with

	enough       = 10  // requests that a judgement needs
	enoughForP99 = 100 // samples: below, p99 is only the maximum

	// Long answers may take minutes to be enough: a few in a while, with as many gaps as
	// show how decoding goes, are judged with reserve.
	few           = 3    // requests
	gapsForFew    = 300  // gaps
	secondsForFew = 20.0 // seconds
)

// What a reader or the hardware calls slow.
const (
	slowTTFTMS     = 1000 // a second before anything is seen
	slowTPOTMS     = 100  // ten tokens per second for a stream: slower than people read
	quickTPOTMS    = 50   // twenty: no slower than people read, whatever the floor is
	slowTPOTFloors = 4    // times the hardware's floor
)

// What is shown of troubles and their end.
const (
	judgeEvery     = time.Second      // the rules are asked at least so often
	troubleFades   = 2 * time.Second  // from when a trouble was last found until it is over
	sameTrouble    = 5 * time.Second  // one that is found again within this time goes on
	recoveredAfter = 5 * time.Second  // clean, and health is shown if there is enough data
	recursAfter    = 4 * time.Second  // without a recurrence, from which on it may be over:
	recursTimes    = 15               // tenths of the time between two,
	recursAtMost   = 15 * time.Second // and not longer
	remembered     = 5 * time.Minute  // after its end a trouble is mentioned beside good health
)

// all_fail, some_fail, rate_limits and loading.
const (
	allFailFewest    = 3               // failures in a row
	allFailShortest  = time.Second     // since the last success
	allFailAnswers   = 1.2             // times the usual E2E, since the last success …
	allFailLongest   = 5 * time.Second // … but not longer
	allFailChance    = 0.001           // that so many in a row are chance
	allFailNewest    = 2 * time.Second // of the failures, whose class is named
	someFailFewest   = 20              // requests, for a share of them
	someFailShare    = 0.05            // of the requests
	failureFades     = 8 * time.Second // after the last failure a server counts as failing
	stoppedFewest    = 3               // successes in a row, to believe that failing is over …
	stoppedShortest  = 2 * time.Second // … after some time …
	stoppedChance    = 0.01            // … by the chance of them if it were not
	rateLimitsFewest = 3               // refusals
	loadingShortest  = time.Second     // since the last answer
	unservedBad      = 5 * time.Second // without any answer, from which on that is bad
)

// client_bottleneck, clumps and tokens_per_chunk.
const (
	clientShare        = 0.5              // of the recent slices
	clientSettling     = 10 * time.Second // after our own process was stopped it catches up
	clumpsFewest       = 100              // chunks
	clumpedShare       = 0.5              // of the chunks
	tokensPerChunkFrom = measure.ManyPerChunk
	tokensPerChunkTo   = measure.FewPerChunk
)

// short_output, long_output and prompt_length.
const (
	lengthsFewest      = 5   // requests
	shortOutputShare   = 0.9 // of the requested length
	longOutputShare    = 1.1 // of the requested length
	longOutputTokens   = 2   // tokens more: some servers count the end of an answer
	promptLengthShare  = 0.1 // of the requested length, either way
	promptLengthTokens = 16  // tokens: a chat template has as many
)

// overload and past_knee.
const (
	overloadSpan       = 15 * time.Second // how long the load must stand still
	overloadOthersSpan = 12 * time.Second // the same, if the queue is not ours alone
	overloadStands     = 16 * time.Second // after it has grown, the queue of all clients may stand
	overloadStood      = 0.9              // of what it had grown to
	overloadFrames     = 6                // Frames in it
	overloadBy         = 3                // requests, from the first third to the last, beyond chance
	overloadTimes      = 1.2              // times the first third
	overloadDone       = 0.9              // of the rate, with all streams in use
	kneeStreams        = 1.5              // times as many streams
	kneeShortest       = 5 * time.Second  // of each level
	kneeAnswers        = 2                // answers of each stream in it
)

// slow_start and path_delay.
const (
	slowStartShare  = 0.3  // of E2E
	slowStartFloors = 2.5  // times the hardware's floor: then the prompt is long
	slowStartInside = 0.5  // of our TTFT: less, and it is not the engine's
	slowStartKVFull = 0.9  // fill of the KV cache
	pathFewest      = 20   // requests
	pathTimes       = 2    // times the engine's TTFT
	pathByMS        = 100  // ms more
	sameCount       = 0.25 // of our requests, by which the engine's count may differ
)

// preemptions, kv_full and prefix_cache.
const (
	kvFullFrom       = 0.95             // fill of the fullest rank
	kvRoomSpan       = 15 * time.Second // in which requests always wait
	kvRoomFrom       = 0.85             // highest fill of the fullest rank
	kvReserve        = 0.03             // of the cache, free for growing answers
	outOfKVSpan      = 10 * time.Second // in which a preemption explains a silence
	prefixFewest     = 1000             // prompt tokens
	prefixShare      = 0.2              // of the prompt tokens
	prefixShareOfNew = 0.01             // the same, where every prompt should be new
	prefixTemplate   = 32               // tokens of each prompt: its start mark and chat template, in whole blocks
)

// prefix_lost.
const (
	lostHits       = 0.8  // of the later turns find their history
	lostNone       = 0.01 // of them: then none does
	lostHistory    = 1024 // tokens of history: some providers cache no shorter prompts
	lostBlocks     = 4    // the same, in blocks of the engine's cache
	lostFull       = 0.8  // of the KV cache, which the conversations fill
	lostRoom       = 0.5  // of it: then nothing need be evicted
	lostByTTFT     = 0.7  // of the growth of the prompts, by which TTFT grows
	lostLonger     = 3    // times the first prompt
	lostTTFTFewest = 5    // requests of a turn
)

// stalled and hang.
const (
	stallShortest  = 2 * time.Second
	stallGaps      = 3    // times the usual p99 of gaps
	stallBeyondMax = 1.25 // times the longest gap so far
	hangShortest   = 3 * time.Second
	hangTTFTs      = 4   // times the usual p95 of TTFT
	hangBeyondMax  = 1.5 // times the longest TTFT so far, where others go on
	hangBad        = 8 * time.Second
	hangBadUnknown = 15 * time.Second // the same, where no TTFT is known to compare with
)

// gpu_throttled and gpu_idle.
const (
	gpuWorks       = 0.3  // SM activity from which on a GPU has reason to clock up
	throttledFrom  = 0.8  // of the highest clock seen
	throttledPower = 0.95 // of the power limit
	throttledHot   = 83   // °C, where data-centre GPUs begin to slow down
	gpuIdleSM      = 0.3  // SM activity
)

// bandwidth_bound, host_bound and slow_decode.
const (
	boundDRAM          = 0.6  // of the peak bandwidth
	boundTensor        = 0.6  // tensor activity: from there on arithmetic binds
	boundQueue         = 0.5  // requests in the queue
	boundDecoding      = 0.75 // of the time some stream decodes
	hostBoundSM        = 0.6  // SM activity
	hostBoundDRAM      = 0.35 // of the peak bandwidth
	hostBoundFloors    = 2.5  // times the floor of TPOT
	hostBoundSlowMS    = 25   // ms: 40 tokens per second
	slowDecodeReads    = 3    // pauses in which prompts are read
	slowDecodeKV       = 0.5  // fill of the KV cache
	slowDecodeTensor   = 0.4  // tensor activity
	slowDecodeIdleSM   = 0.5  // SM activity
	slowDecodeIdleDRAM = 0.4  // of the peak bandwidth
	slowDecodeBatch    = 32   // requests that run at once
)

// slowed and answer_growth.
const (
	slowedTPOT       = 1.4 // times the best median at this load
	slowedTPOTOpen   = 2.0 // the same in an open loop
	slowedTPOTByMS   = 3   // ms more
	slowedTTFT       = 2.5
	slowedTTFTOpen   = 5.0
	slowedTTFTByMS   = 100
	growthGaps       = 64  // in an answer
	growthFewest     = 5   // answers
	growthRise       = 1.3 // times the gap of the second quarter, median of the answers
	growthRiseOfMost = 1.1 // the same, in four of five answers
)

// Pauses, prefill_interference and standstills.
const (
	pauseFewestGaps       = 100    // gaps in the live window
	pauseGaps             = 5      // times the median gap
	pauseShortestMS       = 100    // ms
	pauseStreams          = 0.8    // of the streams that decode
	pauseTTFTs            = 5      // times the median TTFT: too long for a prompt of ours
	pauseTTFTsIfRare      = 2      // the same, where few answers begin in a pause
	pauseRare             = 1. / 3 // of the answers
	interferenceFewest    = 3      // pauses
	interferenceHarshMS   = 500    // ms: a break that every reader notices
	foreignTokens         = 4096   // prompt tokens that are not ours
	foreignLong           = 2048   // tokens in each of them: long ones
	standstillsFewest     = 2      // pauses
	standstillsShortestMS = 300    // ms
	standstillsGaps       = 10     // times the median gap
)

// uneven_replicas and shared_server.
const (
	unevenFewest  = 40               // requests
	unevenGaps    = 16               // in a request
	unevenTimes   = 1.5              // times the median gap of the fast ones
	unevenNarrow  = 1.25             // times its median, for nine of ten of a kind; and the step between the kinds
	unevenPrompts = 1.5              // times the prompt length, by which the kinds may differ
	sharedSpan    = 10 * time.Second // a single request comes and goes
	sharedFewest  = 1.5              // requests of others on average
	sharedShare   = 0.25             // of ours
)

// ttft_tail, tpot_tail and e2e_tail.
const (
	tailTimes      = 5                // times p50
	tailByMS       = 50               // ms more: below, nobody minds
	tailCauseTimes = 3                // times the usual requests
	tailStoodMS    = 1000             // ms without a token
	outlierFewest  = 20               // requests
	outlierTimes   = 10               // times p50
	outlierByMS    = 1000             // ms more
	outlierMean    = 1.3              // mean over p50
	outlierAnswer  = 3                // times the mean length
	outlierPast    = 60 * time.Second // after which it is only worth knowing
)
