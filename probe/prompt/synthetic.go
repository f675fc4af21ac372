package prompt

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// Synthetic makes prompts of random words. With the same seed the n-th prompt of
// a run has the same words in every run.
type Synthetic struct {
	seed uint64

	mu     sync.Mutex // guards what follows
	prefix Prefix
	fixed  bool // lengths are not learned while running: bodies repeat exactly
	count  uint64
	fit    fit
}

// NewSynthetic makes a source of prompts from a seed.
func NewSynthetic(prefix Prefix, seed uint64) *Synthetic {
	return &Synthetic{prefix: prefix, seed: seed, fit: newFit()}
}

// SetPrefix chooses what the prompts from now on have in common.
func (s *Synthetic) SetPrefix(p Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefix = p
}

// Freeze stops learning, so that from here on the same seed gives the same
// bodies however fast the server answers.
func (s *Synthetic) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = true
}

// Next is a prompt of about the requested number of tokens, at least one word.
func (s *Synthetic) Next(tokens int) Prompt {
	s.mu.Lock()
	s.count++
	n, prefix := s.count, s.prefix
	words := s.fit.words(tokens)
	s.mu.Unlock()

	var b strings.Builder
	common := 0
	switch prefix {
	case Shared:
		common = words / 2
	case Same:
		common = words
	}
	writeWords(&b, rand.New(rand.NewPCG(s.seed, 0)), common)
	writeWords(&b, rand.New(rand.NewPCG(s.seed, n)), words-common)
	return Prompt{Text: b.String(), Words: words, Tokens: tokens}
}

// Learn takes the server's own count of a prompt's tokens.
func (s *Synthetic) Learn(p Prompt, tokens int) {
	if p.Words == 0 || tokens <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		s.fit.add(p.Words, tokens)
	}
}

func writeWords(b *strings.Builder, r *rand.Rand, n int) {
	for range n {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
}

// fit is the line tokens = overhead + perWord·words: a chat template costs a
// fixed number of tokens, and a tokenizer cuts words into pieces.
type fit struct {
	overhead, perWord float64
	small, large      point // the shortest and the longest prompt counted
}

type point struct{ words, tokens float64 }

const (
	guessOverhead = 10  // a usual chat template
	guessPerWord  = 1.0 // common words are one token in most vocabularies
	// Two lengths separate slope and offset only if they differ by more than the
	// scatter of random words.
	apart = 1.5
)

func newFit() fit { return fit{overhead: guessOverhead, perWord: guessPerWord} }

// words is how many words make about the given number of tokens.
func (f *fit) words(tokens int) int {
	return max(1, int(math.Round((float64(tokens)-f.overhead)/f.perWord)))
}

func (f *fit) add(words, tokens int) {
	p := point{float64(words), float64(tokens)}
	if f.small.words == 0 || p.words <= f.small.words {
		f.small = p
	}
	if p.words >= f.large.words {
		f.large = p
	}
	if f.large.words >= f.small.words*apart && f.large.words-f.small.words >= 8 {
		slope := (f.large.tokens - f.small.tokens) / (f.large.words - f.small.words)
		if slope > 0.2 && slope < 20 {
			f.perWord = slope
			f.overhead = f.small.tokens - slope*f.small.words
			return
		}
	}
	// One length only: the overhead stays a guess, the slope makes it exact here.
	if slope := (p.tokens - f.overhead) / p.words; slope > 0.2 && slope < 20 {
		f.perWord = slope
	}
}

// vocabulary holds short, common English words, most of which are one token in
// the vocabularies of today's models.
var vocabulary = strings.Fields(`
able about above across act add after again age ago air all along also always am among and animal answer any
appear apple area arm army around art ask autumn away baby back bad bag ball bank base basket bath bean bear beat
beauty bed bedroom before behave began behind bell below beside best better between big bird birth bit bite black
blood blow board boat body bone book border born borrow both bottle bottom bowl box boy branch brave bread break
breakfast breathe bridge bright bring brother brown brush build burn bus business busy but buy cake call can candle
cap car card care carry case castle cat catch central century certain chair chance change chase cheap cheese chicken
child choice circle city class clean clear climb clock cloth cloud coffee coat coin cold collect color comb come common
compare complete computer condition cook cool copper corn corner correct cost count country course cover crash cross cry cup
cut dance danger dark daughter day dead decide deep deer depend desk die different dirty dish dog door double down
draw dream dress drink drive drop dry duck dust duty each ear early earth east easy eat effect egg eight either
electric else empty end enemy enjoy enough enter equal even event ever every exact example except excited exercise expect
explain express extra eye face fact fail fall false family famous far farm fast father fault fear feed feel female
fever few fight fill film find fine finger finish fire first fish fit five fix flag flat float floor flour flower
fly fold follow food foot football for force foreign forest forget forgive fork form four fox free freeze fresh friend
from front fruit full fun funny future game garden gate general gentle get gift girl give glad glass go goat gold good
grass great green ground group grow gun hair half hall hammer hand happen happy hard hat hate have head healthy hear heart
heavy height help hen here hide high hill history hit hobby hold hole holiday home hope horse hospital hot hotel hour house
how hundred hungry hurry hurt ice idea important increase inside into island job join juice jump just keep key kind king
kitchen knee knife knock know lady lamp land large last late laugh lazy lead leaf learn leave left leg lend length less
lesson let letter library lie life light like line lion lip list listen little live lock lonely long look lose lot love low
lower luck machine main make male man many map mark market marry matter may meal mean measure meat medicine meet member
mention method middle milk million mind minute miss mistake mix model modern moment money monkey month moon more morning most
mother mountain mouth move much music must name narrow nation nature near nearly neck need needle neighbor neither net never
new news next nice night nine noble noise none north nose nothing notice now number object ocean offer office often oil
old once one only open opposite orange order other our out outside over own page pain paint pair pan paper parent park part
partner party pass past path pay peace pen pencil people pepper per perfect period person petrol photo piano pick picture
piece pig pink place plane plant plastic plate play please plenty pocket point poison police polite pool poor popular position
possible potato pour power present press pretty price prince prison private prize problem produce promise proper protect
provide public pull punish pupil push put queen question queue quick quiet quite radio rain raise reach read ready real
reason receive record red remember remind remove rent repair repeat reply report rest restaurant result return rice rich ride
right ring rise road rob rock room round rubber rude rule ruler run rush sad safe sail salt same sand save say school science
scissors search seat second see seem sell send sentence serve seven several shade shadow shake shape share sharp she sheep
sheet shelf shine ship shirt shoe shoot shop short should shoulder shout show sick side signal silence silly silver similar
simple since sing single sink sister sit six size skill skin skirt sky sleep slip slow small smart smell smile smoke snow so
soap sock soft some son soon sorry sound soup south space speak special speed spell spend spoon sport spread spring square
stamp stand star start station stay steal steam step still stomach stone stop store storm story strange street strong
structure student study stupid subject substance success such sudden sugar suitable summer sun sunny support sure surprise
sweet swim sword table take talk tall taste taxi tea teach team tear telephone television tell ten tennis terrible test than
that the their then there these thick thin thing think third this threat three throw ticket tidy tie time tin tire title to
today together tomorrow tonight too tool tooth top total touch town train tram travel tree trouble true trust try turn twice
two type under understand unit until up use useful usual vegetable very village visit voice wait wake walk want war warm wash
waste watch water way we weak wear weather wedding week weight welcome well west wet what wheel when where which while white
who why wide wife wild will win wind window wine winter wire wise wish with without woman wonder word work world worry worst
write wrong year yes yesterday yet you young your zero zoo`)
